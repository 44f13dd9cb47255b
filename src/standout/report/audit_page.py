"""The report of an audit: findings → one HTML file that stands alone, and its charts as files."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from standout.core.atomic_files import make_folder, write_content
from standout.core.formatting import (
    LONG,
    SHORT,
    count,
    decimal,
    estimate_text,
    interval_text,
    percent,
    printable_texts,
    shorten,
)
from standout.report.advice_page import section
from standout.report.audit_charts import FIGURES, drawing, extremes, figures, group_table, headline
from standout.report.charts import Chart
from standout.report.html_page import page_of, part
from standout.report.interval_charts import WIDE

__all__ = ["charts", "page", "write"]

Found = Mapping[str, Any]
MEASURES = (
    ("identified", "share", "Best guess is right"),
    ("in_top", "share", "Right record among the first {top}"),
    ("correct_claims", "share", "Claimed, and right, at φ = {phi}"),
    ("wrong_claims", "share", "Claimed, and wrong, at φ = {phi}"),
    ("absent_claims", "share", "Claimed though not in the data, at φ = {phi}"),
    ("phi_at_budget", "phi", "φ that keeps false claims to {budget}"),
    ("correct_claims_at_budget", "share", "Claimed, and right, at that φ"),
    ("bits_gained", "number", "Bits gained"),
    ("bits_left", "number", "Bits left"),
    ("lineup", "number", "Records that share {mass} of the suspicion (median)"),
    ("revealed", "number", "Items of the guess that were not known (mean)"),
    ("revealed_correct", "number", "Of these true of the person (mean)"),
    ("revealed_correct_share", "share", "Share of these that is true of the person"),
)
QUESTIONS = {
    "singling_out": "Can one person's record be picked out?",
    "linkability": "Can it be linked to what another source says of the same person?",
    "inference": "Can something be learned of the person that was not known?",
}


def charts(findings: Found) -> dict[str, Chart]:
    """The charts of the report by name, as they stand on a desk."""
    return {name: figure.draw(WIDE) for name, figure in figures(printable_texts(findings)).items()}


def write(findings: Found, folder: str | os.PathLike[str]) -> Path:
    """Writes report.html and charts/*.svg|png into a folder, in place of earlier ones. → the report's path"""
    report, found = Path(folder) / "report.html", printable_texts(findings)
    beside = make_folder(Path(folder) / "charts")
    for old in (beside / f"{name}.{ending}" for name in FIGURES for ending in ("svg", "png")):
        old.unlink(missing_ok=True)
    for name, figure in figures(found).items():
        chart = figure.draw(WIDE)
        write_content(beside / f"{name}.svg", chart.svg(figure.title, figure.words) + "\n")
        write_content(beside / f"{name}.png", chart.png())
    write_content(report, page(findings))
    return report


def page(findings: Found) -> str:
    """The report as HTML: no script, nothing from elsewhere, the same findings give the same bytes."""
    found = printable_texts(findings)
    return page_of(
        part("audit.html"), part("audit.css"), found=found, main=headline(found), questions=_questions(found),
        drawings={name: drawing(figure) for name, figure in figures(found).items()},
        judged=_judged(found["threshold"]), measures=_measures(found), extremes=extremes(found),
        groups=group_table(found), settings=_settings(found),
        failed=[one for one in found["trust"]["checks"] if not one["passed"]],
        versions=list(found["versions"].items()), name=_shown(SHORT), say=_shown(LONG),
        cut=shorten, share=estimate_text, ends=interval_text, percent=percent, count=count, decimal=decimal,
        done=_done, advised=section(found["advice"]) if found.get("advice") else None,
    )  # fmt: skip


def _shown(most: int) -> Callable[[str], Any]:
    """How foreign words are shown: cut, escaped, and kept from turning the words around them."""
    from markupsafe import Markup

    def shown(text: str) -> Any:
        return Markup("<bdi>{}</bdi>").format(shorten(text, most))

    return shown


class Measure(NamedTuple):
    """A row of the table of all measures: a number and its interval for each adversary."""

    title: str
    cells: list[tuple[str, str]]


def _measures(found: Found) -> list[Measure]:
    set_to, told = found["settings"], found["adversaries"]
    mass = percent(told[0]["at"]["lineup_mass"]) if told else ""
    words = {
        "phi": f"{set_to['phi']:g}",
        "budget": percent(set_to["budget"]),
        "top": set_to["top"],
        "mass": mass,
    }
    rows = [
        Measure(title.format(**words), [_cell(one["at"][key], unit) for one in told])
        for key, unit, title in MEASURES
    ]
    return [row for row in rows if any(cell != ("–", "") for cell in row.cells)]


def _cell(told: Any, unit: str) -> tuple[str, str]:
    if unit == "phi":
        return ("–" if told is None else f"{told:.2f}"), ""
    return estimate_text(told, unit), interval_text(told, unit)


def _judged(threshold: Found) -> str:
    """How the measured share lies to the threshold, in the words before it."""
    if threshold["exceeded"] is None:
        return "Not held against"
    if not threshold["exceeded"]:
        return "Not above"
    low = (threshold["measured"] or {}).get("low")
    return "May be above" if low is not None and low <= threshold["fail_above"] else "Above"


class Question(NamedTuple):
    """One of the three questions of the working party, and what can be said to it."""

    key: str
    asked: str
    told: Found


def _questions(found: Found) -> list[Question]:
    return [
        Question(key, asked, found["verdict"][key])
        for key, asked in QUESTIONS.items()
        if found["verdict"].get(key)
    ]


def _original(told: Found | None) -> list[tuple[str, str]]:
    """What the data was made from."""
    if told is None:
        return []
    size = {key: count(told[key]) for key in ("entries", "records", "items")}
    return [
        ("Original", f"{size['entries']} entries of {size['records']} people, {size['items']} items"),
        ("People of the original who are not in the data", count(told["not_in_release"])),
        ("Fingerprint of the original", told["fingerprint"]),
    ]


def _done(counts: Found) -> str:
    """What a step did: what it left of records, items and entries, and its own counts."""
    sizes = [name for name in ("records", "items", "entries") if f"{name} before" in counts]
    left = [
        f"{counts[name]:,} of {counts[f'{name} before']:,} {name} left"
        for name in sizes
        if counts[name] != counts[f"{name} before"]
    ]
    own = [
        f"{name}: {number:,.4g}" if number % 1 else f"{name}: {number:,.0f}"
        for name, number in counts.items()
        if name.removesuffix(" before") not in sizes
    ]
    return ", ".join([*left, *own])


def _settings(found: Found) -> list[tuple[str, str]]:
    data, set_to, made = found["data"], found["settings"], found["made"]
    size = {key: count(data[key]) for key in ("entries", "records", "items")}
    limit, dates = set_to["fail_above"], f"{data['first']} to {data['last']}"
    told = [
        ("Data", data["name"]),
        (
            "Size",
            f"{size['entries']} entries of {size['records']} people, {size['items']} items",
        ),
        ("Values", f"{count(data['levels'], 'level', 'levels')}" if data["has_values"] else "none"),
        ("Dates", dates if data["first"] else "none"),
        ("Entries of a person", f"{decimal(data['median_length']).removesuffix('.0')} (median)"),
        ("Rows left out", count(data["rows_rejected"])),
        ("Fingerprint", data["fingerprint"]),
        *_original(found["original"]),
        ("Adversaries", "the default ladder" if set_to["ladder"] == "default" else set_to["ladder"]),
        ("Headline adversary", set_to["headline"]),
        (
            "People tried",
            f"up to {count(set_to['targets'])} for each adversary" + (", quick" if set_to["quick"] else ""),
        ),
        ("Numbers of facts", ", ".join(f"{one:g}" for one in set_to["facts"])),
        ("φ", f"{set_to['phi']:g}, and the one that keeps false claims to {percent(set_to['budget'])}"),
        ("Threshold", "none" if limit is None else percent(limit)),
        ("Seed", f"{made['seed']}"),
        ("Made", " ".join(filter(None, (made["at"], f"by {made['by']}")))),
    ]
    return [(name, shorten(words, 200)) for name, words in told]
