"""Nearest neighbours by bitmaps: tiles of records, counted by bits.

Records are ordered by length and cut into columns of 256. A tile is a number of columns, with a bitmap that
says which record has which item. Records that search for their neighbours come in batches of about the same
length and are compared with one column after the other, so that the column's part of the bitmap stays in the
cache. The best neighbour so far and the lengths in the column give the count that a record of the column
must reach to matter; most columns have no such record. The others are compared in whole numbers: similar ·
union′ with similar′ · union.

If similarity is mutual, each pair is counted once, by the items of the shorter record. Records of the column
then have limits of their own, from their best neighbours so far, and each of the two records is offered to
the other.
"""

from typing import Any, NamedTuple

import numpy as np

from standout.core.jit import Array, Flag, Int, inline, kernel, subroutine

# Counting by bits: a plane is one binary digit of 256 counters. A row of a bitmap says which of 256 neighbours
# have an item. A full adder turns three rows of the same weight into one row of that weight and one of twice
# the weight; sixteen rows pass through a tree of adders, and only the carry moves up to the higher planes.


PLANE_WORDS, LOW_PLANES, ROW_GROUP = 4, 4, 16
PLANE_BITS = 64 * PLANE_WORDS
NO_BITS, ALL_BITS = np.uint64(0), np.uint64(2**64 - 1)


@inline
def _adder(a: Int, b: Int, c: Int) -> tuple[Int, Int]:
    """The sum and the carry of three rows."""
    either = a ^ b
    return either ^ c, (a & b) | (either & c)


