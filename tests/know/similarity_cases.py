"""Similarities with their slow twins, and random records."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

import numpy as np
import polars as pl
from hypothesis import strategies as st

import standout as so

STEP = {"day": timedelta(days=1), "hour": timedelta(hours=1), "minute": timedelta(minutes=1)}


PER_DAY = {"day": 1, "hour": 24, "minute": 1440}


FIRST = datetime(2005, 1, 1)


def released(rows, kind="number", unit="day"):
    """The release of rows (record, item, value, time); kind or unit None: there is no such column."""
    moment = {"day": pl.Date, None: pl.Null}.get(unit, pl.Datetime("us"))
    value = {"number": pl.Float64, "text": pl.String, None: pl.Null}[kind]
    schema = {"record": pl.String, "item": pl.String, "value": value, "time": moment}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    frame = frame.drop(*(name for name, of in schema.items() if of == pl.Null))
    return so.read(frame, value_type=kind or "auto", time_unit=unit or "day")


@dataclass(frozen=True)
class Near(so.Similarity):
    """A similarity of one's own: 1 / (1 + distance) for values, tomorrow is nearer than yesterday."""

    def values(self, known, levels):
        return 1 / (1 + np.abs(levels - known))

    def times(self, days):
        return np.where(days >= 0, 1 / (1 + days.clip(0)), 0.25)


@dataclass(frozen=True)
class Sum(Near):
    adds: ClassVar[bool] = True


@dataclass(frozen=True)
class SameWeekday(so.Similarity):
    def times(self, days):
        return (np.abs(days % 7) < 1e-9).astype(float)


def near(known, value, days):
    """The same as Near, and the worse for what is missing, in one function."""
    alike = 0.5 if known is None or value is None else 1 / (1 + abs(known - value))
    if days is None:
        return alike / 3
    return alike * (1 / (1 + days) if days >= 0 else 0.25)


def same(known, value, days):
    return float(known == value) if days is None else 2.0 / (1 + abs(days))


def apart(one, other):
    """How far values are apart: categories are the same or infinitely far."""
    return abs(one - other) if isinstance(one, float) else 0 if one == other else math.inf


# How alike values are (known, value) and times are (days), as the paper and the docstrings say; None where
# a similarity does not look; and whether the two are added up.
TWINS = {
    so.Within(value=1, time=14): (lambda k, v: apart(k, v) <= 1, lambda d: abs(d) <= 14, False),
    so.Within(value=0, time=0): (lambda k, v: k == v, lambda d: d == 0, False),
    so.Within(value=0.5, time=None): (lambda k, v: apart(k, v) <= 0.5, None, False),
    so.Within(value=None, time=2.5): (None, lambda d: abs(d) <= 2.5, False),
    so.Decay(): (lambda k, v: math.exp(-apart(k, v) / 1.5), lambda d: math.exp(-abs(d) / 30), True),
    so.Decay(2, None): (lambda k, v: math.exp(-apart(k, v) / 2), None, True),
    so.Decay(None, 0.3): (None, lambda d: math.exp(-abs(d) / 0.3), True),
    Near(): (lambda k, v: 1 / (1 + abs(k - v)), lambda d: 1 / (1 + d) if d >= 0 else 0.25, False),
    Sum(): (lambda k, v: 1 / (1 + abs(k - v)), lambda d: 1 / (1 + d) if d >= 0 else 0.25, True),
    SameWeekday(): (None, lambda d: abs(d % 7) < 1e-9, False),
    so.Present(): (None, None, False),
    so.Equal(): (lambda k, v: k == v, None, False),
}


ANY_VALUES = [one for one in TWINS if not isinstance(one, Near)]


FUNCTIONS = [so.Custom(near), so.Custom(same)]


def sim(similarity, known, value, days, timed):
    """(Sim, how many terms were added up): twin of what the tables hold. None is what is not there.

    days are from the fact to the entry, None if either has no time; timed says whether the fact has one.
    """
    if isinstance(similarity, so.Custom):
        return similarity.function(known, value, days), 1
    of_values, of_times, adds = TWINS[similarity]
    parts = []
    if known is not None and of_values:
        parts.append(0.0 if value is None else float(of_values(known, value)))
    if timed and of_times:
        parts.append(0.0 if days is None else float(of_times(days)))
    if not parts:
        return 1.0, 1
    return (sum(parts), len(parts)) if adds else (math.prod(parts), 1)


# Records.


@st.composite
def histories(draw, kinds=("number", "text", None), units=("day", "hour", "minute", None), gaps=True):
    """(release, {record: {item: (value, units since FIRST)}}, unit): a few people with a few items."""
    kind, unit = draw(st.sampled_from(kinds)), draw(st.sampled_from(units))
    values = {"number": [0.5, 1.0, 2.0, 4.5], "text": ["dvd", "tape", "disc"], None: [None]}[kind]
    value = st.sampled_from(values) if not gaps or kind is None else st.none() | st.sampled_from(values)
    time = st.integers(0, draw(st.sampled_from([0, 3, 60]))) if unit else st.none()
    time = st.none() | time if gaps else time
    pairs = st.tuples(st.sampled_from("pqrst"), st.sampled_from("vwxyz"))
    cells = draw(st.dictionaries(pairs, st.tuples(value, time), min_size=1))
    rows = [(*pair, value, moment(time, unit)) for pair, (value, time) in cells.items()]
    people = {record: {} for record, _ in cells}
    for (record, item), cell in cells.items():
        people[record][item] = cell
    return released(rows, kind, unit), people, unit


def moment(time, unit):
    if time is None:
        return None
    wall = FIRST + time * STEP[unit]
    return wall.date() if unit == "day" else wall


def expected(similarity, fact, cell, release, unit):
    """Sim of a fact and an entry by the twin: what the release has none of is not compared."""
    value, time = cell
    known = None if release.levels is None or fact.value is None else fact.value
    known = float(known) if isinstance(known, int) else known
    timed = fact.time is not None and release.span > 0
    days = None
    if timed and time is not None:
        wall = fact.time if isinstance(fact.time, datetime) else datetime(*fact.time.timetuple()[:3])
        days = (time - (wall - FIRST) // STEP[unit]) / PER_DAY[unit]
    return sim(similarity, known, value, days, timed)
