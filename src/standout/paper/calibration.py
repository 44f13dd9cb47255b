"""`so.calibration`: how well a release agrees with the published statistics of the Netflix Prize data.

Numbers that depend on the number of people are scaled: supports and counts of people are compared as shares
of people. Some numbers cannot be compared and are skipped: totals and extremes (of lengths, supports and
dates) if the release does not have the full size, and statistics of films that are expected to have fewer
than 50 ratings. The deviation of films' mean ratings, and its correlation with popularity, are corrected for
the noise of fewer ratings. Nearest neighbours are compared at any size, although they are farther away in
smaller releases: the paper does not state among how many people they were searched.

A tolerance is the sum of a stated number and the sampling error for the release's number of people. For a
small share, the stated number is at most a part of the share itself.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import digamma

from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints, mean_ranks
from standout.core.errors import ParameterError, whole_number
from standout.core.jit import Array, Int, kernel
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.data.build import count_codes
from standout.data.describe import outside_top
from standout.data.entries import record_pieces, unpack_item
from standout.data.release import Release
from standout.evaluate.simulation import TableResult
from standout.know.similarity import Equal, Present, Similarity
from standout.measure.sparsity import sparsity
from standout.paper.published import published, published_support

Verdict = Literal["met", "near", "missed"]
MINIMUM_RECORDS = 1_000
MINIMUM_RATINGS = 50
"""Ratings that a film is expected to have before it is compared."""
FULL = 0.99
"""A release with at least this share of the published number of people has the full size."""
POPULAR, RARE = (1, 100), (5_000, 10_000)
"""Popularity ranks of the films for which the paper says what a rating and a date add."""
VALUE_ERROR, TIME_ERROR = 1, 14
WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
EPOCH = date(1970, 1, 1)
REACHES = (0, 6, 14, 30, 90, 365)
"""Reaches in days for pairs of a person's ratings, one for each column of `PersonTimes.near`."""


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
        difference, tolerance = abs(self.measured - self.published), (1 + 1e-9) * self.tolerance
        return "met" if difference <= tolerance else "near" if difference <= 2 * tolerance else "missed"


