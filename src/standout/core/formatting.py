"""Numbers for display: percentages, intervals, counts."""

import math
from typing import Protocol

__all__ = [
    "HasInterval",
    "count",
    "decimal",
    "estimate_line",
    "estimate_text",
    "interval_text",
    "is_near_limit",
    "percent",
]

NO_NUMBER, SMALLEST_SHARE = "–", 0.0005


class HasInterval(Protocol):
    """A number with its interval, such as `standout.evaluate.estimates.Estimate`."""

    @property
    def value(self) -> float:
        """The number."""

    @property
    def low(self) -> float:
        """The lower end of the interval."""

    @property
    def high(self) -> float:
        """The upper end of the interval."""


def percent(value: float | None, fine: bool | None = None) -> str:
    r"""Format a share as a percentage, with one decimal near 0 and 1, and never rounded to 0 or 100 %.

    >>> percent(0.8374), percent(0.0042), percent(0.9996), percent(0.0), percent(None)
    ('84\xa0%', '0.4\xa0%', '>\xa099.9\xa0%', '0\xa0%', '–')
    """
    if value is None or not math.isfinite(value):
        return NO_NUMBER
    if 0 < value < SMALLEST_SHARE or 1 - SMALLEST_SHARE < value < 1:
        return "<\xa00.1\xa0%" if value < SMALLEST_SHARE else ">\xa099.9\xa0%"
    fine = is_near_limit(value) if fine is None else fine
    return f"{100 * value:.{int(fine)}f}".removesuffix(".0") + "\xa0%"


def is_near_limit(value: float) -> bool:
    """Whether a share is so close to 0 or 1 that it needs one more digit."""
    return 0 < min(value, 1 - value) < 0.0995


def interval_text(estimate: HasInterval | None, unit: str = "share") -> str:
    r"""Format the bounds of an interval; empty if there is none.

    >>> from standout.evaluate.estimates import Estimate
    >>> interval_text(Estimate(0.84, 0.81, 0.868, n=9)), interval_text(Estimate(0.5, 0.004, 0.868, n=9))
    ('81\xa0to\xa087\xa0%', '0.4\xa0to\xa086.8\xa0%')
    >>> interval_text(Estimate(7.5, 7.26, 7.649, n=9), "bits")
    '7.3\xa0to\xa07.6'
    """
    if estimate is None or not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return ""
    low, high = estimate.low, estimate.high
    if unit != "share":
        return f"{decimal(low)}\xa0to\xa0{decimal(high)}"
    fine = is_near_limit(low) or is_near_limit(high)
    first = percent(low, fine).removesuffix("\xa0%")
    return f"{first}\xa0to\xa0{percent(high, fine)}"


def estimate_text(estimate: HasInterval | None, unit: str = "share") -> str:
    """Format the value of an estimate; – if there is none."""
    value = None if estimate is None else estimate.value
    return percent(value) if unit == "share" else decimal(value)


def estimate_line(estimate: HasInterval, unit: str = "share") -> str:
    """Format an estimate with its interval, in plain characters.

    >>> from standout.evaluate.estimates import Estimate
    >>> estimate_line(Estimate(0.84, 0.81, 0.868, n=9))
    '84 % (81 to 87 %)'
    """
    interval = interval_text(estimate, unit)
    text = estimate_text(estimate, unit) + (f" ({interval})" if interval else "")
    return text.replace("\xa0", " ")


def decimal(value: float | None) -> str:
    """Format a number with one decimal, or as a whole number from 100 on.

    >>> decimal(8.97), decimal(-0.62), decimal(1234.4), decimal(None)
    ('9.0', '−0.6', '1,234', '–')
    """
    if value is None or not math.isfinite(value):
        return NO_NUMBER
    text = f"{abs(value):,.1f}" if abs(value) < 99.95 else f"{abs(value):,.0f}"
    return f"−{text}" if value < 0 and text.strip("0.") else text


def count(value: float | None, singular: str = "", plural: str = "") -> str:
    """Format a whole number with its noun.

    >>> count(1, "person", "people"), count(12_345, "person", "people")
    ('1 person', '12,345 people')
    """
    if value is None:
        return NO_NUMBER
    return f"{value:,} {singular if value == 1 else plural or singular}".strip()
