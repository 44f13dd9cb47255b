"""Charts of shares with their intervals: curves with bands, and horizontal bars; wide, or narrow for a phone.

The subject of a chart is in the accent colour, the rest is grey. Every mark has its name next to it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import altair as alt

from standout.core.text import HasInterval, count, percent, shorten
from standout.report.charts import ACCENT, GREY, INK, Axis, Chart, Point

if TYPE_CHECKING:
    from markupsafe import Markup

# Where a label has space in a chart of curves: next to its point, but on no line and on no other label.
#
# All numbers are pixels; y grows downwards.


Line = Sequence[tuple[float, float]]
STEP = 3.0
"""Distance between two places that are tried."""


class Box(NamedTuple):
    """A rectangle: its left and right edge, and its top and bottom."""

    left: float
    right: float
    top: float
    bottom: float

    def moved(self, down: float) -> "Box":
        """The same rectangle, lower by some pixels."""
        return self._replace(top=self.top + down, bottom=self.bottom + down)


def free_box(box: Box, lines: Sequence[Line], boxes: Sequence[Box], height: float) -> Box:
    """The nearest place above or below, within the height of the chart, that covers nothing.

    The box itself if there is none. Of two places that are equally near, the lower one.

    >>> free_box(Box(0, 10, 0, 10), [[(0.0, 4.0), (20.0, 4.0)]], [], 100).top
    6.0
    """
    shifts = sorted(
        (STEP * step for step in range(-int(height / STEP), int(height / STEP) + 1)),
        key=lambda shift: (abs(shift), -shift),
    )
    for shift in shifts:
        place = box.moved(shift)
        if place.top >= 0 and place.bottom <= height and _is_free(place, lines, boxes):
            return place
    return box


def _is_free(box: Box, lines: Sequence[Line], boxes: Sequence[Box]) -> bool:
    overlaps = any(
        box.left < other.right and other.left < box.right and box.top < other.bottom and other.top < box.bottom
        for other in boxes
    )
    return not overlaps and not any(_crosses(box, line) for line in lines)


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


Ticks: TypeAlias = tuple[float, ...]
Axes: TypeAlias = tuple[alt.X, alt.Y]
Layers: TypeAlias = list[Any]
WIDE, NARROW = 750, 372
"""Width of a chart on a desktop and on a phone."""
SOFT = "#6b6b6b"
"""Colour of thin lines and their names: dark enough to be read."""
PALE = "#c9c9c9"
"""Colour of the wide line behind the others."""
LINE_HEIGHT = 16
"""Distance between the names of curves in pixels."""
LETTER_WIDTH = 6.7
"""Approximate width of a letter in pixels."""
FONT_SIZE, NAME_LIMIT = 12.5, 170
LONGEST_LABEL = 44
TICKS = (
    (0.0, 0.02, 0.04, 0.06, 0.08, 0.1),
    (0.0, 0.05, 0.1, 0.15, 0.2, 0.25),
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
    (0.0, 0.25, 0.5, 0.75, 1.0),
)
"""Axes of shares: from 0 to a tenth, a quarter, a half, or 1."""
AT_LEFT, AT_TOP = alt.XValue(0), alt.YValue(0)  # type: ignore[no-untyped-call]
DASH = [5, 4]
LEFT, RIGHT, EDGE = 44, 52, 32
"""Space for the numbers of an axis, for the number at the end of a bar, and for the padding."""


class ShareBar(NamedTuple):
    """A share as a horizontal bar; `main` bars are the subject of the chart."""

    panel: str
    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    main: bool = True


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
    dashes = dashed_from or {}
    height = 300 if width == WIDE else 230
    name_width = min(max(map(len, curves)) * LETTER_WIDTH, NAME_LIMIT) + 12
    inner_width = max(width - LEFT - EDGE - name_width, width / 3)
    every = [point for curve in curves.values() for point in curve] + ([marked] if marked else [])
    every += envelope
    x_ticks = sorted({point.x for point in every})
    y_ticks = _ticks([max(point.y, point.high or 0.0) for point in every])
    axes = _x(x, x_ticks, inner_width), _y(y_ticks)
    layers = _wide_line(envelope, axes)
    others = {name: curve for name, curve in curves.items() if name != main}
    layers += _thin_lines(others, dashes, axes)
    layers += _main_line(curves.get(main, []), dashes.get(main), axes)
    area = _Area(x.low or x_ticks[0], x_ticks[-1] if x.high is None else x.high, y_ticks[-1], inner_width, height)
    names = _name_points(curves, area)
    layers += _names([point for point in names if point.series != main], SOFT, "normal", axes)
    layers += _names([point for point in names if point.series == main], ACCENT, "bold", axes)
    if marked is not None:
        layers += _ring(marked, _ring_label(marked, [*curves.values()], names, area), axes)
    head = alt.TitleParams(title, fontWeight="normal", fontSize=FONT_SIZE, offset=12)
    return Chart(alt.layer(*layers, width=inner_width, height=height, title=head))


class _Area(NamedTuple):
    """The area of the curves: its range of x, its highest share, and its size in pixels."""

    left: float
    right: float
    top: float
    width: float
    height: float

    def pixels(self, point: Point) -> tuple[float, float]:
        """The place of a point, y downwards."""
        span = self.right - self.left
        x = (point.x - self.left) / span if span > 0 else 0.5
        return x * self.width, (1.0 - point.y / self.top) * self.height

    def share(self, y: float) -> float:
        """The share at a height in pixels."""
        return (1.0 - y / self.height) * self.top


def share_bars(bars: Sequence[ShareBar], width: int = WIDE) -> Chart:
    """A bar for each share, with its interval and its number, in a block for each panel.

    Labels are left of the bars on a desktop and above them on a phone.
    """
    longest = max(len(shorten(bar.label, LONGEST_LABEL)) for bar in bars)
    label_width = min(longest * LETTER_WIDTH + 10, 300) if width == WIDE else 0
    inner_width = width - EDGE - RIGHT - label_width
    panels = list(dict.fromkeys(bar.panel for bar in bars))
    ticks = _ticks([max(bar.value or 0.0, bar.high or 0.0) for bar in bars])
    charts = [
        _panel(
            panel,
            [bar for bar in bars if bar.panel == panel],
            inner_width=inner_width,
            label_width=label_width,
            ticks=ticks,
            is_last=panel == panels[-1],
        )
        for panel in panels
    ]
    return Chart(alt.vconcat(*charts, spacing=18, resolve=alt.Resolve(scale={"x": "shared"})))


def _panel(
    title: str, bars: list[ShareBar], *, inner_width: float, label_width: float, ticks: Ticks, is_last: bool
) -> Any:
    rows = [_bar_row(index, bar) for index, bar in enumerate(bars)]
    x = alt.X("value:Q", title=None, **_share_axis(ticks, labels=is_last))
    base = alt.Chart().encode(y=alt.Y("row:O", axis=None))
    interval = base.transform_filter("datum.low != null && datum.high != null").encode(
        x=alt.X("low:Q"), x2=alt.X2("high:Q")
    )
    offset = 0 if label_width else 8
    number = base.mark_text(align="left", dx=6, dy=offset, fontSize=FONT_SIZE, color=INK)
    layers = [
        base.mark_bar(height=14, yOffset=offset).encode(x=x, color=alt.Color("colour:N", scale=None)),
        interval.mark_rule(strokeWidth=4.5, color="white", yOffset=offset),
        interval.mark_rule(strokeWidth=1.8, color=INK, yOffset=offset),
        number.encode(x=alt.X("end:Q"), text=alt.Text("number:N")),
        *_labels(base, label_width, inner_width),
    ]
    options: dict[str, Any] = {}
    if title:
        options["title"] = alt.TitleParams(title, fontSize=13, dx=-label_width)
    height = (26 if label_width else 40) * len(bars)
    return alt.layer(*layers, data=alt.InlineData(values=rows), width=inner_width, height=height, **options)


def _bar_row(index: int, bar: ShareBar) -> dict[str, Any]:
    """Data of a bar for the marks of its panel."""
    return bar._asdict() | {
        "row": index,
        "label": shorten(bar.label, LONGEST_LABEL),
        "value": bar.value or 0.0,
        "colour": ACCENT if bar.main else GREY,
        "end": max(bar.value or 0.0, bar.high or 0.0),
        "number": "not measured" if bar.value is None else percent(bar.value),
    }


def _labels(base: Any, label_width: float, inner_width: float) -> Layers:
    """Labels left of the bars, or above them if there is no space at the side."""
    style: dict[str, Any] = {"limit": label_width - 10 if label_width else inner_width}
    style |= {"align": "right", "dx": -8} if label_width else {"align": "left", "dy": -10}
    return [layer.encode(x=AT_LEFT, text=alt.Text("label:N")) for layer in _outlined_text(base, INK, style)]


def _thin_lines(curves: Mapping[str, list[Point]], dashes: Mapping[str, float], axes: Axes) -> Layers:
    """Grey lines, and a dot for a series of a single point."""
    style: dict[str, Any] = {"color": SOFT, "strokeWidth": 1.2}
    solid = [point for name, curve in curves.items() for point in _solid(curve, dashes.get(name))]
    dashed = [point for name, curve in curves.items() for point in _dashed(curve, dashes.get(name))]
    layers = [_data(solid, axes).mark_line(**style).encode(detail=alt.Detail("series:N"))] if solid else []
    if dashed:
        layers.append(_data(dashed, axes).mark_line(strokeDash=DASH, **style).encode(detail=alt.Detail("series:N")))
    single = [curve[0] for curve in curves.values() if len(curve) == 1]
    return [*layers, _data(single, axes).mark_circle(size=36, color=SOFT, opacity=1)] if single else layers


def _solid(curve: list[Point], dashed_from: float | None) -> list[Point]:
    return [point for point in curve if dashed_from is None or point.x <= dashed_from]


def _dashed(curve: list[Point], dashed_from: float | None) -> list[Point]:
    return [] if dashed_from is None else [point for point in curve if point.x >= dashed_from]


def _wide_line(curve: Sequence[Point], axes: Axes) -> Layers:
    if len(curve) < 2:
        return []
    style: dict[str, Any] = {"strokeWidth": 11, "strokeCap": "round", "strokeJoin": "round", "opacity": 0.5}
    return [_data(curve, axes).mark_line(color=PALE, **style)]


def _main_line(curve: list[Point], dashed_from: float | None, axes: Axes) -> Layers:
    """The main curve with its band and its points."""
    if not curve:
        return []
    base = _data(curve, axes)
    with_interval = [point for point in curve if point.low is not None and point.high is not None]
    layers: Layers = []
    if with_interval:
        band = _data(with_interval, axes)
        is_single = len(with_interval) == 1
        mark = band.mark_rule(color=ACCENT, strokeWidth=2) if is_single else band.mark_area(color=ACCENT, opacity=0.2)
        layers.append(mark.encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q")))
    for part, dash in ((_solid(curve, dashed_from), [1, 0]), (_dashed(curve, dashed_from), DASH)):
        if len(part) > 1:
            layers.append(_data(part, axes).mark_line(color=ACCENT, strokeWidth=2.6, strokeDash=dash))
    return [*layers, base.mark_circle(size=40, color=ACCENT, opacity=1)]


def _ring(point: Point, label: Point, axes: Axes) -> Layers:
    """A ring around a point, and its name where there is space."""
    ring = _data([point], axes).mark_point(size=150, color=INK, strokeWidth=1.8, opacity=1)
    side: dict[str, Any] = {"dx": 10} if label.panel == "right" else {"dx": -4, "align": "right"}
    return [ring, *_names([label], INK, "bold", axes, **side)]


def _ring_label(marked: Point, curves: Sequence[list[Point]], names: Sequence[Point], area: _Area) -> Point:
    """Where the name of the marked point has space: to its right, or to its left; above or below it."""
    at, down = area.pixels(marked)
    length = len(marked.series) * LETTER_WIDTH + 12
    side = "right" if at + length < area.width else "left"
    left = at + 8 if side == "right" else at - length
    lines = [[area.pixels(point) for point in curve] for curve in curves if len(curve) > 1]
    ring = Box(at - 10, at + 10, down - 10, down + 10)
    start = Box(left, left + length, down - LINE_HEIGHT / 2, down + LINE_HEIGHT / 2)
    place = free_box(start, lines, [ring, *(_name_box(name, area) for name in names)], area.height)
    return marked._replace(y=area.share((place.top + place.bottom) / 2), panel=side)


def _name_points(curves: dict[str, list[Point]], area: _Area) -> list[Point]:
    """Position of each curve's name: at its end, away from the other names and from the other curves."""
    at_edge = {name: curve for name, curve in curves.items() if curve[-1].x >= area.right}
    names = _edge_names(at_edge, LINE_HEIGHT * area.top / area.height, area.top)
    lines = [[area.pixels(point) for point in curve] for curve in curves.values() if len(curve) > 1]
    for name, curve in curves.items():
        if name not in at_edge:
            start = _name_box(Point(name, curve[-1].x, curve[-1].y), area)
            place = free_box(start, lines, [_name_box(other, area) for other in names], area.height)
            names.append(Point(name, curve[-1].x, area.share((place.top + place.bottom) / 2)))
    return names


