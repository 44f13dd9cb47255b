"""Utility of a sanitized release: a recommender trained on it, compared with one trained on the original.

Test entries are held out of the original BEFORE it is sanitized. Otherwise a release that contains them would
be rewarded for remembering them.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import polars as pl

from standout._version import __version__
from standout.core.errors import ParameterError, whole_number
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.simulation import TableResult
from standout.know.sanitized import Sanitized
from standout.sanitizing.column_utility import ColumnUtility, column_measures
from standout.sanitizing.distortion import entry_distortion, popularity_distortion, similarity_change
from standout.sanitizing.prediction import Prediction
from standout.sanitizing.recommender import (
    InfluenceEstimate,
    RecommenderBenchmark,
    RecommenderResult,
    calibrated_values,
    level_numbers,
)
from standout.sanitizing.sanitize import sanitize
from standout.sanitizing.step import Step
from standout.sanitizing.steps import parse_steps
from standout.sanitizing.suppression_steps import DropItems

PEOPLE = 1000
SCHEMA = {
    "steps": pl.String,
    "column": pl.String,
    "measure": pl.String,
    "estimate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "baseline": pl.Float64,
    "seed": pl.Int64,
    "fingerprint": pl.String,
    "version": pl.String,
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Utility(TableResult):
    """Utility of a sanitized release compared with the untouched one; see `standout.utility`.

    Every number is an `Estimate`, or None where it was not measured. Each test person counts once. Differences are
    paired: both releases are tested on the same people and entries. Counts over all rows have no interval.

    Attributes
    ----------
    steps
        Steps that the release was made with, as text.
    kept
        Share of the utility that is left, 1 for the untouched release and 0 for a useless one: the smaller of
        `kept_hit_rate` and `kept_rmse`, or `information_kept`. None if it cannot be measured.
    hit_rate, hit_rate_before, hit_rate_loss
        Share of held-out items among the ten recommended ones, out of all items that a person does not have; the same
        of the untouched release; and the difference. Baseline: recommending popular items.
    kept_hit_rate
        hit_rate / hit_rate_before. None if the untouched release has no hits either.
    rmse, rmse_before, rmse_increase
        Root mean square error of the predicted held-out values, on the original's scale; the same of the untouched
        release; and the difference. Baseline: the mean of a person's own values, which needs no release.
    kept_rmse
        (baseline − rmse) / (baseline − rmse_before). None if the untouched release is not better than the
        baseline beyond sampling error.
    popularity_change
        Half of the sum of |change of an item's share of all entries|, from 0 to 1.
    popularity_correlation
        Spearman's rank correlation of the items' supports before and after.
    similarity_change
        Root mean square change of the cosine of two items. Baseline: no two items occur together any more.
    entries_kept
        Share of a person's entries that are in the record that represents the person.
    value_difference, time_difference
        Mean absolute difference of their values, on the original's scale, and of their times in days.
    information_kept
        Share of the information in the columns of the original that the release shows, in bits.
    cells_kept, rows_kept
        Share of the original's known cells that the release shows unchanged, and of its rows.
    marginal_change, largest_marginal_change
        Mean and largest total variation distance between released and original marginals of a column.
    association_change, largest_association_change
        Mean and largest absolute change of the association of two columns. Baseline: no association is left.
    accuracy, accuracy_before, accuracy_loss
        Share of held-out people whose target column a model of the release predicts; the same for a model of the
        original; and the difference. Baseline: the commonest class.
    kept_accuracy
        Share of the original's gain over the baseline that is left.
    information, associations, bits
        What a search for advice compares: the mean share of the information of a column, the share of associations,
        and the bits that a released row says about the original one.
    columns, association_pair
        What is left of each column, and the pair of columns whose association changed most.
    prediction, prediction_note
        Target, number of classes and of training rows of the prediction, or why there is none.
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
    kept: Estimate | None = None
    hit_rate: Estimate | None = None
    hit_rate_before: Estimate | None = None
    hit_rate_loss: Estimate | None = None
    kept_hit_rate: Estimate | None = None
    rmse: Estimate | None = None
    rmse_before: Estimate | None = None
    rmse_increase: Estimate | None = None
    kept_rmse: Estimate | None = None
    popularity_change: Estimate | None = None
    popularity_correlation: Estimate | None = None
    similarity_change: Estimate | None = None
    entries_kept: Estimate | None = None
    value_difference: Estimate | None = None
    time_difference: Estimate | None = None
    information_kept: Estimate | None = None
    cells_kept: Estimate | None = None
    rows_kept: Estimate | None = None
    marginal_change: Estimate | None = None
    largest_marginal_change: Estimate | None = None
    association_change: Estimate | None = None
    largest_association_change: Estimate | None = None
    accuracy: Estimate | None = None
    accuracy_before: Estimate | None = None
    accuracy_loss: Estimate | None = None
    kept_accuracy: Estimate | None = None
    information: Estimate | None = None
    associations: Estimate | None = None
    bits: Estimate | None = None
    columns: tuple[ColumnUtility, ...] = ()
    association_pair: tuple[str, str] | None = None
    prediction: Prediction | None = None
    prediction_note: str = ""
    seed: int = 0
    fingerprint: str = ""

    def measures(self) -> Iterator[tuple[str, Estimate]]:
        """Name and estimate of every measure that is not None.

        Yields
        ------
        tuple of str and Estimate
            Name of the attribute, and its estimate.
        """
        for field in fields(self):
            measure = getattr(self, field.name)
            if isinstance(measure, Estimate):
                yield field.name, measure

    @property
    def table(self) -> pl.DataFrame:
        """Table with one row per measure, and with one per column and measure."""
        rows = [self._row(None, name, estimate) for name, estimate in self.measures()]
        for column in self.columns:
            numbers = {
                "marginal_change": column.marginal_change,
                "cells_kept": column.cells_kept / max(column.cells, 1),
                "bits_before": column.bits_before,
                "bits_kept": column.bits_kept,
            }
            for measure, number in numbers.items():
                rows.append(self._row(column.name, measure, Estimate(number, math.nan, math.nan, column.cells, None)))
        return pl.DataFrame(rows, schema=SCHEMA, orient="row")

    def _row(self, column: str | None, measure: str, estimate: Estimate) -> tuple[object, ...]:
        interval = (end if math.isfinite(end) else None for end in (estimate.low, estimate.high))
        context = self.seed, self.fingerprint, __version__
        steps = " + ".join(self.steps)
        return steps, column, measure, estimate.value, *interval, estimate.n, estimate.baseline, *context

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
    scikit-learn (``pip install scikit-learn``). docs/tables.md defines each measure. Of people with columns and
    entries, the columns are measured.

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
    parsed = parse_steps(steps)
    if release.columns:
        safer = release if isinstance(release, Sanitized) else None
        if parsed or safer is None:
            safer = sanitize(release, parsed, seed=seed, progress=progress)
        made = tuple(report.step for report in safer.step_reports)
        measures = column_measures(safer, target, people, seed, progress)
        return Utility(steps=made, seed=seed, fingerprint=safer.original.fingerprint, **measures)
    if target is not None:
        raise ParameterError(f"target is for columns only, got {target!r:.100}")
    if isinstance(release, Sanitized):
        parsed = [*_steps_of(release), *parsed]
        release = release.original
    bench = RecommenderBenchmark.of(release, people, seed)
    progress("measuring utility", 1, 3)
    safer = sanitize(bench.holdout.rest, parsed, seed=seed, threads=threads)
    progress("measuring utility", 2, 3)
    return measure_utility(bench, safer, tuple(map(str, parsed)), seed, release.fingerprint)


