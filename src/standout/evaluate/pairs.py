"""Pairs of a person and a record: how alike they are, and what the record reveals of the person.

People are targets by their places in the truth: in the release, or in the original that it was made from.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from standout.attack.kernels.block_scores import BLOCK, U
from standout.attack.kernels.record_scores import has_item
from standout.attack.queries import Queries, prepare_queries
from standout.core.arrays import Floats, Ints
from standout.core.jit import Array, kernel
from standout.core.progress import no_progress
from standout.core.threads import thread_count
from standout.evaluate.population import Population
from standout.facts import KnownFacts, facts_from_entries
from standout.neighbours.nearest import rule_of, search
from standout.release.model import Release
from standout.release.postings import Postings
from standout.similarity.attributes import Equal, Present, Similarity, Within

__all__ = [
    "RevealedItems",
    "SimilarRecords",
    "fact_similarities",
    "no_facts",
    "pair_similarities",
    "revealed_items",
    "similarities_to_all",
]

AT_ONCE = 1 << 21
"""Entries that are compared in one go."""
AHEAD = 1024
"""So many are asked about at a time."""
LARGE = 1 << 22
"""A release of more entries is not compared with every target as a whole."""


class RevealedItems(NamedTuple):
    """What taking `guess` for `target` says of the target beyond what was known already, pair by pair.

    `similarity` is Sim(target, guess), `beyond` how many items the guess has that are in no fact, `right` how
    many of those the target has as well, each counted by how similar its attribute is. The target is as the
    truth has it, in the terms of the release: what was left out of the release is part of it.
    """

    similarity: Floats
    beyond: Ints
    right: Floats


def pair_similarities(release: Release, target: Ints, guess: Ints, similarity: Similarity) -> Floats:
    """Sim(r, r′) = Σ Sim(r_i, r′_i) / |supp(r) ∪ supp(r′)| of each pair  [section 2]."""
    return revealed_items(release, target, guess, no_facts(release, len(target)), similarity).similarity


def no_facts(release: Release, count: int) -> KnownFacts:
    """Nothing known of so many people."""
    return facts_from_entries(release, np.empty(0, np.int64), np.zeros(count + 1, np.int64))


def revealed_items(
    release: Release, target: Ints, guess: Ints, known: KnownFacts, similarity: Similarity
) -> RevealedItems:
    """What each guess reveals of the target beside it, of whom `known` says what was known."""
    people = Population.of(release)
    found = [
        _revealed(people, target[here], guess[here], _part(known, here), similarity)
        for here in _slices(people.original.lengths[target])
    ]
    if not found:
        return RevealedItems(np.empty(0), np.empty(0, np.int64), np.empty(0))
    return RevealedItems(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _revealed(
    people: Population, target: Ints, guess: Ints, known: KnownFacts, similarity: Similarity
) -> RevealedItems:
    n, release = len(target), people.release
    own, theirs = people.original.lengths[target], release.lengths[guess]
    queries = _whole(people, target, similarity)
    pair, fact, alike = fact_similarities(queries, np.arange(n), guess)
    shared = np.bincount(pair, alike >= 0, n)
    total = np.bincount(pair, np.maximum(alike, 0.0), n)
    told = np.repeat(np.arange(n), np.diff(known.first))
    named = known.item >= 0
    in_guess = np.zeros(len(told), np.bool_)
    in_guess[named] = has_item(release, guess[told[named]], known.item[named])
    beyond = theirs - np.bincount(told, in_guess, n).astype(np.int64)
    new = ~np.isin(
        pair * release.n_items + queries.facts.item[fact], told[named] * release.n_items + known.item[named]
    )
    right = np.bincount(pair, np.maximum(alike, 0.0) * new, n).astype(np.float64)
    return RevealedItems(total / (own + theirs - shared), beyond, right)


@dataclass
class SimilarRecords:
    """Who may have another record at least θ similar to them: in a large release that is asked first, of many
    at a time, because hardly anybody has. In a release that was made from another no record is their own."""

    release: Release
    similarity: Similarity
    theta: float
    threads: int | None = None
    able: dict[int, bool] = field(default_factory=dict)

    def near(self, places: Ints, low: int, high: int) -> dict[int, Ints]:
        """The records at least θ similar to the people places[low:high], but for their own; those who have
        none are left out."""
        if not all(place in self.able for place in places[low:high].tolist()):
            self.able = self._asked(places[low : max(high, low + AHEAD)])
        found, changed = {}, Population.of(self.release).is_sanitized
        for record in places[low:high].tolist():
            if self.able[record]:
                alike = similarities_to_all(self.release, record, self.similarity) >= self.theta
                if not changed:
                    alike[record] = False
                if alike.any():
                    found[record] = np.flatnonzero(alike)
        return found

    def _asked(self, places: Ints) -> dict[int, bool]:
        known = (
            type(self.similarity) in (Present, Within, Equal) and not Population.of(self.release).is_sanitized
        )
        if self.release.n_entries <= LARGE or not known:
            return dict.fromkeys(places.tolist(), True)
        order, rule = np.sort(places), rule_of(self.release, self.similarity)
        best = search(self.release, rule, order, False, thread_count(self.threads), no_progress)
        return dict(zip(order.tolist(), (best.similar / best.union >= self.theta).tolist(), strict=True))


def similarities_to_all(release: Release, target: int, similarity: Similarity) -> Floats:
    """Sim(r, r′) of one person's history r and every record r′ of the release."""
    people = Population.of(release)
    queries = _whole(people, np.array([target]), similarity)
    total, shared = np.zeros(release.n_records), np.zeros(release.n_records, np.int64)
    made, facts = queries.tables, queries.facts
    _add_up(
        release.by_item, facts.item, facts.shape, facts.time, made.a, made.b, made.off, made.c,
        made.terms[facts.shape], total, shared,
    )  # fmt: skip
    return np.asarray(total / (people.original.lengths[target] + release.lengths - shared))


