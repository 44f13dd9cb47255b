"""When two entries are similar, in the codes of a release, and whether that can be counted."""

from typing import NamedTuple

import numpy as np

from standout.core.arrays import Ints
from standout.core.errors import ParameterError
from standout.neighbours.bitmap_kernels import LevelRanges
from standout.release.model import Levels, Release
from standout.similarity.attributes import ROUNDING, Equal, Present, Similarity, Within, days_per_unit

__all__ = ["Rule", "compares_only_items", "counts_items", "rule_of"]

MAX_BITMAP_LEVELS = 32
"""Up to this many levels, each has its own rows in the bitmap …"""
MAX_BITMAP_ROWS = 1 << 22
"""… unless that makes more rows than these."""


class Rule(NamedTuple):
    """When two entries are similar: levels low[v] … high[v] to level v, times up to `reach` units apart.

    None: not compared. The last of low and high is for a known entry without a value, to which all levels
    are similar. If `ranged`, entries are looked up by time or value, because a bitmap would have too many
    rows.
    """

    low: Ints | None
    high: Ints | None
    reach: int | None
    ranged: bool

    @property
    def levels(self) -> LevelRanges:
        """The ranges; unused arrays if values are not compared."""
        unused = np.zeros(1, np.int64)
        return LevelRanges(
            unused if self.low is None else self.low, unused if self.high is None else self.high
        )

    @property
    def kinds(self) -> int:
        """Number of bitmap rows per item."""
        return 1 if self.ranged or self.low is None else len(self.low)


def counts_items(release: Release, similarity: Similarity) -> bool:
    """Whether nearest neighbours in a release are found by counting the items that agree.

    If records have items several times, values and times are compared pair by pair: see `any_similarity`.
    """
    if type(similarity) not in (Present, Within, Equal):
        return False
    return not release.has_repeats or compares_only_items(rule_of(release, similarity))


def compares_only_items(rule: Rule) -> bool:
    """Whether neither values nor times count."""
    return rule.low is None and rule.reach is None


def rule_of(release: Release, similarity: Similarity) -> Rule:
    """The rule of a similarity, in the codes of a release."""
    if type(similarity) not in (Present, Within, Equal):
        raise ParameterError(
            f"similarity must be Present(), Within(...) or Equal(), got {type(similarity).__name__}: "
            "only these count the items that agree"
        )
    value, time = (similarity.value, similarity.time) if isinstance(similarity, Within) else (None, None)
    compares_values = isinstance(similarity, Equal) or value is not None
    levels = release.levels if compares_values and release.n_levels else None
    low, high = (None, None) if levels is None else _similar_levels(levels, value)
    reach = None if time is None or not release.span else _reach(release, time)
    too_many = low is not None and (
        len(low) > MAX_BITMAP_LEVELS + 1 or len(low) * release.n_items > MAX_BITMAP_ROWS
    )
    return Rule(low, high, reach, too_many or reach is not None)


def _similar_levels(levels: Levels, value: float | None) -> tuple[Ints, Ints]:
    """The first and the last level similar to each level; the last element is for a missing value.

    Numbers are similar if they are at most `value` apart. None: only equal levels are, as with categories.
    """
    n = len(levels)
    low, high = np.arange(n + 1), np.arange(n + 1)
    low[n] = 0
    if isinstance(levels, np.ndarray) and value is not None:
        numbers, limit, first = levels.tolist(), value + ROUNDING, 0
        for level in range(n):
            while numbers[level] - numbers[first] > limit:
                first += 1
            low[level] = first
        high[:n] = np.searchsorted(low[:n], np.arange(n), side="right") - 1
    return low, high


def _reach(release: Release, time: float) -> int:
    """The largest number of time units that is at most this number of days."""
    unit, limit = days_per_unit(release), time + ROUNDING
    about = int(min(limit / unit, release.span))
    return max(reach for reach in range(about - 1, about + 2) if reach * unit <= limit)
