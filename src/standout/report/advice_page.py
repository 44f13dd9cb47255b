"""The report of an advice: how many people are identified after each candidate, and what utility is left."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from typing import Any, Literal, NamedTuple

import altair as alt

from standout.core.text import count, estimate_text, interval_text, percent, printable_texts, shorten
from standout.evaluate.estimates import Estimate
from standout.findings.advice import AdviceFindings, CandidateFindings
from standout.report.charts import ACCENT, GREY, INK, Chart
from standout.report.figures import Cells, Drawing, Figure, Table, draw_figure
from standout.report.interval_charts import WIDE
from standout.report.page import render_page, template_text

# The chart of an advice: candidates by the utility that they keep and the share of people identified.


WIDE_HEIGHT, NARROW_HEIGHT = 380, 300
LINE, LETTER, FONT_SIZE = 15, 7.5, 12.5
"""Height of a line and width of a letter in pixels."""
LABEL_OFFSETS = ((9, -9), (-9, -9), (9, 12), (-9, 12), (22, 2), (-22, 2), (9, -24), (-9, 26))
"""Where a number may be relative to its mark, in pixels, the best first."""
LEFT_MARGIN, RIGHT_MARGIN = 58, 40
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
TOPS, HEADROOM = (0.1, 0.2, 0.5, 1.0), 1.1
"""Where the axis of people identified may end, and its least end as a multiple of the largest risk."""

NEAR, LABEL_SHARE = 0.08, 0.25
"""How near a mark is to the label of the limit: a share of the height, and the label's share of the width."""

Pixels = list[tuple[float, float]]
Side = Literal["left", "right"]


class CandidateMark(NamedTuple):
    """A candidate on the chart: x is the utility kept, y the share of people identified."""

    number: str
    x: float
    x_low: float
    x_high: float
    y: float
    y_low: float
    y_high: float


class FrontierChart(NamedTuple):
    """The numbered marks of the frontier, all other marks, and the recommended ones, which get a ring.

    `untouched` is the data as they are if they are not on the frontier: the mark is grey and has a number.
    """

    frontier: list[CandidateMark]
    others: list[CandidateMark]
    recommended: list[CandidateMark]
    untouched: list[CandidateMark]
    limit: float

    def draw(self, width: int) -> Chart:
        """The chart at a width in pixels."""
        inner, height = width - LEFT_MARGIN - RIGHT_MARGIN, WIDE_HEIGHT if width == WIDE else NARROW_HEIGHT
        top = self._top()
        x = alt.X("x:Q", title="utility kept", **_axis(1.0))
        y = alt.Y("y:Q", title="people identified", **_axis(top))
        base = _marks(self.frontier, x, y)
        interval = base.mark_rule(color=ACCENT, strokeWidth=1.6, opacity=0.7)
        layers = [_limit_line(self.limit, top, self._limit_side(top))]
        if self.others:
            layers.append(_marks(self.others, x, y).mark_circle(size=26, color=GREY, opacity=0.9))
        if self.untouched:
            layers.append(_marks(self.untouched, x, y).mark_circle(size=60, color=GREY, opacity=1))
        layers += [
            base.mark_line(color=ACCENT, strokeWidth=1, opacity=0.5).encode(order=alt.Order("y:Q")),
            interval.encode(x=alt.X("x_low:Q"), x2=alt.X2("x_high:Q")),
            interval.encode(y=alt.Y("y_low:Q"), y2=alt.Y2("y_high:Q")),
            base.mark_circle(size=60, color=ACCENT, opacity=1),
        ]
        if self.recommended:
            ring = _marks(self.recommended, x, y)
            layers.append(ring.mark_point(size=190, color=INK, strokeWidth=1.8, opacity=1))
        numbered = [*self.untouched, *self.frontier]
        offsets = _label_offsets([(mark.x * inner, (1 - mark.y / top) * height) for mark in numbered])
        for mark, offset in zip(numbered, offsets, strict=True):
            layers += _label(_marks([mark], x, y), offset)
        return Chart(alt.layer(*layers, width=inner, height=height))

    def _limit_side(self, top: float) -> Side:
        """The end of the limit's line without a mark near it: the left one, unless only the right is free."""
        marks = [*self.untouched, *self.frontier, *self.others]
        near = [mark.x for mark in marks if abs(mark.y - self.limit) < NEAR * top]
        return "right" if any(x < LABEL_SHARE for x in near) and max(near) < 1 - LABEL_SHARE else "left"

    def _top(self) -> float:
        """Where the axis of people identified ends: small risks would otherwise lie on one line."""
        numbered = [*self.untouched, *self.frontier]
        largest = max(self.limit, *(mark.y_high for mark in numbered), *(mark.y for mark in self.others))
        return next((top for top in TOPS if HEADROOM * largest <= top), 1.0)