@dataclass(frozen=True, eq=False)
class Calibration(TableResult):
    """A comparison of a release with the published statistics that can be compared."""

    statistics: tuple[Statistic, ...] = field(repr=False)

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row for each statistic: group, statistic, published, measured, tolerance, verdict."""
        rows = [(*statistic, statistic.verdict) for statistic in self.statistics]
        numbers = dict.fromkeys(("published", "measured", "tolerance"), pl.Float64)
        schema = {"group": pl.String, "statistic": pl.String, **numbers, "verdict": pl.String}
        return pl.DataFrame(rows, schema=schema, orient="row")

    @property
    def verdicts(self) -> dict[str, int]:
        """Number of statistics that are met, near and missed."""
        counts = Counter(statistic.verdict for statistic in self.statistics)
        return {verdict: counts[verdict] for verdict in get_args(Verdict)}

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self.verdicts.items())
        return f"{len(self.statistics)} published statistics: {counts}"


@with_progress
def calibration(
    release: Release,
    *,
    nearest: int = 2_000,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> Calibration:
    """Compare a release with the published statistics of the Netflix Prize data.

    Parameters
    ----------
    release
        A release with at least 1,000 records, ratings from 1 to 5, and days. Without ratings or without
        dates, only the other statistics are compared.
    nearest
        Number of records, drawn at random, whose nearest neighbours are searched among all records; 0: none.

    Examples
    --------
    >>> import standout as so
    >>> print(so.calibration(so.synthesize(records=1_000, items=2_000, seed=1), nearest=0))
    88 published statistics: ... met, ... near, ... missed
    """
    nearest, seed = whole_number("nearest", nearest, 0), check_seed(seed)
    check_records(release.n_records)
    if release.levels is not None and not set(release.levels) <= {1, 2, 3, 4, 5}:
        raise ParameterError("calibration needs ratings from 1 to 5; the release has other values")
    if release.clock is not None and release.clock.unit != "day":
        raise ParameterError(f"calibration needs times in days; the release has times by {release.clock.unit}")
    survey = Survey(release.check(), progress)
    statistics = [Statistic(name, *row) for name, group in GROUPS.items() for row in group(survey)]
    if nearest:
        rows = _nearest_neighbours(survey, nearest, seed, threads, progress)
        statistics += [Statistic("nearest neighbour", *row) for row in rows]
    return Calibration(tuple(statistics))


def check_records(records: int) -> None:
    """Raise an error if there are too few records to compare."""
    if records < MINIMUM_RECORDS:
        raise ParameterError(f"calibration needs at least {MINIMUM_RECORDS:,} records, got {records:,}")


# Sampling errors: two standard errors each.


def share_error(share: float, n: float) -> float:
    """Sampling error of a share of n people.

    >>> share_error(0.5, 10_000)
    0.01
    """
    return 2 * math.sqrt(share * (1 - share) / n)


def mean_error(values: NDArray[Any]) -> float:
    """Sampling error of the mean of these values."""
    return 2 * float(values.std()) / math.sqrt(len(values))


def sd_error(values: NDArray[Any]) -> float:
    """Sampling error of the standard deviation of these values: √((m₄ − s⁴) / 4 s² n)."""
    square = (values - values.mean()) ** 2
    variance = float(square.mean())
    return float(square.std()) / math.sqrt(variance * len(values)) if variance else 0.0


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
    influence = np.maximum(sizes - falling[top - 1], 0) - share * sizes  # of each person, up to a constant
    return share, mean_error(influence) / float(sizes.mean())


# Bits that a value or a time adds to those of an item.
#
# They are the mean, over the entries of the item, of −log2 of the share of its other entries that are as near. They
# are computed as differences of harmonic numbers, (H(n − 1) − H(k)) / ln 2 for k of n − 1 others, which is unbiased for
# items with few entries. The logarithm of a small count would be biased.


def _mean_bits(counts: Ints, near: Ints) -> Floats:
    """Bits for rows of counts; near: the number of entries that are as near as those counted, themselves included."""
    n = np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    bits = digamma(n) - digamma(np.maximum(near, 1))  # the difference of harmonic numbers
    return np.asarray((counts * bits / n).sum(axis=-1) / math.log(2))


def value_bits(counts: Ints, near: Bools) -> Floats:
    """Bits that a value adds for each item; near[a, b] says whether two levels are near each other.

    `counts` has the number of entries with each level, one row for each item.
    """
    return _mean_bits(counts, counts @ near.astype(np.int64))


def date_bits(release: Release, items: Ints, reach: int) -> Floats:
    """Bits that a time known to within `reach` units adds for each of these items."""
    bits = []
    for item in items.tolist():
        time = unpack_item(release.by_item, item, release.n_levels, release.span)[2]
        times, counts = np.unique(time[time < release.span], return_counts=True)
        bits.append(_mean_bits(counts, _near_counts(times, counts, reach)))
    return np.array(bits)


def _near_counts(times: Ints, counts: Ints, reach: int) -> Ints:
    """For each of ascending times, how many entries are within `reach` units of it, itself included."""
    below = np.append(0, np.cumsum(counts))
    low, high = np.searchsorted(times, times - reach), np.searchsorted(times, times + reach, side="right")
    return np.asarray(below[high] - below[low])


# Counts of a release.


class PersonTimes(NamedTuple):
    """Times of each record, one row each."""

    first: Array  # code of its first time; -1 if it has none
    last: Array
    timed: Array  # number of its entries that have a time
    near: Floats  # probability that two of its entries are within each of REACHES; NaN if it has fewer than two times


@kernel
def _fill_times(start: Array, time: Array, span: Int, out: Any) -> None:
    """Fill the times of people whose entries are in the order of their times."""
    first, last, timed, near = out
    for person in range(len(timed)):
        times = time[start[person] : start[person + 1]]
        n = np.searchsorted(times, span)
        timed[person] = n
        if n > 0:
            first[person], last[person] = times[0], times[n - 1]
        for k in range(len(REACHES) if n > 1 else 0):
            pairs, oldest = 0, 0
            for i in range(n):
                while times[i] - times[oldest] > REACHES[k]:
                    oldest += 1
                pairs += i - oldest
            near[person, k] = pairs / (n * (n - 1) / 2)


def codes_of_people(start: Ints, codes: Any, width: int) -> Ints:
    """Code of each entry plus width · person, for people whose entries begin at `start`."""
    return np.asarray(np.repeat(np.arange(len(start) - 1) * width, np.diff(start)) + codes)


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
    def levels(self) -> Floats:
        """The value levels."""
        return np.zeros(0) if self.release.levels is None else np.asarray(self.release.levels, np.float64)

    @cached_property
    def level_counts(self) -> tuple[NDArray[Any], Ints]:
        """Number of ratings of each level, for each person and for each film."""
        n, n_items, width = self.release.n_records, self.release.n_items, self.release.n_levels + 1
        by_person, by_item = np.zeros((n, width), np.int32), np.zeros(n_items * width, np.int64)
        for people, part in record_pieces(self.release.by_record) if width > 1 else ():
            self.progress("looking at people", people.start, n)
            counts = np.bincount(
                codes_of_people(part.start, part.value, width), minlength=(len(part.start) - 1) * width
            )
            by_person[people] = counts.reshape(-1, width)
            by_item += np.bincount(part.item * np.int64(width) + np.asarray(part.value), minlength=len(by_item))
        return by_person[:, :-1], by_item.reshape(-1, width)[:, :-1]

    @cached_property
    def person_means(self) -> tuple[Floats, Floats]:
        """Mean rating of each person with ratings; deviation (n − 1) of each person with at least two."""
        counts = self.level_counts[0]
        counts = counts[counts.sum(axis=1) > 0]
        n = counts.sum(axis=1)
        mean = elementary.weighted_sum(counts, self.levels) / n
        square = elementary.weighted_sum(counts, self.levels**2) / n
        two = n > 1
        return mean, np.sqrt(np.maximum(square - mean**2, 0)[two] * n[two] / (n[two] - 1))

    @cached_property
    def days(self) -> Ints:
        """Number of ratings on each day."""
        time = self.release.by_record.time
        return np.zeros(0, np.int64) if time is None else count_codes(time, self.release.span + 1)[:-1]

    @cached_property
    def people(self) -> PersonTimes:
        """Times of each person; bursts are counted exactly, over all pairs of entries."""
        n, side, span = self.release.n_records, self.release.by_record, self.release.span
        times = PersonTimes(np.full(n, -1), np.full(n, -1), np.zeros(n, np.int64), np.full((n, len(REACHES)), np.nan))
        for people, part in record_pieces(side) if side.time is not None else ():
            self.progress("looking at people", people.start, n)
            moment = np.sort(codes_of_people(part.start, part.time, span + 1)) % (span + 1)
            _fill_times(part.start, moment, span, tuple(column[people] for column in times))
        return times

    @cached_property
    def support(self) -> Ints:
        """Supports in descending order; 0 for films that a small release lacks."""
        falling = np.sort(self.release.support)[::-1]
        return np.pad(falling, (0, max(published()["sizes"]["items"] - len(falling), 0)))

    @cached_property
    def effective_people(self) -> float:
        """Effective sample size for shares of ratings, as lengths differ: (Σ n)² / Σ n²."""
        lengths = self.release.lengths.astype(np.float64)
        return float(lengths.sum() ** 2 / (lengths**2).sum())

    def ratings_error(self, share: float, correlation: float = 1.0) -> float:
        """Sampling error of a share of ratings, given the correlation of two ratings of one person."""
        return share_error(share, self.effective_people / max(correlation, 1e-9))


def _numbers_after(prefix: str, section: dict[str, Any]) -> list[int]:
    """The numbers n for which the section has a name `prefix` + n, in order.

    >>> _numbers_after("q", published()["lengths"])
    [25, 50, 75, 90, 99]
    """
    names = (name.removeprefix(prefix) for name in section if name.startswith(prefix))
    return [int(end) for end in names if end.isdecimal()]


# The statistics, one group after another.


Rows = Iterator[tuple[str, float, float, float]]
"""Name, published number, measured number, tolerance."""


def _sizes(survey: Survey) -> Rows:
    """Totals, only at the full size."""
    if survey.scale >= FULL:
        section, release = published()["sizes"], survey.release
        yield "people", section["records"], release.n_records, 0
        yield "films", section["items"], release.n_items, 0
        yield "ratings", section["entries"], release.n_entries, 0


def _ratings(survey: Survey) -> Rows:
    """Shares of the ratings 1 to 5, their mean and deviation."""
    section, counts = published()["ratings"], survey.level_counts[1].sum(axis=0)
    if not counts.sum():
        return
    shares, between = counts / counts.sum(), float(survey.person_means[0].std())
    mean = float((shares * survey.levels).sum())
    sd = math.sqrt(float((shares * (survey.levels - mean) ** 2).sum()))
    correlation = (between / sd) ** 2 if sd else 1.0  # the part of the variance between people
    for star, reference in enumerate(section["shares"], 1):
        measured = float(shares[survey.levels == star].sum())
        yield f"share of {star}", reference, measured, 0.003 + survey.ratings_error(reference, correlation)
    tolerance = 0.01 + 2 * between / math.sqrt(survey.effective_people)
    yield "mean", section["mean"], mean, tolerance
    yield "standard deviation", section["sd"], sd, tolerance


def _lengths(survey: Survey) -> Rows:
    """Number of ratings of a person; extremes only at the full size."""
    section, n = published()["lengths"], survey.release.lengths.astype(np.float64)
    yield "mean", section["mean"], float(n.mean()), 0.005 * section["mean"] + mean_error(n)
    yield "standard deviation", section["sd"], float(n.std()), 0.03 * section["sd"] + sd_error(n)
    yield from _quantiles(section, "q", n, 0.02)
    if survey.scale >= FULL:
        yield "fewest", section["min"], float(n.min()), 0
        yield "most", section["max"], float(n.max()), 0.1 * section["max"]
    for key, condition, is_short in (("one", "with 1", n == 1), ("below_10", "with fewer than 10", n < 10)):
        reference = section[key] / published()["sizes"]["records"]
        tolerance = 0.1 * reference + share_error(reference, len(n))
        yield f"share of people {condition}", reference, float(is_short.mean()), tolerance
    for percent in _numbers_after("top_", section):
        share, error = top_share(n, percent / 100)
        yield f"share of the most active {percent} %", section[f"top_{percent}"], share, 0.01 + error


def _person_means(survey: Survey) -> Rows:
    """Mean rating of a person: mean and deviation over people, and the deviation within a person."""
    section, (mean, within) = published()["people"], survey.person_means
    if len(mean):
        yield "mean", section["mean"], float(mean.mean()), 0.02 + mean_error(mean)
        yield "standard deviation", section["sd"], float(mean.std()), 0.02 + sd_error(mean)
    if len(within):
        yield "deviation within a person, mean", section["within"], float(within.mean()), 0.02 + mean_error(within)


def _supports(survey: Survey) -> Rows:
    """Number of ratings of a film: quantiles as shares of people, and the share of the most rated films."""
    section, size = published()["support"], published()["sizes"]["records"]
    support, n = survey.support, survey.release.n_records
    for percent in _numbers_after("q", section):
        reference = section[f"q{percent}"] / size
        if reference * n >= MINIMUM_RATINGS:
            measured = float(np.quantile(support, percent / 100)) / n
            yield f"{_quantile(percent)}, share of people", reference, measured, 0.05 * reference + 0.5 / n
    reference = section["max"] / size
    yield "most, share of people", reference, float(support[0]) / n, 0.05 * reference + share_error(reference, n)
    if survey.scale >= FULL:
        yield "fewest", section["min"], float(survey.release.support.min()), 2
    reference = section["sd"] / section["mean"]
    yield "standard deviation ÷ mean", reference, float(support.std() / support.mean()), 0.03 * reference
    for top in _numbers_after("top_", section):
        reference, measured = section[f"top_{top}"], float(support[:top].sum() / support.sum())
        yield f"share of the {top:,} most rated", reference, measured, 0.01 + survey.ratings_error(reference)


def _supports_by_rank(survey: Survey) -> Rows:
    """Supports by popularity rank in bits, and the differences over all ranks that can be compared."""
    section, n = published()["bits"], survey.release.n_records
    expected = published_support() * survey.scale
    expected = expected[expected >= MINIMUM_RATINGS]
    support = np.maximum(survey.support, 0.5)  # a film without ratings is far off, not infinitely far
    for rank, reference in zip(section["ranks"], section["film"], strict=True):
        if rank <= len(expected):
            share = 2.0**-reference  # the order of similarly popular films is random
            tolerance = 0.1 + share_error(share, n) / share / math.log(2) / math.sqrt(rank)
            yield f"bits of the film of rank {rank:,}", reference, -math.log2(support[rank - 1] / n), tolerance
    if len(expected):
        ratio = np.abs(elementary.log(support[: len(expected)] / expected))
        name = f"|ln ratio|, ranks 1 to {len(expected):,}"
        yield f"mean {name}", 0.0, float(ratio.mean()), 0.05
        yield f"largest {name}", 0.0, float(ratio.max()), 0.2


def _film_means(survey: Survey) -> Rows:
    """Mean rating of a film, over films.

    In a smaller release a film has fewer ratings, and its mean is noisier. The additional noise is removed
    from the deviation and from the correlation.
    """
    section, rated = published()["films"], survey.level_counts[1].sum(axis=1) > 0
    if not rated.any() or published()["support"]["q50"] * survey.scale < MINIMUM_RATINGS:
        return
    counts = survey.level_counts[1][rated]
    n = counts.sum(axis=1)
    mean = elementary.weighted_sum(counts, survey.levels) / n
    squares = elementary.weighted_sum(counts, survey.levels**2) - n * mean**2
    within = float(squares.sum() / max(int((n - 1).sum()), 1))
    noise = within * float((1 / n).mean()) * max(1 - survey.scale, 0)
    sd = math.sqrt(max(float(mean.var()) - noise, 0))
    ranks = np.array([mean_ranks(mean), mean_ranks(survey.release.support[rated])])
    spearman = float(np.corrcoef(ranks)[0, 1]) if (ranks.std(axis=1) > 0).all() else 0.0
    correlation = spearman * float(mean.std()) / sd if sd else 0.0
    yield "mean", section["mean"], float(mean.mean()), 0.03
    yield "standard deviation", section["sd"], sd, 0.03
    yield "Spearman with popularity", section["with_popularity"], correlation, 0.03


def _films_outside_top(survey: Survey) -> Rows:
    """The table of the paper's appendix: people with films outside the most rated ones."""
    for top, shares in outside_top(survey.release).items():
        for (least, measured), reference in zip(shares.items(), published()["outside"][f"top_{top}"], strict=True):
            tolerance = 0.02 + share_error(reference, survey.release.n_records)
            yield f"≥ {least} films outside the top {top:,}", reference, measured, tolerance


