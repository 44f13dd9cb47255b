"""`so.reproduce`: compute every figure of the paper on one release and write the results to a folder."""

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from standout._version import __version__
from standout.cluster.workers import on_client
from standout.core.arrays import Ints
from standout.core.errors import ParameterError, SourceError, whole_number
from standout.core.files import make_folder
from standout.core.json_files import CHECKPOINTS, read_checkpoint, write_checkpoint
from standout.core.progress import ProgressMeter, ProgressOption, no_progress
from standout.core.rng import check_seed
from standout.core.threads import thread_count
from standout.data.release import Release
from standout.paper.comparison import ComparisonRow, full_size
from standout.paper.figures import FIGURES, AttackRunner, FigureResult, select_figures
from standout.paper.page import Reproduction, is_small_standin, write_files
from standout.paper.readings import READINGS, Reading
from standout.paper.synthesize import qualifying_of_standin
from standout.report.charts import Point

QUALIFYING_FILES = ("qualifying.txt", "qualifying.txt.gz")


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
    client
        A `distributed.Client`: its workers attack slices of the targets and search neighbours, if the release
        is an open index that they can read at the same path. Default: threads of this process.

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
    digest = "" if counts is None else hashlib.blake2b(counts.tobytes(), digest_size=8).hexdigest()
    settings = release.fingerprint, targets, seed, digest, __version__, "two attacks"
    runner = AttackRunner(release=release, targets=targets, seed=seed, threads=threads, folder=work, qualifying=counts)

    # results of earlier runs with the same settings, one file for each figure and for its readings

    def about(name: str) -> tuple[Path, str]:
        text = json.dumps([name, *settings])
        return work / f"{name}.{hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}.checkpoint", text

    def store(name: str, result: Any) -> None:
        path, text = about(name)
        write_checkpoint(path, text, json.dumps(result).encode())

    def stored(name: str, parse: Callable[[Any], Any]) -> Any:
        return read_checkpoint(*about(name), lambda content: parse(json.loads(content)))

    def results() -> dict[str, FigureResult]:
        found = {figure.key: stored(figure.key, _result) for figure in FIGURES}
        return {key: result for key, result in found.items() if result is not None}

    def readings() -> dict[str, list[Reading]]:
        found = {key: stored(f"readings-{key}", lambda rows: [Reading(*row) for row in rows]) for key in READINGS}
        return {key: rows for key, rows in found.items() if rows is not None}

    known, read = results(), readings()
    missing = [figure for figure in figures if figure.key not in known]
    unread = [figure.key for figure in figures if figure.key in READINGS and figure.key not in read]
    attacks = {
        (setting, figure.absent, attack)
        for figure in missing
        for setting in figure.settings
        for attack in range(2 if figure.chart == "bars" else 1)
    }
    seconds = sum(figure.seconds for figure in missing) + sum(READINGS[key][1] for key in unread)
    seconds += sum(runner.seconds(absent) for _, absent, _ in attacks)
    runner.meter = ProgressMeter("the paper's figures", seconds, progress)
    complete = True
    try:
        for figure in missing:
            rows, points, notes = figure.compute(runner)
            store(figure.key, {"rows": [asdict(row) for row in rows], "points": points, "notes": notes})
        for key in unread:
            store(f"readings-{key}", READINGS[key][0](runner))
    except KeyboardInterrupt:
        complete = False
    reproduction = Reproduction(
        folder=folder,
        release=release,
        targets=targets,
        seed=seed,
        results=_with_full_size(results()) if is_small_standin(release) else results(),
        readings=tuple(reading for rows in readings().values() for reading in rows),
        complete=complete,
    )
    write_files(reproduction)
    return reproduction


def _result(content: Any) -> FigureResult:
    """The result whose parsed JSON this is."""
    rows = tuple(ComparisonRow(**row) for row in content["rows"])
    return FigureResult(rows, tuple(Point(*point) for point in content["points"]), tuple(content["notes"]))


def _with_full_size(results: dict[str, FigureResult]) -> dict[str, FigureResult]:
    """The results with our own numbers at full size next to them, where there are any."""
    return {
        key: result._replace(
            rows=tuple(replace(row, full_size=full_size().get((key, row.name))) for row in result.rows)
        )
        for key, result in results.items()
    }


# Test entries of the Netflix Prize: ratings that the contest published without their values  [Figure 7].


def find_qualifying(source: Path) -> Path | None:
    """The file of test entries in a folder of the Netflix Prize; None if there is none."""
    folder = source if source.is_dir() else source.parent
    return next((folder / name for name in QUALIFYING_FILES if (folder / name).is_file()), None)


def count_qualifying(path: Path, release: Release) -> Ints:
    """Number of test entries of each record, from the contest's qualifying file.

    The file has a line `item:` for each item, followed by a line `record,date` for each of its entries.
    """
    try:
        counts = Counter(_record_ids(path))
    except (OSError, UnicodeDecodeError, EOFError) as error:
        reason = getattr(error, "strerror", None) or "it is not a qualifying file of the Netflix Prize"
        raise SourceError(f"{path} cannot be read: {reason}") from error
    return np.array([counts.get(release.records[i], 0) for i in range(release.n_records)], np.int64)


def _record_ids(path: Path) -> Iterator[str]:
    """The record id of each test entry in the file."""
    has_item = False
    with gzip.open(path, "rt", encoding="ascii") if path.suffix == ".gz" else path.open(encoding="ascii") as lines:
        for number, line in enumerate(lines, 1):
            text = line.strip()
            if text.endswith(":"):
                has_item = True
            elif text:
                record, comma, _ = text.partition(",")
                if not (has_item and comma and record):
                    raise SourceError(
                        f"{path}, line {number}: expected an item followed by a colon, or a record and a date"
                    )
                yield record
