"""An error model that was learned: how much likelier distances are within one person's data than between two.

Where the errors of known facts are not known but can be observed, as in linking, a record that has the item
of a fact adds

    ln(c · entries / (|supp(i)| · |r|) + 1 − c) − ln(1 − c) + ln(m/u) of the values + ln(m/u) of the times,

and at least 0. m and u are the shares of the class of a distance (see `distance_classes`) within one
person's data and between two people who have the same item. The dates of facts of one day share the weight
of one date.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from standout.attack.error_model import DistanceClasses
from standout.attack.likelihood_queries import LikelihoodQueries, choice_model, queries_from_tables
from standout.core.arrays import Bools, Floats, Ints
from standout.know.facts import KnownFacts
from standout.know.lookup_tables import FactShape, Tables, Tabulation
from standout.know.similarity import Present

__all__ = ["LearnedErrors"]


@dataclass(frozen=True, eq=False)
class LearnedErrors:
    """Coverage c, and ln(m/u) by class of distance; `times` is None if dates are not compared."""

    classes: DistanceClasses
    coverage: float
    values: Floats
    times: Floats | None

    def queries(self, known: KnownFacts, exclude: Ints, present: float) -> LikelihoodQueries:
        """The queries about known facts; `present` is the prior probability that a target is there."""
        release = self.classes.release
        highest = float(self.values.max()) + (0.0 if self.times is None else float(self.times.max()))
        return queries_from_tables(
            release,
            known,
            tables=_RatioTabulation(self, known).tabulate(),
            constant=lambda fact, _: np.zeros(len(fact)),
            coverage=self.coverage,
            sizes=choice_model(release, "any"),
            present=present,
            exclude=exclude,
            highest_ratio=max(highest, 0.0),
        )


class _RatioTabulation(Tabulation):
    """ln(m/u) of values and times as tables: a[kind] + c[distance of times].

    c has a row for each weight of a date. Known times are moved so that a fact finds the row of its weight.
    """

    def __init__(self, errors: LearnedErrors, known: KnownFacts) -> None:
        release = errors.classes.release
        farthest = errors.classes.farthest if release.span else 0
        time = np.clip(known.time, -farthest, release.span + farthest)  # beyond, all entries are farthest
        super().__init__(release, replace(known, time=time), Present())
        self.errors = errors
        self.shares, self.row_of = np.unique(errors.classes.day_shares(known), return_inverse=True)

    def _far(self, known: KnownFacts) -> Bools:
        return np.zeros(len(known.time), np.bool_)

    @cached_property
    def reach(self) -> int:
        """As in `Tabulation`."""
        return 0 if self.errors.times is None or not self.span else self.errors.classes.farthest

    def tabulate(self) -> Tables:
        """The tables, with known times moved to the row of their weight."""
        tables = super().tabulate()
        counts = self.known.timed & (self.errors.times is not None) & (self.span > 0)
        return replace(tables, time=tables.time - np.where(counts, self.row_of.reshape(-1) * self.stride, 0))

    def _fill(self, shape: FactShape, a: Floats, b: Floats, off: Ints) -> tuple[int, bool]:
        bank, second = slice(0, self.n_levels + 1), slice(self.n_levels + 1, 2 * self.n_levels + 2)
        ratios = self._value_ratios(shape)
        a[bank], a[second] = ratios, ratios[: len(a[second])]
        if not shape.timed or self.errors.times is None or self.span == 0:
            return 1, False
        off[:], b[bank] = self._time_rows(shape, self.errors.times), 1.0
        return 2, True

    def _value_ratios(self, shape: FactShape) -> Floats:
        """ln(m/u) of each level; 0 for an entry without a value, and where no value is known."""
        ratios = np.zeros(self.n_levels + 1)
        if shape.value is not None and self.n_levels:
            number = self.errors.classes.numbers((shape.value,))[:1]
            ratios[:-1] = self.errors.values[self.errors.classes.of_values(number, np.arange(self.n_levels))]
        return ratios

    def _time_rows(self, shape: FactShape, times: Floats) -> int:
        """Where the first row of c begins, moved so that time − known time is added to it."""
        if self.near is None:
            distance = np.abs(self._steps(shape)).astype(np.int64)
            row = times[self.errors.classes.of_times(distance)]
            starts = [self._row(np.ldexp(row, -int(share))) for share in self.shares]
            self.near = starts[0] + self._zero(shape)
        return self.near
