"""Utility of a sanitized release: what its entries and columns are still good for, compared with the original."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.sparse import csc_array

from standout._version import __version__
from standout.core.arrays import Floats, Ints, mean_ranks
from standout.core.errors import ParameterError, whole_number
from standout.core.jit import Array, Real, kernel, subroutine
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed, generator
from standout.data.entries import distinct_items
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.simulation import TableResult
from standout.know.sanitized import Sanitized
from standout.know.similarity import days_per_unit
from standout.sanitizing.column_utility import ColumnUtility, Prediction, column_measures, counted
from standout.sanitizing.item_steps import DropItems
from standout.sanitizing.recommender import (
    InfluenceEstimate,
    RecommenderBenchmark,
    RecommenderResult,
    calibrated_values,
    entries_of,
    entry_numbers,
    history_matrix,
    hold_out,
    level_numbers,
    root_mean,
)
from standout.sanitizing.step import Step
from standout.sanitizing.steps import parse_steps, sanitize

PEOPLE = 1000


MEASURES = (
    *("kept", "hit_rate", "hit_rate_before", "hit_rate_loss", "kept_hit_rate"),
    *("rmse", "rmse_before", "rmse_increase", "kept_rmse"),
    *("popularity_change", "popularity_correlation", "similarity_change"),
    *("entries_kept", "value_difference", "time_difference"),
    *("information_kept", "cells_kept", "rows_kept", "marginal_change", "largest_marginal_change"),
    *("association_change", "largest_association_change"),
    *("accuracy", "accuracy_before", "accuracy_loss", "kept_accuracy"),
    *("information", "associations", "bits"),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Utility(TableResult):
    """Utility of a sanitized release compared with the untouched one; see `standout.utility`.

    Each measure is an attribute: an `Estimate`, or None where it was not measured. docs/advice.md defines those of
    entries, docs/tables.md those of columns. Each test person counts once. Differences are paired: both releases are
    tested on the same people and entries. Counts over all rows have no interval.

    Attributes
    ----------
    steps
        Steps that the release was made with, as text.
    kept
        Share of the utility that is left, 1 for the untouched release and 0 for a useless one: the smallest of
        `kept_hit_rate`, `kept_rmse` and `information_kept`. None if it cannot be measured.
    hit_rate, hit_rate_before, hit_rate_loss, kept_hit_rate, rmse, rmse_before, rmse_increase, kept_rmse
        What a recommender learns from the entries.
    popularity_change, popularity_correlation, similarity_change, entries_kept, value_difference, time_difference
        How items and the entries of people changed.
    information_kept, cells_kept, rows_kept, marginal_change, largest_marginal_change
        What is left of the columns.
    association_change, largest_association_change, association_pair
        How the associations of two columns changed, and the pair that changed most.
    accuracy, accuracy_before, accuracy_loss, kept_accuracy, prediction, prediction_note
        The prediction of a column of held-out people: its results, its target, number of classes and of training rows,
        or why there is none.
    information, associations, bits
        What a search for advice compares: the mean share of the information of a column, the share of associations,
        and the bits that a released row says about the original one.
    columns
        What is left of each column.
    seed, fingerprint
        Seed, and fingerprint of the original.

    Examples
    --------
    >>> import polars as pl, standout as so
    >>> people = so.read(pl.DataFrame({"age": [31, 34, 36, 39], "sex": ["f", "m", "m", "f"]}), record=False)
    >>> so.utility(people, "round age 10")
    <Utility: round age 10; 67% of the utility kept>
    """

    steps: tuple[str, ...]
    estimates: Mapping[str, Estimate | None]
    columns: tuple[ColumnUtility, ...] = ()
    association_pair: tuple[str, str] | None = None
    prediction: Prediction | None = None
    prediction_note: str = ""
    seed: int = 0
    fingerprint: str = ""

    def __getattr__(self, name: str) -> Estimate | None:
        if name not in MEASURES:
            raise AttributeError(f"Utility has no attribute {name!r:.60}")
        return self.estimates.get(name)

    def measures(self) -> Iterator[tuple[str, Estimate]]:
        """Name and estimate of every measure that is not None.

        Yields
        ------
        tuple of str and Estimate
            Name of the attribute, and its estimate.
        """
        for name in MEASURES:
            if (measure := self.estimates.get(name)) is not None:
                yield name, measure

    @property
    def table(self) -> pl.DataFrame:
        """Table with one row per measure, and with one per column and measure."""
        rows: list[tuple[str | None, str, Estimate]] = [(None, name, estimate) for name, estimate in self.measures()]
        for each in self.columns:
            shares = {"marginal_change": each.marginal_change, "cells_kept": each.cells_kept / max(each.cells, 1)}
            numbers = shares | {"bits_before": each.bits_before, "bits_kept": each.bits_kept}
            rows += [(each.name, name, counted(number, each.cells)) for name, number in numbers.items()]
        steps, context = " + ".join(self.steps), (self.seed, self.fingerprint, __version__)
        cells = []
        for column, measure, found in rows:
            interval = (end if math.isfinite(end) else None for end in (found.low, found.high))
            cells.append((steps, column, measure, found.value, *interval, found.n, found.baseline, *context))
        schema: dict[str, Any] = dict.fromkeys(("steps", "column", "measure"), pl.String)
        schema |= dict.fromkeys(("estimate", "low", "high"), pl.Float64) | {"n": pl.Int64, "baseline": pl.Float64}
        schema |= {"seed": pl.Int64, "fingerprint": pl.String, "version": pl.String}
        return pl.DataFrame(cells, schema=schema, orient="row")

    def __repr__(self) -> str:
        kept = "utility unknown" if self.kept is None else f"{self.kept.value:.0%} of the utility kept"
        return f"<Utility: {' + '.join(self.steps) or 'untouched'}; {kept}>"


@with_progress
def utility(
    release: Release,
    *steps: Step | str | Sequence[Step | str],
    people: int = PEOPLE,
    target: str | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> Utility:
    """Measure how useful a release still is after these steps.

    **Entries.** A recommender is trained on them.

    Up to five items of each test person are held out, with all their entries. The rest is sanitized with
    `seed`, and a recommender learns from it which items people like and which occur together. It then makes
    recommendations for each test person from the history that is not held out, as it is in the ORIGINAL: a
    service knows the history of its own users. So people whom no record represents count too.

    **Columns.** Marginals, associations of pairs of columns, information in bits, and a prediction task: a model
    learns from the release and predicts a column of people who are held out of the original. The task needs
    scikit-learn (``pip install scikit-learn``). docs/tables.md defines each measure.

    Of people with columns and entries both are measured, and `kept` is the smaller one.

    Parameters
    ----------
    release
        Release: an original one, or one that `standout.sanitize` made. The steps of a sanitized
        release are applied to its original again, without the held-out entries and with `seed`.
    *steps
        Steps to apply, as objects or as text, one by one or as a list; without any, the release as it is.
    people
        Number of test people; fewer if the release has not enough with five items, and at most a fifth of the
        rows with columns.
    target
        Column that is predicted; default: the first sensitive column. Not without columns.
    seed
        Seed of the test people, their entries, and the steps.
    threads
        Number of threads; default: all cores.
    progress
        True shows a bar; a function is called with (stage, done, total).

    Returns
    -------
    Utility
        Measures with intervals and baselines.

    Raises
    ------
    ParameterError
        If the steps of a sanitized release cannot be repeated, or nobody has enough items.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=60, items=40, entries=900, seed=7)
    >>> half = so.utility(release, "drop-entries 0.5", people=30)
    >>> half.entries_kept.value < 0.6, half.hit_rate.n
    (True, 30)
    """
    whole_number("people", people, 1)
    check_seed(seed)
    parsed, made = parse_steps(steps), release if isinstance(release, Sanitized) else None
    original = release if made is None else made.original
    if target is not None and not original.columns:
        raise ParameterError(f"target is for columns only, got {target!r:.100}")
    estimates, details = dict[str, Estimate | None](), dict[str, Any]()
    if original.columns:
        safer = made if made is not None and not parsed else sanitize(release, parsed, seed=seed, progress=progress)
        names = tuple(report.step for report in safer.step_reports)
        estimates, details = column_measures(safer, target, people, seed, progress)
    if original.n_entries:
        every = [*([] if made is None else _steps_of(made)), *parsed]
        bench = RecommenderBenchmark(hold_out(original, people, seed))
        progress("measuring utility", 1, 3)
        safer = sanitize(bench.holdout.rest, every, seed=seed, threads=threads)
        progress("measuring utility", 2, 3)
        of_columns, names = estimates.get("kept"), tuple(map(str, every))
        estimates |= entry_measures(bench, safer, seed)
        estimates["kept"] = lower(of_columns, estimates["kept"])
    return Utility(steps=names, estimates=estimates, seed=seed, fingerprint=original.fingerprint, **details)


def lower(first: Estimate | None, second: Estimate | None) -> Estimate | None:
    """The estimate with the smaller value; one that was not measured does not count."""
    return min(filter(None, (first, second)), key=lambda share: share.value, default=None)


def _steps_of(release: Sanitized) -> list[Step]:
    """The steps that made a release, read from its own reports."""
    try:
        steps = parse_steps(report.step for report in release.step_reports)
        if any(isinstance(step, DropItems) and step.file is not None for step in steps):
            raise ParameterError("one names a file of items")
    except ParameterError as error:
        reason = f"the steps of this release cannot be repeated, because {error}"
        raise ParameterError(f"{reason}: give utility the original and the steps") from None
    return steps


# How the entries of people differ from those of the records that represent them. Compiled.
#
# Entries are matched by item. If a person has an item a times and the record has it b times, min(a, b) of them
# are matched, such that the differences have the smallest possible sum: steps change times and values, so
# nobody can say which of several entries is which. Without repeats there is nothing to choose.


class NumberedEntries(NamedTuple):
    """Entries of people and a number of each, NaN: none; items ascend within a person, -1 cannot be matched."""

    start: Array
    item: Array
    number: Array


@kernel
def compare_entries(first: NumberedEntries, second: NumberedEntries) -> tuple[Array, Array]:
    """Match entries of the same people: the number of matched ones of each, and the sum of their differences."""
    people = len(first.start) - 1
    matched, total = np.zeros(people, np.int64), np.zeros(people)
    for person in range(people):
        i, end = first.start[person], first.start[person + 1]
        j, other_end = second.start[person], second.start[person + 1]
        while i < end:
            item, begin = first.item[i], i
            while i < end and first.item[i] == item:
                i += 1
            while j < other_end and second.item[j] < item:
                j += 1
            other_begin = j
            while item >= 0 and j < other_end and second.item[j] == item:
                j += 1
            a, b = first.number[begin:i], second.number[other_begin:j]
            a, b = np.sort(a[~np.isnan(a)]), np.sort(b[~np.isnan(b)])
            if len(a) > len(b):
                a, b = b, a
            if len(a) > 0:
                matched[person] += len(a)
                total[person] += _smallest_total(a, b)
    return matched, total


@subroutine
def _smallest_total(a: Array, b: Array) -> Real:
    """Smallest Σ |a[i] - b[f(i)]| over all choices of different f(i); both ascend, and b is not shorter.

    An ascending f is optimal. best[d] is the smallest sum so far with f(i) ≤ i + d.
    """
    best = np.zeros(len(b) - len(a) + 1)
    for i in range(len(a)):
        least = np.inf
        for d in range(len(best)):
            least = min(least, best[d] + abs(a[i] - b[i + d]))
            best[d] = least
    return best[-1]


PAIRS, SUPPORT = 1000, 5
"""Number of pairs of items that are compared, and the smallest number of records that have each item."""


def _popularity_distortion(original: Release, release: Release, item_codes: Ints) -> tuple[Estimate, Estimate]:
    """Half of Σ |change of an item's share of entries|, and the rank correlation of supports; a removed item has 0."""

    def by_item(counts: Ints) -> Floats:
        return np.where(item_codes < 0, 0, counts[np.maximum(item_codes, 0)]).astype(np.float64)

    old, new = original.item_entries.astype(np.float64), by_item(release.item_entries)
    change = float(np.abs(old / old.sum() - new / max(new.sum(), 1.0)).sum()) / 2
    a, b = mean_ranks(original.support.astype(np.float64)), mean_ranks(by_item(release.support))
    a, b = a - a.mean(), b - b.mean()
    size = math.sqrt(float((a * a).sum()) * float((b * b).sum()))
    correlation = float((a * b).sum()) / size if size else math.nan
    return counted(change, len(old)), counted(correlation, len(old))


