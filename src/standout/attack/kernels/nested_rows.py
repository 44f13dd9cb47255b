"""The rows of the summaries that `nested_scores` fills in, one for each wanted step and lane: compiled."""

import numpy as np

from standout.attack.kernels.exp_sum import inverse_sigma
from standout.attack.kernels.nested_arrays import NestedWorkspace
from standout.attack.kernels.query_arrays import LEAST, SCORES, SQUARES, QuerySummaries
from standout.attack.kernels.shortlist import enlist, lowest_listed, prune
from standout.core.exact_sums import add_sums, add_to_sum, sum_value
from standout.core.jit import Array, Flag, Int, Real, subroutine
from standout.core.simd import LANES

__all__ = ["add_block", "prepare", "report", "shortlist_noticed"]


@subroutine
def prepare(
    row: Array, q: Int, lanes: Int, steps: Int, work: NestedWorkspace, summaries: QuerySummaries
) -> None:
    """Begin with nothing; until[j] = the first wanted step from j on."""
    floor, unit, units, wanted = work.floor, work.unit, summaries.units, steps
    for lane in range(LANES):
        floor[steps, lane] = np.inf  # for walks that notice no record
    for j in range(steps - 1, -1, -1):
        work.sums[j] = 0.0
        work.exact[j * LANES : (j + 1) * LANES] = 0
        if row[q, j] >= 0:
            wanted = j
        work.until[j] = wanted
        for lane in range(lanes):
            floor[j, lane] = LEAST
    for lane in range(lanes if wanted < steps else 0):
        to = row[q + lane, wanted]  # all rows of a query have the same units
        unit[lane, SCORES], unit[lane, SQUARES] = units[to, SCORES], units[to, SQUARES]


@subroutine
def add_block(sums: Array, exact: Array, unit: Array, steps: Int, lanes: Int) -> None:
    """Add the sums of a block to the exact sums of all blocks, by step and lane, and set them to 0."""
    for j in range(steps):
        for column in range(2):
            for lane in range(lanes):
                if sums[j, column, lane] != 0.0:
                    to = j * LANES + lane
                    add_to_sum(exact, to, column, sums[j, column, lane], unit[lane, column])
                    sums[j, column, lane] = 0.0


@subroutine
def shortlist_noticed(
    record: Array,
    score: Array,
    first: Int,
    capacity: Int,
    n: Int,
    lost: Real,
    scores: Array,
    noticed: Array,
    n_noticed: Int,
    lane: Int,
    width: Int,
    block: Int,
    floor: Array,
    best: Array,
    facts: Int,
    slack: Real,
) -> tuple[Int, Real]:
    """Put the noticed records of a block on a shortlist of n if they may be among the best of a step.

    Returns the new n, and the highest score that found no room.
    """
    for i in range(n_noticed):
        position = noticed[i]
        x = scores[position * width + lane]
        if n > 0 and n % (2 * len(best)) == 0 and n < capacity and x >= floor[lane]:  # raises the bound
            n, floor[lane] = prune(
                record, score, first=first, n=n, best=best, facts=facts, floor=floor[lane], slack=slack
            )
        if x >= floor[lane] and x > lost:
            n, floor[lane], lost = enlist(
                record,
                score,
                first=first,
                capacity=capacity,
                n=n,
                new=block + position,
                x=x,
                best=best,
                facts=facts,
                floor=floor[lane],
                lost=lost,
                slack=slack,
            )
    return n, lost


@subroutine
def report(
    row: Array,
    q: Int,
    lanes: Int,
    steps: Int,
    work: NestedWorkspace,
    summaries: QuerySummaries,
    sized: Flag,
    slack: Real,
) -> None:
    """The sums after each wanted step, and the shortlists without records that are too low by now."""
    exact, sums, units = work.exact, summaries.sums, summaries.units
    for lane in range(lanes):
        for j in range(steps):
            at = j * LANES + lane
            if j > 0:
                add_sums(exact, at, at - LANES)
            to = row[q + lane, j]
            if to < 0:
                continue
            first = to * summaries.capacity
            n, _ = prune(
                summaries.record,
                summaries.score,
                first=first,
                n=summaries.shortlisted[to],
                best=work.best,
                facts=j + 1,
                floor=LEAST,
                slack=slack,
            )
            summaries.shortlisted[to] = n
            for column in range(2):
                for word in range(2):
                    sums[to, column, word] = exact[at, column, word]
            total = sum_value(sums, to, SCORES, units[to, SCORES])
            squares = sum_value(sums, to, SQUARES, units[to, SQUARES])
            summaries.highest[to] = np.float64(work.best[0])
            summaries.scale[to] = 1.0 if sized else inverse_sigma(summaries.candidates[to], total, squares)
            summaries.cut[to] = lowest_listed(summaries.score, first, n)