def _axis(top: float) -> dict[str, Any]:
    label = "format(100 * datum.value, '.1~f') + '\xa0%'"
    ticks = [top * tick for tick in TICKS]
    axis = alt.Axis(values=ticks, labelExpr=label, ticks=False, domain=False, labelPadding=6, titlePadding=8)
    return {"scale": alt.Scale(domain=[0, top], nice=False, clamp=True), "axis": axis}


def _limit_line(limit: float, top: float, side: Side) -> Any:
    base = alt.Chart(alt.InlineData(values=[{"y": limit, "label": f"limit {percent(limit)}"}]))
    line = base.mark_rule(color=INK, strokeDash=[5, 3]).encode(y=alt.Y("y:Q"))
    offset = -10 if limit < 0.9 * top else 16
    return line + base.mark_text(align=side, dy=offset, fontSize=FONT_SIZE, color=INK).encode(
        y=alt.Y("y:Q"), x=alt.XDatum(0.0 if side == "left" else 1.0, type="quantitative"), text=alt.Text("label:N")
    )


def _marks(marks: Sequence[CandidateMark], x: alt.X, y: alt.Y) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=[mark._asdict() for mark in marks])).encode(x=x, y=y)


def _label(base: alt.Chart, offset: tuple[int, int]) -> list[Any]:
    """The number of a mark, in front of a white outline."""
    look: dict[str, Any] = {"dx": offset[0], "dy": offset[1], "fontSize": FONT_SIZE, "fontWeight": "bold"}
    text = base.encode(text=alt.Text("number:N"))
    return [
        text.mark_text(color="white", stroke="white", strokeWidth=4, strokeJoin="round", **look),
        text.mark_text(color=INK, **look),
    ]


def _label_offsets(marks: Pixels) -> list[tuple[int, int]]:
    """For each mark an offset at which its number covers no other number and no mark."""
    labels: Pixels = []
    offsets = []
    for x, y in marks:
        free = (offset for offset in LABEL_OFFSETS if _is_free(x + offset[0], y + offset[1], labels, marks))
        offset = next(free, LABEL_OFFSETS[0])
        labels.append((x + offset[0], y + offset[1]))
        offsets.append(offset)
    return offsets


def _is_free(x: float, y: float, labels: Pixels, marks: Pixels) -> bool:
    clear = all(abs(x - other_x) > 2 * LETTER or abs(y - other_y) > LINE for other_x, other_y in labels)
    return clear and all(abs(x - mark_x) > LETTER or abs(y - mark_y) > LINE / 2 for mark_x, mark_y in marks)


PARTS = {"information": "information", "associations": "associations", "hit_rate": "top-10 hit rate", "rmse": "RMSE"}
"""Titles of the parts of the utility; those that were measured are shown."""
UNPROVEN_HEADS = (
    "candidate",
    "identified",
    "utility kept",
    "targets so far",
    "targets needed at least",
    "targets that prove it 9 times out of 10",
)


class AdviceSection(NamedTuple):
    """The chart and the table of the frontier; the chart's own table has all candidates.

    `unproven` has the candidates below the limit if none is proven to be; None if there are none.
    """

    drawing: Drawing
    table: Table
    unproven: Table | None


def advice_page(advice: AdviceFindings) -> str:
    """The report as HTML, without scripts or external resources. The same advice gives the same bytes."""
    shown: AdviceFindings = printable_texts(advice)
    return render_page(
        template_text("advice.html"),
        template_text("audit.css"),
        advice=shown,
        section=advice_section(shown),
        shorten=shorten,
        percent=percent,
        count=count,
    )


