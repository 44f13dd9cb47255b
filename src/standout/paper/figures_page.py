"""What is written into the folder: figures as CSV, SVG and PNG, all numbers, and a page that shows them."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from standout._version import __version__
from standout.core.atomic_files import make_folder, write_content
from standout.paper.figure import Figure, Result, said
from standout.paper.figures import FIGURES
from standout.paper.paper_results import PEOPLE
from standout.paper.readings import Fit, Reading, unit_of
from standout.paper.reproduction import Reproduction
from standout.paper.rows import Row
from standout.release.model import Release
from standout.report.charts import Bar, Chart, Point, bars, columns, curves
from standout.report.html_page import render_page

__all__ = ["difference", "drawn", "interval", "judgement", "number", "signed", "source", "write"]

SHOWN = 40
"""A table of a curve has about so many rows; the CSV file has all."""


def write(done: Reproduction) -> None:
    """Writes everything; a figure that is not among the results any more is removed."""
    folder = make_folder(done.folder / "figures")
    drawings = {}
    for figure in FIGURES:
        if figure.key not in done.results:
            for ending in ("csv", "svg", "png"):
                (folder / f"{figure.key}.{ending}").unlink(missing_ok=True)
            continue
        result = done.results[figure.key]
        chart = drawn(figure, result)
        drawings[figure.key] = chart.svg(f"{figure.name}: {figure.title}", words(figure, result))
        write_content(folder / f"{figure.key}.csv", table_of(result))
        write_content(folder / f"{figure.key}.svg", drawings[figure.key] + "\n")
        write_content(folder / f"{figure.key}.png", chart.png())
    write_content(done.folder / "validation.csv", done.table.write_csv())
    heads = (*Reading._fields, "difference")
    rows = ((*one, one.difference) for one in done.readings)
    write_content(done.folder / "readings.csv", _csv(heads, rows))
    about = {name.lower(): told for name, told in _facts(done)} | {"summary": done.summary}
    write_content(done.folder / "about.json", json.dumps(about, indent=1, ensure_ascii=False) + "\n")
    write_content(done.page, page(done, drawings))


def drawn(figure: Figure, result: Result) -> Chart:
    """The chart of a figure."""
    x = figure.axes[0]
    if figure.look == "columns":
        return columns(result.points, x, figure.axes[1])
    if figure.look == "curves":
        return curves(result.points, x, figure.axes[1], figure.quiet)
    shown = [Bar(row.panel, row.label, row.ours, row.low, row.high, row.paper) for row in result.rows]
    return bars(shown, x)


def table_of(result: Result) -> str:
    """The numbers of a figure as CSV: the points of its curves, or its bars."""
    if result.points:
        return _csv(Point._fields, result.points)
    heads = (
        "panel",
        "label",
        "paper",
        "ours",
        "low",
        "high",
        "n",
        "difference",
        "allowed",
        "within_error",
        "within_goal",
    )
    return _csv(heads, ([getattr(row, head) for head in heads] for row in result.rows))


def words(figure: Figure, result: Result) -> str:
    """What the chart shows, for those who do not see it."""
    told = [f"{', '.join(filter(None, (row.panel, row.label)))}: {_pair(row)}" for row in result.rows[:12]]
    return f"{figure.says} {'; '.join(told)}."


def _pair(row: Row) -> str:
    return f"ours {number(row.ours, row.unit)}, paper {number(row.paper, row.unit)}"


def page(done: Reproduction, drawings: dict[str, str]) -> str:
    """The page: no script, nothing from elsewhere."""
    from markupsafe import Markup

    return render_page(
        _text("page.html"),
        _text("page.css"),
        done=done,
        sections=[_section(one, done.results[one.key], Markup(drawings[one.key])) for one in done.figures],
        source=source(done.release),
        facts=_facts(done),
        smaller=None if done.release.n_records == PEOPLE else _smaller(done.release),
        readings=[_read(key, done) for key in dict.fromkeys(one.figure for one in done.readings)],
        said=said(), number=number, interval=interval, difference=difference,
        signed=signed, judgement=judgement,
    )  # fmt: skip


class Section(NamedTuple):
    """A figure on the page: its rows by panel, with or without intervals, and the points of its curves."""

    figure: Figure
    result: Result
    drawing: Any
    panels: dict[str, list[Row]]
    intervals: bool
    series: list[str]
    points: list[tuple[str, ...]]


def _section(figure: Figure, result: Result, drawing: Any) -> Section:
    panels: dict[str, list[Row]] = {}
    for row in result.rows:
        panels.setdefault(row.panel, []).append(row)
    return Section(
        figure, result, drawing, panels, any(row.low is not None for row in result.rows), *_wide(result)
    )


def judgement(row: Row) -> str:
    """What is to be said of the difference, in few words."""
    if row.ours is None:
        return f"not measured: {row.note}"
    goal = "0.10" if row.unit == "rate" else "1 bit"
    if row.within_error:
        return "within chance" if row.within_goal else f"within chance, not within {goal}"
    if row.within_goal is None:
        return ""
    return f"within {goal}" if row.within_goal else f"more than {goal} off"


def number(value: float | None, unit: str = "rate", like: float | None = None) -> str:
    """A number as it stands in tables: rates with three digits, bits with two, counts whole."""
    if value is None:
        return "–"
    if unit == "number" and (value.is_integer() or abs(value if like is None else like) >= 100):
        return f"{value:,.0f}"
    return f"{value:.3f}" if unit == "rate" else f"{value:.2f}"


def interval(row: Row, between: str = " to ") -> str:
    """The ends of a row's interval."""
    if row.low is None or row.high is None:
        return ""
    return number(row.low, row.unit) + between + number(row.high, row.unit)


