"""What a profile and a record have in common, in a few counts: everything that the model is learned from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from standout.attack.distance_classes import N_TIMES, N_VALUES, DistanceClasses
from standout.attack.kernels.record_scores import entry_positions
from standout.core.arrays import Bools, Floats, Ints
from standout.core.rng import generator
from standout.facts import KnownFacts
from standout.release.model import Release
from standout.release.postings import unpack_attributes

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


@dataclass(frozen=True, eq=False)
class Agreement:
    """Compares facts with records of one release."""

    release: Release

    @cached_property
    def classes(self) -> DistanceClasses:
        """The classes of distances."""
        return DistanceClasses(self.release)

    def counts(self, known: KnownFacts, query: Ints, record: Ints) -> Floats:
        """Return a row of COLUMNS for each pair of query[i] and record[i]."""
        release, side = self.release, self.release.by_record
        pair, fact = _facts_of_pairs(known, query)
        entry = entry_positions(release, record[pair], known.item[fact])
        has = entry >= 0
        counts = np.zeros((len(query), COLUMNS))
        counts[:, SHARED] = np.bincount(pair, has, len(query))
        counts[:, MISSING] = np.diff(known.first)[query] - counts[:, SHARED]
        pair, fact, entry = pair[has], fact[has], entry[has]
        if side.value is not None and release.n_levels:
            value = self.classes.numbers(known.values)[known.value[fact]]
            column = self.classes.of_values(value, side.value[entry].astype(np.int64))
            counts[:, VALUES] = _count_columns(pair, column, len(query), N_VALUES)
        if side.time is not None and release.span:
            code = side.time[entry].astype(np.int64)
            both_timed = known.timed[fact] & (code < release.span)
            column = self.classes.of_times(np.where(both_timed, np.abs(code - known.time[fact]), -1))
            weight = np.ldexp(1.0, -self.classes.day_shares(known)[fact])
            counts[:, TIMES] = _count_columns(pair, column, len(query), N_TIMES, weight)
        return counts

    def stranger_counts(self, seed: int) -> Floats:
        """Return the VALUES and TIMES counts of many random pairs of people with a common item, added up."""
        release, postings = self.release, self.release.by_item
        draw, counts = generator(seed, "strangers"), np.zeros(COLUMNS)
        item = release.by_record.item[draw.integers(release.n_entries, size=STRANGER_PAIRS)].astype(np.int64)
        item = item[release.support[item] > 1]
        first = draw.integers(release.support[item])
        offset = draw.integers(1, np.maximum(release.support[item], 2))
        second = (first + offset) % release.support[item]
        start = postings.start[item]
        (value, time), (other_value, other_time) = (
            unpack_attributes(postings, postings.word[start + holder], release.n_levels, release.span)
            for holder in (first, second)
        )
        one_row = np.zeros(len(item), np.int64)
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
