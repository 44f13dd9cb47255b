"""Sums over the scores of all records in double precision: compiled, a fifth of the time that NumPy takes.

Half of the scores or more are 0. The others are copied first, without a branch, because they come in random
order. Sums of scores and of squares are in whole numbers: a score is a multiple of the query's step.
"""

import math
from typing import NamedTuple

import numpy as np

from standout.attack.query_arrays import BLOCK, LEAST, ZERO, U
from standout.core.arrays import Floats
from standout.core.jit import Array, Int, Real, inline, kernel, subroutine, summing_subroutine
from standout.core.simd import multiply_add

__all__ = [
    "ROUNDING",
    "ScoreSums",
    "block_masses",
    "enlist",
    "exp_sum",
    "exp_sum_of_zeros",
    "inverse_sigma",
    "lowest_listed",
    "lowest_of_best",
    "positive_scores",
    "prune",
    "raise_bound",
    "score_sums",
]

HALF, LOWER = np.int64(24), np.int64((1 << 24) - 1)
"""Whole numbers have up to 49 bits, and are squared in two halves."""
WORD, WORD_MASK = np.int64(32), np.int64((1 << 32) - 1)
CHUNK = 1 << 13
"""Number of scores whose sums, and sums of squares of halves, stay below 2^63."""
TOTAL, UPPER, MIXED, SQUARED = 0, 1, 2, 3


class ScoreSums(NamedTuple):
    """What is made of all scores of a query.

    `candidates` are the scores above −∞; `total` and `squares` are the sums of scores, in steps, and of their
    squares. `highest` is the highest score, `ties` the number of scores that equal it, `below` the next lower
    one; −∞ if there is none. `least` is the lowest of the best: at least as many positive scores as are
    wanted reach it, or all.
    """

    candidates: int
    total: int
    squares: int
    highest: float
    ties: int
    below: float
    least: float


def score_sums(scores: Floats, step: float, wanted: int) -> ScoreSums:
    """Sums of scores that are multiples of `step` ≥ 0, or −∞ if a record is not a candidate."""
    words, best = np.zeros((4, 2), np.int64), np.zeros(wanted)
    candidates, highest, ties, below = _sums(scores, 1.0 / step, best, words)
    total, upper, mixed, lower = ((high << 32) + low for high, low in words.tolist())
    squares = (upper << 48) + (mixed << 25) + lower
    return ScoreSums(int(candidates), total, squares, float(highest), int(ties), float(below), float(best[-1]))


@subroutine
def positive_scores(scores: Array) -> Array:
    """The positive scores, in their order. No branch: half of the scores are, in random order."""
    positive, n = np.empty(len(scores) + 1), U(0)
    for i in range(U(len(scores))):
        positive[n] = scores[i]
        n += U(scores[i] > 0.0)
    return positive[:n]


@kernel
def _sums(scores: Array, per_step: Real, best: Array, words: Array) -> tuple[Int, Real, Int, Real]:
    """Fill in the words of the sums and the highest scores; return candidates, highest, ties and below."""
    positive, candidates = positive_scores(scores), np.int64(0)
    for i in range(U(len(scores))):
        candidates += np.int64(scores[i] >= 0.0)
    n, last = len(positive), len(best) - 1
    highest, ties, below = -np.inf, np.int64(0), -np.inf
    if candidates > n:
        highest, ties = 0.0, candidates - n
    for low in range(0, n, CHUNK):
        total, upper, mixed, lower = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        for i in range(U(low), U(min(low + CHUNK, n))):
            number = np.int64(positive[i] * per_step)
            high_half, low_half = number >> HALF, number & LOWER
            total += number
            upper += high_half * high_half
            mixed += high_half * low_half
            lower += low_half * low_half
        _carry(words, TOTAL, total)
        _carry(words, UPPER, upper)
        _carry(words, MIXED, mixed)
        _carry(words, SQUARED, lower)
    for i in range(U(n)):
        x = positive[i]
        if x >= below:
            if x > highest:
                highest, ties, below = x, np.int64(1), highest
            elif x == highest:
                ties += 1
            else:
                below = x
        if x > best[last]:
            j = last
            while j > 0 and best[j - 1] < x:
                best[j] = best[j - 1]
                j -= 1
            best[j] = x
    return candidates, highest, ties, below


@subroutine
def _carry(words: Array, i: Int, number: Int) -> None:
    """Add a number to the sum of two words."""
    words[i, 0] += number >> WORD
    words[i, 1] += number & WORD_MASK


