"""The terms of Sim of a fact and a record that has its item several times, in double precision: compiled.

Equal entries of a record are looked up once: a taxi is at one stand many times in an hour.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.kernels.record_scores import EntryRanges, ranges_among
from standout.core.arrays import Floats, Ints
from standout.core.errors import StoreError
from standout.core.jit import Array, Flag, Int, Real, kernel, subroutine
from standout.release.distinct_items import distinct_entries
from standout.release.model import INVALID_CODE, RecordEntries, Release
from standout.similarity.lookup_tables import Tables

__all__ = ["FactPairs", "best_terms", "mean_terms"]

NO_CODES = np.empty(0, np.uint8)


class FactPairs(NamedTuple):
    """Facts and records, pair by pair; a part of a score is weight · Sim, each term a multiple of `step`."""

    record: Ints
    item: Ints
    shape: Ints
    time: Ints
    weight: Floats
    step: Floats


class _Entries(NamedTuple):
    """Codes of the entries by record; empty if the release has none."""

    value: NDArray[np.unsignedinteger]
    time: NDArray[np.unsignedinteger]
    n_levels: int
    span: int


class _Tables(NamedTuple):
    """The tables of similarity."""

    a: Floats
    b: Floats
    off: Ints
    c: Floats


def best_terms(release: Release, pairs: FactPairs, tables: Tables) -> Floats:
    """The terms of the record's best entry: that of the highest part, in a tie of the highest Sim.

    The first is NaN if the record lacks the item.
    """
    terms, entries = np.zeros((2, len(pairs.shape))), distinct_entries(release)
    ranges = ranges_among(entries, pairs.record, pairs.item)
    if not _best_terms(_entries(release, entries), pairs, ranges, _tables(tables), terms):
        raise StoreError(INVALID_CODE)
    return terms


def mean_terms(release: Release, pairs: FactPairs, tables: Tables) -> Floats:
    """The logarithm of the mean of e^Sim over the record's entries, and 0.

    That of a single entry is exactly its Sim. The first is NaN if the record lacks the item.
    """
    terms, entries = np.zeros((2, len(pairs.shape))), release.by_record
    ranges = ranges_among(entries, pairs.record, pairs.item)
    if not _mean_terms(_entries(release, entries), pairs, ranges, _tables(tables), terms):
        raise StoreError(INVALID_CODE)
    return terms


def _entries(release: Release, entries: RecordEntries) -> _Entries:
    value, time = (NO_CODES if column is None else column for column in entries[2:])
    return _Entries(value, time, release.n_levels, release.span)


def _tables(tables: Tables) -> _Tables:
    return _Tables(tables.a, tables.b, tables.off, tables.c)


@kernel
def _best_terms(
    entries: _Entries, pairs: FactPairs, ranges: EntryRanges, tables: _Tables, terms: Array
) -> Flag:
    for i in range(len(pairs.shape)):
        terms[0, i] = np.nan
        highest, most, weight, step = -1.0, -1.0, pairs.weight[i], pairs.step[i]
        for at in range(ranges.first[i], ranges.first[i] + ranges.number[i]):
            kind, moment = _codes(entries, at)
            if kind < 0:
                return False
            fixed, timed = _terms(tables, pairs.shape[i], kind, moment - pairs.time[i])
            x, y = max(fixed, 0.0), max(timed, 0.0)
            part = np.rint(weight * x / step) * step + np.rint(weight * y / step) * step
            if part > highest or (part == highest and x + y > most):
                highest, most, terms[0, i], terms[1, i] = part, x + y, fixed, timed
    return True


@kernel
def _mean_terms(
    entries: _Entries, pairs: FactPairs, ranges: EntryRanges, tables: _Tables, terms: Array
) -> Flag:
    for i in range(len(pairs.shape)):
        terms[0, i] = np.nan
        highest, total = -np.inf, 0.0
        for turn in range(2 if ranges.number[i] else 0):  # the highest, then the sum relative to it
            share = 0.0
            for at in range(ranges.first[i], ranges.first[i] + ranges.number[i]):
                if at == ranges.first[i] or not _is_repeated(entries.value, entries.time, at):
                    kind, moment = _codes(entries, at)
                    if kind < 0:
                        return False
                    fixed, timed = _terms(tables, pairs.shape[i], kind, moment - pairs.time[i])
                    if turn == 0:
                        highest = max(highest, fixed + timed)
                    else:
                        share = math.exp(fixed + timed - highest)
                total += share
        if ranges.number[i]:
            terms[0, i] = highest + math.log(total / ranges.number[i])
    return True


@subroutine
def _is_repeated(value: Array, time: Array, at: Int) -> Flag:
    """Whether an entry has the value and time of the one before."""
    return (len(value) == 0 or value[at] == value[at - 1]) and (len(time) == 0 or time[at] == time[at - 1])


@subroutine
def _codes(entries: _Entries, at: Int) -> tuple[Int, Int]:
    """Kind and time of an entry; (-1, 0) if the index is damaged."""
    kind = np.int64(entries.value[at]) if len(entries.value) else np.int64(entries.n_levels)
    moment = np.int64(entries.time[at]) if len(entries.time) else np.int64(0)
    if kind > entries.n_levels or moment > entries.span:
        return np.int64(-1), np.int64(0)
    if entries.span and moment == entries.span:
        return kind + entries.n_levels + 1, np.int64(0)
    return kind, moment


@subroutine
def _terms(tables: _Tables, shape: Int, kind: Int, distance: Int) -> tuple[Real, Real]:
    at = tables.off[shape, kind] + distance
    return tables.a[shape, kind], tables.b[shape, kind] * tables.c[at]
