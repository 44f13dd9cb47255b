"""Decide what a column is: number, date, boolean, ordered, set or category, from its distinct cells or a schema."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from standout.core.arrays import Bools, Floats, Ints, run_starts
from standout.core.errors import ColumnError, ParameterError
from standout.data.column import Column, ColumnKind, ColumnSimilarity, Levels, code_dtype
from standout.ingest.cells import (
    ALWAYS,
    BETWEEN_MEMBERS,
    WITH_NUMBERS,
    DistinctCells,
    evident_order,
    missing_in,
    numbers_in,
    recognise_separator,
    sets_in,
)
from standout.ingest.names import default_role, has_id_name, is_category_name, is_code_name, is_person_name
from standout.ingest.schema import PREFIX, ColumnSchema, with_hierarchy
from standout.ingest.times import NOT_A_DATE, are_dates, are_digit_dates, dates_in

MISSING = -1
INFERRED = ColumnSchema()
LARGEST = 2.0**53
"""Larger whole numbers are not exact, so two of them could become one."""
PAIRS = (
    ("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("nein", "ja"), ("n", "j"), ("non", "oui"),
    ("no", "si"), ("no", "sí"), ("falsch", "wahr"), ("off", "on"), ("0", "1"), ("0.0", "1.0"),
)  # fmt: skip
"""Words for false and true."""
SURE = {"yes", "no", "true", "false", "ja", "nein", "oui", "non"}
"""Words that mean true or false even if no other word occurs."""
FEW_CODES, LONG_CODE = 30, r"^\d{9,}$"
FEW_ODD = 0.5
"""A category with more numbers than this may have been meant as a number."""


@dataclass(frozen=True, slots=True)
class CellLevels:
    """The levels of a column, and the level of each distinct cell: -1 if it is empty.

    Of a set, `codes` are the members of all distinct cells and `starts` says where those of each begin.
    `markers` counts the cells with a text that means that they are empty, and `doubt` says what a user should
    check.
    """

    levels: Levels
    codes: Ints
    reason: str = ""
    kind: ColumnKind = "category"
    markers: dict[str, int] = field(default_factory=dict)
    starts: Ints | None = None
    separator: str = ""
    date_format: str = ""
    doubt: str = ""


def levels_of(name: str, cells: DistinctCells, schema: ColumnSchema) -> CellLevels:
    """Decide what a column is, and find its levels."""
    kinds: dict[ColumnKind, object] = {"ordered": schema.levels, "set": schema.separator, "date": schema.date_format}
    given = schema.kind or next((kind for kind, key in kinds.items() if key is not None), None)
    given = "category" if given is None and schema.hierarchy == PREFIX else given
    if given is not None and cells.is_list and given != "set":
        raise ColumnError(f'column {name!r} has lists: set kind = "set" in the schema, or leave it out')
    reader = _Reader(name, cells, schema)
    kind, reason, doubt = reader.infer() if given is None else (given, "the schema says so", "")
    missing = reader.missing(ALWAYS if kind in ("category", "ordered", "set") else WITH_NUMBERS)
    levels: CellLevels = getattr(reader, f"as_{kind}")(missing, cells.texts.filter(pl.Series(~missing)))
    return replace(
        levels,
        kind=kind,
        reason=", ".join(filter(None, (reason, levels.reason))),
        markers={cells.texts[place]: int(cells.counts[place]) for place in np.flatnonzero(missing).tolist()},
        doubt=doubt or levels.doubt,
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the distinct cells of one column: `missing` says which are empty, and `kept` are the texts of the others.

    The reason of the levels is what there is to add to that of the kind.
    """

    name: str
    cells: DistinctCells
    schema: ColumnSchema

    def infer(self) -> tuple[ColumnKind, str, str]:
        """The most telling kind that fits all cells, why, and a doubt about it."""
        values, texts, is_text = self.cells.values, self.cells.texts, self.cells.is_text
        if self.cells.is_list:
            return "set", "its cells are lists", ""
        if values.dtype in (pl.Boolean, pl.Date):
            return ("date" if values.dtype == pl.Date else "boolean"), "its type", ""
        shown = ~self.missing(WITH_NUMBERS)
        texts = texts.filter(pl.Series(shown)) if is_text else texts
        if is_text and not len(texts):
            return "category", "no cell has a value", ""
        if _pair(texts) is not None:
            return "boolean", "all cells are words for yes or no" if is_text else "all cells are 0 or 1", ""
        if (is_text or values.dtype.is_integer()) and are_digit_dates(texts):
            return "date", "all cells are dates of eight digits", ""
        is_number = ~np.isnan(numbers_in(texts)[0]) if is_text else np.ones(len(texts), np.bool_)
        if is_number.all():
            if reason := self._code_reason(texts):
                return "category", reason, ""
            largest = None if is_text else values.abs().max()
            if isinstance(largest, (int, float)) and largest >= LARGEST:
                return "category", "its numbers have too many digits to be exact", ""
            return "number", "all cells are numbers" if is_text else "its type", ""
        is_date = dates_in(texts).fits
        if is_date.all():
            return "date", "all cells are dates", ""
        is_kept = ~self.missing(ALWAYS)
        kept = values.filter(pl.Series(is_kept))
        if (order := evident_order(kept.to_list())) is not None:
            return "ordered", order[1], ""
        if recognise_separator(kept, self.cells.counts[:-1][is_kept]) is not None:
            return "set", "its cells have several members", ""
        doubt, counts, instead = "", self.cells.counts[:-1][shown], "so it is read as a category"
        for fits, what in ((is_date, "dates"), (is_number, "numbers")):
            if (odd := int(counts[~fits].sum())) < FEW_ODD * counts.sum():
                doubt = (
                    f"{odd:,} of {int(counts.sum()):,} cells are not {what}, {instead}: if they "
                    "mean that the cell is empty, list them under missing in a schema"
                )
        if are_dates(texts.filter(pl.Series(~is_date))):
            doubt = f"{MIXED_DATES}, {instead}: write them in one format, or set kind and date_format in a schema"
        has_zeros = texts.str.contains(r"^0\d+$").any()
        return "category", "cells have leading zeros" if has_zeros else "its cells are texts", doubt

    def _code_reason(self, texts: pl.Series) -> str:
        """Why the numbers of a column are codes; "" if they are numbers."""
        if is_code_name(self.name):
            return "its name is that of a code"
        if is_category_name(self.name) and len(texts) <= FEW_CODES and texts.str.contains(r"^\d+$").all():
            return "its name is that of a category, and its cells are codes"
        if len(texts) > 1 and texts.str.contains(LONG_CODE).all() and texts.str.len_bytes().n_unique() == 1:
            return "its cells are codes: long numbers of equal length"
        return ""

    def as_number(self, missing: Bools, kept: pl.Series) -> CellLevels:
        """Levels are the distinct numbers."""
        values, cells, written = np.full(len(missing), np.nan), self.cells.values, ""
        if self.cells.is_text:
            values[~missing], written = numbers_in(kept)
        elif cells.dtype.is_numeric() or cells.dtype == pl.Boolean:
            values[~missing] = cells.cast(pl.Float64).to_numpy()[~missing]
        self._check(np.isnan(values) & ~missing, "a number")
        return _ranked(values, missing, reason=written)

    def as_date(self, missing: Bools, kept: pl.Series) -> CellLevels:
        """Levels are the distinct days."""
        pattern, has_clock = "", self.cells.has_clock
        if self.cells.values.dtype == pl.Date:
            days = self.cells.values.to_physical().cast(pl.Int64).to_numpy()
        else:
            days = np.full(len(missing), NOT_A_DATE)
            days[~missing], pattern, has_clock = dates_in(kept, self.schema.date_format)
            self._check((days == NOT_A_DATE) & ~missing, "a date in one format", "date_format")
        return _ranked(days.astype(np.float64), missing, date_format=pattern, doubt=CLOCK if has_clock else "")

    def as_boolean(self, missing: Bools, kept: pl.Series) -> CellLevels:
        """Levels are false and true."""
        texts = self.cells.texts.str.to_lowercase()
        pair = self.schema.levels or _pair(kept)
        if pair is None or len(pair) != 2:
            raise ColumnError(
                f"column {self.name!r} cannot be read as boolean: set levels to its two texts, first the one "
                'for false, in the schema, or set kind = "category"'
            )
        folded = [word.lower() for word in pair]
        self._check(~texts.is_in(folded).to_numpy() & ~missing, "one of the two levels", "levels")
        return CellLevels(("false", "true"), np.where(missing, MISSING, (texts == folded[1]).to_numpy()))

    def as_ordered(self, missing: Bools, kept: pl.Series) -> CellLevels:
        """Levels are texts in their order."""
        levels = self.schema.levels
        if levels is None:
            numbers, order = numbers_in(kept)[0], evident_order(kept.to_list())
            if order is None and np.isnan(numbers).any():
                raise ColumnError(
                    f"column {self.name!r} has no evident order: list its levels in order under levels in "
                    'the schema, or set kind = "category"'
                )
            levels = tuple(kept[place] for place in (order[0] if order else np.argsort(numbers).tolist()))
        place = {level: code for code, level in enumerate(levels)}
        codes = np.array([place.get(text, MISSING) for text in self.cells.texts.to_list()], np.int64)
        codes[missing] = MISSING
        self._check((codes == MISSING) & ~missing, "one of its levels", "levels")
        used = np.unique(codes[codes != MISSING])
        codes = np.where(codes == MISSING, MISSING, np.searchsorted(used, codes))
        return CellLevels(tuple(levels[code] for code in used.tolist()), codes)

    def as_category(self, missing: Bools, kept: pl.Series) -> CellLevels:
        """Levels are the distinct texts."""
        levels = kept.unique().sort()
        codes = self.cells.texts.cast(pl.Enum(levels), strict=False).to_physical().cast(pl.Int64).fill_null(MISSING)
        return CellLevels(tuple(levels.to_list()), np.where(missing, MISSING, codes.to_numpy()))

    def as_set(self, missing: Bools, kept: pl.Series) -> CellLevels:
        """Levels are the members of the sets."""
        texts = self.cells.texts.set(pl.Series(missing), "")
        if self.cells.is_list:
            members, starts, codes = sets_in(texts, BETWEEN_MEMBERS)
            return CellLevels(members, codes, starts=starts)
        separator = self.schema.separator or recognise_separator(kept, self.cells.counts[:-1][~missing])
        if separator is None:
            raise ColumnError(f"column {self.name!r} is a set: set separator of its members in the schema")
        members, starts, codes = sets_in(texts, separator)
        return CellLevels(members, codes, f"separated by {separator}", starts=starts, separator=separator)

    def missing(self, usual: frozenset[str]) -> Bools:
        """Which distinct cells mean an empty cell: what the user lists, or the usual markers."""
        if self.schema.missing is not None and not self.cells.is_list:
            return self.cells.texts.is_in([marker.strip() for marker in self.schema.missing]).to_numpy()
        if not self.cells.is_text or self.cells.is_list:
            return np.zeros(len(self.cells.values), np.bool_)
        return missing_in(self.cells.values, usual).to_numpy()

    def _check(self, misfit: Bools, what: str, key: str = "missing") -> None:
        """Raise an error if a distinct cell does not fit what the schema says."""
        if misfit.any():
            count = int(self.cells.counts[:-1][misfit].sum())
            advice = "list the texts that mean an empty cell under missing" if key == "missing" else f"change {key}"
            raise ColumnError(
                f"column {self.name!r}: {count:,} of {self.cells.filled:,} cells are not {what}; {advice} in the "
                'schema, or set kind = "category"'
            )


