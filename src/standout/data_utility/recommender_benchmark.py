"""Benchmark of releases by a recommender: trained on a release, tested on entries that it never saw."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from standout.core.arrays import Floats, Ints
from standout.core.rng import generator
from standout.data_utility.holdout import HeldOutEntries, hold_out, level_numbers
from standout.data_utility.influence import InfluenceEstimate
from standout.data_utility.recommender import Recommender, history_matrix, train_recommender
from standout.release.model import Release
from standout.sanitized import Sanitized

__all__ = ["TOP", "RecommenderBenchmark", "RecommenderResult", "calibrated_values"]

TOP = 10
"""Number of items that are recommended to a person."""
BATCH = 128
"""Number of people scored at a time."""
TIE = 1e-9
"""Scores that differ by less than this share of the highest are tied: the difference is rounding."""


@dataclass(frozen=True, eq=False, slots=True)
class RecommenderResult:
    """Results of a recommender for each test person.

    hits          share of the held-out items among the TOP, where ties are in random order
    popular_hits  the same for recommendations by popularity alone
    squared       mean squared error of the held-out values; NaN if none has a value
    """

    hits: Floats
    popular_hits: Floats
    squared: Floats

    @property
    def hit_rate(self) -> InfluenceEstimate:
        """Mean share of hits."""
        return InfluenceEstimate.mean(self.hits)

    @property
    def rmse(self) -> InfluenceEstimate | None:
        """Root mean square error over the people with a held-out value; None if there are none."""
        known = self.squared[~np.isnan(self.squared)]
        return InfluenceEstimate.mean(known).root() if len(known) else None


@dataclass(frozen=True, eq=False)
class RecommenderBenchmark:
    """Held-out entries, with the results of the untouched release and without any release.

    With `share` below 1, recommenders learn from that share of the records only, for every release. This is
    faster, and good enough to compare releases.
    """

    holdout: HeldOutEntries
    share: float = 1.0

    @classmethod
    def of(cls, release: Release, people: int, seed: int, share: float = 1.0) -> "RecommenderBenchmark":
        """Benchmark on entries of this number of people."""
        return cls(hold_out(release, people, seed), share)

    @cached_property
    def untouched(self) -> RecommenderResult:
        """Result of the original without the held-out entries."""
        rest = self.holdout.rest
        return self._train_and_test(rest, level_numbers(rest), np.arange(rest.n_items))

    @cached_property
    def rmse_without_release(self) -> InfluenceEstimate | None:
        """RMSE of predicting the mean of a person's own values, which needs no release."""
        no_hits = np.zeros(len(self.holdout.people))
        squared = self._squared_errors(self._own_mean[self.holdout.person])
        return RecommenderResult(no_hits, no_hits, squared).rmse

    def result(self, safer: Sanitized) -> RecommenderResult:
        """Result of a release that was made from the rest."""
        return self._train_and_test(safer, calibrated_values(safer), safer.mapping.item_codes)

    def _train_and_test(self, release: Release, values: Floats, item_codes: Ints) -> RecommenderResult:
        # One thread: these matrices are small, and waiting for threads takes many times longer. It also makes
        # the numbers independent of the number of cores.
        with threadpool_limits(1):
            return self._test(train_recommender(release, values, item_codes, self._training_records(release)))

    def _training_records(self, release: Release) -> Ints | None:
        """Records to learn from; None: all."""
        if self.share >= 1:
            return None
        order = generator(0, "utility records").permutation(release.n_records)
        return np.sort(order[: max(1, round(self.share * release.n_records))])

    def _test(self, model: Recommender) -> RecommenderResult:
        n = len(self.holdout.people)
        histories = history_matrix(self.holdout.rest, None, self.holdout.people)
        hits, popular_hits = np.zeros(n), np.zeros(n)
        for low in range(0, n, BATCH):
            batch = slice(low, low + BATCH)
            hits[batch] = self._hits(model.scores(histories[batch]), low)
            popular_hits[batch] = self._hits(model.popularity_scores(histories[batch]), low)
        return RecommenderResult(hits, popular_hits, self._squared_errors(self._predictions(model)))

    def _hits(self, scores: Floats, low: int) -> Floats:
        """Share of hits of the people low, low + 1, …, given their scores."""
        is_asked = (self.holdout.person >= low) & (self.holdout.person < low + len(scores))
        person, item = self.holdout.person[is_asked] - low, self.holdout.item[is_asked]
        hits = np.bincount(person, probability_in_top(scores, person, item), len(scores))
        return hits / np.bincount(person, minlength=len(scores))

    def _predictions(self, model: Recommender) -> Floats:
        """Values of held-out entries; if the release has no values, the mean of the person's own."""
        if np.isnan(model.mean):
            return self._own_mean[self.holdout.person]
        low, high = self._scale
        return np.clip(model.predict(self._values, self.holdout.person, self.holdout.item), low, high)

    @property
    def _scale(self) -> tuple[float, float]:
        """Lowest and highest value; NaN if values are not numbers."""
        levels = level_numbers(self.holdout.rest)
        return float(levels[0]), float(levels[max(len(levels) - 2, 0)])

    @cached_property
    def _own_mean(self) -> Floats:
        """Mean of each person's own values; the middle of the scale for a person without values."""
        count, middle = np.diff(self._values.indptr), sum(self._scale) / 2
        return np.where(count > 0, np.asarray(self._values.sum(axis=1)) / np.maximum(count, 1), middle)

    @cached_property
    def _values(self) -> csr_array:
        """Values of the test people that are not held out."""
        rest = self.holdout.rest
        return history_matrix(rest, level_numbers(rest), self.holdout.people)

    def _squared_errors(self, predicted: Floats) -> Floats:
        """Mean squared error of each person's held-out values."""
        error, person = (predicted - self.holdout.value) ** 2, self.holdout.person
        n = len(self.holdout.people)
        known = ~np.isnan(error)
        count = np.bincount(person, known, n)
        total = np.bincount(person, np.where(known, error, 0.0), n)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def probability_in_top(scores: Floats, person: Ints, item: Ints, top: int = TOP) -> Floats:
    """Probability that an item is among the first `top` of a person, with ties in random order."""
    tolerance = TIE * np.max(np.abs(scores), axis=1, where=np.isfinite(scores), initial=0.0)
    probability = np.zeros(len(item))
    for index, (row, column) in enumerate(zip(person.tolist(), item.tolist(), strict=True)):
        score = scores[row, column]
        if np.isfinite(score):
            higher = np.count_nonzero(scores[row] > score + tolerance[row])
            tied = np.count_nonzero(scores[row] >= score - tolerance[row]) - higher
            probability[index] = min(max((top - higher) / tied, 0.0), 1.0)
    return probability


def calibrated_values(safer: Sanitized) -> Floats:
    """Return the number of each value code on the scale of the original; NaN for the code of no value.

    A level becomes the mean of the original values that it replaces, which a publisher can state with the
    release: 4.3 for "liked". Where values keep their scale, that is the level itself. A level that replaces
    no value stays as it is, if it is a number.
    """
    old, new = level_numbers(safer.original), level_numbers(safer)
    column = safer.original.by_record.value
    levels = [] if safer.levels is None else list(safer.levels)
    if column is None or not levels:
        return np.full(len(levels) + 1, np.nan)
    count = np.bincount(column, minlength=len(old)).astype(np.float64)
    for code, level in enumerate(levels):
        replaced = [
            old_code
            for old_code, value in enumerate(safer.mapping.released_values)
            if value == level and count[old_code]
        ]
        if replaced:
            new[code] = np.average(old[replaced], weights=count[replaced])
    return new
