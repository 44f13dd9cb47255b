"""A candidate: one combination of steps, with its risk and its utility."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from standout.advising.strongest_attack import FAMILIES, IdentificationRisk, step_family
from standout.core.json_files import JsonObject
from standout.evaluate.estimates import Estimate
from standout.findings.advice import Among, Stage
from standout.sanitizing.step import Step

__all__ = [
    "DIGITS",
    "UNTOUCHED",
    "Candidate",
    "CandidateUtility",
    "Expectation",
    "Steps",
    "UtilityT",
    "frontier",
    "most_promising",
    "propose_combinations",
    "select_for_full_stage",
    "smoothed",
    "steps_text",
    "undominated",
]

UNTOUCHED = "as it is"
"""Name of the candidate without steps."""
Steps: TypeAlias = tuple[Step, ...]


class CandidateUtility(Protocol):
    """Utility of a sanitized release or table."""

    @property
    def kept(self) -> Estimate | None:
        """Share of the utility that is left; None if the original has no utility either."""

    def measures(self) -> Iterator[tuple[str, Estimate]]:
        """Name and estimate of every measure that is not None."""


UtilityT = TypeVar("UtilityT", bound=CandidateUtility)


@dataclass(frozen=True, eq=False, slots=True)
class Candidate(Generic[UtilityT]):
    """A combination of steps, the share of people identified after it, and the utility that is left.

    Attributes
    ----------
    steps
        The steps in order; none for the untouched release.
    risk
        Share of targets who are identified.
    utility
        Utility of the sanitized release.
    stage
        How well the numbers are known: "quick", "full", or "fresh" (re-measured on fresh targets).
    among
        Whom the limit applies to.
    """

    steps: Steps
    risk: IdentificationRisk
    utility: UtilityT
    stage: Stage
    among: Among = "released"

    @property
    def rate(self) -> Estimate:
        """Share of identified people that is compared with the limit."""
        return self.risk.rate(self.among)

    @property
    def name(self) -> str:
        """The steps as one text."""
        return steps_text(self.steps)

    @property
    def utility_kept(self) -> float:
        """Share of the utility that is left; 1 if the untouched release has no utility either."""
        return 1.0 if self.utility.kept is None else self.utility.kept.value

    def to_checkpoint(self) -> JsonObject:
        """The numbers as plain values, infinities included."""
        return {
            "stage": self.stage,
            "attack": self.risk.attack,
            "identified": asdict(self.risk.everybody),
            "identified_in_release": asdict(self.risk.released),
            "utility": {name: asdict(estimate) for name, estimate in self.utility.measures()},
        }

    @classmethod
    def from_checkpoint(
        cls, numbers: Any, steps: Steps, among: Among, utility_of: Callable[[Mapping[str, Estimate]], UtilityT]
    ) -> "Candidate[UtilityT]":
        """The candidate whose numbers `to_checkpoint` returned; `numbers` is their parsed JSON."""
        utility = {name: Estimate(**estimate) for name, estimate in numbers["utility"].items()}
        risk = IdentificationRisk(
            everybody=Estimate(**numbers["identified"]),
            released=Estimate(**numbers["identified_in_release"]),
            attack=numbers["attack"],
        )
        return cls(steps, risk, utility_of(utility), numbers["stage"], among)


def steps_text(steps: Sequence[Step]) -> str:
    """Steps as one text: round-time month + drop-entries 0.5, or `UNTOUCHED` if there are none."""
    return " + ".join(map(str, steps)) or UNTOUCHED


# Which candidates are worth trying: the frontier of those measured, and what to expect of combinations.


LIMIT_FACTORS = (1.25, 1.0, 0.75, 0.5)
"""Combinations are proposed below each of these multiples of the limit: expectations err to both sides."""
MIN_RISK = 1e-3
"""Avoids a division by zero where the untouched release carries no risk."""
DIGITS = 9
"""Utilities are compared to this many digits, because the others differ between processors."""
STANDARD_ERRORS = 2.0
"""Distance from a rate to the upper end of its interval, approximately."""


class Expectation(NamedTuple):
    """Measured or expected share of people identified after steps, and of the utility that is left."""

    steps: Steps
    identified: float
    utility: float


def frontier(candidates: Sequence[Candidate[Any]]) -> list[Candidate[Any]]:
    """Candidates for which no other has both less risk and more utility, by decreasing risk."""
    best = {each.steps for each in undominated([_measured(candidate) for candidate in candidates])}
    chosen = (candidate for candidate in candidates if candidate.steps in best)
    return sorted(chosen, key=lambda candidate: -candidate.rate.value)


def select_for_full_stage(
    candidates: Sequence[Candidate[Any]], limit: float, targets: int, count: int
) -> list[Candidate[Any]]:
    """Select candidates that deserve the full stage.

    One half has the highest utility among those whose interval, with this number of targets, should end below
    the limit. The others are on the frontier, those near the limit first.
    """
    goal = max(limit - STANDARD_ERRORS * math.sqrt(limit * (1 - limit) / targets), 0.0)
    measured = [_measured(candidate) for candidate in candidates]
    below = sorted((each for each in measured if each.identified <= goal), key=lambda each: -each.utility)
    edge = sorted(undominated(measured), key=lambda each: abs(each.identified - limit))
    order = dict.fromkeys(each.steps for each in [*below[: count // 2], *edge, *below])
    chosen = set(list(order)[:count])
    return [candidate for candidate in candidates if candidate.steps in chosen]


def propose_combinations(tried: Mapping[Steps, Candidate[Any]], limit: float, count: int) -> list[Steps]:
    """Combinations that were not tried yet and promise most.

    One half should keep most utility below the limit, the others are spread over the expected frontier.
    """
    expected = [each for each in _expected_combinations(tried) if each.steps not in tried]
    return most_promising(expected, limit, count)


def most_promising(expected: Sequence[Expectation], limit: float, count: int) -> list[Steps]:
    """One half should keep most utility below the limit, the others are spread over the expected frontier."""
    best = sorted(expected, key=lambda each: (-each.utility, each.identified))
    near: list[Steps] = []
    for factor in LIMIT_FACTORS:
        below = [each.steps for each in best if each.identified <= factor * limit and each.steps not in near]
        near += below[: max(1, count // (2 * len(LIMIT_FACTORS)))]
    edge = sorted(undominated(expected), key=lambda each: each.identified)
    spread = [edge[at * len(edge) // count].steps for at in range(count)] if edge else []
    return list(dict.fromkeys([*near, *spread]))[:count]


def _expected_combinations(tried: Mapping[Steps, Candidate[Any]]) -> list[Expectation]:
    """What to expect of all combinations of at most one tried step of each family."""
    singles = [steps[0] for steps in tried if len(steps) == 1]
    families = list(dict.fromkeys([*FAMILIES, *map(step_family, singles)]))
    choices = [[None, *(step for step in singles if step_family(step) == name)] for name in families]
    known = {steps: smoothed(candidate) for steps, candidate in tried.items()}
    combinations = (tuple(step for step in chosen if step is not None) for chosen in product(*choices))
    return [_expectation(steps, known) for steps in combinations if len(steps) >= 2]


def _expectation(steps: Steps, known: Mapping[Steps, Expectation]) -> Expectation:
    """What was measured for the largest tried part, times the effect of each further step on its own.

    Shares multiply if the steps work independently.
    """
    part = max((subset for subset in _parts(steps) if subset in known), key=len)
    identified, utility = known[part].identified, known[part].utility
    for step in steps:
        if step not in part:
            identified *= known[(step,)].identified / max(known[()].identified, MIN_RISK)
            utility *= known[(step,)].utility
    return Expectation(steps, identified, utility)


def _parts(steps: Steps) -> list[Steps]:
    """The steps themselves, all but one of them, and each alone."""
    without = [(*steps[:at], *steps[at + 1 :]) for at in range(len(steps))]
    return [steps, *without, *((step,) for step in steps)]


def smoothed(candidate: Candidate[Any]) -> Expectation:
    """What was measured, with half a person more identified, so that a rate of 0 does not stay 0."""
    n, utility = candidate.rate.n, round(candidate.utility_kept, DIGITS)
    identified = (candidate.rate.value * n + 0.5) / (n + 1)
    return Expectation(candidate.steps, identified, min(max(utility, 0.0), 1.0))


def _measured(candidate: Candidate[Any]) -> Expectation:
    return Expectation(candidate.steps, candidate.rate.value, round(candidate.utility_kept, DIGITS))


def undominated(expectations: Sequence[Expectation]) -> list[Expectation]:
    """Those for which no other has less risk and at least as much utility, or more utility at equal risk."""
    most, chosen = float("-inf"), []
    for each in sorted(expectations, key=lambda each: (each.identified, -each.utility, len(each.steps))):
        if each.utility > most:
            most = each.utility
            chosen.append(each)
    return chosen
