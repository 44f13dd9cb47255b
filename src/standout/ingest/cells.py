"""The distinct cells of a column and the code of each row, and what texts mean: numbers, values, orders, sets.

Whatever a column is, it is decided and parsed on its distinct cells.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import time
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import inf, nan
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout.core.arrays import Floats, Ints
from standout.core.errors import ColumnError, SourceError
from standout.data.column import Codes, code_dtype
from standout.data.release import Levels
from standout.ingest.report import Reason

BETWEEN_MEMBERS = "\x1f"


@dataclass(frozen=True, eq=False)
class DistinctCells:
    """The distinct cells of a column, ascending: texts, numbers, dates or booleans.

    `codes` has for each row the position of its cell in `values`; len(values) is an empty cell. Texts have no
    spaces around them, and an empty text is an empty cell. Cells that are lists are texts with BETWEEN_MEMBERS.
    """

    values: pl.Series
    codes: Codes
    is_list: bool = False
    has_clock: bool = False
    """Whether times of day were left out."""

    @property
    def is_text(self) -> bool:
        """Whether the cells are texts."""
        return self.values.dtype == pl.String

    @cached_property
    def counts(self) -> Ints:
        """Number of rows of each distinct cell, and at the end of empty cells."""
        return np.bincount(self.codes, minlength=len(self.values) + 1).astype(np.int64)

    @property
    def filled(self) -> int:
        """Number of cells that are not empty."""
        return len(self.codes) - int(self.counts[-1])

    @property
    def all_differ(self) -> bool:
        """Whether no cell is empty and no two are equal."""
        return len(self.values) == len(self.codes) and not self.counts[-1]

    @property
    def sharing(self) -> int:
        """Number of rows whose cell another row has, too."""
        return int(self.counts[:-1][self.counts[:-1] > 1].sum())

    @cached_property
    def texts(self) -> pl.Series:
        """The distinct cells as texts; whole numbers have no decimal point."""
        if self.values.dtype.is_float():
            whole = self.values.cast(pl.Int64, strict=False)
            if (whole.cast(pl.Float64) == self.values.cast(pl.Float64)).all():
                return whole.cast(pl.String)
        return self.values.cast(pl.String)


def distinct_cells(column: pl.Series) -> DistinctCells:
    """Find the distinct cells of a column of any type."""
    kind = column.dtype
    if isinstance(kind, pl.List) and not isinstance(kind.inner, pl.List):
        members = column.list.unique().list.drop_nulls().cast(pl.List(pl.String)).list.sort()
        if members.explode().str.contains(BETWEEN_MEMBERS, literal=True).any():
            raise ColumnError(f"column {column.name!r} has members with the control character U+001F: replace it")
        return replace(distinct_cells(members.list.join(BETWEEN_MEMBERS)), is_list=True)
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
        raw = column.unique().drop_nulls().sort()
        return text_cells(raw, column.cast(pl.Enum(raw)).to_physical().fill_null(len(raw)).to_numpy())
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Date):
        return _of_values(column)
    raise ColumnError(
        f"column {column.name!r} has nested or binary data ({kind}): write what matters in it as columns of "
        "their own, or leave it out with ignore=…"
    )


def text_cells(raw: pl.Series, positions: NDArray[Any]) -> DistinctCells:
    """The same for distinct texts in any order and the position of each row's; len(raw) is an empty cell."""
    stripped = raw.str.strip_chars()
    values = stripped.filter(stripped != "").unique().sort()
    place = np.full(len(raw) + 1, len(values), code_dtype(len(values)))
    known = stripped.replace("", None).cast(pl.Enum(values)).to_physical()
    place[:-1] = known.fill_null(len(values)).to_numpy()
    return DistinctCells(values, place[positions])


def _of_values(column: pl.Series) -> DistinctCells:
    if column.dtype.is_float():
        column = column.fill_nan(None)
        if column.is_infinite().any():
            raise ColumnError(f"column {column.name!r} has infinite numbers: replace them or empty these cells")
    values = column.unique().drop_nulls().sort()
    codes = np.full(len(column), len(values), code_dtype(len(values)))
    known = column.is_not_null().to_numpy()
    codes[known] = np.searchsorted(values.to_physical().to_numpy(), column.drop_nulls().to_physical().to_numpy())
    return DistinctCells(values, codes)


# Texts that are numbers: with a decimal point or comma, thousands, a currency or a percent sign.

PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$"
POINTS = r"^[+-]?\d{1,3}(\.\d{3})*(,\d+)?$|^[+-]?\d+,\d+$"
THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$"
SIGN = r"^[$€£¥]\s?|\s?[$€£¥%]$"
LEADING_ZERO, MOST_DIGITS = r"^0\d+$", r"^[+-]?\d{16,}$"


