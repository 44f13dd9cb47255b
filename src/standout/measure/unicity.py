"""Unicity: the share of records that a few of their entries single out  [de Montjoye et al. 2013]."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from itertools import chain, product
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from standout.cluster.workers import on_client
from standout.core.arrays import Bools, Ints, codes_in_use, offsets
from standout.core.errors import ParameterError, whole_number
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.core.threads import current_pool, run_in_slices
from standout.data.entries import first_entries, unpack_item
from standout.data.export import FrameExport, ResultView
from standout.data.release import Release
from standout.data.store import SharedIndex
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.targets import draw_targets, shuffled_entries
from standout.ingest.places import Geohash, Grid, PlaceCells, places_of
from standout.ingest.read import as_release, read
from standout.ingest.times import TimeBin
from standout.know.similarity import ROUNDING, Within, days_per_unit

if TYPE_CHECKING:
    import polars as pl

SLICE = 64
"""Number of targets in a task of a worker."""


# Points of records: their distinct entries at a resolution  [de Montjoye et al. 2013].
#
# A point is an item, with the bin of its time and with its value if these are known. A record that has an item
# several times in one bin, with one value, has this point once: it is not likelier to be known.


RecordPoints = tuple[Ints, Ints | None]
"""Record r has the points start[r] to start[r + 1], and the first entry of each point; None: each entry is a point."""


def record_points(release: Release, with_values: bool, bin_width: int | None) -> RecordPoints:
    """Return the distinct points of each record; times are known in bins of a width, None: not known."""
    side = release.by_record
    if not release.has_repeats:
        return side.start, None
    value, time = (side.value if with_values else None), None
    if bin_width is not None and side.time is not None and release.clock is not None:
        number = (side.time.astype(np.int64) + release.clock.origin) // bin_width
        time = np.where(side.time < release.span, number, np.iinfo(np.int64).max)  # missing: a bin of its own
    group, order = np.cumsum(first_entries(side)), np.arange(release.n_entries)
    if value is not None and bin_width != 1:  # otherwise equal points stand together: by time, then by value
        order = np.lexsort((value, group) if time is None else (value, time, group))
    is_new = np.append(True, np.diff(group[order]) != 0)
    for column in (value, time):
        if column is not None:
            is_new[1:] |= column[order[1:]] != column[order[:-1]]
    return offsets(is_new)[side.start], order[is_new]


def draw_points(
    release: Release, points: RecordPoints, targets: int | None, count: int, seed: int, purpose: str
) -> tuple[Ints, Ints, int]:
    """Random targets with at least `count` points, entries of `count` points of each, and who has too few."""
    start, entry = points
    chosen, too_few = draw_targets(release, targets, count, seed, purpose, np.diff(start))
    drawn = np.array(shuffled_entries(release, chosen, seed, purpose, count, start), np.int64).reshape(-1, count)
    return chosen, drawn if entry is None else entry[drawn], too_few


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
) -> Any:
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
        Number of entries; a list for several, which gives a list of results. Each k uses the first k entries of one
        draw, for the same targets: those with at least as many entries as the largest k.
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
    given = list(k) if isinstance(k, Sequence) and not isinstance(k, str) else [k]
    if not given:
        raise ParameterError("k is empty: give a whole number ≥ 1, or several")
    sizes, release = sorted({whole_number("k", size, 1) for size in given}), as_release(release)
    Within(value, None)  # checks the distance
    width = None if time is None else _bin_width(release, time)
    points = record_points(release.check(), value is not None, width)
    target, entry, too_few = draw_points(release, points, targets, sizes[-1], seed, "unicity")
    known = _known_entries(release, target, entry, value, width)
    pool, index, n = current_pool(), SharedIndex.of(release), len(known.target)
    if pool is None or index is None:
        least = _least_known(release, known, np.array(sizes), threads, progress)
    else:
        slices = [slice(low, low + SLICE) for low in range(0, n, SLICE)]
        tasks = ((index, KnownEntries(*(column[part] for column in known)), np.array(sizes)) for part in slices)
        least = np.empty(n, np.int64)
        for part, found in zip(slices, pool.map(_least_on_worker, tasks), strict=True):
            least[part] = found
            progress("attacking", min(part.stop, n), n)
    results = {
        size: Unicity(size, rate(int((least <= size).sum()), n, 1 / release.n_records), too_few) for size in sizes
    }
    return [results[size] for size in given] if isinstance(k, Sequence) else results[sizes[0]]


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


def _known_entries(
    release: Release, targets: Ints, entries: Ints, value: float | None, width: int | None
) -> KnownEntries:
    """The known entries of each target; values up to `value` apart agree, and times in one bin.

    All codes agree with a missing value or time.
    """
    columns, levels, span = release.by_record, release.levels, release.span
    item = columns.item[entries].astype(np.int64)
    zeros = np.zeros_like(item)
    values, times = (zeros, zeros + release.n_levels), (zeros, zeros + span)
    if value is not None and columns.value is not None and levels is not None:
        low = high = np.arange(len(levels))
        if not isinstance(levels, tuple):
            low = np.searchsorted(levels, levels - value - ROUNDING, side="left")
            high = np.searchsorted(levels, levels + value + ROUNDING, side="right") - 1
        code = columns.value[entries]
        values = np.append(low, 0)[code], np.append(high, len(levels))[code]
    if width is not None and columns.time is not None and release.clock is not None:
        time, origin = columns.time[entries].astype(np.int64), release.clock.origin
        first = (time + origin) // width * width - origin
        lowest, highest = np.maximum(first, 0), np.minimum(first + width, span) - 1
        times = np.where(time < span, lowest, 0), np.where(time < span, highest, span)
    return KnownEntries(targets, item, release.item_entries[item], *values, *times)


def _bin_width(release: Release, time: Any) -> int:
    """The width of a bin in units of the release's clock, or a ParameterError."""
    unit = "day" if release.clock is None else release.clock.unit
    is_number = isinstance(time, Real) and not isinstance(time, bool) and math.isfinite(time)
    width = float(time) / days_per_unit(release) if is_number else 0.0
    if round(width) < 1 or abs(width - round(width)) > ROUNDING:
        raise ParameterError(f"time is in days and must be a whole number of {unit}s ≥ 1, got {time!r}")
    return min(round(width), 2**62)


