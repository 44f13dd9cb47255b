"""Eccentricity of public profiles: the paper's section on IMDb, on people whose records are known."""

from collections.abc import Iterator

import numpy as np

from standout.core.arrays import Floats
from standout.evaluate.estimates import Estimate, median
from standout.paper.attack_runner import AttackRunner, NotPossible
from standout.paper.comparison_rows import ComparisonRow, comparison_row, exact_estimate
from standout.paper.figure import FigureResult
from standout.paper.paper_results import Setting
from standout.report.charts import Point

__all__ = ["PROFILES", "profile_eccentricities"]

PROFILES = {
    "50 films, dates ± 14 days": Setting(50, 50, 1.0, 14.0, None, None, "values"),
    "50 outside the top 500, dates ± 14 days": Setting(50, 50, 1.0, 14.0, 500, None, "values"),
    "50 outside the top 500, no dates": Setting(50, 50, 1.0, None, 500, None, "values"),
    "100 outside the top 1,000, dates ± 14 days": Setting(100, 100, 1.0, 14.0, 1000, None, "values"),
}
"""Profiles with and without dates, of popular and of unpopular films. The paper does not state how long its
profiles are. People with fewer films cannot be targets."""
PAPER_IDENTIFIED = 15.0
"""The lower of the two eccentricities (28 and 15) with which the paper identified people."""
PAPER_OTHERS = 2.0
"""The highest eccentricity of nearly all other profiles, whose people may have been absent."""
HIGHEST = 60


def profile_eccentricities(runner: AttackRunner) -> FigureResult:
    """The eccentricity of the best guess, for targets who are present and for absent ones."""
    rows: list[ComparisonRow] = []
    points: list[Point] = []
    for panel, setting in PROFILES.items():
        simulation = runner.run(setting, absent=True)
        if isinstance(simulation, NotPossible):
            note = simulation.reason
            rows.append(ComparisonRow(panel, "eccentricity", "eccentricity", "number", None, None, note=note))
            continue
        outcomes = simulation.cell().outcomes
        present, absent = outcomes.claim_strength.ravel(), outcomes.absent_claim_strength.ravel()
        rows += _rows(panel, present, absent)
        points += [*_curve(panel, "present", present), *_curve(panel, "absent", absent)]
    return FigureResult(tuple(rows), tuple(points))


def _rows(panel: str, present: Floats, absent: Floats) -> Iterator[ComparisonRow]:
    for label, estimate, paper in (
        ("targets present, median", median(present), PAPER_IDENTIFIED),
        ("targets present, 10 % quantile", _quantile(present, 0.1), None),
        ("targets absent, median", median(absent), None),
        ("targets absent, 90 % quantile", _quantile(absent, 0.9), PAPER_OTHERS),
    ):
        yield comparison_row(panel, label, "eccentricity", "number", paper, estimate)


def _curve(panel: str, series: str, eccentricity: Floats) -> Iterator[Point]:
    """Share of targets with at least each eccentricity."""
    for x in range(HIGHEST + 1):
        yield Point(series, x, float((eccentricity >= x).mean()), panel=panel)


def _quantile(values: Floats, share: float) -> Estimate:
    return exact_estimate(float(np.quantile(values, share)), len(values))
