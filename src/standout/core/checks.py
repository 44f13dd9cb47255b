"""Parameter checks that several packages share; each returns the value or raises a ParameterError."""

from numbers import Integral
from typing import Any

from standout.core.errors import ParameterError

__all__ = ["positive_share", "whole_number"]


def whole_number(name: str, number: Any, least: int) -> int:
    """Check that `number` is a whole number of at least `least`."""
    if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
        raise ParameterError(f"{name} must be a whole number ≥ {least}, got {number!r}")
    return int(number)


def positive_share(name: str, share: Any) -> float:
    """Check that `share` is a number above 0 and at most 1."""
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise ParameterError(f"{name} must be above 0 and at most 1, got {share!r}")
    return float(share)
