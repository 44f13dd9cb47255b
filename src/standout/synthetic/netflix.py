"""A stand-in for the Netflix Prize data, calibrated on its published statistics and on nothing else.

The constants here were set by the numbers in `published`; docs/standin.md tells how, and `standout synthesize
--check` holds a release against them. How well attacks do on the stand-in was not used: it is the validation.
"""

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from statistics import NormalDist
from typing import Any

import numpy as np

from standout.core import rng
from standout.core.arrays import Floats, Ints, offsets
from standout.core.elementary import exp, log, log1p, power
from standout.core.progress import Progress
from standout.release.clock import Clock
from standout.release.model import RecordEntries, code_type
from standout.synthetic import popularity
from standout.synthetic.histories import Calendar, Films, People, draw_films, fill, sessions_by_quarter
from standout.synthetic.lengths import lengths
from standout.synthetic.published_statistics import netflix

__all__ = ["CLOCK", "LEVELS", "columns"]


LEVELS = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
EPOCH = date(1970, 1, 1)
FIRST, LAST = netflix()["dates"]["first"], netflix()["dates"]["last"]
CLOCK = Clock("day", (FIRST - EPOCH).days, (LAST - FIRST).days + 1)
END = CLOCK.span - 1

JOINED = (
    (0.0, 0), (0.01, 14), (0.1, 106), (0.25, 220), (0.5, 421), (0.75, 800), (0.9, 1270), (0.97, 1800),
    (0.99, 2080), (1.0, END),
)  # fmt: skip
"""Days from a person's first rating to the end, by quantile: 0.1 and 0.5 are published, the rest by spans."""
EARLY = 0.2
"""Who has more ratings joined earlier: correlation of normal scores."""
GONE = 2.8
"""The share of those days after the last rating is a uniform number to this power."""
BEGINS = ((15, 1.95), (60, 2.05), (180, 4.3), (550, 10.0), (1500, 14.0), (10_000, 22.0))
"""How readily a person of so many ratings begins a new session, as many ratings as this are worth."""
HEAD, HEAD_LENGTH, HEAD_SPREAD = -0.24, 0.44, 1.36
"""Taste for the head: logistic in the logarithm of the length, and how people differ."""
NEW = ((1, 0.9), (100, 0.9), (1000, 0.4), (17_770, 0.35))
"""Films of a rank that came out during the period."""
LATE = ((1, 0.25), (100, 0.25), (1000, 0.9), (17_770, 1.0))
"""How late: the day is a uniform number to this power, as a share of the time until NEWEST."""
NEWEST = ((1, 0.9), (100, 0.9), (1000, 1.0), (17_770, 1.0))
DELAY = ((1, 40.0), (100, 40.0), (1000, 150.0), (17_770, 300.0))
"""Days after which they are rated, on average."""
MOOD, MOOD_LENGTH = 0.48, -0.1
"""How high a person's ratings are: the deviation, and how it goes with the length."""
APPEAL, APPEAL_POPULAR, APPEAL_SPREAD = 0.475, 0.44, -0.18
"""How high a film's ratings are: the deviation, and how the height and the deviation go with popularity."""
SPREAD, SPREAD_LENGTH, SPREAD_PEOPLE, SPREAD_POPULAR = 1.1, -0.06, 0.15, -0.09
"""The rest: its deviation, how that goes with length and popularity, and how people differ in it."""
SAMPLE = 40_000
"""So many people are tried while the calendar, the weights of films and the cuts of ratings are set."""
ROUNDS, LAST_ROUNDS, CORRECTIONS, BOLDNESS = 24, 3, 4, 1.6
STRIDE = 1 << 12


