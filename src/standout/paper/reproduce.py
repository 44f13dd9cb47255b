"""The paper, reproduced: every figure on one release, beside the paper's own numbers, in a folder."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from standout._version import __version__
from standout.core.atomic_files import make_folder
from standout.core.checks import whole_number
from standout.core.progress import Progress, ProgressMeter, no_progress
from standout.core.rng import check_seed
from standout.core.threads import thread_count
from standout.paper import bit_readings, film_readings, neighbour_readings
from standout.paper.attack_runner import Lab
from standout.paper.bit_readings import readings_of_bits
from standout.paper.figure import Figure, Result
from standout.paper.figures import FIGURES, chosen
from standout.paper.figures_page import write
from standout.paper.film_readings import readings_of_films
from standout.paper.item_bits import qualifying_in
from standout.paper.neighbour_readings import readings_of_neighbours
from standout.paper.readings import Reading
from standout.paper.reproduction import Reproduction
from standout.paper.result_cache import Shelf
from standout.paper.rows import Row
from standout.release.model import Release
from standout.report.charts import Point
from standout.synthetic.synthesize import held_back_of

__all__ = ["READINGS", "reproduce"]

READINGS = {
    "3": bit_readings.COST, "5": bit_readings.COST, "12": neighbour_readings.COST, "sp10": film_readings.COST,
}  # fmt: skip
"""The figures that are read in several ways, and how many seconds that takes at the paper's size."""


def reproduce(
    release: Release,
    folder: str | Path,
    *,
    targets: int = 1000,
    only: str | list[str] | None = None,
    qualifying: str | Path | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Reproduction:
    """Every figure and table of the paper on a release, beside the paper's own numbers.

    folder       where it goes: index.html, figures/, validation.csv, readings.csv; and what is kept, so that
                 a run that was cut short goes on from there
    targets      how many targets for each bar; the paper had 100 to 200
    only         some figures: "1,4,12"
    qualifying   the contest's file of test entries, for Figures 7 to 9; without it they are drawn

    The same seed gives the same bytes. Ctrl-C ends a run with what it has.

    >>> import standout as so, tempfile
    >>> release = so.synthesize(records=500, items=300, entries=12_000, seed=7)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     done = so.reproduce(release, place, only="table")
    >>> done.results["table"].rows[0].paper, done.results["table"].rows[0].ours
    (1.0, 0.612)
    """
    figures = chosen(only)
    targets, seed, threads = whole_number("targets", targets, 1), check_seed(seed), thread_count(threads)
    place = make_folder(Path(folder))
    counted = (
        held_back_of(release) if qualifying is None else qualifying_in(Path(qualifying), release.check())
    )
    known = "" if counted is None else hashlib.blake2b(counted.tobytes(), digest_size=8).hexdigest()
    work = make_folder(place / "work", private=True)
    shelf = Shelf(work, (release.fingerprint, targets, seed, known, __version__))
    lab = Lab(release, targets, seed, threads, work, counted)
    jobs = _Jobs(lab, shelf)
    complete = jobs.run(figures, progress)
    done = Reproduction(place, release, targets, seed, jobs.results(), jobs.readings(), complete)
    write(done)
    return done


@dataclass(frozen=True, eq=False)
class _Jobs:
    """What is to be done, and what was."""

    lab: Lab
    shelf: Shelf

    def run(self, figures: Iterable[Figure], progress: Progress) -> bool:
        """Works out the figures and readings that are not kept yet; returns whether all are done."""
        missing = [figure for figure in figures if self.shelf.get(figure.key) is None]
        unread = [key for key in READINGS if self._is_asked(key, figures) and self._kept_reading(key) is None]
        self.lab.meter = ProgressMeter("the paper's figures", self._cost(missing, unread), progress)
        try:
            for figure in missing:
                self.shelf.put(figure.key, _plain(figure.make(self.lab)))
            for key in unread:
                self.shelf.put(f"readings-{key}", _read(self.lab, key))
        except KeyboardInterrupt:
            return False
        return True

    def results(self) -> dict[str, Result]:
        """Everything that was worked out with these settings, now or before."""
        kept = {figure.key: self.shelf.get(figure.key) for figure in FIGURES}
        return {key: _result(found) for key, found in kept.items() if found is not None}

    def readings(self) -> tuple[Reading, ...]:
        kept = (self._kept_reading(key) or () for key in READINGS)
        return tuple(Reading(*one) for read in kept for one in read)

    def _kept_reading(self, key: str) -> Any:
        return self.shelf.get(f"readings-{key}")

    def _is_asked(self, key: str, figures: Iterable[Figure]) -> bool:
        return any(figure.key == key for figure in figures)

    def _cost(self, missing: list[Figure], unread: list[str]) -> float:
        """About how long it takes, in seconds at the paper's size."""
        attacks = {(setting, figure.absent) for figure in missing for setting in figure.settings}
        read = sum(READINGS[key] for key in unread)
        return (
            sum(figure.cost for figure in missing)
            + sum(self.lab.cost(absent) for _, absent in attacks)
            + read
        )


def _read(lab: Lab, key: str) -> tuple[Reading, ...]:
    if key == "12":
        return readings_of_neighbours(lab)
    return readings_of_films(lab) if key == "sp10" else readings_of_bits(lab, key)


def _plain(result: Result) -> dict[str, Any]:
    rows = [row.to_dict() for row in result.rows]
    return {"rows": rows, "points": result.points, "notes": result.notes}


def _result(kept: dict[str, Any]) -> Result:
    rows = tuple(Row(**row) for row in kept["rows"])
    return Result(rows, tuple(Point(*point) for point in kept["points"]), tuple(kept["notes"]))
