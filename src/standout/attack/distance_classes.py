"""Classes of distances between a fact and an entry, by which error models are learned."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from standout.core.arrays import Bools, Floats, Ints
from standout.facts import KnownFacts
from standout.release.build import count_codes
from standout.release.clock import SECONDS
from standout.release.model import Release
from standout.similarity.attributes import ROUNDING

__all__ = ["MOST_PER_DAY", "N_TIMES", "N_VALUES", "DistanceClasses"]

STEPS = (1, 2)
"""Limits of the classes of values: equal, up to these numbers of steps apart, more."""
DAYS = (1.0, 2.0, 7.0, 30.0, 120.0)
"""Limits of the classes of times: equal, less than a day apart, up to these numbers of days apart, more."""
N_VALUES, N_TIMES = len(STEPS) + 2, len(DAYS) + 2
MOST_PER_DAY = 128
"""Facts of one day share the weight of one date, down to 1/128."""


@dataclass(frozen=True, eq=False)
class DistanceClasses:
    """The classes of distances in one release."""

    release: Release

    @cached_property
    def levels(self) -> Floats:
        """The levels as numbers; a category is its index."""
        levels = self.release.levels
        if isinstance(levels, np.ndarray):
            return levels
        return np.arange(self.release.n_levels, dtype=np.float64)

    def numbers(self, values: tuple[float | str, ...]) -> Floats:
        """Known values as numbers, like `levels`; the last one is for -1, an unknown value."""
        levels = self.release.levels
        if isinstance(levels, tuple):
            index = {level: float(code) for code, level in enumerate(levels)}
            return np.array([*(index.get(str(value), -1.0) for value in values), np.nan])
        return np.array([*values, np.nan], np.float64)

    @cached_property
    def step(self) -> float:
        """The unit of value distances: a quarter of the range from the 10 % to the 90 % quantile.

        It is at least the smallest distance of two levels, and 0 for categories.
        """
        release, column = self.release, self.release.by_record.value
        if isinstance(release.levels, tuple) or column is None or release.n_levels < 2:
            return 0.0
        counts = np.cumsum(count_codes(column, release.n_levels + 1)[: release.n_levels])
        low, high = np.searchsorted(counts, np.array([0.1, 0.9]) * counts[-1])
        return max(float(self.levels[high] - self.levels[low]) / 4, float(np.diff(self.levels).min()))

    def of_values(self, value: Floats, code: Ints) -> Ints:
        """The class of the distance between a value and a level; -1 where one is missing."""
        distance = np.abs(value - np.append(self.levels, np.nan)[code])
        limits = np.concatenate([[0.0], self.step * np.array(STEPS)]) * (1 + ROUNDING) + ROUNDING
        return np.where(np.isnan(distance), -1, np.searchsorted(limits, distance))

    def of_times(self, distance: Ints) -> Ints:
        """The class of a distance in units of the clock; -1 for a negative one: a time is missing."""
        first, *others = (int(days * self.day) for days in DAYS)
        return np.where(distance < 0, -1, np.searchsorted([0, first - 1, *others], distance))

    @property
    def day(self) -> int:
        """A day in units of the clock."""
        clock = self.release.clock
        assert clock is not None
        return SECONDS["day"] // SECONDS[clock.unit]

    @property
    def farthest(self) -> int:
        """The smallest distance of times that belongs to the last class."""
        return int(DAYS[-1] * self.day) + 1

    @property
    def possible_values(self) -> Bools:
        """Which classes of values can occur: few levels are never far apart."""
        if not len(self.levels):
            return np.ones(N_VALUES, np.bool_)
        index, last = np.arange(N_VALUES), self.of_values(self.levels[-1:], np.zeros(1, np.int64))[0]
        return np.asarray((index <= last) if self.step else (index == 0) | (index == last))

    @property
    def possible_times(self) -> Bools:
        """Which classes of times can occur: whole days are never less than a day apart."""
        clock = self.release.clock
        return np.asarray((np.arange(N_TIMES) != 1) | (clock is not None and clock.unit != "day"))

    def day_shares(self, known: KnownFacts) -> Ints:
        """By fact, n such that its date counts 1/2^n: entries of one session are not independent.

        2^n is the number of a target's facts of that day, rounded to a power of two.
        """
        clock = self.release.clock
        if clock is None or not len(known.item):
            return np.zeros(len(known.item), np.int64)
        person = np.repeat(np.arange(len(known)), np.diff(known.first))
        day = (known.time + clock.origin) // self.day
        order = np.lexsort((day, person))
        is_new = np.ones(len(order), np.bool_)
        is_new[1:] = (np.diff(person[order]) != 0) | (np.diff(day[order]) != 0)
        session = np.empty(len(order), np.int64)
        session[order] = np.cumsum(is_new) - 1
        counts = np.bincount(session, known.timed, minlength=1)[session]
        mantissa, exponent = np.frexp(np.clip(counts, 1, MOST_PER_DAY))
        return np.asarray(exponent.astype(np.int64) - (mantissa < np.sqrt(0.5)))
