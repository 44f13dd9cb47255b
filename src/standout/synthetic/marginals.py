"""Counts for each person and each item, from one pass over a release: ratings, dates, bursts. Compiled."""

import math
from typing import Any, NamedTuple

import numpy as np

from standout.core.arrays import Bools, Floats, Ints
from standout.core.jit import Array, Int, Real, inline, kernel, subroutine
from standout.core.progress import Progress, no_progress
from standout.release.model import Codes, Release
from standout.release.postings import Postings

__all__ = ["PersonStatistics", "date_bits", "harmonic", "item_levels", "near_bits", "person_statistics"]

STRIDE = 1 << 14
NO_CODES: Codes = np.empty(0, np.uint8)


class PersonStatistics(NamedTuple):
    """Statistics of each record, one row each.

    levels       number of its entries with each value level
    first, last  codes of its first and last time; -1 if it has none
    timed        number of its entries that have a time
    near         probability that two of its entries are within each reach, one column for each reach; NaN if
                 it has fewer than two times
    """

    levels: Ints
    first: Ints
    last: Ints
    timed: Ints
    near: Floats


def person_statistics(release: Release, reaches: Ints, progress: Progress = no_progress) -> PersonStatistics:
    """Statistics of each record; bursts are counted exactly, over all pairs of its entries."""
    n, side = release.n_records, release.by_record
    statistics = PersonStatistics(
        np.zeros((n, release.n_levels), np.int32),
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.zeros(n, np.int32),
        np.full((n, len(reaches)), np.nan),
    )
    value = NO_CODES if side.value is None else side.value
    time = NO_CODES if side.time is None else side.time
    count = np.zeros(release.span + 1, np.int64)
    for low in range(0, n, STRIDE):
        progress("looking at people", low, n)
        high = min(low + STRIDE, n)
        if len(value):
            _count_levels(side.start, value, low, high, statistics.levels)
        if len(time):
            _fill_times(
                start=side.start,
                time=time,
                low=low,
                high=high,
                reaches=reaches,
                count=count,
                statistics=statistics,
            )
    return statistics


def item_levels(release: Release) -> Ints:
    """Number of entries of each item with each value level."""
    out = np.zeros((release.n_items, release.n_levels + 1), np.int64)
    _count_item_levels(release.by_item, _layout(release), out)
    return out[:, :-1]


def date_bits(release: Release, items: Ints, reach: int) -> Floats:
    """For each of these items, the bits that a time known to within `reach` units adds.

    It is the mean, over the entries of the item, of −log2 of the share of its other entries whose time is as
    near. It is computed as a difference of harmonic numbers, (H(n − 1) − H(k)) / ln 2 for k of n − 1 others,
    which is unbiased for items with few entries. The logarithm of a small count would be biased.
    """
    out = np.zeros(len(items))
    table = harmonic(int(release.item_entries.max(initial=0)))
    _fill_date_bits(
        postings=release.by_item,
        layout=_layout(release),
        items=items,
        reach=reach,
        table=table,
        out=out,
    )
    return out


def _layout(release: Release) -> Ints:
    """How the words of postings are packed: bits of the time, mask of the value, number of value codes."""
    side = release.by_item
    return np.array([side.time_bits, (1 << side.value_bits) - 1, release.n_levels + 1])


def near_bits(counts: Ints, near: Bools) -> Floats:
    """The bits that a value adds, like `date_bits`.

    `counts` has the number of entries with each level, one row for each item; near[a, b] says whether two
    levels are near each other.
    """
    others = np.maximum(counts @ near.astype(np.int64) - 1, 0)
    n = counts.sum(axis=1)
    table = harmonic(int(n.max(initial=0)))
    bits = table[np.maximum(n - 1, 0), None] - table[others]
    return np.asarray((counts * bits).sum(axis=1) / np.maximum(n, 1) / math.log(2))


