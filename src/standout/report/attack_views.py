"""Attacks and what they are measured by, in notebooks. No record is named."""

import math
from collections.abc import Callable, Sequence
from functools import partial

from standout.attack.posterior_verdict import PosteriorVerdict
from standout.attack.verdict import Verdict
from standout.core.formatting import count, decimal, estimate_line, percent
from standout.evaluate.cell import SimulationCell
from standout.evaluate.comparison import Comparison
from standout.evaluate.estimates import Estimate
from standout.evaluate.lineup_answer import LineupAnswer, probability_text
from standout.evaluate.simulation import Simulation
from standout.findings.measure_titles import measure_titles
from standout.report.charts import Axis, Chart, Point
from standout.report.figures import Cells, Figure, Table
from standout.report.interval_charts import ShareBar, share_bars, share_curves
from standout.report.unicity_chart import unicity_chart
from standout.report.view import View, share_bar, share_cell
from standout.theory.sparsity import Sparsity
from standout.theory.unicity import Unicity
from standout.theory.unicity_grid import UnicityGrid

__all__ = [
    "comparison_view",
    "lineup_view",
    "simulation_view",
    "sparsity_view",
    "unicity_grid_view",
    "unicity_view",
    "verdict_view",
]

SHOWN = 5
"""Number of records of a lineup."""
MOST_CELLS = 24
NAMES = "Records have no ids here, because notebooks are saved and shared: lineup() names them."
SIMILARITIES = tuple(step / 50 for step in range(51))


def verdict_view(verdict: Verdict) -> View:
    """The probabilities of the best records."""
    return _lineup(_verdict_headline(verdict), verdict)


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
    bars = [ShareBar("", label, share, main=label.startswith("candidate")) for label, share, _ in rows] or [
        ShareBar("", "no candidate", 0.0)
    ]
    cells: list[Cells] = [(label, probability_text(share), score) for label, share, score in rows]
    shares = "; ".join(f"{label}: {percent(share)}" for label, share, _ in rows)
    figure = Figure(
        "Probability that the record is the target's",
        f"Probabilities. {shares}.",
        partial(share_bars, bars),
        Table(("", "probability", "score"), cells),
    )
    return View(headline, figure, (*filter(None, remarks), NAMES))


def simulation_view(simulation: Simulation) -> View:
    """The share of targets identified by each adversary, with each number of facts."""
    titles = measure_titles(simulation.threshold, simulation.budget, simulation.criteria.top)
    cells, remarks = simulation.cells[:MOST_CELLS], []
    if not simulation.complete:
        remarks.append("Interrupted: the numbers are about the targets attacked so far.")
    if len(simulation.cells) > MOST_CELLS:
        remarks.append(f"The first {MOST_CELLS} of {len(simulation.cells):,} cells; `table` has all of them.")
    heads = ("adversary", "known facts", titles["identified"], titles["correct_claims"])
    rows = [_cell_row(simulation, cell) for cell in cells]
    points = [(cell.adversary, cell.facts, cell.identified) for cell in cells]
    figure = _by_facts("Identified people", points, Table((*heads, titles["bits_left"], "targets"), rows))
    rates = sorted((cell.identified for cell in simulation.cells), key=lambda rate: rate.value)
    shown = list(dict.fromkeys(map(estimate_line, (rates[0], rates[-1])))) if rates else []
    headline = f"{' to '.join(shown)} of the targets are identified" if shown else "No target was attacked"
    return View(headline, figure, tuple(remarks))


def _cell_row(simulation: Simulation, cell: SimulationCell) -> Cells:
    measured = {(measure, setting): estimate for measure, setting, estimate in simulation.measurements(cell)}
    claims = measured["correct_claims", simulation.threshold.setting]
    bits = decimal(measured["bits_left", ""].value)
    shares = share_cell(cell.identified), share_cell(claims)
    return (cell.adversary, f"{cell.facts:,}", *shares, bits, count(len(cell.outcomes)))


