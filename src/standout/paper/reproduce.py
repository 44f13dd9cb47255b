"""`so.reproduce`: compute every figure of the paper on one release, and write the page, the figures and all numbers."""

import gzip
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from standout._version import __version__
from standout.cluster.workers import on_client
from standout.core.arrays import Ints
from standout.core.errors import ParameterError, SourceError, whole_number
from standout.core.files import make_folder, write_content
from standout.core.json_files import CHECKPOINTS
from standout.core.progress import ProgressMeter, ProgressOption, no_progress
from standout.core.rng import check_seed
from standout.core.text import escaped_json
from standout.core.threads import thread_count
from standout.data.release import Release
from standout.paper.figures import AttackRunner, Figure, FigureResult, all_figures, select_figures
from standout.paper.published import PEOPLE, ComparisonRow, data_file, ends, full_size, full_size_run, number, texts
from standout.paper.synthesize import is_standin, qualifying_of_standin
from standout.report.charts import ACCENT, GREY, PALE_ACCENT, Chart, Point, remove_charts
from standout.report.page import render_page
from standout.report.share_charts import Bar, bar_chart, columns, curves

QUALIFYING_FILES = ("qualifying.txt", "qualifying.txt.gz")
TABLE_ROWS = 40
"""A table of a curve has at most about this number of rows; the CSV file has all points."""
DESCRIBED_ROWS = 12
CHART_WIDTH = 600
GAINS = {"rate": "{:+.2f} of the targets", "bits": "{:+.1f} bits"}
TYPES = {
    **dict.fromkeys(("figure", "figure_2008", "kind", "panel", "label", "measure", "unit", "note"), pl.String),
    **dict.fromkeys(("n", "paper_targets", "too_few_items"), pl.Int64),
    **dict.fromkeys(("within_sampling_error", "within_goal"), pl.Boolean),
}


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction:
    """The figures and tables of the paper on one release, in the order of the paper."""

    folder: Path
    release: Release
    targets: int
    seed: int
    results: dict[str, FigureResult]
    complete: bool

    def __repr__(self) -> str:
        interrupted = "" if self.complete else ", interrupted"
        return f"<Reproduction: {len(self.results)} figures on {self.release.n_records:,} records{interrupted}>"

    @property
    def page(self) -> Path:
        """Path of the page that shows everything."""
        return self.folder / "index.html"

    @property
    def figures(self) -> list[Figure]:
        """The computed figures."""
        return [figure for figure in all_figures() if figure.key in self.results]

    @property
    def compared_with_full_size(self) -> bool:
        """Whether the numbers are compared with our own at full size, because the stand-in is smaller."""
        return is_standin(self.release) and self.release.n_records != PEOPLE

    @property
    def rows(self) -> list[tuple[Figure, ComparisonRow]]:
        """Every number with its figure."""
        return [(figure, row) for figure in self.figures for row in self.results[figure.key].rows]

    @property
    def table(self) -> pl.DataFrame:
        """Every number compared with the paper's, one row each: the content of validation.csv.

        Columns: figure, figure_2008, kind (attack or data), panel, label, measure, unit, paper, measured, low
        and high (the 95 % interval), n (our targets), spread (standard deviation between them), paper_targets
        (estimated), too_few_items, difference, sampling_error (largest difference that it explains),
        within_sampling_error, within_goal (0.10 or 1 bit), note; likelihood, likelihood_low and
        likelihood_high: what the Bayesian attack reaches with the same facts about the same targets;
        full_size, full_size_low and full_size_high: our own result at full size. If there is one, it is what
        difference and the columns after it compare with, otherwise the paper's number is.
        """
        names = ("figure", "figure_2008", "kind", *ComparisonRow("", "", "", "rate", None, None).cells())
        rows = [
            (figure.key, figure.about["number_2008"], "attack" if figure.settings else "data", *row.cells().values())
            for figure, row in self.rows
        ]
        return pl.DataFrame(rows, schema={name: TYPES.get(name, pl.Float64) for name in names}, orient="row")

    @property
    def summary(self) -> str:
        """How close the attacks come to the paper, in one sentence."""
        rows = [row for figure, row in self.rows if figure.settings and row.within_goal is not None]
        return summary(rows, self.compared_with_full_size)

    @property
    def stronger_attack(self) -> str:
        """How much more the Bayesian attack reaches, in one sentence; empty if no attack was run."""
        gains: dict[str, list[float]] = {unit: [] for unit in GAINS}
        for _, row in self.rows:
            if row.likelihood is not None and row.ours is not None:
                gains[row.unit].append(row.likelihood.value - row.ours.value)
        every = [gain for each in gains.values() for gain in each]
        if not every:
            return ""
        means = (GAINS[unit].format(sum(each) / len(each)) for unit, each in gains.items() if each)
        return (
            "With the same facts about the same targets, the Bayesian attack (so.Likelihood) reaches more than "
            f"the paper's in {sum(gain > 0 for gain in every)} of {len(every)} numbers and less in "
            f"{sum(gain < 0 for gain in every)}; the mean difference is {' and '.join(means)}."
        )

    @property
    def notes(self) -> list[str]:
        """Which data was used: the stand-in, other synthetic data, or the user's own; and what its size changes."""
        release, run = self.release, full_size_run()
        kind = "synthetic" if release.provenance.format == "synthetic" else "user"
        notes: list[str] = [texts()["data"]["standin" if is_standin(release) else kind]]
        if release.n_records != PEOPLE:
            notes.append(
                f"The paper's data has {PEOPLE:,} people, this release has {release.n_records:,}. With fewer people, "
                "a person is easier to identify and there are fewer bits to gain."
            )
        if self.compared_with_full_size:
            notes.append(
                f"The numbers are therefore compared with our own at full size ({run['command']}: "
                f"{run['people']:,} people, {run['targets']:,} targets for each bar), which shows what the size "
                "changes. The paper's numbers are shown for orientation."
            )
        return notes


