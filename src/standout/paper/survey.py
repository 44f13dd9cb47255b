"""What the published statistics and the figures need to know about a release: counts, bits, sampling errors."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.core.jit import Array, Int, kernel
from standout.core.progress import Progress, no_progress
from standout.data.build import count_codes
from standout.data.entries import unpack_item
from standout.data.release import Release
from standout.paper.published import published, published_support

STRIDE = 1 << 14
FULL = 0.99
"""A release with at least this share of the published number of people has the full size."""
STANDARD_ERRORS = 2
"""A sampling error is this number of standard errors."""


def share_error(share: float, n: float) -> float:
    """Sampling error of a share of n people.

    >>> share_error(0.5, 10_000)
    0.01
    """
    return STANDARD_ERRORS * math.sqrt(share * (1 - share) / n)


def mean_error(values: NDArray[Any]) -> float:
    """Sampling error of the mean of these values."""
    return STANDARD_ERRORS * float(values.std()) / math.sqrt(len(values))


def sd_error(values: NDArray[Any]) -> float:
    """Sampling error of the standard deviation of these values: √((m₄ − s⁴) / 4 s² n)."""
    square = (values - values.mean()) ** 2
    variance = float(square.mean())
    return STANDARD_ERRORS * float(square.std()) / (2 * math.sqrt(variance * len(values))) if variance else 0.0


def quantile_error(values: NDArray[Any], share: float) -> float:
    """Sampling error of a quantile: half the distance between the quantiles that may take its place."""
    error = share_error(share, len(values))
    low, high = np.quantile(values, np.clip([share - error, share + error], 0, 1))
    return float(high - low) / 2


def top_share(sizes: NDArray[Any], part: float) -> tuple[float, float]:
    """Share of the sum that belongs to the largest `part` of the sizes, and its sampling error.

    >>> top_share(np.array([60, 20, 10, 5, 5]), 0.2)[0]
    0.6
    """
    falling = np.sort(sizes)[::-1]
    top = max(round(part * len(sizes)), 1)
    share = float(falling[:top].sum() / sizes.sum())
    # how much each person moves the share, up to a constant
    influence = np.maximum(sizes - falling[top - 1], 0) - share * sizes
    return share, mean_error(influence) / float(sizes.mean())


# Bits that a value or a time adds to those of an item.
#
# They are the mean, over the entries of the item, of −log2 of the share of its other entries that are as near. They
# are computed as differences of harmonic numbers, (H(n − 1) − H(k)) / ln 2 for k of n − 1 others, which is unbiased for
# items with few entries. The logarithm of a small count would be biased.


def value_bits(counts: Ints, near: Bools) -> Floats:
    """Bits that a value adds for each item; near[a, b] says whether two levels are near each other.

    `counts` has the number of entries with each level, one row for each item.
    """
    others = np.maximum(counts @ near.astype(np.int64) - 1, 0)
    n = counts.sum(axis=1)
    table = _harmonic(int(n.max(initial=0)))
    bits = table[np.maximum(n - 1, 0), None] - table[others]
    return np.asarray((counts * bits).sum(axis=1) / np.maximum(n, 1) / math.log(2))


def date_bits(release: Release, items: Ints, reach: int) -> Floats:
    """Bits that a time known to within `reach` units adds for each of these items."""
    out, table = np.zeros(len(items)), _harmonic(int(release.item_entries.max(initial=0)))
    for k, item in enumerate(items.tolist()):
        time = unpack_item(release.by_item, item, release.n_levels, release.span)[2]
        times, counts = np.unique(time[time < release.span], return_counts=True)
        if n := int(counts.sum()):
            bits = table[n - 1] - table[near_counts(times.astype(np.int64), counts, reach) - 1]
            out[k] = (counts * bits).sum() / math.log(2) / n
    return out


def near_counts(times: Ints, counts: Ints, reach: int) -> Ints:
    """For each of ascending times, how many entries are within `reach` units of it, itself included."""
    below = np.append(0, np.cumsum(counts))
    return np.asarray(
        below[np.searchsorted(times, times + reach, side="right")] - below[np.searchsorted(times, times - reach)]
    )


def _harmonic(most: int) -> Floats:
    """The harmonic numbers H(0) … H(most)."""
    return np.append(0.0, np.cumsum(1 / np.arange(1, most + 1)))


# Counts for each person, from one pass over a release. Compiled.


class PersonTimes(NamedTuple):
    """Times of each record, one row each."""

    first: Array  # code of its first time; -1 if it has none
    last: Array
    timed: Array  # number of its entries that have a time
    near: Floats  # probability that two of its entries are within each reach; NaN if it has fewer than two times


@kernel
def _count_levels(columns: Any, low: Int, high: Int, by_person: Array, by_item: Array) -> None:
    """Count the entries with each level, by record (low … high - 1) and by item."""
    start, item, value = columns
    for record in range(low, high):
        for i in range(start[record], start[record + 1]):
            if value[i] < by_item.shape[1]:
                by_person[record, value[i]] += 1
                by_item[item[i], value[i]] += 1


@kernel
def _fill_times(start: Array, time: Array, low: Int, high: Int, reaches: Array, count: Array, out: Any) -> None:
    """Fill the times of records low … high - 1; `count` is all 0 before and after.

    Days are counted, not sorted: the span of a record has about as many days as the record has entries.
    """
    first, last, timed, near = out
    span = len(count) - 1
    for record in range(low, high):
        begin: Int = span
        end: Int = -1
        n = 0
        for i in range(start[record], start[record + 1]):
            moment: Int = np.int64(time[i])
            if moment < span:
                count[moment] += 1
                begin, end, n = min(begin, moment), max(end, moment), n + 1
        if n == 0:
            continue
        first[record], last[record], timed[record] = begin, end, n
        for k in range(len(reaches) if n > 1 else 0):
            pairs: Int = 0
            window: Int = 0
            oldest = begin
            for day in range(begin, end + 1):
                today = count[day]
                if day - oldest > reaches[k]:
                    window -= count[oldest]
                    oldest += 1
                pairs += today * window + today * (today - 1) // 2
                window += today
            near[record, k] = pairs / (n * (n - 1) / 2)
        count[begin : end + 1] = 0


@dataclass(frozen=True, eq=False)
class Survey:
    """A release and its counts, each computed once; arrays are empty if it has no values or no times."""

    release: Release
    progress: Progress = no_progress

    @property
    def scale(self) -> float:
        """Number of people, relative to the Netflix Prize data."""
        return float(self.release.n_records / published()["sizes"]["records"])

    @property
    def has_full_size(self) -> bool:
        """Whether it has the full size, so that totals and extremes can be compared."""
        return self.scale >= FULL

    @property
    def has_values(self) -> bool:
        """Whether any entry has a value."""
        return bool(self.item_levels.sum())

    @property
    def has_times(self) -> bool:
        """Whether any entry has a time."""
        return bool(self.days.sum())

    @property
    def levels(self) -> Floats:
        """The value levels."""
        return np.zeros(0) if self.release.levels is None else np.asarray(self.release.levels, np.float64)

    @property
    def reaches(self) -> Ints:
        """Reaches in days for pairs of a person's ratings, one for each column of `people.near`."""
        section = published()["bursts"]
        return np.array([*numbers_after("within_", section), *section["days"]], np.int64)

    @cached_property
    def _level_counts(self) -> tuple[NDArray[Any], Ints]:
        side, n, n_levels = self.release.by_record, self.release.n_records, self.release.n_levels
        by_person, by_item = np.zeros((n, n_levels), np.int32), np.zeros((self.release.n_items, n_levels), np.int64)
        if side.value is not None:
            for low in range(0, n, STRIDE):
                self.progress("looking at people", low, n)
                _count_levels(side[:3], low, min(low + STRIDE, n), by_person, by_item)
        return by_person, by_item

    @property
    def item_levels(self) -> Ints:
        """Number of ratings of each level, for each film."""
        return self._level_counts[1]

    @cached_property
    def people(self) -> PersonTimes:
        """Times of each person; bursts are counted exactly, over all pairs of entries."""
        n, side = self.release.n_records, self.release.by_record
        none, reaches = np.full(n, -1, np.int32), self.reaches
        times = PersonTimes(none, none.copy(), np.zeros(n, np.int32), np.full((n, len(reaches)), np.nan))
        if side.time is not None:
            count = np.zeros(self.release.span + 1, np.int64)
            for low in range(0, n, STRIDE):
                self.progress("looking at people", low, n)
                _fill_times(side.start, side.time, low, min(low + STRIDE, n), reaches, count, times)
        return times

    @cached_property
    def days(self) -> Ints:
        """Number of ratings on each day."""
        time = self.release.by_record.time
        return np.zeros(0, np.int64) if time is None else count_codes(time, self.release.span + 1)[:-1]

    @cached_property
    def support(self) -> Ints:
        """Supports in descending order; 0 for films that a small release lacks."""
        falling = np.sort(self.release.support)[::-1]
        return np.pad(falling, (0, max(published()["sizes"]["items"] - len(falling), 0)))

    @property
    def expected_support(self) -> Floats:
        """The published supports by rank, scaled to the number of people."""
        return published_support() * self.scale

    @cached_property
    def person_means(self) -> tuple[Floats, Floats]:
        """Mean rating of each person with ratings; deviation (n − 1) of each person with at least two."""
        counts = self._level_counts[0]
        counts = counts[counts.sum(axis=1) > 0]
        n = counts.sum(axis=1)
        mean = elementary.weighted_sum(counts, self.levels) / n
        square = elementary.weighted_sum(counts, self.levels**2) / n
        two = n > 1
        return mean, np.sqrt(np.maximum(square - mean**2, 0)[two] * n[two] / (n[two] - 1))

    @cached_property
    def effective_people(self) -> float:
        """Effective sample size for shares of ratings, as lengths differ: (Σ n)² / Σ n²."""
        lengths = self.release.lengths.astype(np.float64)
        return float(lengths.sum() ** 2 / (lengths**2).sum())

    def ratings_error(self, share: float, correlation: float = 1.0) -> float:
        """Sampling error of a share of ratings, given the correlation of two ratings of one person."""
        return share_error(share, self.effective_people / max(correlation, 1e-9))

    def share_of_pairs_within(self, days: int) -> float:
        """Share of the pairs of a person's ratings that are within this number of days, mean over people."""
        column = self.people.near[self.people.timed > 1, self.reaches.tolist().index(days)]
        return float(column.mean()) if len(column) else 1.0


def numbers_after(prefix: str, section: dict[str, Any]) -> list[int]:
    """The numbers n for which the section has a name `prefix` + n, in order.

    >>> numbers_after("q", published()["lengths"])
    [25, 50, 75, 90, 99]
    """
    ends = (name.removeprefix(prefix) for name in section if name.startswith(prefix))
    return [int(end) for end in ends if end.isdecimal()]
