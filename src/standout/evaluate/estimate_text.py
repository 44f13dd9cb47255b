"""Rates as text for sentences: 84 % (82 % to 86 %)."""

from standout.core.formatting import is_near_limit
from standout.core.formatting import percent as typeset_percent
from standout.evaluate.estimates import Estimate

__all__ = ["percent", "rate_text"]


def percent(number: float, fine: bool | None = None) -> str:
    """A share as a percentage; a positive share never becomes 0 %, and a share below 1 never 100 %.

    >>> percent(0.843), percent(0.0004), percent(0.9996), percent(1.0), percent(0.0496), percent(0.01)
    ('84 %', 'less than 0.1 %', 'more than 99.9 %', '100 %', '5 %', '1 %')
    """
    text = typeset_percent(number, fine).replace("\xa0", " ")
    return text.replace("<", "less than").replace(">", "more than")


def rate_text(estimate: Estimate) -> str:
    """A rate with its interval: 84 % (82 % to 86 %)."""
    fine = any(is_near_limit(number) for number in (estimate.value, estimate.low, estimate.high))
    low, high = percent(estimate.low, fine), percent(estimate.high, fine)
    return f"{percent(estimate.value, fine)} ({low} to {high})"
