"""The outcome of every attack: the verdicts on known targets, compared with the right record."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from standout.attack.any_attack import AnyAttack
from standout.attack.pairs import EntryRanges, distinct_ranges, entry_ranges, has_item
from standout.attack.queries import Queries, prepare_queries
from standout.attack.verdict_columns import VerdictColumns
from standout.attack.verdicts import Verdicts
from standout.core import elementary
from standout.core.arrays import Floats, Ints, offsets, run_starts, slices_of
from standout.core.errors import StoreError
from standout.core.jit import Array, Flag, kernel
from standout.data.release import INVALID_CODE, Release
from standout.data.repeats import distinct_entries
from standout.evaluate.lineup_sizes import MASSES, lineup_sizes
from standout.evaluate.targets import Population
from standout.know.facts import KnownFacts, facts_from_entries
from standout.know.lookup_tables import time_similarity
from standout.know.similarity import Similarity

__all__ = [
    "MASSES",
    "Criteria",
    "Outcomes",
    "RevealedItems",
    "attack_outcomes",
    "fact_similarities",
    "full_queries",
    "highest_by_item",
    "highest_of_each",
    "no_facts",
    "pair_similarities",
    "record_scores",
    "revealed_items",
]

# The most similar entries of people and records about each item, where entries repeat: compiled.


NO_CODES = np.empty(0, np.uint8)


class _Entries(NamedTuple):
    """Codes of entries by record, empty if the release has none."""

    value: Array
    time: Array
    n_levels: int
    span: int


class _Facts(NamedTuple):
    """Facts, and the tables of their similarity; no Sim is above `most`."""

    shape: Ints
    time: Ints
    a: Floats
    b: Floats
    off: Ints
    c: Floats
    terms: Ints
    most: float


def highest_by_item(queries: Queries, query: Ints, record: Ints) -> tuple[Ints, Floats]:
    """The highest Sim of a fact and an entry for each pair of a query and a record, and each item.

    Facts of one item follow one another. Returns pair · n_items + item in the order of the facts, and
    Sim; -1 if the record lacks the item.
    """
    release, facts = queries.release, queries.facts
    of_query = np.repeat(np.arange(len(queries)), np.diff(facts.first))
    begin = run_starts(of_query * release.n_items + facts.item)
    group_of_query = np.searchsorted(begin, facts.first)  # groups of one item's facts
    counts = np.diff(group_of_query)[query]
    ends = offsets(counts)
    group = np.arange(ends[-1]) + np.repeat(group_of_query[query] - ends[:-1], counts)
    pair = np.repeat(np.arange(len(query)), counts)
    item, find = facts.item[begin][group], distinct_ranges if release.has_repeats else entry_ranges
    by_record = distinct_entries(release).entries if release.has_repeats else release.by_record
    value, time = (NO_CODES if column is None else column for column in by_record[2:])
    tables, highest = queries.tables, np.full(len(group), -1.0)
    a, b, c, terms = tables.a, tables.b, tables.c, tables.terms
    most = (np.maximum(a, 0.0).max(axis=1) + np.maximum(b, 0.0).max(axis=1) * max(c.max(), 0.0)) / terms
    is_valid = _highest(
        _Entries(value, time, release.n_levels, release.span),
        find(release, record[pair], item),
        _Facts(facts.shape, facts.time, a, b, tables.off, c, terms, float(most.max())),
        begin[group],
        np.append(begin, len(facts.item))[group + 1],
        highest,
    )
    if not is_valid:
        raise StoreError(INVALID_CODE)
    return pair * release.n_items + item, highest


@kernel
def _highest(entries: _Entries, ranges: EntryRanges, facts: _Facts, begin: Array, end: Array, highest: Array) -> Flag:
    """highest[i] = the highest Sim of facts begin[i] … end[i] - 1 and the i-th entries, if there are any.

    Returns whether every code is valid.
    """
    value, time, n_levels, span = entries
    shape, known, a, b, off, c, terms, most = facts
    for i in range(len(highest)):
        best = highest[i]
        for at in range(ranges.first[i], ranges.first[i] + ranges.number[i]):
            kind = np.int64(value[at]) if len(value) else n_levels
            moment = np.int64(time[at]) if len(time) else 0
            if kind > n_levels or moment > span:
                return False
            if span and moment == span:
                kind, moment = kind + n_levels + 1, 0
            for fact in range(begin[i], end[i]):
                u = shape[fact]
                fixed, timed = (
                    a[u, kind],
                    b[u, kind] * time_similarity(c, np.uint64(off[u, kind] + moment - known[fact])),
                )
                sim = (max(fixed, 0.0) + max(timed, 0.0)) / terms[u]
                best = max(best, sim)
            if best >= most:
                break
        highest[i] = best
    return True


# Pairs of a person and a record: their similarity, and what the record reveals about the person.
#
# People are indices of records of the original, see `Population`. An item that a person or a record has
# several times counts once, with the pair of entries that is most similar:
#
#     Sim(r, r′) = Σ over shared items of max Sim(entry of r, entry of r′) / |supp(r) ∪ supp(r′)|


ENTRIES_AT_ONCE = 1 << 21


class RevealedItems(NamedTuple):
    """What each guess reveals about its target beyond the known facts.

    similarity    Sim(target, guess)
    revealed      number of distinct items of the guess that no known fact names
    correct       number of these that the target has as well, each weighted by its similarity

    The target is as in the original, in codes of the release; items that the release lacks are part of it.
    """

    similarity: Floats
    revealed: Ints
    correct: Floats


def pair_similarities(release: Release, target: Ints, guess: Ints, similarity: Similarity) -> Floats:
    """Sim(r, r′) = Σ max Sim(r_i, r′_i) / |supp(r) ∪ supp(r′)| of each pair  [section 2]."""
    return revealed_items(release, target, guess, no_facts(release, len(target)), similarity).similarity


def no_facts(release: Release, count: int) -> KnownFacts:
    """No known facts about `count` people."""
    return facts_from_entries(release, np.empty(0, np.int64), np.zeros(count + 1, np.int64))


def revealed_items(
    release: Release, target: Ints, guess: Ints, known: KnownFacts, similarity: Similarity
) -> RevealedItems:
    """What each guess reveals about its target, given the facts that are known about each target."""
    population = Population.of(release)
    parts = [
        _revealed_items(population, target[pairs], guess[pairs], _part(known, pairs), similarity)
        for pairs in slices_of(population.original.lengths[target], ENTRIES_AT_ONCE)
    ]
    if not parts:
        return RevealedItems(np.empty(0), np.empty(0, np.int64), np.empty(0))
    return RevealedItems(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _revealed_items(
    population: Population, target: Ints, guess: Ints, known: KnownFacts, similarity: Similarity
) -> RevealedItems:
    n, release = len(target), population.release
    target_items, guess_items = population.original.distinct_items[target], release.distinct_items[guess]
    pair, item, sim = _shared_items(population, target, guess, similarity)
    n_shared = np.bincount(pair, sim >= 0, n)
    total = np.bincount(pair, np.maximum(sim, 0.0), n)
    known_pair_item = _pair_items(known, release.n_items)
    known_pair, known_item = np.divmod(known_pair_item, release.n_items)
    in_guess = has_item(release, guess[known_pair], known_item)
    revealed = guess_items - np.bincount(known_pair, in_guess, n).astype(np.int64)
    is_new = ~np.isin(pair * release.n_items + item, known_pair_item)
    correct = np.bincount(pair, np.maximum(sim, 0.0) * is_new, n).astype(np.float64)
    return RevealedItems(total / (target_items + guess_items - n_shared), revealed, correct)


def _shared_items(
    population: Population, target: Ints, guess: Ints, similarity: Similarity
) -> tuple[Ints, Ints, Floats]:
    """(pair, item, Sim) for each item of each pair's target; Sim is -1 if the guess lacks the item.

    A pair that occurs several times is compared once: more facts often lead to the same guess.
    """
    n_records, n_items = population.release.n_records, population.release.n_items
    different, number = np.unique(target * n_records + guess, return_inverse=True)
    people, query = np.unique(different // n_records, return_inverse=True)
    queries = full_queries(population, people, similarity)
    if population.original.has_repeats:
        pair_item, sim = highest_by_item(queries, query, different % n_records)
        if (np.diff(pair_item) <= 0).any():  # a sanitized release may have other codes
            pair_item, sim = highest_of_each(pair_item, sim)
        pair, item = np.divmod(pair_item, n_items)
    else:
        pair, fact, sim = fact_similarities(queries, query, different % n_records)
        item = queries.facts.item[fact]
    first = np.searchsorted(pair, np.arange(len(different) + 1))
    counts = np.diff(first)[number]
    ends = offsets(counts)
    row = np.arange(ends[-1]) + np.repeat(first[number] - ends[:-1], counts)
    return np.repeat(np.arange(len(target)), counts), item[row], sim[row]


def highest_of_each(group: Ints, number: Floats) -> tuple[Ints, Floats]:
    """The distinct groups in ascending order, and the highest number of each."""
    groups, index = np.unique(group, return_inverse=True)
    highest = np.full(len(groups), -1.0)
    np.maximum.at(highest, index, number)
    return groups, highest


def _pair_items(known: KnownFacts, n_items: int) -> Ints:
    """The distinct items that facts name, as person · n_items + item."""
    named = known.item >= 0
    person = np.repeat(np.arange(len(known)), np.diff(known.first))
    return np.unique(person[named] * n_items + known.item[named])


def fact_similarities(queries: Queries, query: Ints, record: Ints) -> tuple[Ints, Ints, Floats]:
    """(pair, fact, Sim of the fact and the record's best entry); Sim is -1 if the record lacks the item."""
    pair, fact, terms = queries.best_pairs(query, record)
    share = np.fmax(terms, 0.0).sum(axis=0) / queries.tables.terms[queries.facts.shape[fact]]
    return pair, fact, np.where(np.isnan(terms[0]), -1.0, share)


def full_queries(population: Population, targets: Ints, similarity: Similarity) -> Queries:
    """Queries with everything that is true of these people as known facts."""
    known = population.all_facts(targets)
    return prepare_queries(population.release, known, similarity, "one", np.full(len(targets), -1))


def _part(known: KnownFacts, people: slice) -> KnownFacts:
    """The facts about consecutive people."""
    first = known.first[people.start : people.stop + 1]
    facts = np.arange(first[0], first[-1])
    return known.select(np.arange(people.start, people.stop), facts, first - first[0])


NO_RECORD = -np.inf
"""Instead of a score where no record represents the target."""
MAX_TIED_GUESSES = 20
"""In a larger tie, what the guesses reveal is averaged over this many of them."""
MANY_SIMILAR = 4
"""If more than one in so many records is similar to a target, all records are scored."""


class Criteria(NamedTuple):
    """What every attack is judged by.

    top           length of the lineup
    theta         minimum similarity to count a wrong record as similar to the target
    similarity    the similarity that `theta` refers to
    absent        whether to attack also with the target's record removed
    """

    top: int
    theta: float
    similarity: Similarity
    absent: bool


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Outcomes by target, draw and number of facts.

    A target is a person. In a sanitized release, the right record is the one that represents the person, and
    similarity is to the person's record in the original. If no record represents the target, no guess is
    right.

    identified            probability that the best guess is the right record: 1/t in a tie of t, otherwise 0
    in_top                probability that the right record is among the first `top`; ties in random order
    similar               probability that the best guess is at least θ similar to the target  [Definition 2]
    claim_strength        eccentricity of the best guess, or −log10(1 − posterior) for `Likelihood`; NO_CLAIM
                          if no claim is possible; a claim if it is ≥ φ
    bits_left             −log2 Π(right record)  [Definition 4]; log2 N if no record represents the target
    similar_bits_left     the smallest −log2 Π of a record at least θ similar to the target; log2 N if none is
    best_probability      Π of the best guess
    candidates            N, the number of records that the facts about length and first date do not exclude
    revealed              number of items of the best guess that were not known
    revealed_correct      number of these that the target has as well, each weighted by its similarity
    lineup_50             number of most probable records that hold 50 % of the probability; NaN except in the
                          first draw of some targets
    lineup_90             the same for 90 %
    lineup_99             the same for 99 %
    absent_claim_strength `claim_strength` with the target's record removed; NaN if that was not asked for
    anybody               P(facts) / P(facts | best guess); NaN if the attack does not say
    absent_probability    `best_probability` and `anybody` with the target's record removed
    absent_anybody

    Measures that do not exist for a kind of release are NaN.
    """

    identified: Floats
    in_top: Floats
    similar: Floats
    claim_strength: Floats
    bits_left: Floats
    similar_bits_left: Floats
    best_probability: Floats
    candidates: Floats
    revealed: Floats
    revealed_correct: Floats
    lineup_50: Floats
    lineup_90: Floats
    lineup_99: Floats
    absent_claim_strength: Floats
    anybody: Floats
    absent_probability: Floats
    absent_anybody: Floats

    def __len__(self) -> int:
        return len(self.identified)

    @classmethod
    def concatenate(cls, parts: "Sequence[Outcomes]") -> "Outcomes":
        """The outcomes of several groups of targets as one."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    def slice(self, low: int, high: int) -> "Outcomes":
        """The outcomes of targets low … high - 1."""
        return Outcomes(*(getattr(self, field.name)[low:high] for field in fields(Outcomes)))

    def for_size(self, index: int) -> "Outcomes":
        """The outcomes for one number of facts, given by its index; by target and draw."""
        return Outcomes(*(getattr(self, field.name)[:, :, index] for field in fields(Outcomes)))


def attack_outcomes(
    attack: AnyAttack,
    release: Release,
    known: KnownFacts,
    targets: Ints,
    sizes: Sequence[int],
    criteria: Criteria,
    similar_records: Mapping[int, Ints],
    lineups: int = 0,
    threads: int | None = None,
) -> Outcomes:
    """The outcomes of attacks on these targets, each with a given number of known facts.

    `known` has the same number of draws for each target, in codes of the release. `similar_records` maps
    a target to the records at least θ similar to it, without its own. Lineup sizes are computed for the first
    `lineups` targets only, because they need all scores.
    """
    draws, population = len(known) // max(len(targets), 1), Population.of(release)
    verdicts = attack.nested(release, known, sizes, top=max(criteria.top, 2), threads=threads)
    target, right_record = np.repeat(targets, draws * len(sizes)), population.record_of(targets)
    columns, n = verdicts.columns, release.n_records
    score = record_scores(verdicts, np.repeat(right_record, draws * len(sizes)))
    own_score = np.full(len(score), NO_RECORD) if population.is_sanitized else score
    similar = _similar_guesses(verdicts, target, own_score, similar_records)
    revealed = _revealed_by_guesses(release, verdicts, _Guesses.of(columns, target), criteria)
    lineup_50, lineup_90, lineup_99 = lineup_sizes(verdicts, lineups, len(sizes), draws, threads)
    absent = np.full(len(score), np.nan)
    if criteria.absent:
        by_posterior = verdicts.queries.is_sized  # an eccentricity needs no probabilities
        without = attack.nested(
            release, known, sizes, exclude=np.repeat(right_record, draws), with_z=by_posterior, threads=threads
        )
        absent = without.claim_strengths()
    by_query = Outcomes(
        identified=(score == columns.highest) / np.maximum(columns.ties, 1),
        in_top=_in_top(verdicts, score, criteria.top),
        similar=similar.probability,
        claim_strength=verdicts.claim_strengths(),
        bits_left=_bits_left(verdicts, score, n),
        similar_bits_left=_bits_left(verdicts, similar.highest, n),
        best_probability=elementary.exp2(-_bits_left(verdicts, columns.highest, n)),
        candidates=columns.candidates.astype(np.float64),
        revealed=revealed.items,
        revealed_correct=revealed.correct,
        lineup_50=lineup_50,
        lineup_90=lineup_90,
        lineup_99=lineup_99,
        absent_claim_strength=absent,
        **dict.fromkeys(("anybody", "absent_probability", "absent_anybody"), np.full(len(score), np.nan)),
    )
    shape = len(targets), draws, len(sizes)
    return Outcomes(*(getattr(by_query, field.name).reshape(shape) for field in fields(Outcomes)))


def record_scores(verdicts: Verdicts, records: Ints) -> Floats:
    """The score of one record in each query; NO_RECORD where the record is -1 or not a candidate."""
    query, record = np.arange(len(records)), np.maximum(records, 0)
    is_candidate = (records >= 0) & verdicts.queries.are_candidates(query, record)
    return np.where(is_candidate, verdicts.queries.scores_of(query, record), NO_RECORD)


def _bits_left(verdicts: Verdicts, score: Floats, n: int) -> Floats:
    """−log2 Π of a candidate with this score, for each query.

    In Algorithm 1A it is log2 |D′| for a record that matches. For any other, the adversary can only guess.
    """
    if verdicts.alpha is None:
        return _bits(verdicts.columns, score, n)
    matching = np.where(score >= verdicts.alpha, verdicts.columns.z, 0.0)
    return elementary.log2(np.where(matching > 0, matching, n))


def _bits(columns: VerdictColumns, score: Floats, n: int) -> Floats:
    """−log2 Π of a candidate with this score, for each query.

    log2 of the number of candidates if all scores are equal; log2 of all n records for NO_RECORD.
    """
    has_spread = (columns.scale > 0) & (columns.z > 0)  # z is not computed if all scores are equal
    scale, z = np.where(has_spread, columns.scale, 1.0), np.where(has_spread, columns.z, 1.0)
    bits = ((columns.highest - score) / scale + elementary.log(z)) / math.log(2)
    bits = np.where(has_spread, bits, elementary.log2(np.maximum(columns.candidates, 1)))
    return np.where(score == NO_RECORD, math.log2(n), bits)


def _in_top(verdicts: Verdicts, score: Floats, top: int) -> Floats:
    """The probability that a record with this score is among the first `top`, with ties in random order."""
    columns, n_listed = verdicts.columns, np.diff(verdicts.columns.first)
    query, n = np.repeat(np.arange(len(score)), n_listed), len(score)
    higher = np.bincount(query, columns.score > score[query], n)
    equal = np.bincount(query, columns.score == score[query], n)
    equal = np.where(score > 0, equal, columns.candidates - n_listed)
    last = columns.score[np.maximum(columns.first[1:] - 1, 0)] if len(columns.score) else np.zeros(n)
    cut_off = (n_listed >= max(top, 2)) & (last == score) & (0 < score) & (score < columns.highest)
    for q in np.flatnonzero(cut_off & (higher < top)):  # more records than those listed may be equal
        equal[q] = np.count_nonzero(verdicts[int(q)].scores == score[q])
    return np.where(score == NO_RECORD, 0.0, np.clip((top - higher) / np.maximum(equal, 1), 0.0, 1.0))


class _Guesses(NamedTuple):
    """The records that tie for the best in each query, or some of them in a large tie."""

    query: Ints
    target: Ints
    record: Ints
    share: Floats

    @classmethod
    def of(cls, columns: VerdictColumns, target: Ints) -> "_Guesses":
        """Up to MAX_TIED_GUESSES guesses per query, evenly spread over the tie."""
        ties = np.where(columns.highest > 0, columns.ties, 0)
        chosen = np.minimum(ties, MAX_TIED_GUESSES)
        query = np.repeat(np.arange(len(target)), chosen)
        number = np.arange(len(query)) - np.repeat(np.cumsum(chosen) - chosen, chosen)
        position = (2 * number + 1) * ties[query] // (2 * np.maximum(chosen, 1)[query])
        share = 1.0 / np.maximum(chosen, 1)[query]
        return cls(query, target[query], columns.record[columns.first[query] + position], share)


class _Revealed(NamedTuple):
    items: Floats
    correct: Floats


def _revealed_by_guesses(release: Release, verdicts: Verdicts, guesses: _Guesses, criteria: Criteria) -> _Revealed:
    """What the best guess of each query reveals, averaged over ties; nothing if all scores are 0."""
    n, known = len(verdicts), verdicts.queries.known
    first, counts = known.first[guesses.query], np.diff(known.first)[guesses.query]
    ends = offsets(counts)
    fact = np.arange(ends[-1]) + np.repeat(first - ends[:-1], counts)
    known_of_guess = known.select(guesses.query, fact, ends)
    items = revealed_items(release, guesses.target, guesses.record, known_of_guess, criteria.similarity)
    return _Revealed(
        np.bincount(guesses.query, items.revealed * guesses.share, n).astype(np.float64),
        np.bincount(guesses.query, items.correct * guesses.share, n).astype(np.float64),
    )


class _SimilarGuesses(NamedTuple):
    probability: Floats
    highest: Floats


def _similar_guesses(
    verdicts: Verdicts, target: Ints, own_score: Floats, similar_records: Mapping[int, Ints]
) -> _SimilarGuesses:
    """The probability that the best guess is similar to the target, and the highest similar score, by query.

    The target's own record counts as similar, with the score `own_score`, unless that is NO_RECORD.
    """
    columns, queries = verdicts.columns, verdicts.queries
    n_similar, highest = (own_score == columns.highest).astype(np.float64), own_score.copy()
    for person, records in similar_records.items():
        queries_of_person = np.flatnonzero(target == person)
        query, record = np.repeat(queries_of_person, len(records)), np.tile(records, len(queries_of_person))
        is_candidate = queries.are_candidates(query, record)
        query, scores = query[is_candidate], _scores_of(queries, query[is_candidate], record[is_candidate])
        np.maximum.at(highest, query, scores)
        np.add.at(n_similar, query, scores == columns.highest[query])
    return _SimilarGuesses(np.minimum(n_similar / np.maximum(columns.ties, 1), 1.0), highest)


def _scores_of(queries: Queries, query: Ints, record: Ints) -> Floats:
    """The score of each record for the query of the same index; both ways give the same bits.

    Where many records are similar to a target and entries repeat, the scores of all records are cheaper:
    queries with some of the same facts share the work.
    """
    release = queries.release
    if not release.has_repeats or len(query) * MANY_SIMILAR < release.n_records * len(np.unique(query)):
        return queries.scores_of(query, record)
    scores = np.empty(len(query))
    for q in np.unique(query).tolist():
        scores[query == q] = queries.scores(q)[record[query == q]]
    return scores
