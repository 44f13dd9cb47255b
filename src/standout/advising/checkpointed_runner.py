"""Measures candidates in three stages and stores each result in a checkpoint."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic

from standout.advising.candidate import Candidate, Steps, UtilityT
from standout.core.checkpoint_files import read_checkpoint, write_checkpoint
from standout.evaluate.estimates import Estimate
from standout.findings.advice import Among, Stage
from standout.findings.json_types import JsonObject
from standout.sanitizing.step import Step
from standout.table_sanitizing.table_step import TableStep

__all__ = ["CheckpointedRunner"]

ABOUT = "candidates"
"""What the checkpoint has. The key of each candidate depends on all settings."""


class CheckpointedRunner(ABC, Generic[UtilityT]):
    """What the runners of releases and tables have in common; a subclass says how to measure."""

    targets: int
    seed: int
    among: Among
    work: Path | None
    measured: dict[str, JsonObject]

    def __post_init__(self) -> None:
        if self.work is not None:
            self.measured = read_checkpoint(self._checkpoint, ABOUT, _parse) or {}

    def quick(self, steps: Sequence[Step | TableStep]) -> Candidate[UtilityT]:
        """Measure with few targets, and on large data with a part of it."""
        return self._measure("quick", tuple(steps))

    def full(self, steps: Sequence[Step | TableStep]) -> Candidate[UtilityT]:
        """Measure with all targets, other ones than in the quick stage, and with all data."""
        return self._measure("full", tuple(steps))

    def fresh(self, steps: Sequence[Step | TableStep]) -> Candidate[UtilityT]:
        """Measure once more with targets, facts, held-out entries and noise that influenced no choice."""
        return self._measure("fresh", tuple(steps))

    @abstractmethod
    def built_in_candidates(self, limit: float) -> list[Steps]:
        """The first candidates of a search."""

    @abstractmethod
    def combination_rounds(self) -> tuple[int, ...]:
        """Number of combinations in each round; each round learns from those before."""

    @abstractmethod
    def propose(self, tried: Mapping[Steps, Candidate[UtilityT]], limit: float, count: int) -> list[Steps]:
        """Combinations that were not tried yet and promise most."""

    @abstractmethod
    def _run(self, stage: Stage, steps: Steps) -> Candidate[UtilityT]:
        """Measure a candidate."""

    @abstractmethod
    def _stored_utility(self, steps: Steps, estimates: Mapping[str, Estimate]) -> UtilityT:
        """Utility with these estimates."""

    @abstractmethod
    def _key(self, stage: Stage, steps: Steps) -> str:
        """Hash of everything that the numbers of a candidate depend on."""

    def _measure(self, stage: Stage, steps: Steps) -> Candidate[UtilityT]:
        """Measure a candidate, or return what the checkpoint has."""
        key = self._key(stage, steps)
        if key in self.measured:
            return self._restored(self.measured[key], steps)
        candidate = self._run(stage, steps)
        self.measured[key] = candidate.to_checkpoint()
        if self.work is not None:
            write_checkpoint(self._checkpoint, ABOUT, json.dumps(self.measured).encode())
        return candidate

    def _restored(self, numbers: Any, steps: Steps) -> Candidate[UtilityT]:
        return Candidate.from_checkpoint(
            numbers, steps, self.among, lambda estimates: self._stored_utility(steps, estimates)
        )

    @property
    def _checkpoint(self) -> Path:
        assert self.work is not None
        return self.work / "candidates.checkpoint"


def _parse(content: bytes) -> dict[str, JsonObject]:
    """The numbers of candidates by key."""
    return dict(json.loads(content))
