"""The published statistics of the Netflix Prize data, one by one, compared with a release.

Each function yields the statistics of one group. A tolerance is the sum of a stated number and the sampling
error for the release's number of people. For a small share, the stated number is at most a part of the share
itself.
"""

import math
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints, mean_ranks
from standout.core.progress import Progress
from standout.data.describe import outside_top
from standout.know.similarity import Equal, Present, Similarity
from standout.measure.sparsity import sparsity
from standout.paper.marginals import (
    MINIMUM_RATINGS,
    Statistic,
    Survey,
    date_bits,
    mean_error,
    near_bits,
    numbers_after,
    quantile_error,
    sd_error,
    share_error,
    top_share,
)
from standout.paper.published_statistics import published

__all__ = ["GROUPS", "POPULAR", "RARE", "nearest_neighbours"]

Statistics = Iterator[Statistic]
POPULAR, RARE = (1, 100), (5_000, 10_000)
"""Popularity ranks of the films for which the paper says what a rating and a date add."""
VALUE_ERROR, TIME_ERROR = 1, 14
WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
EPOCH = date(1970, 1, 1)


def sizes(survey: Survey) -> Statistics:
    """Totals, only at the full size."""
    if survey.has_full_size:
        section, release = published()["sizes"], survey.release
        yield Statistic("sizes", "people", section["records"], release.n_records, 0)
        yield Statistic("sizes", "films", section["items"], release.n_items, 0)
        yield Statistic("sizes", "ratings", section["entries"], release.n_entries, 0)


def ratings(survey: Survey) -> Statistics:
    """Shares of the ratings 1 to 5, their mean and deviation."""
    if not survey.has_values:
        return
    group, section, counts = "ratings", published()["ratings"], survey.item_levels.sum(axis=0)
    shares, between = counts / counts.sum(), float(survey.person_means[0].std())
    mean = float((shares * survey.levels).sum())
    sd = math.sqrt(float((shares * (survey.levels - mean) ** 2).sum()))
    correlation = (between / sd) ** 2 if sd else 1.0  # the part of the variance between people
    for star, reference in enumerate(section["shares"], 1):
        measured = float(shares[survey.levels == star].sum())
        tolerance = 0.003 + survey.ratings_error(reference, correlation)
        yield Statistic(group, f"share of {star}", reference, measured, tolerance)
    tolerance = 0.01 + 2 * between / math.sqrt(survey.effective_people)
    yield Statistic(group, "mean", section["mean"], mean, tolerance)
    yield Statistic(group, "standard deviation", section["sd"], sd, tolerance)


def lengths(survey: Survey) -> Statistics:
    """Number of ratings of a person; extremes only at the full size."""
    group, section = "ratings of a person", published()["lengths"]
    n = survey.release.lengths.astype(np.float64)
    yield Statistic(group, "mean", section["mean"], float(n.mean()), 0.005 * section["mean"] + mean_error(n))
    tolerance = 0.03 * section["sd"] + sd_error(n)
    yield Statistic(group, "standard deviation", section["sd"], float(n.std()), tolerance)
    yield from _quantiles(group, section, "q", n, 0.02)
    if survey.has_full_size:
        yield Statistic(group, "fewest", section["min"], float(n.min()), 0)
        yield Statistic(group, "most", section["max"], float(n.max()), 0.1 * section["max"])
    for key, condition, is_short in (("one", "with 1", n == 1), ("below_10", "with fewer than 10", n < 10)):
        reference = section[key] / published()["sizes"]["records"]
        tolerance = 0.1 * reference + share_error(reference, len(n))
        yield Statistic(group, f"share of people {condition}", reference, float(is_short.mean()), tolerance)
    for percent in numbers_after("top_", section):
        share, error = top_share(n, percent / 100)
        name = f"share of the most active {percent} %"
        yield Statistic(group, name, section[f"top_{percent}"], share, 0.01 + error)


def person_means(survey: Survey) -> Statistics:
    """Mean rating of a person: mean and deviation over people, and the deviation within a person."""
    if not survey.has_values:
        return
    group, section, (mean, within) = "a person's mean rating", published()["people"], survey.person_means
    yield Statistic(group, "mean", section["mean"], float(mean.mean()), 0.02 + mean_error(mean))
    yield Statistic(group, "standard deviation", section["sd"], float(mean.std()), 0.02 + sd_error(mean))
    if len(within):
        name, tolerance = "deviation within a person, mean", 0.02 + mean_error(within)
        yield Statistic(group, name, section["within"], float(within.mean()), tolerance)