def _similarity_change(original: Release, release: Release, item_codes: Ints, seed: int) -> Estimate | None:
    """Root mean square change of the cosine |a ∩ b| / √(|a| · |b|) of two items; None without pairs."""
    a, b = _item_pairs(original, seed)
    if not len(a):
        return None
    before = _cosines(original, a, b)
    is_present = (item_codes[a] >= 0) & (item_codes[b] >= 0)
    after = np.zeros_like(before)
    after[is_present] = _cosines(release, item_codes[a[is_present]], item_codes[b[is_present]])
    baseline = float(np.sqrt((before**2).mean()))
    return InfluenceEstimate.mean((after - before) ** 2).root().estimate(baseline)


def _item_pairs(release: Release, seed: int) -> tuple[Ints, Ints]:
    draw = generator(seed, "utility pairs")
    several = np.flatnonzero(release.distinct_items > 1)
    if not len(several):
        return several, several
    records, distinct = draw.choice(several, PAIRS), distinct_items(release.by_record)
    start, length = distinct.start[records], release.distinct_items[records]
    first = draw.integers(length)
    second = (first + draw.integers(1, length)) % length
    items = distinct.item[np.stack([start + first, start + second])]
    pairs = np.sort(items.astype(np.int64), axis=0)
    pairs = np.unique(pairs[:, (release.support[pairs] >= SUPPORT).all(axis=0)], axis=1)
    return pairs[0], pairs[1]


