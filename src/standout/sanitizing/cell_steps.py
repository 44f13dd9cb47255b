"""Steps on cells of a column: swap them between people, empty rare values, or drop the column."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Bools, Ints, offsets
from standout.core.errors import ParameterError, positive_share, whole_number
from standout.data.column import Column
from standout.sanitizing.level_change import LevelChange, with_levels_of
from standout.sanitizing.table_step import (
    TableDraft,
    TableStep,
    TableStepResult,
    column_names,
    names_text,
    number_text,
    read_names,
    read_number,
)

__all__ = [
    "DropColumn",
    "DropRows",
    "SuppressCells",
    "SuppressToK",
    "SwapColumn",
    "cell_numbers",
    "class_numbers",
    "emptied_column",
    "moved_columns",
    "stacked_cells",
]


@dataclass(frozen=True)
class SwapColumn(TableStep):
    """Swap values between randomly chosen people.

    A share of the rows is drawn, and their cells are put into a random order among them, empty ones too. So
    the counts of every value stay exactly as they are. Several columns move together, and so do the columns
    of a tuple attribute; use one step for each column to move them on their own.

    What moves together stays together: it is still a piece of one person's row, only in another place. So at
    most half of the columns may move in one step (moving more is the same as moving the others), and a
    quasi-identifier may not move with a sensitive column: who finds the one would read the other.

    Parameters
    ----------
    columns
        Names of the columns.
    share
        Share of the rows that take part, above 0 and at most 1. Some of them keep their value by chance.

    Raises
    ------
    ParameterError
        If a parameter is not allowed. Applied to a table: if fewer than two rows take part, more than half of
        the columns move, or a quasi-identifier moves with a sensitive column.

    Examples
    --------
    >>> import standout as so
    >>> so.step("swap:zip,age=0.1")
    SwapColumn(columns=('zip', 'age'), share=0.1)
    """

    name: ClassVar[str] = "swap"
    syntax: ClassVar[str] = "COLUMN[,COLUMN…]=SHARE"
    summary: ClassVar[str] = "let a random share of the people exchange these cells; several columns move together"

    columns: tuple[str, ...]
    share: float

    def __post_init__(self) -> None:
        self._set(columns=column_names("columns", self.columns), share=positive_share("share", self.share))

    def text(self) -> str:
        """The part after the colon."""
        return f"{names_text(self.columns)}={number_text(self.share)}"

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Make the step from the part after the colon."""
        columns, share = cls._split(text)
        return cls(read_names(columns), read_number(share))

    def apply(self, draft: TableDraft, draw: np.random.Generator) -> TableStepResult:
        """Swap the cells of the drawn rows."""
        moved = moved_columns([draft.column(name) for name in self.columns], draft.columns)
        self._check_moved(draft, moved)
        number = round(self.share * draft.n_rows)
        if number < 2:
            raise ParameterError(f"{self}: of {draft.n_rows:,} rows, fewer than 2 take part: choose a larger share")
        source: Ints = np.arange(draft.n_rows)
        drawn = np.sort(draw.permutation(draft.n_rows)[:number])
        source[drawn] = draw.permutation(drawn)
        for name in moved:
            column = draft.column(name).rows(source)
            draft = draft.with_cells(column, replaced=number / draft.n_rows)
        return TableStepResult(draft, {"rows swapped": number})

    def _check_moved(self, draft: TableDraft, moved: tuple[str, ...]) -> None:
        """Refuse to move most of a row: it would still be there, and the risk would be understated."""
        if 2 * len(moved) > len(draft.columns):
            raise ParameterError(
                f"{self}: {len(moved)} of {len(draft.columns)} columns would move together, which is the "
                "same as moving the others: name at most half of them, or use one step for each"
            )
        if {"quasi-identifier", "sensitive"} <= {draft.column(name).role for name in moved}:
            raise ParameterError(
                f"{self}: a quasi-identifier would move together with a sensitive column, and who finds the "
                "one would read the other: swap them in separate steps"
            )


def moved_columns(named: Iterable[Column], columns: Iterable[Column]) -> tuple[str, ...]:
    """Names of the columns that move together: the named ones, and the others of their tuple attributes."""
    attributes = {column.attribute for column in named}
    return tuple(column.name for column in columns if column.attribute in attributes)


