"""The reports of an advice (what each change achieves and costs) and of links (what was claimed). They name nobody."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import Any, NamedTuple

from standout.core.text import count, interval_text, percent, printable_texts, shorten
from standout.evaluate.estimates import Estimate
from standout.findings.link_and_advise import (
    AdviceFindings,
    Among,
    CandidateFindings,
    ClaimMeasure,
    FactsGroup,
    HistogramBin,
    LinkFindings,
    PhiPoint,
    PublicSize,
    ReleaseSize,
)
from standout.report.charts import (
    ACCENT,
    GREY,
    INK,
    WIDE,
    Axis,
    Cells,
    Chart,
    Drawing,
    Figure,
    Point,
    Spec,
    Table,
    draw_figure,
    field,
    mark,
    with_interval,
)
from standout.report.page import render_page, template_text
from standout.report.share_charts import FONT_SIZE, OUTLINE, columns, curves

# The chart of an advice: candidates by the utility that they keep and the share of people identified.

WIDE_HEIGHT, NARROW_HEIGHT, LINE, LETTER = 380, 300, 15, 7.5
LABEL_OFFSETS = ((9, -9), (-9, -9), (9, 12), (-9, 12), (22, 2), (-22, 2), (9, -24), (-9, 26))
"""Where a number may be relative to its mark, in pixels, the best first."""
LEFT_MARGIN, RIGHT_MARGIN = 58, 40
TOPS, HEADROOM = (0.1, 0.2, 0.5, 1.0), 1.1
"""Where the axis of people identified may end, and its least end as a multiple of the largest risk."""
NEAR, LABEL_SHARE = 0.08, 0.25
"""How near a mark is to the label of the limit: a share of the height, and the label's share of the width."""
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


def _mark(candidate: CandidateFindings, among: Among, number: str = "") -> Spec:
    """A candidate on the chart: x is the utility kept, y the share of people identified."""
    x = _within_0_and_1(candidate.utility.kept) or Estimate(1.0, 1.0, 1.0, 0)
    y = _within_0_and_1(candidate.rate(among))
    assert y is not None
    ends = {"x_low": x.low, "x_high": x.high, "y_low": y.low, "y_high": y.high}
    return {"number": number, "x": x.value, "y": y.value, **ends}


def _draw_frontier(advice: AdviceFindings, width: int) -> Chart:
    """The numbered marks of the frontier, all other marks, and the recommended ones, which get a ring.

    The mark of the data as they are is grey if they are not on the frontier.
    """
    numbered = [_mark(each, advice.among, str(number)) for number, each in enumerate(advice.rows, 1)]
    others = [_mark(each, advice.among) for each in advice.candidates if each.steps and not each.frontier]
    frontier = list(compress(numbered, map(_is_on_frontier, advice.rows)))
    recommended = list(compress(numbered, (each.stage == "fresh" for each in advice.rows)))
    untouched = [] if _is_on_frontier(advice.rows[0]) else numbered[:1]
    inner, height = width - LEFT_MARGIN - RIGHT_MARGIN, WIDE_HEIGHT if width == WIDE else NARROW_HEIGHT
    limit = advice.limit
    largest = max(limit, *(mark["y_high"] for mark in numbered), *(mark["y"] for mark in others))
    top = next((top for top in TOPS if HEADROOM * largest <= top), 1.0)  # small risks would lie on one line
    axes = {
        "x": field("x:Q", title="utility kept", **_axis(1.0)),
        "y": field("y:Q", title="people identified", **_axis(top)),
    }
    # the name of the limit is at the end without a mark near it: the left one, unless only the right one is free
    near = [each["x"] for each in (*numbered, *others) if abs(each["y"] - limit) < NEAR * top]
    is_right = any(x < LABEL_SHARE for x in near) and max(near) < 1 - LABEL_SHARE
    rows = [{"y": limit, "label": f"limit {percent(limit)}"}]
    name = {"y": field("y:Q"), "x": {"datum": float(is_right), "type": "quantitative"}, "text": field("label:N")}
    place: Spec = {"align": "right" if is_right else "left", "dy": -10 if limit < 0.9 * top else 16}
    rule: Spec = {"color": ACCENT, "strokeWidth": 1.6, "opacity": 0.7}
    layers = [
        mark("rule", rows, {"y": field("y:Q")}, color=INK, strokeDash=[5, 3]),
        mark("text", rows, name, fontSize=FONT_SIZE, color=INK, **place),
        mark("circle", others, axes, size=26, color=GREY, opacity=0.9),
        mark("circle", untouched, axes, size=60, color=GREY, opacity=1),
        mark("line", frontier, axes | {"order": field("y:Q")}, color=ACCENT, strokeWidth=1, opacity=0.5),
        mark("rule", frontier, axes | {"x": field("x_low:Q"), "x2": field("x_high")}, **rule),
        mark("rule", frontier, axes | {"y": field("y_low:Q"), "y2": field("y_high")}, **rule),
        mark("circle", frontier, axes, size=60, color=ACCENT, opacity=1),
        mark("point", recommended, axes, size=190, color=INK, strokeWidth=1.8, opacity=1),
    ]
    offsets = _label_offsets([(each["x"] * inner, (1 - each["y"] / top) * height) for each in numbered])
    for each, (dx, dy) in zip(numbered, offsets, strict=True):
        style: Spec = {"dx": dx, "dy": dy, "fontSize": FONT_SIZE, "fontWeight": "bold"}
        for look in (OUTLINE, {"color": INK}):
            layers.append(mark("text", [each], axes | {"text": field("number:N")}, **style, **look))
    return Chart({"layer": layers, "width": inner, "height": height})


