"""The report of an audit: findings → one self-contained HTML file, and its charts as files."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from standout.core.atomic_files import make_folder, write_content
from standout.core.foreign_text import printable_texts, shorten
from standout.core.formatting import count, decimal, estimate_text, interval_text, percent
from standout.findings.adversaries import MeasuresAsNamed
from standout.findings.audit import AuditFindings, Original
from standout.findings.measure_titles import MEASURES, Measure, measure_titles
from standout.report.advice_page import advice_section
from standout.report.attack_table import attack_table, common_threshold, threshold_text
from standout.report.audit_charts import FIGURES, audit_figures, control_sentence, group_extremes, group_table
from standout.report.before_after_part import before_after_part
from standout.report.charts import Chart, remove_charts
from standout.report.figures import draw_figure
from standout.report.first_page import release_first_page
from standout.report.grid_figures import grid_captions
from standout.report.html_page import render_page, template_text
from standout.report.interval_charts import WIDE
from standout.report.page_texts import template_functions, threshold_status
from standout.report.reading_text import ReadingTable

__all__ = ["audit_charts", "audit_page", "audit_svgs", "write_report"]


def audit_charts(findings: AuditFindings) -> dict[str, Chart]:
    """The charts of the report by name, in their wide form."""
    figures = audit_figures(printable_texts(findings))
    return {name: figure.draw(WIDE) for name, figure in figures.items()}


def audit_svgs(findings: AuditFindings) -> dict[str, str]:
    """The charts of the report as SVG by name, with their texts for screen readers."""
    figures = audit_figures(printable_texts(findings))
    charts = audit_charts(findings).items()
    return {
        name: chart.svg_or_note(figures[name].title, figures[name].description) + "\n"
        for name, chart in charts
    }


def write_report(findings: AuditFindings, folder: str | os.PathLike[str]) -> Path:
    """Write report.html and the charts into a folder, replacing earlier ones; return the report's path."""
    report, charts_folder = Path(folder) / "report.html", make_folder(Path(folder) / "charts")
    charts = audit_charts(findings)
    figures = audit_figures(printable_texts(findings))
    for name, chart in charts.items():
        chart.write(charts_folder / name, figures[name].title, figures[name].description)
    remove_charts(charts_folder, {*FIGURES} - {*charts})
    write_content(report, audit_page(findings))
    return report


def audit_page(findings: AuditFindings) -> str:
    """The report as HTML, without scripts or external resources. The same findings give the same bytes."""
    shown: AuditFindings = printable_texts(findings)
    return render_page(
        template_text("audit.html"),
        template_text("audit.css"),
        findings=shown,
        main=shown.headline,
        titles=_titles(shown),
        first=release_first_page(shown),
        drawings={name: draw_figure(figure) for name, figure in audit_figures(shown).items()},
        before_after=before_after_part(shown.before_after, "release"),
        threshold_status=threshold_status(shown.threshold),
        measures=_measure_rows(shown),
        attacks=attack_table(shown),
        threshold_at_budget=threshold_text(shown.headline.as_named) if shown.headline else "",
        extremes=group_extremes(shown),
        groups=group_table(shown),
        grid_captions=grid_captions(shown),
        control_sentence=control_sentence(shown),
        settings=_settings(shown),
        readings=[ReadingTable.of(reading) for reading in shown.reading],
        failed=[check for check in shown.trust.checks if not check.passed],
        versions=list(shown.versions.items()),
        advice_section=advice_section(shown.advice) if shown.advice else None,
        step_counts=_step_counts,
        **template_functions(),
    )


def _titles(findings: AuditFindings) -> dict[str, str]:
    settings, main = findings.settings, findings.headline
    mass = {} if main is None else {"mass": main.as_named.lineup_mass}
    return measure_titles(common_threshold(findings), settings.budget, settings.top, **mass)


class MeasureRow(NamedTuple):
    """A row of the table of all measures: for each adversary a number and its interval."""

    title: str
    cells: list[tuple[str, str]]


def _measure_rows(findings: AuditFindings) -> list[MeasureRow]:
    titles, adversaries = _titles(findings), findings.adversaries
    some_missing = findings.original is not None and findings.original.not_in_release > 0
    measures = [measure for measure in MEASURES if some_missing or measure.key != "identified_in_release"]
    rows = [
        MeasureRow(titles[measure.key], [_cell(adversary.as_named, measure) for adversary in adversaries])
        for measure in measures
    ]
    return [row for row in rows if any(cell != ("–", "") for cell in row.cells)]


def _cell(measures: MeasuresAsNamed, measure: Measure) -> tuple[str, str]:
    if measure.unit == "phi":
        return threshold_text(measures), ""
    estimate = getattr(measures, measure.key)
    return estimate_text(estimate, measure.unit), interval_text(estimate, measure.unit)


def _step_counts(counts: Mapping[str, float]) -> str:
    """What a step changed: the remaining records, items and entries, and the step's own counts."""
    sizes = [name for name in ("records", "items", "entries") if f"{name} before" in counts]
    remaining = [
        f"{counts[name]:,} of {counts[f'{name} before']:,} {name} remain"
        for name in sizes
        if counts[name] != counts[f"{name} before"]
    ]
    own_counts = [
        f"{name}: {number:,.4g}" if number % 1 else f"{name}: {number:,.0f}"
        for name, number in counts.items()
        if name.removesuffix(" before") not in sizes
    ]
    return ", ".join([*remaining, *own_counts])


def _settings(findings: AuditFindings) -> list[tuple[str, str]]:
    data, settings, run = findings.data, findings.settings, findings.run
    dates = f"{data.first} to {data.last}" if data.first else "none"
    quick = " (quick audit)" if settings.quick else ""
    rows = [
        ("Data", data.name),
        ("Size", f"{count(data.entries)} entries, {count(data.records)} records, {count(data.items)} items"),
        ("Values", count(data.levels, "different value", "different values") if data.has_values else "none"),
        ("Dates", dates),
        ("Repeated entries", count(data.repeats)),
        ("Median record", f"{decimal(data.median_length).removesuffix('.0')} entries"),
        ("Rows that could not be read", count(data.rows_rejected)),
        ("Fingerprint", data.fingerprint),
        *_original_rows(findings.original),
        ("Adversaries", "the default ladder" if settings.ladder == "default" else settings.ladder),
        ("Headline adversary", settings.headline),
        ("Targets", f"at most {count(settings.targets)} for each adversary{quick}"),
        ("Known facts in the curves", ", ".join(f"{facts:g}" for facts in settings.facts)),
        ("Minimum posterior for a claim (Likelihood)", f"{settings.posterior:g}"),
        ("Minimum eccentricity φ for a claim (paper's attack)", f"{settings.phi:g}"),
        ("False claim budget", percent(settings.budget)),
        ("Threshold", "none" if settings.fail_above is None else percent(settings.fail_above)),
        ("Seed", f"{run.seed}"),
        ("Written", " ".join(filter(None, (run.finished_at, f"by {run.software}")))),
    ]
    return [(title, shorten(text, 200)) for title, text in rows]


def _original_rows(original: Original | None) -> list[tuple[str, str]]:
    if original is None:
        return []
    size = (
        f"{count(original.entries)} entries, {count(original.records)} people, {count(original.items)} items"
    )
    return [
        ("Original", size),
        ("People missing from the release", count(original.not_in_release)),
        ("Fingerprint of the original", original.fingerprint),
    ]
