"""The shortlist of a query: every record that may be among the `top` best, given the errors of float32.

`best` holds the `top` highest scores so far, in descending order. `facts` is the number of facts in a score,
`slack` the error that each may add beyond the rounding of the sum.

In the end the list has exactly the records whose score is at least the bound given by the `top` best scores
of all, if there is room for them. Otherwise `lost`, the highest score that found no room, reaches this bound.
Neither depends on the order of the records, nor on how they are divided into parts whose lists are merged.
"""

import numpy as np

from standout.attack.kernels.query_arrays import LEAST, ZERO
from standout.core.jit import Array, Int, Real, subroutine

__all__ = ["ROUNDING", "enlist", "lowest_listed", "lowest_of_best", "prune", "raise_bound"]

ROUNDING = 2.0**-22
"""More than the relative error that a float32 score gathers per fact."""


@subroutine
def lowest_of_best(
    scores: Array, first: Int, stride: Int, n: Int, best: Array, facts: Int, slack: Real
) -> Real:
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
