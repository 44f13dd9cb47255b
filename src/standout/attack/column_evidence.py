"""What a known cell says about each level of a column: a window of numbers, and one number for the rest.

Likelihood compares two explanations of a known level v: the candidate's own cell x, and anybody's cell.

    ln(1 − c + c · P(v | x) / P(v))

P(v | x) = (1 − w) / n(x) if x is near v, else w / (L − n(v)): a share w of the facts is wrong, and n(x)
of the L levels are near x. P(v) is its mean over the cells of the column: a rare value weighs more. A share
1 − c of the facts is about something that the release does not show; an empty cell adds ln(1 − c).

If the release was sanitized, v is a level of the original and y one of the released column. The adversary knows
the steps and how frequent the levels are, and averages over the x that y may come from:

    P(v | y) = (1 − replaced) · Σ_x P(x | y) P(v | x) + replaced · P(v)

The paper's attacks take the column's own Sim instead (`ColumnSimilarity`), averaged in the same way.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.engine_kernels import ABOVE_ZERO, CELL, CELL_STEP, NARROW_TABLE, CellArrays
from standout.attack.error_model import COVERAGE, GUESSED_WRONG
from standout.attack.likelihood import Likelihood
from standout.attack.queries import KnownCells
from standout.attack.scoreboard import ExactMatch, Scoreboard
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints, offsets, slices_of
from standout.data.column import Column, Near, near_levels
from standout.data.release import Release
from standout.know.facts import KnownFacts
from standout.know.sanitized import Channel, Sanitized, original_of

LARGEST_SET = 254
"""Sets with more members count as sets of this size."""
EMPTY_SET = 255
NUMBERS, MEMBERS = 1 << 24, 1 << 28
"""Largest number of table elements at once, and of bytes of the matrices of set members."""
REMEMBERED = 1 << 12
"""Tables up to this length are kept for facts of other targets; longer ones would fill the memory."""


class Window(NamedTuple):
    """What a fact adds: numbers[code − low] for the codes of the window, `outside`, or `empty` if missing."""

    low: int
    numbers: Floats
    outside: float
    empty: float

    def logarithms(self) -> "Window":
        """The natural logarithms of all numbers."""
        outside, empty = elementary.log(np.array([self.outside, self.empty])).tolist()
        return Window(self.low, elementary.log(self.numbers), outside, empty)


@dataclass(frozen=True, eq=False)
class ColumnEvidence:
    """Known levels of one column of the original, and what is released of it.

    `own` is the level of a target that is not in the release, or the members of its set: its cell does not
    count in P(v). Of a set, windows are by the number of members of the cell; 0: it lacks the known member.
    """

    original: Column
    released: Column
    channel: Channel | None
    error: float
    wrong: float
    coverage: float

    @cached_property
    def near(self) -> Near:
        """Which levels of the original are near each other."""
        return near_levels(self.original, self.error)

    def likelihood(self, code: int, own: int | Ints | None) -> Window:
        """ln(1 − c + c · P(v | cell) / P(v)) for a known level or member v."""
        if isinstance(own, np.ndarray) or self.original.starts is not None:
            within, elsewhere, mean = self._member_chances(code, own)
            chances = np.append(self.wrong * elsewhere, (1.0 - self.wrong) * within)
            return self._covered_members(chances / mean).logarithms()
        low, right, elsewhere, mean = self._chances(code, own)
        return self._covered(low, (1.0 - self.wrong) * right, self.wrong * elsewhere, mean).logarithms()

    def right_and_wrong(self, code: int, own: int | Ints | None) -> tuple[Window, Window]:
        """1 − c + c · P(v | cell) / P(v) if the known v is right, and if it is wrong."""
        if isinstance(own, np.ndarray) or self.original.starts is not None:
            within, elsewhere, mean = self._member_chances(code, own)
            right, wrong = np.append(0.0, within), np.append(elsewhere, np.zeros(len(within)))
            n_levels = self.original.n_levels
            if n_levels <= LARGEST_SET:  # a set with all categories has no wrong one
                wrong[n_levels] = within[n_levels - 1]
            return self._covered_members(right / mean), self._covered_members(wrong / mean)
        low, right, elsewhere, mean = self._chances(code, own)
        near = self.near.high[low : low + len(right)] - self.near.low[low : low + len(right)]
        wrong = np.where(near == self.original.n_levels, right, 0.0)  # nothing is wrong where all is near
        return self._covered(low, right, 0.0, mean), self._covered(low, wrong, elsewhere, mean)

    def similarity(self, code: int) -> Window:
        """The paper's Sim of a known level and each cell; an empty cell has 0."""
        if self.original.starts is not None:
            return Window(0, np.append(0.0, np.ones(LARGEST_SET)), 0.0, 0.0)
        low, numbers = self.original.similarity.window(self.original, code)
        if self.channel is not None:
            low, numbers, _ = self._push(low, numbers, 0.0, 0.0)
        return Window(low, numbers, 0.0, 0.0)

    def equality(self, code: int) -> Window:
        """1 if a cell shows what the known level became; an empty cell counts if cells were suppressed."""
        suppressed = self.channel is not None and self.channel.suppressed > 0
        if self.original.starts is not None:
            return Window(0, np.append(0.0, np.ones(LARGEST_SET)), 0.0, float(suppressed))
        if self.channel is None:
            return Window(code, np.ones(1), 0.0, 0.0)
        became, missing = int(self.channel.released[code]), self.released.missing
        if became == missing:
            return Window(0, np.zeros(0), 0.0, 1.0)
        hidden = suppressed or bool((self.channel.released == missing).any())
        return Window(became, np.ones(1), 0.0, float(hidden))

    def _chances(self, code: int, own: int | None) -> tuple[int, Floats, float, float]:
        """(first near level, P(v | x) of the near levels if v is right, of others if it is wrong, P(v))."""
        low, high = int(self.near.low[code]), int(self.near.high[code])
        right = 1.0 / (self.near.high[low:high] - self.near.low[low:high])
        rest = self.original.n_levels - (high - low)
        elsewhere = 1.0 / rest if rest else 0.0
        counts = self.original.counts[low:high].astype(np.float64)
        n = float(self.original.n_rows - self.original.counts[-1])
        if own is not None and own != self.original.missing:
            n -= 1.0
            if low <= own < high:
                counts[own - low] -= 1.0
        inside, outside = (1.0 - self.wrong) * right, self.wrong * elsewhere
        total = float((inside * counts).sum()) + (n - float(counts.sum())) * outside
        # If nobody's cell explains v, P(v) is as if one more cell did.
        return low, right, elsewhere, total / n if total > 0 else float(inside.max()) / (n + 1.0)

    def _covered(self, low: int, inside: Floats, outside: float, mean: float) -> Window:
        """1 − c + c · P(v | cell) / P(v), for these P(v | x) of levels of the original."""
        if self.channel is None:
            return self._window(low, inside / mean, outside / mean, 0.0)
        low, released, empty = self._push(low, inside - outside, outside, mean)
        replaced = self.channel.replaced
        numbers = (1.0 - replaced) * (released + outside) / mean + replaced
        return self._window(low, numbers, (1.0 - replaced) * outside / mean + replaced, empty / mean)

    def _window(self, low: int, numbers: Floats, outside: float, empty: float) -> Window:
        doubt, sure = 1.0 - self.coverage, self.coverage
        return Window(low, doubt + sure * numbers, doubt + sure * outside, doubt + sure * empty)

    @cached_property
    def _mass(self) -> Ints:
        """Number of cells of the original that become each code of the release; the last is missing."""
        assert self.channel is not None
        counts = self.original.counts[: self.original.n_levels]
        return np.bincount(self.channel.released, counts, self.released.n_levels + 1).astype(np.int64)

    def _push(self, low: int, excess: Floats, outside: float, mean: float) -> tuple[int, Floats, float]:
        """Means over the levels that each released code may come from, and P(v | an empty cell)."""
        assert self.channel is not None
        to = self.channel.released[low : low + len(excess)]
        sums = np.bincount(to, self.original.counts[low : low + len(excess)] * excess)
        first, missing = int(to.min()), self.released.n_levels
        window = sums[first:missing] / np.maximum(self._mass[first : min(len(sums), missing)], 1)
        emptied = (float(sums[missing]) if len(sums) > missing else 0.0) + self._mass[missing] * outside
        suppressed, cells = self.channel.suppressed, float(self._mass.sum())
        never = float(self.original.counts[-1])
        empties = never + suppressed * cells + (1.0 - suppressed) * float(self._mass[missing])
        explained = suppressed * cells * mean + (1.0 - suppressed) * emptied
        return first, window, explained / empties if empties else 0.0

    @cached_property
    def _member_shares(self) -> Floats:
        """For each category, the sum of 1 / size over the sets that have it."""
        assert self.original.starts is not None
        sizes = np.diff(self.original.starts)
        inverse = np.repeat(1.0 / np.maximum(sizes, 1), sizes)
        return np.asarray(np.bincount(self.original.codes, inverse, self.original.n_levels), np.float64)

    def _member_chances(self, code: int, own: int | Ints | None) -> tuple[Floats, float, float]:
        """(P(v | set) by size of a set with v, if v is right; of others, if it is wrong; P(v))."""
        column = self.original
        elsewhere = 1.0 / max(column.n_levels - 1, 1)
        with_it, n = float(column.counts[code]), float(column.n_rows - column.counts[-1])
        shares = float(self._member_shares[code])
        if isinstance(own, np.ndarray) and len(own):
            n -= 1.0
            if code in own:
                with_it, shares = with_it - 1.0, shares - 1.0 / len(own)
        total = (1.0 - self.wrong) * shares + (n - with_it) * self.wrong * elsewhere
        mean = total / n if total > 0 else 1.0 / (n + 1.0)
        return 1.0 / np.arange(1, LARGEST_SET + 1), elsewhere, mean

    def _covered_members(self, numbers: Floats) -> Window:
        replaced, empty = 0.0, 0.0
        if self.channel is not None:
            replaced = self.channel.replaced
            never = float(self.original.counts[-1])
            emptied = self.channel.suppressed * (self.original.n_rows - never)
            empty = emptied / (emptied + never) if emptied else 0.0
        return self._window(0, (1.0 - replaced) * numbers + replaced, 0.0, empty)


