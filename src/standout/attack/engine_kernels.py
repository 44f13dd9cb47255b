"""The scores of all records for a slice of queries, and what is made of them: compiled.

    score(r′) = Σ over the known items that r′ has of an addend         [Algorithm 1B, Likelihood]
    score(r′) = min over the known items of Sim, 0 if r′ lacks one      [Algorithm 1A]

A known cell of a column is a fact about all records: its addend is looked up by the code of the record's cell.

Records are scored in blocks of 2**13, so that the scores of a block stay in the cache. Unless cells are known,
only the postings of known items are walked. All other records have score 0: they count in the mean and in σ
without being visited. Addends lie
on a grid (see `Queries.step`), so their sums in double precision are exact in any order. The sums of a block
become whole numbers, so those of blocks and of parts of a release add up exactly too.

The first 2, 4, … facts of a query are scored in one walk: after so many facts, a block is summed up. If the
number of wrong cells is known, a record has several accumulators (`_count_wrong`).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.jit import Array, Flag, Int, Real, inline, kernel, subroutine, summing_subroutine
from standout.data.entries import BLOCK_BITS, Postings
from standout.know.lookup_tables import time_similarity

BLOCK = 1 << BLOCK_BITS
"""Number of records in a block: their scores stay in the cache."""
U = np.uint64
PIECE = 128
"""Number of records of which the highest score is found before any of them is looked at."""
SUM, LIKELIHOOD, MINIMUM = 0, 1, 2
"""What a fact adds: weight · Sim; max(0, gain of the record's size + Sim); nothing, the least Sim counts."""
BEST, MASS, TIED, SCORES = 1, 2, 4, 8
"""What a walk finds: sums and the best records; Z, given σ and the highest score; all who tie; only scores."""


class FactArrays(NamedTuple):
    """Facts that name items of the release: query q owns first[q] … first[q + 1]. A fact adds weight · Sim.

    `odds` and `constant` are those of `LikelihoodQueries`, and empty for others.
    """

    first: NDArray[np.int64]
    item: NDArray[np.int64]
    shape: NDArray[np.int64]
    time: NDArray[np.int64]
    weight: NDArray[np.float64]
    odds: NDArray[np.float64]
    constant: NDArray[np.float64]


class Lookup(NamedTuple):
    """The tables of similarity (see `lookup_tables`); if `even`, all kinds of a shape share b and a row of c."""

    a: NDArray[np.float64]
    b: NDArray[np.float64]
    off: NDArray[np.int64]
    c: NDArray[np.float64]
    terms: NDArray[np.int64]
    even: NDArray[np.bool_]


NARROW_TABLE = 256
"""Length of the table of a cell of a column of bytes: one number for each code."""
CELL_STEP, COUNTED_STEP = 2.0**-20, 2.0**-32
"""Grids of scores where cells are known: of sums, and of logarithms of probabilities."""
ABOVE_ZERO = 700.0
"""Added to logarithms of probabilities from `LEAST` on, so that scores are above 0."""
LEAST = 1e-300


CELL = np.dtype([
    ("width", np.int8), ("row", np.int64), ("start", np.int64), ("low", np.uint32), ("length", np.uint32),
    ("missing", np.uint32), ("ends", np.bool_),
])  # fmt: skip
"""A known cell: where the codes of its column are, and where its numbers are (see `CellArrays`)."""


class CellArrays(NamedTuple):
    """Known cells of columns, and what each adds to the score of a record, by the record's code.

    The codes are rows of three matrices, by width. Query q owns the cells first[q] … first[q + 1]. A cell is
    about one row of the matrix of its width (0: narrow). A narrow code is looked up at numbers[0, start + code].
    Others are looked up at start + code - low for `length` codes; the next number is that of all other codes,
    and the one after it that of a missing cell, whose code is `missing`.

    All scores are raised by `offset`, so that they are above 0. `lacking` is what known entries add to a record
    that has none of them.

    Where the number of wrong facts is known, numbers are probabilities: numbers[0] if the fact is right, and
    numbers[1] if it is wrong. A cell that `ends` is the last one of its attribute, and share[q, j] is the
    probability that j of the known attributes which the release has are wrong, over the number of choices.
    """

    narrow: NDArray[np.uint8]
    medium: NDArray[np.uint16]
    wide: NDArray[np.uint32]
    first: NDArray[np.int64]
    cell: NDArray[Any]
    numbers: NDArray[np.float64]
    share: NDArray[np.float64]
    offset: NDArray[np.float64]
    lacking: NDArray[np.float64]


class RecordSizes(NamedTuple):
    """How many entries a fact about each record may come from: size[code[record]]  [`Likelihood`]."""

    code: NDArray[np.uint16]
    size: NDArray[np.float64]


class CandidateFilter(NamedTuple):
    """Records that each query may return.

    `exclude` is a record per query, or -1. `length` and `joined` are the lowest and highest values allowed
    per query. If `filtered` is set, they are compared with `lengths` and `begins` of every record. A record
    without a time (begins = -1) cannot be ruled out by when it begins.
    """

    exclude: NDArray[np.int64]
    length: NDArray[np.int64]
    joined: NDArray[np.int64]
    lengths: NDArray[np.int32]
    begins: NDArray[np.int32]
    filtered: bool


class RowArrays(NamedTuple):
    """Queries with their first few facts, in groups that are scored in one walk.

    Group g is about query[g] and has the rows first[g] … first[g + 1] - 1, in ascending order of `facts`, their
    number of facts. `needed` is this number with facts about items that the release lacks. All rows of a group
    have the same `step`, the grid of addends. `grid` is that of scores (0: none); `norm` makes scores about 1
    at most, so that squares are too.
    """

    first: NDArray[np.int64]
    query: NDArray[np.int64]
    facts: NDArray[np.int64]
    needed: NDArray[np.int64]
    step: NDArray[np.float64]
    grid: NDArray[np.float64]
    norm: NDArray[np.float64]


class Summaries(NamedTuple):
    """What the walks find in a part of the release, one element per row.

    `sums` are those of the scores and of their squares, times `norm`, and Z, all in units of `unit`: of the
    blocks in which the row's facts have postings, whose records are `visited`. The best records are the first
    `listed` ones from row · top on of `record` and `score`, by descending score and ascending record; `ties`
    is how many have the highest. Z is relative to `mark`, the second highest score, and without the highest one
    if there is no tie; otherwise relative to the highest. `mark` and 1/σ are results if the part is the whole
    release, and given otherwise. Those with the score `mark` go to `tied`, from tied_first[row] on. Unless `own`
    is empty, `above` and `level` are the numbers of records with a higher score than own[row], and the same.
    """

    candidates: NDArray[np.int64]
    sums: NDArray[np.int64]
    visited: NDArray[np.int64]
    listed: NDArray[np.int64]
    ties: NDArray[np.int64]
    record: NDArray[np.int64]
    score: NDArray[np.float64]
    mark: NDArray[np.float64]
    inverse: NDArray[np.float64]
    tied_first: NDArray[np.int64]
    tied: NDArray[np.int64]
    own: NDArray[np.float64]
    above: NDArray[np.int64]
    level: NDArray[np.int64]
    unit: float
    top: int
    alpha: float

    @classmethod
    def empty(cls, n: int) -> "Summaries":
        """For walks that find nothing but scores."""
        none, zero, no_scores = np.zeros(0, np.int64), np.zeros(n, np.int64), np.zeros(0)
        return cls(
            zero, none.reshape(0, 3), none, none, none, none, no_scores, no_scores, no_scores, none, none,
            no_scores, none, none, 1.0, 0, 0.0,
        )  # fmt: skip


class Workspace(NamedTuple):
    """A thread's arrays. `scores` has one block, or all blocks of a part if they are used twice."""

    scores: NDArray[np.float64]
    bits: NDArray[np.int64]
    agreed: NDArray[np.int64]
    powers: NDArray[np.float64]
    peaks: NDArray[np.int64]
    cursor: NDArray[np.int64]
    gain: NDArray[np.float64]
    fixed: NDArray[np.float64]
    timed: NDArray[np.float64]
    is_tabled: NDArray[np.bool_]
    state: NDArray[np.float64]

    @classmethod
    def allocate(cls, n_blocks: int, facts: int, n_sizes: int, kinds: int, times: int, states: int) -> "Workspace":
        """Arrays for `n_blocks` blocks of scores and queries of at most this many facts."""
        scores, tabled = np.zeros(n_blocks * BLOCK), min(facts, MOST_TABLED) if times <= LONGEST_TABLE else 0
        return cls(
            scores=scores,
            bits=scores.view(np.int64),
            agreed=np.zeros(BLOCK, np.int64),
            powers=np.zeros(BLOCK),
            peaks=np.zeros(BLOCK // PIECE, np.int64),
            cursor=np.zeros(facts, np.int64),
            gain=np.zeros((facts, n_sizes)),
            fixed=np.zeros((tabled + 1, kinds)),  # the last one is never filled, so that there is always one
            timed=np.zeros((tabled + 1, times if tabled else 1)),
            is_tabled=np.zeros(facts, np.bool_),
            state=np.zeros((states + 2, BLOCK if states else 0)),
        )


MOST_TABLED, LONGEST_TABLE = 64, 1 << 14
"""The addends of this many facts of a query are tabulated, for times of up to this many units …"""
WORTH_A_TABLE = 2
"""… if an item has this many times as many postings as there are kinds and times."""
TOTAL, SQUARES, Z = 0, 1, 2


@kernel
def walk(
    postings: Postings,
    facts: FactArrays,
    lookup: Lookup,
    sizes: RecordSizes,
    candidates: CandidateFilter,
    cells: CellArrays,
    rows: RowArrays,
    mode: Int,
    n_records: Int,
    span: Int,
    first_block: Int,
    last_block: Int,
    rounds: Int,
    work: Workspace,
    out: Summaries,
    low: Int,
    high: Int,
) -> None:
    """Fill in the summaries of groups low … high - 1 over a part of the release."""
    start, run, block, begin, end, word, value_bits, time_bits, single, _ = postings
    first_fact, item, shape, time, weight, odds, constant = facts
    a, b, off, c, terms, even = lookup
    scores, agreed, cursor = work.scores, work.agreed, work.cursor
    keeps, has_cells = len(scores) > BLOCK, len(cells.first) > 0
    n_here = min(n_records, last_block * BLOCK) - first_block * BLOCK
    for group in range(low, high):
        q, first_row, last_row = rows.query[group], rows.first[group], rows.first[group + 1]
        f, most, step = first_fact[q], rows.facts[last_row - 1], rows.step[first_row]
        exclude, gone = candidates.exclude[q], np.int64(0)
        if candidates.filtered:
            gone = _count_filtered(candidates, q, first_block * BLOCK, first_block * BLOCK + n_here)
        elif first_block * BLOCK <= exclude < first_block * BLOCK + n_here:
            gone = np.int64(1)
        for j in range(most):
            fact = f + j
            if mode == LIKELIHOOD:
                _fill_gain(sizes.size, odds[fact], constant[fact], work.gain[j])
            work.is_tabled[j] = (
                mode == SUM
                and j < len(work.fixed) - 1
                and even[shape[fact]]
                and start[item[fact] + 1] - start[item[fact]] > WORTH_A_TABLE * (span + a.shape[1])
            )
            if work.is_tabled[j]:
                _fill_table(lookup, shape[fact], time[fact], weight[fact], step, span, work.fixed[j], work.timed[j])
        out.candidates[first_row:last_row] = n_here - gone
        for turn in (BEST, MASS, TIED, SCORES):
            if not rounds & turn:
                continue
            for j in range(most):
                cursor[j] = first_run(block, run[item[f + j]], run[item[f + j] + 1], first_block)
            for number in range(first_block, last_block):
                base = (number - first_block) * BLOCK if keeps else 0
                record, size = number * BLOCK, min(n_records - number * BLOCK, BLOCK)
                adds, is_touched, done = turn != MASS or not keeps or rounds & BEST == 0, has_cells, 0
                if adds and (keeps or has_cells):
                    _clear(scores, base, agreed, mode)
                for row in range(first_row, last_row):
                    for j in range(done, rows.facts[row]):
                        at = cursor[j]
                        if at >= run[item[f + j] + 1] or np.int64(block[at]) != number:
                            continue
                        cursor[j] += 1
                        if adds and not keeps and not is_touched:
                            _clear(scores, base, agreed, mode)
                        is_touched = True
                        if not adds:
                            continue
                        once = single[at] if len(single) else end[at]
                        _add_fact(
                            word, begin[at], once, value_bits, time_bits, a, b, off, c, terms, mode,
                            shape[f + j], time[f + j], weight[f + j], step, sizes.code[record : record + size],
                            work.gain[j], work.is_tabled[j], work.fixed[j if work.is_tabled[j] else 0],
                            work.timed[j if work.is_tabled[j] else 0], j, agreed, scores[base : base + BLOCK],
                        )  # fmt: skip
                        if once < end[at]:
                            _add_repeats(
                                word, once, end[at], value_bits, time_bits, a, b, off, c, terms, mode,
                                shape[f + j], time[f + j], weight[f + j], step, sizes.code[record : record + size],
                                sizes.size, odds[f + j] if mode == LIKELIHOOD else 0.0,
                                constant[f + j] if mode == LIKELIHOOD else 0.0, j, agreed, scores[base : base + BLOCK],
                            )  # fmt: skip
                    done = rows.facts[row]
                    if not is_touched:
                        continue
                    if adds:
                        if mode == MINIMUM:
                            _drop_disagreeing(scores, base, agreed, rows.needed[row])
                        if has_cells:
                            block_scores = scores[base : base + size]
                            _add_cells(cells, q, record, size, mode, rows.needed[row], work.state, block_scores)
                        if candidates.filtered:
                            _hide(candidates, q, record, size, scores, base)
                        elif record <= exclude < record + size:
                            scores[base + exclude - record] = 0.0
                    if turn == BEST:
                        out.visited[row] += size
                        _sum_up(work, base, size, record, rows.norm[row], rows.grid[row], out, row)
                        if len(out.own):
                            _compare(scores[base : base + size], out, row)
                    elif turn == MASS and mode == MINIMUM:
                        out.sums[row, Z] += np.count_nonzero(scores[base : base + size] >= out.alpha)
                    elif turn == MASS and out.inverse[row] > 0.0:
                        limit = _highest_rounded_to(out.mark[row], rows.grid[row], step)
                        _fill_powers(scores, base, size, out.mark[row], limit, out.inverse[row], work.powers)
                        out.sums[row, Z] += np.int64(np.rint(_total(work.powers, size) / out.unit))
                    elif turn == TIED and out.tied_first[row] >= 0:
                        _list_tied(scores, base, size, record, rows.grid[row], out, row)
            if turn == BEST and rounds & MASS:
                for row in range(first_row, last_row):
                    out.mark[row] = out.score[row * out.top + np.int64(out.ties[row] == 1)]
                    out.inverse[row] = _inverse_sigma(out, row, rows.norm[row]) if mode == SUM else 1.0


@inline
def first_run(block: Array, low: Int, high: Int, number: Int) -> Int:
    """The first of the runs low … high - 1 of an item that is in block `number` or later."""
    while low < high and number > 0:
        middle = (low + high) // 2
        if block[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


# Which records of a block are candidates of a query.


@inline
def _is_apart(candidates: CandidateFilter, q: Int, i: Int) -> Flag:
    length, day = candidates.lengths[i], candidates.begins[i]
    return (
        (length < candidates.length[q, 0])
        | (length > candidates.length[q, 1])
        | ((day >= 0) & ((day < candidates.joined[q, 0]) | (day > candidates.joined[q, 1])))
        | (i == candidates.exclude[q])
    )


@subroutine
def _count_filtered(candidates: CandidateFilter, q: Int, first: Int, last: Int) -> Int:
    gone = np.int64(0)
    for i in range(first, last):
        gone += np.int64(_is_apart(candidates, q, i))
    return gone


@subroutine
def _hide(candidates: CandidateFilter, q: Int, record: Int, size: Int, scores: Array, base: Int) -> None:
    """Give score 0 to records that are not candidates."""
    for i in range(size):
        if _is_apart(candidates, q, record + i):
            scores[base + i] = 0.0


# What a fact adds.


LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
L1, L2, L3, L4 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01
L5, L6, L7 = 1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01
ROOT_BITS, ONE_BITS, MAGIC_BITS = U(0x3FE6A09E667F3BCD), U(0x3FF0000000000000), U(0x4330000000000000)
MANTISSA, POINT, MAGIC = U((1 << 52) - 1), U(52), 2.0**52 + 1023.0


@inline
def logarithm(x: Real) -> Real:
    """Natural logarithm of a normal positive number, as in fdlibm, by steps that work in vectors.

    One function for all, because the score of a record must have the same bits wherever it is computed.
    """
    bits = np.float64(x).view(np.uint64) + (ONE_BITS - ROOT_BITS)
    k = U((bits >> POINT) | MAGIC_BITS).view(np.float64) - MAGIC
    f = U((bits & MANTISSA) + ROOT_BITS).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    r = z * (L1 + w * (L3 + w * (L5 + w * L7))) + w * (L2 + w * (L4 + w * L6))
    half = 0.5 * f * f
    return k * LN2_HIGH - ((half - (s * (half + r) + k * LN2_LOW)) - f)


@subroutine
def _fill_gain(size: Array, odds: Real, constant: Real, gain: Array) -> None:
    """gain[i] = ln(1 + odds/size[i]) + constant."""
    for i in range(U(len(size))):
        gain[i] = logarithm(1.0 + odds / size[i]) + constant


@inline
def _on_grid(x: Real, step: Real) -> Real:
    """The multiple of a power of two that is nearest to x."""
    return np.rint(x * (1.0 / step)) * step


@inline
def _positive(x: Real) -> Real:
    """x, or 0 if it is negative: Python's max does not vectorise."""
    return x if x > 0.0 else 0.0


@subroutine
def _fill_table(
    lookup: Lookup, u: Int, known: Int, weight: Real, step: Real, span: Int, fixed: Array, timed: Array
) -> None:
    """The addends of a fact by kind, and by time."""
    a, c, factor, row = lookup.a, lookup.c, lookup.b[u, 0], U(lookup.off[u, 0] - known)
    for kind in range(len(fixed)):
        fixed[kind] = _on_grid(weight * _positive(a[u, kind]), step)
    for i in range(U(span)):
        timed[i] = _on_grid(weight * _positive(factor * time_similarity(c, row + i)), step)


@subroutine
def _add_fact(
    word: Array, low: Int, high: Int, value_bits: Int, time_bits: Int,
    a: Array, b: Array, off: Array, c: Array, terms: Array, mode: Int,
    shape: Int, known: Int, weight: Real, step: Real, code: Array, gain: Array,
    is_tabled: Flag, fixed: Array, timed: Array, j: Int, agreed: Array, scores: Array,
) -> None:  # fmt: skip
    """Add the j-th fact to the scores of a block's records, which have its item once."""
    kind_shift, position_shift, u = U(time_bits), U(time_bits + value_bits), U(shape)
    time_mask, kind_mask, position_mask = (U(1) << kind_shift) - U(1), (U(1) << U(value_bits)) - U(1), U(BLOCK - 1)
    if is_tabled:
        for p in range(U(low), U(high)):
            x = U(word[p])
            position = (x >> position_shift) & position_mask
            scores[position] += fixed[(x >> kind_shift) & kind_mask] + timed[x & time_mask]
    elif mode == SUM:
        for p in range(U(low), U(high)):
            x = U(word[p])
            kind, position = (x >> kind_shift) & kind_mask, (x >> position_shift) & position_mask
            later = b[u, kind] * time_similarity(c, (x & time_mask) + U(off[u, kind] - known))
            now = _on_grid(weight * _positive(a[u, kind]), step)
            scores[position] += now + _on_grid(weight * _positive(later), step)
    elif mode == LIKELIHOOD:
        fixed_of, factor_of, row = a[shape], b[shape], U(off[shape, 0] - known)  # all kinds share a row of c
        for p in range(U(low), U(high)):
            x = U(word[p])
            kind, position = (x >> kind_shift) & kind_mask, (x >> position_shift) & position_mask
            later = factor_of[kind] * time_similarity(c, (x & time_mask) + row)
            part = gain[U(code[position])] + fixed_of[kind] + later
            scores[position] += _on_grid(_positive(part), step)
    else:
        for p in range(U(low), U(high)):
            x = U(word[p])
            kind, position = (x >> kind_shift) & kind_mask, (x >> position_shift) & position_mask
            later = b[u, kind] * time_similarity(c, (x & time_mask) + U(off[u, kind] - known))
            _agree(scores, agreed, position, j, (_positive(a[u, kind]) + _positive(later)) / terms[u])


@subroutine
def _add_repeats(
    word: Array, low: Int, high: Int, value_bits: Int, time_bits: Int,
    a: Array, b: Array, off: Array, c: Array, terms: Array, mode: Int,
    shape: Int, known: Int, weight: Real, step: Real, code: Array, size: Array,
    odds: Real, constant: Real, j: Int, agreed: Array, scores: Array,
) -> None:  # fmt: skip
    """The same for records that have its item several times: their best entry, or the mean of P over them."""
    kind_shift, position_shift, u = U(time_bits), U(time_bits + value_bits), U(shape)
    time_mask, kind_mask = (U(1) << kind_shift) - U(1), (U(1) << U(value_bits)) - U(1)
    p, stop = U(low), U(high)
    while p < stop:
        x = U(word[p])
        place, n = x >> position_shift, 0
        best, first, second, likely, last, total = -1.0, 0.0, 0.0, 0.0, -np.inf, 0.0
        while x >> position_shift == place:
            kind = (x >> kind_shift) & kind_mask
            now, later = a[u, kind], b[u, kind] * time_similarity(c, (x & time_mask) + U(off[u, kind] - known))
            if mode == LIKELIHOOD:
                if now + later != last:  # many entries are far from the known date, and equally likely
                    last = now + later
                    likely = math.exp(last)
                total += likely
                n += 1
            else:
                now, later = _positive(now), _positive(later)
                if now + later > best:
                    best, first, second = now + later, now, later
            p += U(1)
            if p == stop:
                break
            x = U(word[p])
        position = place & U(BLOCK - 1)
        if mode == SUM:
            scores[position] += _on_grid(weight * first, step) + _on_grid(weight * second, step)
        elif mode == LIKELIHOOD:
            gain = logarithm(1.0 + odds * n / size[U(code[position])]) + constant
            scores[position] += _on_grid(_positive(gain + math.log(total / n)), step)
        else:
            _agree(scores, agreed, position, j, best / terms[u])


@inline
def _agree(scores: Array, agreed: Array, position: Int, j: Int, sim: Real) -> None:
    """The least similarity of a record that agrees with all facts so far."""
    if agreed[position] == j and sim > 0.0:
        scores[position] = sim if j == 0 else min(scores[position], sim)
        agreed[position] = j + 1


@subroutine
def _drop_disagreeing(scores: Array, base: Int, agreed: Array, needed: Int) -> None:
    for i in range(BLOCK):
        if agreed[i] != needed:
            scores[base + i] = 0.0


@subroutine
def _clear(scores: Array, base: Int, agreed: Array, mode: Int) -> None:
    for i in range(U(BLOCK)):
        scores[U(base) + i] = 0.0
    if mode == MINIMUM:
        agreed[:] = 0


# What known cells add.


@subroutine
def _add_cells(
    cells: CellArrays, q: Int, record: Int, size: Int, mode: Int, needed: Int, state: Array, scores: Array
) -> None:
    """Add the cells of query q to the scores of the records from `record` on, which have those of entries."""
    n = U(size)
    if not needed:
        scores[:n] = 1.0 if mode == MINIMUM else cells.offset[q]
    elif mode == MINIMUM:
        for i in range(n):
            scores[i] = _on_grid(scores[i], CELL_STEP)
    else:
        lacking, offset = cells.lacking[q], cells.offset[q]
        less = _on_grid(lacking, CELL_STEP)
        for i in range(n):
            scores[i] = _on_grid(scores[i] + lacking, CELL_STEP) - less + offset
    if cells.share.shape[1]:
        _count_wrong(cells, q, record, size, state, scores)
        return
    for f in range(cells.first[q], cells.first[q + 1]):
        cell, numbers, stop = cells.cell[f], cells.numbers[0], record + size
        if cell["width"] == 0:
            _add_numbers(cells.narrow[cell["row"], record:stop], cell, numbers, mode == MINIMUM, scores)
        elif cell["width"] == 1:
            _add_numbers(cells.medium[cell["row"], record:stop], cell, numbers, mode == MINIMUM, scores)
        else:
            _add_numbers(cells.wide[cell["row"], record:stop], cell, numbers, mode == MINIMUM, scores)


@subroutine
def _add_numbers(codes: Array, cell: Any, numbers: Array, least: Flag, scores: Array) -> None:
    low, length, missing, start = cell["low"], cell["length"], cell["missing"], U(cell["start"])
    if cell["width"] == 0:
        for i in range(U(len(codes))):
            number = numbers[start + U(codes[i])]
            scores[i] = min(scores[i], number) if least else scores[i] + number
    else:
        for i in range(U(len(codes))):
            code = np.uint32(codes[i])
            number = numbers[start + U(length + np.uint32(1) if code == missing else min(code - low, length))]
            scores[i] = min(scores[i], number) if least else scores[i] + number


# If w of k attributes are wrong, and all choices of them are equally likely,
#
#     P(facts | record) = Σ over choices of w attributes of Π (wrong ones) · Π (right ones) / number of choices
#
# Attribute by attribute, state[j] is the sum over choices of j wrong ones so far:
#
#     state[j] ← state[j] · right + state[j − 1] · wrong
#
# `right` and `wrong` are P(v | x) / P(v) if the known level v is right or wrong, by the code of the record. Both
# are divided by the highest `right`, so that products are at most about 1.


@subroutine
def _count_wrong(cells: CellArrays, q: Int, record: Int, size: Int, state: Array, scores: Array) -> None:
    """Add ln P(facts | record); a record that cannot be the target's has score 0."""
    n, n_states = U(size), cells.share.shape[1]
    right, wrong = state[n_states], state[n_states + 1]
    state[1:n_states, :n] = 0.0
    state[0, :n] = 1.0
    is_first = True
    for f in range(cells.first[q], cells.first[q + 1]):
        cell, stop = cells.cell[f], record + size
        if is_first:
            right[:n] = 1.0
            wrong[:n] = 1.0
        if cell["width"] == 0:
            _multiply(cells.narrow[cell["row"], record:stop], cell, cells.numbers, right, wrong)
        elif cell["width"] == 1:
            _multiply(cells.medium[cell["row"], record:stop], cell, cells.numbers, right, wrong)
        else:
            _multiply(cells.wide[cell["row"], record:stop], cell, cells.numbers, right, wrong)
        is_first = cell["ends"]
        if is_first:
            for j in range(n_states - 1, 0, -1):
                _advance(state[j, :n], state[j - 1, :n], right[:n], wrong[:n], j == 1)
    right[:n] = 0.0
    for j in range(n_states):
        if cells.share[q, j] > 0.0:
            _add_share(right, state[j], cells.share[q, j], n)
    _add_logarithms(right, scores)


@subroutine
def _multiply(codes: Array, cell: Any, numbers: Array, right: Array, wrong: Array) -> None:
    low, length, missing, start = cell["low"], cell["length"], cell["missing"], U(cell["start"])
    if_right, if_wrong = numbers[0], numbers[1]
    if cell["width"] == 0:
        for i in range(U(len(codes))):
            right[i] *= if_right[start + U(codes[i])]
            wrong[i] *= if_wrong[start + U(codes[i])]
    else:
        for i in range(U(len(codes))):
            code = np.uint32(codes[i])
            place = start + U(length + np.uint32(1) if code == missing else min(code - low, length))
            right[i] *= if_right[place]
            wrong[i] *= if_wrong[place]


@subroutine
def _advance(state: Array, before: Array, right: Array, wrong: Array, is_last: Flag) -> None:
    for i in range(U(len(right))):
        state[i] = state[i] * right[i] + before[i] * wrong[i]
        if is_last:
            before[i] *= right[i]


@subroutine
def _add_share(total: Array, state: Array, share: Real, n: Int) -> None:
    for i in range(n):
        total[i] += state[i] * share


@subroutine
def _add_logarithms(probability: Array, scores: Array) -> None:
    for i in range(U(len(scores))):
        is_possible = probability[i] >= LEAST
        number = scores[i] + _on_grid(logarithm(probability[i] if is_possible else 1.0), COUNTED_STEP)
        scores[i] = number if is_possible else 0.0


@kernel
def cell_scores(
    cells: CellArrays, mode: Int, needed: Array, query: Array, record: Array, state: Array, scores: Array
) -> None:
    """Add the cells of query[i] to scores[i], that of the entries of record[i]: the bits of `walk`."""
    for i in range(len(query)):
        _add_cells(cells, query[i], record[i], 1, mode, needed[query[i]], state, scores[i : i + 1])


def cell_addends(cells: CellArrays, record: int) -> NDArray[np.float64]:
    """What each known cell adds to the score of a record."""
    added = np.empty(len(cells.cell))
    for f, (width, row, start, low, length, missing, _) in enumerate(cells.cell.tolist()):
        place = code = int((cells.narrow, cells.medium, cells.wide)[width][row, record])
        if width:
            place = length + 1 if code == missing else min(code - low, length) if code >= low else length
        added[f] = cells.numbers[0, start + place]
    return added


# What is made of the scores of a block.


@subroutine
def _sum_up(
    work: Workspace, base: Int, size: Int, record: Int, norm: Real, grid: Real, out: Summaries, row: Int
) -> None:
    """Add a block's sums to those of a row, and its best records to the row's list."""
    scores, peaks = work.scores, work.peaks
    sum_of_scores, squares = _moments(scores, base, size, norm)
    out.sums[row, TOTAL] += np.int64(np.rint(sum_of_scores / out.unit))
    out.sums[row, SQUARES] += np.int64(np.rint(squares / out.unit))
    _find_peaks(work.bits, base, peaks)
    best, first, top = out.score, row * out.top, out.top
    n, ties = np.int64(out.listed[row]), np.int64(out.ties[row])
    for piece in range(-(-size // PIECE)):
        floor = best[first + top - 1] if n == top else 0.0
        peak = _rounded(np.int64(peaks[piece]).view(np.float64), grid)
        if peak <= 0.0 or peak < floor:
            continue
        for i in range(piece * PIECE, min((piece + 1) * PIECE, size)):
            x = _rounded(scores[base + i], grid)
            if x > 0.0 and (n == 0 or x >= best[first]):
                ties = ties + np.int64(1) if n > 0 and x == best[first] else np.int64(1)
            if x > floor:
                at = first + (n if n < top else top - 1)
                while at > first and best[at - 1] < x:
                    best[at] = best[at - 1]
                    out.record[at] = out.record[at - 1]
                    at -= 1
                best[at] = x
                out.record[at] = record + i
                n = n + np.int64(n < top)
                floor = best[first + top - 1] if n == top else 0.0
    out.listed[row], out.ties[row] = n, ties


@subroutine
def _compare(scores: Array, out: Summaries, row: Int) -> None:
    own, above, level = out.own[row], np.int64(0), np.int64(0)
    for i in range(U(len(scores))):
        above += np.int64(scores[i] > own)
        level += np.int64(scores[i] == own)
    out.above[row] += above
    out.level[row] += level


@inline
def _rounded(x: Real, grid: Real) -> Real:
    return _on_grid(x, grid) if grid > 0.0 else x


@subroutine
def _find_peaks(bits: Array, base: Int, peaks: Array) -> None:
    """The highest score of each piece of a block, as bits: whole numbers compare in vectors, floats do not."""
    for j in range(len(peaks)):
        most, first = np.int64(0), U(base + j * PIECE)
        for i in range(U(PIECE)):
            most = max(most, bits[first + i])
        peaks[j] = most


@summing_subroutine
def _moments(scores: Array, base: Int, size: Int, norm: Real) -> tuple[Real, Real]:
    total, squares = 0.0, 0.0
    for i in range(U(size)):
        x = scores[U(base) + i] * norm
        total += x
        squares += x * x
    return total, squares


@subroutine
def _inverse_sigma(out: Summaries, row: Int, norm: Real) -> Real:
    """1/σ, or 0 if scores are all equal, or so alike that sums do not show it (see `engine`)."""
    n = max(out.candidates[row], 1)
    mean = out.sums[row, TOTAL] * out.unit / n
    variance = out.sums[row, SQUARES] * out.unit / n - mean * mean
    return norm / math.sqrt(variance) if variance > ALIKE * mean * mean else 0.0


ALIKE = 2.0**-30
"""A variance below this many squared means is computed in whole numbers."""


@subroutine
def _list_tied(scores: Array, base: Int, size: Int, record: Int, grid: Real, out: Summaries, row: Int) -> None:
    for i in range(size):
        if _rounded(scores[base + i], grid) == out.mark[row]:
            out.tied[out.tied_first[row] + out.visited[row]] = record + i
            out.visited[row] += 1


LOG2_E = 1.4426950408889634
C0, C1, C2, C3 = 1.0000000005541658, 0.6931472057372663, 0.24022646890630664, 0.055503287769671936
C4, C5, C6 = 0.009618488957471581, 0.0013399931218583657, 0.00015345811908697098
LOWEST, SHIFTED = -1000.0, 1.5 * 2.0**52


@inline
def _highest_rounded_to(mark: Real, grid: Real, step: Real) -> Real:
    """A number above the multiples of `step` that round to `mark` or less on the grid, halves to even."""
    return mark + grid * 0.5 + (0.25 if np.rint(mark / grid * 0.5) * 2.0 * grid == mark else -0.25) * step


@subroutine
def _fill_powers(scores: Array, base: Int, size: Int, mark: Real, limit: Real, inverse: Real, powers: Array) -> None:
    """powers[i] = e^((score − mark)/σ) to 2e-9, 0 for scores from `limit` on.

    2^y = 2^⌊y⌉ · 2^(y − ⌊y⌉): the bits of a float for the first, a polynomial for the second.
    """
    factor = inverse * LOG2_E
    for i in range(U(size)):
        x = scores[U(base) + i]
        y = (x - mark) * factor
        y = y if (x < limit) & (y > LOWEST) else LOWEST
        whole = y + SHIFTED
        r = y - (whole - SHIFTED)
        s = r * r
        p = C0 + r * C1 + s * (C2 + r * C3 + s * (C4 + r * C5 + s * C6))
        powers[i] = U(np.float64(p).view(np.uint64) + (np.float64(whole).view(np.uint64) << POINT)).view(np.float64)


@summing_subroutine
def _total(numbers: Array, size: Int) -> Real:
    total = 0.0
    for i in range(U(size)):
        total += numbers[i]
    return total
