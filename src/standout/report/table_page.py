"""The report of an audit of a table: findings → one self-contained HTML file, and its charts as files."""

import os
from pathlib import Path

from standout.core.atomic_files import make_folder, write_content
from standout.core.foreign_text import printable_texts, shorten
from standout.core.formatting import count, estimate_text, interval_text, percent
from standout.findings.table_adversaries import TableMeasures
from standout.findings.table_audit import TableFindings
from standout.report.attack_titles import ATTACK_TITLES
from standout.report.before_after_part import before_after_part
from standout.report.charts import remove_charts
from standout.report.figures import Cells, Table, draw_figure
from standout.report.first_page import table_first_page
from standout.report.html_page import render_page, template_text
from standout.report.interval_charts import WIDE
from standout.report.page_texts import template_functions, threshold_status
from standout.report.table_charts import TABLE_FIGURES, table_figures

__all__ = ["table_page", "write_table_report"]

ORDER = ("likelihood", "paper", "exact match")
MEASURES = {
    "identified": ("Identified", "share"),
    "correct_claims_at_budget": ("Claimed correctly within the false claim budget", "share"),
    "absent_claims_at_budget": ("Absent people claimed within the budget", "share"),
    "correct_claims": ("Claimed correctly", "share"),
    "wrong_claims": ("Wrong row claimed", "share"),
    "absent_claims": ("Absent people claimed", "share"),
    "bits_gained": ("Bits gained about who it is", "bits"),
    "bits_left": ("Bits still missing", "bits"),
}


def write_table_report(findings: TableFindings, folder: str | os.PathLike[str]) -> Path:
    """Write report.html and the charts into a folder, replacing earlier ones; return the report's path."""
    report, charts_folder = Path(folder) / "report.html", make_folder(Path(folder) / "charts")
    figures = table_figures(printable_texts(findings))
    for name, figure in figures.items():
        figure.draw(WIDE).write(charts_folder / name, figure.title, figure.description)
    remove_charts(charts_folder, {*TABLE_FIGURES} - {*figures})
    write_content(report, table_page(findings))
    return report


def table_page(findings: TableFindings) -> str:
    """The report as HTML, without scripts or external resources. The same findings give the same bytes."""
    shown: TableFindings = printable_texts(findings)
    return render_page(
        template_text("table.html"),
        template_text("audit.css"),
        findings=shown,
        main=shown.headline,
        drawings={name: draw_figure(figure) for name, figure in table_figures(shown).items()},
        attacks=attack_comparison(shown),
        measures=_measure_rows(shown),
        population=_population_table(shown),
        disclosure=_disclosure_table(shown),
        before_after=before_after_part(shown.before_after, "table"),
        first=table_first_page(shown),
        threshold_status=threshold_status(shown.threshold),
        settings=_settings(shown),
        failed=[check for check in shown.trust.checks if not check.passed],
        versions=list(shown.versions.items()),
        within=_within_sentence,
        **template_functions(),
    )


def _within_sentence(title: str) -> str:
    """A title such as “An acquaintance” in the middle of a sentence."""
    begins = title.startswith(("A ", "An ", "The "))
    return shorten(title[:1].lower() + title[1:] if begins else title)


def attack_comparison(findings: TableFindings) -> Table:
    """A row for each adversary: what each attack identifies, side by side."""
    cells: list[Cells] = []
    for adversary in findings.adversaries:
        measures = [adversary.by(name) for name in ORDER]
        cells.append((adversary.title, *(_identified(each) for each in measures)))
    return Table(("adversary", *(ATTACK_TITLES[name] for name in ORDER)), cells)


def _identified(measures: TableMeasures | None) -> tuple[str, str]:
    estimate = None if measures is None else measures.identified
    return estimate_text(estimate), interval_text(estimate)


