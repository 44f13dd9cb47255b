"""The mean of a fact's probability over the entries of a record, in double precision: compiled.

Equal entries of a record are looked up once: a taxi is at one stand many times in an hour.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.kernels.query_arrays import U
from standout.attack.kernels.record_scores import EntryRanges, Pairs, distinct_ranges
from standout.core.arrays import Floats, Ints
from standout.core.errors import StoreError
from standout.core.jit import Array, Flag, kernel
from standout.release.distinct_items import distinct_entries
from standout.release.model import INVALID_CODE, Release
from standout.similarity.lookup_tables import Tables
from standout.similarity.time_cells import time_similarity

__all__ = ["mean_terms"]

NO_CODES = np.empty(0, np.uint8)


class _Entries(NamedTuple):
    """Codes of the distinct entries by record, empty if the release has none, and how often each occurs."""

    value: NDArray[np.unsignedinteger]
    time: NDArray[np.unsignedinteger]
    number: NDArray[np.int32]
    n_levels: int
    span: int


class _Tables(NamedTuple):
    """The tables of similarity."""

    a: Floats
    b: Floats
    off: Ints
    c: Floats


def mean_terms(release: Release, pairs: Pairs, tables: Tables) -> Floats:
    """The logarithm of the mean of e^Sim over the record's entries, and 0.

    That of a single entry is exactly its Sim. The first is NaN if the record lacks the item.
    """
    terms, distinct = np.zeros((2, len(pairs.shape))), distinct_entries(release)
    ranges = distinct_ranges(release, pairs.record, pairs.item)
    value, time = (NO_CODES if column is None else column for column in distinct.entries[2:])
    entries = _Entries(value, time, distinct.number, release.n_levels, release.span)
    if not _mean_terms(entries, pairs, ranges, _Tables(tables.a, tables.b, tables.off, tables.c), terms):
        raise StoreError(INVALID_CODE)
    return terms


@kernel
def _mean_terms(entries: _Entries, pairs: Pairs, ranges: EntryRanges, tables: _Tables, terms: Array) -> Flag:
    """Write the terms; return whether every code is valid.

    Arrays are unpacked: Numba counts references to each array of a tuple that is passed or read in a loop.
    """
    value, time, number, n_levels, span = entries
    a, b, off, c = tables
    shape, known, first, numbers = pairs.shape, pairs.time, ranges.first, ranges.number
    for i in range(len(shape)):
        terms[0, i] = np.nan
        u, moved, low, high = U(shape[i]), known[i], first[i], first[i] + numbers[i]
        highest, total, count, last, likely = -np.inf, 0.0, 0, -np.inf, 0.0
        for turn in range(2 if high > low else 0):  # the highest, then the sum relative to it
            for at in range(U(low), U(high)):
                kind = U(value[at]) if len(value) else U(n_levels)
                moment = np.int64(time[at]) if len(time) else np.int64(0)
                if kind > U(n_levels) or moment > span:
                    return False
                if span and moment == span:
                    kind, moment = kind + U(n_levels + 1), np.int64(0)
                x = a[u, kind] + b[u, kind] * time_similarity(c, U(off[u, kind] + moment - moved))
                if turn == 0:
                    highest = max(highest, x)
                else:
                    if x != last:  # many entries are far from the known date, and equally likely
                        last, likely = x, math.exp(x - highest)
                    total += number[at] * likely
                    count += number[at]
        if high > low:
            terms[0, i] = highest + math.log(total / count)
    return True
