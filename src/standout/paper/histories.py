"""Draws the history of each person: films, the days on which they were rated, and the ratings. Compiled.

Every draw depends only on the seed and the person. `people`, `films` and `calendar` are the traits of `netflix`.
"""

from typing import Any

import numpy as np

from standout.core import rng
from standout.core.jit import Array, Flag, Int, Real, inline, kernel, subroutine

FILMS, SESSIONS, DAYS, RATINGS = (np.uint64(n << 40) for n in (1, 2, 3, 4))
INDEX_BITS = np.uint64(32)
"""The low bits of a word that is sorted by size, which carry an index; the size is above them."""
RELATED, LONGEST_LAG = 0.35, 400.0
"""Share of sessions that follow an earlier one, and after how many days at most; others lie anywhere."""
JOINING, LATER = 0.9, 1.5
"""How often the first session is the largest one for people who join last; exponent for earlier joiners."""
DENSE, PATIENCE = 8, 16
"""`_draw_dense` draws for people with more than 1/DENSE of all films, or who need PATIENCE draws per film."""
ORDERLY = 0.6
"""How much the order in which older films are rated follows popularity."""
BELL = 1.7320508075688772 / 65536


@inline
def _pack_index(size: Real, index: Int) -> np.uint64:
    """A size and an index in one word, to be sorted."""
    return (np.uint64(size * 2.0**24) << INDEX_BITS) | np.uint64(index)


@inline
def _unpack_index(word: np.uint64) -> Int:
    return np.int64(word & np.uint64(0xFFFFFFFF))


# Days: sessions, and the day of each session.


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
            # another day of the same week, by the shares of weekdays
            weekday = np.searchsorted(calendar.weekday[:6], rng.uniform(key, counter + np.uint64(3)), side="right")
            day[s] = min(max(drawn - drawn % 7 + weekday, first), last)


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
def _quarter(begins: Array, at: Real) -> Int:
    """The latest quarter that has begun."""
    return np.searchsorted(begins[1:-1], at, side="right")


@kernel
def count_by_quarter(stream: np.uint64, chosen: Array, people: Any, calendar: Any, counts: Array) -> None:
    """Add the ratings of the chosen people to the counts of their quarters."""
    longest = (people.start[chosen + 1] - people.start[chosen]).max()
    work = np.empty((3, longest), np.int64)
    session, size, day = work[0], work[1], work[2]
    for person in chosen:
        key = rng.mix(stream, np.uint64(person))
        n = people.start[person + 1] - people.start[person]
        sessions = _draw_sessions(key, people.new_session[person], n, session, size)
        _draw_session_days(key, people.first[person], people.last[person], calendar, sessions, day)
        for s in range(sessions):
            counts[_quarter(calendar.quarter, day[s])] += size[s]


# Films, their days and their ratings.


@kernel
def fill_entries(stream: np.uint64, low: Int, high: Int, model: Any, columns: Any) -> None:
    """Fill the entries of people low … high - 1."""
    start, item, value, time = columns
    people, films = model.people, model.films
    longest = np.diff(start[low : high + 1]).max()
    last_person = np.zeros(len(films.item), np.int64)  # marked from 1, to draw no film twice
    work, words = np.empty((6, longest), np.int64), np.empty(longest, np.uint64)
    session, size, session_day = work[0], work[1], work[2]
    for person in range(low, high):
        key = rng.mix(stream, np.uint64(person))
        begin, n = start[person], start[person + 1] - start[person]
        ranks, days, day_of_film, order = work[3, :n], work[4, :n], work[5, :n], words[:n]
        first = people.first[person]
        _draw_ranks(key, people, person, films, last_person, person - low + 1, ranks)
        sessions = _draw_sessions(key, people.new_session[person], n, session, size)
        _draw_session_days(key, first, people.last[person], model.calendar, sessions, session_day)
        for s in range(sessions):
            order[s] = (np.uint64(session_day[s]) << INDEX_BITS) | np.uint64(s)
        order[:sessions].sort()
        i = 0
        for s in range(sessions):  # all ratings of a session are on one day
            drawn = _unpack_index(order[s])
            days[i : i + size[drawn]] = session_day[drawn]
            i += size[drawn]
        _assign_days(key, films, first, ranks, days, order, day_of_film)
        _draw_ratings(key, model, person, ranks, day_of_film, order)
        order.sort()
        for i in range(n):
            entry = order[i]
            item[begin + i] = entry >> np.uint64(24)
            time[begin + i] = (entry >> np.uint64(8)) & np.uint64(0xFFFF)
            value[begin + i] = entry & np.uint64(0xFF)


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
    n_items, n, tables = len(films.item), 0, films.popularity
    for attempt in range(PATIENCE * (len(ranks) + 16)):
        if n == len(ranks):
            return True
        taste = rng.uniform(key, np.uint64(2 * attempt))
        u = rng.uniform(key, np.uint64(2 * attempt + 1)) * n_items
        rank = np.int64(u)
        u -= rank
        if taste < head:
            if u >= tables.damped_keep[rank]:
                rank = tables.damped_other[rank]
        elif u >= tables.keep[rank]:
            rank = tables.other[rank]
        if last_person[rank] != mark and films.released[rank] <= last:
            last_person[rank] = mark
            ranks[n] = rank
            n += 1
    return n == len(ranks)


