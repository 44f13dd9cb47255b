"""Differences between a sanitized release and its original: popularity, similarity of items, entries."""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array

from standout.core.arrays import Floats, Ints, mean_ranks, offsets
from standout.core.jit import Array, Int, Real, kernel, subroutine
from standout.core.rng import generator
from standout.data.entries import distinct_items
from standout.data.release import Codes, Release
from standout.evaluate.estimates import Estimate
from standout.know.sanitized import Sanitized
from standout.know.similarity import days_per_unit
from standout.sanitizing.recommender import InfluenceEstimate, history_matrix

# How the entries of people differ from those of the records that represent them. Compiled.
#
# Entries are matched by item. If a person has an item a times and the record has it b times, min(a, b) of them
# are matched, such that the differences have the smallest possible sum: steps change times and values, so
# nobody can say which of several entries is which. Without repeats there is nothing to choose.


class NumberedEntries(NamedTuple):
    """Entries of some people and a number of each, NaN if it has none; person p has start[p] to start[p + 1].

    Items ascend within a person; -1 is an item that cannot be matched.
    """

    start: Array
    item: Array
    number: Array


class Differences(NamedTuple):
    """For each person, the number of matched entries and the sum of their absolute differences."""

    matched: Ints
    total: Floats


def compare_entries(first: NumberedEntries, second: NumberedEntries) -> Differences:
    """Match entries of the same people that have a number.

    >>> a = NumberedEntries(np.array([0, 3]), np.array([4, 4, 7]), np.array([1.0, 9.0, 2.0]))
    >>> b = NumberedEntries(np.array([0, 2]), np.array([4, 7]), np.array([8.0, np.nan]))
    >>> compare_entries(a, b)
    Differences(matched=array([1]), total=array([1.]))
    """
    people = len(first.start) - 1
    matched, total = np.zeros(people, np.int64), np.zeros(people)
    _compare(first, second, matched, total)
    return Differences(matched, total)


@kernel
def _compare(first: NumberedEntries, second: NumberedEntries, matched: Array, total: Array) -> None:
    for person in range(len(first.start) - 1):
        i, end = first.start[person], first.start[person + 1]
        j, other_end = second.start[person], second.start[person + 1]
        while i < end:
            item, stop = first.item[i], _stop(first.item, i, end)
            while item >= 0 and j < other_end and second.item[j] < item:
                j += 1
            if item >= 0 and j < other_end and second.item[j] == item:
                other_stop = _stop(second.item, j, other_end)
                a, b = _known(first.number[i:stop]), _known(second.number[j:other_stop])
                if len(a) > len(b):
                    a, b = b, a
                if len(a) > 0:
                    matched[person] += len(a)
                    total[person] += _smallest_total(a, b)
                j = other_stop
            i = stop


@subroutine
def _stop(item: Array, i: Int, end: Int) -> Int:
    """Where the entries with the item of entry i end."""
    stop = i + 1
    while stop < end and item[stop] == item[i]:
        stop += 1
    return stop


@subroutine
def _known(numbers: Array) -> Array:
    """The numbers that are not NaN, in ascending order."""
    return np.sort(numbers[~np.isnan(numbers)])


@subroutine
def _smallest_total(a: Array, b: Array) -> Real:
    """Smallest Σ |a[i] - b[f(i)]| over all choices of different f(i); both ascend, and b is not shorter.

    An ascending f is optimal. best[d] is the smallest sum so far with f(i) ≤ i + d.
    """
    best = np.zeros(len(b) - len(a) + 1)
    for i in range(len(a)):
        least = np.inf
        for d in range(len(best)):
            least = min(least, best[d] + abs(a[i] - b[i + d]))
            best[d] = least
    return best[-1]


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
            NumberedEntries(start, items, numbers), NumberedEntries(released_start, released_items, released_numbers)
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
