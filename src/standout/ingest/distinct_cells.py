"""The distinct cells of one column of a source, and for each row which of them it has."""

from dataclasses import dataclass, replace
from datetime import time
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout.core.arrays import Ints
from standout.core.errors import ColumnError
from standout.data.column import code_dtype
from standout.data.release import Codes

__all__ = ["DistinctCells", "distinct_cells"]

MANY, CLOSE = 16, 1 << 20
"""Cells are ranked if there is a distinct one for each MANY rows. CLOSE is the longest table of positions."""


@dataclass(frozen=True, eq=False)
class DistinctCells:
    """The distinct cells of a column, ascending: texts, numbers, dates or booleans.

    `codes` has for each row the position of its cell in `values`; len(values) is an empty cell. Texts have no
    spaces around them, and an empty text is an empty cell. If cells are lists, `values` are their distinct
    members, and row r has codes[starts[r] : starts[r + 1]].
    """

    values: pl.Series
    codes: Codes
    starts: Ints | None = None
    has_clock: bool = False
    """Whether times of day were left out."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes) if self.starts is None else len(self.starts) - 1

    @property
    def empty(self) -> int:
        """Code of an empty cell."""
        return len(self.values)

    @property
    def is_text(self) -> bool:
        """Whether the cells are texts."""
        return self.values.dtype == pl.String

    @cached_property
    def counts(self) -> Ints:
        """Number of rows of each distinct cell, and at the end of empty cells."""
        counts: Ints = np.bincount(self.codes, minlength=self.empty + 1).astype(np.int64)
        if self.starts is not None:
            counts[self.empty] = np.count_nonzero(np.diff(self.starts) == 0)
        return counts

    @property
    def filled(self) -> int:
        """Number of cells that are not empty."""
        return self.n_rows - int(self.counts[self.empty])

    @property
    def all_differ(self) -> bool:
        """Whether no cell is empty and no two are equal."""
        return len(self.values) == self.n_rows and not self.counts[self.empty]

    @cached_property
    def texts(self) -> pl.Series:
        """The distinct cells as texts; whole numbers have no decimal point."""
        if self.values.dtype.is_float():
            whole = self.values.cast(pl.Int64, strict=False)
            if (whole.cast(pl.Float64) == self.values.cast(pl.Float64)).all():
                return whole.cast(pl.String)
        return self.values.cast(pl.String)


def distinct_cells(column: pl.Series) -> DistinctCells:
    """Find the distinct cells of a column of any type.

    >>> cells = distinct_cells(pl.Series([" b", "a", None, "b", ""]))
    >>> cells.values.to_list(), cells.codes.tolist()
    (['a', 'b'], [1, 0, 2, 1, 2])
    """
    kind = column.dtype
    if isinstance(kind, pl.List):
        return _of_lists(column)
    if kind in (pl.Categorical, pl.Enum, pl.Time, pl.Null):
        column = column.cast(pl.String)
    elif kind == pl.Duration:
        column = column.dt.total_seconds()
    elif isinstance(kind, pl.Decimal):
        column = column.cast(pl.Float64)
    elif isinstance(kind, pl.Datetime):
        has_clock = bool((column.dt.time() != time(0)).any())
        return replace(_of_values(column.dt.date()), has_clock=has_clock)
    if column.dtype == pl.String:
        return _of_texts(column)
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Date):
        return _of_values(column)
    raise ColumnError(
        f"column {column.name!r} has nested or binary data ({kind}): write what matters in it as columns of "
        "their own, or leave it out with ignore=…"
    )


def _of_texts(column: pl.Series) -> DistinctCells:
    raw = column.unique().drop_nulls().sort()
    positions = column.cast(pl.Enum(raw)).to_physical().fill_null(len(raw)).to_numpy()
    stripped = raw.str.strip_chars()
    values = stripped.filter(stripped != "").unique().sort()
    if len(values) == len(raw) and (stripped == raw).all():
        return DistinctCells(values, _narrow(positions, len(values)))
    place = np.full(len(raw) + 1, len(values), np.int64)
    known = stripped.replace("", None).cast(pl.Enum(values)).to_physical()
    place[:-1] = known.fill_null(len(values)).to_numpy()
    return DistinctCells(values, _narrow(place[positions], len(values)))


def _of_values(column: pl.Series) -> DistinctCells:
    if column.dtype.is_float():
        column = column.fill_nan(None)
        if column.is_infinite().any():
            raise ColumnError(f"column {column.name!r} has infinite numbers: replace them or empty these cells")
    values = column.unique().drop_nulls().sort()
    is_missing = column.is_null().to_numpy()
    if not len(values):
        return DistinctCells(values, np.zeros(len(column), code_dtype(0)))
    if len(values) > len(column) // MANY:
        codes = column.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
    else:
        codes = _positions(values.to_physical().to_numpy(), column.fill_null(values[0]).to_physical().to_numpy())
    return DistinctCells(values, _narrow(np.where(is_missing, len(values), codes), len(values)))


def _positions(values: NDArray[Any], cells: NDArray[Any]) -> Ints:
    """Position of each cell in the values, which ascend; from a table if whole numbers are close together."""
    if values.dtype.kind in "iu" and int(values[-1]) - int(values[0]) < CLOSE:
        place = np.zeros(int(values[-1]) - int(values[0]) + 1, np.int64)
        place[values - values[0]] = np.arange(len(values))
        found: Ints = place[cells - values[0]]
        return found
    positions: Ints = np.searchsorted(values, cells)
    return positions


def _of_lists(column: pl.Series) -> DistinctCells:
    """Cells that are lists: the distinct members; a member counts once in a row."""
    lists = column.list.unique().list.drop_nulls()
    counts = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
    members = distinct_cells(lists.filter(counts > 0).explode().cast(pl.String).alias(column.name))
    owner = np.repeat(np.arange(len(column)), counts)
    keep = members.codes != members.empty
    order = np.lexsort((members.codes[keep], owner[keep]))
    starts = np.append(0, np.cumsum(np.bincount(owner[keep], minlength=len(column))))
    return DistinctCells(members.values, members.codes[keep][order], starts.astype(np.int64))


def _narrow(codes: NDArray[np.integer[Any]], n_values: int) -> Codes:
    return codes.astype(code_dtype(n_values))