def _name_box(name: Point, area: _Area) -> Box:
    """The space of a name to the right of a point."""
    at, down = area.pixels(name)
    length = min(len(name.series) * LETTER_WIDTH, NAME_LIMIT)
    return Box(at + 7, at + 11 + length, down - LINE_HEIGHT / 2, down + LINE_HEIGHT / 2)


def _edge_names(curves: dict[str, list[Point]], gap: float, top: float) -> list[Point]:
    """Names at the right edge: each at the end of its curve, but at least `gap` away from the others."""
    order = sorted(curves, key=lambda name: (round(curves[name][-1].y, 2), _mean(curves[name]), name))
    heights = [curves[name][-1].y for name in order]
    for index in range(1, len(heights)):
        heights[index] = max(heights[index], heights[index - 1] + gap)
    for index in reversed(range(len(heights))):
        heights[index] = min(heights[index], top)
        top = heights[index] - gap
    return [Point(name, curves[name][-1].x, height) for name, height in zip(order, heights, strict=True)]


def _mean(curve: list[Point]) -> float:
    return sum(point.y for point in curve) / len(curve)


def _names(points: list[Point], colour: str, weight: str, axes: Axes, **style: Any) -> Layers:
    """Names of points to their right, readable above lines."""
    if not points:
        return []
    style = {"align": "left", "dx": 9, "limit": NAME_LIMIT, "fontWeight": weight} | style
    return [layer.encode(text=alt.Text("series:N")) for layer in _outlined_text(_data(points, axes), colour, style)]


