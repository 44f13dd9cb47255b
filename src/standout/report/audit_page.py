"""The report of an audit: findings → one self-contained HTML file, and its charts as files."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from standout.core.files import make_folder, write_content
from standout.core.text import count, decimal, estimate_text, interval_text, percent, printable_texts, shorten
from standout.evaluate.estimates import Estimate
from standout.findings.adversaries import BeforeAfter
from standout.findings.audit import MEASURES, AuditFindings, measure_titles
from standout.report.advice_page import advice_section
from standout.report.audit_charts import (
    FIGURES,
    attack_table,
    audit_figures,
    common_threshold,
    control_sentence,
    grid_captions,
    group_extremes,
    group_table,
    threshold_text,
)
from standout.report.charts import remove_charts
from standout.report.figures import Cells, Drawing, Figure, Table, draw_figure
from standout.report.first_page import first_page
from standout.report.interval_charts import WIDE, ShareBar, share_bars
from standout.report.page import render_page, template_functions, template_text, threshold_status
from standout.report.reading_text import ReadingTable

BEFORE, AFTER = "before", "after"


def audit_svgs(findings: AuditFindings) -> dict[str, str]:
    """The charts of the report as SVG by name, with their texts for screen readers."""
    figures = audit_figures(printable_texts(findings)).items()
    return {name: figure.draw(WIDE).svg_or_note(figure.title, figure.description) + "\n" for name, figure in figures}


def write_report(findings: AuditFindings, folder: str | os.PathLike[str]) -> Path:
    """Write report.html and the charts into a folder, replacing earlier ones; return the report's path."""
    report, charts_folder = Path(folder) / "report.html", make_folder(Path(folder) / "charts")
    figures = audit_figures(printable_texts(findings))
    for name, figure in figures.items():
        figure.draw(WIDE).write(charts_folder / name, figure.title, figure.description)
    remove_charts(charts_folder, {*FIGURES} - {*figures})
    write_content(report, audit_page(findings))
    return report


def audit_page(findings: AuditFindings) -> str:
    """The report as HTML, without scripts or external resources. The same findings give the same bytes."""
    shown: AuditFindings = printable_texts(findings)
    main = shown.headline
    return render_page(
        template_text("audit.html"),
        template_text("audit.css"),
        findings=shown,
        main=main,
        first=first_page(shown),
        drawings={name: draw_figure(figure) for name, figure in audit_figures(shown).items()},
        before_after=before_after_part(shown.before_after),
        threshold_status=threshold_status(shown.threshold),
        measures=_measure_table(shown),
        attacks=attack_table(shown),
        threshold_at_budget=threshold_text(main.as_named) if main else "",
        extremes=group_extremes(shown),
        groups=group_table(shown),
        grid_captions=grid_captions(shown),
        control_sentence=control_sentence(shown),
        population=_population_table(shown),
        disclosure=_disclosure_table(shown),
        settings=_settings(shown),
        readings=[ReadingTable.of(reading) for reading in shown.reading],
        failed=[check for check in shown.trust.checks if not check.passed],
        versions=list(shown.versions.items()),
        advice_section=advice_section(shown.advice) if shown.advice else None,
        step_counts=_step_counts,
        **template_functions(),
    )


def _with_interval(estimate: Estimate | None, unit: str = "share") -> tuple[str, str]:
    return estimate_text(estimate, unit), interval_text(estimate, unit)


def _measure_table(findings: AuditFindings) -> Table:
    """All measures of the strongest attack of each adversary; what nobody measured is left out."""
    settings, adversaries = findings.settings, findings.adversaries
    titles = measure_titles(common_threshold(findings), settings.budget, settings.top)
    some_missing = findings.original is not None and findings.original.not_in_release > 0
    rows: list[Cells] = []
    for measure in MEASURES:
        if measure.unit == "phi":
            cells: Cells = tuple(threshold_text(each.as_named) for each in adversaries)
        else:
            cells = tuple(_with_interval(getattr(each.as_named, measure.key), measure.unit) for each in adversaries)
        if (some_missing or measure.key != "identified_in_release") and any(cell != ("–", "") for cell in cells):
            rows.append((titles[measure.key], *cells))
    rows.append(("Targets", *(count(each.as_named.targets) for each in adversaries)))
    return Table(("measure", *(shorten(each.name, 40) for each in adversaries)), rows)


def _population_table(findings: AuditFindings) -> Table | None:
    """Prosecutor and journalist numbers, side by side."""
    people = findings.settings.population
    if people is None:
        return None
    rows: list[Cells] = []
    classes, estimated = findings.classes, findings.population
    if classes is not None and estimated is not None:
        rows = [
            ("Quasi-identifiers: unique rows", percent(classes.unique), _with_interval(estimated.unique)),
            ("Quasi-identifiers: mean risk of a row", percent(classes.mean), _with_interval(estimated.journalist)),
        ]
    for adversary in findings.adversaries:
        rates, title = adversary.as_named.population, f"{adversary.title}: claimed correctly"
        in_release = _with_interval(None if rates is None else rates.in_release)
        rows.append((title, _with_interval(adversary.as_named.correct_claims), in_release))
    return Table(("", "in the release (prosecutor)", f"one of {people:,} (journalist)"), rows)


