"""Nearest neighbours by bitmaps: tiles of records, counted by bits.

Records are ordered by length and cut into columns of 256; a tile is some of these columns, with a bitmap that
says who has what. Records that look for their neighbours come in batches of about one length and meet one
column after the other, so that its part of the bitmap stays in the cache. What a counter must reach to matter
follows from the best neighbour so far and the lengths in the column; a column where none does is done. The
rest is compared in whole numbers: similar · union′ against similar′ · union.

If similarity is mutual, each pair is counted once, by the items of the shorter: records in the column
have limits of their own, from their best neighbours so far, and the two are offered to each other.
"""

from typing import NamedTuple

import numpy as np

from standout.core.jit import Array, Flag, Int, inline, kernel, subroutine
from standout.core.simd import (
    LOW_PLANES,
    PLANE_BITS,
    PLANE_WORDS,
    ROW_GROUP,
    ROWS_AHEAD,
    count_rows,
    counters_reaching,
)
from standout.neighbours.bit_counters import aligned

__all__ = [
    "BATCH", "ENTRIES", "TILE", "Best", "Tile", "Work", "count_at", "digits_of", "fill", "gather",
    "is_nearer", "least_needed", "mark", "merge", "nearest", "number",
]  # fmt: skip

U = np.uint64
U1, U8, U63, U255 = U(1), U(8), U(63), U(255)
TILE = 1 << 13
"""A tile has so many records at most."""
BATCH, ENTRIES = 1 << 11, 1 << 16
"""A batch has so many records, and unless it is a single record, so many entries."""
WORD_BITS = 6
DIGITS = 64


class Tile(NamedTuple):
    """Some records beside each other, the short ones first.

    place    by lane, the record; length: how long it is
    least    by column, the shortest length; most: the longest
    head     by column, the first record in the order of the release
    row      by item and kind, the row of the bitmap; 0, an empty one, where nobody has it
    bits     the bitmap: `rows` vectors for each column
    kinds    how many kinds an item has; the last says who has it, the others who is similar to a known level
    """

    place: Array
    length: Array
    least: Array
    most: Array
    head: Array
    row: Array
    bits: Array
    rows: int
    kinds: int


class Best(NamedTuple):
    """The nearest neighbours so far: similar / union is how near they are; no neighbour is at -1."""

    similar: Array
    union: Array
    place: Array

    @classmethod
    def of(cls, count: int) -> "Best":
        return cls(np.zeros(count, np.int64), np.ones(count, np.int64), np.full(count, -1, np.int64))


class Work(NamedTuple):
    """A thread's own arrays.

    row, common      rows of a batch's entries, by what is similar and by item, in whole groups
    ends             those of its i-th record are ends[0, i] … ends[0, i + 1] of row, ends[1, i] … of common
    planes, digits   counters of similar and of common items, by binary digits
    limit, hit       what the counters of a column must reach, in the same form; which of them have
    """

    row: Array
    common: Array
    ends: Array
    planes: Array
    digits: Array
    limit: Array
    hit: Array

    @classmethod
    def of(cls, longest: int) -> "Work":
        rows = max(longest, ENTRIES) + (BATCH + 1) * ROW_GROUP + ROWS_AHEAD
        row, common = np.zeros(rows, np.uint32), np.zeros(rows, np.uint32)
        planes, digits, limit, hit = (aligned(DIGITS * PLANE_WORDS) for _ in range(4))
        return cls(row, common, np.zeros((2, BATCH + 1), np.int64), planes, digits, limit, hit)


@kernel
def mark(
    start: Array, other: Array, value: Array, place: Array, low: Array, high: Array, kinds: Int, row: Array
) -> None:
    """Sets row to 1 for every item and kind that a record of the tile has a bit for."""
    levels = kinds - 1
    row[:] = 0
    for record in place:
        for p in range(start[record], start[record + 1]):
            key = np.int64(other[p]) * kinds
            row[key + levels] = 1
            for level in range(levels):
                if low[level] <= value[p] <= high[level]:
                    row[key + level] = 1


