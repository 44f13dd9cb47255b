"""Steps that let at least k records share what an adversary may know: clusters of k, and kᵐ-anonymity."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array

from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.core.jit import Array, Flag, Int, inline, kernel, subroutine
from standout.core.progress import Progress
from standout.core.rng import uniform
from standout.core.threads import map_on_threads
from standout.data.build import count_codes
from standout.data.labels import StepReport
from standout.know.sanitized import ReleaseNoise
from standout.sanitizing.draft import Draft
from standout.sanitizing.step import Step, StepNoise, StepResult, parameter, whole

# One record for each cluster of k: the paper's example of a k-anonymous release.
#
# Each record gets coordinates in a few dimensions: the leading singular vectors of the record-item matrix, with
# popular items and long records weighted down. Records are halved along the widest dimension until blocks are
# small. Within a block, clusters are formed by the similarity of supports: the record least similar to the rest
# and the k - 1 most similar to it, and so on  [microaggregation: Domingo-Ferrer and Mateo-Sanz 2002].


@kernel
def fill_with_noise(streams: Array, out: Array) -> None:
    """out[i] = numbers in [-1/2, 1/2) of stream i."""
    for i in range(len(streams)):
        for d in range(out.shape[1]):
            out[i, d] = uniform(streams[i], np.uint64(d)) - 0.5


def form_clusters(has: csr_array, k: int) -> tuple[Ints, Floats]:
    """Form clusters of at least k of these records: has[r, i] = 1 if record r has item i.

    Returns for each record the one that represents it, the most similar one to the others of its cluster, and their
    Jaccard index, which is items in common / items of either. The first one of a tie is taken.
    """
    similar, size = (has @ has.T).toarray(), np.diff(has.indptr).astype(np.float32)
    similar /= size[:, np.newaxis] + size - similar
    total = similar.sum(axis=0, dtype=np.float64)
    free, is_free = np.arange(len(size)), np.ones(len(size), np.bool_)
    representatives, similarity = np.empty(len(size), np.int64), np.empty(len(size))
    while len(free):
        centre = free[total[free].argmin()]  # the free record that is least similar to the others
        near = np.where(free == centre, np.float32(2), similar[centre, free])
        cluster = free[np.argsort(-near, kind="stable")[: k if len(free) >= 2 * k else len(free)]]
        is_free[cluster] = False
        free = np.flatnonzero(is_free)
        for member in cluster:
            total -= similar[member]
        likeness = similar[np.ix_(cluster, cluster)].sum(axis=0, dtype=np.float64)
        chosen = cluster[likeness == likeness.max()].min()
        representatives[cluster], similarity[cluster] = chosen, similar[chosen, cluster]
    return representatives, similarity


DIMENSIONS, ROUNDS = 8, 6
BLOCK = 1024
"""Largest number of records of a block, unless 4 k is larger."""
MOST = 2_000
"""Largest k: a block of 8,000 records has 64 million pairs."""


@dataclass(frozen=True)
class ClusterRecords(Step):
    """Keep one real record for each cluster of at least k: the one most similar, by distinct items, to the others."""

    name = "cluster-records"
    syntax = "K"
    summary = "keep one representative for each cluster of at least K similar records"

    k: int = parameter(whole(2, MOST))

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The chance that a person's entry is in the representative, which is mostly another person's record.

        Of two records of one length with the Jaccard index J, one has the share 2 J / (1 + J) of the other's
        items. The person's own record is there if it is the representative.
        """
        counts = report.counts
        own, similarity = counts["records"] / counts["records before"], counts["similarity"]
        kept = own + (1 - own) * 2 * similarity / (1 + similarity)
        return ReleaseNoise(kept=kept, present=own, own=own / kept)

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        n = draft.n_records
        self._require(n >= self.k, f"the release has {n:,} records, fewer than {self.k:,}")
        self._require(not draft.columns, "columns of a record belong to one person, so it cannot represent several")
        blocks = _blocks(_coordinates(draft, noise, progress), max(BLOCK, 4 * self.k))
        representatives, similarity = np.empty(n, np.int64), np.empty(n)
        has = _item_matrix(draft, np.float32)

        def cluster_block(members: Ints) -> None:
            chosen, similarity[members] = form_clusters(has[members], self.k)
            representatives[members] = members[chosen]

        for done, _ in enumerate(map_on_threads(cluster_block, zip(blocks), draft.threads)):
            progress("clustering", done, len(blocks))
        is_representative = representatives == np.arange(n)
        sizes = np.bincount(representatives, minlength=n)[is_representative]
        mean = float(similarity[~is_representative].mean())
        counts = {"clusters": len(sizes), "largest cluster": int(sizes.max()), "similarity": mean}
        return StepResult(draft.keep_records(is_representative, representatives), counts)


