"""From known cells to the tables that kernels look up, for every attack on a release with columns."""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.any_attack import AnyAttack
from standout.attack.column_evidence import LARGEST_SET, ColumnEvidence, DecayTable, Window
from standout.attack.column_kernels import LOWEST, NARROW_TABLE, UNIT, DenseColumns, FactTables
from standout.attack.likelihood import Likelihood
from standout.attack.likelihood_queries import LikelihoodQueries
from standout.attack.own_attack import Attack
from standout.attack.scoreboard import ExactMatch, Scoreboard, ScoreboardRH
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.core.errors import ParameterError
from standout.core.threads import thread_count
from standout.data.column import Column
from standout.data.release import Release
from standout.know.facts import KnownFacts
from standout.know.sanitized import Sanitized, original_of, representatives_of

__all__ = ["Batch", "Preparation", "dense_columns"]

GUESSED_WRONG, COVERAGE = 0.1, 0.98
"""Share of wrong facts where the adversary's errors are not known; share of facts about cells of the release."""
MEMBERS, HISTORY = 1 << 28, 1 << 28
"""Largest sizes in bytes of the matrices of set members, and of scores from a history, at once."""
NUMBERS = 1 << 25
"""Largest number of table elements at once."""
REMEMBERED = 1 << 12
"""Tables up to this length are kept for facts of other targets; longer ones would fill the memory."""
EMPTY_SET = 255
LARGEST_SCORE = 1000.0
"""Scores of an attack of the user's own are scaled down to this: the kernels' whole numbers end at 2,048."""


class Batch(NamedTuple):
    """Some queries, ready for the kernels; `scale` is ln of what their numbers were divided by."""

    queries: slice
    columns: DenseColumns
    facts: FactTables
    more: NDArray[np.int32]
    scale: Floats


class _Fact(NamedTuple):
    """One fact: where its column is, and its table: one number, or two if the fact may be right or wrong.

    A narrow column has a number for each code; others those of the window, then the one for all others. A long
    decay is computed when the tables are made.
    """

    width: int
    row: int
    low: int
    length: int
    missing: int
    outside: NDArray[Any]
    empty: NDArray[Any]
    numbers: NDArray[Any] | DecayTable
    divisor: float = 1.0

    @classmethod
    def of(cls, place: tuple[int, int], windows: tuple[Window, ...], missing: int, counted: bool) -> "_Fact":
        """The fact of these windows: in units of a score, or divided by the highest number if it is right."""
        width, right = place[0], windows[0]
        low, length = right.low, len(right.numbers)
        outside, empty = (np.array([w.outside for w in windows]), np.array([w.empty for w in windows]))
        numbers = np.empty((length + 1 if width else NARROW_TABLE, len(windows)))
        numbers[:] = outside
        begin = 0 if width else low
        for i, window in enumerate(windows):
            numbers[begin : begin + length, i] = window.numbers
        if not width:
            numbers[missing] = empty
        if counted:
            divisor = max(float(right.numbers.max(initial=0.0)), right.outside, right.empty)
            return cls(*place, low, length, missing, outside / divisor, empty / divisor, numbers / divisor, divisor)
        return cls(*place, low, length, missing, _fixed(outside), _fixed(empty), _fixed(numbers))


