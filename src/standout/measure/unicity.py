"""Unicity: the share of records that a few of their entries single out  [de Montjoye et al. 2013]."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, overload

import numpy as np

from standout.cluster.workers import on_client
from standout.core.arrays import Bools, Ints
from standout.core.errors import ParameterError, whole_number
from standout.core.progress import Progress, ProgressOption, no_progress
from standout.core.threads import current_pool, run_in_slices
from standout.data.entries import unpack_item
from standout.data.export import ResultView
from standout.data.release import Levels, Release
from standout.data.store import SharedIndex
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.targets import draw_targets, shuffled_entries
from standout.ingest.read import as_release
from standout.know.similarity import ROUNDING, Within, days_per_unit

# Points of records: their distinct entries at a resolution  [de Montjoye et al. 2013].
#
# A point is an item, with the bin of its time and with its value if these are known. A record that has an item
# several times in one bin, with one value, has this point once: it is not likelier to be known.


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
    value, time = (side.value if with_values else None), _bins_points(release, bin_width)
    group, order = np.cumsum(_begins(release)), np.arange(release.n_entries)
    if value is not None and bin_width != 1:  # otherwise equal points stand together: by time, then by value
        order = np.lexsort((value, group) if time is None else (value, time, group))
    is_new = np.append(True, np.diff(group[order]) != 0)
    for column in (value, time):
        if column is not None:
            is_new[1:] |= column[order[1:]] != column[order[:-1]]
    return RecordPoints(np.append(0, np.cumsum(is_new))[side.start], order[is_new])


def _bins_points(release: Release, width: int | None) -> Ints | None:
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


SLICE = 64
"""Number of targets in a task of a worker."""


@dataclass(frozen=True, slots=True)
class Unicity(ResultView):
    """The share of records that k random entries single out.

    Attributes
    ----------
    k
        Number of entries.
    share
        The share of targets that no other record agrees with.
    too_few_entries
        Number of records with too few distinct entries to be targets.

    Examples
    --------
    >>> from standout.evaluate.estimates import rate
    >>> print(Unicity(4, rate(95, 100), too_few_entries=7))
    4 entries single out 0.950 (0.888 to 0.978, n = 100); records with too few entries: 7
    """

    k: int
    share: Estimate
    too_few_entries: int

    def __str__(self) -> str:
        entries = "1 entry singles" if self.k == 1 else f"{self.k} entries single"
        note = f"; records with too few entries: {self.too_few_entries:,}" if self.too_few_entries else ""
        return f"{entries} out {self.share}{note}"


@overload
def unicity(
    release: Release | Any,
    k: int,
    *,
    value: float | None = 0,
    time: float | None = None,
    targets: int | None = 1000,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
    client: Any = None,
) -> Unicity: ...
@overload
def unicity(
    release: Release | Any,
    k: Sequence[int],
    *,
    value: float | None = 0,
    time: float | None = None,
    targets: int | None = 1000,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
    client: Any = None,
) -> list[Unicity]: ...
@on_client
def unicity(
    release: Release | Any,
    k: int | Sequence[int],
    *,
    value: float | None = 0,
    time: float | None = None,
    targets: int | None = 1000,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
    client: Any = None,
) -> Unicity | list[Unicity]:
    """Share of records that k of their entries, drawn at random, single out: no other record has all k.

    This is the measure of the literature on mobility data [de Montjoye et al., Unique in the Crowd, 2013].
    An entry without a value or time is known without it; a record that lacks a known value or time does not
    agree. The baseline is a random guess, 1/N.

    If records have items several times, what is known are points: distinct entries at the resolution of
    `value` and `time`. Two visits to a place in one bin are one point. k different points are drawn, all
    equally likely, and a record agrees if it has, for each of them, some entry that agrees.

    Parameters
    ----------
    release
        The release. A path or frame is read with the default options of `standout.read`.
    k
        Number of entries, or several. With several k, each uses the first k entries of one draw, for the same
        targets: those with at least as many entries as the largest k.
    value
        Values agree if they are at most this far apart; None: values are unknown.
    time
        Times agree if they are in the same bin of this many days; None: times are unknown. Bins begin on 1
        January 1970, so two consecutive days may be in one bin or in two: a bin is not the same as ± days.
    targets
        Number of targets; None: all records with enough entries.
    client
        A `distributed.Client`: its workers compare slices of the targets, if the release is an open index
        that they can read at the same path. It changes no result. Default: threads of this process.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> print(unicity(release, 3, time=30))
    3 entries single out 0.998 (0.987 to 1.000, n = 436); records with too few entries: 64
    >>> [round(result.share.value, 2) for result in unicity(release, [1, 2, 3, 4])]
    [0.01, 0.12, 0.4, 0.76]
    """
    sizes, release = _sizes(k), as_release(release)
    Within(value, None)  # checks the distance
    width = None if time is None else _bin_width(release, time)
    points = record_points(release.check(), value is not None, width)
    drawn = draw_points(release, points, targets, sizes[-1], seed, "unicity")
    known = _known_entries(release, drawn.target, drawn.entry, value, width)
    least = _smallest_unique_sizes(release, known, np.array(sizes, np.int64), threads, progress)
    results = {
        size: Unicity(size, rate(int((least <= size).sum()), len(least), 1 / release.n_records), drawn.too_few)
        for size in sizes
    }
    return [results[size] for size in k] if isinstance(k, Sequence) else results[sizes[0]]


class KnownEntries(NamedTuple):
    """The known entries of targets, one row for each target.

    target              the target's record
    item, entries       the items, and how many entries each has
    value_low … high    the lowest and highest value code that agrees
    time_low … high     the lowest and highest time code that agrees
    """

    target: Ints
    item: Ints
    entries: Ints
    value_low: Ints
    value_high: Ints
    time_low: Ints
    time_high: Ints


def _sizes(k: Any) -> list[int]:
    """The different k, in ascending order."""
    given = list(k) if isinstance(k, Sequence) and not isinstance(k, str) else [k]
    if not given:
        raise ParameterError("k is empty: give a whole number ≥ 1, or several")
    return sorted({whole_number("k", size, 1) for size in given})


def _known_entries(
    release: Release, targets: Ints, entries: Ints, value: float | None, width: int | None
) -> KnownEntries:
    """The known entries of each target; values up to `value` apart agree, and times in one bin."""
    columns = release.by_record
    item = columns.item[entries].astype(np.int64)
    zeros = np.zeros_like(item)
    values, times = (zeros, zeros + release.n_levels), (zeros, zeros + release.span)
    if value is not None and columns.value is not None and release.levels is not None:
        lowest, highest = _agreeing_levels(release.levels, value)
        values = lowest[columns.value[entries]], highest[columns.value[entries]]
    if width is not None and columns.time is not None and release.clock is not None:
        times = _bins(columns.time[entries].astype(np.int64), release.clock.origin, release.span, width)
    return KnownEntries(targets, item, release.item_entries[item], *values, *times)


def _agreeing_levels(levels: Levels, width: float) -> tuple[Ints, Ints]:
    """The lowest and highest agreeing code of each value code; all codes agree with a missing value."""
    n = len(levels)
    if isinstance(levels, tuple):
        low = high = np.arange(n)
    else:
        low = np.searchsorted(levels, levels - width - ROUNDING, side="left")
        high = np.searchsorted(levels, levels + width + ROUNDING, side="right") - 1
    return np.append(low, 0).astype(np.int64), np.append(high, n).astype(np.int64)


def _bins(time: Ints, origin: int, span: int, width: int) -> tuple[Ints, Ints]:
    """The first and last code of each time's bin within the release; all codes for a missing time."""
    first = (time + origin) // width * width - origin
    low, high = np.maximum(first, 0), np.minimum(first + width, span) - 1
    return np.where(time < span, low, 0), np.where(time < span, high, span)


