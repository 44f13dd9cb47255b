"""Chosen records: whether they have an item, how similar their entry is to a fact, and when they begin.

Where a record has an item several times, its entries of the item follow one another among the entries by
record: `entry_positions` gives the first, `entry_ranges` all of them. They are found by bisection, or in a
table of all records and items if that is not larger than the entries.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.kernels.query_arrays import U
from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.core.errors import StoreError
from standout.core.jit import Array, Flag, Int, kernel, subroutine
from standout.release.distinct_items import distinct_entries
from standout.release.model import INVALID_CODE, RecordEntries, Release, read_only
from standout.similarity.lookup_tables import Tables
from standout.similarity.time_cells import time_similarity

__all__ = [
    "EntryRanges",
    "Pairs",
    "distinct_ranges",
    "entry_positions",
    "entry_ranges",
    "first_times",
    "has_item",
    "similarities",
]

NO_CODES = np.empty(0, np.uint8)
NO_OFFSETS = read_only(np.empty(0, np.int64))
DISTINCT = "_distinct_item_offsets"


class Pairs(NamedTuple):
    """Facts and records, pair by pair. A fact is its item, and its shape and time in the tables."""

    record: Ints
    item: Ints
    shape: Ints
    time: Ints


class EntryRanges(NamedTuple):
    """Where records have items among the entries by record: the first entry, -1 if none, and how many."""

    first: Ints
    number: Ints


class _Entries(NamedTuple):
    """Entries by record; `value` and `time` are empty if the release has none, `table` if it is not kept."""

    start: NDArray[np.int64]
    item: Array
    table: NDArray[np.int64]
    n_items: int
    value: Array
    time: Array
    n_levels: int
    span: int


class _Tables(NamedTuple):
    """The tables of similarity, for the kernel."""

    a: Floats
    b: Floats
    off: Ints
    c: Floats


def has_item(release: Release, record: Ints, item: Ints) -> Bools:
    """Whether each record has the item of the same index; record -1 has none."""
    return np.asarray(entry_positions(release, record, item) >= 0)


def entry_positions(release: Release, record: Ints, item: Ints) -> Ints:
    """Position, among the entries by record, of each record's first entry of its item; or -1."""
    if release.has_repeats:
        return entry_ranges(release, record, item).first
    positions = np.empty(len(record), np.int64)
    _find_all(release.by_record.start, release.by_record.item, record, item, positions)
    return positions


def entry_ranges(release: Release, record: Ints, item: Ints) -> EntryRanges:
    """All entries that each record has of the item of the same index; record -1 has none."""
    if not release.has_repeats:
        first = entry_positions(release, record, item)
        return EntryRanges(first, (first >= 0).astype(np.int64))
    return _ranges_among(release.by_record, _item_offsets(release, "_item_offsets"), record, item)


def distinct_ranges(release: Release, record: Ints, item: Ints) -> EntryRanges:
    """The same among the distinct entries."""
    entries, offsets_of_items = distinct_entries(release).entries, _item_offsets(release, DISTINCT)
    return _ranges_among(entries, offsets_of_items, record, item)