def _outlined_text(base: Any, colour: str, style: dict[str, Any]) -> Layers:
    """A text with a white outline below it."""
    outline = base.mark_text(
        fontSize=FONT_SIZE, color="white", stroke="white", strokeWidth=4, strokeJoin="round", **style
    )
    return [outline, base.mark_text(fontSize=FONT_SIZE, color=colour, **style)]


def _data(points: Sequence[Point], axes: Axes) -> alt.Chart:
    x, y = axes
    return alt.Chart(alt.InlineData(values=[point._asdict() for point in points])).encode(x=x, y=y)


def _x(axis: Axis, ticks: list[float], inner_width: float) -> alt.X:
    low = min(ticks) if axis.low is None else axis.low
    high = max(ticks) if axis.high is None else axis.high
    scale = alt.Scale(domain=[low, high], nice=False) if high > low else alt.Scale(domain=[low - 1, high + 1])
    options: dict[str, Any] = {"format": axis.form} if axis.form else {}
    if axis.form or len(ticks) * 18 > inner_width:
        options["tickCount"] = 5
    else:
        options |= {"values": ticks, "labelOverlap": False}
    x_axis = alt.Axis(
        grid=False, ticks=False, domain=False, labelFlush=False, labelPadding=7, titlePadding=9, **options
    )
    return alt.X("x:Q", title=axis.title, scale=scale, axis=x_axis)


