"""From facts about rows to the tables that kernels look up."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints
from standout.core.threads import thread_count
from standout.table_attack.decay_tables import DecayBlocks, DecayTable
from standout.table_attack.evidence import LARGEST_SET, ColumnEvidence, Window
from standout.table_attack.history_scores import history_scores
from standout.table_attack.kernels import NARROW_TABLE, UNIT, DenseColumns, FactTables
from standout.table_attack.row_facts import RowFacts
from standout.table_attack.table_adversary import TableAdversary
from standout.table_attack.table_attacks import (
    ExactMatch,
    TableAttack,
    TableLikelihood,
    TableScoreboard,
    scoreboard_weight,
)
from standout.tables.column import Column
from standout.tables.model import SanitizedTable, Table

__all__ = [
    "EMPTY_SET",
    "Members",
    "Preparation",
    "Prepared",
    "dense_columns",
    "original_of",
    "representing_rows",
]

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


def original_of(table: Table) -> Table:
    """The table that adversaries know facts about."""
    return table.original if isinstance(table, SanitizedTable) else table


def representing_rows(table: Table) -> Ints:
    """For each row of the original, the released row that stands for it, or -1 if it was removed."""
    if not isinstance(table, SanitizedTable):
        return np.arange(table.n_rows)
    rows = np.full(table.original.n_rows, -1)
    rows[table.original_row] = np.arange(table.n_rows)
    return rows


@dataclass(frozen=True, eq=False)
class _Dense:
    """Matrices of codes, and where each column is in them: (width, row of the matrix)."""

    columns: DenseColumns
    place: dict[str, tuple[int, int]]


def dense_columns(table: Table) -> _Dense:
    """The codes of a table as matrices; kept with the table."""
    kept = vars(table)
    if "_dense" not in kept:
        groups: tuple[list[Column], ...] = ([], [], [])
        for column in table.columns:
            if column.starts is None:
                groups[(1, 2, 4).index(column.codes.dtype.itemsize)].append(column)
        place = {
            column.name: (width, row)
            for width, group in enumerate(groups)
            for row, column in enumerate(group)
        }
        matrices = [
            np.stack([column.codes for column in group]) if group else np.empty((0, table.n_rows), dtype)
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

    table: Table
    attack: TableAttack
    adversary: TableAdversary | None
    absent: bool = False
    threads: int | None = None
    tables: dict[tuple[int, int, int], "_FactRow"] = field(default_factory=dict)

    @cached_property
    def evidence(self) -> dict[int, ColumnEvidence]:
        """By position in the original table; columns that were dropped have none."""
        original = original_of(self.table)
        channels = self.table.channels if isinstance(self.table, SanitizedTable) else {}
        names = set(self.table.names)
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

    def batches(self, facts: RowFacts) -> Iterator[Prepared]:
        """The queries in slices whose tables fit into memory."""
        usable = self.usable(facts)
        for queries in self.slices(facts):
            yield self._prepare(facts, usable, queries)

    def usable(self, facts: RowFacts) -> NDArray[np.bool_]:
        """Which facts are about columns that the table has."""
        return np.isin(facts.column, list(self.evidence))

    def slices(self, facts: RowFacts) -> Iterator[slice]:
        """Slices of queries whose tables fit into memory."""
        sizes = np.where(self.usable(facts), self._table_sizes(facts), 0)
        per_query = np.add.reduceat(np.append(sizes, 0), facts.first[:-1]) * (np.diff(facts.first) > 0)
        members = max(MEMBERS // max(self.table.n_rows, 1), 16)
        most = len(facts) if facts.entries is None else max(HISTORY // max(4 * self.table.n_rows, 1), 1)
        low = 0
        while low < len(facts):
            high, total, seen = low, 0, 0
            while high < min(len(facts), low + most) and (
                high == low or (total < NUMBERS and seen < members)
            ):
                total += int(per_query[high])
                seen += self._n_members(facts, high)
                high += 1
            yield slice(low, high)
            low = high

    def _n_members(self, facts: RowFacts, query: int) -> int:
        columns = facts.column[facts.first[query] : facts.first[query + 1]].tolist()
        return sum(c in self.evidence and self.evidence[c].original.starts is not None for c in columns)

    def _table_sizes(self, facts: RowFacts) -> Ints:
        """Upper bound of the length of each fact's table."""
        sizes = np.zeros(len(facts.column), np.int64)
        for column, evidence in self.evidence.items():
            about = np.flatnonzero(facts.column == column)
            sizes[about] = max(evidence.released.n_levels + 1, NARROW_TABLE)
            if evidence.released.n_levels < NARROW_TABLE or evidence.original.starts is not None:
                sizes[about] = NARROW_TABLE
            elif isinstance(self.attack, ExactMatch):
                sizes[about] = 2
            elif isinstance(self.attack, TableLikelihood) and evidence.channel is None:
                codes = facts.code[about]
                sizes[about] = evidence.near.high[codes] - evidence.near.low[codes] + 1
        return sizes

    def _prepare(self, facts: RowFacts, usable: NDArray[np.bool_], queries: slice) -> Prepared:
        positions = np.arange(facts.first[queries.start], facts.first[queries.stop])
        positions = positions[usable[positions]]
        query = np.searchsorted(facts.first, positions, side="right") - 1 - queries.start
        counts = np.bincount(query, minlength=queries.stop - queries.start)
        dense, members = (
            dense_columns(self.table),
            Members(self.table, len(dense_columns(self.table).columns.narrow)),
        )
        rows = [
            self._fact(facts, f, queries.start + q, dense, members)
            for f, q in zip(positions.tolist(), query.tolist(), strict=True)
        ]
        more = self.history(facts, queries)
        return Prepared(
            queries, members.added_to(dense.columns), _fact_tables(counts, rows, self.threads), more
        )

    def history(self, facts: RowFacts, queries: slice) -> NDArray[np.int32]:
        """What is known of the history, as scores by query and row."""
        if facts.entries is None or self.adversary is None or self.adversary.entries is None:
            return NO_HISTORY
        target = facts.target[queries]
        rows = np.where(target >= 0, representing_rows(self.table)[target], -1)
        excluded = rows if self.absent else np.full(len(rows), -1)
        return history_scores(
            self.table, facts.entries, queries, self.attack, self.adversary.entries, excluded
        )

    def _fact(self, facts: RowFacts, f: int, query: int, dense: _Dense, members: "Members") -> "_FactRow":
        column, code = int(facts.column[f]), int(facts.code[f])
        evidence = self.evidence[column]
        target = int(facts.target[query])
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

    def __init__(self, table: Table, after: int) -> None:
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


def _remembered_sizes(table: Table, column: Column, code: int | None) -> NDArray[np.uint8]:
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
