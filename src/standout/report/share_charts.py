"""Charts of shares: curves with bands, horizontal bars with intervals, heat maps; wide, or narrow for a phone.

The subject of a chart is in the accent colour, the rest is grey. Every mark has its name next to it.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from standout.core.text import percent, shorten
from standout.evaluate.estimates import Estimate
from standout.report.charts import (
    ACCENT,
    GREY,
    INK,
    WIDE,
    Axis,
    Cells,
    Chart,
    Figure,
    Point,
    Spec,
    Table,
    data,
    field,
    interval_rules,
    mark,
)

Line = Sequence[tuple[float, float]]
STEP = 3.0
"""Distance in pixels between two places that are tried for a label."""
SOFT, PALE = "#6b6b6b", "#c9c9c9"
"""Colours of thin lines and their names, dark enough to be read, and of the wide line behind the others."""
LINE_HEIGHT, LETTER_WIDTH = 16, 6.7
"""Distance between the names of curves, and approximate width of a letter, in pixels."""
FONT_SIZE, NAME_LIMIT, LONGEST_LABEL, MOST_DESCRIBED = 12.5, 170, 44, 40
TICKS = (
    (0.0, 0.02, 0.04, 0.06, 0.08, 0.1),
    (0.0, 0.05, 0.1, 0.15, 0.2, 0.25),
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
    (0.0, 0.25, 0.5, 0.75, 1.0),
)
"""Axes of shares: from 0 to a tenth, a quarter, a half, or 1."""
AT_START: Spec = {"value": 0}
DASH = [5, 4]
LEFT, RIGHT, EDGE = 44, 52, 32
"""Space for the numbers of an axis, for the number at the end of a bar, and for the padding."""
OUTLINE: Spec = {"color": "white", "stroke": "white", "strokeWidth": 4, "strokeJoin": "round"}


def _share_channel(name: str, shares: Sequence[float], labels: bool = True) -> Spec:
    """A field with the smallest axis in per cent that has space for all shares."""
    ticks = next((ticks for ticks in TICKS[:-1] if max(shares, default=0.0) < 0.9 * ticks[-1]), TICKS[-1])
    label = "format(100 * datum.value, '.0f') + '\xa0%'"
    axis: Spec = {"values": list(ticks), "labelExpr": label, "labels": labels, "ticks": False, "domain": False}
    axis |= {"labelPadding": 5, "labelFlush": False}
    return field(name, title=None, scale={"domain": [0, ticks[-1]], "nice": False}, axis=axis)


def _outlined(encoding: Spec, colour: str, rows: Sequence[Any] | None = None, **style: Any) -> list[Spec]:
    """A text with a white outline below it, readable above lines."""
    style["fontSize"] = FONT_SIZE
    return [mark("text", rows, encoding, **style, **OUTLINE), mark("text", rows, encoding, **style, color=colour)]


# Bars.


class ShareBar(NamedTuple):
    """A share as a horizontal bar; `main` bars are the subject of the chart."""

    panel: str
    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    main: bool = True


def share_bar(panel: str, label: str, share: Estimate, main: bool = True) -> ShareBar:
    """A share with its interval as a bar."""
    value = share.value if math.isfinite(share.value) else None
    return ShareBar(panel, label, value, share.low, share.high, main)


def share_bars(bars: Sequence[ShareBar], width: int = WIDE) -> Chart:
    """A bar for each share, with its interval and its number, in a block for each panel.

    Labels are left of the bars on a desktop and above them on a phone.
    """
    longest = max(len(shorten(bar.label, LONGEST_LABEL)) for bar in bars)
    label_width = min(longest * LETTER_WIDTH + 10, 300) if width == WIDE else 0
    inner_width, offset = width - EDGE - RIGHT - label_width, 0 if label_width else 8
    place: Spec = {"align": "right", "dx": -8} if label_width else {"align": "left", "dy": -10}
    place["limit"] = label_width - 10 if label_width else inner_width
    shares = [max(bar.value or 0.0, bar.high or 0.0) for bar in bars]
    panels: dict[str, list[Spec]] = {}
    for bar, end in zip(bars, shares, strict=True):
        rows = panels.setdefault(bar.panel, [])
        row = {"row": len(rows), "label": shorten(bar.label, LONGEST_LABEL), "value": bar.value or 0.0, "end": end}
        row |= {"colour": ACCENT if bar.main else GREY}
        rows.append(bar._asdict() | row | {"number": "not measured" if bar.value is None else percent(bar.value)})
    charts = []
    for title, rows in panels.items():
        x = _share_channel("value:Q", shares, labels=title == list(panels)[-1])
        number: Spec = {"align": "left", "dx": 6, "dy": offset, "fontSize": FONT_SIZE, "color": INK}
        colour = field("colour:N", scale=None)
        layers = [
            mark("bar", None, {"x": x, "color": colour}, height=14, yOffset=offset),
            *interval_rules("datum.low != null && datum.high != null", yOffset=offset),
            mark("text", None, {"x": field("end:Q"), "text": field("number:N")}, **number),
            *_outlined({"x": AT_START, "text": field("label:N")}, INK, **place),
        ]
        head = {"title": {"text": title, "fontSize": 13, "dx": -label_width}} if title else {}
        size = {"width": inner_width, "height": (26 if label_width else 40) * len(rows)}
        rows_channel = {"y": field("row:O", axis=None)}
        charts.append({"data": data(rows), "encoding": rows_channel, "layer": layers, **size, **head})
    return Chart({"vconcat": charts, "spacing": 18, "resolve": {"scale": {"x": "shared"}}})


def bars_figure(
    title: str, text: str, bars: Sequence[ShareBar], heads: tuple[str, ...], rows: Sequence[Cells]
) -> Figure:
    """A figure of bars, described by a text and the share of each bar."""
    shares = "; ".join(f"{bar.label}: {percent(bar.value)}" for bar in bars[:MOST_DESCRIBED])
    return Figure(title, f"{text} {shares}.", partial(share_bars, bars), Table(heads, rows))


# Curves. A label has a place next to its point, but on no line and on no other label. In pixels, y grows downwards.


class Box(NamedTuple):
    """A rectangle: its left and right edge, and its top and bottom."""

    left: float
    right: float
    top: float
    bottom: float


def free_box(box: Box, lines: Sequence[Line], boxes: Sequence[Box], height: float) -> Box:
    """The nearest place above or below, within the height of the chart, that covers nothing.

    The box itself if there is none. Of two places that are equally near, the lower one.
    """
    most = int(height / STEP)
    for step in sorted(range(-most, most + 1), key=lambda step: (abs(step), -step)):
        place = box._replace(top=box.top + STEP * step, bottom=box.bottom + STEP * step)
        if place.top < 0 or place.bottom > height or any(_crosses(place, line) for line in lines):
            continue
        if not any(
            place.left < other.right and other.left < place.right
            and place.top < other.bottom and other.top < place.bottom
            for other in boxes
        ):  # fmt: skip
            return place
    return box


def _crosses(box: Box, line: Line) -> bool:
    """Whether a part of the line lies in the box."""
    for (x0, y0), (x1, y1) in pairwise(line):
        left, right = max(min(x0, x1), box.left), min(max(x0, x1), box.right)
        if left > right:
            continue
        slope = (y1 - y0) / (x1 - x0) if x1 != x0 else 0.0
        ends = (y0 + slope * (left - x0), y0 + slope * (right - x0)) if x1 != x0 else (y0, y1)
        if min(ends) < box.bottom and max(ends) > box.top:
            return True
    return False


class _Area(NamedTuple):
    """The area of the curves: its range of x, its highest share, and its size in pixels."""

    left: float
    right: float
    top: float
    width: float
    height: float

    def pixels(self, point: Point) -> tuple[float, float]:
        span = self.right - self.left
        x = (point.x - self.left) / span if span > 0 else 0.5
        return x * self.width, (1.0 - point.y / self.top) * self.height

    def at(self, point: Point, box: Box) -> Point:
        """The point, at the height of the middle of a box."""
        return point._replace(y=(1.0 - (box.top + box.bottom) / 2 / self.height) * self.top)

    def name_box(self, name: Point) -> Box:
        """The space of a name to the right of a point."""
        at, down = self.pixels(name)
        length = min(len(name.series) * LETTER_WIDTH, NAME_LIMIT)
        return Box(at + 7, at + 11 + length, down - LINE_HEIGHT / 2, down + LINE_HEIGHT / 2)


def share_curves(
    series: Mapping[str, Sequence[Point]],
    main: str,
    title: str,
    x: Axis,
    marked: Point | None = None,
    width: int = WIDE,
    envelope: Sequence[Point] = (),
    dashed_from: Mapping[str, float] | None = None,
) -> Chart:
    """A curve of shares for each series, with its name at its end.

    The series `main` has a band and points; the others are thin and grey. `marked` gets a ring and its name.
    `envelope` is a wide pale line behind them. A curve is dashed from its x in `dashed_from` on.
    """
    curves = {
        name: sorted((point._replace(series=name) for point in points), key=lambda point: point.x)
        for name, points in series.items()
        if points
    }
    height = 300 if width == WIDE else 230
    name_width = min(max(map(len, curves)) * LETTER_WIDTH, NAME_LIMIT) + 12
    inner_width = max(width - LEFT - EDGE - name_width, width / 3)
    every = [point for curve in curves.values() for point in curve] + ([marked] if marked else []) + [*envelope]
    x_ticks = sorted({point.x for point in every})
    y = _share_channel("y:Q", [max(point.y, point.high or 0.0) for point in every])
    axes = {"x": _x(x, x_ticks, inner_width), "y": y}
    right = x_ticks[-1] if x.high is None else x.high
    area = _Area(x.low or x_ticks[0], right, y["scale"]["domain"][1], inner_width, height)
    layers = list[Spec]()
    if len(envelope) > 1:
        wide: Spec = {"strokeWidth": 11, "strokeCap": "round", "strokeJoin": "round", "opacity": 0.5}
        layers.append(mark("line", envelope, axes, color=PALE, **wide))
    layers += _lines(curves, main, dashed_from or {}, axes)
    names = _name_points(curves, area)
    for is_main, colour, weight in ((False, SOFT, "normal"), (True, ACCENT, "bold")):
        layers += _names([point for point in names if (point.series == main) is is_main], axes, colour, weight)
    if marked is not None:
        label, is_right = _ring_label(marked, [*curves.values()], names, area)
        layers.append(mark("point", [marked], axes, size=150, color=INK, strokeWidth=1.8, opacity=1))
        side: Spec = {"dx": 10} if is_right else {"dx": -4, "align": "right"}
        layers += _names([label], axes, INK, "bold", **side)
    head = {"text": title, "fontWeight": "normal", "fontSize": FONT_SIZE, "offset": 12}
    return Chart({"layer": layers, "width": inner_width, "height": height, "title": head})


def _lines(curves: Mapping[str, list[Point]], main: str, dashes: Mapping[str, float], axes: Spec) -> list[Spec]:
    """Grey lines, with a dot for a series of a single point; the main curve with its band and its points."""
    layers, grey = list[Spec](), {"color": SOFT, "strokeWidth": 1.2}
    others = [curve for name, curve in curves.items() if name != main]

    def parts(curve: list[Point], dashed: bool) -> list[Point]:
        start = dashes.get(curve[0].series, math.inf)
        return [point for point in curve if (point.x >= start if dashed else point.x <= start)]

    for dashed, style in ((False, {}), (True, {"strokeDash": DASH})):
        points = [point for curve in others for point in parts(curve, dashed)]
        if points:
            layers.append(mark("line", points, axes | {"detail": field("series:N")}, **style, **grey))
    single = [curve[0] for curve in others if len(curve) == 1]
    if single:
        layers.append(mark("circle", single, axes, size=36, color=SOFT, opacity=1))
    curve = curves.get(main, [])
    if not curve:
        return layers
    band = [point for point in curve if point.low is not None and point.high is not None]
    if band:
        kind, look = ("rule", {"strokeWidth": 2}) if len(band) == 1 else ("area", {"opacity": 0.2})
        layers.append(mark(kind, band, axes | {"y": field("low:Q"), "y2": field("high")}, color=ACCENT, **look))
    for dashed, dash in ((False, [1, 0]), (True, DASH)):
        if len(part := parts(curve, dashed)) > 1:
            layers.append(mark("line", part, axes, color=ACCENT, strokeWidth=2.6, strokeDash=dash))
    return [*layers, mark("circle", curve, axes, size=40, color=ACCENT, opacity=1)]


def _names(points: list[Point], axes: Spec, colour: str, weight: str, **style: Any) -> list[Spec]:
    style = {"align": "left", "dx": 9, "limit": NAME_LIMIT, "fontWeight": weight} | style
    return _outlined(axes | {"text": field("series:N")}, colour, points, **style) if points else []


def _ring_label(
    marked: Point, curves: Sequence[list[Point]], names: Sequence[Point], area: _Area
) -> tuple[Point, bool]:
    """Where the name of the marked point has space, above or below it, and whether that is to its right."""
    at, down = area.pixels(marked)
    length = len(marked.series) * LETTER_WIDTH + 12
    is_right = at + length < area.width
    left = at + 8 if is_right else at - length
    lines = [[area.pixels(point) for point in curve] for curve in curves if len(curve) > 1]
    ring = Box(at - 10, at + 10, down - 10, down + 10)
    start = Box(left, left + length, down - LINE_HEIGHT / 2, down + LINE_HEIGHT / 2)
    return area.at(marked, free_box(start, lines, [ring, *map(area.name_box, names)], area.height)), is_right


def _name_points(curves: dict[str, list[Point]], area: _Area) -> list[Point]:
    """Position of each curve's name: at its end, away from the other names and from the other curves."""
    gap, top = LINE_HEIGHT * area.top / area.height, area.top
    ends = [curve[-1] for curve in curves.values() if curve[-1].x >= area.right]
    means = {name: sum(point.y for point in curve) / len(curve) for name, curve in curves.items()}
    ends.sort(key=lambda end: (round(end.y, 2), means[end.series], end.series))
    heights = [end.y for end in ends]
    for index in range(1, len(heights)):
        heights[index] = max(heights[index], heights[index - 1] + gap)
    for index in reversed(range(len(heights))):
        heights[index] = min(heights[index], top)
        top = heights[index] - gap
    names = [Point(end.series, end.x, height) for end, height in zip(ends, heights, strict=True)]
    lines = [[area.pixels(point) for point in curve] for curve in curves.values() if len(curve) > 1]
    for name, curve in curves.items():
        if curve[-1].x < area.right:
            end = Point(name, curve[-1].x, curve[-1].y)
            boxes = [area.name_box(other) for other in names]
            names.append(area.at(end, free_box(area.name_box(end), lines, boxes, area.height)))
    return names


