"""Nearest neighbours by counting the items that agree: tiles of records, 256 of them in a column.

A tile has a bitmap that says which record has which item. Records that search for their neighbours come in batches of
about the same length and are compared with one column after the other, so that the column's part of the bitmap
stays in the cache. The nearest neighbour so far and the lengths in a column give the count that a record of the
column must reach to matter; most columns have no such record.

If values or times are compared, an entry is similar to a known one if it has the same item and its key, a time or a
level, is in a range. Such entries are in a few buckets of the tile; each is checked, and counted by lane. The bitmap
then gives the shared items of the records whose count may matter.
"""

import math
from typing import NamedTuple

import numpy as np

from standout.core.arrays import Floats, Ints
from standout.core.jit import Array, Flag, Int, Real, inline, kernel, subroutine

U = np.uint64
NO_BITS, ALL_BITS = U(0), U(2**64 - 1)
PLANE_WORDS, LOW_PLANES, ROW_GROUP = 4, 4, 16
PLANE_BITS = 64 * PLANE_WORDS
LANE_BITS = 13
TILE = 1 << LANE_BITS
"""Maximum number of records in a tile."""
BATCH, BATCH_ENTRIES = 1 << 11, 1 << 16
"""Maximum number of records in a batch, and of entries unless it is a single record."""
ENTRIES_PER_BUCKET = 2
"""Mean number of entries of an item in a bucket, at least."""
SLACK = 1e-13
"""Larger than the rounding of quotients of whole numbers, and smaller than their distances."""


class Nearest(NamedTuple):
    """The similarity of each record's nearest neighbour, and its index; 0 and -1 if there is none."""

    similarity: Floats
    record: Ints

    @classmethod
    def of(cls, count: int) -> "Nearest":
        """No neighbours yet."""
        return cls(np.zeros(count), np.full(count, -1, np.int64))

    def select(self, index: Ints | slice) -> "Nearest":
        """These records."""
        return Nearest(self.similarity[index], self.record[index])


class Entries(NamedTuple):
    """The entries by record: items, the keys to look up, and levels if these must agree too."""

    start: Array
    item: Array
    key: Array
    level: Array


class Ranges(NamedTuple):
    """Which keys are similar: up to `reach` apart, or low[key] … high[key] if it is negative.

    missing      the key of an entry without one: no entry is similar to it, and it is not compared
    level_bits   number of bits of a level that must also be in its range; 0 if there is none
    """

    low: Ints
    high: Ints
    reach: int
    missing: int
    level_bits: int


class Tile(NamedTuple):
    """Some records in columns of 256 lanes, shortest first.

    record        by lane, the record; length: its length
    least, most   by column, the shortest and the longest length; head: the first record of the release
    row           by item, the row of the bitmap; 0, an empty row, if no record has it
    bits          the bitmap: `rows` vectors for each column
    """

    record: Array
    length: Array
    least: Array
    most: Array
    head: Array
    row: Array
    bits: Array
    rows: int


class Buckets(NamedTuple):
    """A tile's entries: key k of item i is in bucket j = base[i] + (k >> shift[i]).

    The bucket's words are word[first[j]] … word[first[j + 1] - 1]. A word holds, from the low bits up, the lane, the
    level that must also agree, and the key.
    """

    base: Array
    shift: Array
    first: Array
    word: Array


class Work(NamedTuple):
    """The arrays of one thread.

    row, ends    bitmap rows of a batch's entries in whole groups; its i-th record's are ends[i] … ends[i + 1]
    planes       counters of shared items, by binary digits
    counter      similar entries by lane; begin, end: where those of each entry are looked up
    """

    row: Array
    ends: Array
    planes: Array
    counter: Array
    begin: Array
    end: Array

    @classmethod
    def of(cls, longest: int) -> "Work":
        """Arrays for records of up to this length."""
        row = np.zeros(max(longest, BATCH_ENTRIES) + (BATCH + 1) * ROW_GROUP, np.uint32)
        counter = np.zeros(TILE, np.uint16 if longest < np.iinfo(np.uint16).max else np.uint32)
        begin, end = np.zeros((2, longest), np.int64)
        return cls(row, np.zeros(BATCH + 1, np.int64), aligned_words(64 * PLANE_WORDS), counter, begin, end)


