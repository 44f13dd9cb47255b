"""Steps that map the values of a column: generalize, round, top-code. Equal values stay equal."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import ClassVar, Literal, Self

import numpy as np

from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.data.column import EPOCH, Column
from standout.know.sanitized import PERIODS, Period
from standout.sanitizing.level_change import LevelChange, merge_labels, merge_numbers
from standout.sanitizing.table_step import (
    TableDraft,
    TableStep,
    TableStepResult,
    column_names,
    finite_number,
    names_text,
    number_text,
    read_names,
    read_number,
)

__all__ = ["GeneralizeColumn", "RoundColumn", "TopCode"]

PeriodName = Literal["week", "month", "quarter", "year"]
ROUNDING = 1e-9
"""Tolerance in multiples of a width: 0.3 is 3 × 0.1, in spite of binary fractions."""
MOST_WIDTHS = 2.0**52
MOST_DECIMALS = 300


@dataclass(frozen=True)
class _LevelStep(TableStep):
    """A step that maps the levels of one column."""

    column: str

    def __post_init__(self) -> None:
        column_names("column", self.column)

    def apply(self, draft: TableDraft, draw: np.random.Generator) -> TableStepResult:
        """Map the levels and all cells."""
        change = self.level_change(draft.column(self.column))
        assert change is not None
        return TableStepResult(draft.with_levels(self.column, change))

    def level_change(self, column: Column) -> LevelChange | None:
        """Map the levels of the column of this step."""
        return self._change(column) if column.name == self.column else None

    def _change(self, column: Column) -> LevelChange:
        raise NotImplementedError

    @classmethod
    def _words(cls, text: str) -> tuple[str, str]:
        """Name of the one column, and the parameter."""
        columns, parameter = cls._split(text)
        names = read_names(columns)
        if len(names) != 1:
            raise cls._syntax_error()
        return names[0], parameter

    def _wrong_kind(self, column: Column, allowed: str) -> ParameterError:
        return ParameterError(f"{self}: the column is of type {column.kind}, and the step needs {allowed}")


@dataclass(frozen=True)
class GeneralizeColumn(_LevelStep):
    """Replace the values of a column by groups of values.

    Parameters
    ----------
    column
        Name of the column.
    to
        With a hierarchy: the height of the groups, from 1. Without: "week", "month", "quarter" or "year" of
        dates, which become the first day of it; the width of bands of numbers, which become text like
        "20 to 29"; the number of neighbouring ordered levels that become one.

    Raises
    ------
    ParameterError
        If a parameter is not allowed. Applied to a table: if the column cannot be generalized like this.

    Examples
    --------
    >>> import standout as so
    >>> so.step("generalize:zip=1")
    GeneralizeColumn(column='zip', to=1)
    >>> str(so.GeneralizeColumn("born", "year"))
    'generalize:born=year'
    """

    name: ClassVar[str] = "generalize"
    syntax: ClassVar[str] = "COLUMN=HEIGHT | COLUMN=PERIOD | COLUMN=WIDTH"
    summary: ClassVar[str] = (
        "replace values by groups of the hierarchy; dates by week, month, quarter or year; numbers by bands"
    )

    to: int | float | PeriodName

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.to, str):
            if self.to not in PERIODS[1:]:
                raise ParameterError(
                    f"to must be a height, a width, or one of {', '.join(PERIODS[1:])}; got {self.to!r:.100}"
                )
        elif finite_number("to", self.to) <= 0:
            raise ParameterError(f"to must be a number > 0, got {self.to!r}")

    def text(self) -> str:
        """The part after the colon."""
        to = self.to if isinstance(self.to, str) else number_text(self.to)
        return f"{names_text([self.column])}={to}"

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Make the step from the part after the colon."""
        column, to = cls._words(text)
        return cls(column, to if to.isalpha() else read_number(to))  # type: ignore[arg-type]

    def _change(self, column: Column) -> LevelChange:
        if isinstance(self.to, str):
            if column.kind != "date":
                raise self._wrong_kind(column, "dates")
            days = np.asarray(column.levels, np.float64).astype(np.int64)
            return merge_numbers("date", Period(self.to).start(days, "day").astype(np.float64))
        if column.hierarchy is not None:
            return self._by_hierarchy(column)
        if column.kind == "number":
            return _bands(column, float(self.to))
        if column.kind == "ordered":
            return _merged_neighbours(column, self._whole("the number of merged levels", 2))
        raise self._wrong_kind(column, "a hierarchy (give one in the schema), numbers, dates or ordered levels")

    def _by_hierarchy(self, column: Column) -> LevelChange:
        assert column.hierarchy is not None
        height, highest = self._whole("the height", 1), column.hierarchy.height
        if height > highest:
            raise ParameterError(f"{self}: the hierarchy of the column has heights 1 to {highest}")
        labels = column.hierarchy.labels[height - 1]
        return merge_labels(column, column.hierarchy.group_of(height), labels, height)

    def _whole(self, what: str, least: int) -> int:
        assert not isinstance(self.to, str)
        if not float(self.to).is_integer() or self.to < least:
            raise ParameterError(f"{self}: {what} must be a whole number ≥ {least}")
        return int(self.to)


