"""From facts about rows to the tables that kernels look up."""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from standout.attack.any_attack import AnyAttack
from standout.attack.likelihood import Likelihood
from standout.attack.likelihood_queries import LikelihoodQueries
from standout.attack.scoreboard import Scoreboard, ScoreboardRH
from standout.attack.table_attacks import (
    LARGEST_SET,
    ColumnEvidence,
    DecayBlocks,
    DecayTable,
    ExactMatch,
    TableAttack,
    TableLikelihood,
    TableScoreboard,
    Window,
    scoreboard_weight,
)
from standout.attack.table_kernels import (
    LOWEST,
    NARROW_TABLE,
    UNIT,
    CountedFacts,
    CountedSummaries,
    DenseColumns,
    FactTables,
    count_rows,
)
from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.progress import Progress
from standout.core.threads import run_in_slices, thread_count
from standout.data.column import Column
from standout.data.release import Release
from standout.know.adversary import Adversary
from standout.know.facts import KnownFacts
from standout.know.sanitized import Sanitized
from standout.know.similarity import Decay, Within

__all__ = [
    "EMPTY_SET",
    "CountedResult",
    "Members",
    "Preparation",
    "Prepared",
    "count_facts",
    "dense_columns",
    "history_scores",
    "original_of",
    "representing_rows",
]

# What known entries of a history add to the scores of a table's rows.
#
# The history is scored by the attack on releases that corresponds to the attack on the table: `Likelihood`,
# Algorithm 1B, Algorithm 1A, or equality of all known entries. Scores of both parts add up (of Algorithm 1A:
# the smaller one counts), because both are about the same person. A row without a history has no known entry.


def history_scores(
    table: Release, known: KnownFacts, queries: slice, attack: TableAttack, entries: Adversary, excluded: Ints
) -> NDArray[np.int32]:
    """Scores of all rows for some queries, in the units of the kernels, by what is known of the history.

    `excluded` is a row per query that is not in the table, or -1.
    """
    few = _select(known, queries)
    verdicts = _release_attack(attack, entries).attacks(table, few, exclude=excluded)
    scores = np.empty((len(few), table.n_records), np.int32)
    for q in range(len(few)):
        scores[q] = _by_row(verdicts[q].scores, _shift(verdicts[q].queries, few, q))
    return scores


def _select(known: KnownFacts, queries: slice) -> KnownFacts:
    return known.of(np.arange(queries.start, queries.stop))


def _release_attack(attack: TableAttack, entries: Adversary) -> AnyAttack:
    """The attack on releases that corresponds to one on tables."""
    if isinstance(attack, TableLikelihood):
        return Likelihood(entries)
    if isinstance(attack, TableScoreboard):
        return ScoreboardRH()
    return Scoreboard(Within(value=0, time=0) if isinstance(attack, ExactMatch) else Decay())


def _shift(queries: object, known: KnownFacts, q: int) -> float:
    """What a row without any known entry scores: scores of `Likelihood` are relative to it."""
    if not isinstance(queries, LikelihoodQueries):
        return 0.0
    return float(known.first[q + 1] - known.first[q]) * math.log1p(-queries.coverage)


def _by_row(scores: Floats, shift: float) -> NDArray[np.int32]:
    return np.where(np.isfinite(scores), np.rint((scores + shift) * UNIT), LOWEST / 4).astype(np.int32)


MEMBERS = 1 << 28
"""Largest size in bytes of the matrix of set members that are looked up at once."""
NUMBERS = 1 << 25
"""Largest number of table elements at once."""
REMEMBERED = 1 << 12
"""Tables up to this length are kept for facts of other targets; longer ones would fill the memory."""
HISTORY = 1 << 28
"""Largest size in bytes of the scores from a history at once."""
EMPTY_SET = 255
NO_HISTORY = np.empty((0, 0), np.int32)


def original_of(table: Release) -> Release:
    """The table that adversaries know facts about."""
    return table.original if isinstance(table, Sanitized) else table


def representing_rows(table: Release) -> Ints:
    """For each row of the original, the released row that stands for it, or -1 if it was removed."""
    if not isinstance(table, Sanitized):
        return np.arange(table.n_records)
    rows = np.full(table.original.n_records, -1)
    rows[table.original_row] = np.arange(table.n_records)
    return rows


