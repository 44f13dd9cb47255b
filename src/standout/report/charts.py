"""Charts for reports: bars beside what they are held against, and curves; as SVG and as PNG.

One accent colour for what we measured, grey and ink for the rest, so that nothing is lost in print. Every
mark is named where it stands: there is no legend to look up.
"""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

import altair as alt
import vl_convert

__all__ = ["ACCENT", "GREY", "GRID", "INK", "Axis", "Bar", "Chart", "Point", "bars", "columns", "curves"]

ACCENT, GREY, INK, GRID = "#0b6e99", "#b5b5b5", "#1b1b1b", "#dedede"
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
WIDTH, HEIGHT = 300, 220
ROW = 20
"""Height of a bar with its room."""
FOOT = 0.1
"""Curves that end below this share of the height end at the foot."""
APART = 0.06
"""Names of curves keep this share of the height between them."""
SCALE = 2
"""Pixels of a PNG for each of the SVG."""
PADDING = {"left": 8, "top": 5, "right": 24, "bottom": 5}
"""Room for the names of marks where a font is wider than ours."""
LOOK: dict[str, Any] = {
    "font": FONT, "aria": False, "background": "white", "padding": PADDING,
    "axis": {
        "gridColor": GRID, "labelColor": INK, "titleColor": INK, "titleFontWeight": "normal",
        "labelFontSize": 12, "titleFontSize": 12, "domainColor": GRID, "tickColor": GRID,
    },
    "title": {"anchor": "start", "fontSize": 13, "color": INK, "frame": "group"},
}  # fmt: skip
"""How all charts look; set once, in the end, because Altair copies a whole chart for each setting."""
FORBIDDEN = re.compile(r' (?:style|class|role|aria-\w+|pointer-events)="[^"]*"')
"""Attributes that a page's own rules would forbid."""
DASHES = ([1, 0], [7, 3], [2, 2])


class Bar(NamedTuple):
    """One measured number and what it is held against; `low` and `high` are the ends of its interval."""

    panel: str
    label: str
    value: float | None
    low: float | None
    high: float | None
    other: float | None


class Point(NamedTuple):
    """A point of a curve, with the ends of its interval where it has one."""

    series: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    panel: str = ""


class Axis(NamedTuple):
    """What an axis is called, from where to where it goes, whether it is logarithmic (only for x), and how
    its numbers look."""

    title: str
    low: float | None = None
    high: float | None = None
    log: bool = False
    form: str = ""


class Chart:
    """A chart, finished: the same numbers give the same bytes."""

    def __init__(self, made: Any) -> None:
        self.spec: dict[str, Any] = made.to_dict()
        look = self.spec.setdefault("config", {})
        look |= LOOK | {"view": look.get("view", {}) | {"stroke": None}}

    def png(self) -> bytes:
        """For papers and slides."""
        return bytes(vl_convert.vegalite_to_png(self.spec, scale=SCALE))

    def svg(self, title: str = "", words: str = "") -> str:
        """With a title and a description for those who do not see it."""
        return _described(vl_convert.vegalite_to_svg(self.spec), title, words)


def bars(shown: Sequence[Bar], axis: Axis, names: tuple[str, str] = ("ours", "paper")) -> Chart:
    """A panel for each `panel`, in it a pair of bars for each label: what was measured, with its interval,
    above what it is held against."""
    panels = list(dict.fromkeys(bar.panel for bar in shown))
    drawn = [
        _panel(panel, [bar for bar in shown if bar.panel == panel], axis, names, panel == panels[-1])
        for panel in panels
    ]
    return Chart(alt.vconcat(*drawn, spacing=14).resolve_scale(x="shared"))


def columns(points: Sequence[Point], x: Axis, y: Axis) -> Chart:
    """Upright bars of one series, with their numbers on top."""
    names = [f"{point.x:g}" for point in points]
    rows = [
        {"x": name, "y": point.y, "words": _number(point.y)}
        for name, point in zip(names, points, strict=True)
    ]
    side = alt.X("x:N", sort=names, title=x.title, axis=alt.Axis(labelAngle=0, ticks=False, domain=False))
    base = _of(rows).encode(x=side, y=_y(y))
    words = base.mark_text(dy=-7, fontSize=11, color=INK).encode(text="words:N")
    return Chart((base.mark_bar(color=ACCENT, size=22) + words).properties(width=WIDTH + 80, height=200))