def _bin_width(release: Release, time: Any) -> int:
    """The width of a bin in units of the release's clock, or a ParameterError."""
    unit = "day" if release.clock is None else release.clock.unit
    is_number = isinstance(time, Real) and not isinstance(time, bool) and math.isfinite(time)
    width = float(time) / days_per_unit(release) if is_number else 0.0
    if round(width) < 1 or abs(width - round(width)) > ROUNDING:
        raise ParameterError(f"time is in days and must be a whole number of {unit}s ≥ 1, got {time!r}")
    return min(round(width), 2**62)


def _smallest_unique_sizes(
    release: Release, known: KnownEntries, sizes: Ints, threads: int | None, progress: Progress
) -> Ints:
    """For each target the smallest size that singles it out; one more than the largest if none does."""
    pool, index, n = current_pool(), SharedIndex.of(release), len(known.target)
    if pool is None or index is None:
        return _smallest_sizes(release, known, sizes, threads, progress)
    parts = [np.empty(0, np.int64)]
    slices = [slice(low, low + SLICE) for low in range(0, n, SLICE)]
    tasks = ((index, KnownEntries(*(column[part] for column in known)), sizes) for part in slices)
    for part, least in zip(slices, pool.map(_smallest_sizes_on_worker, tasks), strict=True):
        parts.append(least)
        progress("attacking", min(part.stop, n), n)
    return np.concatenate(parts)


def _smallest_sizes_on_worker(index: SharedIndex, known: KnownEntries, sizes: Ints) -> Ints:
    return _smallest_sizes(index.open(), known, sizes, 1, no_progress)


def _smallest_sizes(
    release: Release, known: KnownEntries, sizes: Ints, threads: int | None, progress: Progress
) -> Ints:
    least = np.full(len(known.target), sizes[-1] + 1, np.int64)

    def agreeing(q: int, i: int) -> Ints:
        """Records with an entry that agrees with a known one."""
        record, value, time = unpack_item(release.by_item, int(known.item[q, i]), release.n_levels, release.span)
        fits = (known.value_low[q, i] <= value) & (value <= known.value_high[q, i])
        return np.asarray(record[fits & (known.time_low[q, i] <= time) & (time <= known.time_high[q, i])])

    def work_on(low: int, high: int, agrees: Bools) -> None:
        for q in range(low, high):
            done, others = 0, None  # other records that agree with the first `done` entries
            for size in sizes.tolist():
                for i in done + np.argsort(known.entries[q, done:size], kind="stable"):  # the rarest item first
                    if others is None:
                        others = agreeing(q, i)
                        others = others[others != known.target[q]]
                    elif len(others):
                        records = agreeing(q, i)
                        agrees[records] = True
                        others = others[agrees[others]]
                        agrees[records] = False
                done = size
                if others is not None and not len(others):
                    least[q] = size
                    break

    run_in_slices(len(least), threads, lambda: np.zeros(release.n_records, np.bool_), work_on, progress)
    return least