def harmonic(most: int) -> Floats:
    """The harmonic numbers H(0) … H(most).

    >>> harmonic(3).tolist()
    [0.0, 1.0, 1.5, 1.8333333333333333]
    """
    table = np.zeros(most + 1)
    np.cumsum(1 / np.arange(1, most + 1), out=table[1:])
    return table


@kernel
def _count_levels(start: Array, value: Array, low: Int, high: Int, out: Array) -> None:
    """Set out[r, v] to the number of entries of record r with level v."""
    for record in range(low, high):
        for i in range(start[record], start[record + 1]):
            if value[i] < out.shape[1]:
                out[record, value[i]] += 1


@kernel
def _fill_times(
    start: Array, time: Array, low: Int, high: Int, reaches: Array, count: Array, statistics: Any
) -> None:
    """Fill the time columns of records low … high - 1; `count` is all 0 before and after.

    Days are counted, not sorted: the span of a record has about as many days as the record has entries.
    """
    _, first, last, timed, near = statistics
    span = len(count) - 1
    for record in range(low, high):
        begin, end, n = span, -1, 0
        for i in range(start[record], start[record + 1]):
            moment = np.int64(time[i])
            if moment < span:
                count[moment] += 1
                begin, end, n = _lower(begin, moment), -_lower(-end, -moment), n + 1
        if n == 0:
            continue
        first[record], last[record], timed[record] = begin, end, n
        if n > 1:
            _fill_shares_of_pairs(count[begin : end + 1], n, reaches, near[record])
        count[begin : end + 1] = 0


@inline
def _lower(a: Int, b: Int) -> Int:
    return a if a < b else b


@subroutine
def _fill_shares_of_pairs(count: Array, n: Int, reaches: Array, out: Array) -> None:
    """Set out[k] to the share of pairs of n entries that are within reaches[k]; count = entries by day."""
    n_days = len(count)
    for k in range(len(reaches)):
        pairs, window, oldest = 0, 0, 0
        for day in range(n_days):
            today = count[day]
            if day - oldest > reaches[k]:
                window -= count[oldest]
                oldest += 1
            pairs += today * window + today * (today - 1) // 2
            window += today
        out[k] = pairs / (n * (n - 1) / 2)


@kernel
def _count_item_levels(postings: Postings, layout: Array, out: Array) -> None:
    """Set out[i, v] to the number of entries of item i with level v; the last column is for no value."""
    time_bits, mask, bank = layout[0], layout[1], layout[2]
    run, begin, end, word = postings.run, postings.begin, postings.end, postings.word
    for item in range(len(run) - 1):
        for j in range(run[item], run[item + 1]):
            for p in range(begin[j], end[j]):
                kind = (np.int64(word[p]) >> time_bits) & mask
                out[item, kind if kind < bank else kind - bank] += 1


@kernel
def _fill_date_bits(
    postings: Postings, layout: Array, items: Array, reach: Int, table: Array, out: Array
) -> None:
    """Set out[k] to the bits that a time adds for items[k]."""
    time_bits, mask, bank = layout[0], layout[1], layout[2]
    start, run, begin, end, word = postings.start, postings.run, postings.begin, postings.end, postings.word
    for k in range(len(items)):
        times, n = np.empty(start[items[k] + 1] - start[items[k]], np.int64), 0
        for j in range(run[items[k]], run[items[k] + 1]):
            for p in range(begin[j], end[j]):
                posting = np.int64(word[p])
                if ((posting >> time_bits) & mask) < bank:
                    times[n] = posting & ((1 << time_bits) - 1)
                    n += 1
        times = np.sort(times[:n])
        total, low, high, at = 0.0, 0, 0, 0
        while at < n:
            last = at
            while last < n and times[last] == times[at]:
                last += 1
            while times[low] < times[at] - reach:
                low += 1
            while high < n and times[high] <= times[at] + reach:
                high += 1
            total += (last - at) * _bits(table, n - 1, high - low - 1)
            at = last
        out[k] = total / max(n, 1)


@subroutine
def _bits(table: Array, n: Int, k: Int) -> Real:
    return (table[n] - table[k]) / np.log(2.0)
