"""A stand-in for the Netflix Prize data, calibrated only on its published statistics.

The constants follow from the published numbers, as docs/lab/standin.md explains. `standout synthesize --check`
compares a release with these numbers. The success of attacks was not used for calibration: it validates the
stand-in.
"""

import math
from datetime import date
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core import rng
from standout.core.arrays import Floats, Ints, offsets
from standout.core.elementary import exp, expm1, log, log1p, power
from standout.core.jit import Array, Int, kernel
from standout.core.progress import Progress
from standout.core.threads import drop_pages, map_on_threads
from standout.data.build import MemoryPlan
from standout.data.labels import Clock
from standout.data.release import RecordEntries, code_type
from standout.paper.histories import count_by_quarter, draw_films, fill_entries
from standout.paper.published import published, published_lengths, published_support

LEVELS = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
FIRST, LAST = published()["dates"]["first"], published()["dates"]["last"]
CLOCK = Clock("day", (FIRST - date(1970, 1, 1)).days, (LAST - FIRST).days + 1)
END = CLOCK.span - 1


def empty_entries(start: Ints, items: int, span: int, memory: MemoryPlan) -> RecordEntries:
    """Entries by record with ratings from 1 to 5 and times, to be filled."""
    n = int(start[-1])
    types = code_type(items), code_type(len(LEVELS) + 1), code_type(span + 1)
    return RecordEntries(start, *(memory.empty(n, each) for each in types))


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


# The model of people, films and the calendar, on which the histories depend.


JOINED = (
    (0.0, 0), (0.01, 14), (0.1, 106), (0.25, 220), (0.5, 421), (0.75, 800), (0.9, 1270), (0.97, 1800),
    (0.99, 2080), (1.0, END),
)  # fmt: skip
"""(quantile, days from the first rating to the end): 0.1 and 0.5 are published, others fit the spans."""
EARLY = 0.2
"""People with more ratings joined earlier: correlation of normal scores."""
GONE = 2.8
"""The share of these days that lies after the last rating is a uniform number to this power."""
NEW_SESSION = ((15, 1.95), (60, 2.05), (180, 4.3), (550, 10.0), (1500, 14.0), (10_000, 22.0))
"""(ratings of a person, weight of starting a new session, where each earlier rating has weight 1)."""
HEAD, HEAD_LENGTH, HEAD_SPREAD = -0.24, 0.44, 1.36
"""Taste for the head: logistic in the logarithm of the length, with a deviation between people."""
NEW = ((1, 0.9), (100, 0.9), (1000, 0.4), (17_770, 0.35))
"""(rank, share of films that came out during the period)."""
LATE = ((1, 0.25), (100, 0.25), (1000, 0.9), (17_770, 1.0))
"""(rank, exponent): the day of release is a uniform number to this power, times the days until NEWEST."""
NEWEST = ((1, 0.9), (100, 0.9), (1000, 1.0), (17_770, 1.0))
DELAY = ((1, 40.0), (100, 40.0), (1000, 150.0), (17_770, 300.0))
"""(rank, mean days from release to rating)."""
MOOD, MOOD_LENGTH = 0.48, -0.1
"""A person's mood: the deviation, and its correlation with the length."""
APPEAL, APPEAL_POPULAR, APPEAL_SPREAD = 0.475, 0.44, -0.18
"""A film's appeal: the deviation, and how appeal and deviation depend on popularity."""
SPREAD, SPREAD_LENGTH, SPREAD_PEOPLE, SPREAD_POPULAR = 1.1, -0.06, 0.15, -0.09
"""Noise of a rating: its deviation, and how that depends on length, popularity and the person."""
SAMPLE = 40_000
"""Number of people who are simulated to fit the calendar, the weights of films and the cuts of ratings."""
ROUNDS, LAST_ROUNDS, CORRECTIONS, BOLDNESS = 24, 3, 4, 1.6
STRIDE = 1 << 12


class PersonTraits(NamedTuple):
    """Traits of each person."""

    start: Ints  # offsets of the entries
    first: Ints  # first day
    last: Ints  # last day
    new_session: Floats  # weight of starting a new session
    head: Floats  # taste for popular films
    mood: Floats  # how high the ratings are
    spread: Floats  # how much the ratings differ


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


class FilmTraits(NamedTuple):
    """Traits of each film by popularity rank."""

    item: NDArray[np.uint32]
    released: Ints  # day on which it came out
    delay: Floats  # mean days until it is rated
    appeal: Floats  # how high its ratings are
    spread: Floats  # how much its ratings differ
    popularity: AliasTables


