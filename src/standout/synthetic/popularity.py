"""Which films people choose: weights such that every film gets the support it should have.

A person with a taste π for the head draws films without repeats: with probability π from popularity damped
beyond the head, otherwise from popularity. A film of weight w is among n of them with a probability near
1 - exp(-t·w), where t makes these add up to n. So the supports that weights lead to can be worked out over
classes of people, and the weights corrected until they are the ones asked for: no draw is needed.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats
from standout.core.elementary import exp, expm1, log, power
from standout.core.jit import Array, kernel
from standout.synthetic.published_statistics import support_by_rank

__all__ = ["Popularity", "correction", "fit", "supports", "tables"]


HEAD, DAMPING = 50.0, 1.7
"""Beyond this rank (of 17,770) a taste for the head falls off, and how steeply."""
CLASSES, ROUNDS, NEWTON = 64, 60, 12
FEW = 20
"""What so few draws say of a weight is chance."""
FULL = 0.97
"""No item is asked for by more than this share of people."""


class Popularity(NamedTuple):
    """Two distributions over ranks, as alias tables: draw a place, keep it or take its other."""

    weight: Floats
    damped: Floats
    keep: Floats
    other: NDArray[np.int64]
    damped_keep: Floats
    damped_other: NDArray[np.int64]


def supports(rank: Floats, records: int, entries: int) -> Floats:
    """The support that items of Netflix's ranks should have at this size: the published curve."""
    published = support_by_rank()
    shape = exp(np.interp(log(rank), log(np.arange(1, len(published) + 1)), log(published)))
    most, wanted = FULL * records, shape * (entries / shape.sum())
    for _ in range(100):
        over = wanted > most
        wanted[over] = most
        rest = entries - most * over.sum()
        if over.all() or abs(wanted.sum() - entries) < 0.5:
            break
        wanted[~over] *= rest / wanted[~over].sum()
    return np.asarray(np.maximum(wanted, 1e-3))


def fit(rank: Floats, wanted: Floats, lengths: Floats, taste: Floats) -> Floats:
    """Weights of ranks with which people of these lengths and tastes give each rank its support."""
    items = len(wanted)
    group = _groups(items)
    size = np.diff(group)
    target = np.add.reduceat(wanted, group[:-1]) / size
    falling = _damping(rank)
    damped_by = np.add.reduceat(falling, group[:-1]) / size
    people, length, head = _classes(lengths, taste, items)
    weight = target / (target * size).sum()
    for _ in range(ROUNDS):
        damped = weight * damped_by
        damped /= (damped * size).sum()
        mixed = head[:, None] * damped + (1 - head[:, None]) * weight
        chances = -expm1(-_scale(mixed, size, length)[:, None] * mixed)
        chosen = (people[:, None] * chances).sum(axis=0)
        weight *= target / np.maximum(chosen, 1e-9 * target)
        weight /= (weight * size).sum()
    return wanted * _between(group, weight / target)


def correction(wanted: Floats, found: NDArray[np.int64]) -> Floats:
    """By how much the weights of ranks are off, by the ranks that people drew."""
    group = _groups(len(wanted))
    drawn = np.add.reduceat(np.bincount(found, minlength=len(wanted)), group[:-1])
    asked = np.add.reduceat(wanted, group[:-1]) * (len(found) / wanted.sum())
    return _between(group, (asked + FEW) / (drawn + FEW))


def tables(rank: Floats, weight: Floats) -> Popularity:
    """Alias tables of the weights and of the damped weights."""
    damped = weight * _damping(rank)
    plain, damped = weight / weight.sum(), damped / damped.sum()
    return Popularity(plain, damped, *_alias(plain), *_alias(damped))


def _between(group: NDArray[np.int64], factor: Floats) -> Floats:
    """A factor for every rank from one for each group, log over log."""
    middle = np.sqrt((group[:-1] + 1.0) * group[1:])
    every = log(np.arange(1, group[-1] + 1))
    return exp(np.interp(every, log(middle), log(factor)))


def _damping(rank: Floats) -> Floats:
    return 1 / (1 + power(rank / HEAD, DAMPING))


def _groups(items: int) -> NDArray[np.int64]:
    """Ranks in groups of like popularity: the first alone, then ever more."""
    edges = np.unique(np.rint(np.geomspace(1, items + 1, 240)).astype(np.int64))
    return np.union1d(np.arange(min(30, items) + 1), edges - 1)


def _classes(lengths: Floats, taste: Floats, items: int) -> tuple[Floats, Floats, Floats]:
    """People of like length and taste: how many, their mean length, their mean taste."""
    by_length = np.clip(log(lengths) / math.log(items + 1.0) * CLASSES, 0, CLASSES - 1).astype(np.int64)
    by_taste = np.clip(taste * 8, 0, 7).astype(np.int64)
    class_of = by_length * 8 + by_taste
    people = np.bincount(class_of, minlength=8 * CLASSES).astype(np.float64)
    used = people > 0
    length = np.bincount(class_of, lengths, 8 * CLASSES)[used] / people[used]
    head = np.bincount(class_of, taste, 8 * CLASSES)[used] / people[used]
    return people[used], length, head


def _scale(mixed: Floats, size: NDArray[np.int64], length: Floats) -> Floats:
    """t for each class, by Newton's method from below: the sum of chances is concave in t."""
    t = length.copy()
    length = np.minimum(length, size.sum() - 0.5)
    for _ in range(NEWTON):
        left = exp(-t[:, None] * mixed)
        t += (length - ((1 - left) * size).sum(axis=1)) / np.maximum((left * mixed * size).sum(axis=1), 1e-12)
    return t


def _alias(share: Floats) -> tuple[Floats, NDArray[np.int64]]:
    keep, other = share * len(share), np.arange(len(share))
    _pair(keep, other)
    return keep, other


@kernel
def _pair(keep: Array, other: Array) -> None:
    """Vose's method: what a place has too little of is filled up from one that has too much."""
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