def advice_section(advice: AdviceFindings) -> AdviceSection:
    """The part of a page that shows the candidates."""
    return AdviceSection(
        draw_figure(advice_figure(advice)), candidates_table(advice.rows, numbered=True), _unproven_table(advice)
    )


def advice_figure(advice: AdviceFindings) -> Figure:
    """The chart of the candidates; its table has all of them."""
    rows = advice.rows
    marks = [_mark(str(number), candidate, advice) for number, candidate in enumerate(rows, 1)]
    on_frontier = [candidate.frontier or candidate.stage == "fresh" for candidate in rows]
    hidden = (candidate for candidate in advice.candidates if candidate.steps and not candidate.frontier)
    chart = FrontierChart(
        frontier=list(compress(marks, on_frontier)),
        others=[_mark("", candidate, advice) for candidate in hidden],
        recommended=[mark for mark, candidate in zip(marks, rows, strict=True) if candidate.stage == "fresh"],
        untouched=[] if on_frontier[0] else marks[:1],
        limit=advice.limit,
    )
    table = candidates_table(advice.candidates, numbered=False)
    description = _description(advice, [mark.y for mark in chart.frontier])
    return Figure("People identified and utility kept", description, chart.draw, table)


def _description(advice: AdviceFindings, rates: Sequence[float]) -> str:
    return (
        f"{count(advice.n_candidates, 'candidate', 'candidates')} and the release as it is. {len(rates)} "
        f"of them are on the frontier, where {percent(max(rates))} down to {percent(min(rates))} of the "
        f"people are identified. The limit is {percent(advice.limit)}."
    )


def _unproven_table(advice: AdviceFindings) -> Table | None:
    """The candidates with a rate below the limit that is not proven, and how many targets would prove it."""
    if advice.unproven is None:
        return None
    rows = [
        (
            each.name,
            (percent(each.rate.value, fine=True), interval_text(each.rate)),
            _share(None if each.kept is None else _within_0_and_1(each.kept)),
            count(each.targets),
            count(each.targets_needed),
            count(each.targets_advised),
        )
        for each in advice.unproven.candidates
    ]
    return Table(UNPROVEN_HEADS, rows)


def _mark(number: str, candidate: CandidateFindings, advice: AdviceFindings) -> CandidateMark:
    kept = candidate.utility.kept or Estimate(1.0, 1.0, 1.0, 0)
    x, y = _within_0_and_1(kept), _within_0_and_1(candidate.rate(advice.among))
    return CandidateMark(number, x.value, x.low, x.high, y.value, y.low, y.high)


def _within_0_and_1(estimate: Estimate) -> Estimate:
    """A share without the parts of its interval below 0 or above 1; an unknown end becomes the value."""
    numbers = (estimate.value, estimate.low, estimate.high)
    finite = (number if math.isfinite(number) else estimate.value for number in numbers)
    value, low, high = (min(max(number, 0.0), 1.0) for number in finite)
    return replace(estimate, value=value, low=low, high=high)


def candidates_table(candidates: Sequence[CandidateFindings], numbered: bool) -> Table:
    """The candidates, if wanted with their numbers in the chart."""
    parts = [part for part in PARTS if any(getattr(each.utility, part) is not None for each in candidates)]
    rows: list[Cells] = [
        (
            f"{number}. {each.name}" if numbered else each.name,
            _share(each.identified),
            _share(each.identified_in_release),
            _share(None if each.utility.kept is None else _within_0_and_1(each.utility.kept)),
            *(_part(part, getattr(each.utility, part)) for part in parts),
            each.stage,
        )
        for number, each in enumerate(candidates, 1)
    ]
    heads = ("candidate", "identified", "identified in the release", "utility kept", *(PARTS[part] for part in parts))
    return Table((*heads, "stage"), rows)


def _part(part: str, estimate: Estimate | None) -> tuple[str, str]:
    if part != "rmse" or estimate is None:
        return _share(estimate)
    return f"{estimate.value:.3f}", f"{estimate.low:.3f}\xa0to\xa0{estimate.high:.3f}"


def _share(estimate: Estimate | None) -> tuple[str, str]:
    if estimate is None:
        return estimate_text(None), interval_text(None)
    is_counted = not estimate.low < estimate.high
    return estimate_text(estimate), "" if is_counted else interval_text(estimate)