def _ranked(values: Floats, missing: Bools, **more: Any) -> CellLevels:
    levels = np.unique(values[~missing]) + 0.0  # no negative zero
    return CellLevels(levels, np.where(missing, MISSING, np.searchsorted(levels, values)), **more)


def _pair(texts: pl.Series) -> tuple[str, str] | None:
    """The words for false and true that all texts are."""
    words = {text.lower() for text in texts.to_list()} if 1 <= len(texts) <= 8 else {""}
    return next((pair for pair in PAIRS if words <= {*pair} and (len(words) == 2 or words <= SURE)), None)


# Make a column of the cells of a source, and compare it as usual, or as the schema says.

ERROR, SCALE = 20, 10
"""The error is a twentieth of the spread, the scale of a decay a tenth."""
LONGEST_ERROR, LONGEST_SCALE = 14.0, 30.0
"""Of dates, in days: as for histories."""
LOW, HIGH = 0.1, 0.9
FEW = 2
"""Of two levels, nobody takes one for the other by mistake: numbers may be codes, such as 1 and 2 for sex."""


def make_column(
    name: str, cells: DistinctCells, levels: CellLevels, schema: ColumnSchema = INFERRED, folder: Path = Path()
) -> Column:
    """Give each row its level, and the column its hierarchy, similarity, error, role and attribute."""
    n_levels, starts = len(levels.levels), None
    kind = code_dtype(n_levels)
    if levels.starts is not None:  # a set: put together the members of each row; an empty cell has none
        first = np.append(levels.starts, levels.starts[-1])
        rows = np.asarray(cells.codes, np.int64)
        counts = np.diff(first)[rows]
        starts = np.append(0, np.cumsum(counts)).astype(np.int64)
        codes = levels.codes[np.arange(starts[-1]) + np.repeat(first[rows] - starts[:-1], counts)].astype(kind)
    else:
        codes = np.append(np.where(levels.codes < 0, n_levels, levels.codes), n_levels).astype(kind)[cells.codes]
    column = Column(name, levels.kind, levels.levels, codes, starts)
    if schema.hierarchy is not None:
        column = with_hierarchy(column, schema.hierarchy, folder)
    if schema.error and not column.has_distances:
        raise ParameterError(f"schema, column {name!r}: error must be 0: its values have no distances")
    usual, error = _usual(column)
    try:
        return replace(
            column,
            similarity=_similarity(column, schema, usual, error),
            error=error if schema.error is None else float(schema.error),
            role=schema.role or default_role(name),
            attribute=schema.attribute or column.attribute,
        )
    except ParameterError as refused:
        raise ParameterError(f"schema, column {name!r}: {refused}") from None


