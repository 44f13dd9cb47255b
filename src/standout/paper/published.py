"""Published statistics of the Netflix Prize data, and what follows from them: sizes, record lengths, titles.

The data itself may not be passed on and is not included. The success of attacks is not among these numbers:
it validates the stand-in.
"""

import tomllib
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from standout.core import rng
from standout.core.arrays import Floats, Ints
from standout.core.elementary import exp, log, log1p
from standout.data.build import MemoryPlan
from standout.data.labels import Clock, Labels
from standout.data.release import RecordEntries, code_type


def data_file(name: str) -> str:
    """The text of a data file of this package."""
    return (files("standout.paper") / "data" / name).read_text(encoding="utf-8")


@cache
def published() -> dict[str, dict[str, Any]]:
    """Published numbers by section and name.

    >>> published()["sizes"]["records"], published()["lengths"]["q50"]
    (480189, 96)
    """
    return tomllib.loads(data_file("netflix.toml"))


@cache
def published_support() -> Floats:
    """Number of people who rated the film of each popularity rank, interpolated on logarithmic scales.

    >>> support = published_support()
    >>> len(support), round(support[0]), round(support[-1])
    (17770, 233391, 3)
    """
    rank, records = _columns("netflix-support.csv")
    support = np.minimum.accumulate(exp(np.interp(log(np.arange(1, rank[-1] + 1)), log(rank), log(records))))
    support[-1] = published()["support"]["min"]
    support.flags.writeable = False
    return support


@cache
def published_lengths() -> Ints:
    """Number of people with exactly 2 … 100 ratings (two rows), including those that the contest held back."""
    return _columns("netflix-lengths.csv")


def _columns(name: str) -> Ints:
    return np.array([line.split(",") for line in data_file(name).splitlines()[1:]], np.int64).T


LEVELS = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
FIRST, LAST = published()["dates"]["first"], published()["dates"]["last"]
CLOCK = Clock("day", (FIRST - date(1970, 1, 1)).days, (LAST - FIRST).days + 1)
END = CLOCK.span - 1


def empty_entries(start: Ints, items: int, span: int, memory: MemoryPlan) -> RecordEntries:
    """Entries by record with ratings from 1 to 5 and times, to be filled."""
    n = int(start[-1])
    types = code_type(items), code_type(len(LEVELS) + 1), code_type(span + 1)
    return RecordEntries(start, *(memory.empty(n, each) for each in types))


def invented_titles(count: int, seed: int) -> Labels:
    """Different titles, `count` of them."""
    words = tomllib.loads(data_file("titles.toml"))
    first, second, forms = words["first"], words["second"], words["forms"]
    plain = len(first) * len(second) * len(forms)
    titles = []
    for number in rng.generator(seed, "titles").permutation(max(plain, count))[:count].tolist():
        sequel, combination = divmod(number, plain)
        form, pair = divmod(combination, len(first) * len(second))
        title = forms[form].format(first[pair // len(second)], second[pair % len(second)])
        for vowel in "AEIU":
            title = title.replace(f"A {vowel}", f"An {vowel}")
        titles.append(f"{title} {sequel + 1}" if sequel else title)
    return Labels.of(titles)


# Record lengths: the published table and quantiles, scaled to any size.
#
# The paper's Figures 8 and 9 seem to count all ratings of a person. For the contest, Netflix held back the
# latest 9 ratings, or half of them for people with fewer than 18. It published two thirds of these, drawn at
# random, without their values: the qualifying set. So the release has L minus a binomial number of a person's L
# ratings. This agrees with the published numbers: 1,903 people with 2 ratings leave 1,269 with one, and the
# qualifying set has 2.817 million entries.


TAIL = (
    (0.53, 113.1), (0.57, 130.1), (0.61, 150.8), (0.65, 176.1), (0.7, 215.7), (0.75, 265.0), (0.8, 327.6),
    (0.85, 414.7), (0.9, 547.0), (0.925, 645.7), (0.95, 785.0), (0.97, 966.2), (0.98, 1118.7), (0.99, 1396.0),
    (0.995, 1679.2), (0.998, 2080.1), (0.999, 2491.0), (0.9995, 3119.0), (0.9999, 5454.0), (0.99997, 7732.2),
)  # fmt: skip
"""(quantile, ratings of a person) beyond the published table: smooth between the published quantiles, and
chosen such that the mean, the deviation and the shares of the most active people are met."""
LONGEST = 17_575
LARGEST_STRETCH = 0.1
HELD_BACK, PUBLISHED_SHARE = 9, 2 / 3


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

    def rounded(factor: float) -> Ints:
        return np.clip(np.rint(factor * shape), 1, items).astype(np.int64)

    low, high = 0.0, float(items) / float(shape.min())
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if int(rounded(middle).sum()) < entries else (low, middle)
    lengths = rounded(low)
    while missing := entries - int(lengths.sum()):
        step = 1 if missing > 0 else -1
        free = np.flatnonzero(lengths < items if step > 0 else lengths > 1)
        lengths[draw.permutation(free)[: abs(missing)]] += step
    return lengths


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
