"""The files of a reproduction: each figure as CSV, SVG and PNG, all numbers, and the page."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from standout.core.atomic_files import make_folder, write_content
from standout.core.foreign_text import escaped_json
from standout.paper.comparison_rows import ComparisonRow
from standout.paper.figure import Figure, FigureResult
from standout.paper.figures import FIGURES
from standout.paper.figures_page import page, run_facts
from standout.paper.number_text import number
from standout.paper.readings import Reading
from standout.paper.reproduction import Reproduction
from standout.report.charts import Bar, Chart, Measured, Point, bars, columns, curves

__all__ = ["chart_of", "write_files"]

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
    return bars(
        [_bar(row) for row in result.rows], x, ("ours", "full size" if full_size else "paper", "likelihood")
    )


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
