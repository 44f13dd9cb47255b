"""Results in notebooks: HTML without scripts, and Altair charts. `core.result_views` calls this module.

The chart is an image in the page (a data URL), because notebooks that are not trusted show neither style
sheets nor inline SVG, and because the ids in two inline SVGs would collide.
"""

import base64
import math
from collections.abc import Callable, Sequence
from functools import partial, singledispatch
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.verdict import PosteriorVerdict, Verdict
from standout.core.text import count, decimal, estimate_line, interval_text, percent, printable_texts, shorten
from standout.data.release import Release
from standout.evaluate.compare import Comparison
from standout.evaluate.estimates import Estimate
from standout.evaluate.lineup import LineupAnswer, probability_text
from standout.evaluate.simulation import Simulation
from standout.findings.audit import AuditFindings, measure_titles
from standout.findings.link_and_advise import AdviceFindings, LinkFindings
from standout.measure.sparsity import Sparsity
from standout.measure.unicity import Unicity, UnicityCell, UnicityGrid
from standout.report.audit_charts import FIGURES, adversaries_table, sparsity_figure
from standout.report.charts import (
    ACCENT,
    GREY,
    WIDE,
    Axis,
    Cells,
    Chart,
    DrawingError,
    Figure,
    Table,
    draw_figure,
    points_cell,
    share_point,
    with_interval,
)
from standout.report.page import render_page, render_part, template_text
from standout.report.pages import advice_figure, candidates_table, link_figures
from standout.report.share_charts import Bar, bar_chart, bars_figure, curves, share_bar

if TYPE_CHECKING:
    import altair as alt

PADDING = {"left": 40, "top": 8, "right": 40, "bottom": 8}
"""Space around a picture: an image cuts labels off that are wider in the reader's font than in ours."""
LONGEST = 300
"""Longer texts of a cell are cut."""


class View(NamedTuple):
    """What a notebook shows of a result. Remarks say why numbers may not be relied on, or how to see more."""

    headline: str
    figure: Figure
    remarks: tuple[str, ...] = ()


@singledispatch
def view_of(result: Any) -> View:
    """What a notebook shows of a result. No id and no cell is shown."""
    raise TypeError(f"there is no view of {type(result).__name__}")


def altair_chart(result: Any) -> "alt.TopLevelMixin":
    """The chart of a result."""
    return view_of(result).figure.draw(WIDE).altair()


def notebook_html(result: Any) -> str:
    """A headline, remarks, a small table and a chart. All texts are escaped and printable."""
    view = view_of(result)
    figure, table = view.figure, view.figure.table
    chart = figure.draw(WIDE)
    chart.spec["config"] |= {"padding": PADDING}
    try:
        svg = chart.svg(figure.title, figure.description)
        picture = "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
    except DrawingError:
        picture = ""
    pairs = [[(cell, "") if isinstance(cell, str) else cell for cell in row] for row in table.rows]
    return render_part(
        template_text("notebook.html"),
        headline=view.headline,
        remarks=view.remarks,
        heads=table.heads,
        rows=[[(shorten(text, LONGEST), ends) for text, ends in row] for row in pairs],
        title=figure.title,
        description=printable_texts(shorten(figure.description, LONGEST)),
        picture=picture,
    )


MOST_BINS, MOST_COLUMNS, MOST_ROWS, MOST_CELLS = 12, 20, 12, 24


@view_of.register
def release_view(release: Release) -> View:
    """Sizes of a release, and how many people have few entries or many; of a table, its columns."""
    if release.columns:
        return _table_view(release)
    times = release.time_range
    rows: list[Cells] = [
        ("People (records)", count(release.n_records)),
        ("Items", count(release.n_items)),
        ("Entries", count(release.n_entries)),
        ("Different values", count(release.n_levels) if release.n_levels else "no values"),
        ("Dates", "no times" if times is None else f"{times[0]} to {times[1]}"),
    ]
    if release.n_records:
        rows.append(("Entries of the median person", f"{np.median(release.lengths):,.0f}"))
    if release.n_items:
        rows.append(("People who have the median item", f"{np.median(release.support):,.0f}"))
    text, bars = "Share of people by the number of their entries.", _length_bars(release.lengths)
    figure = bars_figure("People, by number of entries", text, bars, ("", "number"), rows)
    entries, people = (count(release.n_entries, "entry", "entries"), count(release.n_records, "person", "people"))
    return View(f"{entries} of {people} about {count(release.n_items, 'item', 'items')}", figure)