def _axis(top: float) -> Spec:
    label = "format(100 * datum.value, '.1~f') + '\xa0%'"
    ticks = [top * tick for tick in (0.0, 0.25, 0.5, 0.75, 1.0)]
    axis: Spec = {"values": ticks, "labelExpr": label, "ticks": False, "domain": False, "labelPadding": 6}
    return {"scale": {"domain": [0, top], "nice": False, "clamp": True}, "axis": axis | {"titlePadding": 8}}


def _label_offsets(marks: Sequence[tuple[float, float]]) -> list[tuple[int, int]]:
    """For each mark an offset at which its number covers no other number and no mark."""
    labels, offsets = list[tuple[float, float]](), list[tuple[int, int]]()

    def is_free(x: float, y: float) -> bool:
        clear = all(abs(x - other_x) > 2 * LETTER or abs(y - other_y) > LINE for other_x, other_y in labels)
        return clear and all(abs(x - mark_x) > LETTER or abs(y - mark_y) > LINE / 2 for mark_x, mark_y in marks)

    for x, y in marks:
        free = (offset for offset in LABEL_OFFSETS if is_free(x + offset[0], y + offset[1]))
        offsets.append(next(free, LABEL_OFFSETS[0]))
        labels.append((x + offsets[-1][0], y + offsets[-1][1]))
    return offsets


class AdviceSection(NamedTuple):
    """The chart and the table of the frontier; the chart's own table has all candidates.

    `unproven` has the candidates below the limit if none is proven to be, and how many targets would prove it.
    """

    drawing: Drawing
    table: Table
    unproven: Table | None


def advice_page(advice: AdviceFindings) -> str:
    """The report as HTML, without scripts or external resources. The same advice gives the same bytes."""
    shown: AdviceFindings = printable_texts(advice)
    functions: dict[str, Any] = {"shorten": shorten, "percent": percent, "count": count}
    section, style = advice_section(shown), template_text("audit.css")
    return render_page(template_text("advice.html"), style, advice=shown, section=section, **functions)


def advice_section(advice: AdviceFindings) -> AdviceSection:
    """The part of a page that shows the candidates."""
    unproven = None
    if advice.unproven is not None:
        rows: list[Cells] = [
            (
                each.name,
                (percent(each.rate.value, fine=True), interval_text(each.rate)),
                with_interval(_within_0_and_1(each.kept)),
                *map(count, (each.targets, each.targets_needed, each.targets_advised)),
            )
            for each in advice.unproven.candidates
        ]
        unproven = Table(UNPROVEN_HEADS, rows)
    return AdviceSection(draw_figure(advice_figure(advice)), candidates_table(advice.rows, numbered=True), unproven)


