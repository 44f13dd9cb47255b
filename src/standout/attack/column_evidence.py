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
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core import elementary
from standout.core.arrays import Floats, Ints, run_starts
from standout.core.jit import Array, Int, Real, kernel
from standout.data.column import REACH, ROUNDING, Column, Near, near_levels
from standout.know.sanitized import Channel

__all__ = ["LARGEST_SET", "ColumnEvidence", "DecayBlocks", "DecayTable", "Window"]

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

    def times(self, weight: float) -> "Window":
        """All numbers multiplied by a weight."""
        return Window(self.low, self.numbers * weight, self.outside * weight, self.empty * weight)

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

    @cached_property
    def decay(self) -> "DecayBlocks | None":
        """Blocks of a column with very many levels whose similarity decays; None of others."""
        similarity, levels = self.original.similarity, self.original.levels
        if similarity.name != "decay" or self.channel is not None or len(levels) < MANY_LEVELS:
            return None
        assert similarity.scale is not None and isinstance(levels, np.ndarray)
        return DecayBlocks.of(np.asarray(levels, np.float64), similarity.scale)

    def weight(self, absent: bool) -> float:
        """wt(i) = 1 / ln |supp(i)| of the column."""
        return 1.0 / math.log(max(self.released.n_rows - int(self.released.counts[-1]) - absent, 2))

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


# Look-up tables of a decay over many levels: weight · e^(−distance / scale), in units of a score.
#
# A column of amounts may have as many levels as rows, and a fact needs a number for each. One exponential per
# level would take longer than the attack itself. So levels are divided into blocks one scale wide. Within a
# block, e^(−distance / scale) is a product: one factor per level, which does not depend on the fact, and one
# per block.


@dataclass(frozen=True, eq=False, slots=True)
class DecayBlocks:
    """Levels of a column in blocks of one scale: `within` is e^(−distance from the start of the block)."""

    levels: Floats
    scale: float
    starts: Ints
    within: Floats

    @classmethod
    def of(cls, levels: Floats, scale: float) -> "DecayBlocks":
        """The blocks of these levels, which ascend."""
        distance = (levels - levels[0]) / scale
        block = np.floor(distance)
        starts = np.append(run_starts(block.astype(np.int64)), len(levels))
        return cls(levels, scale, starts, elementary.exp(block - distance))

    def ends(self, code: int) -> tuple[int, int]:
        """The range of levels within reach of a level."""
        known, reach = float(self.levels[code]), self.scale * REACH + ROUNDING
        low, high = np.searchsorted(self.levels, [known - reach, np.nextafter(known + reach, math.inf)])
        return int(low), int(high)


@dataclass(frozen=True, eq=False, slots=True)
class DecayTable:
    """The table of one fact: for levels low … high − 1, `factor` · e^(−distance from `code` / scale)."""

    blocks: DecayBlocks
    code: int
    low: int
    high: int
    factor: float

    def fill(self, out: NDArray[np.int32]) -> None:
        """Write the numbers, rounded to units of a score."""
        blocks = self.blocks
        fill_decay(
            blocks.levels, blocks.scale, blocks.starts, blocks.within, self.code, self.low, self.high,
            self.factor, out,
        )  # fmt: skip


@kernel
def fill_decay(
    levels: Array, scale: Real, starts: Array, within: Array, code: Int, low: Int, high: Int, factor: Real, out: Array
) -> None:
    """Set out[i] to factor · e^(−|levels[low + i] − levels[code]| / scale), rounded."""
    known = (levels[code] - levels[0]) / scale
    block = np.searchsorted(starts, low, side="right") - 1
    begin = low
    while begin < high:
        end = min(starts[block + 1], high)
        number = np.floor((levels[begin] - levels[0]) / scale)
        below = min(max(code, begin), end)
        up, down = factor * math.exp(number - known), factor * math.exp(known - number)
        for i in range(begin, below):
            out[i - low] = np.int32(np.rint(up / within[i]))
        for i in range(below, end):
            out[i - low] = np.int32(np.rint(down * within[i]))
        begin, block = end, block + 1
