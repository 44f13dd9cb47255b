"""Differences between a sanitized release and its original: popularity, similarity of items, entries."""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array

from standout.core.arrays import Floats, Ints, mean_ranks, offsets
from standout.core.rng import generator
from standout.data_utility.entry_matching import Differences, NumberedEntries, compare_entries
from standout.data_utility.influence import InfluenceEstimate
from standout.data_utility.recommender import history_matrix
from standout.evaluate.estimates import Estimate
from standout.release.distinct_items import distinct_items
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
    The correlation is Spearman's. Shares are shares of all entries, and supports count records. Both are
    counts over the whole release, so they have no interval.
    """
    old, new = original.item_entries.astype(np.float64), _by_item(release.item_entries, item_codes)
    change = float(np.abs(old / old.sum() - new / max(new.sum(), 1.0)).sum()) / 2
    supports = original.support.astype(np.float64), _by_item(release.support, item_codes)
    correlation = _correlation(mean_ranks(supports[0]), mean_ranks(supports[1]))
    return PopularityDistortion(_exact(change, len(old)), _exact(correlation, len(old)))


def _by_item(counts: Ints, item_codes: Ints) -> Floats:
    """Counts of the release's items for each item of the original; 0 for a removed one."""
    return np.where(item_codes < 0, 0, counts[np.maximum(item_codes, 0)]).astype(np.float64)


def _exact(value: float, n: int) -> Estimate:
    return Estimate(value, math.nan, math.nan, n, None)


def _correlation(a: Floats, b: Floats) -> float:
    a, b = a - a.mean(), b - b.mean()
    size = math.sqrt(float((a * a).sum()) * float((b * b).sum()))
    return float((a * b).sum()) / size if size else math.nan


def similarity_change(original: Release, release: Release, item_codes: Ints, seed: int) -> Estimate | None:
    """Root mean square change of the cosine of two items, |a ∩ b| / √(|a| · |b|).

    |a| is the number of records that have an item. A pair is two random items of a random record. The
    baseline is the change if no two items occurred together any more. None if no pair has enough support.
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
    several = np.flatnonzero(release.distinct_items > 1)
    if not len(several):
        return several, several
    records, distinct = draw.choice(several, PAIRS), distinct_items(release.by_record)
    start, length = distinct.start[records], release.distinct_items[records]
    first = draw.integers(length)
    second = (first + draw.integers(1, length)) % length
    items = distinct.item[np.stack([start + first, start + second])]
    pairs = np.sort(items.astype(np.int64), axis=0)
    pairs = np.unique(pairs[:, (release.support[pairs] >= SUPPORT).all(axis=0)], axis=1)
    return pairs[0], pairs[1]


def _cosines(release: Release, a: Ints, b: Ints) -> Floats:
    matrix = csc_array(history_matrix(release))
    both = np.asarray(matrix[:, a].multiply(matrix[:, b]).sum(axis=0))
    return both / np.sqrt(release.support[a] * release.support[b].astype(np.float64))


class EntryDistortion(NamedTuple):
    """Share of people's entries that are in the records that represent them, and how these entries differ.

    If the person has an item a times and the record b times, min(a, b) entries are kept. Differences of
    values are on the original's scale, those of times in days; None if no entry has both. Repeated entries
    are matched such that the differences are as small as possible, separately for values and for times.
    """

    kept: Estimate
    value_difference: Estimate | None
    time_difference: Estimate | None


def entry_distortion(safer: Sanitized, people: Ints, old: Floats, new: Floats) -> EntryDistortion:
    """Compare the entries of people with those of their representatives.

    `people` are indices in the original; `old` and `new` are the numbers of the value codes of the original
    and of the release.
    """
    original = safer.original
    entry, start = _entries_of(original, people)
    items = safer.mapping.item_codes[original.by_record.item[entry]]
    released, released_start = _entries_of(safer, safer.mapping.representatives[people])
    released_items = safer.by_record.item[released].astype(np.int64)

    def compare(numbers: Floats, released_numbers: Floats) -> Differences:
        return compare_entries(
            NumberedEntries(start, items, numbers),
            NumberedEntries(released_start, released_items, released_numbers),
        )

    kept = compare(np.zeros(len(entry)), np.zeros(len(released))).matched / np.diff(start)
    values = compare(_numbers(original, entry, old), _numbers(safer, released, new))
    times = compare(_days(original, entry), _days(safer, released))
    return EntryDistortion(
        InfluenceEstimate.mean(kept).estimate(1.0), _mean_per_person(values), _mean_per_person(times)
    )


def _entries_of(release: Release, records: Ints) -> tuple[Ints, Ints]:
    """Entries of these records, and where those of each begin; a record -1 has none."""
    length = np.where(records < 0, 0, release.lengths[np.maximum(records, 0)])
    start = offsets(length)
    begin = release.by_record.start[np.maximum(records, 0)]
    return np.arange(start[-1]) + np.repeat(begin - start[:-1], length), start


def _numbers(release: Release, entry: Ints, numbers: Floats) -> Floats:
    """Values of entries as numbers."""
    column: Codes | None = release.by_record.value
    return numbers[np.full(len(entry), len(numbers) - 1) if column is None else column[entry]]


def _days(release: Release, entry: Ints) -> Floats:
    """Times of entries in days since 1970; NaN where there is none."""
    column: Codes | None = release.by_record.time
    if column is None or release.clock is None:
        return np.full(len(entry), np.nan)
    code = column[entry].astype(np.int64)
    days = (code + release.clock.origin) * days_per_unit(release)
    return np.asarray(np.where(code == release.span, np.nan, days))


def _mean_per_person(differences: Differences) -> Estimate | None:
    """Mean over people of their mean difference; None if nobody has any."""
    has_any = differences.matched > 0
    if not has_any.any():
        return None
    means = differences.total[has_any] / differences.matched[has_any]
    return InfluenceEstimate.mean(means).estimate(0.0)