def aligned_words(count: int) -> Array:
    """An array of words that begins at a multiple of 64 bytes: no vector is in two cache lines."""
    words = np.empty(count + 8, np.uint64)
    first = -(words.ctypes.data // 8) % 8
    return words[first : first + count]


@kernel
def fill_bitmap(entries: Entries, tile: Tile) -> None:
    """Write the bitmap of a tile."""
    for lane in range(len(tile.record)):
        at, record = lane // PLANE_BITS * tile.rows * PLANE_WORDS + ((lane % PLANE_BITS) >> 6), tile.record[lane]
        for p in range(entries.start[record], entries.start[record + 1]):
            tile.bits[at + np.int64(tile.row[entries.item[p]]) * PLANE_WORDS] |= U(1) << (U(lane) & U(63))


# Counting by bits: a plane is one binary digit of 256 counters. A row of a bitmap says which of 256 neighbours
# have an item. A full adder turns three rows of the same weight into one row of that weight and one of twice
# the weight; sixteen rows pass through a tree of adders, and only the carry moves up to the higher planes.


@inline
def _adder(a: Int, b: Int, c: Int) -> tuple[Int, Int]:
    """The sum and the carry of three rows."""
    either = a ^ b
    return either ^ c, (a & b) | (either & c)


@subroutine
def _count_rows(bits: Array, row: Array, begin: Int, end: Int, column: Int, planes: Array, digits: Int) -> None:
    """Count rows row[begin] … row[end - 1] of a column.

    Vector column + row of the bitmap has the bits of a row, vector p of planes becomes the p-th digit of all
    counters. The number of rows is a multiple of ROW_GROUP. There are as many digits as the counters need.
    """
    for i in range(digits * PLANE_WORDS):
        planes[i] = NO_BITS
    x = np.empty(ROW_GROUP, np.uint64)
    for j in range(begin, end, ROW_GROUP):
        for i in range(ROW_GROUP):
            x[i] = U(np.int64(row[j + i]) + column) * U(PLANE_WORDS)
        for w in range(U(PLANE_WORDS)):
            one, two, four = planes[w], planes[w + U(4)], planes[w + U(8)]
            one, two_a = _adder(one, bits[x[0] + w], bits[x[1] + w])
            one, two_b = _adder(one, bits[x[2] + w], bits[x[3] + w])
            two, four_a = _adder(two, two_a, two_b)
            one, two_a = _adder(one, bits[x[4] + w], bits[x[5] + w])
            one, two_b = _adder(one, bits[x[6] + w], bits[x[7] + w])
            two, four_b = _adder(two, two_a, two_b)
            four, eight_a = _adder(four, four_a, four_b)
            one, two_a = _adder(one, bits[x[8] + w], bits[x[9] + w])
            one, two_b = _adder(one, bits[x[10] + w], bits[x[11] + w])
            two, four_a = _adder(two, two_a, two_b)
            one, two_a = _adder(one, bits[x[12] + w], bits[x[13] + w])
            one, two_b = _adder(one, bits[x[14] + w], bits[x[15] + w])
            two, four_b = _adder(two, two_a, two_b)
            four, eight_b = _adder(four, four_a, four_b)
            planes[w], planes[w + U(4)], planes[w + U(8)] = one, two, four
            planes[w + U(12)], carry = _adder(planes[w + U(12)], eight_a, eight_b)
            at = w + U(16)
            while carry != NO_BITS and at < U(digits * PLANE_WORDS):
                plane = planes[at]
                planes[at] = plane ^ carry
                carry &= plane
                at += U(PLANE_WORDS)


@inline
def _lanes_reaching(planes: Array, digits: Int, needed: Int, w: Int) -> Int:
    """A bit for each counter of word w that is at least `needed`, which has no more digits than they."""
    below = NO_BITS
    for p in range(digits):
        plane, common = planes[p * PLANE_WORDS + w], ALL_BITS if (needed >> p) & 1 else NO_BITS
        below = (~plane & common) | (~(plane ^ common) & below)
    return ~below


@inline
def _count_at(planes: Array, lane: Int, digits: Int) -> Int:
    """The counter of a lane."""
    count, w, bit = U(0), (lane % PLANE_BITS) >> 6, U(lane) & U(63)
    for p in range(digits):
        count |= ((planes[p * PLANE_WORDS + w] >> bit) & U(1)) << U(p)
    return np.int64(count)


@subroutine
def _gather_rows(entries: Entries, records: Array, begin: Int, end: Int, tile: Tile, work: Work) -> Int:
    """Collect the bitmap rows of a batch, with empty rows to fill whole groups; return the digits of its counters."""
    start, n, digits = entries.start, U(0), LOW_PLANES
    for q in range(begin, end):
        record = records[q]
        for p in range(U(start[record]), U(start[record + 1])):
            number = tile.row[U(entries.item[p])]
            work.row[n] = number
            n += U(number != 0)
        whole = (n + U(ROW_GROUP - 1)) & ~U(ROW_GROUP - 1)
        for j in range(n, whole):
            work.row[j] = 0
        n = whole
        work.ends[q - begin + 1] = np.int64(n)
        while (start[record + 1] - start[record]) >> digits > 0:
            digits += 1
    return digits


@inline
def _least_needed(
    similarity: Real, is_before: Flag, length: Int, least: Int, only_items: Flag, over_first: Flag
) -> Int:
    """How many items must be similar to be as near as the nearest so far, if the other is at least `least` long.

    Over the union, s / (a + b − c) ≥ t is wanted. If only items count, c = s, so s ≥ t (a + b) / (1 + t);
    otherwise c ≤ min(a, b), so s ≥ t max(a, b). If the nearest so far comes before all others, they must be
    nearer than it.
    """
    count = similarity * length
    if not over_first:
        count = similarity * (length + least) / (1.0 + similarity) if only_items else similarity * max(length, least)
    whole = math.floor(count * (1.0 + SLACK)) + 1 if is_before else math.ceil(count * (1.0 - SLACK))
    return max(np.int64(whole), 1)


@kernel
def search_by_items(
    entries: Entries, records: Array, begin: Int, end: Int, tile: Tile, over_first: Flag, work: Work, nearest: Nearest
) -> None:
    """Search a tile for nearer neighbours of records[begin:end], by the items that they share."""
    start, columns, planes, ends = entries.start, len(tile.least), work.planes, work.ends
    digits = _gather_rows(entries, records, begin, end, tile, work)
    middle = np.searchsorted(tile.most, start[records[begin] + 1] - start[records[begin]])
    for step in range(columns):
        k = middle + step if middle + step < columns else columns - 1 - step
        for q in range(begin, end):
            record, i = records[q], q - begin
            length, is_before = start[record + 1] - start[record], nearest.record[q] < tile.head[k]
            needed = _least_needed(nearest.similarity[q], is_before, length, tile.least[k], True, over_first)
            if needed > min(ends[i + 1] - ends[i], length, tile.most[k]):
                continue
            _count_rows(tile.bits, work.row, ends[i], ends[i + 1], k * tile.rows, planes, digits)
            for w in range(PLANE_WORDS):
                lane, left = k * PLANE_BITS + 64 * w, _lanes_reaching(planes, digits, needed, w)
                while left:
                    while not left & U(255):
                        left >>= U(8)
                        lane += 8
                    if left & U(1) and lane < len(tile.record) and tile.record[lane] != record:
                        count = _count_at(planes, lane, digits)
                        union = length if over_first else length + tile.length[lane] - count
                        _offer(count / union, tile.record[lane], nearest, q)
                    left >>= U(1)
                    lane += 1


@inline
def _offer(similarity: Real, record: Int, nearest: Nearest, q: Int) -> None:
    """Take over a neighbour that is nearer, or as near and of an earlier record."""
    most = nearest.similarity[q]
    if similarity > most or (similarity == most and record < nearest.record[q]):
        nearest.similarity[q], nearest.record[q] = similarity, record


# By time, or by values: a tile's entries in buckets.


@kernel
def choose_buckets(entries: Entries, records: Array, missing: Int, base: Array, shift: Array) -> Int:
    """Choose the buckets of each item; return how many there are in all."""
    n, count = 0, np.zeros(len(base), np.int64)
    for record in records:
        for p in range(entries.start[record], entries.start[record + 1]):
            count[entries.item[p]] += 1
    for item in range(len(base)):
        buckets, bits = max(1, count[item] // ENTRIES_PER_BUCKET), 0
        while (missing >> bits) >= buckets:
            bits += 1
        base[item], shift[item] = n, bits
        n += (missing >> bits) + 1
    return n


@kernel
def fill_buckets(entries: Entries, records: Array, level_bits: Int, buckets: Buckets) -> None:
    """Sort the entries of a tile into their buckets."""
    start, items, key, level = entries
    base, shift, first, word = buckets
    first[:] = 0
    for record in records:
        for p in range(start[record], start[record + 1]):
            item = items[p]
            first[base[item] + np.int64(U(key[p]) >> U(shift[item])) + 2] += 1
    for j in range(2, len(first)):
        first[j] += first[j - 1]
    for lane in range(len(records)):
        for p in range(start[records[lane]], start[records[lane] + 1]):
            item = items[p]
            bucket = base[item] + np.int64(U(key[p]) >> U(shift[item])) + 1
            code = (U(key[p]) << U(level_bits)) | (U(level[p]) if level_bits else U(0))
            word[first[bucket]] = (code << U(LANE_BITS)) | U(lane)
            first[bucket] += 1


@kernel
def search_by_ranges(
    entries: Entries, records: Array, begin: Int, end: Int, tile: Tile, over_first: Flag, ranges: Ranges,
    buckets: Buckets, work: Work, nearest: Nearest,
) -> None:  # fmt: skip
    """Search a tile for nearer neighbours of records[begin:end], by the entries that are similar."""
    start, columns, counter, ends = entries.start, len(tile.least), work.counter, work.ends
    digits = _gather_rows(entries, records, begin, end, tile, work)
    middle = np.searchsorted(tile.most, start[records[begin] + 1] - start[records[begin]])
    for q in range(begin, end):
        record, i = records[q], q - begin
        length = start[record + 1] - start[record]
        _count_similar(entries, record, ranges, buckets, work)
        for step in range(columns):
            k = middle + step if middle + step < columns else columns - 1 - step
            is_before, highest = nearest.record[q] < tile.head[k], np.int64(0)
            needed = _least_needed(nearest.similarity[q], is_before, length, tile.least[k], False, over_first)
            for lane in range(k * PLANE_BITS, (k + 1) * PLANE_BITS):
                highest = max(highest, np.int64(counter[lane]))
            if highest < needed:
                continue
            if not over_first:
                _count_rows(tile.bits, work.row, ends[i], ends[i + 1], k * tile.rows, work.planes, digits)
            for lane in range(k * PLANE_BITS, min((k + 1) * PLANE_BITS, len(tile.record))):
                if counter[lane] >= needed and tile.record[lane] != record:
                    union = length
                    if not over_first:
                        union += tile.length[lane] - _count_at(work.planes, lane, digits)
                    _offer(np.int64(counter[lane]) / union, tile.record[lane], nearest, q)


@subroutine
def _count_similar(entries: Entries, record: Int, ranges: Ranges, buckets: Buckets, work: Work) -> None:
    """Count by lane the entries that are similar to those of a record.

    All ranges are looked up first and counted afterwards, so that the cache is waited for once, not for each entry.
    """
    start, items, key, level = entries
    base, shift, first, word = buckets
    counter, begin, end = work.counter, work.begin, work.end
    counter[:] = 0
    first_entry = U(start[record])
    n = U(start[record + 1]) - first_entry
    for i in range(n):
        item = U(items[first_entry + i])
        least, most = _key_range(np.int64(key[first_entry + i]), ranges)
        begin[i] = first[U(base[item]) + (U(least) >> U(shift[item]))]
        end[i] = first[U(base[item]) + (U(most) >> U(shift[item])) + U(1)]
    key_shift, lane_mask = U(LANE_BITS + ranges.level_bits), U(TILE - 1)
    level_mask = (U(1) << U(ranges.level_bits)) - U(1)
    for i in range(n):
        least, most = _key_range(np.int64(key[first_entry + i]), ranges)
        offset, width = U(least) << key_shift, (U(most - least + 1) << key_shift) - U(1)
        if ranges.level_bits:
            known = level[first_entry + i]
            from_level, up_to = U(ranges.low[known]), U(ranges.high[known] - ranges.low[known])
            for j in range(U(begin[i]), U(end[i])):
                x = U(word[j])
                agrees = ((x >> U(LANE_BITS)) & level_mask) - from_level <= up_to
                counter[x & lane_mask] += (x - offset <= width) & agrees
        else:
            for j in range(U(begin[i]), U(end[i])):
                x = U(word[j])
                counter[x & lane_mask] += x - offset <= width


@subroutine
def _key_range(key: Int, ranges: Ranges) -> tuple[Int, Int]:
    """The first and the last key that is similar to a known one; all keys if it is missing."""
    if key == ranges.missing:
        return 0, ranges.missing
    if ranges.reach < 0:
        return ranges.low[key], ranges.high[key]
    return max(key - ranges.reach, 0), min(key + ranges.reach, ranges.missing - 1)
