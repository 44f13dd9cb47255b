"""Entries that are gone while their record still has the item: what an adversary who knows one finds instead.

A known entry that was removed or merged is not lost for the adversary if another entry of its record and item
is left. To an attack it looks as if its value was replaced and its time had moved. Calling it lost would make
the attack weaker: on purchases of which half were dropped, two facts would identify 72 % instead of 78 %.
"""

import numpy as np

from standout.core.arrays import Bools, Ints
from standout.release.clock import SECONDS
from standout.sanitized import ReleaseNoise, StepReport, TimeSpread, ValueSpread
from standout.sanitizing.draft import Draft

__all__ = ["count_replaced", "first_kept", "replacement_noise"]

ITEM_LEFT = "removed or merged entries whose item is left"
VALUES, TIMES, DAYS = "values replaced", "times replaced", "mean days moved"


def first_kept(draft: Draft, keep: Bools) -> Ints:
    """For each entry itself if it is kept, else the first kept one of its record and item; -1: none."""
    group, kept = draft.distinct_index, np.flatnonzero(keep)
    first = np.full(len(draft.distinct.item), -1)
    first[group[kept[::-1]]] = kept[::-1]  # the last assignment wins
    return np.where(keep, np.arange(draft.n_entries), first[group])


def count_replaced(draft: Draft, replacement: Ints) -> dict[str, float]:
    """Count entries with another replacement than themselves, and whose value or time differs from it."""
    gone = np.flatnonzero((replacement >= 0) & (replacement != np.arange(draft.n_entries)))
    other, counts = replacement[gone], {ITEM_LEFT: float(len(gone))}
    value, time, clock = draft.by_record.value, draft.by_record.time, draft.clock
    if value is not None and draft.n_levels:
        counts[VALUES] = int(np.count_nonzero(value[gone] != value[other]))
    if time is not None and clock is not None and clock.span:
        old, new = time[gone].astype(np.int64), time[other].astype(np.int64)
        counts[TIMES] = int(np.count_nonzero(old != new))
        moved = np.abs(new - old)[(new != old) & (old < clock.span) & (new < clock.span)]
        if len(moved):
            counts[DAYS] = float(moved.mean()) * SECONDS[clock.unit] / SECONDS["day"]
    return counts


def replacement_noise(report: StepReport) -> ReleaseNoise | None:
    """Noise of a step by its counts: the share of entries whose item is left, and how these changed.

    A time moves by up to twice the mean distance. None if no entry was replaced.
    """
    counts = report.counts
    if not counts.get(ITEM_LEFT):
        return None
    left = counts["entries"] + counts[ITEM_LEFT]
    values, times = counts.get(VALUES, 0) / left, counts.get(TIMES, 0) / left
    spread = TimeSpread(2 * counts.get(DAYS, 0.0), times)
    return ReleaseNoise(
        kept=left / counts["entries before"],
        values=(ValueSpread(None, values),) if values else (),
        times=(spread,) if times else (),
    )
