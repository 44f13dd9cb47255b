"""The scores of all records for a slice of queries, and what is made of them: compiled.

    score(r′) = Σ over the known items that r′ has of weight · Sim     [Algorithm 1B]

Only the postings of known items are walked, in blocks of 2**13 records, so that the scores of a block stay
in the cache. All other records have score 0; they count in the mean and in σ without being visited. Sim
comes from tables (see `similarity.lookup_tables`). Scores are float32 here and their sums float64. Every
record that may be among the best is put on a shortlist, to be scored again in float64. A block that few
postings touch keeps its scores as a short list.

With NUMBA_DISABLE_JIT=1 this is plain Python on NumPy's scalars, which is why constants are NumPy's too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.fact_kernels import RepeatedParts, fill_gain, fill_parts
from standout.attack.fact_kernels import add_sized_fact_sized_additions as add_sized_fact
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
    CandidateFilter,
    QueryFacts,
    QuerySummaries,
    ScoreRule,
    U,
    interpolated,
)
from standout.attack.sum_kernels import enlist, exp_sum, inverse_sigma, lowest_listed, prune, raise_bound
from standout.core.jit import Array, Flag, Int, Real, inline, kernel, subroutine, summing_subroutine
from standout.core.parts import add_to_sum, sum_value
from standout.core.simd import multiply_add
from standout.data.postings import Postings
from standout.know.lookup_tables import KernelTables, time_similarity

__all__ = ["PIECE", "PIECES", "BlockWorkspace", "first_run", "rule_out", "run_end", "score_queries"]

# Arrays of `block_scores`: a thread's workspace.


PIECE = 128
"""Number of records of which the highest score is kept while a block is summed."""
PIECES = BLOCK // PIECE


class BlockWorkspace(NamedTuple):
    """A thread's own arrays.

    `scores` has the scores of all records of the part (a list where a block has few) and one spare block,
    used where they need not be kept; `score_bits` are the same as bits. `highest` is the highest of each
    piece of a block, `highest_bits` the same as bits. `position` is the position in its block of each listed
    score, `out` marks records that are not candidates, `left_out` is their number per block. `listed` is
    the length of a block's list, or -1. `sums` are a block's sums of scores and of squares. `cursor`, `at`
    and `stop` are each fact's next run, next word and last word of the block. `best` are the highest scores.
    `gain` is by fact and size of a record (see `sized_additions`). `repeated` has the parts of a block's
    records that have an item several times.
    """

    scores: NDArray[np.float32]
    score_bits: NDArray[np.int32]
    highest: NDArray[np.float32]
    highest_bits: NDArray[np.int32]
    position: NDArray[np.uint16]
    out: NDArray[np.bool_]
    left_out: NDArray[np.int64]
    listed: NDArray[np.int64]
    sums: NDArray[np.float64]
    cursor: NDArray[np.int64]
    at: NDArray[np.int64]
    stop: NDArray[np.int64]
    best: NDArray[np.float32]
    gain: NDArray[np.float32]
    repeated: RepeatedParts

    @classmethod
    def allocate(cls, n_blocks: int, most_facts: int, top: int, n_sizes: int, repeats: bool) -> "BlockWorkspace":
        """Arrays for a part of this many blocks, and for queries of at most `most_facts` facts."""
        n = n_blocks
        scores, highest = np.zeros((n + 1) * BLOCK, np.float32), np.zeros(PIECES, np.float32)
        return cls(
            scores=scores,
            score_bits=scores.view(np.int32),
            highest=highest,
            highest_bits=highest.view(np.int32),
            position=np.zeros(n * BLOCK, np.uint16),
            out=np.zeros(n * BLOCK, np.bool_),
            left_out=np.zeros(n, np.int64),
            listed=np.zeros(n, np.int64),
            sums=np.zeros(2),
            cursor=np.zeros(most_facts, np.int64),
            at=np.zeros(most_facts, np.int64),
            stop=np.zeros(most_facts, np.int64),
            best=np.zeros(top, np.float32),
            gain=np.zeros((most_facts, n_sizes), np.float32),
            repeated=RepeatedParts.allocate(repeats),
        )


# Which records of each block are not candidates of a query: compiled.


@subroutine
def rule_out(
    candidates: CandidateFilter, q: Int, first_record: Int, n_records: Int, out: Array, left_out: Array
) -> Int:
    """Mark the records of a part that are not candidates, count them by block, and return their number.

    `out` and `left_out` are by record and by block of the part, which begins with `first_record`.
    """
    exclude, total = candidates.exclude[q] - first_record, np.int64(0)
    for number in range(len(left_out)):
        gone, first = np.int64(0), first_record + number * BLOCK
        if candidates.filtered:
            last = min(n_records, first + BLOCK)
            gone = _filter(candidates, q, first, last, out[number * BLOCK : (number + 1) * BLOCK])
        if exclude // BLOCK == number and not out[exclude]:
            out[exclude] = True
            gone += 1
        left_out[number] = gone
        total += gone
    return total


@subroutine
def _narrow(x: Int) -> Int:
    """A bound in 32 bits: what is compared with it has no more."""
    return np.int32(min(max(x, -(1 << 31)), (1 << 31) - 1))


@subroutine
def _filter(candidates: CandidateFilter, q: Int, first: Int, last: Int, out: Array) -> Int:
    """Mark records first … last - 1 that are too short, too long, or begin too early or too late.

    `out` begins with the mark of the first.
    """
    lengths, begins = candidates.lengths, candidates.begins
    shortest, longest = _narrow(candidates.length[q, 0]), _narrow(candidates.length[q, 1])
    earliest, latest = _narrow(candidates.joined[q, 0]), _narrow(candidates.joined[q, 1])
    gone = np.int32(0)
    for i in range(U(first), U(last)):
        length, day = lengths[i], begins[i]
        apart = (length < shortest) | (length > longest) | ((day >= 0) & ((day < earliest) | (day > latest)))
        out[i - U(first)] = apart
        gone += np.int32(apart)
    return np.int64(gone)


# The runs of an item: the first one in a part of the release, and the one in a block.


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


@inline
def run_end(run: Array, block: Array, end: Array, item: Int, cursor: Int, number: Int) -> Int:
    """Where the words of an item end in block `number`, if its next run is in this block; else 0."""
    if cursor < run[item + 1] and block[cursor] == number:
        return end[cursor]
    return np.int64(0)


FEW = BLOCK // 8
"""A block that fewer postings touch keeps its scores as a list."""


class _Piece(NamedTuple):
    """`length` scores from `low` on, of the records from `record` on, or of a block's list."""

    low: Int
    length: Int
    record: Int
    is_list: Flag


