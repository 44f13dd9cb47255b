"""Checks of an audit's parameters."""

import math
from collections.abc import Sequence
from typing import Any

from standout.core.checks import whole_number
from standout.core.errors import ParameterError

__all__ = ["fact_counts", "is_share"]

FACTS, QUICK_FACTS = (1, 2, 3, 4, 6, 8, 12, 16), (1, 2, 4, 8)
MOST_FACTS = 1000


def fact_counts(facts: Sequence[int] | None, quick: bool) -> tuple[int, ...]:
    """The numbers of facts in the curves, ascending."""
    if facts is None:
        return QUICK_FACTS if quick else FACTS
    if isinstance(facts, str) or not isinstance(facts, Sequence) or not facts:
        raise ParameterError(f"facts must be a list of whole numbers such as [1, 2, 4, 8], got {facts!r}")
    counts = tuple(sorted({whole_number("facts", count, 1) for count in facts}))
    if counts[-1] > MOST_FACTS:
        raise ParameterError(f"facts must be at most {MOST_FACTS:,}, got {counts[-1]:,}")
    return counts


def is_share(number: Any) -> bool:
    """Whether a parameter is a number from 0 to 1."""
    is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
    return is_number and math.isfinite(number) and 0 <= number <= 1