def _y(ticks: Ticks) -> alt.Y:
    return alt.Y("y:Q", title=None, **_share_axis(ticks))


def _ticks(shares: Sequence[float]) -> Ticks:
    """Ticks of the smallest axis that has space for all shares."""
    return next((ticks for ticks in TICKS[:-1] if max(shares, default=0.0) < 0.9 * ticks[-1]), TICKS[-1])


def _share_axis(ticks: Ticks, labels: bool = True) -> dict[str, Any]:
    """Scale and axis of shares, in per cent."""
    axis = alt.Axis(
        values=list(ticks),
        labelExpr="format(100 * datum.value, '.0f') + '\xa0%'",
        labels=labels,
        ticks=False,
        domain=False,
        labelPadding=5,
        labelFlush=False,
    )
    return {"scale": alt.Scale(domain=[0, ticks[-1]], nice=False), "axis": axis}


# Heat maps of shares: a cell for each row and column, with its number in it; wide, or narrow for a phone.
#
# The number is in the cell, so that the map is as good in black and white. Cells are the accent colour in five
# strengths, and their numbers are in the colours of text and paper, so that they can be read in dark mode too.


STRENGTHS = ((0.1, 0.05), (0.25, 0.18), (0.5, 0.34), (0.75, 0.5))
"""Strength of the colour of shares below each bound; from the last one on it is full."""
LABEL_WIDTH, NARROW_LABEL_WIDTH, LONGEST_LABEL_HEAT_MAPS = 118, 84, 24
MARGIN = 40
WIDEST_CELL, CELL_HEIGHT = 92, 34


