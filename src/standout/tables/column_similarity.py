"""Sim of two values of one column  [the paper's Sim on attributes, section 3], from 0 to 1.

equal      1 if the values are equal, else 0
within     1 if they are at most `scale` apart, else 0
decay      e^(−distance / scale)
ordered    1 − steps between them / (levels − 1)
hierarchy  1 − height of the lowest common ancestor / height of the tree
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats
from standout.core.errors import ParameterError
from standout.core.suggestions import not_one_of

if TYPE_CHECKING:
    from standout.tables.column import Column

__all__ = ["SIMILARITIES", "ColumnSimilarity", "SimilarityName"]

SimilarityName = Literal["equal", "within", "decay", "ordered", "hierarchy"]
SIMILARITIES: tuple[SimilarityName, ...] = ("equal", "within", "decay", "ordered", "hierarchy")
ROUNDING = 1e-9
"""Tolerance of distances: 0.3 and 0.4 are 0.1 apart, in spite of binary fractions."""
REACH = 15.0
"""A decay counts as 0 beyond this many scales: it is then below 4e-7, less than half a unit of a score."""


@dataclass(frozen=True, slots=True)
class ColumnSimilarity:
    """How similar two values of a column are.

    Parameters
    ----------
    name : str
        equal, within, decay, ordered or hierarchy.
    scale : float, optional
        Only for within (largest distance) and decay (distance at which Sim is 1/e): in units of a number, in
        days of a date.

    Examples
    --------
    >>> ColumnSimilarity("decay", 5.0)
    ColumnSimilarity(name='decay', scale=5.0)
    """

    name: SimilarityName = "equal"
    scale: float | None = None

    def __post_init__(self) -> None:
        if self.name not in SIMILARITIES:
            raise ParameterError(not_one_of("similarity", self.name, SIMILARITIES))
        if (self.name in ("within", "decay")) != (self.scale is not None):
            raise ParameterError(f"scale must be given for within and decay only, got {self.scale!r}")
        lowest = 0.0 if self.name == "within" else math.ulp(0.0)
        if self.scale is not None and not (math.isfinite(self.scale) and self.scale >= lowest):
            raise ParameterError(f"scale must be a finite number > 0, got {self.scale!r}")

    def window(self, column: "Column", code: int) -> tuple[int, Floats]:
        """The levels that are similar to a level; Sim of all others is 0.

        Parameters
        ----------
        column : Column
            The column.
        code : int
            The level.

        Returns
        -------
        (int, ndarray of float)
            The code of the first similar level, and Sim of it and of those after it.
        """
        if self.name == "equal":
            return code, np.ones(1)
        if self.name == "hierarchy":
            assert column.hierarchy is not None
            return 0, column.hierarchy.similarities(code)
        if self.name == "ordered":
            steps = np.abs(np.arange(column.n_levels) - code)
            return 0, 1.0 - steps / max(column.n_levels - 1, 1)
        assert self.scale is not None and isinstance(column.levels, np.ndarray)
        known = float(column.levels[code])
        reach = self.scale * (1.0 if self.name == "within" else REACH) + ROUNDING
        low, high = np.searchsorted(column.levels, [known - reach, np.nextafter(known + reach, math.inf)])
        if self.name == "within":
            return int(low), np.ones(high - low)
        return int(low), elementary.exp(-np.abs(column.levels[low:high] - known) / self.scale)
