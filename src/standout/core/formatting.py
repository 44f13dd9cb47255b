"""Numbers and texts as they stand on a page: shares in per cent, intervals, foreign texts that stay put."""

import math
import re
from collections.abc import Mapping
from typing import Any

__all__ = [
    "LONG",
    "SHORT",
    "count",
    "decimal",
    "estimate_text",
    "interval_text",
    "is_near_limit",
    "percent",
    "printable_texts",
    "shorten",
]

SHORT, LONG = 80, 700
"""Names are cut to so many characters, sentences to so many."""
BLANK, LEAST = "–", 0.0005
ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
"""Control characters, overrides of the direction of writing, halves of characters."""
STACKED = re.compile(
    "([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]{3})[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+"
)
"""Marks above marks that would reach into other lines."""

Estimate = Mapping[str, Any]


def printable_texts(found: Any) -> Any:
    """The same with all texts fit to be shown: what would act instead of being read becomes �.

    >>> cleaned({"name": ["a\\u202eb", 3, None]})
    {'name': ['a�b', 3, None]}
    """
    if isinstance(found, str):
        text = ODD.sub("\ufffd", re.sub(r"\s+", " ", found[: 4 * LONG])).strip()
        return shorten(STACKED.sub(r"\1", text), LONG)
    if isinstance(found, Mapping):
        return {name: printable_texts(value) for name, value in found.items()}
    return [printable_texts(one) for one in found] if isinstance(found, list | tuple) else found


def shorten(text: str, most: int = SHORT) -> str:
    """The beginning of a long text, with an ellipsis.

    >>> cut("acquaintance", 8)
    'acquain…'
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def percent(value: float | None, fine: bool | None = None) -> str:
    """A share in per cent, with a digit behind the point near both ends, and never rounded to an end.

    >>> percent(0.8374), percent(0.0042), percent(0.9996), percent(0.0), percent(None)
    ('84\\xa0%', '0.4\\xa0%', '>\\xa099.9\\xa0%', '0\\xa0%', '–')
    """
    if value is None or not math.isfinite(value):
        return BLANK
    if 0 < value < LEAST or 1 - LEAST < value < 1:
        return "<\xa00.1\xa0%" if value < LEAST else ">\xa099.9\xa0%"
    fine = is_near_limit(value) if fine is None else fine
    return f"{100 * value:.{int(fine)}f}".removesuffix(".0") + "\xa0%"


def is_near_limit(value: float) -> bool:
    """Whether a share needs a digit more to be told from none or all."""
    return 0 < min(value, 1 - value) < 0.0995


def interval_text(found: Estimate | None, unit: str = "share") -> str:
    """The ends of an interval.

    >>> between({"low": 0.81, "high": 0.868}), between({"low": 0.004, "high": 0.868})
    ('81\\xa0to\\xa087\\xa0%', '0.4\\xa0to\\xa086.8\\xa0%')
    >>> between({"low": 7.26, "high": 7.649}, "bits")
    '7.3\\xa0to\\xa07.6'
    """
    low, high = (None, None) if found is None else (found["low"], found["high"])
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return ""
    if unit != "share":
        return f"{decimal(low)}\xa0to\xa0{decimal(high)}"
    fine = is_near_limit(low) or is_near_limit(high)
    first = percent(low, fine).removesuffix("\xa0%")
    return f"{first}\xa0to\xa0{percent(high, fine)}"


def estimate_text(found: Estimate | None, unit: str = "share") -> str:
    """A number as text; – where there is none."""
    value = None if found is None else found["value"]
    return percent(value) if unit == "share" else decimal(value)


def decimal(value: float | None) -> str:
    """A number with one digit behind the point; from 100 on whole.

    >>> decimal(8.97), decimal(-0.62), decimal(1234.4), decimal(None)
    ('9.0', '−0.6', '1,234', '–')
    """
    if value is None or not math.isfinite(value):
        return BLANK
    text = f"{abs(value):,.1f}" if abs(value) < 99.95 else f"{abs(value):,.0f}"
    return f"−{text}" if value < 0 and text.strip("0.") else text


def count(value: float | None, one: str = "", many: str = "") -> str:
    """A whole number with its noun.

    >>> count(1, "person", "people"), count(12_345, "person", "people")
    ('1 person', '12,345 people')
    """
    if value is None:
        return BLANK
    return f"{value:,} {one if value == 1 else many or one}".strip()
