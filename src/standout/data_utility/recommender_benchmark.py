"""Releases tried by a recommender: trained on what a release tells, tested on entries of the original that it
never saw."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from standout.core.arrays import Floats, Ints
from standout.core.rng import generator
from standout.data_utility.holdout import HeldOutEntries, hold_out, numbers
from standout.data_utility.influence import InfluenceEstimate
from standout.data_utility.recommender import Recommender, history_matrix, train_recommender
from standout.release.model import Release
from standout.sanitized import Sanitized

__all__ = ["TOP", "RecommenderBenchmark", "RecommenderResult", "calibrated_values"]

TOP = 10
BATCH = 128
SAME = 1e-9
"""Scores that differ by less than this share of the highest are equal: the rest is rounding."""


@dataclass(frozen=True, eq=False, slots=True)
class RecommenderResult:
    """What a recommender achieves for each person.

    hits      the share of the held-out items that are among the TOP, where equals stand in any order
    popular   the same by popularity alone
    squared   the mean squared error of the held-out values; NaN where none has one
    """

    hits: Floats
    popular: Floats
    squared: Floats

    @property
    def hit_rate(self) -> InfluenceEstimate:
        return InfluenceEstimate.mean(self.hits)

    @property
    def rmse(self) -> InfluenceEstimate | None:
        """Over the people of whom a value was held out; None if there are none."""
        known = self.squared[~np.isnan(self.squared)]
        return InfluenceEstimate.mean(known).root() if len(known) else None


@dataclass(frozen=True, eq=False)
class RecommenderBenchmark:
    """Held-out entries, and what they are held against: the untouched release, and no release at all.

    With a `share` below 1 recommenders learn from this share of the records only, of every release: quicker,
    and good enough to tell which of them is the better one.
    """

    holdout: HeldOutEntries
    share: float = 1.0

    @classmethod
    def of(cls, release: Release, people: int, seed: int, share: float = 1.0) -> "RecommenderBenchmark":
        return cls(hold_out(release, people, seed), share)

    @cached_property
    def untouched(self) -> RecommenderResult:
        """What the original gives, without the entries that are held out."""
        rest = self.holdout.rest
        return self._tried(rest, numbers(rest), np.arange(rest.n_items))

    @cached_property
    def alone(self) -> InfluenceEstimate | None:
        """The RMSE of whoever has no release: of the mean of a person's own values."""
        none = np.zeros(len(self.holdout.people))
        return RecommenderResult(none, none, self._squared(self._own_mean[self.holdout.person])).rmse

    def tested(self, safer: Sanitized) -> RecommenderResult:
        """What a release gives that was made of the rest."""
        return self._tried(safer, calibrated_values(safer), safer.mapping.item_codes)

    def _tried(self, release: Release, values: Floats, items: Ints) -> RecommenderResult:
        """On one thread: these matrices are small, and threads that wait for each other cost many times more.
        It also makes the numbers the same on every machine's number of cores."""
        with threadpool_limits(1):
            return self._tested(train_recommender(release, values, items, self._some(release)))

    def _some(self, release: Release) -> Ints | None:
        """Which records are learned from; None: all."""
        if self.share >= 1:
            return None
        order = generator(0, "utility records").permutation(release.n_records)
        return np.sort(order[: max(1, round(self.share * release.n_records))])

    def _tested(self, model: Recommender) -> RecommenderResult:
        n = len(self.holdout.people)
        own = history_matrix(self.holdout.rest, None, self.holdout.people)
        hits, popular = np.zeros(n), np.zeros(n)
        for low in range(0, n, BATCH):
            here = slice(low, low + BATCH)
            hits[here] = self._hits(model.scores(own[here]), low)
            popular[here] = self._hits(model.popular(own[here]), low)
        return RecommenderResult(hits, popular, self._squared(self._predicted(model)))

    def _hits(self, scores: Floats, low: int) -> Floats:
        """The share of hits of each person low, low + 1, …"""
        here = (self.holdout.person >= low) & (self.holdout.person < low + len(scores))
        person, item = self.holdout.person[here] - low, self.holdout.item[here]
        chance = in_top(scores, person, item)
        return np.bincount(person, chance, len(scores)) / np.bincount(person, minlength=len(scores))

    def _predicted(self, model: Recommender) -> Floats:
        """Values of held-out entries; where the release has none, the mean of the person's own."""
        if np.isnan(model.mean):
            return self._own_mean[self.holdout.person]
        low, high = self._scale
        return np.clip(model.predicted(self._rated, self.holdout.person, self.holdout.item), low, high)

    @property
    def _scale(self) -> tuple[float, float]:
        """The lowest and the highest value; NaN where values are no numbers."""
        levels = numbers(self.holdout.rest)
        return float(levels[0]), float(levels[max(len(levels) - 2, 0)])

    @cached_property
    def _own_mean(self) -> Floats:
        """The mean of each person's own values; without any, the middle of the scale."""
        count, middle = np.diff(self._rated.indptr), sum(self._scale) / 2
        return np.where(count > 0, np.asarray(self._rated.sum(axis=1)) / np.maximum(count, 1), middle)

    @cached_property
    def _rated(self) -> csr_array:
        """The values that people gave, of those that are not held out."""
        return history_matrix(self.holdout.rest, numbers(self.holdout.rest), self.holdout.people)

    def _squared(self, predicted: Floats) -> Floats:
        """The mean squared error of each person's held-out values."""
        error, person, n = (
            (predicted - self.holdout.value) ** 2,
            self.holdout.person,
            len(self.holdout.people),
        )
        known = ~np.isnan(error)
        count = np.bincount(person, known, n)
        total = np.bincount(person, np.where(known, error, 0.0), n)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def in_top(scores: Floats, person: Ints, item: Ints, top: int = TOP) -> Floats:
    """The chance that an item is among the first `top` of a person's; equals stand in any order."""
    room = SAME * np.max(np.abs(scores), axis=1, where=np.isfinite(scores), initial=0.0)
    chance = np.zeros(len(item))
    for at, (one, thing) in enumerate(zip(person.tolist(), item.tolist(), strict=True)):
        row, own = scores[one], scores[one, thing]
        if np.isfinite(own):
            higher = np.count_nonzero(row > own + room[one])
            equal = np.count_nonzero(row >= own - room[one]) - higher
            chance[at] = min(max((top - higher) / equal, 0.0), 1.0)
    return chance


def calibrated_values(safer: Sanitized) -> Floats:
    """The number of each value code of a release on the scale of its original; NaN for the code of none.

    A level stands for the mean of the original values that are told as it, which the publisher can say beside
    the release: 4.3 for "liked". Where values keep their scale that is the level itself. A level that nothing
    is told as is taken as it is, if it is a number.
    """
    old, new = numbers(safer.original), numbers(safer)
    column = safer.original.by_record.value
    levels = [] if safer.levels is None else list(safer.levels)
    if column is None or not levels:
        return np.full(len(levels) + 1, np.nan)
    count = np.bincount(column, minlength=len(old)).astype(np.float64)
    for place, level in enumerate(levels):
        told = [i for i, one in enumerate(safer.mapping.released_values) if one == level and count[i]]
        if told:
            new[place] = np.average(old[told], weights=count[told])
    return new
