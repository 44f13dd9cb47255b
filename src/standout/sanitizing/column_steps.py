"""Steps on columns: generalize, round, top-code, swap, empty, drop, and leave no small class."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import combinations

import numpy as np

from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.core.errors import ParameterError
from standout.core.progress import Progress
from standout.data.column import EPOCH, Column
from standout.data.labels import StepReport
from standout.know.sanitized import PERIODS, Period
from standout.sanitizing.draft import Draft, LevelChange, merge_labels, merge_numbers, with_levels_of
from standout.sanitizing.step import (
    Step,
    StepNoise,
    StepResult,
    names_of,
    one_of,
    parameter,
    parameter_text,
    positive,
    text,
    whole,
    word_or_number,
)

ROUNDING = 1e-9
"""Tolerance in multiples of a width: 0.3 is 3 × 0.1, in spite of binary fractions."""
MOST_WIDTHS = 2.0**52
MOST_DECIMALS = 300
COLUMNS = "names of different columns"
MOST_COLUMNS = 12
"""With more quasi-identifiers there are too many combinations of columns to try."""


@dataclass(frozen=True)
class _ColumnStep(Step):
    """A step on one column."""

    about = "columns"

    column: str = parameter(text("the name of a column"), str)


@dataclass(frozen=True)
class LevelStep(_ColumnStep):
    """A step that maps the levels of one column, whatever its cells are; equal values stay equal."""

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        return StepResult(self.with_new_levels(draft))

    def with_new_levels(self, draft: Draft) -> Draft:
        """The draft with the levels mapped."""
        return draft.with_levels(self.column, self.change(draft.column(self.column)))

    @abstractmethod
    def change(self, column: Column) -> LevelChange:
        """How the levels of the column are mapped."""

    def _require_kind(self, column: Column, kinds: tuple[str, ...], allowed: str) -> None:
        self._require(column.kind in kinds, f"the column is of type {column.kind}, and the step needs {allowed}")


@dataclass(frozen=True)
class GeneralizeColumn(LevelStep):
    """Replace the values of a column by groups of values.

    `to` is the height of the groups in the column's hierarchy, from 1. Without a hierarchy: "week", "month",
    "quarter" or "year" of dates, which become its first day; the width of bands of numbers, which become text like
    "20 to 29"; or the number of neighbouring ordered levels that become one.
    """

    name = "generalize"
    syntax = "COLUMN HEIGHT | COLUMN PERIOD | COLUMN WIDTH"
    summary = "replace values by groups of the hierarchy; dates by week, month, quarter or year; numbers by bands"

    to: float | str = parameter(positive() | one_of(*PERIODS[1:]), word_or_number)

    def change(self, column: Column) -> LevelChange:
        levels, tree, to = column.levels, column.hierarchy, self.to
        if isinstance(to, str):
            self._require_kind(column, ("date",), "dates")
            days = np.asarray(levels, np.float64).astype(np.int64)
            first = Period(to).start(days, "day")  # type: ignore[arg-type]  # checked
            return merge_numbers("date", first.astype(np.float64))
        if tree is not None:
            self._require(to.is_integer() and to >= 1, "the height must be a whole number ≥ 1")
            self._require(to <= tree.height, f"the hierarchy of the column has heights 1 to {tree.height}")
            return merge_labels(column, tree.group_of(int(to)), tree.labels[int(to) - 1], int(to))
        if column.kind == "number":
            return _bands(column, to)
        allowed = "a hierarchy (give one in the schema), numbers, dates or ordered levels"
        self._require_kind(column, ("ordered",), allowed)
        self._require(to.is_integer() and to >= 2, "the number of merged levels must be a whole number ≥ 2")
        size = int(to)
        ends = [(start, min(start + size, len(levels)) - 1) for start in range(0, len(levels), size)]
        labels = [str(levels[a]) if a == b else f"{levels[a]} to {levels[b]}" for a, b in ends]
        return merge_labels(column, np.arange(len(levels)) // size, tuple(labels))


def _bands(column: Column, width: float) -> LevelChange:
    """Bands from a multiple of the width up to the next one."""
    numbers = np.asarray(column.levels, np.float64)
    group = np.floor(_in_widths(numbers, width) + ROUNDING)
    low = _multiples(group, width)
    is_whole = width.is_integer() and bool((numbers == np.floor(numbers)).all())
    high = low + width - 1 if is_whole else _multiples(group + 1, width)
    between = " to " if is_whole else " to below "
    bounds = zip(map(parameter_text, low.tolist()), map(parameter_text, high.tolist()), strict=True)
    labels = tuple(a if a == b else f"{a}{between}{b}" for a, b in bounds)
    return merge_labels(column, np.arange(len(numbers)), labels)


def _in_widths(numbers: Floats, width: float) -> Floats:
    """Numbers as multiples of a width; raises if they are too large to be counted."""
    with np.errstate(over="ignore"):
        count = numbers / width
    if not (np.abs(count) < MOST_WIDTHS).all():
        raise ParameterError(f"{parameter_text(width)} is too small for the numbers of the column: choose more")
    return np.asarray(count)


def _multiples(count: Floats, width: float) -> Floats:
    """Multiples of a width without the noise of binary fractions: 3 × 0.1 is 0.3."""
    exponent = Decimal(repr(width)).normalize().as_tuple().exponent
    decimals = min(max(0, -exponent), MOST_DECIMALS) if isinstance(exponent, int) else 0
    return np.asarray(np.round(count * width, decimals)) + 0.0


@dataclass(frozen=True)
class RoundColumn(LevelStep):
    """Round numbers to the nearest multiple of `to`; halves are rounded up. The column stays a number."""

    name = "round"
    syntax = "COLUMN MULTIPLE"
    summary = "round numbers to the nearest multiple, such as round age 5"

    to: float = parameter(positive())

    def change(self, column: Column) -> LevelChange:
        self._require_kind(column, ("number",), "numbers (dates and ordered levels: use generalize)")
        numbers = np.asarray(column.levels, np.float64)
        return merge_numbers("number", _multiples(np.floor(_in_widths(numbers, self.to) + 0.5 + ROUNDING), self.to))


@dataclass(frozen=True)
class TopCode(LevelStep):
    """Replace values below a bound, or above one, by the bound; the column keeps its type.

    The bound then means "this or less", or "this or more". It is a number, a date like 2001-12-31, or an ordered level.
    """

    name = "top-code"
    syntax = "COLUMN ..HIGHEST | COLUMN LOWEST.. | COLUMN LOWEST..HIGHEST"
    summary = "replace values beyond a bound by the bound, which then means it or more (or less)"

    bounds: str = parameter(text("LOWEST..HIGHEST, or one of the two", lambda given: ".." in given != ".."), str)

    def change(self, column: Column) -> LevelChange:
        self._require_kind(column, ("number", "date", "ordered"), "numbers, dates or ordered levels")
        below, _, above = self.bounds.partition("..")
        low, high = (self._place(column, bound) if bound else None for bound in (below, above))
        is_ordered = low is None or high is None or low < high
        self._require(is_ordered, "the lowest value must come before the highest")
        if column.kind == "ordered":
            code = np.clip(np.arange(column.n_levels), low, high).astype(np.int64)
            return merge_labels(column, code, tuple(map(str, column.levels)))
        return merge_numbers(column.kind, np.clip(np.asarray(column.levels, np.float64), low, high))

    def _place(self, column: Column, bound: str) -> float:
        """The number of a bound; of ordered levels, its code."""
        wanted = {"ordered": "one of its levels", "date": "a date like 2001-12-31"}.get(column.kind, "a finite number")
        try:
            if column.kind == "date":
                return float((date.fromisoformat(bound) - EPOCH).days)
            place = column.code(bound) if column.kind == "ordered" else float(bound)
        except ValueError:
            place = None
        self._require(place is not None and np.isfinite(place), f"a bound of this column must be {wanted}")
        return float(place)  # type: ignore[arg-type]


@dataclass(frozen=True)
class SwapColumn(Step):
    """Swap the cells of these columns between a random share of the people; columns of a tuple attribute move together.

    What moves together is still a piece of one person's row. So at most half of the columns may move in one step
    (moving more is the same as moving the others), and a quasi-identifier may not move with a sensitive column.
    """

    name = "swap"
    syntax = "COLUMN … SHARE"
    summary = "let a random share of the people exchange these cells; several columns move together"
    about = "columns"

    columns: tuple[str, ...] = parameter(names_of(COLUMNS), tuple, several=True)
    share: float = parameter(positive(1))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        for name in self.columns:
            draft.column(name)
        moved = self._moved(draft.columns)
        self._require(
            2 * len(moved) <= len(draft.columns),
            f"{len(moved)} of {len(draft.columns)} columns would move together, which is the same as moving the "
            "others: name at most half of them, or use one step for each",
        )
        self._require(
            not {"quasi-identifier", "sensitive"} <= {draft.column(name).role for name in moved},
            "a quasi-identifier would move together with a sensitive column, and who finds the one would read the "
            "other: swap them in separate steps",
        )
        n, draw = draft.n_records, noise.rows()
        drawn_rows = round(self.share * n)
        self._require(drawn_rows >= 2, f"of {n:,} rows, fewer than 2 take part: choose a larger share")
        source: Ints = np.arange(n)
        drawn = np.sort(draw.permutation(n)[:drawn_rows])
        source[drawn] = draw.permutation(drawn)
        for name in moved:
            draft = draft.with_cells(draft.column(name).rows(source), replaced=drawn_rows / n)
        return StepResult(draft, {"rows swapped": drawn_rows})

    def cell_noise(self, report: StepReport, columns: tuple[Column, ...]) -> dict[str, tuple[float, float]]:
        replaced = report.counts["rows swapped"] / report.counts["records before"]
        return dict.fromkeys(self._moved(columns), (replaced, 0.0))

    def _moved(self, columns: Iterable[Column]) -> list[str]:
        """Names of the columns that move together: the named ones, and the others of their tuple attributes."""
        attributes = {column.attribute for column in columns if column.name in self.columns}
        return [column.name for column in columns if column.attribute in attributes]


@dataclass(frozen=True)
class SuppressCells(_ColumnStep):
    """Empty the cells of a column whose value fewer than `below` rows have."""

    name = "suppress-cells"
    syntax = "COLUMN LEAST"
    summary = "empty the cells whose value fewer rows than this have"

    below: int = parameter(whole(2))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        column = draft.column(self.column)
        counts = column.counts[:-1]
        is_rare = (counts > 0) & (counts < self.below)
        code = np.where(is_rare, column.missing, np.arange(column.n_levels))
        change = LevelChange(column.kind, column.levels, code, column.hierarchy)
        return StepResult(draft.with_levels(self.column, change), {"values removed": int(np.count_nonzero(is_rare))})


@dataclass(frozen=True)
class DropColumn(_ColumnStep):
    """Remove a column."""

    name = "drop-column"
    syntax = "COLUMN"
    summary = "remove a column"

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        return StepResult(draft.without_column(self.column))


# Classes of rows that have equal values in some columns. An empty cell is a value like any other.


def cell_numbers(column: Column) -> Ints:
    """A number for each cell; equal cells, and only they, have the same number, and empty ones have 0."""
    if column.starts is None:
        return np.asarray((column.codes.astype(np.int64) + 1) % (column.n_levels + 1))
    members = np.split(column.codes, column.starts[1:-1])
    number_of: dict[bytes, int] = {b"": 0}
    return np.array([number_of.setdefault(row.tobytes(), len(number_of)) for row in members], np.int64)


def same_sets(sets: Column, others: Column) -> Bools:
    """Whether each cell of one column of sets equals that of another; both have as many rows."""
    known = with_levels_of(sets, others)
    assert sets.starts is not None and known.starts is not None and others.starts is not None
    codes = np.concatenate([known.codes.astype(np.int64), others.codes.astype(np.int64)])
    starts = np.append(known.starts[:-1], known.starts[-1] + others.starts)
    cells = cell_numbers(replace(others, codes=codes, starts=starts))
    has_all = np.diff(known.starts) == np.diff(sets.starts)  # a member that the other column lacks makes a difference
    return np.asarray((cells[: sets.n_rows] == cells[sets.n_rows :]) & has_all)


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


@dataclass(frozen=True)
class ClassStep(Step):
    """A step on the classes of some columns; default: the quasi-identifiers."""

    syntax = "[COLUMN …] K"
    about = "columns"

    columns: tuple[str, ...] = parameter(names_of(COLUMNS, 0), tuple, several=True)
    k: int = parameter(whole(2))

    def _chosen(self, draft: Draft) -> list[Column]:
        """The columns that form the classes."""
        columns = [draft.column(name) for name in self.columns]
        columns = columns or [column for column in draft.columns if column.role == "quasi-identifier"]
        reason = "there are no quasi-identifiers: name the columns, or give them this role in the schema"
        self._require(columns, reason)
        return columns

    def _keep(self, draft: Draft, keep: Bools) -> Draft:
        return draft.keep_records(keep, reason_if_empty="generalize the columns first, or ask for less")


@dataclass(frozen=True)
class DropRows(ClassStep):
    """Remove the rows of classes with fewer than k rows."""

    name = "drop-rows"
    summary = "remove rows whose values of these columns fewer than K rows have"

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        classes = class_numbers([cell_numbers(column) for column in self._chosen(draft)])
        return StepResult(self._keep(draft, np.bincount(classes)[classes] >= self.k))


@dataclass(frozen=True)
class SuppressToK(ClassStep):
    """Empty cells of rows in small classes, until each class has at least k rows  [local suppression].

    Greedy: first rows that need one empty cell, then two, and so on; columns with many values are emptied first. Rows
    of small classes that agree on the other columns are put together, if they are then k; what fits nowhere is removed.
    """

    name = "suppress-to-k"
    summary = "empty cells of these columns until at least K rows have each combination of their values"

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        columns = self._chosen(draft)
        self._require(
            len(columns) <= MOST_COLUMNS,
            f"at most {MOST_COLUMNS} columns are possible, got {len(columns)}: name fewer columns, or use drop-rows",
        )
        emptied, keep = _cells_to_empty([cell_numbers(column) for column in columns], self.k)
        counts: dict[str, float] = {}
        for column, cells in zip(columns, emptied, strict=True):
            is_emptied, known = cells & ~column.is_missing & keep, int((~column.is_missing & keep).sum())
            if empty := int(np.count_nonzero(is_emptied)):
                draft = draft.with_cells(_emptied_column(column, is_emptied), suppressed=empty / known)
                counts |= {f"emptied in {column.name}": empty, f"of cells in {column.name}": known}
        return StepResult(self._keep(draft, keep), counts)

    def cell_noise(self, report: StepReport, columns: tuple[Column, ...]) -> dict[str, tuple[float, float]]:
        counts, names = report.counts, [column.name for column in columns]
        emptied = [name for name in names if f"emptied in {name}" in counts]
        return {name: (0.0, counts[f"emptied in {name}"] / counts[f"of cells in {name}"]) for name in emptied}


def _cells_to_empty(cells: list[Ints], k: int) -> tuple[list[Bools], Bools]:
    """For each column the rows whose cell is emptied, and the rows that are kept; rows of a class share their fate."""
    number = class_numbers(cells)
    _, first = np.unique(number, return_index=True)
    class_cells, size = [column[first] for column in cells], np.bincount(number)
    order = sorted(range(len(cells)), key=lambda column: -len(np.unique(cells[column])))
    is_unsafe = size < k
    for emptied in (columns for count in range(1, len(cells) + 1) for columns in combinations(order, count)):
        if not is_unsafe.any():
            break
        # The unsafe classes that have k rows together with others, once these columns are empty.
        fits = ~is_unsafe
        for column in emptied:
            fits &= class_cells[column] == 0
        unsafe = np.flatnonzero(is_unsafe)
        both = np.concatenate([unsafe, np.flatnonzero(fits)])
        others = [class_cells[column][both] for column in range(len(cells)) if column not in emptied]
        joined = class_numbers(others) if others else both * 0
        rows = np.bincount(joined, size[both])[joined]
        safe = unsafe[rows[: len(unsafe)] >= k]
        for column in emptied:
            class_cells[column][safe] = 0
        is_unsafe[safe] = False
    return [(new == 0)[number] & (old != 0) for new, old in zip(class_cells, cells, strict=True)], ~is_unsafe[number]


def _emptied_column(column: Column, is_emptied: Bools) -> Column:
    """The column with these cells emptied."""
    if column.starts is None:
        return replace(column, codes=np.where(is_emptied, column.missing, column.codes).astype(column.codes.dtype))
    length = np.diff(column.starts)
    keep = np.repeat(~is_emptied, length)
    return replace(column, codes=column.codes[keep], starts=offsets(np.where(is_emptied, 0, length)))
