"""Readings: other interpretations of the paper's text, where our numbers differ from the paper's.

Bits gained (Figures 3 and 5), nearest neighbours (Figure 12) and wrong films (Figure 10 of 2008) are computed
in every reading that the text allows, and each is compared with the paper. No default follows from this: the
reading that fits best need not be the one that was meant.
"""

from typing import NamedTuple

import numpy as np

from standout.paper.comparison_rows import GOALS, Unit

__all__ = ["AS_DEFINED", "Fit", "Reading", "fits", "in_order", "unit_of"]

AS_DEFINED = "as defined here"
"""The reading that the rest of Standout uses."""


class Reading(NamedTuple):
    """One number of the paper in one reading: what was measured, over n targets."""

    figure: str
    reading: str
    panel: str
    label: str
    paper: float
    measured: float
    n: int

    @property
    def difference(self) -> float:
        """The measured number minus the paper's."""
        return self.measured - self.paper


class Fit(NamedTuple):
    """How well a reading fits a figure.

    The mean and the largest |difference|, the mean difference (bias), and how many cells are within the goal.
    """

    figure: str
    reading: str
    mean: float
    worst: float
    bias: float
    within: int
    cells: int


def fits(readings: tuple[Reading, ...]) -> tuple[Fit, ...]:
    """How well each reading fits each figure, in the order of the readings."""
    groups: dict[tuple[str, str], list[Reading]] = {}
    for reading in readings:
        groups.setdefault((reading.figure, reading.reading), []).append(reading)
    return tuple(_fit(*key, group) for key, group in groups.items())


def in_order(readings: list[Reading], names: tuple[str, ...]) -> tuple[Reading, ...]:
    """The readings in the order of these names."""
    return tuple(sorted(readings, key=lambda reading: names.index(reading.reading)))


def unit_of(figure: str) -> Unit:
    """The unit of a figure's readings."""
    return "bits" if figure in ("3", "5") else "rate"


def _fit(figure: str, name: str, group: list[Reading]) -> Fit:
    differences = np.array([reading.difference for reading in group])
    sizes = np.abs(differences)
    return Fit(
        figure=figure,
        reading=name,
        mean=float(sizes.mean()),
        worst=float(sizes.max()),
        bias=float(differences.mean()),
        within=int((sizes <= GOALS[unit_of(figure)]).sum()),
        cells=len(group),
    )