def summary(rows: Sequence[ComparisonRow], full_size: bool = False) -> str:
    """How close the attacks come to the paper, or to our own result at full size; `rows` have a goal."""
    if not rows:
        return "No attack was run."
    near = sum(bool(row.within_goal) for row in rows)
    alike = sum(bool(row.within_sampling_error) for row in rows)
    others = "our own at full size" if full_size else "the paper's"
    return (
        f"{near} of {len(rows)} attack results are within 0.10 or 1 bit of {others}, and {alike} show no "
        "difference beyond sampling error."
    )


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

    The folder gets index.html, figures/, validation.csv and about.json. Its subfolder checkpoints/ has the attacks:
    an interrupted run (Ctrl-C) keeps the figures that are complete, and the same call resumes it. The same seed
    gives the same bytes.

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
    runner = AttackRunner(release, targets, seed, threads, make_folder(folder / CHECKPOINTS, private=True), counts)
    attacks = {
        (setting, figure.absent, attack)
        for figure in figures
        for setting in figure.settings
        for attack in range(2 if figure.chart == "bars" else 1)
    }
    seconds = sum(figure.seconds for figure in figures) + sum(runner.seconds(absent) for _, absent, _ in attacks)
    runner.meter = ProgressMeter("the paper's figures", seconds, progress)
    reproduction = Reproduction(folder, release, targets, seed, {}, True)
    try:
        for figure in figures:
            rows, points, notes = figure.compute(runner)
            if reproduction.compared_with_full_size:
                rows = tuple(replace(row, full_size=full_size().get((figure.key, row.name))) for row in rows)
            reproduction.results[figure.key] = FigureResult(rows, points, notes)
    except KeyboardInterrupt:
        reproduction = replace(reproduction, complete=False)
    write_files(reproduction)
    return reproduction


# The files: the page, each figure as CSV, SVG and PNG, and all numbers.


def write_files(reproduction: Reproduction) -> None:
    """Write all files; remove those of figures that are not among the results."""
    from markupsafe import Markup

    folder, table, sections = make_folder(reproduction.folder / "figures"), reproduction.table, []
    absent = [figure.key for figure in all_figures() if figure.key not in reproduction.results]
    remove_charts(folder, absent)
    for key in absent:
        (folder / f"{key}.csv").unlink(missing_ok=True)
    for figure in reproduction.figures:
        result, about = reproduction.results[figure.key], figure.about
        numbers = table.filter(pl.col("figure") == figure.key).drop("figure", "figure_2008", "kind")
        if result.points:
            numbers = pl.DataFrame(result.points, schema=Point._fields, orient="row", infer_schema_length=None)
        write_content(folder / f"{figure.key}.csv", numbers.write_csv())
        described = "; ".join(_row_text(row) for row in result.rows[:DESCRIBED_ROWS])
        title = f"{about['name']}: {about['title']}"
        chart_of(figure, result).write(folder / figure.key, title, f"{about['description']} {described}.")
        drawing = Markup((folder / f"{figure.key}.svg").read_text(encoding="utf-8").rstrip("\n"))
        sections.append(_figure_section(figure, result) | {"drawing": drawing})
    write_content(reproduction.folder / "validation.csv", table.write_csv())
    release, dates = reproduction.release, reproduction.release.time_range
    facts = {
        "data": ": ".join(filter(None, (release.provenance.format, ", ".join(release.provenance.files)))),
        "size": f"{release.n_entries:,} entries of {release.n_records:,} people, {release.n_items:,} items",
        "dates": "none" if dates is None else f"{dates[0]} to {dates[1]}",
        "fingerprint": release.fingerprint,
        "targets": f"{reproduction.targets:,} for each bar, seed {reproduction.seed}",
        "version": f"Standout {__version__}",
    }
    about = facts | {"summary": reproduction.summary, "stronger_attack": reproduction.stronger_attack}
    write_content(reproduction.folder / "about.json", escaped_json(about, indent=1) + "\n")
    shown = {"reproduction": reproduction, "sections": sections, "facts": facts, "texts": texts(), "number": number}
    write_content(reproduction.page, render_page(data_file("page.html"), data_file("page.css"), **shown))


