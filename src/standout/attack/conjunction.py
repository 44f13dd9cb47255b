"""Scores of Algorithm 1A: the records that have every known item, and the least similarity of each."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.block_kernels import first_run
from standout.attack.queries import Queries
from standout.attack.query_arrays import BLOCK, U
from standout.core.arrays import Floats, Ints
from standout.core.jit import Array, Flag, Int, Real, kernel, subroutine
from standout.core.parts import Part
from standout.data.block_ranges import whole
from standout.data.postings import Postings
from standout.know.lookup_tables import time_similarity

__all__ = ["Workspace", "minimum_similarities", "new_workspace"]


class Workspace(NamedTuple):
    """A thread's arrays, by position in a block: the number of facts that agree, and the least similarity."""

    agreed: NDArray[np.int64]
    least: NDArray[np.float64]


class _Facts(NamedTuple):
    """The facts of a query, the rarest item first, with the tables of their similarity."""

    item: NDArray[np.int64]
    shape: NDArray[np.int64]
    time: NDArray[np.int64]
    a: NDArray[np.float64]
    b: NDArray[np.float64]
    off: NDArray[np.int64]
    c: NDArray[np.float64]
    terms: NDArray[np.float64]


def new_workspace() -> Workspace:
    """Arrays for one block."""
    return Workspace(np.zeros(BLOCK, np.int64), np.zeros(BLOCK))


def minimum_similarities(queries: Queries, q: int, work: Workspace, part: Part | None = None) -> tuple[Ints, Floats]:
    """The records, of a part or all, whose score min Sim(aux_i, r′_i) is above 0, in order, and the scores.

    A record that has an item several times agrees through the best of these entries. Sim lies between 0 and
    1: a sum of terms counts as their mean. No record agrees with a fact about an item that the release does
    not have.
    """
    fact_range, release = queries.facts_of(q), queries.release
    facts, known, tables = queries.facts, queries.known, queries.tables
    if fact_range.stop - fact_range.start < known.first[q + 1] - known.first[q] or fact_range.stop == fact_range.start:
        return np.empty(0, np.int64), np.empty(0)
    repeats = release.has_repeats
    order = fact_range.start + np.argsort(release.support[facts.item[fact_range]], kind="stable")
    most = int(release.support[facts.item[order[0]]])
    record, score = np.empty(most, np.int64), np.empty(most)
    n = _conjunction(
        *release.by_item[1:8],
        *(facts.item[order], facts.shape[order], facts.time[order]),
        *(tables.a, tables.b, tables.off, tables.c, tables.terms.astype(np.float64)),
        *work,
        repeats,
        *(whole(release) if part is None else part),
        record,
        score,
    )
    record, score = record[:n], score[:n]
    if repeats:  # within a block, records with one entry come first
        order = np.argsort(record)
        record, score = record[order], score[order]
    if queries.exclude[q] >= 0 or queries.known.filtered:
        is_candidate = queries.are_candidates(np.full(n, q), record)
        record, score = record[is_candidate], score[is_candidate]
    return record, score


