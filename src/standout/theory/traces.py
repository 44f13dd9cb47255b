"""Traces as sets of points at one resolution, and how many known points another trace shares."""

from typing import NamedTuple

import numpy as np

from standout.core.arrays import Ints, codes_in_use
from standout.core.jit import Array, Flag, Int, kernel, subroutine
from standout.core.progress import Progress
from standout.core.threads import run_in_slices
from standout.ingest.place_cells import PlaceCells, places_of
from standout.ingest.time_bins import TimeBin
from standout.release.clock import Clock
from standout.release.model import Codes, Release

__all__ = ["Traces", "longest_shared"]


class Traces(NamedTuple):
    """Traces as sets of points.

    Person i has point[start[i]:start[i + 1]], ascending; point p is in the traces of
    person[point_start[p]:point_start[p + 1]].
    """

    start: Ints
    point: Ints
    point_start: Ints
    person: Ints

    @classmethod
    def of(cls, release: Release, cells: PlaceCells, time_bin: TimeBin | None) -> "Traces":
        """The traces of a release at a resolution in which its own nests."""
        finest = places_of(release.provenance.settings)
        assert finest is not None
        start, item, _, time = release.by_record
        cell_of_item = np.unique(finest.cell_numbers(release.items, cells), return_inverse=True)[1]
        key = cell_of_item[item].astype(np.int64)
        if time_bin is not None and time is not None and release.clock is not None:
            bins = _bin_of_time(time, release.clock, time_bin)
            key = key * (int(bins.max(initial=0)) + 1) + bins
        return cls.from_pairs(np.repeat(np.arange(release.n_records), np.diff(start)), key, release.n_records)

    @classmethod
    def from_pairs(cls, person: Ints, key: Ints, n_people: int) -> "Traces":
        """The traces of (person, point) pairs, which may repeat; persons ascend."""
        size = int(key.max(initial=0)) + 1
        if size * max(n_people, 1) >= 1 << 63:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            size = int(key.max(initial=0)) + 1
        pairs = np.unique(person * size + key)
        person, key = pairs // size, pairs % size
        points, point = np.unique(key, return_inverse=True)
        point_start = np.append(0, np.cumsum(np.bincount(point, minlength=len(points)))).astype(np.int64)
        start = np.searchsorted(person, np.arange(n_people + 1)).astype(np.int64)
        return cls(start, point.astype(np.int64), point_start, person[np.argsort(point, kind="stable")])


def _bin_of_time(time: Codes, clock: Clock, time_bin: TimeBin) -> Ints:
    """Number of the bin of each time; entries without a time, the last code, have a bin of their own."""
    codes, place = codes_in_use(time, clock.span + 1)
    begins = time_bin.round_down(clock.origin + codes[codes < clock.span], clock.unit)
    numbers = np.unique(begins, return_inverse=True)[1].astype(np.int64)
    return np.asarray(np.append(numbers, numbers.max(initial=-1) + 1)[place])


def longest_shared(
    traces: Traces, targets: Ints, known: Ints, threads: int | None, progress: Progress
) -> Ints:
    """For each target the largest k for which another trace has the first k points."""
    longest = np.zeros(len(targets), np.int64)

    def work_on(low: int, high: int, work: None) -> None:
        _find_longest(*traces, targets[low:high], known[low:high], longest[low:high])

    run_in_slices(len(targets), threads, lambda: None, work_on, progress)
    return longest


@kernel
def _find_longest(
    start: Array,
    point: Array,
    point_start: Array,
    person: Array,
    targets: Array,
    known: Array,
    longest: Array,
) -> None:
    """Compare with each person who has the first point, because the others share no point of the draw."""
    for q in range(len(targets)):
        first = known[q, 0]
        for at in range(point_start[first], point_start[first + 1]):
            other = person[at]
            if other == targets[q]:
                continue
            k = 1
            while k < known.shape[1] and _has(point, start[other], start[other + 1], known[q, k]):
                k += 1
            longest[q] = max(longest[q], k)
            if k == known.shape[1]:
                break


@subroutine
def _has(point: Array, low: Int, high: Int, wanted: Int) -> Flag:
    """Whether point[low:high] has a point; a binary search."""
    while low < high:
        middle = (low + high) // 2
        if point[middle] < wanted:
            low = middle + 1
        elif point[middle] > wanted:
            high = middle
        else:
            return True
    return False
