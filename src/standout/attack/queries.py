"""Known facts, prepared for the kernels: facts that name items of the release, weights, tables."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from standout.attack.engine_kernels import (
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
from standout.core.arrays import Floats, Ints, offsets
from standout.core.errors import NotFoundError, ParameterError
from standout.core.threads import Part
from standout.data.entries import whole
from standout.data.labels import position_of_id
from standout.data.release import Release
from standout.know.facts import ANY_TIME, KnownFacts
from standout.know.lookup_tables import Tables, tabulate
from standout.know.similarity import Similarity, call_user_code, check_numbers

Weights = Literal["rarity", "one", "inverse"] | Callable[[Ints], Any]
NOBODY, NO_NUMBERS = np.empty(0, np.int32), np.empty(0)
NO_SIZES = RecordSizes(np.empty(0, np.uint16), NO_NUMBERS)
NO_PLACES, NO_CODES, NO_BYTES = np.empty(0, np.int64), np.empty(0, np.uint32), np.empty((0, 0), np.uint8)
NO_CELLS = CellArrays(
    narrow=NO_BYTES, medium=NO_BYTES.astype(np.uint16), wide=NO_BYTES.astype(np.uint32), first=NO_PLACES,
    width=NO_PLACES.astype(np.int8), matrix=NO_PLACES, start=NO_PLACES, low=NO_CODES, length=NO_CODES,
    missing=NO_CODES, empty=NO_NUMBERS, empty_wrong=NO_NUMBERS, number=NO_NUMBERS, wrong=NO_NUMBERS,
    ends=np.empty(0, np.bool_), share=np.empty((0, 0)), offset=NO_NUMBERS, lacking=NO_NUMBERS,
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

    def weigh(support: Ints) -> Floats:
        return check_numbers(call_user_code(lambda: function(support), "weights"), len(support), "weights")

    return weigh


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

    @property
    def grid(self) -> Floats:
        """The grid of each query's scores; 0: none, because similarities are not added up."""
        if self.mode == MINIMUM:
            return np.zeros(len(self))
        if self.cells is not None:
            return np.full(len(self), COUNTED_STEP if self.cells.is_counted else CELL_STEP)
        return self.step * (COARSER if self.mode == LIKELIHOOD else 1.0)

    @cached_property
    def fact_arrays(self) -> FactArrays:
        """The facts, for the kernels."""
        return FactArrays(*self.facts, self.weight, NO_NUMBERS, NO_NUMBERS)

    @cached_property
    def lookup(self) -> Lookup:
        """The tables, for the kernels."""
        tables = self.tables
        shared = (tables.off == tables.off[:, :1]) & (tables.b == tables.b[:, :1])
        return Lookup(tables.a, tables.b, tables.off, tables.c, tables.terms, shared[:, : tables.used].all(axis=1))

    @property
    def record_sizes(self) -> RecordSizes:
        """The sizes of records, for the kernels."""
        return NO_SIZES

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
        n_blocks, kinds, times = (
            part.last_block - part.first_block,
            self.tables.a.shape[1],
            self.release.by_item.time_bits,
        )
        most, sizes = int(rows.facts.max(initial=1)), len(self.record_sizes.size)
        states = self.cell_arrays.share.shape[1]
        return Workspace.allocate(max(n_blocks, 2) if keeps else 1, most, sizes, kinds, 1 << times, states)

    @property
    def cell_arrays(self) -> CellArrays:
        """The cells, for the kernels."""
        return NO_CELLS if self.cells is None else self.cells.arrays

    def walk(
        self, rows: RowArrays, part: Part, rounds: int, work: Workspace, out: Summaries, low: int, high: int
    ) -> None:
        """Walk over a part of the release for groups low … high - 1 of the rows."""
        release = self.release
        arrays = release.by_item, self.fact_arrays, self.lookup, self.record_sizes, self.candidates
        size = release.n_records, release.span, *part
        walk(*arrays, self.cell_arrays, rows, self.mode, *size, rounds, work, out, low, high)

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

    @cached_property
    def candidates(self) -> CandidateFilter:
        """The records that each query may return, for the kernels."""
        release, known = self.release, self.known
        lengths = release.lengths.astype(np.int32) if known.filtered else NOBODY
        dated = known.filtered and bool((known.joined != ANY_TIME).any())
        since = first_times(release) if dated else np.full(len(lengths), -1, np.int32)
        return CandidateFilter(
            exclude=self.exclude,
            length=known.length,
            joined=known.joined,
            lengths=lengths,
            begins=since,
            filtered=known.filtered,
        )

    def is_candidate(self, q: int) -> NDArray[np.bool_] | None:
        """Which records are candidates of query q; None if all are."""
        if self.exclude[q] < 0 and not self.known.filtered:
            return None
        return self.are_candidates(np.array([q]), np.arange(self.release.n_records))

    def are_candidates(self, query: Ints, record: Ints) -> NDArray[np.bool_]:
        """Whether each record is a candidate of the query of the same index."""
        known, is_candidate = self.known, record != self.exclude[query]
        if known.filtered:
            length, since = self.candidates.lengths[record], self.candidates.begins[record]
            is_candidate &= (length >= known.length[query, 0]) & (length <= known.length[query, 1])
            is_early_enough, is_late_enough = since <= known.joined[query, 1], since >= known.joined[query, 0]
            is_candidate &= (since < 0) | (is_late_enough & is_early_enough)
        return np.asarray(is_candidate)

    def facts_of(self, q: int) -> slice:
        """Positions of the facts of query q in `facts`."""
        return slice(int(self.facts.first[q]), int(self.facts.first[q + 1]))

    def similarity_terms(self, fact: Ints, value: Ints, time: Ints) -> Floats:
        """Sim, in two terms, of each fact and the entry with the value and time codes of the same index."""
        release, tables = self.release, self.tables
        timed = time < release.span
        kind = np.where(timed | (release.span == 0), value, value + release.n_levels + 1)
        u = self.facts.shape[fact]
        at = tables.off[u, kind] + np.where(timed, time, 0) - self.facts.time[fact]
        return np.stack([tables.a[u, kind], tables.b[u, kind] * tables.similarity_of_times(at)])

    def parts(self, query: Ints, fact: Ints, record: Ints, terms: Floats) -> Floats:
        """What each fact adds to the score of a record: weight · Sim, each term on the query's grid.

        Terms are rounded before they are added, so that it does not matter which fact a term belongs to.
        """
        step = self.step[query]
        scaled = np.rint(self.weight[fact] * np.fmax(terms, 0.0) / step) * step
        return np.asarray(scaled[0] + scaled[1])

    def factors(self, fact: Ints, record: Ints, terms: Floats) -> tuple[Floats, Floats]:
        """Weight and similarity of each fact, for explanations."""
        return self.weight[fact], np.fmax(terms, 0.0).sum(axis=0)

    def on_grid(self, scores: Floats, query: Ints | int) -> Floats:
        """Numbers on the grid of scores of the query of the same index."""
        return np.asarray(np.rint(scores / self.grid[query]) * self.grid[query])

    @cached_property
    def kept_reduced(self) -> "dict[tuple[int, str], Queries | None]":
        """Queries with less known about each fact, by query (see `reduced_queries`)."""
        return {}

    def pairs(self, query: Ints, record: Ints) -> tuple[Ints, Ints, Floats]:
        """(pair, fact, terms of Sim) for every fact of each query and the record of the same index.

        The first term is NaN if the record lacks the item. If it has the item several times, its entries
        count as `entry_terms` says.
        """
        pair, fact = self._facts_of_each(query)
        return pair, fact, self.entry_terms(self._pairs(fact, record[pair]))

    def best_pairs(self, query: Ints, record: Ints) -> tuple[Ints, Ints, Floats]:
        """The same with the terms of the record's most similar entry."""
        pair, fact = self._facts_of_each(query)
        return pair, fact, similarity_terms(self.release, self._pairs(fact, record[pair]), self.tables)

    def entry_terms(self, pairs: Pairs) -> Floats:
        """The terms of facts and records that may have an item several times: those of the best entry."""
        return similarity_terms(self.release, pairs, self.tables)

    def _pairs(self, fact: Ints, record: Ints) -> Pairs:
        return Pairs(record, *(column[fact] for column in self.facts[1:]))

    def _facts_of_each(self, query: Ints) -> tuple[Ints, Ints]:
        """(pair, fact): every fact of each query, by the query's index."""
        counts = np.diff(self.facts.first)[query]
        return np.repeat(np.arange(len(query)), counts), _ranges(self.facts.first[query], counts)

    def scores_of(self, query: Ints, record: Ints) -> Floats:
        """The score of each record for the query of the same index; the bits of `scores`."""
        scores = np.zeros(len(query))
        if len(self.facts.item):
            scores = self._entry_scores(query, record)
        if self.cells is not None:
            arrays, needed = self.cells.arrays, np.diff(self.known.first)
            cell_scores(arrays, self.mode, needed, query, record, np.empty((arrays.share.shape[1] + 2, 1)), scores)
            return scores + self.cells.lowest[query]
        return scores if self.mode == MINIMUM else self.on_grid(scores, query)

    def _entry_scores(self, query: Ints, record: Ints) -> Floats:
        pair, fact, terms = self.pairs(query, record)
        parts = self.parts(query[pair], fact, record[pair], terms)
        return np.bincount(pair, parts, len(query)).astype(np.float64)

    def scores(self, q: int) -> Floats:
        """The scores of all records for query q; -∞ unless a record is a candidate."""
        if q not in self._kept_scores:
            scores = self._all_scores(q)
            if self.release.n_records * len(self) > KEPT_SCORES:
                return scores
            self._kept_scores[q] = scores
        return self._kept_scores[q].copy()

    def _all_scores(self, q: int) -> Floats:
        rows, part = self.rows(), whole(self.release)
        work = self.workspace(rows, part, keeps=True)
        self.walk(rows, part, SCORES, work, Summaries.empty(len(self)), q, q + 1)
        scores = work.scores[: self.release.n_records] + self.lowest[q]
        if self.grid[q] > 0 and self.cells is None:
            scores = self.on_grid(scores, q)
        is_candidate = self.is_candidate(q)
        return scores if is_candidate is None else np.where(is_candidate, scores, -np.inf)

    @cached_property
    def _kept_scores(self) -> dict[int, Floats]:
        """Scores of small releases, which verdicts ask for again."""
        return {}


