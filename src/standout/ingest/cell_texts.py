"""Texts that are dates: ISO 8601, year and month, eight digits, or a pattern that the texts prove."""

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from itertools import pairwise
from math import inf
from typing import NamedTuple

import numpy as np
import polars as pl

from standout.core.arrays import Bools, Floats, Ints
from standout.ingest.column_names import name_words, plain_name
from standout.ingest.date_patterns import count_formats, fitting_formats, list_formats, recognise_pattern
from standout.ingest.known_names import CATEGORIES, CODES

__all__ = [
    "ALWAYS",
    "NOT_A_DATE",
    "WITH_NUMBERS",
    "Dates",
    "Numbers",
    "Sets",
    "are_digit_dates",
    "date_formats",
    "dates_as",
    "dates_in",
    "evident_order",
    "is_category_name",
    "is_code_name",
    "missing_in",
    "numbers_in",
    "recognise_separator",
    "sets_in",
    "shown_marker",
]

ISO = r"^(1[6-9]|20|21)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([T ].*)?$"
DIGITS = r"^(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$"
MONTH = r"^(1[6-9]|20|21)\d\d-(0[1-9]|1[0-2])$"
PROBABLE = r"^\D{0,12}\d{1,4}[-/. ]\s?(\d{1,2}|[A-Za-z]{3,9}\.?)[-/. ,]\s?\d{1,4}|^[A-Za-z]{3,9},? "
SAMPLE = 2_000
MOSTLY, ENOUGH = 0.9, 3
NOT_A_DATE = np.iinfo(np.int64).min


class Dates(NamedTuple):
    """Days since 1970-01-01 of some distinct texts, NOT_A_DATE where a text is none, and their format.

    `rivals` are formats between which the texts do not decide. `has_clock` if times of day were left out.
    """

    days: Ints
    format: str = ""
    rivals: tuple[str, ...] = ()
    has_clock: bool = False

    @property
    def misfits(self) -> int:
        """Number of texts that are no dates."""
        return int(np.count_nonzero(self.days == NOT_A_DATE))


def dates_in(texts: pl.Series) -> Dates:
    """Read texts as dates, in the format that they prove.

    >>> dates = dates_in(pl.Series(["1970-01-02", "1970-01-11 08:30"]))
    >>> dates.days.tolist(), dates.format
    ([1, 10], 'iso')
    >>> dates_in(pl.Series(["3/4/2005", "4/3/2005"])).rivals
    ('%d/%m/%Y', '%m/%d/%Y')
    """
    for pattern, name in ((ISO, "iso"), (MONTH, "%Y-%m"), (DIGITS, "%Y%m%d")):
        if texts.str.contains(pattern).sum() >= MOSTLY * len(texts):
            return dates_as(texts, name)
    none = Dates(np.full(len(texts), NOT_A_DATE))
    sample = texts.gather(np.linspace(0, len(texts) - 1, min(len(texts), SAMPLE)).astype(np.uint32))
    if sample.str.contains(PROBABLE).sum() < MOSTLY * len(sample):
        return none
    found = recognise_pattern(sample.to_list())
    if found.pattern is None:
        return none._replace(rivals=found.rivals)
    return dates_as(texts, found.pattern)


def dates_as(texts: pl.Series, pattern: str) -> Dates:
    """Read texts as dates in a format: iso, or a pattern of strptime. Times of day are left out."""
    has_clock = "%H" in pattern or "%I" in pattern
    if pattern == "iso":
        has_clock = bool(texts.str.slice(10).str.contains("[1-9]").any())
        days = texts.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
    elif pattern == "%Y-%m":
        days = (texts + "-01").str.to_date("%Y-%m-%d", strict=False)
    else:
        days = pl.Series([_day(text, pattern) for text in texts.to_list()], dtype=pl.Date)
    return Dates(days.to_physical().cast(pl.Int64).fill_null(NOT_A_DATE).to_numpy(), pattern, has_clock=has_clock)


def date_formats(texts: pl.Series, counts: Ints) -> str:
    """How many cells each format of date fits, in words; "" if few cells are dates or one format fits all.

    >>> date_formats(pl.Series(["25/12/2004", "2004-12-25"]), np.array([1, 3]))
    'iso fits 3 cells, %d/%m/%Y fits 1 cell'
    """
    sample = texts.gather(np.linspace(0, len(texts) - 1, min(len(texts), SAMPLE)).astype(np.uint32))
    dates = [text for text in sample.to_list() if {*fitting_formats(text)} - {"s", "ms"}]
    if len(dates) < MOSTLY * len(sample):
        return ""
    formats = count_formats(zip(texts.to_list(), counts.tolist(), strict=True))
    return list_formats(formats, "cell") if len(formats) > 1 else ""


