"""Errors of an adversary relative to a release: shares of its value spread and of its time span.

"± 1" is a fifth of five stars, but nothing on amounts in cents; "± 14 days" says nothing about a trace of two
weeks. A relative error is resolved to a concrete number on each release, and it means the same on the same
data in another unit.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.auditing.adversary_text import time_text
from standout.core.arrays import Floats, Ints, codes_in_use
from standout.release.clock import SECONDS
from standout.release.model import Release
from standout.similarity.attributes import ROUNDING

__all__ = ["ABSOLUTE", "DataSpread", "RelativeError", "RelativeErrors"]

BLOCK = 1 << 22
"""Entries that are counted at once, to limit memory."""
DAY = SECONDS["day"]
SAME = 1e-9
"""Distances whose relative difference is smaller are equal."""


@dataclass(frozen=True, slots=True)
class RelativeError:
    """An error as a share of the value spread or of the time span.

    Attributes
    ----------
    share
        The error as a share.
    at_most
        Largest error in units of the values, or in days; None for no limit.
    """

    share: float
    at_most: float | None = None

    def of(self, spread: float) -> float:
        """The error on data of this spread, not yet rounded."""
        error = self.share * spread
        return error if self.at_most is None else min(error, self.at_most)

    def is_limited(self, spread: float) -> bool:
        """Whether `at_most` decides."""
        return self.at_most is not None and self.share * spread >= self.at_most


class RelativeErrors(NamedTuple):
    """The errors of an adversary that are relative to the data; None for those that are not."""

    value_error: RelativeError | None = None
    time_error: RelativeError | None = None
    joined_error: RelativeError | None = None


ABSOLUTE = RelativeErrors()
"""No error is relative."""


@dataclass(frozen=True, eq=False)
class DataSpread:
    """How far the values and the times of a release are spread.

    Both are inter-decile ranges, the distance between the lower and the upper tenth of the entries, because a
    single absurd value or date would dominate the full range.
    """

    release: Release

    @cached_property
    def values(self) -> float:
        """Inter-decile range of the values; 0 if four fifths are equal, or without numbers."""
        levels = self._levels
        if levels is None:
            return 0.0
        low, high = levels[_quantile(self._value_counts, 1)], levels[_quantile(self._value_counts, 9)]
        spread = float(high) - float(low)
        return spread if math.isfinite(spread) else 0.0

    @cached_property
    def days(self) -> float:
        """Inter-decile range of the times in days; 0 without times."""
        release, time = self.release, self.release.by_record.time
        if release.clock is None or time is None:
            return 0.0
        codes, place = codes_in_use(time, release.span + 1)
        n_dates = int(np.searchsorted(codes, release.span))  # the code after the last date means no date
        counts = _counts(place, len(codes))[:n_dates]
        if not counts.any():
            return 0.0
        units = codes[_quantile(counts, 9)] - codes[_quantile(counts, 1)]
        return float(units) * SECONDS[release.clock.unit] / DAY

    def value_error(self, error: RelativeError) -> float:
        """The error in units of the values: the nearest distance between the median and another level.

        On evenly spaced levels this is a multiple of their step. 0 (exact) if the next level is too far away.
        """
        levels, raw = self._levels, error.of(self.values)
        if levels is None or not raw:
            return 0.0
        distances = np.unique(np.abs(levels - levels[_quantile(self._value_counts, 5)]))
        apart = np.abs(distances - raw)
        nearest = float(distances[np.flatnonzero(apart <= apart.min() + SAME * raw)[0]])
        # 1.0 - 0.8 is 0.19999999999999996
        rounded = float(f"{nearest:.14g}")
        return rounded if abs(rounded - nearest) < ROUNDING / 2 else nearest

    def time_error(self, error: RelativeError) -> float:
        """The error in days, rounded down to whole days, hours or minutes, and to the unit of the release."""
        clock = self.release.clock
        if clock is None:
            return 0.0
        seconds = error.of(self.days) * DAY + ROUNDING
        unit = next((unit for unit in SECONDS.values() if unit <= seconds), min(SECONDS.values()))
        unit = max(unit, SECONDS[clock.unit])
        return seconds // unit * unit / DAY

    def explain(self, errors: RelativeErrors) -> list[str]:
        """How the errors were resolved, except where a fixed limit decided."""
        notes = []
        value_error = errors.value_error
        if value_error is not None and not value_error.is_limited(self.values):
            notes.append(f"the value error is {_percent(value_error)} of the spread of {self.values:g}")
        for what, error in (("date", errors.time_error), ("first-date", errors.joined_error)):
            if error is not None and not error.is_limited(self.days):
                notes.append(
                    f"the {what} error is {_percent(error)} of the time span of {time_text(self.days)}"
                )
        return notes

    @cached_property
    def _levels(self) -> Floats | None:
        levels: Any = self.release.levels
        is_numeric = isinstance(levels, np.ndarray) and self._value_counts.any()
        return levels if is_numeric else None

    @cached_property
    def _value_counts(self) -> Ints:
        return _counts(self.release.by_record.value, self.release.n_levels)


def _percent(error: RelativeError) -> str:
    return f"{100 * error.share:g} %"


def _counts(codes: NDArray[np.integer[Any]] | None, size: int) -> Ints:
    """Number of entries with each code; missing ones do not count."""
    counts = np.zeros(size + 1, np.int64)
    if codes is not None:
        for start in range(0, len(codes), BLOCK):
            counts += np.bincount(codes[start : start + BLOCK], minlength=size + 1)
    return counts[:size]


def _quantile(counts: Ints, tenths: int) -> int:
    """Code of the entry below or at which this many tenths of all entries lie."""
    below = np.cumsum(counts)
    return int(np.searchsorted(below, -(-tenths * int(below[-1]) // 10)))
