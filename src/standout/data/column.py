"""One column of a release: its type, its distinct values, and a code for each cell."""

import math
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core import elementary
from standout.core.arrays import Floats, Ints, read_only, run_starts, take_rows
from standout.core.errors import ParameterError, not_one_of

if TYPE_CHECKING:
    import polars as pl

Codes = NDArray[np.unsignedinteger[Any]]
Levels = NDArray[np.float64] | tuple[str, ...]


# Sim of two values of one column  [the paper's Sim on attributes, section 3], from 0 to 1.
#
# equal      1 if the values are equal, else 0
# within     1 if they are at most `scale` apart, else 0
# decay      e^(−distance / scale)
# ordered    1 − steps between them / (levels − 1)
# hierarchy  1 − height of the lowest common ancestor / height of the tree


SimilarityName = Literal["equal", "within", "decay", "ordered", "hierarchy"]
SIMILARITIES: tuple[SimilarityName, ...] = ("equal", "within", "decay", "ordered", "hierarchy")
ROUNDING = 1e-9
"""Tolerance of distances: 0.3 and 0.4 are 0.1 apart, in spite of binary fractions."""
REACH = 15.0
"""A decay counts as 0 beyond this many scales: it is then below 4e-7, less than half a unit of a score."""


@dataclass(frozen=True, slots=True)
class ColumnSimilarity:
    """How similar two values of a column are."""

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
        """The levels that are similar to a level; Sim of all others is 0."""
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


