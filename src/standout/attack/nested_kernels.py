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

from standout.attack.block_kernels import first_run, run_end
from standout.attack.fact_kernels import add_sized_fact_sized_additions as add_sized_fact
from standout.attack.fact_kernels import add_sized_lane, fill_gain, fill_parts
from standout.attack.lane_additions import add_many_lanes, add_one_lane, notice
from standout.attack.nested_arrays import NestedWorkspace, QueryGroups
from standout.attack.query_arrays import (
    BLOCK,
    FIRST_ROUND,
    LEAST,
    OUT,
    PARTITION,
    SCORES,
    SECOND_ROUND,
    SQUARES,
    ZERO,
    QueryFacts,
    QuerySummaries,
    ScoreRule,
    U,
)
from standout.attack.sum_kernels import (
    enlist,
    exp_sum,
    exp_sum_of_zeros,
    inverse_sigma,
    lowest_listed,
    lowest_of_best,
    prune,
)
from standout.core.jit import Array, Flag, Int, Real, kernel, subroutine
from standout.core.parts import add_sums, add_to_sum, sum_value
from standout.core.simd import lane_peaks
from standout.core.simd_fallback import LANES
from standout.data.postings import Postings
from standout.know.lookup_tables import KernelTables, time_similarity

__all__ = ["add_block", "add_repeats", "prepare", "report", "score_prefixes", "shortlist_noticed", "spread_tables"]

# The rows of the summaries that `nested_scores` fills in, one for each wanted step and lane: compiled.


@subroutine
def prepare(row: Array, q: Int, lanes: Int, steps: Int, work: NestedWorkspace, summaries: QuerySummaries) -> None:
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


# Add one fact to the scores of a block's records that have its item several times: for nested attacks.


@subroutine
def add_repeats(
    postings: Postings,
    tables: KernelTables,
    facts: QueryFacts,
    rule: ScoreRule,
    fact: Int,
    low: Int,
    high: Int,
    block: Int,
    exclude: Int,
    lane: Int,
    width: Int,
    sums: Array,
    least: Real,
    work: NestedWorkspace,
) -> None:
    """Add the parts of the records in words low … high - 1 to their scores in one lane, and to its sums.

    `block` is the first record of the block, `exclude` a position in it. Notices records that reach `least`.
    """
    positions, parts = work.repeated.position, work.repeated.part
    scores, noticed, n_noticed, mark = work.scores, work.noticed, work.n_noticed, work.mark
    added, grown = 0.0, 0.0
    for i in range(U(fill_parts(postings, tables, facts, rule, fact, low, high, block, work.repeated))):
        position, part = np.int64(positions[i]), parts[i]
        if position == exclude:
            continue
        at = position * width + lane
        old = scores[at]
        new = old + part
        scores[at] = new
        added += np.float64(part)
        grown += np.float64(part) * (np.float64(old) + np.float64(new))
        if new >= least:
            notice(noticed, n_noticed, mark, position, lane, at)
    sums[0, lane] += added
    sums[1, lane] += grown


# The tables of several draws of the same facts, next to each other: one lane for each draw.


@subroutine
def spread_tables(
    facts: QueryFacts,
    tables: KernelTables,
    rule: ScoreRule,
    work: NestedWorkspace,
    q: Int,
    lanes: Int,
    steps: Int,
    span: Int,
) -> None:
    """Write the lanes' tables, weight included, next to each other by kind and time; empty lanes add 0."""
    a, b, c, time_row = work.a, work.b, work.c, tables.c
    for j in range(steps):
        for lane in range(LANES):
            f = facts.first[q + min(lane, lanes - 1)] + j
            factor, u = facts.weight[f] if lane < lanes else ZERO, facts.shape[f]
            for kind in range(tables.a.shape[1]):
                a[j, kind * LANES + lane] = factor * tables.a[u, kind]
                b[j, kind * LANES + lane] = factor * tables.b[u, kind]
                if rule.sized:
                    a[j, kind * LANES + lane] += rule.constant[f] if lane < lanes else OUT
            first = tables.off[u, 0] - U(facts.time[f])
            for t in range(U(span)):
                c[U(j), t * U(LANES) + U(lane)] = time_similarity(time_row, first + t)


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
    scores: Array, flat: Array, lane: Int, width: Int, size: Int, exclude: Int, highest: Real, scale: Real, cut: Real
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