def numbers_in(texts: pl.Series) -> tuple[Floats, str]:
    """The numbers of some distinct texts, NaN where a text is none, and how they are written."""
    texts = texts.str.replace("^\u2212", "-")  # a minus sign that is no hyphen
    if not len(texts) or texts.str.contains(LEADING_ZERO).any() or texts.str.contains(MOST_DIGITS).any():
        return np.full(len(texts), np.nan), ""
    plain = _values(texts)
    if not texts.str.contains(r"[,$€£¥%]").any():
        return plain, ""
    bare = texts.str.replace(SIGN, "")
    sign = "with a currency or percent sign" if (bare != texts).any() else ""
    without_commas = bare.str.replace_all(",", "", literal=True)
    with_points = bare.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    is_shaped = bare.str.contains(THOUSANDS) | bare.str.contains(PLAIN)
    forms = [(bare, ""), (without_commas.set(~is_shaped, None), "with commas for thousands")]
    if not bare.str.contains(r"\d\.\d").any():
        forms.append((with_points, "with a decimal comma"))
    points = with_points.set(~bare.str.contains(POINTS), None)
    forms.append((points, "with points for thousands and a decimal comma"))
    read = [(plain, ""), *((_values(form), ", ".join(filter(None, (written, sign)))) for form, written in forms)]
    return max(read, key=lambda form: int((~np.isnan(form[0])).sum()))


def _values(texts: pl.Series) -> Floats:
    """The numbers of the texts that are plain numbers."""
    shaped = texts.set(~texts.str.contains(PLAIN).fill_null(False), None)
    values = shaped.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy().copy()
    values[np.isinf(values)] = np.nan
    return values


# Values of the entries of a history: levels are numbers in ascending order, or categories in alphabetical order.

ValueType = Literal["auto", "number", "text"]
MOST_VALUES = 65_536
MOST_EXACT, LARGEST_VALUE = 2.0**53, 1e100
"""The squares of differences of larger values may exceed a 64-bit number."""
WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
VALUE = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
COMMA = re.compile(r"[+-]?\d*,\d+", re.ASCII)
"""A number with a decimal comma, or one such as 1,234."""
COMMA_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.ASCII | re.IGNORECASE)


def value_levels(
    texts: Iterable[str], kind: ValueType = "auto", bin_width: float | None = None
) -> tuple[Levels, NDArray[np.uint32], NDArray[np.uint8]]:
    """The levels of a column, the level of each distinct text, and why a text has none (0: it has one)."""
    raw = list(texts)
    cells = [cell.strip() for cell in raw]
    commas = [COMMA.fullmatch(cell) is not None for cell in cells]
    clear = any(comma and not COMMA_THOUSANDS.fullmatch(cell) for cell, comma in zip(cells, commas, strict=True))
    if clear and not any("." in cell and VALUE.fullmatch(cell) for cell in cells):
        cells = [cell.replace(",", ".") if comma else cell for cell, comma in zip(cells, commas, strict=True)]
    numbers = np.array([float(c) if VALUE.fullmatch(c) else inf if NOT_FINITE.fullmatch(c) else nan for c in cells])
    filled = np.array([bool(cell) for cell in cells], np.bool_)
    status = np.zeros(len(cells), np.uint8)
    is_text = kind == "auto" and bin_width is None and filled.any() and np.isnan(numbers[filled]).all()
    if kind == "text" or is_text:
        names = sorted({*raw} - {""})
        place = {name: code for code, name in enumerate(names)}
        if len(names) > MOST_VALUES:
            raise too_many_values(len(names))
        return tuple(names), np.array([place.get(cell, len(names)) for cell in raw], np.uint32), status
    status[filled & np.isnan(numbers)] = Reason.NOT_A_NUMBER
    status[np.isinf(numbers)] = Reason.NOT_FINITE
    for i in np.flatnonzero(np.isfinite(numbers) & (np.abs(numbers) >= MOST_EXACT)):
        if WHOLE.fullmatch(cells[i]) and int(cells[i]) != int(numbers[i]):
            status[i] = Reason.TOO_MANY_DIGITS
    good = filled & (status == 0)
    if bin_width is not None:
        numbers[good] = [_round_down(number, Fraction(repr(bin_width))) for number in numbers[good].tolist()]
        status[good & np.isinf(numbers)] = Reason.NOT_FINITE
    status[filled & (status == 0) & (np.abs(numbers) > LARGEST_VALUE)] = Reason.TOO_LARGE
    good = filled & (status == 0)
    levels, codes = np.unique(numbers[good] + 0.0, return_inverse=True)  # + 0.0: no negative zero
    if len(levels) > MOST_VALUES:
        raise too_many_values(len(levels), bin_width)
    level = np.full(len(cells), len(levels), np.uint32)
    level[good] = codes
    return levels, level, status


