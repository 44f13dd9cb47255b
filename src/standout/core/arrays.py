"""Array types that every package uses, the offsets and slices of a ragged array, and ranks."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
FEW_CODES = 1 << 20
"""A table of this many codes is small, whether they are in use or not."""


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view.

    Mapped arrays are read-only too. With one kind of array, each kernel is compiled once.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def offsets(counts: ArrayLike) -> Ints:
    """CSR offsets of a ragged array: where each row begins, and where the last one ends.

    Row i holds the elements from offsets[i] up to offsets[i + 1].

    >>> offsets([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    per_row = np.asarray(counts)
    start = np.zeros(len(per_row) + 1, np.int64)
    np.cumsum(per_row, dtype=np.int64, out=start[1:])
    return start


def take_rows(start: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Offsets of some rows of a ragged array, and the positions of their elements.

    >>> [part.tolist() for part in take_rows(np.array([0, 2, 2, 5]), np.array([2, 0]))]
    [[0, 3, 5], [2, 3, 4, 0, 1]]
    """
    counts = start[rows + 1] - start[rows]
    first = offsets(counts)
    return first, np.arange(first[-1]) + np.repeat(start[rows] - first[:-1], counts)


def occurrence(values: NDArray[np.integer[Any]]) -> Ints:
    """How often each value has occurred before.

    >>> occurrence(np.array([7, 4, 7, 7, 4])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(values, kind="stable")
    first = run_starts(values[order])
    before = np.empty(len(values), np.int64)
    before[order] = np.arange(len(values)) - np.repeat(first, np.diff(first, append=len(values)))
    return before


def codes_in_use(codes: NDArray[np.integer[Any]], count: int) -> tuple[Ints, NDArray[np.integer[Any]]]:
    """Ascending codes for a table, and the place of each element in it, for codes from 0 to count − 1.

    These are all codes, or only those that occur if most do not: one wrong date must not need a table of all
    minutes up to the year 9999.

    >>> table, place = codes_in_use(np.array([7, 4_000_000_000, 7]), 1 << 32)
    >>> table.tolist(), place.tolist()
    ([7, 4000000000], [0, 1, 0])
    """
    if count <= max(len(codes), FEW_CODES):
        return np.arange(count), codes
    table, place = np.unique(codes, return_inverse=True)
    return table.astype(np.int64), place.reshape(-1)


def run_starts(record: NDArray[np.integer[Any]]) -> Ints:
    """Where each run of equal numbers begins.

    >>> run_starts(np.array([4, 7, 7, 2])).tolist()
    [0, 1, 3]
    """
    is_first = np.ones(len(record), np.bool_)
    is_first[1:] = record[1:] != record[:-1]
    return np.flatnonzero(is_first)


def slices_of(counts: Ints, most: int) -> Iterator[slice]:
    """Slices of consecutive rows with at most this many elements together, or of a single row.

    >>> [(part.start, part.stop) for part in slices_of(np.array([2, 1, 9, 3]), 4)]
    [(0, 2), (2, 3), (3, 4)]
    """
    ends, low = np.cumsum(counts), 0
    while low < len(counts):
        before = ends[low - 1] if low else 0
        high = max(low + 1, int(np.searchsorted(ends, before + most, "right")))
        yield slice(low, high)
        low = high


def mean_ranks(values: ArrayLike) -> Floats:
    """Ranks from 1 for the smallest value; equal values share the mean of their ranks.

    >>> mean_ranks([30, 10, 30, 20]).tolist()
    [3.5, 1.0, 3.5, 2.0]
    """
    _, inverse, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse])
