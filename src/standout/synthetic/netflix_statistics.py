"""The published statistics of the Netflix Prize data, one by one, beside what a release has.

Each function yields the rows of one group. A tolerance is what is stated here, and what chance adds for as
many people as the release has; of a small share it is at most a
part of the share itself.
"""

import math
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.progress import Progress
from standout.release.describe import outside_top
from standout.similarity.attributes import Equal, Present, Similarity
from standout.synthetic.marginals import date_bits, near_bits
from standout.synthetic.published_statistics import netflix
from standout.synthetic.sampling_error import mean_error, quantile_error, sd_error, share_error, top_share
from standout.synthetic.survey import LEAST, Statistic, Survey, numbers
from standout.theory.sparsity import sparsity

__all__ = ["GROUPS", "POPULAR", "RARE", "nearest_neighbours"]

Rows = Iterator[Statistic]
POPULAR, RARE = (1, 100), (5_000, 10_000)
"""The popularity ranks of the films for which it is told what a rating and a date add."""
VALUE, TIME = 1, 14  # a rating ± 1, a date ± 14 days
WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
EPOCH = date(1970, 1, 1)


def sizes(survey: Survey) -> Rows:
    """Totals; at the full size only."""
    if survey.full:
        told, release = netflix()["sizes"], survey.release
        yield Statistic("sizes", "people", told["records"], release.n_records, 0)
        yield Statistic("sizes", "films", told["items"], release.n_items, 0)
        yield Statistic("sizes", "ratings", told["entries"], release.n_entries, 0)


def ratings(survey: Survey) -> Rows:
    """The shares of 1 to 5, their mean and deviation."""
    if not survey.has_values:
        return
    group, told, counts = "ratings", netflix()["ratings"], survey.item_levels.sum(axis=0)
    shares, between = counts / counts.sum(), float(survey.person_means[0].std())
    mean = float((shares * survey.levels).sum())
    sd = math.sqrt(float((shares * (survey.levels - mean) ** 2).sum()))
    alike = (between / sd) ** 2 if sd else 1.0  # what of their variance is the person's
    for star, target in enumerate(told["shares"], 1):
        found = float(shares[survey.levels == star].sum())
        room = 0.003 + survey.ratings_error(target, alike)
        yield Statistic(group, f"share of {star}", target, found, room)
    room = 0.01 + 2 * between / math.sqrt(survey.independent)
    yield Statistic(group, "mean", told["mean"], mean, room)
    yield Statistic(group, "standard deviation", told["sd"], sd, room)


def lengths(survey: Survey) -> Rows:
    """How many ratings people have; the extremes at the full size only."""
    group, told = "ratings of a person", netflix()["lengths"]
    n = survey.release.lengths.astype(np.float64)
    yield Statistic(group, "mean", told["mean"], float(n.mean()), 0.005 * told["mean"] + mean_error(n))
    room = 0.03 * told["sd"] + sd_error(n)
    yield Statistic(group, "standard deviation", told["sd"], float(n.std()), room)
    yield from _quantiles(group, told, "q", n, 0.02)
    if survey.full:
        yield Statistic(group, "fewest", told["min"], float(n.min()), 0)
        yield Statistic(group, "most", told["max"], float(n.max()), 0.1 * told["max"])
    for name, words, there in (("one", "with 1", n == 1), ("below_10", "with fewer than 10", n < 10)):
        target = told[name] / netflix()["sizes"]["records"]
        room = 0.1 * target + share_error(target, len(n))
        yield Statistic(group, f"share of people {words}", target, float(there.mean()), room)
    for percent in numbers(told, "top_"):
        found, chance = top_share(n, percent / 100)
        words = f"share of the most active {percent} %"
        yield Statistic(group, words, told[f"top_{percent}"], found, 0.01 + chance)


def person_means(survey: Survey) -> Rows:
    """How people rate: mean and deviation over people, and the deviation within them."""
    if not survey.has_values:
        return
    group, told, (mean, within) = "a person's mean rating", netflix()["people"], survey.person_means
    yield Statistic(group, "mean", told["mean"], float(mean.mean()), 0.02 + mean_error(mean))
    yield Statistic(group, "standard deviation", told["sd"], float(mean.std()), 0.02 + sd_error(mean))
    if len(within):
        words, room = "deviation within a person, mean", 0.02 + mean_error(within)
        yield Statistic(group, words, told["within"], float(within.mean()), room)


