"""How far a changed release is from its original: popularity, similarities of items, single entries."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from standout.core.arrays import Floats, Ints
from standout.core.rng import generator
from standout.data_utility.influence import InfluenceEstimate
from standout.data_utility.recommender import history_matrix
from standout.evaluate.estimates import Estimate
from standout.release.model import Release
from standout.sanitized import Sanitized
from standout.similarity.attributes import days_per_unit

__all__ = ["Entries", "entries", "popularity", "similarity"]

PAIRS, SUPPORT = 1000, 5
"""So many pairs of items are compared, as far as so many records have each."""


def popularity(original: Release, release: Release, items: Ints) -> tuple[Estimate, Estimate]:
    """Half of Σ |share − share before| over items (0: the same, 1: nothing in common), and Spearman's rank
    correlation of their supports. A gone item has support 0. All entries count: there is no interval."""
    old = original.support.astype(np.float64)
    new = np.where(items < 0, 0, release.support[np.maximum(items, 0)]).astype(np.float64)
    moved = float(np.abs(old / old.sum() - new / max(new.sum(), 1.0)).sum()) / 2
    return _exact(moved, len(items)), _exact(_correlation(_ranks(old), _ranks(new)), len(items))


def _exact(value: float, n: int) -> Estimate:
    return Estimate(value, math.nan, math.nan, n, None)


def _ranks(values: Floats) -> Floats:
    """Ranks from 1 on; equals have the mean of theirs."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def _correlation(a: Floats, b: Floats) -> float:
    a, b = a - a.mean(), b - b.mean()
    size = math.sqrt(float((a * a).sum()) * float((b * b).sum()))
    return float((a * b).sum()) / size if size else math.nan


def similarity(original: Release, release: Release, items: Ints, seed: int) -> Estimate | None:
    """The root mean square of how much the cosine of two items changed: |both| / √(|one| · |other|).

    Pairs are drawn as they come together: two random items of a random record. The baseline is what it would
    be if no two items went together any more. None where no pair has support.
    """
    one, other = _pairs(original, seed)
    if not len(one):
        return None
    before = _cosines(original, one, other)
    there = (items[one] >= 0) & (items[other] >= 0)
    after = np.zeros_like(before)
    after[there] = _cosines(release, items[one[there]], items[other[there]])
    without = float(np.sqrt((before**2).mean()))
    return InfluenceEstimate.mean((after - before) ** 2).root().estimate(without)


def _pairs(release: Release, seed: int) -> tuple[Ints, Ints]:
    draw = generator(seed, "utility pairs")
    records = draw.choice(np.flatnonzero(release.lengths > 1), PAIRS)
    start, length = release.by_record.start[records], release.lengths[records]
    first = draw.integers(length)
    second = (first + draw.integers(1, length)) % length
    pair = np.sort(release.by_record.item[np.stack([start + first, start + second])].astype(np.int64), axis=0)
    pair = np.unique(pair[:, (release.support[pair] >= SUPPORT).all(axis=0)], axis=1)
    return pair[0], pair[1]


def _cosines(release: Release, one: Ints, other: Ints) -> Floats:
    whole = csc_array(history_matrix(release))
    both = np.asarray(whole[:, one].multiply(whole[:, other]).sum(axis=0))
    return both / np.sqrt(release.support[one] * release.support[other].astype(np.float64))


class Entries(NamedTuple):
    """Of people's entries the share that is still there, in the record that stands for them; and how far the
    values (as numbers) and times (in days) of those are off, where both have them."""

    kept: Estimate
    value_difference: Estimate | None
    time_difference: Estimate | None


def entries(safer: Sanitized, people: Ints, old: Floats, new: Floats) -> Entries:
    """How the entries of these people of the original came through; `old` and `new` are the numbers of the
    value codes of the original and of the release."""
    original, side = safer.original, safer.original.by_record
    length = original.lengths[people]
    whose = np.repeat(np.arange(len(people)), length)
    at = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length - side.start[people], length)
    place = _places(
        safer, safer.mapping.representatives[people], safer.mapping.item_codes[side.item[at]], length
    )
    there = place >= 0
    off = np.abs(_numbers(side.value, at, old) - _numbers(safer.by_record.value, place, new))
    days = np.abs(_days(original, side.time, at) - _days(safer, safer.by_record.time, place))
    share = np.bincount(whose, there, len(people)) / length
    return Entries(
        InfluenceEstimate.mean(share).estimate(1.0), _mean_of(off, whose, there), _mean_of(days, whose, there)
    )


def _places(release: Release, stands: Ints, item: Ints, length: Ints) -> Ints:
    """Where the items of people, `length` for each, stand among the entries of who stands for them; -1 where
    they do not."""
    side, ends, found = release.by_record, np.cumsum(length), np.full(len(item), -1)
    for one, end, many in zip(stands.tolist(), ends.tolist(), length.tolist(), strict=True):
        if one < 0:
            continue
        own, asked = side.item[side.start[one] : side.start[one + 1]], item[end - many : end]
        near = np.minimum(np.searchsorted(own, np.maximum(asked, 0)), len(own) - 1)
        found[end - many : end] = np.where(own[near] == asked, side.start[one] + near, -1)
    return found


def _numbers(column: Any, place: Ints, values: Floats) -> Floats:
    code = np.full(len(place), len(values) - 1) if column is None else column[np.maximum(place, 0)]
    return np.asarray(np.where(place < 0, np.nan, values[code]))


def _days(release: Release, column: Any, place: Ints) -> Floats:
    """Times in days since 1970; NaN where there is none."""
    if column is None or release.clock is None:
        return np.full(len(place), np.nan)
    code = column[np.maximum(place, 0)].astype(np.int64)
    days = (code + release.clock.origin) * days_per_unit(release)
    return np.asarray(np.where((place < 0) | (code == release.span), np.nan, days))


def _mean_of(off: Floats, whose: Ints, there: NDArray[np.bool_]) -> Estimate | None:
    """The mean over people of their mean; None where nobody has any."""
    known = there & ~np.isnan(off)
    count = np.bincount(whose, known)
    some = count > 0
    if not some.any():
        return None
    return InfluenceEstimate.mean(np.bincount(whose, np.where(known, off, 0.0))[some] / count[some]).estimate(
        0.0
    )
