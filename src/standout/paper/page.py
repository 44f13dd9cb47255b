"""The result of a reproduction, and its files: the page, each figure as CSV, SVG and PNG, and all numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from standout._version import __version__
from standout.core.files import make_folder, write_content
from standout.core.text import escaped_json
from standout.data.release import Release
from standout.paper.comparison import (
    PEOPLE,
    ComparisonRow,
    difference,
    full_size_run,
    goal_text,
    interval,
    judgement,
    likelihood,
    number,
    signed,
    texts,
)
from standout.paper.figures import FIGURES, Figure, FigureResult
from standout.paper.published import data_file
from standout.paper.readings import Fit, Reading, fits, unit_of
from standout.paper.synthesize import is_standin
from standout.report.charts import Bar, Chart, Measured, Point, bars, columns, curves
from standout.report.page import render_page

if TYPE_CHECKING:
    import polars as pl

TABLE_ROWS = 40
"""A table of a curve has at most about this number of rows; the CSV file has all points."""
DESCRIBED_ROWS = 12
GAINS = {"rate": "{:+.2f} of the targets", "bits": "{:+.1f} bits"}
STRINGS = ("figure", "figure_2008", "kind", "panel", "label", "measure", "unit", "note")
COUNTS, FLAGS = ("n", "paper_targets", "too_few_items"), ("within_sampling_error", "within_goal")
OF_ROW = (
    "panel", "label", "measure", "unit", "paper", "measured", "low", "high", "n", "spread", "paper_targets",
    "too_few_items", "difference", "sampling_error", "within_sampling_error", "within_goal", "note", "likelihood",
    "likelihood_low", "likelihood_high",
)  # fmt: skip
"""Attributes of a comparison row that the table of all numbers shows."""


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction:
    """The figures and tables of the paper on one release; `readings` are the numbers in other interpretations."""

    folder: Path
    release: Release
    targets: int
    seed: int
    results: dict[str, FigureResult]
    readings: tuple[Reading, ...]
    complete: bool

    def __repr__(self) -> str:
        interrupted = "" if self.complete else ", interrupted"
        return f"<Reproduction: {len(self.results)} figures on {self.release.n_records:,} records{interrupted}>"

    @property
    def page(self) -> Path:
        """Path of the page that shows everything."""
        return self.folder / "index.html"

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The computed figures, in the order of the paper."""
        return tuple(figure for figure in FIGURES if figure.key in self.results)

    @property
    def compared_with_full_size(self) -> bool:
        """Whether the numbers are compared with our own at full size, because the stand-in is smaller."""
        return is_small_standin(self.release)

    @property
    def fits(self) -> tuple[Fit, ...]:
        """How well each reading fits the paper; none for a smaller stand-in, which cannot decide it."""
        return () if self.compared_with_full_size else fits(self.readings)

    @property
    def rows(self) -> list[tuple[Figure, ComparisonRow]]:
        """Every number with its figure."""
        return [(figure, row) for figure in self.figures for row in self.results[figure.key].rows]

    @property
    def table(self) -> "pl.DataFrame":
        """Every number compared with the paper's, one row each: the content of validation.csv.

        Columns: figure, figure_2008, kind (attack or data), panel, label, measure, unit, paper, measured, low
        and high (the 95 % interval), n (our targets), spread (standard deviation between them), paper_targets
        (estimated), too_few_items, difference, sampling_error (largest difference that it explains),
        within_sampling_error, within_goal (0.10 or 1 bit), note; likelihood, likelihood_low and
        likelihood_high: what the Bayesian attack reaches with the same facts about the same targets;
        full_size, full_size_low and full_size_high: our own result at full size. If there is one, it is what
        difference and the columns after it compare with, otherwise the paper's number is.
        """
        import polars as pl

        names = ("figure", "figure_2008", "kind", *OF_ROW, "full_size", "full_size_low", "full_size_high")
        types = {**dict.fromkeys(STRINGS, pl.String), **dict.fromkeys(COUNTS, pl.Int64)}
        types |= dict.fromkeys(FLAGS, pl.Boolean)
        rows = []
        for figure, row in self.rows:
            own = row.full_size
            full = (None, None, None) if own is None else (own.value, own.low, own.high)
            kind = "attack" if figure.attacks else "data"
            rows.append((figure.key, figure.number_2008, kind, *(getattr(row, name) for name in OF_ROW), *full))
        return pl.DataFrame(rows, schema={name: types.get(name, pl.Float64) for name in names}, orient="row")

    @property
    def summary(self) -> str:
        """How close the attacks come to the paper, in one sentence."""
        rows = [row for figure, row in self.rows if figure.attacks and row.within_goal is not None]
        return summary(rows, self.compared_with_full_size)

    @property
    def stronger_attack(self) -> str:
        """How much more the Bayesian attack reaches, in one sentence; empty if no attack was run."""
        rows = [row for _, row in self.rows if row.likelihood is not None]
        if not rows:
            return ""
        gains = {unit: [row.gain for row in rows if row.unit == unit and row.gain is not None] for unit in GAINS}
        more, less = (sum(sign * gain > 0 for each in gains.values() for gain in each) for sign in (1, -1))
        means = (GAINS[unit].format(sum(each) / len(each)) for unit, each in gains.items() if each)
        return (
            "With the same facts about the same targets, the Bayesian attack (so.Likelihood) reaches more than "
            f"the paper's in {more} of {len(rows)} numbers and less in {less}; the mean difference is "
            f"{' and '.join(means)}."
        )