def _ranges_among(by_record: RecordEntries, table: Ints, record: Ints, item: Ints) -> EntryRanges:
    first, count = np.empty(len(record), np.int64), np.zeros(len(record), np.int64)
    if len(table):
        _look_up_all(table, (len(table) - 1) // (len(by_record.start) - 1), record, item, first, count)
        return EntryRanges(first, count)
    _find_all(by_record.start, by_record.item, record, item, first)
    _count_all(by_record.start, by_record.item, record, item, first, count)
    return EntryRanges(first, count)


def _item_offsets(release: Release, name: str) -> Ints:
    """Where the entries of each record and item begin, item by item; empty if that table would be large.

    A bisection of a record with thousands of entries costs more than all the entries of one item.
    """
    kept: dict[str, Ints] = vars(release)
    if name not in kept:
        by_record = distinct_entries(release).entries if name == DISTINCT else release.by_record
        table, cells = NO_OFFSETS, release.n_records * release.n_items
        if 0 < cells <= len(by_record.item):
            if int(by_record.item.max()) >= release.n_items:
                raise StoreError(INVALID_CODE)
            cell = np.repeat(np.arange(release.n_records) * release.n_items, np.diff(by_record.start))
            cell += by_record.item
            table = read_only(offsets(np.bincount(cell, minlength=cells)))
        kept[name] = table
    return kept[name]


def similarities(release: Release, pairs: Pairs, tables: Tables) -> Floats:
    """Sim of each pair, in two terms: one that needs no time and one that does.

    The first is NaN if the record lacks the item. If a record has the item several times, the terms are those
    of its most similar entry.
    """
    terms = np.zeros((2, len(pairs.record)))
    by_record = distinct_entries(release).entries if release.has_repeats else release.by_record
    entries = _Entries(
        start=by_record.start,
        item=by_record.item,
        table=_item_offsets(release, DISTINCT) if release.has_repeats else NO_OFFSETS,
        n_items=release.n_items,
        value=NO_CODES if by_record.value is None else by_record.value,
        time=NO_CODES if by_record.time is None else by_record.time,
        n_levels=release.n_levels,
        span=release.span,
    )
    if not _similarities(entries, pairs, _Tables(tables.a, tables.b, tables.off, tables.c), terms):
        raise StoreError(INVALID_CODE)
    return terms


def first_times(release: Release) -> NDArray[np.int32]:
    """The earliest time of every record, -1 where it has none; kept with the release."""
    kept = vars(release).get("_first_times")
    if kept is None:
        by_record, clock = release.by_record, release.clock
        kept = np.full(release.n_records, -1, np.int32)
        if by_record.time is not None and clock is not None:
            _begins(by_record.start, by_record.time, clock.span, kept)
        vars(release)["_first_times"] = kept = read_only(kept)
    assert isinstance(kept, np.ndarray)
    return kept


@kernel
def _begins(start: Array, time: Array, missing: Int, first: Array) -> None:
    for record in range(len(start) - 1):
        for i in range(start[record], start[record + 1]):
            code = np.int64(time[i])
            if code < missing and (first[record] < 0 or code < first[record]):
                first[record] = code


@kernel
def _find_all(start: Array, items: Array, record: Array, item: Array, positions: Array) -> None:
    for i in range(len(record)):
        positions[i] = _find(start, items, record[i], item[i]) if record[i] >= 0 else -1


@kernel
def _look_up_all(table: Array, n_items: Int, record: Array, item: Array, first: Array, count: Array) -> None:
    for i in range(len(record)):
        cell = record[i] * n_items + item[i]
        count[i] = table[cell + 1] - table[cell] if record[i] >= 0 and item[i] >= 0 else 0
        first[i] = table[cell] if count[i] > 0 else -1


@kernel
def _count_all(start: Array, items: Array, record: Array, item: Array, first: Array, count: Array) -> None:
    for i in range(len(record)):
        if first[i] >= 0:
            low, high = first[i], start[record[i] + 1]
            while low < high:
                middle = (low + high) // 2
                if items[middle] <= item[i]:
                    low = middle + 1
                else:
                    high = middle
            count[i] = low - first[i]


@kernel
def _similarities(entries: _Entries, pairs: Pairs, tables: _Tables, terms: Array) -> Flag:
    """terms[:, i] = the terms of Sim of the i-th pair; returns whether every code is valid."""
    start, items, table, n_items, value, time, n_levels, span = entries
    a, b, off, c = tables
    records, wanted, shape, known = pairs
    for i in range(len(records)):
        record, item = records[i], wanted[i]
        if len(table):
            cell = record * n_items + item
            at = table[cell] if table[cell] < table[cell + 1] else -1
        else:
            at = _find(start, items, record, item)
        terms[0, i] = np.nan
        if at < 0:
            continue
        first_term, second_term = np.nan, 0.0
        u, moved, at, stop, best = U(shape[i]), known[i], U(at), U(start[record + 1]), -np.inf
        while True:
            kind = U(value[at]) if len(value) else U(n_levels)
            moment = np.int64(time[at]) if len(time) else np.int64(0)
            if kind > U(n_levels) or moment > span:
                return False
            if span and moment == span:
                kind, moment = kind + U(n_levels + 1), np.int64(0)
            fixed, timed = a[u, kind], b[u, kind] * time_similarity(c, U(off[u, kind] + moment - moved))
            similarity = max(fixed, 0.0) + max(timed, 0.0)
            if similarity > best:
                best, first_term, second_term = similarity, fixed, timed
            at += U(1)
            if at == stop or items[at] != item:
                break
        terms[0, i], terms[1, i] = first_term, second_term
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