def _bands(column: Column, width: float) -> LevelChange:
    """Bands from a multiple of the width up to the next one."""
    numbers = np.asarray(column.levels, np.float64)
    group = np.floor(_in_widths(numbers, width) + ROUNDING)
    low = _multiples(group, width)
    is_whole = float(width).is_integer() and bool((numbers == np.floor(numbers)).all())
    high = low + width - 1 if is_whole else _multiples(group + 1, width)
    between = " to " if is_whole else " to below "
    bounds = list(zip(low.tolist(), high.tolist(), strict=True))
    labels = tuple(number_text(a) if a == b else f"{number_text(a)}{between}{number_text(b)}" for a, b in bounds)
    return merge_labels(column, np.arange(len(numbers)), labels)


def _merged_neighbours(column: Column, size: int) -> LevelChange:
    levels = column.levels
    starts = range(0, len(levels), size)
    ends = [min(start + size, len(levels)) - 1 for start in starts]
    labels = tuple(
        str(levels[start]) if start == end else f"{levels[start]} to {levels[end]}"
        for start, end in zip(starts, ends, strict=True)
    )
    return merge_labels(column, np.arange(len(levels)) // size, labels)


def _in_widths(numbers: Floats, width: float) -> Floats:
    """Numbers as multiples of a width; raises if they are too large to be counted."""
    with np.errstate(over="ignore"):
        count = numbers / width
    if not (np.abs(count) < MOST_WIDTHS).all():
        raise ParameterError(f"{number_text(width)} is too small for the numbers of the column: choose more")
    return np.asarray(count)


def _multiples(count: Floats, width: float) -> Floats:
    """Multiples of a width without the noise of binary fractions: 3 × 0.1 is 0.3."""
    exponent = Decimal(repr(float(width))).normalize().as_tuple().exponent
    decimals = min(max(0, -exponent), MOST_DECIMALS) if isinstance(exponent, int) else 0
    return np.asarray(np.round(count * width, decimals)) + 0.0


@dataclass(frozen=True)
class RoundColumn(_LevelStep):
    """Round numbers to the nearest multiple; halves are rounded up. The column stays a number.

    Parameters
    ----------
    column
        Name of the column.
    to
        Multiples of this number are left, above 0.

    Raises
    ------
    ParameterError
        If `to` is not above 0. Applied to a table: if the column has no numbers.

    Examples
    --------
    >>> import standout as so
    >>> str(so.RoundColumn("age", 5))
    'round:age=5'
    """

    name: ClassVar[str] = "round"
    syntax: ClassVar[str] = "COLUMN=MULTIPLE"
    summary: ClassVar[str] = "round numbers to the nearest multiple, such as round:age=5"

    to: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if finite_number("to", self.to) <= 0:
            raise ParameterError(f"to must be a number > 0, got {self.to!r}")

    def text(self) -> str:
        """The part after the colon."""
        return f"{names_text([self.column])}={number_text(self.to)}"

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Make the step from the part after the colon."""
        column, to = cls._words(text)
        return cls(column, read_number(to))

    def _change(self, column: Column) -> LevelChange:
        if column.kind != "number":
            raise self._wrong_kind(column, "numbers (dates and ordered levels: use generalize)")
        numbers = np.asarray(column.levels, np.float64)
        rounded = _multiples(np.floor(_in_widths(numbers, self.to) + 0.5 + ROUNDING), self.to)
        return merge_numbers("number", rounded)


@dataclass(frozen=True)
class TopCode(_LevelStep):
    """Replace values below a bound, or above one, by the bound.

    The bound then means "this or less", or "this or more": after `TopCode("age", above=85)` a released 85 is
    an age of 85 or above. The column keeps its type.

    Parameters
    ----------
    column
        Name of the column: numbers, dates or ordered levels.
    below
        Values below this one become it. Default: none. A date may be written as 2001-12-31.
    above
        Values above this one become it. Default: none.

    Raises
    ------
    ParameterError
        If no bound is given, or they are in the wrong order. Applied to a table: if the column is of another
        type, or the bound is not one of its ordered levels.

    Examples
    --------
    >>> import standout as so
    >>> str(so.TopCode("age", above=85)), str(so.TopCode("age", 18, 85))
    ('top-code:age=..85', 'top-code:age=18..85')
    """

    name: ClassVar[str] = "top-code"
    syntax: ClassVar[str] = "COLUMN=..HIGHEST | COLUMN=LOWEST.. | COLUMN=LOWEST..HIGHEST"
    summary: ClassVar[str] = "replace values beyond a bound by the bound, which then means it or more (or less)"

    below: float | str | date | None = None
    above: float | str | date | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        bounds = {"below": self.below, "above": self.above}
        for name, bound in bounds.items():
            if isinstance(bound, date):
                self._set(**{name: bound.isoformat()})
            elif bound is not None and not isinstance(bound, str):
                finite_number(name, bound)
        if self.below is None and self.above is None:
            raise ParameterError("below or above must be given")

    def text(self) -> str:
        """The part after the colon."""
        low, high = (
            "" if bound is None else bound if isinstance(bound, str) else number_text(bound)  # type: ignore[arg-type]
            for bound in (self.below, self.above)
        )
        return f"{names_text([self.column])}={low}..{high}"

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Make the step from the part after the colon."""
        column, bounds = cls._words(text)
        low, dots, high = bounds.partition("..")
        if not dots:
            raise cls._syntax_error()
        return cls(column, _bound(low), _bound(high))

    def _change(self, column: Column) -> LevelChange:
        if column.kind == "ordered":
            return self._merge_ordered(column)
        if column.kind not in ("number", "date"):
            raise self._wrong_kind(column, "numbers, dates or ordered levels")
        low, high = (self._number(column, bound) for bound in (self.below, self.above))
        self._check_order(low, high)
        return merge_numbers(column.kind, np.clip(np.asarray(column.levels, np.float64), low, high))

    def _merge_ordered(self, column: Column) -> LevelChange:
        low, high = (None if bound is None else self._level(column, bound) for bound in (self.below, self.above))
        self._check_order(low, high)
        last = column.n_levels - 1
        code: Ints = np.clip(np.arange(last + 1), 0 if low is None else low, last if high is None else high)
        return merge_labels(column, code, tuple(map(str, column.levels)))

    def _check_order(self, low: float | None, high: float | None) -> None:
        if low is not None and high is not None and low >= high:
            raise ParameterError(f"{self}: the lowest value must come before the highest")

    def _number(self, column: Column, bound: float | str | date | None) -> float | None:
        if bound is None:
            return None
        try:
            if column.kind == "date":
                return float((date.fromisoformat(str(bound)) - EPOCH).days)
            return float(str(bound))
        except ValueError:
            wanted = "a date like 2001-12-31" if column.kind == "date" else "a number"
            raise ParameterError(f"{self}: a bound of this column must be {wanted}") from None

    def _level(self, column: Column, bound: float | str | date) -> int:
        word = number_text(bound) if isinstance(bound, (int, float)) else str(bound)
        code = column.code(word)
        if code is None:
            raise ParameterError(f"{self}: a bound must be one of the column's levels")
        return code


def _bound(word: str) -> float | str | None:
    """A bound of top-coding: a number where the word spells one."""
    if not word:
        return None
    try:
        return read_number(word)
    except ParameterError:
        return word
