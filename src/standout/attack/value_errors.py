"""How a known value may differ from the released one: the adversary's errors, and what the publisher did.

right(v | x) is the probability that a right fact about an entry with value x says v, wrong(v | x) that a
wrong one does. If the release shows x′ instead of x, the adversary who knows the steps averages over x:

    right(v | x′) = Σ_x π(x) C(x′ | x) right(v | x) / Σ_x π(x) C(x′ | x)

C is the noise of the steps. π, the shares of the original values, is estimated from the release alone: the
shares under which the values of the release are likeliest (expectation maximisation).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.release.model import Levels
from standout.sanitized import Bins, ValueSpread
from standout.similarity.attributes import ROUNDING

__all__ = ["ValueChannel", "ValueErrors"]

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

    @property
    def n_levels(self) -> int:
        """Number of levels."""
        return 0 if self.levels is None else len(self.levels)

    def right(self, known: float | str) -> Floats:
        """right(v | x) of a known value v, for each level x."""
        if self.error is None:
            return self._decay(known)
        near = self._distances(known) <= self.error + ROUNDING
        return near / np.maximum(self._n_near, 1)

    def wrong(self, known: float | str) -> Floats:
        """wrong(v | x) of a known value v, for each level x: any level but those within the error."""
        n = self.n_levels
        if self.error is None:
            return np.full(n, 1.0 / n)
        near = self._distances(known) <= self.error + ROUNDING
        rest = n - self._n_near
        return np.where(rest > 0, ~near / np.maximum(rest, 1), 1.0 / n)

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
            return np.ones(self.n_levels)
        error = (self.error or 0.0) + ROUNDING
        if len(levels) <= FEW_LEVELS:  # as distances are compared elsewhere: 1 + 1e100 is 1e100
            return np.array([np.count_nonzero(self._distances(x) <= error) for x in levels], np.float64)
        low, high = np.searchsorted(levels, levels - error), np.searchsorted(levels, levels + error, "right")
        return (high - low).astype(np.float64)

    def _decay(self, known: float | str) -> Floats:
        if not isinstance(self.levels, np.ndarray):
            return np.asarray(self._distances(known) == 0, np.float64)
        return elementary.exp(-self._distances(known) / self.scale) / self._decays

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
