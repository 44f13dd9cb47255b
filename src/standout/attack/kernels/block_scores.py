"""The scores of all records for a slice of queries, and what is made of them: compiled.

    score_queries(r′) = Σ over the known items that r′ has of weight · Sim     [Algorithm 1B]

Only the postings of known items are walked, in blocks of 2**13 records, so that the scores under work stay
in the cache; the zeros of all others count in mean and σ without being looked at. Sim comes from tables
(see `similarity.lookup_tables`). Scores are float32 here and their sums float64; whoever may be among the
best is reported, to be scored anew in float64. A block that few postings touch is kept as a short list.

With NUMBA_DISABLE_JIT=1 this is plain Python on NumPy's scalars, which is why constants are NumPy's too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.jit import (
    Array,
    Flag,
    Int,
    Real,
    inline,
    kernel,
    subroutine,
    summing_subroutine,
)
from standout.core.simd import multiply_add
from standout.release.postings import BLOCK_BITS, Postings
from standout.similarity.lookup_tables import KernelTables

__all__ = [
    "BLOCK",
    "LEAST",
    "OUT",
    "ZERO",
    "BlockWorkspace",
    "CandidateFilter",
    "QueryFacts",
    "QuerySummaries",
    "U",
    "bound",
    "exp_sum",
    "on_line",
    "run_end",
    "scale_of",
    "score_queries",
    "thin",
]  # fmt: skip

BLOCK = 1 << BLOCK_BITS
SUB = 128
"""Records whose highest score is kept while a block is summed: only the best of these are looked into."""
SUBS = BLOCK // SUB
FEW = BLOCK // 8
"""A block that fewer postings touch is kept as a list."""
U = np.uint64
ZERO, HALF = np.float32(0), np.float32(0.5)
OUT = np.float32(-1e30)
"""The score of a record that is no candidate."""
LEAST = np.float32(1e-30)
ROUNDING = 2.0**-22
"""More than the relative error that a float32 score gathers per fact."""


class QueryFacts(NamedTuple):
    """The facts of queries that name items of the release: query q owns first[q] … first[q + 1]."""

    first: NDArray[np.int64]
    item: NDArray[np.int64]
    weight: NDArray[np.float32]
    shape: NDArray[np.int64]
    time: NDArray[np.int64]


class CandidateFilter(NamedTuple):
    """Who may be found: `exclude` is a record per query or -1; `length` and `joined` are the lowest and
    highest allowed per query, held against `lengths` and `begins` of every record if `filtered` is set.
    A record that has no time (begins = -1) cannot be ruled out by when it begins."""

    exclude: NDArray[np.int64]
    length: NDArray[np.int64]
    joined: NDArray[np.int64]
    lengths: NDArray[np.int32]
    begins: NDArray[np.int32]
    filtered: bool


class BlockWorkspace(NamedTuple):
    """A thread's own arrays: the scores of all records (a list of them where a block has few) and of a spare
    block, which is worked in where they are not kept; the same as bits; the highest of each 128 of a block,
    as numbers and as bits; who is no candidate; notes by block and by fact."""

    scores: NDArray[np.float32]
    bits: NDArray[np.int32]
    highest: NDArray[np.float32]
    peaks: NDArray[np.int32]
    place: NDArray[np.uint16]
    out: NDArray[np.bool_]
    left_out: NDArray[np.int64]
    listed: NDArray[np.int64]
    sums: NDArray[np.float64]
    cursor: NDArray[np.int64]
    at: NDArray[np.int64]
    stops: NDArray[np.int64]
    best: NDArray[np.float32]

    @classmethod
    def of(cls, n_records: int, most_facts: int, top: int) -> "BlockWorkspace":
        n = -(-n_records // BLOCK)
        scores, highest = np.zeros((n + 1) * BLOCK, np.float32), np.zeros(SUBS, np.float32)
        return cls(
            scores, scores.view(np.int32), highest, highest.view(np.int32), np.zeros(n * BLOCK, np.uint16),
            np.zeros(n * BLOCK, np.bool_), np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(2),
            np.zeros(most_facts, np.int64), np.zeros(most_facts, np.int64), np.zeros(most_facts, np.int64),
            np.zeros(top, np.float32),
        )  # fmt: skip


class QuerySummaries(NamedTuple):
    """What came out, a row per query: how many candidates, the sum of their scores and of the squares, the
    highest score, Z = Σ e^((score − highest)/σ), and the records that may be among the best: n of them, in
    `places` places of `record` and `score`. `more` says that there were more of those than places."""

    candidates: NDArray[np.int64]
    total: NDArray[np.float64]
    squares: NDArray[np.float64]
    highest: NDArray[np.float64]
    z: NDArray[np.float64]
    n: NDArray[np.int64]
    record: NDArray[np.int64]
    score: NDArray[np.float32]
    more: NDArray[np.bool_]
    places: int

    def select_rows(self, rows: NDArray[np.int64]) -> "QuerySummaries":
        """These rows, in this order."""
        record = self.record.reshape(-1, self.places)[rows].reshape(-1)
        score = self.score.reshape(-1, self.places)[rows].reshape(-1)
        return QuerySummaries(
            self.candidates[rows], self.total[rows], self.squares[rows], self.highest[rows], self.z[rows],
            self.n[rows], record, score, self.more[rows], self.places,
        )  # fmt: skip

    @classmethod
    def of(cls, queries: int, places: int) -> "QuerySummaries":
        return cls(
            np.zeros(queries, np.int64), np.zeros(queries), np.zeros(queries), np.zeros(queries),
            np.zeros(queries), np.zeros(queries, np.int64), np.zeros(queries * places, np.int64),
            np.zeros(queries * places, np.float32), np.zeros(queries, np.bool_), places,
        )  # fmt: skip


@kernel
def score_queries(
    postings: Postings, facts: QueryFacts, tables: KernelTables, candidates: CandidateFilter, n_records: Int,
    top: Int, with_z: Flag, work: BlockWorkspace, found: QuerySummaries, low: Int, high: Int,
) -> None:  # fmt: skip
    """Queries low … high - 1, into `found`."""
    start, run, block, end, word, value_bits, time_bits = postings
    first_fact, item, weight, shape, time = facts
    a, b, off, c, shared, even, lines, line_bits = tables
    scores, bits, highest, peaks, place, out, left_out, listed, sums, cursor, at, stops, best = work
    for q in range(low, high):
        f, k = first_fact[q], first_fact[q + 1] - first_fact[q]
        n = n_records - _rule_out(candidates, q, n_records, out, left_out)
        for j in range(k):
            cursor[j], at[j] = run[item[f + j]], start[item[f + j]]
        for i in range(top):
            best[i] = ZERO
        sums[0], sums[1] = 0.0, 0.0
        floor, kept, more = LEAST, np.int64(0), False
        for here in range(len(listed)):
            first, count = here * BLOCK, 0
            size = min(n_records - first, BLOCK)
            for j in range(k):
                stops[j] = run_end(start, run, block, end, item[f + j], cursor[j], here)
                count += max(stops[j] - at[j], 0)
            few = count < FEW
            base = first if with_z and not few else len(listed) * BLOCK  # the spare block, which is 0
            if base == first:
                _clear(scores, base)
            for j in range(k):
                if stops[j] > 0:
                    _add(
                        word, at[j], stops[j], value_bits, time_bits, a, b, off, c, shared, even, lines,
                        line_bits, shape[f + j], time[f + j], weight[f + j], scores, base,
                    )  # fmt: skip
            listed[here] = 0 if few else -1
            for j in range(k):
                if stops[j] > 0:
                    if few:
                        listed[here] = _harvest(
                            word, at[j], stops[j], value_bits + time_bits, out, first, scores, base, place,
                            listed[here],
                        )  # fmt: skip
                    at[j], cursor[j] = stops[j], cursor[j] + 1
            if few:
                highest[0] = _sum_list(scores, first, listed[here], sums)
            else:
                if left_out[here]:
                    _mark(scores, base, out, first, size, ZERO)
                _sum(scores, bits, base, peaks, sums)
            pieces, length, begin = (1, listed[here], first) if few else (SUBS, SUB, base)
            floor = max(floor, rise(highest, np.int64(0), np.int64(1), pieces, best, top, k))
            for j in range(pieces):
                if highest[j] >= floor and not more:
                    kept, more, floor = _select(
                        scores, begin + j * SUB, length, j * SUB, place, first, few, floor, found.record,
                        found.score, q * found.places, kept, found.places, best, top, k,
                    )  # fmt: skip
            if base == first and left_out[here]:
                _mark(scores, base, out, first, size, OUT)
            if not few and base != first:
                _clear(scores, base)
        found.candidates[q], found.total[q], found.squares[q] = n, sums[0], sums[1]
        found.n[q], _ = thin(found.record, found.score, q * found.places, kept, best, top, k, floor)
        found.highest[q], found.more[q] = np.float64(best[0]), more
        if with_z:
            scale = scale_of(n, sums[0], sums[1])
            found.z[q] = _partition(scores, listed, left_out, n_records, found.highest[q], scale)
        if candidates.exclude[q] >= 0:
            out[candidates.exclude[q]] = False


@subroutine
def run_end(start: Array, run: Array, block: Array, end: Array, item: Int, cursor: Int, here: Int) -> Int:
    """Where the words of an item for this block end, if its next run is of this block; else 0."""
    if cursor < run[item + 1] and block[cursor] == here:
        return start[item] + np.int64(end[cursor])
    return np.int64(0)


@subroutine
def _rule_out(candidates: CandidateFilter, q: Int, n_records: Int, out: Array, left_out: Array) -> Int:
    """Notes who is no candidate, and how many by block; returns how many in all."""
    exclude, total = candidates.exclude[q], np.int64(0)
    for here in range(len(left_out)):
        gone = np.int64(0)
        if candidates.filtered:
            first, last = here * BLOCK, min(n_records, here * BLOCK + BLOCK)
            shortest, longest = _narrow(candidates.length[q, 0]), _narrow(candidates.length[q, 1])
            earliest, latest = _narrow(candidates.joined[q, 0]), _narrow(candidates.joined[q, 1])
            gone = _filter(
                candidates.lengths, shortest, longest, candidates.begins, earliest, latest, out, first, last
            )
        if exclude // BLOCK == here and not out[exclude]:
            out[exclude] = True
            gone += 1
        left_out[here] = gone
        total += gone
    return total


@subroutine
def _narrow(x: Int) -> Int:
    """A bound in 32 bits: what is held against it has no more."""
    return np.int32(min(max(x, -(1 << 31)), (1 << 31) - 1))


@subroutine
def _filter(
    lengths: Array, shortest: Int, longest: Int, begins: Array, earliest: Int, latest: Int, out: Array,
    first: Int, last: Int,
) -> Int:  # fmt: skip
    """Notes who of records first … last - 1 is too short, too long, or begins too early or too late."""
    gone = np.int32(0)
    for i in range(U(first), U(last)):
        length, day = lengths[i], begins[i]
        apart = (length < shortest) | (length > longest) | ((day >= 0) & ((day < earliest) | (day > latest)))
        out[i] = apart
        gone += np.int32(apart)
    return np.int64(gone)


@subroutine
def _add(
    word: Array, low: Int, high: Int, value_bits: Int, time_bits: Int, a: Array, b: Array, off: Array,
    c: Array, shared: Array, even: Array, lines: Array, line_bits: Int, shape: Int, known_time: Int,
    weight: Real, scores: Array, base: Int,
) -> None:  # fmt: skip
    """Adds weight · Sim of the entries in words low … high - 1 to the scores of their records in the block.

    Each load of an entry counts: two fifths of the time are saved where all kinds share one row of c and one
    factor, as in a decay.
    """
    of_time, of_place = U(time_bits), U(time_bits + value_bits)
    time_mask, kind_mask, place_mask = (U(1) << of_time) - U(1), (U(1) << U(value_bits)) - U(1), U(BLOCK - 1)
    u, known, first = U(shape), U(known_time), U(base)
    row, factor = off[u, U(0)] - known, b[u, U(0)]
    if shared[u] and line_bits > 0:
        for p in range(U(low), U(high)):
            x = U(word[p])
            kind = (x >> of_time) & kind_mask
            alike = on_line(c, lines, line_bits, (x & time_mask) + row)
            similarity = multiply_add(b[u, kind], alike, a[u, kind])
            place = first + ((x >> of_place) & place_mask)
            scores[place] = multiply_add(weight, similarity, scores[place])
    elif even[u]:
        for p in range(U(low), U(high)):
            x = U(word[p])
            similarity = multiply_add(factor, c[(x & time_mask) + row], a[u, (x >> of_time) & kind_mask])
            place = first + ((x >> of_place) & place_mask)
            scores[place] = multiply_add(weight, similarity, scores[place])
    elif shared[u]:
        for p in range(U(low), U(high)):
            x = U(word[p])
            kind = (x >> of_time) & kind_mask
            similarity = multiply_add(b[u, kind], c[(x & time_mask) + row], a[u, kind])
            place = first + ((x >> of_place) & place_mask)
            scores[place] = multiply_add(weight, similarity, scores[place])
    else:
        for p in range(U(low), U(high)):
            x = U(word[p])
            kind = (x >> of_time) & kind_mask
            similarity = multiply_add(b[u, kind], c[(x & time_mask) + off[u, kind] - known], a[u, kind])
            place = first + ((x >> of_place) & place_mask)
            scores[place] = multiply_add(weight, similarity, scores[place])


@inline
def on_line(c: Array, lines: Array, line_bits: Int, at: Int) -> Real:
    """c[at], from its straight piece where it has one."""
    piece = (at >> U(line_bits)) << U(1)
    along = np.float32(np.int32(at & ((U(1) << U(line_bits)) - U(1))))
    x = multiply_add(lines[piece + U(1)], along, lines[piece])
    return x if x == x else c[at]


@subroutine
def _harvest(
    word: Array, low: Int, high: Int, of_place: Int, out: Array, first: Int, scores: Array, base: Int,
    place: Array, n: Int,
) -> Int:  # fmt: skip
    """Moves the scores of these words' records from base into the block's list of n; returns its length."""
    shift, mask = U(of_place), U(BLOCK - 1)
    for p in range(U(low), U(high)):
        record = (U(word[p]) >> shift) & mask
        x = scores[U(base) + record]
        if x > ZERO:
            scores[U(base) + record] = ZERO
            if not out[U(first) + record]:
                scores[first + n] = x
                place[first + n] = record
                n += 1
    return n


@subroutine
def _clear(scores: Array, base: Int) -> None:
    """Sets a block's scores to 0."""
    for i in range(U(BLOCK)):
        scores[U(base) + i] = ZERO