def comparison_view(comparison: Comparison) -> View:
    """The share of targets identified by each attack, with the difference from the baseline."""
    shown = comparison.rows[:MOST_CELLS]
    rows: list[Cells] = [
        (
            row.attack,
            row.adversary,
            f"{row.facts:,}",
            share_cell(row.identified),
            "" if row.attack == comparison.baseline else _signed(row.difference),
        )
        for row in shown
    ]
    bars = [
        share_bar(
            f"{row.adversary}; {count(row.facts, 'fact', 'facts')}",
            row.attack,
            row.identified,
            row.attack != comparison.baseline,
        )
        for row in shown
    ]
    figure = Figure(
        "Identified people, by attack",
        f"Share of targets identified. {'; '.join(f'{bar.label}: {percent(bar.value)}' for bar in bars)}.",
        partial(share_bars, bars or [ShareBar("", "no attack", None)]),
        Table(("attack", "adversary", "known facts", "identified", f"more than {comparison.baseline}"), rows),
    )
    attacks = count(len({row.attack for row in comparison.rows}), "attack", "attacks")
    return View(f"{attacks} on the same targets, compared with {comparison.baseline}", figure)


def _signed(difference: Estimate) -> tuple[str, str]:
    low, high = (f"{100 * end:+.1f}" for end in (difference.low, difference.high))
    return f"{100 * difference.value:+.1f} points", f"{low} to {high}"


def sparsity_view(sparsity: Sparsity) -> View:
    """How many records have a similar neighbour."""
    survival = [(point, sparsity.survival(point)) for point in SIMILARITIES]
    points = [Point("", x, share.value, share.low, share.high) for x, share in survival]
    title = "Records with a neighbour at least this similar"
    axis = Axis("similarity of the nearest neighbour", 0, 1, form="~g")
    rows = [(f"{point:g}", share_cell(share)) for point, share in survival[::5]]
    half = sparsity.survival(0.5)
    figure = Figure(
        title,
        f"{title}: {percent(half.value)} at 0.5.",
        lambda width: share_curves({"": points}, "", title, axis, width=width),
        Table(("similarity", "records with such a neighbour"), rows),
    )
    whom = f"{len(sparsity.records):,} of {count(sparsity.total, 'record', 'records')} examined."
    share = percent(half.value) if sparsity.complete else estimate_line(half)
    return View(f"{share} of the records have a neighbour with similarity 0.5 or more", figure, (whom,))


def unicity_view(unicity: Unicity) -> View:
    """The share of records that some entries single out."""
    single_out = count(unicity.k, "entry singles", "entries single")
    headline = f"{single_out} out {estimate_line(unicity.share)} of the people"
    return _unicity(headline, [(count(unicity.k, "entry", "entries"), unicity.share)])


def _unicity(headline: str, shares: Sequence[tuple[str, Estimate]]) -> View:
    bars = [share_bar("", label, share) for label, share in shares]
    rows = [(label, share_cell(share), count(share.n)) for label, share in shares]
    figure = Figure(
        "People who are singled out",
        f"{headline}.",
        partial(share_bars, bars),
        Table(("known entries", "singled out", "targets"), rows),
    )
    return View(headline, figure)


def unicity_grid_view(grid: UnicityGrid) -> View:
    """The share of people singled out, by resolution and number of points."""
    rows: list[Cells] = [
        (cell.places, cell.time_bin or "unknown", f"{cell.points:,}", share_cell(cell.share))
        for cell in grid.cells[:MOST_CELLS]
    ]
    most = max(grid.cells, key=lambda cell: cell.share.value)
    figure = Figure(
        "People who are singled out, by number of known points",
        f"At most {estimate_line(most.share)}.",
        lambda width: unicity_chart(grid.cells),
        Table(("places", "times", "known points", "singled out"), rows),
    )
    points = count(most.points, "point singles", "points single")
    return View(f"{points} out up to {estimate_line(most.share)} of the people", figure)


def _by_facts(title: str, measured: Sequence[tuple[str, int, Estimate]], table: Table) -> Figure:
    """Curves by number of facts; bars if each adversary has a single number of facts."""
    finite = [(name, facts, share) for name, facts, share in measured if math.isfinite(share.value)]
    series: dict[str, list[Point]] = {}
    for name, facts, share in finite:
        series.setdefault(name, []).append(Point(name, facts, share.value, share.low, share.high))
    ends = "; ".join(f"{name}: {percent(curve[-1].y)}" for name, curve in series.items())
    draw: Callable[[int], Chart]
    if max(map(len, series.values()), default=0) > 1:
        main = max(series, key=lambda name: series[name][-1].y)
        axis = Axis("known facts about a person")
        draw = lambda width: share_curves(series, main, title, axis, width=width)  # noqa: E731
    else:
        bars = [
            share_bar("", f"{name}; {count(facts, 'fact', 'facts')}", share) for name, facts, share in finite
        ]
        draw = partial(share_bars, bars or [ShareBar("", "no target", None)])
    return Figure(f"{title}, by adversary", f"{title}. {ends}.", draw, table)
