"""The first 1, 2, … m facts of one aux, and several draws of the same facts, in one walk: compiled.

Most of what an audit asks is nested: how well do 2 facts do, 3, … 10? The scores after m facts are those
after m − 1 and a little more, so each posting is looked at once. The sums follow each change: if a score
grows from `old` to `new` by `piece`, the sum of squares grows by piece · (old + new). Draws that differ in
their noise only lie beside each other as lanes. All kinds of a fact share one row of the time table here:
functions of the user's own, which have more, are not nested.

Who may be among the best is noticed when a score rises above the lowest of the best so far. A record that
crosses no bound any more may still be among the best of a later step, because scores never fall: so
those noticed in a block are looked at again after each step.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.kernels.block_scores import (
    BLOCK,
    LEAST,
    OUT,
    ZERO,
    QueryFacts,
    QuerySummaries,
    U,
    bound,
    exp_sum,
    on_line,
    run_end,
    scale_of,
    thin,
)
from standout.core.jit import Array, Flag, Int, Real, kernel, subroutine
from standout.core.simd import LANES, add_fact, lane_peaks, lanes_reaching, multiply_add
from standout.release.postings import BLOCK_BITS, Postings
from standout.similarity.lookup_tables import KernelTables

__all__ = ["NestedWorkspace", "QueryGroups", "score_prefixes"]

CHUNK = 32
SAMPLE = 256
"""Scores that give the first bounds: of so many records, or the highest of so many groups of them."""
BOUNDS, BEST, MASS = 0, 1, 2
"""What a walk is for: first bounds from a sample, the sums and the best, Z."""


class QueryGroups(NamedTuple):
    """Queries about the same items: group g has the queries first[g] … first[g + 1], its lanes.

    row[q, j] is where query q's verdict after j + 1 facts goes, -1 if nobody asked. `exclude` is by group.
    """

    first: NDArray[np.int64]
    row: NDArray[np.int64]
    exclude: NDArray[np.int64]


class NestedWorkspace(NamedTuple):
    """A thread's own arrays: the scores of one block, lane by lane; tables, sums and bounds by step and lane;
    who was noticed in the block."""

    scores: NDArray[np.float32]
    a: NDArray[np.float32]
    b: NDArray[np.float32]
    c: NDArray[np.float32]
    sums: NDArray[np.float64]
    floor: NDArray[np.float32]
    until: NDArray[np.int64]
    best: NDArray[np.float32]
    highest: NDArray[np.float32]
    noticed: NDArray[np.int64]
    n_noticed: NDArray[np.int64]
    mark: NDArray[np.bool_]
    cursor: NDArray[np.int64]
    at: NDArray[np.int64]
    flat: NDArray[np.float32]

    @classmethod
    def of(cls, steps: int, kinds: int, times: int, top: int, width: int) -> "NestedWorkspace":
        steps = max(steps, 1)
        return cls(
            np.zeros(BLOCK * width, np.float32), np.zeros((steps, kinds * LANES), np.float32),
            np.zeros((steps, kinds * LANES), np.float32), np.zeros((steps, times * LANES), np.float32),
            np.zeros((steps, 2, LANES)), np.full((steps + 1, LANES), np.inf, np.float32),
            np.zeros(steps, np.int64), np.zeros(top, np.float32), np.zeros(LANES, np.float32),
            np.zeros((LANES, BLOCK), np.int64),
            np.zeros(LANES, np.int64), np.zeros(BLOCK * width, np.bool_), np.zeros(steps, np.int64),
            np.zeros(steps, np.int64), np.zeros(BLOCK, np.float32),
        )  # fmt: skip


@kernel
def score_prefixes(
    postings: Postings, facts: QueryFacts, tables: KernelTables, groups: QueryGroups, n_records: Int,
    span: Int, top: Int, with_z: Flag, nest: NestedWorkspace, found: QuerySummaries, low: Int, high: Int,
) -> None:  # fmt: skip
    """QueryGroups low … high - 1, into the rows of `found`."""
    start, run, block, end, word, value_bits, time_bits = postings
    first_fact, item, weight, shape, time = facts
    a, b, off, c, _, even, lines, line_bits = tables
    scores, floor, until, best, cursor, at = (
        nest.scores,
        nest.floor,
        nest.until,
        nest.best,
        nest.cursor,
        nest.at,
    )
    sums, noticed, count, mark, row = nest.sums, nest.noticed, nest.n_noticed, nest.mark, groups.row
    record, score, places = found.record, found.score, found.places
    for g in range(low, high):
        q, lanes, exclude = groups.first[g], groups.first[g + 1] - groups.first[g], groups.exclude[g]
        width = 1 if lanes == 1 else LANES
        f, steps = first_fact[q], first_fact[q + 1] - first_fact[q]
        _prepare(row, q, lanes, steps, floor, until, sums, found.n, found.more, found.z)
        if lanes > 1:
            _spread(first_fact, weight, shape, time, tables, nest.a, nest.b, nest.c, q, lanes, steps, span)
        for walk in range(3 if with_z else 2):
            for j in range(steps):
                cursor[j], at[j] = run[item[f + j]], start[item[f + j]]
            for here in range(-(-n_records // BLOCK)):
                touched = False
                for j in range(steps):
                    touched |= run_end(start, run, block, end, item[f + j], cursor[j], here) > 0
                size = min(BLOCK, n_records - here * BLOCK)
                if walk != MASS and not touched:
                    continue
                for i in range(len(scores)):
                    scores[i] = ZERO
                for lane in range(lanes):
                    count[lane] = 0
                for j in range(steps):
                    stop = run_end(start, run, block, end, item[f + j], cursor[j], here)
                    if stop > 0:
                        gap = stop
                        if exclude // BLOCK == here:
                            gap = _find_place(word, at[j], stop, value_bits + time_bits, exclude % BLOCK)
                        noting = until[j] if walk == BEST else steps
                        for turn in range(2):  # before the excluded record, and after
                            first, last = (at[j], gap) if turn == 0 else (gap + 1, stop)
                            if first >= last:
                                continue
                            if lanes == 1:
                                _one(
                                    word, first, last, value_bits, time_bits, a, b, off, c, even, lines,
                                    line_bits, shape[f + j], time[f + j], weight[f + j], scores, sums[j],
                                    floor[noting, 0], noticed, count, mark,
                                )  # fmt: skip
                            else:
                                _many(
                                    word, first, last, value_bits, time_bits, nest.a[j], nest.b[j], nest.c[j],
                                    scores, sums[j], lanes, floor[noting], nest.highest, noticed, count, mark,
                                )  # fmt: skip
                        at[j], cursor[j] = stop, cursor[j] + 1
                    if row[q, j] < 0:
                        continue
                    for lane in range(lanes):
                        to = row[q + lane, j]
                        if walk == BEST:
                            if count[lane] == 0:
                                continue
                            found.n[to], found.more[to] = _collect(
                                scores, noticed, count, lane, width, here * BLOCK, floor, j, record, score,
                                to * places, places, found.n[to], found.more[to], best, top,
                            )  # fmt: skip
                            continue
                        if walk == BOUNDS:
                            if lanes > 1 and lane == 0:
                                lane_peaks(scores, BLOCK // SAMPLE, nest.flat)
                            sample = scores if lanes == 1 else nest.flat
                            floor[j, lane] = bound(sample, lane, width, SAMPLE, best, top, steps)
                            continue
                        scale = scale_of(found.candidates[to], found.total[to], found.squares[to])
                        if scale > 0.0:
                            found.z[to] += _mass(
                                scores, nest.flat, lane, width, size, exclude - here * BLOCK,
                                found.highest[to], scale,
                            )  # fmt: skip
                for lane in range(lanes):
                    for i in range(count[lane]):
                        mark[noticed[lane, i] * width + lane] = False
                if walk == BOUNDS:
                    break
            if walk == BOUNDS:
                sums[:] = 0.0
            if walk == BEST:
                _report(row, q, lanes, steps, sums, found, best, top)


@subroutine
def _prepare(
    row: Array, q: Int, lanes: Int, steps: Int, floor: Array, until: Array, sums: Array, n: Array,
    more: Array, z: Array,
) -> None:  # fmt: skip
    """Empties the rows that were asked for; until[j] = the first step from j on that was."""
    asked = steps
    for lane in range(LANES):
        floor[steps, lane] = np.inf  # where nobody is to be noticed
    for j in range(steps - 1, -1, -1):
        if row[q, j] >= 0:
            asked = j
        until[j] = asked
        for lane in range(lanes):
            floor[j, lane] = LEAST
            sums[j, 0, lane], sums[j, 1, lane] = 0.0, 0.0
            if row[q, j] >= 0:
                to = row[q + lane, j]
                n[to], more[to], z[to] = 0, False, 0.0


@subroutine
def _spread(
    first_fact: Array, weight: Array, shape: Array, time: Array, tables: KernelTables, a: Array, b: Array,
    c: Array, q: Int, lanes: Int, steps: Int, span: Int,
) -> None:  # fmt: skip
    """The lanes' own tables, weight included, beside each other by kind and time; empty lanes add 0."""
    of_a, of_b, off, of_c = tables.a, tables.b, tables.off, tables.c
    for j in range(steps):
        for lane in range(LANES):
            f = first_fact[q + min(lane, lanes - 1)] + j
            factor, u = weight[f] if lane < lanes else ZERO, shape[f]
            for kind in range(of_a.shape[1]):
                a[j, kind * LANES + lane] = factor * of_a[u, kind]
                b[j, kind * LANES + lane] = factor * of_b[u, kind]
            first = off[u, 0] - U(time[f])
            for t in range(U(span)):
                c[U(j), t * U(LANES) + U(lane)] = of_c[first + t]


