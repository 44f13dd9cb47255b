"""One person's history: films, the days on which they were rated, and the ratings. Compiled.

Every draw depends on the seed and the person only.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core import rng
from standout.core.arrays import Floats, Ints
from standout.core.jit import Array, Flag, Int, Real, inline, kernel, subroutine

__all__ = ["Calendar", "Films", "People", "draw_films", "fill", "sessions_by_quarter"]


DENSE, PATIENCE = 8, 16
"""Who has more than one of so many items gets them in another way, and who needs so many draws for each."""
RELATED, LONGEST_LAG = 0.35, 400.0
"""A session follows an earlier one so often, after up to so many days; else it lies anywhere."""
JOINING, LATER = 0.9, 1.5
"""How often a person joins with the largest session, at the end; how much rarer that was before."""
ORDERLY = 0.6
"""How much the order in which older films are rated follows popularity."""
FILMS, SEATS, DAYS, RATINGS = (np.uint64(n << 40) for n in (1, 2, 3, 4))
HALF = np.uint64(32)
BELL = 1.7320508075688772 / 65536


class People(NamedTuple):
    """Each person's length, first and last day, sessions, tastes."""

    start: Ints
    first: Ints
    last: Ints
    seats: Floats  # how readily a new session is begun
    head: Floats  # taste for what is popular
    mood: Floats  # how high the ratings are
    spread: Floats  # how far they differ


class Films(NamedTuple):
    """Each rank's item, release day and appeal; how ranks are drawn."""

    item: NDArray[np.uint32]
    released: Ints
    delay: Floats  # days after which it is rated, on average
    appeal: Floats
    spread: Floats
    weight: Floats
    damped: Floats
    keep: Floats
    other: Ints
    damped_keep: Floats
    damped_other: Ints


class Calendar(NamedTuple):
    """When people are active: days on which quarters begin, activity up to them, shares of weekdays."""

    quarter: Ints
    activity: Floats
    weekday: Floats


@kernel
def fill(
    stream: np.uint64, low: Int, high: Int, people: Any, films: Any, calendar: Any, cuts: Array, columns: Any
) -> None:  # fmt: skip
    """Fills the entries of people low … high - 1."""
    start, item, value, time = columns
    n_items = len(films.item)
    longest = 0
    for person in range(low, high):
        longest = max(longest, start[person + 1] - start[person])
    stamp = np.zeros(n_items, np.int64)
    ranks, days = np.empty(longest, np.int64), np.empty(longest, np.int64)
    seat, size, day = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    order = np.empty(longest, np.uint64)
    placed = np.empty(longest, np.int64)
    for person in range(low, high):
        own = rng.mix(stream, np.uint64(person))
        begin, end = start[person], start[person + 1]
        n = end - begin
        _draw(own, people, person, films, stamp, person - low + 1, ranks[:n])
        _days(own, people, person, calendar, seat, size, day, order, days[:n])
        _place(own, films, people.first[person], ranks[:n], days[:n], order[:n], placed[:n])
        _rate(own, films, people.mood[person], people.spread[person], cuts, ranks[:n], placed[:n], order[:n])
        order[:n].sort()
        for i in range(n):
            entry = order[i]
            item[begin + i] = entry >> np.uint64(24)
            time[begin + i] = (entry >> np.uint64(8)) & np.uint64(0xFFFF)
            value[begin + i] = entry & np.uint64(0xFF)


@subroutine
def _draw(
    own: np.uint64, people: Any, person: Int, films: Any, stamp: Array, mark: Int, ranks: Array
) -> None:  # fmt: skip
    """The ranks of a person's films, by taste; those that came out after the last day only at need."""
    head, last = people.head[person], people.last[person]
    many = len(ranks) > len(films.item) // DENSE
    if many or not _draw_sparse(own, films, head, last, stamp, mark, ranks):
        _draw_dense(own, films, head, last, ranks)


@subroutine
def _draw_sparse(
    own: np.uint64, films: Any, head: Real, last: Int, stamp: Array, mark: Int, ranks: Array
) -> Flag:  # fmt: skip
    """One draw after the other, no rank twice; whether that came to an end."""
    key = rng.mix(own, FILMS)
    n_items, n = len(films.item), 0
    for tried in range(PATIENCE * (len(ranks) + 16)):
        if n == len(ranks):
            return True
        bits = rng.mix(key, np.uint64(2 * tried))
        u = rng.uniform(key, np.uint64(2 * tried + 1)) * n_items
        rank = np.int64(u)
        u -= rank
        if _unit(bits) < head:
            if u >= films.damped_keep[rank]:
                rank = films.damped_other[rank]
        elif u >= films.keep[rank]:
            rank = films.other[rank]
        if stamp[rank] != mark and films.released[rank] <= last:
            stamp[rank] = mark
            ranks[n] = rank
            n += 1
    return n == len(ranks)


