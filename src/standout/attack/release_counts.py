"""What a release looks like as a whole, for attacks that compare a record with any other: counted once.

Counts are kept as long as the release. All counts can leave one record out, so that an attack on an absent
target sees what it would see if the release had been made without that record.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Bools, Floats, Ints, offsets, read_only
from standout.core.errors import StoreError
from standout.core.jit import Array, Flag, Int, kernel, subroutine
from standout.core.threads import Part, even_parts, executor_of, thread_count
from standout.data.build import count_codes
from standout.data.entries import block_count, record_range
from standout.data.labels import SECONDS
from standout.data.release import INVALID_CODE, Release
from standout.know.lookup_tables import Tables, time_similarity

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
    ranges = EntryRanges(np.empty(len(record), np.int64), np.empty(len(record), np.int64))
    _find_all(release.by_record.start, release.by_record.item, record, item, *ranges)
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
        kept, time, used = (
            np.full(release.n_records, -1, np.int32),
            release.by_record.time,
            np.flatnonzero(release.lengths),
        )
        if time is not None and len(used):
            first = np.minimum.reduceat(time, release.by_record.start[used]).astype(np.int64)
            kept[used] = np.where(first < release.span, first, -1)
        vars(release)["_first_times"] = kept = read_only(kept)
    return np.asarray(kept)


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
    value: Array, time: Array, n_levels: Int, span: Int, first: Array, number: Array, shape: Array, known: Array,
    a: Array, b: Array, off: Array, c: Array, mean: Flag, terms: Array,
) -> Flag:  # fmt: skip
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


MOST_CELLS = 1 << 24
"""Counts by item and level are kept up to this many cells; beyond, items share one distribution of values."""
MOST_BINS = 1 << 22
"""Times are counted in at most this many bins, so that memory does not grow with the span."""
MOST_THREADS = 8
"""Each thread has counts of its own, so memory grows with the threads."""
SESSION_RECORDS = 4096
"""Sessions are looked for in up to this many records, evenly spread."""


@dataclass(frozen=True, eq=False)
class ReleaseCounts:
    """Counts of the entries of one release by value, by item and value, and by time."""

    release: Release

    @classmethod
    def of(cls, release: Release) -> "ReleaseCounts":
        """The counts of a release; the same object for the same release."""
        kept: ReleaseCounts = vars(release).setdefault("_counts", cls(release))
        return kept

    @cached_property
    def _by_level(self) -> Ints:
        """Number of entries by level."""
        if self._by_item is not None:
            return np.asarray(self._by_item.sum(axis=0, dtype=np.int64)[:-1])
        value, n_levels = self.release.by_record.value, self.release.n_levels
        return np.zeros(n_levels, np.int64) if value is None else count_codes(value, n_levels + 1)[:-1]

    @cached_property
    def _by_item(self) -> NDArray[np.int32] | None:
        """Number of entries by item and level, and last without a value; None if these are too many cells."""
        release = self.release
        if release.by_record.value is None or release.n_items * (release.n_levels + 1) > MOST_CELLS:
            return None
        return _sum_over_parts(release, item_level_counts)

    def level_shares(self, exclude: Ints) -> Floats:
        """Share of the levels among all values, a row for each excluded record (-1: none).

        Where no other record has a value, the excluded one counts too.
        """
        release, value = self.release, self.release.by_record.value
        rows = np.tile(self._by_level.astype(np.float64), (len(exclude), 1))
        for row in np.flatnonzero(exclude >= 0):
            assert value is not None
            codes = value[slice(*release.by_record.start[exclude[row] : exclude[row] + 2])]
            rows[row] -= np.bincount(codes, minlength=release.n_levels + 1)[: release.n_levels]
        rows = np.where(rows.any(axis=1, keepdims=True), rows, self._by_level)
        return np.asarray(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1.0))

    def item_levels(self, item: Ints, exclude: Ints) -> Floats | None:
        """Number of entries of each item by level, and last without a value, except the excluded record's."""
        if self._by_item is None:
            return None
        value, rows = self.release.by_record.value, self._by_item[item].astype(np.float64)
        assert value is not None
        first, count = entry_ranges(self.release, exclude, item)
        for place in range(int(count.max(initial=0))):
            row = np.flatnonzero(count > place)
            rows[row, value[first[row] + place].astype(np.int64)] -= 1.0
        return rows

    @cached_property
    def _bin(self) -> int:
        """Number of units of time per bin."""
        return -(-self.release.span // MOST_BINS)

    @cached_property
    def _before(self) -> Floats:
        """Number of entries in the first bins, for each number of bins."""
        return offsets(_sum_over_parts(self.release, time_counts, self._bin)).astype(np.float64)

    def timed(self, exclude: Ints) -> Floats:
        """Number of entries with a time, without those of the excluded record."""
        low, high = np.zeros(len(exclude), np.int64), np.full(len(exclude), self.release.span - 1)
        return self.within(low, high, exclude)

    def within(self, low: Ints, high: Ints, exclude: Ints) -> Floats:
        """Number of entries from time `low` to `high`, both included, without those of an excluded record."""
        span, by_record = self.release.span, self.release.by_record
        first, last = np.clip(low, 0, span), np.clip(high + 1, 0, span)
        own = np.zeros(len(low))
        if by_record.time is not None:
            _count_own(by_record.start, by_record.time, span, self._bin, exclude, first, last, own)
        before, width = self._before, self._bin
        if width > 1:  # within a bin, entries count as evenly spread
            ends = np.minimum(np.arange(len(before)) * width, span).astype(np.float64)
            return np.maximum(np.interp(last, ends, before) - np.interp(first, ends, before) - own, 0.0)
        return np.maximum(before[last] - before[first] - own, 0.0)

    def session_shares(self, exclude: Ints) -> Floats:
        """How often two entries of one record are of the same day: people act in sessions.

        One share for each excluded record, without its entries.
        """
        chosen, pairs = self._day_pairs
        left = np.tile(pairs.sum(axis=0), (len(exclude), 1))
        if len(chosen):
            at = np.minimum(np.searchsorted(chosen, exclude), len(chosen) - 1)
            left -= np.where((chosen[at] == exclude)[:, None], pairs[at], 0.0)
        return np.asarray(left[:, 0] / np.maximum(left[:, 1], 1.0))

    @cached_property
    def _day_pairs(self) -> tuple[Ints, Floats]:
        """Up to SESSION_RECORDS records, and for each the number of pairs of one day, and of all pairs."""
        release = self.release
        by_record, clock = release.by_record, release.clock
        if by_record.time is None or clock is None:
            return np.empty(0, np.int64), np.zeros((0, 2))
        chosen = np.unique(np.linspace(0, release.n_records - 1, SESSION_RECORDS).astype(np.int64))
        day, pairs = SECONDS["day"] // SECONDS[clock.unit], np.zeros((len(chosen), 2))
        for row, record in enumerate(chosen.tolist()):
            time = by_record.time[slice(*by_record.start[record : record + 2])].astype(np.int64)
            days = (time[time < release.span] + clock.origin) // day
            same = np.unique(days, return_counts=True)[1]
            pairs[row] = (same * (same - 1)).sum(), len(days) * (len(days) - 1)
        return chosen, pairs

    def value_spread(self, parts: int = 1) -> float:
        """Distance from the 10 % to the 90 % quantile of the values / parts, at least the smallest step of levels."""
        levels, counts = self.release.levels, np.cumsum(self._by_level)
        if not isinstance(levels, np.ndarray) or len(levels) < 2 or not counts[-1]:
            return 1.0
        low, high = np.searchsorted(counts, np.array([0.1, 0.9]) * counts[-1])
        spread = max(float(levels[high] - levels[low]) / parts, float(np.diff(levels).min()))
        return spread if math.isfinite(spread) else float(np.finfo(np.float64).max)


def _sum_over_parts(release: Release, count: Callable[..., NDArray[Any]], *options: int) -> NDArray[Any]:
    """The counts of a whole release: the sums of those that workers, or else threads, count in its parts."""
    executor = executor_of(release)
    if executor is not None:
        return reduce(np.add, executor.map(count, *options))
    parts = even_parts(block_count(release), min(thread_count(None), MOST_THREADS))
    if len(parts) == 1:
        return count(release, parts[0], *options)
    with ThreadPoolExecutor(len(parts)) as pool:
        return reduce(np.add, pool.map(lambda part: count(release, part, *options), parts))


def _entries_of(release: Release, part: Part) -> slice:
    """Positions of the entries of a part's records among the entries by record."""
    records, start = record_range(release, part), release.by_record.start
    return slice(int(start[records.start]), int(start[records.stop]))


def item_level_counts(release: Release, part: Part) -> NDArray[np.int32]:
    """Number of entries in a part by item and level, and last without a value."""
    entries, value = _entries_of(release, part), release.by_record.value
    assert value is not None
    counts = np.zeros((release.n_items, release.n_levels + 1), np.int32)
    _count_item_levels(release.by_record.item[entries], value[entries], counts)
    return counts


def time_counts(release: Release, part: Part, width: int) -> Ints:
    """Number of entries in a part by time, in bins of this many units."""
    time, counts = release.by_record.time, np.zeros(-(-release.span // width), np.int64)
    if time is not None:
        _count_times(time[_entries_of(release, part)], release.span, width, counts)
    return counts


@kernel
def _count_item_levels(item: Array, value: Array, counts: Array) -> None:
    for i in range(len(item)):
        counts[item[i], value[i]] += 1


@kernel
def _count_times(time: Array, span: Int, width: Int, counts: Array) -> None:
    for i in range(len(time)):
        if time[i] < span:
            counts[time[i] if width == 1 else time[i] // width] += 1


@kernel
def _count_own(
    start: Array, time: Array, span: Int, width: Int, record: Array, first: Array, last: Array, own: Array
) -> None:
    """own[i] = number of entries of record[i] before last[i] but not before first[i]; none for record -1.

    An entry counts as spread over its bin, as in the counts of all entries.
    """
    for i in range(len(record)):
        if record[i] >= 0:
            for p in range(start[record[i]], start[record[i] + 1]):
                code = np.int64(time[p])
                if code < span:
                    begin = code // width * width
                    end = min(begin + width, span)
                    shared = min(last[i], end) - max(first[i], begin)
                    own[i] += max(shared, 0) / (end - begin)
