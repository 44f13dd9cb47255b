"""Texts that are numbers: with a decimal point or comma, thousands, a currency or a percent sign."""

import re
from typing import NamedTuple

import numpy as np
import polars as pl

from standout.core.arrays import Bools, Floats
from standout.ingest.column_names import name_words, plain_name
from standout.tables.known_names import CATEGORIES, CODES

__all__ = ["Numbers", "is_category_name", "is_code_name", "numbers_in"]

PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$"
DECIMAL_COMMA = r"^[+-]?\d*,\d+$"
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
    if texts.str.contains(PLAIN).any():
        plain = _values(texts.set(~texts.str.contains(PLAIN), None))
        if plain.fits.all() or not texts.str.contains(r"[,$€£¥%]").any():
            return plain
    else:
        plain = none
    bare = texts.str.replace(SIGN.pattern, "")
    signed = bool((bare != texts).any())
    best = plain
    for pattern, change, written in (
        (PLAIN, ("", ""), ""),
        (THOUSANDS, (",", ""), "with commas for thousands"),
        (DECIMAL_COMMA, (",", "."), "with a decimal comma"),
        (POINTS, (",", "."), "with points for thousands and a decimal comma"),
    ):
        fitting = bare.str.contains(pattern) | bare.str.contains(PLAIN)
        candidate = bare.set(~fitting, None)
        if written:
            if written.startswith("with points"):
                candidate = bare.set(~bare.str.contains(POINTS), None).str.replace_all(".", "", literal=True)
            elif pattern == DECIMAL_COMMA and bare.str.contains(r"\d\.\d").any():
                continue
            candidate = candidate.str.replace_all(change[0], change[1], literal=True)
        numbers = _values(candidate)
        if numbers.fits.sum() > best.fits.sum():
            sign = "with a currency or percent sign" if signed else ""
            best = Numbers(numbers.values, ", ".join(filter(None, (written, sign))))
    return best


def _values(texts: pl.Series) -> Numbers:
    values = texts.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy().copy()
    values[np.isinf(values)] = np.nan
    return Numbers(values)
