"""The report of a linking: what was claimed, beside people who are not there. It names nobody."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

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
from standout.report.audit_charts import Figure, Table, drawing
from standout.report.charts import ACCENT, GREY, INK, Axis, Chart, Point, curves
from standout.report.html_page import page_of, part

__all__ = ["figures", "page"]

Found = Mapping[str, Any]
GROUPS = (
    ("claims", "Profiles that claim a record"),
    ("others", "Profiles that claim none"),
    ("recombined", "Decoys: recombined profiles"),
    ("withheld", "Decoys: people of the release, taken out of it"),
)
MEASURES = {
    "evidence": "evidence: bits for the best record, against all others and nobody",
    "eccentricity": "eccentricity: standard deviations between the best score and the second",
}
PANEL, SHOWN, LEAST = 88, 24, 0.02
SIDE = 60
"""Room beside a chart for the numbers of its axis."""


def page(found: Found) -> str:
    """The report as HTML: no script, nothing from elsewhere; the same numbers give the same bytes."""
    told = printable_texts(found)
    return page_of(
        part("linking.html"), part("audit.css"), found=told,
        drawings={name: drawing(figure) for name, figure in figures(told).items()}, sizes=_sizes(told),
        settings=_settings(told), cut=shorten, share=estimate_text, ends=interval_text, percent=percent,
        count=count, decimal=decimal,
    )  # fmt: skip


def figures(found: Found) -> dict[str, Figure]:
    """The charts there are numbers for, by name."""
    made = {name: _histogram(name, found["histograms"][name]) for name in MEASURES}
    made["truth"] = _judged(found["curve"], found["settings"]["by"])
    return {name: figure for name, figure in made.items() if figure is not None}


def _histogram(measure: str, rows: Sequence[Found]) -> Figure | None:
    """How far profiles stand out, in bins that grow, beside the decoys of both kinds."""
    sizes = {name: sum(row[name] for row in rows) for name, _ in GROUPS}
    filled = [at for at, row in enumerate(rows) if any(row[name] for name, _ in GROUPS)]
    if not filled:
        return None
    used = rows[filled[0] : filled[-1] + 1]
    panels = [(name, title) for name, title in GROUPS if sizes[name]]
    heads = (measure, *(title for _, title in panels))
    cells = [(_bin(row), *(count(row[name]) for name, _ in panels)) for row in used]
    told = "; ".join(f"{title}: {count(sizes[name])}" for name, title in panels)
    return Figure(
        f"How far profiles and decoys stand out: {measure}",
        f"Histograms of {measure}. {told}.",
        partial(_drawn_histogram, measure, used, panels, sizes),
        Table(heads, cells),
    )


def _bin(row: Found) -> str:
    return "below 0" if row["from"] is None else f"{_edge(row['from'])} to {_edge(row['to'])}"


def _edge(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def _drawn_histogram(
    measure: str,
    rows: Sequence[Found],
    panels: Sequence[tuple[str, str]],
    sizes: Mapping[str, int],
    width: int,
) -> Chart:
    labels = ["<0" if row["from"] is None else _edge(row["from"]) for row in rows]
    drawn = [
        _panel(rows, labels, name, f"{title} ({sizes[name]:,})", sizes[name], MEASURES[measure] * last, width)
        for (name, title), last in zip(panels, [False] * (len(panels) - 1) + [True], strict=True)
    ]
    return Chart(alt.vconcat(*drawn, spacing=12))


def _panel(
    rows: Sequence[Found], labels: list[str], name: str, title: str, size: int, under: str, width: int
) -> Any:
    shown = [{"bin": label, "share": row[name] / size} for label, row in zip(labels, rows, strict=True)]
    below = alt.Axis(
        labels=bool(under), ticks=False, domainColor=INK, labelAngle=0, labelOverlap=True, labelColor=INK
    )
    side = alt.Axis(format="%", tickCount=2, ticks=False, domain=False, labelPadding=5)
    base = alt.Chart(alt.InlineData(values=shown))
    bars = base.mark_bar(color=ACCENT if name == "claims" else GREY, binSpacing=1).encode(
        x=alt.X("bin:N", sort=labels, title=under or None, axis=below),
        y=alt.Y("share:Q", title=None, axis=side),
    )
    return bars.properties(
        width=width - SIDE, height=PANEL, title=alt.TitleParams(title, fontWeight="normal", fontSize=12.5)
    )


def _judged(rows: Sequence[Found] | None, by: str) -> Figure | None:
    """Precision and recall over φ, where the truth is known."""
    told = [row for row in rows or () if row["precision"] is not None and row["recall"] >= LEAST]
    if len(told) < 2:
        return None
    step = max(1, -(-len(told) // SHOWN))
    cells = [
        (f"{row['phi']:.2f}", count(row["claims"]), percent(row["precision"]), percent(row["recall"]),
         percent(row["false"]))
        for row in told[::step]
    ]  # fmt: skip
    first, last = told[0], told[-1]
    words = (
        f"As φ goes from 0 to {last['phi']:.1f}, precision goes from {percent(first['precision'])} to "
        f"{percent(last['precision'])}, recall from {percent(first['recall'])} to {percent(last['recall'])}."
    )
    table = Table(("φ", "claims", "precision", "recall", "absent claimed"), cells)
    return Figure("Precision and recall, by φ", words, partial(_drawn_judged, told, by), table)


def _drawn_judged(rows: Sequence[Found], by: str, width: int) -> Chart:
    points = [
        Point(name, row["phi"], row[name]) for name in ("precision", "recall") for row in rows
    ]  # fmt: skip
    return curves(points, Axis(f"φ: {MEASURES[by]}"), Axis("share", 0, 1), quiet=("precision",))


def _sizes(found: Found) -> Table:
    """By number of facts: profiles, claims and, where the truth is known, how many are there and found."""
    names = [name for name in ("profiles", "claims", "present", "right") if name in found["sizes"][0]]
    rows = [
        (f"{row['from']:,} to {row['to']:,}" if row["to"] > row["from"] else f"{row['from']:,}",
         *(count(row[name]) for name in names))
        for row in found["sizes"]
    ]  # fmt: skip
    heads = {"present": "are there", "right": "claimed rightly"}
    return Table(("facts used", *(heads.get(name, name) for name in names)), rows)


def _settings(found: Found) -> list[tuple[str, str]]:
    release, public, said = found["release"], found["public"], found["settings"]
    told = [
        ("Release", _named(release["name"], release, "records", "people")),
        ("Public data", _named(public["name"], public, "profiles", "profiles")),
        ("Dates", {"use": "compared", "ignore": "ignored", "learn": "with and without"}[said["dates"]]),
        ("What decides", said["by"]),
        ("φ", "from decoys" if said["phi"] is None else f"{said['phi']:g}"),
        ("Budget", percent(said["budget"])),
        ("Decoys", f"{count(said['decoys'])} of each kind"),
        ("One profile for each record", "yes" if said["assign"] else "no"),
        ("Seed", f"{said['seed']}"),
        ("Fingerprints", f"{release['fingerprint']}, {public['fingerprint']}"),
        ("Version", found["version"]),
    ]
    return [(name, shorten(words, 200)) for name, words in told]


def _named(name: str, side: Found, of: str, people: str) -> str:
    size = f"{count(side['entries'])} entries of {count(side[of])} {people}, {count(side['items'])} items"
    return f"{shorten(name)}: {size}" if name else size