@subroutine
def _mark(scores: Array, base: Int, out: Array, first: Int, size: Int, mark: Real) -> None:
    """Gives this score to those of a block who are no candidates; the block's scores begin at `base`."""
    for i in range(U(size)):
        scores[U(base) + i] = mark if out[U(first) + i] else scores[U(base) + i]


@subroutine
def _sum_list(scores: Array, first: Int, n: Int, sums: Array) -> Real:
    """Adds a list's scores and their squares to the sums; returns the highest."""
    most = ZERO
    for i in range(first, first + n):
        x = np.float64(scores[i])
        sums[0] += x
        sums[1] += x * x
        most = max(most, scores[i])
    return most


@summing_subroutine
def _sum(scores: Array, bits: Array, base: Int, peaks: Array, sums: Array) -> None:
    """Adds a block's scores and their squares to the sums, and notes the highest of each 128.

    bits and peaks are the bits of scores and maxima: of numbers that are not negative the greater has the
    greater bits, and whole numbers compare in vectors where floats do not.
    """
    for j in range(SUBS):
        most, here = np.int32(0), U(base + j * SUB)
        for i in range(U(SUB)):
            most = max(most, bits[here + i])
        peaks[j] = most
    total, squares, here = 0.0, 0.0, U(base)
    for i in range(U(BLOCK)):
        x = np.float64(scores[here + i])
        total += x
        squares += x * x
    sums[0] += total
    sums[1] += squares