@kernel
def number(row: Array, popular: Array, kinds: Int) -> Int:
    """Gives the marked rows their numbers, the most popular items first; returns how many there are."""
    n = 1
    for item in popular:
        for key in range(item * kinds, (item + 1) * kinds):
            if row[key]:
                row[key] = n
                n += 1
    return n


@kernel
def fill(start: Array, other: Array, value: Array, low: Array, high: Array, tile: Tile) -> None:
    """Writes the bitmap of a tile."""
    place, _, _, _, _, row, bits, rows, kinds = tile
    levels = kinds - 1
    bits[:] = 0
    for lane in range(len(place)):
        at = lane // PLANE_BITS * rows * PLANE_WORDS + ((lane % PLANE_BITS) >> WORD_BITS)
        record, bit = place[lane], U1 << (U(lane) & U63)
        for p in range(start[record], start[record + 1]):
            key = np.int64(other[p]) * kinds
            bits[at + np.int64(row[key + levels]) * PLANE_WORDS] |= bit
            for level in range(levels):
                if low[level] <= value[p] <= high[level]:
                    bits[at + np.int64(row[key + level]) * PLANE_WORDS] |= bit


@kernel
def nearest(
    start: Array, other: Array, value: Array, asked: Array, tile: Tile, first: Flag, mutual: Flag, work: Work,
    best: Best, theirs: Best, begin: Int, end: Int,
) -> None:  # fmt: skip
    """Looks in a tile for nearer neighbours of a batch: asked[begin] … asked[end - 1], the short ones first.

    The similarity is over the union of both, or over |supp(r)| if first is set. If it is mutual, `theirs` are
    the nearest of the tile's own records, and only columns are looked at that are not shorter.
    """
    place, length, least, most, head, table, bits, rows, kinds = tile
    row, common, ends, planes, digits, limit, hit = work
    similar, union, neighbour = best
    their_similar, their_union, their_place = theirs
    columns, sets, exact = len(least), kinds == 1, kinds == 1 or first
    gather(start, other, value, asked, begin, end, table, kinds, not sets, row, ends[0])
    if not exact:
        gather(start, other, value, asked, begin, end, table, kinds, False, common, ends[1])
    shortest = start[asked[begin] + 1] - start[asked[begin]]
    longest = start[asked[end - 1] + 1] - start[asked[end - 1]]
    high, middle, foremost = digits_of(longest), np.searchsorted(most, shortest), asked[begin:end].min()
    limit[:] = U(2**64 - 1)
    lowest = 1 << high
    for step in range(columns - middle if mutual else columns):
        k = middle + step if middle + step < columns else columns - 1 - step
        if mutual:
            lowest = _limits(
                their_similar, their_union, their_place, length, k, shortest, foremost, sets, high, limit
            )
        for q in range(begin, end):
            record, i = asked[q], q - begin
            own, n = start[record + 1] - start[record], ends[0, i + 1] - ends[0, i]
            stands = neighbour[q] < head[k]
            needed = least_needed(similar[q], union[q], stands, own, least[k], sets, first)
            if min(needed, lowest) > min(n, own, most[k]):
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
                    if left & U1 and lane < len(place) and place[lane] != record:
                        count = count_at(planes, lane, high)
                        shared = count if exact else count_at(digits, lane, high)
                        total = own if first else own + length[lane] - shared
                        if is_nearer(count, total, place[lane], similar[q], union[q], neighbour[q]):
                            similar[q], union[q], neighbour[q] = count, total, place[lane]
                        if mutual and is_nearer(
                            count, total, record, their_similar[lane], their_union[lane], their_place[lane]
                        ):
                            their_similar[lane], their_union[lane], their_place[lane] = count, total, record
                    left >>= U1
                    lane += 1


