"""Measures candidates in three stages: quick, full and fresh. A checkpoint stores what was measured."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from standout._version import __version__
from standout.adversary import Adversary
from standout.advising.candidate import Candidate, Steps
from standout.advising.strongest_attack import IdentificationRisk, identification_risk
from standout.attack.any_attack import AnyAttack, checkpoint_key
from standout.core.atomic_files import write_atomically
from standout.data_utility.recommender_benchmark import RecommenderBenchmark
from standout.data_utility.utility import Utility, measure_utility
from standout.findings.advice import Among, Stage
from standout.findings.json_types import JsonObject
from standout.release.model import Release
from standout.sanitized import Sanitized
from standout.sanitizing.sanitize import sanitize
from standout.sanitizing.step import Step

__all__ = ["CandidateRunner"]

QUICK_TARGETS = 500
QUICK_ENTRIES = 1_000_000
"""In the quick stage, recommenders learn from about this many entries at most."""
FULL, FRESH = 1, 2
"""Added to the seed, so that each stage has other targets and known facts than the stage before."""


@dataclass(eq=False)
class CandidateRunner:
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

    def __post_init__(self) -> None:
        if self.work is not None:
            try:
                self.measured = dict(json.loads(self._checkpoint.read_text(encoding="utf-8")))
            except (OSError, ValueError, TypeError):
                self.measured = {}

    def quick(self, steps: Sequence[Step]) -> Candidate:
        """Measure with few targets, and on large data with a recommender that learns from a part."""
        return self._measure("quick", tuple(steps))

    def full(self, steps: Sequence[Step]) -> Candidate:
        """Measure with all targets, other ones than in the quick stage, and with the whole release."""
        return self._measure("full", tuple(steps))

    def fresh(self, steps: Sequence[Step]) -> Candidate:
        """Measure once more with targets, facts, held-out entries and noise that influenced no choice."""
        return self._measure("fresh", tuple(steps))

    def _measure(self, stage: Stage, steps: Steps) -> Candidate:
        """Measure a candidate, or return what the checkpoint has."""
        key = self._key(stage, steps)
        if key in self.measured:
            numbers, fingerprint = self.measured[key], self.release.fingerprint
            return Candidate.from_checkpoint(numbers, steps, self.among, self.seed, fingerprint)
        measure = {"quick": self._quick, "full": self._full, "fresh": self._fresh}[stage]
        candidate = measure(steps)
        self.measured[key] = candidate.to_checkpoint()
        if self.work is not None:
            text = json.dumps(self.measured)
            write_atomically(self._checkpoint, lambda file: file.write(text.encode()), private=True)
        return candidate

    def _quick(self, steps: Steps) -> Candidate:
        # One sanitized release serves both measurements, which halves the time of the stage.
        benchmark = self._quick_benchmark
        safer = sanitize(benchmark.holdout.rest, *steps, seed=self.seed, threads=self.threads)
        risk = self._risk_of(safer, QUICK_TARGETS, self.seed)
        return Candidate(steps, risk, self._utility(benchmark, safer, steps), "quick", self.among)

    def _full(self, steps: Steps) -> Candidate:
        if self._quick_benchmark.share == 1:
            utility = self.quick(steps).utility
        else:
            utility = self._sanitized_utility(self._full_benchmark, steps, self.seed)
        return Candidate(steps, self._risk(steps, self.seed, FULL), utility, "full", self.among)

    def _fresh(self, steps: Steps) -> Candidate:
        noise_seed = self.seed + FRESH
        utility = self._sanitized_utility(self._fresh_benchmark, steps, noise_seed)
        return Candidate(steps, self._risk(steps, noise_seed, FRESH), utility, "fresh", self.among)

    def _risk(self, steps: Steps, noise_seed: int, draw: int) -> IdentificationRisk:
        safer = sanitize(self.release, *steps, seed=noise_seed, threads=self.threads)
        seed = self.seed + draw
        return self._risk_of(safer, self.targets, seed)

    def _risk_of(self, safer: Sanitized, targets: int, seed: int) -> IdentificationRisk:
        return identification_risk(safer, self.adversary, targets, seed, self.threads, self.attacks)

    def _sanitized_utility(self, benchmark: RecommenderBenchmark, steps: Steps, noise_seed: int) -> Utility:
        safer = sanitize(benchmark.holdout.rest, *steps, seed=noise_seed, threads=self.threads)
        return self._utility(benchmark, safer, steps)

    def _utility(self, benchmark: RecommenderBenchmark, safer: Sanitized, steps: Steps) -> Utility:
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

    @property
    def _checkpoint(self) -> Path:
        assert self.work is not None
        return self.work / "candidates.json"
