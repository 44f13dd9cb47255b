"""What entries are still good for: a standard recommender of biases and a truncated SVD, with people folded in.

    value     r̂ = μ + b_item + b_person + e_person · V Vᵀ      V: first factors of the residuals of the biases
    ranking   s = x_person · W Wᵀ                              W: first factors of the 0/1 record-item matrix

The second is PureSVD  [Cremonesi, Koren & Turrin 2010]. Both learn about ITEMS from the release. A person
enters only with the own history, which a service has anyway, so people who are not in the release count too.
A repeated item counts once, with the mean of its values.

Test entries are held out of the original BEFORE it is sanitized. Otherwise a release that contains them would
be rewarded for remembering them.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds
from threadpoolctl import threadpool_limits

from standout.core.arrays import Floats, Ints, offsets, take_rows
from standout.core.errors import ParameterError
from standout.core.rng import generator
from standout.data.build import drop_unused_codes, pack_by_item
from standout.data.entries import entries_at, first_entries
from standout.data.release import RecordEntries, Release
from standout.evaluate.estimates import CONFIDENCE, Estimate, student
from standout.evaluate.targets import draw_targets, shuffled_entries
from standout.know.sanitized import Sanitized

FACTORS = 32
DAMPING = 5.0
"""A bias is shrunk as if it had this number of further entries at 0."""
ROUNDING = 1e-9
"""Factors below this share of the first one are rounding errors."""
SMALL = 1024
"""Up to this number of records or items, a dense matrix of their products is used."""


@dataclass(frozen=True, eq=False, slots=True)
class Recommender:
    """What was learned about items, in codes of the original: support (0: removed), W, μ (NaN: no values), b and V."""

    support: Ints
    item_factors: Floats
    mean: float
    bias: Floats
    value_factors: Floats

    def scores(self, histories: csr_array, by_popularity: bool = False) -> Floats:
        """Scores, people × items, by what they have; −∞ for items that a person has already, and for removed ones."""
        if by_popularity:
            scores = np.tile(self.support.astype(np.float64), (histories.shape[0], 1))
        else:
            scores = np.asarray((histories @ self.item_factors) @ self.item_factors.T)
        scores[:, self.support == 0] = -np.inf
        scores[histories.nonzero()] = -np.inf
        return scores

    def predict(self, histories: csr_array, person: Ints, item: Ints) -> Floats:
        """Predict values of (person, item) pairs for people with these histories of values."""
        residual = histories.copy()
        residual.data = histories.data - self.mean - self.bias[histories.indices]
        counts = np.diff(histories.indptr)
        bias = np.asarray(residual.sum(axis=1)) / (counts + DAMPING)
        residual.data = residual.data - np.repeat(bias, counts)
        factors = np.asarray(residual @ self.value_factors)
        fit = np.einsum("ij,ij->i", factors[person], self.value_factors[item])
        return np.asarray(self.mean + self.bias[item] + bias[person] + fit)


def train_recommender(release: Release, values: Floats, item_codes: Ints, records: Ints | None = None) -> Recommender:
    """Train on some records; `values` has numbers of value codes, `item_codes` the codes of all items, -1: removed."""
    removed, code = item_codes < 0, np.maximum(item_codes, 0)
    support = np.where(removed, 0, release.support[code])
    item_factors = np.where(removed[:, None], 0.0, _factors(history_matrix(release, None, records))[code])
    residual = history_matrix(release, values, records)
    if not residual.nnz:
        zeros = np.zeros(len(item_codes))
        return Recommender(support, item_factors, float("nan"), zeros, zeros[:, None])
    mean = float(residual.data.mean())
    bias = _damped_means(residual.data - mean, residual.indices, release.n_items)
    person = np.repeat(np.arange(residual.shape[0]), np.diff(residual.indptr))
    residual.data -= mean + bias[residual.indices]
    residual.data -= _damped_means(residual.data, person, residual.shape[0])[person]
    value_factors = np.where(removed[:, None], 0.0, _factors(residual)[code])
    return Recommender(support, item_factors, mean, np.where(removed, 0.0, bias[code]), value_factors)


def entries_of(release: Release, records: Ints) -> tuple[Ints, Ints]:
    """Entries of these records, and where those of each begin; a record -1 has none."""
    is_present = records >= 0
    start, entry = take_rows(release.by_record.start, records[is_present])
    return entry, start[offsets(is_present)]


def entry_numbers(release: Release, entry: Ints, numbers: Floats) -> Floats:
    """Values of entries as numbers; the last one of `numbers` is for an entry without a value."""
    column = release.by_record.value
    return np.asarray(numbers[np.full(len(entry), len(numbers) - 1) if column is None else column[entry]])


def history_matrix(release: Release, values: Floats | None = None, people: Ints | None = None) -> csr_array:
    """Records (default: all) × items: 1 where a record has an item, or with `values` the mean of its numbers."""
    records = np.arange(release.n_records) if people is None else people
    entry, start = entries_of(release, records)
    item, data = release.by_record.item[entry], np.ones(len(entry))
    if values is not None:
        data = entry_numbers(release, entry, values)
        known = ~np.isnan(data)
        start, data, item = offsets(known)[start], data[known], item[known]
    if release.has_repeats:  # the numbers of each record and item become their mean
        is_first = first_entries(RecordEntries(start, item, None, None))
        group = np.cumsum(is_first) - 1
        start, item, data = offsets(is_first)[start], item[is_first], np.bincount(group, data) / np.bincount(group)
    return csr_array((data, item.astype(np.int32), start), shape=(len(start) - 1, release.n_items))


def _damped_means(residuals: Floats, group: Any, count: int) -> Floats:
    """Damped mean of the residuals of each group 0 … count - 1."""
    return np.bincount(group, residuals, count) / (np.bincount(group, minlength=count) + DAMPING)


def _factors(matrix: csr_array) -> Floats:
    """First right singular vectors as columns; deterministic except for their signs."""
    if not np.any(matrix.data):
        return np.zeros((matrix.shape[1], 1))
    least = min(matrix.shape)
    if least > SMALL:
        _, weight, right = svds(matrix, k=FACTORS, v0=np.ones(least), return_singular_vectors="vh")
        return np.ascontiguousarray(right[weight > ROUNDING * weight.max()].T)
    is_wide = matrix.shape[0] == least
    square = (matrix @ matrix.T if is_wide else matrix.T @ matrix).toarray()
    weight, vectors = eigh(square, subset_by_index=[max(least - FACTORS, 0), least - 1])
    is_real = weight > ROUNDING * weight.max()
    if not is_wide:
        return np.asarray(vectors[:, is_real])
    return np.asarray(matrix.T @ (vectors[:, is_real] / np.sqrt(weight[is_real])))


# Held-out entries: what a recommender is tested on, and the release without them that it learns from.


LEAST_ITEMS = 5
"""Smallest number of items of a test person."""
MOST_HELD_OUT, PART = 5, 5
"""At most 5 items of a person are held out, and at most one in 5."""


class HeldOutEntries(NamedTuple):
    """Items of some people that are held out with all their entries, and the release without them."""

    rest: Release
    people: Ints
    person: Ints  # for each held-out item, the index in `people`
    item: Ints
    value: Floats  # its value, the mean of several, or NaN


def hold_out(release: Release, people: int, seed: int) -> HeldOutEntries:
    """Hold out entries of random people, all items equally likely; every item keeps at least one record."""
    eligible, _ = draw_targets(release.check(), None, LEAST_ITEMS, seed, "utility")
    drawn_people = eligible[release.distinct_items[eligible] >= LEAST_ITEMS][:people]
    is_first = first_entries(release.by_record)
    support, entries, person = release.support.copy(), [], []
    for index, order in enumerate(shuffled_entries(release, drawn_people, seed, "utility entries")):
        held_out = 0
        most = min(MOST_HELD_OUT, int(release.distinct_items[drawn_people[index]]) // PART)
        for entry in order[is_first[order]].tolist():
            item = release.by_record.item[entry]
            if held_out == most:
                break
            if support[item] > 1:
                support[item] -= 1
                held_out += 1
                entries.append(entry)
                person.append(index)
    if not entries:
        raise ParameterError(
            f"utility needs people with at least {LEAST_ITEMS} items, and items that others have too: "
            "this release has none"
        )
    entry = np.array(entries)
    tested, person_index = np.unique(np.array(person), return_inverse=True)
    group = np.cumsum(is_first) - 1
    held_out_as = np.full(group[-1] + 1, -1)
    held_out_as[group[entry]] = np.arange(len(entry))
    owner = held_out_as[group]
    every = np.flatnonzero(owner >= 0)  # all entries of a held-out item
    numbers = entry_numbers(release, every, level_numbers(release))
    item, value = release.by_record.item[entry].astype(np.int64), _known_means(numbers, owner[every], len(entry))
    return HeldOutEntries(_without(release, owner < 0), drawn_people[tested], person_index, item, value)


def _known_means(numbers: Floats, group: Ints, count: int) -> Floats:
    """Mean of the known numbers of each group 0 … count - 1; NaN without any."""
    known = ~np.isnan(numbers)
    n = np.bincount(group, known, count)
    return np.where(n > 0, np.bincount(group, np.where(known, numbers, 0.0), count) / np.maximum(n, 1), np.nan)


def level_numbers(release: Release) -> Floats:
    """Return the number of each value code, and NaN for the code of a missing value; categories are NaN."""
    levels = release.levels
    numbers = levels if isinstance(levels, np.ndarray) else np.full(release.n_levels, np.nan)
    return np.append(numbers, np.nan)


def _without(release: Release, keep: Any) -> Release:
    """The release with these entries only; every record and every item keeps at least one."""
    kept = entries_at(release.by_record, keep, offsets(keep)[release.by_record.start])
    rest, levels, clock = drop_unused_codes(kept, release.levels, release.clock)
    by_item = pack_by_item(rest, release.n_items, levels, clock)
    return replace(release, levels=levels, clock=clock, by_record=rest, by_item=by_item, stored=None)


# Estimates with the influence of each person, so that differences and ratios keep their intervals.
#
# Two means over the same people are not independent: a person who is hard to predict moves both. The influence
# of a person is what that person adds to a number, to first order. It is carried through differences and
# ratios; their interval is Student's, from the variance of the influences  [the delta method].


@dataclass(frozen=True, eq=False, slots=True)
class InfluenceEstimate:
    """A number and the influence of each person it was measured on; influences sum to 0.

    >>> before = InfluenceEstimate.mean(np.array([1.0, 0.4, 0.6]))
    >>> after = InfluenceEstimate.mean(np.array([0.5, 0.2, 0.3]))
    >>> print((after / before).estimate(), after.estimate(), sep="; ")
    0.500 (0.500 to 0.500, n = 3); 0.333 (-0.046 to 0.713, n = 3)
    """

    value: float
    influence: Floats

    @classmethod
    def mean(cls, values: Floats) -> "InfluenceEstimate":
        """Mean over people."""
        mean = float(values.mean())
        return cls(mean, values - mean)

    def root(self) -> "InfluenceEstimate":
        """Square root."""
        value = math.sqrt(self.value)
        influence = self.influence / (2 * value) if value else np.zeros_like(self.influence)
        return InfluenceEstimate(value, influence)

    def __sub__(self, other: "InfluenceEstimate") -> "InfluenceEstimate":
        return InfluenceEstimate(self.value - other.value, self.influence - other.influence)

    def __truediv__(self, other: "InfluenceEstimate") -> "InfluenceEstimate":
        ratio = self.value / other.value
        return InfluenceEstimate(ratio, (self.influence - ratio * other.influence) / other.value)

    def share_of(self, gain: "InfluenceEstimate") -> Estimate | None:
        """Share of a gain that is left; None if there was no gain beyond sampling error."""
        return (self / gain).estimate(0.0) if gain.value > 0 and gain.estimate().low > 0 else None

    def estimate(self, baseline: float | None = None) -> Estimate:
        """Number with its 95 % interval."""
        n = len(self.influence)
        if n < 2:
            return Estimate(self.value, -math.inf, math.inf, n, baseline)
        error = math.sqrt(float((self.influence**2).sum()) / (n - 1) / n)
        reach = student(n - 1, CONFIDENCE) * error
        return Estimate(self.value, self.value - reach, self.value + reach, n, baseline)


# Benchmark of releases by a recommender: trained on a release, tested on entries that it never saw.


TOP = 10
"""Number of items that are recommended to a person."""
BATCH = 128
"""Number of people scored at a time."""
TIE = 1e-9
"""Scores that differ by less than this share of the highest are tied: the difference is rounding."""


class RecommenderResult(NamedTuple):
    """Results of a recommender for each test person."""

    hits: Floats  # share of the held-out items among the TOP, where ties are in random order
    popular_hits: Floats  # the same for recommendations by popularity alone
    squared: Floats  # mean squared error of the held-out values; NaN if none has a value


def root_mean(squared: Floats) -> InfluenceEstimate | None:
    """Root mean square error over the people with a held-out value; None if there are none."""
    known = squared[~np.isnan(squared)]
    return InfluenceEstimate.mean(known).root() if len(known) else None


@dataclass(frozen=True, eq=False)
class RecommenderBenchmark:
    """Held-out entries; with `share` below 1, recommenders learn from that share of the records, which is faster."""

    holdout: HeldOutEntries
    share: float = 1.0

    @cached_property
    def untouched(self) -> RecommenderResult:
        """Result of the original without the held-out entries."""
        rest = self.holdout.rest
        return self._train_and_test(rest, level_numbers(rest), np.arange(rest.n_items))

    @cached_property
    def squared_without_release(self) -> Floats:
        """Squared errors of predicting the mean of a person's own values, which needs no release."""
        return self._squared_errors(self._own_mean[self.holdout.person])

    def result(self, safer: Sanitized) -> RecommenderResult:
        """Result of a release that was made from the rest."""
        return self._train_and_test(safer, calibrated_values(safer), safer.mapping.item_codes)

    def _train_and_test(self, release: Release, values: Floats, item_codes: Ints) -> RecommenderResult:
        records, n, held = None, len(self.holdout.people), self.holdout
        if self.share < 1:
            order = generator(0, "utility records").permutation(release.n_records)
            records = np.sort(order[: max(1, round(self.share * release.n_records))])
        # One thread: these matrices are small, and waiting for threads takes many times longer. It also makes
        # the numbers independent of the number of cores.
        with threadpool_limits(1):
            model = train_recommender(release, values, item_codes, records)
            histories, hits = history_matrix(held.rest, None, held.people), np.zeros((2, n))
            for low in range(0, n, BATCH):
                batch = slice(low, low + BATCH)
                is_asked = (held.person >= low) & (held.person < low + BATCH)
                person, item = held.person[is_asked] - low, held.item[is_asked]
                asked = np.bincount(person)
                for by_popularity in (False, True):
                    scores = model.scores(histories[batch], by_popularity)
                    found = np.bincount(person, probability_in_top(scores, person, item))
                    hits[int(by_popularity), batch] = found / asked
            predicted = self._own_mean[held.person]  # if the release has no values
            if not np.isnan(model.mean):
                predicted = np.clip(model.predict(self._values, held.person, held.item), *self._scale)
            return RecommenderResult(hits[0], hits[1], self._squared_errors(predicted))

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
        error = (predicted - self.holdout.value) ** 2
        return _known_means(error, self.holdout.person, len(self.holdout.people))


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
    """The number of each value code on the original scale: the mean of the values that it replaces, 4.3 for "liked"."""
    old, new = level_numbers(safer.original), level_numbers(safer)
    column = safer.original.by_record.value
    levels = [] if safer.levels is None else list(safer.levels)
    if column is None or not levels:
        return np.full(len(levels) + 1, np.nan)
    count = np.bincount(column, minlength=len(old)).astype(np.float64)
    for code, level in enumerate(levels):
        released = enumerate(safer.mapping.released_values)
        replaced = [old_code for old_code, value in released if value == level and count[old_code]]
        if replaced:
            new[code] = np.average(old[replaced], weights=count[replaced])
    return new
