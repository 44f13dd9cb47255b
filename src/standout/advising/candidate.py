"""A candidate: one combination of steps, with its risk and its utility."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from standout.advising.strongest_attack import IdentificationRisk
from standout.evaluate.estimates import Estimate
from standout.findings.advice import Among, Stage
from standout.findings.json_types import JsonObject
from standout.sanitizing.step import Step
from standout.table_sanitizing.table_step import TableStep

__all__ = ["UNTOUCHED", "Candidate", "CandidateUtility", "Steps", "UtilityT", "steps_text"]

UNTOUCHED = "as it is"
"""Name of the candidate without steps."""
Steps: TypeAlias = tuple[Step | TableStep, ...]


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
        cls,
        numbers: Any,
        steps: Steps,
        among: Among,
        utility_of: Callable[[Mapping[str, Estimate]], UtilityT],
    ) -> "Candidate[UtilityT]":
        """The candidate whose numbers `to_checkpoint` returned; `numbers` is their parsed JSON."""
        utility = {name: Estimate(**estimate) for name, estimate in numbers["utility"].items()}
        risk = IdentificationRisk(
            everybody=Estimate(**numbers["identified"]),
            released=Estimate(**numbers["identified_in_release"]),
            attack=numbers["attack"],
        )
        return cls(steps, risk, utility_of(utility), numbers["stage"], among)


def steps_text(steps: Sequence[Step | TableStep]) -> str:
    """Steps as one text: round-time month + drop-entries 0.5, or `UNTOUCHED` if there are none."""
    return " + ".join(map(str, steps)) or UNTOUCHED
