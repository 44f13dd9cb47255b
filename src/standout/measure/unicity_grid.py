"""Unicity of traces by resolution in space and time  [de Montjoye et al., Unique in the Crowd, 2013]."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from standout.core.arrays import Ints, codes_in_use
from standout.core.errors import ParameterError, whole_number
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.core.rng import generator
from standout.core.threads import run_in_slices
from standout.data.export import FrameExport, ResultView
from standout.data.labels import Clock
from standout.data.release import Codes, Release
from standout.evaluate.estimates import Estimate, rate
from standout.ingest.places import Geohash, Grid, PlaceCells, places_of
from standout.ingest.read import read
from standout.ingest.times import TimeBin

if TYPE_CHECKING:
    import polars as pl

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


def longest_shared(traces: Traces, targets: Ints, known: Ints, threads: int | None, progress: Progress) -> Ints:
    """For each target the largest k for which another trace has the first k points."""
    longest = np.zeros(len(targets), np.int64)

    def people_with(point: int) -> Ints:
        return traces.person[traces.point_start[point] : traces.point_start[point + 1]]

    def work_on(low: int, high: int, work: None) -> None:
        for q in range(low, high):
            others = people_with(known[q, 0])
            others = others[others != targets[q]]
            while len(others):
                longest[q] += 1
                if longest[q] == known.shape[1]:
                    break
                others = others[np.isin(others, people_with(known[q, longest[q]]))]

    run_in_slices(len(targets), threads, lambda: None, work_on, progress)
    return longest


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

    def _frame(self) -> "pl.DataFrame":
        return self.table

    def __str__(self) -> str:
        return "\n".join(
            f"{cell.points} points at {cell.places}{'' if cell.time_bin is None else f' × {cell.time_bin}'}: "
            f"{cell.share}"
            for cell in self.cells
        )


@dataclass(frozen=True, slots=True)
class Draw:
    """Numbers of points, and the random draw of targets: see `unicity_grid`."""

    points: Sequence[int] = (1, 2, 3, 4)
    targets: int | None = 1000
    seed: int = 0
    threads: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.points, str) or not isinstance(self.points, Sequence) or not self.points:
            raise ParameterError("points must be a list of whole numbers ≥ 1, such as [1, 2, 3, 4]")
        for count in self.points:
            whole_number("points", count, 1)
        if self.targets is not None:
            whole_number("targets", self.targets, 1)


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
    source : Release, path, list of paths, or frame
        Traces. A release must have places that are fine enough. Other sources are read once, at the finest
        resolution, or several times if the coarser ones do not nest in it. All repeats are kept.
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
    cells, bins = parse_resolutions(grids, geohashes, time_bins)
    draw = Draw(points, targets, seed, threads)
    if isinstance(source, Release):
        release = source.check()
        _require_nesting(release, cells, bins)
        return measure_grid(lambda place, time_bin: release, cells, bins, draw, progress)

    def read_at(place: PlaceCells, time_bin: TimeBin | None) -> Release:
        where = place.settings()
        when = {} if time_bin is None else {"time_bin": str(time_bin)}
        return read(source, **{**reading, **where, **when}, repeats="keep", progress=progress)

    return measure_grid(read_at, cells, bins, draw, progress)


def parse_resolutions(
    grids: Sequence[Any], geohashes: Sequence[Any], time_bins: Sequence[str]
) -> tuple[list[PlaceCells], list[TimeBin | None]]:
    """Resolutions in space and time, without repetitions."""
    if bool(grids) == bool(geohashes):
        raise ParameterError("grids or geohashes must be given, and not both, such as grids=[0.001, 0.01]")
    cells: list[PlaceCells] = [*map(Grid, grids), *map(Geohash, geohashes)]
    bins = [TimeBin.of(width) for width in time_bins]
    return list(dict.fromkeys(cells)), list(dict.fromkeys(bins)) or [None]


def measure_grid(
    read_at: Callable[[PlaceCells, TimeBin | None], Release],
    cells: Sequence[PlaceCells],
    bins: Sequence[TimeBin | None],
    draw: Draw,
    progress: Progress = no_progress,
) -> UnicityGrid:
    """Unicity for each resolution; `read_at` reads a release at one."""
    measured: dict[tuple[PlaceCells, TimeBin | None], list[UnicityCell]] = {}
    release: Release | None = None
    for fine_cells, coarser_cells in _nested(sorted(cells, key=_fineness)):
        for fine_bin, coarser_bins in _nested_bins(bins):
            release = read_at(fine_cells, fine_bin)
            for cell in coarser_cells:
                for time_bin in coarser_bins:
                    traces = Traces.of(release, cell, time_bin)
                    measured[cell, time_bin] = list(_measure(traces, release, cell, time_bin, draw, progress))
    assert release is not None
    ordered = tuple(result for cell in cells for time_bin in bins for result in measured[cell, time_bin])
    return UnicityGrid(ordered, release)


class _Resolution(Protocol):
    def nests_in(self, coarser: Self, /) -> bool: ...


R = TypeVar("R", bound=_Resolution)


def _fineness(cells: PlaceCells) -> int:
    return cells.units if isinstance(cells, Grid) else -cells.letters


def _nested(ascending: Sequence[R]) -> list[tuple[R, list[R]]]:
    """Group resolutions, the finest first, so that the first of each group nests in the others."""
    groups: list[tuple[R, list[R]]] = []
    for resolution in ascending:
        group = next((members for finest, members in groups if finest.nests_in(resolution)), None)
        if group is None:
            groups.append((resolution, [resolution]))
        else:
            group.append(resolution)
    return groups


def _nested_bins(bins: Sequence[TimeBin | None]) -> Sequence[tuple[TimeBin | None, Sequence[TimeBin | None]]]:
    known = [time_bin for time_bin in bins if time_bin is not None]
    if not known:
        return [(None, [None])]
    return _nested(sorted(known, key=lambda time_bin: time_bin.seconds or 31 * 86_400))


def _require_nesting(release: Release, cells: Sequence[PlaceCells], bins: Sequence[TimeBin | None]) -> None:
    """Raise an error if a release is too coarse, or if it has no places."""
    settings, clock = release.provenance.settings, release.clock
    places = places_of(settings)
    if places is None:
        raise ParameterError("source must have places as items: read it with grid or geohash")
    for cell in cells:
        if not places.nests_in(cell):
            raise ParameterError(f"source has places of {places}, which do not nest in {cell}: read it again")
    if bins == [None]:
        return
    if clock is None:
        raise ParameterError("time_bins must be left out: the release has no times")
    finest = TimeBin.of(settings.get("time bin", clock.unit))
    for time_bin in bins:
        if time_bin is not None and not finest.nests_in(time_bin):
            raise ParameterError(f"source has times by {finest}, which do not nest in {time_bin}: read it again")


def _measure(
    traces: Traces, release: Release, cells: PlaceCells, time_bin: TimeBin | None, draw: Draw, progress: Progress
) -> Iterator[UnicityCell]:
    most, n = max(draw.points), release.n_records
    order = generator(draw.seed, PURPOSE, "targets").permutation(n)
    eligible = order[np.diff(traces.start)[order] >= most]
    targets = eligible[: draw.targets]
    known = np.empty((len(targets), most), np.int64)
    for row, target in enumerate(targets.tolist()):
        low, high = traces.start[target], traces.start[target + 1]
        positions = generator(draw.seed, PURPOSE, release.records[target]).permutation(high - low)
        known[row] = traces.point[low + positions[:most]]
    shared = longest_shared(traces, targets, known, draw.threads, progress)
    for count in draw.points:
        share = rate(int((shared < count).sum()), len(targets), 1 / n)
        name = None if time_bin is None else str(time_bin)
        yield UnicityCell(str(cells), name, count, share, n - len(eligible))