@kernel
def score_queries(
    postings: Postings,
    facts: QueryFacts,
    tables: KernelTables,
    candidates: CandidateFilter,
    rule: ScoreRule,
    n_records: Int,
    first_block: Int,
    rounds: Int,
    work: BlockWorkspace,
    summaries: QuerySummaries,
    low: Int,
    high: Int,
) -> None:
    """Fill in the summaries of queries low … high - 1 over a part of the release.

    The part has as many blocks as `work`, from `first_block` on. If it is the whole release, both rounds can
    be done at once, and scores are kept for the second. Otherwise scores are computed again for the second.
    """
    run, block, first_word, end = postings.run, postings.block, postings.begin, postings.end
    scores, highest, left_out, listed, sums = work.scores, work.highest, work.left_out, work.listed, work.sums
    cursor, at, stop, best, item = work.cursor, work.at, work.stop, work.best, facts.item
    single, repeats = postings.single, len(postings.single) > 0
    spare = len(listed) * BLOCK  # the spare block, whose scores are 0
    first_record = first_block * BLOCK
    is_first, with_z = rounds & FIRST_ROUND != 0, rounds & SECOND_ROUND != 0
    for q in range(low, high):
        if not is_first and summaries.scale[q] == 0.0:
            continue
        f, k = facts.first[q], facts.first[q + 1] - facts.first[q]
        gone = rule_out(candidates, q, first_record, n_records, work.out, left_out)
        n = min(n_records - first_record, len(listed) * BLOCK) - gone
        for j in range(k):
            cursor[j] = first_run(block, run[item[f + j]], run[item[f + j] + 1], first_block)
            if rule.sized:
                fill_gain(rule.sizes.inverse, rule.odds[f + j], rule.constant[f + j], work.gain[j])
        for i in range(len(best)):
            best[i] = ZERO
        floor, lost, count = LEAST, ZERO, np.int64(0)
        for number in range(len(listed)):  # in the part; so are positions of records and of their scores
            first, words = number * BLOCK, 0
            record = first_record + first
            size = min(n_records - record, BLOCK)
            for j in range(k):
                stop[j] = run_end(run, block, end, item=item[f + j], cursor=cursor[j], number=first_block + number)
                if stop[j] > 0:
                    at[j] = first_word[cursor[j]]
                    words += stop[j] - at[j]
            few = words < FEW
            base = first if with_z and not few else spare
            if base == first:
                _clear(scores, base)
            for j in range(k):
                until = stop[j]
                if repeats and until > 0:
                    until = single[cursor[j]]
                    n_parts = fill_parts(postings, tables, facts, rule, f + j, until, stop[j], record, work.repeated)
                    _add_parts(work.repeated, n_parts, base, scores)
                if stop[j] > 0 and rule.sized:
                    add_sized_fact(
                        word=postings.word,
                        low=at[j],
                        high=until,
                        value_bits=postings.value_bits,
                        time_bits=postings.time_bits,
                        a=tables.a,
                        b=tables.b,
                        off=tables.off,
                        c=tables.c,
                        near=tables.near,
                        reach=tables.reach,
                        shape=facts.shape[f + j],
                        known_time=facts.time[f + j],
                        code=rule.sizes.code[record : record + size],
                        gain=work.gain[j],
                        scores=scores[base : base + BLOCK],
                    )
                elif stop[j] > 0:
                    _add_fact(postings, tables, facts, f + j, at[j], until, scores[base : base + BLOCK])
            listed[number] = 0 if few else -1
            for j in range(k):
                if stop[j] > 0:
                    if few:
                        listed[number] = _move_to_list(postings, at[j], stop[j], work, number, listed[number])
                    cursor[j] += 1
            if not few and left_out[number]:
                _mark(scores, base, work.out, first, size, ZERO)
            if is_first:
                if few:
                    highest[0] = _sum_list(scores, first, listed[number], sums)
                else:
                    _sum_block(scores, work.score_bits, base, work.highest_bits, sums)
                add_to_sum(summaries.sums, q, SCORES, sums[SCORES], summaries.units[q, SCORES])
                add_to_sum(summaries.sums, q, SQUARES, sums[SQUARES], summaries.units[q, SQUARES])
                pieces, length, begin = (1, listed[number], first) if few else (PIECES, PIECE, base)
                bound = raise_bound(highest, np.int64(0), np.int64(1), pieces, best, k, rule.slack)
                floor = max(floor, bound)
                for j in range(pieces):
                    if highest[j] >= floor and highest[j] > lost:
                        piece = _Piece(begin + j * PIECE, length, record + j * PIECE, few)
                        count, floor, lost = _shortlist(work, piece, floor, lost, summaries, q, count, k, rule.slack)
            if base == first and left_out[number]:
                _mark(scores, base, work.out, first, size, OUT)
            if not few and base != first:
                _clear(scores, base)
        if is_first:
            summaries.candidates[q], summaries.lost[q] = n, lost
            summaries.shortlisted[q], _ = prune(
                summaries.record,
                summaries.score,
                first=q * summaries.capacity,
                n=count,
                best=best,
                facts=k,
                floor=floor,
                slack=rule.slack,
            )
        if is_first and with_z:
            total = sum_value(summaries.sums, q, SCORES, summaries.units[q, SCORES])
            squares = sum_value(summaries.sums, q, SQUARES, summaries.units[q, SQUARES])
            summaries.scale[q] = 1.0 if rule.sized else inverse_sigma(n, total, squares)
            summaries.cut[q] = lowest_listed(summaries.score, q * summaries.capacity, summaries.shortlisted[q])
            summaries.highest[q] = np.float64(best[0])
        if with_z:
            _partition(work, n_records - first_record, summaries, q)
        if 0 <= candidates.exclude[q] - first_record < len(work.out):
            work.out[candidates.exclude[q] - first_record] = False