def log2_up(x: NDArray[Any]) -> NDArray[np.int32]:
    """⌈log2 x⌉ of positive numbers, from their exponents: a rounded logarithm may be off by one."""
    mantissa, exponent = np.frexp(x)
    return np.asarray(exponent - (mantissa == 0.5))


def prefix_queries(queries: Queries, sizes: Sequence[int]) -> Queries:
    """Each query with only its first facts: one query for every size, sizes within queries."""
    known, n = queries.known, len(sizes)
    query = np.repeat(np.arange(len(queries)), n)
    wanted = np.minimum(np.tile(np.array(sizes, np.int64), len(queries)), np.diff(known.first)[query])
    starts = offsets(wanted)
    shorter = known.select(query, _ranges(known.first[query], wanted), starts)
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
    release: Release, known: KnownFacts, similarity: Similarity, weights: Weights, exclude: Ints
) -> Queries:
    """The queries, with the weights of the release without their excluded records."""
    tables = tabulate(release, known, similarity)
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
        prepare=partial(prepare_queries, release, similarity=similarity, weights=weights),
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


# The same queries with less known about each fact: what its item adds alone, and with its value.


class AttributeParts(NamedTuple):
    """What the item, the value and the date of each fact add to a score: they add up to the fact's part."""

    by_item: Floats
    by_value: Floats
    by_time: Floats


