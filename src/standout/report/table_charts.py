"""The charts of a table's report, each with a title, a description and its numbers as a table."""

from collections.abc import Callable, Sequence
from functools import partial

from standout.core.formatting import count, estimate_text, interval_text, percent
from standout.findings.table_audit import TableFindings
from standout.findings.table_risk import ClassSize
from standout.report.attack_titles import ATTACK_TITLES
from standout.report.charts import Axis, Chart, Point
from standout.report.figures import Cells, Figure, Table
from standout.report.interval_charts import WIDE, ShareBar, share_bars, share_curves

__all__ = ["TABLE_FIGURES", "table_figures"]


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
    bars = [
        ShareBar("", _band(band), band.rows / total, main=band.low == 1) for band in identity.sizes if total
    ]
    shares = "; ".join(f"{bar.label}: {percent(bar.value)}" for bar in bars)
    cells: list[Cells] = [
        (bar.label, count(band.rows), percent(bar.value))
        for bar, band in zip(bars, identity.sizes, strict=True)
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