def advice_figure(advice: AdviceFindings) -> Figure:
    """The chart of the candidates; its table has all of them."""
    rates = [_mark(each, advice.among)["y"] for each in filter(_is_on_frontier, advice.rows)]
    description = (
        f"{count(advice.n_candidates, 'candidate', 'candidates')} and the release as it is. {len(rates)} "
        f"of them are on the frontier, where {percent(max(rates))} down to {percent(min(rates))} of the "
        f"people are identified. The limit is {percent(advice.limit)}."
    )
    table = candidates_table(advice.candidates, numbered=False)
    return Figure("People identified and utility kept", description, partial(_draw_frontier, advice), table)


def _is_on_frontier(candidate: CandidateFindings) -> bool:
    return candidate.frontier or candidate.stage == "fresh"


def _within_0_and_1(estimate: Estimate | None) -> Estimate | None:
    """A share without the parts of its interval below 0 or above 1; an unknown end becomes the value."""
    if estimate is None:
        return None
    numbers = (estimate.value, estimate.low, estimate.high)
    finite = (number if math.isfinite(number) else estimate.value for number in numbers)
    value, low, high = (min(max(number, 0.0), 1.0) for number in finite)
    return replace(estimate, value=value, low=low, high=high)


def candidates_table(candidates: Sequence[CandidateFindings], numbered: bool) -> Table:
    """The candidates, if wanted with their numbers in the chart."""
    parts = [part for part in PARTS if any(getattr(each.utility, part) is not None for each in candidates)]

    def cell(part: str, estimate: Estimate | None) -> tuple[str, str]:
        if part != "rmse" or estimate is None:
            return with_interval(estimate)
        return f"{estimate.value:.3f}", f"{estimate.low:.3f}\xa0to\xa0{estimate.high:.3f}"

    rows: list[Cells] = [
        (
            f"{number}. {each.name}" if numbered else each.name,
            *map(with_interval, (each.identified, each.identified_in_release, _within_0_and_1(each.utility.kept))),
            *(cell(part, getattr(each.utility, part)) for part in parts),
            each.stage,
        )
        for number, each in enumerate(candidates, 1)
    ]
    heads = ("candidate", "identified", "identified in the release", "utility kept", *(PARTS[part] for part in parts))
    return Table((*heads, "stage"), rows)


# Links.

GROUPS = {
    "claims": "Profiles with a claim",
    "others": "Profiles without a claim",
    "recombined": "Decoys: recombined profiles",
    "withheld": "Decoys: people withheld from the release",
}
AXIS_TITLES: dict[ClaimMeasure, str] = {
    "evidence": "evidence in bits: log₂ odds of the best record",
    "eccentricity": "eccentricity: lead of the best score in standard deviations",
}
DATES = {"use": "compared", "ignore": "ignored", "learn": "with or without, whichever is stronger"}
PANEL_HEIGHT, AXIS_WIDTH = 88, 60
"""Height of a histogram, and space for the numbers of its vertical axis."""
TABLE_ROWS, MIN_RECALL = 24, 0.02
"""Approximate number of rows of a curve's table; the curve ends where recall falls below the second."""


def linking_page(findings: LinkFindings, text: Mapping[str, str]) -> str:
    """The report as HTML without scripts or external resources; equal numbers give equal bytes."""
    findings = replace(
        findings,
        release=replace(findings.release, name=shorten(printable_texts(findings.release.name))),
        public=replace(findings.public, name=shorten(printable_texts(findings.public.name))),
    )
    return render_page(
        template_text("linking.html"),
        template_text("audit.css"),
        findings=findings,
        text=text,
        drawings={name: draw_figure(figure) for name, figure in link_figures(findings).items()},
        by_facts_used=facts_table(findings.by_facts_used),
        settings=_link_settings(findings),
    )


def link_figures(findings: LinkFindings) -> dict[str, Figure]:
    """The charts for which there are numbers, by name."""
    charts = {
        "evidence": _histogram("evidence", findings.histograms.evidence),
        "eccentricity": _histogram("eccentricity", findings.histograms.eccentricity),
        "truth": _precision_recall(findings.curve or (), findings.settings.by),
    }
    return {name: figure for name, figure in charts.items() if figure is not None}


