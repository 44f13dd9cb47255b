"""Targets: random people of a release, the records that represent them, resemble them, and what those reveal.

An adversary knows facts about the original data. A release that is not sanitized is its own original. People are
indices of records of the original, records are indices of records of the release.

An item that a person or a record has several times counts once, with the pair of entries that is most similar:

    Sim(r, r′) = Σ over shared items of max Sim(entry of r, entry of r′) / |supp(r) ∪ supp(r′)|
"""

import hashlib
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from standout.attack.neighbours import counts_items, nearest_neighbours, shared_similarity
from standout.attack.queries import Queries, prepare_queries
from standout.attack.release_counts import has_item
from standout.core.arrays import Bools, Floats, Ints, run_starts, slices_of, take_rows
from standout.core.errors import whole_number
from standout.core.progress import no_progress
from standout.core.rng import generator
from standout.core.threads import thread_count
from standout.data.build import subset
from standout.data.entries import distinct_positions
from standout.data.labels import Labels
from standout.data.release import Release
from standout.know.adversary import Adversary, known_facts
from standout.know.facts import KnownFacts, facts_from_entries, level_values
from standout.know.sanitized import OriginalMapping, Sanitized
from standout.know.similarity import Similarity

ENTRIES_AT_ONCE = 1 << 21
TARGETS_AHEAD = 1024
"""Number of targets whose nearest neighbours are searched at a time in a large release."""
LARGE_RELEASE = 1 << 22
"""Entries from which on comparing every target with all records would take too long."""
READ_DIRECTLY = 4
"""A few targets are compared with all records at once if that reads at most so many times all entries: a
search for nearest neighbours sorts all entries first, which takes about as long."""


def draw_targets(
    release: Release, targets: int | None, min_items: int, seed: int, purpose: str, counts: Ints | None = None
) -> tuple[Ints, int]:
    """Up to `targets` random records with enough entries (None: all), and how many records have too few.

    Another `min_items` gives largely the same targets. `counts` is what is counted instead of entries.
    """
    wanted = release.n_records if targets is None else whole_number("targets", targets, 1)
    order = generator(seed, purpose, "targets").permutation(release.n_records)
    eligible = order[(release.lengths if counts is None else counts)[order] >= min_items]
    return eligible[:wanted], release.n_records - len(eligible)


def random_targets(original: Release, adversary: Adversary, seed: int, purpose: str = "table") -> Ints:
    """Everybody about whom enough can be known, in the random order in which targets are taken."""
    order = generator(seed, *((purpose,) if original.columns else ()), "targets").permutation(original.n_records)
    return np.asarray(order[adversary.eligible(original, order)])


def shuffled_entries(
    release: Release, records: Ints, seed: int, purpose: str, count: int | None = None, start: Ints | None = None
) -> list[Ints]:
    """For each record the indices of its entries in random order, at most `count`; of (seed, purpose, record) only.

    `start` says where each record begins, if something else than its entries is drawn.
    """
    start = release.by_record.start if start is None else start
    entries = []
    for record in records.tolist():
        draw = generator(seed, purpose, release.records[record])
        entries.append(start[record] + draw.permutation(int(start[record + 1] - start[record]))[:count])
    return entries


@dataclass(frozen=True, eq=False, slots=True)
class Population:
    """The release under attack, and the original that describes its people."""

    release: Release
    original: Release

    @classmethod
    def of(cls, release: Release) -> "Population":
        """The people of a release."""
        return cls(release, release.original if isinstance(release, Sanitized) else release)

    @property
    def is_sanitized(self) -> bool:
        """Whether the release was made from an original, so that records may differ from what is true."""
        return self.original is not self.release

    def record_of(self, people: Ints) -> Ints:
        """The record that represents each of these people; -1 for none."""
        return self.release.mapping.representatives[people] if isinstance(self.release, Sanitized) else people

    def known_facts(self, adversary: Adversary, people: Ints, seed: int, draws: int = 1) -> KnownFacts:
        """What the adversary knows about these people, in codes of the release."""
        return self._in_release_codes(known_facts(adversary, self.original, people, seed, draws), people)

    def items_in_record(self, person: int, items: Ints) -> Bools:
        """Which of a person's items are also in the record that represents them."""
        if not isinstance(self.release, Sanitized):
            return np.ones(len(items), np.bool_)
        record, code = self.release.mapping.representatives[person], self.release.mapping.item_codes[items]
        return (code >= 0) & has_item(self.release, np.full(len(items), record), code)

    def key(self) -> list[str]:
        """Fingerprints of the release, its original, and the mapping between them."""
        if not isinstance(self.release, Sanitized):
            return [self.release.fingerprint]
        mapping, digest = self.release.mapping, hashlib.blake2b(digest_size=16)
        for codes in (mapping.representatives, mapping.item_codes):
            digest.update(np.ascontiguousarray(codes, np.int64).tobytes())
        digest.update(repr((mapping.released_values, mapping.rounding_periods)).encode())
        return [self.release.fingerprint, self.original.fingerprint, digest.hexdigest()]

    def _in_release_codes(self, known: KnownFacts, people: Ints) -> KnownFacts:
        translates = isinstance(self.release, Sanitized) and not self.release.columns  # attacks on columns translate
        return self.release.translate_facts(known, people) if translates else known  # type: ignore[attr-defined]


