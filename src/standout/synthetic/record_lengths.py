"""Record lengths of the stand-in: the published table and quantiles, scaled to any size.

The paper's Figures 8 and 9 seem to count all ratings of a person. For the contest, Netflix held back the
latest 9 ratings, or half of them for people with fewer than 18. It published two thirds of these, drawn at
random, without their values: the qualifying set. So the release has L minus a binomial number of a person's L
ratings. This agrees with the published numbers: 1,903 people with 2 ratings leave 1,269 with one, and the
qualifying set has 2.817 million entries.
"""

import numpy as np

from standout.core import rng
from standout.core.arrays import Floats, Ints
from standout.core.elementary import exp, log, log1p
from standout.synthetic.published_statistics import published, published_lengths

__all__ = ["fit_lengths", "qualifying_entries", "record_lengths"]


TAIL = (
    (0.53, 113.1), (0.57, 130.1), (0.61, 150.8), (0.65, 176.1), (0.7, 215.7), (0.75, 265.0), (0.8, 327.6),
    (0.85, 414.7), (0.9, 547.0), (0.925, 645.7), (0.95, 785.0), (0.97, 966.2), (0.98, 1118.7), (0.99, 1396.0),
    (0.995, 1679.2), (0.998, 2080.1), (0.999, 2491.0), (0.9995, 3119.0), (0.9999, 5454.0), (0.99997, 7732.2),
)  # fmt: skip
"""(quantile, ratings of a person) beyond the published table: smooth between the published quantiles, and
chosen such that the mean, the deviation and the shares of the most active people are met."""
LONGEST = 17_575
LARGEST_STRETCH = 0.1
HELD_BACK = 9
PUBLISHED_SHARE = 2 / 3


def record_lengths(records: int, items: int, entries: int, seed: int) -> Ints:
    """Number of entries of each person, in random order, from 1 to `items`, with the sum `entries`."""
    shape = _all_ratings(records, seed) - qualifying_entries(records, seed)
    beyond = np.maximum(shape - published_lengths()[0][-1], 0)
    stretch = (entries - shape.sum()) / max(beyond.sum(), 1.0)
    if abs(stretch) < LARGEST_STRETCH:  # only the tail is scaled, so that the published table is kept
        shape += stretch * beyond
    return fit_lengths(shape, items, entries, rng.generator(seed, "netflix", "rounding"))


def qualifying_entries(records: int, seed: int) -> Ints:
    """Number of ratings of each person that the contest published without a value  [Figure 7]."""
    held = np.minimum(HELD_BACK, np.floor(_all_ratings(records, seed)).astype(np.int64) // 2)
    return rng.generator(seed, "netflix", "qualifying").binomial(held, PUBLISHED_SHARE)


def fit_lengths(shape: Floats, items: int, entries: int, draw: np.random.Generator) -> Ints:
    """Whole lengths from 1 to `items`, proportional to `shape`, with the sum `entries`."""
    low, high = 0.0, float(items) / float(shape.min())
    for _ in range(80):
        middle = (low + high) / 2
        total = int(_rounded(middle * shape, items).sum())
        low, high = (middle, high) if total < entries else (low, middle)
    lengths = _rounded(low * shape, items)
    while missing := entries - int(lengths.sum()):
        step = 1 if missing > 0 else -1
        free = np.flatnonzero(lengths < items if step > 0 else lengths > 1)
        lengths[draw.permutation(free)[: abs(missing)]] += step
    return lengths


def _rounded(shape: Floats, items: int) -> Ints:
    return np.clip(np.rint(shape), 1, items).astype(np.int64)


def _all_ratings(records: int, seed: int) -> Floats:
    """All ratings of each person: evenly spaced quantiles of the published distribution, shuffled."""
    quantile = (rng.generator(seed, "netflix", "lengths").permutation(records) + 0.5) / records
    entries, people = published_lengths()
    below = np.cumsum(people) / published()["sizes"]["records"]
    in_table = entries[np.minimum(np.searchsorted(below, quantile), len(entries) - 1)].astype(np.float64)
    knot, length = np.array([(below[-1], entries[-1] + 0.5), *TAIL, (1.0, LONGEST)]).T
    knot[-1] = 1 - 0.5 / published()["sizes"]["records"]
    beyond = exp(np.interp(-log1p(-quantile), -log1p(-knot), log(length)))
    return np.where(quantile < below[-1], in_table, beyond)