def curves(points: Sequence[Point], x: Axis, y: Axis, quiet: Iterable[str] = ()) -> Chart:
    """A line for each series, named at its end, in a chart for each panel. Those in `quiet` are what ours are
    held against: thin and in ink. Several lines of ours differ by their dashes."""
    if x.log and x.low is None:
        x = x._replace(low=min(point.x for point in points), high=max(point.x for point in points))
    panels = list(dict.fromkeys(point.panel for point in points))
    drawn = [
        _lines(panel, [point for point in points if point.panel == panel], x, y, set(quiet))
        for panel in panels
    ]
    return Chart(alt.vconcat(*drawn, spacing=14))


def _lines(title: str, points: list[Point], x: Axis, y: Axis, still: set[str]) -> Any:
    series: dict[str, list[Point]] = {}
    for point in points:
        series.setdefault(point.series, []).append(point)
    layers: list[Any] = []
    for name, own in series.items():
        layers += _line(own, x, y, name in still, _dashes(name, series, still))
    layers += _names(series, still, x, y)
    return alt.layer(*layers).properties(width=WIDTH + 20, height=HEIGHT, title=title)


def _panel(title: str, own: list[Bar], axis: Axis, names: tuple[str, str], last: bool) -> Any:
    rows = [row for bar in own for row in _pair(bar, names, axis.form or ".2f")]
    side = alt.Axis(ticks=False, domain=False, labelPadding=6, labelLimit=150)
    labels = [bar.label for bar in own]
    base = _of(rows).encode(
        y=alt.Y("label:N", sort=labels, title=None, axis=side, scale=alt.Scale(padding=0.1)),
        yOffset=alt.YOffset("who:N", sort=list(names)),
    )
    below = alt.Axis(tickCount=5, domain=False, ticks=False, labels=last, format="~g")
    x = alt.X("value:Q", title=axis.title if last else None, scale=_scale(axis), axis=below)
    colours = alt.Color("who:N", scale=alt.Scale(domain=list(names), range=[ACCENT, GREY]), legend=None)
    interval = base.transform_filter("datum.low != null")
    layers = [
        base.mark_bar(height=14).encode(x=x, color=colours),
        interval.mark_rule(strokeWidth=4.5, color="white").encode(x="low:Q", x2="high:Q"),
        interval.mark_rule(strokeWidth=1.8, color=INK).encode(x="low:Q", x2="high:Q"),
        base.mark_text(align="left", dx=5, fontSize=12, color=INK).encode(x="end:Q", text="words:N"),
    ]
    return alt.layer(*layers).properties(width=WIDTH, height=2 * ROW * len(own), title=title)


def _pair(bar: Bar, names: tuple[str, str], digits: str) -> list[dict[str, Any]]:
    """What is drawn of one bar: ours and the other, as far as they are there."""
    mine, other = names
    value, high = bar.value or 0.0, bar.high or bar.value or 0.0
    words = f"{mine} {value:{digits}}" if bar.value is not None else f"{mine}: not measured"
    found = {"label": bar.label, "who": mine, "value": value, "low": bar.low, "high": bar.high}
    shown: list[dict[str, Any]] = [found | {"end": max(value, high), "words": words}]
    if bar.other is not None:
        words = f"{other} {bar.other:{digits}}"
        told = {"label": bar.label, "who": other, "value": bar.other, "low": None, "high": None}
        shown.append(told | {"end": bar.other, "words": words})
    return shown


def _line(own: list[Point], x: Axis, y: Axis, still: bool, dashes: list[int]) -> list[Any]:
    base = _of([point._asdict() for point in own]).encode(x=_x(x), y=_y(y))
    layers: list[Any] = []
    if any(point.low is not None for point in own):
        layers.append(base.mark_area(opacity=0.2, color=ACCENT).encode(y=_y(y, "low"), y2="high:Q"))
    colour, width = (INK, 1.3) if still else (ACCENT, 2.2)
    return [*layers, base.mark_line(color=colour, strokeWidth=width, strokeDash=dashes)]


