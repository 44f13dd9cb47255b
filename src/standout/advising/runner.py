"""Measures candidates for a release: quick, full and fresh."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias, cast

from standout._version import __version__
from standout.adversary import Adversary
from standout.advising.built_in_steps import built_in_steps
from standout.advising.candidate import Candidate, Steps
from standout.advising.checkpointed_runner import CheckpointedRunner
from standout.advising.frontier import propose_combinations
from standout.advising.strongest_attack import IdentificationRisk, identification_risk
from standout.attack.any_attack import AnyAttack, checkpoint_key
from standout.data_utility.recommender_benchmark import RecommenderBenchmark
from standout.data_utility.utility import Utility, measure_utility
from standout.evaluate.estimates import Estimate
from standout.findings.advice import Among, Stage
from standout.findings.json_types import JsonObject
from standout.release.model import Release
from standout.sanitized import Sanitized
from standout.sanitizing.sanitize import sanitize
from standout.sanitizing.step import Step

__all__ = ["CandidateRunner"]

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
        utility |= {
            "steps": tuple(map(str, steps)),
            "seed": self.seed,
            "fingerprint": self.release.fingerprint,
        }
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

    def _sanitized_utility(
        self, benchmark: RecommenderBenchmark, steps: HistorySteps, noise_seed: int
    ) -> Utility:
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
    return cast(HistorySteps, steps)
