"""The first 1, 2, … m facts of one aux, and several draws of the same facts, in one walk: compiled.

Most questions of an audit are nested: how well does an adversary do with 2 facts, with 3, … with 10? The
scores after m facts are those after m − 1 and a little more, so each posting is visited once. The sums of a
block follow each change: if a score grows from `old` to `new` by `part`, the sum of squares grows by part ·
(old + new). Draws that differ only in their noise are stored next to each other, as lanes. All kinds of a
fact share one row of the time table here. A user's own function has more rows, so it is not nested.

A record that may be among the best is noticed when its score rises above the lowest of the best so far.
Scores never fall, so a noticed record may be among the best of a later step even if it crosses no further
bound. The records noticed in a block are therefore examined again after each step.
"""

import numpy as np

from standout.attack.kernels.exp_sum import exp_sum, exp_sum_of_zeros
from standout.attack.kernels.lane_additions import add_many_lanes, add_one_lane
from standout.attack.kernels.lane_tables import spread_tables
from standout.attack.kernels.nested_arrays import NestedWorkspace, QueryGroups
from standout.attack.kernels.nested_repeats import add_repeats
from standout.attack.kernels.nested_rows import add_block, prepare, report, shortlist_noticed
from standout.attack.kernels.query_arrays import (
    BLOCK,
    FIRST_ROUND,
    OUT,
    PARTITION,
    SECOND_ROUND,
    ZERO,
    QueryFacts,
    QuerySummaries,
    ScoreRule,
    U,
)
from standout.attack.kernels.run_cursors import first_run, run_end
from standout.attack.kernels.shortlist import lowest_of_best
from standout.attack.kernels.sized_additions import add_sized_fact, add_sized_lane, fill_gain
from standout.core.exact_sums import add_to_sum
from standout.core.jit import Array, Int, Real, kernel, subroutine
from standout.core.simd import LANES, lane_peaks
from standout.release.postings import Postings
from standout.similarity.lookup_tables import KernelTables

__all__ = ["score_prefixes"]

SAMPLE = 256
"""Number of scores that give the first bounds: of single records, or the highest of groups of records."""
BOUNDS, BEST, MASS = 0, 1, 2
"""Purpose of a walk: first bounds from a sample, the sums and the best, Z."""