@subroutine
def _add_fact(
    postings: Postings, tables: KernelTables, facts: QueryFacts, fact: Int, low: Int, high: Int, scores: Array
) -> None:
    """Add weight · Sim of the entries in words low … high - 1 to the scores of their records in the block.

    Each load of an entry counts: two fifths of the time are saved where all kinds share one row of c and one
    factor, as in a decay.
    """
    word, value_bits, time_bits = postings.word, postings.value_bits, postings.time_bits
    a, b, off, c, shared, even, lines, line_bits, _, _ = tables
    kind_shift, position_shift = U(time_bits), U(time_bits + value_bits)
    time_mask, kind_mask, position_mask = ((U(1) << kind_shift) - U(1), (U(1) << U(value_bits)) - U(1), U(BLOCK - 1))
    u, known, weight = U(facts.shape[fact]), U(facts.time[fact]), facts.weight[fact]
    row, factor = off[u, U(0)] - known, b[u, U(0)]
    if shared[u] and line_bits > 0:
        for p in range(U(low), U(high)):
            x = U(word[p])
            kind = (x >> kind_shift) & kind_mask
            alike = interpolated(c, lines, line_bits, (x & time_mask) + row)
            similarity = multiply_add(b[u, kind], alike, a[u, kind])
            position = (x >> position_shift) & position_mask
            scores[position] = multiply_add(weight, similarity, scores[position])
    elif even[u]:
        for p in range(U(low), U(high)):
            x = U(word[p])
            similarity = multiply_add(
                factor, time_similarity(c, (x & time_mask) + row), a[u, (x >> kind_shift) & kind_mask]
            )
            position = (x >> position_shift) & position_mask
            scores[position] = multiply_add(weight, similarity, scores[position])
    elif shared[u]:
        for p in range(U(low), U(high)):
            x = U(word[p])
            kind = (x >> kind_shift) & kind_mask
            similarity = multiply_add(b[u, kind], time_similarity(c, (x & time_mask) + row), a[u, kind])
            position = (x >> position_shift) & position_mask
            scores[position] = multiply_add(weight, similarity, scores[position])
    else:
        for p in range(U(low), U(high)):
            x = U(word[p])
            kind = (x >> kind_shift) & kind_mask
            similarity = multiply_add(
                b[u, kind], time_similarity(c, (x & time_mask) + off[u, kind] - known), a[u, kind]
            )
            position = (x >> position_shift) & position_mask
            scores[position] = multiply_add(weight, similarity, scores[position])