@subroutine
def gather(
    start: Array, other: Array, value: Array, asked: Array, begin: Int, end: Int, table: Array, kinds: Int,
    by_level: Flag, row: Array, ends: Array,
) -> None:  # fmt: skip
    """The rows of a batch's entries that somebody in the tile has, with empty ones to fill whole groups."""
    n, last = U(0), U(kinds - 1)
    ends[0] = 0
    for q in range(begin, end):
        record = asked[q]
        for p in range(U(start[record]), U(start[record + 1])):
            found = table[U(other[p]) * U(kinds) + (U(value[p]) if by_level else last)]
            row[n] = found
            n += U(found != 0)
        whole = (n + U(ROW_GROUP - 1)) & ~U(ROW_GROUP - 1)
        for j in range(n, whole):
            row[j] = 0
        n = whole
        ends[q - begin + 1] = np.int64(n)


@subroutine
def _limits(
    similar: Array, union: Array, place: Array, length: Array, k: Int, own: Int, foremost: Int, sets: Flag,
    high: Int, limit: Array,
) -> Int:  # fmt: skip
    """Writes what records of a length must share with each of a column to be as near as its nearest so far.

    Returns the lowest of these limits.
    """
    most = (1 << high) - 1
    lowest = most
    limit[: high * PLANE_WORDS] = U(0)
    for i in range(PLANE_BITS):
        lane = k * PLANE_BITS + i
        needed = most
        if lane < len(length):
            stands = place[lane] < foremost
            needed = least_needed(similar[lane], union[lane], stands, length[lane], own, sets, False)
            needed = min(needed, most)
            lowest = min(lowest, needed)
        for p in range(high):
            limit[p * PLANE_WORDS + (i >> WORD_BITS)] |= ((U(needed) >> U(p)) & U1) << (U(i) & U63)
    return lowest


@kernel
def merge(best: Best, begin: Int, theirs: Best) -> None:
    """Takes over what a thread has found for the records of a tile, which are asked about from `begin` on."""
    for lane in range(len(theirs.place)):
        count, total, place, q = theirs.similar[lane], theirs.union[lane], theirs.place[lane], begin + lane
        if count and is_nearer(count, total, place, best.similar[q], best.union[q], best.place[q]):
            best.similar[q], best.union[q], best.place[q] = count, total, place


@inline
def digits_of(number: Int) -> Int:
    """How many binary digits a counter needs that reaches this number."""
    found = LOW_PLANES
    while (number >> found) > 0:
        found += 1
    return found


@inline
def least_needed(
    similar: Int, union: Int, stands: Flag, own: Int, least: Int, sets: Flag, first: Flag
) -> Int:
    """How many items must be similar to be as near as similar / union, if the other is not below least.

    Over the union s / (a + b − c) ≥ t is wanted. By sets c = s, so s ≥ t (a + b) / (1 + t); otherwise
    c ≤ min(a, b), so s ≥ t max(a, b). If the nearest so far stands before all others, they must be nearer.
    """
    above = 0 if stands else 1
    if first:
        return max(similar + 1 - above, 1)
    if sets:
        return max((similar * (own + least) + union + similar - above) // (union + similar), 1)
    return max((similar * max(own, least) + union - above) // union, 1)


@inline
def count_at(planes: Array, lane: Int, high: Int) -> Int:
    """The counter of a lane."""
    found, w, bit = U(0), (lane % PLANE_BITS) >> WORD_BITS, U(lane) & U63
    for p in range(high):
        found |= ((planes[p * PLANE_WORDS + w] >> bit) & U1) << U(p)
    return np.int64(found)


@inline
def is_nearer(count: Int, total: Int, place: Int, similar: Int, union: Int, neighbour: Int) -> Flag:
    """Whether count / total is more than similar / union, or the same of a record that stands before."""
    here, there = count * union, similar * total
    return here > there or (here == there and place < neighbour)