def _cosines(release: Release, a: Ints, b: Ints) -> Floats:
    matrix = csc_array(history_matrix(release))
    both = np.asarray(matrix[:, a].multiply(matrix[:, b]).sum(axis=0))
    return both / np.sqrt(release.support[a] * release.support[b].astype(np.float64))


def _entry_distortion(safer: Sanitized, people: Ints, old: Floats, new: Floats) -> dict[str, Estimate | None]:
    """Share of people's entries in the records that represent them, and how their values and times differ."""
    original = safer.original
    entry, start = entries_of(original, people)
    items = safer.mapping.item_codes[original.by_record.item[entry]]
    released, released_start = entries_of(safer, safer.mapping.representatives[people])
    released_items = safer.by_record.item[released].astype(np.int64)

    def compare(numbers: Floats, released_numbers: Floats) -> tuple[Ints, Floats]:
        return compare_entries(
            NumberedEntries(start, items, numbers), NumberedEntries(released_start, released_items, released_numbers)
        )

    kept = compare(np.zeros(len(entry)), np.zeros(len(released)))[0] / np.diff(start)
    values = compare(entry_numbers(original, entry, old), entry_numbers(safer, released, new))
    times = compare(_days(original, entry), _days(safer, released))
    measures: dict[str, Estimate | None] = {"entries_kept": InfluenceEstimate.mean(kept).estimate(1.0)}
    for name, (matched, total) in {"value_difference": values, "time_difference": times}.items():
        if (has_any := matched > 0).any():
            measures[name] = InfluenceEstimate.mean(total[has_any] / matched[has_any]).estimate(0.0)
    return measures


