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
