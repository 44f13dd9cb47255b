"""Nearest neighbours by time, or by values that have many levels: a tile's entries in buckets.

What is similar to a known entry are the entries of the same item whose key, a time or a level, lies in a
range. They are found in a few buckets of the tile, looked at one by one, and counted by lane. Records that
reach what matters are then compared by how much they have in common, which the bitmap says.
"""

from typing import NamedTuple

import numpy as np

from standout.core.jit import Array, Flag, Int, kernel, subroutine
from standout.core.simd import PLANE_BITS, any_counter_reaches, count_rows, prefetch
from standout.neighbours.bitmap_kernels import (
    TILE,
    Best,
    Tile,
    Work,
    count_at,
    digits_of,
    gather,
    is_nearer,
    least_needed,
)

__all__ = ["Buckets", "Range", "Tally", "nearest_ranged", "scatter", "spread"]

U = np.uint64
U1 = U(1)
LANE_BITS = TILE.bit_length() - 1
SHARE = 2
"""How many entries of an item a bucket has, at least on average."""
LINES, LINE = 4, 16
"""The cache is asked for so many lines of words, of so many each, before they are counted."""


class Range(NamedTuple):
    """What is similar: keys up to `reach` apart, or low[key] … high[key] if it is negative.

    missing       the key of an entry without one: nothing is similar to it, and it is not compared
    second_bits   of a level that must lie in low … high too; 0 if there is none
    """

    low: Array
    high: Array
    reach: int
    missing: int
    second_bits: int


class Buckets(NamedTuple):
    """A tile's entries: item i has key k in bucket j = base[i] + (k >> shift[i]).

    The bucket's words are word[first[j]] … word[first[j + 1] - 1]. A word holds, from the low bits up, the
    lane, the level that must agree besides, and the key.
    """

    base: Array
    shift: Array
    first: Array
    word: Array


class Tally(NamedTuple):
    """A thread's own counters by lane, what they must reach, and where a record's entries are looked up."""

    counter: Array
    limit: Array
    begin: Array
    end: Array

    @classmethod
    def of(cls, longest: int) -> "Tally":
        kind = np.uint16 if longest < np.iinfo(np.uint16).max else np.uint32
        ends = [np.zeros(longest, np.int64) for _ in range(2)]
        return cls(np.zeros(TILE, kind), np.zeros(TILE, kind), *ends)