def columns(
    records: int, rank: Floats, entries: int, seed: int, threads: int, progress: Progress
) -> RecordEntries:
    """Entries by record, of items that have these ranks among Netflix's; one may be left without any."""
    items = len(rank)
    start = offsets(lengths(records, items, entries, seed))
    people = _people(start, seed)
    stream = rng.key(seed, "netflix", "histories")
    calendar = _calendar(stream, people)
    films = _films(people, rank, entries, seed)
    cuts = _cuts(people, films, seed)
    made = RecordEntries(
        start,
        np.empty(entries, code_type(items)),
        np.empty(entries, code_type(len(LEVELS) + 1)),
        np.empty(entries, code_type(CLOCK.span + 1)),
    )

    def part(low: int) -> int:
        high = min(low + STRIDE, records)
        fill(stream, low, high, people, films, calendar, cuts, made)
        return high

    with ThreadPoolExecutor(threads) as pool:
        for done in pool.map(part, range(0, records, STRIDE)):
            progress("making records", done, records)
    return made


def _people(start: Ints, seed: int) -> People:
    """What each person is like, by draws that go with the length of the record."""
    length = np.diff(start)
    draw = rng.generator(seed, "netflix", "people")
    count = len(length)
    long = _scores(length + draw.random(count), draw)
    joined = _ranks(_with(long, EARLY, draw)) / count
    first = END - np.rint(np.interp(joined, *np.array(JOINED).T)).astype(np.int64)
    first = _in_week(first, draw.random(count))
    last = END - np.rint((END - first) * power(draw.random(count), GONE)).astype(np.int64)
    usual = netflix()["lengths"]["mean"] / (start[-1] / count)
    head = HEAD - HEAD_LENGTH * log(usual * length / 100) + HEAD_SPREAD * draw.standard_normal(count)
    return People(
        start,
        first,
        last,
        np.interp(log(length), *_logs(BEGINS)),
        1 / (1 + exp(-head)),
        MOOD * _with(long, MOOD_LENGTH, draw),
        SPREAD * exp(SPREAD_LENGTH * long + SPREAD_PEOPLE * draw.standard_normal(count)),
    )


def _films(people: People, rank: Floats, entries: int, seed: int) -> Films:
    """What each rank is: an item, when it came out, how it is liked, how often it is drawn."""
    draw = rng.generator(seed, "netflix", "films")
    items, records = len(rank), len(people.first)
    new, late, newest, delay = (np.interp(log(rank), *_logs(knots)) for knots in (NEW, LATE, NEWEST, DELAY))
    day = (END * newest * power(draw.random(items), late)).astype(np.int64)
    released = np.where(draw.random(items) < new, day, -1)
    wanted = popularity.supports(rank, records, entries)
    weight = popularity.fit(rank, wanted, np.diff(people.start).astype(np.float64), people.head)
    weight *= _made_up(wanted / records, np.searchsorted(np.sort(people.last), released) / records)
    share = (rank - 0.5) / netflix()["sizes"]["items"]
    popular = np.array([NormalDist().inv_cdf(1 - part) for part in share])
    item = draw.permutation(items).astype(np.uint32)
    own = APPEAL * exp(APPEAL_SPREAD * popular) * draw.standard_normal(items)
    appeal = APPEAL_POPULAR * (1 - 2 * share) + own
    films = Films(
        item, released, delay, appeal, exp(SPREAD_POPULAR * popular), *popularity.tables(rank, weight)
    )
    for _ in range(CORRECTIONS):
        found = _drawn(people, films, seed)[1]
        weight *= popularity.correction(wanted, found)
        films = films._replace(**popularity.tables(rank, weight)._asdict())
    return films


def _made_up(share: Floats, gone: Floats) -> Floats:
    """What a film gains with those who stayed until it came out, so that it loses nothing by the others."""
    among_others = np.minimum(share / (1 - np.minimum(gone, 0.9)), 0.99)
    return np.asarray(log1p(-among_others) / log1p(-np.minimum(share, 0.99)))