def _fixed(numbers: Floats) -> NDArray[np.int32]:
    return np.rint(numbers * UNIT).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Preparation:
    """Turns facts into look-up tables, for an attack on a release with columns.

    If `absent`, the targets are not in the release: what is counted in columns is counted without them.
    """

    release: Release
    attack: AnyAttack
    absent: bool = False
    counted: bool = False
    threads: int | None = None
    _kept: dict[tuple[int, int, int], _Fact] = field(default_factory=dict)

    @property
    def adversary(self) -> Any:
        """The adversary whose errors the attack reckons with, if it does."""
        return self.attack.adversary if isinstance(self.attack, Likelihood) else None

    def excluded(self, records: Ints) -> Ints:
        """The record of each query that is no candidate, or -1."""
        return records if self.absent else np.full(len(records), -1)

    @cached_property
    def evidence(self) -> dict[int, ColumnEvidence]:
        """By position in the original; columns that were dropped have none, and attacks of one's own use none."""
        attack, adversary = self.attack, self.adversary
        if isinstance(attack, Attack):
            return {}
        wrong, coverage = 0.0, 1.0
        if isinstance(attack, Likelihood):
            wrong = GUESSED_WRONG if adversary is None else adversary.wrong / adversary.knows
            coverage = COVERAGE if attack.coverage is None else attack.coverage
        channels = self.release.channels if isinstance(self.release, Sanitized) else {}
        names = set(self.release.column_names)
        return {
            position: ColumnEvidence(
                original=column,
                released=self.release.column(column.name),
                channel=channels.get(column.name),
                error=column.error if adversary is None else adversary.error_of(column),
                wrong=wrong,
                coverage=coverage,
            )
            for position, column in enumerate(original_of(self.release).columns)
            if column.name in names
        }

    def batches(self, known: KnownFacts) -> Iterator[Batch]:
        """The queries in slices whose tables fit into memory."""
        cells = known.cells
        usable = np.isin(cells.column, list(self.evidence))
        for queries in self._slices(known, usable):
            positions = np.arange(cells.first[queries.start], cells.first[queries.stop])
            positions = positions[usable[positions]]
            query = np.searchsorted(cells.first, positions, side="right") - 1 - queries.start
            dense, place = dense_columns(self.release)
            members = _Members(self.release, len(dense.narrow))
            target = cells.target[queries][query].tolist() if self.absent else [-1] * len(query)
            parts = zip(cells.column[positions].tolist(), cells.code[positions].tolist(), target, strict=True)
            facts = [self._fact(*part, place, members) for part in parts]
            n = queries.stop - queries.start
            ends, share = self._wrong_shares(cells.column[positions], query, n)
            tables = _tables(np.bincount(query, minlength=n), facts, ends, share, self.threads)
            more, scale = self._more(known, queries), np.zeros(n)
            if self.counted:
                np.add.at(scale, query, elementary.log(np.array([fact.divisor for fact in facts])))
                scale += more.max(axis=1) / UNIT if len(more) else 0.0
            yield Batch(queries, members.added_to(dense), tables, more, scale)

    def _slices(self, known: KnownFacts, usable: Bools) -> Iterator[slice]:
        """Slices of queries whose tables fit into memory."""
        cells, n_rows = known.cells, max(self.release.n_records, 1)
        size, is_member = np.zeros(len(cells.column), np.int64), np.zeros(len(cells.column), np.bool_)
        for column, evidence in self.evidence.items():
            about = np.flatnonzero(cells.column == column)
            is_member[about] = evidence.original.starts is not None
            if evidence.released.n_levels < NARROW_TABLE or evidence.original.starts is not None:
                size[about] = NARROW_TABLE
            elif isinstance(self.attack, ExactMatch):
                size[about] = 2
            elif isinstance(self.attack, Likelihood) and evidence.channel is None:
                codes = cells.code[about]
                size[about] = evidence.near.high[codes] - evidence.near.low[codes] + 1
            else:
                size[about] = max(evidence.released.n_levels + 1, NARROW_TABLE)
        sums = [np.append(0, np.cumsum(numbers))[cells.first] for numbers in (size * usable, is_member)]
        members = max(MEMBERS // n_rows, 16)
        by_history = len(known.item) or isinstance(self.attack, Attack)
        most = max(HISTORY // (4 * n_rows), 1) if by_history else len(known)
        low = 0
        while low < len(known):
            full = np.flatnonzero((sums[0] - sums[0][low] >= NUMBERS) | (sums[1] - sums[1][low] >= members))
            high = min(len(known), low + most, *full[full > low][:1].tolist())
            yield slice(low, high)
            low = high

    def _fact(
        self, column: int, code: int, target: int, place: dict[str, tuple[int, int]], members: "_Members"
    ) -> _Fact:
        evidence, attack = self.evidence[column], self.attack
        released, starts = evidence.released, evidence.original.starts
        if starts is not None:
            became = code if evidence.channel is None else int(evidence.channel.released[code])
            at = 0, members.row(released, None if became == released.missing else became)
            if became == released.missing:  # the member is nowhere in the release, and the fact says nothing
                neutral = float(self.counted or isinstance(attack, Scoreboard))
                nothing = Window(0, np.full(1, neutral), neutral, neutral)
                return _Fact.of(at, (nothing, nothing) if self.counted else (nothing,), EMPTY_SET, self.counted)
            own = None if target < 0 else evidence.original.codes[starts[target] : starts[target + 1]].astype(np.int64)
            return _Fact.of(at, self._windows(evidence, code, own), EMPTY_SET, self.counted)
        own_code = int(evidence.original.codes[target]) if target >= 0 else -1
        key, missing = (column, code, own_code), released.missing
        if key in self._kept:
            return self._kept[key]
        at = place[released.name]
        if isinstance(attack, ScoreboardRH) and evidence.decay is not None:
            low, high = evidence.decay.ends(code)
            table = DecayTable(evidence.decay, code, low, high, UNIT * evidence.weight(self.absent))
            zero = np.zeros(1, np.int32)
            return _Fact(*at, low, high - low, missing, zero, zero, table)
        fact = _Fact.of(at, self._windows(evidence, code, None if own_code < 0 else own_code), missing, self.counted)
        if fact.length <= REMEMBERED:
            self._kept[key] = fact
        return fact

    def _windows(self, evidence: ColumnEvidence, code: int, own: int | Ints | None) -> tuple[Window, ...]:
        """What a known level or member adds to the score of a record, by the record's code."""
        if isinstance(self.attack, Likelihood):
            return evidence.right_and_wrong(code, own) if self.counted else (evidence.likelihood(code, own),)
        if isinstance(self.attack, ExactMatch):
            return (evidence.equality(code),)
        if isinstance(self.attack, Scoreboard):
            return (evidence.similarity(code),)
        return (evidence.similarity(code).times(evidence.weight(own is not None)),)

    def _wrong_shares(self, column: Ints, query: Ints, n: int) -> tuple[Bools, Floats]:
        """Which facts are the last about their attribute, and the shares of `FactTables`.

        Of the attributes that the adversary knows, some may not be in the release; wrong ones may be among those.
        """
        if not self.counted:
            return np.empty(0, np.bool_), np.empty((0, 0))
        names = [each.attribute for each in original_of(self.release).columns]
        attribute = np.array([names.index(name) for name in names])[column]
        ends = np.ones(len(column), np.bool_)
        ends[:-1] = (attribute[1:] != attribute[:-1]) | (query[1:] != query[:-1])
        most, wrong = self.adversary.knows, self.adversary.wrong
        ways = [
            [math.comb(most - known, wrong - j) if j <= known else 0 for j in range(wrong + 1)]
            for known in np.bincount(query[ends], minlength=n).tolist()
        ]
        return ends, np.array(ways) / math.comb(most, wrong)

    def _more(self, known: KnownFacts, queries: slice) -> NDArray[np.int32]:
        """Scores by what is known of the history, or of an attack of the user's own; by query and record."""
        release, attack, n = self.release, self.attack, queries.stop - queries.start
        target = known.cells.target[queries]
        excluded = self.excluded(np.where(target >= 0, representatives_of(release)[target], -1))
        few = known.of(np.arange(queries.start, queries.stop))
        if isinstance(attack, Attack):
            given = attack.scores_without(release, few, excluded) if self.absent else attack.scores(release, few)
            scores = np.asarray(given, np.float64)
            if scores.shape != (n, release.n_records) or np.isnan(scores).any():
                raise ParameterError(f"{type(attack).__name__}.scores() must return a number for each query and record")
            largest = np.abs(scores[np.isfinite(scores)]).max(initial=0.0)
            return np.stack([_units(row * min(LARGEST_SCORE / max(largest, 1e-300), 1.0), 0.0) for row in scores])
        if not len(known.item):
            return np.empty((0, 0), np.int32)
        if isinstance(attack, Likelihood):
            attack = Likelihood(None if self.adversary is None else self.adversary.entries)
        if isinstance(release, Sanitized):
            few = release.translate_facts(few, np.maximum(target, 0))
        verdicts = attack.attacks(release.history, few, exclude=excluded)
        units = np.empty((n, release.n_records), np.int32)
        for q in range(n):
            query, shift = verdicts[q].queries, 0.0
            if isinstance(query, LikelihoodQueries):  # scores are relative to a record without any known entry
                shift = float(few.first[q + 1] - few.first[q]) * math.log1p(-query.coverage)
            units[q] = _units(verdicts[q].scores, shift)
        return units


def _units(scores: Floats, shift: float) -> NDArray[np.int32]:
    return np.where(np.isfinite(scores), np.rint((scores + shift) * UNIT), LOWEST / 4).astype(np.int32)


def dense_columns(release: Release) -> tuple[DenseColumns, dict[str, tuple[int, int]]]:
    """The codes of a release as matrices, and where each column is in them: (width, row of the matrix)."""
    kept = vars(release)
    if "_dense" not in kept:
        groups: tuple[list[Column], ...] = ([], [], [])
        for column in release.columns:
            if column.starts is None:
                groups[(1, 2, 4).index(column.codes.dtype.itemsize)].append(column)
        place = {column.name: (width, row) for width, group in enumerate(groups) for row, column in enumerate(group)}
        matrices = [
            np.stack([column.codes for column in group]) if group else np.empty((0, release.n_records), dtype)
            for group, dtype in zip(groups, (np.uint8, np.uint16, np.uint32), strict=True)
        ]
        kept["_dense"] = DenseColumns(*matrices), place
    dense: tuple[DenseColumns, dict[str, tuple[int, int]]] = kept["_dense"]
    return dense


class _Members:
    """Sets as dense columns: for a category, the size of each record's set that has it, else 0."""

    def __init__(self, release: Release, after: int) -> None:
        self.release, self.after = release, after
        self.rows: dict[tuple[str, int | None], int] = {}
        self.columns: list[NDArray[np.uint8]] = []

    def row(self, column: Column, code: int | None) -> int:
        """The row of the matrix for a category of a set column; None: a category that no record has."""
        key = column.name, code
        if key not in self.rows:
            self.rows[key] = self.after + len(self.columns)
            kept: dict[tuple[str, int | None], NDArray[np.uint8]] = vars(self.release).setdefault("_member_sizes", {})
            sizes = kept[key] if key in kept else _set_sizes(column, code)
            if (len(kept) + 1) * len(sizes) <= MEMBERS:
                kept[key] = sizes
            self.columns.append(sizes)
        return self.rows[key]

    def added_to(self, columns: DenseColumns) -> DenseColumns:
        """The matrices with these rows below the narrow one."""
        return columns._replace(narrow=np.vstack([columns.narrow, *self.columns])) if self.columns else columns


def _set_sizes(column: Column, code: int | None) -> NDArray[np.uint8]:
    assert column.starts is not None
    sizes = np.diff(column.starts)
    found = np.zeros(column.n_rows, np.uint8)
    if code is not None:
        owner = np.searchsorted(column.starts, np.flatnonzero(column.codes == code), side="right") - 1
        found[owner] = np.minimum(sizes[owner], LARGEST_SET)
    found[sizes == 0] = EMPTY_SET
    return found


def _tables(counts: Ints, facts: list[_Fact], ends: Bools, share: Floats, threads: int | None) -> FactTables:
    """The look-up tables of these facts; tables that are shared are stored once, long decays in parallel."""
    stored = {id(fact.numbers): fact for fact in facts}
    sizes = [fact.length + 1 if fact.width else NARROW_TABLE for fact in stored.values()]
    start = dict(zip(stored, offsets(sizes).tolist(), strict=False))
    counted = len(share) > 0
    number = np.empty((sum(sizes), 2) if counted else sum(sizes), np.float64 if counted else np.int32)
    long = []
    for (key, fact), size in zip(stored.items(), sizes, strict=True):
        out = number[start[key] :][:size]
        if isinstance(fact.numbers, DecayTable):
            out[-1] = fact.outside[0]
            long.append((fact.numbers, out[:-1]))
        else:
            out[:] = fact.numbers if counted else fact.numbers[:, 0]
    if long:
        with ThreadPoolExecutor(thread_count(threads)) as pool:
            list(pool.map(lambda table: table[0].fill(table[1]), long))
    outside, empty = (
        np.array(rows, number.dtype).reshape((-1, 2) if counted else -1)
        for rows in ([fact.outside for fact in facts], [fact.empty for fact in facts])
    )
    return FactTables(
        first=offsets(counts),
        width=np.array([fact.width for fact in facts], np.int8),
        matrix=np.array([fact.row for fact in facts], np.int64),
        start=np.array([start[id(fact.numbers)] for fact in facts], np.int64),
        low=np.array([fact.low for fact in facts], np.uint32),
        length=np.array([fact.length for fact in facts], np.uint32),
        outside=outside,
        missing=np.array([fact.missing for fact in facts], np.uint32),
        empty=empty,
        number=number,
        ends=ends,
        share=share,
    )