def is_small_standin(release: Release) -> bool:
    """Whether a release is the stand-in with another number of people than the paper's data."""
    return is_standin(release) and release.n_records != PEOPLE


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


def data_note(release: Release) -> str:
    """Which data was used: the stand-in, other synthetic data, or the user's own."""
    is_synthetic = release.provenance.format == "synthetic"
    name = "standin" if is_standin(release) else "synthetic" if is_synthetic else "user"
    return str(texts()["data"][name]).strip()


def size_note(release: Release) -> str:
    """A warning that the release has another size than the paper's data; empty if it has the same size."""
    if release.n_records == PEOPLE:
        return ""
    sizes = (
        f"The paper's data has {PEOPLE:,} people, this release has {release.n_records:,}. With fewer people, "
        "a person is easier to identify and there are fewer bits to gain."
    )
    if not is_small_standin(release):
        return sizes
    run = full_size_run()
    return (
        f"{sizes} The numbers are therefore compared with our own at full size ({run['command']}: "
        f"{run['people']:,} people, {run['targets']:,} targets for each bar), which shows what the size "
        "changes. The paper's numbers are shown for orientation."
    )


def write_files(reproduction: Reproduction) -> None:
    """Write all files; remove those of figures that are no longer among the results."""
    import polars as pl

    folder = make_folder(reproduction.folder / "figures")
    table, drawings = reproduction.table, {}
    for figure in FIGURES:
        if figure.key not in reproduction.results:
            for suffix in ("csv", "svg", "png"):
                (folder / f"{figure.key}.{suffix}").unlink(missing_ok=True)
            continue
        result = reproduction.results[figure.key]
        numbers = table.filter(pl.col("figure") == figure.key).drop("figure", "figure_2008", "kind")
        if result.points:
            numbers = pl.DataFrame(result.points, schema=Point._fields, orient="row", infer_schema_length=None)
        write_content(folder / f"{figure.key}.csv", numbers.write_csv())
        described = "; ".join(_row_text(row) for row in result.rows[:DESCRIBED_ROWS])
        chart, title = chart_of(figure, result), f"{figure.name}: {figure.title}"
        chart.write(folder / figure.key, title, f"{figure.description} {described}.")
        drawings[figure.key] = (folder / f"{figure.key}.svg").read_text(encoding="utf-8").rstrip("\n")
    write_content(reproduction.folder / "validation.csv", table.write_csv())
    readings = [(*reading, reading.difference) for reading in reproduction.readings]
    schema = [*Reading._fields, "difference"]
    write_content(reproduction.folder / "readings.csv", pl.DataFrame(readings, schema=schema, orient="row").write_csv())
    about = run_facts(reproduction) | {"summary": reproduction.summary, "stronger_attack": reproduction.stronger_attack}
    write_content(reproduction.folder / "about.json", escaped_json(about, indent=1) + "\n")
    write_content(reproduction.page, page(reproduction, drawings))


