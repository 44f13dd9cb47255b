"""What a fact adds to the scores of records that have its item several times: compiled.

    part = weight · max over the entries of Sim                                          [Algorithm 1B]
    part = max(0, ln((1/n + odds/size) · Σ over the n entries of P) + constant)          [Likelihood]

The words of one record follow one another, and records with equally many of them do too (see
`release.postings`), so that the loop over a record's words ends where the processor expects it. P is a
probability and not its logarithm (see `Likelihoods`): a record takes one logarithm, and no entry takes an
exponential.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.kernels.interpolation import interpolated
from standout.attack.kernels.query_arrays import BLOCK, ZERO, QueryFacts, ScoreRule, U
from standout.attack.kernels.sized_additions import logarithm
from standout.core.jit import Array, Int, Real, inline, subroutine
from standout.core.simd import multiply_add
from standout.release.postings import Postings
from standout.similarity.lookup_tables import KernelTables
from standout.similarity.time_cells import time_similarity

__all__ = ["RepeatedParts", "fill_parts"]

ONE, SMALLEST = np.float32(1), np.float32(1e-30)
MANY_WORDS = U(6)
"""A record with as many words is not read word by word: those that follow have as many or more."""
MOST_EXPECTED = U(32)
"""Records with so many words or more are in no order of their number (see `Postings`)."""


class RepeatedParts(NamedTuple):
    """The parts of a block's records that have an item several times, and their numbers of entries."""

    position: NDArray[np.uint16]
    entries: NDArray[np.int32]
    part: NDArray[np.float32]

    @classmethod
    def allocate(cls, repeats: bool) -> "RepeatedParts":
        """Arrays for one block, empty without repeats."""
        size = BLOCK if repeats else 0
        return cls(np.zeros(size, np.uint16), np.zeros(size, np.int32), np.zeros(size, np.float32))


@subroutine
def fill_parts(
    postings: Postings,
    tables: KernelTables,
    facts: QueryFacts,
    rule: ScoreRule,
    fact: Int,
    low: Int,
    high: Int,
    first: Int,
    out: RepeatedParts,
) -> Int:
    """Write the parts of the records in words low … high - 1, whose block begins at record `first`.

    Returns their number.
    """
    if rule.sized:
        n = _sums(postings, tables, facts, rule, fact, low, high, out)
        code = rule.sizes.code[first : min(first + BLOCK, len(rule.sizes.code))]
        _weigh(out, n, code, rule.sizes.inverse, rule.odds[fact])
        _take_logarithms(out.part, n, rule.constant[fact])
        return n
    return _maxima(postings, tables, facts, fact, low, high, out)


@inline
def record_end(word: Array, p: Int, stop: Int, position_shift: Int, expected: Int) -> Int:
    """Where the words of the record at p end, if it probably has as many as expected: no loop if it has."""
    position, end = U(word[p]) >> position_shift, p + expected
    if end > stop or U(word[end - U(1)]) >> position_shift != position:
        end = p + U(1)
    while end < stop and U(word[end]) >> position_shift == position:
        end += U(1)
    return end