class Calendar(NamedTuple):
    """When people are active."""

    quarter: Ints  # days on which quarters begin
    activity: Floats  # activity up to these days
    weekday: Floats  # cumulative shares of weekdays


class Model(NamedTuple):
    """Everything that a history depends on; `cuts` are the thresholds between ratings."""

    people: PersonTraits
    films: FilmTraits
    calendar: Calendar
    cuts: Floats


def draw_entries(
    lengths: Ints, rank: Floats, seed: int, threads: int, progress: Progress, memory: MemoryPlan
) -> RecordEntries:
    """What people with these numbers of entries have rated, of items with these ranks among Netflix's films.

    Some items may have no entry. Every draw depends only on the seed and the person.
    """
    start, stream = offsets(lengths), rng.key(seed, "netflix", "histories")
    people = _draw_people(start, seed)
    calendar = _fit_calendar(stream, people)
    films = _fit_films(people, rank, int(start[-1]), seed)
    model = Model(people, films, calendar, _rating_cuts(people, films, seed))
    n, columns = len(lengths), empty_entries(start, len(rank), CLOCK.span, memory)

    def fill_part(first: int, last: int) -> int:
        fill_entries(stream, first, last, model, columns)
        return last

    parts = ((first, min(first + STRIDE, n)) for first in range(0, n, STRIDE))
    for last in map_on_threads(fill_part, parts, threads):
        progress("making records", last, n)
        drop_pages()
    return columns


def _draw_people(start: Ints, seed: int) -> PersonTraits:
    """The traits of each person, correlated with the length of the record."""
    length, draw = np.diff(start), rng.generator(seed, "netflix", "people")
    count, weekdays = len(length), _weekdays()[:-1]

    def correlated(correlation: float) -> Floats:
        """Normal numbers with this correlation to the lengths."""
        return np.asarray(correlation * score + np.sqrt(1 - correlation**2) * draw.standard_normal(count))

    size = length + draw.random(count)
    score = np.sort(draw.standard_normal(count))[_ranks(size)]
    joined = _ranks(correlated(EARLY)) / count
    first = END - np.rint(np.interp(joined, *np.array(JOINED).T)).astype(np.int64)
    # another day of the same week, by the shares of weekdays
    first = np.clip(first - first % 7 + np.searchsorted(weekdays, draw.random(count), side="right"), 0, END)
    last = END - np.rint((END - first) * power(draw.random(count), GONE)).astype(np.int64)
    scale = published()["lengths"]["mean"] / (start[-1] / count)
    head = HEAD - HEAD_LENGTH * log(scale * length / 100) + HEAD_SPREAD * draw.standard_normal(count)
    return PersonTraits(
        start=start,
        first=first,
        last=last,
        new_session=_between(NEW_SESSION, length),
        head=1 / (1 + exp(-head)),
        mood=MOOD * correlated(MOOD_LENGTH),
        spread=SPREAD * exp(SPREAD_LENGTH * score + SPREAD_PEOPLE * draw.standard_normal(count)),
    )


def _fit_films(people: PersonTraits, rank: Floats, entries: int, seed: int) -> FilmTraits:
    """The traits of the film of each rank, with weights that give each film its support."""
    draw = rng.generator(seed, "netflix", "films")
    items, records = len(rank), len(people.first)
    new, late, newest, delay = (_between(knots, rank) for knots in (NEW, LATE, NEWEST, DELAY))
    day = (END * newest * power(draw.random(items), late)).astype(np.int64)
    released = np.where(draw.random(items) < new, day, -1)
    expected = expected_supports(rank, records, entries)
    weight = fit_weights(rank, expected, np.diff(people.start).astype(np.float64), people.head)
    # make up for the people who were gone before a film came out
    gone = np.searchsorted(np.sort(people.last), released) / records
    among_others = np.minimum(expected / records / (1 - np.minimum(gone, 0.9)), 0.99)
    weight *= log1p(-among_others) / log1p(-np.minimum(expected / records, 0.99))
    share = (rank - 0.5) / published()["sizes"]["items"]
    popular = np.array([NormalDist().inv_cdf(1 - part) for part in share])
    item = draw.permutation(items).astype(np.uint32)
    deviation = APPEAL * exp(APPEAL_SPREAD * popular) * draw.standard_normal(items)
    films = FilmTraits(
        item=item,
        released=released,
        delay=delay,
        appeal=APPEAL_POPULAR * (1 - 2 * share) + deviation,
        spread=exp(SPREAD_POPULAR * popular),
        popularity=alias_tables(rank, weight),
    )
    group = _groups(items)
    for _ in range(CORRECTIONS):  # by the ranks that a sample of people draw
        _, ranks = _draw_sample(people, films, seed)
        drawn = np.add.reduceat(np.bincount(ranks, minlength=items), group[:-1])
        target = np.add.reduceat(expected, group[:-1]) * (len(ranks) / expected.sum())
        weight *= _interpolate(group, (target + PSEUDO_COUNT) / (drawn + PSEUDO_COUNT))
        films = films._replace(popularity=alias_tables(rank, weight))
    return films


