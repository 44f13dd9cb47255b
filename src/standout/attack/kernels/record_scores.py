"""Chosen records: what they have, how similar that is to what is known, and since when."""

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints
from standout.core.errors import StoreError
from standout.core.jit import Array, Flag, Int, kernel, subroutine
from standout.release.model import Release
from standout.similarity.lookup_tables import Tables

__all__ = ["entry_positions", "first_times", "has_item", "similarities"]

NO_CODES = np.empty(0, np.uint8)


def has_item(release: Release, record: Ints, item: Ints) -> NDArray[np.bool_]:
    """Whether each record has the item beside it; a record of -1 has nothing."""
    return np.asarray(entry_positions(release, record, item) >= 0)


def entry_positions(release: Release, record: Ints, item: Ints) -> Ints:
    """Where each record has the item beside it among the entries by record; -1 where it has not."""
    found = np.empty(len(record), np.int64)
    _places(release.by_record.start, release.by_record.item, record, item, found)
    return found


def similarities(
    release: Release, record: Ints, item: Ints, shape: Ints, time: Ints, made: Tables
) -> NDArray[np.float64]:
    """Sim of facts (by item, and shape and time in the tables) and the records' entries beside them.

    It comes in two terms, what needs no time and what does; the first is -1 where the record lacks the item.
    """
    side, found = release.by_record, np.zeros((2, len(record)))
    value = NO_CODES if side.value is None else side.value
    times = NO_CODES if side.time is None else side.time
    sound = _similarities(
        side.start, side.item, value, times, release.n_levels, release.span, record, item, shape, time,
        made.a, made.b, made.off, made.c, found,
    )  # fmt: skip
    if not sound:
        raise StoreError("the index is damaged: an entry points nowhere; run standout verify")
    return found


def first_times(release: Release) -> NDArray[np.int32]:
    """The earliest time of every record, -1 where it has none."""
    side, clock = release.by_record, release.clock
    first = np.full(release.n_records, -1, np.int32)
    if side.time is not None and clock is not None:
        _begins(side.start, side.time, clock.span, first)
    return first


@kernel
def _begins(start: Array, time: Array, missing: Int, first: Array) -> None:
    for record in range(len(start) - 1):
        for i in range(start[record], start[record + 1]):
            code = np.int64(time[i])
            if code < missing and (first[record] < 0 or code < first[record]):
                first[record] = code


@kernel
def _places(start: Array, other: Array, record: Array, item: Array, found: Array) -> None:
    for i in range(len(record)):
        found[i] = _find(start, other, record[i], item[i]) if record[i] >= 0 else -1


@kernel
def _similarities(
    start: Array, other: Array, value: Array, time: Array, n_levels: Int, span: Int, record: Array,
    item: Array, shape: Array, known: Array, a: Array, b: Array, off: Array, c: Array, found: Array,
) -> Flag:  # fmt: skip
    """found[:, i] = the terms of Sim of the i-th pair; returns whether every code met means something."""
    for i in range(len(record)):
        at = _find(start, other, record[i], item[i])
        found[0, i] = -1.0
        if at < 0:
            continue
        kind = np.int64(value[at]) if len(value) else n_levels
        moment = np.int64(time[at]) if len(time) else 0
        if kind > n_levels or moment > span:
            return False
        if span and moment == span:
            kind, moment = kind + n_levels + 1, 0
        u = shape[i]
        found[0, i] = a[u, kind]
        found[1, i] = b[u, kind] * c[off[u, kind] + moment - known[i]]
    return True


@subroutine
def _find(start: Array, other: Array, record: Int, item: Int) -> Int:
    """Where a record has an item among the entries by record, or -1."""
    low, stop = start[record], start[record + 1]
    high = stop
    while low < high:
        middle = (low + high) // 2
        if other[middle] < item:
            low = middle + 1
        else:
            high = middle
    return low if low < stop and other[low] == item else -1
