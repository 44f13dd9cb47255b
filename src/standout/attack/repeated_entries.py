"""Several entries of one record and item: from numbers by entry to one number for each record.

The entries of a record follow one another. `first` is where those of each record begin.
"""

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats, Ints

__all__ = ["best_entries", "log_means", "run_starts"]


def run_starts(record: Ints) -> Ints:
    """Where each run of equal numbers begins.

    >>> run_starts(np.array([4, 7, 7, 2])).tolist()
    [0, 1, 3]
    """
    is_first = np.ones(len(record), np.bool_)
    is_first[1:] = record[1:] != record[:-1]
    return np.flatnonzero(is_first)


def best_entries(first: Ints, *numbers: Floats) -> Ints:
    """Position of each record's best entry: by the first of these numbers, in a tie by the next.

    >>> best_entries(np.array([0, 1]), np.array([5, 1, 2, 2]), np.array([0, 9, 1, 3])).tolist()
    [0, 3]
    """
    if not len(first):
        return first
    run = np.repeat(np.arange(len(first)), np.diff(first, append=len(numbers[0])))
    left = np.ones(len(run), np.bool_)
    for number in numbers:
        candidate = np.where(left, number, -np.inf)
        left &= candidate == np.maximum.reduceat(candidate, first)[run]
    position = np.flatnonzero(left)
    return np.asarray(position[np.searchsorted(run[position], np.arange(len(first)))])


def log_means(first: Ints, logarithms: Floats) -> Floats:
    """The logarithm of each record's mean of e^x over its entries; that of a single entry is exactly its x.

    >>> np.exp(log_means(np.array([0, 1]), np.log([0.3, 0.1, 0.3]))).round(9).tolist()
    [0.3, 0.2]
    """
    if not len(first):
        return logarithms[:0]
    count = np.diff(first, append=len(logarithms))
    highest = np.maximum.reduceat(logarithms, first)
    shares = elementary.exp(logarithms - np.repeat(highest, count))
    return np.asarray(highest + elementary.log(np.add.reduceat(shares, first) / count))
