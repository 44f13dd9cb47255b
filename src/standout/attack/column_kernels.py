"""Scores of all records of a release with columns, block by block: look-ups in dense columns of codes.

Scores are whole numbers, `UNIT` = 1. Their sums are exact, so the order of facts, threads and blocks changes
nothing, and equal rows tie. A block of rows is scored for one query after the other: its codes and its scores
stay in the cache. A fact costs one look-up and one addition per row.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats, Ints
from standout.core.jit import Array, Flag, Int, Real, inline, kernel, subroutine, summing_subroutine

__all__ = [
    "LOWEST",
    "NARROW_TABLE",
    "TOLERANCE",
    "UNIT",
    "CountedSummaries",
    "DenseColumns",
    "FactTables",
    "RowSummaries",
    "count_rows",
    "score_rows",
    "scores_of_rows",
    "scores_of_targets",
    "vote",
]

UNIT = 1 << 20
"""A score of 1."""
NARROW_TABLE = 256
"""Length of the table of a fact about a column of bytes: one number for each code."""
BLOCK = 1 << 13
"""Number of rows whose scores are kept in the cache."""
LOWEST = np.int32(-(2**31) + 1)
"""Score of a row that is no candidate."""
FADED = -40 * UNIT
"""Rows this far below the best have no weight: e^-40 is below 1e-17."""
U = np.uint64


class DenseColumns(NamedTuple):
    """The codes of a table: one row of a matrix for each column, by the width of its codes."""

    narrow: NDArray[np.uint8]
    medium: NDArray[np.uint16]
    wide: NDArray[np.uint32]


class FactTables(NamedTuple):
    """What each fact adds to the score of a row, by the row's code.

    Query q owns the facts first[q] … first[q + 1]. Fact f is about row matrix[f] of the matrix of width[f]
    (0: narrow, 1: medium, 2: wide). A narrow code is looked up at number[start[f] + code]. Other codes are
    looked up from low[f] on: number[start[f] + code - low[f]] for `length[f]` codes; all others add
    outside[f], and a missing cell, whose code is missing[f], adds empty[f].

    Where the number of wrong facts is known, each of these is two numbers: if the fact is right, and if it is
    wrong. Then `ends[f]` says that fact f is the last one about its attribute, and share[q, j] is the
    probability that j of the known attributes which the release has are wrong, over the number of choices of j.
    """

    first: Ints
    width: NDArray[np.int8]
    matrix: Ints
    start: Ints
    low: NDArray[np.uint32]
    length: NDArray[np.uint32]
    outside: NDArray[Any]
    missing: NDArray[np.uint32]
    empty: NDArray[Any]
    number: NDArray[Any]
    ends: NDArray[np.bool_]
    share: Floats


class RowSummaries(NamedTuple):
    """What a kernel finds for each query.

    `best` is the highest score, `ties` the number of rows that have it, `guess` one of them and `second` the
    highest score of another row (equal to `best` in a tie). `above` and `level` are the numbers of rows
    with a higher score than `own[q]` and with the same one. `total` and `squares` are the sums of scores and
    of squared scores, and `weight` = Σ e^((score − best) · scale), over the candidates. `anchor` is the best
    score so far, which the weight is relative to.
    """

    best: NDArray[np.int32]
    second: NDArray[np.int32]
    ties: Ints
    guess: Ints
    above: Ints
    level: Ints
    total: Floats
    squares: Floats
    weight: Floats
    anchor: NDArray[np.int32]

    def part(self, queries: slice) -> "RowSummaries":
        """Views of the elements of some queries."""
        return RowSummaries._make(part[queries] for part in self)

    @classmethod
    def empty(cls, queries: int) -> "RowSummaries":
        """Summaries to be filled in."""
        return cls(
            best=np.full(queries, LOWEST, np.int32),
            second=np.full(queries, LOWEST, np.int32),
            ties=np.zeros(queries, np.int64),
            guess=np.full(queries, -1, np.int64),
            above=np.zeros(queries, np.int64),
            level=np.zeros(queries, np.int64),
            total=np.zeros(queries),
            squares=np.zeros(queries),
            weight=np.zeros(queries),
            anchor=np.full(queries, LOWEST, np.int32),
        )


@kernel
def score_rows(
    columns: DenseColumns,
    facts: FactTables,
    more: Array,
    excluded: Array,
    own: Array,
    least: Flag,
    scale: Array,
    out: RowSummaries,
    low: Int,
    high: Int,
    n_rows: Int,
) -> None:
    """Fill in the summaries of queries low … high - 1.

    `more` has scores from elsewhere, by query and row, which the facts add to; or no row. `excluded` is a row
    per query that is no candidate, or -1. If `least`, a score is the smallest addend
    instead of their sum. `scale` is by query; where it is 0, no weights are summed.
    """
    score, eased = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.float32)
    for begin in range(0, n_rows, BLOCK):
        end = min(begin + BLOCK, n_rows)
        for q in range(low, high):
            _score_block(columns, facts, more, q, begin, end, least, score)
            n = end - begin
            if begin <= excluded[q] < end:
                n = _remove(score, excluded[q] - begin, n)
            _summarise(score, n, begin, own[q], excluded[q], out, q)
            if scale[q] > 0.0:
                _add_weights(score, n, eased, scale[q], out, q)


@kernel
def scores_of_targets(
    columns: DenseColumns, facts: FactTables, more: Array, rows: Array, least: Flag, out: Array
) -> None:
    """Fill in the score of one row for each query; a negative row is skipped."""
    score = np.empty(1, np.int32)
    for q in range(len(rows)):
        if rows[q] >= 0:
            _score_block(columns, facts, more, q, rows[q], rows[q] + 1, least, score)
            out[q] = score[0]


@kernel
def scores_of_rows(columns: DenseColumns, facts: FactTables, more: Array, least: Flag, out: Array) -> None:
    """Fill in the scores of all rows for the only query."""
    for begin in range(0, len(out), BLOCK):
        end = min(begin + BLOCK, len(out))
        _score_block(columns, facts, more, 0, begin, end, least, out[begin:end])


@kernel
def vote(
    columns: DenseColumns,
    facts: FactTables,
    more: Array,
    excluded: Array,
    best: Array,
    scale: Array,
    codes: Array,
    votes: Array,
    low: Int,
    high: Int,
    n_rows: Int,
) -> None:
    """Add the weight e^((score − best) · scale) of each row to votes[query, code of the row]."""
    score = np.empty(BLOCK, np.int32)
    for begin in range(0, n_rows, BLOCK):
        end = min(begin + BLOCK, n_rows)
        for q in range(low, high):
            _score_block(columns, facts, more, q, begin, end, False, score)
            for i in range(end - begin):
                below = np.int64(score[i]) - np.int64(best[q])
                if below * scale[q] > FADED and begin + i != excluded[q]:
                    votes[q, codes[begin + i]] += np.exp(below * (scale[q] / UNIT))


@subroutine
def _score_block(
    columns: DenseColumns, facts: FactTables, more: Array, q: Int, begin: Int, end: Int, least: Flag, score: Array
) -> None:
    n = U(end - begin)
    if len(more) > 0:
        score[:n] = more[q, begin:end]
    else:
        score[:n] = np.int32(2**31 - 1) if least else np.int32(0)
    for f in range(facts.first[q], facts.first[q + 1]):
        row, start = facts.matrix[f], facts.start[f]
        if facts.width[f] == 0:
            table = facts.number[start : start + NARROW_TABLE]
            if least:
                _lower_by_bytes(columns.narrow[row, begin:end], table, score)
            else:
                _add_by_bytes(columns.narrow[row, begin:end], table, score)
            continue
        table = facts.number[start : start + np.int64(facts.length[f]) + 1]
        if facts.width[f] == 1:
            _add_by_window(columns.medium[row, begin:end], facts, f, table, least, score)
        else:
            _add_by_window(columns.wide[row, begin:end], facts, f, table, least, score)


@subroutine
def _add_by_bytes(codes: Array, table: Array, score: Array) -> None:
    for i in range(U(len(codes))):
        score[i] += table[U(codes[i])]


@subroutine
def _lower_by_bytes(codes: Array, table: Array, score: Array) -> None:
    for i in range(U(len(codes))):
        score[i] = min(score[i], table[U(codes[i])])


@subroutine
def _add_by_window(codes: Array, facts: FactTables, f: Int, table: Array, least: Flag, score: Array) -> None:
    """Add what a fact says about codes from low[f] on; the last number of the table is for all others."""
    low, length = facts.low[f], facts.length[f]
    missing, empty = facts.missing[f], facts.empty[f]
    if least:
        for i in range(U(len(codes))):
            place: Int = min(np.uint32(codes[i]) - low, length)
            number = empty if np.uint32(codes[i]) == missing else table[U(place)]
            score[i] = min(score[i], number)
        return
    for i in range(U(len(codes))):
        place = min(np.uint32(codes[i]) - low, length)
        score[i] += empty if np.uint32(codes[i]) == missing else table[U(place)]


@subroutine
def _remove(score: Array, i: Int, n: Int) -> Int:
    """Take a row out: the last one moves to its place. Its position in the block no longer matters."""
    score[i] = score[n - 1]
    return n - 1


@subroutine
def _summarise(score: Array, n: Int, begin: Int, own: Int, excluded: Int, out: RowSummaries, q: Int) -> None:
    highest, above, level, total = LOWEST, 0, 0, np.int64(0)
    for i in range(U(n)):
        highest = max(highest, score[i])
    for i in range(U(n)):
        above += score[i] > own
        level += score[i] == own
        total += np.int64(score[i])
    out.above[q] += above
    out.level[q] += level
    out.total[q] += total / UNIT
    out.squares[q] += _squares(score, n)
    if highest >= out.second[q]:
        _rank_best(score, n, begin, excluded, out, q)


@subroutine
def _rank_best(score: Array, n: Int, begin: Int, excluded: Int, out: RowSummaries, q: Int) -> None:
    """Bring the best and the second best up to date with a block."""
    best, second = out.best[q], out.second[q]
    ties: Int = out.ties[q]
    guess: Int = out.guess[q]
    for i in range(n):
        s = score[i]
        if s > best:
            best, second, ties = s, best, 1
            place = n if begin + i == excluded else i  # the last row took the place of the excluded one
            guess = begin + place
        elif s == best:
            second = best
            ties += 1
        elif s > second:
            second = s
    out.best[q], out.second[q], out.ties[q], out.guess[q] = best, second, ties, guess


@summing_subroutine
def _squares(score: Array, n: Int) -> Real:
    total = 0.0
    for i in range(n):
        number = score[i] * (1.0 / UNIT)
        total += number * number
    return total


@subroutine
def _add_weights(score: Array, n: Int, eased: Array, scale: Real, out: RowSummaries, q: Int) -> None:
    """Add the weights of a block, relative to the best score so far."""
    if n == 0:
        return
    best = out.best[q]
    if best > out.anchor[q]:
        out.weight[q] *= np.exp((np.int64(out.anchor[q]) - np.int64(best)) * (scale / UNIT))
        out.anchor[q] = best
    for i in range(U(n)):
        eased[i] = np.float32(np.int64(score[i]) - np.int64(best)) * np.float32(1.0 / UNIT)
    out.weight[q] += _exp_sum(eased, 0, n, 0.0, scale, np.float32(1.0))


# Σ e^((score − highest)/σ) in single precision, until tables are scored by the engine.


HALF_EXP_SUM = np.float32(0.5)
LOG2_E = 1.4426950408889634
# 2^r for |r| ≤ ½, to 8e-8 of itself (Remez)
C0, C1, C2 = np.float32(1.0000001), np.float32(0.69314694), np.float32(0.2402212)
C3, C4, C5 = np.float32(0.05550713), np.float32(0.009675541), np.float32(0.0013276472)
BOTTOM, BIAS, POINT = np.float32(-126), np.int32(127), np.int32(23)


@subroutine
def _exp_sum(scores: Array, low: Int, high: Int, highest: Real, scale: Real, cut: Real) -> Real:
    """Σ e^((score − highest)·scale) over those scores[low:high] that are below `cut`.

    Scores from `cut` on are those of the shortlist, which are added later in double precision.

    Four terms are added in single precision in a fixed order, and these sums in double precision, where the
    order hardly shows: so the width of a processor's vectors does not matter.
    """
    factor, top = np.float32(scale * LOG2_E), np.float32(highest)
    rest, lowest = np.float32(scale * LOG2_E - np.float64(factor)), BOTTOM / factor
    quarter = U((high - low) // 4)
    fours = np.empty(quarter, np.float32)
    for i in range(quarter):
        first = U(low) + i
        second = first + quarter
        third = second + quarter
        fours[i] = (
            _power(scores[first], cut, top, factor, rest, lowest)
            + _power(scores[second], cut, top, factor, rest, lowest)
        ) + (
            _power(scores[third], cut, top, factor, rest, lowest)
            + _power(scores[third + quarter], cut, top, factor, rest, lowest)
        )
    total = _total(fours)
    for i in range(U(low) + U(4) * quarter, U(high)):
        total += np.float64(_power(scores[i], cut, top, factor, rest, lowest))
    return total


@inline
def _multiply_add(a: Real, b: Real, c: Real) -> Real:
    """A · b + c in single precision with one rounding: the product is exact in double precision."""
    return np.float32(np.float64(a) * np.float64(b) + np.float64(c))


@inline
def _power(score: Real, cut: Real, top: Real, factor: Real, rest: Real, lowest: Real) -> Real:
    """2^((score − top) · (factor + rest)) in single precision; 0 from `cut` on.

    2^y = 2^⌊y⌉ · 2^(y−⌊y⌉): the bits of a float for the first, a polynomial for the second. The factor has a
    rest, because most scores are 0, and its rounding would put all of those off by the same.
    """
    x = score - top if score < cut else lowest
    x = x if x > lowest else lowest
    y = x * factor
    whole = np.int32(y - HALF_EXP_SUM)
    r = _multiply_add(x, rest, y - np.float32(whole))
    upper = _multiply_add(r, _multiply_add(r, _multiply_add(r, C5, C4), C3), C2)
    return np.int32((whole + BIAS) << POINT).view(np.float32) * _multiply_add(r, _multiply_add(r, upper, C1), C0)


@summing_subroutine
def _total(numbers: Array) -> Real:
    """Their sum in double precision."""
    total = 0.0
    for i in range(len(numbers)):
        total += np.float64(numbers[i])
    return total


# P(facts | row) of an adversary who knows how many of the facts are wrong, for all rows of a table.
#
# If w of k attributes are wrong, and all choices of them are equally likely,
#
#     P(facts | row) = Σ over choices of w attributes of Π (wrong ones) · Π (right ones) / number of choices
#
# Attribute by attribute, state[j] is the sum over choices of j wrong ones so far:
#
#     state[j] ← state[j] · right + state[j − 1] · wrong
#
# `right` and `wrong` are P(v | x) / P(v) if the known level v is right or wrong, by the code of the row. Both
# are divided by the highest `right`, so that products are at most about 1.


TOLERANCE = 1e-9
"""Rows whose probabilities differ relatively by no more than this are tied."""


class CountedSummaries(NamedTuple):
    """What the kernel finds for each query: as `RowSummaries`, but probabilities instead of scores."""

    best: Floats
    ties: Ints
    guess: Ints
    above: Ints
    level: Ints
    total: Floats
    own: Floats

    def part(self, queries: slice) -> "CountedSummaries":
        """Views of the elements of some queries."""
        return CountedSummaries._make(part[queries] for part in self)

    @classmethod
    def empty(cls, queries: int) -> "CountedSummaries":
        """Summaries to be filled in."""
        ints, floats = np.zeros(queries, np.int64), np.zeros(queries)
        return cls(floats, ints, ints - 1, ints.copy(), ints.copy(), floats.copy(), floats.copy())


@kernel
def count_rows(
    columns: DenseColumns,
    facts: FactTables,
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
            _summarise_counted(probability, end - begin, begin, out, q)
            if len(votes) > 0:
                for i in range(end - begin):
                    votes[q, codes[begin + i]] += probability[i]


@subroutine
def _score(
    columns: DenseColumns,
    facts: FactTables,
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
    columns: DenseColumns, facts: FactTables, f: Int, begin: Int, end: Int, right: Array, wrong: Array
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
def _look_up_window(codes: Array, facts: FactTables, f: Int, right: Array, wrong: Array) -> None:
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
def _summarise_counted(probability: Array, n: Int, begin: Int, out: CountedSummaries, q: Int) -> None:
    """Bring the best row, its ties and the sums up to date with a block."""
    highest, above, least, limit = 0.0, 0, 0, out.own[q] * (1.0 + TOLERANCE)
    lowest = out.own[q] * (1.0 - TOLERANCE)
    for i in range(U(n)):
        highest = max(highest, probability[i])
        above += probability[i] > limit
        least += probability[i] >= lowest
    out.above[q] += above
    out.level[q] += least - above
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