@subroutine
def _select(
    scores: Array, low: Int, length: Int, begin: Int, place: Array, first: Int, few: Flag, floor: Real,
    record: Array, score: Array, row: Int, n: Int, places: Int, best: Array, top: Int, facts: Int,
) -> tuple[Int, Flag, Real]:  # fmt: skip
    """Notes every record whose score is at least `floor`, of `length` scores from `low` on: whoever may be
    among the `top` highest of all. They are the block's list, or its places from `begin` on.

    Returns how many are noted now, whether there were too many, and the floor.
    """
    for i in range(low, low + length):
        if scores[i] < floor:
            continue
        if n == places:
            n, floor = thin(record, score, row, n, best, top, facts, floor)
            if n == places:
                return n, True, floor
            if scores[i] < floor:
                continue
        record[row + n] = first + (np.int64(place[i]) if few else begin + i - low)
        score[row + n] = scores[i]
        n += 1
    return n, False, floor


@subroutine
def bound(scores: Array, first: Int, stride: Int, n: Int, best: Array, top: Int, facts: Int) -> Real:
    """Just below the top-th highest of n scores, but above 0; best = the highest, in descending order."""
    for i in range(top):
        best[i] = ZERO
    return rise(scores, first, stride, n, best, top, facts)


@subroutine
def rise(scores: Array, first: Int, stride: Int, n: Int, best: Array, top: Int, facts: Int) -> Real:
    """The same, of n more scores: whatever lies below it, even with the error of float32, is not wanted."""
    for i in range(n):
        x = scores[first + i * stride]
        if x > best[top - 1]:
            j = top - 1
            while j > 0 and best[j - 1] < x:
                best[j] = best[j - 1]
                j -= 1
            best[j] = x
    return max(np.float32(np.float64(best[top - 1]) * (1.0 - ROUNDING * (facts + 4))), LEAST)


