"""What each function of `simd` computes, in plain Numba.

These functions run where the intrinsics cannot, and tests compare the intrinsics with them. The bits are the
same, except for about one `multiply_add` in 2^29.
"""

import numpy as np

from standout.core.jit import Array, Flag, Int, Real, inline, subroutine

__all__ = [
    "LANES",
    "LOW_PLANES",
    "PLANE_BITS",
    "PLANE_WORDS",
    "ROWS_AHEAD",
    "ROW_GROUP",
    "add_fact",
    "add_sized_fact",
    "any_counter_reaches",
    "count_rows",
    "counters_reaching",
    "lane_peaks",
    "multiply_add",
    "prefetch",
]

LANES = 8
"""Scores of one record in one vector."""
CARRY = 16
"""Number of words after which sums in single precision are carried over into double precision."""
PLANE_WORDS = 4
PLANE_BITS = 64 * PLANE_WORDS
ROW_GROUP = 16
ROWS_AHEAD = 128
"""A row is prefetched this many rows before it is added; otherwise it costs three times as much."""
LOW_PLANES = 4
"""The planes of 1, 2, 4 and 8, which stay in registers while rows are added."""
U = np.uint64
ZERO, NO_BITS, ALL_BITS = np.float32(0), np.uint64(0), np.uint64(2**64 - 1)


@inline
def multiply_add(a: Real, b: Real, c: Real) -> Real:
    """Compute a · b + c in single precision with one rounding.

    The product is exact in double precision. One sum in 2^29 is rounded twice and may be off by one unit.
    """
    return np.float32(np.float64(a) * np.float64(b) + np.float64(c))


@subroutine
def add_fact(
    word: Array,
    low: Int,
    high: Int,
    value_bits: Int,
    time_bits: Int,
    position_bits: Int,
    a: Array,
    b: Array,
    c: Array,
    scores: Array,
    sums: Array,
    least: Array,
    highest: Array,
) -> Flag:
    """Add a[kind] + b[kind] · c[time] of words low … high - 1 to their records' scores, in every lane.

    sums[0] grows by what was added, sums[1] by what that does to the squares, added · (old + new). Returns
    whether a score has reached `least` of its lane. `highest` receives the highest new score of each lane.
    Equal parts repeat, so the errors of a long sum in single precision would all have the same sign: after
    every CARRY words the sums are carried over into double precision.
    """
    kind_shift, position_shift, lanes = U(time_bits), U(time_bits + value_bits), U(LANES)
    time_mask, kind_mask = (U(1) << kind_shift) - U(1), (U(1) << U(value_bits)) - U(1)
    position_mask = (U(1) << U(position_bits)) - U(1)
    reached = False
    for lane in range(lanes):
        highest[lane] = ZERO
    for begin in range(low, high, CARRY):
        stop = min(begin + CARRY, high)
        for lane in range(lanes):
            added, grown, most = ZERO, ZERO, highest[lane]
            for p in range(U(begin), U(stop)):
                x = U(word[p])
                kind = ((x >> kind_shift) & kind_mask) * lanes + U(lane)
                position = ((x >> position_shift) & position_mask) * lanes + U(lane)
                part = multiply_add(b[kind], c[(x & time_mask) * lanes + U(lane)], a[kind])
                old = scores[position]
                new = old + part
                scores[position] = new
                added += part
                grown = multiply_add(part, old + new, grown)
                most = new if new > most else most
            sums[0, lane] += np.float64(added)
            sums[1, lane] += np.float64(grown)
            highest[lane] = most
    for lane in range(lanes):
        reached |= highest[lane] >= least[lane]
    return reached


@subroutine
def add_sized_fact(
    word: Array,
    low: Int,
    high: Int,
    value_bits: Int,
    time_bits: Int,
    position_bits: Int,
    a: Array,
    b: Array,
    c: Array,
    scores: Array,
    sums: Array,
    least: Array,
    highest: Array,
    code: Array,
    gain: Array,
) -> Flag:
    """The same with max(0, gain[code[record]] + a[kind] + b[kind] · c[time]) in place of the part."""
    kind_shift, position_shift, lanes = U(time_bits), U(time_bits + value_bits), U(LANES)
    time_mask, kind_mask = (U(1) << kind_shift) - U(1), (U(1) << U(value_bits)) - U(1)
    position_mask = (U(1) << U(position_bits)) - U(1)
    reached = False
    for lane in range(lanes):
        highest[lane] = ZERO
    for begin in range(low, high, CARRY):
        stop = min(begin + CARRY, high)
        for lane in range(lanes):
            added, grown, most = ZERO, ZERO, highest[lane]
            for p in range(U(begin), U(stop)):
                x = U(word[p])
                kind = ((x >> kind_shift) & kind_mask) * lanes + U(lane)
                record = (x >> position_shift) & position_mask
                position = record * lanes + U(lane)
                alike = multiply_add(b[kind], c[(x & time_mask) * lanes + U(lane)], a[kind])
                part = alike + gain[U(code[record])]
                part = part if part > ZERO else ZERO
                old = scores[position]
                new = old + part
                scores[position] = new
                added += part
                grown = multiply_add(part, old + new, grown)
                most = new if new > most else most
            sums[0, lane] += np.float64(added)
            sums[1, lane] += np.float64(grown)
            highest[lane] = most
    for lane in range(lanes):
        reached |= highest[lane] >= least[lane]
    return reached


@subroutine
def lane_peaks(scores: Array, group: Int, out: Array) -> None:
    """out[g · LANES + lane] = the highest score of the lane among the g-th `group` of records."""
    for g in range(len(scores) // LANES // group):
        for lane in range(LANES):
            peak = ZERO
            for record in range(g * group, (g + 1) * group):
                peak = max(peak, scores[record * LANES + lane])
            out[g * LANES + lane] = peak


@subroutine
def count_rows(bits: Array, row: Array, begin: Int, end: Int, column: Int, planes: Array, digits: Int) -> None:
    """Count rows row[begin] … row[end - 1] of a column.

    bits and planes are vectors of PLANE_WORDS words: vector column + row of the bitmap has the bits of a row,
    vector p of planes becomes the p-th digit of all counters. The number of rows is a multiple of ROW_GROUP.
    There are as many digits as the counters need, and at least LOW_PLANES. `row` has ROWS_AHEAD more elements
    after the last one, each a valid row, because they are prefetched.
    """
    for i in range(digits * PLANE_WORDS):
        planes[i] = NO_BITS
    for j in range(begin, end):
        first = (np.int64(row[j]) + column) * PLANE_WORDS
        for w in range(PLANE_WORDS):
            carry, i = bits[first + w], w
            while carry != NO_BITS and i < digits * PLANE_WORDS:
                plane = planes[i]
                planes[i] = plane ^ carry
                carry &= plane
                i += PLANE_WORDS


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


@subroutine
def any_counter_reaches(counter: Array, begin: Int, needed: Int, limit: Array) -> Flag:
    """Whether some counter of a column, from `begin` on, is at least `needed`, or its own limit."""
    reached = False
    for i in range(begin, begin + PLANE_BITS):
        reached |= (counter[i] >= needed) | (counter[i] >= limit[i])
    return reached


@subroutine
def prefetch(array: Array, at: Int) -> None:
    """Ask the cache for an element that will be needed soon; it need not exist. Here: do nothing."""
