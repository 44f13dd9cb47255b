"""P(facts | row) of an adversary who knows how many of the facts are wrong, for all rows of a table.

If w of k attributes are wrong, and all choices of them are equally likely,

    P(facts | row) = Σ over choices of w attributes of Π (wrong ones) · Π (right ones) / number of choices

Attribute by attribute, state[j] is the sum over choices of j wrong ones so far:

    state[j] ← state[j] · right + state[j − 1] · wrong

`right` and `wrong` are P(v | x) / P(v) if the known level v is right or wrong, by the code of the row. Both
are divided by the highest `right`, so that products are at most about 1.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats, Ints
from standout.core.jit import Array, Int, Real, kernel, subroutine, summing_subroutine
from standout.table_attack.kernels import BLOCK, NARROW_TABLE, UNIT, DenseColumns, U

__all__ = ["TOLERANCE", "CountedFacts", "CountedSummaries", "count_rows"]

TOLERANCE = 1e-9
"""Rows whose probabilities differ relatively by no more than this are tied."""


class CountedFacts(NamedTuple):
    """Look-up tables as `FactTables`, with two numbers for each code: if the fact is right, and if wrong.

    `ends[f]` says that fact f is the last one about its attribute. share[q, j] is the probability that j of
    the known attributes which the table has are wrong, over the number of choices of j of them.
    """

    first: Ints
    width: NDArray[np.int8]
    matrix: Ints
    start: Ints
    low: NDArray[np.uint32]
    length: NDArray[np.uint32]
    outside: Floats
    missing: NDArray[np.uint32]
    empty: Floats
    number: Floats
    ends: NDArray[np.bool_]
    share: Floats


class CountedSummaries(NamedTuple):
    """What the kernel finds for each query: as `RowSummaries`, but probabilities instead of scores."""

    best: Floats
    ties: Ints
    guess: Ints
    above: Ints
    total: Floats
    own: Floats

    def part(self, queries: slice) -> "CountedSummaries":
        """Views of the elements of some queries."""
        return CountedSummaries._make(part[queries] for part in self)

    @classmethod
    def empty(cls, queries: int) -> "CountedSummaries":
        """Summaries to be filled in."""
        ints, floats = np.zeros(queries, np.int64), np.zeros(queries)
        return cls(floats, ints, ints - 1, ints.copy(), floats.copy(), floats.copy())


@kernel
def count_rows(
    columns: DenseColumns,
    facts: CountedFacts,
    more: Array,
    targets: Array,
    excluded: Array,
    codes: Array,
    votes: Array,
    out: CountedSummaries,
    low: Int,
    high: Int,
    n_rows: Int,
) -> None:
    """Fill in the summaries of queries low … high - 1.

    `targets` is the row of each query's target, or -1; `excluded` a row that is no candidate, or -1. `more`
    has scores from elsewhere, by query and row, or no row. Unless `votes` is empty, the probability of each
    row is added to votes[query, code of the row].
    """
    n_states = facts.share.shape[1]
    state = np.empty((n_states, BLOCK))
    right, wrong, probability = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for q in range(low, high):
        if targets[q] >= 0:
            own = targets[q]
            _score(columns, facts, more, q, own, own + 1, state, right, wrong, probability)
            out.own[q] = probability[0]
    for begin in range(0, n_rows, BLOCK):
        end = min(begin + BLOCK, n_rows)
        for q in range(low, high):
            _score(columns, facts, more, q, begin, end, state, right, wrong, probability)
            if begin <= excluded[q] < end:
                probability[excluded[q] - begin] = 0.0
            _summarise(probability, end - begin, begin, out, q)
            if len(votes) > 0:
                for i in range(end - begin):
                    votes[q, codes[begin + i]] += probability[i]


@subroutine
def _score(
    columns: DenseColumns,
    facts: CountedFacts,
    more: Array,
    q: Int,
    begin: Int,
    end: Int,
    state: Array,
    right: Array,
    wrong: Array,
    probability: Array,
) -> None:
    """P(facts | row) of the rows of a block."""
    n, n_states = U(end - begin), state.shape[0]
    state[:, :n] = 0.0
    state[0, :n] = 1.0
    if len(more) > 0:
        most = np.int64(more[q].max())
        for i in range(n):
            state[0, i] = np.exp((np.int64(more[q, U(begin) + i]) - most) * (1.0 / UNIT))
    is_first = True
    for f in range(facts.first[q], facts.first[q + 1]):
        if is_first and facts.ends[f] and facts.width[f] == 0 and 2 <= n_states <= 3:
            start = facts.start[f]
            table = facts.number[start : start + NARROW_TABLE]
            codes = columns.narrow[facts.matrix[f], begin:end]
            if n_states == 2:
                _advance_one(codes, table, state[0], state[1])
            else:
                _advance_two(codes, table, state[0], state[1], state[n_states - 1])
            continue
        if is_first:
            right[:n] = 1.0
            wrong[:n] = 1.0
        _look_up(columns, facts, f, begin, end, right, wrong)
        is_first = facts.ends[f]
        if is_first:
            for j in range(n_states - 1, 0, -1):
                _advance(state[j], state[j - 1], right, wrong, n)
            _multiply(state[0], right, n)
    probability[:n] = 0.0
    for j in range(n_states):
        if facts.share[q, j] > 0.0:
            _add(probability, state[j], facts.share[q, j], n)


@subroutine
def _look_up(
    columns: DenseColumns, facts: CountedFacts, f: Int, begin: Int, end: Int, right: Array, wrong: Array
) -> None:
    """Multiply `right` and `wrong` by what fact f says about each row."""
    row, start = facts.matrix[f], facts.start[f]
    if facts.width[f] == 0:
        table = facts.number[start : start + NARROW_TABLE]
        codes = columns.narrow[row, begin:end]
        for i in range(U(end - begin)):
            right[i] *= table[U(codes[i]), U(0)]
            wrong[i] *= table[U(codes[i]), U(1)]
    elif facts.width[f] == 1:
        _look_up_window(columns.medium[row, begin:end], facts, f, right, wrong)
    else:
        _look_up_window(columns.wide[row, begin:end], facts, f, right, wrong)


@subroutine
def _look_up_window(codes: Array, facts: CountedFacts, f: Int, right: Array, wrong: Array) -> None:
    start, low, length, missing = facts.start[f], facts.low[f], facts.length[f], facts.missing[f]
    table = facts.number[start : start + np.int64(length) + 1]
    for i in range(U(len(codes))):
        if np.uint32(codes[i]) == missing:
            right[i] *= facts.empty[f, 0]
            wrong[i] *= facts.empty[f, 1]
        else:
            place: Int = min(np.uint32(codes[i]) - low, length)
            right[i] *= table[U(place), U(0)]
            wrong[i] *= table[U(place), U(1)]


@subroutine
def _advance_one(codes: Array, table: Array, none: Array, one: Array) -> None:
    """Look up a fact about a column of bytes and bring both states up to date, for one wrong fact."""
    for i in range(U(len(codes))):
        right, wrong = table[U(codes[i]), U(0)], table[U(codes[i]), U(1)]
        one[i] = one[i] * right + none[i] * wrong
        none[i] *= right


@subroutine
def _advance_two(codes: Array, table: Array, none: Array, one: Array, two: Array) -> None:
    """The same for two wrong facts."""
    for i in range(U(len(codes))):
        right, wrong = table[U(codes[i]), U(0)], table[U(codes[i]), U(1)]
        two[i] = two[i] * right + one[i] * wrong
        one[i] = one[i] * right + none[i] * wrong
        none[i] *= right


@subroutine
def _advance(state: Array, before: Array, right: Array, wrong: Array, n: Int) -> None:
    for i in range(n):
        state[i] = state[i] * right[i] + before[i] * wrong[i]


@subroutine
def _multiply(state: Array, right: Array, n: Int) -> None:
    for i in range(n):
        state[i] *= right[i]


@subroutine
def _add(probability: Array, state: Array, share: Real, n: Int) -> None:
    for i in range(n):
        probability[i] += state[i] * share


@subroutine
def _summarise(probability: Array, n: Int, begin: Int, out: CountedSummaries, q: Int) -> None:
    """Bring the best row, its ties and the sums up to date with a block."""
    highest, above, limit = 0.0, 0, out.own[q] * (1.0 + TOLERANCE)
    for i in range(U(n)):
        highest = max(highest, probability[i])
        above += probability[i] > limit
    out.above[q] += above
    out.total[q] += _sum(probability, n)
    if highest < out.best[q] * (1.0 - TOLERANCE):
        return
    if highest > out.best[q] * (1.0 + TOLERANCE):
        out.best[q], out.ties[q], out.guess[q] = highest, 0, -1
    for i in range(n):
        if probability[i] > 0.0 and probability[i] >= out.best[q] * (1.0 - TOLERANCE):
            out.ties[q] += 1
            if out.guess[q] < 0:
                out.guess[q] = begin + i


@summing_subroutine
def _sum(probability: Array, n: Int) -> Real:
    total = 0.0
    for i in range(n):
        total += probability[i]
    return total
