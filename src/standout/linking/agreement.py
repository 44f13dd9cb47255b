"""What a profile and a record have in common, in a few counts: everything that evidence is computed from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from standout.attack.kernels.record_scores import entry_positions
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.core.rng import generator
from standout.facts import KnownFacts
from standout.release.build import count_codes
from standout.release.clock import SECONDS
from standout.release.model import Release
from standout.release.postings import unpack_attributes
from standout.similarity.attributes import ROUNDING

__all__ = ["COLUMNS", "IMPROBABILITY", "MISSING", "SHARED", "TIMES", "VALUES", "Agreement"]

IMPROBABILITY, SHARED, MISSING, VALUES, TIMES, COLUMNS = 0, 1, 2, slice(3, 7), slice(7, 14), 14
"""VerdictColumns of a row of counts.

IMPROBABILITY  −Σ ln p over shared items, −Σ ln(1 − p) over the others: how unlikely this is for a stranger
SHARED         facts about items that the record has
MISSING        facts about items that the record does not have
VALUES, TIMES  shared items by the distance between the two values, and between the two times
"""
N_VALUES, N_TIMES = VALUES.stop - VALUES.start, TIMES.stop - TIMES.start
DAYS = (1.0, 2.0, 7.0, 30.0, 120.0)
"""Limits of the TIMES columns: equal, less than a day apart, up to these numbers of days apart, more."""
STEPS = (1, 2)
"""Limits of the VALUES columns: equal, up to these numbers of steps apart, more."""
MAX_CHANCE = 0.9
"""Upper limit of the probability that a stranger has an item."""
STRANGER_PAIRS = 20_000
"""How many pairs of people with a common item are drawn."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """Compares facts with records of one release."""

    release: Release

    def counts(self, known: KnownFacts, query: Ints, record: Ints, removed: Ints | None = None) -> Floats:
        """Return a row of COLUMNS for each pair of query[i] and record[i].

        A stranger's record r has item i with probability p = |supp(i)| · |supp(r)| / entries. For decoys
        that were withheld from the release, `removed` is each query's own record: its items then have one
        holder less, and the release has fewer entries.
        """
        release, side = self.release, self.release.by_record
        pair, fact = _facts_of_pairs(known, query)
        item, holder = known.item[fact], record[pair]
        entry = entry_positions(release, holder, item)
        has = entry >= 0
        support = np.maximum(release.support[item] - (removed is not None), 1)
        fewer = 0 if removed is None else release.lengths[removed][query][pair]
        p = np.minimum(support * (release.lengths[holder] / (release.n_entries - fewer)), MAX_CHANCE)
        counts = np.zeros((len(query), COLUMNS))
        counts[:, IMPROBABILITY] = np.bincount(pair, -elementary.log(np.where(has, p, 1.0 - p)), len(query))
        counts[:, SHARED] = np.bincount(pair, has, len(query))
        counts[:, MISSING] = np.diff(known.first)[query] - counts[:, SHARED]
        pair, fact, entry = pair[has], fact[has], entry[has]
        if side.value is not None and release.n_levels:
            value = self._known_values(known)[known.value[fact]]
            column = self._value_column(value, side.value[entry].astype(np.int64))
            counts[:, VALUES] = _count_columns(pair, column, len(query), N_VALUES)
        if side.time is not None and release.span:
            code = side.time[entry].astype(np.int64)
            both_timed = known.timed[fact] & (code < release.span)
            column = self._time_column(np.where(both_timed, np.abs(code - known.time[fact]), -1))
            counts[:, TIMES] = _count_columns(
                pair, column, len(query), N_TIMES, self._day_weight(known)[fact]
            )
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
            column = self._value_column(np.append(self._levels, np.nan)[value], other_value)
            counts[VALUES] = _count_columns(one_row, column, 1, N_VALUES)[0]
        if release.span:
            both_timed = (time < release.span) & (other_time < release.span)
            column = self._time_column(np.where(both_timed, np.abs(time - other_time), -1))
            counts[TIMES] = _count_columns(one_row, column, 1, N_TIMES)[0]
        return counts

    def _day_weight(self, known: KnownFacts) -> Floats:
        """1 / the number of a profile's facts of that day: entries of one session are not independent."""
        clock = self.release.clock
        assert clock is not None
        person = np.repeat(np.arange(len(known)), np.diff(known.first))
        day = (known.time + clock.origin) // (SECONDS["day"] // SECONDS[clock.unit])
        order = np.lexsort((day, person))
        is_new = np.ones(len(order), np.bool_)
        is_new[1:] = (np.diff(person[order]) != 0) | (np.diff(day[order]) != 0)
        session = np.empty(len(order), np.int64)
        session[order] = np.cumsum(is_new) - 1
        counts = np.bincount(session, known.timed, minlength=1)
        return np.asarray(1.0 / np.maximum(counts[session], 1.0))

    @property
    def possible(self) -> Bools:
        """Which columns can occur: whole days are never less than a day apart, few levels are never far."""
        possible, clock, levels = np.ones(COLUMNS, np.bool_), self.release.clock, self._levels
        possible[TIMES.start + 1] = clock is not None and clock.unit != "day"
        if len(levels):
            column, farthest = np.arange(N_VALUES), self._value_column(levels[-1:], np.zeros(1, np.int64))[0]
            possible[VALUES] = (column <= farthest) if self._step else (column == 0) | (column == farthest)
        return possible

    @cached_property
    def _levels(self) -> Floats:
        """The levels as numbers; a category is its index."""
        levels = self.release.levels
        if isinstance(levels, np.ndarray):
            return levels
        return np.arange(self.release.n_levels, dtype=np.float64)

    def _known_values(self, known: KnownFacts) -> Floats:
        """The facts' values as numbers, like `_levels`; the last one is for -1, an unknown value."""
        levels = self.release.levels
        if isinstance(levels, tuple):
            index = {level: float(code) for code, level in enumerate(levels)}
            return np.array([*(index.get(str(value), -1.0) for value in known.values), np.nan])
        return np.array([*known.values, np.nan], np.float64)

    @cached_property
    def _step(self) -> float:
        """The unit of value distances: a quarter of the range from the 10 % to the 90 % quantile.

        It is at least the smallest distance of two levels, and 0 for categories.
        """
        release, column = self.release, self.release.by_record.value
        if isinstance(release.levels, tuple) or column is None or release.n_levels < 2:
            return 0.0
        counts = np.cumsum(count_codes(column, release.n_levels + 1)[: release.n_levels])
        low, high = np.searchsorted(counts, np.array([0.1, 0.9]) * counts[-1])
        levels = self._levels
        return max(float(levels[high] - levels[low]) / 4, float(np.diff(levels).min()))

    def _value_column(self, value: Floats, code: Ints) -> Ints:
        """The VALUES column for the distance between a value and a level; -1 where one is missing."""
        distance = np.abs(value - np.append(self._levels, np.nan)[code])
        limits = np.concatenate([[0.0], self._step * np.array(STEPS)]) * (1 + ROUNDING) + ROUNDING
        return np.where(np.isnan(distance), -1, np.searchsorted(limits, distance))

    def _time_column(self, distance: Ints) -> Ints:
        """The TIMES column for a distance in units of the clock; -1 where a time is missing."""
        clock = self.release.clock
        assert clock is not None
        a_day = SECONDS["day"] // SECONDS[clock.unit]
        first, *others = (int(days * a_day) for days in DAYS)
        return np.where(distance < 0, -1, np.searchsorted([0, first - 1, *others], distance))


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
