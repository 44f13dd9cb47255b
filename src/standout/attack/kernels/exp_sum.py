"""Σ e^((score − highest)/σ): the constant of the lineup's probabilities, in single precision."""

import numpy as np

from standout.attack.kernels.query_arrays import ZERO, U
from standout.core.jit import Array, Int, Real, inline, subroutine, summing_subroutine
from standout.core.simd import multiply_add

__all__ = ["exp_sum", "exp_sum_of_zeros", "inverse_sigma"]

HALF = np.float32(0.5)
LOG2_E = 1.4426950408889634
# 2^r for |r| ≤ ½, to 8e-8 of itself (Remez)
C0, C1, C2 = np.float32(1.0000001), np.float32(0.69314694), np.float32(0.2402212)
C3, C4, C5 = np.float32(0.05550713), np.float32(0.009675541), np.float32(0.0013276472)
BOTTOM, BIAS, POINT = np.float32(-126), np.int32(127), np.int32(23)
LEAST_VARIANCE = 1e-70
"""Single precision does not hold 1/σ of a smaller variance, which is all rounding."""


@subroutine
def inverse_sigma(n: Int, total: Real, squares: Real) -> Real:
    """1 / σ, or 0 if all scores are equal, as far as their sums show."""
    mean = total / max(n, 1)
    variance = squares / max(n, 1) - mean * mean
    return 1.0 / np.sqrt(variance) if variance > LEAST_VARIANCE else 0.0


@subroutine
def exp_sum(scores: Array, low: Int, high: Int, highest: Real, scale: Real, cut: Real) -> Real:
    """Σ e^((score − highest)·scale) over those scores[low:high] that are below `cut`.

    Scores from `cut` on are those of the shortlist, which are added later in double precision.

    Four terms are added in single precision in a fixed order, and these sums in double precision, where the
    order hardly shows: so the width of a processor's vectors does not matter.
    """
    factor, top = np.float32(scale * LOG2_E), np.float32(highest)
    rest, lowest = np.float32(scale * LOG2_E - np.float64(factor)), BOTTOM / factor
    quarter = U((high - low) // 4)
    fours = np.empty(quarter, np.float32)
    for i in range(quarter):
        first = U(low) + i
        second = first + quarter
        third = second + quarter
        fours[i] = (
            _power(scores[first], cut, top, factor, rest, lowest)
            + _power(scores[second], cut, top, factor, rest, lowest)
        ) + (
            _power(scores[third], cut, top, factor, rest, lowest)
            + _power(scores[third + quarter], cut, top, factor, rest, lowest)
        )
    total = _total(fours)
    for i in range(U(low) + U(4) * quarter, U(high)):
        total += np.float64(_power(scores[i], cut, top, factor, rest, lowest))
    return total


@subroutine
def exp_sum_of_zeros(n: Int, highest: Real, scale: Real) -> Real:
    """`exp_sum` of n zeros below the cut, to the last bit: sums of up to 2^29 equal numbers are exact."""
    factor, top = np.float32(scale * LOG2_E), np.float32(highest)
    rest, lowest = np.float32(scale * LOG2_E - np.float64(factor)), BOTTOM / factor
    return n * np.float64(_power(ZERO, np.float32(np.inf), top, factor, rest, lowest))


@inline
def _power(score: Real, cut: Real, top: Real, factor: Real, rest: Real, lowest: Real) -> Real:
    """2^((score − top) · (factor + rest)) in single precision; 0 from `cut` on.

    2^y = 2^⌊y⌉ · 2^(y−⌊y⌉): the bits of a float for the first, a polynomial for the second. The factor has a
    rest, because most scores are 0, and its rounding would put all of those off by the same.
    """
    x = score - top if score < cut else lowest
    x = x if x > lowest else lowest
    y = x * factor
    whole = np.int32(y - HALF)
    r = multiply_add(x, rest, y - np.float32(whole))
    upper = multiply_add(r, multiply_add(r, multiply_add(r, C5, C4), C3), C2)
    return np.int32((whole + BIAS) << POINT).view(np.float32) * multiply_add(
        r, multiply_add(r, upper, C1), C0
    )


@summing_subroutine
def _total(numbers: Array) -> Real:
    """Their sum in double precision."""
    total = 0.0
    for i in range(len(numbers)):
        total += np.float64(numbers[i])
    return total
