"""`so.reproduce`: compute every figure of the paper on one release and write the results to a folder."""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from standout._version import __version__
from standout.cluster.workers import on_client
from standout.core.arrays import Ints
from standout.core.errors import ParameterError, whole_number
from standout.core.files import make_folder, write_content
from standout.core.json_files import CHECKPOINTS, read_checkpoint, write_checkpoint
from standout.core.progress import Progress, ProgressMeter, ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.core.text import escaped_json
from standout.core.threads import thread_count
from standout.data.release import Release
from standout.paper import readings as bit_readings
from standout.paper import readings as film_readings
from standout.paper import readings as neighbour_readings
from standout.paper.attack_runner import AttackRunner
from standout.paper.comparison_rows import ComparisonRow, is_small_standin, number, with_full_size
from standout.paper.figure import Figure, FigureResult
from standout.paper.figures import FIGURES, select_figures
from standout.paper.figures_page import page, run_facts
from standout.paper.readings import Reading, count_qualifying
from standout.paper.reproduction import Reproduction
from standout.paper.synthesize import qualifying_of_standin
from standout.report.charts import Bar, Chart, Measured, Point, bars, columns, curves

__all__ = ["READINGS", "ResultCache", "chart_of", "reproduce", "write_files"]

# Results of earlier runs with the same settings, one file for each figure.


Result = TypeVar("Result")


@dataclass(frozen=True)
class ResultCache:
    """Results by name. The settings they depend on are part of the file name."""

    folder: Path
    settings: tuple[object, ...]

    def _about(self, name: str) -> str:
        return json.dumps([name, *self.settings])

    def _path(self, name: str) -> Path:
        digest = hashlib.blake2b(self._about(name).encode(), digest_size=6).hexdigest()
        return self.folder / f"{name}.{digest}.checkpoint"

    def get(self, name: str, parse: Callable[[Any], Result]) -> Result | None:
        """The stored result, parsed; None if there is none that can be used."""
        return read_checkpoint(self._path(name), self._about(name), lambda content: parse(json.loads(content)))

    def put(self, name: str, result: Any) -> None:
        """Store a result."""
        write_checkpoint(self._path(name), self._about(name), json.dumps(result).encode())


# The files of a reproduction: each figure as CSV, SVG and PNG, all numbers, and the page.


BAR_COLUMNS = (
    "panel",
    "label",
    "paper",
    "measured",
    "low",
    "high",
    "n",
    "difference",
    "sampling_error",
    "within_sampling_error",
    "within_goal",
    "likelihood",
    "likelihood_low",
    "likelihood_high",
)
DESCRIBED_ROWS = 12


def write_files(reproduction: Reproduction) -> None:
    """Write all files; remove those of figures that are no longer among the results."""
    folder = make_folder(reproduction.folder / "figures")
    drawings = {}
    for figure in FIGURES:
        if figure.key in reproduction.results:
            drawings[figure.key] = _write_figure(folder, figure, reproduction.results[figure.key])
        else:
            for suffix in ("csv", "svg", "png"):
                (folder / f"{figure.key}.{suffix}").unlink(missing_ok=True)
    write_content(reproduction.folder / "validation.csv", reproduction.table.write_csv())
    readings = ((*reading, reading.difference) for reading in reproduction.readings)
    write_content(reproduction.folder / "readings.csv", _csv((*Reading._fields, "difference"), readings))
    about = run_facts(reproduction)._asdict() | {
        "summary": reproduction.summary,
        "stronger_attack": reproduction.stronger_attack,
    }
    write_content(reproduction.folder / "about.json", escaped_json(about, indent=1) + "\n")
    write_content(reproduction.page, page(reproduction, drawings))


def _write_figure(folder: Path, figure: Figure, result: FigureResult) -> str:
    """Write a figure's files; returns its SVG drawing."""
    chart = chart_of(figure, result)
    title, description = f"{figure.name}: {figure.title}", _description(figure, result)
    write_content(folder / f"{figure.key}.csv", _figure_csv(result))
    chart.write(folder / figure.key, title, description)
    return (folder / f"{figure.key}.svg").read_text(encoding="utf-8").rstrip("\n")


