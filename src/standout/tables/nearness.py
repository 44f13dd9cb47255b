"""Which levels of a column an adversary cannot tell apart, if known values may be off by an error."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from standout.core.arrays import Ints, run_starts
from standout.tables.column_similarity import ROUNDING

if TYPE_CHECKING:
    from standout.tables.column import Column

__all__ = ["Near", "near_levels"]


class Near(NamedTuple):
    """Level x is near the levels from low[x] up to high[x], itself included. Nearness is symmetric."""

    low: Ints
    high: Ints

    @property
    def number(self) -> Ints:
        """Number of levels that are near each level."""
        return self.high - self.low


def near_levels(column: "Column", error: float) -> Near:
    """The levels within an error of each level.

    The error is a distance of numbers, days of dates, steps of ordered levels, or a height of a hierarchy:
    at height 1 all levels of one group are near. Other categories are near themselves only.

    >>> from standout.tables.column import Column
    >>> age = Column("age", "number", np.array([34.0, 82.0, 83.0]), np.zeros(1, np.uint8))
    >>> near_levels(age, 1.0).number.tolist()
    [1, 2, 2]
    """
    n = column.n_levels
    if column.kind in ("number", "date"):
        levels, reach = np.asarray(column.levels, np.float64), error * (1.0 + ROUNDING)
        return Near(
            np.searchsorted(levels, levels - reach).astype(np.int64),
            np.searchsorted(levels, levels + reach, "right").astype(np.int64),
        )
    if column.kind == "ordered":
        code, steps = np.arange(n), int(error)
        return Near(np.maximum(code - steps, 0), np.minimum(code + steps + 1, n))
    if column.hierarchy is not None and error >= 1:
        group = column.hierarchy.group_of(min(int(error), column.hierarchy.height))
        starts = run_starts(group)
        ends = np.append(starts[1:], n)
        return Near(np.repeat(starts, ends - starts), np.repeat(ends, ends - starts))
    return Near(np.arange(n), np.arange(1, n + 1))
