"""Draws the history of each person: films, the days on which they were rated, and the ratings. Compiled.

Every draw depends only on the seed and the person.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core import rng
from standout.core.arrays import Ints
from standout.core.jit import Array, Flag, Int, Real, inline, kernel, subroutine

__all__ = [
    "DAYS",
    "INDEX_BITS",
    "count_by_quarter",
    "draw_days",
    "draw_films",
    "fill_entries",
    "pack_index",
    "unpack_index",
]

# Words that sort by a size and carry an index. Compiled.


INDEX_BITS = np.uint64(32)
"""The low bits of a word, which carry the index; the size is above them."""


@inline
def pack_index(size: Real, index: Int) -> np.uint64:
    """A size and an index in one word, to be sorted."""
    return (np.uint64(size * 2.0**24) << INDEX_BITS) | np.uint64(index)


@inline
def unpack_index(word: np.uint64) -> Int:
    """The index in a word."""
    return np.int64(word & np.uint64(0xFFFFFFFF))


# Draws the days on which a person rates films: sessions, and the day of each session. Compiled.


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
def _draw_session_days(person_key: np.uint64, first: Int, last: Int, calendar: Any, sessions: Int, day: Array) -> None:
    """Draw the day of each session: one is on the first day, and the one begun last is on the last day."""
    key = rng.mix(person_key, DAYS)
    low, high = _activity_until(calendar, first), _activity_until(calendar, last)
    joins_with_largest = JOINING * (first / calendar.quarter[-1]) ** LATER
    first_session = 0 if sessions < 3 or rng.uniform(key, np.uint64(1 << 32)) < joins_with_largest else sessions - 2
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


DENSE, PATIENCE = 8, 16
"""`_draw_dense` draws for people with more than 1/DENSE of all films, or who need PATIENCE draws per film."""
ORDERLY = 0.6
"""How much the order in which older films are rated follows popularity."""
FILMS, RATINGS = (np.uint64(n << 40) for n in (1, 4))
BELL = 1.7320508075688772 / 65536


class _Workspace(NamedTuple):
    """Arrays that are reused for all people."""

    last_person: Ints  # the last person (marked from 1) who drew each film, to draw no film twice
    session: Ints  # session of each rating
    size: Ints  # ratings of each session
    day: Ints  # day of each session
    order: NDArray[np.uint64]  # words to sort (see `sort_words`)


@kernel
def fill_entries(stream: np.uint64, low: Int, high: Int, model: Any, columns: Any) -> None:
    """Fill the entries of people low … high - 1."""
    start, item, value, time = columns
    people, films = model.people, model.films
    longest = 0
    for person in range(low, high):
        longest = max(longest, start[person + 1] - start[person])
    work = _new_workspace(longest, len(films.item))
    ranks, days = np.empty(longest, np.int64), np.empty(longest, np.int64)
    day_of_film = np.empty(longest, np.int64)
    for person in range(low, high):
        key = rng.mix(stream, np.uint64(person))
        begin, end = start[person], start[person + 1]
        n = end - begin
        _draw_ranks(key, people, person, films, work.last_person, person - low + 1, ranks[:n])
        draw_days(key, people, person, model.calendar, work, days[:n])
        _assign_days(key, films, people.first[person], ranks[:n], days[:n], work.order[:n], day_of_film[:n])
        _draw_ratings(key, model, person, ranks[:n], day_of_film[:n], work.order[:n])
        work.order[:n].sort()
        for i in range(n):
            entry = work.order[i]
            item[begin + i] = entry >> np.uint64(24)
            time[begin + i] = (entry >> np.uint64(8)) & np.uint64(0xFFFF)
            value[begin + i] = entry & np.uint64(0xFF)


@subroutine
def _new_workspace(longest: Int, n_items: Int) -> Any:
    return _Workspace(
        np.zeros(n_items, np.int64),
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
        np.empty(longest, np.uint64),
    )


@subroutine
def _draw_ranks(
    person_key: np.uint64, people: Any, person: Int, films: Any, last_person: Array, mark: Int, ranks: Array
) -> None:
    """Draw the ranks of a person's films by taste; films that came out after the last day only if needed."""
    key = rng.mix(person_key, FILMS)
    head, last = people.head[person], people.last[person]
    many = len(ranks) > len(films.item) // DENSE
    if many or not _draw_sparse(key, films, head, last, last_person, mark, ranks):
        _draw_dense(key, films, head, last, ranks)


@subroutine
def _draw_sparse(
    key: np.uint64, films: Any, head: Real, last: Int, last_person: Array, mark: Int, ranks: Array
) -> Flag:
    """Draw ranks one by one, none twice; returns whether there were enough draws."""
    n_items, n = len(films.item), 0
    for attempt in range(PATIENCE * (len(ranks) + 16)):
        if n == len(ranks):
            return True
        bits = rng.mix(key, np.uint64(2 * attempt))
        u = rng.uniform(key, np.uint64(2 * attempt + 1)) * n_items
        rank = np.int64(u)
        u -= rank
        if _unit(bits) < head:
            if u >= films.damped_keep[rank]:
                rank = films.damped_other[rank]
        elif u >= films.keep[rank]:
            rank = films.other[rank]
        if last_person[rank] != mark and films.released[rank] <= last:
            last_person[rank] = mark
            ranks[n] = rank
            n += 1
    return n == len(ranks)


