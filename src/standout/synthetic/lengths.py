"""How long records are: the published table and quantiles, scaled to any number of people and entries.

The paper's Figures 8 and 9 seem to count all of a person's ratings. For the contest Netflix held back the
latest 9, or half of them where a person had fewer than 18, and of these published two thirds, drawn at
random, without their values: the qualifying set. So of L ratings the release has L less a binomial number.
This agrees with what is published: 1,903 people with 2 ratings leave 1,269 with one, and the qualifying set
comes to 2.817 million.
"""

import numpy as np

from standout.core import rng
from standout.core.arrays import Floats, Ints
from standout.core.elementary import exp, log, log1p
from standout.synthetic.published_statistics import lengths_in_all, netflix

__all__ = ["fitted", "lengths", "qualifying"]


TAIL = (
    (0.53, 113.1), (0.57, 130.1), (0.61, 150.8), (0.65, 176.1), (0.7, 215.7), (0.75, 265.0), (0.8, 327.6),
    (0.85, 414.7), (0.9, 547.0), (0.925, 645.7), (0.95, 785.0), (0.97, 966.2), (0.98, 1118.7), (0.99, 1396.0),
    (0.995, 1679.2), (0.998, 2080.1), (0.999, 2491.0), (0.9995, 3119.0), (0.9999, 5454.0), (0.99997, 7732.2),
)  # fmt: skip
"""Quantiles of all ratings of a person beyond the published table: smooth between the published ones, such
that mean, deviation and the shares of the most active are met."""
LONGEST = 17_575
NEAR = 0.1
HELD_BACK = 9
PUBLISHED_SHARE = 2 / 3


def lengths(records: int, items: int, entries: int, seed: int) -> Ints:
    """Entries of each person, in random order, from 1 to `items`, which add up to `entries`."""
    shape = _in_all(records, seed) - qualifying(records, seed)
    beyond = np.maximum(shape - lengths_in_all()[0][-1], 0)
    stretch = (entries - shape.sum()) / max(beyond.sum(), 1.0)
    if abs(stretch) < NEAR:  # what the table says stays as it is
        shape += stretch * beyond
    return fitted(shape, items, entries, rng.generator(seed, "netflix", "rounding"))


def qualifying(records: int, seed: int) -> Ints:
    """How many ratings of each person were published without a value, for the contest (Figure 7)."""
    held = np.minimum(HELD_BACK, np.floor(_in_all(records, seed)).astype(np.int64) // 2)
    return rng.generator(seed, "netflix", "qualifying").binomial(held, PUBLISHED_SHARE)


def fitted(shape: Floats, items: int, entries: int, draw: np.random.Generator) -> Ints:
    """Whole lengths from 1 to `items` in proportion to `shape` that add up to `entries`."""
    low, high = 0.0, float(items) / float(shape.min())
    for _ in range(80):
        middle = (low + high) / 2
        total = int(_clipped(middle * shape, items).sum())
        low, high = (middle, high) if total < entries else (low, middle)
    found = _clipped(low * shape, items)
    while missing := entries - int(found.sum()):
        step = 1 if missing > 0 else -1
        free = np.flatnonzero(found < items if step > 0 else found > 1)
        found[draw.permutation(free)[: abs(missing)]] += step
    return found


def _clipped(shape: Floats, items: int) -> Ints:
    return np.clip(np.rint(shape), 1, items).astype(np.int64)


def _in_all(records: int, seed: int) -> Floats:
    """All ratings of each person: an even sweep through the published distribution, in random order."""
    position = (rng.generator(seed, "netflix", "lengths").permutation(records) + 0.5) / records
    entries, people = lengths_in_all()
    below = np.cumsum(people) / netflix()["sizes"]["records"]
    table = entries[np.minimum(np.searchsorted(below, position), len(entries) - 1)].astype(np.float64)
    quantile, length = np.array([(below[-1], entries[-1] + 0.5), *TAIL, (1.0, LONGEST)]).T
    quantile[-1] = 1 - 0.5 / netflix()["sizes"]["records"]
    beyond = exp(np.interp(-log1p(-position), -log1p(-quantile), log(length)))
    return np.where(position < below[-1], table, beyond)
