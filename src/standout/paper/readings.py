"""Readings: what else the paper's words may mean where our numbers differ from its own.

Bits gained (Figures 3 and 5), nearest neighbours (Figure 12) and wrong films (Figure 10 of 2008) are worked
out in every way that the text allows, and each is held against the paper. None of it changes a default: what
fits best need not be meant.
"""

from typing import NamedTuple

import numpy as np

from standout.paper.rows import GOALS, Unit

__all__ = ["DEFINED", "Fit", "Reading", "fits", "unit_of"]

DEFINED = "as defined here"
"""The reading that every other page of Standout uses."""


class Reading(NamedTuple):
    """One number of the paper, read in one way: what comes out, and over how many targets."""

    figure: str
    reading: str
    panel: str
    label: str
    paper: float
    ours: float
    n: int

    @property
    def difference(self) -> float:
        return self.ours - self.paper


class Fit(NamedTuple):
    """How well a reading fits a figure: |difference| on average and at most, bias, cells within the goal."""

    figure: str
    reading: str
    mean: float
    worst: float
    bias: float
    within: int
    cells: int


def fits(readings: tuple[Reading, ...]) -> tuple[Fit, ...]:
    """How well each reading fits each figure, in the order in which they come."""
    found: dict[tuple[str, str], list[Reading]] = {}
    for one in readings:
        found.setdefault((one.figure, one.reading), []).append(one)
    return tuple(_fit(*key, own) for key, own in found.items())


def unit_of(figure: str) -> Unit:
    """What a figure's readings are in."""
    return "bits" if figure in ("3", "5") else "rate"


def _fit(figure: str, reading: str, own: list[Reading]) -> Fit:
    off, goal = np.array([one.difference for one in own]), GOALS[unit_of(figure)]
    away = np.abs(off)
    numbers = float(away.mean()), float(away.max()), float(off.mean())
    return Fit(figure, reading, *numbers, int((away <= goal).sum()), len(off))
