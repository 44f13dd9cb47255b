"""Points of records: their distinct entries at a resolution  [de Montjoye et al. 2013].

A point is an item, with the bin of its time and with its value if these are known. A record that has an item
several times in one bin, with one value, has this point once: it is not likelier to be known.
"""

from typing import NamedTuple

import numpy as np

from standout.core.arrays import Bools, Ints
from standout.evaluate.targets import draw_targets, shuffled_entries
from standout.release.model import Release

__all__ = ["DrawnPoints", "RecordPoints", "draw_points", "record_points"]


class RecordPoints(NamedTuple):
    """Record r has the points start[r] to start[r + 1].

    `entry` is the first entry of each point, by record; None: each entry is a point.
    """

    start: Ints
    entry: Ints | None


class DrawnPoints(NamedTuple):
    """Random targets, `count` random points of each as entries by record, and who has too few points."""

    target: Ints
    entry: Ints
    too_few: int


def record_points(release: Release, with_values: bool, bin_width: int | None) -> RecordPoints:
    """Return the distinct points of each record; times are known in bins of a width, None: not known."""
    side = release.by_record
    if not release.has_repeats:
        return RecordPoints(side.start, None)
    value, time = (side.value if with_values else None), _bins(release, bin_width)
    group, order = np.cumsum(_begins(release)), np.arange(release.n_entries)
    if value is not None and bin_width != 1:  # otherwise equal points stand together: by time, then by value
        order = np.lexsort((value, group) if time is None else (value, time, group))
    is_new = np.append(True, np.diff(group[order]) != 0)
    for column in (value, time):
        if column is not None:
            is_new[1:] |= column[order[1:]] != column[order[:-1]]
    return RecordPoints(np.append(0, np.cumsum(is_new))[side.start], order[is_new])


def _bins(release: Release, width: int | None) -> Ints | None:
    """The bin of each entry's time, a number of its own where it is missing; None if times are not known."""
    time = release.by_record.time
    if width is None or time is None or release.clock is None:
        return None
    number = (time.astype(np.int64) + release.clock.origin) // width
    return np.where(time < release.span, number, np.iinfo(np.int64).max)


def _begins(release: Release) -> Bools:
    """Which entries are the first of their record and item."""
    start, item = release.by_record.start, release.by_record.item
    begins = np.append(True, item[1:] != item[:-1])
    begins[start[:-1][release.lengths > 0]] = True
    return begins


def draw_points(
    release: Release, points: RecordPoints, targets: int | None, count: int, seed: int, purpose: str
) -> DrawnPoints:
    """Draw targets with at least `count` points, and `count` random points of each, all equally likely."""
    chosen, too_few = draw_targets(release, targets, count, seed, purpose, np.diff(points.start))
    drawn = shuffled_entries(release, chosen, seed, purpose, count, points.start)
    at = np.array(drawn, np.int64).reshape(-1, count)
    return DrawnPoints(chosen, at if points.entry is None else points.entry[at], too_few)