def _least_on_worker(index: SharedIndex, known: KnownEntries, sizes: Ints) -> Ints:
    return _least_known(index.open(), known, sizes, 1, no_progress)


def _least_known(release: Release, known: KnownEntries, sizes: Ints, threads: int | None, progress: Progress) -> Ints:
    """For each target the smallest size that singles it out; one more than the largest if none does."""

    def agreeing(q: int, i: int) -> Ints:
        """Records with an entry that agrees with a known one."""
        record, value, time = unpack_item(release.by_item, int(known.item[q, i]), release.n_levels, release.span)
        fits = (known.value_low[q, i] <= value) & (value <= known.value_high[q, i])
        return np.asarray(record[fits & (known.time_low[q, i] <= time) & (time <= known.time_high[q, i])])

    return _least_sizes(known.target, known.entries, agreeing, sizes, release.n_records, threads, progress)


def _least_sizes(
    target: Ints,
    entries: Ints,
    agreeing: Callable[[int, int], Ints],
    sizes: Ints,
    n_records: int,
    threads: int | None,
    progress: Progress,
) -> Ints:
    """The smallest size that singles out each target; agreeing(q, i) are the records that agree with its fact i."""
    least = np.full(len(target), sizes[-1] + 1, np.int64)

    def work_on(low: int, high: int, agrees: Bools) -> None:
        for q in range(low, high):
            done, others = 0, None  # other records that agree with the first `done` entries
            for size in sizes.tolist():
                for i in done + np.argsort(entries[q, done:size], kind="stable"):  # the rarest item first
                    if others is None:
                        others = agreeing(q, i)
                        others = others[others != target[q]]
                    elif len(others):
                        records = agreeing(q, i)
                        agrees[records] = True
                        others = others[agrees[others]]
                        agrees[records] = False
                done = size
                if others is not None and not len(others):
                    least[q] = size
                    break

    run_in_slices(len(least), threads, lambda: np.zeros(n_records, np.bool_), work_on, progress)
    return least