def _names(series: dict[str, list[Point]], still: set[str], x: Axis, y: Axis) -> list[Any]:
    """The name of each series beside its end, moved apart where they would overlap, in the order in which the
    curves lie above each other. Where all curves end at the foot, names stand higher, with pieces of line."""
    every = [point for own in series.values() for point in own]
    order = sorted(series, key=lambda name: sum(point.y for point in series[name]) / len(series[name]))
    height = {name: _height(series[name][-1].y, every, y) for name in series}
    if x.high is not None and max(height.values()) < FOOT:
        return [
            layer
            for place, name in enumerate(reversed(order))
            for layer in _sample(name, series, still, x, y, 0.9 - 1.5 * APART * place)
        ]
    stood, floor = [], -1.0
    for name in order:
        floor = max(height[name], floor + APART)
        stood.append(floor)
    above = max(floor - 1.0, 0.0)
    return [
        _named(name, series[name][-1], name in still, HEIGHT * (height[name] - place + above), x, y)
        for name, place in zip(order, stood, strict=True)
    ]


def _sample(
    name: str, series: dict[str, list[Point]], still: set[str], x: Axis, y: Axis, height: float
) -> list[Any]:
    """A piece of a curve at this height, right of the middle, and its name."""
    across, up = x.high or 1.0, height * (y.high or max(point.y for point in series[name]))
    ends = [Point(name, share * across, up) for share in (0.6, 0.7)]
    line = _line(ends, x, y, name in still, _dashes(name, series, still))
    return [*line, _named(name, ends[1], name in still, 0.0, x, y)]


def _dashes(name: str, series: dict[str, list[Point]], still: set[str]) -> list[int]:
    """How the line of a series is dashed: those of ours differ from each other."""
    ours = [one for one in series if one not in still]
    return [4, 2] if name in still else DASHES[ours.index(name) % len(DASHES)]


def _named(name: str, at: Point, still: bool, lower: float, x: Axis, y: Axis) -> Any:
    """A name right of a point, so many pixels lower."""
    colour, weight = (INK, "normal") if still else (ACCENT, "bold")
    look: dict[str, Any] = {"fontSize": 12, "color": colour, "fontWeight": weight}
    words = _of([at._asdict()]).mark_text(align="left", dx=7, dy=lower, **look)
    return words.encode(x=_x(x), y=_y(y), text=alt.value(name))


def _height(value: float, points: Sequence[Point], y: Axis) -> float:
    """How high a value stands, from 0 to 1."""
    low = min(0.0, *(point.y for point in points)) if y.low is None else y.low
    high = max(point.y for point in points) if y.high is None else y.high
    return (value - low) / (high - low) if high > low else 0.5


def _of(rows: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows))


def _x(axis: Axis) -> alt.X:
    return alt.X("x:Q", title=axis.title, scale=_scale(axis), axis=_axis(axis))


def _y(axis: Axis, name: str = "y") -> alt.Y:
    return alt.Y(f"{name}:Q", title=axis.title, scale=_scale(axis), axis=_axis(axis))


def _axis(axis: Axis) -> alt.Axis:
    more: dict[str, Any] = {"format": axis.form} if axis.form else {}
    if axis.log and axis.low is not None and axis.high is not None:
        more["values"] = [10**k for k in range(-9, 10) if axis.low <= 10**k <= axis.high]
    return alt.Axis(tickCount=5, ticks=False, domain=False, labelPadding=5, **more)


def _scale(axis: Axis) -> alt.Scale:
    more: dict[str, Any] = {"type": "log", "nice": False} if axis.log else {}
    more |= {} if axis.low is None or axis.high is None else {"domain": [axis.low, axis.high], "nice": False}
    return alt.Scale(**more)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:.3g}"


def _described(svg: str, title: str, words: str) -> str:
    """The SVG with a title for screen readers, and nothing in it that a page's own rules would forbid."""
    svg = re.sub(r"<\w[^<>]*>", lambda tag: FORBIDDEN.sub("", tag[0]), svg)
    svg = re.sub(r'<path d="" display="none"/>', "", svg)
    told = f"<title>{escape(title)}</title>" if title else ""
    told += f"<desc>{escape(words)}</desc>" if words else ""
    head, rest = svg.split(">", 1)
    return f'{head} role="img">{told}{rest}'