def _histogram(measure: ClaimMeasure, bins: Sequence[HistogramBin]) -> Figure | None:
    """The distribution of a measure over profiles and decoys, in bins that grow."""
    sizes = {name: size for name in GROUPS if (size := sum(getattr(each, name) for each in bins))}
    filled = [index for index, each in enumerate(bins) if any(getattr(each, name) for name in GROUPS)]
    if not filled:
        return None
    shown = bins[filled[0] : filled[-1] + 1]
    rows: list[Cells] = [
        (
            "below 0" if each.bin_start is None else f"{_edge(each.bin_start)} to {_edge(each.bin_end)}",
            *(count(getattr(each, name)) for name in sizes),
        )
        for each in shown
    ]
    return Figure(
        f"Strength of the best match of profiles and decoys: {measure}",
        f"Histograms of {measure}. {'; '.join(f'{GROUPS[name]}: {count(size)}' for name, size in sizes.items())}.",
        partial(_draw_histogram, measure, shown, sizes),
        Table((measure, *(GROUPS[name] for name in sizes)), rows),
    )


def _edge(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def _draw_histogram(measure: ClaimMeasure, bins: Sequence[HistogramBin], sizes: dict[str, int], width: int) -> Chart:
    labels = ["<0" if each.bin_start is None else _edge(each.bin_start) for each in bins]
    titles = {name: f"{GROUPS[name]} ({size:,})" for name, size in sizes.items()}
    panels = {
        title: [(label, getattr(each, name) / sizes[name]) for label, each in zip(labels, bins, strict=True)]
        for name, title in titles.items()
    }
    shares = Axis("", form="%", ticks=2)
    return columns(panels, titles.get("claims", ""), AXIS_TITLES[measure], shares, (width - AXIS_WIDTH, PANEL_HEIGHT))


def _precision_recall(points: Sequence[PhiPoint], by: ClaimMeasure) -> Figure | None:
    """Precision and recall over φ, where the truth is known."""
    shown = [point for point in points if point.precision is not None and point.recall >= MIN_RECALL]
    if len(shown) < 2:
        return None
    rows: list[Cells] = [
        (f"{each.phi:.2f}", count(each.claims), *map(percent, (each.precision, each.recall, each.absent_claims)))
        for each in shown[:: max(1, -(-len(shown) // TABLE_ROWS))]
    ]
    first, last = shown[0], shown[-1]
    description = (
        f"As φ rises from 0 to {last.phi:.1f}, precision changes from {percent(first.precision)} to "
        f"{percent(last.precision)} and recall from {percent(first.recall)} to {percent(last.recall)}."
    )
    series = [Point(name, point.phi, getattr(point, name)) for name in ("precision", "recall") for point in shown]
    draw = partial(curves, series, Axis(f"φ: {AXIS_TITLES[by]}", form="~g"), "share", ("recall",))
    heads = ("φ", "claims", "precision", "recall", "absent people claimed")
    return Figure("Precision and recall by φ", description, lambda width: draw(width=width), Table(heads, rows))


def facts_table(groups: Sequence[FactsGroup]) -> Table:
    """Profiles and claims by number of facts and, where the truth is known, present and correct ones."""
    heads = {"profiles": "profiles", "claims": "claims"}
    if groups[0].present is not None:
        heads |= {"present": "in the release", "correct_claims": "correct claims"}
    rows = []
    for each in groups:
        low, high = each.min_facts, each.max_facts
        label = f"{low:,} to {high:,}" if high > low else f"{low:,}"
        rows.append((label, *(count(getattr(each, name)) for name in heads)))
    return Table(("facts used", *heads.values()), rows)


def _link_settings(findings: LinkFindings) -> list[tuple[str, str]]:
    release, public, settings = findings.release, findings.public, findings.settings

    def size(side: ReleaseSize | PublicSize, people: str) -> str:
        text = f"{count(side.entries)} entries of {people}, {count(side.items)} items"
        return f"{side.name}: {text}" if side.name else text

    shown = [
        ("Release", size(release, f"{count(release.records)} people")),
        ("Public data", size(public, f"{count(public.profiles)} profiles")),
        ("Dates", DATES[settings.dates]),
        ("Claims decided by", settings.by),
        ("φ", "from the decoys" if settings.phi is None else f"{settings.phi:g}"),
        ("False claim budget", percent(settings.budget)),
        ("Decoys", f"{count(settings.decoys)} of each kind"),
        ("One profile for each record", "yes" if settings.assign else "no"),
        ("Seed", f"{settings.seed}"),
        ("Fingerprints", f"{release.fingerprint}, {public.fingerprint}"),
        ("Version", findings.version),
    ]
    return [(title, shorten(value, 200)) for title, value in shown]
