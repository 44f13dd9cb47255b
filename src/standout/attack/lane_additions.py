"""Add one fact to the scores of a block, for one draw of the noise or for several at once: compiled.

Parameters are arrays, one by one, because tuples of arrays are slower to pass (see `nested_scores`).
"""

import numpy as np

from standout.attack.query_arrays import BLOCK, ZERO, U, interpolated
from standout.core.jit import Array, Flag, Int, Real, inline, subroutine
from standout.core.simd import add_fact, add_sized_fact, multiply_add
from standout.core.simd_fallback import LANES
from standout.data.postings import BLOCK_BITS
from standout.know.lookup_tables import time_similarity

__all__ = ["CHUNK", "add_many_lanes", "add_one_lane", "notice"]

CHUNK = 32
"""Number of words after which scores are compared with their bounds."""


@subroutine
def add_one_lane(
    word: Array,
    low: Int,
    high: Int,
    value_bits: Int,
    time_bits: Int,
    a: Array,
    b: Array,
    off: Array,
    c: Array,
    even: Array,
    lines: Array,
    line_bits: Int,
    shape: Int,
    known_time: Int,
    weight: Real,
    scores: Array,
    sums: Array,
    least: Real,
    noticed: Array,
    n_noticed: Array,
    mark: Array,
) -> None:
    """Add a fact to the scores of a block and to the sums, and notice records that reach the bound: one lane.

    In a decay all kinds have one factor. There, odd and even entries have separate sums, so that an addition
    need not wait for the one before.
    """
    kind_shift, position_shift, u = U(time_bits), U(time_bits + value_bits), U(shape)
    time_mask, kind_mask, position_mask = ((U(1) << kind_shift) - U(1), (U(1) << U(value_bits)) - U(1), U(BLOCK - 1))
    row, factor = off[u, U(0)] - U(known_time), b[u, U(0)]
    added, grown = 0.0, 0.0
    for begin in range(low, high, CHUNK):
        p, stop, highest, other = U(begin), min(begin + CHUNK, high), ZERO, ZERO
        added_1, grown_1, added_2, grown_2 = ZERO, ZERO, ZERO, ZERO  # never long sums in single precision
        for _ in range((stop - begin) // 2 if even[u] and not line_bits else 0):
            x, y = U(word[p]), U(word[p + U(1)])
            position = (x >> position_shift) & position_mask
            alike = multiply_add(factor, time_similarity(c, (x & time_mask) + row), a[u, (x >> kind_shift) & kind_mask])
            part = weight * alike
            old = scores[position]
            new = old + part
            scores[position] = new
            added_1 += part
            grown_1 = multiply_add(part, old + new, grown_1)
            highest = new if new > highest else highest
            position = (y >> position_shift) & position_mask
            alike = multiply_add(factor, time_similarity(c, (y & time_mask) + row), a[u, (y >> kind_shift) & kind_mask])
            part = weight * alike
            old = scores[position]
            new = old + part
            scores[position] = new
            added_2 += part
            grown_2 = multiply_add(part, old + new, grown_2)
            other = new if new > other else other
            p += U(2)
        for _ in range(stop - np.int64(p)):
            x = U(word[p])
            kind, position = (x >> kind_shift) & kind_mask, (x >> position_shift) & position_mask
            at = (x & time_mask) + row
            alike = interpolated(c, lines, line_bits, at) if line_bits else time_similarity(c, at)
            part = weight * multiply_add(b[u, kind], alike, a[u, kind])
            old = scores[position]
            new = old + part
            scores[position] = new
            added_1 += part
            grown_1 = multiply_add(part, old + new, grown_1)
            highest = new if new > highest else highest
            p += U(1)
        added += np.float64(added_1) + np.float64(added_2)
        grown += np.float64(grown_1) + np.float64(grown_2)
        if highest >= least or other >= least:
            for i in range(U(begin), U(stop)):
                position = (U(word[i]) >> position_shift) & position_mask
                if scores[position] >= least:
                    notice(noticed, n_noticed, mark, np.int64(position), np.int64(0), np.int64(position))
    sums[0, 0] += added
    sums[1, 0] += grown


@subroutine
def add_many_lanes(
    word: Array,
    low: Int,
    high: Int,
    value_bits: Int,
    time_bits: Int,
    a: Array,
    b: Array,
    c: Array,
    scores: Array,
    sums: Array,
    lanes: Int,
    least: Array,
    highest: Array,
    noticed: Array,
    n_noticed: Array,
    mark: Array,
    sized: Flag,
    code: Array,
    gain: Array,
) -> None:
    """The same for several lanes; `code` and `gain` as in `sized_additions`."""
    position_shift = U(value_bits + time_bits)
    for begin in range(low, high, CHUNK):
        stop = min(begin + CHUNK, high)
        if sized:
            reached = add_sized_fact(
                word, begin, stop, value_bits, time_bits, BLOCK_BITS, a, b, c, scores, sums, least, highest,
                code, gain,
            )  # fmt: skip
        else:
            reached = add_fact(
                word, begin, stop, value_bits, time_bits, BLOCK_BITS, a, b, c, scores, sums, least, highest
            )
        if reached:
            for p in range(U(begin), U(stop)):
                position = np.int64((U(word[p]) >> position_shift) & U(BLOCK - 1))
                lanes_left = _lanes_reaching(scores, position, least)
                lane = 0
                while lanes_left:
                    if lanes_left & 1 and lane < lanes:
                        notice(noticed, n_noticed, mark, position, lane, position * LANES + lane)
                    lanes_left >>= 1
                    lane += 1


@subroutine
def _lanes_reaching(scores: Array, position: Int, least: Array) -> Int:
    """Bit i says whether the score of a record in lane i has reached its bound."""
    bits = 0
    for lane in range(LANES):
        bits |= int(scores[position * LANES + lane] >= least[lane]) << lane
    return bits


@inline
def notice(noticed: Array, n_noticed: Array, mark: Array, position: Int, lane: Int, at: Int) -> None:
    """Note a position of the block, once."""
    if not mark[at]:
        mark[at] = True
        noticed[lane, n_noticed[lane]] = position
        n_noticed[lane] += 1