@subroutine
def _draw_dense(key: np.uint64, films: Any, head: Real, last: Int, ranks: Array) -> None:
    """Take the ranks with the shortest exponential waiting times: the same distribution, no rejections."""
    n_items = len(films.item)
    waiting = np.empty(n_items, np.uint64)
    for rank in range(n_items):
        weight = head * films.damped[rank] + (1 - head) * films.weight[rank]
        log_time = np.log(max(-np.log(1 - rng.uniform(key, np.uint64(rank))) / weight, 1e-30))
        waiting[rank] = pack_index(log_time + (70.0 if films.released[rank] <= last else 140.0), rank)
    waiting.sort()
    for n in range(len(ranks)):
        ranks[n] = unpack_index(waiting[n])


@subroutine
def _assign_days(
    person_key: np.uint64, films: Any, first: Int, ranks: Array, days: Array, order: Array, day_of_film: Array
) -> None:
    """Assign days to films: to new films some time after they came out, to others roughly by popularity."""
    key = rng.mix(person_key, DAYS + np.uint64(1))
    new = _sort_films(key, films, first, ranks, order)
    is_free = np.ones(len(ranks), np.uint8)
    next_new = _assign_wished_days(days, order, new, is_free, day_of_film)
    _assign_last_days(days, order, next_new, new, is_free, day_of_film)
    slot = 0
    for i in range(new, len(ranks)):
        while is_free[slot] == 0:
            slot += 1
        day_of_film[unpack_index(order[i])] = days[slot]
        slot += 1


@subroutine
def _sort_films(key: np.uint64, films: Any, first: Int, ranks: Array, order: Array) -> Int:
    """Sort new films by the day on which they would be rated, then the others; returns how many are new."""
    n, new, old = len(ranks), 0, len(ranks)
    for i in range(n):
        released = films.released[ranks[i]]
        if released > first:
            u = rng.uniform(key, np.uint64(i))
            wished = released + min(np.int64(-films.delay[ranks[i]] * np.log(1 - u)), 9999)
            order[new] = (np.uint64(wished) << INDEX_BITS) | np.uint64(i)
            new += 1
        else:
            old -= 1
            noise = rng.uniform(key, np.uint64(i))
            position = ORDERLY * np.log(ranks[i] + 1.0) - np.log(1 - noise)
            order[old] = pack_index(position, i)
    order[:new].sort()
    order[new:].sort()
    return new


@subroutine
def _assign_wished_days(days: Array, order: Array, new: Int, is_free: Array, day_of_film: Array) -> Int:
    """Give new films the first free day on or after the wished one; returns the first film without a day."""
    slot = 0
    for i in range(new):
        wished = np.int64(order[i] >> INDEX_BITS)
        while slot < len(days) and days[slot] < wished:
            slot += 1
        if slot == len(days):
            return i
        day_of_film[unpack_index(order[i])] = days[slot]
        is_free[slot] = 0
        slot += 1
    return new


@subroutine
def _assign_last_days(days: Array, order: Array, next_new: Int, new: Int, is_free: Array, day_of_film: Array) -> None:
    """Give the new films next_new … new - 1 the last free days."""
    slot = len(days) - 1
    for i in range(new - 1, next_new - 1, -1):
        while is_free[slot] == 0:
            slot -= 1
        day_of_film[unpack_index(order[i])] = days[slot]
        is_free[slot] = 0


@subroutine
def _draw_ratings(
    person_key: np.uint64, model: Any, person: Int, ranks: Array, day_of_film: Array, order: Array
) -> None:
    """Draw ratings: mood, appeal and noise, cut into levels. Item, day and level go into one word each."""
    key, films, cuts = rng.mix(person_key, RATINGS), model.films, model.cuts
    mood, spread = model.people.mood[person], model.people.spread[person]
    for i in range(len(ranks)):
        rank = ranks[i]
        noise = spread * films.spread[rank] * _bell(rng.mix(key, np.uint64(i)))
        stars = mood + films.appeal[rank] + noise
        level = 0
        for cut in cuts:
            level += stars >= cut
        word = np.uint64(films.item[rank]) << np.uint64(24)
        order[i] = word | (np.uint64(day_of_film[i]) << np.uint64(8)) | np.uint64(level)


@inline
def _bell(bits: np.uint64) -> float:
    """Sum of four uniform numbers of 16 bits each, nearly normal with deviation 1."""
    total = np.int64(0)
    for i in range(4):
        total += np.int64((bits >> np.uint64(16 * i)) & np.uint64(0xFFFF))
    return (total - 131070) * BELL


@inline
def _unit(bits: np.uint64) -> float:
    return float(bits >> np.uint64(11)) * rng.TO_UNIT


@kernel
def draw_films(stream: np.uint64, chosen: Array, people: Any, films: Any, start: Array, ranks: Array) -> None:
    """Draw the ranks of the films of the chosen people."""
    last_person = np.zeros(len(films.item), np.int64)
    for i in range(len(chosen)):
        key = rng.mix(stream, np.uint64(chosen[i]))
        _draw_ranks(key, people, chosen[i], films, last_person, i + 1, ranks[start[i] : start[i + 1]])