@subroutine
def _maxima(
    postings: Postings,
    tables: KernelTables,
    facts: QueryFacts,
    fact: Int,
    low: Int,
    high: Int,
    out: RepeatedParts,
) -> Int:
    """Write weight · the highest Sim of each record in words low … high - 1; return their number.

    In a decay all kinds have one row of c and one factor, which saves loads. There, odd and even words of
    records with many have separate maxima, so that a comparison need not wait for the one before.
    """
    word, a, b, off, c, lines = postings.word, tables.a, tables.b, tables.off, tables.c, tables.lines
    positions, parts, line_bits = out.position, out.part, tables.line_bits
    kind_shift, position_shift = U(postings.time_bits), U(postings.time_bits + postings.value_bits)
    time_mask, kind_mask = (U(1) << kind_shift) - U(1), (U(1) << U(postings.value_bits)) - U(1)
    u, known, weight = U(facts.shape[fact]), U(facts.time[fact]), facts.weight[fact]
    row, factor, even = off[u, U(0)] - known, b[u, U(0)], tables.even[u] and not line_bits
    n, p, stop, words = U(0), U(low), U(high), U(0)
    while p < stop and words < MANY_WORDS:
        begin, x = p, U(word[p])
        position, best = x >> position_shift, ZERO
        while True:
            kind = (x >> kind_shift) & kind_mask
            if even:
                similarity = multiply_add(factor, time_similarity(c, (x & time_mask) + row), a[u, kind])
            else:
                at = (x & time_mask) + off[u, kind] - known
                closeness = interpolated(c, lines, line_bits, at) if line_bits else time_similarity(c, at)
                similarity = multiply_add(b[u, kind], closeness, a[u, kind])
            best = similarity if similarity > best else best
            p += U(1)
            if p == stop:
                break
            x = U(word[p])
            if x >> position_shift != position:
                break
        positions[n], parts[n] = position & U(BLOCK - 1), weight * best
        n, words = n + U(1), p - begin if even else U(0)
    while p < stop:
        end = record_end(word, p, stop, position_shift, words)
        words = min(end - p, MOST_EXPECTED)
        position, best, other = (U(word[p]) >> position_shift) & U(BLOCK - 1), ZERO, ZERO
        while p + U(1) < end:
            x, y = U(word[p]), U(word[p + U(1)])
            similarity = multiply_add(
                factor, time_similarity(c, (x & time_mask) + row), a[u, (x >> kind_shift) & kind_mask]
            )
            best = similarity if similarity > best else best
            similarity = multiply_add(
                factor, time_similarity(c, (y & time_mask) + row), a[u, (y >> kind_shift) & kind_mask]
            )
            other = similarity if similarity > other else other
            p += U(2)
        if p < end:
            x = U(word[p])
            similarity = multiply_add(
                factor, time_similarity(c, (x & time_mask) + row), a[u, (x >> kind_shift) & kind_mask]
            )
            best = similarity if similarity > best else best
        positions[n], parts[n] = position, weight * (other if other > best else best)
        n, p = n + U(1), end
    return np.int64(n)


@subroutine
def _sums(
    postings: Postings,
    tables: KernelTables,
    facts: QueryFacts,
    rule: ScoreRule,
    fact: Int,
    low: Int,
    high: Int,
    out: RepeatedParts,
) -> Int:
    """Write the sum of P over the entries of each record in words low … high - 1; return their number.

    Sums are in double precision, because a record may have many entries.
    """
    word, off, reach = postings.word, tables.off, tables.reach
    a, b, c, near = rule.likelihoods
    positions, entries, parts = out
    kind_shift, position_shift = U(postings.time_bits), U(postings.time_bits + postings.value_bits)
    time_mask, kind_mask = (U(1) << kind_shift) - U(1), (U(1) << U(postings.value_bits)) - U(1)
    u, known = U(facts.shape[fact]), U(facts.time[fact])
    earliest, width, row = known - U(max(reach, 0)), U(2 * max(reach, 0)), off[u, U(0)] - known
    n, p, stop, expected = U(0), U(low), U(high), U(2)
    while p < stop:
        end = record_end(word, p, stop, position_shift, expected)
        expected = min(end - p, MOST_EXPECTED)
        likely, others = 0.0, 0.0
        positions[n], entries[n] = (U(word[p]) >> position_shift) & U(BLOCK - 1), end - p
        if reach >= 0:
            while p + U(1) < end:
                x, y = U(word[p]), U(word[p + U(1)])
                kind, is_near = (x >> kind_shift) & kind_mask, U((x & time_mask) - earliest <= width)
                likely += np.float64(near[u, (kind << U(1)) + is_near])
                kind, is_near = (y >> kind_shift) & kind_mask, U((y & time_mask) - earliest <= width)
                others += np.float64(near[u, (kind << U(1)) + is_near])
                p += U(2)
            if p < end:
                x = U(word[p])
                kind, is_near = (x >> kind_shift) & kind_mask, U((x & time_mask) - earliest <= width)
                likely += np.float64(near[u, (kind << U(1)) + is_near])
        else:
            for i in range(p, end):
                x = U(word[i])
                kind = (x >> kind_shift) & kind_mask
                likely += np.float64(
                    multiply_add(b[u, kind], time_similarity(c, (x & time_mask) + row), a[u, kind])
                )
        parts[n] = likely + others
        n, p = n + U(1), end
    return np.int64(n)


@subroutine
def _weigh(out: RepeatedParts, n: Int, code: Array, inverse: Array, odds: Real) -> None:
    """Multiply each sum by 1/n + odds/size; `code` begins with the block's first record."""
    positions, entries, parts = out
    for i in range(U(n)):
        parts[i] *= ONE / np.float32(entries[i]) + odds * inverse[U(code[U(positions[i])])]


@subroutine
def _take_logarithms(parts: Array, n: Int, constant: Real) -> None:
    for i in range(U(n)):
        part = logarithm(parts[i] if parts[i] > SMALLEST else SMALLEST) + constant
        parts[i] = part if part > ZERO else ZERO