def _length_bars(lengths: NDArray[np.int64]) -> list[Bar]:
    """Shares of people in bins of their number of entries that grow by the same factor."""
    most, edges, factor = int(lengths.max(initial=0)), [0, 1], 2
    while factor**MOST_BINS <= most:
        factor *= 2
    while edges[-1] <= most:
        edges.append(edges[-1] * factor)
    counts = np.histogram(lengths, np.array(edges))[0]
    used, bins, total = np.flatnonzero(counts), list(pairwise(edges)), max(len(lengths), 1)
    shown = range(used[0], used[-1] + 1) if len(used) else range(1)
    labels = [
        count(low, "entry", "entries") if end - low == 1 else f"{low:,} to {end - 1:,} entries" for low, end in bins
    ]
    return [Bar("", labels[i], counts[i] / total) for i in shown]


def _table_view(table: Release) -> View:
    """The columns of a table, and how many rows each of them singles out alone."""
    columns = table.columns[:MOST_COLUMNS]
    # of sets, the members are counted
    single = [int(np.count_nonzero(each.counts[: each.missing] == 1)) / max(each.n_rows, 1) for each in columns]
    unique = [share if each.starts is None else None for each, share in zip(columns, single, strict=True)]
    bars = [Bar("", column.name, share) for column, share in zip(columns, unique, strict=True)]
    rows: list[Cells] = [
        (each.name, each.kind, each.role, count(each.n_levels), count(int(each.counts[each.missing])), share)
        for each, share in zip(columns, map(percent, unique), strict=True)
    ]
    heads = ("column", "kind", "role", "different values", "empty cells", "singles out")
    text = "Share of rows whose value in this column no other row has."
    figure = bars_figure("Rows that one column singles out", text, bars, heads, rows)
    more = table.n_columns - MOST_COLUMNS
    remarks = [f"The first {MOST_COLUMNS} columns; there are {more:,} more."] if more > 0 else []
    if table.n_items:
        remarks.append(f"With a history of {count(table.n_entries, 'entry', 'entries')}.")
    rows_text = count(table.n_records, "row", "rows")
    return View(f"{rows_text} × {count(table.n_columns, 'column', 'columns')}", figure, tuple(remarks))


@view_of.register
def audit_view(findings: AuditFindings) -> View:
    """The answer, and what each adversary achieves."""
    findings = printable_texts(findings)
    table = adversaries_table(findings)
    bars = [share_bar("", each.title, each.as_named.identified) for each in findings.adversaries]
    adversaries = bars_figure("What each adversary achieves", "Identified people.", bars, *table)
    figure = FIGURES["success"](findings) or adversaries
    remarks = []
    if not findings.trust.trusted:
        remarks.append("The audit failed its own checks: do not trust its numbers.")
    if not findings.complete:
        remarks.append("The audit was interrupted.")
    rate = findings.answer.rate
    if interval := interval_text(rate):
        remarks.append(f"95 % interval: {interval}, from {count(rate.n, 'target', 'targets')}.")
    if findings.threshold.exceeded is not None:
        remarks.append(findings.threshold.explanation)
    return View(findings.answer.sentence, figure._replace(table=table), tuple(remarks))


@view_of.register
def links_view(findings: LinkFindings) -> View:
    """What was claimed, and what the claims are worth."""
    figures = link_figures(findings)
    figure = figures.get(findings.settings.by) or next(iter(figures.values()), None)
    claimed = Bar("", "profiles with a claim", findings.claims / max(findings.profiles, 1))
    figure = figure or Figure("Claims", "", partial(bar_chart, [claimed]), Table((), ()))
    false = findings.likely_false_claims
    rows: list[Cells] = [
        ("Profiles", count(findings.profiles)),
        ("Profiles with items of the release", count(findings.profiles_with_facts)),
        ("Claims", count(findings.claims)),
        ("Claims that are likely false", "no decoys" if false is None else decimal(false)),
    ]
    if findings.truth is not None:
        truth = findings.truth
        rows += [
            ("Precision: claims that are correct", with_interval(truth.precision)),
            ("Recall: people of the release who are claimed correctly", with_interval(truth.recall)),
            ("Absent people who are claimed", with_interval(truth.absent_claims)),
        ]
    remarks = () if findings.complete else ("Linking was interrupted.",)
    headline = f"{count(findings.claims, 'claim', 'claims')} for {count(findings.profiles, 'profile', 'profiles')}"
    return View(headline, figure._replace(table=Table(("", "number"), rows)), (*remarks, findings.summary))


