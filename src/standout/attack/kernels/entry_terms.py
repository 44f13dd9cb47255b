"""The terms of Sim of a fact and a record that has its item several times, in double precision: compiled.

Equal entries of a record follow one another, and each is looked up once: a taxi is at one stand in one hour
many times.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.kernels.record_scores import EntryRanges, is_repeated
from standout.core.arrays import Floats, Ints
from standout.core.errors import StoreError
from standout.core.jit import Array, Flag, Int, Real, kernel, subroutine
from standout.release.model import INVALID_CODE, Release
from standout.similarity.lookup_tables import Tables

__all__ = ["FactPairs", "best_terms", "mean_terms"]

NO_CODES = np.empty(0, np.uint8)


class FactPairs(NamedTuple):
    """Facts and the entries of a record, pair by pair: a fact's shape and time, and where the entries are.

    A part of a score is weight · Sim, each of its terms a multiple of `step`.
    """

    shape: Ints
    time: Ints
    position: Ints
    entries: Ints
    weight: Floats
    step: Floats

    @classmethod
    def of(cls, shape: Ints, time: Ints, ranges: EntryRanges, weight: Floats, step: Floats) -> "FactPairs":
        """The pairs of facts and of ranges of entries."""
        return cls(shape, time, ranges.first, ranges.number, weight, step)


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
    terms = np.zeros((2, len(pairs.shape)))
    if not _best_terms(_entries(release), pairs, _tables(tables), terms):
        raise StoreError(INVALID_CODE)
    return terms


def mean_terms(release: Release, pairs: FactPairs, tables: Tables) -> Floats:
    """The logarithm of the mean of e^Sim over the record's entries, and 0.

    That of a single entry is exactly its Sim. The first is NaN if the record lacks the item.
    """
    terms = np.zeros((2, len(pairs.shape)))
    if not _mean_terms(_entries(release), pairs, _tables(tables), terms):
        raise StoreError(INVALID_CODE)
    return terms


def _entries(release: Release) -> _Entries:
    value, time = (NO_CODES if column is None else column for column in release.by_record[2:])
    return _Entries(value, time, release.n_levels, release.span)


def _tables(tables: Tables) -> _Tables:
    return _Tables(tables.a, tables.b, tables.off, tables.c)


@kernel
def _best_terms(entries: _Entries, pairs: FactPairs, tables: _Tables, terms: Array) -> Flag:
    for i in range(len(pairs.shape)):
        terms[0, i] = np.nan
        highest, most, weight, step = -1.0, -1.0, pairs.weight[i], pairs.step[i]
        for at in range(pairs.position[i], pairs.position[i] + pairs.entries[i]):
            if at > pairs.position[i] and is_repeated(entries.value, entries.time, at):
                continue
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
def _mean_terms(entries: _Entries, pairs: FactPairs, tables: _Tables, terms: Array) -> Flag:
    for i in range(len(pairs.shape)):
        terms[0, i] = np.nan
        highest, total = -np.inf, 0.0
        for turn in range(2 if pairs.entries[i] else 0):  # the highest, then the sum relative to it
            share = 0.0
            for at in range(pairs.position[i], pairs.position[i] + pairs.entries[i]):
                if at == pairs.position[i] or not is_repeated(entries.value, entries.time, at):
                    kind, moment = _codes(entries, at)
                    if kind < 0:
                        return False
                    fixed, timed = _terms(tables, pairs.shape[i], kind, moment - pairs.time[i])
                    if turn == 0:
                        highest = max(highest, fixed + timed)
                    else:
                        share = math.exp(fixed + timed - highest)
                total += share
        if pairs.entries[i]:
            terms[0, i] = highest + math.log(total / pairs.entries[i])
    return True


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