def attribute_parts(queries: Queries, q: int, record: int, parts: Floats) -> AttributeParts | None:
    """Split what each fact of a query adds to the score of a record; None if this cannot be asked.

    It cannot if a similarity function of a user's own fails for values or dates that are not known.

    An attribute adds the difference that it makes when it becomes known: first the item, then the value, then
    the date. Parts lie on the query's grid, so that differences are exact.
    """
    if queries.prepare is None:
        return None
    try:
        item = _parts(queries, q, record, "item", parts)
        value = _parts(queries, q, record, "value", parts)
    except ParameterError:
        return None
    return AttributeParts(item, value - item, parts - value)


def _parts(queries: Queries, q: int, record: int, known: str, parts: Floats) -> Floats:
    """What each fact would add if only its item, or only item and value, were known."""
    reduced = _reduced(queries, q, known)
    if reduced is None:
        return parts
    zero, position = np.zeros(1, np.int64), np.array([record])
    _, fact, terms = reduced.pairs(zero, position)
    added = reduced.parts(np.zeros(len(fact), np.int64), fact, np.full(len(fact), record), terms)
    return np.asarray(np.rint(added / queries.step[q]) * queries.step[q])


def _reduced(queries: Queries, q: int, known: str) -> Queries | None:
    """One query with less known; None if nothing is left out. It is kept with the queries."""
    kept = queries.kept_reduced
    if (q, known) not in kept:
        facts = np.arange(queries.known.first[q], queries.known.first[q + 1])
        kept[q, known] = _prepare(queries, q, facts, known)
    return kept[q, known]


def _prepare(queries: Queries, q: int, facts: Ints, known: str) -> Queries | None:
    assert queries.prepare is not None
    one = queries.known.select(np.array([q]), facts, np.array([0, len(facts)]))
    has_values, has_times = (one.value >= 0).any() and known == "item", one.timed.any()
    if not (has_values or has_times):
        return None
    value = np.full(len(facts), -1) if known == "item" else one.value
    less = replace(one, value=value, timed=np.zeros(len(facts), np.bool_))
    return queries.prepare(known=less, exclude=queries.exclude[[q]])
