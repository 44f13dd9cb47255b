"""One number compared with the paper's, or with our own at full size: the difference and its meaning.

A smaller stand-in is compared with our own result at full size: it has fewer people than the paper's data,
which changes every number.
"""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from standout.core.json_values import JsonObject
from standout.evaluate.estimates import Estimate, difference
from standout.paper.paper_results import READ_OFF

__all__ = ["GOALS", "ComparisonRow", "Unit", "comparison_row", "exact_estimate", "with_likelihood"]

Unit = Literal["rate", "bits", "number"]
GOALS: dict[Unit, float] = {"rate": 0.10, "bits": 1.0}
"""The goal: the largest difference from the paper that we aim for."""
Z = 1.96


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One number: the paper's, and the measured one with its interval.

    measured        None if it cannot be measured on this release; `note` says why
    n               number of our targets
    spread          standard deviation between our targets
    paper_targets   number of targets behind the paper's number, estimated; 0 if it is not from a sample
    too_few_items   people whose records are too short to be targets
    full_size       our own number at full size, with its interval, if that is what ours is compared with
    likelihood      what the Bayesian attack reaches with the same facts about the same targets, with its
                    interval; None if there is no attack. It is no part of the comparison with the paper.
    """

    panel: str
    label: str
    measure: str
    unit: Unit
    paper: float | None
    measured: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    spread: float = 0.0
    paper_targets: int = 0
    too_few_items: int = 0
    note: str = ""
    likelihood: float | None = None
    likelihood_low: float | None = None
    likelihood_high: float | None = None
    full_size: Estimate | None = None

    @property
    def compared_with(self) -> float | None:
        """The number that ours is compared with: our own at full size, otherwise the paper's."""
        return self.paper if self.full_size is None else self.full_size.value

    @property
    def difference(self) -> float | None:
        """The measured number minus the one that it is compared with."""
        other = self.compared_with
        return None if self.measured is None or other is None else self.measured - other

    @property
    def gain(self) -> float | None:
        """What the Bayesian attack reaches more than the paper's on the same data."""
        return None if self.likelihood is None or self.measured is None else self.likelihood - self.measured

    @property
    def sampling_error(self) -> float | None:
        """The largest difference that sampling error explains, at 95 %; None if there is no sample.

        Rates: 1.96 √(p(1 − p)(1/paper_targets + 1/n)) with p pooled over both, plus 0.003 because the paper's
        bars are read off. Bits: 1.96 s √(1/paper_targets + 1/n), s the deviation between our targets.
        Compared with our own result at full size, it follows from the two intervals (Newcombe 1998).

        >>> estimate = Estimate(0.75, 0.72, 0.78, 1000)
        >>> row = comparison_row("", "", "identified", "rate", 0.7, estimate, paper_targets=150)
        >>> row.sampling_error
        0.077...
        """
        if self.full_size is not None:
            return self._sampling_error_of_both(self.full_size)
        if self.measured is None or self.paper is None or not self.paper_targets or not self.n:
            return None
        per_target = math.sqrt(1 / self.paper_targets + 1 / self.n)
        if self.unit == "bits":
            return Z * self.spread * per_target
        pooled = (self.paper_targets * self.paper + self.n * self.measured) / (self.paper_targets + self.n)
        return Z * math.sqrt(max(pooled * (1 - pooled), 0.0)) * per_target + READ_OFF

    def _sampling_error_of_both(self, full_size: Estimate) -> float | None:
        if self.measured is None or self.low is None or self.high is None or full_size.low == full_size.high:
            return None
        both = difference(Estimate(self.measured, self.low, self.high, self.n), full_size)
        return both.value - both.low if both.value > 0 else both.high - both.value

    @property
    def within_sampling_error(self) -> bool | None:
        """Whether sampling error explains the difference; None if there is no sample."""
        difference, sampling_error = self.difference, self.sampling_error
        return None if difference is None or sampling_error is None else abs(difference) <= sampling_error

    @property
    def within_goal(self) -> bool | None:
        """Whether the difference reaches the goal; None if there is no goal."""
        difference, goal = self.difference, GOALS.get(self.unit)
        return None if difference is None or goal is None else abs(difference) <= goal + 1e-12

    def to_dict(self) -> JsonObject:
        """The fields by name."""
        return asdict(self)


def comparison_row(
    panel: str, label: str, measure: str, unit: Unit, paper: float | None, estimate: Estimate, **fields: Any
) -> ComparisonRow:
    """A row with our estimate; an interval that is infinite or a single point is left empty."""
    low, high = (end if math.isfinite(end) else None for end in (estimate.low, estimate.high))
    if (low, high) == (estimate.value, estimate.value):
        low = high = None
    return ComparisonRow(
        panel=panel,
        label=label,
        measure=measure,
        unit=unit,
        paper=paper,
        measured=estimate.value,
        low=low,
        high=high,
        n=estimate.n,
        **fields,
    )


def with_likelihood(row: ComparisonRow, estimate: Estimate) -> ComparisonRow:
    """The row with what the Bayesian attack reaches; an interval that is not finite is left empty."""
    low, high = (end if math.isfinite(end) else None for end in (estimate.low, estimate.high))
    return replace(row, likelihood=estimate.value, likelihood_low=low, likelihood_high=high)


def exact_estimate(value: float, n: int) -> Estimate:
    """An estimate without sampling error, over n people."""
    return Estimate(value, value, value, n)
