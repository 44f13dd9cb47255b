"""Random small releases with facts known about them, and checks of a verdict against the slow twins."""

import math
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from fractions import Fraction
from functools import cached_property, partial

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st

import naive
import standout as so

COMPILED = not numba.config.DISABLE_JIT


PER_DAY = {"day": 1, "hour": 24, "minute": 1_440}


TIME_TYPE = {"day": pl.Date, "hour": pl.Datetime("us"), "minute": pl.Datetime("us")}


VALUE_TYPE = {"number": pl.Float64, "text": pl.String}


PEOPLE = ["9", "10", "2", "007", "7", "é", "🙂🙂"]


THINGS = ["b", "aa", "31", "4", "5"]


NOWHERE = "nowhere"


START = datetime(2005, 3, 1)


def examples(compiled, interpreted):
    """How many are tried: without the compiler, where a query walks blocks in Python, fewer."""
    return settings(max_examples=compiled if COMPILED else interpreted)


@dataclass(frozen=True)
class Data:
    """Rows (record, item, value, time), and what their values and times are; None: no such column."""

    rows: list
    kind: str | None = "number"
    unit: str | None = "day"
    repeats: str = "last"

    def read(self):
        schema = {"record": pl.String, "item": pl.String}
        schema |= {"value": VALUE_TYPE[self.kind]} if self.kind else {}
        schema |= {"time": TIME_TYPE[self.unit]} if self.unit else {}
        cells = [row[:2] + row[2:3] * bool(self.kind) + row[3:] * bool(self.unit) for row in self.rows]
        frame = pl.DataFrame(cells, schema=schema, orient="row")
        return so.read(
            frame, value_type=self.kind or "auto", time_unit=self.unit or "day", repeats=self.repeats, kind="history"
        )

    @cached_property
    def entries(self):
        """The same for the twins; lists of cells if repeats are kept."""
        rows = [(record, item, *self.told(value, time)) for record, item, value, time in self.rows]
        if self.repeats == "keep":
            return naive.entries(rows, "keep")
        return {(record, item): (value, time) for record, item, value, time in rows}

    def facts(self, aux):
        return {fact.item: self.told(fact.value, fact.time) for fact in aux}

    def told(self, value, time):
        return value if self.kind else None, self.days(time) if self.unit else None

    def days(self, time):
        """Whole units of the wall clock, in days."""
        if time is None:
            return None
        wall = time if isinstance(time, datetime) else datetime(time.year, time.month, time.day)
        units = naive.units(wall, self.unit)
        return units if self.unit == "day" else Fraction(units, PER_DAY[self.unit])

    def without(self, record):
        return replace(self, rows=[row for row in self.rows if row[0] != record])

    def scores(self, aux, similarity, weigh, exclude=None):
        """Of all records, by Algorithm 1B, with the weights of what is left without the excluded one."""
        counts = naive.support(naive.without(self.entries, exclude))
        return naive.sums(self.entries, self.facts(aux), similarity, weigh, counts)

    def candidates(self, aux, exclude=None):
        joined = aux.joined and tuple(map(self.days, aux.joined))
        return naive.candidates(naive.without(self.entries, exclude), aux.length, joined)


@dataclass(frozen=True)
class SameWeekday(so.Similarity):
    """A user's own: half a point for a near value, and the day of the week."""

    def values(self, known, levels):
        return np.array([0.5 * (abs(level - known) < 2) for level in levels])

    def times(self, days):
        return (np.floor(days) % 7 == 0).astype(float)


