"""The charts of an audit report, each with a title, a description and its numbers as a table."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from standout.core.text import count, estimate_text, interval_text, percent
from standout.evaluate.claims import ClaimThreshold
from standout.evaluate.estimates import Estimate
from standout.findings.audit import AuditFindings, measure_titles
from standout.findings.sections import AdversaryFindings, AttackFindings, ClassSize, ErrorGrid, Group, Measures
from standout.report.charts import WIDE, Axis, Cells, Chart, Figure, Point, Table, with_interval
from standout.report.share_charts import HeatRow, ShareBar, heat_map, share_bar, share_bars, share_curves

GRID_FIGURES = {"time_error": "date-error", "value_error": "value-error"}
"""Names of the figures of grids: facts known by date error, and by value error."""
GRID_ROWS = {"time_error": "date error", "value_error": "value error"}


def error_grid_figure(varies: str, findings: AuditFindings) -> Figure | None:
    """The grid of one error, if the audit measured it."""
    grids = findings.error_grids.grids if findings.error_grids else ()
    grid = next((grid for grid in grids if grid.varies == varies), None)
    if grid is None:
        return None
    rows = [HeatRow(row.label, [_finite(cell.identified) for cell in row.cells], row.is_own) for row in grid.rows]
    columns = [str(cell.facts) for cell in grid.rows[0].cells]
    titles = "known facts about a person", GRID_ROWS[grid.varies]
    table: list[Cells] = [(row.label, *(with_interval(cell.identified) for cell in row.cells)) for row in grid.rows]
    return Figure(
        f"Identified people, by known facts and {GRID_ROWS[grid.varies]}",
        _grid_description(grid),
        lambda width: heat_map(rows, columns, *titles, width),
        Table((GRID_ROWS[grid.varies], *(count(int(facts), "fact", "facts") for facts in columns)), table),
    )


def grid_captions(findings: AuditFindings) -> dict[str, str]:
    """What is fixed in each grid, and how accurate its cells are, by name of the figure."""
    grids = findings.error_grids.grids if findings.error_grids else ()
    return {GRID_FIGURES[grid.varies]: _grid_caption(grid) for grid in grids}


def _grid_caption(grid: ErrorGrid) -> str:
    reach = max((max(share.value - share.low, share.high - share.value) for share in _shares(grid)), default=1.0)
    has_own = any(row.is_own for row in grid.rows)
    return " ".join(
        [
            f"Fixed in all cells: {grid.fixed}; the same {count(grid.targets, 'target', 'targets')}."
            if grid.fixed
            else f"The same {count(grid.targets, 'target', 'targets')} in all cells.",
            f"The stronger the colour, the more people are identified. 95\xa0% intervals reach at most "
            f"{100 * reach:.0f} percentage points from the numbers.",
            "Bold: the error of this adversary. Frame: the adversary of the answer." if has_own else "",
        ]
    ).strip()


def _shares(grid: ErrorGrid) -> list[Estimate]:
    shares = [cell.identified for row in grid.rows for cell in row.cells]
    return [share for share in shares if math.isfinite(share.value + share.low + share.high)]


def _grid_description(grid: ErrorGrid) -> str:
    rows = "; ".join(
        f"{row.label}: {', '.join(estimate_text(cell.identified) for cell in row.cells)}" for row in grid.rows
    )
    facts = ", ".join(str(cell.facts) for cell in grid.rows[0].cells)
    return f"Identified people. Columns: {facts} known facts. {rows}."


ATTACK_TITLES = {"paper": "paper's attack", "likelihood": "Likelihood", "exact match": "exact matching"}


def common_threshold(findings: AuditFindings) -> ClaimThreshold | None:
    """The threshold of the strongest attacks of all adversaries; None if they differ."""
    thresholds = {
        ClaimThreshold(adversary.as_named.claims_by, adversary.as_named.threshold) for adversary in findings.adversaries
    }
    return thresholds.pop() if len(thresholds) == 1 else None


def threshold_text(measures: Measures) -> str:
    """The threshold that keeps to the budget; a posterior near 1 with enough digits to differ from 1."""
    threshold = measures.threshold_at_budget
    if measures.claims_by == "phi":
        return f"{threshold:.2f}"
    return next((text for digits in (3, 6, 9) if (text := f"{threshold:.{digits}f}") < "1"), "almost 1")


def attack_table(findings: AuditFindings) -> Table:
    """A row for each adversary: what each attack identifies, and how probable it says that is."""
    names = list(dict.fromkeys(attack.name for each in findings.adversaries for attack in each.attacks))
    names.sort(key=lambda name: (name != "paper", name != "likelihood", name == "exact match", name))
    heads = [head for name in names for head in (ATTACK_TITLES.get(name, name), "stated probability")]
    cells: list[Cells] = []
    for adversary in findings.adversaries:
        attacks = {attack.name: attack for attack in adversary.attacks}
        texts = [text for name in names for text in _cells(attacks.get(name))]
        cells.append((adversary.name, *texts))
    return Table(("adversary", *heads), cells)


def _cells(attack: AttackFindings | None) -> Cells:
    """The share identified with its interval, and the probability that the attack states."""
    if attack is None:
        return "–", "–"
    return with_interval(attack.as_named.identified), percent(attack.as_named.stated_probability)


MOST_TABLE_ROWS = 20
"""A table of a curve has at most this many rows."""
MOST_DESCRIBED_GROUPS = 40
IN_DATA, ABSENT = "in the data: right record claimed", "absent (control): a record claimed"
STRONGEST = "strongest of these"


class GroupKind(NamedTuple):
    """A way to divide targets into groups: its title, and a short name for the table."""

    title: str
    short: str


GROUP_KINDS = {
    "by_length": GroupKind("By number of entries of the record", "length"),
    "by_popularity": GroupKind("By popularity rank of the rarest known item", "popularity"),
    "by_first_date": GroupKind("By date of the first entry", "first date"),
}


def audit_figures(findings: AuditFindings) -> dict[str, Figure]:
    """The figures for which there are numbers, by name, in the order of the page."""
    figures = {name: figure_of(findings) for name, figure_of in FIGURES.items()}
    return {name: figure for name, figure in figures.items() if figure is not None}


def _success(findings: AuditFindings) -> Figure | None:
    main = findings.headline
    series = {adversary.name: _curve(adversary) for adversary in findings.adversaries if adversary.curve}
    if main is None or main.name not in series or max(map(len, series.values())) < 2:
        return None  # the answer already says a single number
    answer = Point("", main.as_named.facts, _finite(main.as_named.identified) or 0.0)
    ends = [f"{name}: {percent(curve[-1].y)} with {curve[-1].x:g}" for name, curve in series.items() if curve]
    return Figure(
        "Identified people, by number of known facts",
        f"Share of people who are identified, by number of known facts. {'; '.join(ends)}.",
        partial(_success_chart, series, main.name, answer, _envelope(findings), _dashed_from(findings)),
        _success_table(findings),
    )


def _success_chart(
    series: dict[str, list[Point]],
    main: str,
    answer: Point,
    envelope: list[Point],
    dashed_from: dict[str, float],
    width: int,
) -> Chart:
    label = percent(answer.y) + (f" with {count(int(answer.x), 'fact', 'facts')}" if width == WIDE else "")
    names = _distinct(list(series))
    renamed: dict[str, Sequence[Point]] = {names[name]: curve for name, curve in series.items()}
    marked = answer._replace(series=label)
    axis = Axis("known facts about a person")
    dashes = {names[name]: facts for name, facts in dashed_from.items()}
    return share_curves(renamed, names[main], "Identified people", axis, marked, width, envelope, dashes)


def _dashed_from(findings: AuditFindings) -> dict[str, float]:
    """The number of facts from which on a curve covers fewer people, by adversary."""
    ends = {}
    for adversary in findings.adversaries:
        before = [point.facts for point in adversary.curve if point.enough_for < adversary.curve[-1].enough_for]
        if before:
            ends[adversary.name] = float(before[-1])
    return ends


def _envelope(findings: AuditFindings) -> list[Point]:
    """The strongest adversary at each number of facts; empty if there is one adversary."""
    if len(findings.adversaries) < 2:
        return []
    points = [_point("", point.facts, point.identified) for point in findings.envelope]
    return [point for point in points if point is not None]


def _distinct(names: list[str]) -> dict[str, str]:
    """Names that are short enough for a chart and still differ."""
    short = {name: name if len(name) <= 20 else name[:19] + "…" for name in names}
    repeated = {label for label in short.values() if list(short.values()).count(label) > 1}
    return {
        name: f"{index + 1}: {label[:16]}" if label in repeated else label
        for index, (name, label) in enumerate(short.items())
    }


def _curve(adversary: AdversaryFindings) -> list[Point]:
    points = [_point(adversary.name, point.facts, point.identified) for point in adversary.curve]
    return [point for point in points if point is not None]


def _point(series: str, x: float, share: Estimate) -> Point | None:
    value = _finite(share)
    return None if value is None else Point(series, x, value, share.low, share.high)


def _success_table(findings: AuditFindings) -> Table:
    """A row for each number of facts, a column for each adversary with a curve and one for the strongest."""
    adversaries = [adversary for adversary in findings.adversaries if adversary.curve]
    strongest = {point.facts: point.identified for point in findings.envelope}
    sizes = sorted({*strongest, *(point.facts for adversary in adversaries for point in adversary.curve)})
    curves = [{point.facts: point.identified for point in adversary.curve} for adversary in adversaries]
    cells: list[Cells] = [
        (f"{facts:g}", *(with_interval(curve.get(facts)) for curve in (*curves, strongest))) for facts in sizes
    ]
    return Table(("known facts", *(adversary.name for adversary in adversaries), STRONGEST), cells)


def _adversaries(findings: AuditFindings) -> Figure | None:
    adversaries, main = findings.adversaries, findings.headline
    if len(adversaries) < 2 or main is None:
        return None
    titles = measure_titles(common_threshold(findings), findings.settings.budget, findings.settings.top)
    measures = ("identified", "correct_claims_at_budget")
    bars = [
        share_bar(titles[measure], adversary.title, getattr(adversary.as_named, measure), adversary.name == main.name)
        for measure in measures
        for adversary in adversaries
    ]
    shares = "; ".join(f"{each.title}: {estimate_text(each.as_named.identified)}" for each in adversaries)
    cells: list[Cells] = [
        (adversary.title, *(with_interval(getattr(adversary.as_named, measure)) for measure in measures))
        for adversary in adversaries
    ]
    table = Table(("adversary", *(titles[measure] for measure in measures)), cells)
    return Figure("What each adversary achieves", f"Identified people. {shares}.", partial(share_bars, bars), table)


def _control(findings: AuditFindings) -> Figure | None:
    """Claims about people in the data, and about the same people without their records, by adversary."""
    controls = [(adversary, adversary.control) for adversary in findings.adversaries if adversary.control]
    if not controls:
        return None
    bars, cells, shares = list[ShareBar](), list[Cells](), list[str]()
    for adversary, control in controls:
        bars += [
            share_bar(adversary.title, IN_DATA, control.main),
            share_bar(adversary.title, ABSENT, control.control, False),
        ]
        main, absent = with_interval(control.main), with_interval(control.control)
        shares.append(f"{adversary.name}: {main[0]} and {absent[0]}")
        residual = with_interval(control.residual)
        cells.append((adversary.name, main, absent, _difference(control.difference), residual))
    heads = "adversary", IN_DATA, ABSENT, "difference (percentage points)", "risk above the control"
    return Figure(
        "Claims about people in the data and about absent people",
        f"{IN_DATA} and {ABSENT}, by adversary. {'; '.join(shares)}.",
        partial(share_bars, bars),
        Table(heads, cells),
    )


def control_sentence(findings: AuditFindings) -> str:
    """The difference between the main and the control attack of the headline adversary; empty without one."""
    control = findings.headline.control if findings.headline else None
    if control is None or not math.isfinite(control.difference.value):
        return ""
    points, ends = _difference(control.difference)
    sentence = f"The difference is {points} percentage points (95\xa0% interval: {ends})."
    residual = control.residual
    if residual is None:
        return sentence
    return (
        f"{sentence} The risk above the control, as Anonymeter computes it, is {estimate_text(residual)} "
        f"({interval_text(residual)})."
    )


def _difference(difference: Estimate) -> tuple[str, str]:
    """A difference of two shares and its interval, in percentage points."""
    value, low, high = (f"{100 * end:+.1f}" for end in (difference.value, difference.low, difference.high))
    return value.replace("-", "−"), f"{low} to {high}".replace("-", "−")


def _facts_needed(findings: AuditFindings) -> Figure | None:
    needed = findings.exposure.facts_needed if findings.exposure else ()
    if len(needed) < 2 or not any(_finite(row.share) for row in needed):
        return None  # a sentence says it
    bars = [share_bar("", count(row.facts, "fact", "facts or fewer"), row.share) for row in needed]
    shares = "; ".join(f"{bar.label}: {percent(bar.value)}" for bar in bars)
    cells: list[Cells] = [
        (bar.label, percent(bar.value), interval_text(row.share)) for bar, row in zip(bars, needed, strict=True)
    ]
    return Figure(
        "How few facts are enough",
        f"Share of targets who are identified, by number of known facts. {shares}.",
        partial(share_bars, bars),
        Table(("known facts", "identified", "95 % interval"), cells),
    )


def _groups(findings: AuditFindings) -> Figure | None:
    """Only kinds of groups that differ by more than sampling error; for the others a sentence says so."""
    differing = {extremes.kind for extremes in group_extremes(findings) if extremes.differ}
    shown = [(kind, group) for kind, group in _all_groups(findings) if kind.title in differing]
    if not shown:
        return None
    bars = [share_bar(kind.title, group.label, group.identified) for kind, group in shown]
    shares = "; ".join(f"{bar.label}: {percent(bar.value)}" for bar in bars[:MOST_DESCRIBED_GROUPS])
    return Figure(
        "Who is identified",
        f"Share of targets who are identified. {shares}.",
        partial(share_bars, bars),
        group_table(findings),
    )


def group_table(findings: AuditFindings) -> Table:
    """All groups of all kinds."""
    cells: list[Cells] = [
        (
            group.label,
            kind.short,
            count(group.people),
            estimate_text(group.identified),
            interval_text(group.identified),
            count(group.identified.n),
        )
        for kind, group in _all_groups(findings)
    ]
    return Table(("group", "by", "people", "identified", "95 % interval", "targets"), cells)


def _all_groups(findings: AuditFindings) -> list[tuple[GroupKind, Group]]:
    return [(kind, group) for key, kind in GROUP_KINDS.items() for group in getattr(findings.exposure, key, ())]


class Extremes(NamedTuple):
    """The most and the least exposed group of one kind, and whether they differ beyond sampling error."""

    kind: str
    most: Group
    least: Group
    differ: bool


def group_extremes(findings: AuditFindings) -> list[Extremes]:
    """The most and the least exposed group of each kind."""
    results = []
    for key, kind in GROUP_KINDS.items():
        groups: Sequence[Group] = getattr(findings.exposure, key, ())
        ordered = sorted(groups, key=lambda group: group.identified.value)
        if len(ordered) > 1:
            most, least = ordered[-1], ordered[0]
            # they differ beyond sampling error if their intervals do not overlap
            results.append(Extremes(kind.title, most, least, most.identified.low > least.identified.high))
    return results


def _sparsity(findings: AuditFindings) -> Figure | None:
    curve = findings.theory.sparsity.curve if findings.theory else ()
    points = [point for step in curve if (point := _point("", step.epsilon, step.share)) is not None]
    if len(points) < 2:
        return None
    title = "Records with a neighbour at least this similar"
    axis = Axis("similarity of the nearest neighbour", 0, 1, form="~g")
    cells: list[Cells] = [
        (f"{step.epsilon:g}", estimate_text(step.share), interval_text(step.share))
        for step in curve[:: -(-len(curve) // MOST_TABLE_ROWS)]
    ]
    first, last = points[0], points[-1]
    return Figure(
        "How isolated records are",
        f"{title}: {percent(first.y)} at {first.x:g}, {percent(last.y)} at {last.x:g}.",
        lambda width: share_curves({"": points}, "", title, axis, width=width),
        Table(("similarity", "share of records", "95 % interval"), cells),
    )


def _classes(findings: AuditFindings) -> Figure | None:
    identity = findings.classes
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


def _column_sets(findings: AuditFindings) -> Figure | None:
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


def _finite(share: Estimate) -> float | None:
    return share.value if math.isfinite(share.value) else None


FIGURES: dict[str, Callable[[AuditFindings], Figure | None]] = {
    "success": _success,
    "adversaries": _adversaries,
    "control": _control,
    "date-error": partial(error_grid_figure, "time_error"),
    "value-error": partial(error_grid_figure, "value_error"),
    "facts-needed": _facts_needed,
    "groups": _groups,
    "classes": _classes,
    "column-sets": _column_sets,
    "sparsity": _sparsity,
}
"""All figures by the name of their file."""