@subroutine
def _draw_dense(own: np.uint64, films: Any, head: Real, last: Int, ranks: Array) -> None:
    """The ranks whose exponential clocks ring first: the same distribution, without rejections."""
    key = rng.mix(own, FILMS)
    n_items = len(films.item)
    clock = np.empty(n_items, np.uint64)
    for rank in range(n_items):
        weight = head * films.damped[rank] + (1 - head) * films.weight[rank]
        rings = np.log(max(-np.log(1 - rng.uniform(key, np.uint64(rank))) / weight, 1e-30))
        clock[rank] = _word(rings + (70.0 if films.released[rank] <= last else 140.0), rank)
    clock.sort()
    for n in range(len(ranks)):
        ranks[n] = _low(clock[n])


@subroutine
def _days(
    own: np.uint64, people: Any, person: Int, calendar: Any, seat: Array, size: Array, day: Array,
    order: Array, days: Array,
) -> None:  # fmt: skip
    """The days of a person's ratings, ascending: a Chinese restaurant process, each session on one day."""
    n = len(days)
    sessions = _seat(own, people.seats[person], n, seat, size)
    _when(own, people.first[person], people.last[person], calendar, sessions, day)
    for s in range(sessions):
        order[s] = (np.uint64(day[s]) << HALF) | np.uint64(s)
    order[:sessions].sort()
    i = 0
    for s in range(sessions):
        session = _low(order[s])
        for _ in range(size[session]):
            days[i] = day[session]
            i += 1


@subroutine
def _seat(own: np.uint64, begins: Real, n: Int, seat: Array, size: Array) -> Int:
    """Seats n ratings: each begins a session, or joins that of an earlier rating; how many sessions."""
    key = rng.mix(own, SEATS)
    sessions = 0
    for i in range(n):
        u = rng.uniform(key, np.uint64(i)) * (begins + i)
        if u >= i:
            seat[i] = sessions
            size[sessions] = 1
            sessions += 1
        else:
            seat[i] = seat[np.int64(u)]
            size[seat[i]] += 1
    return sessions


@subroutine
def _when(
    own: np.uint64, first: Int, last: Int, calendar: Any, sessions: Int, day: Array
) -> None:  # fmt: skip
    """The day of each session: the first on the first day, the newest on the last."""
    key = rng.mix(own, DAYS)
    low, high = _activity(calendar, first), _activity(calendar, last)
    joins = JOINING * (first / calendar.quarter[-1]) ** LATER
    joined = 0 if sessions < 3 or rng.uniform(key, np.uint64(1 << 32)) < joins else sessions - 2
    for s in range(sessions):
        counter = np.uint64(4 * s)
        u = rng.uniform(key, counter)
        if s == sessions - 1 and s > 0:
            day[s] = last
        elif s == joined:
            day[s] = first
        else:
            found = np.int64(-1)
            if s > 0 and u < RELATED:
                base = day[np.int64(rng.uniform(key, counter + np.uint64(1)) * s)]
                lag = np.exp(rng.uniform(key, counter + np.uint64(2)) * np.log(LONGEST_LAG))
                found = base + np.int64(lag)
            if found < 0 or found > last:
                spread = low + rng.uniform(key, counter + np.uint64(1)) * (high - low)
                found = _day_of(calendar, spread)
            found = _in_week(calendar, found, rng.uniform(key, counter + np.uint64(3)))
            day[s] = min(max(found, first), last)


@inline
def _activity(calendar: Any, day: Int) -> float:
    """How active people were up to a day."""
    quarter = _quarter(calendar.quarter, day)
    share = (day - calendar.quarter[quarter]) / (calendar.quarter[quarter + 1] - calendar.quarter[quarter])
    begin, end = calendar.activity[quarter], calendar.activity[quarter + 1]
    return float(begin + share * (end - begin))


@inline
def _day_of(calendar: Any, activity: Real) -> Int:
    quarter = _quarter(calendar.activity, activity)
    begin, end = calendar.activity[quarter], calendar.activity[quarter + 1]
    share = (activity - begin) / max(end - begin, 1e-300)
    length = calendar.quarter[quarter + 1] - calendar.quarter[quarter]
    return calendar.quarter[quarter] + np.int64(share * length)


@inline
def _in_week(calendar: Any, day: Int, u: Real) -> Int:
    """A day of the same week, by the weekdays' shares."""
    weekday = 0
    while weekday < 6 and u >= calendar.weekday[weekday]:
        weekday += 1
    return day - day % 7 + weekday


