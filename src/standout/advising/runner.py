"""Measures candidates for a release: quick, full and fresh."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeAlias

from standout._version import __version__
from standout.advising.candidate import Candidate, Steps, UtilityT, propose_combinations
from standout.advising.strongest_attack import IdentificationRisk, built_in_steps, identification_risk
from standout.attack.any_attack import AnyAttack, checkpoint_key
from standout.core.json_files import JsonObject, read_checkpoint, write_checkpoint
from standout.data.release import Release
from standout.evaluate.estimates import Estimate
from standout.findings.advice import Among, Stage
from standout.know.adversary import Adversary
from standout.know.sanitized import Sanitized
from standout.sanitizing.recommender import RecommenderBenchmark
from standout.sanitizing.sanitize import sanitize
from standout.sanitizing.step import Step
from standout.sanitizing.utility import Utility, measure_utility

__all__ = ["CandidateRunner", "CheckpointedRunner"]

# Measures candidates in three stages and stores each result in a checkpoint.


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

    def quick(self, steps: Sequence[Step]) -> Candidate[UtilityT]:
        """Measure with few targets, and on large data with a part of it."""
        return self._measure("quick", tuple(steps))

    def full(self, steps: Sequence[Step]) -> Candidate[UtilityT]:
        """Measure with all targets, other ones than in the quick stage, and with all data."""
        return self._measure("full", tuple(steps))

    def fresh(self, steps: Sequence[Step]) -> Candidate[UtilityT]:
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


HistorySteps: TypeAlias = tuple[Step, ...]
FIRST_COMBINATIONS, MORE_COMBINATIONS = 24, 16
"""Number of combinations in the first round and in the second, which learns from the first."""
QUICK_TARGETS = 500
QUICK_ENTRIES = 1_000_000
"""In the quick stage, recommenders learn from about this many entries at most."""
FULL, FRESH = 1, 2
"""Added to the seed, so that each stage has other targets and known facts than the stage before."""


@dataclass(eq=False)
class CandidateRunner(CheckpointedRunner[Utility]):
    """One release and one adversary. All candidates are measured with the same people and entries."""

    release: Release
    adversary: Adversary
    targets: int
    people: int
    seed: int
    among: Among = "released"
    threads: int | None = None
    work: Path | None = None
    attacks: Mapping[str, AnyAttack] = field(default_factory=dict)
    measured: dict[str, JsonObject] = field(default_factory=dict)

    def built_in_candidates(self, limit: float) -> list[Steps]:
        """Each built-in step on its own."""
        return [(step,) for step in built_in_steps(self.release, limit)]

    def combination_rounds(self) -> tuple[int, ...]:
        """Two rounds; the second learns from the first."""
        return FIRST_COMBINATIONS, MORE_COMBINATIONS

    def propose(self, tried: Mapping[Steps, Candidate[Utility]], limit: float, count: int) -> list[Steps]:
        """Combinations of tried steps of different families."""
        return propose_combinations(tried, limit, count)

    def _run(self, stage: Stage, steps: Steps) -> Candidate[Utility]:
        return {"quick": self._quick, "full": self._full, "fresh": self._fresh}[stage](_history_steps(steps))

    def _stored_utility(self, steps: Steps, estimates: Mapping[str, Estimate]) -> Utility:
        utility: dict[str, Any] = {field.name: estimates.get(field.name) for field in fields(Utility)}
        utility |= {"steps": tuple(map(str, steps)), "seed": self.seed, "fingerprint": self.release.fingerprint}
        return Utility(**utility)

    def _quick(self, steps: HistorySteps) -> Candidate[Utility]:
        # One sanitized release serves both measurements, which halves the time of the stage.
        benchmark = self._quick_benchmark
        safer = sanitize(benchmark.holdout.rest, *steps, seed=self.seed, threads=self.threads)
        risk = self._risk_of(safer, QUICK_TARGETS, self.seed)
        return Candidate(steps, risk, self._utility(benchmark, safer, steps), "quick", self.among)

    def _full(self, steps: HistorySteps) -> Candidate[Utility]:
        if self._quick_benchmark.share == 1:
            utility = self.quick(steps).utility
        else:
            utility = self._sanitized_utility(self._full_benchmark, steps, self.seed)
        return Candidate(steps, self._risk(steps, self.seed, FULL), utility, "full", self.among)

    def _fresh(self, steps: HistorySteps) -> Candidate[Utility]:
        noise_seed = self.seed + FRESH
        utility = self._sanitized_utility(self._fresh_benchmark, steps, noise_seed)
        return Candidate(steps, self._risk(steps, noise_seed, FRESH), utility, "fresh", self.among)

    def _risk(self, steps: HistorySteps, noise_seed: int, draw: int) -> IdentificationRisk:
        safer = sanitize(self.release, *steps, seed=noise_seed, threads=self.threads)
        seed = self.seed + draw
        return self._risk_of(safer, self.targets, seed)

    def _risk_of(self, safer: Sanitized, targets: int, seed: int) -> IdentificationRisk:
        return identification_risk(safer, self.adversary, targets, seed, self.threads, self.attacks)

    def _sanitized_utility(self, benchmark: RecommenderBenchmark, steps: HistorySteps, noise_seed: int) -> Utility:
        safer = sanitize(benchmark.holdout.rest, *steps, seed=noise_seed, threads=self.threads)
        return self._utility(benchmark, safer, steps)

    def _utility(self, benchmark: RecommenderBenchmark, safer: Sanitized, steps: HistorySteps) -> Utility:
        return measure_utility(benchmark, safer, tuple(map(str, steps)), self.seed, self.release.fingerprint)

    @cached_property
    def _quick_benchmark(self) -> RecommenderBenchmark:
        share = min(1.0, QUICK_ENTRIES / self.release.n_entries)
        return RecommenderBenchmark.of(self.release, self.people, self.seed, share)

    @cached_property
    def _full_benchmark(self) -> RecommenderBenchmark:
        return RecommenderBenchmark(self._quick_benchmark.holdout)

    @cached_property
    def _fresh_benchmark(self) -> RecommenderBenchmark:
        return RecommenderBenchmark.of(self.release, self.people, self.seed + FRESH)

    def _key(self, stage: Stage, steps: Steps) -> str:
        """Hash of everything that the numbers of a candidate depend on."""
        settings = (
            stage,
            list(map(str, steps)),
            self.adversary.key(),
            [] if self.work is None else [checkpoint_key(attack, "work") for attack in self.attacks.values()],
            self.targets,
            self.people,
            self.seed,
            QUICK_TARGETS,
            QUICK_ENTRIES,
            self.release.fingerprint,
            __version__,
        )
        return hashlib.blake2b(json.dumps(settings, default=str).encode(), digest_size=12).hexdigest()


def _history_steps(steps: Steps) -> HistorySteps:
    """The steps of a candidate for a release, which are never those of tables."""
    return steps
