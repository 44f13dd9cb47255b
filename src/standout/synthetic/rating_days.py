"""Draws the days on which a person rates films: sessions, and the day of each session. Compiled."""

from typing import Any

import numpy as np

from standout.core import rng
from standout.core.jit import Array, Int, Real, inline, kernel, subroutine
from standout.synthetic.sort_words import INDEX_BITS, unpack_index

__all__ = ["DAYS", "count_by_quarter", "draw_days"]

RELATED, LONGEST_LAG = 0.35, 400.0
"""Share of sessions that follow an earlier one, and after how many days at most; others lie anywhere."""
JOINING, LATER = 0.9, 1.5
"""How often the first session is the largest one for people who join last; exponent for earlier joiners."""
SESSIONS, DAYS = (np.uint64(n << 40) for n in (2, 3))


@subroutine
def draw_days(person_key: np.uint64, people: Any, person: Int, calendar: Any, work: Any, days: Array) -> None:
    """Draw the days of a person's ratings in ascending order; all ratings of a session are on one day."""
    day, order = work.day, work.order
    sessions = _draw_sessions(person_key, people.new_session[person], len(days), work.session, work.size)
    _draw_session_days(person_key, people.first[person], people.last[person], calendar, sessions, day)
    for s in range(sessions):
        order[s] = (np.uint64(day[s]) << INDEX_BITS) | np.uint64(s)
    order[:sessions].sort()
    i = 0
    for s in range(sessions):
        session = unpack_index(order[s])
        for _ in range(work.size[session]):
            days[i] = day[session]
            i += 1


@subroutine
def _draw_sessions(person_key: np.uint64, new_session: Real, n: Int, session: Array, size: Array) -> Int:
    """Assign n ratings to sessions by a Chinese restaurant process; returns the number of sessions."""
    key = rng.mix(person_key, SESSIONS)
    sessions = 0
    for i in range(n):
        u = rng.uniform(key, np.uint64(i)) * (new_session + i)
        if u >= i:
            session[i] = sessions
            size[sessions] = 1
            sessions += 1
        else:
            session[i] = session[np.int64(u)]
            size[session[i]] += 1
    return sessions


@subroutine
def _draw_session_days(
    person_key: np.uint64, first: Int, last: Int, calendar: Any, sessions: Int, day: Array
) -> None:
    """Draw the day of each session: one is on the first day, and the one begun last is on the last day."""
    key = rng.mix(person_key, DAYS)
    low, high = _activity_until(calendar, first), _activity_until(calendar, last)
    joins_with_largest = JOINING * (first / calendar.quarter[-1]) ** LATER
    first_session = (
        0 if sessions < 3 or rng.uniform(key, np.uint64(1 << 32)) < joins_with_largest else sessions - 2
    )
    for s in range(sessions):
        counter = np.uint64(4 * s)
        u = rng.uniform(key, counter)
        if s == sessions - 1 and s > 0:
            day[s] = last
        elif s == first_session:
            day[s] = first
        else:
            drawn = np.int64(-1)
            if s > 0 and u < RELATED:
                base = day[np.int64(rng.uniform(key, counter + np.uint64(1)) * s)]
                lag = np.exp(rng.uniform(key, counter + np.uint64(2)) * np.log(LONGEST_LAG))
                drawn = base + np.int64(lag)
            if drawn < 0 or drawn > last:
                activity = low + rng.uniform(key, counter + np.uint64(1)) * (high - low)
                drawn = _day_at(calendar, activity)
            drawn = _move_within_week(calendar, drawn, rng.uniform(key, counter + np.uint64(3)))
            day[s] = min(max(drawn, first), last)


@inline
def _activity_until(calendar: Any, day: Int) -> float:
    """How active people were up to a day."""
    quarter = _quarter(calendar.quarter, day)
    share = (day - calendar.quarter[quarter]) / (calendar.quarter[quarter + 1] - calendar.quarter[quarter])
    begin, end = calendar.activity[quarter], calendar.activity[quarter + 1]
    return float(begin + share * (end - begin))


@inline
def _day_at(calendar: Any, activity: Real) -> Int:
    """The day up to which people were this active."""
    quarter = _quarter(calendar.activity, activity)
    begin, end = calendar.activity[quarter], calendar.activity[quarter + 1]
    share = (activity - begin) / max(end - begin, 1e-300)
    length = calendar.quarter[quarter + 1] - calendar.quarter[quarter]
    return calendar.quarter[quarter] + np.int64(share * length)


@inline
def _move_within_week(calendar: Any, day: Int, u: Real) -> Int:
    """A day of the same week, drawn by the shares of weekdays."""
    weekday = 0
    while weekday < 6 and u >= calendar.weekday[weekday]:
        weekday += 1
    return day - day % 7 + weekday


@inline
def _quarter(begins: Array, at: Real) -> Int:
    """The latest quarter that has begun."""
    quarter = 0
    while quarter < len(begins) - 2 and begins[quarter + 1] <= at:
        quarter += 1
    return quarter


@kernel
def count_by_quarter(stream: np.uint64, chosen: Array, people: Any, calendar: Any, counts: Array) -> None:
    """Add the ratings of the chosen people to the counts of their quarters."""
    longest = 0
    for person in chosen:
        longest = max(longest, people.start[person + 1] - people.start[person])
    session, size, day = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    for person in chosen:
        key = rng.mix(stream, np.uint64(person))
        n = people.start[person + 1] - people.start[person]
        sessions = _draw_sessions(key, people.new_session[person], n, session, size)
        first, last = people.first[person], people.last[person]
        _draw_session_days(key, first, last, calendar, sessions, day)
        for s in range(sessions):
            counts[_quarter(calendar.quarter, day[s])] += size[s]
