"""What several published statistics need to know about a release, computed once."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.progress import Progress
from standout.release.build import count_codes
from standout.release.model import Release
from standout.synthetic.marginals import PersonStatistics, item_levels, person_statistics
from standout.synthetic.published_statistics import published, published_support
from standout.synthetic.sampling_error import share_error

__all__ = ["MINIMUM_RATINGS", "Statistic", "Survey", "Verdict", "numbers_after"]

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
