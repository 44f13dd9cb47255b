"""Charts: curves with bands, horizontal bars with intervals, heat maps; wide, or narrow for a phone.

The subject of a chart is in the accent colour, the rest is grey. Every mark has its name next to it.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from standout.core.text import percent, shorten
from standout.evaluate.estimates import Estimate
from standout.report.charts import (
    ACCENT,
    GREY,
    INK,
    NARROW,
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
DASH, DASHES = [5, 4], ([1, 0], [7, 3], [2, 2])
MOST_DOTS = 60
"""Longer curves have no points."""
BAR_STEP = 18
"""Distance of two bars with the same label."""
LEFT, RIGHT, EDGE = 44, 52, 32
"""Space for the numbers of an axis, for the number at the end of a bar, and for the padding."""
OUTLINE: Spec = {"color": "white", "stroke": "white", "strokeWidth": 4, "strokeJoin": "round"}


def _share_channel(name: str, shares: Sequence[float]) -> Spec:
    """A field with the smallest axis in per cent that has space for all shares."""
    ticks = next((ticks for ticks in TICKS[:-1] if max(shares, default=0.0) < 0.9 * ticks[-1]), TICKS[-1])
    label = "format(100 * datum.value, '.0f') + '\xa0%'"
    axis: Spec = {"values": list(ticks), "labelExpr": label, "ticks": False, "domain": False}
    axis |= {"labelPadding": 5, "labelFlush": False}
    return field(name, title=None, scale={"domain": [0, ticks[-1]], "nice": False}, axis=axis)


def _outlined(encoding: Spec, colour: str, rows: Sequence[Any] | None = None, **style: Any) -> list[Spec]:
    """A text with a white outline below it, readable above lines."""
    style["fontSize"] = FONT_SIZE
    return [mark("text", rows, encoding, **style, **OUTLINE), mark("text", rows, encoding, **style, color=colour)]


# Bars.


class Bar(NamedTuple):
    """A number as a bar with its interval. A bar without a label belongs to the one above; `source` is its own name."""

    panel: str
    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    colour: str = ACCENT
    source: str = ""


def share_bar(panel: str, label: str, share: Estimate, main: bool = True) -> Bar:
    """A share with its interval as a bar; the subject of the chart if `main`."""
    value = share.value if math.isfinite(share.value) else None
    return Bar(panel, label, value, share.low, share.high, ACCENT if main else GREY)


def bar_chart(bars: Sequence[Bar], width: int = WIDE, axis: Axis | None = None) -> Chart:
    """Horizontal bars with their intervals and numbers, in a block for each panel; default: shares in per cent.

    Labels are left of the bars on a desktop and above them on a phone.
    """
    bars, is_narrow = bars or [Bar("", "nothing", None)], width == NARROW
    longest = max(len(shorten(bar.label, LONGEST_LABEL)) for bar in bars)
    label_width = 0 if is_narrow else min(longest * LETTER_WIDTH + 10, 300)
    sources = max(len(bar.source) for bar in bars) * LETTER_WIDTH
    inner_width = width - EDGE - RIGHT - label_width - sources
    gap, above = (22, 3) if is_narrow else (8, 4)
    ends = [max(bar.value or 0.0, bar.high or 0.0) for bar in bars]
    panels: dict[str, tuple[list[Spec], list[Spec]]] = {}
    for bar, end in zip(bars, ends, strict=True):
        rows, labels = panels.setdefault(bar.panel, ([], []))
        y = BAR_STEP * (len(rows) + 0.5) + gap * (len(labels) + bool(bar.label)) - above
        if bar.label:
            labels.append({"label": shorten(bar.label, LONGEST_LABEL), "y": y - BAR_STEP if is_narrow else y})
        elif not is_narrow:  # in the middle of its bars
            labels[-1]["y"] += BAR_STEP / 2
        source, number = bar.source, "not measured"
        if bar.value is not None:
            number = percent(bar.value) if axis is None else f"{bar.value:{axis.form or '.2f'}}"
        elif source:
            source += ":"
        rows.append(
            bar._asdict() | {"value": bar.value or 0.0, "end": end, "y": y, "number": f"{source} {number}".strip()}
        )
    y_channel = {"y": field("y:Q", scale=None, axis=None)}
    side: Spec = {"align": "left"} if is_narrow else {"align": "right", "dx": -8}
    side["limit"] = inner_width if is_narrow else label_width - 10
    charts = []
    for title, (rows, labels) in panels.items():
        is_last = title == list(panels)[-1]
        x = _share_channel("value:Q", ends) if axis is None else axis.channel("value")
        x |= {"title": axis.title if axis and is_last else None, "axis": x["axis"] | {"labels": is_last}}
        if axis is not None:
            x["axis"]["format"] = "~g"
        interval, numbers = {"x": field("low:Q"), "x2": field("high")}, {"x": field("end:Q"), "text": field("number:N")}
        has_interval: Spec = {"transform": [{"filter": "datum.low != null && datum.high != null"}]}
        layers = [
            mark("rule", None, {"x": x, "x2": {"datum": 0}, "color": field("colour:N", scale=None)}, strokeWidth=14),
            mark("rule", None, interval, strokeWidth=4.5, color="white") | has_interval,
            mark("rule", None, interval, strokeWidth=1.8, color=INK) | has_interval,
            mark("text", None, numbers, align="left", dx=6, fontSize=FONT_SIZE, color=INK),
            *_outlined({"x": AT_START, "text": field("label:N")}, INK, labels, **side),
        ]
        head = {"title": {"text": title, "fontSize": 13, "dx": -label_width}} if title else {}
        size = {"width": inner_width, "height": BAR_STEP * len(rows) + gap * len(labels)}
        charts.append({"data": data(rows), "encoding": y_channel, "layer": layers, **size, **head})
    return Chart({"vconcat": charts, "spacing": 18, "resolve": {"scale": {"x": "shared"}}})


def bars_figure(title: str, text: str, bars: Sequence[Bar], heads: tuple[str, ...], rows: Sequence[Cells]) -> Figure:
    """A figure of bars, described by a text and the share of each bar."""
    shares = "; ".join(f"{bar.label}: {percent(bar.value)}" for bar in bars[:MOST_DESCRIBED])
    return Figure(title, f"{text} {shares}.", partial(bar_chart, bars), Table(heads, rows))


def columns(
    panels: Mapping[str, Sequence[tuple[str, float]]], main: str, x: str, y: Axis, size: tuple[int, int], form: str = ""
) -> Chart:
    """Vertical bars for each panel; the panel `main` is the subject. With a form, numbers are on top of the bars."""
    charts = []
    for title, bars in panels.items():
        is_last = title == list(panels)[-1]
        look: Spec = {"labels": is_last, "ticks": False, "domainColor": INK, "labelAngle": 0, "labelOverlap": True}
        labels = field("label:N", sort=[label for label, _ in bars], title=x if is_last else None, axis=look)
        rows = [{"label": label, "y": value, "number": format(value, form)} for label, value in bars]
        layers = [mark("bar", None, {}, color=ACCENT if title == main else GREY, binSpacing=1)]
        if form:
            layers.append(mark("text", None, {"text": field("number:N")}, dy=-7, fontSize=11, color=INK))
        head = {"text": title, "fontWeight": "normal", "fontSize": FONT_SIZE}
        chart = {"data": data(rows), "encoding": {"x": labels, "y": y.channel("y")}, "layer": layers, "title": head}
        charts.append({**chart, "width": size[0], "height": size[1]})
    return Chart({"vconcat": charts, "spacing": 12})


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
    """The area of the curves: its range of x, the upper end of y, its size in pixels, and whether x is logarithmic."""

    left: float
    right: float
    top: float
    width: float
    height: float
    log: bool = False

    def pixels(self, point: Point) -> tuple[float, float]:
        left, right, at = map(math.log, (self.left, self.right, point.x)) if self.log else (*self[:2], point.x)
        x = (at - left) / (right - left) if right > left else 0.5
        return x * self.width, (1.0 - point.y / self.top) * self.height

    def at(self, point: Point, box: Box) -> Point:
        """The point, at the height of the middle of a box."""
        return point._replace(y=(1.0 - (box.top + box.bottom) / 2 / self.height) * self.top)

    def name_box(self, name: Point) -> Box:
        """The space of a name to the right of a point."""
        at, down = self.pixels(name)
        length = min(len(name.series) * LETTER_WIDTH, NAME_LIMIT)
        return Box(at + 7, at + 11 + length, down - LINE_HEIGHT / 2, down + LINE_HEIGHT / 2)


def curves(
    points: Sequence[Point],
    x: Axis,
    y: Axis | str,
    main: Collection[str] | None = None,
    width: int = WIDE,
    marked: Point | None = None,
    envelope: Sequence[Point] = (),
    dashed_from: Mapping[str, float] | None = None,
) -> Chart:
    """A curve for each series, with its name at its end, and a chart for each panel; y is an axis or a title of shares.

    The series in `main` (default: all) have bands, points and dashes of their own. The others are thin: grey, or
    references above the main ones if y is an axis. `marked` gets a ring and its name, `envelope` is a wide pale line
    behind all. A curve is dashed from its x in `dashed_from` on.
    """
    main = {point.series for point in points} if main is None else main
    panels: dict[str, dict[str, list[Point]]] = {}
    for point in sorted(points, key=lambda point: point.x):
        panels.setdefault(point.panel, {}).setdefault(point.series, []).append(point)
    height = 230 if width == NARROW else 300
    name_width = min(max((len(point.series) for point in points), default=0) * LETTER_WIDTH, NAME_LIMIT) + 12
    inner_width = max(width - LEFT - EDGE - name_width, width / 3)
    every = [*points, *([marked] if marked else []), *envelope]
    x_channel = _x(x, sorted({point.x for point in every}), inner_width)
    highest = [max(point.y, point.high or 0.0) for point in every]
    if isinstance(y, str):
        y_channel, head = _share_channel("y:Q", highest), {"fontWeight": "normal", "fontSize": FONT_SIZE, "offset": 12}
    else:
        y_channel, head = y._replace(low=0, high=y.high or 1.05 * max(highest)).channel("y"), {}
    axes = {"x": x_channel, "y": y_channel}
    left, right = x_channel["scale"]["domain"]
    area = _Area(left, right, y_channel["scale"]["domain"][1], inner_width, height, x.log)
    charts = list[Spec]()
    for panel, series in panels.items():
        layers = list[Spec]()
        if len(envelope) > 1:
            wide: Spec = {"strokeWidth": 11, "strokeCap": "round", "strokeJoin": "round", "opacity": 0.5}
            layers.append(mark("line", envelope, axes, color=PALE, **wide))
        layers += _lines(series, main, dashed_from or {}, axes, isinstance(y, Axis))
        names = _name_points(series, area)
        for is_main, colour, weight in ((False, SOFT, "normal"), (True, ACCENT, "bold")):
            layers += _names([point for point in names if (point.series in main) is is_main], axes, colour, weight)
        if marked is not None:
            label, is_right = _ring_label(marked, [*series.values()], names, area)
            layers.append(mark("point", [marked], axes, size=150, color=INK, strokeWidth=1.8, opacity=1))
            side: Spec = {"dx": 10} if is_right else {"dx": -4, "align": "right"}
            layers += _names([label], axes, INK, "bold", **side)
        title = y if isinstance(y, str) else panel
        charts.append({"layer": layers, "width": inner_width, "height": height, "title": {"text": title, **head}})
    return Chart({"vconcat": charts, "spacing": 14})


def _lines(
    curves: Mapping[str, list[Point]], main: Collection[str], dashed: Mapping[str, float], axes: Spec, refer: bool
) -> list[Spec]:
    """The lines, those on top last, with bands and points of the main ones; a dot for another one of a single point."""
    layers, mains = list[Spec](), [name for name in curves if name in main]
    thin: Spec = {"color": INK if refer else SOFT, "strokeWidth": 1.2}
    for name in sorted(curves, key=lambda name: (name in main) is not refer):
        curve, is_main, start = curves[name], name in main, dashed.get(name, math.inf)
        look: Spec = {"color": ACCENT, "strokeWidth": 2.6} if is_main else thin
        band = [point for point in curve if is_main and point.low is not None and point.high is not None]
        if band:
            kind, style = ("rule", {"strokeWidth": 2}) if len(band) == 1 else ("area", {"opacity": 0.2})
            layers.append(mark(kind, band, axes | {"y": field("low:Q"), "y2": field("high")}, color=ACCENT, **style))
        solid = DASHES[mains.index(name) % len(DASHES)] if is_main else DASH if refer else DASHES[0]
        parts = ([point for point in curve if point.x <= start], solid), ([p for p in curve if p.x >= start], DASH)
        layers += [mark("line", part, axes, strokeDash=dash, **look) for part, dash in parts if len(part) > 1]
        if len(curve) == 1 or (is_main and len(curve) <= MOST_DOTS):
            layers.append(mark("circle", curve, axes, size=40, color=look["color"], opacity=1))
    return layers


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
    scale: Spec = {"domain": [low, high] if high > low else [low - 1, high + 1], "nice": False}
    look: Spec = {"grid": False, "ticks": False, "domain": False, "labelFlush": False}
    look |= {"labelPadding": 7, "titlePadding": 9} | ({"format": axis.form} if axis.form else {})
    is_crowded = axis.form or len(ticks) * 18 > inner_width
    look |= {"tickCount": 5} if is_crowded else {"values": ticks, "labelOverlap": False}
    if axis.log:
        scale["type"], look["values"] = "log", [10**k for k in range(-9, 10) if low <= 10**k <= high]
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
    label_width, cells = 118 if width == WIDE else 84, list[Spec]()
    for y_index, row in enumerate(rows):
        for x_index, share in enumerate(row.shares):
            strength = 0.0 if share is None else next((of for below, of in STRENGTHS if share < below), 1.0)
            look = {"strength": strength, "colour": "white" if strength == 1.0 else INK}
            framed = row.main and x_index == len(columns) - 1
            cells.append({"x": x_index, "y": y_index, "number": percent(share), "framed": framed, **look})
    axis: Spec = {"orient": "top", "labelExpr": f"{[*columns]!r}[datum.value]", "labelAngle": 0, "ticks": False}
    axis |= {"domain": False, "labelPadding": 5, "titlePadding": 7, "titleAnchor": "start"}
    x = field("x:O", title=x_title, scale={"paddingInner": 0.04, "paddingOuter": 0.02}, axis=axis)
    y = field("y:O", axis=None, scale={"paddingInner": 0.07, "paddingOuter": 0.03})
    axes, colour_channel = {"x": x, "y": y}, {"color": field("colour:N", scale=None)}
    layers = [
        mark("rect", cells, axes | {"opacity": field("strength:Q", scale=None, legend=None)}, color=ACCENT),
        mark("text", cells, axes | {"text": field("number:N"), **colour_channel}, fontSize=FONT_SIZE),
    ]
    if framed_cells := [cell for cell in cells if cell["framed"]]:
        layers.append(mark("rect", framed_cells, axes, filled=False, stroke=INK, strokeWidth=2.2))
    for is_main, colour, weight in ((False, INK, "normal"), (True, ACCENT, "bold")):
        names = [{"y": i, "label": shorten(row.label, 24)} for i, row in enumerate(rows) if row.main is is_main]
        if names:
            style: Spec = {"align": "right", "dx": -8, "fontSize": FONT_SIZE, "fontWeight": weight, "color": colour}
            layers.append(mark("text", names, {"x": AT_START, "y": y, "text": field("label:N")}, **style))
    head: Spec = {"align": "left", "fontSize": 12, "color": INK, "dx": -label_width, "dy": -14}
    layers.append(mark("text", [{}], {"x": AT_START, "y": AT_START, "text": {"value": y_title}}, **head))
    return Chart({"layer": layers, "width": width - label_width - MARGIN, "height": CELL_HEIGHT * len(rows)})