def _days(release: Release, entry: Ints) -> Floats:
    """Times of entries in days since 1970; NaN where there is none."""
    column = release.by_record.time
    if column is None or release.clock is None:
        return np.full(len(entry), np.nan)
    code = column[entry].astype(np.int64)
    days = (code + release.clock.origin) * days_per_unit(release)
    return np.asarray(np.where(code == release.span, np.nan, days))


def entry_measures(bench: RecommenderBenchmark, safer: Sanitized, seed: int) -> dict[str, Estimate | None]:
    """The fields of `Utility` that are about entries, of a release made from the rest of the benchmark's original."""
    rest, item_codes = bench.holdout.rest, safer.mapping.item_codes
    before, after = bench.untouched, bench.result(safer)
    change, correlation = _popularity_distortion(rest, safer, item_codes)
    hits_before, hits_after = InfluenceEstimate.mean(before.hits), InfluenceEstimate.mean(after.hits)
    kept_hit_rate = hits_after.share_of(hits_before)
    baseline, old, new = map(root_mean, (bench.squared_without_release, before.squared, after.squared))
    errors: dict[str, Estimate | None] = {}
    if baseline is not None and old is not None and new is not None:
        errors = {
            "rmse": new.estimate(baseline.value),
            "rmse_before": old.estimate(baseline.value),
            "rmse_increase": (new - old).estimate(0.0),
            "kept_rmse": (baseline - new).share_of(baseline - old),
        }

    def hit_rate(result: RecommenderResult) -> Estimate:
        n = len(result.hits)
        return rate(min(math.fsum(result.hits), n), n, float(result.popular_hits.mean()))

    shares = [share for share in (kept_hit_rate, errors.get("kept_rmse")) if share is not None]
    kept = None
    if shares:  # the smallest value, with the smallest bounds
        value, low, high = (min(getattr(share, name) for share in shares) for name in ("value", "low", "high"))
        kept = Estimate(value, low, high, min(share.n for share in shares), 0.0)
    return {
        "kept": kept,
        "hit_rate": hit_rate(after),
        "hit_rate_before": hit_rate(before),
        "hit_rate_loss": (hits_before - hits_after).estimate(0.0),
        "kept_hit_rate": kept_hit_rate,
        **errors,
        "popularity_change": change,
        "popularity_correlation": correlation,
        "similarity_change": _similarity_change(rest, safer, item_codes, seed),
        **_entry_distortion(safer, bench.holdout.people, level_numbers(rest), calibrated_values(safer)),
    }
