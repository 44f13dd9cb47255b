"""The queries: 2 to 10 facts about random people, with exact values and days off by up to 14."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import standout as so
from standout.know.facts import KnownFacts

__all__ = ["DRAWS", "SIZES", "draw_targets", "first_of", "mixed", "observed", "one_by_one", "redrawn", "repeated"]

SIZES = range(2, 11)
DRAWS = 8
DAYS_OFF = 14


def draw_targets(release: so.Release, count: int) -> NDArray[np.int64]:
    """Indices of random records with enough entries; without repeats if there are enough of them."""
    long_enough = np.flatnonzero(release.lengths >= SIZES[-1])
    draw = np.random.default_rng(1)
    return draw.choice(long_enough, count, replace=count > len(long_enough))


def observed(release: so.Release, count: int, days_off: int = DAYS_OFF) -> KnownFacts:
    """10 facts about each of `count` people."""
    adversary = so.Adversary(knows=SIZES[-1], value_error=0, time_error=days_off)
    return adversary.observe_all(release, draw_targets(release, count), seed=1)


def mixed(release: so.Release, count: int) -> KnownFacts:
    """The first 2 facts about the first person, 3 about the next, … 10, and again from 2."""
    known = observed(release, count)
    return _cut(known, np.arange(count), SIZES[0] + np.arange(count) % len(SIZES))


def first_of(known: KnownFacts, count: int) -> KnownFacts:
    """The first `count` people."""
    return known.select(np.arange(count), np.arange(known.first[count]), known.first[: count + 1])


def one_by_one(known: KnownFacts) -> KnownFacts:
    """The first 2, 3, … 10 facts about each person, as separate queries."""
    query = np.repeat(np.arange(len(known)), len(SIZES))
    return _cut(known, query, np.tile(np.array(SIZES), len(known)))


def repeated(known: KnownFacts, times: int) -> KnownFacts:
    """The same queries several times."""
    return _cut(known, np.tile(np.arange(len(known)), times), np.tile(np.diff(known.first), times))


def redrawn(release: so.Release, count: int) -> KnownFacts:
    """The same 10 facts about each person with 8 draws of noise: values ± 1 level, days ± 14."""
    exact, draw = observed(release, count, days_off=0), np.random.default_rng(1)
    known = _cut(exact, np.repeat(np.arange(count), DRAWS), np.full(count * DRAWS, SIZES[-1]))
    n = len(known.item)
    value = np.clip(known.value + draw.integers(-1, 2, n), 0, release.n_levels - 1)
    return replace(known, value=value, time=known.time + draw.integers(-DAYS_OFF, DAYS_OFF + 1, n))


def _cut(known: KnownFacts, query: NDArray[np.int64], sizes: NDArray[np.int64]) -> KnownFacts:
    """The first facts of each of these queries, as many as `sizes` says."""
    facts = [np.arange(low, low + size) for low, size in zip(known.first[query], sizes, strict=True)]
    return known.select(query, np.concatenate(facts), np.append(0, np.cumsum(sizes)))
