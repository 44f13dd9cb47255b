"""The page of a reproduction, index.html. Its sentences are in `sentences` and in the template."""

from importlib.resources import files
from typing import Any, NamedTuple

from standout._version import __version__
from standout.paper.comparison_rows import ComparisonRow, difference, interval, likelihood, number, signed
from standout.paper.figure import Figure, FigureResult
from standout.paper.figures import FIGURES
from standout.paper.readings import Fit, Reading, unit_of
from standout.paper.reproduction import Reproduction
from standout.paper.sentences import (
    agreement_rule,
    data_note,
    goal_text,
    judgement,
    readings_introduction,
    size_note,
    two_attacks_note,
)
from standout.report.page import render_page

__all__ = ["RunFacts", "page", "run_facts"]

TABLE_ROWS = 40
"""A table of a curve has at most about this number of rows; the CSV file has all points."""


class RunFacts(NamedTuple):
    """What was run on which data."""

    data: str
    size: str
    dates: str
    fingerprint: str
    targets: str
    version: str


def run_facts(reproduction: Reproduction) -> RunFacts:
    """What was run on which data, as text."""
    release, dates = reproduction.release, reproduction.release.time_range
    provenance = release.provenance
    return RunFacts(
        data=provenance.format + ("" if not provenance.files else f": {', '.join(provenance.files)}"),
        size=f"{release.n_entries:,} entries of {release.n_records:,} people, {release.n_items:,} items",
        dates="none" if dates is None else f"{dates[0]} to {dates[1]}",
        fingerprint=release.fingerprint,
        targets=f"{reproduction.targets:,} for each bar, seed {reproduction.seed}",
        version=f"Standout {__version__}",
    )


def page(reproduction: Reproduction, drawings: dict[str, str]) -> str:
    """The page: no script, and nothing loaded from elsewhere. `drawings` are SVG, by figure."""
    from markupsafe import Markup

    sections = [
        _figure_section(figure, reproduction.results[figure.key], Markup(drawings[figure.key]))
        for figure in reproduction.figures
    ]
    figures_with_readings = dict.fromkeys(reading.figure for reading in reproduction.readings)
    return render_page(
        _data_file("page.html"),
        _data_file("page.css"),
        reproduction=reproduction,
        sections=sections,
        data_note=data_note(reproduction.release),
        size_note=size_note(reproduction.release),
        facts=run_facts(reproduction)._asdict(),
        readings=[_readings_section(key, reproduction) for key in figures_with_readings if reproduction.fits],
        readings_introduction=readings_introduction(),
        agreement_rule=agreement_rule(),
        two_attacks_note=two_attacks_note(),
        likelihood=likelihood,
        number=number,
        interval=interval,
        difference=difference,
        signed=signed,
        judgement=judgement,
    )


class FigureSection(NamedTuple):
    """A figure on the page: its rows by panel, and the points of its curves as a table."""

    figure: Figure
    result: FigureResult
    drawing: Any
    panels: dict[str, list[ComparisonRow]]
    has_intervals: bool
    has_likelihood: bool
    has_full_size: bool
    series: list[str]
    points: list[tuple[str, ...]]


def _figure_section(figure: Figure, result: FigureResult, drawing: Any) -> FigureSection:
    panels: dict[str, list[ComparisonRow]] = {}
    for row in result.rows:
        panels.setdefault(row.panel, []).append(row)
    series, points = _point_table(result)
    return FigureSection(
        figure=figure,
        result=result,
        drawing=drawing,
        panels=panels,
        has_intervals=any(row.low is not None for row in result.rows),
        has_likelihood=any(row.likelihood is not None for row in result.rows),
        has_full_size=any(row.full_size is not None for row in result.rows),
        series=series,
        points=points,
    )


def _point_table(result: FigureResult) -> tuple[list[str], list[tuple[str, ...]]]:
    """The names of the curves, and a row (x, y of each curve) for at most about TABLE_ROWS x."""
    by_x: dict[float, dict[str, float]] = {}
    for point in result.points:
        by_x.setdefault(point.x, {})[", ".join(filter(None, (point.panel, point.series)))] = point.y
    series = list(dict.fromkeys(name for ys in by_x.values() for name in ys))
    step = max(1, -(-len(by_x) // TABLE_ROWS))
    unit = "rate" if result.points and max(point.y for point in result.points) <= 1 else "number"
    rows = [(f"{x:g}", *(number(by_x[x].get(name), unit) for name in series)) for x in sorted(by_x)[::step]]
    return series, rows


class ReadingsSection(NamedTuple):
    """The readings of one figure on the page."""

    figure: Figure
    fits: list[Fit]
    header: list[str]
    rows: list[tuple[str, ...]]
    unit: str
    goal: str


def _readings_section(key: str, reproduction: Reproduction) -> ReadingsSection:
    unit = unit_of(key)
    readings = [reading for reading in reproduction.readings if reading.figure == key]
    cells = list(dict.fromkeys((reading.panel, reading.label) for reading in readings))
    return ReadingsSection(
        figure=next(figure for figure in FIGURES if figure.key == key),
        fits=[fit for fit in reproduction.fits if fit.figure == key],
        header=[", ".join(cell) for cell in cells],
        rows=_readings_rows(readings, cells, unit),
        unit=unit,
        goal=goal_text(unit),
    )


def _readings_rows(readings: list[Reading], cells: list[tuple[str, str]], unit: str) -> list[tuple[str, ...]]:
    """The paper's numbers and those of each reading, a column for each cell."""
    measured = {(reading.reading, reading.panel, reading.label): reading.measured for reading in readings}
    paper = {(reading.panel, reading.label): reading.paper for reading in readings}
    rows = [("the paper", *(number(paper[cell], unit) for cell in cells))]
    for name in dict.fromkeys(reading.reading for reading in readings):
        rows.append((name, *(number(measured.get((name, *cell)), unit) for cell in cells)))
    return rows


def _data_file(name: str) -> str:
    return (files("standout.paper") / "data" / name).read_text(encoding="utf-8")
