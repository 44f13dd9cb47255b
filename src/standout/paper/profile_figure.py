"""How far public profiles stand out: the paper's section on IMDb, on people whose records are known."""

import numpy as np
from numpy.typing import NDArray

from standout.evaluate.estimates import Estimate, median
from standout.paper.attack_runner import Lab, exactly
from standout.paper.figure import Result
from standout.paper.paper_results import Setting
from standout.paper.rows import Row, row
from standout.report.charts import Point

__all__ = ["PROFILES", "profiles"]

PROFILES = {
    "50 films, dates ± 14 days": Setting(50, 50, 1.0, 14.0, None, None, "values"),
    "50 outside the top 500, dates ± 14 days": Setting(50, 50, 1.0, 14.0, 500, None, "values"),
    "50 outside the top 500, no dates": Setting(50, 50, 1.0, None, 500, None, "values"),
    "100 outside the top 1,000, dates ± 14 days": Setting(100, 100, 1.0, 14.0, 1000, None, "values"),
}
"""Who rates on both sites at the same time, and who whenever there is time; who tells of films that everybody
knows, and who of those that few do. The paper does not say how long its profiles are. People with fewer films
are left out."""
FOUND = (28.0, 15.0)
"""The eccentricities with which the paper found two people."""
OTHERS = 2.0
"""No more than this had nearly all others, who may not have been there at all."""
MOST = 60


def profiles(lab: Lab) -> Result:
    """How far the best record stands out, of people who are there and of people who are not."""
    rows: list[Row] = []
    points: list[Point] = []
    for panel, setting in PROFILES.items():
        found = lab.attacked(setting, absent=True)
        if isinstance(found, str):
            rows.append(Row(panel, "eccentricity", "eccentricity", "number", None, None, note=found))
            continue
        seen = found.cell().outcomes
        there, gone = seen.eccentricity.ravel(), seen.absent_eccentricity.ravel()
        for label, estimate, paper in (
            ("people who are there, median", median(there), min(FOUND)),
            ("people who are there, all but a tenth at least", _quantile(there, 0.1), None),
            ("people who are not there, median", median(gone), None),
            ("people who are not there, all but a tenth at most", _quantile(gone, 0.9), OTHERS),
        ):
            rows.append(row(panel, label, "eccentricity", "number", paper, estimate))
        for name, values in (("there", there), ("not there", gone)):
            points += [Point(name, x, float((values >= x).mean()), panel=panel) for x in range(MOST + 1)]
    return Result(tuple(rows), tuple(points))


def _quantile(values: NDArray[np.float64], at: float) -> Estimate:
    return exactly(float(np.quantile(values, at)), len(values))