@subroutine
def _add_parts(parts: RepeatedParts, n: Int, base: Int, scores: Array) -> None:
    """Add the parts of n records to their scores; the block's scores begin at `base`."""
    position, part = parts.position, parts.part
    for i in range(U(n)):
        scores[U(base) + U(position[i])] += part[i]


@subroutine
def _move_to_list(postings: Postings, low: Int, high: Int, work: BlockWorkspace, number: Int, n: Int) -> Int:
    """Move the scores of these words' records from the spare block to the list of n; return its length."""
    word, scores, position, out = postings.word, work.scores, work.position, work.out
    first, base = number * BLOCK, U(len(work.listed) * BLOCK)
    shift, mask = U(postings.value_bits + postings.time_bits), U(BLOCK - 1)
    for p in range(U(low), U(high)):
        record = (U(word[p]) >> shift) & mask
        x = scores[base + record]
        if x > ZERO:
            scores[base + record] = ZERO
            if not out[U(first) + record]:
                scores[first + n] = x
                position[first + n] = record
                n += 1
    return n


@subroutine
def _clear(scores: Array, base: Int) -> None:
    """Set a block's scores to 0."""
    for i in range(U(BLOCK)):
        scores[U(base) + i] = ZERO


@subroutine
def _mark(scores: Array, base: Int, out: Array, first: Int, size: Int, mark: Real) -> None:
    """Give this score to the records of a block that are not candidates; their scores begin at `base`."""
    for i in range(U(size)):
        scores[U(base) + i] = mark if out[U(first) + i] else scores[U(base) + i]