@kernel
def spread(start: Array, other: Array, place: Array, missing: Int, base: Array, shift: Array) -> Int:
    """Chooses the buckets of each item, one for SHARE entries at most; returns how many there are."""
    n, count = 0, np.zeros(len(base), np.int64)
    for record in place:
        for p in range(start[record], start[record + 1]):
            count[other[p]] += 1
    for item in range(len(base)):
        buckets, bits = max(1, count[item] // SHARE), 0
        while (missing >> bits) >= buckets:
            bits += 1
        base[item], shift[item] = n, bits
        n += (missing >> bits) + 1
    return n


@kernel
def scatter(
    start: Array, other: Array, key: Array, second: Array, place: Array, second_bits: Int, buckets: Buckets
) -> None:
    """Sorts the entries of a tile into their buckets."""
    base, shift, first, word = buckets
    first[:] = 0
    for record in place:
        for p in range(start[record], start[record + 1]):
            item = other[p]
            first[base[item] + np.int64(U(key[p]) >> U(shift[item])) + 2] += 1
    for j in range(2, len(first)):
        first[j] += first[j - 1]
    for lane in range(len(place)):
        record = place[lane]
        for p in range(start[record], start[record + 1]):
            item = other[p]
            bucket = base[item] + np.int64(U(key[p]) >> U(shift[item])) + 1
            code = (U(key[p]) << U(second_bits)) | (U(second[p]) if second_bits else U(0))
            word[first[bucket]] = (code << U(LANE_BITS)) | U(lane)
            first[bucket] += 1


@kernel
def nearest_ranged(
    start: Array, other: Array, key: Array, second: Array, asked: Array, tile: Tile, ranges: Range,
    buckets: Buckets, over_first: Flag, mutual: Flag, work: Work, tally: Tally, best: Best, theirs: Best,
    begin: Int, end: Int,
) -> None:  # fmt: skip
    """Looks in a tile for nearer neighbours of a batch, as `nearest` does."""
    place, length, least, most, head, table, bits, rows, kinds = tile
    _, common, ends, _, digits, _, _ = work
    counter, limit = tally.counter, tally.limit
    similar, union, neighbour = best
    their_similar, their_union, their_place = theirs
    columns = len(least)
    gather(start, other, key, asked, begin, end, table, kinds, False, common, ends[1])
    shortest = start[asked[begin] + 1] - start[asked[begin]]
    high = digits_of(start[asked[end - 1] + 1] - start[asked[end - 1]])
    middle = np.searchsorted(most, shortest)
    limit[:] = ~limit.dtype.type(0)
    if mutual:
        _limits(their_similar, their_union, their_place, length, shortest, asked[begin:end].min(), limit)
    for q in range(begin, end):
        record, i = asked[q], q - begin
        own = start[record + 1] - start[record]
        _count(start, other, key, second, record, ranges, buckets, tally)
        for step in range(columns - middle if mutual else columns):
            k = middle + step if middle + step < columns else columns - 1 - step
            stands = neighbour[q] < head[k]
            needed = least_needed(similar[q], union[q], stands, own, least[k], False, over_first)
            if not any_counter_reaches(counter, k * PLANE_BITS, needed, limit):
                continue
            if not over_first:
                count_rows(bits, common, ends[1, i], ends[1, i + 1], k * rows, digits, high)
            for lane in range(k * PLANE_BITS, min((k + 1) * PLANE_BITS, len(place))):
                count = np.int64(counter[lane])
                if count < min(needed, np.int64(limit[lane])) or place[lane] == record:
                    continue
                total = own if over_first else own + length[lane] - count_at(digits, lane, high)
                if is_nearer(count, total, place[lane], similar[q], union[q], neighbour[q]):
                    similar[q], union[q], neighbour[q] = count, total, place[lane]
                if mutual and is_nearer(
                    count, total, record, their_similar[lane], their_union[lane], their_place[lane]
                ):
                    their_similar[lane], their_union[lane], their_place[lane] = count, total, record


@subroutine
def _limits(
    similar: Array, union: Array, place: Array, length: Array, own: Int, foremost: Int, limit: Array
) -> None:
    """What records of this length must share with each of the tile to be as near as their nearest so far."""
    for lane in range(len(length)):
        stands, most = place[lane] < foremost, np.int64(~limit.dtype.type(0))
        needed = least_needed(similar[lane], union[lane], stands, length[lane], own, False, False)
        limit[lane] = min(needed, most)


@subroutine
def _count(
    start: Array, other: Array, key: Array, second: Array, record: Int, ranges: Range, buckets: Buckets,
    tally: Tally,
) -> None:  # fmt: skip
    """Counts by lane the entries that are similar to those of a record.

    First all are looked up, then counted: so the cache is waited for once, not once for each entry.
    """
    low, high, reach, missing, second_bits = ranges
    base, shift, first, word = buckets
    counter, _, begin, end = tally
    counter[:] = 0
    here = U(start[record])
    n = U(start[record + 1]) - here
    for i in range(n):
        item = U(other[here + i])
        least, most = _ends(np.int64(key[here + i]), low, high, reach, missing)
        bucket, off = U(base[item]), U(shift[item])
        begin[i] = first[bucket + (U(least) >> off)]
        end[i] = first[bucket + (U(most) >> off) + U1]
        for line in range(LINES):
            prefetch(word, begin[i] + line * LINE)
    key_at, lanes = U(LANE_BITS + second_bits), U(TILE - 1)
    levels = (U1 << U(second_bits)) - U1
    for i in range(n):
        least, most = _ends(np.int64(key[here + i]), low, high, reach, missing)
        offset, width = U(least) << key_at, (U(most - least + 1) << key_at) - U1
        if second_bits:
            level = second[here + i]
            from_level, up_to = U(low[level]), U(high[level] - low[level])
            for j in range(U(begin[i]), U(end[i])):
                x = U(word[j])
                agrees = ((x >> U(LANE_BITS)) & levels) - from_level <= up_to
                counter[x & lanes] += (x - offset <= width) & agrees
        else:
            for j in range(U(begin[i]), U(end[i])):
                x = U(word[j])
                counter[x & lanes] += x - offset <= width


@subroutine
def _ends(code: Int, low: Array, high: Array, reach: Int, missing: Int) -> tuple[Int, Int]:
    """The first and the last key that is similar to a known one; to one that is not known, all are."""
    if code == missing:
        return 0, missing
    if reach < 0:
        return low[code], high[code]
    return max(code - reach, 0), min(code + reach, missing - 1)
