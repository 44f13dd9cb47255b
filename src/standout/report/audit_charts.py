"""The charts of an audit report, each with a title, a description and its numbers as a table."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import NamedTuple

from standout.core.text import count, estimate_text, interval_text, percent
from standout.evaluate.claims import ClaimThreshold
from standout.evaluate.estimates import Estimate
from standout.findings.audit import AuditFindings, measure_titles
from standout.findings.sections import AttackFindings, ClassSize, Group, Measures
from standout.report.charts import (
    ACCENT,
    GREY,
    WIDE,
    Axis,
    Cells,
    Chart,
    Figure,
    Point,
    Table,
    points_cell,
    share_point,
    with_interval,
)
from standout.report.share_charts import Bar, HeatRow, bar_chart, bars_figure, curves, heat_map, share_bar

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
    described = [f"{row.label}: {', '.join(estimate_text(cell.identified) for cell in row.cells)}" for row in grid.rows]
    titles = "known facts about a person", GRID_ROWS[grid.varies]
    table: list[Cells] = [(row.label, *(with_interval(cell.identified) for cell in row.cells)) for row in grid.rows]
    return Figure(
        f"Identified people, by known facts and {GRID_ROWS[grid.varies]}",
        f"Identified people. Columns: {', '.join(columns)} known facts. {'; '.join(described)}.",
        lambda width: heat_map(rows, columns, *titles, width),
        Table((GRID_ROWS[grid.varies], *(count(int(facts), "fact", "facts") for facts in columns)), table),
    )


def grid_captions(findings: AuditFindings) -> dict[str, str]:
    """What is fixed in each grid, and how accurate its cells are, by name of the figure."""
    captions = {}
    for grid in findings.error_grids.grids if findings.error_grids else ():
        shares = [cell.identified for row in grid.rows for cell in row.cells]
        reaches = [max(share.value - share.low, share.high - share.value) for share in shares]
        reach = max(filter(math.isfinite, reaches), default=1.0)
        targets = f"same {count(grid.targets, 'target', 'targets')}"
        caption = f"Fixed in all cells: {grid.fixed}; the {targets}." if grid.fixed else f"The {targets} in all cells."
        caption += " The stronger the colour, the more people are identified. 95\xa0% intervals reach at most "
        caption += f"{100 * reach:.0f} percentage points from the numbers."
        if any(row.is_own for row in grid.rows):
            caption += " Bold: the error of this adversary. Frame: the adversary of the answer."
        captions[GRID_FIGURES[grid.varies]] = caption
    return captions


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
IN_DATA, ABSENT = "in the data: right record claimed", "absent (control): a record claimed"
STRONGEST = "strongest of these"
SHOWN_MEASURES = "identified", "correct_claims_at_budget"


GROUP_KINDS = {
    "by_length": ("By number of entries of the record", "length"),
    "by_popularity": ("By popularity rank of the rarest known item", "popularity"),
    "by_first_date": ("By date of the first entry", "first date"),
}
"""Ways to divide targets into groups: a title, and a short name for the table."""


def audit_figures(findings: AuditFindings) -> dict[str, Figure]:
    """The figures for which there are numbers, by name, in the order of the page."""
    figures = {name: figure_of(findings) for name, figure_of in FIGURES.items()}
    return {name: figure for name, figure in figures.items() if figure is not None}


def _success(findings: AuditFindings) -> Figure | None:
    main, adversaries = findings.headline, [adversary for adversary in findings.adversaries if adversary.curve]
    names = _distinct([adversary.name for adversary in adversaries])
    points = [
        share_point(names[adversary.name], point.facts, point.identified)
        for adversary in adversaries
        for point in adversary.curve
        if math.isfinite(point.identified.value)
    ]
    last = {point.series: point for point in points}
    if main is None or main.name not in names or len(points) <= len(last):
        return None  # the answer already says a single number
    strongest = findings.envelope if len(findings.adversaries) > 1 else ()
    envelope = [
        Point("", point.facts, value) for point in strongest if (value := _finite(point.identified)) is not None
    ]
    dashed = {}  # from the last number of facts on for which more people have enough entries than at the end
    for adversary in adversaries:
        before = [point.facts for point in adversary.curve if point.enough_for < adversary.curve[-1].enough_for]
        if before:
            dashed[names[adversary.name]] = float(before[-1])
    facts, rate = main.as_named.facts, _finite(main.as_named.identified) or 0.0

    def draw(width: int) -> Chart:
        label = percent(rate) + (f" with {count(facts, 'fact', 'facts')}" if width == WIDE else "")
        axis, marked = Axis("known facts about a person"), Point(label, facts, rate)
        return curves(points, axis, "Identified people", [names[main.name]], width, marked, envelope, dashed)

    ends = [
        f"{name}: {percent(last[names[name]].y)} with {last[names[name]].x:g}" for name in names if names[name] in last
    ]
    return Figure(
        "Identified people, by number of known facts",
        f"Share of people who are identified, by number of known facts. {'; '.join(ends)}.",
        draw,
        _success_table(findings),
    )


def _distinct(names: list[str]) -> dict[str, str]:
    """Names that are short enough for a chart and still differ."""
    short = [name if len(name) <= 20 else name[:19] + "…" for name in names]
    labels = (f"{number}: {label[:16]}" if short.count(label) > 1 else label for number, label in enumerate(short, 1))
    return dict(zip(names, labels, strict=True))


def _success_table(findings: AuditFindings) -> Table:
    """A row for each number of facts, a column for each adversary with a curve and one for the strongest."""
    adversaries = [adversary for adversary in findings.adversaries if adversary.curve]
    strongest = {point.facts: point.identified for point in findings.envelope}
    sizes = sorted({*strongest, *(point.facts for adversary in adversaries for point in adversary.curve)})
    rates = [{point.facts: point.identified for point in adversary.curve} for adversary in adversaries]
    cells: list[Cells] = [
        (f"{facts:g}", *(with_interval(curve.get(facts)) for curve in (*rates, strongest))) for facts in sizes
    ]
    return Table(("known facts", *(adversary.name for adversary in adversaries), STRONGEST), cells)


def _adversaries(findings: AuditFindings) -> Figure | None:
    adversaries, main = findings.adversaries, findings.headline
    if len(adversaries) < 2 or main is None:
        return None
    table = adversaries_table(findings)
    bars = [
        share_bar(title, adversary.title, getattr(adversary.as_named, measure), adversary.name == main.name)
        for title, measure in zip(table.heads[2:], SHOWN_MEASURES, strict=True)
        for adversary in adversaries
    ]
    shares = "; ".join(f"{each.title}: {estimate_text(each.as_named.identified)}" for each in adversaries)
    text = f"Identified people. {shares}."
    return Figure("What each adversary achieves", text, partial(bar_chart, bars), table)


def adversaries_table(findings: AuditFindings) -> Table:
    """What each adversary knows and achieves."""
    titles = measure_titles(common_threshold(findings), findings.settings.budget, findings.settings.top)
    shown = attrgetter(*SHOWN_MEASURES)
    cells: list[Cells] = [
        (each.title, f"{each.as_named.facts:,}", *map(with_interval, shown(each.as_named)))
        for each in findings.adversaries
    ]
    return Table(("adversary", "known facts", *(titles[name] for name in SHOWN_MEASURES)), cells)


def _control(findings: AuditFindings) -> Figure | None:
    """Claims about people in the data, and about the same people without their records, by adversary."""
    controls = [(adversary, adversary.control) for adversary in findings.adversaries if adversary.control]
    if not controls:
        return None
    bars, cells, shares = list[Bar](), list[Cells](), list[str]()
    for adversary, control in controls:
        bars += [
            share_bar(adversary.title, IN_DATA, control.main),
            share_bar(adversary.title, ABSENT, control.control, False),
        ]
        main, absent = with_interval(control.main), with_interval(control.control)
        shares.append(f"{adversary.name}: {main[0]} and {absent[0]}")
        residual = with_interval(control.residual)
        cells.append((adversary.name, main, absent, points_cell(control.difference), residual))
    heads = "adversary", IN_DATA, ABSENT, "difference (percentage points)", "risk above the control"
    return Figure(
        "Claims about people in the data and about absent people",
        f"{IN_DATA} and {ABSENT}, by adversary. {'; '.join(shares)}.",
        partial(bar_chart, bars),
        Table(heads, cells),
    )


def control_sentence(findings: AuditFindings) -> str:
    """The difference between the main and the control attack of the headline adversary; empty without one."""
    control = findings.headline.control if findings.headline else None
    if control is None or not math.isfinite(control.difference.value):
        return ""
    points, ends = points_cell(control.difference)
    sentence = f"The difference is {points} percentage points (95\xa0% interval: {ends})."
    residual = control.residual
    if residual is None:
        return sentence
    return (
        f"{sentence} The risk above the control, as Anonymeter computes it, is {estimate_text(residual)} "
        f"({interval_text(residual)})."
    )


def _facts_needed(findings: AuditFindings) -> Figure | None:
    needed = findings.exposure.facts_needed if findings.exposure else ()
    if len(needed) < 2 or not any(_finite(row.share) for row in needed):
        return None  # a sentence says it
    bars = [share_bar("", count(row.facts, "fact", "facts or fewer"), row.share) for row in needed]
    cells = [(bar.label, percent(bar.value), interval_text(row.share)) for bar, row in zip(bars, needed, strict=True)]
    text, heads = "Share of targets who are identified, by number of known facts.", ("identified", "95 % interval")
    return bars_figure("How few facts are enough", text, bars, ("known facts", *heads), cells)


def _groups(findings: AuditFindings) -> Figure | None:
    """Only kinds of groups that differ by more than sampling error; for the others a sentence says so."""
    differing = {extremes.kind for extremes in group_extremes(findings) if extremes.differ}
    bars = [
        share_bar(title, group.label, group.identified)
        for title, _, group in _all_groups(findings)
        if title in differing
    ]
    if not bars:
        return None
    return bars_figure("Who is identified", "Share of targets who are identified.", bars, *group_table(findings))


def group_table(findings: AuditFindings) -> Table:
    """All groups of all kinds."""
    cells: list[Cells] = [
        (group.label, by, count(group.people), *with_interval(group.identified), count(group.identified.n))
        for _, by, group in _all_groups(findings)
    ]
    return Table(("group", "by", "people", "identified", "95 % interval", "targets"), cells)


def _all_groups(findings: AuditFindings) -> list[tuple[str, str, Group]]:
    return [(*kind, group) for key, kind in GROUP_KINDS.items() for group in getattr(findings.exposure, key, ())]


class Extremes(NamedTuple):
    """The most and the least exposed group of one kind, and whether they differ beyond sampling error."""

    kind: str
    most: Group
    least: Group
    differ: bool


def group_extremes(findings: AuditFindings) -> list[Extremes]:
    """The most and the least exposed group of each kind."""
    results = []
    for key, (title, _) in GROUP_KINDS.items():
        groups: Sequence[Group] = getattr(findings.exposure, key, ())
        ordered = sorted(groups, key=lambda group: group.identified.value)
        if len(ordered) > 1:
            most, least = ordered[-1], ordered[0]
            # they differ beyond sampling error if their intervals do not overlap
            results.append(Extremes(title, most, least, most.identified.low > least.identified.high))
    return results


def _sparsity(findings: AuditFindings) -> Figure | None:
    curve = [(step.epsilon, step.share) for step in findings.theory.sparsity.curve] if findings.theory else []
    return sparsity_figure(curve, -(-len(curve) // MOST_TABLE_ROWS))


def sparsity_figure(curve: Sequence[tuple[float, Estimate]], every: int) -> Figure | None:
    """Shares of records with a neighbour of at least each similarity; the table has every n-th of them."""
    points = [share_point("", similarity, share) for similarity, share in curve if math.isfinite(share.value)]
    if len(points) < 2:
        return None
    title = "Records with a neighbour at least this similar"
    axis = Axis("similarity of the nearest neighbour", 0, 1, form="~g")
    cells: list[Cells] = [(f"{similarity:g}", *with_interval(share)) for similarity, share in curve[::every]]
    first, last = points[0], points[-1]
    return Figure(
        "How isolated records are",
        f"{title}: {percent(first.y)} at {first.x:g}, {percent(last.y)} at {last.x:g}.",
        lambda width: curves(points, axis, title, width=width),
        Table(("similarity", "share of records", "95 % interval"), cells),
    )


def _classes(findings: AuditFindings) -> Figure | None:
    identity = findings.classes
    if identity is None:
        return None
    total = sum(band.rows for band in identity.sizes)
    bars = [
        Bar("", _band(band), band.rows / total, colour=ACCENT if band.low == 1 else GREY) for band in identity.sizes
    ]
    cells = [(bar.label, count(band.rows), percent(bar.value)) for bar, band in zip(bars, identity.sizes, strict=True)]
    text = "Share of rows by the number of rows that have the same quasi-identifiers."
    heads = ("rows with the same values", "rows", "share")
    return bars_figure("Rows with equal quasi-identifiers", text, bars, heads, cells)


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
    bars = [Bar("", " + ".join(found.columns), found.unique) for found in sets]
    searches = ("none is better" if found.exhaustive else "best found" for found in sets)
    cells = [
        (bar.label, percent(bar.value), search, count(found.tried))
        for bar, search, found in zip(bars, searches, sets, strict=True)
    ]
    title = "The smallest sets of columns that single out most people"
    text = "Share of rows that no other row equals in these columns."
    return bars_figure(title, text, bars, ("columns", "unique rows", "search", "sets counted"), cells)


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