@subroutine
def thin(
    record: Array, score: Array, row: Int, n: Int, best: Array, top: Int, facts: Int, floor: Real
) -> tuple[Int, Real]:
    """Drops what has turned out to be too low to be among the best; returns what is left, and the bound."""
    floor = max(floor, bound(score, row, np.int64(1), n, best, top, facts))
    kept = np.int64(0)
    for i in range(row, row + n):
        if score[i] >= floor:
            score[row + kept] = score[i]
            record[row + kept] = record[i]
            kept += 1
    return kept, floor


@subroutine
def scale_of(n: Int, total: Real, squares: Real) -> Real:
    """1 / σ, or 0 where there is no spread."""
    mean = total / max(n, 1)
    variance = squares / max(n, 1) - mean * mean
    return 1.0 / np.sqrt(variance) if variance > 0.0 else 0.0


@subroutine
def _partition(
    scores: Array, listed: Array, left_out: Array, n_records: Int, highest: Real, scale: Real
) -> Real:
    """Z = Σ over candidates of e^((score − highest)/σ); 0 where σ is."""
    if scale == 0.0:
        return 0.0
    nothing, z = np.exp(-highest * scale), 0.0
    for here in range(len(listed)):
        first = here * BLOCK
        size = min(n_records - first, BLOCK)
        length = listed[here] if listed[here] >= 0 else size
        z += exp_sum(scores, first, first + length, highest, scale)
        if listed[here] >= 0:
            z += nothing * (size - left_out[here] - length)
    return z