@subroutine
def _draw_dense(key: np.uint64, films: Any, head: Real, last: Int, ranks: Array) -> None:
    """Take the ranks with the shortest exponential waiting times: the same distribution, no rejections."""
    n_items, tables = len(films.item), films.popularity
    waiting = np.empty(n_items, np.uint64)
    for rank in range(n_items):
        weight = head * tables.damped[rank] + (1 - head) * tables.weight[rank]
        log_time = np.log(max(-np.log(1 - rng.uniform(key, np.uint64(rank))) / weight, 1e-30))
        waiting[rank] = _pack_index(log_time + (70.0 if films.released[rank] <= last else 140.0), rank)
    waiting.sort()
    for n in range(len(ranks)):
        ranks[n] = _unpack_index(waiting[n])


@subroutine
def _assign_days(
    person_key: np.uint64, films: Any, first: Int, ranks: Array, days: Array, order: Array, day_of_film: Array
) -> None:
    """Assign days to films: to new films some time after they came out, to others roughly by popularity."""
    key = rng.mix(person_key, DAYS + np.uint64(1))
    n, new, old = len(ranks), 0, len(ranks)
    for i in range(n):  # new films by the day on which they would be rated, then the others
        released = films.released[ranks[i]]
        if released > first:
            u = rng.uniform(key, np.uint64(i))
            wished = released + min(np.int64(-films.delay[ranks[i]] * np.log(1 - u)), 9999)
            order[new] = (np.uint64(wished) << INDEX_BITS) | np.uint64(i)
            new += 1
        else:
            old -= 1
            noise = rng.uniform(key, np.uint64(i))
            order[old] = _pack_index(ORDERLY * np.log(ranks[i] + 1.0) - np.log(1 - noise), i)
    order[:new].sort()
    order[new:].sort()
    is_free = np.ones(n, np.uint8)
    slot, late = 0, new
    for i in range(new):  # the first free day on or after the wished one
        wished = np.int64(order[i] >> INDEX_BITS)
        while slot < n and days[slot] < wished:
            slot += 1
        if slot == n:
            late = i
            break
        day_of_film[_unpack_index(order[i])] = days[slot]
        is_free[slot] = 0
        slot += 1
    slot = n - 1
    for i in range(new - 1, late - 1, -1):  # the last free days for those without one
        while is_free[slot] == 0:
            slot -= 1
        day_of_film[_unpack_index(order[i])] = days[slot]
        is_free[slot] = 0
    slot = 0
    for i in range(new, n):
        while is_free[slot] == 0:
            slot += 1
        day_of_film[_unpack_index(order[i])] = days[slot]
        slot += 1


@subroutine
def _draw_ratings(
    person_key: np.uint64, model: Any, person: Int, ranks: Array, day_of_film: Array, order: Array
) -> None:
    """Draw ratings: mood, appeal and noise, cut into levels. Item, day and level go into one word each."""
    key, films, cuts = rng.mix(person_key, RATINGS), model.films, model.cuts
    mood, spread = model.people.mood[person], model.people.spread[person]
    for i in range(len(ranks)):
        rank, bits, total = ranks[i], rng.mix(key, np.uint64(i)), np.int64(0)
        for part in range(4):  # four uniform numbers of 16 bits each: nearly normal with deviation 1
            total += np.int64((bits >> np.uint64(16 * part)) & np.uint64(0xFFFF))
        noise = spread * films.spread[rank] * ((total - 131070) * BELL)
        stars = mood + films.appeal[rank] + noise
        level = 0
        for cut in cuts:
            level += stars >= cut
        word = np.uint64(films.item[rank]) << np.uint64(24)
        order[i] = word | (np.uint64(day_of_film[i]) << np.uint64(8)) | np.uint64(level)


@kernel
def draw_films(stream: np.uint64, chosen: Array, people: Any, films: Any, start: Array, ranks: Array) -> None:
    """Draw the ranks of the films of the chosen people."""
    last_person = np.zeros(len(films.item), np.int64)
    for i in range(len(chosen)):
        key = rng.mix(stream, np.uint64(chosen[i]))
        _draw_ranks(key, people, chosen[i], films, last_person, i + 1, ranks[start[i] : start[i + 1]])
