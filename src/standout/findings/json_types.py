"""Types of findings that say more to a JSON Schema than `int` or `float`."""

from dataclasses import dataclass
from typing import Annotated

from standout.core.json_values import Json, JsonObject
from standout.evaluate.estimates import Estimate

__all__ = [
    "Bounds",
    "Count",
    "Day",
    "Json",
    "JsonObject",
    "NonNegative",
    "Pattern",
    "PositiveCount",
    "Rate",
    "Share",
]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Smallest and largest value of a number; for an `Estimate`, of all its numbers."""

    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """Regular expression that a text matches."""

    regex: str


Count = Annotated[int, Bounds(0)]
PositiveCount = Annotated[int, Bounds(1)]
NonNegative = Annotated[float, Bounds(0)]
Share = Annotated[float, Bounds(0, 1)]
Rate = Annotated[Estimate, Bounds(0, 1)]
"""A share of targets with its interval and baseline, all from 0 to 1."""
Day = Annotated[str, Pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