def _steps_of(release: Sanitized) -> list[Step]:
    """The steps that made a release, read from its own reports."""
    instead = "give utility the original and the steps"
    try:
        steps = parse_steps(report.step for report in release.step_reports)
    except ParameterError as error:
        raise ParameterError(f"the steps of this release cannot be repeated ({error}): {instead}") from None
    if any(isinstance(step, DropItems) and step.file is not None for step in steps):
        raise ParameterError(
            f"the steps of this release cannot be repeated, because one names a file of items: {instead}"
        )
    return steps


def measure_utility(
    bench: RecommenderBenchmark, safer: Sanitized, steps: tuple[str, ...], seed: int, fingerprint: str
) -> Utility:
    """Utility of a release that was made from the rest of the benchmark's original."""
    rest, item_codes = bench.holdout.rest, safer.mapping.item_codes
    before, after = bench.untouched, bench.result(safer)
    popularity = popularity_distortion(rest, safer, item_codes)
    entries = entry_distortion(safer, bench.holdout.people, level_numbers(rest), calibrated_values(safer))
    errors = _errors(bench, before, after)
    kept_hit_rate = _kept_share(after.hit_rate, before.hit_rate)
    return Utility(
        steps=steps,
        kept=_least([share for share in (kept_hit_rate, errors.kept_rmse) if share is not None]),
        hit_rate=_hit_rate(after),
        hit_rate_before=_hit_rate(before),
        hit_rate_loss=(before.hit_rate - after.hit_rate).estimate(0.0),
        kept_hit_rate=kept_hit_rate,
        rmse=errors.rmse,
        rmse_before=errors.rmse_before,
        rmse_increase=errors.rmse_increase,
        kept_rmse=errors.kept_rmse,
        popularity_change=popularity.change,
        popularity_correlation=popularity.correlation,
        similarity_change=similarity_change(rest, safer, item_codes, seed),
        entries_kept=entries.kept,
        value_difference=entries.value_difference,
        time_difference=entries.time_difference,
        seed=seed,
        fingerprint=fingerprint,
    )


def _hit_rate(result: RecommenderResult) -> Estimate:
    n = len(result.hits)
    return rate(min(math.fsum(result.hits), n), n, float(result.popular_hits.mean()))


class _Errors(NamedTuple):
    rmse: Estimate | None = None
    rmse_before: Estimate | None = None
    rmse_increase: Estimate | None = None
    kept_rmse: Estimate | None = None


def _errors(bench: RecommenderBenchmark, old: RecommenderResult, new: RecommenderResult) -> _Errors:
    baseline, before, after = bench.rmse_without_release, old.rmse, new.rmse
    if baseline is None or before is None or after is None:
        return _Errors()
    return _Errors(
        rmse=after.estimate(baseline.value),
        rmse_before=before.estimate(baseline.value),
        rmse_increase=(after - before).estimate(0.0),
        kept_rmse=_kept_share(baseline - after, baseline - before),
    )


def _kept_share(after: InfluenceEstimate, before: InfluenceEstimate) -> Estimate | None:
    """Share of a gain that is left; None if there was no gain beyond sampling error."""
    return (after / before).estimate(0.0) if before.value > 0 and before.estimate().low > 0 else None


def _least(shares: list[Estimate]) -> Estimate | None:
    """Smallest value, with the smallest bounds."""
    if not shares:
        return None
    value, low, high = (min(getattr(share, name) for share in shares) for name in ("value", "low", "high"))
    return Estimate(value, low, high, min(share.n for share in shares), 0.0)
