"""Similarities as tables, which the kernels look up instead of calling a function.

    Sim(fact, entry) = a[u, kind] + b[u, kind] · c[off[u, kind] + entry's time − fact's time]

u is the fact's shape: its known value, and whether its time is known. kind is the entry's value code, with
a second bank of kinds for entries without a time (see `data.entries.Postings`). One form serves sums, products
and functions of the user; the last have a row of c for each kind. If dates span many units and the similarity
does not change beyond some distance, c ends there (see `time_cells`).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.jit import Array, Int, Real, inline
from standout.data.release import Levels, Release
from standout.know.facts import KnownFacts, level_values
from standout.know.similarity import (
    Custom,
    Similarity,
    Value,
    call_user_code,
    check_numbers,
    check_similarity,
    days_per_unit,
    time_reach,
)

# Look up the similarity of two times in a table over their distance.
#
# A table with one dimension has a cell for each distance that can come up: c[at]. Its length grows with the
# span of the dates, so one wrong year would fill the memory. A table with two dimensions ends where the
# similarity does not change any more: each row has the distances −reach … reach, and a last cell for all
# others. There, `at` has the row in its high bits and `MIDDLE` + distance in its low COLUMN_BITS.
#
# Numba compiles a kernel for each of the two, because the number of dimensions is part of the type: a short
# table costs nothing more.


U = np.uint64
COLUMN_BITS = 40
MIDDLE = 1 << (COLUMN_BITS - 1)
ROW_SHIFT, COLUMN_MASK, CENTRE = U(COLUMN_BITS), U((1 << COLUMN_BITS) - 1), U(MIDDLE)


@inline
def time_similarity(c: Array, at: Int) -> Real:
    """The number for a distance; `at` is unsigned, below 0 it wraps around."""
    if c.ndim == 2:
        return c[at >> ROW_SHIFT, _column(c, at)]
    return c[at]


@inline
def _column(c: Array, at: Int) -> Int:
    """The cell of a distance in its row; a distance beyond the first or the last cell is in the last."""
    last = U(c.shape[1] - 1)
    column = (at & COLUMN_MASK) - (CENTRE - (last >> U(1)))
    return column if column < last else last


CALLS = 1 << 22
"""Largest number of results of a user's own function in one table."""
WIDE = 1 << 20
"""A table of times with more cells ends where the similarity ends."""
MOST_CELLS = 1 << 27
"""Largest number of cells of a table of times: a gigabyte."""
FARTHEST = 1 << 36
"""More than the number of units between any two dates."""


