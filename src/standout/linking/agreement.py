"""What a profile and a record have in common, in a few counts: everything that the model is learned from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from standout.attack.distance_classes import N_TIMES, N_VALUES, DistanceClasses
from standout.attack.kernels.record_scores import entry_ranges
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.core.rng import generator
from standout.facts import KnownFacts
from standout.release.model import Release
from standout.release.postings import BLOCK_BITS, locate, unpack_attributes

__all__ = ["COLUMNS", "MISSING", "SHARED", "TIMES", "VALUES", "Agreement"]

SHARED, MISSING, VALUES, TIMES = 0, 1, slice(2, 2 + N_VALUES), slice(2 + N_VALUES, 2 + N_VALUES + N_TIMES)
COLUMNS = TIMES.stop
"""Columns of a row of counts.

SHARED         facts about items that the record has
MISSING        facts about items that the record does not have
VALUES, TIMES  shared items by the class of distance of the two values, and of the two times
"""
STRANGER_PAIRS = 20_000
"""How many pairs of people with a common item are drawn."""
ATTEMPTS = 20
"""How often a pair of entries is drawn again if both are of one person."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """Compares facts with records of one release."""

    release: Release

    @cached_property
    def classes(self) -> DistanceClasses:
        """The classes of distances."""
        return DistanceClasses(self.release)

    def counts(self, known: KnownFacts, query: Ints, record: Ints, ratios: Floats | None = None) -> Floats:
        """Return a row of COLUMNS for each pair of query[i] and record[i].

        If a record has the item of a fact n times, its entries share the weight of one: each counts with the
        probability that the fact is about it, given that both are of one person. `ratios`, ln(m/u) of the
        columns VALUES and TIMES, say how likely that is; default: 1/n.
        """
        release = self.release
        pair, fact = _facts_of_pairs(known, query)
        entry, number = entry_ranges(release, record[pair], known.item[fact])
        has = number > 0
        counts = np.zeros((len(query), COLUMNS))
        counts[:, SHARED] = np.bincount(pair, has, len(query))
        counts[:, MISSING] = np.diff(known.first)[query] - counts[:, SHARED]
        pair, fact, entry, number = pair[has], fact[has], entry[has], number[has]
        date_weight = np.ldexp(1.0, -self.classes.day_shares(known))
        row = np.arange(len(fact))
        if release.has_repeats:
            row = np.repeat(row, number)
            entry = entry[row] + np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
        pair, fact = pair[row], fact[row]
        values, times = self._value_classes(known, fact, entry), self._time_classes(known, fact, entry)
        weight = np.ones(len(row))
        if release.has_repeats:
            ratios = np.zeros(COLUMNS) if ratios is None else ratios
            by_value, by_time = np.append(ratios[VALUES], 0.0)[values], np.append(ratios[TIMES], 0.0)[times]
            weight = _shares(row, by_value + by_time * date_weight[fact])
        counts[:, VALUES] = _count_columns(pair, values, len(query), N_VALUES, weight)
        counts[:, TIMES] = _count_columns(pair, times, len(query), N_TIMES, weight * date_weight[fact])
        return counts

    def _value_classes(self, known: KnownFacts, fact: Ints, entry: Ints) -> Ints:
        """The class of distance of the values of each fact and entry; -1 where it is not known."""
        column = self.release.by_record.value
        if column is None or not self.release.n_levels:
            return np.full(len(fact), -1)
        value = self.classes.numbers(known.values)[known.value[fact]]
        return self.classes.of_values(value, column[entry].astype(np.int64))

    def _time_classes(self, known: KnownFacts, fact: Ints, entry: Ints) -> Ints:
        """The class of distance of the times of each fact and entry; -1 where it is not known."""
        column = self.release.by_record.time
        if column is None or not self.release.span:
            return np.full(len(fact), -1)
        code = column[entry].astype(np.int64)
        both_timed = known.timed[fact] & (code < self.release.span)
        return self.classes.of_times(np.where(both_timed, np.abs(code - known.time[fact]), -1))

    def stranger_counts(self, seed: int) -> Floats:
        """Return the VALUES and TIMES counts of many random pairs of people with a common item, added up."""
        release, postings = self.release, self.release.by_item
        draw, counts = generator(seed, "strangers"), np.zeros(COLUMNS)
        item = release.by_record.item[draw.integers(release.n_entries, size=STRANGER_PAIRS)].astype(np.int64)
        item = item[release.support[item] > 1]
        if release.has_repeats:
            pairs = _entries_of_strangers(release, item, draw)
        else:
            first = draw.integers(release.support[item])
            offset = draw.integers(1, np.maximum(release.support[item], 2))
            second = (first + offset) % release.support[item]
            pairs = postings.start[item] + first, postings.start[item] + second
        (value, time), (other_value, other_time) = (
            unpack_attributes(
                postings, postings.word[locate(postings, rank)[1]], release.n_levels, release.span
            )
            for rank in pairs
        )
        one_row = np.zeros(len(value), np.int64)
        if release.n_levels:
            column = self.classes.of_values(np.append(self.classes.levels, np.nan)[value], other_value)
            counts[VALUES] = _count_columns(one_row, column, 1, N_VALUES)[0]
        if release.span:
            both_timed = (time < release.span) & (other_time < release.span)
            column = self.classes.of_times(np.where(both_timed, np.abs(time - other_time), -1))
            counts[TIMES] = _count_columns(one_row, column, 1, N_TIMES)[0]
        return counts

    @property
    def possible(self) -> Bools:
        """Which columns can occur."""
        possible = np.ones(COLUMNS, np.bool_)
        possible[VALUES], possible[TIMES] = self.classes.possible_values, self.classes.possible_times
        return possible


def _shares(row: Ints, logarithm: Floats) -> Floats:
    """e^logarithm divided by its sum over the row; rows follow one another."""
    first = np.flatnonzero(np.append(True, row[1:] != row[:-1])[: len(row)])
    if not len(first):
        return np.ones(0)
    number = elementary.exp(logarithm - np.maximum.reduceat(logarithm, first)[row])
    return np.asarray(number / np.add.reduceat(number, first)[row])


def _entries_of_strangers(release: Release, item: Ints, draw: np.random.Generator) -> tuple[Ints, Ints]:
    """The ranks of two random entries of each item, of different records; without items that have none."""
    postings, n = release.by_item, release.item_entries[item]
    first, second = (postings.start[item] + draw.integers(n) for _ in range(2))
    for _ in range(ATTEMPTS):
        same = np.flatnonzero(_records_of(release, first) == _records_of(release, second))
        second[same] = postings.start[item[same]] + draw.integers(n[same])
    differ = _records_of(release, first) != _records_of(release, second)
    return first[differ], second[differ]


def _records_of(release: Release, rank: Ints) -> Ints:
    """The records of entries, by their ranks in the postings."""
    postings = release.by_item
    run, position = locate(postings, rank)
    place = postings.word[position].astype(np.int64) >> (postings.value_bits + postings.time_bits)
    return (postings.block[run].astype(np.int64) << BLOCK_BITS) + place


def _facts_of_pairs(known: KnownFacts, query: Ints) -> tuple[Ints, Ints]:
    """(pair, fact) for every fact of every query."""
    facts = np.diff(known.first)[query]
    pair, ends = np.repeat(np.arange(len(query)), facts), np.cumsum(facts)
    return pair, np.arange(len(pair)) + np.repeat(known.first[query] - (ends - facts), facts)


def _count_columns(
    pair: Ints, column: Ints, n_pairs: int, n_columns: int, weight: Floats | None = None
) -> Floats:
    """How often each column occurs in each pair, or the sum of the weights; column -1 does not count."""
    known = column >= 0
    weights = None if weight is None else weight[known]
    counts = np.bincount(pair[known] * n_columns + column[known], weights, n_pairs * n_columns)
    return counts.reshape(n_pairs, n_columns).astype(np.float64)