def supports(survey: Survey) -> Statistics:
    """Number of ratings of a film: quantiles as shares of people, and the share of the most rated films."""
    group, section, size = "ratings of a film", published()["support"], published()["sizes"]["records"]
    support, n = survey.support, survey.release.n_records
    for percent in numbers_after("q", section):
        reference = section[f"q{percent}"] / size
        if reference * n >= MINIMUM_RATINGS:
            measured = float(np.quantile(support, percent / 100)) / n
            name = f"{_quantile(percent)}, share of people"
            yield Statistic(group, name, reference, measured, 0.05 * reference + 0.5 / n)
    reference = section["max"] / size
    tolerance = 0.05 * reference + share_error(reference, n)
    yield Statistic(group, "most, share of people", reference, float(support[0]) / n, tolerance)
    if survey.has_full_size:
        yield Statistic(group, "fewest", section["min"], float(survey.release.support.min()), 2)
    reference = section["sd"] / section["mean"]
    measured = float(support.std() / support.mean())
    yield Statistic(group, "standard deviation ÷ mean", reference, measured, 0.03 * reference)
    for top in numbers_after("top_", section):
        reference = section[f"top_{top}"]
        measured = float(support[:top].sum() / support.sum())
        tolerance = 0.01 + survey.ratings_error(reference)
        yield Statistic(group, f"share of the {top:,} most rated", reference, measured, tolerance)


def supports_by_rank(survey: Survey) -> Statistics:
    """Supports by popularity rank in bits, and the differences over all ranks that can be compared."""
    group, section, n = "support by rank", published()["bits"], survey.release.n_records
    expected = survey.expected_support[survey.expected_support >= MINIMUM_RATINGS]
    support = np.maximum(survey.support, 0.5)  # a film without ratings is far off, not infinitely far
    for rank, reference in zip(section["ranks"], section["film"], strict=True):
        if rank <= len(expected):
            share = 2.0**-reference  # the order of similarly popular films is random
            tolerance = 0.1 + share_error(share, n) / share / math.log(2) / math.sqrt(rank)
            measured = -math.log2(support[rank - 1] / n)
            yield Statistic(group, f"bits of the film of rank {rank:,}", reference, measured, tolerance)
    if len(expected):
        ratio = np.abs(elementary.log(support[: len(expected)] / expected))
        name = f"|ln ratio|, ranks 1 to {len(expected):,}"
        yield Statistic(group, f"mean {name}", 0.0, float(ratio.mean()), 0.05)
        yield Statistic(group, f"largest {name}", 0.0, float(ratio.max()), 0.2)


def film_means(survey: Survey) -> Statistics:
    """Mean rating of a film, over films.

    In a smaller release a film has fewer ratings, and its mean is noisier. The additional noise is removed
    from the deviation and from the correlation.
    """
    if not survey.has_values or published()["support"]["q50"] * survey.scale < MINIMUM_RATINGS:
        return
    group, section = "a film's mean rating", published()["films"]
    rated = survey.item_levels.sum(axis=1) > 0
    counts, support = survey.item_levels[rated], survey.release.support[rated]
    n = counts.sum(axis=1)
    mean = elementary.weighted_sum(counts, survey.levels) / n
    squares = elementary.weighted_sum(counts, survey.levels**2) - n * mean**2
    within = float(squares.sum() / max(int((n - 1).sum()), 1))
    noise = within * float((1 / n).mean()) * max(1 - survey.scale, 0)
    sd = math.sqrt(max(float(mean.var()) - noise, 0))
    correlation = _spearman(mean, support) * float(mean.std()) / sd if sd else 0.0
    yield Statistic(group, "mean", section["mean"], float(mean.mean()), 0.03)
    yield Statistic(group, "standard deviation", section["sd"], sd, 0.03)
    yield Statistic(group, "Spearman with popularity", section["with_popularity"], correlation, 0.03)


