"""Pairs of a person and a record: their similarity, and what the record reveals about the person.

People are indices of records of the original, see `Population`. An item that a person or a record has
several times counts once, with the pair of entries that is most similar:

    Sim(r, r′) = Σ over shared items of max Sim(entry of r, entry of r′) / |supp(r) ∪ supp(r′)|
"""

from typing import NamedTuple

import numpy as np

from standout.attack.kernels.record_scores import has_item
from standout.attack.queries import Queries, prepare_queries
from standout.core.arrays import Floats, Ints, offsets, slices_of
from standout.evaluate.item_pairs import highest_by_item
from standout.evaluate.population import Population
from standout.facts import KnownFacts, facts_from_entries
from standout.release.model import Release
from standout.similarity.attributes import Similarity

__all__ = [
    "RevealedItems",
    "fact_similarities",
    "full_queries",
    "highest_of_each",
    "no_facts",
    "pair_similarities",
    "revealed_items",
]

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
