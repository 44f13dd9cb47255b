"""Algorithm 1A on random targets: which records match, and how similar they are to the target.

The theorems draw attributes of a record, each with the same probability. If records have items several times,
an attribute is an item with all its entries: m different items are drawn, and one random entry of each is
known. Lemma 1 then holds as it stands, because a fact agrees with a record at most as well as the best pair
of entries, by which Sim(r, r′) is defined.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from standout.adversary import Adversary, known_facts
from standout.attack.kernels.conjunction import Workspace, minimum_similarities, new_workspace
from standout.attack.queries import Queries, prefix_queries, prepare_queries
from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.core.progress import Progress, no_progress
from standout.core.rng import generator
from standout.core.threads import run_in_slices
from standout.evaluate.pairs import fact_similarities, highest_of_each
from standout.evaluate.targets import draw_targets, shuffled_entries
from standout.facts import KnownFacts, facts_from_entries
from standout.release.model import Release
from standout.similarity.attributes import ROUNDING, Similarity

__all__ = ["MatchingSet", "MatchingSets", "matching_sets", "measured_by"]

ENTRIES_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class MatchingSet:
    """The matching set D′ of a target r, and Sim(r, r′) of its records.

    `over_first` divides by |supp(r)|, `over_union` by the size of the union.
    """

    target: int
    record: Ints
    over_first: Floats
    over_union: Floats

    def similarity(self, over: str) -> Floats:
        """Sim(r, r′) with the denominator "first" or "union"."""
        return self.over_first if over == "first" else self.over_union

    def filter(self, keep: NDArray[np.bool_]) -> "MatchingSet":
        """The part that is in a sample. A score of Algorithm 1A depends on one record only."""
        return MatchingSet(self.target, self.record[keep], self.over_first[keep], self.over_union[keep])


@dataclass(frozen=True, slots=True)
class MatchingSets:
    """The matching sets of targets for m facts; `too_few_items` records have fewer than m items.

    `precise` says for each target whether all known facts are within the threshold of the target's entries.
    """

    m: int
    sets: list[MatchingSet]
    too_few_items: int
    precise: Bools


def matching_sets(
    release: Release,
    similarity: Similarity,
    alpha: float,
    m: int,
    *,
    targets: int | None = 200,
    seed: int = 0,
    threads: int | None = None,
    adversary: Adversary | None = None,
    progress: Progress = no_progress,
) -> MatchingSets:
    """The records with a score ≥ α in Algorithm 1A, given m facts about each target.

    The facts are random exact entries, or what an adversary who knows m facts has, errors included.
    """
    chosen, too_few_items = draw_targets(
        release.check(), targets, m, seed, "theorems", release.distinct_items
    )
    if adversary is not None:
        adversary = replace(adversary, knows=m, wrong=min(adversary.wrong, m))
        in_order, _ = draw_targets(release, None, 0, seed, "theorems")
        eligible = in_order[adversary.eligible(release, in_order)]
        chosen, too_few_items = eligible[:targets], release.n_records - len(eligible)
    records = _queries(release, _shuffled_facts(release, chosen, seed), similarity)
    if adversary is None:
        facts = prefix_queries(records, [m])
    else:
        facts = _queries(release, known_facts(adversary, release, chosen, seed), similarity)
    sets: dict[int, MatchingSet] = {}

    def work_on(low: int, high: int, work: Workspace) -> None:
        for q in range(low, high):
            record, score = minimum_similarities(facts, q, work)
            sets[q] = _matching_set(records, q, int(chosen[q]), record[score >= alpha])

    run_in_slices(len(chosen), threads, new_workspace, work_on, progress)
    precise = _are_precise(facts, chosen, alpha)
    return MatchingSets(m, [sets[q] for q in range(len(chosen))], too_few_items, precise)


def measured_by(
    similarity: Similarity, release: Release, matches: MatchingSets, seed: int = 0
) -> MatchingSets:
    """The same matching sets with Sim(r, r′) by another similarity."""
    targets = np.array([matching.target for matching in matches.sets], np.int64)
    records = _queries(release, _shuffled_facts(release, targets, seed), similarity)
    sets = [
        _matching_set(records, q, matching.target, matching.record) for q, matching in enumerate(matches.sets)
    ]
    return replace(matches, sets=sets)


def _shuffled_facts(release: Release, targets: Ints, seed: int) -> KnownFacts:
    """All entries of each target as facts, in random order.

    If the target has items several times, a random entry of each item comes first.
    """
    orders = shuffled_entries(release, targets, seed, "theorems")
    if release.has_repeats:
        orders = [
            _items_first(release, order, generator(seed, "theorems", "items", release.records[target]))
            for order, target in zip(orders, targets.tolist(), strict=True)
        ]
    first = offsets([len(order) for order in orders])
    return facts_from_entries(release, np.concatenate([np.empty(0, np.int64), *orders]), first)


def _items_first(release: Release, order: Ints, draw: np.random.Generator) -> Ints:
    """The entries in another order: the first one of each item before the others, items in random order."""
    _, first = np.unique(release.by_record.item[order], return_index=True)
    return np.concatenate([order[draw.permutation(first)], np.delete(order, first)])


def _queries(release: Release, known: KnownFacts, similarity: Similarity) -> Queries:
    return prepare_queries(release, known, similarity, "one", np.full(len(known), -1, np.int64))


def _are_precise(facts: Queries, targets: Ints, alpha: float) -> Bools:
    """Whether Sim(aux_i, r_i) ≥ α for all known facts about each target r."""
    pair, _, sim = fact_similarities(facts, np.arange(len(targets)), targets)
    n_precise = np.bincount(pair[sim >= alpha - ROUNDING], minlength=len(targets))
    return np.asarray(n_precise == np.diff(facts.known.first))


def _matching_set(targets: Queries, q: int, target: int, record: Ints) -> MatchingSet:
    """Sim(r, r′) = Σ Sim(r_i, r′_i) with both denominators; query q has all entries of the target."""
    n_items, n_entries = targets.release.distinct_items, int(targets.release.lengths[target])
    total, n_shared = np.zeros(len(record)), np.zeros(len(record), np.int64)
    step = max(1, ENTRIES_AT_ONCE // n_entries)
    for low in range(0, len(record), step):
        part = slice(low, low + step)
        total[part], n_shared[part] = _sums(targets, q, record[part])
    union = n_items[target] + n_items[record] - n_shared
    return MatchingSet(target, record, total / n_items[target], total / union)


def _sums(targets: Queries, q: int, record: Ints) -> tuple[Floats, Ints]:
    """(Σ Sim, number of shared items) of a target and each of these records."""
    pair, fact, sim = fact_similarities(targets, np.full(len(record), q), record)
    if targets.release.has_repeats:
        n_items = targets.release.n_items
        pair_item, sim = highest_of_each(pair * n_items + targets.facts.item[fact], sim)
        pair = pair_item // n_items
    n_shared = np.bincount(pair[sim >= 0], minlength=len(record))
    return np.bincount(pair, np.maximum(sim, 0.0), len(record)).astype(np.float64), n_shared.astype(np.int64)