def films_outside_top(survey: Survey) -> Statistics:
    """The table of the paper's appendix: people with films outside the most rated ones."""
    section = published()["outside"]
    for top, shares in outside_top(survey.release).items():
        for (least, measured), reference in zip(shares.items(), section[f"top_{top}"], strict=True):
            name = f"≥ {least} films outside the top {top:,}"
            tolerance = 0.02 + share_error(reference, survey.release.n_records)
            yield Statistic("films outside the most rated", name, reference, measured, tolerance)


def dates(survey: Survey) -> Statistics:
    """Ratings by year, quarter and weekday, and the bits of a date; extremes only at the full size."""
    clock = survey.release.clock
    if clock is None or not survey.has_times:
        return
    group, section, days = "dates of ratings", published()["dates"], survey.days
    if survey.has_full_size:
        end, last = f"days before {section['last']}", (section["last"] - EPOCH).days
        first = (section["last"] - section["first"]).days
        yield Statistic(group, f"first, {end}", first, last - clock.origin, 7)
        yield Statistic(group, f"last, {end}", 0, last - clock.origin - len(days) + 1, 1)
    shares = days / days.sum()
    for name, reference, is_part, length in _parts_of_calendar(np.arange(clock.origin, clock.origin + len(days))):
        tolerance = _capped(reference, 0.005, 0.2) + survey.ratings_error(
            reference, survey.share_of_pairs_within(length)
        )
        yield Statistic(group, name, reference, float(shares[is_part].sum()), tolerance)
    for reach in numbers_after("bits_", section):
        bits = _window_bits(days, reach)
        measured = float((shares * bits).sum())
        tolerance = 0.05 + 2 * math.sqrt(float((shares * (bits - measured) ** 2).sum()) / survey.effective_people)
        yield Statistic(group, f"bits of a date ± {reach} days", section[f"bits_{reach}"], measured, tolerance)


def _parts_of_calendar(day: Ints) -> Iterator[tuple[str, float, Bools, int]]:
    """Parts of the calendar: name, published share, which days belong to it, and its length in days."""
    section, calendar = published()["dates"], day.astype("datetime64[D]")
    year = calendar.astype("datetime64[Y]").astype(np.int64) + EPOCH.year
    quarter = calendar.astype("datetime64[M]").astype(np.int64) % 12 // 3
    weekday = (day + EPOCH.weekday()) % 7
    for number, reference in enumerate(section["years"], section["last"].year - len(section["years"]) + 1):
        yield str(number), reference, year == number, 365
    for number in numbers_after("quarters_", section):
        for i, reference in enumerate(section[f"quarters_{number}"]):
            yield f"{number}, quarter {i + 1}", reference, (year == number) & (quarter == i), 90
    for i, reference in enumerate(section["weekdays"]):
        yield WEEK[i], reference, weekday == i, 0


def first_and_last_days(survey: Survey) -> Statistics:
    """First and last days of people's ratings."""
    clock = survey.release.clock
    if clock is None or not survey.has_times:
        return
    section, end = published()["joined"], published()["dates"]["last"]
    group = f"first, last: days before {end}"
    has_times = survey.people.timed > 0
    ends = {"first": survey.people.first[has_times], "last": survey.people.last[has_times]}
    for name, codes in ends.items():
        for percent in numbers_after(f"{name}_q", section):
            reference = (end - section[f"{name}_q{percent}"]).days
            measured = (end - EPOCH).days - clock.origin - float(np.quantile(codes, percent / 100))
            tolerance = max(7, 0.05 * reference) + quantile_error(codes, percent / 100)
            yield Statistic(group, f"{name}, {_quantile(percent)}", reference, measured, tolerance)
    group = "days from first to last rating"
    span = (ends["last"] - ends["first"]).astype(np.float64)
    tolerance = 0.05 * section["span_mean"] + mean_error(span)
    yield Statistic(group, "mean", section["span_mean"], float(span.mean()), tolerance)
    yield from _quantiles(group, section, "span_q", span, 0.05)


