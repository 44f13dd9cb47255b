"""Texts that are dates: ISO 8601, year and month, eight digits, or a pattern that the texts prove."""

from datetime import date, datetime
from typing import NamedTuple

import numpy as np
import polars as pl

from standout.core.arrays import Ints
from standout.ingest.date_patterns import recognise_pattern
from standout.ingest.time_formats import count_formats, fitting_formats, list_formats

__all__ = ["NOT_A_DATE", "Dates", "are_digit_dates", "date_formats", "dates_as", "dates_in"]

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
    return Dates(
        days.to_physical().cast(pl.Int64).fill_null(NOT_A_DATE).to_numpy(), pattern, has_clock=has_clock
    )


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
