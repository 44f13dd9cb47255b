"""Differences between a sanitized release and its original: popularity, similarity of items, entries."""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array

from standout.core.arrays import Bools, Floats, Ints, mean_ranks
from standout.core.rng import generator
from standout.data_utility.influence import InfluenceEstimate
from standout.data_utility.recommender import history_matrix
from standout.evaluate.estimates import Estimate
from standout.release.model import Codes, Release
from standout.sanitized import Sanitized
from standout.similarity.attributes import days_per_unit

__all__ = [
    "EntryDistortion",
    "PopularityDistortion",
    "entry_distortion",
    "popularity_distortion",
    "similarity_change",
]

PAIRS, SUPPORT = 1000, 5
"""Number of pairs of items that are compared, and the smallest number of records that have each item."""


class PopularityDistortion(NamedTuple):
    """Change of the items' shares of all entries, and rank correlation of their supports; no intervals."""

    change: Estimate
    correlation: Estimate


def popularity_distortion(original: Release, release: Release, item_codes: Ints) -> PopularityDistortion:
    """Compare the popularity of items; a removed item has support 0.

    The change is half of Σ |share − share before| over items: 0 if they are equal, 1 if nothing is in common.
    The correlation is Spearman's. Both are counts over all entries, so they have no interval.
    """
    old = original.support.astype(np.float64)
    new = np.where(item_codes < 0, 0, release.support[np.maximum(item_codes, 0)]).astype(np.float64)
    change = float(np.abs(old / old.sum() - new / max(new.sum(), 1.0)).sum()) / 2
    correlation = _correlation(mean_ranks(old), mean_ranks(new))
    return PopularityDistortion(_exact(change, len(old)), _exact(correlation, len(old)))


def _exact(value: float, n: int) -> Estimate:
    return Estimate(value, math.nan, math.nan, n, None)


def _correlation(a: Floats, b: Floats) -> float:
    a, b = a - a.mean(), b - b.mean()
    size = math.sqrt(float((a * a).sum()) * float((b * b).sum()))
    return float((a * b).sum()) / size if size else math.nan


def similarity_change(original: Release, release: Release, item_codes: Ints, seed: int) -> Estimate | None:
    """Root mean square change of the cosine of two items, |a ∩ b| / √(|a| · |b|).

    A pair is two random items of a random record. The baseline is the change if no two items occurred
    together any more. None if no pair has enough support.
    """
    a, b = _item_pairs(original, seed)
    if not len(a):
        return None
    before = _cosines(original, a, b)
    is_present = (item_codes[a] >= 0) & (item_codes[b] >= 0)
    after = np.zeros_like(before)
    after[is_present] = _cosines(release, item_codes[a[is_present]], item_codes[b[is_present]])
    baseline = float(np.sqrt((before**2).mean()))
    return InfluenceEstimate.mean((after - before) ** 2).root().estimate(baseline)


def _item_pairs(release: Release, seed: int) -> tuple[Ints, Ints]:
    draw = generator(seed, "utility pairs")
    records = draw.choice(np.flatnonzero(release.lengths > 1), PAIRS)
    start, length = release.by_record.start[records], release.lengths[records]
    first = draw.integers(length)
    second = (first + draw.integers(1, length)) % length
    items = release.by_record.item[np.stack([start + first, start + second])]
    pairs = np.sort(items.astype(np.int64), axis=0)
    pairs = np.unique(pairs[:, (release.support[pairs] >= SUPPORT).all(axis=0)], axis=1)
    return pairs[0], pairs[1]


def _cosines(release: Release, a: Ints, b: Ints) -> Floats:
    matrix = csc_array(history_matrix(release))
    both = np.asarray(matrix[:, a].multiply(matrix[:, b]).sum(axis=0))
    return both / np.sqrt(release.support[a] * release.support[b].astype(np.float64))


class EntryDistortion(NamedTuple):
    """Share of people's entries that are in the records that represent them, and how these entries differ.

    Differences of values are on the original's scale, those of times in days; None if no entry has both.
    """

    kept: Estimate
    value_difference: Estimate | None
    time_difference: Estimate | None


def entry_distortion(safer: Sanitized, people: Ints, old: Floats, new: Floats) -> EntryDistortion:
    """Compare the entries of people with those of their representatives.

    `people` are indices in the original; `old` and `new` are the numbers of the value codes of the original
    and of the release.
    """
    original, by_record = safer.original, safer.original.by_record
    length = original.lengths[people]
    person = np.repeat(np.arange(len(people)), length)
    entry = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length - by_record.start[people], length)
    records, items = safer.mapping.representatives[people], safer.mapping.item_codes[by_record.item[entry]]
    released = _released_entries(safer, records, items, length)
    is_kept = released >= 0
    value = _numbers(by_record.value, entry, old) - _numbers(safer.by_record.value, released, new)
    days = _days(original, by_record.time, entry) - _days(safer, safer.by_record.time, released)
    kept = np.bincount(person, is_kept, len(people)) / length
    return EntryDistortion(
        InfluenceEstimate.mean(kept).estimate(1.0),
        _mean_per_person(np.abs(value), person, is_kept),
        _mean_per_person(np.abs(days), person, is_kept),
    )


def _released_entries(release: Release, records: Ints, items: Ints, length: Ints) -> Ints:
    """Find the items of people, `length` for each, among the entries of these records; -1: not there."""
    by_record, ends, entry = release.by_record, np.cumsum(length), np.full(len(items), -1)
    for record, end, count in zip(records.tolist(), ends.tolist(), length.tolist(), strict=True):
        if record < 0:
            continue
        start, wanted = by_record.start[record], items[end - count : end]
        present = by_record.item[start : by_record.start[record + 1]]
        nearest = np.minimum(np.searchsorted(present, np.maximum(wanted, 0)), len(present) - 1)
        entry[end - count : end] = np.where(present[nearest] == wanted, start + nearest, -1)
    return entry


def _numbers(column: Codes | None, entry: Ints, numbers: Floats) -> Floats:
    """Values of entries as numbers; NaN for entry -1."""
    code = np.full(len(entry), len(numbers) - 1) if column is None else column[np.maximum(entry, 0)]
    return np.asarray(np.where(entry < 0, np.nan, numbers[code]))


def _days(release: Release, column: Codes | None, entry: Ints) -> Floats:
    """Times of entries in days since 1970; NaN where there is none."""
    if column is None or release.clock is None:
        return np.full(len(entry), np.nan)
    code = column[np.maximum(entry, 0)].astype(np.int64)
    days = (code + release.clock.origin) * days_per_unit(release)
    return np.asarray(np.where((entry < 0) | (code == release.span), np.nan, days))


def _mean_per_person(difference: Floats, person: Ints, is_kept: Bools) -> Estimate | None:
    """Mean over people of their mean difference; None if nobody has any."""
    known = is_kept & ~np.isnan(difference)
    count = np.bincount(person, known)
    total = np.bincount(person, np.where(known, difference, 0.0))
    has_any = count > 0
    if not has_any.any():
        return None
    return InfluenceEstimate.mean(total[has_any] / count[has_any]).estimate(0.0)
