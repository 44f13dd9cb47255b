"""Charts of shares with their intervals: curves with bands, and bars in rows. Wide, and narrow for a phone.

What a chart is about is in the accent colour, the rest is grey; every mark is named where it stands.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from standout.core.formatting import percent, shorten
from standout.report.charts import ACCENT, GREY, INK, Axis, Chart, Point

__all__ = ["NARROW", "WIDE", "Row", "fan", "rows"]

Ticks = tuple[float, ...]
WIDE, NARROW = 750, 372
"""How wide a chart is: on a desk, and on a phone."""
SOFT = "#6b6b6b"
"""Thin lines and their names: dark enough to be read."""
LINE = 16
"""Names keep so many pixels between them."""
LETTER = 6.7
"""About how wide a letter is."""
SIZE, LIMIT = 12.5, 170
TICKS = (
    (0.0, 0.02, 0.04, 0.06, 0.08, 0.1),
    (0.0, 0.05, 0.1, 0.15, 0.2, 0.25),
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
    (0.0, 0.25, 0.5, 0.75, 1.0),
)
"""Axes of shares: from nothing to a tenth, a quarter, a half, or to all."""
LEFT, RIGHT, EDGE = 44, 52, 32
"""Room for the numbers of an axis, for the number at the end of a bar, for the padding."""


class Row(NamedTuple):
    """A share in a row of its own; `main` ones are what the chart is about."""

    panel: str
    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    main: bool = True


def fan(
    series: dict[str, Sequence[Point]],
    main: str,
    title: str,
    x: Axis,
    at: Point | None = None,
    width: int = WIDE,
) -> Chart:
    """A curve of shares for each series, named at its end: `main` with its band and its points, the others
    thin and grey. `at` is a point to be marked, with its name."""
    drawn = {
        name: sorted((point._replace(series=name) for point in own), key=lambda point: point.x)
        for name, own in series.items()
        if own
    }
    height = 300 if width == WIDE else 230
    room = min(max(map(len, drawn)) * LETTER, LIMIT) + 12
    inner = max(width - LEFT - EDGE - room, width / 3)
    ticks = sorted({point.x for own in [*drawn.values(), [at] if at else []] for point in own})
    every = [point for own in drawn.values() for point in own] + ([at] if at else [])
    shares = _ticks([max(point.y, point.high or 0.0) for point in every])
    axes = _x(x, ticks, inner), _y(shares)
    layers = _thin([point for name, own in drawn.items() if name != main for point in own], axes)
    layers += _banded(drawn.get(main, []), axes)
    ends = _ends(drawn, LINE * shares[-1] / height, shares[-1])
    layers += _named([end for end in ends if end.series != main], SOFT, "normal", axes)
    layers += _named([end for end in ends if end.series == main], ACCENT, "bold", axes)
    layers += [] if at is None else _marked(at, at.x < 0.7 * ticks[-1], at.y < 0.15 * shares[-1], axes)
    head = alt.TitleParams(title, fontWeight="normal", fontSize=SIZE, offset=12)
    return Chart(alt.layer(*layers, width=inner, height=height, title=head))


def rows(shown: Sequence[Row], width: int = WIDE) -> Chart:
    """A bar for each row, with its interval and its number, in a block for each panel. Names stand left of
    the bars; on a phone above them."""
    wide = width == WIDE
    longest = max(len(shorten(row.label, 44)) for row in shown)
    side = min(longest * LETTER + 10, 300) if wide else 0
    inner = width - EDGE - RIGHT - side
    panels = list(dict.fromkeys(row.panel for row in shown))
    ticks = _ticks([max(row.value or 0.0, row.high or 0.0) for row in shown])
    drawn = [
        _panel(panel, [row for row in shown if row.panel == panel], inner, side, ticks, panel == panels[-1])
        for panel in panels
    ]
    return Chart(alt.vconcat(*drawn, spacing=18, resolve=alt.Resolve(scale={"x": "shared"})))


def _panel(
    title: str, own: list[Row], inner: float, side: float, ticks: Ticks, last: bool
) -> Any:  # fmt: skip
    told = [_told(place, row) for place, row in enumerate(own)]
    across = alt.X("value:Q", title=None, **_shares(ticks, labels=last))
    base = alt.Chart().encode(y=alt.Y("place:O", axis=None))
    interval = base.transform_filter("datum.low != null && datum.high != null").encode(x="low:Q", x2="high:Q")
    lower = 0 if side else 8
    number = base.mark_text(align="left", dx=6, dy=lower, fontSize=SIZE, color=INK)
    layers = [
        base.mark_bar(height=14, yOffset=lower).encode(x=across, color=alt.Color("colour:N", scale=None)),
        interval.mark_rule(strokeWidth=4.5, color="white", yOffset=lower),
        interval.mark_rule(strokeWidth=1.8, color=INK, yOffset=lower),
        number.encode(x="end:Q", text="words:N"),
        *_labels(base, side, inner),
    ]
    more: dict[str, Any] = {"title": alt.TitleParams(title, fontSize=13, dx=-side)} if title else {}
    height = (26 if side else 40) * len(own)
    return alt.layer(*layers, data=alt.InlineData(values=told), width=inner, height=height, **more)


def _told(place: int, row: Row) -> dict[str, Any]:
    """A row as the marks of a panel see it."""
    return row._asdict() | {
        "place": place,
        "label": shorten(row.label, 44),
        "value": row.value or 0.0,
        "colour": ACCENT if row.main else GREY,
        "end": max(row.value or 0.0, row.high or 0.0),
        "words": "not measured" if row.value is None else percent(row.value),
    }


def _labels(base: Any, side: float, inner: float) -> list[Any]:
    """The names of rows: left of the bars, or above them where there is no side."""
    look: dict[str, Any] = {"limit": side - 10 if side else inner}
    look |= {"align": "right", "dx": -8} if side else {"align": "left", "dy": -10}
    return [layer.encode(x=alt.value(0), text="label:N") for layer in _halo(base, INK, look)]


def _thin(own: list[Point], axes: tuple[alt.X, alt.Y]) -> list[Any]:
    """Grey lines; a dot where there is a single point."""
    if not own:
        return []
    counts = Counter(point.series for point in own)
    alone = [point for point in own if counts[point.series] == 1]
    lines = _of(own, axes).mark_line(color=SOFT, strokeWidth=1.2).encode(detail="series:N")
    return [lines, _of(alone, axes).mark_circle(size=36, color=SOFT, opacity=1)] if alone else [lines]


def _banded(own: list[Point], axes: tuple[alt.X, alt.Y]) -> list[Any]:
    """The main curve: its band, its line and its points."""
    if not own:
        return []
    base, sure = _of(own, axes), [point for point in own if point.low is not None and point.high is not None]
    layers: list[Any] = []
    if len(sure) == 1:
        layers.append(_of(sure, axes).mark_rule(color=ACCENT, strokeWidth=2).encode(y="low:Q", y2="high:Q"))
    elif sure:
        layers.append(_of(sure, axes).mark_area(color=ACCENT, opacity=0.2).encode(y="low:Q", y2="high:Q"))
    if len(own) > 1:
        layers.append(base.mark_line(color=ACCENT, strokeWidth=2.6))
    return [*layers, base.mark_circle(size=40, color=ACCENT, opacity=1)]


def _marked(at: Point, early: bool, deep: bool, axes: tuple[alt.X, alt.Y]) -> list[Any]:
    """A ring around a point, and its name below it to its right: to its left or above it for want of room."""
    ring = _of([at], axes).mark_point(size=150, color=INK, strokeWidth=1.8, opacity=1)
    look: dict[str, Any] = {"dx": 10} if early else {"dx": -4, "align": "right"}
    look["dy"] = -20 if deep else 19
    return [ring, *_named([at], INK, "bold", axes, **look)]


def _ends(drawn: dict[str, list[Point]], apart: float, above: float) -> list[Point]:
    """Where the name of each curve stands: at its end, but so far from the others that both can be read."""
    order = sorted(drawn, key=lambda name: (round(drawn[name][-1].y, 2), _mean(drawn[name]), name))
    stood = [drawn[name][-1].y for name in order]
    for place in range(1, len(stood)):
        stood[place] = max(stood[place], stood[place - 1] + apart)
    for place in reversed(range(len(stood))):
        stood[place] = min(stood[place], above)
        above = stood[place] - apart
    return [Point(name, drawn[name][-1].x, up) for name, up in zip(order, stood, strict=True)]


def _mean(own: list[Point]) -> float:
    return sum(point.y for point in own) / len(own)


def _named(at: list[Point], colour: str, weight: str, axes: tuple[alt.X, alt.Y], **look: Any) -> list[Any]:
    """The names of points to their right, to be read where lines run below them."""
    if not at:
        return []
    look = {"align": "left", "dx": 9, "limit": LIMIT, "fontWeight": weight} | look
    return [layer.encode(text="series:N") for layer in _halo(_of(at, axes), colour, look)]


def _halo(base: Any, colour: str, look: dict[str, Any]) -> list[Any]:
    """A text, and its outline in white below it."""
    below = base.mark_text(
        fontSize=SIZE, color="white", stroke="white", strokeWidth=4, strokeJoin="round", **look
    )
    return [below, base.mark_text(fontSize=SIZE, color=colour, **look)]


def _of(own: Sequence[Point], axes: tuple[alt.X, alt.Y]) -> alt.Chart:
    x, y = axes
    return alt.Chart(alt.InlineData(values=[point._asdict() for point in own])).encode(x=x, y=y)


def _x(axis: Axis, ticks: list[float], inner: float) -> alt.X:
    low = min(ticks) if axis.low is None else axis.low
    high = max(ticks) if axis.high is None else axis.high
    scale = alt.Scale(domain=[low, high], nice=False) if high > low else alt.Scale(domain=[low - 1, high + 1])
    more: dict[str, Any] = {"format": axis.form} if axis.form else {}
    if axis.form or len(ticks) * 18 > inner:
        more["tickCount"] = 5
    else:
        more |= {"values": ticks, "labelOverlap": False}
    side = alt.Axis(
        grid=False, ticks=False, domain=False, labelFlush=False, labelPadding=7, titlePadding=9, **more
    )
    return alt.X("x:Q", title=axis.title, scale=scale, axis=side)


def _y(ticks: Ticks) -> alt.Y:
    return alt.Y("y:Q", title=None, **_shares(ticks))


def _ticks(shares: Sequence[float]) -> Ticks:
    """The smallest axis that has room for all, and to spare."""
    return next((ticks for ticks in TICKS[:-1] if max(shares, default=0.0) < 0.9 * ticks[-1]), TICKS[-1])


def _shares(ticks: Ticks, labels: bool = True) -> dict[str, Any]:
    """Scale and axis of shares, in per cent."""
    words = "format(100 * datum.value, '.0f') + '\xa0%'"
    side = alt.Axis(
        values=list(ticks), labelExpr=words, labels=labels, ticks=False, domain=False, labelPadding=5,
        labelFlush=False,
    )  # fmt: skip
    return {"scale": alt.Scale(domain=[0, ticks[-1]], nice=False), "axis": side}