# Traces as sets of points at one resolution, and how many known points another trace shares.


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
        finest, clock = places_of(release.provenance.settings), release.clock
        assert finest is not None
        start, item, _, time = release.by_record
        key = np.unique(finest.cell_numbers(release.items, cells), return_inverse=True)[1][item].astype(np.int64)
        if time_bin is not None and time is not None and clock is not None:
            codes, place = codes_in_use(time, clock.span + 1)
            begins = time_bin.round_down(clock.origin + codes[codes < clock.span], clock.unit)
            number = np.unique(begins, return_inverse=True)[1]  # entries without a time have a bin of their own
            bins = np.append(number, number.max(initial=-1) + 1)[place]
            key = key * (int(bins.max(initial=0)) + 1) + bins
        person = np.repeat(np.arange(release.n_records), np.diff(start))
        if (int(key.max(initial=0)) + 1) * max(release.n_records, 1) >= 1 << 63:
            key = np.unique(key, return_inverse=True)[1]
        size = int(key.max(initial=0)) + 1
        person, key = np.divmod(np.unique(person * size + key), size)
        point = np.unique(key, return_inverse=True)[1]
        by_person = np.searchsorted(person, np.arange(release.n_records + 1))
        return cls(by_person, point, offsets(np.bincount(point)), person[np.argsort(point, kind="stable")])


PURPOSE = "unicity grid"
COLUMNS = ("places", "time_bin", "points", "singled_out", "low", "high", "n", "baseline", "too_few_points")


@dataclass(frozen=True, slots=True)
class UnicityCell:
    """Unicity at one resolution: the share of people whom some random points of their trace single out."""

    places: str
    time_bin: str | None
    points: int
    share: Estimate
    too_few_points: int


@dataclass(frozen=True, slots=True)
class UnicityGrid(ResultView, FrameExport):
    """Unicity for each number of points and each resolution."""

    cells: tuple[UnicityCell, ...]
    release: Release

    @property
    def table(self) -> "pl.DataFrame":
        """One row for each resolution and number of points."""
        import polars as pl

        rows = [
            (cell.places, cell.time_bin, cell.points, *astuple(cell.share), cell.too_few_points) for cell in self.cells
        ]
        return pl.DataFrame(rows, schema=COLUMNS, orient="row", infer_schema_length=None)

    def __str__(self) -> str:
        return "\n".join(
            f"{cell.points} points at {cell.places}{'' if cell.time_bin is None else f' × {cell.time_bin}'}: "
            f"{cell.share}"
            for cell in self.cells
        )