def are_digit_dates(texts: pl.Series) -> bool:
    """Whether texts are dates of eight digits, such as 20101231: several of them, and no other number."""
    return len(texts) >= ENOUGH and bool(texts.str.contains(DIGITS).all()) and not dates_in(texts).misfits


def _day(text: str, pattern: str) -> date | None:
    try:
        return datetime.strptime(text, pattern).date()
    except (ValueError, OverflowError, IndexError):
        return None


# Texts that are numbers: with a decimal point or comma, thousands, a currency or a percent sign.


PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$"
POINTS = r"^[+-]?\d{1,3}(\.\d{3})*(,\d+)?$|^[+-]?\d+,\d+$"
THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$"
SIGN = re.compile(r"^[$€£¥]\s?|\s?[$€£¥%]$")
LEADING_ZERO = r"^0\d+$"
MOST_DIGITS = r"^[+-]?\d{16,}$"


class Numbers(NamedTuple):
    """The numbers of some distinct texts, NaN where a text is none, and how they are written."""

    values: Floats
    written: str = ""

    @property
    def fits(self) -> Bools:
        """Which texts are numbers."""
        return ~np.isnan(self.values)


def is_code_name(name: str) -> bool:
    """Whether a name is that of a code whose digits are no number, such as a postcode.

    >>> is_code_name("ZIP"), is_code_name("icd_code"), is_code_name("age"), is_code_name("education-num")
    (True, True, False, False)
    """
    words = name_words(name)
    return plain_name(name) in CODES or bool(words and (words[-1] in CODES or words[0] in ("zip", "icd")))


def is_category_name(name: str) -> bool:
    """Whether a name is that of categories, which may have numbers as codes.

    >>> is_category_name("sex"), is_category_name("Marital status"), is_category_name("age_group")
    (True, True, True)
    """
    words = name_words(name)
    return plain_name(name) in CATEGORIES or bool(words and words[-1] in CATEGORIES)


def numbers_in(texts: pl.Series) -> Numbers:
    """Read texts as numbers.

    Texts with a leading zero or with more digits than a number holds are codes, and none of them is a number.

    >>> numbers_in(pl.Series(["1.5", "2", "many"])).values.tolist()
    [1.5, 2.0, nan]
    >>> numbers_in(pl.Series(["1,5", "2"])).written
    'with a decimal comma'
    """
    none = Numbers(np.full(len(texts), np.nan))
    texts = texts.str.replace("^\u2212", "-")  # a minus sign that is no hyphen
    if not len(texts) or texts.str.contains(LEADING_ZERO).any() or texts.str.contains(MOST_DIGITS).any():
        return none
    plain = _values(texts, PLAIN)
    if plain.fits.all() or not texts.str.contains(r"[,$€£¥%]").any():
        return plain
    bare = texts.str.replace(SIGN.pattern, "")
    sign = "with a currency or percent sign" if (bare != texts).any() else ""
    has_point = bool(bare.str.contains(r"\d\.\d").any())
    without_commas = bare.str.replace_all(",", "", literal=True)
    with_points = bare.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    forms = [
        (_values(bare, PLAIN), ""),
        (_values(without_commas.set(~_fits(bare, THOUSANDS), None), PLAIN), "with commas for thousands"),
    ]
    if not has_point:
        forms.append((_values(with_points, PLAIN), "with a decimal comma"))
    points = with_points.set(~bare.str.contains(POINTS), None)
    forms.append((_values(points, PLAIN), "with points for thousands and a decimal comma"))
    best, written = max([(plain, ""), *forms], key=lambda form: int(form[0].fits.sum()))
    return Numbers(best.values, ", ".join(filter(None, (written, "" if best is plain else sign))))


def _fits(texts: pl.Series, pattern: str) -> pl.Series:
    return texts.str.contains(pattern) | texts.str.contains(PLAIN)


def _values(texts: pl.Series, pattern: str) -> Numbers:
    """The numbers of the texts that have a form."""
    shaped = texts.set(~texts.str.contains(pattern).fill_null(False), None)
    values = shaped.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy().copy()
    values[np.isinf(values)] = np.nan
    return Numbers(values)


# Categories with an evident order: low, medium, high; "1 - never" … "5 - always"; bands such as 20-29.