def _similarity(column: Column, schema: ColumnSchema, usual: ColumnSimilarity, error: float) -> ColumnSimilarity:
    """The similarity that the user names; its scale is the usual one unless the user says otherwise."""
    name, scale = schema.similarity or usual.name, schema.scale
    if name == "hierarchy" and column.hierarchy is None:
        raise ParameterError("similarity hierarchy needs a hierarchy: set it")
    if name == "ordered" and column.kind not in ("ordered", "number", "date"):
        raise ParameterError('similarity ordered needs an order: set kind = "ordered" and levels')
    if name in ("within", "decay"):
        if column.kind not in ("number", "date"):
            raise ParameterError(f"similarity {name} needs numbers or dates, and the column is {column.kind}")
        scale = usual.scale or max(error, 1.0) if scale is None else scale
    return ColumnSimilarity(name, None if scale is None else float(scale))


def spread(column: Column) -> float:
    """Distance between the 10th and the 90th percentile of a column of numbers or dates.

    If it is 0, that without the commonest level; if this is 0 too, that of the lowest and the highest level.
    """
    levels, counts = np.asarray(column.levels, np.float64), column.counts[:-1].copy()
    for _ in range(2 if len(levels) else 0):
        until = np.cumsum(counts)
        low, high = np.searchsorted(until, [LOW * until[-1], HIGH * until[-1]])
        if (wide := float(levels[min(high, len(levels) - 1)] - levels[low])) > 0.0:
            return wide
        counts[np.argmax(counts)] = 0
    return float(levels[-1] - levels[0]) if len(levels) else 0.0