@subroutine
def _sum_list(scores: Array, first: Int, n: Int, sums: Array) -> Real:
    """The sums of a list's scores and of their squares; returns the highest."""
    most, sums[SCORES], sums[SQUARES] = ZERO, 0.0, 0.0
    for i in range(first, first + n):
        x = np.float64(scores[i])
        sums[SCORES] += x
        sums[SQUARES] += x * x
        most = max(most, scores[i])
    return most


@summing_subroutine
def _sum_block(scores: Array, score_bits: Array, base: Int, highest_bits: Array, sums: Array) -> None:
    """The sums of a block's scores and of their squares, and the highest score of each piece.

    Scores and maxima are compared as bits: the greater of two numbers ≥ 0 has the greater bits, and whole
    numbers compare in vectors where floats do not.
    """
    for j in range(PIECES):
        most, first = np.int32(0), U(base + j * PIECE)
        for i in range(U(PIECE)):
            most = max(most, score_bits[first + i])
        highest_bits[j] = most
    total, squares, first = 0.0, 0.0, U(base)
    for i in range(U(BLOCK)):
        x = np.float64(scores[first + i])
        total += x
        squares += x * x
    sums[SCORES] = total
    sums[SQUARES] = squares


@subroutine
def _shortlist(
    work: BlockWorkspace,
    piece: _Piece,
    floor: Real,
    lost: Real,
    summaries: QuerySummaries,
    q: Int,
    n: Int,
    facts: Int,
    slack: Real,
) -> tuple[Int, Real, Real]:
    """Put every record of a piece whose score is at least `floor` on the query's shortlist of n.

    Returns the new n, the new floor and the highest score that found no room.
    """
    scores, position, best, capacity = work.scores, work.position, work.best, summaries.capacity
    for i in range(piece.low, piece.low + piece.length):
        if scores[i] >= floor and scores[i] > lost:
            n, floor, lost = enlist(
                summaries.record,
                summaries.score,
                first=q * capacity,
                capacity=capacity,
                n=n,
                new=piece.record + (np.int64(position[i]) if piece.is_list else i - piece.low),
                x=scores[i],
                best=best,
                facts=facts,
                floor=floor,
                lost=lost,
                slack=slack,
            )
    return n, floor, lost


@subroutine
def _partition(work: BlockWorkspace, n_records: Int, summaries: QuerySummaries, q: Int) -> None:
    """Z = Σ e^((score − highest) · scale) over candidates with a score below the cut; 0 if σ is 0.

    `n_records` is the number of records from the part's first on.
    """
    highest, scale, unit = summaries.highest[q], summaries.scale[q], summaries.units[q, PARTITION]
    if scale == 0.0:
        return
    nothing = np.exp(-highest * scale)
    for number in range(len(work.listed)):
        first, listed = number * BLOCK, work.listed[number]
        size = min(n_records - first, BLOCK)
        length = listed if listed >= 0 else size
        mass = exp_sum(work.scores, first, first + length, highest, scale, summaries.cut[q])
        if listed >= 0:
            mass += nothing * (size - work.left_out[number] - length)
        add_to_sum(summaries.sums, q, PARTITION, mass, unit)