def _dates(survey: Survey) -> Rows:
    """Ratings by year, quarter and weekday, and the bits of a date; extremes only at the full size."""
    clock, days, section = survey.release.clock, survey.days, published()["dates"]
    if clock is None or not days.sum():
        return
    if survey.scale >= FULL:
        end, last = f"days before {section['last']}", (section["last"] - EPOCH).days
        yield f"first, {end}", (section["last"] - section["first"]).days, last - clock.origin, 7
        yield f"last, {end}", 0, last - clock.origin - len(days) + 1, 1
    shares, people = days / days.sum(), survey.people
    calendar = pl.Series(np.arange(clock.origin, clock.origin + len(days))).cast(pl.Date).dt
    year, quarter, weekday = (getattr(calendar, part)().to_numpy() for part in ("year", "quarter", "weekday"))
    # parts of the calendar: name, published share, which days belong to it, and its length in days
    first_year = section["last"].year - len(section["years"]) + 1
    parts = [(str(n), reference, year == n, 365) for n, reference in enumerate(section["years"], first_year)]
    for n in _numbers_after("quarters_", section):
        for i, reference in enumerate(section[f"quarters_{n}"], 1):
            parts.append((f"{n}, quarter {i}", reference, (year == n) & (quarter == i), 90))
    parts += [(WEEK[i], reference, weekday == i + 1, 0) for i, reference in enumerate(section["weekdays"])]
    for name, reference, is_part, length in parts:
        near = people.near[people.timed > 1, REACHES.index(length)]
        error = survey.ratings_error(reference, float(near.mean()) if len(near) else 1.0)
        yield name, reference, float(shares[is_part].sum()), min(0.005, 0.2 * reference) + error
    for reach in _numbers_after("bits_", section):
        counts = _near_counts(np.arange(len(days)), days, reach)
        bits = np.where(days > 0, -elementary.log2(np.maximum(counts, 1) / days.sum()), 0.0)
        measured = float((shares * bits).sum())
        tolerance = 0.05 + 2 * math.sqrt(float((shares * (bits - measured) ** 2).sum()) / survey.effective_people)
        yield f"bits of a date ± {reach} days", section[f"bits_{reach}"], measured, tolerance


