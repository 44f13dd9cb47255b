"""What a step on a table is: its name, its columns, its parameter as text, and the draft that it makes."""

import csv
import io
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from standout.core.arrays import Bools, Ints
from standout.core.errors import ParameterError, did_you_mean
from standout.data.column import Column
from standout.data.release import Release
from standout.know.sanitized import Channel
from standout.sanitizing.level_change import LevelChange, recode

__all__ = [
    "TableDraft",
    "TableStep",
    "TableStepResult",
    "column_names",
    "either",
    "finite_number",
    "names_text",
    "number_text",
    "read_names",
    "read_number",
]

# A table between two steps: its columns, its rows, and what the steps did to each column so far.


@dataclass(frozen=True, eq=False)
class TableDraft:
    """A table being sanitized. Its rows are in the order of the original until the last step is done.

    original   the table before all steps
    columns    the columns that are left, with all levels of the steps so far, even if no cell has them
    rows       for each row, its row in the original, ascending
    channels   by column name, what happened to its cells
    """

    original: Release
    columns: tuple[Column, ...]
    rows: Ints
    channels: Mapping[str, Channel]

    @classmethod
    def of(cls, table: Release) -> "TableDraft":
        """Draft of a table before any step."""
        return cls(table, table.columns, np.arange(table.n_records), {})

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that are left."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """The column of this name, as the steps left it; a ParameterError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        dropped = name in self.original.column_names
        others = f"is not one of {', '.join(self.names)}{did_you_mean(name, self.names)}"
        raise ParameterError(f"column {name!r} {'was dropped by an earlier step' if dropped else others}")

    def channel(self, name: str) -> Channel:
        """What happened to a column so far."""
        none = Channel(np.arange(self.original.column(name).n_levels))
        return self.channels.get(name, none)

    def with_levels(self, name: str, change: LevelChange) -> "TableDraft":
        """Change the levels of a column, and all its cells with them."""
        channel = self.channel(name)
        channel = replace(channel, released=change.lookup[channel.released].astype(np.int64))
        return self._replace(recode(self.column(name), change), channel)

    def with_cells(self, column: Column, replaced: float = 0.0, suppressed: float = 0.0) -> "TableDraft":
        """Change cells of a column; the levels stay.

        Parameters
        ----------
        column
            The new column.
        replaced
            Probability that a cell was replaced by one that is drawn from all cells of the column.
        suppressed
            Probability that a cell was emptied.
        """
        channel = self.channel(column.name)
        channel = replace(
            channel, replaced=either(channel.replaced, replaced), suppressed=either(channel.suppressed, suppressed)
        )
        return self._replace(column, channel)

    def keep_rows(self, keep: Bools) -> "TableDraft":
        """Keep these rows only."""
        if not keep.any():
            raise ParameterError("no row would be left: generalize the columns first, or ask for less")
        if keep.all():
            return self
        kept = np.flatnonzero(keep)
        return replace(self, columns=tuple(column.rows(kept) for column in self.columns), rows=self.rows[kept])

    def without_column(self, name: str) -> "TableDraft":
        """Remove a column."""
        self.column(name)
        if len(self.columns) == 1:
            raise ParameterError(f"column {name!r} is the last one: a table must have a column")
        columns = tuple(column for column in self.columns if column.name != name)
        channels = {other: channel for other, channel in self.channels.items() if other != name}
        return replace(self, columns=columns, channels=channels)

    def _replace(self, column: Column, channel: Channel) -> "TableDraft":
        columns = tuple(column if old.name == column.name else old for old in self.columns)
        return replace(self, columns=columns, channels={**self.channels, column.name: channel})


def either(first: float, second: float) -> float:
    """Probability that at least one of two independent things happens."""
    return 1.0 - (1.0 - first) * (1.0 - second)


class TableStepResult(NamedTuple):
    """Result of a step: the next draft, and further counts for its report."""

    draft: TableDraft
    counts: dict[str, float] = {}  # noqa: RUF012  (never written to)


