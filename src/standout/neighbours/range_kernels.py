"""Nearest neighbours by time, or by values with many levels: a tile's entries in buckets.

An entry is similar to a known one if it has the same item and its key, a time or a level, is in a range.
Such entries are in a few buckets of the tile; each is checked, and counted by lane. Records whose count may
matter are then compared by their shared items, which the bitmap gives.
"""

from typing import NamedTuple

import numpy as np

from standout.core.jit import Array, Int, kernel, subroutine
from standout.core.simd import PLANE_BITS, any_counter_reaches, count_rows, prefetch
from standout.neighbours.bitmap_kernels import (
    TILE,
    Batch,
    Best,
    Entries,
    LevelRanges,
    Search,
    Tile,
    Work,
    count_at,
    digits_of,
    gather_rows,
    is_nearer,
    least_needed,
)

__all__ = [
    "Buckets",
    "KeyRanges",
    "RangedTile",
    "RangedWork",
    "choose_buckets",
    "fill_buckets",
    "nearest_in_ranges",
]

U = np.uint64
U1 = U(1)
LANE_BITS = TILE.bit_length() - 1
ENTRIES_PER_BUCKET = 2
"""Mean number of entries of an item in a bucket, at least."""
LINES, LINE = 4, 16
"""Number of cache lines to prefetch before counting, and words per line."""


class KeyRanges(NamedTuple):
    """Which keys are similar: up to `reach` apart, or levels.low[key] … levels.high[key] if it is negative.

    missing       the key of an entry without one: no entry is similar to it, and it is not compared
    second_bits   number of bits of a level that must also be in its range; 0 if there is none
    """

    levels: LevelRanges
    reach: int
    missing: int
    second_bits: int


class Buckets(NamedTuple):
    """A tile's entries: key k of item i is in bucket j = base[i] + (k >> shift[i]).

    The bucket's words are word[first[j]] … word[first[j + 1] - 1]. A word holds, from the low bits up, the
    lane, the level that must also agree, and the key.
    """

    base: Array
    shift: Array
    first: Array
    word: Array


class RangedTile(NamedTuple):
    """A tile with its entries in buckets."""

    tile: Tile
    ranges: KeyRanges
    buckets: Buckets


class RangedWork(NamedTuple):
    """The arrays of one thread.

    work         those for counting by bitmaps
    counter      similar entries by lane; limit: what the counters must reach
    begin, end   where the similar entries of each entry are looked up
    """

    work: Work
    counter: Array
    limit: Array
    begin: Array
    end: Array

    @classmethod
    def of(cls, longest: int) -> "RangedWork":
        """Arrays for records of up to this length."""
        kind = np.uint16 if longest < np.iinfo(np.uint16).max else np.uint32
        begin, end = np.zeros(longest, np.int64), np.zeros(longest, np.int64)
        return cls(Work.of(longest), np.zeros(TILE, kind), np.zeros(TILE, kind), begin, end)