def _first_and_last_days(survey: Survey) -> Rows:
    """First and last days of people's ratings."""
    clock, people = survey.release.clock, survey.people
    section, end = published()["joined"], published()["dates"]["last"]
    if clock is None or not people.timed.any():
        return
    for name, column in (("first", people.first), ("last", people.last)):
        codes = column[people.timed > 0]
        for percent in _numbers_after(f"{name}_q", section):
            reference = (end - section[f"{name}_q{percent}"]).days
            measured = (end - EPOCH).days - clock.origin - float(np.quantile(codes, percent / 100))
            tolerance = max(7, 0.05 * reference) + quantile_error(codes, percent / 100)
            yield f"{name}, {_quantile(percent)}", reference, measured, tolerance


def _spans(survey: Survey) -> Rows:
    """Days from a person's first to the last rating."""
    section, people = published()["joined"], survey.people
    span = (people.last - people.first)[people.timed > 0].astype(np.float64)
    if len(span):
        yield "mean", section["span_mean"], float(span.mean()), 0.05 * section["span_mean"] + mean_error(span)
        yield from _quantiles(section, "span_q", span, 0.05)


def _bursts(survey: Survey) -> Rows:
    """How close two ratings of a person are: share of all pairs of a person, mean over people."""
    section, timed = published()["bursts"], survey.people.timed
    (reach,) = _numbers_after("within_", section)
    parts = [(days, 2, math.inf, reference) for days, reference in zip(section["days"], section["within"], strict=True)]
    limits = zip(section["sizes"], [*section["sizes"][1:], math.inf], section[f"within_{reach}"], strict=True)
    parts += [(reach, low, high, reference) for low, high, reference in limits]
    for days, low, high, reference in parts:
        near = survey.people.near[(timed >= low) & (timed < high), REACHES.index(days)]
        if len(near) > 1:
            name = f"within {days} days" if days else "on the same day"
            if days == reach:
                name += f", people with {f'{low:,} to {high - 1:,}' if high < math.inf else f'≥ {low:,}'}"
            yield name, reference, float(near.mean()), 0.03 + mean_error(near)