@kernel
def score_prefixes(
    postings: Postings,
    facts: QueryFacts,
    tables: KernelTables,
    groups: QueryGroups,
    rule: ScoreRule,
    n_records: Int,
    first_block: Int,
    last_block: Int,
    span: Int,
    rounds: Int,
    work: NestedWorkspace,
    summaries: QuerySummaries,
    low: Int,
    high: Int,
) -> None:
    """Fill in the rows of groups low … high - 1 over the blocks of a part of the release."""
    # Arrays are unpacked here and passed one by one: Numba counts references to each array of a tuple that is
    # passed, which costs up to a tenth of the time where a block has few words.
    _, run, block, begin, end, word, value_bits, time_bits, single, _ = postings
    a, b, off, c, _, even, lines, line_bits, near, reach = tables
    sized, odds, constant, sizes, slack, _ = rule
    code, inverse_sizes = sizes
    first_fact, item, weight, shape, time = facts
    row, scores, cursor, sums = groups.row, work.scores, work.cursor, work.sums
    floor, until, noticed, n_noticed, mark = work.floor, work.until, work.noticed, work.n_noticed, work.mark
    _, exact_sums, units, highest, scale, cut, shortlisted, record, score, lost, capacity = summaries
    best, first_walk, last_walk = work.best, BOUNDS if rounds & FIRST_ROUND else MASS, BEST
    if rounds & SECOND_ROUND:
        last_walk = MASS
    for g in range(low, high):
        q, lanes, exclude = groups.first[g], groups.first[g + 1] - groups.first[g], groups.exclude[g]
        width = 1 if lanes == 1 else LANES
        f, steps = first_fact[q], first_fact[q + 1] - first_fact[q]
        prepare(row, q, lanes, steps, work, summaries)
        if lanes > 1:
            spread_tables(facts, tables, rule, work, q=q, lanes=lanes, steps=steps, span=span)
        for j in range(steps if sized else 0):
            fill_gain(inverse_sizes, odds[f + j], constant[f + j] if lanes == 1 else ZERO, work.gain[j])
        for walk in range(first_walk, last_walk + 1):
            for j in range(steps):
                cursor[j] = first_run(block, run[item[f + j]], run[item[f + j] + 1], first_block)
            for number in range(first_block, last_block):
                touched = False
                for j in range(steps):
                    touched |= run_end(run, block, end, item=item[f + j], cursor=cursor[j], number=number) > 0
                size = min(BLOCK, n_records - number * BLOCK)
                if walk != MASS and not touched:
                    continue
                all_zero = not number * BLOCK <= exclude < number * BLOCK + size
                for i in range(len(scores) if touched or not all_zero else 0):
                    scores[i] = ZERO
                for lane in range(lanes):
                    n_noticed[lane] = 0
                for j in range(steps):
                    stop = run_end(run, block, end, item=item[f + j], cursor=cursor[j], number=number)
                    if stop > 0:
                        bound, at, once = until[j] if walk == BEST else steps, begin[cursor[j]], stop
                        if len(single):
                            once = single[cursor[j]]
                            for lane in range(lanes):
                                add_repeats(
                                    postings,
                                    tables,
                                    facts,
                                    rule,
                                    fact=first_fact[q + lane] + j,
                                    low=once,
                                    high=stop,
                                    block=number * BLOCK,
                                    exclude=exclude - number * BLOCK,
                                    lane=lane,
                                    width=width,
                                    sums=sums[j],
                                    least=floor[bound, lane],
                                    work=work,
                                )
                        gap = once
                        if exclude // BLOCK == number:
                            gap = _find_position(postings, at, once, exclude % BLOCK)
                        for turn in range(2):  # before the excluded record, and after
                            first, last = (at, gap) if turn == 0 else (gap + 1, once)
                            if first >= last:
                                continue
                            block_code = code[number * BLOCK : number * BLOCK + size]
                            if lanes == 1 and sized and walk == MASS:  # the same scores, without sums
                                add_sized_fact(
                                    word=word,
                                    low=first,
                                    high=last,
                                    value_bits=value_bits,
                                    time_bits=time_bits,
                                    a=a,
                                    b=b,
                                    off=off,
                                    c=c,
                                    near=near,
                                    reach=reach,
                                    shape=shape[f + j],
                                    known_time=time[f + j],
                                    code=block_code,
                                    gain=work.gain[j],
                                    scores=scores,
                                )
                            elif lanes == 1 and sized:
                                add_sized_lane(
                                    word=word,
                                    low=first,
                                    high=last,
                                    value_bits=value_bits,
                                    time_bits=time_bits,
                                    a=a,
                                    b=b,
                                    off=off,
                                    c=c,
                                    near=near,
                                    reach=reach,
                                    shape=shape[f + j],
                                    known_time=time[f + j],
                                    code=block_code,
                                    gain=work.gain[j],
                                    scores=scores,
                                    sums=sums[j],
                                    least=floor[bound, 0],
                                    noticed=noticed,
                                    n_noticed=n_noticed,
                                    mark=mark,
                                )
                            elif lanes == 1:
                                add_one_lane(
                                    word=word,
                                    low=first,
                                    high=last,
                                    value_bits=value_bits,
                                    time_bits=time_bits,
                                    a=a,
                                    b=b,
                                    off=off,
                                    c=c,
                                    even=even,
                                    lines=lines,
                                    line_bits=line_bits,
                                    shape=shape[f + j],
                                    known_time=time[f + j],
                                    weight=weight[f + j],
                                    scores=scores,
                                    sums=sums[j],
                                    least=floor[bound, 0],
                                    noticed=noticed,
                                    n_noticed=n_noticed,
                                    mark=mark,
                                )
                            else:
                                add_many_lanes(
                                    word=word,
                                    low=first,
                                    high=last,
                                    value_bits=value_bits,
                                    time_bits=time_bits,
                                    a=work.a[j],
                                    b=work.b[j],
                                    c=work.c[j],
                                    scores=scores,
                                    sums=sums[j],
                                    lanes=lanes,
                                    least=floor[bound],
                                    highest=work.highest,
                                    noticed=noticed,
                                    n_noticed=n_noticed,
                                    mark=mark,
                                    sized=sized,
                                    code=block_code,
                                    gain=work.gain[j],
                                )
                        cursor[j], all_zero = cursor[j] + 1, False
                    if row[q, j] < 0:
                        continue
                    for lane in range(lanes):
                        to = row[q + lane, j]
                        if walk == BEST:
                            if n_noticed[lane] > 0:
                                shortlisted[to], lost[to] = shortlist_noticed(
                                    record,
                                    score,
                                    first=to * capacity,
                                    capacity=capacity,
                                    n=shortlisted[to],
                                    lost=lost[to],
                                    scores=scores,
                                    noticed=noticed[lane],
                                    n_noticed=n_noticed[lane],
                                    lane=lane,
                                    width=width,
                                    block=number * BLOCK,
                                    floor=floor[j],
                                    best=best,
                                    facts=j + 1,
                                    slack=slack,
                                )
                        elif walk == BOUNDS:
                            if lanes > 1 and lane == 0:
                                lane_peaks(scores, BLOCK // SAMPLE, work.flat)
                            sample = scores if lanes == 1 else work.flat
                            floor[j, lane] = lowest_of_best(sample, lane, width, SAMPLE, best, steps, slack)
                        elif scale[to] > 0.0:
                            if all_zero:
                                mass = exp_sum_of_zeros(size, highest[to], scale[to])
                            else:
                                mass = _mass(
                                    scores,
                                    work.flat,
                                    lane=lane,
                                    width=width,
                                    size=size,
                                    exclude=exclude - number * BLOCK,
                                    highest=highest[to],
                                    scale=scale[to],
                                    cut=cut[to],
                                )
                            add_to_sum(exact_sums, to, PARTITION, mass, units[to, PARTITION])
                for lane in range(lanes):
                    for i in range(n_noticed[lane]):
                        mark[noticed[lane, i] * width + lane] = False
                if walk == BEST:
                    add_block(sums, work.exact, work.unit, steps, lanes)
                if walk == BOUNDS:
                    sums[:] = 0.0
                    break
            if walk == BEST:
                report(row, q, lanes, steps, work, summaries, sized, slack)


@subroutine
def _find_position(postings: Postings, low: Int, high: Int, position: Int) -> Int:
    """The position of a record in these words, or `high`."""
    word, shift, stop = postings.word, U(postings.value_bits + postings.time_bits), high
    while low < high:
        middle = (low + high) // 2
        if np.int64(U(word[middle]) >> shift) < position:
            low = middle + 1
        else:
            high = middle
    return low if low < stop and np.int64(U(word[low]) >> shift) == position else stop


@subroutine
def _mass(
    scores: Array,
    flat: Array,
    lane: Int,
    width: Int,
    size: Int,
    exclude: Int,
    highest: Real,
    scale: Real,
    cut: Real,
) -> Real:
    """Σ e^((score − highest) · scale) over scores of a block below `cut`, of one lane.

    The excluded position does not count.
    """
    if width > 1:
        for i in range(U(size)):
            flat[i] = scores[i * U(width) + U(lane)]
    block = flat if width > 1 else scores
    is_excluded = 0 <= exclude < size
    if is_excluded:
        block[exclude] = OUT
    mass = exp_sum(block, np.int64(0), size, highest, scale, cut)
    if is_excluded:
        block[exclude] = ZERO
    return mass
