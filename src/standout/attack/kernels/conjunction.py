"""Algorithm 1A's scores: the records that have every known item, and the least similar of each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.attack.kernels.block_scores import BLOCK, U
from standout.attack.queries import Queries
from standout.core.arrays import Floats, Ints
from standout.core.jit import Array, Int, kernel, subroutine

__all__ = ["Workspace", "minimum_similarities", "new_workspace"]

Workspace = tuple[NDArray[Any], ...]


def new_workspace() -> Workspace:
    """A thread's own arrays: by place in a block, how many facts agree so far, and the worst of them."""
    return np.zeros(BLOCK, np.int64), np.zeros(BLOCK)


def minimum_similarities(queries: Queries, q: int, work: Workspace) -> tuple[Ints, Floats]:
    """The records whose score min Sim(aux_i, r′_i) is above 0, in order, and the scores.

    Sim lies between 0 and 1: a sum of terms counts as their mean. A fact about an item that the release does
    not have is one that no record agrees with.
    """
    own, release, postings = queries.own(q), queries.release, queries.release.by_item
    facts, known, made = queries.facts, queries.known, queries.tables
    if own.stop - own.start < known.first[q + 1] - known.first[q] or own.stop == own.start:
        return np.empty(0, np.int64), np.empty(0)
    order = own.start + np.argsort(release.support[facts.item[own]], kind="stable")
    most = int(release.support[facts.item[order[0]]])
    record, score = np.empty(most, np.int64), np.empty(most)
    n = _conjunction(
        postings.start, postings.run, postings.block, postings.end, postings.word, postings.value_bits,
        postings.time_bits, facts.item[order], facts.shape[order], facts.time[order], made.a, made.b,
        made.off, made.c, made.terms.astype(np.float64), work[0], work[1], record, score,
    )  # fmt: skip
    keep = queries.is_candidate(q)
    chosen = slice(n) if keep is None else np.flatnonzero(keep[record[:n]])
    return record[:n][chosen], score[:n][chosen]


@kernel
def _conjunction(
    start: Array, run: Array, block: Array, end: Array, word: Array, value_bits: Int, time_bits: Int,
    item: Array, shape: Array, time: Array, a: Array, b: Array, off: Array, c: Array, terms: Array,
    agreed: Array, worst: Array, record: Array, score: Array,
) -> Int:  # fmt: skip
    """Walks the rarest item's blocks; where nobody is left after some facts, the others are not looked at."""
    n, k = 0, len(item)
    cursor = run[item]
    at = start[item].copy()
    while cursor[0] < run[item[0] + 1]:
        here, alive = np.int64(block[cursor[0]]), BLOCK
        first, last = at[0], start[item[0]] + np.int64(end[cursor[0]])
        for j in range(k):
            while cursor[j] < run[item[j] + 1] and np.int64(block[cursor[j]]) < here:
                at[j] = start[item[j]] + np.int64(end[cursor[j]])
                cursor[j] += 1
            if cursor[j] == run[item[j] + 1] or np.int64(block[cursor[j]]) != here or alive == 0:
                alive = 0
                continue
            stop = start[item[j]] + np.int64(end[cursor[j]])
            alive = _agree(
                word, at[j], stop, value_bits, time_bits, a, b, off, c, shape[j], time[j], terms[shape[j]], j,
                agreed, worst,
            )  # fmt: skip
            at[j] = stop
            cursor[j] += 1
        for p in range(first, last):
            place = np.int64((U(word[p]) >> U(value_bits + time_bits)) & U(BLOCK - 1))
            if agreed[place] == k:
                record[n] = here * BLOCK + place
                score[n] = worst[place]
                n += 1
            agreed[place] = 0
    return n


@subroutine
def _agree(
    word: Array, low: Int, high: Int, value_bits: Int, time_bits: Int, a: Array, b: Array, off: Array,
    c: Array, shape: Int, known: Int, terms: Int, j: Int, agreed: Array, worst: Array,
) -> Int:  # fmt: skip
    """How many of these words' records agree with the j-th fact too, after all before it."""
    of_time, of_place = U(time_bits), U(time_bits + value_bits)
    time_mask, kind_mask, place_mask = (U(1) << of_time) - U(1), (U(1) << U(value_bits)) - U(1), U(BLOCK - 1)
    alive = 0
    for p in range(U(low), U(high)):
        x = U(word[p])
        kind, place = (x >> of_time) & kind_mask, (x >> of_place) & place_mask
        if agreed[place] != j:
            continue
        similarity = a[shape, kind] + b[shape, kind] * c[np.int64(x & time_mask) + off[shape, kind] - known]
        similarity /= terms
        if similarity > 0.0:
            worst[place] = similarity if j == 0 else min(worst[place], similarity)
            agreed[place] = j + 1
            alive += 1
    return alive
