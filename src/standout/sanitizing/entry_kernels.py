"""Compiled loops over entries: noise, caps and flips.

The entries of record r and item x have the random stream mix(record_keys[r], item_keys[x]). The k-th of them,
in canonical order, uses the numbers 2 k and 2 k + 1 of it. So a draw depends neither on the position of the
record nor on the rest of the release, and repeated entries of a record and item have independent draws.
"""

from typing import NamedTuple

import numpy as np

from standout.core.jit import Array, Flag, Int, Real, inline, kernel
from standout.core.rng import mix, uniform

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
FIRST, MAX = 1, 2
"""Policies of `choose`; any other number means the latest."""


class EntryStreams(NamedTuple):
    """Entries by record (CSR: record r has item[start[r]:start[r + 1]]) and the keys of their streams."""

    start: Array
    item: Array
    record_keys: Array
    item_keys: Array


class LevelNoise(NamedTuple):
    """Level v changes with this probability to another one of first[v] … last[v], all equally likely."""

    first: Array
    last: Array
    probability: Real


class TimeNoise(NamedTuple):
    """A time moves with this probability by -most … most; `span` is the code of a missing time."""

    span: Int
    most: Int
    probability: Real


@inline
def _next_draw(item: Array, begin: Int, i: Int, draw: Int) -> Int:
    """Return the first draw of entry i: after that of the entry before if it has the same item, else 0."""
    return draw + TWO if i > begin and item[i] == item[i - 1] else ZERO


@kernel
def uniforms(streams: EntryStreams, low: Int, high: Int, out: Array) -> None:
    """out[i] = a number in [0, 1) for each entry i of records low … high - 1."""
    start, item, record_keys, item_keys = streams
    for record in range(low, high):
        begin, draw = start[record], ZERO
        for i in range(begin, start[record + 1]):
            draw = _next_draw(item, begin, i, draw)
            out[i] = uniform(mix(record_keys[record], item_keys[item[i]]), draw)


@kernel
def perturb(streams: EntryStreams, low: Int, high: Int, value: Array, noise: LevelNoise, out: Array) -> None:
    """out[i] = value[i] with noise; a missing value, and a level without an alternative, stays."""
    start, item, record_keys, item_keys = streams
    first, last, probability = noise
    for record in range(low, high):
        begin, draw = start[record], ZERO
        for i in range(begin, start[record + 1]):
            draw = _next_draw(item, begin, i, draw)
            v = np.int64(value[i])
            out[i] = v
            if v >= len(first) or last[v] == first[v]:
                continue
            stream = mix(record_keys[record], item_keys[item[i]])
            if uniform(stream, draw) < probability:
                other = first[v] + np.int64(uniform(stream, draw + ONE) * (last[v] - first[v]))
                out[i] = other + (other >= v)


@kernel
def shift(streams: EntryStreams, low: Int, high: Int, time: Array, noise: TimeNoise, out: Array) -> None:
    """out[i] = time[i] with noise, on a clock that begins `most` earlier; span + 2 most if it is missing."""
    start, item, record_keys, item_keys = streams
    span, most, probability = noise
    for record in range(low, high):
        begin, draw = start[record], ZERO
        for i in range(begin, start[record + 1]):
            draw = _next_draw(item, begin, i, draw)
            t = np.int64(time[i])
            if t == span:
                out[i] = span + 2 * most
                continue
            stream = mix(record_keys[record], item_keys[item[i]])
            out[i] = t + most
            if uniform(stream, draw) < probability:
                out[i] = t + np.int64(uniform(stream, draw + ONE) * (2 * most + 1))


@kernel
def cap(start: Array, draws: Array, low: Int, high: Int, most: Int, keep: Array) -> None:
    """keep[i] = whether entry i has one of the `most` lowest draws of its record, for low … high - 1."""
    for record in range(low, high):
        begin, end = start[record], start[record + 1]
        if end - begin <= most:
            keep[begin:end] = True
            continue
        order = np.argsort(draws[begin:end], kind="mergesort")
        for i in range(most):
            keep[begin + order[i]] = True


@kernel
def flip(streams: EntryStreams, low: Int, high: Int, probability: Real, ends: Array, out: Array) -> tuple[Int, Int]:
    """Flip every cell of records low … high - 1 with this probability; out = the items that they then have.

    A cell says whether a record has an item, however often. ends[r - low] = end of record r in out, which
    must have room for every cell. Returns the number of entries and how many of them are false.
    """
    start, item, record_keys, item_keys = streams
    n, false = 0, 0
    for record in range(low, high):
        i = start[record]
        for cell in range(len(item_keys)):
            is_present = i < start[record + 1] and item[i] == cell
            while i < start[record + 1] and item[i] == cell:
                i += 1
            if (uniform(mix(record_keys[record], item_keys[cell]), ZERO) < probability) != is_present:
                out[n] = cell
                n += 1
                false += not is_present
        ends[record - low] = n
    return n, false


@kernel
def choose(start: Array, item: Array, value: Array, time: Array, policy: Int, missing: Array, chosen: Array) -> None:
    """chosen[i] = the entry that is kept of those with the record and item of entry i.

    `missing` has the codes of no value and no time. An empty column means that there are none.
    """
    for record in range(len(start) - 1):
        begin, end = start[record], start[record + 1]
        while begin < end:
            best, stop = begin, begin + 1
            while stop < end and item[stop] == item[begin]:
                if _is_better(value, time, stop, best, policy, missing):
                    best = stop
                stop += 1
            chosen[begin:stop] = best
            begin = stop


@kernel
def _is_better(value: Array, time: Array, rival: Int, best: Int, policy: Int, missing: Array) -> Flag:
    """Whether a later entry is kept instead of the best so far; a known value or time beats none."""
    if policy == FIRST:
        return False  # entries are in the order of times, then of values
    old_value, new_value = _known(value, best, missing[0]), _known(value, rival, missing[0])
    old_time, new_time = _known(time, best, missing[1]), _known(time, rival, missing[1])
    if policy == MAX and new_value != old_value:
        return new_value > old_value
    return new_time > old_time or (new_time == old_time and new_value > old_value)


@inline
def _known(column: Array, i: Int, missing: Int) -> Int:
    """Code of entry i, or -1 if it is missing."""
    code = np.int64(column[i]) if len(column) else np.int64(-1)
    return np.int64(-1) if code == missing else code