LOG2_E = 1.4426950408889634
# 2^r for |r| ≤ ½, to 8e-8 of itself (Remez)
C0, C1, C2 = np.float32(1.0000001), np.float32(0.69314694), np.float32(0.2402212)
C3, C4, C5 = np.float32(0.05550713), np.float32(0.009675541), np.float32(0.0013276472)
BOTTOM, BIAS, POINT = np.float32(-126), np.int32(127), np.int32(23)


@subroutine
def exp_sum(scores: Array, low: Int, high: Int, highest: Real, scale: Real) -> Real:
    """Σ e^((score − highest)·scale) over scores[low:high]; none is above `highest`.

    Four terms are added in single precision in a fixed order, and these sums in double precision, where the
    order hardly shows: so the width of a processor's vectors does not matter.
    """
    factor, top = np.float32(scale * LOG2_E), np.float32(highest)
    rest, lowest = np.float32(scale * LOG2_E - np.float64(factor)), BOTTOM / factor
    quarter = U((high - low) // 4)
    fours = np.empty(quarter, np.float32)
    for i in range(quarter):
        one = U(low) + i
        two = one + quarter
        three = two + quarter
        fours[i] = (
            _power(scores[one] - top, factor, rest, lowest) + _power(scores[two] - top, factor, rest, lowest)
        ) + (
            _power(scores[three] - top, factor, rest, lowest)
            + _power(scores[three + quarter] - top, factor, rest, lowest)
        )
    total = _total(fours)
    for i in range(U(low) + U(4) * quarter, U(high)):
        total += np.float64(_power(scores[i] - top, factor, rest, lowest))
    return total


@inline
def _power(x: Real, factor: Real, rest: Real, lowest: Real) -> Real:
    """2^(x · (factor + rest)) for x ≤ 0, in single precision.

    2^y = 2^⌊y⌉ · 2^(y−⌊y⌉): the bits of a float for the first, a polynomial for the second. The factor has a
    rest, because most scores are 0, and its rounding would put all of those off by the same.
    """
    x = x if x > lowest else lowest
    y = x * factor
    whole = np.int32(y - HALF)
    r = multiply_add(x, rest, y - np.float32(whole))
    upper = multiply_add(r, multiply_add(r, multiply_add(r, C5, C4), C3), C2)
    return np.int32((whole + BIAS) << POINT).view(np.float32) * multiply_add(
        r, multiply_add(r, upper, C1), C0
    )


@summing_subroutine
def _total(numbers: Array) -> Real:
    """Their sum in double precision."""
    total = 0.0
    for i in range(len(numbers)):
        total += np.float64(numbers[i])
    return total