# A tree over the categories of a column, such as ZIP codes and their prefixes, or ages and their bands.


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Groups of a column's levels at each height of a tree.

    Attributes
    ----------
    labels : tuple of tuples of str
        labels[h - 1] are the names of the groups at height h = 1, 2, …; the levels are height 0.
    groups : ndarray of int, heights × levels
        groups[h - 1, code] is the position of a level's group in labels[h - 1]. Levels of one group are
        neighbours, so the groups of each height ascend.

    Examples
    --------
    >>> zip_codes = Hierarchy((("10*", "20*"), ("*",)), np.array([[0, 0, 1], [0, 0, 0]]))
    >>> zip_codes.height, zip_codes.similarities(0).tolist()
    (2, [1.0, 0.5, 0.0])
    """

    labels: tuple[tuple[str, ...], ...]
    groups: Ints

    def __post_init__(self) -> None:
        if self.groups.ndim != 2 or len(self.groups) != len(self.labels):
            raise ParameterError("groups must have one row for each height of the hierarchy")
        if (np.diff(self.groups, axis=1) < 0).any():
            raise ParameterError("the levels of one group must be neighbours")

    @property
    def height(self) -> int:
        """Number of heights above the levels."""
        return len(self.labels)

    def similarities(self, code: int) -> Floats:
        """1 − height of the lowest common ancestor / height of the tree."""
        common = self.groups == self.groups[:, [code]]
        lowest = np.where(common.any(axis=0), common.argmax(axis=0) + 1, self.height)
        lowest[code] = 0
        return 1.0 - lowest / self.height

    def group_of(self, height: int) -> Ints:
        """The group of each level at a height."""
        return np.arange(self.groups.shape[1]) if height == 0 else self.groups[height - 1]


ColumnKind = Literal["number", "ordered", "category", "date", "boolean", "set"]
ColumnRole = Literal["quasi-identifier", "sensitive", "other"]
KINDS: tuple[ColumnKind, ...] = ("number", "ordered", "category", "date", "boolean", "set")
ROLES: tuple[ColumnRole, ...] = ("quasi-identifier", "sensitive", "other")
EPOCH = date(1970, 1, 1)


def code_dtype(n_levels: int) -> np.dtype[Any]:
    """Narrowest integer type that holds the codes of this many levels, and one code for a missing cell."""
    return np.dtype(np.uint8 if n_levels < 1 << 8 else np.uint16 if n_levels < 1 << 16 else np.uint32)


@dataclass(frozen=True, eq=False)
class Column:
    """A column: one cell for each person.

    Attributes
    ----------
    name : str
        Its name in the source.
    kind : str
        number, ordered, category, date, boolean or set (of categories).
    levels : ndarray of float, or tuple of str
        The distinct values that occur. Numbers ascend; dates are days since 1970-01-01 and ascend; ordered
        levels are in their order; categories are in the order of their hierarchy, otherwise of their text.
    codes : ndarray
        For each row the position of its value in `levels`; `missing` for an empty cell. Of a set: the codes
        of all members, row after row, ascending within a row.
    starts : ndarray, optional
        Only of a set: row r has codes[starts[r] : starts[r + 1]]. An empty set is a missing cell.
    similarity : ColumnSimilarity
        The paper's Sim for this column.
    error : float
        How far an imprecise adversary is off, at most: in units of a number, in days of a date, in steps of
        ordered levels, in heights of a hierarchy. 0 for other categories.
    hierarchy : Hierarchy, optional
        A tree over the categories.
    role : str
        quasi-identifier (others may know it), sensitive (what must not be learned), or other.
    attribute : str
        The attribute that this column is part of; several columns with one attribute are a tuple, such as
        (value, date, place). Default: the column's own name.

    Examples
    --------
    >>> age = Column("age", "number", np.array([34.0, 82.0, 83.0]), np.array([1, 0, 3, 1], np.uint8))
    >>> age.n_rows, age.missing, age.counts.tolist(), age.value(1)
    (4, 3, [1, 2, 0, 1], 82.0)
    """

    name: str
    kind: ColumnKind
    levels: Levels
    codes: Codes
    starts: Ints | None = None
    similarity: ColumnSimilarity = field(default_factory=ColumnSimilarity)
    error: float = 0.0
    hierarchy: Hierarchy | None = None
    role: ColumnRole = "other"
    attribute: str = ""

    def __post_init__(self) -> None:
        if (self.kind == "set") != (self.starts is not None):
            raise ParameterError("starts must be given for a set, and only for a set")
        if not (math.isfinite(self.error) and self.error >= 0):
            raise ParameterError(f"error must be a finite number ≥ 0, got {self.error!r}")
        object.__setattr__(self, "codes", read_only(self.codes))
        if not self.attribute:
            object.__setattr__(self, "attribute", self.name)

    @property
    def n_levels(self) -> int:
        """Number of distinct values."""
        return len(self.levels)

    @property
    def missing(self) -> int:
        """Code of an empty cell: the one after the last level."""
        return self.n_levels

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes) if self.starts is None else len(self.starts) - 1

    @property
    def has_distances(self) -> bool:
        """Whether two levels can be near each other without being equal."""
        return self.kind in ("number", "date", "ordered") or self.hierarchy is not None

    @cached_property
    def counts(self) -> Ints:
        """Number of rows with each level, and at the end the number of empty cells."""
        counts = np.bincount(self.codes, minlength=self.n_levels + 1)
        if self.starts is not None:
            counts[self.missing] = np.count_nonzero(np.diff(self.starts) == 0)
        return read_only(counts.astype(np.int64))

    @cached_property
    def is_missing(self) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """Which cells are empty."""
        empty = self.codes == self.missing if self.starts is None else np.diff(self.starts) == 0
        return read_only(np.asarray(empty))

    def value(self, code: int) -> float | str | date | None:
        """The value of a code."""
        if code == self.missing:
            return None
        level = self.levels[code]
        if self.kind == "date":
            return EPOCH + timedelta(days=int(level))
        return level if isinstance(level, str) else float(level)

    def code(self, value: float | str | date) -> int | None:
        """The code of a value."""
        if isinstance(value, date):
            value = float((value - EPOCH).days)
        if isinstance(self.levels, tuple):
            return self._code_of.get(str(value))
        position = int(np.searchsorted(self.levels, float(value)))
        return position if position < self.n_levels and self.levels[position] == float(value) else None

    def nearest_code(self, value: float | str | date) -> int:
        """The code of the level nearest to a number or date."""
        try:
            number = float((value - EPOCH).days) if isinstance(value, date) else float(value)
        except ValueError:
            raise ParameterError(f"the value of column {self.name!r} must be a number or a date") from None
        levels = np.asarray(self.levels, np.float64)
        return int(np.argmin(np.abs(levels - number)))

    @cached_property
    def _code_of(self) -> dict[str, int]:
        return {str(level): code for code, level in enumerate(self.levels)}

    def rows(self, rows: Ints) -> "Column":
        """The same column with these rows only."""
        if self.starts is None:
            return replace(self, codes=self.codes[rows])
        starts, position = take_rows(self.starts, rows)
        return replace(self, codes=self.codes[position], starts=starts)

    def to_series(self) -> "pl.Series":
        """The cells as a Polars series of their own type."""
        import polars as pl

        if isinstance(self.levels, tuple):
            known = pl.Series(self.name, list(self.levels), dtype=pl.String)
        elif self.kind == "date":
            known = pl.Series(self.name, self.levels.astype(np.int32), dtype=pl.Int32).cast(pl.Date)
        else:
            whole = bool((self.levels == np.floor(self.levels)).all() and (abs(self.levels) < 2**53).all())
            known = pl.Series(self.name, self.levels.astype(np.int64) if whole else self.levels)
        cells = known.extend_constant(None, 1).gather(self.codes.astype(np.uint32))
        if self.starts is None:
            return cells
        owner = np.repeat(np.arange(self.n_rows), np.diff(self.starts))
        lists = (
            pl.DataFrame({"row": owner, self.name: cells}).group_by("row", maintain_order=True).agg(pl.col(self.name))
        )
        rows = pl.DataFrame({"row": np.arange(self.n_rows)})
        return rows.join(lists, on="row", how="left", maintain_order="left")[self.name]


# Which levels of a column an adversary cannot tell apart, if known values may be off by an error.


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
