"""Counts for each person and each item, from one pass over a release: ratings, dates, bursts. Compiled."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.core.jit import Array, Int, Real, inline, kernel, subroutine
from standout.core.progress import Progress, no_progress
from standout.data.build import count_codes
from standout.data.postings import Postings
from standout.data.release import Codes, Release
from standout.paper.published_statistics import published, published_support

__all__ = [
    "MINIMUM_RATINGS",
    "PersonStatistics",
    "Statistic",
    "Survey",
    "Verdict",
    "date_bits",
    "harmonic",
    "item_levels",
    "mean_error",
    "near_bits",
    "numbers_after",
    "person_statistics",
    "quantile_error",
    "sd_error",
    "share_error",
    "top_share",
]

STRIDE = 1 << 14
NO_CODES: Codes = np.empty(0, np.uint8)


class PersonStatistics(NamedTuple):
    """Statistics of each record, one row each.

    levels       number of its entries with each value level
    first, last  codes of its first and last time; -1 if it has none
    timed        number of its entries that have a time
    near         probability that two of its entries are within each reach, one column for each reach; NaN if
                 it has fewer than two times
    """

    levels: Ints
    first: Ints
    last: Ints
    timed: Ints
    near: Floats


def person_statistics(release: Release, reaches: Ints, progress: Progress = no_progress) -> PersonStatistics:
    """Statistics of each record; bursts are counted exactly, over all pairs of its entries."""
    n, side = release.n_records, release.by_record
    statistics = PersonStatistics(
        np.zeros((n, release.n_levels), np.int32),
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.zeros(n, np.int32),
        np.full((n, len(reaches)), np.nan),
    )
    value = NO_CODES if side.value is None else side.value
    time = NO_CODES if side.time is None else side.time
    count = np.zeros(release.span + 1, np.int64)
    for low in range(0, n, STRIDE):
        progress("looking at people", low, n)
        high = min(low + STRIDE, n)
        if len(value):
            _count_levels(side.start, value, low, high, statistics.levels)
        if len(time):
            _fill_times(
                start=side.start, time=time, low=low, high=high, reaches=reaches, count=count, statistics=statistics
            )
    return statistics


def item_levels(release: Release) -> Ints:
    """Number of entries of each item with each value level."""
    out = np.zeros((release.n_items, release.n_levels + 1), np.int64)
    _count_item_levels(release.by_item, _layout(release), out)
    return out[:, :-1]


def date_bits(release: Release, items: Ints, reach: int) -> Floats:
    """For each of these items, the bits that a time known to within `reach` units adds.

    It is the mean, over the entries of the item, of −log2 of the share of its other entries whose time is as
    near. It is computed as a difference of harmonic numbers, (H(n − 1) − H(k)) / ln 2 for k of n − 1 others,
    which is unbiased for items with few entries. The logarithm of a small count would be biased.
    """
    out = np.zeros(len(items))
    table = harmonic(int(release.item_entries.max(initial=0)))
    _fill_date_bits(postings=release.by_item, layout=_layout(release), items=items, reach=reach, table=table, out=out)
    return out


def _layout(release: Release) -> Ints:
    """How the words of postings are packed: bits of the time, mask of the value, number of value codes."""
    side = release.by_item
    return np.array([side.time_bits, (1 << side.value_bits) - 1, release.n_levels + 1])


def near_bits(counts: Ints, near: Bools) -> Floats:
    """The bits that a value adds, like `date_bits`.

    `counts` has the number of entries with each level, one row for each item; near[a, b] says whether two
    levels are near each other.
    """
    others = np.maximum(counts @ near.astype(np.int64) - 1, 0)
    n = counts.sum(axis=1)
    table = harmonic(int(n.max(initial=0)))
    bits = table[np.maximum(n - 1, 0), None] - table[others]
    return np.asarray((counts * bits).sum(axis=1) / np.maximum(n, 1) / math.log(2))


def harmonic(most: int) -> Floats:
    """The harmonic numbers H(0) … H(most).

    >>> harmonic(3).tolist()
    [0.0, 1.0, 1.5, 1.8333333333333333]
    """
    table = np.zeros(most + 1)
    np.cumsum(1 / np.arange(1, most + 1), out=table[1:])
    return table


@kernel
def _count_levels(start: Array, value: Array, low: Int, high: Int, out: Array) -> None:
    """Set out[r, v] to the number of entries of record r with level v."""
    for record in range(low, high):
        for i in range(start[record], start[record + 1]):
            if value[i] < out.shape[1]:
                out[record, value[i]] += 1


@kernel
def _fill_times(start: Array, time: Array, low: Int, high: Int, reaches: Array, count: Array, statistics: Any) -> None:
    """Fill the time columns of records low … high - 1; `count` is all 0 before and after.

    Days are counted, not sorted: the span of a record has about as many days as the record has entries.
    """
    _, first, last, timed, near = statistics
    span = len(count) - 1
    for record in range(low, high):
        begin, end, n = span, -1, 0
        for i in range(start[record], start[record + 1]):
            moment = np.int64(time[i])
            if moment < span:
                count[moment] += 1
                begin, end, n = _lower(begin, moment), -_lower(-end, -moment), n + 1
        if n == 0:
            continue
        first[record], last[record], timed[record] = begin, end, n
        if n > 1:
            _fill_shares_of_pairs(count[begin : end + 1], n, reaches, near[record])
        count[begin : end + 1] = 0


@inline
def _lower(a: Int, b: Int) -> Int:
    return a if a < b else b


@subroutine
def _fill_shares_of_pairs(count: Array, n: Int, reaches: Array, out: Array) -> None:
    """Set out[k] to the share of pairs of n entries that are within reaches[k]; count = entries by day."""
    n_days = len(count)
    for k in range(len(reaches)):
        pairs, window, oldest = 0, 0, 0
        for day in range(n_days):
            today = count[day]
            if day - oldest > reaches[k]:
                window -= count[oldest]
                oldest += 1
            pairs += today * window + today * (today - 1) // 2
            window += today
        out[k] = pairs / (n * (n - 1) / 2)


@kernel
def _count_item_levels(postings: Postings, layout: Array, out: Array) -> None:
    """Set out[i, v] to the number of entries of item i with level v; the last column is for no value."""
    time_bits, mask, bank = layout[0], layout[1], layout[2]
    run, begin, end, word = postings.run, postings.begin, postings.end, postings.word
    for item in range(len(run) - 1):
        for j in range(run[item], run[item + 1]):
            for p in range(begin[j], end[j]):
                kind = (np.int64(word[p]) >> time_bits) & mask
                out[item, kind if kind < bank else kind - bank] += 1


@kernel
def _fill_date_bits(postings: Postings, layout: Array, items: Array, reach: Int, table: Array, out: Array) -> None:
    """Set out[k] to the bits that a time adds for items[k]."""
    time_bits, mask, bank = layout[0], layout[1], layout[2]
    start, run, begin, end, word = postings.start, postings.run, postings.begin, postings.end, postings.word
    for k in range(len(items)):
        times, n = np.empty(start[items[k] + 1] - start[items[k]], np.int64), 0
        for j in range(run[items[k]], run[items[k] + 1]):
            for p in range(begin[j], end[j]):
                posting = np.int64(word[p])
                if ((posting >> time_bits) & mask) < bank:
                    times[n] = posting & ((1 << time_bits) - 1)
                    n += 1
        times = np.sort(times[:n])
        total, low, high, at = 0.0, 0, 0, 0
        while at < n:
            last = at
            while last < n and times[last] == times[at]:
                last += 1
            while times[low] < times[at] - reach:
                low += 1
            while high < n and times[high] <= times[at] + reach:
                high += 1
            total += (last - at) * _bits(table, n - 1, high - low - 1)
            at = last
        out[k] = total / max(n, 1)


@subroutine
def _bits(table: Array, n: Int, k: Int) -> Real:
    return (table[n] - table[k]) / np.log(2.0)


# Sampling error of each kind of statistic: two standard errors.


STANDARD_ERRORS = 2


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


# What several published statistics need to know about a release, computed once.


Verdict = Literal["met", "near", "missed"]
FULL = 0.99
"""A release with at least this share of the published number of people has the full size."""
MINIMUM_RATINGS = 50
"""Ratings that a film is expected to have before it is compared."""
NEAR = 2
"""A published number is met within one tolerance, and near within this number of tolerances."""
ROUNDING = 1 + 1e-9


class Statistic(NamedTuple):
    """A published number, and the same number measured on a release.

    >>> [Statistic("lengths", "median", 96, measured, tolerance=2).verdict for measured in (97, 93, 90)]
    ['met', 'near', 'missed']
    """

    group: str
    statistic: str
    published: float
    measured: float
    tolerance: float

    @property
    def verdict(self) -> Verdict:
        """met: within the tolerance; near: within twice the tolerance; otherwise missed."""
        difference, tolerance = abs(self.measured - self.published), ROUNDING * self.tolerance
        return "met" if difference <= tolerance else "near" if difference <= NEAR * tolerance else "missed"


@dataclass(frozen=True, eq=False)
class Survey:
    """A release and its counts; arrays are empty if it has no values or no times."""

    release: Release
    progress: Progress

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
    def people(self) -> PersonStatistics:
        """Statistics of each person."""
        return person_statistics(self.release, self.reaches, self.progress)

    @cached_property
    def item_levels(self) -> Ints:
        """Number of ratings of each level, for each film."""
        return item_levels(self.release)

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
        counts = self.people.levels
        counts = counts[counts.sum(axis=1) > 0]
        n = counts.sum(axis=1)
        mean = elementary.weighted_sum(counts, self.levels) / n
        square = elementary.weighted_sum(counts, self.levels**2) / n
        two = n > 1
        spread = np.maximum(square - mean**2, 0)[two] * n[two] / (n[two] - 1)
        return mean, np.sqrt(spread)

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
