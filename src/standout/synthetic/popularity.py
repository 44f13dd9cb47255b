"""Weights with which people choose films, such that every film gets the support it should have.

A person with a taste π for the head draws films without repeats: with probability π by a popularity that is
damped beyond the head, otherwise by popularity. A film of weight w is among the person's n films with a
probability near 1 - exp(-t·w), where t makes these probabilities add up to n. The supports that follow from
the weights are sums over classes of people. The weights are corrected until the supports are right, which
needs no random draws.
"""

import math
from typing import NamedTuple

import numpy as np

from standout.core.arrays import Floats, Ints
from standout.core.elementary import exp, expm1, log, power
from standout.core.jit import Array, kernel
from standout.synthetic.published_statistics import published_support

__all__ = ["AliasTables", "alias_tables", "correction", "expected_supports", "fit_weights"]


HEAD, DAMPING = 50.0, 1.7
"""The rank (of 17,770) beyond which the damped popularity falls off, and how steeply."""
LENGTH_CLASSES, TASTE_CLASSES, ROUNDS, NEWTON_STEPS = 64, 8, 60, 12
PSEUDO_COUNT = 20
"""Added to counts of draws, so that few draws change a weight little."""
LARGEST_SHARE = 0.97
"""Largest share of people who should have an item."""


class AliasTables(NamedTuple):
    """Popularity and damped popularity of ranks, as alias tables.

    To draw a rank, draw one uniformly; keep it with probability `keep`, otherwise take its `other`.
    """

    weight: Floats
    damped: Floats
    keep: Floats
    other: Ints
    damped_keep: Floats
    damped_other: Ints


def expected_supports(rank: Floats, records: int, entries: int) -> Floats:
    """The supports that items of these ranks should have at this size, by the published curve."""
    support = published_support()
    shape = exp(np.interp(log(rank), log(np.arange(1, len(support) + 1)), log(support)))
    most, expected = LARGEST_SHARE * records, shape * (entries / shape.sum())
    for _ in range(100):
        over = expected > most
        expected[over] = most
        rest = entries - most * over.sum()
        if over.all() or abs(expected.sum() - entries) < 0.5:
            break
        expected[~over] *= rest / expected[~over].sum()
    return np.asarray(np.maximum(expected, 1e-3))


def fit_weights(rank: Floats, expected: Floats, lengths: Floats, taste: Floats) -> Floats:
    """Weights of ranks such that people of these lengths and tastes give each rank its expected support."""
    items = len(expected)
    group = _groups(items)
    size = np.diff(group)
    target = np.add.reduceat(expected, group[:-1]) / size
    damping = np.add.reduceat(_damping(rank), group[:-1]) / size
    people, length, head = _classes(lengths, taste, items)
    weight = target / (target * size).sum()
    for _ in range(ROUNDS):
        damped = weight * damping
        damped /= (damped * size).sum()
        mixed = head[:, None] * damped + (1 - head[:, None]) * weight
        probability = -expm1(-_scale(mixed, size, length)[:, None] * mixed)
        support = (people[:, None] * probability).sum(axis=0)
        weight *= target / np.maximum(support, 1e-9 * target)
        weight /= (weight * size).sum()
    return expected * _interpolate(group, weight / target)


def correction(expected: Floats, ranks: Ints) -> Floats:
    """Factors that correct the weights of ranks, from the ranks that a sample of people drew."""
    group = _groups(len(expected))
    drawn = np.add.reduceat(np.bincount(ranks, minlength=len(expected)), group[:-1])
    target = np.add.reduceat(expected, group[:-1]) * (len(ranks) / expected.sum())
    return _interpolate(group, (target + PSEUDO_COUNT) / (drawn + PSEUDO_COUNT))


def alias_tables(rank: Floats, weight: Floats) -> AliasTables:
    """Alias tables of the weights and of the damped weights."""
    damped = weight * _damping(rank)
    plain, damped = weight / weight.sum(), damped / damped.sum()
    return AliasTables(plain, damped, *_alias_table(plain), *_alias_table(damped))


def _interpolate(group: Ints, factor: Floats) -> Floats:
    """A factor for every rank from one for each group, interpolated on logarithmic scales."""
    middle = np.sqrt((group[:-1] + 1.0) * group[1:])
    ranks = np.arange(1, group[-1] + 1)
    return exp(np.interp(log(ranks), log(middle), log(factor)))


def _damping(rank: Floats) -> Floats:
    return 1 / (1 + power(rank / HEAD, DAMPING))


def _groups(items: int) -> Ints:
    """Edges of groups of ranks with similar popularity: the first ranks alone, then growing groups."""
    edges = np.unique(np.rint(np.geomspace(1, items + 1, 240)).astype(np.int64))
    return np.union1d(np.arange(min(30, items) + 1), edges - 1)


def _classes(lengths: Floats, taste: Floats, items: int) -> tuple[Floats, Floats, Floats]:
    """Classes of people with similar length and taste: number of people, mean length, mean taste."""
    scaled = log(lengths) / math.log(items + 1.0) * LENGTH_CLASSES
    by_length = np.clip(scaled, 0, LENGTH_CLASSES - 1).astype(np.int64)
    by_taste = np.clip(taste * TASTE_CLASSES, 0, TASTE_CLASSES - 1).astype(np.int64)
    class_of, classes = by_length * TASTE_CLASSES + by_taste, LENGTH_CLASSES * TASTE_CLASSES
    people = np.bincount(class_of, minlength=classes).astype(np.float64)
    used = people > 0
    length = np.bincount(class_of, lengths, classes)[used] / people[used]
    head = np.bincount(class_of, taste, classes)[used] / people[used]
    return people[used], length, head


def _scale(mixed: Floats, size: Ints, length: Floats) -> Floats:
    """The t of each class, by Newton's method from below: the sum of probabilities is concave in t."""
    t = length.copy()
    length = np.minimum(length, size.sum() - 0.5)
    for _ in range(NEWTON_STEPS):
        left = exp(-t[:, None] * mixed)
        t += (length - ((1 - left) * size).sum(axis=1)) / np.maximum((left * mixed * size).sum(axis=1), 1e-12)
    return t


def _alias_table(share: Floats) -> tuple[Floats, Ints]:
    keep, other = share * len(share), np.arange(len(share))
    _fill_alias_table(keep, other)
    return keep, other


@kernel
def _fill_alias_table(keep: Array, other: Array) -> None:
    """Fill the table by Vose's method: entries below 1 are paired with entries above 1."""
    n = len(keep)
    stack = np.empty(n, np.int64)
    low, high = 0, n
    for i in range(n):
        if keep[i] < 1.0:
            stack[low] = i
            low += 1
        else:
            high -= 1
            stack[high] = i
    while low > 0 and high < n:
        low -= 1
        small, large = stack[low], stack[high]
        other[small] = large
        keep[large] -= 1.0 - keep[small]
        if keep[large] < 1.0:
            high += 1
            stack[low] = large
            low += 1
    for i in range(low):
        keep[stack[i]] = 1.0
    for i in range(high, n):
        keep[stack[i]] = 1.0
