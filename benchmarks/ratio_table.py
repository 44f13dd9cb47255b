"""The table that benchmarks print: ratios with their goals, and the check that both sides agree."""

import math
from dataclasses import dataclass

import numpy as np

import standout as so

__all__ = ["HEADER", "RatioRow", "check_same_verdicts"]


@dataclass(frozen=True)
class RatioRow:
    """A line of the table: a ratio or another number, its goal, and the seconds per query of both sides."""

    name: str
    number: float
    goal: str = ""
    ours: float = math.nan
    other: float = math.nan
    unit: str = "×"

    @property
    def verdict(self) -> str:
        """Whether the goal was met, or by how many percent of the goal it was missed."""
        if self.goal[:1] not in ("≤", "≥"):
            return ""
        limit = float(self.goal[1:].replace(",", ""))
        excess = self.number / limit - 1 if self.goal[0] == "≤" else 1 - self.number / limit
        return "met" if excess <= 0 else f"missed by {math.ceil(100 * excess)} %"

    def __str__(self) -> str:
        number = f"{_three_digits(self.number)} {self.unit}"
        seconds = (self.ours, self.other)
        times = "".join("" if math.isnan(x) else f"{_three_digits(1e6 * x):>10}" for x in seconds)
        return f"{self.name:<64}{number:>10}{self.goal:>10}  {self.verdict:<15}{times}"


HEADER = f"{'':<64}{'':>10}{'goal':>10}  {'':<15}{'ours µs':>10}{'other µs':>10}"


def check_same_verdicts(ours: so.Verdicts, other: so.Verdicts, name: str) -> None:
    """Stop if two computations of the same verdicts differ."""
    a, b = ours.columns, other.columns
    same = np.allclose(a.highest, b.highest, rtol=1e-6) and np.allclose(a.second, b.second, rtol=1e-6)
    has_z = (a.z > 0) & (b.z > 0)
    same &= np.allclose(a.sigma, b.sigma, rtol=1e-5) and np.allclose(a.z[has_z], b.z[has_z], rtol=1e-4)
    same &= np.array_equal(a.ties, b.ties) and np.array_equal(a.record[a.first[:-1]], b.record[b.first[:-1]])
    assert same, f"{name}: different verdicts"


def _three_digits(number: float) -> str:
    """A number with three digits, or with all digits before the point."""
    return f"{number:,.{max(0, 2 - max(0, math.floor(math.log10(abs(number) or 1))))}f}"