def supports(survey: Survey) -> Rows:
    """How many people have a film: quantiles over films as shares of people, and what the top has."""
    group, told, size = "ratings of a film", netflix()["support"], netflix()["sizes"]["records"]
    support, n = survey.support, survey.release.n_records
    for percent in numbers(told, "q"):
        target = told[f"q{percent}"] / size
        if target * n >= LEAST:
            found = float(np.quantile(support, percent / 100)) / n
            words = f"{_quantile(percent)}, share of people"
            yield Statistic(group, words, target, found, 0.05 * target + 0.5 / n)
    target = told["max"] / size
    room = 0.05 * target + share_error(target, n)
    yield Statistic(group, "most, share of people", target, float(support[0]) / n, room)
    if survey.full:
        yield Statistic(group, "fewest", told["min"], float(survey.release.support.min()), 2)
    target = told["sd"] / told["mean"]
    found = float(support.std() / support.mean())
    yield Statistic(group, "standard deviation ÷ mean", target, found, 0.03 * target)
    for top in numbers(told, "top_"):
        target = told[f"top_{top}"]
        found = float(support[:top].sum() / support.sum())
        room = 0.01 + survey.ratings_error(target)
        yield Statistic(group, f"share of the {top:,} most rated", target, found, room)


def by_rank(survey: Survey) -> Rows:
    """Supports by popularity rank, in bits; and how far off those of all ranks are that can be compared."""
    group, told, n = "support by rank", netflix()["bits"], survey.release.n_records
    expected = survey.expected[survey.expected >= LEAST]
    support = np.maximum(survey.support, 0.5)  # what nobody has is far off, not infinitely so
    for rank, target in zip(told["ranks"], told["film"], strict=True):
        if rank <= len(expected):
            share = 2.0**-target  # about as many films as the rank are about as popular
            room = 0.1 + share_error(share, n) / share / math.log(2) / math.sqrt(rank)
            found = -math.log2(support[rank - 1] / n)
            yield Statistic(group, f"bits of the film of rank {rank:,}", target, found, room)
    if len(expected):
        off = np.abs(elementary.log(support[: len(expected)] / expected))
        words = f"|ln ratio|, ranks 1 to {len(expected):,}"
        yield Statistic(group, f"mean {words}", 0.0, float(off.mean()), 0.05)
        yield Statistic(group, f"largest {words}", 0.0, float(off.max()), 0.2)


def film_means(survey: Survey) -> Rows:
    """Mean ratings of films, each film counted once.

    Where there are fewer people a film has fewer ratings, and its mean is that much noisier: the noise that
    the full size would not have is taken out of the deviation, and out of the correlation.
    """
    if not survey.has_values or netflix()["support"]["q50"] * survey.scale < LEAST:
        return
    group, told = "a film's mean rating", netflix()["films"]
    rated = survey.item_levels.sum(axis=1) > 0
    counts, popular = survey.item_levels[rated], survey.release.support[rated]
    n = counts.sum(axis=1)
    mean = elementary.weighted_sum(counts, survey.levels) / n
    off = elementary.weighted_sum(counts, survey.levels**2) - n * mean**2
    inside = float(off.sum() / max(int((n - 1).sum()), 1))
    noise = inside * float((1 / n).mean()) * max(1 - survey.scale, 0)
    sd = math.sqrt(max(float(mean.var()) - noise, 0))
    together = _spearman(mean, popular) * float(mean.std()) / sd if sd else 0.0
    yield Statistic(group, "mean", told["mean"], float(mean.mean()), 0.03)
    yield Statistic(group, "standard deviation", told["sd"], sd, 0.03)
    yield Statistic(group, "Spearman with popularity", told["with_popularity"], together, 0.03)