def _some(people: People) -> Ints:
    """Some people, with records of all lengths as all have them."""
    step = max(1, len(people.first) // SAMPLE)
    return np.argsort(np.diff(people.start), kind="stable")[step // 2 :: step]


def _drawn(people: People, films: Films, seed: int) -> tuple[Ints, Ints]:
    """Films that some people would have: for each entry its person and its rank."""
    chosen = _some(people)
    length = np.diff(people.start)[chosen]
    start = offsets(length)
    ranks = np.empty(start[-1], np.int64)
    draw_films(rng.key(seed, "netflix", "sample"), chosen, people, films, start, ranks)
    return np.repeat(chosen, length), ranks


def _calendar(stream: np.uint64, people: People) -> Calendar:
    """Activity by quarter with which the ratings of the quarters come out as published."""
    quarter, target = _quarters()
    some, all_of_them = _some(people), np.arange(len(people.first))
    active = target.copy()
    for left in reversed(range(ROUNDS)):
        calendar = Calendar(quarter, np.concatenate([[0.0], np.cumsum(active)]), _weekdays())
        if left == 0:
            break
        counts = np.zeros(len(target))
        chosen = some if left > LAST_ROUNDS else all_of_them
        sessions_by_quarter(stream, chosen, people, calendar, counts)
        active *= power(np.clip(target / np.maximum(counts / counts.sum(), 1e-9), 0.2, 5.0), BOLDNESS)
        active /= active.sum()
    return calendar


def _quarters() -> tuple[Ints, Floats]:
    """The days on which quarters begin, one past the end, and the quarters' shares of all ratings."""
    dates = netflix()["dates"]
    begins = [FIRST] + [date(year, month, 1) for year in range(2000, 2006) for month in (1, 4, 7, 10)]
    days = np.array([(day - FIRST).days for day in begins] + [END + 1])
    years = np.array(dates["years"])
    grown = np.interp(np.arange(16) / 4 - 1.5 / 4, np.arange(6), log(years))
    shares = exp(grown).reshape(4, 4)
    shares *= (years[:4] / shares.sum(axis=1))[:, None]
    known = [*shares.ravel(), *dates["quarters_2004"], *dates["quarters_2005"]]
    return days, np.array([1e-5, *known]) / (1e-5 + sum(known))


def _cuts(people: People, films: Films, seed: int) -> Floats:
    """Where ratings change, so that the levels have their published shares."""
    person, rank = _drawn(people, films, seed)
    noise = np.sqrt(3) * (rng.generator(seed, "netflix", "cuts").random((4, len(rank))).sum(axis=0) - 2)
    stars = people.mood[person] + films.appeal[rank] + people.spread[person] * films.spread[rank] * noise
    return np.asarray(np.quantile(stars, np.cumsum(netflix()["ratings"]["shares"])[:-1]))


def _in_week(day: Ints, u: Floats) -> Ints:
    """A day of the same week, by the weekdays' shares."""
    moved: Ints = day - day % 7 + np.searchsorted(_weekdays()[:-1], u, side="right")
    return np.clip(moved, 0, END)


def _weekdays() -> Floats:
    """The shares of weekdays, added up, from the weekday of the first day on."""
    moved = np.roll(np.array(netflix()["dates"]["weekdays"]), -FIRST.weekday())
    return np.cumsum(moved / moved.sum())


def _scores(size: Floats, draw: np.random.Generator) -> Floats:
    """Normal scores: a normal sample put into the order of the sizes."""
    scores: Floats = np.sort(draw.standard_normal(len(size)))[_ranks(size)]
    return scores


def _logs(knots: Any) -> Floats:
    """Knots for interpolation over logarithms."""
    at, value = np.array(knots, np.float64).T
    return np.array([log(at), value])


def _ranks(size: Floats) -> Ints:
    ranks = np.empty(len(size), np.int64)
    ranks[np.argsort(size, kind="stable")] = np.arange(len(size))
    return ranks


def _with(scores: Floats, correlation: float, draw: np.random.Generator) -> Floats:
    """Normal numbers that go with the scores."""
    return np.asarray(correlation * scores + np.sqrt(1 - correlation**2) * draw.standard_normal(len(scores)))
