"""What a step on a table is: its name, its columns, its parameter as text, and the draft that it makes."""

import csv
import io
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from standout.core.errors import ParameterError
from standout.table_sanitizing.level_change import LevelChange
from standout.table_sanitizing.table_draft import TableDraft
from standout.tables.column import Column

__all__ = [
    "TableStep",
    "TableStepResult",
    "column_names",
    "finite_number",
    "names_text",
    "number_text",
    "read_names",
    "read_number",
]


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