class HeatRow(NamedTuple):
    """One row: its name, its shares (None: not measured), and whether it is the subject of the map."""

    label: str
    shares: Sequence[float | None]
    main: bool = False


def heat_map(rows: Sequence[HeatRow], columns: Sequence[str], x_title: str, y_title: str, width: int = WIDE) -> Chart:
    """A cell for each row and column. The last cell of the main row has a frame."""
    label_width = LABEL_WIDTH if width == WIDE else NARROW_LABEL_WIDTH
    cell_width = (width - label_width - MARGIN) / len(columns)
    cells = [
        _cell(y, x, share, is_framed=row.main and x == len(columns) - 1)
        for y, row in enumerate(rows)
        for x, share in enumerate(row.shares)
    ]
    names = [
        {"y": y, "label": shorten(row.label, LONGEST_LABEL_HEAT_MAPS), "weight": row.main} for y, row in enumerate(rows)
    ]
    inner_width, height = cell_width * len(columns), CELL_HEIGHT * len(rows)
    x = alt.X(
        "x:O",
        title=x_title,
        scale=alt.Scale(paddingInner=0.04, paddingOuter=0.02),
        axis=alt.Axis(
            orient="top",
            labelExpr=f"{[*columns]!r}[datum.value]",
            labelAngle=0,
            ticks=False,
            domain=False,
            labelPadding=5,
            titlePadding=7,
            titleAnchor="start",
        ),
    )
    y = alt.Y("y:O", axis=None, scale=alt.Scale(paddingInner=0.07, paddingOuter=0.03))
    base = alt.Chart(alt.InlineData(values=cells)).encode(x=x, y=y)
    layers = [
        base.mark_rect(color=ACCENT).encode(opacity=alt.Opacity("strength:Q", scale=None, legend=None)),
        *_numbers(base, cells),
        *_frame(base, cells),
        *_names_heat_maps(names, y),
        _title(y_title, label_width),
    ]
    return Chart(alt.layer(*layers, width=inner_width, height=height))


def _cell(y: int, x: int, share: float | None, is_framed: bool) -> dict[str, Any]:
    strength = 0.0 if share is None else next((of for below, of in STRENGTHS if share < below), 1.0)
    number = "–" if share is None else percent(share)
    return {"x": x, "y": y, "strength": strength, "number": number, "framed": is_framed}


def _numbers(base: Any, cells: Sequence[dict[str, Any]]) -> list[Any]:
    """Numbers: in the colour of the paper on full cells, in that of text on the others."""
    layers = []
    for colour, test in (("white", "datum.strength == 1"), (INK, "datum.strength < 1")):
        if any((cell["strength"] == 1) == (colour == "white") for cell in cells):
            text = base.transform_filter(test).mark_text(fontSize=FONT_SIZE, color=colour)
            layers.append(text.encode(text=alt.Text("number:N")))
    return layers


def _frame(base: Any, cells: Sequence[dict[str, Any]]) -> list[Any]:
    if not any(cell["framed"] for cell in cells):
        return []
    return [base.transform_filter("datum.framed").mark_rect(filled=False, stroke=INK, strokeWidth=2.2)]


def _names_heat_maps(names: Sequence[dict[str, Any]], y: alt.Y) -> list[Any]:
    """Names of the rows, left of the cells; the subject is bold and in the accent colour."""
    layers = []
    for is_main, colour, weight in ((False, INK, "normal"), (True, ACCENT, "bold")):
        rows = [name for name in names if name["weight"] is is_main]
        if rows:
            style: dict[str, Any] = {"align": "right", "dx": -8, "fontSize": FONT_SIZE, "fontWeight": weight}
            text = alt.Chart(alt.InlineData(values=rows)).mark_text(color=colour, **style)
            layers.append(text.encode(x=AT_LEFT, y=y, text=alt.Text("label:N")))
    return layers