def chart_of(figure: Figure, result: FigureResult) -> Chart:
    """The chart of a figure."""
    x = figure.axes[0]
    if figure.chart == "columns":
        return columns(result.points, x, figure.axes[1])
    if figure.chart == "curves":
        return curves(result.points, x, figure.axes[1], figure.reference_series)
    full_size = any(row.full_size is not None for row in result.rows)
    return bars([_bar(row) for row in result.rows], x, ("ours", "full size" if full_size else "paper", "likelihood"))


def _bar(row: ComparisonRow) -> Bar:
    stronger = None
    if row.likelihood is not None:
        stronger = Measured(row.likelihood, row.likelihood_low, row.likelihood_high)
    return Bar(row.panel, row.label, row.measured, row.low, row.high, row.compared_with, stronger)


def _description(figure: Figure, result: FigureResult) -> str:
    """The content of the chart as text, for readers who cannot see it."""
    rows = [_row_text(row) for row in result.rows[:DESCRIBED_ROWS]]
    return f"{figure.text.description} {'; '.join(rows)}."


def _row_text(row: ComparisonRow) -> str:
    name = ", ".join(filter(None, (row.panel, row.label)))
    stronger = "" if row.likelihood is None else f", likelihood {number(row.likelihood, row.unit)}"
    full_size = "" if row.full_size is None else f", full size {number(row.full_size.value, row.unit)}"
    paper = number(row.paper, row.unit)
    return f"{name}: ours {number(row.measured, row.unit)}{full_size}, paper {paper}{stronger}"


def _figure_csv(result: FigureResult) -> str:
    """The numbers of a figure as CSV: the points of its curves, or its bars."""
    if result.points:
        return _csv(Point._fields, result.points)
    rows = ([getattr(row, column) for column in BAR_COLUMNS] + [_full_size(row)] for row in result.rows)
    return _csv((*BAR_COLUMNS, "full_size"), rows)


def _full_size(row: ComparisonRow) -> float | None:
    return None if row.full_size is None else row.full_size.value


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return text.getvalue()


@dataclass(frozen=True)
class _ReadingTask:
    """How the readings of a figure are computed, and the approximate time at the paper's size."""

    compute: Callable[[AttackRunner], tuple[Reading, ...]]
    seconds: float


READINGS = {
    "3": _ReadingTask(lambda runner: bit_readings.readings_of_bits(runner, "3"), bit_readings.SECONDS),
    "5": _ReadingTask(lambda runner: bit_readings.readings_of_bits(runner, "5"), bit_readings.SECONDS),
    "12": _ReadingTask(neighbour_readings.readings_of_neighbours, neighbour_readings.SECONDS),
    "sp10": _ReadingTask(film_readings.readings_of_films, film_readings.SECONDS),
}
"""The figures that are computed in several readings of the paper's text."""


