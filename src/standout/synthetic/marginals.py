"""What one pass over a release says of each person and each item: ratings, dates, bursts. Compiled."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats, Ints
from standout.core.jit import Array, Int, Real, inline, kernel, subroutine
from standout.core.progress import Progress, no_progress
from standout.release.model import Codes, Release

__all__ = ["People", "date_bits", "harmonic", "item_levels", "near_bits", "people"]

STRIDE = 1 << 14
NO_CODES: Codes = np.empty(0, np.uint8)


class People(NamedTuple):
    """A row for each record.

    levels  how many of its entries have each value level
    first, last, timed  the codes of its first and last time, and how many of its entries have one
    near    the probability that two of its entries, drawn at random, lie within so many units: a column for
            each reach; NaN where it has fewer than two times
    """

    levels: Ints
    first: Ints
    last: Ints
    timed: Ints
    near: Floats


def people(release: Release, reaches: Ints, progress: Progress = no_progress) -> People:
    """What each record says; exact: bursts are counted over all its pairs."""
    n, side = release.n_records, release.by_record
    found = People(
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
        here = slice(low, min(low + STRIDE, n))
        if len(value):
            _levels(side.start, value, here.start, here.stop, found.levels)
        if len(time):
            _times(
                side.start, time, here.start, here.stop, reaches, count,
                found.first, found.last, found.timed, found.near,
            )  # fmt: skip
    return found


def item_levels(release: Release) -> Ints:
    """How many entries of each item have each value level."""
    out = np.zeros((release.n_items, release.n_levels + 1), np.int64)
    side = release.by_item
    layout = np.array([side.time_bits, (1 << side.value_bits) - 1, release.n_levels + 1])
    _item_levels(side.start, side.word, layout, out)
    return out[:, :-1]


def date_bits(release: Release, items: Ints, reach: int) -> Floats:
    """For each of these items the bits that a time known to within `reach` units adds.

    The mean over those who have the item of −log2 of the share of the others whose time is as near: as a
    difference of harmonic numbers, (H(n − 1) − H(k)) / ln 2 for k of n − 1 others, which few entries do not
    bias (the logarithm of so small a count would be).
    """
    side, out = release.by_item, np.zeros(len(items))
    layout = np.array([side.time_bits, (1 << side.value_bits) - 1, release.n_levels + 1])
    table = harmonic(int(release.support.max(initial=0)))
    count, below = np.zeros(release.span, np.int64), np.zeros(release.span + 1, np.int64)
    _date_bits(side.start, side.word, layout, items, reach, table, count, below, out)
    return out


def near_bits(counts: Ints, near: NDArray[np.bool_]) -> Floats:
    """The same for values: counts of each level, a row for each item; near[a, b] = two levels are near."""
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
def _levels(start: Array, value: Array, low: Int, high: Int, out: Array) -> None:
    """out[r, v] = how many entries of record r have level v."""
    for record in range(low, high):
        for i in range(start[record], start[record + 1]):
            if value[i] < out.shape[1]:
                out[record, value[i]] += 1


@kernel
def _times(
    start: Array, time: Array, low: Int, high: Int, reaches: Array, count: Array,
    first: Array, last: Array, timed: Array, near: Array,
) -> None:  # fmt: skip
    """Fills the rows of records low … high - 1; `count` is all 0 before and after.

    Days are counted, not sorted: a record's span has about as many of them as it has entries.
    """
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
            _pairs(count[begin : end + 1], n, reaches, near[record])
        count[begin : end + 1] = 0


@inline
def _lower(a: Int, b: Int) -> Int:
    return a if a < b else b


@subroutine
def _pairs(count: Array, n: Int, reaches: Array, out: Array) -> None:
    """out[k] = the share of all pairs of n entries that lie within reaches[k]; count = entries by day."""
    n_days = len(count)
    for k in range(len(reaches)):
        pairs, window, oldest = 0, 0, 0
        for day in range(n_days):
            here = count[day]
            if day - oldest > reaches[k]:
                window -= count[oldest]
                oldest += 1
            pairs += here * window + here * (here - 1) // 2
            window += here
        out[k] = pairs / (n * (n - 1) / 2)


@kernel
def _item_levels(start: Array, word: Array, layout: Array, out: Array) -> None:
    """out[i, v] = how many entries of item i have level v; the last column counts those without a value."""
    time_bits, mask, bank = layout[0], layout[1], layout[2]
    for item in range(len(start) - 1):
        for p in range(start[item], start[item + 1]):
            kind = (np.int64(word[p]) >> time_bits) & mask
            out[item, kind if kind < bank else kind - bank] += 1


@kernel
def _date_bits(
    start: Array, word: Array, layout: Array, items: Array, reach: Int, table: Array, count: Array,
    below: Array, out: Array,
) -> None:  # fmt: skip
    """out[k] = the bits that a time adds for items[k]; below[t] = entries before time t."""
    time_bits, mask, bank = layout[0], layout[1], layout[2]
    span = len(count)
    for k in range(len(items)):
        count[:] = 0
        n = 0
        for p in range(start[items[k]], start[items[k] + 1]):
            here = np.int64(word[p])
            if ((here >> time_bits) & mask) < bank:
                count[here & ((1 << time_bits) - 1)] += 1
                n += 1
        for t in range(span):
            below[t + 1] = below[t] + count[t]
        total = 0.0
        for t in range(span):
            if count[t] > 0:
                others = below[min(t + reach + 1, span)] - below[max(t - reach, 0)] - 1
                total += count[t] * _bits(table, n - 1, others)
        out[k] = total / max(n, 1)


@subroutine
def _bits(table: Array, n: Int, k: Int) -> Real:
    return (table[n] - table[k]) / np.log(2.0)