def same_weekday(known, entry):
    values, times = lambda one, other: 0.5 * (abs(other - one) < 2), lambda days: float(days // 1 % 7 == 0)
    return math.prod(naive.terms(known, entry, values, times))


def lopsided(known, value, days):
    """A function that no table of values times a table of times could hold."""
    near = 0.25 if known is None or value is None else 1.5 / (1 + abs(value - known))
    return near if days is None else near / (1 + days * days) if days >= -1 else near * near / 8


def of_entry(function):
    """The twin of Custom(function)."""

    def similarity(known, entry):
        days = None if known[1] is None or entry[1] is None else float(entry[1] - known[1])
        return function(known[0], entry[0], days)

    return similarity


def within(**thresholds):
    return so.Within(**thresholds), partial(naive.within, **thresholds)


def decay(**scales):
    return so.Decay(**scales), partial(naive.decay, **scales)


ANY_KIND = [
    (so.Present(), naive.present),
    (so.Equal(), naive.equal),
    within(value=None, time=14),
    within(value=None, time=None),
    decay(value_scale=None, time_scale=7),
    (so.Custom(lambda known, value, days: float(known == value)), of_entry(lambda one, other, _: float(one == other))),
    within(value=1, time=14),
    within(value=0, time=0),
    within(value=2.5, time=None),
    decay(value_scale=1.5, time_scale=30),
    decay(value_scale=0.5, time_scale=10_000),
    decay(value_scale=40, time_scale=None),
]


NUMBERS = [(SameWeekday(), same_weekday), (so.Custom(lopsided), of_entry(lopsided))]


WEIGHTS = [
    ("rarity", naive.weight),
    ("one", lambda count: 1.0),
    ("inverse", lambda count: 1 / max(count, 1)),
    (lambda support: 1 / np.sqrt(support + 3.0), lambda count: (count + 3) ** -0.5),
]


STEPS = [0, 1, 2, 14, 15, 40, 400]  # days; the terms of all scales above are well above 1e-12 or below 1e-17


OUTSIDE = [-38_000, -500, -40, 450, 1_300, 107_000]  # 1900 and 2300 among them


VALUES = {"number": [1.0, 2.0, 3.5, 5.0], "text": ["bought", "rented", "sold"], None: [None]}


NO_LEVELS = {"number": [3.7, 4, 100.0], "text": ["stolen"], None: [1.0, "bought"]}


def moment(days, unit):
    """Days after the start, a time of the day with it where the unit is finer than a day."""
    time = START + timedelta(days=days) + timedelta(**{f"{unit}s": days % 3} if unit != "day" else {})
    return time.date() if unit == "day" else time


def moments(unit, steps):
    return [None] if unit is None else [moment(days, unit) for days in steps]


@st.composite
def data(draw, kinds=("number", "text", None), units=("day", "hour", None), least=1, repeats="last"):
    """Any small release; whatever columns it has hold something, in at least so many records.

    If repeats are kept, pairs of a record and an item may repeat.
    """
    kind, unit = draw(st.sampled_from(kinds)), draw(st.sampled_from(units))
    people = draw(st.lists(st.sampled_from(PEOPLE), min_size=least, max_size=7, unique=True))
    cells = st.tuples(st.sampled_from(people), st.sampled_from(THINGS))
    unique = repeats != "keep"
    pairs = draw(st.lists(cells, min_size=least, max_size=24 if unique else 40, unique=unique))
    value = st.sampled_from([*VALUES[kind], None] if kind else [None])
    time = st.sampled_from([*moments(unit, STEPS), None])
    rows = [(*pair, draw(value), draw(time)) for pair in pairs]
    assume(len({row[0] for row in rows}) >= least)
    for column, there in ((2, kind), (3, unit)):
        assume(not there or len({row[0] for row in rows if row[column] is not None}) >= least)
    return Data(rows, kind, unit, repeats)


@st.composite
def known(draw, made, most=5, filters=False):
    """What somebody may know: right and wrong values and times, outside the release, items of nobody."""
    items = draw(st.lists(st.sampled_from([*THINGS, NOWHERE]), max_size=most, unique=True))
    value = st.sampled_from([None, *VALUES[made.kind], *NO_LEVELS[made.kind]])
    time = st.sampled_from([None, *moments(made.unit or "day", [*STEPS, *OUTSIDE])])
    facts = [so.Fact(item, draw(value), draw(time)) for item in items]
    length = draw(st.none() | st.sampled_from([(0, 2), (2, 3), (3, 9)])) if filters else None
    ends = st.tuples(st.sampled_from(STEPS[:4]), st.sampled_from(STEPS[3:]))
    joined = draw(st.none() | ends) if filters and made.unit else None
    return so.Aux(facts, length, joined and tuple(moment(days, made.unit) for days in joined))


def similarities(kind):
    return st.sampled_from([*ANY_KIND, *NUMBERS] if kind != "text" else ANY_KIND)


def someone(made):
    return st.sampled_from(sorted({row[0] for row in made.rows}))


def near(number):
    return pytest.approx(number, rel=1e-6, abs=1e-9)


def exact(number):
    return pytest.approx(number, rel=1e-12, abs=1e-12)


def nearly(number):
    """For bits and for the mass left over: what an error of 1e-6 in a probability makes of them."""
    return pytest.approx(number, rel=1e-6, abs=2e-6)


def attacked(given, least=1, filters=True):
    """(data, aux, a record to leave out or None) of any kind."""
    made = given.draw(data(least=least))
    aux = given.draw(known(made, filters=filters and given.draw(st.booleans())))
    return made, aux, given.draw(st.none() | someone(made))


def told(made, aux):
    """The facts without what the release could not be asked for."""
    return [so.Fact(fact.item, fact.value if made.kind else None, fact.time if made.unit else None) for fact in aux]


TWO = Data([("7", "b", 5.0, None), ("7", "aa", 1.0, None), ("9", "b", 5.0, None)], unit=None)


def check_same(verdict, other, people=()):
    """Every number, for two verdicts that should be the same."""
    names = ("candidates", "best", "ties", "tied")
    assert [getattr(verdict, name) for name in names] == [getattr(other, name) for name in names]
    assert (verdict.highest, verdict.second) == (exact(other.highest), exact(other.second))
    for name in ("mean", "sigma", "eccentricity", "bits"):
        assert getattr(verdict, name) == near(getattr(other, name))
    for count in (1, 3, 500):
        one, two = verdict.lineup(count), other.lineup(count)
        assert [candidate.record for candidate in one] == [candidate.record for candidate in two]
        assert [candidate.score for candidate in one] == [exact(candidate.score) for candidate in two]
        assert [candidate.probability for candidate in one] == [near(same.probability) for same in two]
        assert one.outside == nearly(two.outside)
    for record in people:
        assert verdict.score(record) == exact(other.score(record))
        assert verdict.rank(record) == other.rank(record)
        assert verdict.probability(record) == near(other.probability(record))
        assert verdict.entropy(record) == nearly(other.entropy(record))
        parts = [[part.score for part in one.explain(record)] for one in (verdict, other)]
        assert parts[0] == [exact(part) for part in parts[1]]


SHARES = [0.6, 0.35, 0.1, 0.02]


def crowd(n, shares=SHARES, seed=2008, first=0):
    """n people who each have an item with its share of chance, and one of 50 others."""
    random = np.random.default_rng(seed)
    rows = []
    for i in range(first, first + n):
        items = [f"item{j}" for j, share in enumerate(shares) if random.random() < share]
        for item in [*items, f"other{i % 50}"]:
            value, days = random.choice([1.0, 2.0, 3.0, 4.0, 5.0, None]), int(random.integers(100))
            rows.append((str(i), item, value, None if days > 90 else moment(days, "day")))
    return rows


def about(record, rows, wrong=0):
    """What is known of a record: all that it has, the first few wrongly."""
    facts = [so.Fact(item, value, time) for owner, item, value, time in rows if owner == record]
    return [so.Fact(fact.item, 3.7, moment(97, "day")) for fact in facts[:wrong]] + facts[wrong:]


DENSE = Data(crowd(3_000))


DENSE_AUX = [
    so.Aux([so.Fact(f"item{j}", 3.0, moment(20 * j, "day")) for j in range(4)]),
    so.Aux(about("1234", DENSE.rows, wrong=1), length=(2, 3)),
    so.Aux(
        [so.Fact("item0"), so.Fact("item3", value=2), so.Fact(NOWHERE)], joined=(moment(0, "day"), moment(30, "day"))
    ),
]


def numbers(verdicts, q):
    """All numbers of a verdict, to the last bit."""
    columns = verdicts.columns
    here = slice(columns.first[q], columns.first[q + 1])
    own = {"first": 0, "record": columns.record[here], "score": columns.score[here]}
    each = {one.name: getattr(columns, one.name) for one in fields(columns) if one.name not in (*own, "target")}
    return {name: np.asarray(column[q]).tobytes() for name, column in each.items()} | {
        name: np.asarray(part).tobytes() for name, part in own.items()
    }


def all_numbers(verdicts):
    return [numbers(verdicts, q) for q in range(len(verdicts))]


def attacks_of(similarity):
    return [so.ScoreboardRH(similarity), so.Scoreboard(similarity, 0.5)]