def bursts(survey: Survey) -> Statistics:
    """How close two ratings of a person are: share of all pairs of a person, mean over people."""
    if not survey.has_times:
        return
    group, section, timed = "two ratings of a person", published()["bursts"], survey.people.timed
    column = survey.reaches.tolist().index
    (reach,) = numbers_after("within_", section)
    parts = [(days, 2, math.inf, reference) for days, reference in zip(section["days"], section["within"], strict=True)]
    limits = zip(section["sizes"], [*section["sizes"][1:], math.inf], section[f"within_{reach}"], strict=True)
    parts += [(reach, low, high, reference) for low, high, reference in limits]
    for days, low, high, reference in parts:
        near = survey.people.near[(timed >= low) & (timed < high), column(days)]
        if len(near) > 1:
            name = f"within {days} days" if days else "on the same day"
            if days == reach:
                name += f", people with {f'{low:,} to {high - 1:,}' if high < math.inf else f'≥ {low:,}'}"
            yield Statistic(group, name, reference, float(near.mean()), 0.03 + mean_error(near))


def added_bits(survey: Survey) -> Statistics:
    """Bits that a rating and a date add to those of a film, mean over films."""
    group, section, order = ("bits added to those of a film", published()["bits"], np.argsort(survey.release.rank))
    near = np.abs(survey.levels[:, None] - survey.levels) <= VALUE_ERROR
    for name, (low, high) in (("popular", POPULAR), ("rare", RARE)):
        if high > survey.release.n_items or survey.expected_support[(low + high) // 2 - 1] < MINIMUM_RATINGS:
            continue
        items, ranks = order[low - 1 : high], f"ranks {low:,} to {high:,}"
        if survey.has_values:
            measured = float(near_bits(survey.item_levels[items], near).mean())
            yield Statistic(group, f"rating ± {VALUE_ERROR}, {ranks}", section[f"rating_{name}"], measured, 0.05)
        if survey.has_times:
            measured = float(date_bits(survey.release, items, TIME_ERROR).mean())
            yield Statistic(group, f"date ± {TIME_ERROR} days, {ranks}", section[f"date_{name}"], measured, 0.2)


GROUPS = (
    sizes,
    ratings,
    lengths,
    person_means,
    supports,
    supports_by_rank,
    film_means,
    films_outside_top,
    dates,
    first_and_last_days,
    bursts,
    added_bits,
)
"""All groups except the nearest neighbours, which take longer."""


def nearest_neighbours(survey: Survey, sample: int, seed: int, threads: int | None, progress: Progress) -> Statistics:
    """Similarity of the nearest neighbours of a sample of people, searched among all records."""
    section = published()["nearest"]
    kinds: list[tuple[str, str, Similarity]] = [("sets", "films in common", Present())]
    if survey.has_values:
        kinds.append(("ratings", "equal ratings", Equal()))
    for key, name, kind in kinds:
        neighbours = sparsity(survey.release, kind, sample=sample, seed=seed, threads=threads, progress=progress)
        for similarity, reference in zip(section["similarity"], section[key], strict=True):
            share = neighbours.survival(similarity)
            tolerance = _capped(reference, 0.05, 0.25) + share_error(reference, share.n)
            statistic = f"{name} ≥ {similarity:.2f}"
            yield Statistic("nearest neighbour", statistic, reference, share.value, tolerance)


def _quantiles(group: str, section: dict[str, Any], prefix: str, values: Floats, share: float) -> Statistics:
    """The quantiles in a section of the published numbers."""
    for percent in numbers_after(prefix, section):
        reference, at = section[f"{prefix}{percent}"], percent / 100
        tolerance = share * reference + quantile_error(values, at)
        yield Statistic(group, _quantile(percent), reference, float(np.quantile(values, at)), tolerance)


def _quantile(percent: int) -> str:
    return "median" if percent == 50 else f"{percent} % quantile"


def _capped(published_share: float, tolerance: float, part: float) -> float:
    """The tolerance, at most a part of the published share."""
    return min(tolerance, part * published_share)


def _window_bits(days: Ints, reach: int) -> Floats:
    """For each day, −log2 of the share of entries within `reach` days; 0 for a day without entries."""
    below, day = np.append(0, np.cumsum(days)), np.arange(len(days))
    near = below[np.minimum(day + reach + 1, len(days))] - below[np.maximum(day - reach, 0)]
    return np.where(days > 0, -elementary.log2(np.maximum(near, 1) / days.sum()), 0.0)


def _spearman(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Spearman's rank correlation; 0 if one of the two is constant."""
    ranks = np.array([mean_ranks(a), mean_ranks(b)])
    return float(np.corrcoef(ranks)[0, 1]) if (ranks.std(axis=1) > 0).all() else 0.0
