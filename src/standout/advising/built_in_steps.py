"""The steps that are tried by default: each kind of step in several strengths."""

import numpy as np

from standout.release.model import Release
from standout.sanitizing.cluster import ClusterRecords
from standout.sanitizing.km import KmSuppress
from standout.sanitizing.merge_repeats import MergeRepeats
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
from standout.table_sanitizing.table_step import TableStep

__all__ = ["FAMILIES", "built_in_steps", "step_family"]

FAMILIES: dict[str, tuple[type[Step], ...]] = {
    "times": (RoundTime, PerturbTime),
    "values": (RoundValue, PerturbValue, RandomizedResponse),
    "items": (DropRareItems, DropTopItems, KmSuppress),
    "repeats": (MergeRepeats,),
    "entries": (DropEntries, CapRecords),
    "records": (SampleRecords, ClusterRecords),
}
"""Steps of one family are alternatives: they are not combined with each other."""
SAFE_SAMPLE, MIN_SAMPLE = 0.6, 10
"""A sample of this share of the limit meets it even if everybody in it is identified; its minimum size."""
MAX_KM_ENTRIES = 20_000_000
"""On larger releases kᵐ-suppression is not tried, because it counts pairs of items."""


def step_family(step: Step | TableStep) -> str:
    """What a step changes."""
    return next((name for name, kinds in FAMILIES.items() if isinstance(step, kinds)), step.name)


def built_in_steps(release: Release, limit: float) -> list[Step]:
    """Single steps that suit the release, weak ones first in each family.

    One of them is a sample so small that it meets a limit for everybody even if all people in it are
    identified.
    """
    steps: list[Step] = []
    if release.span:
        steps += [RoundTime(to) for to in ("month", "year", "none")] + [PerturbTime(90), PerturbTime(365)]
    steps += _value_steps(release)
    steps += [DropRareItems(k) for k in (3, 10, 50) if _suits_drop_rare_items(release, k)]
    steps += [DropTopItems(k) for k in _top_counts(release)]
    steps += [KmSuppress(2, 2)] if release.n_entries <= MAX_KM_ENTRIES else []
    steps += [MergeRepeats("last")] if release.has_repeats else []
    steps += [DropEntries(share) for share in (0.25, 0.5, 0.75, 0.9)]
    steps += [CapRecords(length) for length in _caps(release)]
    samples = (0.5, 0.2, round(SAFE_SAMPLE * limit, 4))
    steps += [SampleRecords(share) for share in samples if share * release.n_records >= MIN_SAMPLE]
    return steps + [ClusterRecords(k) for k in (2, 5, 10, 25) if 4 * k <= release.n_records]


def _value_steps(release: Release) -> list[Step]:
    levels = release.levels
    if levels is None or len(levels) < 2:
        return []
    response: list[Step] = [RandomizedResponse(3), RandomizedResponse(1)]
    if isinstance(levels, tuple):
        return [PerturbValue(None, 0.5), *response, RoundValue(to="none")]
    quarter = float(levels[-1] - levels[0]) / 4
    smallest_gap = float(np.diff(levels).min())
    noise: list[Step] = [
        PerturbValue(max(quarter, smallest_gap), 0.5),
        PerturbValue(max(2 * quarter, smallest_gap), 1.0),
    ]
    return [RoundValue(bins=3), RoundValue(bins=2), *noise, *response, RoundValue(to="none")]


def _suits_drop_rare_items(release: Release, k: int) -> bool:
    """Whether dropping items with a support below k drops some, and keeps most entries."""
    rare = release.support < k
    return bool(rare.any()) and float(release.item_entries[rare].sum()) < release.n_entries / 2


def _top_counts(release: Release) -> list[int]:
    return sorted({k for k in (release.n_items // 200, release.n_items // 50) if k >= 1})


def _caps(release: Release) -> list[int]:
    """The median number of entries of a record, and a quarter of it."""
    median = int(np.median(release.lengths))
    return sorted({length for length in (median // 4, median) if length >= 2}, reverse=True)
