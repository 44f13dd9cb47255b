"""Attacks on tables: each says what a known cell adds to the score of every row.

TableLikelihood   sums of log-likelihood ratios: the strongest
TableScoreboard   the paper's Algorithm 1B as written: Σ wt(i) · Sim, with wt(i) = 1 / ln |supp(i)| per column
TableThreshold    the paper's Algorithm 1A: the smallest Sim must be at least alpha
ExactMatch        all known cells must be equal, as k-anonymity assumes
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core import elementary
from standout.core.arrays import Floats, Ints, run_starts
from standout.core.errors import ParameterError, positive_share
from standout.core.jit import Array, Int, Real, kernel
from standout.data.column import REACH, ROUNDING, Column, Near, near_levels
from standout.know.adversary import Adversary
from standout.know.sanitized import Channel

__all__ = [
    "LARGEST_SET",
    "ColumnEvidence",
    "DecayBlocks",
    "DecayTable",
    "ExactMatch",
    "TableAttack",
    "TableLikelihood",
    "TableScoreboard",
    "TableThreshold",
    "Window",
    "scoreboard_weight",
]

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


# What a known cell says about each level of a column: a window of numbers, and one number for the rest.
#
# Likelihood compares two explanations of a known level v: the candidate's own cell x, and anybody's cell.
#
#     ln(1 − c + c · P(v | x) / P(v))
#
# P(v | x) = (1 − w) / n(x) if x is near v, else w / (L − n(v)): a share w of the facts is wrong, and n(x)
# of the L levels are near x. P(v) is its mean over the cells of the column: a rare value weighs more. A share
# 1 − c of the facts is about something that the table does not show; an empty cell adds ln(1 − c).
#
# If the table was sanitized, v is a level of the original and y one of the released column. The adversary knows
# the steps and how frequent the levels are, and averages over the x that y may come from:
#
#     P(v | y) = (1 − replaced) · Σ_x P(x | y) P(v | x) + replaced · P(v)


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


GUESSED_WRONG = 0.1
"""Share of wrong facts where the adversary's errors are not known."""
COVERAGE = 0.98
MANY = 100
"""With more facts than this, sums of logarithms might exceed the range of the kernels' whole numbers."""


@dataclass(frozen=True, slots=True)
class TableAttack:
    """Base class: how known cells become scores.

    Subclass it, with a `name` and a `window`, for an attack of your own.

    Attributes
    ----------
    takes_smallest : bool
        A score is the smallest addend instead of the sum.
    has_posterior : bool
        Scores are log-likelihood ratios.

    Examples
    --------
    >>> TableAttack().takes_smallest
    False
    """

    name: ClassVar[str] = ""
    takes_smallest: ClassVar[bool] = False
    has_posterior: ClassVar[bool] = False

    @property
    def wrong(self) -> float:
        """The share of wrong facts that the attack reckons with."""
        return 0.0

    @property
    def coverage(self) -> float:
        """The share of facts that the attack expects to be about cells of the table."""
        return 1.0

    def window(self, evidence: ColumnEvidence, code: int, own: int | None) -> Window:
        """What a known level adds to a row, by the row's code.

        Parameters
        ----------
        evidence : ColumnEvidence
            What is known of the column.
        code : int
            The known level, a level of the original column.
        own : int, optional
            The target's own level, if it is not in the table.

        Returns
        -------
        Window
            By the code of a row's cell.
        """
        raise NotImplementedError

    def member_window(self, evidence: ColumnEvidence, code: int, own: Ints | None) -> Window:
        """What a known member of a set adds to a row, by the size of its set; 0: it lacks the member.

        Parameters
        ----------
        evidence : ColumnEvidence
            What is known of the column.
        code : int
            The known member of a set, a level of the original column.
        own : array of int, optional
            Members of the target's own set, if it is not in the table.

        Returns
        -------
        Window
            By the size of a row's set; 0: it lacks the member.
        """
        return evidence.member_presence()


