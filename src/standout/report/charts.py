"""Charts for reports, as SVG and PNG: bars next to reference values, columns, and curves.

Measured values are in the accent colour; the rest is grey or ink, so that a print in black and white loses
nothing. Every mark has its name next to it, so no chart needs a legend.
"""

import re
import warnings
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt

from standout.core.files import write_content
from standout.core.text import map_texts, printable_lines
from standout.report.drawing import DrawingError, draw

ACCENT, GREY, INK, GRID = "#0b6e99", "#b5b5b5", "#1b1b1b", "#dedede"
PALE_ACCENT = "#8fc3d9"
"""Of a second measurement next to the first."""
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
WIDTH, HEIGHT = 300, 220
BAR_HEIGHT = 20
"""Height of a bar with the space around it."""
LOW_END = 0.1
"""Curves that end below this share of the height have their names higher up."""
NAME_GAP = 0.06
"""Distance between the names of curves, as a share of the height."""
PNG_SCALE = 2
"""Pixels of a PNG per pixel of the SVG."""
PADDING = {"left": 8, "top": 5, "right": 24, "bottom": 5}
"""Space for names of marks if the reader's font is wider than ours."""
CONFIG: dict[str, Any] = {
    "font": FONT,
    "aria": False,
    "background": "white",
    "padding": PADDING,
    "axis": {
        "gridColor": GRID,
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "domainColor": GRID,
        "tickColor": GRID,
    },
    "title": {"anchor": "start", "fontSize": 13, "color": INK, "frame": "group"},
}
"""Look of all charts. It is set once at the end, because Altair copies a whole chart for each setting."""
NOTE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="24" viewBox="0 0 320 24">'
    f'<text x="0" y="16" font-size="12" fill="{INK}">This picture is missing: it could not be drawn.</text>'
    "</svg>"
)
"""Instead of a chart that cannot be drawn."""
FORBIDDEN = re.compile(r' (?:style|class|role|aria-\w+|pointer-events)="[^"]*"')
"""Attributes that the policy of a page forbids."""
DASHES = ([1, 0], [7, 3], [2, 2])


BarNames = tuple[str, str, str]


class Measured(NamedTuple):
    """A measured number with its interval."""

    value: float
    low: float | None
    high: float | None


class Bar(NamedTuple):
    """A measured number with its interval, the reference it is compared with, and a second measurement."""

    panel: str
    label: str
    value: float | None
    low: float | None
    high: float | None
    other: float | None
    second: Measured | None = None


class Point(NamedTuple):
    """A point of a curve, with its interval if it has one."""

    series: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    panel: str = ""


class Axis(NamedTuple):
    """Title, range, scale (`log` for x only) and number format of an axis."""

    title: str
    low: float | None = None
    high: float | None = None
    log: bool = False
    form: str = ""


class Chart:
    """A finished chart. The same numbers give the same bytes."""

    def __init__(self, chart: Any) -> None:
        # Tests draw every chart. Shorthands of Altair ("low:Q" for alt.X("low:Q")) would cost 20 ms each.
        self.spec: dict[str, Any] = map_texts(chart.to_dict(validate=False), printable_lines)
        config = self.spec.setdefault("config", {})
        config |= CONFIG | {"view": config.get("view", {}) | {"stroke": None}}

    def altair(self) -> alt.TopLevelMixin:
        """The chart as an object of Altair, for notebooks."""
        chart: alt.TopLevelMixin = alt.Chart.from_dict(self.spec)
        return chart

    def png(self) -> bytes:
        """The chart as PNG, for papers and slides; a DrawingError if it cannot be drawn."""
        return draw("png", self.spec, scale=PNG_SCALE)

    def svg(self, title: str = "", description: str = "") -> str:
        """The chart as SVG, with a title and a description for screen readers; a DrawingError as above."""
        return _described(draw("svg", self.spec).decode(), title, description)

    def svg_or_note(self, title: str = "", description: str = "") -> str:
        """The chart as SVG; if it cannot be drawn, a note that says so, and a warning."""
        try:
            return self.svg(title, description)
        except DrawingError as error:
            _warn(error)
            return _described(NOTE, title, description)

    def write(self, path: Path, title: str = "", description: str = "") -> None:
        """Write the chart as .svg and .png; what cannot be drawn is a note or missing, with a warning."""
        write_content(path.with_suffix(".svg"), self.svg_or_note(title, description) + "\n")
        try:
            write_content(path.with_suffix(".png"), self.png())
        except DrawingError as error:
            path.with_suffix(".png").unlink(missing_ok=True)
            _warn(error)


def remove_charts(folder: Path, names: Iterable[str]) -> None:
    """Remove charts of an earlier report that the new one does not have."""
    for name in names:
        for ending in ("svg", "png"):
            (folder / f"{name}.{ending}").unlink(missing_ok=True)


def _warn(error: DrawingError) -> None:
    warnings.warn(str(error), RuntimeWarning, stacklevel=1)  # from here, so that Python shows it only once


