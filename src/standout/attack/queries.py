"""Known facts, prepared for the kernels: facts that name items of the release, weights, tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from standout.attack.fact_kernels import (
    FactRows,
    Pairs,
    PartScores,
    add_weighted_fact,
    first_times,
    has_item,
    similarities,
)
from standout.attack.query_arrays import NO_LIKELIHOODS, CandidateFilter, QueryFacts, RecordSizes, ScoreRule
from standout.core import elementary
from standout.core.arrays import Floats, Ints, offsets, run_starts
from standout.core.errors import NotFoundError, ParameterError
from standout.core.parts import Part
from standout.data.block_ranges import record_range, whole
from standout.data.labels import position_of_id
from standout.data.postings import unpack_item
from standout.data.release import Release
from standout.know.facts import ANY_TIME, KnownFacts
from standout.know.lookup_tables import KernelTables, Tables, tabulate
from standout.know.similarity import Similarity, call_user_code, check_numbers

__all__ = [
    "AttributeParts",
    "Queries",
    "Weights",
    "attribute_parts",
    "excluded_records",
    "log2_up",
    "prefix_queries",
    "prepare_queries",
    "weight_function",
]

Weights = Literal["rarity", "one", "inverse"] | Callable[[Ints], Any]
NOBODY, NO_NUMBERS = np.empty(0, np.int32), np.empty(0, np.float32)
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


@dataclass(frozen=True, eq=False)
class Queries:
    """Many queries against one release.

    `known` has all facts. `facts` has those that name items of the release, with their weights; `origin` is
    their position in `known`. `exclude` is the record that each query leaves out, or -1. `prepare` makes
    queries of the same kind, given other `known` and `exclude`.
    """

    release: Release
    known: KnownFacts
    origin: Ints
    facts: QueryFacts
    weight: Floats
    tables: Tables
    exclude: Ints
    prepare: Callable[..., "Queries"] | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(self.known)

    @cached_property
    def step(self) -> Floats:
        """The grid on which the parts of a query's scores lie: multiples of it add up exactly, in any order.

        It is a power of two, at most about 2^-47 of the highest possible score, so hardly more precision is
        lost than in any sum in double precision. It depends only on the query's facts, not on their order.
        """
        counts = np.diff(self.facts.first)
        most = np.zeros(len(self))
        peak = self.weight * self.tables.peaks(self.facts.shape, self.facts.time, self.release.span)
        np.maximum.at(most, np.repeat(np.arange(len(self)), counts), peak)
        bits = log2_up(np.where(most > 0, most, 1.0)) + log2_up(np.maximum(counts, 1))
        return np.asarray(np.ldexp(1.0, np.maximum(bits - 47, -1000)))

    @cached_property
    def kernel_tables(self) -> KernelTables:
        """The tables in single precision."""
        return self.tables.kernel_tables(lookups=int(self.release.item_entries[self.facts.item].sum()))

    @cached_property
    def rule(self) -> ScoreRule:
        """How kernels form the parts of scores, and probabilities."""
        sizes = RecordSizes(np.empty(0, np.uint16), NO_NUMBERS)
        return ScoreRule(False, NO_NUMBERS, NO_NUMBERS, sizes, 0.0, NO_LIKELIHOODS)

    def detached(self) -> "Queries":
        """The same queries without their release, to be sent to a worker that has it open."""
        return replace(self, release=cast(Release, None), prepare=None)

    def attached(self, release: Release) -> "Queries":
        """Detached queries with their release."""
        return replace(self, release=release)

    def nobody(self, candidates: Ints) -> Floats:
        """Score, by query, of the case that the target is not in the release: −∞, as it is ruled out."""
        return np.full(len(candidates), -np.inf)

    def take_facts(self, query: Ints, fact: Ints, first: Ints) -> dict[str, Any]:
        """Fields of other queries: number p has the facts fact[first[p]:first[p + 1]] of query[p]."""
        _, item, weight, shape, time = self.facts
        facts = QueryFacts(first, item[fact], weight[fact], shape[fact], time[fact])
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
        return self.candidates_in(q, range(self.release.n_records))

    def candidates_in(self, q: int, records: range) -> NDArray[np.bool_]:
        """Which records of a range are candidates of query q."""
        is_candidate, within = np.ones(len(records), np.bool_), slice(records.start, records.stop)
        if self.known.filtered:
            (shortest, longest), (earliest, latest) = self.known.length[q], self.known.joined[q]
            length, since = self.candidates.lengths[within], self.candidates.begins[within]
            is_candidate = (length >= shortest) & (length <= longest)
            if (earliest, latest) != ANY_TIME:
                is_candidate &= (since < 0) | ((since >= earliest) & (since <= latest))
        if int(self.exclude[q]) in records:
            is_candidate[self.exclude[q] - records.start] = False
        return np.asarray(is_candidate)

    def are_candidates(self, query: Ints, record: Ints) -> NDArray[np.bool_]:
        """Whether each record is a candidate of the query of the same index."""
        known, is_candidate = self.known, record != self.exclude[query]
        if known.filtered:
            length, since = self.candidates.lengths[record], self.candidates.begins[record]
            is_candidate &= (length >= known.length[query, 0]) & (length <= known.length[query, 1])
            is_early_enough, is_late_enough = since <= known.joined[query, 1], since >= known.joined[query, 0]
            is_candidate &= (since < 0) | (is_late_enough & is_early_enough)
        return np.asarray(is_candidate)

    def count_candidates(self, q: int, part: Part | None = None) -> int:
        """Number of candidates of query q, in the whole release or in a part."""
        records = record_range(self.release, whole(self.release) if part is None else part)
        if not self.known.filtered:
            return len(records) - (int(self.exclude[q]) in records)
        return int(np.count_nonzero(self.candidates_in(q, records)))

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

    def on_grid(self, parts: Floats, q: int) -> Floats:
        """Parts of other queries on the grid of query q, on which their differences are exact."""
        return np.asarray(np.rint(parts / self.step[q]) * self.step[q])

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
        return pair, fact, similarities(self.release, self._pairs(fact, record[pair]), self.tables)

    def entry_terms(self, pairs: Pairs) -> Floats:
        """The terms of facts and records that may have an item several times: those of the best entry.

        Sim of a fact is the maximum over a record's entries of the item.
        """
        return similarities(self.release, pairs, self.tables)

    def _pairs(self, fact: Ints, record: Ints) -> Pairs:
        _, item, _, shape, time = self.facts
        return Pairs(record, item[fact], shape[fact], time[fact])

    def _facts_of_each(self, query: Ints) -> tuple[Ints, Ints]:
        """(pair, fact): every fact of each query, by the query's index."""
        counts = np.diff(self.facts.first)[query]
        return np.repeat(np.arange(len(query)), counts), _ranges(self.facts.first[query], counts)

    def scores_of(self, query: Ints, record: Ints) -> Floats:
        """The score of each record for the query of the same index."""
        pair, fact, terms = self.pairs(query, record)
        parts = self.parts(query[pair], fact, record[pair], terms)
        return np.bincount(pair, parts, len(query)).astype(np.float64)

    def scores(self, q: int) -> Floats:
        """The scores of all records for query q in double precision; -∞ unless a record is a candidate."""
        if q not in self._kept_scores:
            scores = self.part_scores(q, whole(self.release))
            if self.release.n_records * len(self) > KEPT_SCORES:
                return scores
            self._kept_scores[q] = scores
        return self._kept_scores[q].copy()

    @cached_property
    def _kept_scores(self) -> dict[int, Floats]:
        """Scores of small releases, which verdicts ask for again."""
        return {}

    def part_scores(self, q: int, part: Part) -> Floats:
        """The same for the records of a part."""
        records = record_range(self.release, part)
        scores = PartScores(part, np.zeros(len(records)))
        for fact in range(*self.facts_of(q).indices(len(self.weight))):
            self._add_fact(scores, q, fact)
        if self.known.filtered:
            scores.scores[~self.candidates_in(q, records)] = -np.inf
        elif int(self.exclude[q]) in records:
            scores.scores[self.exclude[q] - records.start] = -np.inf
        return scores.scores

    def _add_fact(self, scores: PartScores, q: int, fact: int) -> None:
        """Add what a fact adds to the scores of all records of a part."""
        if self.release.has_repeats:
            records, terms = self._terms_of_records(fact, scores.part)
            same, query = np.full(len(records), fact), np.full(len(records), q)
            first = record_range(self.release, scores.part).start
            scores.scores[records - first] += self.parts(query, same, records, terms)
        else:
            _, item, _, shape, time = self.facts
            rows = FactRows.of(self.tables, int(item[fact]), int(shape[fact]), int(time[fact]))
            self.add_single_fact(scores, fact, rows, float(self.step[q]))

    def add_single_fact(self, scores: PartScores, fact: int, rows: FactRows, step: float) -> None:
        """The same where no record has an item several times."""
        add_weighted_fact(self.release, rows, self.tables.c, float(self.weight[fact]), step, scores)

    def _terms_of_records(self, fact: int, part: Part) -> tuple[Ints, Floats]:
        """Records of a part that have a fact's item, perhaps also others, and their terms."""
        release, item = self.release, int(self.facts.item[fact])
        shape, time, kept = int(self.facts.shape[fact]), int(self.facts.time[fact]), self._kept_terms
        key, within = (item, shape, time, part), record_range(release, part)
        found = kept.get(key)  # another thread may empty `kept`
        if found is None:
            if release.item_entries[item] > release.n_records:
                records = np.arange(within.start, within.stop)  # a record without the item adds 0
            else:
                records = unpack_item(release.by_item, item, release.n_levels, release.span)[0]
                records = records[run_starts(records)]
                records = records[(records >= within.start) & (records < within.stop)]
            if len(kept) * release.n_records > KEPT_SCORES:
                kept.clear()
            found = records, self.entry_terms(self._pairs(np.full(len(records), fact), records))
            kept[key] = found
        return found

    @cached_property
    def _kept_terms(self) -> dict[tuple[int, int, int, Part], tuple[Ints, Floats]]:
        """Records and terms by item, shape, time and part: queries with more of the same facts ask again."""
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
    facts = QueryFacts(first, item, weight.astype(np.float32), tables.shape[origin], tables.time[origin])
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
    return queries.on_grid(added, q)


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
