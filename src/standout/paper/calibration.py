"""`so.calibration`: how well a release agrees with the published statistics of the Netflix Prize data.

Numbers that depend on the number of people are scaled: supports and counts of people are compared as shares
of people. Some numbers cannot be compared and are skipped: totals and extremes (of lengths, supports and
dates) if the release does not have the full size, and statistics of films that are expected to have fewer
than 50 ratings. The deviation of films' mean ratings, and its correlation with popularity, are corrected for
the noise of fewer ratings. Nearest neighbours are compared at any size, although they are farther away in
smaller releases: the paper does not state among how many people they were searched.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import get_args

import polars as pl

from standout.core.errors import ParameterError, whole_number
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.data.release import Release
from standout.evaluate.cell import TableResult
from standout.paper.marginals import Statistic, Survey, Verdict
from standout.paper.netflix_statistics import GROUPS, nearest_neighbours
from standout.paper.published_statistics import published

__all__ = ["Calibration", "calibration", "check_records"]

MINIMUM_RECORDS = 1_000
COLUMNS = {
    "group": pl.String,
    "statistic": pl.String,
    "published": pl.Float64,
    "measured": pl.Float64,
    "tolerance": pl.Float64,
    "verdict": pl.String,
}


@dataclass(frozen=True, eq=False)
class Calibration(TableResult):
    """A comparison of a release with published statistics, returned by `so.calibration`.

    Parameters
    ----------
    statistics
        The published statistics that can be compared, each with the measured number and its tolerance. The
        verdict is "met" within the tolerance, "near" within twice the tolerance, and otherwise "missed". The
        tolerance is a stated one plus two standard errors for the release's number of people.
    """

    statistics: tuple[Statistic, ...] = field(repr=False)

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row for each statistic: group, statistic, published, measured, tolerance, verdict."""
        rows = [(*statistic, statistic.verdict) for statistic in self.statistics]
        return pl.DataFrame(rows, schema=COLUMNS, orient="row")

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
    seed
        Seed of this draw.
    threads
        Number of threads; default: all cores.
    progress
        True shows a bar; a function is called with (stage, done, total).

    Returns
    -------
    Calibration
        One row for each published statistic.

    Raises
    ------
    ParameterError
        If the release has too few records, other values than 1 to 5, or times in other units than days.

    Examples
    --------
    >>> import standout as so
    >>> print(so.calibration(so.synthesize(records=1_000, items=2_000, seed=1), nearest=0))
    88 published statistics: ... met, ... near, ... missed
    """
    nearest, seed = whole_number("nearest", nearest, 0), check_seed(seed)
    _check_release(release)
    survey = Survey(release.check(), progress)
    statistics = [statistic for group in GROUPS for statistic in group(survey)]
    if nearest:
        statistics += nearest_neighbours(survey, nearest, seed, threads, progress)
    return Calibration(tuple(statistics))


def check_records(records: int) -> None:
    """Raise an error if there are too few records to compare."""
    if records < MINIMUM_RECORDS:
        raise ParameterError(f"calibration needs at least {MINIMUM_RECORDS:,} records, got {records:,}")


def _check_release(release: Release) -> None:
    check_records(release.n_records)
    ratings = range(1, len(published()["ratings"]["shares"]) + 1)
    if release.levels is not None and not set(release.levels) <= set(ratings):
        raise ParameterError("calibration needs ratings from 1 to 5; the release has other values")
    if release.clock is not None and release.clock.unit != "day":
        raise ParameterError(f"calibration needs times in days; the release has times by {release.clock.unit}")
