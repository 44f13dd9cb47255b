"""Sums over the scores of all records in double precision: compiled, a fifth of the time that NumPy takes.

Half of the scores or more are 0. The others are copied first, without a branch, because they come in random
order. Sums of scores and of squares are in whole numbers: a score is a multiple of the query's step.
"""

import math
from typing import NamedTuple

import numpy as np

from standout.attack.kernels.query_arrays import BLOCK, U
from standout.core.arrays import Floats
from standout.core.jit import Array, Int, Real, kernel, subroutine

__all__ = ["ScoreSums", "block_masses", "positive_scores", "score_sums"]

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
    return ScoreSums(
        int(candidates), total, squares, float(highest), int(ties), float(below), float(best[-1])
    )


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
