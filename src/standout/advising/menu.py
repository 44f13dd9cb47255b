"""What is tried unless somebody says otherwise: each kind of step, in several strengths."""

import numpy as np

from standout.release.model import Release
from standout.sanitizing.cluster import ClusterRecords
from standout.sanitizing.km import KmSuppress
from standout.sanitizing.randomized_response import RandomizedResponse
from standout.sanitizing.step import Step
from standout.sanitizing.suppression_steps import (
    CapRecords,
    DropEntries,
    DropRareItems,
    DropTopItems,
    SampleRecords,
)
from standout.sanitizing.time_steps import PerturbTime, RoundTime
from standout.sanitizing.value_steps import PerturbValue, RoundValue

__all__ = ["family", "menu"]

FAMILIES: dict[str, tuple[type[Step], ...]] = {
    "times": (RoundTime, PerturbTime),
    "values": (RoundValue, PerturbValue, RandomizedResponse),
    "items": (DropRareItems, DropTopItems, KmSuppress),
    "entries": (DropEntries, CapRecords),
    "records": (SampleRecords, ClusterRecords),
}
"""Steps of one family do the same in other ways: they are not combined."""
SAFE, FEW = 0.6, 10
"""A sample of this share of the limit lies below it for sure; it has at least so many records."""
MANY = 20_000_000
"""Entries beyond which kᵐ-suppression is not tried: it counts pairs of items."""


def family(step: Step) -> str:
    """What a step changes."""
    return next((name for name, kinds in FAMILIES.items() if isinstance(step, kinds)), step.name)


def menu(release: Release, limit: float) -> list[Step]:
    """Single steps for what this release has, weak ones first in each family.

    Among them is a sample so small that it keeps to the limit even if everybody in it is found.
    """
    found: list[Step] = []
    if release.span:
        found += [RoundTime(to) for to in ("month", "year", "none")] + [PerturbTime(90), PerturbTime(365)]
    found += _values(release)
    found += [DropRareItems(k) for k in (3, 10, 50) if _leaves(release, k)]
    found += [DropTopItems(k) for k in _tops(release)]
    found += [KmSuppress(2, 2)] if release.n_entries <= MANY else []
    found += [DropEntries(share) for share in (0.25, 0.5, 0.75, 0.9)]
    found += [CapRecords(most) for most in _caps(release)]
    found += [SampleRecords(share) for share in (0.5, 0.2, round(SAFE * limit, 4)) if _some(release, share)]
    return found + [ClusterRecords(k) for k in (2, 5, 10, 25) if 4 * k <= release.n_records]


def _values(release: Release) -> list[Step]:
    levels = release.levels
    if levels is None or len(levels) < 2:
        return []
    response: list[Step] = [RandomizedResponse(3), RandomizedResponse(1)]
    if isinstance(levels, tuple):
        return [PerturbValue(None, 0.5), *response, RoundValue(to="none")]
    quarter = float(levels[-1] - levels[0]) / 4
    near = float(np.diff(levels).min())
    noise: list[Step] = [PerturbValue(max(quarter, near), 0.5), PerturbValue(max(2 * quarter, near), 1.0)]
    return [RoundValue(bins=3), RoundValue(bins=2), *noise, *response, RoundValue(to="none")]


def _some(release: Release, share: float) -> bool:
    """Whether a sample is of more than a few."""
    return share * release.n_records >= FEW


def _leaves(release: Release, k: int) -> bool:
    """Whether dropping items below k drops some, and leaves most entries."""
    rare = release.support < k
    return bool(rare.any()) and float(release.support[rare].sum()) < release.n_entries / 2


def _tops(release: Release) -> list[int]:
    return sorted({k for k in (release.n_items // 200, release.n_items // 50) if k >= 1})


def _caps(release: Release) -> list[int]:
    """Half of the median length and so on: what a few and what many records exceed."""
    median = int(np.median(release.lengths))
    return sorted({most for most in (median // 4, median) if most >= 2}, reverse=True)
