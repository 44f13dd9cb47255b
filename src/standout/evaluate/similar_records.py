"""The records of a release that are at least θ similar to a target  [Definition 2]."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from standout.attack.any_similarity import ItemFacts, add_item, new_table
from standout.attack.engine_kernels import BLOCK, U
from standout.attack.neighbours import counts_items, nearest_neighbours, rule_of
from standout.attack.queries import QueryFacts
from standout.core.arrays import Floats, Ints
from standout.core.jit import Array, kernel
from standout.core.progress import no_progress
from standout.core.threads import thread_count
from standout.data.postings import Postings
from standout.data.release import Release
from standout.evaluate.outcomes import full_queries
from standout.evaluate.targets import Population
from standout.know.lookup_tables import time_similarity
from standout.know.similarity import Similarity

__all__ = ["SimilarRecords", "similarities_to_all"]

TARGETS_AHEAD = 1024
"""Number of targets whose nearest neighbours are searched at a time in a large release."""
LARGE_RELEASE = 1 << 22
"""Entries from which on comparing every target with all records would take too long."""
READ_DIRECTLY = 4
"""A few targets are compared with all records at once if that reads at most so many times all entries: a
search for nearest neighbours sorts all entries first, which takes about as long."""


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

    def of(self, targets: Ints, low: int, high: int) -> dict[int, Ints]:
        """The records at least θ similar to each of targets[low:high], for those who have any.

        The target's own record does not count, unless the release is sanitized: then no record is the
        target's own.
        """
        kept, may_have = self._kept()
        self.look_ahead(targets, low, high)
        similar_records, is_sanitized = {}, Population.of(self.release).is_sanitized
        for target in targets[low:high].tolist():
            if may_have[target]:
                if target not in kept:
                    is_similar = similarities_to_all(self.release, target, self.similarity) >= self.theta
                    if not is_sanitized:
                        is_similar[target] = False
                    kept[target] = np.flatnonzero(is_similar)
                if len(kept[target]):
                    similar_records[target] = kept[target]
        return similar_records

    def look_ahead(self, targets: Ints, low: int, high: int) -> dict[int, bool]:
        """Whether each of targets[low:high] may have a similar record; asks for further targets too."""
        _, may_have = self._kept()
        wanted = targets[low:high].tolist()
        if not all(target in may_have for target in wanted):
            ahead = targets[low : max(high, low + TARGETS_AHEAD)].tolist()
            may_have |= self._may_have(np.array([target for target in ahead if target not in may_have]))
        return {target: may_have[target] for target in wanted}

    def expect(self, may_have: dict[int, bool]) -> "SimilarRecords":
        """Take over what another process has found out."""
        self._kept()[1].update(may_have)
        return self

    def _kept(self) -> tuple[dict[int, Ints], dict[int, bool]]:
        """By target: the records similar to it, and whether there may be any, as far as known."""
        kept: dict[tuple[Similarity, float], tuple[dict[int, Ints], dict[int, bool]]]
        kept = vars(self.release).setdefault("_similar_records", {})
        return kept.setdefault((self.similarity, self.theta), ({}, {}))

    def _may_have(self, targets: Ints) -> dict[int, bool]:
        """Whether each target may have a similar record: by its nearest neighbour, where that is cheaper."""
        can_search = counts_items(self.release, self.similarity)
        is_sanitized = Population.of(self.release).is_sanitized
        if (
            self.release.n_entries <= LARGE_RELEASE
            or is_sanitized
            or not can_search
            or self._entries_to_read(targets) <= READ_DIRECTLY * self.release.n_entries
        ):
            return dict.fromkeys(targets.tolist(), True)
        records, rule = np.sort(targets), rule_of(self.release, self.similarity)
        nearest = nearest_neighbours(
            self.release, rule, records, over_first=False, threads=thread_count(self.threads), progress=no_progress
        )
        is_near = nearest.similar / nearest.union >= self.theta
        return dict(zip(records.tolist(), is_near.tolist(), strict=True))

    def _entries_to_read(self, targets: Ints) -> int:
        """Number of entries that comparing these targets with all records reads."""
        entries, number = self.release.by_record, self.release.item_entries
        ranges = [slice(entries.start[target], entries.start[target + 1]) for target in targets.tolist()]
        return sum(int(number[entries.item[of_target]].sum()) for of_target in ranges)


def similarities_to_all(release: Release, target: int, similarity: Similarity) -> Floats:
    """Sim(r, r′) of one person r and every record r′ of the release."""
    population = Population.of(release)
    queries = full_queries(population, np.array([target]), similarity)
    total, n_shared = np.zeros(release.n_records), np.zeros(release.n_records, np.int64)
    tables, facts = queries.tables, queries.facts
    if release.has_repeats or population.original.has_repeats:
        of_items = ItemFacts(
            first=facts.first,
            item=facts.item,
            shape=facts.shape,
            known=facts.time,
            step=np.zeros(1),
            a=tables.a,
            b=tables.b,
            off=tables.off,
            c=tables.c,
            terms=tables.terms,
            n_levels=release.n_levels,
            span=release.span,
        )
        _add_best_similarities(release.by_item, of_items, total, n_shared, new_table(release))
    else:
        lookup = _Lookup(tables.a, tables.b, tables.off, tables.c, tables.terms[facts.shape])
        _add_similarities(release.by_item, facts, lookup, total, n_shared)
    n_either = population.original.distinct_items[target] + release.distinct_items - n_shared
    return np.asarray(total / n_either)


class _Lookup(NamedTuple):
    """Sim of a fact of shape u and an entry: (a[u, kind] + b[u, kind] · c[off[u, kind] + Δtime]) / terms."""

    a: Floats
    b: Floats
    off: Ints
    c: Floats
    terms: Ints


@kernel
def _add_similarities(postings: Postings, facts: QueryFacts, lookup: _Lookup, total: Array, n_shared: Array) -> None:
    """Add Sim of every fact and entry to the total of the entry's record, and count the shared items."""
    _, run, block, begin, end, word, value_bits, time_bits, _, _ = postings
    a, b, off, c, terms = lookup
    item, shape, known_time = facts.item, facts.shape, facts.time
    kinds, times = U((1 << value_bits) - 1), U((1 << time_bits) - 1)
    for fact in range(len(item)):
        u = shape[fact]
        for r in range(run[item[fact]], run[item[fact] + 1]):
            first = np.int64(block[r]) * BLOCK
            for at in range(begin[r], end[r]):
                x = U(word[at])
                kind, time = np.int64((x >> U(time_bits)) & kinds), np.int64(x & times)
                record = first + np.int64((x >> U(time_bits + value_bits)) & U(BLOCK - 1))
                sim = a[u, kind] + b[u, kind] * time_similarity(c, U(off[u, kind] + time - known_time[fact]))
                total[record] += sim / terms[fact]
                n_shared[record] += 1


@kernel
def _add_best_similarities(postings: Postings, facts: ItemFacts, total: Array, n_shared: Array, table: Array) -> None:
    """Add, of each item, the highest Sim of a fact and an entry to the total of the entry's record.

    The facts of an item follow one another.
    """
    low, item = 0, facts.item
    while low < len(item):
        high = low + 1
        while high < len(item) and item[high] == item[low]:
            high += 1
        add_item(postings, facts, low, high, 0.0, total, n_shared, table)
        low = high