def _sample(people: PersonTraits) -> Ints:
    """A sample of people with the same distribution of record lengths as all people."""
    step = max(1, len(people.first) // SAMPLE)
    return np.argsort(np.diff(people.start), kind="stable")[step // 2 :: step]


def _draw_sample(people: PersonTraits, films: FilmTraits, seed: int) -> tuple[Ints, Ints]:
    """Films that a sample of people would have: the person and the rank of each entry."""
    chosen = _sample(people)
    length = np.diff(people.start)[chosen]
    start = offsets(length)
    ranks = np.empty(start[-1], np.int64)
    draw_films(rng.key(seed, "netflix", "sample"), chosen, people, films, start, ranks)
    return np.repeat(chosen, length), ranks


def _fit_calendar(stream: np.uint64, people: PersonTraits) -> Calendar:
    """Activity by quarter such that the quarters get their published shares of ratings."""
    dates = published()["dates"]
    begins = [FIRST] + [date(year, month, 1) for year in range(2000, 2006) for month in (1, 4, 7, 10)]
    quarter = np.array([(day - FIRST).days for day in begins] + [END + 1])
    years = np.array(dates["years"])
    shares = exp(np.interp(np.arange(16) / 4 - 1.5 / 4, np.arange(6), log(years))).reshape(4, 4)
    shares *= (years[:4] / shares.sum(axis=1))[:, None]
    by_quarter = [*shares.ravel(), *dates["quarters_2004"], *dates["quarters_2005"]]
    target = np.array([1e-5, *by_quarter]) / (1e-5 + sum(by_quarter))
    sample, everybody = _sample(people), np.arange(len(people.first))
    activity = target.copy()
    for rounds_left in reversed(range(ROUNDS)):
        calendar = Calendar(quarter, np.concatenate([[0.0], np.cumsum(activity)]), _weekdays())
        if rounds_left == 0:
            break
        counts = np.zeros(len(target))
        count_by_quarter(stream, sample if rounds_left > LAST_ROUNDS else everybody, people, calendar, counts)
        activity *= power(np.clip(target / np.maximum(counts / counts.sum(), 1e-9), 0.2, 5.0), BOLDNESS)
        activity /= activity.sum()
    return calendar


def _rating_cuts(people: PersonTraits, films: FilmTraits, seed: int) -> Floats:
    """Thresholds between ratings such that the levels get their published shares."""
    person, rank = _draw_sample(people, films, seed)
    noise = np.sqrt(3) * (rng.generator(seed, "netflix", "cuts").random((4, len(rank))).sum(axis=0) - 2)
    stars = people.mood[person] + films.appeal[rank] + people.spread[person] * films.spread[rank] * noise
    return np.asarray(np.quantile(stars, np.cumsum(published()["ratings"]["shares"])[:-1]))


def _weekdays() -> Floats:
    """Cumulative shares of weekdays, beginning with the weekday of the first day."""
    shares = np.roll(np.array(published()["dates"]["weekdays"]), -FIRST.weekday())
    return np.cumsum(shares / shares.sum())


def _between(knots: tuple[tuple[float, float], ...], at: Array) -> Floats:
    """The knots (x, y), interpolated over the logarithm of x."""
    x, y = np.array(knots, np.float64).T
    return np.asarray(np.interp(log(at), log(x), y))


def _ranks(size: Floats) -> Ints:
    return np.argsort(np.argsort(size, kind="stable"))


# Weights with which people choose films, such that every film gets the support it should have.
#
# A person with a taste π for the head draws films without repeats: with probability π by a popularity that is
# damped beyond the head, otherwise by popularity. A film of weight w is among the person's n films with a
# probability near 1 - exp(-t·w), where t makes these probabilities add up to n. The supports that follow from
# the weights are sums over classes of people. The weights are corrected until the supports are right, which
# needs no random draws.


HEAD_POPULARITY, DAMPING = 50.0, 1.7
"""The rank (of 17,770) beyond which the damped popularity falls off, and how steeply."""
LENGTH_CLASSES, TASTE_CLASSES, WEIGHT_ROUNDS, NEWTON_STEPS = 64, 8, 60, 12
PSEUDO_COUNT = 20
"""Added to counts of draws, so that few draws change a weight little."""
LARGEST_SHARE = 0.97
"""Largest share of people who should have an item."""


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
    target, damping = (np.add.reduceat(column, group[:-1]) / size for column in (expected, _damping(rank)))
    # classes of people with similar length and taste: number of people, mean length, mean taste
    by_length = np.clip(log(lengths) / math.log(items + 1.0) * LENGTH_CLASSES, 0, LENGTH_CLASSES - 1).astype(np.int64)
    by_taste = np.clip(taste * TASTE_CLASSES, 0, TASTE_CLASSES - 1).astype(np.int64)
    class_of = by_length * TASTE_CLASSES + by_taste
    people = np.bincount(class_of).astype(np.float64)
    used = people > 0
    length, head = (np.bincount(class_of, column)[used] / people[used] for column in (lengths, taste))
    people, weight = people[used], target / (target * size).sum()
    for _ in range(WEIGHT_ROUNDS):
        damped = weight * damping
        damped /= (damped * size).sum()
        mixed = head[:, None] * damped + (1 - head[:, None]) * weight
        probability = -expm1(-_scale(mixed, size, length)[:, None] * mixed)
        support = (people[:, None] * probability).sum(axis=0)
        weight *= target / np.maximum(support, 1e-9 * target)
        weight /= (weight * size).sum()
    return expected * _interpolate(group, weight / target)


def _scale(mixed: Floats, size: Ints, length: Floats) -> Floats:
    """The t of each class, by Newton's method from below: the sum of probabilities is concave in t."""
    t = length.copy()
    length = np.minimum(length, size.sum() - 0.5)
    for _ in range(NEWTON_STEPS):
        left = exp(-t[:, None] * mixed)
        t += (length - ((1 - left) * size).sum(axis=1)) / np.maximum((left * mixed * size).sum(axis=1), 1e-12)
    return t


def _interpolate(group: Ints, factor: Floats) -> Floats:
    """A factor for every rank from one for each group, interpolated on logarithmic scales."""
    middle = np.sqrt((group[:-1] + 1.0) * group[1:])
    return exp(np.interp(log(np.arange(1, group[-1] + 1)), log(middle), log(factor)))


def _damping(rank: Floats) -> Floats:
    return 1 / (1 + power(rank / HEAD_POPULARITY, DAMPING))


def _groups(items: int) -> Ints:
    """Edges of groups of ranks with similar popularity: the first ranks alone, then growing groups."""
    edges = np.unique(np.rint(np.geomspace(1, items + 1, 240)).astype(np.int64))
    return np.union1d(np.arange(min(30, items) + 1), edges - 1)


def alias_tables(rank: Floats, weight: Floats) -> AliasTables:
    """Alias tables of the weights and of the damped weights."""
    damped = weight * _damping(rank)
    shares = weight / weight.sum(), damped / damped.sum()
    tables = []
    for share in shares:
        keep, other = share * len(share), np.arange(len(share))
        low, high = np.flatnonzero(keep < 1.0), np.flatnonzero(keep >= 1.0)
        _fill_alias_table(keep, other, np.append(low, high[::-1]), len(low))
        tables += [keep, other]
    return AliasTables(*shares, *tables)


@kernel
def _fill_alias_table(keep: Array, other: Array, stack: Array, low: Int) -> None:
    """Fill the table by Vose's method: entries below 1 are paired with entries above 1, which follow in the stack."""
    n, high = len(keep), low
    while low > 0 and high < n:
        low -= 1
        small, large = stack[low], stack[high]
        other[small] = large
        keep[large] -= 1.0 - keep[small]
        if keep[large] < 1.0:
            high += 1
            stack[low] = large
            low += 1
    keep[stack[:low]] = 1.0
    keep[stack[high:]] = 1.0