# From known cells to the tables that the engine looks up.


class _Table(NamedTuple):
    """What one fact adds, by code (see `CellArrays`): one row of numbers, or one if it is right and one if wrong."""

    place: tuple[int, int]
    low: int
    length: int
    missing: int
    numbers: Floats
    least: float
    most: float

    @classmethod
    def of(cls, place: tuple[int, int], windows: tuple[Window, ...], missing: int, counted: bool) -> "_Table":
        """The windows on the grid of scores, or divided by the highest number if the fact is right."""
        low, length = windows[0].low, len(windows[0].numbers)
        numbers = np.stack([np.append(window.numbers, [window.outside, window.empty]) for window in windows])
        highest = float(numbers[0].max())
        numbers = numbers / highest if counted else np.rint(numbers / CELL_STEP) * CELL_STEP
        if not place[0]:  # one number for each code of a byte
            by_window, numbers = numbers, np.repeat(numbers[:, -2:-1], NARROW_TABLE, axis=1)
            numbers[:, low : low + length] = by_window[:, :-2]
            numbers[:, missing] = by_window[:, -1]
        most = highest if counted else float(numbers[0].max())
        return cls(place, low, length, missing, numbers, float(numbers[0].min()), most)


@dataclass(frozen=True, eq=False)
class CellTabulation:
    """Turns known cells into tables, for an attack on a release.

    If `absent`, the targets are not in the release: what is counted in columns is counted without them.
    """

    release: Release
    attack: Any
    absent: bool = False
    counted: bool = False
    _kept: dict[tuple[int, int, int], _Table] = field(default_factory=dict)

    @cached_property
    def evidence(self) -> dict[int, ColumnEvidence]:
        """By position in the original; columns that were dropped have none."""
        attack, wrong, coverage = self.attack, 0.0, 1.0
        adversary: Any = attack.adversary if isinstance(attack, Likelihood) else None
        if isinstance(attack, Likelihood):
            wrong = GUESSED_WRONG if adversary is None else adversary.wrong / adversary.knows
            coverage = COVERAGE if attack.coverage is None else attack.coverage
        channels = self.release.channels if isinstance(self.release, Sanitized) else {}
        names = set(self.release.column_names)
        return {
            position: ColumnEvidence(
                original=column,
                released=self.release.column(column.name),
                channel=channels.get(column.name),
                error=column.error if adversary is None else adversary.error_of(column),
                wrong=wrong,
                coverage=coverage,
            )
            for position, column in enumerate(original_of(self.release).columns)
            if column.name in names
        }

    def batches(self, known: KnownFacts) -> Iterator[tuple[slice, KnownCells]]:
        """The targets in slices whose tables fit into memory, and these tables."""
        cells = known.cells
        usable = np.isin(cells.column, list(self.evidence))
        for targets in self._slices(known, usable):
            cell = np.arange(cells.first[targets.start], cells.first[targets.stop])
            cell = cell[usable[cell]]
            n, query = targets.stop - targets.start, np.searchsorted(cells.first, cell, side="right") - 1
            own = cells.target[query].tolist() if self.absent else [-1] * len(query)
            parts = zip(cells.column[cell].tolist(), cells.code[cell].tolist(), own, strict=True)
            rows: dict[tuple[str, int | None], int] = {}
            tables = [self._table(*part, rows) for part in parts]
            narrow, medium, wide = dense_columns(self.release)[0]
            narrow = np.vstack([narrow, *(_set_sizes(self.release, *key) for key in rows)]) if rows else narrow
            query -= targets.start
            ends, share = self._wrong_shares(cells.column[cell], query, n)
            most, lowest, offset = (np.zeros(n) for _ in range(3))
            if self.counted:
                np.add.at(lowest, query, elementary.log(np.array([table.most for table in tables])))
                lowest, most, offset = lowest - ABOVE_ZERO, most + 2 * ABOVE_ZERO, offset + ABOVE_ZERO
            elif isinstance(self.attack, Scoreboard):
                most += 1.0
            else:
                np.add.at(most, query, np.array([table.most for table in tables]))
                np.add.at(lowest, query, np.array([table.least for table in tables]))
                lowest, most, offset = lowest - CELL_STEP, most - lowest + CELL_STEP, CELL_STEP - lowest
            first, (known_cells, numbers) = offsets(np.bincount(query, minlength=n)), _join(tables, ends, self.counted)
            arrays = CellArrays(narrow, medium, wide, first, known_cells, numbers, share, offset, np.zeros(n))
            yield targets, KnownCells(known, cell, arrays, lowest, most)

    def _slices(self, known: KnownFacts, usable: Bools) -> Iterator[slice]:
        cells = known.cells
        size, is_member = np.zeros(len(cells.column), np.int64), np.zeros(len(cells.column), np.int64)
        for column, evidence in self.evidence.items():
            about = np.flatnonzero(cells.column == column)
            is_member[about] = evidence.original.starts is not None
            if evidence.released.n_levels < NARROW_TABLE or evidence.original.starts is not None:
                size[about] = NARROW_TABLE
            elif isinstance(self.attack, ExactMatch):
                size[about] = 2
            elif isinstance(self.attack, Likelihood) and evidence.channel is None:
                codes = cells.code[about]
                size[about] = evidence.near.high[codes] - evidence.near.low[codes] + 1
            else:
                size[about] = max(evidence.released.n_levels + 1, NARROW_TABLE)
        used = np.maximum(size * usable, is_member * (NUMBERS // max(MEMBERS // max(self.release.n_records, 1), 16)))
        yield from slices_of(np.diff(offsets(used)[cells.first]), NUMBERS)

    def _table(self, column: int, code: int, target: int, rows: dict[tuple[str, int | None], int]) -> _Table:
        """The table of a fact; `rows` numbers the members of sets, whose dense columns follow those of the release."""
        evidence, attack, counted = self.evidence[column], self.attack, self.counted
        matrices, place = dense_columns(self.release)
        released, starts = evidence.released, evidence.original.starts
        if starts is not None:
            became = code if evidence.channel is None else int(evidence.channel.released[code])
            member = released.name, None if became == released.missing else became
            at = 0, len(matrices[0]) + rows.setdefault(member, len(rows))
            if became == released.missing:  # the member is nowhere in the release, and the fact says nothing
                neutral = float(counted or isinstance(attack, Scoreboard))
                nothing = Window(0, np.full(1, neutral), neutral, neutral)
                return _Table.of(at, (nothing,) * (1 + counted), EMPTY_SET, counted)
            members_of_target = evidence.original.codes[starts[target] : starts[target + 1]].astype(np.int64)
            windows = self._windows(evidence, code, None if target < 0 else members_of_target)
            return _Table.of(at, windows, EMPTY_SET, counted)
        own = int(evidence.original.codes[target]) if target >= 0 else -1
        key, missing, at = (column, code, own), released.missing, place[released.name]
        if key in self._kept:
            return self._kept[key]
        table = _Table.of(at, self._windows(evidence, code, None if own < 0 else own), missing, counted)
        if table.length <= REMEMBERED:
            self._kept[key] = table
        return table

    def _windows(self, evidence: ColumnEvidence, code: int, own: int | Ints | None) -> tuple[Window, ...]:
        """What a known level or member adds to the score of a record, by the record's code."""
        if isinstance(self.attack, Likelihood):
            return evidence.right_and_wrong(code, own) if self.counted else (evidence.likelihood(code, own),)
        if isinstance(self.attack, ExactMatch):
            return (evidence.equality(code),)
        window = evidence.similarity(code)
        if isinstance(self.attack, Scoreboard):
            return (window,)
        support = evidence.released.n_rows - int(evidence.released.counts[-1]) - (own is not None)
        weight = 1.0 / math.log(max(support, 2))  # wt(i) = 1 / ln |supp(i)| of the column
        return (window._replace(numbers=window.numbers * weight),)

    def _wrong_shares(self, column: Ints, query: Ints, n: int) -> tuple[Bools, Floats]:
        """Which cells are the last of their attribute, and the shares of `CellArrays`.

        Of the attributes that the adversary knows, some may not be in the release; wrong ones may be among those.
        """
        if not self.counted:
            return np.zeros(len(column), np.bool_), np.empty((0, 0))
        assert isinstance(self.attack, Likelihood) and self.attack.adversary is not None
        names = [each.attribute for each in original_of(self.release).columns]
        attribute = np.array([names.index(name) for name in names])[column]
        ends = np.ones(len(column), np.bool_)
        ends[:-1] = (attribute[1:] != attribute[:-1]) | (query[1:] != query[:-1])
        most, wrong = self.attack.adversary.knows, self.attack.adversary.wrong
        ways = [
            [math.comb(most - known, wrong - j) if j <= known else 0 for j in range(wrong + 1)]
            for known in np.bincount(query[ends], minlength=n).tolist()
        ]
        return ends, np.array(ways) / math.comb(most, wrong)


def dense_columns(release: Release) -> tuple[tuple[NDArray[Any], ...], dict[str, tuple[int, int]]]:
    """The codes of a release as matrices, and where each column is in them: (width, row of the matrix)."""
    kept = vars(release)
    if "_dense" not in kept:
        groups: tuple[list[Column], ...] = ([], [], [])
        for column in release.columns:
            if column.starts is None:
                groups[(1, 2, 4).index(column.codes.dtype.itemsize)].append(column)
        place = {column.name: (width, row) for width, group in enumerate(groups) for row, column in enumerate(group)}
        matrices = tuple(
            np.stack([column.codes for column in group]) if group else np.empty((0, release.n_records), dtype)
            for group, dtype in zip(groups, (np.uint8, np.uint16, np.uint32), strict=True)
        )
        kept["_dense"] = matrices, place
    dense: tuple[tuple[NDArray[Any], ...], dict[str, tuple[int, int]]] = kept["_dense"]
    return dense


def _set_sizes(release: Release, name: str, code: int | None) -> NDArray[np.uint8]:
    """A category of a column of sets as a dense column: the size of each set that has it, else 0; None: no set has."""
    column, kept = release.column(name), vars(release).setdefault("_member_sizes", {})
    if (name, code) in kept:
        return np.asarray(kept[name, code])
    assert column.starts is not None
    sizes = np.diff(column.starts)
    found = np.zeros(column.n_rows, np.uint8)
    if code is not None:
        owner = np.searchsorted(column.starts, np.flatnonzero(column.codes == code), side="right") - 1
        found[owner] = np.minimum(sizes[owner], LARGEST_SET)
    found[sizes == 0] = EMPTY_SET
    if (len(kept) + 1) * len(sizes) <= MEMBERS:
        kept[name, code] = found
    return found


def _join(tables: list[_Table], ends: Bools, counted: bool) -> tuple[NDArray[Any], Floats]:
    """All tables in one, and the cells that are looked up in it; tables that are shared are stored once."""
    distinct = {id(table): table for table in tables}
    numbers = [np.empty((1 + counted, 0)), *(table.numbers for table in distinct.values())]
    start = dict(zip(distinct, offsets([part.shape[1] for part in numbers[1:]]).tolist(), strict=False))
    cells = [
        (*table.place, start[id(table)], table.low, table.length, table.missing, end)
        for table, end in zip(tables, ends.tolist(), strict=True)
    ]
    return np.array(cells, CELL), np.concatenate(numbers, axis=1)
