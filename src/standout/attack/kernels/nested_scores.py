"""The first 1, 2, … m facts of one aux, and several draws of the same facts, in one walk: compiled.

Most questions of an audit are nested: how well does an adversary do with 2 facts, with 3, … with 10? The
scores after m facts are those after m − 1 and a little more, so each posting is visited once. The sums
follow each change: if a score grows from `old` to `new` by `part`, the sum of squares grows by part · (old
+ new). Draws that differ only in their noise lie beside each other as lanes. All kinds of a fact share one
row of the time table here. A user's own function, which has more rows, is not nested.

A record that may be among the best is noticed when its score rises above the lowest of the best so far. A
record that crosses no bound any more may still be among the best of a later step, because scores never fall:
so the records noticed in a block are looked at again after each step.
"""

import numpy as np

from standout.attack.kernels.block_scores import interpolated, run_end
from standout.attack.kernels.exp_sum import exp_sum, inverse_sigma
from standout.attack.kernels.nested_arrays import NestedWorkspace, QueryGroups
from standout.attack.kernels.query_arrays import BLOCK, LEAST, OUT, ZERO, QueryFacts, QuerySummaries, U
from standout.attack.kernels.shortlist import lowest_of_best, prune
from standout.core.jit import Array, Flag, Int, Real, inline, kernel, subroutine
from standout.core.simd import LANES, add_fact, lane_peaks, multiply_add
from standout.release.postings import BLOCK_BITS, Postings
from standout.similarity.lookup_tables import KernelTables

__all__ = ["score_prefixes"]