@with_progress
def unicity_grid(
    source: Any,
    *,
    grids: Sequence[float | str] = (),
    geohashes: Sequence[int | str] = (),
    time_bins: Sequence[str] = (),
    points: Sequence[int] = (1, 2, 3, 4),
    targets: int | None = 1000,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
    **reading: Any,
) -> UnicityGrid:
    """Share of people whom p random points of their trace single out, for several resolutions.

    A point is a place in a bin of time. A trace is the set of a person's different points. A person is
    singled out if no other trace has all p points. The baseline is a random guess, 1/N.

    Parameters
    ----------
    source : Release, path, list of paths, frame or function
        Traces. A release must have places that are fine enough. Other sources are read once, at the finest
        resolution, or several times if the coarser ones do not nest in it. All repeats are kept. A function
        is called with a resolution of places and of times (None: unknown), and returns a release.
    grids : list of float or str
        Sides of squares in degrees.
    geohashes : list of int
        Numbers of letters, instead of `grids`.
    time_bins : list of str
        Widths such as "hour", "6h", "day", "week"; empty: times are unknown. Entries without a time are in a
        bin of their own.
    points : list of int
        Numbers of known points. Each uses the first points of one draw, for the same targets: people with at
        least as many different points as the largest number.
    targets : int, optional
        Number of targets; None: all people with enough points.
    **reading
        Other parameters of `read`, such as `latitude`.

    Examples
    --------
    >>> import polars as pl
    >>> import standout as so
    >>> frame = pl.DataFrame({
    ...     "user": ["ann", "ann", "bob", "bob"],
    ...     "lat": [37.751, 37.761, 37.751, 37.799],
    ...     "lon": [-122.401, -122.411, -122.402, -122.499],
    ...     "time": ["2008-05-17", "2008-05-18", "2008-05-17", "2008-05-18"],
    ... })
    >>> print(so.unicity_grid(frame, grids=[0.01, 1], time_bins=["day"], points=[2]))
    2 points at 0.01° × day: 1.000 (0.342 to 1.000, n = 2)
    2 points at 1° × day: 0.000 (0.000 to 0.658, n = 2)
    """
    if bool(grids) == bool(geohashes):
        raise ParameterError("grids or geohashes must be given, and not both, such as grids=[0.001, 0.01]")
    if isinstance(points, str) or not isinstance(points, Sequence) or not points:
        raise ParameterError("points must be a list of whole numbers ≥ 1, such as [1, 2, 3, 4]")
    sizes = np.unique([whole_number("points", count, 1) for count in points])
    targets = None if targets is None else whole_number("targets", targets, 1)
    cells: list[PlaceCells] = list(dict.fromkeys([*map(Grid, grids), *map(Geohash, geohashes)]))
    bins: list[TimeBin | None] = list(dict.fromkeys(map(TimeBin.of, time_bins))) or [None]
    if isinstance(source, Release):
        _require_nesting(source.check(), cells, bins)

    def read_at(place: PlaceCells, time_bin: TimeBin | None) -> Any:
        if isinstance(source, Release):
            return source
        if callable(source):
            return source(place, time_bin)
        when = {} if time_bin is None else {"time_bin": str(time_bin)}
        return read(source, **{**reading, **place.settings(), **when}, repeats="keep", progress=progress)

    measured: dict[tuple[PlaceCells, TimeBin | None], list[UnicityCell]] = {}
    by_size = sorted(cells, key=lambda cell: cell.units if isinstance(cell, Grid) else -cell.letters)
    by_width = sorted((width for width in bins if width), key=lambda width: width.seconds or 31 * 86_400)
    for (fine_cells, coarser_cells), (fine_bin, coarser_bins) in product(
        _nested(by_size), _nested(by_width) or [(None, [None])]
    ):
        release: Release = read_at(fine_cells, fine_bin)
        for place, time_bin in product(coarser_cells, coarser_bins):
            least, too_few = _least_points(
                release, Traces.of(release, place, time_bin), sizes, targets, seed, threads, progress
            )
            name, guess = None if time_bin is None else str(time_bin), 1 / release.n_records
            shares = [rate(int((least <= count).sum()), len(least), guess) for count in points]
            measured[place, time_bin] = [
                UnicityCell(str(place), name, count, share, too_few)
                for count, share in zip(points, shares, strict=True)
            ]
    return UnicityGrid(tuple(chain.from_iterable(measured[each] for each in product(cells, bins))), release)


def _nested(resolutions: Iterable[Any]) -> list[tuple[Any, list[Any]]]:
    """Group resolutions, the finest first, so that the first of each group nests in the others."""
    groups: list[tuple[Any, list[Any]]] = []
    for resolution in resolutions:
        group = next((members for finest, members in groups if finest.nests_in(resolution)), None)
        if group is None:
            groups.append((resolution, [resolution]))
        else:
            group.append(resolution)
    return groups


def _require_nesting(release: Release, cells: Sequence[PlaceCells], bins: Sequence[TimeBin | None]) -> None:
    """Raise an error if a release is too coarse, or if it has no places."""
    settings, clock = release.provenance.settings, release.clock
    places = places_of(settings)
    if places is None:
        raise ParameterError("source must have places as items: read it with grid or geohash")
    for cell in cells:
        if not places.nests_in(cell):
            raise ParameterError(f"source has places of {places}, which do not nest in {cell}: read it again")
    for time_bin in filter(None, bins):
        if clock is None:
            raise ParameterError("time_bins must be left out: the release has no times")
        finest = TimeBin.of(settings.get("time bin", clock.unit))
        if not finest.nests_in(time_bin):
            raise ParameterError(f"source has times by {finest}, which do not nest in {time_bin}: read it again")


def _least_points(
    release: Release, traces: Traces, sizes: Ints, targets: int | None, seed: int, threads: int | None,
    progress: Progress,
) -> tuple[Ints, int]:  # fmt: skip
    """For each random target the smallest size that singles it out, and how many people have too few points."""
    target, position, too_few = draw_points(release, (traces.start, None), targets, int(sizes[-1]), seed, PURPOSE)
    known = traces.point[position]

    def people_with(q: int, i: int) -> Ints:
        return traces.person[slice(*traces.point_start[known[q, i] : known[q, i] + 2])]

    entries = np.diff(traces.point_start)[known]
    return _least_sizes(target, entries, people_with, sizes, release.n_records, threads, progress), too_few