@kernel
def choose_buckets(entries: Entries, records: Array, missing: Int, base: Array, shift: Array) -> Int:
    """Choose the buckets of each item; return how many there are in all."""
    start, items = entries.start, entries.item
    n, count = 0, np.zeros(len(base), np.int64)
    for record in records:
        for p in range(start[record], start[record + 1]):
            count[items[p]] += 1
    for item in range(len(base)):
        buckets, bits = max(1, count[item] // ENTRIES_PER_BUCKET), 0
        while (missing >> bits) >= buckets:
            bits += 1
        base[item], shift[item] = n, bits
        n += (missing >> bits) + 1
    return n


@kernel
def fill_buckets(entries: Entries, records: Array, second_bits: Int, buckets: Buckets) -> None:
    """Sort the entries of a tile into their buckets."""
    start, items, second, key = entries
    base, shift, first, word = buckets
    first[:] = 0
    for record in records:
        for p in range(start[record], start[record + 1]):
            item = items[p]
            first[base[item] + np.int64(U(key[p]) >> U(shift[item])) + 2] += 1
    for j in range(2, len(first)):
        first[j] += first[j - 1]
    for lane in range(len(records)):
        record = records[lane]
        for p in range(start[record], start[record + 1]):
            item = items[p]
            bucket = base[item] + np.int64(U(key[p]) >> U(shift[item])) + 1
            code = (U(key[p]) << U(second_bits)) | (U(second[p]) if second_bits else U(0))
            word[first[bucket]] = (code << U(LANE_BITS)) | U(lane)
            first[bucket] += 1


@kernel
def nearest_in_ranges(
    search: Search, batch: Batch, ranged: RangedTile, thread: RangedWork, best: Best, tile_best: Best
) -> None:
    """Search a tile for nearer neighbours of a batch, as `nearest_in_tile` does."""
    entries, searching, over_first, mutual = search
    begin, end = batch
    start, tile = entries.start, ranged.tile
    records, length, least, most, head, _, bits, rows, _ = tile
    _, common, ends, _, digits, _, _ = thread.work
    counter, limit = thread.counter, thread.limit
    similar, union, neighbour = best
    tile_similar, tile_union, tile_neighbour = tile_best
    columns = len(least)
    gather_rows(search, batch, tile, False, common, ends[1])
    shortest = start[searching[begin] + 1] - start[searching[begin]]
    high = digits_of(start[searching[end - 1] + 1] - start[searching[end - 1]])
    middle = np.searchsorted(most, shortest)
    limit[:] = ~limit.dtype.type(0)
    if mutual:
        _set_limits(tile_best, length, shortest, searching[begin:end].min(), limit)
    for q in range(begin, end):
        record, i = searching[q], q - begin
        record_length = start[record + 1] - start[record]
        _count_similar(entries, record, ranged, thread)
        for step in range(columns - middle if mutual else columns):
            k = middle + step if middle + step < columns else columns - 1 - step
            is_before = neighbour[q] < head[k]
            needed = least_needed(
                similar[q],
                union[q],
                is_before,
                record_length,
                least[k],
                only_items=False,
                over_first=over_first,
            )
            if not any_counter_reaches(counter, k * PLANE_BITS, needed, limit):
                continue
            if not over_first:
                count_rows(bits, common, ends[1, i], ends[1, i + 1], k * rows, digits, high)
            for lane in range(k * PLANE_BITS, min((k + 1) * PLANE_BITS, len(records))):
                count = np.int64(counter[lane])
                if count < min(needed, np.int64(limit[lane])) or records[lane] == record:
                    continue
                total = (
                    record_length
                    if over_first
                    else record_length + length[lane] - count_at(digits, lane, high)
                )
                if is_nearer(count, total, records[lane], similar[q], union[q], neighbour[q]):
                    similar[q], union[q], neighbour[q] = count, total, records[lane]
                if mutual and is_nearer(
                    count, total, record, tile_similar[lane], tile_union[lane], tile_neighbour[lane]
                ):
                    tile_similar[lane], tile_union[lane], tile_neighbour[lane] = count, total, record


@subroutine
def _set_limits(tile_best: Best, length: Array, record_length: Int, foremost: Int, limit: Array) -> None:
    """Write the limits of a tile.

    The limit of a lane is the number of items that a record of this length must share with the lane's record
    to be as near as its nearest neighbour.
    """
    similar, union, neighbour = tile_best
    for lane in range(len(length)):
        is_before, most = neighbour[lane] < foremost, np.int64(~limit.dtype.type(0))
        needed = least_needed(
            similar[lane],
            union[lane],
            is_before,
            length[lane],
            record_length,
            only_items=False,
            over_first=False,
        )
        limit[lane] = min(needed, most)


@subroutine
def _count_similar(entries: Entries, record: Int, ranged: RangedTile, thread: RangedWork) -> None:
    """Count by lane the entries that are similar to those of a record.

    All ranges are looked up first and counted afterwards, so that the cache is waited for once, not for each
    entry.
    """
    start, items, second, key = entries
    _, ranges, buckets = ranged
    levels, _, _, second_bits = ranges
    low, high = levels
    base, shift, first, word = buckets
    _, counter, _, begin, end = thread
    counter[:] = 0
    first_entry = U(start[record])
    n = U(start[record + 1]) - first_entry
    for i in range(n):
        item = U(items[first_entry + i])
        least, most = _key_range(np.int64(key[first_entry + i]), ranges)
        bucket, off = U(base[item]), U(shift[item])
        begin[i] = first[bucket + (U(least) >> off)]
        end[i] = first[bucket + (U(most) >> off) + U1]
        for line in range(LINES):
            prefetch(word, begin[i] + line * LINE)
    key_shift, lane_mask = U(LANE_BITS + second_bits), U(TILE - 1)
    level_mask = (U1 << U(second_bits)) - U1
    for i in range(n):
        least, most = _key_range(np.int64(key[first_entry + i]), ranges)
        offset, width = U(least) << key_shift, (U(most - least + 1) << key_shift) - U1
        if second_bits:
            level = second[first_entry + i]
            from_level, up_to = U(low[level]), U(high[level] - low[level])
            for j in range(U(begin[i]), U(end[i])):
                x = U(word[j])
                agrees = ((x >> U(LANE_BITS)) & level_mask) - from_level <= up_to
                counter[x & lane_mask] += (x - offset <= width) & agrees
        else:
            for j in range(U(begin[i]), U(end[i])):
                x = U(word[j])
                counter[x & lane_mask] += x - offset <= width


@subroutine
def _key_range(key: Int, ranges: KeyRanges) -> tuple[Int, Int]:
    """The first and the last key that is similar to a known one; all keys if it is missing."""
    levels, reach, missing, _ = ranges
    if key == missing:
        return 0, missing
    if reach < 0:
        return levels.low[key], levels.high[key]
    return max(key - reach, 0), min(key + reach, missing - 1)
