"""Candidates whose measured rate is below the limit although nothing is proven, and what would settle it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Generic

from standout.advising.candidate import Candidate, Steps, UtilityT, frontier
from standout.advising.search import SearchResult
from standout.evaluate.estimates import trials_to_prove

__all__ = ["CHANCE", "Unproven", "UnprovenCandidates", "unproven_candidates"]

CHANCE = 0.9
"""Probability that the advised number of targets proves a candidate, if its true rate is the measured one."""
MEASUREMENTS = 2
"""A candidate has to meet the limit in the full stage and again in the fresh stage."""


@dataclass(frozen=True, slots=True)
class Unproven(Generic[UtilityT]):
    """A candidate whose measured rate is below the limit.

    Attributes
    ----------
    candidate
        The candidate, as it was re-measured if it was.
    targets_needed
        Smallest number of targets with which the interval would end at or below the limit, if the rate
        stays the same.
    targets_advised
        Number of targets with which both stages prove it with a probability of `CHANCE`. It is not less than
        the number of targets so far.
    """

    candidate: Candidate[UtilityT]
    targets_needed: int
    targets_advised: int


@dataclass(frozen=True)
class UnprovenCandidates(Generic[UtilityT]):
    """What is below the limit, but not proven.

    Attributes
    ----------
    number
        Number of measured rates below the limit.
    best
        The candidates among them for which no other has both less risk and more utility, the fewest targets
        needed first.
    possible_targets
        Number of people who can be targets.
    """

    number: int
    best: tuple[Unproven[UtilityT], ...]
    possible_targets: int

    @cached_property
    def closest(self) -> Unproven[UtilityT] | None:
        """The candidate that needs the fewest targets."""
        return self.best[0] if self.best else None

    @cached_property
    def targets_to_settle(self) -> int | None:
        """Number of targets that would settle whether the closest meets the limit; None if none would."""
        if self.closest is None or self.closest.targets_needed > self.possible_targets:
            return None
        return min(self.closest.targets_advised, self.possible_targets)


def unproven_candidates(
    result: SearchResult[UtilityT], limit: float, possible_targets: int
) -> UnprovenCandidates[UtilityT]:
    """The candidates below the limit if the search ended without a recommendation; otherwise none.

    A candidate that failed when it was re-measured counts as it was re-measured: that rate has no bias.
    """
    below: dict[Steps, Candidate[UtilityT]] = {}
    if result.complete and result.recommended is None:
        latest = result.candidates | {candidate.steps: candidate for candidate in result.failed}
        below = {steps: each for steps, each in latest.items() if each.rate.n and each.rate.value < limit}
    best = [_unproven(candidate, limit) for candidate in frontier(list(below.values()))]
    best.sort(key=lambda each: (each.targets_needed, -each.candidate.utility_kept))
    return UnprovenCandidates(len(below), tuple(best), possible_targets)


def _unproven(candidate: Candidate[UtilityT], limit: float) -> Unproven[UtilityT]:
    rate, targets = candidate.rate, candidate.risk.everybody.n
    chance: float = CHANCE ** (1 / MEASUREMENTS)
    return Unproven(
        candidate,
        targets_needed=_targets(trials_to_prove(rate.value, limit), rate.n, targets),
        targets_advised=max(
            _targets(trials_to_prove(rate.value, limit, chance), rate.n, targets), candidate.risk.everybody.n
        ),
    )


def _targets(trials: int, counted: int, targets: int) -> int:
    """Targets for a number of trials: if the limit is for the released, only they count as trials."""
    return -(-trials * targets // counted)