def _disclosure_table(findings: AuditFindings) -> Table | None:
    """A row for each sensitive column: guesses, control, and what classes say."""
    rows: list[Cells] = []
    for each in findings.disclosure:
        found = each.diversity
        classes: Cells = ("–", "–", "–")
        if found is not None:
            distinct = f"{found.distinct:,}", f"entropy {found.entropy:.2f}"
            classes = distinct, percent(found.same_value), f"{found.t_closeness:.2f}"
        guessed = estimate_text(each.guessed), interval_text(each.guessed) or each.note
        rows.append((each.column, guessed, _with_interval(each.control), percent(each.baseline), *classes))
    heads = ("sensitive column", "guessed", "for absent people", "commonest value", "l", "value certain", "t")
    return Table(heads, rows) if rows else None


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
    data, settings, run, original = findings.data, findings.settings, findings.run, findings.original
    quick = " (quick audit)" if settings.quick else ""
    rows = [("Data", data.name), ("Records", count(data.records))]
    if data.columns:
        rows += [
            ("Columns", count(data.columns)),
            ("Empty cells", count(data.missing_cells)),
            ("Quasi-identifiers", f"{', '.join(settings.quasi_identifiers)} ({settings.quasi_identifiers_reason})"),
            ("Sensitive columns", ", ".join(settings.sensitive) or "none"),
            ("Population", "none given" if settings.population is None else count(settings.population)),
        ]
    if data.entries:
        rows += [
            ("Entries", f"{count(data.entries)}, of {count(data.items)} items"),
            ("Values", count(data.levels, "different value", "different values") if data.has_values else "none"),
            ("Dates", f"{data.first} to {data.last}" if data.first else "none"),
            ("Repeated entries", count(data.repeats)),
            ("Median record", f"{decimal(data.median_length).removesuffix('.0')} entries"),
        ]
    rows += [("Rows that could not be read", count(data.rows_rejected)), ("Fingerprint", data.fingerprint)]
    if original is not None:
        sizes = {"records": original.records, "columns": original.columns, "entries": original.entries}
        rows += [
            ("Original", ", ".join(f"{count(size)} {name}" for name, size in sizes.items() if size)),
            ("People missing from the release", count(original.not_in_release)),
            ("Fingerprint of the original", original.fingerprint),
        ]
    rows += [
        ("Adversaries", "the default ladder" if settings.ladder == "default" else settings.ladder),
        ("Headline adversary", settings.headline),
        ("Targets", f"at most {count(settings.targets)} for each adversary{quick}"),
        ("Known facts in the curves", ", ".join(f"{facts:g}" for facts in settings.facts)),
        ("Minimum posterior for a claim (Likelihood, exact matching)", f"{settings.posterior:g}"),
        ("Minimum eccentricity φ for a claim (paper's attack)", f"{settings.phi:g}"),
        ("False claim budget", percent(settings.budget)),
        ("Threshold", "none" if settings.fail_above is None else percent(settings.fail_above)),
        ("Seed", f"{run.seed}"),
        ("Written", " ".join(filter(None, (run.finished_at, f"by {run.software}")))),
    ]
    return [(title, shorten(text, 300)) for title, text in rows]


# The part of a report that compares a sanitized release with its original.


class BeforeAfterPart(NamedTuple):
    """A chart of the rates before and after; its table, and one for the people who are still there."""

    summary: str
    drawing: Drawing
    table: Table
    remaining: Table | None


def before_after_part(comparison: BeforeAfter | None) -> BeforeAfterPart | None:
    """The chart and the tables of a comparison; None if there is none."""
    if comparison is None:
        return None
    bars = [
        ShareBar(each.name, label, rate.value, rate.low, rate.high, main=label == AFTER)
        for each in comparison.adversaries
        for label, rate in ((BEFORE, each.before), (AFTER, each.after))
    ]
    every = [_compared(each.name, each.before, each.after, each.difference) for each in comparison.adversaries]
    remaining = [
        _compared(each.name, each.before_in_release, each.after_in_release, each.difference_in_release)
        for each in comparison.adversaries
        if each.after_in_release.n
    ]
    heads = ("adversary", BEFORE, AFTER, "difference in points", "beyond sampling error")
    figure = Figure(
        "People identified before and after sanitizing",
        "For each adversary, the share of targets who are identified in the original and in the release.",
        lambda width: share_bars(bars, width=width),
        Table(heads, every),
    )
    return BeforeAfterPart(
        comparison.summary,
        draw_figure(figure),
        figure.table,
        Table(heads, remaining) if comparison.some_missing and remaining else None,
    )


def _compared(name: str, before: Estimate, after: Estimate, difference: Estimate) -> Cells:
    is_clear = not difference.low <= 0 <= difference.high
    change = _points(difference.value), f"{_points(difference.low)}\xa0to\xa0{_points(difference.high)}"
    return (name, _with_interval(before), _with_interval(after), change, "yes" if is_clear else "no")


def _points(share: float) -> str:
    """A difference of shares in percentage points, with its sign: −12.5, +0.3, 0."""
    text = f"{100 * share:+.1f}".replace("-", "−")
    return "0" if text[1:] == "0.0" else text