def _x(axis: Axis, ticks: list[float], inner_width: float) -> Spec:
    low = min(ticks) if axis.low is None else axis.low
    high = max(ticks) if axis.high is None else axis.high
    scale: Spec = {"domain": [low, high], "nice": False} if high > low else {"domain": [low - 1, high + 1]}
    look: Spec = {"grid": False, "ticks": False, "domain": False, "labelFlush": False}
    look |= {"labelPadding": 7, "titlePadding": 9} | ({"format": axis.form} if axis.form else {})
    is_crowded = axis.form or len(ticks) * 18 > inner_width
    look |= {"tickCount": 5} if is_crowded else {"values": ticks, "labelOverlap": False}
    return field("x:Q", title=axis.title, scale=scale, axis=look)


# Heat maps: a cell for each row and column, with its number in it.
#
# The number is in the cell, so that the map is as good in black and white. Cells are the accent colour in five
# strengths, and their numbers are in the colours of text and paper, so that they can be read in dark mode too.

STRENGTHS = ((0.1, 0.05), (0.25, 0.18), (0.5, 0.34), (0.75, 0.5))
"""Strength of the colour of shares below each bound; from the last one on it is full."""
MARGIN, CELL_HEIGHT = 40, 34


class HeatRow(NamedTuple):
    """One row: its name, its shares (None: not measured), and whether it is the subject of the map."""

    label: str
    shares: Sequence[float | None]
    main: bool = False


