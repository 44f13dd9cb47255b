"""Clusters of similar records: compiled."""

import numpy as np

from standout.core.jit import Array, Int, kernel, subroutine
from standout.core.rng import uniform

__all__ = ["clustered", "fill", "to_items", "to_records"]


@kernel
def fill(streams: Array, out: Array) -> None:
    """out[i] = numbers in [-1/2, 1/2) of stream i."""
    for i in range(len(streams)):
        for d in range(out.shape[1]):
            out[i, d] = uniform(streams[i], np.uint64(d)) - 0.5


@kernel
def to_records(
    start: Array, item: Array, by_record: Array, by_item: Array, items: Array, low: Int, high: Int, out: Array
) -> None:
    """out[r] = by_record[r] · Σ by_item[i] · items[i] over the items of records low … high - 1."""
    for r in range(low, high):
        out[r] = 0.0
        for p in range(start[r], start[r + 1]):
            i = item[p]
            for d in range(out.shape[1]):
                out[r, d] += by_item[i] * items[i, d]
        for d in range(out.shape[1]):
            out[r, d] *= by_record[r]


@kernel
def to_items(start: Array, item: Array, by_record: Array, by_item: Array, places: Array, out: Array) -> None:
    """out[i] += by_item[i] · Σ by_record[r] · places[r] over the records that have it."""
    for r in range(len(start) - 1):
        for p in range(start[r], start[r + 1]):
            i = item[p]
            for d in range(out.shape[1]):
                out[i, d] += by_item[i] * by_record[r] * places[r, d]


@kernel
def clustered(
    start: Array, item: Array, members: Array, n_items: Int, k: Int, stands: Array, alike: Array
) -> None:
    """Clusters of at least k of these records; stands[r] = the record that stands for r, alike[r] = how like.

    alike: items in common / items of either  [Jaccard].
    """
    similar = _similarities(start, item, members, n_items)
    n = len(members)
    free, total = np.ones(n, np.bool_), np.zeros(n)
    for i in range(n):
        for j in range(n):
            total[i] += similar[i, j]
    left = n
    while left > 0:
        size = k if left >= 2 * k else left
        cluster = _nearest(similar, free, _least(total, free), size)
        for c in range(size):
            free[cluster[c]] = False
        for i in range(n):
            if free[i]:
                for c in range(size):
                    total[i] -= similar[i, cluster[c]]
        left -= size
        chosen = _medoid(similar, cluster)
        for c in range(size):
            stands[members[cluster[c]]] = members[chosen]
            alike[members[cluster[c]]] = similar[cluster[c], chosen]


@subroutine
def _similarities(start: Array, item: Array, members: Array, n_items: Int) -> Array:
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
def _least(total: Array, free: Array) -> Int:
    """The free record that is least like the others; the first of equals."""
    best = -1
    for i in range(len(total)):
        if free[i] and (best < 0 or total[i] < total[best]):
            best = i
    return best


@subroutine
def _nearest(similar: Array, free: Array, centre: Int, size: Int) -> Array:
    """The free records most like one of them, itself first; the first of equals."""
    n = 0
    places = np.empty(len(free), np.int64)
    for i in range(len(free)):
        if free[i]:
            places[n] = i
            n += 1
    far = np.empty(n, np.float32)
    for x in range(n):
        far[x] = -similar[centre, places[x]] if places[x] != centre else np.float32(-2.0)
    return places[np.argsort(far, kind="mergesort")[:size]]


@subroutine
def _medoid(similar: Array, cluster: Array) -> Int:
    """The record most like the others of its cluster; the lowest place of equals."""
    best, most = -1, -1.0
    for c in range(len(cluster)):
        total = 0.0
        for d in range(len(cluster)):
            total += similar[cluster[c], cluster[d]]
        if total > most or (total == most and cluster[c] < best):
            best, most = cluster[c], total
    return best
