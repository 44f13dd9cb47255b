"""Known facts, prepared for the kernels: facts that name items of the release, weights, tables."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from standout.attack.engine_kernels import (
    CELL,
    CELL_STEP,
    COUNTED_STEP,
    LIKELIHOOD,
    MINIMUM,
    SCORES,
    SUM,
    CandidateFilter,
    CellArrays,
    FactArrays,
    Lookup,
    RecordSizes,
    RowArrays,
    Summaries,
    Workspace,
    cell_scores,
    walk,
)
from standout.attack.release_counts import Pairs, first_times, has_item, similarity_terms
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints, offsets, read_only
from standout.core.errors import NotFoundError, ParameterError
from standout.core.threads import Part
from standout.data.entries import whole
from standout.data.labels import position_of_id
from standout.data.release import Release
from standout.know.facts import ANY_TIME, KnownFacts
from standout.know.lookup_tables import Tables, Tabulation
from standout.know.similarity import Similarity, call_user_code, check_numbers

Weights = Literal["rarity", "one", "inverse"] | Callable[[Ints], Any]
NOBODY, NO_NUMBERS = np.empty(0, np.int32), np.empty(0)
NO_SIZES = RecordSizes(np.empty(0, np.uint16), NO_NUMBERS)
NO_BYTES = np.empty((0, 0), np.uint8)
NO_CELLS = CellArrays(
    NO_BYTES, NO_BYTES.astype(np.uint16), NO_BYTES.astype(np.uint32), np.empty(0, np.int64), np.empty(0, CELL),
    NO_NUMBERS.reshape(1, 0), NO_NUMBERS.reshape(0, 0), NO_NUMBERS, NO_NUMBERS,
)  # fmt: skip
COARSER = 2.0**9
"""Ratio of the grid of likelihoods and the grid of their parts: ln a + ln b is ln ab only up to rounding."""
KEPT_SCORES = 1 << 22
"""Scores of all records are kept if there are at most this many for all queries."""


def _rarity(support: Ints) -> Floats:
    """wt(i) = 1 / ln(max(|supp(i)|, 2))  [Algorithm 1B]. The weight of |supp(i)| = 1 would be infinite."""
    return 1.0 / elementary.log(np.maximum(support, 2))


WEIGHTS: dict[str, Callable[[Ints], Any]] = {
    "rarity": _rarity,
    "one": lambda support: np.ones(len(support)),
    "inverse": lambda support: 1.0 / np.maximum(support, 1),
}


def weight_function(weights: Weights) -> Callable[[Ints], Floats]:
    """The function from supports to weights, after a check of the parameter."""
    if not callable(weights) and (not isinstance(weights, str) or weights not in WEIGHTS):
        raise ParameterError(f"weights must be rarity, one, inverse or a function of support, got {weights!r}")
    function = weights if callable(weights) else WEIGHTS[weights]
    return lambda support: check_numbers(call_user_code(lambda: function(support), "weights"), len(support), "weights")


class QueryFacts(NamedTuple):
    """Facts that name items of the release: query q owns first[q] … first[q + 1]."""

    first: Ints
    item: Ints
    shape: Ints
    time: Ints


@dataclass(frozen=True, eq=False)
class KnownCells:
    """What is known of the columns of a release: `known` as it was drawn, and the tables of cells it shows.

    `cell` is the position in `known` of each cell of `arrays`. Scores are above `lowest` and not above `lowest`
    + `most`, by query. `others` people are not in the release. If `is_counted`, it is known how many are wrong.
    """

    known: KnownFacts
    cell: Ints
    arrays: CellArrays
    lowest: Floats
    most: Floats
    others: int = 0

    @property
    def is_counted(self) -> bool:
        """Whether the number of wrong facts is used, with products instead of sums of logarithms."""
        return bool(self.arrays.share.shape[1])


class KernelArrays(NamedTuple):
    """Facts, tables, sizes of records, candidates and cells: what the kernels read of queries."""

    facts: FactArrays
    lookup: Lookup
    sizes: RecordSizes
    candidates: CandidateFilter
    cells: CellArrays


@dataclass(frozen=True, eq=False)
class Queries:
    """Many queries against one release.

    `known` has all facts. `facts` has those that name items of the release, with their weights; `origin` is
    their position in `known`. `exclude` is the record that each query leaves out, or -1. `prepare` makes
    queries of the same kind, given other `known` and `exclude`. `cells` are facts about columns.
    """

    release: Release
    known: KnownFacts
    origin: Ints
    facts: QueryFacts
    weight: Floats
    tables: Tables
    exclude: Ints
    prepare: Callable[..., "Queries"] | None = field(default=None, kw_only=True)
    cells: KnownCells | None = field(default=None, kw_only=True)
    mode: int = field(default=SUM, kw_only=True)

    def __len__(self) -> int:
        return len(self.known)

    @property
    def lowest(self) -> Floats:
        """Score of a record that no known fact speaks for."""
        return np.zeros(len(self)) if self.cells is None else self.cells.lowest

    @cached_property
    def step(self) -> Floats:
        """The grid on which the addends of a query's scores lie: multiples of it add up exactly, in any order.

        It is a power of two that depends only on the query's facts, not on their order. The highest possible score
        is at most 2^51 of them. It is rounded up so that a query and its first few facts mostly have the same.
        """
        most, counts = self.exponents
        return np.asarray(np.ldexp(1.0, np.maximum(np.maximum(counts, 6) + -(-most // 5) * 5 - 51, -1000)))

    @cached_property
    def exponents(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """⌈log2⌉ of the most that a fact of each query can add, and of its number of facts."""
        counts, most = np.diff(self.facts.first), np.zeros(len(self))
        np.maximum.at(most, np.repeat(np.arange(len(self)), counts), self.peaks())
        return log2_up(np.where(most > 0, most, 1.0)), log2_up(np.maximum(counts, 1))

    def peaks(self) -> Floats:
        """The most that each fact can add to a score."""
        return self.weight * self.tables.peaks(self.facts.shape, self.facts.time, self.release.span)

    @cached_property
    def grid(self) -> Floats:
        """The grid of each query's scores; 0: none, because similarities are not added up."""
        if self.mode == MINIMUM:
            return np.zeros(len(self))
        if self.cells is not None:
            return np.full(len(self), COUNTED_STEP if self.cells.is_counted else CELL_STEP)
        return self.step * (COARSER if self.mode == LIKELIHOOD else 1.0)

    @cached_property
    def arrays(self) -> KernelArrays:
        """What the kernels read."""
        release, known, tables = self.release, self.known, self.tables
        is_even = (tables.off == tables.off[:, :1]) & (tables.b == tables.b[:, :1])
        even = is_even[:, : tables.used].all(axis=1)
        lengths = release.lengths.astype(np.int32) if known.filtered else NOBODY
        dated = known.filtered and bool((known.joined != ANY_TIME).any())
        since = first_times(release) if dated else read_only(np.full(len(lengths), -1, np.int32))
        return KernelArrays(
            facts=FactArrays(*self.facts, self.weight, NO_NUMBERS, NO_NUMBERS),
            lookup=Lookup(tables.a, tables.b, tables.off, tables.c, tables.terms, even),
            sizes=NO_SIZES,
            candidates=CandidateFilter(self.exclude, known.length, known.joined, lengths, since, known.filtered),
            cells=NO_CELLS if self.cells is None else self.cells.arrays,
        )

    def rows(self, n_sizes: int = 1) -> RowArrays:
        """These queries as rows; `n_sizes` of them after another are about the same longer query."""
        query = np.arange(len(self)) // n_sizes
        first = np.flatnonzero(np.append(True, (np.diff(query) != 0) | (np.diff(self.step) != 0))[: len(self)])
        facts, needed = np.diff(self.facts.first), np.diff(self.known.first)
        most, counts = self.exponents
        norm = np.ldexp(1.0, -np.maximum(most + counts, -953) if self.cells is None else -log2_up(self.cells.most))
        return RowArrays(np.append(first, len(self)), query[first], facts, needed, self.step, self.grid, norm)

    def workspace(self, rows: RowArrays, part: Part, keeps: bool) -> Workspace:
        """The arrays that a thread needs; it `keeps` the scores of all blocks."""
        n_blocks = max(part.last_block - part.first_block, 2) if keeps else 1
        kinds, times = self.tables.a.shape[1], 1 << self.release.by_item.time_bits
        most, states = int(rows.facts.max(initial=1)), self.arrays.cells.share.shape[1]
        return Workspace.allocate(n_blocks, most, len(self.arrays.sizes.size), kinds, times, states)

    def walk(
        self, rows: RowArrays, part: Part, rounds: int, work: Workspace, out: Summaries, low: int, high: int
    ) -> None:
        """Walk over a part of the release for groups low … high - 1 of the rows."""
        release = self.release
        size = release.n_records, release.span, *part
        walk(release.by_item, *self.arrays, rows, self.mode, *size, rounds, work, out, low, high)

    def detached(self) -> "Queries":
        """The same queries without their release, to be sent to a worker that has it open."""
        return replace(self, release=cast(Release, None), prepare=None)

    def attached(self, release: Release) -> "Queries":
        """Detached queries with their release."""
        return replace(self, release=release)

    def nobody(self, candidates: Ints) -> Floats:
        """Score, by query, of the case that the target is not in the release: −∞ if it is ruled out.

        Everybody elsewhere explains known cells as anybody does: with a score of 0.
        """
        others = 0 if self.cells is None else self.cells.others
        return np.full(len(candidates), math.log(others) if others else -np.inf)

    def take_facts(self, query: Ints, fact: Ints, first: Ints) -> dict[str, Any]:
        """Fields of other queries: number p has the facts fact[first[p]:first[p + 1]] of query[p]."""
        facts = QueryFacts(first, *(column[fact] for column in self.facts[1:]))
        return {"facts": facts, "weight": self.weight[fact], "exclude": self.exclude[query]}

    def are_candidates(self, query: Ints, record: Ints) -> Bools:
        """Whether each record is a candidate of the query of the same index."""
        known, is_candidate = self.known, record != self.exclude[query]
        if known.filtered:
            length, since = (column[record] for column in self.arrays.candidates[3:5])
            is_candidate &= (length >= known.length[query, 0]) & (length <= known.length[query, 1])
            is_candidate &= (since < 0) | ((since >= known.joined[query, 0]) & (since <= known.joined[query, 1]))
        return np.asarray(is_candidate)

    def parts(self, query: Ints, fact: Ints, record: Ints, terms: Floats) -> Floats:
        """What each fact adds to the score of a record: weight · Sim, each term on the query's grid.

        Terms are rounded before they are added, so that it does not matter which fact a term belongs to. In
        Algorithm 1A it is the mean of the terms, between 0 and 1.
        """
        if self.mode == MINIMUM:
            return np.asarray(np.fmax(terms, 0.0).sum(axis=0) / self.tables.terms[self.facts.shape[fact]])
        step = self.step[query]
        scaled = np.rint(self.weight[fact] * np.fmax(terms, 0.0) / step) * step
        return np.asarray(scaled[0] + scaled[1])

    def factors(self, fact: Ints, record: Ints, terms: Floats) -> tuple[Floats, Floats]:
        """Weight and similarity of each fact, for explanations."""
        return self.weight[fact], np.fmax(terms, 0.0).sum(axis=0)

    def pairs(self, query: Ints, record: Ints, best: bool = False) -> tuple[Ints, Ints, Floats]:
        """(pair, fact, terms of Sim) for every fact of each query and the record of the same index.

        The first term is NaN if the record lacks the item. If it has the item several times, its most similar
        entry counts; for likelihoods, unless `best`, the mean over its entries.
        """
        counts = np.diff(self.facts.first)[query]
        pair, fact = np.repeat(np.arange(len(query)), counts), _ranges(self.facts.first[query], counts)
        facts = Pairs(record[pair], *(column[fact] for column in self.facts[1:]))
        mean = self.mode == LIKELIHOOD and not best
        return pair, fact, similarity_terms(self.release, facts, self.tables, mean)

    def scores_of(self, query: Ints, record: Ints) -> Floats:
        """The score of each record for the query of the same index; the bits of `scores`."""
        scores = self._entry_scores(query, record) if len(self.facts.item) else np.zeros(len(query))
        if self.cells is not None:
            arrays, needed = self.cells.arrays, np.diff(self.known.first)
            cell_scores(arrays, self.mode, needed, query, record, np.empty((arrays.share.shape[1] + 2, 1)), scores)
            return scores + self.cells.lowest[query]
        return scores if self.mode == MINIMUM else np.asarray(np.rint(scores / self.grid[query]) * self.grid[query])

    def _entry_scores(self, query: Ints, record: Ints) -> Floats:
        pair, fact, terms = self.pairs(query, record)
        parts = self.parts(query[pair], fact, record[pair], terms)
        if self.mode == MINIMUM:  # 0 if an item is not in the release
            lowest = np.full(len(query), np.inf)
            np.minimum.at(lowest, pair, parts)
            has_all = np.diff(self.facts.first)[query] == np.diff(self.known.first)[query]
            return np.where(has_all & (lowest < np.inf), lowest, 0.0)
        return np.bincount(pair, parts, len(query)).astype(np.float64)

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """Scores of small releases by query, and queries with less known of each fact: verdicts ask again."""
        return {}

    def scores(self, q: int) -> Floats:
        """The scores of all records for query q; -∞ unless a record is a candidate."""
        if q in self.kept:
            return np.array(self.kept[q])
        rows, part, n_records = self.rows(), whole(self.release), self.release.n_records
        work = self.workspace(rows, part, keeps=True)
        self.walk(rows, part, SCORES, work, Summaries.empty(len(self)), q, q + 1)
        scores = work.scores[:n_records] + self.lowest[q]
        if self.grid[q] > 0 and self.cells is None:
            scores = np.rint(scores / self.grid[q]) * self.grid[q]
        if self.exclude[q] >= 0 or self.known.filtered:
            scores = np.where(self.are_candidates(np.array([q]), np.arange(n_records)), scores, -np.inf)
        if n_records * len(self) <= KEPT_SCORES:
            self.kept[q] = scores.copy()
        return np.asarray(scores)