def chart_of(figure: Figure, result: FigureResult) -> Chart:
    """The chart of a figure."""
    x = figure.axes[0]
    if figure.chart == "columns":
        return columns(result.points, x, figure.axes[1])
    if figure.chart == "curves":
        return curves(result.points, x, figure.axes[1], figure.reference_series)
    measured = []
    for row in result.rows:
        stronger = None
        if row.likelihood is not None:
            stronger = Measured(row.likelihood, row.likelihood_low, row.likelihood_high)
        measured.append(Bar(row.panel, row.label, row.measured, row.low, row.high, row.compared_with, stronger))
    has_full_size = any(row.full_size is not None for row in result.rows)
    return bars(measured, x, ("ours", "full size" if has_full_size else "paper", "likelihood"))


def _row_text(row: ComparisonRow) -> str:
    """A row of the chart as text, for readers who cannot see it."""
    stronger = "" if row.likelihood is None else f", likelihood {number(row.likelihood, row.unit)}"
    full_size = "" if row.full_size is None else f", full size {number(row.full_size.value, row.unit)}"
    ours, paper = number(row.measured, row.unit), number(row.paper, row.unit)
    return f"{row.name}: ours {ours}{full_size}, paper {paper}{stronger}"


def run_facts(reproduction: Reproduction) -> dict[str, str]:
    """What was run on which data, as text."""
    release, dates = reproduction.release, reproduction.release.time_range
    provenance = release.provenance
    return {
        "data": provenance.format + ("" if not provenance.files else f": {', '.join(provenance.files)}"),
        "size": f"{release.n_entries:,} entries of {release.n_records:,} people, {release.n_items:,} items",
        "dates": "none" if dates is None else f"{dates[0]} to {dates[1]}",
        "fingerprint": release.fingerprint,
        "targets": f"{reproduction.targets:,} for each bar, seed {reproduction.seed}",
        "version": f"Standout {__version__}",
    }


def page(reproduction: Reproduction, drawings: dict[str, str]) -> str:
    """The page: no script, and nothing loaded from elsewhere. `drawings` are SVG, by figure."""
    from markupsafe import Markup

    sections = [
        _figure_section(figure, reproduction.results[figure.key], Markup(drawings[figure.key]))
        for figure in reproduction.figures
    ]
    figures_with_readings = dict.fromkeys(reading.figure for reading in reproduction.readings)
    return render_page(
        data_file("page.html"),
        data_file("page.css"),
        reproduction=reproduction,
        sections=sections,
        data_note=data_note(reproduction.release),
        size_note=size_note(reproduction.release),
        facts=run_facts(reproduction),
        readings=[_readings_section(key, reproduction) for key in figures_with_readings if reproduction.fits],
        readings_introduction=texts()["readings_introduction"].strip(),
        agreement_rule=texts()["agreement_rule"].strip(),
        two_attacks_note=texts()["two_attacks"].strip(),
        likelihood=likelihood,
        number=number,
        interval=interval,
        difference=difference,
        signed=signed,
        judgement=judgement,
    )


def _figure_section(figure: Figure, result: FigureResult, drawing: Any) -> dict[str, Any]:
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
        "result": result,
        "drawing": drawing,
        "panels": panels,
        "has_intervals": any(row.low is not None for row in result.rows),
        "has_likelihood": any(row.likelihood is not None for row in result.rows),
        "has_full_size": any(row.full_size is not None for row in result.rows),
        "series": series,
        "points": [(f"{x:g}", *(number(by_x[x].get(name), unit) for name in series)) for x in sorted(by_x)[::step]],
    }


def _readings_section(key: str, reproduction: Reproduction) -> dict[str, Any]:
    """The readings of one figure on the page: the paper's numbers and those of each reading, a column for each cell."""
    unit = unit_of(key)
    readings = [reading for reading in reproduction.readings if reading.figure == key]
    paper = {(reading.panel, reading.label): reading.paper for reading in readings}
    measured = {(reading.reading, reading.panel, reading.label): reading.measured for reading in readings}
    rows = [("the paper", *(number(height, unit) for height in paper.values()))]
    for name in dict.fromkeys(reading.reading for reading in readings):
        rows.append((name, *(number(measured.get((name, *cell)), unit) for cell in paper)))
    return {
        "figure": next(figure for figure in FIGURES if figure.key == key),
        "fits": [fit for fit in reproduction.fits if fit.figure == key],
        "header": [", ".join(cell) for cell in paper],
        "rows": rows,
        "unit": unit,
        "goal": goal_text(unit),
    }