def bars(measured: Sequence[Bar], axis: Axis, names: BarNames = ("ours", "paper", "likelihood")) -> Chart:
    """A panel for each `panel`, with bars for each label: the measured value, the reference, the second."""
    panels = list(dict.fromkeys(bar.panel for bar in measured))
    charts = [
        _bar_panel(panel, [bar for bar in measured if bar.panel == panel], axis, names, panel == panels[-1])
        for panel in panels
    ]
    return Chart(alt.vconcat(*charts, spacing=14).resolve_scale(x="shared"))


def columns(points: Sequence[Point], x: Axis, y: Axis) -> Chart:
    """Vertical bars of one series, with their numbers on top."""
    names = [f"{point.x:g}" for point in points]
    rows = [{"x": name, "y": point.y, "number": _number(point.y)} for name, point in zip(names, points, strict=True)]
    x_axis = alt.X("x:N", sort=names, title=x.title, axis=alt.Axis(labelAngle=0, ticks=False, domain=False))
    base = _data(rows).encode(x=x_axis, y=_y(y))
    numbers = base.mark_text(dy=-7, fontSize=11, color=INK).encode(text=alt.Text("number:N"))
    return Chart((base.mark_bar(color=ACCENT, size=22) + numbers).properties(width=WIDTH + 80, height=200))


def curves(points: Sequence[Point], x: Axis, y: Axis, quiet: Iterable[str] = ()) -> Chart:
    """A line for each series, with its name at its end, in a chart for each panel.

    Series in `quiet` are reference values: thin and in ink. Several measured series differ by their dashes.
    """
    if x.log and x.low is None:
        x = x._replace(low=min(point.x for point in points), high=max(point.x for point in points))
    panels = list(dict.fromkeys(point.panel for point in points))
    charts = [
        _curve_panel(panel, [point for point in points if point.panel == panel], x, y, set(quiet)) for panel in panels
    ]
    return Chart(alt.vconcat(*charts, spacing=14))


def _curve_panel(title: str, points: list[Point], x: Axis, y: Axis, quiet: set[str]) -> Any:
    series: dict[str, list[Point]] = {}
    for point in points:
        series.setdefault(point.series, []).append(point)
    layers: list[Any] = []
    for name, curve in series.items():
        layers += _line(curve, x, y, name in quiet, _dashes(name, series, quiet))
    layers += _curve_names(series, quiet, x, y)
    return alt.layer(*layers).properties(width=WIDTH + 20, height=HEIGHT, title=title)


def _bar_panel(title: str, panel: list[Bar], axis: Axis, names: BarNames, is_last: bool) -> Any:
    rows = [row for bar in panel for row in _bar_rows(bar, names, axis.form or ".2f")]
    y_axis = alt.Axis(ticks=False, domain=False, labelPadding=6, labelLimit=150)
    labels = [bar.label for bar in panel]
    base = _data(rows).encode(
        y=alt.Y("label:N", sort=labels, title=None, axis=y_axis, scale=alt.Scale(padding=0.1)),
        yOffset=alt.YOffset("source:N", sort=list(names)),
    )
    x_axis = alt.Axis(tickCount=5, domain=False, ticks=False, labels=is_last, format="~g")
    x = alt.X("value:Q", title=axis.title if is_last else None, scale=_scale(axis), axis=x_axis)
    colours = alt.Color("source:N", scale=alt.Scale(domain=list(names), range=[ACCENT, GREY, PALE_ACCENT]), legend=None)
    n_bars = 3 if any(bar.second for bar in panel) else 2
    interval = base.transform_filter("datum.low != null")
    layers = [
        base.mark_bar(height=14).encode(x=x, color=colours),
        interval.mark_rule(strokeWidth=4.5, color="white").encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        interval.mark_rule(strokeWidth=1.8, color=INK).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        base.mark_text(align="left", dx=5, fontSize=12, color=INK).encode(x=alt.X("end:Q"), text=alt.Text("number:N")),
    ]
    return alt.layer(*layers).properties(width=WIDTH, height=n_bars * BAR_HEIGHT * len(panel), title=title)


def _bar_rows(bar: Bar, names: BarNames, digits: str) -> list[dict[str, Any]]:
    """Data of one group of bars: the measured value, and the reference and the second if there are any."""
    measured_name, reference_name, second_name = names
    text = f"{measured_name}: not measured" if bar.value is None else f"{measured_name} {bar.value:{digits}}"
    rows = [_bar_row(bar.label, measured_name, Measured(bar.value or 0.0, bar.low, bar.high), text)]
    if bar.other is not None:
        text = f"{reference_name} {bar.other:{digits}}"
        rows.append(_bar_row(bar.label, reference_name, Measured(bar.other, None, None), text))
    if bar.second is not None:
        text = f"{second_name} {bar.second.value:{digits}}"
        rows.append(_bar_row(bar.label, second_name, bar.second, text))
    return rows


def _bar_row(label: str, source: str, measured: Measured, text: str) -> dict[str, Any]:
    value, low, high = measured
    end = max(value, high or value)
    return {"label": label, "source": source, "value": value, "low": low, "high": high, "end": end, "number": text}