def log2_up(x: NDArray[Any]) -> NDArray[np.int32]:
    """⌈log2 x⌉ of positive numbers, from their exponents: a rounded logarithm may be off by one."""
    mantissa, exponent = np.frexp(x)
    return np.asarray(exponent - (mantissa == 0.5))


def first_facts(known: KnownFacts, sizes: Sequence[int]) -> KnownFacts:
    """Each target with only its first facts: one target for every size, sizes within targets."""
    query = np.repeat(np.arange(len(known)), len(sizes))
    counts = np.minimum(np.tile(np.array(sizes, np.int64), len(known)), np.diff(known.first)[query])
    return known.select(query, _ranges(known.first[query], counts), offsets(counts))


def prefix_queries(queries: Queries, sizes: Sequence[int]) -> Queries:
    """Each query with only its first facts: one query for every size, sizes within queries."""
    known = queries.known
    query = np.repeat(np.arange(len(queries)), len(sizes))
    shorter = first_facts(known, sizes)
    starts = shorter.first
    wanted = np.diff(starts)
    ends = np.searchsorted(queries.origin, known.first[query] + wanted)
    counts = ends - queries.facts.first[query]
    fact = _ranges(queries.facts.first[query], counts)
    base = np.repeat(starts[:-1] - known.first[query], counts)
    taken = queries.take_facts(query, fact, offsets(counts))
    return replace(queries, known=shorter, origin=queries.origin[fact] + base, **taken)


