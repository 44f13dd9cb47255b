"""A number of the paper and ours: how far apart, and whether chance explains it."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from standout.evaluate.estimates import Estimate
from standout.paper.paper_results import READ_OFF

__all__ = ["GOALS", "Row", "Unit", "row"]

Unit = Literal["rate", "bits", "number"]
GOALS: dict[Unit, float] = {"rate": 0.10, "bits": 1.0}
"""What is aimed at: no further from the paper than this."""
Z = 1.96


@dataclass(frozen=True, slots=True)
class Row:
    """One number: the paper's, ours with its interval, and of what.

    tries    about how many targets the paper's number is from; 0 if it is not from a sample
    spread   the standard deviation between our targets
    ours     None where it cannot be measured on this release; `note` says why
    """

    panel: str
    label: str
    measure: str
    unit: Unit
    paper: float | None
    ours: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    spread: float = 0.0
    tries: int = 0
    left_out: int = 0
    note: str = ""

    @property
    def difference(self) -> float | None:
        """Ours − the paper's."""
        return None if self.ours is None or self.paper is None else self.ours - self.paper

    @property
    def allowed(self) -> float | None:
        """How far apart chance may put them, at 95 %; None where the paper's is not from a sample.

        >>> row("", "", "found", "rate", 0.7, Estimate(0.75, 0.72, 0.78, 1000), tries=150).allowed
        0.077...
        """
        if self.ours is None or self.paper is None or not self.tries or not self.n:
            return None
        share = math.sqrt(1 / self.tries + 1 / self.n)
        if self.unit == "bits":
            return Z * self.spread * share
        pooled = (self.tries * self.paper + self.n * self.ours) / (self.tries + self.n)
        return Z * math.sqrt(max(pooled * (1 - pooled), 0.0)) * share + READ_OFF

    @property
    def within_error(self) -> bool | None:
        """Whether chance explains the difference."""
        difference, allowed = self.difference, self.allowed
        return None if difference is None or allowed is None else abs(difference) <= allowed

    @property
    def within_goal(self) -> bool | None:
        """Whether the difference is as small as is aimed at; None where nothing is."""
        difference, goal = self.difference, GOALS.get(self.unit)
        return None if difference is None or goal is None else abs(difference) <= goal + 1e-12

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def row(
    panel: str, label: str, measure: str, unit: Unit, paper: float | None, found: Estimate, **more: Any
) -> Row:
    """A row with an estimate of ours; an interval without ends has none."""
    low, high = (end if math.isfinite(end) else None for end in (found.low, found.high))
    if (low, high) == (found.value, found.value):
        low = high = None
    return Row(panel, label, measure, unit, paper, found.value, low, high, found.n, **more)
