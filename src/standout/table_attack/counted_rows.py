"""Attack many people, knowing how many of the facts about each are wrong (see `counted_kernels`)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.progress import Progress
from standout.core.threads import run_in_slices
from standout.table_attack.counted_kernels import CountedFacts, CountedSummaries, count_rows
from standout.table_attack.evidence import ColumnEvidence, Window
from standout.table_attack.kernels import NARROW_TABLE, UNIT, DenseColumns
from standout.table_attack.prepare import EMPTY_SET, Members, Preparation, dense_columns, original_of
from standout.table_attack.row_facts import RowFacts
from standout.table_attack.table_adversary import TableAdversary

__all__ = ["CountedResult", "count_facts"]

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
    facts: RowFacts,
    rows: Ints,
    adversary: TableAdversary,
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
    n_rows, usable = preparation.table.n_rows, preparation.usable(facts)
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
    facts: RowFacts,
    usable: NDArray[np.bool_],
    queries: slice,
    adversary: TableAdversary,
    scale: Floats,
) -> tuple[DenseColumns, CountedFacts]:
    """The look-up tables of some queries; adds the logarithms of their divisors to `scale`."""
    positions = np.arange(facts.first[queries.start], facts.first[queries.stop])
    positions = positions[usable[positions]]
    query = np.searchsorted(facts.first, positions, side="right") - 1 - queries.start
    n = queries.stop - queries.start
    dense = dense_columns(preparation.table)
    members = Members(preparation.table, len(dense.columns.narrow))
    kept: dict[tuple[int, int, int], _Fact] = {}
    made = [
        _fact(preparation, facts, f, int(facts.target[queries.start + q]), dense.place, members, kept)
        for f, q in zip(positions.tolist(), query.tolist(), strict=True)
    ]
    np.add.at(scale, query, elementary.log(np.array([fact.divisor for fact in made])))
    ends = _last_of_attribute(preparation, facts.column[positions], query)
    counts = np.bincount(query, minlength=n)
    attributes = np.bincount(query[ends], minlength=n)
    share = np.array([_shares(adversary, int(known)) for known in attributes])
    return members.added_to(dense.columns), _tables(counts, made, ends, share)


def _fact(
    preparation: Preparation,
    facts: RowFacts,
    f: int,
    target: int,
    place: dict[str, tuple[int, int]],
    members: Members,
    kept: dict[tuple[int, int, int], _Fact],
) -> _Fact:
    column, code = int(facts.column[f]), int(facts.code[f])
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


def _shares(adversary: TableAdversary, known: int) -> Floats:
    """P(j of the `known` attributes are wrong) / number of choices of j, for each j.

    Of the attributes that the adversary knows, some may not be in the table; wrong ones may be among those.
    """
    most, wrong = adversary.most, adversary.wrong
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