MOST_BANDS, MOST_LABELS = 400, 100
SCALES: tuple[tuple[tuple[str, ...], ...], ...] = (
    (
        ("none", "no risk"),
        ("very low", "sehr niedrig"),
        ("low", "niedrig", "gering"),
        ("medium", "moderate", "middle", "average", "normal", "mid", "mittel"),
        ("high", "hoch"),
        ("very high", "sehr hoch"),
    ),
    (
        ("never", "nie"),
        ("almost never", "very rarely", "sehr selten"),
        ("rarely", "seldom", "selten"),
        ("sometimes", "occasionally", "manchmal"),
        ("often", "frequently", "usually", "oft", "häufig"),
        ("very often", "almost always", "sehr oft"),
        ("always", "immer"),
    ),
    (
        ("strongly disagree", "disagree strongly", "completely disagree"),
        ("disagree",),
        ("somewhat disagree", "slightly disagree"),
        ("neutral", "neither agree nor disagree", "neither", "undecided"),
        ("somewhat agree", "slightly agree"),
        ("agree",),
        ("strongly agree", "agree strongly", "completely agree"),
    ),
    (
        ("very dissatisfied", "very unsatisfied"),
        ("dissatisfied", "unsatisfied"),
        ("neutral", "neither satisfied nor dissatisfied"),
        ("satisfied",),
        ("very satisfied",),
    ),
    (("very poor", "very bad"), ("poor", "bad"), ("fair", "average"), ("good",), ("very good",), ("excellent",)),
    (("none",), ("mild", "light", "slight"), ("moderate",), ("severe", "serious"), ("critical",)),
    (("xs",), ("s",), ("m",), ("l",), ("xl",), ("xxl",)),
    (("small", "klein"), ("medium", "mittel"), ("large", "groß", "gross"), ("extra large",)),
    (("not at all",), ("a little", "slightly"), ("somewhat", "moderately"), ("quite", "very", "a lot"), ("extremely",)),
    (("daily", "every day"), ("weekly", "every week"), ("monthly", "every month"), ("yearly", "annually"), ("never",)),
)
"""Names of ordered levels; the names in one bracket mean the same."""
MOST_DIGITS_ORDERED_TEXTS = 18
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
    """Positions of the levels in their order, and why; None if no order is evident.

    >>> evident_order(["high", "low", "medium"])
    ([1, 2, 0], 'the names are a scale')
    >>> evident_order(["20-29", "30-39", "<20", "40+"])
    ([2, 0, 1, 3], 'the levels are bands of numbers')
    >>> evident_order(["1 - never", "5 - always", "3"])
    ([0, 2, 1], 'the levels are numbered')
    >>> evident_order(["red", "green"])
    """
    if len(levels) < 2:
        return None
    for find, reason in (
        (_on_scale, "the names are a scale"),
        (_numbered, "the levels are numbered"),
        (_bands, "the levels are bands of numbers"),
    ):
        if (ranks := find(levels)) is not None:
            return sorted(range(len(levels)), key=lambda i: ranks[i]), reason
    return None


def _on_scale(levels: Sequence[str]) -> list[int] | None:
    folded = [" ".join(level.lower().replace("_", " ").replace("-", " ").split()) for level in levels]
    for scale in SCALES:
        rank = {name: place for place, names in enumerate(scale) for name in names}
        if all(level in rank for level in folded):
            ranks = [rank[level] for level in folded]
            if len(set(ranks)) == len(ranks) and (len(ranks) > 2 or "low" in folded or "niedrig" in folded):
                return ranks
    return None


def _numbered(levels: Sequence[str]) -> list[int] | None:
    if len(levels) > MOST_LABELS:
        return None
    numbers, labelled = [], 0
    for level in levels:
        match = LABEL.fullmatch(level)
        labelled += match is not None
        if match is None and not (level.isdecimal() and len(level) <= MOST_DIGITS_ORDERED_TEXTS):
            return None
        numbers.append(int(match[1] if match else level))
    return numbers if labelled > 1 and len(set(numbers)) == len(numbers) else None


def _bands(levels: Sequence[str]) -> list[tuple[float, float]] | None:
    """The ends of bands that do not overlap; single numbers may be among them."""
    if len(levels) > MOST_BANDS:
        return None
    ends = [_band(level) for level in levels]
    if any(end is None for end in ends) or all(EXACT.fullmatch(level) for level in levels):
        return None
    bands = [end for end in ends if end is not None]
    ordered = sorted(bands)
    overlap = any(high > low for (_, high), (low, _) in pairwise(ordered))
    return None if overlap or len(set(bands)) < len(bands) else bands


def _band(level: str) -> tuple[float, float] | None:
    text = level.strip()
    if match := EXACT.fullmatch(text):
        return float(match[1]), float(match[1])
    if match := DECADE.fullmatch(text):
        return float(match[1]), float(match[1]) + 9
    if match := BETWEEN.fullmatch(text):
        low, high = float(match[1]), float(match[2])
        return (low, high) if low < high else None
    if match := BELOW.fullmatch(text):
        return -inf, float(match[1])
    if match := ABOVE.fullmatch(text):
        return float(match[1] or match[2]), inf
    return None