class FactShape(NamedTuple):
    """What decides a fact's row of the tables: its value, whether it has a time, and a time far outside."""

    value: Value | None
    timed: bool
    far: int | None


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables for all facts of a KnownFacts.

    `shape` is each fact's row and `time` what is subtracted from an entry's time. `terms` is the number of
    parts that are added up in each row (2 for a decay of value and time). The first `used` kinds occur.
    """

    a: Floats
    b: Floats
    off: Ints
    c: Floats
    shape: Ints
    time: Ints
    terms: Ints
    used: int

    def peaks(self, shape: Ints, time: Ints, span: int) -> Floats:
        """Highest possible term of Sim, for facts of these shapes and known times."""
        fixed, timed = self.a.max(axis=1)[shape], self.b.max(axis=1)
        if not span or not timed.any():
            return np.asarray(fixed)
        if self.c.ndim == 2:
            return np.asarray(np.maximum(fixed, timed[shape] * self.c.max()))
        most = _window_max(self.c, span)
        used = [kind for kind in range(self.b.shape[1]) if self.b[:, kind].any()]
        shared = (self.off == self.off[:, :1]).all()
        rows = [self.off[shape, kind] - time for kind in (used[:1] if shared else used)]
        return np.asarray(np.maximum(fixed, timed[shape] * np.max([most[row] for row in rows], axis=0)))


class Tabulation:
    """Builds the tables of one similarity for the facts of a KnownFacts."""

    def __init__(self, release: Release, known: KnownFacts, similarity: Similarity) -> None:
        self.release, self.similarity = release, check_similarity(similarity)
        self.levels: Levels = np.empty(0) if release.levels is None else release.levels
        self.n_levels, bank = release.n_levels, release.n_levels + 1
        self.used = bank if release.by_item.value_bits == self.n_levels.bit_length() else 2 * bank
        self.span, self.day = release.span, days_per_unit(release)
        # Facts whose time is so far outside the release that most of a table of distances is unused.
        self.known, self.far = known, known.timed & ((known.time < -self.span) | (known.time > 2 * self.span))
        near = known.time[known.timed & ~self.far]
        self.latest = int(near.max(initial=0))
        self.width = max(self.span, 1) + self.latest - int(near.min(initial=0))
        # Number of cells that the last row must have, so that no code reaches past it.
        self.least_width = max(self.width, 1 << release.by_item.time_bits)
        self.all_cells = self.width + int(self.far.sum()) * self.span + self.least_width
        self.rows: list[Floats] = []
        self.end = 0
        self.near: int | None = None

    @cached_property
    def reach(self) -> int | None:
        """Number of units after which the similarity of times stays the same; None if that is not known."""
        if not self.span or not self.known.timed.any():
            return 0
        days = time_reach(self.similarity)
        return None if days is None else int(min(days / self.day, FARTHEST)) + 1

    @cached_property
    def is_bounded(self) -> bool:
        """Whether c ends where the similarity of times ends: if that is shorter than what can come up."""
        return self.reach is not None and self.all_cells > max(WIDE, 2 * self.reach + 2)

    @property
    def stride(self) -> int:
        """How far apart two rows of equal distances begin."""
        return 1 << COLUMN_BITS if self.is_bounded else self.width

    def tabulate(self) -> Tables:
        """The tables; one that would fill the memory is refused."""
        cells = 2 * (self.reach or 0) + 2 if self.is_bounded else self.all_cells
        if cells > MOST_CELLS:
            assert self.release.clock is not None
            raise ParameterError(
                f"the times of the data span {self.span:,} {self.release.clock.unit}s, and comparing them "
                f"would need a table of {cells:,} numbers: set a coarser time_unit, look for wrong dates, or "
                "set a smaller error of times"
            )
        shapes, shape = self._shapes()
        kinds = 1 << self.release.by_item.value_bits
        a, b = np.zeros((len(shapes), kinds)), np.zeros((len(shapes), kinds))
        off, terms = np.zeros((len(shapes), kinds), np.int64), np.ones(len(shapes), np.int64)
        judged = np.zeros(len(shapes), np.bool_)
        for u, fact_shape in enumerate(shapes):
            fill = self._fill_custom if isinstance(self.similarity, Custom) else self._fill
            terms[u], judged[u] = fill(fact_shape, a[u], b[u], off[u])
        time = np.where(judged[shape], self.known.time, 0)  # where no time counts, none is subtracted
        if self.is_bounded:
            c = np.stack(self.rows or [np.zeros(2 * (self.reach or 0) + 2)])
        else:
            c = np.concatenate([*self.rows, np.zeros(self.least_width)])  # no code reaches past the last
        return Tables(a, b, off, c, shape, time, terms, self.used)

    def _shapes(self) -> tuple[list[FactShape], Ints]:
        """The distinct shapes, and each fact's index among them."""
        known = self.known
        code = 2 * (known.value + 1) + known.timed
        far = np.flatnonzero(self.far & (not self.is_bounded))
        past = 2 * (len(known.values) + 1)
        code[far] = past + far  # each has its own shape: there are few
        distinct, index = np.unique(code, return_inverse=True)
        shapes = []
        for number in distinct.tolist():
            fact = number - past if number >= past else None
            value = number // 2 - 1 if fact is None else int(known.value[fact])
            timed, time = (bool(number % 2), None) if fact is None else (True, int(known.time[fact]))
            shapes.append(FactShape(None if value < 0 else known.values[value], timed, time))
        return shapes, index.astype(np.int64)

    def _fill(self, shape: FactShape, a: Floats, b: Floats, off: Ints) -> tuple[int, bool]:
        """One shape, value and time apart: returns how many terms add up, and whether the time counts."""
        similarity, value, numbers, at = self.similarity, shape.value, None, None
        alone, source = np.ones(self.n_levels + 1), "a similarity's values()"
        if value is not None and self.release.levels is not None:
            numbers = call_user_code(similarity.values, source, value, self.levels)
            if numbers is not None:  # an entry without a value counts 0
                alone = np.append(check_numbers(numbers, self.n_levels, source), 0.0)
        if shape.timed and self.span:
            at = self.near if shape.far is None else None
            if at is None:
                steps, source = self._steps(shape), "a similarity's times()"
                row = call_user_code(similarity.times, source, steps * self.day)
                if row is not None:  # the entry's time − the known time is added to the place of distance 0
                    at = self._row(check_numbers(row, len(steps), source)) + self._zero(shape)
                    self.near = at if shape.far is None else self.near
        bank = slice(0, self.n_levels + 1)
        second = slice(self.n_levels + 1, 2 * self.n_levels + 2)  # without a time: what c says counts 0
        adds = numbers is not None and at is not None and similarity.adds
        if at is None or adds:
            a[bank], a[second] = alone, alone[: len(a[second])]
        if at is None:
            return 1, False
        off[:], b[bank] = at, 1.0 if adds else alone
        return 1 + adds, True

    def _steps(self, shape: FactShape) -> Floats:
        """The distances in units that can come up; the last of bounded ones represents all that are farther."""
        if self.is_bounded:
            assert self.reach is not None
            return np.arange(-self.reach, self.reach + 2, dtype=np.float64)
        if shape.far is not None:
            return np.arange(self.span, dtype=np.float64) - shape.far
        return np.arange(self.width, dtype=np.float64) - self.latest

    def _zero(self, shape: FactShape) -> int:
        """Index of distance 0 in a row of these steps."""
        if self.is_bounded:
            return MIDDLE
        return self.latest if shape.far is None else shape.far

    def _row(self, row: Floats) -> int:
        """Add a row to c; return where it begins."""
        self.rows.append(row)
        length = self.stride if self.is_bounded else len(row)
        self.end += length
        return self.end - length

    def _fill_custom(self, shape: FactShape, a: Floats, b: Floats, off: Ints) -> tuple[int, bool]:
        """One shape of a user's own function: each kind has a row of c."""
        assert isinstance(self.similarity, Custom)
        results, known = self.similarity.results, shape.value
        timed = shape.timed and self.span > 0
        steps = self._steps(shape)
        if self.end + (self.n_levels + 1) * len(steps) * timed > CALLS:
            raise ParameterError(
                f"a function of value and time would be called more than {CALLS:,} times: "
                "judge them separately, in a subclass of Similarity with values() and times()"
            )
        levels, value = [*level_values(self.release), None], self.release.by_record.value
        # If every entry has a value, the function is not called for a missing one.
        lacks_values = value is not None and int(value.max(initial=0)) == self.n_levels
        used = levels[:-1] if self.n_levels > 0 and not lacks_values else levels
        second = self.used > len(levels)  # entries without a time
        if second or not timed:
            untimed = np.array(results([(known, level, None) for level in used]))
            a[: len(used)] = 0.0 if timed else untimed
            a[len(levels) : len(levels) + len(used)] = untimed if second else 0.0
        days = (steps * self.day).tolist()
        for kind, level in enumerate(used if timed else []):
            b[kind] = 1.0
            off[kind] = self._row(np.array(results([(known, level, day) for day in days]))) + self._zero(shape)
        unused = b == 0  # kinds without a time, and those that do not come up: looked up, multiplied by 0
        off[unused] = off[0]
        return 1, timed


def _window_max(row: Floats, width: int) -> Floats:
    """max(row[i : i + width]) for every i: of each window the maxima of its two halves, block by block."""
    blocks = np.pad(row, (0, 2 * width - len(row) % width)).reshape(-1, width)
    ahead = np.maximum.accumulate(blocks, axis=1).reshape(-1)
    behind = np.maximum.accumulate(blocks[:, ::-1], axis=1)[:, ::-1].reshape(-1)
    return np.maximum(behind[: len(row)], ahead[width - 1 : width - 1 + len(row)])