@view_of.register
def advice_view(advice: AdviceFindings) -> View:
    """The recommendation, and the candidates of the frontier."""
    advice = printable_texts(advice)
    table = candidates_table(advice.rows, numbered=True)
    short = Table(table.heads[:4], [row[:4] for row in table.rows[:MOST_ROWS]])
    best = advice.recommended
    nothing = f"Nothing is recommended: no candidate is proven to meet the limit of {percent(advice.limit)}"
    headline = f"Recommended: {best.name}" if best else nothing
    remarks = [] if advice.complete else ["The search was interrupted."]
    more = len(table.rows) - MOST_ROWS
    if more > 0:
        remarks.append(f"The first {MOST_ROWS} candidates of the frontier; there are {more} more.")
    return View(headline, advice_figure(advice)._replace(table=short), (*remarks, advice.summary))


def unicity_chart(cells: Sequence[UnicityCell], width: int = WIDE) -> Chart:
    """Share of people singled out, by number of known points: a panel for each bin of time, a curve for each grid."""
    panels = {each.time_bin: f"time by {each.time_bin}" if each.time_bin else "times unknown" for each in cells}
    points = [share_point(cell.places, cell.points, cell.share, panels[cell.time_bin]) for cell in cells]
    sizes = [cell.points for cell in cells]
    x = Axis("known points", min(sizes), max(*sizes, min(sizes) + 1), form="d")
    return curves(points, x, Axis("singled out", 0, 1, form=".0%"), width=width)


def unicity_figure(cells: Sequence[UnicityCell], most_rows: int | None = None) -> Figure:
    """The chart with its numbers."""
    rows: list[Cells] = [
        (each.places, each.time_bin or "unknown", *map(count, (each.points, each.share.n, each.too_few_points)), share)
        for each in cells[:most_rows]
        for share in [with_interval(each.share)]
    ]
    most = max(cells, key=lambda cell: cell.share.value)
    return Figure(
        "People who are singled out, by number of known points",
        f"At most {estimate_line(most.share)}.",
        partial(unicity_chart, cells),
        Table(("places", "times", "known points", "targets", "too few points", "singled out"), rows),
    )


def unicity_page(cells: Sequence[UnicityCell]) -> str:
    """HTML page with the chart and its numbers."""
    drawing = draw_figure(unicity_figure(cells))
    return render_page(template_text("unicity.html"), template_text("audit.css"), drawing=drawing)


SHOWN = 5
"""Number of records of a lineup."""
NAMES = "Records have no ids here, because notebooks are saved and shared: lineup() names them."
SIMILARITIES = tuple(step / 50 for step in range(51))


@view_of.register
def verdict_view(verdict: Verdict) -> View:
    """The probabilities of the best records."""
    return _lineup(_verdict_headline(verdict), verdict)


@view_of.register
def lineup_view(answer: LineupAnswer) -> View:
    """The conclusion, and the probabilities of the best records."""
    return _lineup(answer.conclude("candidate 1"), answer.verdict, answer.assumption)


def _verdict_headline(verdict: Verdict) -> str:
    if not verdict.candidates:
        return "No record fits the length and the first date"
    candidates = count(verdict.candidates, "candidate", "candidates")
    if verdict.ties > 1:
        return f"{candidates}; {verdict.ties:,} tie for the best score"
    if isinstance(verdict, PosteriorVerdict):
        nobody = probability_text(verdict.nobody)
        best = probability_text(verdict.lineup(1)[0].probability) if len(verdict.lineup(1)) else "0 %"
        return f"{candidates}; the best has a probability of {best}, nobody in the data one of {nobody}"
    return f"{candidates}; the best stands out by {verdict.eccentricity:.1f} standard deviations"


def _lineup(headline: str, verdict: Verdict, *remarks: str) -> View:
    lineup = verdict.lineup(SHOWN)
    nobody = verdict.nobody if isinstance(verdict, PosteriorVerdict) else None
    rows: list[tuple[str, float, str]] = [
        (f"candidate {rank}", candidate.probability, f"{candidate.score:.3g}")
        for rank, candidate in enumerate(lineup, 1)
    ]
    others = verdict.candidates - len(lineup)
    if others:
        label = f"somebody else ({count(others, 'record', 'records')})"
        rows.append((label, max(lineup.outside - (nobody or 0.0), 0.0), ""))
    if nobody is not None:
        rows.append(("nobody in the data", nobody, ""))
    bars = [Bar("", label, share, colour=ACCENT if label.startswith("candidate") else GREY) for label, share, _ in rows]
    cells: list[Cells] = [(label, probability_text(share), score) for label, share, score in rows]
    title, heads = "Probability that the record is the target's", ("", "probability", "score")
    figure = bars_figure(title, "Probabilities.", bars, heads, cells)
    return View(headline, figure, (*filter(None, remarks), NAMES))


