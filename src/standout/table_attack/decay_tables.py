"""Look-up tables of a decay over many levels: weight · e^(−distance / scale), in units of a score.

A column of amounts may have as many levels as rows, and a fact needs a number for each. One exponential per
level would take longer than the attack itself. So levels are divided into blocks one scale wide. Within a
block, e^(−distance / scale) is a product: one factor per level, which does not depend on the fact, and one
per block.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from standout.core import elementary
from standout.core.arrays import Floats, Ints, run_starts
from standout.core.jit import Array, Int, Real, kernel
from standout.tables.column_similarity import REACH, ROUNDING

__all__ = ["DecayBlocks", "DecayTable"]


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
    levels: Array,
    scale: Real,
    starts: Array,
    within: Array,
    code: Int,
    low: Int,
    high: Int,
    factor: Real,
    out: Array,
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