@dataclass(frozen=True, slots=True)
class TableLikelihood(TableAttack):
    """Scores are ln P(facts | row) / P(facts): rare values count more, inaccurate facts count as such.

    Parameters
    ----------
    adversary : Adversary, optional
        The adversary whose errors the facts have. Default: a tenth of the facts may be wrong.
    coverage : float
        The share of facts that are about cells of the table; the rest are about something else.
    counted : bool
        Whether the attack uses that exactly `adversary.wrong` of the facts are wrong: a row that agrees with
        all of them is then out of the question. Otherwise each fact is wrong with the same probability.

    Examples
    --------
    >>> TableLikelihood(Adversary(knows=4, wrong=1)).wrong
    0.25
    """

    adversary: Adversary | None = None
    coverage: float = COVERAGE
    counted: bool = True
    name: ClassVar[str] = "likelihood"
    has_posterior: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.coverage < 1:
            raise ParameterError(f"coverage must be above 0 and below 1, got {self.coverage!r}")

    @property
    def wrong(self) -> float:
        """The share of wrong facts."""
        return GUESSED_WRONG if self.adversary is None else self.adversary.wrong / self.adversary.knows

    @property
    def counts_wrong(self) -> bool:
        """Whether the number of wrong facts is used, with products instead of sums of logarithms."""
        adversary = self.adversary
        return self.counted and adversary is not None and (adversary.wrong > 0 or adversary.knows > MANY)

    def window(self, evidence: ColumnEvidence, code: int, own: int | None) -> Window:
        """The log-likelihood ratio of a known level, by code."""
        return evidence.likelihood(code, own)

    def member_window(self, evidence: ColumnEvidence, code: int, own: Ints | None) -> Window:
        """The log-likelihood ratio of a known member, by size of the set."""
        return evidence.member_likelihood(code, own)


@dataclass(frozen=True, slots=True)
class TableScoreboard(TableAttack):
    """The paper's Algorithm 1B: Σ Sim / ln |supp(i)|, a match stands out by φ · σ.

    In a table without empty cells all columns have the same support, so every column counts the same.

    Examples
    --------
    >>> TableScoreboard().name
    'paper'
    """

    name: ClassVar[str] = "paper"

    def window(self, evidence: ColumnEvidence, code: int, own: int | None) -> Window:
        """wt(i) · Sim of a known level, by code."""
        return _weighted(evidence, evidence.similarity(code), own is not None)

    def member_window(self, evidence: ColumnEvidence, code: int, own: Ints | None) -> Window:
        """wt(i) · Sim of a known member."""
        return _weighted(evidence, evidence.member_presence(), own is not None)


def scoreboard_weight(evidence: ColumnEvidence, absent: bool) -> float:
    """wt(i) = 1 / ln |supp(i)| of a column."""
    support = evidence.released.n_rows - int(evidence.released.counts[-1]) - absent
    return 1.0 / math.log(max(support, 2))


def _weighted(evidence: ColumnEvidence, window: Window, absent: bool) -> Window:
    weight = scoreboard_weight(evidence, absent)
    return Window(window.low, window.numbers * weight, window.outside * weight, window.empty * weight)


@dataclass(frozen=True, slots=True)
class TableThreshold(TableAttack):
    """The paper's Algorithm 1A: rows whose every known cell is similar, Sim ≥ alpha, are candidates.

    Parameters
    ----------
    alpha : float
        The smallest similarity of a candidate.

    Examples
    --------
    >>> TableThreshold(alpha=0.5).alpha
    0.5
    """

    alpha: float = 0.5
    name: ClassVar[str] = "threshold"
    takes_smallest: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive_share("alpha", self.alpha)

    def window(self, evidence: ColumnEvidence, code: int, own: int | None) -> Window:
        """Sim of a known level, by code."""
        return evidence.similarity(code)


@dataclass(frozen=True, slots=True)
class ExactMatch(TableAttack):
    """Rows that equal every known cell are candidates: what k-anonymity and ARX's risks assume.

    Examples
    --------
    >>> ExactMatch().alpha
    1.0
    """

    alpha: ClassVar[float] = 1.0
    name: ClassVar[str] = "exact match"
    takes_smallest: ClassVar[bool] = True

    def window(self, evidence: ColumnEvidence, code: int, own: int | None) -> Window:
        """1 for the cells that show the known level."""
        return evidence.equality(code)

    def member_window(self, evidence: ColumnEvidence, code: int, own: Ints | None) -> Window:
        """1 for the sets that have the known member."""
        return evidence.member_presence(hidden=True)