@subroutine
def _place(
    own: np.uint64, films: Any, first: Int, ranks: Array, days: Array, order: Array, placed: Array
) -> None:  # fmt: skip
    """Which film on which day: new films some time after they came out, the others roughly by popularity."""
    key = rng.mix(own, DAYS + np.uint64(1))
    n, new, old = len(ranks), 0, len(ranks)
    for i in range(n):
        released = films.released[ranks[i]]
        if released > first:
            u = rng.uniform(key, np.uint64(i))
            wished = released + min(np.int64(-films.delay[ranks[i]] * np.log(1 - u)), 9999)
            order[new] = (np.uint64(wished) << HALF) | np.uint64(i)
            new += 1
        else:
            old -= 1
            noise = rng.uniform(key, np.uint64(i))
            wish = ORDERLY * np.log(ranks[i] + 1.0) - np.log(1 - noise)
            order[old] = _word(wish, i)
    order[:new].sort()
    order[new:].sort()
    free = np.ones(n, np.uint8)
    at = 0
    for i in range(new):
        wished = np.int64(order[i] >> HALF)
        while at < n and days[at] < wished:
            at += 1
        if at == n:
            new_left = i
            break
        placed[_low(order[i])] = days[at]
        free[at] = 0
        at += 1
    else:
        new_left = new
    at = n - 1
    for i in range(new - 1, new_left - 1, -1):
        while free[at] == 0:
            at -= 1
        placed[_low(order[i])] = days[at]
        free[at] = 0
    at = 0
    for i in range(new, n):
        while free[at] == 0:
            at += 1
        placed[_low(order[i])] = days[at]
        at += 1


@subroutine
def _rate(
    own: np.uint64, films: Any, mood: Real, spread: Real, cuts: Array, ranks: Array, placed: Array,
    order: Array,
) -> None:  # fmt: skip
    """Ratings: mood, appeal and noise, cut into levels; item, day and level go into one word each."""
    key = rng.mix(own, RATINGS)
    for i in range(len(ranks)):
        rank = ranks[i]
        noise = spread * films.spread[rank] * _bell(rng.mix(key, np.uint64(i)))
        stars = mood + films.appeal[rank] + noise
        level = 0
        for cut in cuts:
            level += stars >= cut
        word = np.uint64(films.item[rank]) << np.uint64(24)
        order[i] = word | (np.uint64(placed[i]) << np.uint64(8)) | np.uint64(level)


@inline
def _word(size: Real, place: Int) -> np.uint64:
    """A size and a place in one word, to be sorted."""
    return (np.uint64(size * 2.0**24) << HALF) | np.uint64(place)


@inline
def _low(word: np.uint64) -> Int:
    """The place in a word."""
    return np.int64(word & np.uint64(0xFFFFFFFF))


@inline
def _quarter(begins: Array, at: Real) -> Int:
    """The quarter that has begun last."""
    quarter = 0
    while quarter < len(begins) - 2 and begins[quarter + 1] <= at:
        quarter += 1
    return quarter


@inline
def _bell(bits: np.uint64) -> float:
    """Nearly normal: four uniform numbers of 16 bits each."""
    total = np.int64(0)
    for i in range(4):
        total += np.int64((bits >> np.uint64(16 * i)) & np.uint64(0xFFFF))
    return (total - 131070) * BELL


@inline
def _unit(bits: np.uint64) -> float:
    return float(bits >> np.uint64(11)) * rng.TO_UNIT


@kernel
def draw_films(
    stream: np.uint64, chosen: Array, people: Any, films: Any, start: Array, ranks: Array
) -> None:  # fmt: skip
    """The ranks that the chosen people have."""
    stamp = np.zeros(len(films.item), np.int64)
    for i in range(len(chosen)):
        own = rng.mix(stream, np.uint64(chosen[i]))
        _draw(own, people, chosen[i], films, stamp, i + 1, ranks[start[i] : start[i + 1]])


@kernel
def sessions_by_quarter(
    stream: np.uint64, chosen: Array, people: Any, calendar: Any, counts: Array
) -> None:  # fmt: skip
    """Adds the ratings of the chosen people to the quarters of their sessions."""
    longest = 0
    for person in chosen:
        longest = max(longest, people.start[person + 1] - people.start[person])
    seat, size, day = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    for person in chosen:
        own = rng.mix(stream, np.uint64(person))
        n = people.start[person + 1] - people.start[person]
        sessions = _seat(own, people.seats[person], n, seat, size)
        _when(own, people.first[person], people.last[person], calendar, sessions, day)
        for s in range(sessions):
            counts[_quarter(calendar.quarter, day[s])] += size[s]
