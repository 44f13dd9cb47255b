"""Steps that leave no small class: every combination of the quasi-identifiers has at least k rows.

An empty cell counts as a value like any other. So the result has k rows in each class by the strict count,
and at least as many if an empty cell is taken to match everything.
"""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Bools, Ints, offsets
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.table_sanitizing.row_classes import cell_numbers, class_numbers
from standout.table_sanitizing.table_draft import TableDraft
from standout.table_sanitizing.table_step import (
    TableStep,
    TableStepResult,
    column_names,
    names_text,
    read_names,
    read_number,
)
from standout.tables.column import Column

__all__ = ["DropRows", "SuppressToK", "emptied_column"]

MOST_COLUMNS = 12
"""With more quasi-identifiers there are too many combinations of columns to try."""


@dataclass(frozen=True)
class _ClassStep(TableStep):
    """A step on the classes of some columns."""

    syntax: ClassVar[str] = "[COLUMN,COLUMN…=]K"

    columns: tuple[str, ...]
    k: int

    def __post_init__(self) -> None:
        self._set(columns=column_names("columns", self.columns, 0))
        whole_number("k", self.k, 2)

    def text(self) -> str:
        """The part after the colon."""
        return f"{names_text(self.columns)}={self.k}" if self.columns else str(self.k)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Make the step from the part after the colon."""
        columns, _, k = text.rpartition("=")
        return cls(read_names(columns), read_number(k))  # type: ignore[arg-type]

    def _chosen(self, draft: TableDraft) -> tuple[str, ...]:
        """Names of the columns that form the classes."""
        names = self.columns or tuple(
            column.name for column in draft.columns if column.role == "quasi-identifier"
        )
        if not names:
            raise ParameterError(
                f"{self}: the table has no quasi-identifiers: name the columns, or give them this role in "
                "the schema"
            )
        return names


@dataclass(frozen=True)
class DropRows(_ClassStep):
    """Remove the rows of classes with fewer than k rows.

    Parameters
    ----------
    columns
        Names of the columns that others may know. Empty: the quasi-identifiers of the table.
    k
        Smallest number of rows with equal values of all these columns: a whole number ≥ 2.

    Raises
    ------
    ParameterError
        If a parameter is not allowed. Applied to a table: if no row would be left.

    Examples
    --------
    >>> import standout as so
    >>> str(so.DropRows(("zip", "age", "sex"), 5)), so.step("drop-rows:5")
    ('drop-rows:zip,age,sex=5', DropRows(columns=(), k=5))
    """

    name: ClassVar[str] = "drop-rows"
    summary: ClassVar[str] = "remove rows whose values of these columns fewer than K rows have"

    def apply(self, draft: TableDraft, draw: np.random.Generator) -> TableStepResult:
        """Remove the rows of small classes."""
        number = class_numbers([cell_numbers(draft.column(name)) for name in self._chosen(draft)])
        return TableStepResult(draft.keep_rows(np.bincount(number)[number] >= self.k))


@dataclass(frozen=True)
class SuppressToK(_ClassStep):
    """Empty cells of rows in small classes, until each class has at least k rows  [local suppression].

    The rule is greedy. It first looks for rows that need one empty cell, then two, and so on: all rows of
    small classes that agree on the other columns are put together, if they are then k. Columns with many
    values are emptied first. At the end, fewer than k rows may be left that fit nowhere: they are removed.

    Parameters
    ----------
    columns
        Names of the columns that others may know, at most 12. Empty: the quasi-identifiers of the table.
    k
        Smallest number of rows with equal values of all these columns: a whole number ≥ 2.

    Raises
    ------
    ParameterError
        If a parameter is not allowed. Applied to a table: if no row would be left.

    Examples
    --------
    >>> import standout as so
    >>> so.step("suppress-to-k:zip,age=3")
    SuppressToK(columns=('zip', 'age'), k=3)
    """

    name: ClassVar[str] = "suppress-to-k"
    summary: ClassVar[str] = (
        "empty cells of these columns until at least K rows have each combination of their values"
    )

    def apply(self, draft: TableDraft, draw: np.random.Generator) -> TableStepResult:
        """Empty the cells, and remove the rows that fit nowhere."""
        names = self._chosen(draft)
        if len(names) > MOST_COLUMNS:
            raise ParameterError(
                f"{self}: at most {MOST_COLUMNS} columns are possible, got {len(names)}: name fewer "
                "columns, or use drop-rows"
            )
        columns = [draft.column(name) for name in names]
        plan = _plan([cell_numbers(column) for column in columns], self.k)
        counts: dict[str, float] = {}
        for column, emptied in zip(columns, plan.emptied, strict=True):
            is_emptied = emptied & ~column.is_missing & plan.keep
            number, cells = int(np.count_nonzero(is_emptied)), int((~column.is_missing & plan.keep).sum())
            if number:
                draft = draft.with_cells(emptied_column(column, is_emptied), suppressed=number / cells)
                counts[f"emptied in {column.name}"] = number
                counts[f"of cells in {column.name}"] = cells
        return TableStepResult(draft.keep_rows(plan.keep), counts)


class _Plan(NamedTuple):
    """For each column the rows whose cell is emptied, and the rows that are kept."""

    emptied: list[Bools]
    keep: Bools


def _plan(cells: list[Ints], k: int) -> _Plan:
    """Which cells to empty, by classes: rows of one class share their fate."""
    number = class_numbers(cells)
    _, first = np.unique(number, return_index=True)
    classes = _Classes([column[first] for column in cells], np.bincount(number))
    order = sorted(range(len(cells)), key=lambda column: -len(np.unique(cells[column])))
    is_unsafe = classes.size < k
    for size in range(1, len(cells) + 1):
        for emptied in combinations(order, size):
            if not is_unsafe.any():
                break
            joined = classes.joined(np.flatnonzero(is_unsafe), np.flatnonzero(~is_unsafe), emptied, k)
            for column in emptied:
                classes.cells[column][joined] = 0
            is_unsafe[joined] = False
    emptied_cells = [(new == 0)[number] & (old != 0) for new, old in zip(classes.cells, cells, strict=True)]
    return _Plan(emptied_cells, ~is_unsafe[number])


class _Classes(NamedTuple):
    """Classes: the cells of each, by column, and its number of rows. 0 is an empty cell."""

    cells: list[Ints]
    size: Ints

    def joined(self, unsafe: Ints, safe: Ints, emptied: tuple[int, ...], k: int) -> Ints:
        """The unsafe classes that have k rows together with others, once these columns are empty."""
        fits = np.ones(len(safe), np.bool_)
        for column in emptied:
            fits &= self.cells[column][safe] == 0
        both = np.concatenate([unsafe, safe[fits]])
        others = [column for column in range(len(self.cells)) if column not in emptied]
        number = class_numbers([self.cells[column][both] for column in others]) if others else both * 0
        rows = np.bincount(number, self.size[both])[number]
        return unsafe[rows[: len(unsafe)] >= k]


def emptied_column(column: Column, is_emptied: Bools) -> Column:
    """The column with these cells emptied."""
    if column.starts is None:
        codes: NDArray[Any] = column.codes.copy()
        codes[is_emptied] = column.missing
        return replace(column, codes=codes)
    length = np.diff(column.starts)
    keep = np.repeat(~is_emptied, length)
    return replace(column, codes=column.codes[keep], starts=offsets(np.where(is_emptied, 0, length)))
