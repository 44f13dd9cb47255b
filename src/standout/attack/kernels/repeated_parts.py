"""What a fact adds to the scores of records that have its item several times: compiled.

    part = weight · max over the entries of Sim                                          [Algorithm 1B]
    part = max(0, ln((1/n + odds/size) · Σ over the n entries of P) + constant)          [Likelihood]

The words of one record follow one another (see `release.postings`), so each part is formed in registers. P is
a probability and not its logarithm (see `Likelihoods`): a record takes one logarithm, and no entry takes an
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

__all__ = ["RepeatedParts", "fill_parts"]

SMALLEST = np.float64(1e-30)


class RepeatedParts(NamedTuple):
    """The parts of a block's records that have an item several times; one element for each of them."""

    position: NDArray[np.uint64]
    part: NDArray[np.float32]

    @classmethod
    def allocate(cls, repeats: bool) -> "RepeatedParts":
        """Arrays for one block, empty without repeats."""
        size = BLOCK if repeats else 0
        return cls(np.zeros(size, np.uint64), np.zeros(size, np.float32))


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
        return _sized_parts(postings, tables, facts, rule, fact, low, high, first, out.position, out.part)
    return _best_parts(postings, tables, facts, fact, low, high, out.position, out.part)


@subroutine
def _best_parts(
    postings: Postings,
    tables: KernelTables,
    facts: QueryFacts,
    fact: Int,
    low: Int,
    high: Int,
    positions: Array,
    parts: Array,
) -> Int:
    word, a, b, off, c, lines = postings.word, tables.a, tables.b, tables.off, tables.c, tables.lines
    kind_shift, position_shift = U(postings.time_bits), U(postings.time_bits + postings.value_bits)
    time_mask, kind_mask = (U(1) << kind_shift) - U(1), (U(1) << U(postings.value_bits)) - U(1)
    u, known, weight = U(facts.shape[fact]), U(facts.time[fact]), facts.weight[fact]
    n, p, stop, line_bits = U(0), U(low), U(high), tables.line_bits
    while p < stop:
        x = U(word[p])
        position, best = x >> position_shift, ZERO
        while True:
            kind = (x >> kind_shift) & kind_mask
            at = (x & time_mask) + off[u, kind] - known
            alike = interpolated(c, lines, line_bits, at) if line_bits else c[at]
            similarity = multiply_add(b[u, kind], alike, a[u, kind])
            best = similarity if similarity > best else best
            p += U(1)
            if p == stop:
                break
            x = U(word[p])
            if x >> position_shift != position:
                break
        positions[n] = position & U(BLOCK - 1)
        parts[n] = weight * best
        n += U(1)
    return np.int64(n)


@subroutine
def _sized_parts(
    postings: Postings,
    tables: KernelTables,
    facts: QueryFacts,
    rule: ScoreRule,
    fact: Int,
    low: Int,
    high: Int,
    first: Int,
    positions: Array,
    parts: Array,
) -> Int:
    word, off, code, inverse = postings.word, tables.off, rule.sizes.code, rule.sizes.inverse
    a, b, c, near = rule.likelihoods
    kind_shift, position_shift = U(postings.time_bits), U(postings.time_bits + postings.value_bits)
    time_mask, kind_mask = (U(1) << kind_shift) - U(1), (U(1) << U(postings.value_bits)) - U(1)
    u, known, reach = U(facts.shape[fact]), U(facts.time[fact]), tables.reach
    earliest, width, row = known - U(max(reach, 0)), U(2 * max(reach, 0)), off[u, U(0)] - known
    odds, constant = np.float64(rule.odds[fact]), rule.constant[fact]
    n, p, stop = U(0), U(low), U(high)
    while p < stop:
        x = U(word[p])
        position, begin, likely = x >> position_shift, p, 0.0  # of many entries: in double precision
        while True:
            kind, time = (x >> kind_shift) & kind_mask, x & time_mask
            if reach >= 0:
                likely += np.float64(near[u, (kind << U(1)) + U(time - earliest <= width)])
            else:
                likely += np.float64(multiply_add(b[u, kind], c[time + row], a[u, kind]))
            p += U(1)
            if p == stop:
                break
            x = U(word[p])
            if x >> position_shift != position:
                break
        position &= U(BLOCK - 1)
        share = 1.0 / np.float64(p - begin) + odds * np.float64(inverse[U(code[U(first) + position])])
        positions[n] = position
        parts[n] = _positive(logarithm(np.float32(max(share * likely, SMALLEST))) + constant)
        n += U(1)
    return np.int64(n)


@inline
def _positive(x: Real) -> Real:
    return x if x > ZERO else ZERO