@dataclass(frozen=True, eq=False)
class _Dense:
    """Matrices of codes, and where each column is in them: (width, row of the matrix)."""

    columns: DenseColumns
    place: dict[str, tuple[int, int]]


def dense_columns(table: Release) -> _Dense:
    """The codes of a table as matrices; kept with the table."""
    kept = vars(table)
    if "_dense" not in kept:
        groups: tuple[list[Column], ...] = ([], [], [])
        for column in table.columns:
            if column.starts is None:
                groups[(1, 2, 4).index(column.codes.dtype.itemsize)].append(column)
        place = {column.name: (width, row) for width, group in enumerate(groups) for row, column in enumerate(group)}
        matrices = [
            np.stack([column.codes for column in group]) if group else np.empty((0, table.n_records), dtype)
            for group, dtype in zip(groups, (np.uint8, np.uint16, np.uint32), strict=True)
        ]
        kept["_dense"] = _Dense(DenseColumns(*matrices), place)
    dense = kept["_dense"]
    assert isinstance(dense, _Dense)
    return dense


@dataclass(frozen=True, eq=False, slots=True)
class Prepared:
    """Some queries, ready for the kernels."""

    queries: slice
    columns: DenseColumns
    facts: FactTables
    more: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Preparation:
    """Turns facts into look-up tables, for an attack on a table.

    If `absent`, the targets are not in the table: what is counted in columns is counted without them.
    """

    table: Release
    attack: TableAttack
    adversary: Adversary | None
    absent: bool = False
    threads: int | None = None
    tables: dict[tuple[int, int, int], "_FactRow"] = field(default_factory=dict)

    @cached_property
    def evidence(self) -> dict[int, ColumnEvidence]:
        """By position in the original table; columns that were dropped have none."""
        original = original_of(self.table)
        channels = self.table.channels if isinstance(self.table, Sanitized) else {}
        names = set(self.table.column_names)
        return {
            position: ColumnEvidence(
                original=column,
                released=self.table.column(column.name),
                channel=channels.get(column.name),
                error=column.error if self.adversary is None else self.adversary.error_of(column),
                wrong=self.attack.wrong,
                coverage=self.attack.coverage,
            )
            for position, column in enumerate(original.columns)
            if column.name in names
        }

    def batches(self, facts: KnownFacts) -> Iterator[Prepared]:
        """The queries in slices whose tables fit into memory."""
        usable = self.usable(facts)
        for queries in self.slices(facts):
            yield self._prepare(facts, usable, queries)

    def usable(self, facts: KnownFacts) -> NDArray[np.bool_]:
        """Which facts are about columns that the table has."""
        return np.isin(facts.cells.column, list(self.evidence))

    def slices(self, facts: KnownFacts) -> Iterator[slice]:
        """Slices of queries whose tables fit into memory."""
        sizes = np.where(self.usable(facts), self._table_sizes(facts), 0)
        per_query = np.add.reduceat(np.append(sizes, 0), facts.cells.first[:-1]) * (np.diff(facts.cells.first) > 0)
        members = max(MEMBERS // max(self.table.n_records, 1), 16)
        most = len(facts) if not len(facts.item) else max(HISTORY // max(4 * self.table.n_records, 1), 1)
        low = 0
        while low < len(facts):
            high, total, seen = low, 0, 0
            while high < min(len(facts), low + most) and (high == low or (total < NUMBERS and seen < members)):
                total += int(per_query[high])
                seen += self._n_members(facts, high)
                high += 1
            yield slice(low, high)
            low = high

    def _n_members(self, facts: KnownFacts, query: int) -> int:
        columns = facts.cells.column[facts.cells.first[query] : facts.cells.first[query + 1]].tolist()
        return sum(c in self.evidence and self.evidence[c].original.starts is not None for c in columns)

    def _table_sizes(self, facts: KnownFacts) -> Ints:
        """Upper bound of the length of each fact's table."""
        sizes = np.zeros(len(facts.cells.column), np.int64)
        for column, evidence in self.evidence.items():
            about = np.flatnonzero(facts.cells.column == column)
            sizes[about] = max(evidence.released.n_levels + 1, NARROW_TABLE)
            if evidence.released.n_levels < NARROW_TABLE or evidence.original.starts is not None:
                sizes[about] = NARROW_TABLE
            elif isinstance(self.attack, ExactMatch):
                sizes[about] = 2
            elif isinstance(self.attack, TableLikelihood) and evidence.channel is None:
                codes = facts.cells.code[about]
                sizes[about] = evidence.near.high[codes] - evidence.near.low[codes] + 1
        return sizes

    def _prepare(self, facts: KnownFacts, usable: NDArray[np.bool_], queries: slice) -> Prepared:
        positions = np.arange(facts.cells.first[queries.start], facts.cells.first[queries.stop])
        positions = positions[usable[positions]]
        query = np.searchsorted(facts.cells.first, positions, side="right") - 1 - queries.start
        counts = np.bincount(query, minlength=queries.stop - queries.start)
        dense, members = (dense_columns(self.table), Members(self.table, len(dense_columns(self.table).columns.narrow)))
        rows = [
            self._fact(facts, f, queries.start + q, dense, members)
            for f, q in zip(positions.tolist(), query.tolist(), strict=True)
        ]
        more = self.history(facts, queries)
        return Prepared(queries, members.added_to(dense.columns), _fact_tables(counts, rows, self.threads), more)

    def history(self, facts: KnownFacts, queries: slice) -> NDArray[np.int32]:
        """What is known of the history, as scores by query and row."""
        if self.adversary is None or self.adversary.entries is None:
            return NO_HISTORY
        target = facts.cells.target[queries]
        rows = np.where(target >= 0, representing_rows(self.table)[target], -1)
        excluded = rows if self.absent else np.full(len(rows), -1)
        return history_scores(self.table.history, facts, queries, self.attack, self.adversary.entries, excluded)

    def _fact(self, facts: KnownFacts, f: int, query: int, dense: _Dense, members: "Members") -> "_FactRow":
        column, code = int(facts.cells.column[f]), int(facts.cells.code[f])
        evidence = self.evidence[column]
        target = int(facts.cells.target[query])
        if evidence.original.starts is not None:
            return self._member_fact(evidence, column, code, target, members)
        own = int(evidence.original.codes[target]) if self.absent and target >= 0 else -1
        key = column, code, own
        if key in self.tables:
            return self.tables[key]
        place, missing = dense.place[evidence.released.name], evidence.released.missing
        if isinstance(self.attack, TableScoreboard) and evidence.decay is not None:
            return self._long_decay(evidence, evidence.decay, code, place)
        fact = _fact_row(*place, self.attack.window(evidence, code, None if own < 0 else own), missing)
        if fact.length <= REMEMBERED:
            self.tables[key] = fact
        return fact

    def _long_decay(
        self, evidence: ColumnEvidence, blocks: DecayBlocks, code: int, place: tuple[int, int]
    ) -> "_FactRow":
        """A fact of the paper's attack about a column with very many levels."""
        low, high = blocks.ends(code)
        table = DecayTable(blocks, code, low, high, UNIT * scoreboard_weight(evidence, self.absent))
        nothing = np.int32(0)
        return _FactRow(*place, low, high - low, nothing, nothing, evidence.released.missing, table)

    def _member_fact(
        self, evidence: ColumnEvidence, column: int, code: int, target: int, members: "Members"
    ) -> "_FactRow":
        own = None
        if self.absent and target >= 0:
            starts = evidence.original.starts
            assert starts is not None
            own = evidence.original.codes[starts[target] : starts[target + 1]].astype(np.int64)
        window = self.attack.member_window(evidence, code, own)
        became = code if evidence.channel is None else int(evidence.channel.released[code])
        if became == evidence.released.missing:  # the member is nowhere in the release
            neutral = float(self.attack.takes_smallest)  # it neither adds to a sum nor lowers a minimum
            nothing = Window(0, np.full(1, neutral), neutral, neutral)
            return _fact_row(0, members.row(evidence.released, None), nothing, EMPTY_SET)
        return _fact_row(0, members.row(evidence.released, became), window, EMPTY_SET)


@dataclass(frozen=True, eq=False, slots=True)
class _FactRow:
    """One fact: where its column is, and what it adds, in units of a score.

    `numbers` has one number per code of a narrow column; otherwise those of the window, then the one for all
    others. A long decay is computed when the tables are made.
    """

    width: int
    row: int
    low: int
    length: int
    outside: np.int32
    empty: np.int32
    missing: int
    numbers: NDArray[np.int32] | DecayTable

    @property
    def size(self) -> int:
        """Length of the table."""
        return self.length + 1 if self.width else NARROW_TABLE


def _fact_row(width: int, row: int, window: Window, missing: int) -> _FactRow:
    """The fact of a window, without its floating-point numbers."""
    outside, empty = _fixed(np.array([window.outside, window.empty]))
    length = len(window.numbers)
    if width:
        numbers = np.empty(length + 1, np.int32)
        np.rint(window.numbers * UNIT, out=numbers[:length], casting="unsafe")
        numbers[length] = outside
    else:
        numbers = np.full(NARROW_TABLE, outside, np.int32)
        numbers[window.low : window.low + length] = _fixed(window.numbers)
        numbers[missing] = empty
    return _FactRow(width, row, window.low, length, outside, empty, missing, numbers)


class Members:
    """Sets as dense columns: for a category, the size of each row's set that has it, else 0."""

    def __init__(self, table: Release, after: int) -> None:
        self.table, self.after = table, after
        self.rows: dict[tuple[str, int | None], int] = {}
        self.columns: list[NDArray[np.uint8]] = []

    def row(self, column: Column, code: int | None) -> int:
        """The row of the matrix for a category of a set column; None: a category that no row has."""
        key = column.name, code
        if key not in self.rows:
            self.rows[key] = self.after + len(self.columns)
            self.columns.append(_remembered_sizes(self.table, column, code))
        return self.rows[key]

    def added_to(self, columns: DenseColumns) -> DenseColumns:
        """The matrices with these rows below the narrow one."""
        if not self.columns:
            return columns
        return columns._replace(narrow=np.vstack([columns.narrow, *self.columns]))


def _remembered_sizes(table: Release, column: Column, code: int | None) -> NDArray[np.uint8]:
    """The sizes of a category's sets; kept with the table, as many as fit."""
    kept: dict[tuple[str, int | None], NDArray[np.uint8]] = vars(table).setdefault("_member_sizes", {})
    key = column.name, code
    if key not in kept:
        sizes = _sizes(column, code)
        if (len(kept) + 1) * len(sizes) > MEMBERS:
            return sizes
        kept[key] = sizes
    return kept[key]


def _sizes(column: Column, code: int | None) -> NDArray[np.uint8]:
    assert column.starts is not None
    sizes = np.diff(column.starts)
    found = np.zeros(column.n_rows, np.uint8)
    if code is not None:
        owner = np.searchsorted(column.starts, np.flatnonzero(column.codes == code), side="right") - 1
        found[owner] = np.minimum(sizes[owner], LARGEST_SET)
    found[sizes == 0] = EMPTY_SET
    return found


def _fact_tables(counts: Ints, rows: list[_FactRow], threads: int | None) -> FactTables:
    """The look-up tables of these facts; tables that are shared are stored once."""
    start_of: dict[int, int] = {}
    stored: list[_FactRow] = []
    start = np.zeros(len(rows), np.int64)
    end = 0
    for f, row in enumerate(rows):
        key = id(row.numbers)
        if key not in start_of:
            start_of[key] = end
            stored.append(row)
            end += row.size
        start[f] = start_of[key]
    number = np.empty(end, np.int32)
    _store_all([(row, number[start_of[id(row.numbers)] :][: row.size]) for row in stored], threads)
    return FactTables(
        first=np.append(0, np.cumsum(counts)),
        width=np.array([row.width for row in rows], np.int8),
        matrix=np.array([row.row for row in rows], np.int64),
        start=start,
        low=np.array([row.low for row in rows], np.uint32),
        length=np.array([row.length for row in rows], np.uint32),
        outside=np.array([row.outside for row in rows], np.int32),
        missing=np.array([row.missing for row in rows], np.uint32),
        empty=np.array([row.empty for row in rows], np.int32),
        number=number,
    )


def _store_all(tables: list[tuple[_FactRow, NDArray[np.int32]]], threads: int | None) -> None:
    """Write all tables; long ones in parallel."""
    long = [table for table in tables if isinstance(table[0].numbers, DecayTable)]
    for row, out in tables:
        if not isinstance(row.numbers, DecayTable):
            _store(row, out)
    if long:
        with ThreadPoolExecutor(thread_count(threads)) as pool:
            list(pool.map(lambda table: _store(*table), long))


def _store(row: _FactRow, out: NDArray[np.int32]) -> None:
    if isinstance(row.numbers, DecayTable):
        row.numbers.fill(out[:-1])
        out[-1] = row.outside
    else:
        out[:] = row.numbers


def _fixed(numbers: NDArray[np.float64]) -> NDArray[np.int32]:
    return np.rint(numbers * UNIT).astype(np.int32)


# Attack many people, knowing how many of the facts about each are wrong (see `counted_kernels`).


NO_VOTES, NO_CODES = np.empty((0, 0)), np.empty(0, np.uint8)
SURE = (Window(0, np.ones(1), 1.0, 1.0), Window(0, np.ones(1), 1.0, 1.0))
"""A fact that says nothing."""


@dataclass(frozen=True, eq=False, slots=True)
class CountedResult:
    """What is found for each query; `scale` is ln of what its probabilities were divided by."""

    summaries: CountedSummaries
    scale: Floats


@dataclass(frozen=True, eq=False, slots=True)
class _Fact:
    """One fact: where its column is, its windows if it is right and if it is wrong, and their divisor."""

    width: int
    row: int
    right: Window
    wrong: Window
    missing: int

    @property
    def divisor(self) -> float:
        """The highest number if the fact is right."""
        right = self.right
        return max(float(right.numbers.max(initial=0.0)), right.outside, right.empty)

    def table(self) -> Floats:
        """Numbers by code of a narrow column; otherwise those of the window, then those of all others."""
        windows = (self.right, self.wrong)
        low, length = self.right.low, len(self.right.numbers)
        size = length + 1 if self.width else NARROW_TABLE
        numbers = np.empty((size, 2))
        numbers[:] = [window.outside for window in windows]
        begin = 0 if self.width else low
        for i, window in enumerate(windows):
            numbers[begin : begin + length, i] = window.numbers
        if not self.width:
            numbers[self.missing] = [window.empty for window in windows]
        return numbers / self.divisor


def count_facts(
    preparation: Preparation,
    facts: KnownFacts,
    rows: Ints,
    adversary: Adversary,
    threads: int | None,
    progress: Progress,
    codes: NDArray[np.unsignedinteger] = NO_CODES,
    votes: Floats = NO_VOTES,
) -> CountedResult:
    """Find the probability of each row for each query.

    `rows` are the released rows of the targets, or -1. If `votes` is given, the probabilities of all rows are
    added to it, by query and code of the row.
    """
    out, scale = CountedSummaries.empty(len(facts)), np.zeros(len(facts))
    n_rows, usable = preparation.table.n_records, preparation.usable(facts)
    for queries in preparation.slices(facts):
        columns, tables = _prepare(preparation, facts, usable, queries, adversary, scale[queries])
        more = preparation.history(facts, queries)
        scale[queries] += more.max(axis=1) / UNIT if len(more) else 0.0
        target, part = rows[queries], out.part(queries)
        excluded = target if preparation.absent else np.full(len(target), -1)
        there = np.full(len(target), -1) if preparation.absent else target
        some = votes[queries] if len(votes) else votes
        _run(columns, tables, more, there, excluded, codes, some, part, n_rows, threads, progress)
    return CountedResult(out, scale)


def _run(
    columns: DenseColumns,
    tables: CountedFacts,
    more: NDArray[np.int32],
    targets: Ints,
    excluded: Ints,
    codes: NDArray[np.unsignedinteger],
    votes: Floats,
    out: CountedSummaries,
    n_rows: int,
    threads: int | None,
    progress: Progress,
) -> None:
    def work(low: int, high: int, _: None) -> None:
        count_rows(columns, tables, more, targets, excluded, codes, votes, out, low, high, n_rows)

    run_in_slices(len(targets), threads, lambda: None, work, progress)


def _prepare(
    preparation: Preparation,
    facts: KnownFacts,
    usable: NDArray[np.bool_],
    queries: slice,
    adversary: Adversary,
    scale: Floats,
) -> tuple[DenseColumns, CountedFacts]:
    """The look-up tables of some queries; adds the logarithms of their divisors to `scale`."""
    positions = np.arange(facts.cells.first[queries.start], facts.cells.first[queries.stop])
    positions = positions[usable[positions]]
    query = np.searchsorted(facts.cells.first, positions, side="right") - 1 - queries.start
    n = queries.stop - queries.start
    dense = dense_columns(preparation.table)
    members = Members(preparation.table, len(dense.columns.narrow))
    kept: dict[tuple[int, int, int], _Fact] = {}
    made = [
        _fact(preparation, facts, f, int(facts.cells.target[queries.start + q]), dense.place, members, kept)
        for f, q in zip(positions.tolist(), query.tolist(), strict=True)
    ]
    np.add.at(scale, query, elementary.log(np.array([fact.divisor for fact in made])))
    ends = _last_of_attribute(preparation, facts.cells.column[positions], query)
    counts = np.bincount(query, minlength=n)
    attributes = np.bincount(query[ends], minlength=n)
    share = np.array([_shares(adversary, int(known)) for known in attributes])
    return members.added_to(dense.columns), _tables(counts, made, ends, share)


def _fact(
    preparation: Preparation,
    facts: KnownFacts,
    f: int,
    target: int,
    place: dict[str, tuple[int, int]],
    members: Members,
    kept: dict[tuple[int, int, int], _Fact],
) -> _Fact:
    column, code = int(facts.cells.column[f]), int(facts.cells.code[f])
    evidence, absent = preparation.evidence[column], preparation.absent and target >= 0
    if evidence.original.starts is not None:
        return _member_fact(evidence, code, target if absent else -1, members)
    own = int(evidence.original.codes[target]) if absent else -1
    key = column, code, own
    if key not in kept:
        windows = evidence.right_and_wrong(code, None if own < 0 else own)
        kept[key] = _Fact(*place[evidence.released.name], *windows, evidence.released.missing)
    return kept[key]


def _member_fact(evidence: ColumnEvidence, code: int, target: int, members: Members) -> _Fact:
    starts, own = evidence.original.starts, None
    assert starts is not None
    if target >= 0:
        own = evidence.original.codes[starts[target] : starts[target + 1]].astype(np.int64)
    became = code if evidence.channel is None else int(evidence.channel.released[code])
    if became == evidence.released.missing:  # the member is nowhere in the release
        return _Fact(0, members.row(evidence.released, None), *SURE, EMPTY_SET)
    windows = evidence.member_right_and_wrong(code, own)
    return _Fact(0, members.row(evidence.released, became), *windows, EMPTY_SET)


def _last_of_attribute(preparation: Preparation, column: Ints, query: Ints) -> NDArray[np.bool_]:
    """Whether each fact is the last one about its attribute; those of one attribute follow one another."""
    names = [each.attribute for each in original_of(preparation.table).columns]
    number = {name: i for i, name in enumerate(dict.fromkeys(names))}
    attribute = np.array([number[name] for name in names])[column]
    ends = np.ones(len(column), np.bool_)
    ends[:-1] = (attribute[1:] != attribute[:-1]) | (query[1:] != query[:-1])
    return ends


def _shares(adversary: Adversary, known: int) -> Floats:
    """P(j of the `known` attributes are wrong) / number of choices of j, for each j.

    Of the attributes that the adversary knows, some may not be in the table; wrong ones may be among those.
    """
    most, wrong = adversary.knows, adversary.wrong
    ways = [math.comb(most - known, wrong - j) if j <= known else 0 for j in range(wrong + 1)]
    return np.array(ways) / math.comb(most, wrong)


def _tables(counts: Ints, made: list[_Fact], ends: NDArray[np.bool_], share: Floats) -> CountedFacts:
    tables = {id(fact): fact for fact in made}
    numbers = {key: fact.table() for key, fact in tables.items()}
    starts, end = {}, 0
    for key, table in numbers.items():
        starts[key], end = end, end + len(table)
    limits = [(fact.right.outside, fact.wrong.outside, fact.divisor) for fact in made]
    empties = [(fact.right.empty, fact.wrong.empty, fact.divisor) for fact in made]
    return CountedFacts(
        first=np.append(0, np.cumsum(counts)),
        width=np.array([fact.width for fact in made], np.int8),
        matrix=np.array([fact.row for fact in made], np.int64),
        start=np.array([starts[id(fact)] for fact in made], np.int64),
        low=np.array([fact.right.low for fact in made], np.uint32),
        length=np.array([len(fact.right.numbers) for fact in made], np.uint32),
        outside=_divided(limits),
        missing=np.array([fact.missing for fact in made], np.uint32),
        empty=_divided(empties),
        number=np.concatenate([*numbers.values()]) if numbers else np.empty((0, 2)),
        ends=ends,
        share=share,
    )


def _divided(rows: list[tuple[float, float, float]]) -> Floats:
    numbers = np.array(rows).reshape(-1, 3)
    return np.asarray(numbers[:, :2] / numbers[:, 2:])
