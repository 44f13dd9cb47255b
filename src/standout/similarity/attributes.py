"""Sim on attributes: how alike a known fact and an entry are  [the paper's Sim, section 2].

A similarity is a small frozen object that says how alike two values are, how alike two times are, and how
the two go together. For an attack it becomes a table over the release's value levels and time distances
(`tables.py`), so that none of it, nor a user's own function, is called while scoring.

What the fact does not say is not compared; with neither value nor time, having the item counts 1. An entry
that lacks what the fact says has nothing in common with it there.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats
from standout.core.errors import ParameterError, StandoutError
from standout.release.clock import SECONDS
from standout.release.model import Levels, Release

__all__ = [
    "ROUNDING", "Custom", "Decay", "Equal", "Present", "Similarity", "Value", "Within", "call_user_code",
    "check_numbers",    "days_per_unit",
]  # fmt: skip

Value = float | str
ROUNDING = 1e-9
"""Levels like 0.3 and 0.4 are 0.1 apart, whatever binary fractions say."""


class Similarity:
    """The base: Sim = value part × time part, or their sum where `adds` is set.

    A similarity of your own says how alike values are, times are, or both:

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class SameWeekday(Similarity):
    ...     def times(self, days):
    ...         return (days % 7 == 0).astype(float)
    >>> SameWeekday().times(np.array([-7.0, 0.0, 3.0]))
    array([1., 1., 0.])
    """

    adds: ClassVar[bool] = False

    def values(self, known: Value, levels: Levels) -> Floats | None:
        """How alike a known value and each level are, from 0 to 1; None if values are not compared."""
        return None

    def times(self, days: Floats) -> Floats | None:
        """How alike times are that lie so many days apart (entry − fact), 0 to 1; None if not compared."""
        return None


@dataclass(frozen=True, slots=True)
class Within(Similarity):
    """1 if value and time are both within a threshold of what is known, else 0  [section 2].

    None: not compared. The time is in days.

    >>> Within(value=1, time=14).values(4, np.array([1.0, 3.0, 5.0]))
    array([0., 1., 1.])
    """

    value: float | None = 1
    time: float | None = 14

    def __post_init__(self) -> None:
        _check("value", self.value, zero=True)
        _check("time", self.time, zero=True)

    def values(self, known: Value, levels: Levels) -> Floats | None:
        return None if self.value is None else _at_most(_distances(known, levels), self.value)

    def times(self, days: Floats) -> Floats | None:
        return None if self.time is None else _at_most(np.abs(days), self.time)


@dataclass(frozen=True, slots=True)
class Decay(Similarity):
    """e^(−|Δvalue| / value_scale) + e^(−|Δdays| / time_scale)  [section 5, ρ0 = 1.5 and d0 = 30].

    None: not compared. Each term is 1 at its best, so Sim is at most 2 where both are known; as a Sim
    between 0 and 1 (Algorithm 1A, record similarity) it is their mean.

    >>> Decay().values(4, np.array([4.0, 5.5])).round(3)
    array([1.   , 0.368])
    """

    value_scale: float | None = 1.5
    time_scale: float | None = 30
    adds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check("value_scale", self.value_scale)
        _check("time_scale", self.time_scale)

    def values(self, known: Value, levels: Levels) -> Floats | None:
        scale = self.value_scale
        return None if scale is None else elementary.exp(-_distances(known, levels) / scale)

    def times(self, days: Floats) -> Floats | None:
        return None if self.time_scale is None else elementary.exp(-np.abs(days) / self.time_scale)


@dataclass(frozen=True, slots=True)
class Present(Similarity):
    """1 for having the item, whatever its value and time."""


@dataclass(frozen=True, slots=True)
class Equal(Similarity):
    """1 if the values are the same: for categories, or for numbers that are exact.

    >>> Equal().values("rented", ("bought", "rented"))
    array([0., 1.])
    """

    def values(self, known: Value, levels: Levels) -> Floats | None:
        return np.asarray(_distances(known, levels) == 0, np.float64)


@dataclass(frozen=True, slots=True)
class Custom(Similarity):
    """A function of your own: Sim = function(known value, entry's value, days from the fact to the entry).

    None stands for what is not known or not there. The function is called once for each pair of a known
    value and a level at each distance, before the attack begins. It must give a finite number ≥ 0. Where
    value and time can be judged apart, a subclass of Similarity tabulates faster and has no limit of size.

    >>> late = Custom(lambda known, value, days: float(known == value and 0 <= (days or 0) <= 30))
    >>> late.function(4, 4, 12)
    1.0
    """

    function: Callable[[Any, Any, float | None], float]

    def __call__(self, known: Value | None, value: Value | None, days: float | None) -> float:
        """What the function gives, checked."""
        who = "the similarity's function"
        return float(
            check_numbers([call_user_code(lambda: self.function(known, value, days), who)], 1, who)[0]
        )


def call_user_code(ask: Callable[[], Any], who: str) -> Any:
    """What a user's code gives, or an error that says whose it was."""
    try:
        return ask()
    except StandoutError:
        raise
    except Exception as error:
        raise ParameterError(f"{who} failed: {type(error).__name__}: {error}") from error


def check_numbers(given: Any, count: int, who: str) -> Floats:
    """So many numbers that a user's code gave, or an error that says who gave something else."""
    try:
        found = np.asarray(given)
    except ValueError:  # lists of different lengths
        found = np.asarray(None)
    numbers = found.astype(np.float64) if found.dtype.kind in "biuf" else None
    if numbers is None or numbers.shape != (count,) or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise ParameterError(f"{who} must give {count:,} finite number{'s' * (count != 1)} ≥ 0")
    return numbers


def days_per_unit(release: Release) -> float:
    """How long a unit of the release's clock is, in days."""
    return 1.0 if release.clock is None else SECONDS[release.clock.unit] / SECONDS["day"]


def _at_most(distances: Floats, threshold: float) -> Floats:
    return np.asarray(distances <= threshold + ROUNDING, np.float64)


def _distances(known: Value, levels: Levels) -> Floats:
    """How far a value is from each level. Categories are the same or not: 0 or infinitely far."""
    if isinstance(levels, tuple):
        return np.array([0.0 if level == known else math.inf for level in levels])
    if isinstance(known, str):
        raise ParameterError("the release's values are numbers: a fact's value must be one too")
    return np.abs(levels - float(known))


def _check(name: str, scale: float | None, zero: bool = False) -> None:
    if scale is None:
        return
    fits = isinstance(scale, Real) and not isinstance(scale, bool) and math.isfinite(scale)
    if not fits or scale < 0 or (scale == 0 and not zero):
        raise ParameterError(
            f"{name} must be a finite number {'≥' if zero else '>'} 0, or None, got {scale!r}"
        )