def _line(curve: list[Point], x: Axis, y: Axis, is_quiet: bool, dashes: list[int]) -> list[Any]:
    base = _data([point._asdict() for point in curve]).encode(x=_x(x), y=_y(y))
    layers: list[Any] = []
    if any(point.low is not None for point in curve):
        layers.append(base.mark_area(opacity=0.2, color=ACCENT).encode(y=_y(y, "low"), y2=alt.Y2("high:Q")))
    colour, width = (INK, 1.3) if is_quiet else (ACCENT, 2.2)
    return [*layers, base.mark_line(color=colour, strokeWidth=width, strokeDash=dashes)]


def _curve_names(series: dict[str, list[Point]], quiet: set[str], x: Axis, y: Axis) -> list[Any]:
    """The name of each series next to its end, in the order of the curves, and moved apart if they overlap.

    If all curves end near the bottom, the names are higher up, each next to a piece of its line.
    """
    every = [point for curve in series.values() for point in curve]
    order = sorted(series, key=lambda name: sum(point.y for point in series[name]) / len(series[name]))
    height = {name: _height(series[name][-1].y, every, y) for name in series}
    if x.high is not None and max(height.values()) < LOW_END:
        return [
            layer
            for index, name in enumerate(reversed(order))
            for layer in _named_piece(name, series, quiet, x, y, 0.9 - 1.5 * NAME_GAP * index)
        ]
    heights, lowest = [], -1.0
    for name in order:
        lowest = max(height[name], lowest + NAME_GAP)
        heights.append(lowest)
    excess = max(lowest - 1.0, 0.0)
    return [
        _name(name, series[name][-1], name in quiet, HEIGHT * (height[name] - text_height + excess), x, y)
        for name, text_height in zip(order, heights, strict=True)
    ]


def _named_piece(
    name: str, series: dict[str, list[Point]], quiet: set[str], x: Axis, y: Axis, height: float
) -> list[Any]:
    """A piece of a curve at this height, right of the middle, and its name."""
    right, top = x.high or 1.0, height * (y.high or max(point.y for point in series[name]))
    ends = [Point(name, share * right, top) for share in (0.6, 0.7)]
    line = _line(ends, x, y, name in quiet, _dashes(name, series, quiet))
    return [*line, _name(name, ends[1], name in quiet, 0.0, x, y)]


def _dashes(name: str, series: dict[str, list[Point]], quiet: set[str]) -> list[int]:
    """Dashes of a series: those of the measured series differ from each other."""
    measured = [other for other in series if other not in quiet]
    return [4, 2] if name in quiet else DASHES[measured.index(name) % len(DASHES)]


def _name(name: str, point: Point, is_quiet: bool, offset: float, x: Axis, y: Axis) -> Any:
    """A name to the right of a point, `offset` pixels lower."""
    colour, weight = (INK, "normal") if is_quiet else (ACCENT, "bold")
    style: dict[str, Any] = {"fontSize": 12, "color": colour, "fontWeight": weight}
    text = _data([point._asdict()]).mark_text(align="left", dx=7, dy=offset, **style)
    return text.encode(x=_x(x), y=_y(y), text=alt.TextValue(name))


def _height(value: float, points: Sequence[Point], y: Axis) -> float:
    """Height of a value in the chart, from 0 to 1."""
    low = min(0.0, *(point.y for point in points)) if y.low is None else y.low
    high = max(point.y for point in points) if y.high is None else y.high
    return (value - low) / (high - low) if high > low else 0.5


def _data(rows: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows))


def _x(axis: Axis) -> alt.X:
    return alt.X("x:Q", title=axis.title, scale=_scale(axis), axis=_axis(axis))


def _y(axis: Axis, name: str = "y") -> alt.Y:
    return alt.Y(f"{name}:Q", title=axis.title, scale=_scale(axis), axis=_axis(axis))


def _axis(axis: Axis) -> alt.Axis:
    options: dict[str, Any] = {"format": axis.form} if axis.form else {}
    if axis.log and axis.low is not None and axis.high is not None:
        options["values"] = [10**k for k in range(-9, 10) if axis.low <= 10**k <= axis.high]
    return alt.Axis(tickCount=5, ticks=False, domain=False, labelPadding=5, **options)


def _scale(axis: Axis) -> alt.Scale:
    options: dict[str, Any] = {"type": "log", "nice": False} if axis.log else {}
    if axis.low is not None and axis.high is not None:
        options |= {"domain": [axis.low, axis.high], "nice": False}
    return alt.Scale(**options)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:.3g}"


def _described(svg: str, title: str, description: str) -> str:
    """The SVG with a title for screen readers, and without attributes that the policy of a page forbids."""
    svg = re.sub(r"<\w[^<>]*>", lambda tag: FORBIDDEN.sub("", tag[0]), svg)
    svg = re.sub(r'<path d="" display="none"/>', "", svg)
    texts = f"<title>{escape(title)}</title>" if title else ""
    texts += f"<desc>{escape(description)}</desc>" if description else ""
    head, rest = svg.split(">", 1)
    return printable_lines(f'{head} role="img">{texts}{rest}')
