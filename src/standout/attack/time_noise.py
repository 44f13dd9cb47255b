"""How a known date may differ from the released one if the publisher moved or rounded dates.

Without rounding, the errors add up: H is the convolution of the adversary's error and the noise. Rounding
depends on the date. The adversary rounds the known date too, and H(d) is the probability that the two rounded
dates differ by d days where such a date exists, averaged over the dates of the original.
"""

from collections.abc import Sequence

import numpy as np

from standout.core.arrays import Floats, Ints
from standout.release.clock import SECONDS, Clock
from standout.sanitized import Period, TimeSpread

__all__ = ["add_shifts", "round_errors", "whole_days"]

ANCHORS = 512
"""Largest number of dates of the original that rounding is averaged over."""
WORK = 10_000_000
"""Largest number of pairs of dates that are compared; with wide errors, fewer anchors are used."""


def add_shifts(shares: Floats, steps: Sequence[TimeSpread], units_per_day: int) -> Floats:
    """H after these steps; shares[reach + d] is H(d)."""
    for step in steps:
        reach = int(step.days * units_per_day)
        total = np.append(0.0, np.cumsum(np.pad(shares, 2 * reach)))
        width = 2 * reach + 1
        moved = np.maximum(total[width:] - total[:-width], 0.0) / width
        shares = (1.0 - step.probability) * np.pad(shares, reach) + step.probability * moved
    return shares


def whole_days(reach: int, units_per_day: int) -> Floats:
    """Differences of days between two times that are at most `reach` units apart, all equally likely.

    A distance of e days changes the day by k with probability max(0, 1 − |e − k|).
    """
    if units_per_day == 1:
        return np.full(2 * reach + 1, 1.0 / (2 * reach + 1))
    half = (reach + 0.5) / units_per_day
    days = int(half) + 1
    at = np.arange(-days - 1, days + 2, dtype=np.float64)
    twice = np.where(at > half, at, np.maximum(at + half, 0.0) ** 2 / (4.0 * half))  # integrated twice
    return np.maximum(np.diff(twice, 2), 0.0)


def round_errors(shares: Floats, steps: Sequence[TimeSpread | Period], clock: Clock) -> tuple[Floats, float]:
    """H in days after steps that round, and the probability of each date that a wrong fact may have.

    `shares` are those of the adversary's errors in days, `clock` is that of the original.
    """
    days_from, days_to = _days_of(clock)
    reach = len(shares) // 2
    facts = _Chain([shares, *(step for step in steps if isinstance(step, Period))])
    entries = _Chain(_parts(steps, clock))
    anchors = _anchors(days_from, days_to, facts, entries)
    known, released = [facts.follow(day) for day in anchors], [entries.follow(day) for day in anchors]
    low, high = (f(int(f([*t[0], *y[0]])) for t, y in zip(known, released, strict=True)) for f in (min, max))
    most = max(int(abs(t[0][:, None] - y[0]).max()) for t, y in zip(known, released, strict=True))
    joint, marginal = np.zeros(2 * most + 1), np.zeros(high - low + 1)
    for (t, t_share), (y, y_share) in zip(known, released, strict=True):
        np.add.at(joint, t[:, None] - y + most, np.multiply.outer(t_share, y_share))
        np.add.at(marginal, y - low, y_share)
    dates = np.zeros(high - low + 1 + 2 * most)
    possible = facts.round(np.arange(low - most - reach, high + most + reach + 1))
    possible = np.unique(possible[(possible >= low - most) & (possible <= high + most)])
    dates[possible - low + most] = 1.0
    available = np.correlate(dates, marginal, "valid")
    inside = np.unique(facts.round(np.arange(days_from, days_to + 1)))
    return np.where(available > 0, joint / np.where(available > 0, available, 1.0), 0.0), 1.0 / len(inside)


class _Chain:
    """What happens to a date: shifts, given as shares of days, and periods to round down to."""

    def __init__(self, parts: Sequence[Floats | Period]) -> None:
        self.parts = parts

    def follow(self, day: int) -> tuple[Ints, Floats]:
        """The days that a day may become, and their probabilities."""
        days: Ints = np.array([day])
        share: Floats = np.ones(1)
        for part in self.parts:
            if isinstance(part, Period):
                days, index = np.unique(part.start(days, "day"), return_inverse=True)
                share = np.bincount(index.reshape(-1), share).astype(np.float64)
            else:
                reach, first = len(part) // 2, int(days[0])
                dense = np.bincount(days - first, share)
                share = np.convolve(dense, part)
                days = np.arange(first - reach, first - reach + len(share))
                days, share = days[share > 0], share[share > 0]
        return days, share

    def round(self, days: Ints) -> Ints:
        """The days rounded down, without shifts."""
        for part in self.parts:
            days = part.start(days, "day") if isinstance(part, Period) else days
        return days


def _parts(steps: Sequence[TimeSpread | Period], clock: Clock) -> list[Floats | Period]:
    """The steps, with shifts as shares of whole days; times have the unit day once they are rounded."""
    parts: list[Floats | Period] = []
    per_day = SECONDS["day"] // SECONDS[clock.unit]
    for step in steps:
        if isinstance(step, Period):
            parts.append(step)
            per_day = 1
        else:
            shares = whole_days(int(step.days * per_day), per_day) * step.probability
            shares[len(shares) // 2] += 1.0 - step.probability
            parts.append(shares)
    return parts


def _anchors(first: int, last: int, facts: _Chain, entries: _Chain) -> list[int]:
    """Days of the original, evenly spread."""
    middle = (first + last) // 2
    pairs = len(facts.follow(middle)[0]) * len(entries.follow(middle)[0])
    count = min(max(WORK // pairs, 16), ANCHORS, last - first + 1)
    return [int(day) for day in np.unique(np.linspace(first, last, count).astype(np.int64))]


def _days_of(clock: Clock) -> tuple[int, int]:
    """First and last day of a clock."""
    per_day = SECONDS["day"] // SECONDS[clock.unit]
    return clock.origin // per_day, (clock.origin + max(clock.span, 1) - 1) // per_day