def _title(text: str, label_width: float) -> Any:
    """The title of the rows, above their names."""
    mark = alt.Chart(alt.InlineData(values=[{}])).mark_text(
        align="left", fontSize=12, color=INK, dx=-label_width, dy=-14
    )
    return mark.encode(x=AT_LEFT, y=AT_TOP, text=alt.TextValue(text))


# A picture of people: one dot for each target, coloured if the target is identified.


MOST_DOTS = 1000
WIDE_COLUMNS, NARROW_COLUMNS = 100, 50
STEPS = (1, 2, 5)
PITCH, DOT = 10, 7.4


@dataclass(frozen=True, slots=True)
class PeopleDots:
    """How many dots there are, how many are coloured, and how many people one dot represents.

    Attributes
    ----------
    targets
        Number of people who were attacked.
    identified
        Number of them who were identified, rounded: a tie of t records counts 1/t.
    """

    dots: int
    coloured: int
    people_per_dot: int
    targets: int
    identified: int

    @property
    def title(self) -> str:
        """The picture in one line."""
        return f"{count(self.identified)} of {count(self.targets, 'target is', 'targets are')} identified"

    @property
    def scale(self) -> str:
        """What one dot represents, and that the numbers are rounded."""
        if self.people_per_dot == 1:
            return "Each dot is one person whom the adversary looked for."
        return f"Each dot represents {count(self.people_per_dot)} people whom the adversary looked for."

    def svg(self, columns: int) -> "Markup":
        """The picture with so many dots in a row, the coloured ones first.

        A dot is a line without length and with a round end: a thousand of them take a few kilobytes.
        """
        from markupsafe import Markup

        columns = min(columns, self.dots)
        rows = math.ceil(self.dots / columns)
        paths = Markup("").join(
            Markup('<path class="{}" d="{}"/>').format(name, _path(range(first, last), columns))
            for name, first, last in (("found", 0, self.coloured), ("other", self.coloured, self.dots))
            if first < last
        )
        text = f"{self.scale} {count(self.coloured)} of {count(self.dots, 'dot is', 'dots are')} coloured."
        return Markup(
            '<svg class="people" role="img" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
            'stroke-width="{dot}" stroke-linecap="round"><title>{title}</title>'
            "<desc>{text}</desc>{paths}</svg>"
        ).format(w=columns * PITCH, h=rows * PITCH, dot=DOT, title=self.title, text=text, paths=paths)

    @property
    def wide(self) -> "Markup":
        """The picture for a desk and for paper."""
        return self.svg(WIDE_COLUMNS)

    @property
    def narrow(self) -> "Markup":
        """The picture for a phone."""
        return self.svg(NARROW_COLUMNS)


def people_dots(rate: HasInterval, targets: int) -> PeopleDots | None:
    """The dots of a measured share; None if nobody was attacked.

    At most `MOST_DOTS` dots are drawn, so one of them may represent several people. Numbers are rounded, but
    at least one dot is coloured if anybody was identified.

    >>> from standout.evaluate.estimates import Estimate
    >>> dots = people_dots(Estimate(0.975, 0.96, 0.985, n=610), 610)
    >>> dots.dots, dots.coloured, dots.title
    (610, 595, '595 of 610 targets are identified')
    >>> people_dots(Estimate(0.001, 0, 0.01, n=4_000), 4_000).coloured
    1
    """
    if targets < 1 or not math.isfinite(rate.value):
        return None
    scale = _people_per_dot(targets)
    dots = max(1, _rounded(targets / scale))
    coloured = max(_rounded(rate.value * targets / scale), int(rate.value > 0))
    return PeopleDots(dots, min(coloured, dots), scale, targets, _rounded(rate.value * targets))


def _people_per_dot(targets: int) -> int:
    """The least of 1, 2, 5, 10, 20, … with which there are few enough dots."""
    power = 1
    while True:
        for step in STEPS:
            if _rounded(targets / (step * power)) <= MOST_DOTS:
                return step * power
        power *= 10


def _rounded(number: float) -> int:
    return math.floor(number + 0.5)


def _path(positions: range, columns: int) -> str:
    """Dots at positions of a grid, as data of an SVG path."""
    middle = PITCH // 2
    return "".join(
        f"M{position % columns * PITCH + middle} {position // columns * PITCH + middle}h0" for position in positions
    )
