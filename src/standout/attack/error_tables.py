"""How a known value may differ from the released one: the adversary's errors, and what the publisher did.

right(v | x) is the probability that a right fact about an entry with value x says v, wrong(v | x) that a
wrong one does. If the release shows x′ instead of x, the adversary who knows the steps averages over x:

    right(v | x′) = Σ_x π(x) C(x′ | x) right(v | x) / Σ_x π(x) C(x′ | x)

C is the noise of the steps. π, the shares of the original values, is estimated from the release alone: the
shares under which the values of the release are likeliest (expectation maximisation).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.data.labels import SECONDS, Bins, Clock
from standout.data.release import Levels
from standout.know.sanitized import Period, TimeSpread, ValueSpread
from standout.know.similarity import ROUNDING

FEW_LEVELS = 500
ROUNDS = 100
"""Rounds of expectation maximisation."""


@dataclass(frozen=True, eq=False)
class ValueErrors:
    """Errors of known values relative to entries with these levels.

    `error` is the largest error; None if errors are guessed to decay with `scale`.
    """

    levels: Levels | None
    error: float | None
    scale: float = 1.0

    def right_and_wrong(self, known: float | str) -> tuple[Floats, Floats]:
        """right(v | x) and wrong(v | x) of a known value v, for each level x.

        A wrong value is any level but those within the error.
        """
        distances, n = self._distances(known), 0 if self.levels is None else len(self.levels)
        if self.error is None:
            is_number = isinstance(self.levels, np.ndarray)
            decays = elementary.exp(-distances / self.scale) / self._decays if is_number else distances == 0
            return np.asarray(decays, np.float64), np.full(n, 1.0 / max(n, 1))
        near, rest = distances <= self.error + ROUNDING, n - self._n_near
        wrong = np.where(rest > 0, ~near / np.maximum(rest, 1), 1.0 / max(n, 1))
        return near / np.maximum(self._n_near, 1), wrong

    def _distances(self, known: float | str) -> Floats:
        if isinstance(self.levels, np.ndarray):
            with np.errstate(over="ignore"):
                return np.asarray(np.abs(self.levels - float(known)))
        return np.array([0.0 if level == known else np.inf for level in self.levels or ()])

    @cached_property
    def _n_near(self) -> Floats:
        """Number of levels within the error of each level, itself included."""
        levels = self.levels
        if not isinstance(levels, np.ndarray):
            return np.ones(0 if levels is None else len(levels))
        error = (self.error or 0.0) + ROUNDING
        if len(levels) <= FEW_LEVELS:  # as distances are compared elsewhere: 1 + 1e100 is 1e100
            return np.array([np.count_nonzero(self._distances(x) <= error) for x in levels], np.float64)
        low, high = np.searchsorted(levels, levels - error), np.searchsorted(levels, levels + error, "right")
        return (high - low).astype(np.float64)

    @cached_property
    def _decays(self) -> Floats:
        """Sum over all levels of e^(−distance/scale) from each level, in one pass up and one down."""
        levels = np.asarray(self.levels, np.float64)
        with np.errstate(over="ignore"):
            factor = elementary.exp(-np.diff(levels) / self.scale)
        below, above = np.zeros(len(levels)), np.zeros(len(levels))
        for i in range(1, len(levels)):
            below[i] = (below[i - 1] + 1.0) * factor[i - 1]
            above[-1 - i] = (above[-i] + 1.0) * factor[-i]
        return below + 1.0 + above


@dataclass(frozen=True, eq=False)
class _Spread:
    """Level x changes with this probability to another one of first[x] … last[x]."""

    first: Ints
    last: Ints
    probability: float

    @classmethod
    def of(cls, spread: ValueSpread, levels: Levels) -> "_Spread":
        n = len(levels)
        if spread.error is None or not isinstance(levels, np.ndarray):
            return cls(np.zeros(n, np.int64), np.full(n, n - 1), spread.probability)
        reach = spread.error + ROUNDING
        first = np.searchsorted(levels, levels - reach)
        return cls(first, np.searchsorted(levels, levels + reach, "right") - 1, spread.probability)

    @property
    def _changes(self) -> Floats:
        """The probability of a change to each other level within reach; 0 where there is none."""
        others = self.last - self.first
        return np.where(others > 0, self.probability / np.maximum(others, 1), 0.0)

    def push(self, weight: Floats) -> Floats:
        """Weights of the levels after the noise."""
        each = weight * self._changes
        steps = np.zeros(len(weight) + 1)
        np.add.at(steps, self.first, each)
        np.add.at(steps, self.last + 1, -each)
        stays = weight * (1.0 - self._changes * (self.last - self.first))
        return np.asarray(stays + np.maximum(np.cumsum(steps)[:-1] - each, 0.0))

    def pull(self, value: Floats) -> Floats:
        """The mean of these numbers over the levels that each level may become."""
        total = np.append(0.0, np.cumsum(value))
        others = total[self.last + 1] - total[self.first] - value
        stays = 1.0 - self._changes * (self.last - self.first)
        return np.asarray(self._changes * others + value * stays)


@dataclass(frozen=True, eq=False)
class _Merge:
    """Level x becomes level code[x] of n; -1: it is not in the release."""

    code: Ints
    n: int

    def push(self, weight: Floats) -> Floats:
        """Weights of the new levels."""
        kept = self.code >= 0
        return np.bincount(self.code[kept], weight[kept], minlength=self.n).astype(np.float64)

    def pull(self, value: Floats) -> Floats:
        """The number of the level that each level becomes."""
        return np.where(self.code >= 0, value[np.maximum(self.code, 0)], 0.0)


@dataclass(frozen=True, eq=False)
class ValueChannel:
    """C: how levels of the original become levels of the release, and the shares π of the original levels."""

    parts: tuple[_Spread | _Merge, ...]
    prior: Floats

    @classmethod
    def of(
        cls, steps: tuple[ValueSpread | Bins, ...], original: Levels, released: Levels, counts: Floats
    ) -> "ValueChannel":
        """The channel of these steps; `counts` are the numbers of entries by level of the release."""
        parts: list[_Spread | _Merge] = []
        levels = original
        for step in steps:
            if isinstance(step, ValueSpread):
                parts.append(_Spread.of(step, levels))
            elif isinstance(levels, np.ndarray):
                merged = np.array(step.bin_values(levels.tolist()))
                levels = np.unique(merged)
                parts.append(_Merge(np.searchsorted(levels, merged), len(levels)))
        parts.append(_find_levels(levels, released))
        start = np.full(len(original), 1.0 / max(len(original), 1))
        return cls(tuple(parts), cls(tuple(parts), start)._fit(counts))

    def push(self, weight: Floats) -> Floats:
        """Weights of the release's levels, given weights of the original's."""
        for part in self.parts:
            weight = part.push(weight)
        return weight

    def pull(self, value: Floats) -> Floats:
        """The mean of numbers of the release's levels, for each level of the original."""
        for part in reversed(self.parts):
            value = part.pull(value)
        return value

    def average(self, numbers: Floats) -> Floats:
        """For each level of the release, the mean of numbers of the original levels that it may come from."""
        total = self.push(self.prior)
        return self.push(self.prior * numbers) / np.where(total > 0, total, 1.0)

    def _fit(self, counts: Floats) -> Floats:
        """π by expectation maximisation; it ends at the likeliest shares."""
        shares, prior = counts / max(float(counts.sum()), 1.0), self.prior
        for _ in range(ROUNDS):
            expected = self.push(prior)
            prior = prior * self.pull(shares / np.where(expected > 0, expected, 1.0))
            prior = prior / max(float(prior.sum()), 1e-300)
        return prior


def _find_levels(levels: Levels, released: Levels) -> _Merge:
    """Where the levels after all steps are in the release."""
    index = {level: code for code, level in enumerate(list(released))}
    return _Merge(np.array([index.get(level, -1) for level in list(levels)], np.int64), len(released))


# How a known date may differ from the released one if the publisher moved or rounded dates.
#
# Without rounding, the errors add up: H is the convolution of the adversary's error and the noise. Rounding
# depends on the date. The adversary rounds the known date too, and H(d) is the probability that the two rounded
# dates differ by d days where such a date exists, averaged over the dates of the original.


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
    per_day = SECONDS["day"] // SECONDS[clock.unit]
    days_from, days_to = clock.origin // per_day, (clock.origin + max(clock.span, 1) - 1) // per_day
    reach = len(shares) // 2
    facts = _Chain([shares, *(step for step in steps if isinstance(step, Period))])
    entries = _Chain(_parts(steps, clock))
    middle = (days_from + days_to) // 2
    pairs = len(facts.follow(middle)[0]) * len(entries.follow(middle)[0])
    count = min(max(WORK // pairs, 16), ANCHORS, days_to - days_from + 1)
    anchors = np.unique(np.linspace(days_from, days_to, count).astype(np.int64)).tolist()
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