def sample_release(release: Release, keep: Bools) -> Release:
    """The records where `keep` is set; the original keeps the people whom they represent."""
    sample = subset(release, keep)
    if not isinstance(release, Sanitized):
        return sample

    def indices(labels: Labels, names: Labels) -> Ints:
        return np.array([labels.find(name) for name in names], np.int64)

    mapping, whole = release.mapping, release.original
    is_represented = (mapping.representatives >= 0) & keep[np.maximum(mapping.representatives, 0)]
    original = subset(whole, is_represented)
    code = np.full(release.n_items + 1, -1)  # the last one is for an item that is gone: -1
    code[indices(release.items, sample.items)] = np.arange(sample.n_items)
    value = dict(zip(level_values(whole), mapping.released_values, strict=True))
    sample_mapping = OriginalMapping(
        (np.cumsum(keep) - 1)[mapping.representatives[is_represented]],
        code[mapping.item_codes[indices(whole.items, original.items)]],
        tuple(value[level] for level in level_values(original)),
        mapping.rounding_periods,
    )
    columns = {field.name: getattr(sample, field.name) for field in fields(Release)}
    return replace(release, **columns, original=original, mapping=sample_mapping)


# Pairs of a person and a record: their similarity, and what the record reveals about the person.


class RevealedItems(NamedTuple):
    """What each guess reveals about its target beyond the known facts.

    similarity    Sim(target, guess)
    revealed      number of distinct items of the guess that no known fact names
    correct       number of these that the target has as well, each weighted by its similarity
    """

    similarity: Floats
    revealed: Ints
    correct: Floats


def pair_similarities(release: Release, target: Ints, guess: Ints, similarity: Similarity) -> Floats:
    """Sim(r, r′) of each pair of a person and a record."""
    return revealed_items(release, target, guess, no_facts(release, len(target)), similarity).similarity


def no_facts(release: Release, count: int) -> KnownFacts:
    """No known facts about `count` people."""
    return facts_from_entries(release, np.empty(0, np.int64), np.zeros(count + 1, np.int64))


