"""One record for each cluster of k: the paper's example of a k-anonymous release.

Each record gets coordinates in a few dimensions: the leading singular vectors of the record-item matrix, with
popular items and long records weighted down. Records are halved along the widest dimension until blocks are
small. Within a block, clusters are formed by the similarity of supports: the record least similar to the rest
and the k - 1 most similar to it, and so on  [microaggregation: Domingo-Ferrer and Mateo-Sanz 2002].
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from standout.core.arrays import Floats, Ints, offsets
from standout.core.errors import ParameterError, whole_number
from standout.core.jit import Array, Int, kernel, subroutine
from standout.core.progress import Progress, no_progress
from standout.core.rng import uniform
from standout.data.labels import StepReport
from standout.know.sanitized import ReleaseNoise
from standout.sanitizing.draft import Draft
from standout.sanitizing.step import Step, StepNoise, StepResult, number

# Compiled loops that lay out records and form clusters of similar ones.


class WeightedMatrix(NamedTuple):
    """Record-item matrix with entries record_weight[r] · item_weight[i], by record (CSR)."""

    start: Array
    item: Array
    record_weight: Array
    item_weight: Array


class ItemSets(NamedTuple):
    """Items of each record (CSR), and the number of all items."""

    start: Array
    item: Array
    n_items: Int


@kernel
def fill_with_noise(streams: Array, out: Array) -> None:
    """out[i] = numbers in [-1/2, 1/2) of stream i."""
    for i in range(len(streams)):
        for d in range(out.shape[1]):
            out[i, d] = uniform(streams[i], np.uint64(d)) - 0.5


@kernel
def multiply_records(matrix: WeightedMatrix, items: Array, low: Int, high: Int, out: Array) -> None:
    """out[r] = Σ matrix[r, i] · items[i] for records low … high - 1."""
    start, item, record_weight, item_weight = matrix
    for r in range(low, high):
        out[r] = 0.0
        for p in range(start[r], start[r + 1]):
            i = item[p]
            for d in range(out.shape[1]):
                out[r, d] += item_weight[i] * items[i, d]
        for d in range(out.shape[1]):
            out[r, d] *= record_weight[r]


@kernel
def multiply_items(matrix: WeightedMatrix, records: Array, out: Array) -> None:
    """out[i] += Σ matrix[r, i] · records[r] over the records that have item i."""
    start, item, record_weight, item_weight = matrix
    for r in range(len(start) - 1):
        for p in range(start[r], start[r + 1]):
            i = item[p]
            for d in range(out.shape[1]):
                out[i, d] += item_weight[i] * record_weight[r] * records[r, d]


@kernel
def form_clusters(item_sets: ItemSets, members: Array, k: Int, representatives: Array, similarity: Array) -> None:
    """Form clusters of at least k of these records.

    representatives[r] = the record that represents r; similarity[r] = their Jaccard index, which is items in
    common / items of either.
    """
    similar = _similarities(item_sets, members)
    n = len(members)
    free, total = np.ones(n, np.bool_), np.zeros(n)
    for i in range(n):
        for j in range(n):
            total[i] += similar[i, j]
    left = n
    while left > 0:
        size = k if left >= 2 * k else left
        cluster = _nearest(similar, free, _least_similar(total, free), size)
        for c in range(size):
            free[cluster[c]] = False
        for i in range(n):
            if free[i]:
                for c in range(size):
                    total[i] -= similar[i, cluster[c]]
        left -= size
        chosen = _medoid(similar, cluster)
        for c in range(size):
            representatives[members[cluster[c]]] = members[chosen]
            similarity[members[cluster[c]]] = similar[cluster[c], chosen]


@subroutine
def _similarities(item_sets: ItemSets, members: Array) -> Array:
    start, item, n_items = item_sets
    n = len(members)
    similar, has = np.ones((n, n), np.float32), np.zeros(n_items, np.uint8)
    for i in range(n):
        begin, end = start[members[i]], start[members[i] + 1]
        for p in range(begin, end):
            has[item[p]] = 1
        for j in range(i + 1, n):
            other, stop = start[members[j]], start[members[j] + 1]
            common = 0
            for p in range(other, stop):
                common += has[item[p]]
            share = np.float32(common / (end - begin + stop - other - common))
            similar[i, j] = share
            similar[j, i] = share
        for p in range(begin, end):
            has[item[p]] = 0
    return similar


@subroutine
def _least_similar(total: Array, free: Array) -> Int:
    """Index of the free record that is least similar to the others; the first one of a tie."""
    best = -1
    for i in range(len(total)):
        if free[i] and (best < 0 or total[i] < total[best]):
            best = i
    return best


@subroutine
def _nearest(similar: Array, free: Array, centre: Int, size: Int) -> Array:
    """Indices of the free records most similar to the centre, itself first; the first ones of a tie."""
    n = 0
    candidates = np.empty(len(free), np.int64)
    for i in range(len(free)):
        if free[i]:
            candidates[n] = i
            n += 1
    far = np.empty(n, np.float32)
    for x in range(n):
        far[x] = -similar[centre, candidates[x]] if candidates[x] != centre else np.float32(-2.0)
    return candidates[np.argsort(far, kind="mergesort")[:size]]


@subroutine
def _medoid(similar: Array, cluster: Array) -> Int:
    """Index of the record most similar to the others of its cluster; the lowest index of a tie."""
    best, most = -1, -1.0
    for c in range(len(cluster)):
        total = 0.0
        for d in range(len(cluster)):
            total += similar[cluster[c], cluster[d]]
        if total > most or (total == most and cluster[c] < best):
            best, most = cluster[c], total
    return best


DIMENSIONS, ROUNDS = 8, 6
BLOCK = 1024
"""Largest number of records of a block, unless 4 k is larger."""
MOST = 2_000
"""Largest k: a block of 8,000 records has 64 million pairs."""


@dataclass(frozen=True)
class ClusterRecords(Step):
    """Keep one record for each cluster of at least k similar records; remove the others.

    The representative is a real record, unchanged: the one most similar to the others of its cluster. It
    represents all of them. An adversary who finds it learns the record of one person in k, and learns about
    the others only what they have in common with it. Similarity counts distinct items: how often a record
    has an item does not matter.
    """

    name = "cluster-records"
    syntax = "K"
    summary = "keep one representative for each cluster of at least K similar records"
    parsers = (number,)

    k: int

    def __post_init__(self) -> None:
        self._set(k=whole_number("k", self.k, 2))
        if self.k > MOST:
            raise ParameterError(f"k must be at most {MOST:,}, got {self.k:,}")

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The chance that a person's entry is in the representative, which is mostly another person's record.

        Of two records of one length with the Jaccard index J, one has the share 2 J / (1 + J) of the other's
        items. The person's own record is there if it is the representative.
        """
        counts = report.counts
        own, similarity = counts["records"] / counts["records before"], counts["similarity"]
        kept = own + (1 - own) * 2 * similarity / (1 + similarity)
        return ReleaseNoise(kept=kept, present=own, own=own / kept)

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        n = draft.n_records
        self._require_records(draft, self.k)
        if draft.columns:
            raise ParameterError(f"{self}: columns of a record belong to one person, so it cannot represent several")
        blocks = _blocks(_coordinates(draft, noise, progress), max(BLOCK, 4 * self.k))
        representatives, similarity = np.empty(n, np.int64), np.empty(n)
        first = offsets([len(block) for block in blocks])
        members = np.concatenate(blocks)
        item_sets = ItemSets(*draft.distinct, draft.n_items)

        def cluster_block(block: int) -> None:
            records = members[first[block] : first[block + 1]]
            form_clusters(item_sets, records, self.k, representatives, similarity)

        draft.run_on_threads(cluster_block, len(blocks), "clustering", progress)
        is_representative = representatives == np.arange(n)
        sizes = np.bincount(representatives, minlength=n)[is_representative]
        counts = {
            "clusters": len(sizes),
            "largest cluster": int(sizes.max()),
            "similarity": float(similarity[~is_representative].mean()),
        }
        return StepResult(draft.keep_records(is_representative, representatives), counts)


def _coordinates(draft: Draft, noise: StepNoise, progress: Progress) -> Floats:
    """Coordinates of each record by orthogonal iteration.

    A linear algebra library would give sums that depend on its number of threads.
    """
    start, item = draft.distinct
    matrix = WeightedMatrix(start, item, 1 / np.sqrt(np.diff(start)), 1 / np.sqrt(draft.support))
    records = np.empty((draft.n_records, DIMENSIONS))
    items = np.empty((draft.n_items, DIMENSIONS))
    fill_with_noise(noise.item_keys, items)
    items[:, 0] = 1 / matrix.item_weight  # the first singular vector, which is only the items' popularity
    for completed in range(ROUNDS):
        progress("laying out records", completed, ROUNDS)
        _orthonormalise(items)
        draft.run_by_records(lambda low, high: multiply_records(matrix, items, low, high, records))
        if completed < ROUNDS - 1:
            items[:] = 0
            multiply_items(matrix, records, items)
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
