"""How well a release meets what is published of the Netflix Prize data: the calibration table.

What depends on the number of people is scaled: supports are shares of people, and so are counts of people.
Left out where it cannot be compared: totals and extremes (of lengths, supports, dates) at any other than the
full size, and what is said of films of which fewer than 50 ratings are to be expected. The spread of films'
mean ratings, and its correlation with popularity, are freed of the noise that fewer ratings add. Nearest
neighbours are compared at any size, though the fewer people, the farther they are: among how many the
published ones were sought is not known.
"""

from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.rng import check_seed
from standout.evaluate.result_table import EstimateResult
from standout.release.model import Release
from standout.synthetic.netflix_statistics import GROUPS, nearest_neighbours
from standout.synthetic.published_statistics import netflix
from standout.synthetic.survey import Statistic, Survey

__all__ = ["Calibration", "calibration", "check_records"]

LEAST_RECORDS = 1_000
VERDICTS = ("met", "near", "missed")
COLUMNS = {
    "group": pl.String, "statistic": pl.String, "target": pl.Float64, "achieved": pl.Float64,
    "tolerance": pl.Float64, "verdict": pl.String,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Calibration(EstimateResult):
    """The calibration table: a row for each published statistic.

    group, statistic, target, achieved, tolerance; and the verdict: "met" within the tolerance, "near" within
    twice as much, else "missed". The tolerance is the one that is stated for the statistic and two
    standard errors for as many people as the release has.
    """

    statistics: tuple[Statistic, ...] = field(repr=False)

    @cached_property
    def table(self) -> pl.DataFrame:
        rows = [(*one, one.verdict) for one in self.statistics]
        return pl.DataFrame(rows, schema=COLUMNS, orient="row")

    @property
    def verdicts(self) -> dict[str, int]:
        """How many statistics are met, near and missed."""
        found = [one.verdict for one in self.statistics]
        return {verdict: found.count(verdict) for verdict in VERDICTS}

    def __str__(self) -> str:
        told = ", ".join(f"{count} {verdict}" for verdict, count in self.verdicts.items())
        return f"{len(self.statistics)} published statistics: {told}"


def calibration(
    release: Release,
    *,
    nearest: int = 2_000,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Calibration:
    """How well a release meets the published statistics of the Netflix Prize data.

    nearest   for so many records, drawn at random, the nearest neighbour among all is sought; 0: for none

    The release has at least 1,000 records, ratings from 1 to 5 and days. One without ratings or without dates
    is compared by the rest.

    >>> import standout as so
    >>> print(calibration(so.synthesize(records=1_000, items=2_000, seed=1), nearest=0))
    88 published statistics: ... met, ... near, ... missed
    """
    nearest, seed = whole_number("nearest", nearest, 0), check_seed(seed)
    survey = Survey(_checked(release), progress)
    rows = [row for group in GROUPS for row in group(survey)]
    if nearest:
        rows += nearest_neighbours(survey, nearest, seed, threads, progress)
    return Calibration(tuple(rows))


def check_records(records: int) -> None:
    """Refuses a number of records that is too small."""
    if records < LEAST_RECORDS:
        raise ParameterError(f"calibration takes {LEAST_RECORDS:,} records at least, got {records:,}")


def _checked(release: Release) -> Release:
    """The release, or an error that says why it cannot be compared."""
    check_records(release.n_records)
    stars = range(1, len(netflix()["ratings"]["shares"]) + 1)
    if release.levels is not None and not set(release.levels) <= set(stars):
        raise ParameterError("calibration compares ratings from 1 to 5; the release has other values")
    if release.clock is not None and release.clock.unit != "day":
        raise ParameterError(f"calibration compares days; the release's times are by {release.clock.unit}")
    return release.check()