def _round_down(number: float, step: Fraction) -> float:
    """Round down to a multiple of the step, in decimal arithmetic: 0.3 is three times 0.1."""
    try:
        return float(Fraction(repr(number)) // step * step)
    except OverflowError:
        return inf


def too_many_values(distinct: int, bin_width: float | None = None) -> SourceError:
    """Error about a value column with too many distinct values."""
    bins = "bin numbers with value_bin=…" if bin_width is None else f"use wider bins than {bin_width:g}"
    return SourceError(
        f"the value column has {distinct:,} distinct values; the maximum is {MOST_VALUES:,}: "
        f"{bins}, or ignore the column with value=False"
    )


# Categories with an evident order: low, medium, high; "1 - never" … "5 - always"; bands such as 20-29.

MOST_LEVELS, LONGEST_LABEL = 400, 18
SCALES = [
    [names.split("/") for names in scale.split(" < ")]
    for scale in (
        "none/no risk < very low/sehr niedrig < low/niedrig/gering < medium/moderate/middle/average/normal/mid/mittel"
        " < high/hoch < very high/sehr hoch",
        "never/nie < almost never/very rarely/sehr selten < rarely/seldom/selten < sometimes/occasionally/manchmal"
        " < often/frequently/usually/oft/häufig < very often/almost always/sehr oft < always/immer",
        "strongly disagree/disagree strongly/completely disagree < disagree < somewhat disagree/slightly disagree"
        " < neutral/neither agree nor disagree/neither/undecided < somewhat agree/slightly agree < agree"
        " < strongly agree/agree strongly/completely agree",
        "very dissatisfied/very unsatisfied < dissatisfied/unsatisfied < neutral/neither satisfied nor dissatisfied"
        " < satisfied < very satisfied",
        "very poor/very bad < poor/bad < fair/average < good < very good < excellent",
        "none < mild/light/slight < moderate < severe/serious < critical",
        "xs < s < m < l < xl < xxl",
        "small/klein < medium/mittel < large/groß/gross < extra large",
        "not at all < a little/slightly < somewhat/moderately < quite/very/a lot < extremely",
        "daily/every day < weekly/every week < monthly/every month < yearly/annually < never",
    )
]
"""Names of ordered levels; those with / between them mean the same."""
LABEL = re.compile(r"[(\[]?(\d{1,3})[)\]]?\s*(?:[-–—.:=)]\s*|\s)(?=[^\W\d])\S.*")
NUMBER = r"([+-]?\d+(?:\.\d+)?)"
UNIT = r"\s*(?:k|m|years?|yrs?|jahre?|€|\$|%)?"
MONEY = r"[$€£]?\s*"
BETWEEN = re.compile(
    rf"[\[(]?{MONEY}{NUMBER}{UNIT}\s*(?:-|–|—|to|bis|,|\.\.)\s*{MONEY}{NUMBER}{UNIT}[\])]?", re.IGNORECASE
)
BELOW = re.compile(rf"(?:<|<=|≤|under|below|less than|up to|unter|bis)\s*{MONEY}{NUMBER}{UNIT}", re.IGNORECASE)
ABOVE = re.compile(
    rf"(?:>|>=|≥|over|above|more than|at least|über|ab)\s*{MONEY}{NUMBER}{UNIT}"
    rf"|{MONEY}{NUMBER}{UNIT}\s*(?:\+|and over|and above|and older|or more|or older|und älter|und mehr)",
    re.IGNORECASE,
)
DECADE = re.compile(r"(\d*0)'?s", re.IGNORECASE)
EXACT = re.compile(rf"{NUMBER}")


def evident_order(levels: Sequence[str]) -> tuple[list[int], str] | None:
    """Positions of the levels in their order, and why; None if no order is evident."""
    finders: tuple[tuple[Callable[[Sequence[str]], Sequence[Any] | None], str], ...] = (
        (_on_scale, "the names are a scale"),
        (_numbered, "the levels are numbered"),
        (_bands, "the levels are bands of numbers"),
    )
    for find, reason in finders if 2 <= len(levels) <= MOST_LEVELS else ():
        if (ranks := find(levels)) is not None:
            return sorted(range(len(levels)), key=ranks.__getitem__), reason
    return None


def _on_scale(levels: Sequence[str]) -> list[int] | None:
    folded = [" ".join(level.lower().replace("_", " ").replace("-", " ").split()) for level in levels]
    for scale in SCALES:
        rank = {name: place for place, names in enumerate(scale) for name in names}
        ranks = [rank[level] for level in folded if level in rank]
        if len(set(ranks)) == len(folded) and (len(ranks) > 2 or "low" in folded or "niedrig" in folded):
            return ranks
    return None


def _numbered(levels: Sequence[str]) -> list[int] | None:
    matches = [LABEL.fullmatch(level) for level in levels]
    texts = [match[1] if match else level for level, match in zip(levels, matches, strict=True)]
    if not all(text.isdecimal() and len(text) <= LONGEST_LABEL for text in texts):
        return None
    numbers = [int(text) for text in texts]
    return numbers if sum(map(bool, matches)) > 1 and len(set(numbers)) == len(numbers) else None


def _bands(levels: Sequence[str]) -> list[tuple[float, float]] | None:
    """The ends of bands that do not overlap; single numbers may be among them."""
    bands = [band for band in map(_band, levels) if band is not None]
    overlap = any(high > low for (_, high), (low, _) in pairwise(sorted(bands)))
    is_exact = all(low == high for low, high in bands)
    return None if overlap or is_exact or len(set(bands)) < len(levels) else bands


def _band(level: str) -> tuple[float, float] | None:
    for form, width in ((EXACT, 0.0), (DECADE, 9.0), (BETWEEN, nan), (BELOW, -inf), (ABOVE, inf)):
        if match := form.fullmatch(level.strip()):
            first, *second = (float(number) for number in match.groups() if number is not None)
            low, high = sorted((first, first + width)) if not second else (first, second[0])
            return (low, high) if low < high or form is EXACT else None
    return None


# Cells that are sets of categories, such as "a;b;c".

SEPARATORS = (";", "|", ",")
MOST_TEXTS, MOST_MEMBERS, LONGEST = 200_000, 1_000, 60
USED, REPEATED, SHARED = 0.05, 2.0, 0.5
"""Smallest share of rows with a separator, rows per member, and share of members in several texts."""


def recognise_separator(texts: pl.Series, counts: Ints) -> str | None:
    """The separator of the members, if the texts are sets: members repeat, and their number varies."""
    for separator in SEPARATORS if 0 < len(texts) <= MOST_TEXTS else ():
        parts = texts.str.count_matches(separator, literal=True).to_numpy().astype(np.int64) + 1
        if counts[parts > 1].sum() < USED * counts.sum():
            continue
        members, starts, codes = sets_in(texts, separator)
        sizes = np.diff(starts)
        if len(members) > MOST_MEMBERS or max(map(len, members), default=0) > LONGEST:
            continue
        if (sizes < 1).any() or (sizes < parts - 1).any() or len(set(sizes.tolist())) < 2:
            continue
        is_shared = np.bincount(codes, minlength=len(members)) > 1
        if np.repeat(counts, sizes).sum() >= REPEATED * len(members) and np.mean(is_shared) >= SHARED:
            return separator
    return None


def sets_in(texts: pl.Series, separator: str) -> tuple[tuple[str, ...], Ints, Ints]:
    """The members of some texts, starts and codes: text t has the members codes[starts[t] : starts[t + 1]], ascending.

    A member that repeats in a text counts once.
    """
    parts = (
        pl.DataFrame({"text": np.arange(len(texts), dtype=np.int64), "member": texts.str.split(separator)})
        .explode("member")
        .with_columns(pl.col("member").str.strip_chars())
        .filter(pl.col("member") != "")
        .unique()
        .sort("text", "member")
    )
    members = parts["member"].unique().sort()
    codes = parts["member"].cast(pl.Enum(members)).to_physical().to_numpy().astype(np.int64)
    starts = np.append(0, np.cumsum(np.bincount(parts["text"].to_numpy(), minlength=len(texts)))).astype(np.int64)
    return tuple(members.to_list()), starts, codes


# Texts that mean that a cell is empty, such as NA or ?.

ALWAYS = frozenset(("na", "n/a", "n.a.", "#n/a", "<na>", "?", "null", "nan", "nil", "missing"))
"""Texts in lower case that mean an empty cell in every column."""
WITH_NUMBERS = ALWAYS | {"-", "--", ".", "none", "unknown", "not available", "not known", "k.a.", "unbekannt"}
"""Texts that mean an empty cell where the other cells are numbers, dates or yes and no.

Among categories, "unknown" and "none" are values as others are."""
COUNTRIES = 10


def missing_in(texts: pl.Series, markers: Iterable[str]) -> pl.Series:
    """Which of some distinct texts mean an empty cell. NA among codes of two letters is Namibia."""
    found = texts.str.to_lowercase().is_in(list(markers))
    others = texts.filter(~found)
    if found.any() and len(others) >= COUNTRIES and others.str.contains("^[A-Z]{2}$").all():
        return found & (texts != "NA")
    return found