@kernel
def _conjunction(
    run: Array,
    block: Array,
    begin: Array,
    end: Array,
    word: Array,
    value_bits: Int,
    time_bits: Int,
    item: Array,
    shape: Array,
    time: Array,
    a: Array,
    b: Array,
    off: Array,
    c: Array,
    terms: Array,
    agreed: Array,
    least: Array,
    repeats: Flag,
    first_block: Int,
    last_block: Int,
    record: Array,
    score: Array,
) -> Int:
    """Walk the rarest item's blocks in a part. Where no record is left after some facts, skip the others.

    Arrays are passed one by one, because Numba takes longer to look into tuples than a query takes.
    """
    postings = Postings(run[:0], run, block, begin, end, word, value_bits, time_bits, end[:0], end[:0])
    facts, work = _Facts(item, shape, time, a, b, off, c, terms), Workspace(agreed, least)
    n, k = 0, len(item)
    cursor = run[item]
    for j in range(k):
        cursor[j] = first_run(block, run[item[j]], run[item[j] + 1], first_block)
    while cursor[0] < run[item[0] + 1] and np.int64(block[cursor[0]]) < last_block:
        number, alive = np.int64(block[cursor[0]]), BLOCK
        first, last = begin[cursor[0]], end[cursor[0]]
        for j in range(k):
            while cursor[j] < run[item[j] + 1] and np.int64(block[cursor[j]]) < number:
                cursor[j] += 1
            if cursor[j] == run[item[j] + 1] or np.int64(block[cursor[j]]) != number or alive == 0:
                alive = 0
                continue
            low, high = begin[cursor[j]], end[cursor[j]]
            if repeats:
                alive = _count_agreeing_in_best_entry(postings, facts, work, j, low, high)
            else:
                alive = _count_agreeing(postings, facts, work, j, low, high)
            cursor[j] += 1
        for p in range(first, last):
            position = np.int64((U(word[p]) >> U(value_bits + time_bits)) & U(BLOCK - 1))
            if agreed[position] == k:
                record[n] = number * BLOCK + position
                score[n] = least[position]
                n += 1
            agreed[position] = 0
    return n


@subroutine
def _count_agreeing(postings: Postings, facts: _Facts, work: Workspace, j: Int, low: Int, high: Int) -> Int:
    """How many records of words low … high - 1 agree with the j-th fact too, after all before it."""
    word, kind_shift = postings.word, U(postings.time_bits)
    position_shift = kind_shift + U(postings.value_bits)
    time_mask, kind_mask = (U(1) << kind_shift) - U(1), (U(1) << U(postings.value_bits)) - U(1)
    a, b, off, c, agreed, least = facts.a, facts.b, facts.off, facts.c, work.agreed, work.least
    shape, known = facts.shape[j], facts.time[j]
    terms, alive = facts.terms[shape], 0
    for p in range(U(low), U(high)):
        x = U(word[p])
        kind, position = (x >> kind_shift) & kind_mask, (x >> position_shift) & U(BLOCK - 1)
        if agreed[position] != j:
            continue
        at = U(np.int64(x & time_mask) + off[shape, kind] - known)
        similarity = a[shape, kind] + b[shape, kind] * time_similarity(c, at)
        similarity /= terms
        if similarity > 0.0:
            least[position] = similarity if j == 0 else min(least[position], similarity)
            agreed[position] = j + 1
            alive += 1
    return alive


@subroutine
def _count_agreeing_in_best_entry(
    postings: Postings, facts: _Facts, work: Workspace, j: Int, low: Int, high: Int
) -> Int:
    """The same if records may have several words, which follow one another: the best of them counts."""
    word, kind_shift = postings.word, U(postings.time_bits)
    position_shift = kind_shift + U(postings.value_bits)
    time_mask, kind_mask = (U(1) << kind_shift) - U(1), (U(1) << U(postings.value_bits)) - U(1)
    a, b, off, c, agreed, least = facts.a, facts.b, facts.off, facts.c, work.agreed, work.least
    shape, known, terms = facts.shape[j], facts.time[j], facts.terms[facts.shape[j]]
    alive, best, last = 0, 0.0, U(BLOCK)
    for p in range(U(low), U(high)):
        x = U(word[p])
        kind, position = (x >> kind_shift) & kind_mask, (x >> position_shift) & U(BLOCK - 1)
        if position != last:
            alive += _keep_least(agreed, least, j, last, best)
            best, last = 0.0, position
        at = U(np.int64(x & time_mask) + off[shape, kind] - known)
        similarity = a[shape, kind] + b[shape, kind] * time_similarity(c, at)
        best = max(best, similarity / terms)
    return alive + _keep_least(agreed, least, j, last, best)


@subroutine
def _keep_least(agreed: Array, least: Array, j: Int, position: Int, similarity: Real) -> Int:
    """Whether a record agrees with the j-th fact too; if so, its least similarity is kept."""
    if similarity <= 0.0 or agreed[position] != j:
        return 0
    least[position] = similarity if j == 0 else min(least[position], similarity)
    agreed[position] = j + 1
    return 1