@subroutine
def _find_place(word: Array, low: Int, high: Int, of_place: Int, place: Int) -> Int:
    """Where in these words a record stands, or `high`."""
    shift, stop = U(of_place), high
    while low < high:
        middle = (low + high) // 2
        if np.int64(U(word[middle]) >> shift) < place:
            low = middle + 1
        else:
            high = middle
    return low if low < stop and np.int64(U(word[low]) >> shift) == place else stop


@subroutine
def _one(
    word: Array, low: Int, high: Int, value_bits: Int, time_bits: Int, a: Array, b: Array, off: Array,
    c: Array, even: Array, lines: Array, line_bits: Int, shape: Int, known_time: Int, weight: Real,
    scores: Array, sums: Array, least: Real, noticed: Array, count: Array, mark: Array,
) -> None:  # fmt: skip
    """Adds a fact to the scores of a block and to the sums, and notices who reaches `least`: one lane.

    In a decay, where all kinds have one factor, every other entry goes into sums of its own: an addition
    need not wait for the last.
    """
    of_time, of_place, u = U(time_bits), U(time_bits + value_bits), U(shape)
    time_mask, kind_mask, place_mask = (U(1) << of_time) - U(1), (U(1) << U(value_bits)) - U(1), U(BLOCK - 1)
    row, factor = off[u, U(0)] - U(known_time), b[u, U(0)]
    added, grown = 0.0, 0.0
    for begin in range(low, high, CHUNK):
        p, stop, highest, other = U(begin), min(begin + CHUNK, high), ZERO, ZERO
        added_1, grown_1, added_2, grown_2 = ZERO, ZERO, ZERO, ZERO  # never long sums in single precision
        for _ in range((stop - begin) // 2 if even[u] and not line_bits else 0):
            x, y = U(word[p]), U(word[p + U(1)])
            place = (x >> of_place) & place_mask
            alike = multiply_add(factor, c[(x & time_mask) + row], a[u, (x >> of_time) & kind_mask])
            piece = weight * alike
            old = scores[place]
            new = old + piece
            scores[place] = new
            added_1 += piece
            grown_1 = multiply_add(piece, old + new, grown_1)
            highest = new if new > highest else highest
            place = (y >> of_place) & place_mask
            alike = multiply_add(factor, c[(y & time_mask) + row], a[u, (y >> of_time) & kind_mask])
            piece = weight * alike
            old = scores[place]
            new = old + piece
            scores[place] = new
            added_2 += piece
            grown_2 = multiply_add(piece, old + new, grown_2)
            other = new if new > other else other
            p += U(2)
        for _ in range(stop - np.int64(p)):
            x = U(word[p])
            kind, place = (x >> of_time) & kind_mask, (x >> of_place) & place_mask
            at = (x & time_mask) + row
            alike = on_line(c, lines, line_bits, at) if line_bits else c[at]
            piece = weight * multiply_add(b[u, kind], alike, a[u, kind])
            old = scores[place]
            new = old + piece
            scores[place] = new
            added_1 += piece
            grown_1 = multiply_add(piece, old + new, grown_1)
            highest = new if new > highest else highest
            p += U(1)
        added += np.float64(added_1) + np.float64(added_2)
        grown += np.float64(grown_1) + np.float64(grown_2)
        if highest >= least or other >= least:
            for i in range(U(begin), U(stop)):
                place = (U(word[i]) >> of_place) & place_mask
                if scores[place] >= least:
                    _notice(np.int64(place), np.int64(0), np.int64(place), noticed, count, mark)
    sums[0, 0] += added
    sums[1, 0] += grown


@subroutine
def _many(
    word: Array, low: Int, high: Int, value_bits: Int, time_bits: Int, a: Array, b: Array, c: Array,
    scores: Array, sums: Array, lanes: Int, least: Array, highest: Array, noticed: Array, count: Array,
    mark: Array,
) -> None:  # fmt: skip
    """The same for several lanes."""
    of_place = U(value_bits + time_bits)
    for begin in range(low, high, CHUNK):
        stop = min(begin + CHUNK, high)
        if add_fact(
            word, begin, stop, value_bits, time_bits, BLOCK_BITS, a, b, c, scores, sums, least, highest
        ):
            for p in range(U(begin), U(stop)):
                place = np.int64((U(word[p]) >> of_place) & U(BLOCK - 1))
                risen = lanes_reaching(scores, place, least)
                lane = 0
                while risen:
                    if risen & 1 and lane < lanes:
                        _notice(place, lane, place * LANES + lane, noticed, count, mark)
                    risen >>= 1
                    lane += 1


@subroutine
def _notice(place: Int, lane: Int, at: Int, noticed: Array, count: Array, mark: Array) -> None:
    """Notes a place, once a block."""
    if not mark[at]:
        mark[at] = True
        noticed[lane, count[lane]] = place
        count[lane] += 1


@subroutine
def _collect(
    scores: Array, noticed: Array, count: Array, lane: Int, width: Int, first: Int, floor: Array, j: Int,
    record: Array, score: Array, row: Int, places: Int, n: Int, more: Flag, best: Array, top: Int,
) -> tuple[Int, Flag]:  # fmt: skip
    """Takes the noticed records of a block into a row, as long as they may be among the best of step j."""
    for i in range(count[lane]):
        place = noticed[lane, i]
        x = scores[place * width + lane]
        if x < floor[j, lane] or more:
            continue
        if n == places or (n > 0 and n % (2 * top) == 0):  # raises the bound, and makes room
            n, floor[j, lane] = thin(record, score, row, n, best, top, j + 1, floor[j, lane])
            more = n == places
            if more or x < floor[j, lane]:
                continue
        record[row + n] = first + place
        score[row + n] = x
        n += 1
    return n, more


@subroutine
def _mass(
    scores: Array, flat: Array, lane: Int, width: Int, size: Int, exclude: Int, highest: Real, scale: Real
) -> Real:
    """Σ e^((score − highest)·scale) over a block, without the excluded place, of one lane."""
    own, stride = U(lane), U(width)
    if width > 1:
        for i in range(U(size)):
            flat[i] = scores[i * stride + own]
    block = flat if width > 1 else scores
    out = 0 <= exclude < size
    if out:
        block[exclude] = OUT
    mass = exp_sum(block, np.int64(0), size, highest, scale)
    if out:
        block[exclude] = ZERO
    return mass


@subroutine
def _report(
    row: Array, q: Int, lanes: Int, steps: Int, sums: Array, found: QuerySummaries, best: Array, top: Int
) -> None:
    """The sums after each step that was asked for, and the best without those that turned out not to be."""
    for lane in range(lanes):
        added, grown = 0.0, 0.0
        for j in range(steps):
            added += sums[j, 0, lane]
            grown += sums[j, 1, lane]
            to = row[q + lane, j]
            if to < 0:
                continue
            n, _ = thin(found.record, found.score, to * found.places, found.n[to], best, top, j + 1, LEAST)
            found.n[to], found.total[to], found.squares[to] = n, added, grown
            found.highest[to] = np.float64(best[0])
