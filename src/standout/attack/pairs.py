"""Chosen records: whether they have an item, how similar their entries are to a fact, and when they begin.

Where a record has an item several times, its entries of the item follow one another among the entries by
record, in the same order as in the postings: sums over them have the same bits here and in the engine.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import StoreError
from standout.core.jit import Array, Flag, Int, kernel, subroutine
from standout.data.entries import distinct_entries
from standout.data.release import INVALID_CODE, RecordEntries, Release, read_only
from standout.know.lookup_tables import Tables, time_similarity

__all__ = ["EntryRanges", "Pairs", "distinct_ranges", "entry_ranges", "first_times", "has_item", "similarity_terms"]


NO_CODES = read_only(np.empty(0, np.uint8))


class Pairs(NamedTuple):
    """Facts and records, pair by pair. A fact is its item, and its shape and time in the tables."""

    record: Ints
    item: Ints
    shape: Ints
    time: Ints


class EntryRanges(NamedTuple):
    """Where records have items among the entries by record: the first entry, -1 if none, and how many."""

    first: Ints
    number: Ints


def has_item(release: Release, record: Ints, item: Ints) -> Bools:
    """Whether each record has the item of the same index; record -1 has none."""
    return np.asarray(entry_ranges(release, record, item).first >= 0)


def entry_ranges(release: Release, record: Ints, item: Ints) -> EntryRanges:
    """All entries that each record has of the item of the same index; record -1 has none."""
    return _ranges_among(release.by_record, record, item)


def distinct_ranges(release: Release, record: Ints, item: Ints) -> EntryRanges:
    """The same among the distinct entries."""
    return _ranges_among(distinct_entries(release).entries, record, item)


def _ranges_among(by_record: RecordEntries, record: Ints, item: Ints) -> EntryRanges:
    ranges = EntryRanges(np.empty(len(record), np.int64), np.empty(len(record), np.int64))
    _find_all(by_record.start, by_record.item, record, item, *ranges)
    return ranges


def similarity_terms(release: Release, pairs: Pairs, tables: Tables, mean: bool = False) -> Floats:
    """Sim of each pair, in two terms: one that needs no time and one that does.

    The first is NaN if the record lacks the item. If a record has the item several times, the terms are those
    of its most similar entry; or, for the mean, the logarithm of the mean of e^Sim over them, and 0.
    """
    terms, ranges = np.zeros((2, len(pairs.record))), entry_ranges(release, pairs.record, pairs.item)
    value, time = (NO_CODES if column is None else column for column in release.by_record[2:])
    shapes = pairs.shape, pairs.time, tables.a, tables.b, tables.off, tables.c
    if not _terms(value, time, release.n_levels, release.span, *ranges, *shapes, mean, terms):
        raise StoreError(INVALID_CODE)
    return terms


def first_times(release: Release) -> NDArray[np.int32]:
    """The earliest time of every record, -1 where it has none; kept with the release."""
    kept = vars(release).get("_first_times")
    if kept is None:
        kept = np.full(release.n_records, -1, np.int32)
        if release.by_record.time is not None and release.clock is not None:
            _begins(release.by_record.start, release.by_record.time, release.clock.span, kept)
        vars(release)["_first_times"] = kept = read_only(kept)
    assert isinstance(kept, np.ndarray)
    return kept


@kernel
def _begins(start: Array, time: Array, missing: Int, first: Array) -> None:
    for record in range(len(start) - 1):
        for i in range(start[record], start[record + 1]):
            code = np.int64(time[i])
            if code < missing and (first[record] < 0 or code < first[record]):
                first[record] = code


@kernel
def _find_all(start: Array, items: Array, record: Array, item: Array, first: Array, count: Array) -> None:
    for i in range(len(record)):
        first[i], count[i] = -1, 0
        if record[i] >= 0 and item[i] >= 0:
            stop = start[record[i] + 1]
            low = _bisect(items, start[record[i]], stop, item[i])
            if low < stop and items[low] == item[i]:
                first[i] = low
                after = low + 1
                if after < stop and items[after] == item[i]:
                    after = _bisect(items, after, stop, item[i] + 1)
                count[i] = after - low


@subroutine
def _bisect(items: Array, low: Int, high: Int, item: Int) -> Int:
    while low < high:
        middle = (low + high) // 2
        if np.int64(items[middle]) < item:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _terms(
    value: Array,
    time: Array,
    n_levels: Int,
    span: Int,
    first: Array,
    number: Array,
    shape: Array,
    known: Array,
    a: Array,
    b: Array,
    off: Array,
    c: Array,
    mean: Flag,
    terms: Array,
) -> Flag:
    """Write the terms; return whether every code is valid. The same arithmetic as in `engine_kernels`."""
    for i in range(len(shape)):
        terms[0, i] = np.nan
        u, best, total, last, likely = shape[i], -1.0, 0.0, -np.inf, 0.0
        for at in range(first[i], first[i] + number[i]):
            kind = np.int64(value[at]) if len(value) else np.int64(n_levels)
            moment = np.int64(time[at]) if len(time) else np.int64(0)
            if kind > n_levels or moment > span:
                return False
            if span and moment == span:
                kind, moment = kind + n_levels + 1, np.int64(0)
            now, later = a[u, kind], b[u, kind] * time_similarity(c, np.uint64(off[u, kind] + moment - known[i]))
            if mean and number[i] > 1:
                if now + later != last:
                    last = now + later
                    likely = math.exp(last)
                total += likely
            elif max(now, 0.0) + max(later, 0.0) > best:
                best = max(now, 0.0) + max(later, 0.0)
                terms[0, i], terms[1, i] = now, later
        if mean and number[i] > 1:
            terms[0, i], terms[1, i] = math.log(total / number[i]), 0.0
    return True
