"""Parameter checks that several packages share; each returns the value or raises a ParameterError."""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from standout.core.errors import ParameterError

__all__ = ["check_range", "fact_value", "positive_share", "whole_number"]

LARGEST = 2**63 - 1


def whole_number(name: str, number: Any, least: int) -> int:
    """Check that `number` is a whole number of at least `least` that fits into 64 bits."""
    if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
        raise ParameterError(f"{name} must be a whole number ≥ {least}, got {number!r}")
    if int(number) > LARGEST:
        raise ParameterError(
            f"{name} must be at most {LARGEST}, got a number of {int(number).bit_length()} bits"
        )
    return int(number)


def positive_share(name: str, share: Any) -> float:
    """Check that `share` is a number above 0 and at most 1."""
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise ParameterError(f"{name} must be above 0 and at most 1, got {share!r}")
    return float(share)


def fact_value(value: Any) -> float | str | None:
    """Check that `value` is a finite number, text or None. A number of Python keeps its type."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise ParameterError(f"value must be a number or text, or None, got {type(value).__name__}")
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite:
        raise ParameterError("value must be finite, or None if it is not known")
    return value if isinstance(value, (int, float)) else float(value)


def check_range(name: str, ends: Any, kind: type) -> None:
    """Check that `ends` is None, or (lowest, highest) of whole numbers or of dates."""
    if ends is None:
        return
    fits = isinstance(ends, (tuple, list)) and len(ends) == 2 and all(isinstance(end, kind) for end in ends)
    fits = fits and not any(isinstance(end, bool) for end in ends)
    fits = fits and (kind is Integral or type(ends[0]) is type(ends[1]))
    if not fits or ends[0] > ends[1] or (kind is Integral and ends[0] < 0):
        allowed = "two whole numbers ≥ 0" if kind is Integral else "two dates of the same type"
        raise ParameterError(f"{name} must be (lowest, highest), {allowed}, got {ends!r}")