@kernel
def block_masses(scores: Array, highest: Real, scale: Real, masses: Array) -> None:
    """masses[b] = Σ e^((score − highest)/scale) over candidates of block b: zeros first, then in order."""
    of_zero = math.exp(-highest / scale)
    for b in range(len(masses)):
        block, candidates = scores[b * BLOCK : (b + 1) * BLOCK], np.int64(0)
        positive = positive_scores(block)
        for i in range(U(len(block))):
            candidates += np.int64(block[i] >= 0.0)
        mass = of_zero * (candidates - len(positive))
        for i in range(U(len(positive))):
            mass += math.exp((positive[i] - highest) / scale)
        masses[b] = mass


# Σ e^((score − highest)/σ): the constant of the lineup's probabilities, in single precision.


HALF_EXP_SUM = np.float32(0.5)
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
    whole = np.int32(y - HALF_EXP_SUM)
    r = multiply_add(x, rest, y - np.float32(whole))
    upper = multiply_add(r, multiply_add(r, multiply_add(r, C5, C4), C3), C2)
    return np.int32((whole + BIAS) << POINT).view(np.float32) * multiply_add(r, multiply_add(r, upper, C1), C0)


@summing_subroutine
def _total(numbers: Array) -> Real:
    """Their sum in double precision."""
    total = 0.0
    for i in range(len(numbers)):
        total += np.float64(numbers[i])
    return total


# The shortlist of a query: every record that may be among the `top` best, given the errors of float32.
#
# `best` holds the `top` highest scores so far, in descending order. `facts` is the number of facts in a score,
# `slack` the error that each may add beyond the rounding of the sum.
#
# In the end the list has exactly the records whose score is at least the bound given by the `top` best scores
# of all, if there is room for them. Otherwise `lost`, the highest score that found no room, reaches this bound.
# Neither depends on the order of the records, nor on how they are divided into parts whose lists are merged.


ROUNDING = 2.0**-22
"""More than the relative error that a float32 score gathers per fact."""


@subroutine
def lowest_of_best(scores: Array, first: Int, stride: Int, n: Int, best: Array, facts: Int, slack: Real) -> Real:
    """Just below the lowest of the best of n scores, but above 0. Starts `best` anew."""
    for i in range(len(best)):
        best[i] = ZERO
    return raise_bound(scores, first, stride, n, best, facts, slack)


@subroutine
def raise_bound(scores: Array, first: Int, stride: Int, n: Int, best: Array, facts: Int, slack: Real) -> Real:
    """The same after n more scores. Lower scores cannot be among the best, even with the error of float32."""
    last = len(best) - 1
    for i in range(n):
        x = scores[first + i * stride]
        if x > best[last]:
            j = last
            while j > 0 and best[j - 1] < x:
                best[j] = best[j - 1]
                j -= 1
            best[j] = x
    bound = np.float64(best[last]) * (1.0 - ROUNDING * (facts + 4)) - slack * facts
    return max(np.float32(bound), LEAST)


@subroutine
def prune(
    record: Array, score: Array, first: Int, n: Int, best: Array, facts: Int, floor: Real, slack: Real
) -> tuple[Int, Real]:
    """Drop records that are too low by now from the shortlist of n that begins at `first`.

    Returns the new n and the new bound.
    """
    floor = max(floor, lowest_of_best(score, first, np.int64(1), n, best, facts, slack))
    left = np.int64(0)
    for i in range(first, first + n):
        if score[i] >= floor:
            score[first + left] = score[i]
            record[first + left] = record[i]
            left += 1
    return left, floor


@subroutine
def enlist(
    record: Array,
    score: Array,
    first: Int,
    capacity: Int,
    n: Int,
    new: Int,
    x: Real,
    best: Array,
    facts: Int,
    floor: Real,
    lost: Real,
    slack: Real,
) -> tuple[Int, Real, Real]:
    """Put record `new` with score x on the shortlist of n that begins at `first`; x must be above `lost`.

    Returns the new n, the new bound and the new `lost`. A full list keeps its highest scores.
    """
    if n == capacity:
        n, floor = prune(record, score, first=first, n=n, best=best, facts=facts, floor=floor, slack=slack)
        if x < floor:
            return n, floor, lost
    if n < capacity:
        record[first + n] = new
        score[first + n] = x
        return n + 1, floor, lost
    lowest = first
    for i in range(first, first + n):
        lowest = i if score[i] < score[lowest] else lowest
    if score[lowest] >= x:
        return n, floor, x
    lost = max(lost, score[lowest])
    record[lowest] = new
    score[lowest] = x
    return n, floor, lost


@subroutine
def lowest_listed(score: Array, first: Int, n: Int) -> Real:
    """The lowest of the n scores from `first` on; ∞ if there are none. All other records are below it."""
    lowest = np.float32(np.inf)
    for i in range(first, first + n):
        lowest = min(lowest, score[i])
    return lowest
