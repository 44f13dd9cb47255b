"""What a profile and a record have in common, in a few counts: all that evidence is made of."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from standout.attack.kernels.record_scores import entry_positions
from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.rng import generator
from standout.facts import KnownFacts
from standout.release.build import count_codes
from standout.release.clock import SECONDS
from standout.release.model import Release
from standout.release.postings import unpack_attributes
from standout.similarity.attributes import ROUNDING

__all__ = ["CHANCE", "COLUMNS", "MISSING", "SHARED", "TIMES", "VALUES", "Agreement"]

Flags = NDArray[np.bool_]
CHANCE, SHARED, MISSING, VALUES, TIMES, COLUMNS = 0, 1, 2, slice(3, 7), slice(7, 14), 14
"""Columns of what is counted: how unlikely it is by chance (−Σ ln p of items that are shared, −Σ ln(1 − p)
of the others); facts whose item the record has, and has not; how far shared values and times lie apart."""
DAYS = (1.0, 2.0, 7.0, 30.0, 120.0)
"""Times are the same, or less than a day apart, or up to so many days, or more."""
STEPS = (1, 2)
"""Values are the same, or up to so many steps apart, or more."""
LIKELY = 0.9
"""No item is taken to be likelier than this in a stranger's record."""
STRANGERS = 20_000
"""So many times two people are drawn who have the same item."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """Compares facts with records of one release."""

    release: Release

    def counts(self, known: KnownFacts, query: Ints, record: Ints, gone: Ints | None = None) -> Floats:
        """For each query and the record beside it a row of COLUMNS.

        By chance record r has item i with probability p = |supp(i)| · |supp(r)| / entries. `gone` is whose
        record is taken out of the release, if the queries are about such people: each item has one holder
        less, and the release fewer entries.
        """
        release, side = self.release, self.release.by_record
        facts = np.diff(known.first)[query]
        pair, ends = np.repeat(np.arange(len(query)), facts), np.cumsum(facts)
        fact = np.arange(len(pair)) + np.repeat(known.first[query] - (ends - facts), facts)
        item, who = known.item[fact], record[pair]
        at = entry_positions(release, who, item)
        has = at >= 0
        holders = np.maximum(release.support[item] - (gone is not None), 1)
        fewer = 0 if gone is None else release.lengths[gone][query][pair]
        p = np.minimum(holders * (release.lengths[who] / (release.n_entries - fewer)), LIKELY)
        found = np.zeros((len(query), COLUMNS))
        found[:, CHANCE] = np.bincount(pair, -elementary.log(np.where(has, p, 1.0 - p)), len(query))
        found[:, SHARED] = np.bincount(pair, has, len(query))
        found[:, MISSING] = facts - found[:, SHARED]
        pair, fact, at = pair[has], fact[has], at[has]
        if side.value is not None and release.n_levels:
            told = self._values(known)[known.value[fact]]
            found[:, VALUES] = _spread(
                pair, self._apart(told, side.value[at].astype(np.int64)), len(query), 4
            )
        if side.time is not None and release.span:
            code = side.time[at].astype(np.int64)
            off = np.where(known.timed[fact] & (code < release.span), np.abs(code - known.time[fact]), -1)
            found[:, TIMES] = _spread(pair, self._far(off), len(query), 7, self._alone(known)[fact])
        return found

    def strangers(self, seed: int) -> Floats:
        """The same counts of two people who have one item in common, added up over many that are drawn."""
        release, postings = self.release, self.release.by_item
        draw, found = generator(seed, "strangers"), np.zeros(COLUMNS)
        item = release.by_record.item[draw.integers(release.n_entries, size=STRANGERS)].astype(np.int64)
        item = item[release.support[item] > 1]
        one = draw.integers(release.support[item])
        two = (one + draw.integers(1, np.maximum(release.support[item], 2))) % release.support[item]
        codes = [
            unpack_attributes(
                postings, postings.word[postings.start[item] + place], release.n_levels, release.span
            )
            for place in (one, two)
        ]
        nobody = np.zeros(len(item), np.int64)
        if release.n_levels:
            told = np.append(self._levels, np.nan)[codes[0][0]]
            found[VALUES] = _spread(nobody, self._apart(told, codes[1][0]), 1, 4)[0]
        if release.span:
            timed = (codes[0][1] < release.span) & (codes[1][1] < release.span)
            found[TIMES] = _spread(
                nobody, self._far(np.where(timed, np.abs(codes[0][1] - codes[1][1]), -1)), 1, 7
            )[0]
        return found

    def _alone(self, known: KnownFacts) -> Floats:
        """One over the number of a profile's facts of a day: what is done in one go agrees in one go."""
        clock = self.release.clock
        assert clock is not None
        person = np.repeat(np.arange(len(known)), np.diff(known.first))
        day = (known.time + clock.origin) // (SECONDS["day"] // SECONDS[clock.unit])
        order = np.lexsort((day, person))
        new = np.ones(len(order), np.bool_)
        new[1:] = (np.diff(person[order]) != 0) | (np.diff(day[order]) != 0)
        group = np.empty(len(order), np.int64)
        group[order] = np.cumsum(new) - 1
        counts = np.bincount(group, known.timed, minlength=1)
        return np.asarray(1.0 / np.maximum(counts[group], 1.0))

    @property
    def possible(self) -> Flags:
        """Which columns there can be: days are never less than a day apart, nor two answers far."""
        found, clock, levels = np.ones(COLUMNS, np.bool_), self.release.clock, self._levels
        found[TIMES.start + 1] = clock is not None and clock.unit != "day"
        if len(levels):
            column, farthest = np.arange(4), self._apart(levels[-1:], np.zeros(1, np.int64))[0]
            found[VALUES] = (column <= farthest) if self._step else (column == 0) | (column == farthest)
        return found

    @cached_property
    def _levels(self) -> Floats:
        """Levels as numbers; categories by their place."""
        levels = self.release.levels
        return (
            levels if isinstance(levels, np.ndarray) else np.arange(self.release.n_levels, dtype=np.float64)
        )

    def _values(self, known: KnownFacts) -> Floats:
        """What the facts' values are as such numbers; the last is for -1, not known."""
        levels = self.release.levels
        if isinstance(levels, tuple):
            place = {level: float(at) for at, level in enumerate(levels)}
            return np.array([*(place.get(str(value), -1.0) for value in known.values), np.nan])
        return np.array([*known.values, np.nan], np.float64)

    @cached_property
    def _step(self) -> float:
        """A quarter of the range of most values, at least the distance of two levels; 0 for categories."""
        release, column = self.release, self.release.by_record.value
        if isinstance(release.levels, tuple) or column is None or release.n_levels < 2:
            return 0.0
        counts = np.cumsum(count_codes(column, release.n_levels + 1)[: release.n_levels])
        low, high = np.searchsorted(counts, np.array([0.1, 0.9]) * counts[-1])
        levels = self._levels
        return max(float(levels[high] - levels[low]) / 4, float(np.diff(levels).min()))

    def _apart(self, told: Floats, code: Ints) -> Ints:
        """How far a value and a level are apart, as a column of VALUES; -1 where one is missing."""
        distance = np.abs(told - np.append(self._levels, np.nan)[code])
        edges = np.concatenate([[0.0], self._step * np.array(STEPS)]) * (1 + ROUNDING) + ROUNDING
        return np.where(np.isnan(distance), -1, np.searchsorted(edges, distance))

    def _far(self, off: Ints) -> Ints:
        """How far two times are apart, as a column of TIMES; -1 where one is missing."""
        clock = self.release.clock
        assert clock is not None
        a_day = SECONDS["day"] // SECONDS[clock.unit]
        first, *others = (int(days * a_day) for days in DAYS)
        return np.where(off < 0, -1, np.searchsorted([0, first - 1, *others], off))


def _spread(pair: Ints, column: Ints, pairs: int, columns: int, weight: Floats | None = None) -> Floats:
    """How often each column occurs in each pair, or what those weigh together."""
    some = column >= 0
    own = None if weight is None else weight[some]
    counts = np.bincount(pair[some] * columns + column[some], own, pairs * columns)
    return counts.reshape(pairs, columns).astype(np.float64)