def outside(survey: Survey) -> Rows:
    """The table of the paper's appendix."""
    told = netflix()["outside"]
    for top, shares in outside_top(survey.release).items():
        for (least, found), target in zip(shares.items(), told[f"top_{top}"], strict=True):
            words, room = (
                f"≥ {least} films outside the top {top:,}",
                0.02 + share_error(target, survey.release.n_records),
            )
            yield Statistic("films outside the most rated", words, target, found, room)


def dates(survey: Survey) -> Rows:
    """Ratings by year, quarter and weekday, and the bits of a date; the extremes at the full size only."""
    clock = survey.release.clock
    if clock is None or not survey.has_times:
        return
    group, told, days = "dates of ratings", netflix()["dates"], survey.days
    if survey.full:
        end, last = f"days before {told['last']}", (told["last"] - EPOCH).days
        first = (told["last"] - told["first"]).days
        yield Statistic(group, f"first, {end}", first, last - clock.origin, 7)
        yield Statistic(group, f"last, {end}", 0, last - clock.origin - len(days) + 1, 1)
    shares = days / days.sum()
    for words, target, there, alike in _parts(np.arange(clock.origin, clock.origin + len(days))):
        room = _capped(target, 0.005, 0.2) + survey.ratings_error(target, survey.within(alike))
        yield Statistic(group, words, target, float(shares[there].sum()), room)
    for reach in numbers(told, "bits_"):
        bits = _window_bits(days, reach)
        found = float((shares * bits).sum())
        room = 0.05 + 2 * math.sqrt(float((shares * (bits - found) ** 2).sum()) / survey.independent)
        yield Statistic(group, f"bits of a date ± {reach} days", told[f"bits_{reach}"], found, room)


def _parts(day: Ints) -> Iterator[tuple[str, float, NDArray[np.bool_], int]]:
    """Parts of the calendar: in words, the share published, which days, and within how many two share it."""
    told, calendar = netflix()["dates"], day.astype("datetime64[D]")
    year = calendar.astype("datetime64[Y]").astype(np.int64) + EPOCH.year
    quarter = calendar.astype("datetime64[M]").astype(np.int64) % 12 // 3
    weekday = (day + EPOCH.weekday()) % 7
    for named, target in enumerate(told["years"], told["last"].year - len(told["years"]) + 1):
        yield str(named), target, year == named, 365
    for named in numbers(told, "quarters_"):
        for i, target in enumerate(told[f"quarters_{named}"]):
            yield f"{named}, quarter {i + 1}", target, (year == named) & (quarter == i), 90
    for i, target in enumerate(told["weekdays"]):
        yield WEEK[i], target, weekday == i, 0


def joined(survey: Survey) -> Rows:
    """When people's ratings begin and end, over people."""
    clock = survey.release.clock
    if clock is None or not survey.has_times:
        return
    told, end = netflix()["joined"], netflix()["dates"]["last"]
    group = f"first, last: days before {end}"
    there = survey.people.timed > 0
    ends = {"first": survey.people.first[there], "last": survey.people.last[there]}
    for name, codes in ends.items():
        for percent in numbers(told, f"{name}_q"):
            target = (end - told[f"{name}_q{percent}"]).days
            found = (end - EPOCH).days - clock.origin - float(np.quantile(codes, percent / 100))
            room = max(7, 0.05 * target) + quantile_error(codes, percent / 100)
            yield Statistic(group, f"{name}, {_quantile(percent)}", target, found, room)
    group = "days from first to last rating"
    span = (ends["last"] - ends["first"]).astype(np.float64)
    room = 0.05 * told["span_mean"] + mean_error(span)
    yield Statistic(group, "mean", told["span_mean"], float(span.mean()), room)
    yield from _quantiles(group, told, "span_q", span, 0.05)