def _ranges(first: Ints, counts: Ints) -> Ints:
    """Concatenate the ranges of counts[i] numbers from first[i] on."""
    ends = np.cumsum(counts)
    return np.asarray(np.arange(int(counts.sum())) + np.repeat(first - (ends - counts), counts))


def prepare_queries(
    release: Release, known: KnownFacts, similarity: Similarity, weights: Weights, exclude: Ints, mode: int = SUM
) -> Queries:
    """The queries, with the weights of the release without their excluded records."""
    tables = Tabulation(release, known, similarity).tabulate()
    origin = np.flatnonzero(known.item >= 0)
    first = np.searchsorted(origin, known.first)
    item = known.item[origin]
    query = np.repeat(np.arange(len(known)), np.diff(first))
    support = release.support[item] - has_item(release, exclude[query], item)
    weight = weight_function(weights)(support)
    facts = QueryFacts(first, item, tables.shape[origin], tables.time[origin])
    return Queries(
        release=release,
        known=known,
        origin=origin,
        facts=facts,
        weight=weight,
        tables=tables,
        exclude=exclude,
        prepare=partial(prepare_queries, release, similarity=similarity, weights=weights, mode=mode),
        mode=mode,
    )


def excluded_records(release: Release, exclude: "str | Sequence[str | None] | Ints | None", queries: int) -> Ints:
    """Position of the record that each query leaves out, or -1; given as an id, several ids, or positions."""
    if release.columns:
        raise ParameterError("the release has columns: attack it with so.simulate, so.compare or so.lineup")
    if isinstance(exclude, np.ndarray):
        codes = exclude.astype(np.int64)
    else:
        names = [exclude] * queries if exclude is None or isinstance(exclude, str) else list(exclude)
        if not all(name is None or isinstance(name, str) for name in names):
            raise ParameterError("exclude must be record ids as text, or an array of positions")
        codes = np.array([-1 if name is None else position_of_id(release.records, name) for name in names], np.int64)
    if len(codes) != queries:
        raise ParameterError(f"exclude has {len(codes)} records for {queries} queries")
    if len(codes) and not (-1 <= codes.min() and codes.max() < release.n_records):
        raise NotFoundError(f"record positions run from 0 to {release.n_records - 1:,}")
    return codes


