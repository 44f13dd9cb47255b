"""The linking report: what was claimed, compared with decoys. It names nobody."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import altair as alt

from standout.core.text import count, percent, printable_texts, shorten
from standout.findings.links import (
    ClaimMeasure,
    FactsGroup,
    HistogramBin,
    LinkFindings,
    LinkingText,
    PhiPoint,
    PublicSize,
    ReleaseSize,
)
from standout.report.charts import ACCENT, GREY, INK, Axis, Chart, Point, curves
from standout.report.figures import Figure, Table, draw_figure
from standout.report.page import render_page, template_text

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
PANEL_HEIGHT = 88
AXIS_WIDTH = 60
"""Space for the numbers of the vertical axis."""
TABLE_ROWS = 24
"""Approximate number of rows of a curve's table."""
MIN_RECALL = 0.02
"""The curve ends where recall falls below this."""


def page(findings: LinkFindings, text: LinkingText) -> str:
    """Return the report as HTML without scripts or external resources; equal numbers give equal bytes."""
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
        drawings={name: draw_figure(figure) for name, figure in figures(findings).items()},
        by_facts_used=_facts_table(findings.by_facts_used),
        settings=_settings(findings),
    )


def figures(findings: LinkFindings) -> dict[str, Figure]:
    """Return the charts for which there are numbers, by name."""
    histograms = findings.histograms
    charts = {
        "evidence": _histogram("evidence", histograms.evidence),
        "eccentricity": _histogram("eccentricity", histograms.eccentricity),
        "truth": _precision_recall(findings.curve or (), findings.settings.by),
    }
    return {name: figure for name, figure in charts.items() if figure is not None}


class _Group(NamedTuple):
    """A group of profiles or decoys: its field in a bin, its title and its size."""

    name: str
    title: str
    size: int


def _histogram(measure: ClaimMeasure, bins: Sequence[HistogramBin]) -> Figure | None:
    """The distribution of a measure over profiles and decoys, in bins that grow."""
    sizes = {name: sum(getattr(bin_, name) for bin_ in bins) for name in GROUPS}
    groups = [_Group(name, title, sizes[name]) for name, title in GROUPS.items() if sizes[name]]
    filled = [index for index, bin_ in enumerate(bins) if any(getattr(bin_, name) for name in GROUPS)]
    if not filled:
        return None
    shown = bins[filled[0] : filled[-1] + 1]
    description = "; ".join(f"{group.title}: {count(group.size)}" for group in groups)
    rows = [(_bin_label(bin_), *(count(getattr(bin_, group.name)) for group in groups)) for bin_ in shown]
    return Figure(
        f"Strength of the best match of profiles and decoys: {measure}",
        f"Histograms of {measure}. {description}.",
        partial(_draw_histogram, measure, shown, groups),
        Table((measure, *(group.title for group in groups)), rows),
    )


def _bin_label(bin_: HistogramBin) -> str:
    return "below 0" if bin_.bin_start is None else f"{_edge(bin_.bin_start)} to {_edge(bin_.bin_end)}"


def _edge(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def _draw_histogram(measure: ClaimMeasure, bins: Sequence[HistogramBin], groups: Sequence[_Group], width: int) -> Chart:
    last = len(groups) - 1
    panels = [
        _panel(bins, group, AXIS_TITLES[measure] if index == last else "", width) for index, group in enumerate(groups)
    ]
    return Chart(alt.vconcat(*panels, spacing=12))


def _panel(bins: Sequence[HistogramBin], group: _Group, axis_title: str, width: int) -> Any:
    labels = ["<0" if bin_.bin_start is None else _edge(bin_.bin_start) for bin_ in bins]
    rows = [
        {"bin": label, "share": getattr(bin_, group.name) / group.size}
        for label, bin_ in zip(labels, bins, strict=True)
    ]
    horizontal = alt.Axis(
        labels=bool(axis_title), ticks=False, domainColor=INK, labelAngle=0, labelOverlap=True, labelColor=INK
    )
    vertical = alt.Axis(format="%", tickCount=2, ticks=False, domain=False, labelPadding=5)
    color = ACCENT if group.name == "claims" else GREY
    bars = alt.Chart(alt.InlineData(values=rows)).mark_bar(color=color, binSpacing=1)
    title = alt.TitleParams(f"{group.title} ({group.size:,})", fontWeight="normal", fontSize=12.5)
    return bars.encode(
        x=alt.X("bin:N", sort=labels, title=axis_title or None, axis=horizontal),
        y=alt.Y("share:Q", title=None, axis=vertical),
    ).properties(width=width - AXIS_WIDTH, height=PANEL_HEIGHT, title=title)


def _precision_recall(points: Sequence[PhiPoint], by: ClaimMeasure) -> Figure | None:
    """Precision and recall over φ, where the truth is known."""
    shown = [point for point in points if point.precision is not None and point.recall >= MIN_RECALL]
    if len(shown) < 2:
        return None
    rows = [
        (
            f"{point.phi:.2f}",
            count(point.claims),
            percent(point.precision),
            percent(point.recall),
            percent(point.absent_claims),
        )
        for point in shown[:: max(1, -(-len(shown) // TABLE_ROWS))]
    ]
    first, last = shown[0], shown[-1]
    description = (
        f"As φ rises from 0 to {last.phi:.1f}, precision changes from {percent(first.precision)} to "
        f"{percent(last.precision)} and recall from {percent(first.recall)} to {percent(last.recall)}."
    )
    heads = ("φ", "claims", "precision", "recall", "absent people claimed")
    draw = partial(_draw_precision_recall, shown, by)
    return Figure("Precision and recall by φ", description, draw, Table(heads, rows))


def _draw_precision_recall(points: Sequence[PhiPoint], by: ClaimMeasure, width: int) -> Chart:
    series = [Point(name, point.phi, getattr(point, name)) for name in ("precision", "recall") for point in points]
    return curves(series, Axis(f"φ: {AXIS_TITLES[by]}"), Axis("share", 0, 1), quiet=("precision",))


def _facts_table(groups: Sequence[FactsGroup]) -> Table:
    """Profiles and claims by number of facts and, where the truth is known, present and correct ones."""
    heads = {"profiles": "profiles", "claims": "claims"}
    if groups[0].present is not None:
        heads |= {"present": "in the release", "correct_claims": "correct claims"}
    rows = [(_facts_label(group), *(count(getattr(group, name)) for name in heads)) for group in groups]
    return Table(("facts used", *heads.values()), rows)


def _facts_label(group: FactsGroup) -> str:
    low, high = group.min_facts, group.max_facts
    return f"{low:,} to {high:,}" if high > low else f"{low:,}"


def _settings(findings: LinkFindings) -> list[tuple[str, str]]:
    release, public, settings = findings.release, findings.public, findings.settings
    shown = [
        ("Release", _size(release, f"{count(release.records)} people")),
        ("Public data", _size(public, f"{count(public.profiles)} profiles")),
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


def _size(side: ReleaseSize | PublicSize, people: str) -> str:
    size = f"{count(side.entries)} entries of {people}, {count(side.items)} items"
    return f"{side.name}: {size}" if side.name else size