CHUNK = 32
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
    n_records: Int,
    span: Int,
    with_z: Flag,
    work: NestedWorkspace,
    summaries: QuerySummaries,
    low: Int,
    high: Int,
) -> None:
    """Fill in the rows of groups low … high - 1."""
    item, row, scores, cursor, at = facts.item, groups.row, work.scores, work.cursor, work.at
    for g in range(low, high):
        q, lanes, exclude = groups.first[g], groups.first[g + 1] - groups.first[g], groups.exclude[g]
        width = 1 if lanes == 1 else LANES
        f, steps = facts.first[q], facts.first[q + 1] - facts.first[q]
        _prepare(row, q, lanes, steps, work, summaries)
        if lanes > 1:
            _spread_tables(facts, tables, work, q=q, lanes=lanes, steps=steps, span=span)
        for walk in range(3 if with_z else 2):
            for j in range(steps):
                cursor[j], at[j] = postings.run[item[f + j]], postings.start[item[f + j]]
            for number in range(-(-n_records // BLOCK)):
                touched = False
                for j in range(steps):
                    touched |= run_end(postings, item[f + j], cursor[j], number) > 0
                size = min(BLOCK, n_records - number * BLOCK)
                if walk != MASS and not touched:
                    continue
                for i in range(len(scores)):
                    scores[i] = ZERO
                for lane in range(lanes):
                    work.n_noticed[lane] = 0
                for j in range(steps):
                    stop = run_end(postings, item[f + j], cursor[j], number)
                    if stop > 0:
                        gap = stop
                        if exclude // BLOCK == number:
                            gap = _find_place(postings, at[j], stop, exclude % BLOCK)
                        bound = work.until[j] if walk == BEST else steps
                        for turn in range(2):  # before the excluded record, and after
                            begin, end = (at[j], gap) if turn == 0 else (gap + 1, stop)
                            if begin >= end:
                                continue
                            if lanes == 1:
                                _add_one_lane(
                                    postings,
                                    tables,
                                    facts,
                                    work,
                                    fact=f + j,
                                    low=begin,
                                    high=end,
                                    step=j,
                                    bound=bound,
                                )
                            else:
                                _add_many_lanes(
                                    postings, work, low=begin, high=end, lanes=lanes, step=j, bound=bound
                                )
                        at[j], cursor[j] = stop, cursor[j] + 1
                    if row[q, j] < 0:
                        continue
                    for lane in range(lanes):
                        to = row[q + lane, j]
                        if walk == BEST:
                            if work.n_noticed[lane] > 0:
                                _shortlist_noticed(
                                    work,
                                    summaries,
                                    query=to,
                                    lane=lane,
                                    width=width,
                                    first=number * BLOCK,
                                    step=j,
                                )
                        elif walk == BOUNDS:
                            if lanes > 1 and lane == 0:
                                lane_peaks(scores, BLOCK // SAMPLE, work.flat)
                            sample = scores if lanes == 1 else work.flat
                            work.floor[j, lane] = lowest_of_best(
                                sample, lane, width, SAMPLE, work.best, steps
                            )
                        else:
                            summaries.z[to] += _mass(
                                work,
                                summaries,
                                query=to,
                                lane=lane,
                                width=width,
                                size=size,
                                exclude=exclude - number * BLOCK,
                            )
                for lane in range(lanes):
                    for i in range(work.n_noticed[lane]):
                        work.mark[work.noticed[lane, i] * width + lane] = False
                if walk == BOUNDS:
                    break
            if walk == BOUNDS:
                work.sums[:] = 0.0
            if walk == BEST:
                _report(row, q, lanes, steps, work, summaries)


@subroutine
def _prepare(
    row: Array, q: Int, lanes: Int, steps: Int, work: NestedWorkspace, summaries: QuerySummaries
) -> None:
    """Empty the wanted rows of the summaries; until[j] = the first wanted step from j on."""
    floor, sums, wanted = work.floor, work.sums, steps
    for lane in range(LANES):
        floor[steps, lane] = np.inf  # for walks that notice no record
    for j in range(steps - 1, -1, -1):
        if row[q, j] >= 0:
            wanted = j
        work.until[j] = wanted
        for lane in range(lanes):
            floor[j, lane] = LEAST
            sums[j, 0, lane], sums[j, 1, lane] = 0.0, 0.0
            if row[q, j] >= 0:
                to = row[q + lane, j]
                summaries.shortlisted[to], summaries.overflow[to], summaries.z[to] = 0, False, 0.0


@subroutine
def _spread_tables(
    facts: QueryFacts,
    tables: KernelTables,
    work: NestedWorkspace,
    q: Int,
    lanes: Int,
    steps: Int,
    span: Int,
) -> None:
    """The lanes' own tables, weight included, beside each other by kind and time; empty lanes add 0."""
    a, b, c, time_row = work.a, work.b, work.c, tables.c
    for j in range(steps):
        for lane in range(LANES):
            f = facts.first[q + min(lane, lanes - 1)] + j
            factor, u = facts.weight[f] if lane < lanes else ZERO, facts.shape[f]
            for kind in range(tables.a.shape[1]):
                a[j, kind * LANES + lane] = factor * tables.a[u, kind]
                b[j, kind * LANES + lane] = factor * tables.b[u, kind]
            first = tables.off[u, 0] - U(facts.time[f])
            for t in range(U(span)):
                c[U(j), t * U(LANES) + U(lane)] = time_row[first + t]


@subroutine
def _find_place(postings: Postings, low: Int, high: Int, place: Int) -> Int:
    """The position of a record in these words, or `high`."""
    word, shift, stop = postings.word, U(postings.value_bits + postings.time_bits), high
    while low < high:
        middle = (low + high) // 2
        if np.int64(U(word[middle]) >> shift) < place:
            low = middle + 1
        else:
            high = middle
    return low if low < stop and np.int64(U(word[low]) >> shift) == place else stop


@inline
def _add_one_lane(
    postings: Postings,
    tables: KernelTables,
    facts: QueryFacts,
    work: NestedWorkspace,
    fact: Int,
    low: Int,
    high: Int,
    step: Int,
    bound: Int,
) -> None:
    """Add a fact to the scores of a block and to the sums, and notice records that reach the bound: one lane.

    In a decay, where all kinds have one factor, every other entry goes into sums of its own: an addition
    need not wait for the last.
    """
    word, value_bits, time_bits = postings.word, postings.value_bits, postings.time_bits
    a, b, off, c, _, even, lines, line_bits = tables
    scores, weight, least = work.scores, facts.weight[fact], work.floor[bound, 0]
    noticed, n_noticed, mark = work.noticed, work.n_noticed, work.mark
    of_time, of_place, u = U(time_bits), U(time_bits + value_bits), U(facts.shape[fact])
    time_mask, kind_mask, place_mask = (U(1) << of_time) - U(1), (U(1) << U(value_bits)) - U(1), U(BLOCK - 1)
    row, factor = off[u, U(0)] - U(facts.time[fact]), b[u, U(0)]
    added, grown = 0.0, 0.0
    for begin in range(low, high, CHUNK):
        p, stop, highest, other = U(begin), min(begin + CHUNK, high), ZERO, ZERO
        added_1, grown_1, added_2, grown_2 = ZERO, ZERO, ZERO, ZERO  # never long sums in single precision
        for _ in range((stop - begin) // 2 if even[u] and not line_bits else 0):
            x, y = U(word[p]), U(word[p + U(1)])
            place = (x >> of_place) & place_mask
            alike = multiply_add(factor, c[(x & time_mask) + row], a[u, (x >> of_time) & kind_mask])
            part = weight * alike
            old = scores[place]
            new = old + part
            scores[place] = new
            added_1 += part
            grown_1 = multiply_add(part, old + new, grown_1)
            highest = new if new > highest else highest
            place = (y >> of_place) & place_mask
            alike = multiply_add(factor, c[(y & time_mask) + row], a[u, (y >> of_time) & kind_mask])
            part = weight * alike
            old = scores[place]
            new = old + part
            scores[place] = new
            added_2 += part
            grown_2 = multiply_add(part, old + new, grown_2)
            other = new if new > other else other
            p += U(2)
        for _ in range(stop - np.int64(p)):
            x = U(word[p])
            kind, place = (x >> of_time) & kind_mask, (x >> of_place) & place_mask
            at = (x & time_mask) + row
            alike = interpolated(c, lines, line_bits, at) if line_bits else c[at]
            part = weight * multiply_add(b[u, kind], alike, a[u, kind])
            old = scores[place]
            new = old + part
            scores[place] = new
            added_1 += part
            grown_1 = multiply_add(part, old + new, grown_1)
            highest = new if new > highest else highest
            p += U(1)
        added += np.float64(added_1) + np.float64(added_2)
        grown += np.float64(grown_1) + np.float64(grown_2)
        if highest >= least or other >= least:
            for i in range(U(begin), U(stop)):
                place = (U(word[i]) >> of_place) & place_mask
                if scores[place] >= least:
                    _notice(noticed, n_noticed, mark, np.int64(place), np.int64(0), np.int64(place))
    work.sums[step, 0, 0] += added
    work.sums[step, 1, 0] += grown


@inline
def _add_many_lanes(
    postings: Postings, work: NestedWorkspace, low: Int, high: Int, lanes: Int, step: Int, bound: Int
) -> None:
    """The same for several lanes."""
    word, value_bits, time_bits = postings.word, postings.value_bits, postings.time_bits
    a, b, c, sums, least = work.a[step], work.b[step], work.c[step], work.sums[step], work.floor[bound]
    scores, highest, of_place = work.scores, work.highest, U(value_bits + time_bits)
    noticed, n_noticed, mark = work.noticed, work.n_noticed, work.mark
    for begin in range(low, high, CHUNK):
        stop = min(begin + CHUNK, high)
        if add_fact(
            word, begin, stop, value_bits, time_bits, BLOCK_BITS, a, b, c, scores, sums, least, highest
        ):
            for p in range(U(begin), U(stop)):
                place = np.int64((U(word[p]) >> of_place) & U(BLOCK - 1))
                reached = _lanes_reaching(scores, place, least)
                lane = 0
                while reached:
                    if reached & 1 and lane < lanes:
                        _notice(noticed, n_noticed, mark, place, lane, place * LANES + lane)
                    reached >>= 1
                    lane += 1


@subroutine
def _lanes_reaching(scores: Array, place: Int, least: Array) -> Int:
    """Bit i says whether the score of a record in lane i has reached its bound."""
    bits = 0
    for lane in range(LANES):
        bits |= int(scores[place * LANES + lane] >= least[lane]) << lane
    return bits


@inline
def _notice(noticed: Array, n_noticed: Array, mark: Array, place: Int, lane: Int, at: Int) -> None:
    """Note a place of the block, once."""
    if not mark[at]:
        mark[at] = True
        noticed[lane, n_noticed[lane]] = place
        n_noticed[lane] += 1


@inline
def _shortlist_noticed(
    work: NestedWorkspace,
    summaries: QuerySummaries,
    query: Int,
    lane: Int,
    width: Int,
    first: Int,
    step: Int,
) -> None:
    """Put the noticed records of a block on a shortlist if they may be among the best of this step."""
    floor, best, capacity = work.floor, work.best, summaries.capacity
    n, overflow = summaries.shortlisted[query], summaries.overflow[query]
    for i in range(work.n_noticed[lane]):
        place = work.noticed[lane, i]
        x = work.scores[place * width + lane]
        if x < floor[step, lane] or overflow:
            continue
        if n == capacity or (n > 0 and n % (2 * len(best)) == 0):  # raises the bound, and makes room
            n, floor[step, lane] = prune(summaries, query, n, best, step + 1, floor[step, lane])
            overflow = n == capacity
            if overflow or x < floor[step, lane]:
                continue
        summaries.record[query * capacity + n] = first + place
        summaries.score[query * capacity + n] = x
        n += 1
    summaries.shortlisted[query], summaries.overflow[query] = n, overflow


@subroutine
def _mass(
    work: NestedWorkspace,
    summaries: QuerySummaries,
    query: Int,
    lane: Int,
    width: Int,
    size: Int,
    exclude: Int,
) -> Real:
    """Σ e^((score − highest)/σ) over a block, without the excluded place, of one lane; 0 if σ is 0."""
    scale = inverse_sigma(summaries.candidates[query], summaries.total[query], summaries.squares[query])
    if scale == 0.0:
        return 0.0
    scores, flat = work.scores, work.flat
    if width > 1:
        for i in range(U(size)):
            flat[i] = scores[i * U(width) + U(lane)]
    block = flat if width > 1 else scores
    is_excluded = 0 <= exclude < size
    if is_excluded:
        block[exclude] = OUT
    mass = exp_sum(block, np.int64(0), size, summaries.highest[query], scale)
    if is_excluded:
        block[exclude] = ZERO
    return mass


@subroutine
def _report(
    row: Array, q: Int, lanes: Int, steps: Int, work: NestedWorkspace, summaries: QuerySummaries
) -> None:
    """The sums after each wanted step, and the shortlists without records that are too low by now."""
    for lane in range(lanes):
        added, grown = 0.0, 0.0
        for j in range(steps):
            added += work.sums[j, 0, lane]
            grown += work.sums[j, 1, lane]
            to = row[q + lane, j]
            if to < 0:
                continue
            n, _ = prune(summaries, to, summaries.shortlisted[to], work.best, j + 1, LEAST)
            summaries.shortlisted[to], summaries.total[to], summaries.squares[to] = n, added, grown
            summaries.highest[to] = np.float64(work.best[0])