def _item_matrix(draft: Draft, dtype: DTypeLike) -> csr_array:
    """Records × items: 1 where a record has an item."""
    start, item = draft.distinct
    return csr_array((np.ones(len(item), dtype), item.astype(np.int32), start), shape=(draft.n_records, draft.n_items))


def _coordinates(draft: Draft, noise: StepNoise, progress: Progress) -> Floats:
    """Coordinates of each record by orthogonal iteration; the sums of a library would depend on its threads."""
    matrix = _item_matrix(draft, np.float64)
    record_weight, item_weight = (1 / np.sqrt(size)[:, np.newaxis] for size in (np.diff(matrix.indptr), draft.support))
    items = np.empty((draft.n_items, DIMENSIONS))
    fill_with_noise(noise.item_keys, items)
    items[:, :1] = 1 / item_weight  # the first singular vector, which is only the items' popularity
    for completed in range(ROUNDS):
        progress("laying out records", completed, ROUNDS)
        _orthonormalise(items)
        records = record_weight * (matrix @ (item_weight * items))
        items = item_weight * (matrix.T @ (record_weight * records))
    return np.ascontiguousarray(records[:, 1:])


def _orthonormalise(columns: Floats) -> None:
    """Gram-Schmidt in place, twice for accuracy."""
    for i in range(columns.shape[1]):
        for _ in range(2):
            for j in range(i):
                columns[:, i] -= (columns[:, i] * columns[:, j]).sum() * columns[:, j]
        size = np.sqrt((columns[:, i] ** 2).sum())
        columns[:, i] /= size if size > 0 else 1.0


def _blocks(coordinates: Floats, most: int) -> list[Ints]:
    """Blocks of nearby records: halved at the median of the widest dimension while they are too large."""
    waiting, blocks = [np.arange(len(coordinates))], []
    while waiting:
        block = waiting.pop()
        if len(block) <= most:
            blocks.append(block)
            continue
        axis = int(np.argmax(coordinates[block].var(axis=0)))
        order = block[np.argsort(coordinates[block, axis], kind="stable")]
        waiting += [np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])]
    return blocks


# kᵐ-anonymity: at least k records have any m items that an adversary may know of a person.
#
# Terrovitis, Mamoulis and Kalnis, "Privacy-preserving anonymization of set-valued data" (2008). Entries are
# removed instead of generalised, because there is no hierarchy of items.


class EntriesByItem(NamedTuple):
    """One entry of each record and item, the most popular item first: item a has first[a] to first[a + 1]."""

    first: Array
    record: Array
    entry: Array  # its index in the order by record


class KeptItems(NamedTuple):
    """Items that each record has kept so far: items[start[r]] … in ascending order, n_items[r] of them."""

    start: Array
    items: Array
    n_items: Array
    keep: Array  # whether each entry is kept, in the order by record