@kernel
def _add_up(
    postings: Postings, item: Array, shape: Array, known: Array, a: Array, b: Array, off: Array, c: Array,
    terms: Array, total: Array, shared: Array,
) -> None:  # fmt: skip
    """Adds Sim of every fact and entry to the entry's record, and counts who has the item."""
    start, run, block, end, word, value_bits, time_bits = postings
    kinds, times = U((1 << value_bits) - 1), U((1 << time_bits) - 1)
    for fact in range(len(item)):
        u, at = shape[fact], start[item[fact]]
        for r in range(run[item[fact]], run[item[fact] + 1]):
            stop, first = start[item[fact]] + np.int64(end[r]), np.int64(block[r]) * BLOCK
            while at < stop:
                x = U(word[at])
                kind, time = np.int64((x >> U(time_bits)) & kinds), np.int64(x & times)
                record = first + np.int64((x >> U(time_bits + value_bits)) & U(BLOCK - 1))
                alike = a[u, kind] + b[u, kind] * c[off[u, kind] + time - known[fact]]
                total[record] += alike / terms[fact]
                shared[record] += 1
                at += 1


def fact_similarities(queries: Queries, query: Ints, record: Ints) -> tuple[Ints, Ints, Floats]:
    """(pair, fact, Sim of the fact and the record's entry), Sim -1 where the record lacks the item."""
    pair, fact, terms = queries.pairs(query, record)
    share = np.maximum(terms, 0.0).sum(axis=0) / queries.tables.terms[queries.facts.shape[fact]]
    return pair, fact, np.where(terms[0] < 0, -1.0, share)


def _whole(people: Population, targets: Ints, similarity: Similarity) -> Queries:
    """Everything that is true of these people, as if it were known of them."""
    known = people.all_facts(targets)
    return prepare_queries(people.release, known, similarity, "one", np.full(len(targets), -1))


def _slices(lengths: Ints) -> Iterator[slice]:
    """Neighbouring pairs whose targets have about AT_ONCE entries together."""
    ends, low = np.cumsum(lengths), 0
    while low < len(lengths):
        past = ends[low - 1] if low else 0
        high = max(low + 1, int(np.searchsorted(ends, past + AT_ONCE, "right")))
        yield slice(low, high)
        low = high


def _part(known: KnownFacts, here: slice) -> KnownFacts:
    """What is known of some, who stand beside each other."""
    first = known.first[here.start : here.stop + 1]
    return known.select(np.arange(here.start, here.stop), np.arange(first[0], first[-1]), first - first[0])