@with_progress
@on_client
def reproduce(
    release: Release,
    folder: str | Path,
    *,
    targets: int = 1000,
    only: str | list[str] | None = None,
    qualifying: str | Path | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
    client: Any = None,
) -> Reproduction:
    """Compute every figure and table of the paper on a release and compare them with the paper's numbers.

    The attack is the paper's. Next to it, each number has what `Likelihood` reaches with the same facts about
    the same targets.

    The folder gets index.html, figures/, validation.csv, readings.csv and about.json. Its subfolder work/
    has the checkpoints: an interrupted run (Ctrl-C) keeps the figures that are complete, and the same call
    resumes it. The same seed gives the same bytes.

    Parameters
    ----------
    release
        The release to attack; `so.synthesize(like="netflix")` makes a stand-in for the paper's data.
    folder
        Folder for the results. It is created if it does not exist.
    targets
        Number of targets for each bar; the paper had 100 to 200.
    only
        Keys of figures, like "1,4,12": 1 to 12, table, sp10 (Figure 10 of 2008), imdb; default: all.
    qualifying
        The contest's file of test entries, for Figures 7 to 9; default: test entries are drawn at random.
    seed
        Seed of every random draw.
    threads
        Number of threads; default: all cores.
    progress
        True shows a bar; a function is called with (stage, done, total).
    client
        A `distributed.Client`: its workers attack slices of the targets and search neighbours, if the release
        is an open index that they can read at the same path. Default: threads of this process.

    Returns
    -------
    Reproduction
        The results, including those of earlier calls with the same folder and settings.

    Raises
    ------
    ParameterError
        If a parameter is out of range, `only` names an unknown figure, or the release has repeats.
    SourceError
        If the qualifying file cannot be read.

    Examples
    --------
    >>> import standout as so, tempfile
    >>> release = so.synthesize(records=500, items=300, entries=12_000, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     reproduction = so.reproduce(release, folder, only="table")
    >>> row = reproduction.results["table"].rows[0]
    >>> row.paper, row.measured
    (1.0, 0.612)
    """
    figures = select_figures(only)
    if release.has_repeats:
        raise ParameterError(
            "repeats must be last, first or max when the release is read: the paper's figures are about data "
            "with one entry for each record and item"
        )
    targets, seed, threads = whole_number("targets", targets, 1), check_seed(seed), thread_count(threads)
    folder = make_folder(Path(folder))
    counts = (
        qualifying_of_standin(release) if qualifying is None else count_qualifying(Path(qualifying), release.check())
    )
    work = make_folder(folder / CHECKPOINTS, private=True)
    cache = ResultCache(work, (release.fingerprint, targets, seed, _digest(counts), __version__, "two attacks"))
    runner = AttackRunner(release=release, targets=targets, seed=seed, threads=threads, folder=work, qualifying=counts)
    tasks = _Tasks(runner, cache)
    complete = tasks.run(figures, progress)
    reproduction = Reproduction(
        folder=folder,
        release=release,
        targets=targets,
        seed=seed,
        results=with_full_size(tasks.results()) if is_small_standin(release) else tasks.results(),
        readings=tasks.readings(),
        complete=complete,
    )
    write_files(reproduction)
    return reproduction


def _digest(counts: Ints | None) -> str:
    return "" if counts is None else hashlib.blake2b(counts.tobytes(), digest_size=8).hexdigest()


@dataclass(frozen=True, eq=False)
class _Tasks:
    """The figures and readings to compute, and those in the cache."""

    runner: AttackRunner
    cache: ResultCache

    def run(self, figures: Sequence[Figure], progress: Progress) -> bool:
        """Compute the figures and readings that the cache lacks; False if the run was interrupted."""
        missing = [figure for figure in figures if self.cache.get(figure.key, _from_dict) is None]
        keys = [figure.key for figure in figures]
        unread = [key for key in READINGS if key in keys and self._cached_reading(key) is None]
        self.runner.meter = ProgressMeter("the paper's figures", self._seconds(missing, unread), progress)
        try:
            for figure in missing:
                self.cache.put(figure.key, _to_dict(figure.compute(self.runner)))
            for key in unread:
                self.cache.put(f"readings-{key}", READINGS[key].compute(self.runner))
        except KeyboardInterrupt:
            return False
        return True

    def results(self) -> dict[str, FigureResult]:
        """All figures in the cache by key."""
        cached = {figure.key: self.cache.get(figure.key, _from_dict) for figure in FIGURES}
        return {key: result for key, result in cached.items() if result is not None}

    def readings(self) -> tuple[Reading, ...]:
        """All readings in the cache."""
        return tuple(reading for key in READINGS for reading in self._cached_reading(key) or ())

    def _cached_reading(self, key: str) -> list[Reading] | None:
        return self.cache.get(f"readings-{key}", lambda rows: [Reading(*fields) for fields in rows])

    def _seconds(self, missing: list[Figure], unread: list[str]) -> float:
        """Approximate time at the paper's size."""
        attacks = {
            (setting, figure.absent, attack)
            for figure in missing
            for setting in figure.settings
            for attack in range(figure.attacks_per_setting)
        }
        return (
            sum(figure.seconds for figure in missing)
            + sum(self.runner.seconds(absent) for _, absent, _ in attacks)
            + sum(READINGS[key].seconds for key in unread)
        )


def _to_dict(result: FigureResult) -> dict[str, object]:
    rows = [row.to_dict() for row in result.rows]
    return {"rows": rows, "points": result.points, "notes": result.notes}


def _from_dict(content: Any) -> FigureResult:
    """The result whose parsed JSON this is."""
    rows = tuple(ComparisonRow(**row) for row in content["rows"])
    return FigureResult(rows, tuple(Point(*point) for point in content["points"]), tuple(content["notes"]))
