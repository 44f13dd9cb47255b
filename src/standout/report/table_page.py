"""The report of an audit of a table: findings → one self-contained HTML file, and its charts as files."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from standout.core.files import make_folder, write_content
from standout.core.text import count, estimate_text, interval_text, percent, printable_texts, shorten
from standout.findings.tables import ClassSize, TableFindings, TableMeasures
from standout.report.audit_charts import ATTACK_TITLES
from standout.report.audit_page import before_after_part, table_first_page
from standout.report.charts import Axis, Chart, Point, remove_charts
from standout.report.figures import Cells, Figure, Table, draw_figure
from standout.report.interval_charts import WIDE, ShareBar, share_bars, share_curves
from standout.report.page import render_page, template_functions, template_text, threshold_status

__all__ = ["TABLE_FIGURES", "table_figures", "table_page", "write_table_report"]

# The charts of a table's report, each with a title, a description and its numbers as a table.


def table_figures(findings: TableFindings) -> dict[str, Figure]:
    """The figures for which there are numbers, by name, in the order of the page."""
    figures = {name: figure_of(findings) for name, figure_of in TABLE_FIGURES.items()}
    return {name: figure for name, figure in figures.items() if figure is not None}


def _success(findings: TableFindings) -> Figure | None:
    main = findings.headline
    series: dict[str, Sequence[Point]] = {
        ATTACK_TITLES.get(attack.name, attack.name): [
            Point("", point.knows, point.identified.value, point.identified.low, point.identified.high)
            for point in attack.curve
        ]
        for attack in main.attacks
    }
    if max(map(len, series.values()), default=0) < 2:
        return None
    strongest = next(iter(series))
    answer = Point("", main.knows, main.as_named.identified.value)
    ends = [f"{name}: {percent(curve[-1].y)} with {curve[-1].x:g}" for name, curve in series.items()]
    return Figure(
        "Identified people, by number of known attributes",
        f"Share of identified people, by number of known attributes. {'; '.join(ends)}.",
        partial(_success_chart, series, strongest, answer),
        _success_table(findings),
    )


def _success_chart(series: dict[str, Sequence[Point]], main: str, answer: Point, width: int) -> Chart:
    label = percent(answer.y)
    if width == WIDE:
        label += f" with {count(int(answer.x), 'attribute', 'attributes')}"
    axis = Axis("known attributes of a person")
    return share_curves(series, main, "Identified people", axis, answer._replace(series=label), width)


def _success_table(findings: TableFindings) -> Table:
    attacks = findings.headline.attacks
    cells: list[Cells] = []
    for index, point in enumerate(attacks[0].curve):
        numbers = [attack.curve[index].identified for attack in attacks]
        cells.append((f"{point.knows}", *((estimate_text(one), interval_text(one)) for one in numbers)))
    heads = tuple(ATTACK_TITLES.get(attack.name, attack.name) for attack in attacks)
    return Table(("known attributes", *heads), cells)


def _adversaries(findings: TableFindings) -> Figure | None:
    adversaries = findings.adversaries
    if len(adversaries) < 2:
        return None
    bars = [
        ShareBar("", each.title, share.value, share.low, share.high, each.name == findings.answer.adversary)
        for each in adversaries
        for share in [each.as_named.identified]
    ]
    shares = "; ".join(f"{each.title}: {estimate_text(each.as_named.identified)}" for each in adversaries)
    cells: list[Cells] = [
        (each.title, (estimate_text(each.as_named.identified), interval_text(each.as_named.identified)))
        for each in adversaries
    ]
    return Figure(
        "What each adversary achieves",
        f"Identified people. {shares}.",
        partial(share_bars, bars),
        Table(("adversary", "identified"), cells),
    )


def _classes(findings: TableFindings) -> Figure | None:
    identity = findings.identity
    if identity is None:
        return None
    total = sum(band.rows for band in identity.sizes)
    bars = [ShareBar("", _band(band), band.rows / total, main=band.low == 1) for band in identity.sizes if total]
    shares = "; ".join(f"{bar.label}: {percent(bar.value)}" for bar in bars)
    cells: list[Cells] = [
        (bar.label, count(band.rows), percent(bar.value)) for bar, band in zip(bars, identity.sizes, strict=True)
    ]
    return Figure(
        "Rows with equal quasi-identifiers",
        f"Share of rows by the number of rows that have the same quasi-identifiers. {shares}.",
        partial(share_bars, bars),
        Table(("rows with the same values", "rows", "share"), cells),
    )


def _band(band: ClassSize) -> str:
    if band.low == 1 and band.high == 1:
        return "unique"
    if band.high is None:
        return f"{band.low:,} rows or more"
    return f"{band.low:,} rows" if band.low == band.high else f"{band.low:,} to {band.high:,} rows"


def _column_sets(findings: TableFindings) -> Figure | None:
    sets = findings.column_sets
    if not sets:
        return None
    bars = [ShareBar("", " + ".join(found.columns), found.unique) for found in sets]
    shares = "; ".join(f"{bar.label}: {percent(bar.value)}" for bar in bars)
    cells: list[Cells] = [
        (
            " + ".join(found.columns),
            percent(found.unique),
            "none is better" if found.exhaustive else "best found",
            count(found.tried),
        )
        for found in sets
    ]
    return Figure(
        "The smallest sets of columns that single out most people",
        f"Share of rows that no other row equals in these columns. {shares}.",
        partial(share_bars, bars),
        Table(("columns", "unique rows", "search", "sets counted"), cells),
    )


TABLE_FIGURES: dict[str, Callable[[TableFindings], Figure | None]] = {
    "success": _success,
    "adversaries": _adversaries,
    "classes": _classes,
    "column-sets": _column_sets,
}
"""All figures by the name of their file."""


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
            ("Quasi-identifiers: unique rows", percent(identity.unique), (estimate_text(unique), interval_text(unique)))
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
    heads = ("sensitive column", "guessed", "for absent people", "commonest value", "l", "value certain", "t")
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