def heat_map(rows: Sequence[HeatRow], columns: Sequence[str], x_title: str, y_title: str, width: int = WIDE) -> Chart:
    """A cell for each row and column. The last cell of the main row has a frame."""
    label_width = 118 if width == WIDE else 84
    cells, layers = list[Spec](), list[Spec]()
    for y_index, row in enumerate(rows):
        for x_index, share in enumerate(row.shares):
            strength = 0.0 if share is None else next((of for below, of in STRENGTHS if share < below), 1.0)
            framed = row.main and x_index == len(columns) - 1
            number = "–" if share is None else percent(share)
            cells.append({"x": x_index, "y": y_index, "strength": strength, "number": number, "framed": framed})
    axis: Spec = {"orient": "top", "labelExpr": f"{[*columns]!r}[datum.value]", "labelAngle": 0, "ticks": False}
    axis |= {"domain": False, "labelPadding": 5, "titlePadding": 7, "titleAnchor": "start"}
    x = field("x:O", title=x_title, scale={"paddingInner": 0.04, "paddingOuter": 0.02}, axis=axis)
    y = field("y:O", axis=None, scale={"paddingInner": 0.07, "paddingOuter": 0.03})

    def add(kind: str, test: str, encoding: Spec, **style: Any) -> None:
        layer = mark(kind, cells, {"x": x, "y": y} | encoding, **style)
        layers.append(layer | ({"transform": [{"filter": test}]} if test else {}))

    add("rect", "", {"opacity": field("strength:Q", scale=None, legend=None)}, color=ACCENT)
    for colour, test in (("white", "datum.strength == 1"), (INK, "datum.strength < 1")):
        if any((cell["strength"] == 1) == (colour == "white") for cell in cells):
            add("text", test, {"text": field("number:N")}, fontSize=FONT_SIZE, color=colour)
    if any(cell["framed"] for cell in cells):
        add("rect", "datum.framed", {}, filled=False, stroke=INK, strokeWidth=2.2)
    for is_main, colour, weight in ((False, INK, "normal"), (True, ACCENT, "bold")):
        names = [{"y": i, "label": shorten(row.label, 24)} for i, row in enumerate(rows) if row.main is is_main]
        if names:
            style: Spec = {"align": "right", "dx": -8, "fontSize": FONT_SIZE, "fontWeight": weight, "color": colour}
            layers.append(mark("text", names, {"x": AT_START, "y": y, "text": field("label:N")}, **style))
    head: Spec = {"align": "left", "fontSize": 12, "color": INK, "dx": -label_width, "dy": -14}
    layers.append(mark("text", [{}], {"x": AT_START, "y": AT_START, "text": {"value": y_title}}, **head))
    return Chart({"layer": layers, "width": width - label_width - MARGIN, "height": CELL_HEIGHT * len(rows)})
