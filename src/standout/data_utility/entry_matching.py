"""How the entries of people differ from those of the records that represent them. Compiled.

Entries are matched by item. If a person has an item a times and the record has it b times, min(a, b) of them
are matched, such that the differences have the smallest possible sum: steps change times and values, so
nobody can say which of several entries is which. Without repeats there is nothing to choose.
"""

from typing import NamedTuple

import numpy as np

from standout.core.arrays import Floats, Ints
from standout.core.jit import Array, Int, Real, kernel, subroutine

__all__ = ["Differences", "NumberedEntries", "compare_entries"]


class NumberedEntries(NamedTuple):
    """Entries of some people and a number of each, NaN if it has none; person p has start[p] to start[p + 1].

    Items ascend within a person; -1 is an item that cannot be matched.
    """

    start: Array
    item: Array
    number: Array


class Differences(NamedTuple):
    """For each person, the number of matched entries and the sum of their absolute differences."""

    matched: Ints
    total: Floats


def compare_entries(first: NumberedEntries, second: NumberedEntries) -> Differences:
    """Match entries of the same people that have a number.

    >>> a = NumberedEntries(np.array([0, 3]), np.array([4, 4, 7]), np.array([1.0, 9.0, 2.0]))
    >>> b = NumberedEntries(np.array([0, 2]), np.array([4, 7]), np.array([8.0, np.nan]))
    >>> compare_entries(a, b)
    Differences(matched=array([1]), total=array([1.]))
    """
    people = len(first.start) - 1
    matched, total = np.zeros(people, np.int64), np.zeros(people)
    _compare(first, second, matched, total)
    return Differences(matched, total)


@kernel
def _compare(first: NumberedEntries, second: NumberedEntries, matched: Array, total: Array) -> None:
    for person in range(len(first.start) - 1):
        i, end = first.start[person], first.start[person + 1]
        j, other_end = second.start[person], second.start[person + 1]
        while i < end:
            item, stop = first.item[i], _stop(first.item, i, end)
            while item >= 0 and j < other_end and second.item[j] < item:
                j += 1
            if item >= 0 and j < other_end and second.item[j] == item:
                other_stop = _stop(second.item, j, other_end)
                a, b = _known(first.number[i:stop]), _known(second.number[j:other_stop])
                if len(a) > len(b):
                    a, b = b, a
                if len(a) > 0:
                    matched[person] += len(a)
                    total[person] += _smallest_total(a, b)
                j = other_stop
            i = stop


@subroutine
def _stop(item: Array, i: Int, end: Int) -> Int:
    """Where the entries with the item of entry i end."""
    stop = i + 1
    while stop < end and item[stop] == item[i]:
        stop += 1
    return stop


@subroutine
def _known(numbers: Array) -> Array:
    """The numbers that are not NaN, in ascending order."""
    return np.sort(numbers[~np.isnan(numbers)])


@subroutine
def _smallest_total(a: Array, b: Array) -> Real:
    """Smallest Σ |a[i] - b[f(i)]| over all choices of different f(i); both ascend, and b is not shorter.

    An ascending f is optimal. best[d] is the smallest sum so far with f(i) ≤ i + d.
    """
    best = np.zeros(len(b) - len(a) + 1)
    for i in range(len(a)):
        least = np.inf
        for d in range(len(best)):
            least = min(least, best[d] + abs(a[i] - b[i + d]))
            best[d] = least
    return best[-1]