def bursts(survey: Survey) -> Rows:
    """How often two ratings of a person lie close together: over all pairs of each, a mean over people."""
    if not survey.has_times:
        return
    group, told, timed = "two ratings of a person", netflix()["bursts"], survey.people.timed
    column = survey.reaches.tolist().index
    (reach,) = numbers(told, "within_")
    parts = [(days, 2, math.inf, target) for days, target in zip(told["days"], told["within"], strict=True)]
    limits = zip(told["sizes"], [*told["sizes"][1:], math.inf], told[f"within_{reach}"], strict=True)
    parts += [(reach, low, high, target) for low, high, target in limits]
    for days, low, high, target in parts:
        found = survey.people.near[(timed >= low) & (timed < high), column(days)]
        if len(found) > 1:
            words = f"within {days} days" if days else "on the same day"
            if days == reach:
                words += f", people with {f'{low:,} to {high - 1:,}' if high < math.inf else f'≥ {low:,}'}"
            yield Statistic(group, words, target, float(found.mean()), 0.03 + mean_error(found))


def added(survey: Survey) -> Rows:
    """What a rating and a date add to the bits of a film: means over films, each counted once."""
    group, told, order = "bits added to a film's", netflix()["bits"], np.argsort(survey.release.rank)
    near = np.abs(survey.levels[:, None] - survey.levels) <= VALUE
    for name, (low, high) in (("popular", POPULAR), ("rare", RARE)):
        if high > survey.release.n_items or survey.expected[(low + high) // 2 - 1] < LEAST:
            continue
        items, ranks = order[low - 1 : high], f"ranks {low:,} to {high:,}"
        if survey.has_values:
            found = float(near_bits(survey.item_levels[items], near).mean())
            yield Statistic(group, f"rating ± {VALUE}, {ranks}", told[f"rating_{name}"], found, 0.05)
        if survey.has_times:
            found = float(date_bits(survey.release, items, TIME).mean())
            yield Statistic(group, f"date ± {TIME} days, {ranks}", told[f"date_{name}"], found, 0.2)


GROUPS = (
    sizes, ratings, lengths, person_means, supports, by_rank, film_means, outside, dates, joined, bursts,
    added,
)  # fmt: skip
"""Everything but the nearest neighbours, which take longer."""


def nearest_neighbours(
    survey: Survey, sample: int, seed: int, threads: int | None, progress: Progress
) -> Rows:
    """How similar the nearest neighbours of some people are, among all others of the release."""
    told = netflix()["nearest"]
    kinds: list[tuple[str, str, Similarity]] = [("sets", "films in common", Present())]
    if survey.has_values:
        kinds.append(("ratings", "equal ratings", Equal()))
    for name, words, kind in kinds:
        found = sparsity(survey.release, kind, sample=sample, seed=seed, threads=threads, progress=progress)
        for similarity, target in zip(told["similarity"], told[name], strict=True):
            share = found.survival(similarity)
            room = _capped(target, 0.05, 0.25) + share_error(target, share.n)
            yield Statistic("nearest neighbour", f"{words} ≥ {similarity:.2f}", target, share.value, room)


def _quantiles(group: str, told: dict[str, Any], prefix: str, found: Floats, share: float) -> Rows:
    """The quantiles of which the section tells."""
    for percent in numbers(told, prefix):
        target, at = told[f"{prefix}{percent}"], percent / 100
        room = share * target + quantile_error(found, at)
        yield Statistic(group, _quantile(percent), target, float(np.quantile(found, at)), room)


def _quantile(percent: int) -> str:
    return "median" if percent == 50 else f"{percent} % quantile"


def _capped(target: float, tolerance: float, share: float) -> float:
    """The tolerance, at most such a share of the target."""
    return min(tolerance, share * target)


def _window_bits(days: Ints, reach: int) -> Floats:
    """For each day −log2 of the share of entries within so many days of it; 0 for a day without any."""
    below, at = np.append(0, np.cumsum(days)), np.arange(len(days))
    near = below[np.minimum(at + reach + 1, len(days))] - below[np.maximum(at - reach, 0)]
    return np.where(days > 0, -elementary.log2(np.maximum(near, 1) / days.sum()), 0.0)


def _spearman(a: NDArray[Any], b: NDArray[Any]) -> float:
    """The correlation of ranks; 0 where one of the two is always the same."""
    ranks = np.array([_ranks(a), _ranks(b)])
    return float(np.corrcoef(ranks)[0, 1]) if (ranks.std(axis=1) > 0).all() else 0.0


def _ranks(values: NDArray[Any]) -> Floats:
    """Ranks from the smallest up; equals share theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[which])