def _measure_rows(findings: TableFindings) -> Table:
    """All measures of the strongest attack of each adversary."""
    cells: list[Cells] = []
    for key, (title, unit) in MEASURES.items():
        numbers = [getattr(each.as_named, key) for each in findings.adversaries]
        text_unit = "share" if unit == "share" else "number"
        cells.append((title, *((estimate_text(one, text_unit), interval_text(one, unit)) for one in numbers)))
    attacks = tuple(ATTACK_TITLES.get(each.attack, each.attack) for each in findings.adversaries)
    targets = tuple(count(each.as_named.targets) for each in findings.adversaries)
    cells += [("Strongest attack", *attacks), ("Targets", *targets)]
    return Table(("measure", *(each.name for each in findings.adversaries)), cells)


def _population_table(findings: TableFindings) -> Table | None:
    """Prosecutor and journalist numbers, side by side."""
    people = findings.settings.population
    if people is None:
        return None
    cells: list[Cells] = []
    identity, estimated = findings.identity, findings.population
    if identity is not None and estimated is not None:
        unique, risk = estimated.unique, estimated.journalist
        cells.append(
            (
                "Quasi-identifiers: unique rows",
                percent(identity.unique),
                (estimate_text(unique), interval_text(unique)),
            )
        )
        cells.append(
            (
                "Quasi-identifiers: mean risk of a row",
                percent(identity.mean),
                (estimate_text(risk), interval_text(risk)),
            )
        )
    for adversary in findings.adversaries:
        measures = adversary.as_named
        rates = measures.population
        in_table = None if rates is None else rates.in_table
        cells.append(
            (
                f"{adversary.title}: claimed correctly",
                (estimate_text(measures.correct_claims), interval_text(measures.correct_claims)),
                (estimate_text(in_table), interval_text(in_table)),
            )
        )
    return Table(("", "in the table (prosecutor)", f"one of {people:,} (journalist)"), cells)


def _disclosure_table(findings: TableFindings) -> Table | None:
    """A row for each sensitive column: guesses, control, and what classes say."""
    if not findings.disclosure:
        return None
    cells: list[Cells] = []
    for each in findings.disclosure:
        classes = each.diversity
        cells.append(
            (
                each.column,
                (estimate_text(each.guessed), interval_text(each.guessed) or each.note),
                (estimate_text(each.control), interval_text(each.control)),
                percent(each.baseline),
                "–" if classes is None else (f"{classes.distinct:,}", f"entropy {classes.entropy:.2f}"),
                "–" if classes is None else percent(classes.same_value),
                "–" if classes is None else f"{classes.t_closeness:.2f}",
            )
        )
    heads = (
        "sensitive column",
        "guessed",
        "for absent people",
        "commonest value",
        "l",
        "value certain",
        "t",
    )
    return Table(heads, cells)


def _settings(findings: TableFindings) -> list[tuple[str, str]]:
    data, settings, run, reading = findings.data, findings.settings, findings.run, findings.reading[0]
    quick = " (quick audit)" if settings.quick else ""
    population = "none given" if settings.population is None else count(settings.population)
    rows = [
        ("Data", data.name),
        ("Source", ", ".join(filter(None, (reading.format, *reading.files)))),
        ("Size", f"{count(data.rows)} rows, {count(data.columns)} columns"),
        ("Empty cells", count(data.missing_cells)),
        ("Fingerprint", data.fingerprint),
        ("Id column", f"{reading.id or 'none'}: {reading.id_reason}".removesuffix(": ")),
        ("Quasi-identifiers", ", ".join(settings.quasi_identifiers)),
        ("Why these", settings.quasi_identifiers_reason),
        ("Sensitive columns", ", ".join(settings.sensitive) or "none"),
        ("Population", population),
        ("Adversaries", "the default ladder" if settings.ladder == "default" else settings.ladder),
        ("Headline adversary", settings.headline),
        ("Targets", f"at most {count(settings.targets)} for each adversary{quick}"),
        ("Minimum posterior for a claim (Likelihood, exact matching)", f"{settings.posterior:g}"),
        ("Minimum eccentricity φ for a claim (paper's attack)", f"{settings.phi:g}"),
        ("False claim budget", percent(settings.budget)),
        ("Threshold", "none" if settings.fail_above is None else percent(settings.fail_above)),
        ("Seed", f"{run.seed}"),
        ("Written", " ".join(filter(None, (run.finished_at, f"by {run.software}")))),
    ]
    return [(title, shorten(text, 300)) for title, text in rows]
