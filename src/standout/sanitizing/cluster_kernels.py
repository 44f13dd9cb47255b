"""Compiled loops that lay out records and form clusters of similar ones."""

from typing import NamedTuple

import numpy as np

from standout.core.jit import Array, Int, kernel, subroutine
from standout.core.rng import uniform

__all__ = [
    "ItemSets",
    "WeightedMatrix",
    "fill_with_noise",
    "form_clusters",
    "multiply_items",
    "multiply_records",
]


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
def form_clusters(
    item_sets: ItemSets, members: Array, k: Int, representatives: Array, similarity: Array
) -> None:
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