def attribute_parts(queries: Queries, q: int, record: int, parts: Floats) -> tuple[Floats, Floats, Floats] | None:
    """What the item, the value and the date of each fact of a query add to the score of a record.

    An attribute adds the difference that it makes when it becomes known: first the item, then the value, then
    the date. Parts lie on the query's grid, so that differences are exact. None if a similarity function of a
    user's own fails for values or dates that are not known, or if the attack has no parts.
    """
    if queries.prepare is None:
        return None
    facts, added = np.arange(queries.known.first[q], queries.known.first[q + 1]), list[Floats]()
    one = queries.known.select(np.array([q]), facts, np.array([0, len(facts)]))
    for value in np.full(len(facts), -1), one.value:  # only the item is known; item and value
        key = q, len(added)
        if key not in queries.kept:
            less, is_less = replace(one, value=value, timed=np.zeros(len(facts), np.bool_)), (value != one.value).any()
            try:
                is_less = is_less or one.timed.any()
                queries.kept[key] = queries.prepare(known=less, exclude=queries.exclude[[q]]) if is_less else None
            except ParameterError:
                return None
        reduced: Queries | None = queries.kept[key]
        if reduced is None:
            added.append(parts)
            continue
        _, fact, terms = reduced.pairs(np.zeros(1, np.int64), np.array([record]))
        numbers = reduced.parts(np.zeros(len(fact), np.int64), fact, np.full(len(fact), record), terms)
        added.append(np.asarray(np.rint(numbers / queries.step[q]) * queries.step[q]))
    return added[0], added[1] - added[0], parts - added[1]
