"""What a known cell says about each level of a column: a window of numbers, and one number for the rest.

Likelihood compares two explanations of a known level v: the candidate's own cell x, and anybody's cell.

    ln(1 − c + c · P(v | x) / P(v))

P(v | x) = (1 − w) / n(x) if x is near v, else w / (L − n(v)): a share w of the facts is wrong, and n(x)
of the L levels are near x. P(v) is its mean over the cells of the column: a rare value weighs more. A share
1 − c of the facts is about something that the table does not show; an empty cell adds ln(1 − c).

If the table was sanitized, v is a level of the original and y one of the released column. The adversary knows
the steps and how frequent the levels are, and averages over the x that y may come from:

    P(v | y) = (1 − replaced) · Σ_x P(x | y) P(v | x) + replaced · P(v)
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.table_attack.decay_tables import DecayBlocks
from standout.tables.column import Column
from standout.tables.model import Channel
from standout.tables.nearness import Near, near_levels

__all__ = ["LARGEST_SET", "ColumnEvidence", "Window"]

MANY_LEVELS = 1 << 13
"""From this many levels on, tables of a decay are made in blocks."""
LARGEST_SET = 254
"""Sets with more members count as sets of this size."""


class Window(NamedTuple):
    """What a fact adds: numbers[code − low] for the codes of the window, `outside`, or `empty` if missing."""

    low: int
    numbers: Floats
    outside: float
    empty: float


@dataclass(frozen=True, eq=False)
class ColumnEvidence:
    """Known levels of one column of the original, and what is released of it."""

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

    @cached_property
    def decay(self) -> DecayBlocks | None:
        """Blocks of a column with very many levels whose similarity decays; None of others."""
        similarity, levels = self.original.similarity, self.original.levels
        if similarity.name != "decay" or self.channel is not None or len(levels) < MANY_LEVELS:
            return None
        assert similarity.scale is not None and isinstance(levels, np.ndarray)
        return DecayBlocks.of(np.asarray(levels, np.float64), similarity.scale)

    @cached_property
    def _mass(self) -> Ints:
        """Number of cells of the original that become each code of the release; the last is missing."""
        assert self.channel is not None
        counts = self.original.counts[: self.original.n_levels]
        return np.bincount(self.channel.released, counts, self.released.n_levels + 1).astype(np.int64)

    def likelihood(self, code: int, own: int | None = None) -> Window:
        """ln(1 − c + c · P(v | cell) / P(v)) for a known level v.

        `own` is the level of a target that is not in the table: its cell does not count in P(v).
        """
        low, right, elsewhere, mean = self._chances(code, own)
        chances = self._covered(low, (1.0 - self.wrong) * right, self.wrong * elsewhere, mean)
        return _logarithms(chances)

    def right_and_wrong(self, code: int, own: int | None = None) -> tuple[Window, Window]:
        """1 − c + c · P(v | cell) / P(v) if the known level v is right, and if it is wrong."""
        low, right, elsewhere, mean = self._chances(code, own)
        near = self.near.high[low : low + len(right)] - self.near.low[low : low + len(right)]
        wrong = np.where(near == self.original.n_levels, right, 0.0)  # nothing is wrong where all is near
        return self._covered(low, right, 0.0, mean), self._covered(low, wrong, elsewhere, mean)

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
        mean = self._mean((1.0 - self.wrong) * right, self.wrong * elsewhere, counts, n)
        return low, right, elsewhere, mean

    def _covered(self, low: int, inside: Floats, outside: float, mean: float) -> Window:
        """1 − c + c · P(v | cell) / P(v), for these P(v | x) of levels of the original."""
        if self.channel is None:
            return self._window(low, inside / mean, outside / mean, 0.0)
        low, released, empty = self._push(low, inside - outside, outside, mean)
        replaced = self.channel.replaced
        numbers = (1.0 - replaced) * (released + outside) / mean + replaced
        return self._window(low, numbers, (1.0 - replaced) * outside / mean + replaced, empty / mean)

    def _mean(self, inside: Floats, outside: float, counts: Floats, n: float) -> float:
        """P(v); if nobody's cell explains v, as if one more cell did."""
        near = float((inside * counts).sum())
        total = near + (n - float(counts.sum())) * outside
        return total / n if total > 0 else float(inside.max()) / (n + 1.0)

    def _window(self, low: int, numbers: Floats, outside: float, empty: float) -> Window:
        doubt, sure = 1.0 - self.coverage, self.coverage
        return Window(low, doubt + sure * numbers, doubt + sure * outside, doubt + sure * empty)

    def _push(self, low: int, excess: Floats, outside: float, mean: float) -> tuple[int, Floats, float]:
        """Means over the levels that each released code may come from, and P(v | an empty cell)."""
        assert self.channel is not None
        to = self.channel.released[low : low + len(excess)]
        sums = np.bincount(to, self.original.counts[low : low + len(excess)] * excess)
        first, missing = int(to.min()), self.released.n_levels
        window = sums[first:missing] / np.maximum(self._mass[first : min(len(sums), missing)], 1)
        emptied = (float(sums[missing]) if len(sums) > missing else 0.0) + self._mass[missing] * outside
        suppressed = self.channel.suppressed
        cells = float(self._mass.sum())
        never = float(self.original.counts[-1])
        empties = never + suppressed * cells + (1.0 - suppressed) * float(self._mass[missing])
        explained = suppressed * cells * mean + (1.0 - suppressed) * emptied
        return first, window, explained / empties if empties else 0.0

    def similarity(self, code: int) -> Window:
        """The paper's Sim of a known level and each cell; an empty cell has 0."""
        low, numbers = self.original.similarity.window(self.original, code)
        if self.channel is None:
            return Window(low, numbers, 0.0, 0.0)
        low, numbers, _ = self._push(low, numbers, 0.0, 0.0)
        return Window(low, numbers, 0.0, 0.0)

    def equality(self, code: int) -> Window:
        """1 if a cell shows what the known level became; an empty cell counts if cells were suppressed."""
        if self.channel is None:
            return Window(code, np.ones(1), 0.0, 0.0)
        became = int(self.channel.released[code])
        hidden = self.channel.suppressed > 0 or bool((self.channel.released == self.released.missing).any())
        if became == self.released.missing:
            return Window(0, np.zeros(0), 0.0, 1.0)
        return Window(became, np.ones(1), 0.0, float(hidden))

    @cached_property
    def _member_shares(self) -> Floats:
        """For each category, the sum of 1 / size over the sets that have it."""
        starts = self.original.starts
        assert starts is not None
        sizes = np.diff(starts)
        inverse = np.repeat(1.0 / np.maximum(sizes, 1), sizes)
        return np.asarray(np.bincount(self.original.codes, inverse, self.original.n_levels), np.float64)

    def member_likelihood(self, code: int, own: Ints | None = None) -> Window:
        """The same for a member of a set, by the number of members of the cell; 0: it is not in the set.

        `own` are the members of a target that is not in the table.
        """
        within, elsewhere, mean = self._member_chances(code, own)
        chances = np.append(self.wrong * elsewhere, (1.0 - self.wrong) * within)
        return _logarithms(self._covered_members(chances / mean))

    def member_right_and_wrong(self, code: int, own: Ints | None = None) -> tuple[Window, Window]:
        """The same if the known member is right, and if it is wrong."""
        within, elsewhere, mean = self._member_chances(code, own)
        right, wrong = np.append(0.0, within), np.append(elsewhere, np.zeros(len(within)))
        n_levels = self.original.n_levels
        if n_levels <= LARGEST_SET:  # a set with all categories has no wrong one
            wrong[n_levels] = within[n_levels - 1]
        return self._covered_members(right / mean), self._covered_members(wrong / mean)

    def _member_chances(self, code: int, own: Ints | None) -> tuple[Floats, float, float]:
        """(P(v | set) by size of a set with v, if v is right; of others, if it is wrong; P(v))."""
        column = self.original
        elsewhere = 1.0 / max(column.n_levels - 1, 1)
        with_it, n = float(column.counts[code]), float(column.n_rows - column.counts[-1])
        shares = float(self._member_shares[code])
        if own is not None and len(own):
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

    def member_presence(self, hidden: bool = False) -> Window:
        """1 if the set has the member, whatever its size; if `hidden`, also if it may have been emptied."""
        was_emptied = hidden and self.channel is not None and self.channel.suppressed > 0
        return Window(0, np.append(0.0, np.ones(LARGEST_SET)), 0.0, float(was_emptied))


def _logarithms(window: Window) -> Window:
    ends = elementary.log(np.array([window.outside, window.empty]))
    return Window(window.low, elementary.log(window.numbers), float(ends[0]), float(ends[1]))