@kernel
def walk(entries: EntriesByItem, kept: KeptItems, alive: Array, pairs: Array, k: Int, low: Int, high: Int) -> None:
    """Decide on the entries of the items with rank low … high - 1.

    alive = the records that may keep an item, and pairs[b] = how many of them have kept b; 0 between two items.
    """
    for a in range(low, high):
        begin, end = entries.first[a], entries.first[a + 1]
        n = end - begin
        alive[:n] = entries.record[begin:end]
        for x in range(n):
            _count(_items_of(kept, alive[x]), pairs, 1, k)
        short = True
        while short and n >= k:
            short, left = False, 0
            for x in range(n):
                items = _items_of(kept, alive[x])
                fewest = k
                for i in range(len(items)):
                    fewest = min(fewest, pairs[items[i]])
                if fewest == k:
                    alive[left] = alive[x]
                    left += 1
                else:
                    short |= _count(items, pairs, -1, k)
            n = left
        n = n if n >= k else 0
        for p in range(begin, end):
            items = _items_of(kept, entries.record[p])
            for i in range(len(items)):
                pairs[items[i]] = 0
        x = 0
        for p in range(begin, end):
            r = entries.record[p]
            if x < n and alive[x] == r:
                x += 1
                kept.keep[entries.entry[p]] = True
                kept.items[kept.start[r] + kept.n_items[r]] = a
                kept.n_items[r] += 1


@inline
def _items_of(kept: KeptItems, record: Int) -> Array:
    return kept.items[kept.start[record] : kept.start[record] + kept.n_items[record]]


@subroutine
def _count(items: Array, pairs: Array, by: Int, k: Int) -> Flag:
    """Count a record's items in or out; whether one that exactly k had now has too few."""
    short = False
    for i in range(len(items)):
        short |= pairs[items[i]] == k
        pairs[items[i]] += by
    return short


MOST_PAIRS = 2e11
"""Largest number of pairs of items within records that are counted: some minutes."""
ITEMS = 64
"""Items between two reports of progress."""


@dataclass(frozen=True)
class KmSuppress(Step):
    """Remove entries until at least k records have each combination of up to m items that any record has.

    Items are visited from the most popular down. An entry stays if at least k records have each combination of its
    item with up to m - 1 more popular items that the record has kept. The decision on an item depends on more popular
    items only, so one pass is enough and the guarantee is exact. It does not hold against an adversary who also knows
    values, dates or how often a person has an item.
    """

    name = "km-suppress"
    syntax = "K [M]"
    summary = "remove entries until K records have any M items of a record; M = 1 or 2 (default: 2)"

    k: int = parameter(whole(2))
    m: int = parameter(whole(1, 2), default=2)

    def noise(self, report: StepReport) -> ReleaseNoise:
        before = report.counts.get("entries before of items left", report.counts["entries before"])
        return ReleaseNoise(kept=report.counts["entries"] / before)

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        self._require(draft.n_records >= self.k, f"the release has {draft.n_records:,} records, fewer than {self.k:,}")
        reason = f"no combination of items is shared by {self.k:,} records"
        keep = (draft.support >= self.k)[draft.by_record.item] if self.m == 1 else self._pairs(draft, progress)
        smaller = draft.keep_entries(keep, reason)
        left = count_codes(draft.by_record.item, draft.n_items)[np.isin(draft.source_items, smaller.source_items)]
        return StepResult(smaller, {"entries before of items left": int(left.sum())})

    def _pairs(self, draft: Draft, progress: Progress) -> Bools:
        """Entries to keep, so that k records have each pair."""
        (start, item), n_items = draft.distinct, draft.n_items
        lengths, n = np.diff(start).astype(np.float64), len(item)
        work = float((lengths * (lengths - 1) / 2).sum())
        reason = f"{work:.1g} pairs of items would be counted, more than {MOST_PAIRS:.0g}: cap records or remove items"
        self._require(work <= MOST_PAIRS, reason)
        entry = np.argsort(draft.popularity_rank[item], kind="stable")
        record = np.repeat(np.arange(draft.n_records, dtype=np.uint32), np.diff(start))[entry]
        entries = EntriesByItem(offsets(-np.sort(-draft.support)), record, entry)
        keep, counts = np.zeros(n, np.bool_), np.zeros(draft.n_records, np.int64)
        kept = KeptItems(start, np.empty(n, np.uint32), counts, keep)
        alive, pairs = np.empty(draft.n_records, np.uint32), np.zeros(n_items, np.int32)
        for low in range(0, n_items, ITEMS):
            progress("counting pairs", int(entries.first[low]), n)
            walk(entries, kept, alive, pairs, self.k, low, min(low + ITEMS, n_items))
        return np.asarray(keep[draft.distinct_index]) if draft.has_repeats else keep