def difference(row: Row) -> str:
    """Ours − the paper's, with its sign."""
    if row.difference is None:
        return ""
    return signed(row.difference, row.unit, row.paper)


def signed(value: float, unit: str = "bits", like: float | None = None) -> str:
    """A number with its sign; 0 has none."""
    text = number(abs(value), unit, like)
    return text if not text.strip("0.") else f"{'+' if value > 0 else '−'}{text}"


def _wide(result: Result) -> tuple[list[str], list[tuple[str, ...]]]:
    """The points of curves with a column for each series; of many x some."""
    by_x: dict[float, dict[str, float]] = {}
    for point in result.points:
        by_x.setdefault(point.x, {})[", ".join(filter(None, (point.panel, point.series)))] = point.y
    series = list(dict.fromkeys(name for told in by_x.values() for name in told))
    every = sorted(by_x)
    step = max(1, -(-len(every) // SHOWN))
    unit = "rate" if result.points and max(point.y for point in result.points) <= 1 else "number"
    rows = [(f"{x:g}", *(number(by_x[x].get(name), unit) for name in series)) for x in every[::step]]
    return series, rows


class Read(NamedTuple):
    """The readings of one figure on the page."""

    figure: Figure
    fits: list[Fit]
    heads: list[str]
    rows: list[tuple[str, ...]]
    unit: str


def _read(key: str, done: Reproduction) -> Read:
    figure = next(figure for figure in FIGURES if figure.key == key)
    own, unit = [one for one in done.readings if one.figure == key], unit_of(key)
    cells = list(dict.fromkeys((one.panel, one.label) for one in own))
    found = {(one.reading, one.panel, one.label): one.ours for one in own}
    paper = {(one.panel, one.label): one.paper for one in own}
    rows = [("the paper", *(number(paper[cell], unit) for cell in cells))]
    rows += [
        (reading, *(number(found.get((reading, *cell)), unit) for cell in cells))
        for reading in dict.fromkeys(one.reading for one in own)
    ]
    return Read(
        figure,
        [fit for fit in done.fits if fit.figure == key],
        [", ".join(cell) for cell in cells],
        rows,
        unit,
    )


def source(release: Release) -> str:
    """What data it is: a stand-in, synthetic, or the user's own."""
    told, words = release.provenance, said()["source"]
    if told.format != "synthetic":
        return str(words["own"]).strip()
    return str(words["standin" if told.settings.get("like") == "netflix" else "synthetic"]).strip()


def _facts(done: Reproduction) -> list[tuple[str, str]]:
    release, ends = done.release, done.release.time_range
    made = release.provenance
    return [
        ("Data", made.format + ("" if not made.files else f": {', '.join(made.files)}")),
        ("Size", f"{release.n_entries:,} entries of {release.n_records:,} people, {release.n_items:,} items"),
        ("Dates", "none" if ends is None else f"{ends[0]} to {ends[1]}"),
        ("Fingerprint", release.fingerprint),
        ("Targets", f"{done.targets:,} for each bar, seed {done.seed}"),
        ("Made by", f"Standout {__version__}"),
    ]


def _smaller(release: Release) -> str:
    return (
        f"The paper's numbers are of {PEOPLE:,} people, and here are {release.n_records:,}: the fewer there "
        "are, the easier one is found and the fewer bits there are to gain."
    )


def _csv(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    made = io.StringIO()
    table = csv.writer(made, lineterminator="\n")
    table.writerow(heads)
    table.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return made.getvalue()


def _text(name: str) -> str:
    return (files("standout.paper") / "data" / name).read_text(encoding="utf-8")