def chart_of(figure: Figure, result: FigureResult) -> Chart:
    """The chart of a figure."""
    x = figure.axes[0]
    if figure.chart == "columns":
        counts = [(f"{point.x:g}", point.y) for point in result.points]
        return columns({"": counts}, "", x.title, figure.axes[1], (CHART_WIDTH - 200, 200), ",.0f")
    if figure.chart == "curves":
        measured_series = {point.series for point in result.points} - {*figure.reference_series}
        return curves(result.points, x, figure.axes[1], measured_series, CHART_WIDTH)
    measured = list[Bar]()
    for row in result.rows:
        other = "paper" if row.full_size is None else "full size"
        measured.append(Bar(row.panel, row.label, row.measured, *ends(row.ours), ACCENT, "ours"))
        if row.compared_with is not None:
            measured.append(Bar(row.panel, "", row.compared_with, None, None, GREY, other))
        if row.likelihood is not None:
            measured.append(Bar(row.panel, "", row.likelihood.value, *ends(row.likelihood), PALE_ACCENT, "likelihood"))
    return bar_chart(measured, CHART_WIDTH, x)


def _row_text(row: ComparisonRow) -> str:
    """A row of the chart as text, for readers who cannot see it."""
    stronger = "" if row.likelihood is None else f", likelihood {number(row.likelihood.value, row.unit)}"
    full_size = "" if row.full_size is None else f", full size {number(row.full_size.value, row.unit)}"
    return (
        f"{row.name}: ours {number(row.measured, row.unit)}{full_size}, paper {number(row.paper, row.unit)}{stronger}"
    )


def _figure_section(figure: Figure, result: FigureResult) -> dict[str, Any]:
    """A figure on the page: its rows by panel, and the points of its curves as a table."""
    panels: dict[str, list[ComparisonRow]] = {}
    for row in result.rows:
        panels.setdefault(row.panel, []).append(row)
    by_x: dict[float, dict[str, float]] = {}
    for point in result.points:
        by_x.setdefault(point.x, {})[", ".join(filter(None, (point.panel, point.series)))] = point.y
    series = list(dict.fromkeys(name for ys in by_x.values() for name in ys))
    step = max(1, -(-len(by_x) // TABLE_ROWS))
    unit = "rate" if result.points and max(point.y for point in result.points) <= 1 else "number"
    return {
        "figure": figure,
        "about": figure.about,
        "assumptions": [texts()["notes"][name] for name in figure.about["assumptions"]],
        "result": result,
        "panels": panels,
        "has_intervals": any(row.interval for row in result.rows),
        "has_likelihood": any(row.likelihood is not None for row in result.rows),
        "has_full_size": any(row.full_size is not None for row in result.rows),
        "series": series,
        "points": [(f"{x:g}", *(number(by_x[x].get(name), unit) for name in series)) for x in sorted(by_x)[::step]],
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
        with gzip.open(path, "rt", encoding="ascii") if path.suffix == ".gz" else path.open(encoding="ascii") as file:
            lines = pl.Series("line", list(file), dtype=pl.String).str.strip_chars()
    except (OSError, UnicodeDecodeError, EOFError) as error:
        reason = getattr(error, "strerror", None) or "it is not a qualifying file of the Netflix Prize"
        raise SourceError(f"{path} cannot be read: {reason}") from error
    is_item = lines.str.ends_with(":")
    is_entry = ~is_item & (lines != "")
    wrong = is_entry & ~((is_item.cum_sum() > 0) & lines.str.contains("^[^,]+,"))
    if wrong.any():
        line = wrong.arg_true()[0] + 1
        raise SourceError(f"{path}, line {line}: expected an item followed by a colon, or a record and a date")
    counts = Counter(lines.filter(is_entry).str.split(",").list.first().to_list())
    return np.array([counts[release.records[i]] for i in range(release.n_records)], np.int64)