@subroutine
def count_rows(bits: Array, row: Array, begin: Int, end: Int, column: Int, planes: Array, digits: Int) -> None:
    """Count rows row[begin] … row[end - 1] of a column.

    bits and planes are vectors of PLANE_WORDS words: vector column + row of the bitmap has the bits of a row,
    vector p of planes becomes the p-th digit of all counters. The number of rows is a multiple of ROW_GROUP.
    There are as many digits as the counters need, and at least LOW_PLANES.
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


@subroutine
def counters_reaching(planes: Array, digits: Int, needed: Int, limit: Array, out: Array) -> Flag:
    """Set a bit of `out` for each counter that is at least `needed`, or its own limit; return if any.

    `limit` is stored in planes, like the counters; `needed` has no more digits than the counters.
    """
    reached = False
    for w in range(PLANE_WORDS):
        below_limit, below_needed = NO_BITS, NO_BITS
        for p in range(digits):
            plane, limit_plane = planes[p * PLANE_WORDS + w], limit[p * PLANE_WORDS + w]
            common = ALL_BITS if (needed >> p) & 1 else NO_BITS
            below_limit = (~plane & limit_plane) | (~(plane ^ limit_plane) & below_limit)
            below_needed = (~plane & common) | (~(plane ^ common) & below_needed)
        out[w] = ~(below_limit & below_needed)
        reached |= out[w] != NO_BITS
    return reached


# Memory for the bit counters: aligned to cache lines, and in large pages.


LARGE_PAGE_BYTES = 1 << 22
"""NumPy asks for large pages from this size on."""


def large_page_array(count: int, kind: Any) -> Array:
    """An array in large pages, if the system has them: looking up small pages takes too long."""
    return np.empty(max(count, LARGE_PAGE_BYTES // np.dtype(kind).itemsize), kind)[:count]


def aligned_words(count: int) -> Array:
    """An array of words that begins at a multiple of 64 bytes: no vector is in two cache lines."""
    words = np.empty(count + 8, np.uint64)
    first = -(words.ctypes.data // 8) % 8
    return words[first : first + count]


U = np.uint64
U1, U8, U63, U255 = U(1), U(8), U(63), U(255)
TILE = 1 << 13
"""Maximum number of records in a tile."""
BATCH, BATCH_ENTRIES = 1 << 11, 1 << 16
"""Maximum number of records in a batch, and of entries unless it is a single record."""
WORD_BITS = 6
DIGITS = 64


class Entries(NamedTuple):
    """The entries by record: items, values if they are compared, and the keys of a search by ranges."""

    start: Array
    item: Array
    value: Array
    key: Array


class Search(NamedTuple):
    """The records that search for their neighbours, shortest first.

    over_first    whether similarity is over |supp(r)| instead of the union
    mutual        whether each pair is compared once, for both records
    """

    entries: Entries
    records: Array
    over_first: Flag
    mutual: Flag


class Tile(NamedTuple):
    """Some records in columns of 256 lanes, shortest first.

    record    by lane, the record; length: its length
    least     by column, the shortest length; most: the longest
    head      by column, the first record in the order of the release
    row       by item and kind, the row of the bitmap; 0, an empty row, if no record has it
    bits      the bitmap: `rows` vectors for each column
    kinds     number of kinds per item; the last says who has it, the others who is similar to a known level
    """

    record: Array
    length: Array
    least: Array
    most: Array
    head: Array
    row: Array
    bits: Array
    rows: int
    kinds: int


class Best(NamedTuple):
    """The nearest neighbours so far: their similarity is similar / union; record is -1 for none."""

    similar: Array
    union: Array
    record: Array

    @classmethod
    def of(cls, count: int) -> "Best":
        """No neighbours yet."""
        return cls(np.zeros(count, np.int64), np.ones(count, np.int64), np.full(count, -1, np.int64))


class Work(NamedTuple):
    """The arrays of one thread.

    row, common      bitmap rows of a batch's entries, by similar level and by item, in whole groups
    ends             those of its i-th record are ends[0, i] … ends[0, i + 1] of row, ends[1, i] … of common
    planes, digits   counters of similar and of common items, by binary digits
    limit, hit       what the counters of a column must reach, in the same form; which of them have
    counter, least   of a search by ranges: similar entries by lane, and what they must reach
    begin, end       there, where the similar entries of each entry are looked up
    """

    row: Array
    common: Array
    ends: Array
    planes: Array
    digits: Array
    limit: Array
    hit: Array
    counter: Array
    least: Array
    begin: Array
    end: Array

    @classmethod
    def of(cls, longest: int) -> "Work":
        """Arrays for records of up to this length."""
        rows = max(longest, BATCH_ENTRIES) + (BATCH + 1) * ROW_GROUP
        kind = np.uint16 if longest < np.iinfo(np.uint16).max else np.uint32
        row, common = np.zeros((2, rows), np.uint32)
        counter, least = np.zeros((2, TILE), kind)
        begin, end = np.zeros((2, longest), np.int64)
        planes, digits, limit, hit = (aligned_words(DIGITS * PLANE_WORDS) for _ in range(4))
        ends = np.zeros((2, BATCH + 1), np.int64)
        return cls(row, common, ends, planes, digits, limit, hit, counter, least, begin, end)


@kernel
def mark_rows(entries: Entries, records: Array, low: Array, high: Array, kinds: Int, row: Array) -> None:
    """Set row to 1 for every item and kind that a record of the tile has a bit for."""
    start, items, value, _ = entries
    n_levels = kinds - 1
    row[:] = 0
    for record in records:
        for p in range(start[record], start[record + 1]):
            key = np.int64(items[p]) * kinds
            row[key + n_levels] = 1
            for level in range(n_levels):
                if low[level] <= value[p] <= high[level]:
                    row[key + level] = 1


@kernel
def number_rows(row: Array, popular: Array, kinds: Int) -> Int:
    """Number the marked rows, the most popular items first; return how many there are."""
    n = 1
    for item in popular:
        for key in range(item * kinds, (item + 1) * kinds):
            if row[key]:
                row[key] = n
                n += 1
    return n


@kernel
def fill_bitmap(entries: Entries, low: Array, high: Array, tile: Tile) -> None:
    """Write the bitmap of a tile."""
    start, items, value, _ = entries
    records, _, _, _, _, row, bits, rows, kinds = tile
    n_levels = kinds - 1
    bits[:] = 0
    for lane in range(len(records)):
        at = lane // PLANE_BITS * rows * PLANE_WORDS + ((lane % PLANE_BITS) >> WORD_BITS)
        record, bit = records[lane], U1 << (U(lane) & U63)
        for p in range(start[record], start[record + 1]):
            key = np.int64(items[p]) * kinds
            bits[at + np.int64(row[key + n_levels]) * PLANE_WORDS] |= bit
            for level in range(n_levels):
                if low[level] <= value[p] <= high[level]:
                    bits[at + np.int64(row[key + level]) * PLANE_WORDS] |= bit


@kernel
def nearest_in_tile(search: Search, begin: Int, end: Int, tile: Tile, work: Work, best: Best, tile_best: Best) -> None:
    """Search a tile for nearer neighbours of the records begin … end - 1 of a search.

    If the search is mutual, `tile_best` are the nearest neighbours of the tile's records, and only columns
    that are not shorter than the batch are compared.
    """
    entries, searching, over_first, mutual = search
    start = entries.start
    records, length, least, most, head, _, bits, rows, kinds = tile
    row, common, ends, planes, digits, limit, hit, _, _, _, _ = work
    similar, union, neighbour = best
    tile_similar, tile_union, tile_neighbour = tile_best
    columns, only_items = len(least), kinds == 1
    exact = only_items or over_first
    gather_rows(search, begin, end, tile, not only_items, row, ends[0])
    if not exact:
        gather_rows(search, begin, end, tile, False, common, ends[1])
    shortest = start[searching[begin] + 1] - start[searching[begin]]
    longest = start[searching[end - 1] + 1] - start[searching[end - 1]]
    high, middle, foremost = digits_of(longest), np.searchsorted(most, shortest), searching[begin:end].min()
    limit[:] = U(2**64 - 1)
    lowest = 1 << high
    for step in range(columns - middle if mutual else columns):
        k = middle + step if middle + step < columns else columns - 1 - step
        if mutual:
            lowest = _set_limits(tile, tile_best, k, shortest, foremost, limit[: high * PLANE_WORDS])
        for q in range(begin, end):
            record, i = searching[q], q - begin
            record_length, n = start[record + 1] - start[record], ends[0, i + 1] - ends[0, i]
            is_before = neighbour[q] < head[k]
            needed = least_needed(similar[q], union[q], is_before, record_length, least[k], only_items, over_first)
            if min(needed, lowest) > min(n, record_length, most[k]):
                continue
            count_rows(bits, row, ends[0, i], ends[0, i + 1], k * rows, planes, high)
            if not counters_reaching(planes, high, min(needed, (1 << high) - 1), limit, hit):
                continue
            if not exact:
                count_rows(bits, common, ends[1, i], ends[1, i + 1], k * rows, digits, high)
            for w in range(PLANE_WORDS):
                lane, left = k * PLANE_BITS + 64 * w, hit[w]
                while left:
                    while not left & U255:
                        left >>= U8
                        lane += 8
                    if left & U1 and lane < len(records) and records[lane] != record:
                        count = count_at(planes, lane, high)
                        shared = count if exact else count_at(digits, lane, high)
                        total = record_length if over_first else record_length + length[lane] - shared
                        if is_nearer(count, total, records[lane], similar[q], union[q], neighbour[q]):
                            similar[q], union[q], neighbour[q] = count, total, records[lane]
                        if mutual and is_nearer(
                            count, total, record, tile_similar[lane], tile_union[lane], tile_neighbour[lane]
                        ):
                            tile_similar[lane], tile_union[lane], tile_neighbour[lane] = count, total, record
                    left >>= U1
                    lane += 1


@subroutine
def gather_rows(search: Search, begin: Int, end: Int, tile: Tile, by_level: Flag, row: Array, ends: Array) -> None:
    """Collect the bitmap rows of a batch's entries, with empty rows to fill whole groups."""
    start, items, value, _ = search.entries
    kinds, table = tile.kinds, tile.row
    n, last = U(0), U(kinds - 1)
    ends[0] = 0
    for q in range(begin, end):
        record = search.records[q]
        for p in range(U(start[record]), U(start[record + 1])):
            number = table[U(items[p]) * U(kinds) + (U(value[p]) if by_level else last)]
            row[n] = number
            n += U(number != 0)
        whole = (n + U(ROW_GROUP - 1)) & ~U(ROW_GROUP - 1)
        for j in range(n, whole):
            row[j] = 0
        n = whole
        ends[q - begin + 1] = np.int64(n)