def revealed_items(
    release: Release, target: Ints, guess: Ints, known: KnownFacts, similarity: Similarity
) -> RevealedItems:
    """What each guess reveals about its target, given the facts that are known about each target."""
    population, n_records, n_items = Population.of(release), release.n_records, release.n_items
    parts = [RevealedItems(np.empty(0), np.empty(0, np.int64), np.empty(0))]
    for pairs in slices_of(population.original.lengths[target], ENTRIES_AT_ONCE):
        # A pair that occurs several times is compared once: more facts often lead to the same guess.
        n, of_pairs = pairs.stop - pairs.start, known.of(np.arange(pairs.start, pairs.stop))
        different, number = np.unique(target[pairs] * n_records + guess[pairs], return_inverse=True)
        people, query = np.unique(different // n_records, return_inverse=True)
        queries = full_queries(population, people, similarity)
        pair, fact, sim = fact_similarities(queries, query, different % n_records)
        item = queries.facts.item[fact]
        if population.original.has_repeats:
            pair_item, sim = highest_of_each(pair * n_items + item, sim)
            pair, item = np.divmod(pair_item, n_items)
        ends, row = take_rows(np.searchsorted(pair, np.arange(len(different) + 1)), number)
        pair, item, sim = np.repeat(np.arange(n), np.diff(ends)), item[row], sim[row]  # -1: the guess lacks the item
        target_items = population.original.distinct_items[target[pairs]]
        guess_items = release.distinct_items[guess[pairs]]
        n_shared, total = np.bincount(pair, sim >= 0, n), np.bincount(pair, np.maximum(sim, 0.0), n)
        named, person = of_pairs.item >= 0, np.repeat(np.arange(n), np.diff(of_pairs.first))
        known_pair_item = np.unique(person[named] * n_items + of_pairs.item[named])
        known_pair, known_item = np.divmod(known_pair_item, n_items)
        in_guess = has_item(release, guess[pairs][known_pair], known_item)
        revealed = guess_items - np.bincount(known_pair, in_guess, n).astype(np.int64)
        is_new = ~np.isin(pair * n_items + item, known_pair_item)
        correct = np.bincount(pair, np.maximum(sim, 0.0) * is_new, n).astype(np.float64)
        parts.append(RevealedItems(total / (target_items + guess_items - n_shared), revealed, correct))
    return RevealedItems(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def highest_of_each(group: Ints, number: Floats) -> tuple[Ints, Floats]:
    """The distinct groups in ascending order, and the highest number of each."""
    order = np.argsort(group, kind="stable")
    group, number = group[order], number[order]
    first = run_starts(group)
    return group[first], np.maximum.reduceat(number, first) if len(first) else number


def fact_similarities(queries: Queries, query: Ints, record: Ints) -> tuple[Ints, Ints, Floats]:
    """(pair, fact, Sim of the fact and the record's best entry); Sim is -1 if the record lacks the item."""
    pair, fact, terms = queries.pairs(query, record, best=True)
    share = np.fmax(terms, 0.0).sum(axis=0) / queries.tables.terms[queries.facts.shape[fact]]
    return pair, fact, np.where(np.isnan(terms[0]), -1.0, share)


def full_queries(population: Population, targets: Ints, similarity: Similarity) -> Queries:
    """Queries with everything that is true of these people as known facts; equal entries are one fact."""
    known = facts_from_entries(population.original, *distinct_positions(population.original, targets))
    known = population._in_release_codes(known, targets)
    return prepare_queries(population.release, known, similarity, "one", np.full(len(targets), -1))


# The records of a release that are at least θ similar to a target  [Definition 2].


@dataclass
class SimilarRecords:
    """Finds the records that are at least θ similar to targets.

    In a large release few targets have such a record. There, the nearest neighbours of many targets are
    searched first, and only targets with a neighbour that is similar enough are compared with all records.
    What was found is kept with the release: an audit asks for the same targets with every attack.
    """

    release: Release
    similarity: Similarity
    theta: float
    threads: int | None = None

    def of(self, targets: Ints, may_have: dict[int, bool] | None = None) -> dict[int, Ints]:
        """The records at least θ similar to each target; their own do not count, if they have one.

        `may_have` is what `look_ahead` has found, perhaps in another process.
        """
        similar_records, kept = {}, self._kept()[0]
        may_have = may_have or self.look_ahead(targets, 0, len(targets))
        for target in targets.tolist():
            if may_have[target]:
                if target not in kept:
                    is_similar = similarities_to_all(self.release, target, self.similarity) >= self.theta
                    if not Population.of(self.release).is_sanitized:
                        is_similar[target] = False
                    kept[target] = np.flatnonzero(is_similar)
                if len(kept[target]):
                    similar_records[target] = kept[target]
        return similar_records

    def look_ahead(self, targets: Ints, low: int, high: int) -> dict[int, bool]:
        """Whether each of targets[low:high] may have a similar record; asks for further targets too."""
        may_have = self._kept()[1]
        wanted = targets[low:high].tolist()
        if not all(target in may_have for target in wanted):
            ahead = targets[low : max(high, low + TARGETS_AHEAD)].tolist()
            may_have |= self._may_have(np.array([target for target in ahead if target not in may_have]))
        return {target: may_have[target] for target in wanted}

    def _kept(self) -> tuple[dict[int, Ints], dict[int, bool]]:
        """By target: the records similar to it, and whether there may be any, as far as known."""
        kept: dict[tuple[Similarity, float], tuple[dict[int, Ints], dict[int, bool]]]
        kept = vars(self.release).setdefault("_similar_records", {})
        return kept.setdefault((self.similarity, self.theta), ({}, {}))

    def _may_have(self, targets: Ints) -> dict[int, bool]:
        """Whether each target may have a similar record: by its nearest neighbour, where that is cheaper."""
        release = self.release
        can_search = counts_items(release, self.similarity) and not Population.of(release).is_sanitized
        to_read = 0
        if release.n_entries > LARGE_RELEASE:
            entries = take_rows(release.by_record.start, targets)[1]
            to_read = int(release.item_entries[release.by_record.item[entries]].sum())
        if not can_search or to_read <= READ_DIRECTLY * release.n_entries:
            return dict.fromkeys(targets.tolist(), True)
        records = np.sort(targets)
        nearest = nearest_neighbours(
            release,
            self.similarity,
            records,
            over_first=False,
            threads=thread_count(self.threads),
            progress=no_progress,
        )
        is_near = nearest.similarity >= self.theta
        return dict(zip(records.tolist(), is_near.tolist(), strict=True))


def similarities_to_all(release: Release, target: int, similarity: Similarity) -> Floats:
    """Sim(r, r′) of one person r and every record r′ of the release."""
    population = Population.of(release)
    queries = full_queries(population, np.array([target]), similarity)
    total, n_shared = shared_similarity(release, queries.facts, queries.tables)
    n_either = population.original.distinct_items[target] + release.distinct_items - n_shared
    return np.asarray(total / n_either)
