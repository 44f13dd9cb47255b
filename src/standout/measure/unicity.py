"""Unicity: the share of records that a few of their entries single out  [de Montjoye et al. 2013]."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from standout.attack.engine_kernels import BLOCK, U
from standout.cluster.workers import on_client
from standout.core.arrays import Bools, Ints
from standout.core.errors import ParameterError, whole_number
from standout.core.jit import Array, Flag, Int, kernel, subroutine
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.core.results import ResultView
from standout.core.threads import current_pool, run_in_slices
from standout.data.postings import Postings
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


NO_CODES = np.empty(0, np.uint8)
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
@with_progress
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


class RecordColumns(NamedTuple):
    """The entries by record, for the kernels; empty columns where the release has no values or times."""

    start: NDArray[np.int64]
    item: NDArray[Any]
    value: NDArray[Any]
    time: NDArray[Any]
    n_levels: int
    span: int

    @classmethod
    def of(cls, release: Release) -> "RecordColumns":
        """The columns of a release."""
        start, item, value, time = release.by_record
        value, time = (NO_CODES if value is None else value), (NO_CODES if time is None else time)
        return cls(start, item, value, time, release.n_levels, release.span)


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
    columns, least = RecordColumns.of(release), np.zeros(len(known.target), np.int64)

    def work_on(low: int, high: int, work: None) -> None:
        _find_smallest_sizes(release.by_item, columns, known, sizes, low, least[low:high])

    run_in_slices(len(least), threads, lambda: None, work_on, progress)
    return least


@kernel
def _find_smallest_sizes(
    postings: Postings, columns: RecordColumns, known: KnownEntries, sizes: Array, first: Int, least: Array
) -> None:
    """Write the smallest unique size of targets first, first + 1, … to `least`.

    A record that agrees with the first few entries is compared with the next ones before any other record.
    """
    for i in range(len(least)):
        q = first + i
        least[i], witness = sizes[-1] + 1, -1
        for size in sizes:
            if witness < 0 or not _agrees(columns, known, q, size, witness):
                witness = _find_witness(postings, columns, known, q, size)
            if witness < 0:
                least[i] = size
                break


@subroutine
def _find_witness(postings: Postings, columns: RecordColumns, known: KnownEntries, q: Int, size: Int) -> Int:
    """Another record that agrees with the first `size` entries, by way of the rarest item; or -1."""
    _, run, block, begin, end, word, value_bits, time_bits, _, _ = postings
    rarest = np.argmin(known.entries[q, :size])
    item = known.item[q, rarest]
    time_shift, record_shift = U(time_bits), U(time_bits + value_bits)
    time_mask, kind_mask = (U(1) << time_shift) - U(1), (U(1) << U(value_bits)) - U(1)
    compared = np.int64(-1)
    for j in range(run[item], run[item + 1]):
        for p in range(begin[j], end[j]):
            x = U(word[p])
            kind = np.int64((x >> time_shift) & kind_mask)
            has_time = kind <= columns.n_levels
            value = kind if has_time else kind - columns.n_levels - 1
            time = np.int64(x & time_mask) if has_time else columns.span
            if not _entry_agrees(known, q, rarest, value, time):
                continue
            record = np.int64(block[j]) * BLOCK + np.int64(x >> record_shift)
            if record == known.target[q] or record == compared:
                continue
            if _agrees(columns, known, q, size, record):
                return record
            compared = record  # its other entries of the item follow
    return -1


@subroutine
def _agrees(columns: RecordColumns, known: KnownEntries, q: Int, size: Int, record: Int) -> Flag:
    """Whether a record has the first `size` entries of a target, at the resolution."""
    for i in range(size):
        at, stop = _first_entry(columns, known, q, i, record), columns.start[record + 1]
        agrees = False
        while at < stop and columns.item[at] == known.item[q, i] and not agrees:
            value = np.int64(columns.value[at]) if len(columns.value) else columns.n_levels
            time = np.int64(columns.time[at]) if len(columns.time) else columns.span
            if time > known.time_high[q, i]:
                break
            agrees = _entry_agrees(known, q, i, value, time)
            at += 1
        if not agrees:
            return False
    return True


@subroutine
def _first_entry(columns: RecordColumns, known: KnownEntries, q: Int, i: Int, record: Int) -> Int:
    """Where a record's entries of a known item begin that are not too early, or what follows them."""
    low, high = columns.start[record], columns.start[record + 1]
    while low < high:
        middle = (low + high) // 2
        item = np.int64(columns.item[middle])
        is_early = len(columns.time) > 0 and np.int64(columns.time[middle]) < known.time_low[q, i]
        if item < known.item[q, i] or (item == known.item[q, i] and is_early):
            low = middle + 1
        else:
            high = middle
    return low


@subroutine
def _entry_agrees(known: KnownEntries, q: Int, i: Int, value: Int, time: Int) -> Flag:
    return (
        known.value_low[q, i] <= value <= known.value_high[q, i]
        and known.time_low[q, i] <= time <= known.time_high[q, i]
    )