@dataclass(frozen=True)
class SuppressCells(TableStep):
    """Empty the cells of a column whose value is rare.

    Parameters
    ----------
    column
        Name of the column.
    below
        Values that fewer rows have are emptied: a whole number ≥ 2.

    Raises
    ------
    ParameterError
        If `below` is not allowed.

    Examples
    --------
    >>> import standout as so
    >>> str(so.SuppressCells("job", 10))
    'suppress-cells:job=10'
    """

    name: ClassVar[str] = "suppress-cells"
    syntax: ClassVar[str] = "COLUMN=LEAST"
    summary: ClassVar[str] = "empty the cells whose value fewer rows than this have"

    column: str
    below: int

    def __post_init__(self) -> None:
        column_names("column", self.column)
        whole_number("below", self.below, 2)

    def text(self) -> str:
        """The part after the colon."""
        return f"{names_text([self.column])}={self.below}"

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Make the step from the part after the colon."""
        columns, below = cls._split(text)
        (column,) = read_names(columns)[:1] or ("",)
        return cls(column, read_number(below))  # type: ignore[arg-type]

    def apply(self, draft: TableDraft, draw: np.random.Generator) -> TableStepResult:
        """Empty the cells with rare values."""
        column = draft.column(self.column)
        counts = column.counts[:-1]
        is_rare = (counts > 0) & (counts < self.below)
        code = np.where(is_rare, column.missing, np.arange(column.n_levels))
        change = LevelChange(column.kind, column.levels, code, column.hierarchy)
        return TableStepResult(
            draft.with_levels(self.column, change), {"values removed": int(np.count_nonzero(is_rare))}
        )


@dataclass(frozen=True)
class DropColumn(TableStep):
    """Remove a column.

    Parameters
    ----------
    column
        Name of the column.

    Examples
    --------
    >>> import standout as so
    >>> str(so.DropColumn("street"))
    'drop-column:street'
    """

    name: ClassVar[str] = "drop-column"
    syntax: ClassVar[str] = "COLUMN"
    summary: ClassVar[str] = "remove a column"

    column: str

    def __post_init__(self) -> None:
        column_names("column", self.column)

    def text(self) -> str:
        """The part after the colon."""
        return names_text([self.column])

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Make the step from the part after the colon."""
        names = read_names(text)
        if len(names) != 1:
            raise cls._syntax_error()
        return cls(names[0])

    def apply(self, draft: TableDraft, draw: np.random.Generator) -> TableStepResult:
        """Remove the column."""
        return TableStepResult(draft.without_column(self.column))


# Classes of rows that have equal values in some columns. An empty cell is a value like any other.


def cell_numbers(column: Column) -> Ints:
    """A number for each cell; equal cells, and only they, have the same number, and empty ones have 0."""
    if column.starts is None:
        return np.asarray((column.codes.astype(np.int64) + 1) % (column.n_levels + 1))
    members = np.split(column.codes, column.starts[1:-1])
    number_of: dict[bytes, int] = {b"": 0}
    return np.array([number_of.setdefault(row.tobytes(), len(number_of)) for row in members], np.int64)


def stacked_cells(sets: Column, others: Column) -> Ints:
    """Numbers of the cells of one column of sets and then of another; equal sets have the same number.

    A set with a member that the other column lacks has a number of its own.
    """
    known = with_levels_of(sets, others)
    assert sets.starts is not None and known.starts is not None and others.starts is not None
    codes = np.concatenate([known.codes.astype(np.int64), others.codes.astype(np.int64)])
    starts = np.append(known.starts[:-1], known.starts[-1] + others.starts)
    number = cell_numbers(replace(others, codes=codes, starts=starts))
    number[: sets.n_rows][np.diff(known.starts) < np.diff(sets.starts)] = -1
    return number


def class_numbers(cells: Sequence[Ints]) -> Ints:
    """Number of the class of each row, from 0.

    >>> class_numbers([np.array([5, 5, 7]), np.array([0, 1, 0])]).tolist()
    [0, 1, 2]
    """
    number: Ints = np.zeros(len(cells[0]), np.int64) if cells else np.empty(0, np.int64)
    for column in cells:
        width = int(column.max(initial=0)) + 1
        _, number = np.unique(number * width + column, return_inverse=True)
    return number


# Steps that leave no small class: every combination of the quasi-identifiers has at least k rows.
#
# An empty cell counts as a value like any other. So the result has k rows in each class by the strict count,
# and at least as many if an empty cell is taken to match everything.


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
        names = self.columns or tuple(column.name for column in draft.columns if column.role == "quasi-identifier")
        if not names:
            raise ParameterError(
                f"{self}: the table has no quasi-identifiers: name the columns, or give them this role in the schema"
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
    summary: ClassVar[str] = "empty cells of these columns until at least K rows have each combination of their values"

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