# Cells that are sets of categories, such as "a;b;c".


SEPARATORS = (";", "|", ",")
MOST_TEXTS, MOST_MEMBERS, LONGEST = 200_000, 1_000, 60
USED, REPEATED, SHARED = 0.05, 2.0, 0.5
"""Smallest share of rows with a separator, rows per member, and share of members in several texts."""


class Sets(NamedTuple):
    """The members of some distinct texts: text t has codes[starts[t] : starts[t + 1]], ascending."""

    members: tuple[str, ...]
    starts: Ints
    codes: Ints


def recognise_separator(texts: pl.Series, counts: Ints) -> str | None:
    """The separator of the members, if the texts are sets: members repeat, and their number varies.

    >>> recognise_separator(pl.Series(["a;b", "a", "b;c;a"]), np.array([4, 2, 3]))
    ';'
    >>> recognise_separator(pl.Series(["Smith, Jane", "Jones, Tim"]), np.array([1, 1]))
    """
    if not len(texts) or len(texts) > MOST_TEXTS:
        return None
    for separator in SEPARATORS:
        used = texts.str.contains(separator, literal=True).to_numpy()
        if counts[used].sum() >= USED * counts.sum() and _are_sets(texts, counts, separator):
            return separator
    return None


def _are_sets(texts: pl.Series, counts: Ints, separator: str) -> bool:
    sets = sets_in(texts, separator)
    sizes = np.diff(sets.starts)
    if len(sets.members) > MOST_MEMBERS or max(map(len, sets.members), default=0) > LONGEST:
        return False
    parts = texts.str.count_matches(separator, literal=True).to_numpy().astype(np.int64) + 1
    if (sizes < 1).any() or (sizes < parts - 1).any() or len(set(sizes.tolist())) < 2:
        return False
    texts_of = np.bincount(sets.codes, minlength=len(sets.members))
    rows = np.repeat(counts, sizes).sum() / max(len(sets.members), 1)
    return bool(rows >= REPEATED and np.mean(texts_of > 1) >= SHARED)


def sets_in(texts: pl.Series, separator: str) -> Sets:
    """Split texts into their members; a member that repeats in a text counts once.

    >>> sets_in(pl.Series(["b; a", "b"]), ";")
    Sets(members=('a', 'b'), starts=array([0, 2, 3]), codes=array([0, 1, 1]))
    """
    parts = (
        pl.DataFrame({"text": np.arange(len(texts), dtype=np.int64), "member": texts.str.split(separator)})
        .explode("member")
        .with_columns(pl.col("member").str.strip_chars())
        .filter(pl.col("member") != "")
        .unique()
    )
    members = parts["member"].unique().sort()
    codes = parts["member"].cast(pl.Enum(members)).to_physical().to_numpy().astype(np.int64)
    owner = parts["text"].to_numpy()
    order = np.lexsort((codes, owner))
    starts = np.append(0, np.cumsum(np.bincount(owner, minlength=len(texts)))).astype(np.int64)
    return Sets(tuple(members.to_list()), starts, codes[order])


# Texts that mean that a cell is empty, such as NA or ?.


ALWAYS = frozenset(("na", "n/a", "n.a.", "#n/a", "<na>", "?", "null", "nan", "nil", "missing"))
"""Texts in lower case that mean an empty cell in every column."""
WITH_NUMBERS = ALWAYS | {"-", "--", ".", "none", "unknown", "not available", "not known", "k.a.", "unbekannt"}
"""Texts that mean an empty cell where the other cells are numbers, dates or yes and no.

Among categories, "unknown" and "none" are values as others are."""
COUNTRY = re.compile(r"[A-Z]{2}")
COUNTRIES = 10


def missing_in(texts: pl.Series, markers: Iterable[str]) -> pl.Series:
    """Which of some distinct texts mean an empty cell. NA among codes of two letters is Namibia.

    >>> missing_in(pl.Series(["?", "private", "N/A"]), ALWAYS).to_list()
    [True, False, True]
    """
    found = texts.str.to_lowercase().is_in(list(markers))
    if found.any() and len(texts) > COUNTRIES:
        others = texts.filter(~found)
        if len(others) >= COUNTRIES and others.str.contains(f"^{COUNTRY.pattern}$").mean() == 1.0:
            return found & (texts != "NA")
    return found


def shown_marker(text: str) -> str:
    """A marker as a message shows it. Markers are words of a list, never somebody's data."""
    return f"{text!r}"
