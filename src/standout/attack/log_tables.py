"""ln P(v, t | x, y) as tables, for facts of one error model or of several.

    ln P = a[u, kind] + b[u, kind] · c[distance of times]

Where dates are off by at most a number of units, c is 1 within reach and 0 beyond; otherwise it is a
logarithm itself, and b is 1. Facts with errors of their own have rows of their own.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from standout.attack.error_model import ErrorModel, TimeErrors
from standout.attack.release_counts import ReleaseCounts
from standout.core import elementary
from standout.core.arrays import Floats, Ints, offsets
from standout.data.release import Release
from standout.know.facts import KnownFacts
from standout.know.lookup_tables import COLUMN_BITS, FactShape, Tables, Tabulation
from standout.know.similarity import Present

__all__ = ["LOWEST", "log", "tabulate_logarithms"]

LOWEST = -60.0
"""Instead of ln 0: low enough that no record gains from such a fact."""
LEAST = math.exp(LOWEST)
MOST_VALUES = 1024
"""Known values whose rows are kept with a model."""


def tabulate_logarithms(
    release: Release, known: KnownFacts, models: Sequence[ErrorModel], group: Ints | None
) -> Tables:
    """Tabulate the error model of each fact: models[group[fact]], or the only one."""
    if group is None:
        return _LogTabulation(release, known, models[0]).tabulate()
    facts = [np.flatnonzero(group == number) for number in range(len(models))]
    tabulations = [
        _LogTabulation(release, _only(known, fact), model) for fact, model in zip(facts, models, strict=True)
    ]
    if any(tabulation.is_bounded for tabulation in tabulations):  # all rows of c have the same length
        farthest = max(tabulation.reach for tabulation in tabulations)
        for tabulation in tabulations:
            vars(tabulation).update(reach=farthest, is_bounded=True)
    return _join([tabulation.tabulate() for tabulation in tabulations], facts)


def log(probability: Floats) -> Floats:
    """Logarithms of probabilities, at least LOWEST."""
    logarithm = elementary.log(np.maximum(probability, LEAST))  # ln 0 would cost an exception each
    return np.where(probability > LEAST, logarithm, LOWEST)


def _only(known: KnownFacts, fact: Ints) -> KnownFacts:
    """These facts; a tabulation does not look at what they are about."""
    return replace(known, value=known.value[fact], time=known.time[fact], timed=known.timed[fact])


def _join(tables: Sequence[Tables], facts: Sequence[Ints]) -> Tables:
    """Tables of the facts of several models in one."""
    shapes, starts = offsets([len(table.a) for table in tables]), offsets([len(table.c) for table in tables])
    fact = np.argsort(np.concatenate(facts))
    moved = starts[:-1] if tables[0].c.ndim == 1 else starts[:-1] << COLUMN_BITS
    return Tables(
        a=np.concatenate([table.a for table in tables]),
        b=np.concatenate([table.b for table in tables]),
        off=np.concatenate([table.off + start for table, start in zip(tables, moved, strict=True)]),
        c=np.concatenate([table.c for table in tables]),
        shape=np.concatenate([table.shape + u for table, u in zip(tables, shapes[:-1], strict=True)])[fact],
        time=np.concatenate([table.time for table in tables])[fact],
        terms=np.concatenate([table.terms for table in tables]),
        used=tables[0].used,
    )


class _ValueRows(NamedTuple):
    """Logarithms of P(v, t | x, y) for a known value and each level: date not known, near, or far."""

    untimed: Floats
    near: Floats
    far: Floats


class _LogTabulation(Tabulation):
    """ln P(v, t | x, y) as tables: a[kind] + b[kind] · c[distance of times]."""

    def __init__(self, release: Release, known: KnownFacts, model: ErrorModel) -> None:
        super().__init__(release, known, Present())
        self.model = model

    @cached_property
    def reach(self) -> int:
        """As in `Tabulation`."""
        return 0 if self.model.times is None else self.model.times.reach

    def _fill(self, shape: FactShape, a: Floats, b: Floats, off: Ints) -> tuple[int, bool]:
        times, rows = self.model.times, self._rows(shape)
        bank, second = slice(0, self.n_levels + 1), slice(self.n_levels + 1, 2 * self.n_levels + 2)
        if not shape.timed or times is None or self.span == 0:
            a[bank] = rows.untimed
            a[second] = rows.untimed[: len(a[second])]
            return 1, False
        off[:] = self._time_row(shape, times)
        anywhere = math.log(self.span) if times.is_flat else -math.log(times.elsewhere)
        any_time = np.maximum(rows.untimed - anywhere, LOWEST)  # if the entry has none
        a[second] = any_time[: len(a[second])]
        if times.is_flat:
            a[bank], b[bank] = rows.far, rows.near - rows.far
        else:
            a[bank], b[bank] = rows.untimed, 1.0
        return 2, True

    def _rows(self, shape: FactShape) -> "_ValueRows":
        """The logarithms for a known value, kept with the model: later batches have the same values."""
        kept, w, times = self.model.kept, self.model.wrong, self.model.times
        rows = kept.get(shape.value)
        if rows is None:
            right, wrong = self._value_probabilities(shape)
            untimed = log((1.0 - w) * right + w * wrong)
            near = far = untimed
            if times is not None and times.is_flat:
                near, far = log((1.0 - w) * right * times.highest), log(w * wrong * times.elsewhere)
            if len(kept) >= MOST_VALUES:
                kept.clear()
            rows = kept[shape.value] = _ValueRows(untimed, near, far)
        assert isinstance(rows, _ValueRows)
        return rows

    def _value_probabilities(self, shape: FactShape) -> tuple[Floats, Floats]:
        """right(v | x) and wrong(v | x) for each level x, and for an entry without a value."""
        if shape.value is None or not self.n_levels:
            return np.ones(self.n_levels + 1), np.ones(self.n_levels + 1)
        right, wrong = self.model.right_values(shape.value), self.model.wrong_values(shape.value)
        share = ReleaseCounts.of(self.release).level_shares(np.array([-1]))[0]
        return np.append(right, share @ right), np.append(wrong, share @ wrong)

    def _time_row(self, shape: FactShape, times: TimeErrors) -> int:
        """Where the row of c begins, moved so that time − known time is added to it."""
        if shape.far is None and self.near is not None:
            return self.near
        distance = -self._steps(shape).astype(np.int64)  # t − y
        within = np.abs(distance) <= times.reach
        if times.is_flat:
            row = within.astype(np.float64)
        else:
            w, nearest = self.model.wrong, np.clip(distance, -times.reach, times.reach)
            right = np.where(within, times.shares[times.reach + nearest], 0.0)
            row = log((1.0 - w) * right + w * times.elsewhere)
        at = self._row(row) + self._zero(shape)
        self.near = at if shape.far is None else self.near
        return at
