"""A stand-in for the Netflix Prize data, calibrated only on its published statistics.

The constants follow from the numbers in `published_statistics`, as docs/standin.md explains. `standout
synthesize --check` compares a release with these numbers. The success of attacks was not used for
calibration: it validates the stand-in.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from statistics import NormalDist

import numpy as np

from standout.core import rng
from standout.core.arrays import Floats, Ints, offsets
from standout.core.elementary import exp, log, log1p, power
from standout.core.progress import Progress
from standout.release.clock import Clock
from standout.release.model import RecordEntries, code_type
from standout.synthetic import popularity
from standout.synthetic.histories import draw_films, fill_entries
from standout.synthetic.history_model import Calendar, FilmTraits, Model, PersonTraits
from standout.synthetic.published_statistics import published
from standout.synthetic.rating_days import count_by_quarter
from standout.synthetic.record_lengths import record_lengths

__all__ = ["CLOCK", "LEVELS", "Histories", "generate_entries"]


LEVELS = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
EPOCH = date(1970, 1, 1)
FIRST, LAST = published()["dates"]["first"], published()["dates"]["last"]
CLOCK = Clock("day", (FIRST - EPOCH).days, (LAST - FIRST).days + 1)
END = CLOCK.span - 1

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


@dataclass(frozen=True, slots=True)
class Histories:
    """What people have rated, for any range of them. Every draw depends only on the seed and the person."""

    start: Ints
    stream: np.uint64
    model: Model

    @classmethod
    def draw(cls, lengths: Ints, rank: Floats, seed: int) -> "Histories":
        """Fit the model to people with these numbers of entries, and items with these ranks."""
        start, stream = offsets(lengths), rng.key(seed, "netflix", "histories")
        return cls(start, stream, _model(start, rank, stream, seed))

    def entries(self, low: int, high: int, threads: int, progress: Progress) -> RecordEntries:
        """Entries of people low … high - 1; some items may have none."""
        begin, end = (int(position) for position in self.start[[low, high]])
        columns = RecordEntries(
            self.start - begin,
            np.empty(end - begin, code_type(len(self.model.films.item))),
            np.empty(end - begin, code_type(len(LEVELS) + 1)),
            np.empty(end - begin, code_type(CLOCK.span + 1)),
        )

        def fill_part(first: int) -> int:
            last = min(first + STRIDE, high)
            fill_entries(self.stream, first, last, self.model, columns)
            return last

        with ThreadPoolExecutor(threads) as pool:
            for last in pool.map(fill_part, range(low, high, STRIDE)):
                progress("making records", last - low, high - low)
        return columns._replace(start=columns.start[low : high + 1].copy())


def generate_entries(
    records: int, rank: Floats, entries: int, seed: int, threads: int, progress: Progress
) -> RecordEntries:
    """Entries by record, for items with these ranks among Netflix's films; some items may have none."""
    lengths = record_lengths(records, len(rank), entries, seed)
    return Histories.draw(lengths, rank, seed).entries(0, records, threads, progress)


def _model(start: Ints, rank: Floats, stream: np.uint64, seed: int) -> Model:
    """Everything that the histories depend on."""
    people = _draw_people(start, seed)
    calendar = _fit_calendar(stream, people)
    films = _fit_films(people, rank, int(start[-1]), seed)
    return Model(people, films, calendar, _rating_cuts(people, films, seed))


def _draw_people(start: Ints, seed: int) -> PersonTraits:
    """The traits of each person, correlated with the length of the record."""
    length = np.diff(start)
    draw = rng.generator(seed, "netflix", "people")
    count = len(length)
    length_score = _normal_scores(length + draw.random(count), draw)
    joined = _ranks(_correlated(length_score, EARLY, draw)) / count
    first = END - np.rint(np.interp(joined, *np.array(JOINED).T)).astype(np.int64)
    first = _move_within_week(first, draw.random(count))
    last = END - np.rint((END - first) * power(draw.random(count), GONE)).astype(np.int64)
    scale = published()["lengths"]["mean"] / (start[-1] / count)
    head = HEAD - HEAD_LENGTH * log(scale * length / 100) + HEAD_SPREAD * draw.standard_normal(count)
    return PersonTraits(
        start=start,
        first=first,
        last=last,
        new_session=np.interp(log(length), *_log_knots(NEW_SESSION)),
        head=1 / (1 + exp(-head)),
        mood=MOOD * _correlated(length_score, MOOD_LENGTH, draw),
        spread=SPREAD * exp(SPREAD_LENGTH * length_score + SPREAD_PEOPLE * draw.standard_normal(count)),
    )


