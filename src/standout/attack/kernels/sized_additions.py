"""Add one fact to the scores of a block where a part depends on the size of the record: compiled.

    part = max(0, gain[code[record]] + a[kind] + b[kind] · c[time])     [Likelihood]

gain[i] = ln(1 + odds/size[i]) + constant is written once per fact and query, so that no logarithm is computed
for an entry. Where the date counts only by being near or far, near[2 · kind + is near] replaces a, b and c.
An attack takes 1.1 to 1.3 times as long as without sizes (docs/performance.md).
"""

import numpy as np

from standout.attack.kernels.lane_additions import CHUNK, notice
from standout.attack.kernels.query_arrays import BLOCK, ZERO, U
from standout.core.jit import Array, Int, Real, inline, subroutine
from standout.core.simd import multiply_add
from standout.similarity.time_cells import time_similarity

__all__ = ["add_sized_fact", "add_sized_lane", "fill_gain", "logarithm"]

ONE, TWO, HALF_ROOT = np.float32(1), np.float32(2), np.int32(0x3F3504F3)
BIAS, POINT, MANTISSA = np.int32(0x3F800000), np.int32(23), np.int32(0x007FFFFF)
LN2 = np.float32(0.6931472)
L3, L5, L7, L9 = np.float32(1 / 3), np.float32(1 / 5), np.float32(1 / 7), np.float32(1 / 9)


@subroutine
def fill_gain(inverse: Array, odds: Real, constant: Real, gain: Array) -> None:
    """gain[i] = ln(1 + odds · inverse[i]) + constant, in single precision."""
    for i in range(U(len(inverse))):
        gain[i] = logarithm(np.float32(ONE + odds * inverse[i])) + constant


@inline
def logarithm(x: Real) -> Real:
    """Natural logarithm of a float32 from 1e-30 on: 2 artanh of the reduced number."""
    bits = np.float32(x).view(np.int32) + (BIAS - HALF_ROOT)
    exponent = np.float32(np.int32(bits >> POINT) - np.int32(127))
    m = np.int32((bits & MANTISSA) + HALF_ROOT).view(np.float32)
    z = (m - ONE) / (m + ONE)
    s = z * z
    series = multiply_add(s, multiply_add(s, multiply_add(s, multiply_add(s, L9, L7), L5), L3), ONE)
    return multiply_add(exponent, LN2, TWO * z * series)


@subroutine
def add_sized_fact(
    word: Array,
    low: Int,
    high: Int,
    value_bits: Int,
    time_bits: Int,
    a: Array,
    b: Array,
    off: Array,
    c: Array,
    near: Array,
    reach: Int,
    shape: Int,
    known_time: Int,
    code: Array,
    gain: Array,
    scores: Array,
) -> None:
    """Add a fact to the scores of a block. `code` begins with the block's first record."""
    kind_shift, position_shift, u = U(time_bits), U(time_bits + value_bits), U(shape)
    time_mask, kind_mask, position_mask = (
        (U(1) << kind_shift) - U(1),
        (U(1) << U(value_bits)) - U(1),
        U(BLOCK - 1),
    )
    if reach >= 0:
        first, width = U(known_time - reach), U(2 * reach)
        for p in range(U(low), U(high)):
            x = U(word[p])
            is_near = U((x & time_mask) - first <= width)
            position = (x >> position_shift) & position_mask
            part = gain[U(code[position])] + near[u, (((x >> kind_shift) & kind_mask) << U(1)) + is_near]
            scores[position] += part if part > ZERO else ZERO
    else:
        row = off[u, U(0)] - U(known_time)
        for p in range(U(low), U(high)):
            x = U(word[p])
            kind, position = (x >> kind_shift) & kind_mask, (x >> position_shift) & position_mask
            alike = multiply_add(b[u, kind], time_similarity(c, (x & time_mask) + row), a[u, kind])
            part = gain[U(code[position])] + alike
            scores[position] += part if part > ZERO else ZERO


@subroutine
def add_sized_lane(
    word: Array,
    low: Int,
    high: Int,
    value_bits: Int,
    time_bits: Int,
    a: Array,
    b: Array,
    off: Array,
    c: Array,
    near: Array,
    reach: Int,
    shape: Int,
    known_time: Int,
    code: Array,
    gain: Array,
    scores: Array,
    sums: Array,
    least: Real,
    noticed: Array,
    n_noticed: Array,
    mark: Array,
) -> None:
    """The same, with sums, and noticing records that reach the bound (see `lane_additions`)."""
    kind_shift, position_shift, u = U(time_bits), U(time_bits + value_bits), U(shape)
    time_mask, kind_mask, position_mask = (
        (U(1) << kind_shift) - U(1),
        (U(1) << U(value_bits)) - U(1),
        U(BLOCK - 1),
    )
    row, first, width = off[u, U(0)] - U(known_time), U(known_time - max(reach, 0)), U(2 * max(reach, 0))
    added, grown = 0.0, 0.0
    for begin in range(low, high, CHUNK):
        stop, highest, added_1, grown_1 = min(begin + CHUNK, high), ZERO, ZERO, ZERO
        for p in range(U(begin), U(stop)):
            x = U(word[p])
            kind, position = (x >> kind_shift) & kind_mask, (x >> position_shift) & position_mask
            if reach >= 0:
                alike = near[u, (kind << U(1)) + U((x & time_mask) - first <= width)]
            else:
                alike = multiply_add(b[u, kind], time_similarity(c, (x & time_mask) + row), a[u, kind])
            part = _positive(gain[U(code[position])] + alike)
            old = scores[position]
            new = old + part
            scores[position] = new
            added_1 += part
            grown_1 = multiply_add(part, old + new, grown_1)
            highest = new if new > highest else highest
        added += np.float64(added_1)
        grown += np.float64(grown_1)
        if highest >= least:
            for i in range(U(begin), U(stop)):
                position = (U(word[i]) >> position_shift) & position_mask
                if scores[position] >= least:
                    notice(noticed, n_noticed, mark, np.int64(position), np.int64(0), np.int64(position))
    sums[0, 0] += added
    sums[1, 0] += grown


@inline
def _positive(x: Real) -> Real:
    return x if x > ZERO else ZERO
