"""Steps on cells of a column: swap them between people, empty rare values, or drop the column."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from standout.core.arrays import Ints
from standout.core.checks import positive_share, whole_number
from standout.core.errors import ParameterError
from standout.table_sanitizing.level_change import LevelChange
from standout.table_sanitizing.table_draft import TableDraft
from standout.table_sanitizing.table_step import (
    TableStep,
    TableStepResult,
    column_names,
    names_text,
    number_text,
    read_names,
    read_number,
)
from standout.tables.column import Column

__all__ = ["DropColumn", "SuppressCells", "SwapColumn", "moved_columns"]


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
    summary: ClassVar[str] = (
        "let a random share of the people exchange these cells; several columns move together"
    )

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
            raise ParameterError(
                f"{self}: of {draft.n_rows:,} rows, fewer than 2 take part: choose a larger share"
            )
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