@subroutine
def _set_limits(tile: Tile, tile_best: Best, k: Int, record_length: Int, foremost: Int, limit: Array) -> Int:
    """Write the limits of column k, and return the lowest.

    The limit of a lane is the number of items that a record of this length must share with the lane's record
    to be as near as its nearest neighbour.
    """
    similar, union, neighbour = tile_best
    length, only_items = tile.length, tile.kinds == 1
    high = len(limit) // PLANE_WORDS
    most = (1 << high) - 1
    lowest = most
    limit[:] = U(0)
    for i in range(PLANE_BITS):
        lane = k * PLANE_BITS + i
        needed = most
        if lane < len(length):
            is_before = neighbour[lane] < foremost
            needed = least_needed(similar[lane], union[lane], is_before, length[lane], record_length, only_items, False)
            needed = min(needed, most)
            lowest = min(lowest, needed)
        for p in range(high):
            limit[p * PLANE_WORDS + (i >> WORD_BITS)] |= ((U(needed) >> U(p)) & U1) << (U(i) & U63)
    return lowest


@kernel
def merge(best: Best, begin: Int, tile_best: Best) -> None:
    """Take over what a thread has found for the records of a tile, which are searched from `begin` on."""
    for lane in range(len(tile_best.record)):
        count, total, record = tile_best.similar[lane], tile_best.union[lane], tile_best.record[lane]
        q = begin + lane
        if count and is_nearer(count, total, record, best.similar[q], best.union[q], best.record[q]):
            best.similar[q], best.union[q], best.record[q] = count, total, record


