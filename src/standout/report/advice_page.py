"""The advice as a picture and a page: how many people are found, and what the release is still good for."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import altair as alt

from standout.core.formatting import (
    count,
    decimal,
    estimate_text,
    interval_text,
    percent,
    printable_texts,
    shorten,
)
from standout.report.charts import ACCENT, GREY, INK, Chart
from standout.report.figures import Drawing, Figure, Table, draw_figure
from standout.report.html_page import render_page, template_text
from standout.report.interval_charts import WIDE

__all__ = ["Section", "page", "section"]

Found = Mapping[str, Any]
Spots = list[tuple[float, float]]
STAGES = {"quick": "quickly", "full": "fully", "fresh": "afresh"}
LINE, LETTER, SIZE = 15, 7.5, 12.5
SIDES = ((9, -9), (-9, -9), (9, 12), (-9, 12), (22, 2), (-22, 2), (9, -24), (-9, 26))
"""Where a name may stand beside its point, in pixels, the best first."""
LEFT, EDGE = 58, 40
TICKS = [0.0, 0.25, 0.5, 0.75, 1.0]


class Section(NamedTuple):
    """What a page shows of an advice."""

    drawing: Drawing
    table: Table


class Mark(NamedTuple):
    """A way on the picture: x is what is left of the use, y the share of people found."""

    name: str
    x: float
    x_low: float
    x_high: float
    y: float
    y_low: float
    y_high: float


def page(found: Found) -> str:
    """The report as HTML: no script, nothing from elsewhere; the same advice gives the same bytes."""
    told = printable_texts(found)
    return render_page(
        template_text("advice.html"), template_text("audit.css"), found=told, advised=section(told),
        cut=shorten, share=estimate_text, ends=interval_text, percent=percent, count=count, decimal=decimal,
    )  # fmt: skip


def section(found: Found) -> Section:
    """The frontier as a picture, and its ways as a table; the recommended one as it was measured afresh."""
    ways = _ways(found)
    recommended = [number for number, way in enumerate(ways, 1) if way["stage"] == "fresh"]
    ends = [way["risk"]["value"] for way in ways]
    words = (
        f"{len(found['points'])} ways to change the release; {len(ways)} are on the frontier. They find from "
        f"{percent(max(ends))} down to {percent(min(ends))} of the people. "
        f"The limit is {percent(found['limit'])}."
    )
    marks = [_mark(str(number), way, found) for number, way in enumerate(ways, 1)]
    rest = [_mark("", point, found) for point in found["points"] if not point["frontier"]]
    made = Figure(
        "People found, and what the release is still good for", words,
        partial(_drawn, marks, rest, found["limit"], [marks[number - 1] for number in recommended]),
        _table(found["points"], numbered=False),
    )  # fmt: skip
    return Section(draw_figure(made), _table(ways, numbered=True))


def _ways(found: Found) -> list[Found]:
    """The frontier from the highest risk to the lowest, the recommended way as it was measured afresh."""
    best = found["recommended"]
    ways = {tuple(point["steps"]): point for point in found["points"] if point["frontier"]}
    if best is not None:
        ways[tuple(best["steps"])] = best
    return sorted(ways.values(), key=lambda way: -_risk(way, found)["value"])


def _risk(way: Found, found: Found) -> Found:
    told: Found = way["risk" if found["among"] == "everybody" else "risk_released"]
    return told


def _mark(name: str, way: Found, found: Found) -> Mark:
    kept = way["utility"].get("kept") or {"value": 1.0, "low": None, "high": None}
    return Mark(name, *_ends(kept), *_ends(_risk(way, found)))


def _ends(told: Found) -> tuple[float, float, float]:
    value = told["value"]
    found = (value, *(value if told[end] is None else told[end] for end in ("low", "high")))
    low, middle, high = (min(max(number, 0.0), 1.0) for number in (found[1], found[0], found[2]))
    return middle, low, high


def _drawn(marks: list[Mark], rest: list[Mark], limit: float, ringed: list[Mark], width: int) -> Chart:
    inner, height = width - LEFT - EDGE, 380 if width == WIDE else 300
    x = alt.X("x:Q", title="left of what the release is good for", **_axis(inner))
    y = alt.Y("y:Q", title="people found", **_axis(height))
    interval = _of(marks, x, y).mark_rule(color=ACCENT, strokeWidth=1.6, opacity=0.7)
    layers = [
        _limit(limit, height), *_others(rest, x, y),
        _of(marks, x, y).mark_line(color=ACCENT, strokeWidth=1, opacity=0.5).encode(order="y:Q"),
        interval.encode(x="x_low:Q", x2="x_high:Q"), interval.encode(y="y_low:Q", y2="y_high:Q"),
        _of(marks, x, y).mark_circle(size=60, color=ACCENT, opacity=1),
    ]  # fmt: skip
    if ringed:
        layers.append(_of(ringed, x, y).mark_point(size=190, color=INK, strokeWidth=1.8, opacity=1))
    return Chart(alt.layer(*layers, *_names(marks, inner, height, x, y), width=inner, height=height))


def _axis(length: float) -> dict[str, Any]:
    words = "format(100 * datum.value, '.0f') + '\xa0%'"
    side = alt.Axis(values=TICKS, labelExpr=words, ticks=False, domain=False, labelPadding=6, titlePadding=8)
    return {"scale": alt.Scale(domain=[0, 1], nice=False, clamp=True), "axis": side}


def _limit(limit: float, height: float) -> Any:
    base = alt.Chart(alt.InlineData(values=[{"y": limit, "words": f"limit {percent(limit)}"}]))
    line = base.mark_rule(color=INK, strokeDash=[5, 3]).encode(y="y:Q")
    up = -6 if limit < 0.9 else 14
    return line + base.mark_text(align="right", dy=up, fontSize=SIZE, color=INK).encode(
        y="y:Q", x=alt.datum(1.0, type="quantitative"), text="words:N"
    )


def _others(rest: list[Mark], x: alt.X, y: alt.Y) -> list[Any]:
    return [_of(rest, x, y).mark_circle(size=26, color=GREY, opacity=0.9)] if rest else []


def _of(marks: Sequence[Mark], x: alt.X, y: alt.Y) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=[mark._asdict() for mark in marks])).encode(x=x, y=y)


def _names(marks: list[Mark], inner: float, height: float, x: alt.X, y: alt.Y) -> list[Any]:
    """The number of each way, where it covers no other number and no point."""
    spots = [(mark.x * inner, (1 - mark.y) * height) for mark in marks]
    taken: Spots = []
    layers = []
    for mark, (across, down) in zip(marks, spots, strict=True):
        side = next((one for one in SIDES if _free(across + one[0], down + one[1], taken, spots)), SIDES[0])
        taken.append((across + side[0], down + side[1]))
        look: dict[str, Any] = {"dx": side[0], "dy": side[1], "fontSize": SIZE, "fontWeight": "bold"}
        base = _of([mark], x, y).encode(text="name:N")
        layers += [
            base.mark_text(color="white", stroke="white", strokeWidth=4, strokeJoin="round", **look),
            base.mark_text(color=INK, **look),
        ]
    return layers


def _free(across: float, down: float, taken: Spots, spots: Spots) -> bool:
    clear = all(abs(across - a) > 2 * LETTER or abs(down - d) > LINE for a, d in taken)
    return clear and all(abs(across - a) > LETTER or abs(down - d) > LINE / 2 for a, d in spots)


def _table(ways: Sequence[Found], numbered: bool) -> Table:
    """The ways with their numbers in the picture, or without."""
    heads = ("steps", "people found", "of those in it", "use left", "top-10 hit rate", "RMSE", "tried")
    rows = [_cells(way, f"{at}. " if numbered else "") for at, way in enumerate(ways, 1)]
    return Table(heads, rows)


def _cells(way: Found, number: str) -> tuple[str | tuple[str, str], ...]:
    used = way["utility"]
    kept, hits, rmse = (used.get(name) for name in ("kept", "hit_rate", "rmse"))
    return (
        number + way["name"], _share(way["risk"]), _share(way["risk_released"]), _share(_within(kept)),
        _share(hits),
        "–" if rmse is None else (f"{rmse['value']:.3f}", f"{rmse['low']:.3f} to {rmse['high']:.3f}"),
        STAGES[way["stage"]],
    )  # fmt: skip


def _within(told: Found | None) -> Found | None:
    """A share that may have strayed beyond nothing or all."""
    if told is None:
        return None
    middle, low, high = _ends(told)
    return {"value": middle, "low": low, "high": high}


def _share(told: Found | None) -> tuple[str, str]:
    return estimate_text(told), interval_text(told)