def _usual(column: Column) -> tuple[ColumnSimilarity, float]:
    """How a column is compared, and how far an imprecise adversary is off.

    Numbers and dates: a decay over a tenth of the spread and an error of a twentieth, rounded to one digit; at least 1
    for whole numbers, at most 30 and 14 days for dates. Ordered levels: one step. Others, and two levels: no error.
    """
    if column.kind in ("number", "date") and column.n_levels > FEW:
        wide, levels = spread(column), np.asarray(column.levels, np.float64)
        error, scale = one_digit(wide / ERROR), one_digit(wide / SCALE)
        if column.kind == "date" or (levels == np.floor(levels)).all():
            error, scale = max(float(round(error)), 1.0), max(scale, 1.0)
        if column.kind == "date":
            error, scale = min(error, LONGEST_ERROR), min(scale, LONGEST_SCALE)
        return ColumnSimilarity("decay", scale), error
    if column.kind == "ordered":
        return ColumnSimilarity("ordered"), float(column.n_levels > FEW)
    return ColumnSimilarity("hierarchy" if column.hierarchy is not None else "equal"), 0.0


def one_digit(number: float) -> float:
    """Round to one significant digit."""
    return float(round(number, -math.floor(math.log10(number)))) if number > 0.0 else 0.0


# What a user should check about a column: it names people, it is empty, it says nothing.

EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
PHONE = re.compile(r"(\+\d|\(?0\d)[\d ()/-]{6,}")
MOSTLY, SAMPLE = 0.8, 200
SMALL_GROUP, LARGE_GROUP, FEWEST = 1.5, 50, 20
"""Mean numbers of rows of a group that may be one person, and the fewest groups."""
CLOCK = "its times of day are left out, so what they reveal is not measured"
MIXED_DATES = "its dates have no common format"
DIFFERENT = 0.5
"""Names differ in most rows; a column with few levels names groups, not people."""


class Doubt(NamedTuple):
    """A warning about a column. If it `blocks`, a threshold must not pass with it: the risk may be higher."""

    text: str
    blocks: bool = False


def direct_identifier(name: str, cells: DistinctCells) -> str:
    """What a column looks like that names people directly; "" if it does not."""
    sample = cells.values.head(SAMPLE)
    sample = sample.str.split(BETWEEN_MEMBERS).explode() if cells.is_list else sample
    texts = sample.to_list() if cells.is_text else []
    for form, looks in ((EMAIL, "an e-mail address"), (PHONE, "a telephone number")):
        if texts and sum(form.fullmatch(text) is not None for text in texts) >= MOSTLY * len(texts):
            return looks
    may_be_name = texts and len(cells.values) >= DIFFERENT * cells.filled
    return "a name or address" if may_be_name and is_person_name(name) else ""


def column_doubts(column: Column, cells: DistinctCells, doubt: str, is_settled: bool) -> Iterator[Doubt]:
    """Yield warnings about one column; `is_settled` if the user said what kind of column it is."""
    name = repr(column.name)
    if looks := direct_identifier(column.name, cells):
        yield Doubt(
            f"column {name} looks like {looks}, which identifies people directly. Remove it before you "
            "publish the table; for an audit without it, leave it out on purpose (ignore)"
        )
    if not cells.filled or not (column.n_levels and column.counts[:-1].any()):
        yield Doubt(f"column {name} has no values: all of its cells are empty")
    elif column.n_levels == 1 and not column.counts[-1]:
        yield Doubt(f"column {name} has the same value in all rows")
    if has_id_name(column.name) and column.kind != "boolean" and 1 < column.n_levels < cells.filled:
        yield Doubt(
            f"column {name} looks like an id of people, but {cells.sharing:,} of {len(cells.codes):,} rows share it "
            "with another row: it is read as an attribute, because a table has one row per person",
            blocks=not is_settled,
        )
    elif _groups_rows(column):
        yield Doubt(
            f"rows with the same value of column {name} stand together, {column.n_levels:,} groups of "
            f"{cells.filled / column.n_levels:.1f} rows on average. If a group is one person, the numbers "
            "understate the risk: a table must have one row per person"
        )
    if doubt:
        may_understate = doubt.startswith((CLOCK, MIXED_DATES))
        yield Doubt(f"column {name}: {doubt}", blocks=may_understate and not is_settled)


def _groups_rows(column: Column) -> bool:
    """Whether a column may be the id of people who have several rows each, one after the other."""
    n = column.n_rows
    if column.starts is not None or column.kind not in ("number", "category"):
        return False
    if column.n_levels < FEWEST or not n / LARGE_GROUP <= column.n_levels <= n / SMALL_GROUP or column.counts[-1]:
        return False
    return len(run_starts(column.codes)) == column.n_levels