@dataclass(frozen=True)
class TableStep(ABC):
    """One change of a table. `str(step)` gives text that `standout.step` reads, like round:age=5."""

    name: ClassVar[str]
    syntax: ClassVar[str]
    """What follows the name and the colon."""
    summary: ClassVar[str]
    """Its effect in one line."""

    @abstractmethod
    def apply(self, draft: TableDraft, draw: np.random.Generator) -> TableStepResult:
        """Apply the step to a draft.

        Parameters
        ----------
        draft : TableDraft
            The table as the steps before left it.
        draw : Generator
            Random numbers of this step.

        Returns
        -------
        TableStepResult
            The next draft, and further counts for the report of the step.

        Raises
        ------
        ParameterError
            If the step does not fit the table.
        """

    @abstractmethod
    def text(self) -> str:
        """The part after the colon.

        Returns
        -------
        str
            Columns and parameter in the syntax of the step.
        """

    @classmethod
    @abstractmethod
    def from_text(cls, text: str) -> Self:
        """Make the step from the part after the colon.

        Parameters
        ----------
        text : str
            Columns and parameter in the syntax of the step.

        Returns
        -------
        TableStep
            The step.
        """

    def level_change(self, column: Column) -> LevelChange | None:
        """How the step maps the levels of a column, if it does so whatever the cells are.

        Parameters
        ----------
        column : Column
            Any column of the table.

        Returns
        -------
        LevelChange or None
            None if it is not about this column, or does not map levels.
        """
        return None

    def __str__(self) -> str:
        return f"{self.name}:{self.text()}"

    @classmethod
    def _split(cls, text: str) -> tuple[str, str]:
        """Columns and parameter; both must be given."""
        columns, equals, parameter = text.rpartition("=")
        if not (columns and equals and parameter):
            raise cls._syntax_error()
        return columns, parameter

    @classmethod
    def _syntax_error(cls) -> ParameterError:
        return ParameterError(f"write it as: {cls.name}:{cls.syntax}")

    def _set(self, **checked: Any) -> None:
        """Set parameters of a frozen dataclass to their checked values."""
        for name, parameter in checked.items():
            object.__setattr__(self, name, parameter)


def read_names(text: str) -> tuple[str, ...]:
    """Names of columns, separated by commas; a name with a comma stands in double quotes.

    >>> read_names('zip,"age, in years"')
    ('zip', 'age, in years')
    """
    try:
        return tuple(next(csv.reader(io.StringIO(text, newline="")), []))
    except csv.Error:
        raise ParameterError(f"expected names of columns, separated by commas, got {text!r:.100}") from None


def names_text(names: Iterable[str]) -> str:
    """Text that `read_names` reads."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()


def column_names(name: str, given: Any, least: int = 1) -> tuple[str, ...]:
    """Check for different names of columns; one name is enough."""
    names = (given,) if isinstance(given, str) else given
    fits = isinstance(names, (tuple, list)) and all(isinstance(column, str) and column for column in names)
    if not fits or len(set(names)) < len(names) or len(names) < least:
        raise ParameterError(f"{name} must be names of different columns, got {given!r:.100}")
    return tuple(names)


def read_number(word: str) -> float:
    """Number that a word spells; an int if it is written without a point."""
    try:
        number = int(word) if word.lstrip("+-").isdecimal() else float(word)
    except ValueError:
        raise ParameterError(f"expected a number, got {word!r:.100}") from None
    return number


def number_text(number: float) -> str:
    """Text of a number; a whole one without a point."""
    is_whole = float(number).is_integer() and abs(number) < 1e15
    return str(int(number)) if is_whole else repr(float(number))


def finite_number(name: str, given: Any) -> float:
    """Check for a finite number."""
    try:
        number = float(given) if isinstance(given, Real) and not isinstance(given, bool) else math.nan
    except OverflowError:  # a whole number with hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        raise ParameterError(f"{name} must be a finite number, got {given!r:.100}")
    return number
