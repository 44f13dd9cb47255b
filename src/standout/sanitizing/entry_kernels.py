"""Compiled loops over entries: noise, caps and flips.

Entry i of record r has the random stream mix(record_keys[r], item_keys[item[i]]). So its draw depends neither
on its position nor on the rest of the release.
"""

from typing import NamedTuple

import numpy as np

from standout.core.jit import Array, Int, Real, kernel
from standout.core.rng import mix, uniform

__all__ = ["EntryStreams", "LevelNoise", "TimeNoise", "cap", "flip", "perturb", "shift", "uniforms"]

ZERO, ONE = np.uint64(0), np.uint64(1)


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


@kernel
def uniforms(streams: EntryStreams, low: Int, high: Int, out: Array) -> None:
    """out[i] = a number in [0, 1) for each entry i of records low … high - 1."""
    start, item, record_keys, item_keys = streams
    for record in range(low, high):
        for i in range(start[record], start[record + 1]):
            out[i] = uniform(mix(record_keys[record], item_keys[item[i]]), ZERO)


@kernel
def perturb(streams: EntryStreams, low: Int, high: Int, value: Array, noise: LevelNoise, out: Array) -> None:
    """out[i] = value[i] with noise; a missing value, and a level without an alternative, stays."""
    start, item, record_keys, item_keys = streams
    first, last, probability = noise
    for record in range(low, high):
        for i in range(start[record], start[record + 1]):
            v = np.int64(value[i])
            out[i] = v
            if v >= len(first) or last[v] == first[v]:
                continue
            stream = mix(record_keys[record], item_keys[item[i]])
            if uniform(stream, ZERO) < probability:
                other = first[v] + np.int64(uniform(stream, ONE) * (last[v] - first[v]))
                out[i] = other + (other >= v)


@kernel
def shift(streams: EntryStreams, low: Int, high: Int, time: Array, noise: TimeNoise, out: Array) -> None:
    """out[i] = time[i] with noise, on a clock that begins `most` earlier; span + 2 most if it is missing."""
    start, item, record_keys, item_keys = streams
    span, most, probability = noise
    for record in range(low, high):
        for i in range(start[record], start[record + 1]):
            t = np.int64(time[i])
            if t == span:
                out[i] = span + 2 * most
                continue
            stream = mix(record_keys[record], item_keys[item[i]])
            out[i] = t + most
            if uniform(stream, ZERO) < probability:
                out[i] = t + np.int64(uniform(stream, ONE) * (2 * most + 1))


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
def flip(
    streams: EntryStreams, low: Int, high: Int, probability: Real, ends: Array, out: Array
) -> tuple[Int, Int]:
    """Flip every cell of records low … high - 1 with this probability; out = the items that they then have.

    ends[r - low] = end of record r in out, which must have room for every cell. Returns the number of entries
    and how many of them are false.
    """
    start, item, record_keys, item_keys = streams
    n, false = 0, 0
    for record in range(low, high):
        i = start[record]
        for cell in range(len(item_keys)):
            is_present = i < start[record + 1] and item[i] == cell
            i += is_present
            if (uniform(mix(record_keys[record], item_keys[cell]), ZERO) < probability) != is_present:
                out[n] = cell
                n += 1
                false += not is_present
        ends[record - low] = n
    return n, false
