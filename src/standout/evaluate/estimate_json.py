"""Numbers as findings tell them: an estimate as a plain object, without anything that JSON lacks."""

import math
from typing import Any

from standout.core.formatting import is_near_limit
from standout.core.formatting import percent as on_a_page
from standout.evaluate.estimates import Estimate

__all__ = ["percent", "share", "told"]


def told(found: Estimate) -> dict[str, Any]:
    """An estimate as findings hold it; an end that is not finite is not known."""
    return {
        "value": found.value, "low": _finite(found.low), "high": _finite(found.high), "n": found.n,
        "baseline": found.baseline,
    }  # fmt: skip


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def percent(number: float, fine: bool | None = None) -> str:
    """A share as a percentage that does not round something to nothing, nor nearly all to all.

    >>> percent(0.843), percent(0.0004), percent(0.9996), percent(1.0), percent(0.0496), percent(0.01)
    ('84 %', 'less than 0.1 %', 'more than 99.9 %', '100 %', '5 %', '1 %')
    """
    words = on_a_page(number, fine).replace("\xa0", " ")
    return words.replace("<", "less than").replace(">", "more than")


def share(found: Estimate) -> str:
    """A rate with its interval: 84 % (82 % to 86 %)."""
    fine = any(is_near_limit(number) for number in (found.value, found.low, found.high))
    ends = percent(found.low, fine), percent(found.high, fine)
    return f"{percent(found.value, fine)} ({ends[0]} to {ends[1]})"