@view_of.register
def simulation_view(simulation: Simulation) -> View:
    """The share of targets identified by each adversary, with each number of facts."""
    titles = measure_titles(simulation.threshold, simulation.budget, simulation.criteria.top)
    cells, remarks = simulation.cells[:MOST_CELLS], []
    if not simulation.complete:
        remarks.append("Interrupted: the numbers are about the targets attacked so far.")
    if len(simulation.cells) > MOST_CELLS:
        remarks.append(f"The first {MOST_CELLS} of {len(simulation.cells):,} cells; `table` has all of them.")
    heads = ("adversary", "known facts", titles["identified"], titles["correct_claims"])
    rows = list[Cells]()
    for cell in cells:
        measured = {(measure, setting): estimate for measure, setting, estimate in simulation.measurements(cell)}
        shares = with_interval(cell.identified), with_interval(measured["correct_claims", simulation.threshold.setting])
        bits = decimal(measured["bits_left", ""].value)
        rows.append((cell.adversary, f"{cell.facts:,}", *shares, bits, count(len(cell.outcomes))))
    points = [(cell.adversary, cell.facts, cell.identified) for cell in cells]
    figure = _by_facts("Identified people", points, Table((*heads, titles["bits_left"], "targets"), rows))
    rates = sorted((cell.identified for cell in simulation.cells), key=lambda rate: rate.value)
    shown = list(dict.fromkeys(map(estimate_line, (rates[0], rates[-1])))) if rates else []
    headline = f"{' to '.join(shown)} of the targets are identified" if shown else "No target was attacked"
    return View(headline, figure, tuple(remarks))


@view_of.register
def comparison_view(comparison: Comparison) -> View:
    """The share of targets identified by each attack, with the difference from the baseline."""
    rows, bars = list[Cells](), list[Bar]()
    for row in comparison.rows[:MOST_CELLS]:
        is_other = row.attack != comparison.baseline
        difference = points_cell(row.difference) if is_other else ""
        rows.append((row.attack, row.adversary, f"{row.facts:,}", with_interval(row.identified), difference))
        facts = count(row.facts, "fact", "facts")
        bars.append(share_bar(f"{row.adversary}; {facts}", row.attack, row.identified, is_other))
    heads = ("attack", "adversary", "known facts", "identified", f"points more than {comparison.baseline}")
    figure = bars_figure("Identified people, by attack", "Share of targets identified.", bars, heads, rows)
    attacks = count(len({row.attack for row in comparison.rows}), "attack", "attacks")
    return View(f"{attacks} on the same targets, compared with {comparison.baseline}", figure)


@view_of.register
def sparsity_view(sparsity: Sparsity) -> View:
    """How many records have a similar neighbour."""
    half, figure = sparsity.survival(0.5), sparsity_figure([(x, sparsity.survival(x)) for x in SIMILARITIES], 5)
    assert figure is not None
    whom = f"{len(sparsity.records):,} of {count(sparsity.total, 'record', 'records')} examined."
    share = percent(half.value) if sparsity.complete else estimate_line(half)
    return View(f"{share} of the records have a neighbour with similarity 0.5 or more", figure, (whom,))


@view_of.register
def unicity_view(unicity: Unicity) -> View:
    """The share of records that some entries single out."""
    label, share = count(unicity.k, "entry", "entries"), unicity.share
    headline = f"{count(unicity.k, 'entry singles', 'entries single')} out {estimate_line(share)} of the people"
    table = Table(("known entries", "singled out", "targets"), [(label, with_interval(share), count(share.n))])
    draw = partial(bar_chart, [share_bar("", label, share)])
    return View(headline, Figure("People who are singled out", f"{headline}.", draw, table))


@view_of.register
def unicity_grid_view(grid: UnicityGrid) -> View:
    """The share of people singled out, by resolution and number of points."""
    most = max(grid.cells, key=lambda cell: cell.share.value)
    points = count(most.points, "point singles", "points single")
    return View(f"{points} out up to {estimate_line(most.share)} of the people", unicity_figure(grid.cells, MOST_CELLS))


def _by_facts(title: str, measured: Sequence[tuple[str, int, Estimate]], table: Table) -> Figure:
    """Curves by number of facts; bars if each adversary has a single number of facts."""
    finite = [(name, facts, share) for name, facts, share in measured if math.isfinite(share.value)]
    points = [share_point(name, facts, share) for name, facts, share in finite]
    last = {point.series: point for point in points}
    ends = "; ".join(f"{name}: {percent(point.y)}" for name, point in last.items())
    draw: Callable[[int], Chart]
    if len(points) > len(last):
        main = max(last, key=lambda name: last[name].y)
        draw = partial(curves, points, Axis("known facts about a person"), title, [main])
    else:
        bars = [share_bar("", f"{name}; {count(facts, 'fact', 'facts')}", share) for name, facts, share in finite]
        draw = partial(bar_chart, bars)
    return Figure(f"{title}, by adversary", f"{title}. {ends}.", draw, table)