def _fit_films(people: PersonTraits, rank: Floats, entries: int, seed: int) -> FilmTraits:
    """The traits of the film of each rank, with weights that give each film its support."""
    draw = rng.generator(seed, "netflix", "films")
    items, records = len(rank), len(people.first)
    new, late, newest, delay = (
        np.interp(log(rank), *_log_knots(knots)) for knots in (NEW, LATE, NEWEST, DELAY)
    )
    day = (END * newest * power(draw.random(items), late)).astype(np.int64)
    released = np.where(draw.random(items) < new, day, -1)
    expected = popularity.expected_supports(rank, records, entries)
    weight = popularity.fit_weights(rank, expected, np.diff(people.start).astype(np.float64), people.head)
    weight *= _late_release_factor(
        expected / records, np.searchsorted(np.sort(people.last), released) / records
    )
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
        **popularity.alias_tables(rank, weight)._asdict(),
    )
    for _ in range(CORRECTIONS):
        _, drawn_ranks = _draw_sample(people, films, seed)
        weight *= popularity.correction(expected, drawn_ranks)
        films = films._replace(**popularity.alias_tables(rank, weight)._asdict())
    return films


def _late_release_factor(share: Floats, gone: Floats) -> Floats:
    """Factor that makes up for the people who were gone before a film came out."""
    among_others = np.minimum(share / (1 - np.minimum(gone, 0.9)), 0.99)
    return np.asarray(log1p(-among_others) / log1p(-np.minimum(share, 0.99)))


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
    quarter, target = _quarters()
    sample, everybody = _sample(people), np.arange(len(people.first))
    activity = target.copy()
    for rounds_left in reversed(range(ROUNDS)):
        calendar = Calendar(quarter, np.concatenate([[0.0], np.cumsum(activity)]), _weekdays())
        if rounds_left == 0:
            break
        counts = np.zeros(len(target))
        chosen = sample if rounds_left > LAST_ROUNDS else everybody
        count_by_quarter(stream, chosen, people, calendar, counts)
        activity *= power(np.clip(target / np.maximum(counts / counts.sum(), 1e-9), 0.2, 5.0), BOLDNESS)
        activity /= activity.sum()
    return calendar


def _quarters() -> tuple[Ints, Floats]:
    """The days on which quarters begin, with the day after the last quarter, and their shares of ratings."""
    dates = published()["dates"]
    begins = [FIRST] + [date(year, month, 1) for year in range(2000, 2006) for month in (1, 4, 7, 10)]
    days = np.array([(day - FIRST).days for day in begins] + [END + 1])
    years = np.array(dates["years"])
    grown = np.interp(np.arange(16) / 4 - 1.5 / 4, np.arange(6), log(years))
    shares = exp(grown).reshape(4, 4)
    shares *= (years[:4] / shares.sum(axis=1))[:, None]
    by_quarter = [*shares.ravel(), *dates["quarters_2004"], *dates["quarters_2005"]]
    return days, np.array([1e-5, *by_quarter]) / (1e-5 + sum(by_quarter))


def _rating_cuts(people: PersonTraits, films: FilmTraits, seed: int) -> Floats:
    """Thresholds between ratings such that the levels get their published shares."""
    person, rank = _draw_sample(people, films, seed)
    noise = np.sqrt(3) * (rng.generator(seed, "netflix", "cuts").random((4, len(rank))).sum(axis=0) - 2)
    stars = people.mood[person] + films.appeal[rank] + people.spread[person] * films.spread[rank] * noise
    return np.asarray(np.quantile(stars, np.cumsum(published()["ratings"]["shares"])[:-1]))


def _move_within_week(day: Ints, u: Floats) -> Ints:
    """A day of the same week, drawn by the shares of weekdays."""
    moved: Ints = day - day % 7 + np.searchsorted(_weekdays()[:-1], u, side="right")
    return np.clip(moved, 0, END)


def _weekdays() -> Floats:
    """Cumulative shares of weekdays, beginning with the weekday of the first day."""
    shares = np.roll(np.array(published()["dates"]["weekdays"]), -FIRST.weekday())
    return np.cumsum(shares / shares.sum())


def _normal_scores(size: Floats, draw: np.random.Generator) -> Floats:
    """Normal scores: a normal sample in the order of the sizes."""
    scores: Floats = np.sort(draw.standard_normal(len(size)))[_ranks(size)]
    return scores


def _log_knots(knots: tuple[tuple[float, float], ...]) -> Floats:
    """Knots for interpolation over the logarithm of x."""
    x, y = np.array(knots, np.float64).T
    return np.array([log(x), y])


def _ranks(size: Floats) -> Ints:
    ranks = np.empty(len(size), np.int64)
    ranks[np.argsort(size, kind="stable")] = np.arange(len(size))
    return ranks


def _correlated(scores: Floats, correlation: float, draw: np.random.Generator) -> Floats:
    """Normal numbers with this correlation to the scores."""
    return np.asarray(correlation * scores + np.sqrt(1 - correlation**2) * draw.standard_normal(len(scores)))