@inline
def digits_of(number: Int) -> Int:
    """Number of binary digits of a counter that reaches this number; at least LOW_PLANES."""
    digits = LOW_PLANES
    while (number >> digits) > 0:
        digits += 1
    return digits


@inline
def least_needed(
    similar: Int, union: Int, is_before: Flag, record_length: Int, least: Int, only_items: Flag, over_first: Flag
) -> Int:
    """How many items must be similar to be as near as similar / union, if the other is at least `least` long.

    Over the union, s / (a + b − c) ≥ t is wanted. If only items count, c = s, so s ≥ t (a + b) / (1 + t);
    otherwise c ≤ min(a, b), so s ≥ t max(a, b). If the nearest so far comes before all others, they must be
    nearer than it.
    """
    above = 0 if is_before else 1
    if over_first:
        return max(similar + 1 - above, 1)
    if only_items:
        return max((similar * (record_length + least) + union + similar - above) // (union + similar), 1)
    return max((similar * max(record_length, least) + union - above) // union, 1)


@inline
def count_at(planes: Array, lane: Int, high: Int) -> Int:
    """The counter of a lane."""
    count, w, bit = U(0), (lane % PLANE_BITS) >> WORD_BITS, U(lane) & U63
    for p in range(high):
        count |= ((planes[p * PLANE_WORDS + w] >> bit) & U1) << U(p)
    return np.int64(count)


@inline
def is_nearer(count: Int, total: Int, record: Int, similar: Int, union: Int, neighbour: Int) -> Flag:
    """Whether count / total is more than similar / union, or equal and of an earlier record."""
    new, old = count * union, similar * total
    return new > old or (new == old and record < neighbour)


# Nearest neighbours by time, or by values with many levels: a tile's entries in buckets.
#
# An entry is similar to a known one if it has the same item and its key, a time or a level, is in a range.
# Such entries are in a few buckets of the tile; each is checked, and counted by lane. Records whose count may
# matter are then compared by their shared items, which the bitmap gives.


LANE_BITS = TILE.bit_length() - 1
ENTRIES_PER_BUCKET = 2
"""Mean number of entries of an item in a bucket, at least."""


class KeyRanges(NamedTuple):
    """Which keys are similar: up to `reach` apart, or low[key] … high[key] if it is negative.

    missing       the key of an entry without one: no entry is similar to it, and it is not compared
    second_bits   number of bits of a level that must also be in its range; 0 if there is none
    """

    low: Array
    high: Array
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
    search: Search, begin: Int, end: Int, tile: Tile, ranges: KeyRanges, buckets: Buckets, work: Work,
    best: Best, tile_best: Best,
) -> None:  # fmt: skip
    """Search a tile for nearer neighbours of a batch, as `nearest_in_tile` does."""
    entries, searching, over_first, mutual = search
    start = entries.start
    records, length, least, most, head, _, bits, rows, _ = tile
    common, ends, digits, counter, limit = work.common, work.ends, work.digits, work.counter, work.least
    similar, union, neighbour = best
    tile_similar, tile_union, tile_neighbour = tile_best
    columns = len(least)
    gather_rows(search, begin, end, tile, False, common, ends[1])
    shortest = start[searching[begin] + 1] - start[searching[begin]]
    high = digits_of(start[searching[end - 1] + 1] - start[searching[end - 1]])
    middle = np.searchsorted(most, shortest)
    limit[:] = ~limit.dtype.type(0)
    if mutual:
        foremost = searching[begin:end].min()
        for lane in range(len(length)):  # see `_set_limits`
            is_before, largest = tile_neighbour[lane] < foremost, np.int64(~limit.dtype.type(0))
            needed = least_needed(tile_similar[lane], tile_union[lane], is_before, length[lane], shortest, False, False)
            limit[lane] = min(needed, largest)
    for q in range(begin, end):
        record, i = searching[q], q - begin
        record_length = start[record + 1] - start[record]
        _count_similar(entries, record, ranges, buckets, work)
        for step in range(columns - middle if mutual else columns):
            k = middle + step if middle + step < columns else columns - 1 - step
            is_before = neighbour[q] < head[k]
            needed = least_needed(similar[q], union[q], is_before, record_length, least[k], False, over_first)
            reached = False
            for lane in range(k * PLANE_BITS, (k + 1) * PLANE_BITS):
                reached |= (counter[lane] >= needed) | (counter[lane] >= limit[lane])
            if not reached:
                continue
            if not over_first:
                count_rows(bits, common, ends[1, i], ends[1, i + 1], k * rows, digits, high)
            for lane in range(k * PLANE_BITS, min((k + 1) * PLANE_BITS, len(records))):
                count = np.int64(counter[lane])
                if count < min(needed, np.int64(limit[lane])) or records[lane] == record:
                    continue
                total = record_length if over_first else record_length + length[lane] - count_at(digits, lane, high)
                if is_nearer(count, total, records[lane], similar[q], union[q], neighbour[q]):
                    similar[q], union[q], neighbour[q] = count, total, records[lane]
                if mutual and is_nearer(
                    count, total, record, tile_similar[lane], tile_union[lane], tile_neighbour[lane]
                ):
                    tile_similar[lane], tile_union[lane], tile_neighbour[lane] = count, total, record


@subroutine
def _count_similar(entries: Entries, record: Int, ranges: KeyRanges, buckets: Buckets, work: Work) -> None:
    """Count by lane the entries that are similar to those of a record.

    All ranges are looked up first and counted afterwards, so that the cache is waited for once, not for each
    entry.
    """
    start, items, second, key = entries
    low, high, _, _, second_bits = ranges
    base, shift, first, word = buckets
    counter, begin, end = work.counter, work.begin, work.end
    counter[:] = 0
    first_entry = U(start[record])
    n = U(start[record + 1]) - first_entry
    for i in range(n):
        item = U(items[first_entry + i])
        least, most = _key_range(np.int64(key[first_entry + i]), ranges)
        bucket, off = U(base[item]), U(shift[item])
        begin[i] = first[bucket + (U(least) >> off)]
        end[i] = first[bucket + (U(most) >> off) + U1]
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
    low, high, reach, missing, _ = ranges
    if key == missing:
        return 0, missing
    if reach < 0:
        return low[key], high[key]
    return max(key - reach, 0), min(key + reach, missing - 1)
