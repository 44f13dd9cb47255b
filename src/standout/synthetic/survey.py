"""A release as published statistics see it: people, films and days, counted once for all of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.progress import Progress
from standout.release.build import count_codes
from standout.release.model import Release
from standout.synthetic.marginals import People, item_levels, people
from standout.synthetic.published_statistics import netflix, support_by_rank
from standout.synthetic.sampling_error import share_error

__all__ = ["LEAST", "Statistic", "Survey", "numbers"]

FULL = 0.99  # of the published number of people: from here on a release has the full size
LEAST = 50  # ratings of a film that must be expected for it to be compared
NEAR = 2  # tolerances: within one a target is met, within so many it is near
ROUNDING = 1 + 1e-9


class Statistic(NamedTuple):
    """A published number and what a release has for it.

    >>> [Statistic("lengths", "median", 96, found, tolerance=2).verdict for found in (97, 93, 90)]
    ['met', 'near', 'missed']
    """

    group: str
    statistic: str
    target: float
    achieved: float
    tolerance: float

    @property
    def verdict(self) -> str:
        """met: within the tolerance; near: within twice as much; else missed."""
        away, room = abs(self.achieved - self.target), ROUNDING * self.tolerance
        return "met" if away <= room else "near" if away <= NEAR * room else "missed"


@dataclass(frozen=True, eq=False)
class Survey:
    """A release, and what several statistics need of it; empty where it has no values or no times."""

    release: Release
    progress: Progress

    @property
    def scale(self) -> float:
        """How many people it has for each that Netflix had."""
        return float(self.release.n_records / netflix()["sizes"]["records"])

    @property
    def full(self) -> bool:
        """Whether it has the full size: whether totals and extremes can be compared."""
        return self.scale >= FULL

    @property
    def has_values(self) -> bool:
        return bool(self.item_levels.sum())

    @property
    def has_times(self) -> bool:
        return bool(self.days.sum())

    @property
    def levels(self) -> Floats:
        """The value levels."""
        return np.zeros(0) if self.release.levels is None else np.asarray(self.release.levels, np.float64)

    @property
    def reaches(self) -> Ints:
        """Days within which two ratings of a person lie, a column of `people.near` for each."""
        told = netflix()["bursts"]
        return np.array([*numbers(told, "within_"), *told["days"]], np.int64)

    @cached_property
    def people(self) -> People:
        """What each person did."""
        return people(self.release, self.reaches, self.progress)

    @cached_property
    def item_levels(self) -> Ints:
        """How many ratings of each level every film has."""
        return item_levels(self.release)

    @cached_property
    def days(self) -> Ints:
        """Ratings by day."""
        time = self.release.by_record.time
        return np.zeros(0, np.int64) if time is None else count_codes(time, self.release.span + 1)[:-1]

    @cached_property
    def support(self) -> Ints:
        """Supports from the most popular film down; of films that a small release lacks they are 0."""
        falling = np.sort(self.release.support)[::-1]
        return np.pad(falling, (0, max(netflix()["sizes"]["items"] - len(falling), 0)))

    @property
    def expected(self) -> Floats:
        """The published supports by rank, for as many people as there are here."""
        return support_by_rank() * self.scale

    @cached_property
    def person_means(self) -> tuple[Floats, Floats]:
        """The mean rating of each person with ratings, and the deviation (n − 1) within those with two."""
        counts = self.people.levels
        counts = counts[counts.sum(axis=1) > 0]
        n = counts.sum(axis=1)
        mean = elementary.weighted_sum(counts, self.levels) / n
        square = elementary.weighted_sum(counts, self.levels**2) / n
        two = n > 1
        spread = np.maximum(square - mean**2, 0)[two] * n[two] / (n[two] - 1)
        return mean, np.sqrt(spread)

    @cached_property
    def independent(self) -> float:
        """How many people of equal lengths would say as much of shares of ratings: (Σ n)² / Σ n²."""
        lengths = self.release.lengths.astype(np.float64)
        return float(lengths.sum() ** 2 / (lengths**2).sum())

    def ratings_error(self, share: float, alike: float = 1.0) -> float:
        """What chance adds to a share of ratings; alike = how far two of a person's go together."""
        return share_error(share, self.independent / max(alike, 1e-9))

    def within(self, days: int) -> float:
        """How often two ratings of a person lie within so many days: a mean over people."""
        column = self.people.near[self.people.timed > 1, self.reaches.tolist().index(days)]
        return float(column.mean()) if len(column) else 1.0


def numbers(section: dict[str, Any], prefix: str) -> list[int]:
    """The numbers n for which a section of what is published has prefix + n, in its order.

    >>> numbers(netflix()["lengths"], "q")
    [25, 50, 75, 90, 99]
    """
    ends = (name.removeprefix(prefix) for name in section if name.startswith(prefix))
    return [int(end) for end in ends if end.isdecimal()]