def _added_bits(survey: Survey) -> Rows:
    """Bits that a rating and a date add to those of a film, mean over films."""
    section, order = published()["bits"], np.argsort(survey.release.rank)
    near = np.abs(survey.levels[:, None] - survey.levels) <= VALUE_ERROR
    for name, (low, high) in (("popular", POPULAR), ("rare", RARE)):
        middle = published_support()[(low + high) // 2 - 1] * survey.scale
        if high > survey.release.n_items or middle < MINIMUM_RATINGS:
            continue
        items, ranks = order[low - 1 : high], f"ranks {low:,} to {high:,}"
        if survey.level_counts[1].sum():
            measured = float(value_bits(survey.level_counts[1][items], near).mean())
            yield f"rating ± {VALUE_ERROR}, {ranks}", section[f"rating_{name}"], measured, 0.05
        if survey.days.sum():
            measured = float(date_bits(survey.release, items, TIME_ERROR).mean())
            yield f"date ± {TIME_ERROR} days, {ranks}", section[f"date_{name}"], measured, 0.2


GROUPS = {
    "sizes": _sizes,
    "ratings": _ratings,
    "ratings of a person": _lengths,
    "a person's mean rating": _person_means,
    "ratings of a film": _supports,
    "support by rank": _supports_by_rank,
    "a film's mean rating": _film_means,
    "films outside the most rated": _films_outside_top,
    "dates of ratings": _dates,
    f"first, last: days before {published()['dates']['last']}": _first_and_last_days,
    "days from first to last rating": _spans,
    "two ratings of a person": _bursts,
    "bits added to those of a film": _added_bits,
}
"""All groups except the nearest neighbours, which take longer."""


def _nearest_neighbours(survey: Survey, sample: int, seed: int, threads: int | None, progress: Progress) -> Rows:
    """Similarity of the nearest neighbours of a sample of people, searched among all records."""
    section = published()["nearest"]
    kinds: list[tuple[str, str, Similarity]] = [("sets", "films in common", Present())]
    if survey.level_counts[1].sum():
        kinds.append(("ratings", "equal ratings", Equal()))
    for key, name, kind in kinds:
        neighbours = sparsity(survey.release, kind, sample=sample, seed=seed, threads=threads, progress=progress)
        for similarity, reference in zip(section["similarity"], section[key], strict=True):
            share = neighbours.survival(similarity)
            tolerance = min(0.05, 0.25 * reference) + share_error(reference, share.n)
            yield f"{name} ≥ {similarity:.2f}", reference, share.value, tolerance


def _quantiles(section: dict[str, Any], prefix: str, values: Floats, share: float) -> Rows:
    """The quantiles in a section of the published numbers."""
    for percent in _numbers_after(prefix, section):
        reference, at = section[f"{prefix}{percent}"], percent / 100
        tolerance = share * reference + quantile_error(values, at)
        yield _quantile(percent), reference, float(np.quantile(values, at)), tolerance


def _quantile(percent: int) -> str:
    return "median" if percent == 50 else f"{percent} % quantile"
