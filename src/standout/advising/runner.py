"""Ways to sanitize a release, tried: quickly, fully, and afresh. What was tried is kept, if asked for."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from standout._version import __version__
from standout.adversary import Adversary
from standout.advising.candidate import Point, key_of
from standout.advising.strongest_attack import Among, Risk, risk
from standout.core.atomic_files import write_atomically
from standout.data_utility.recommender_benchmark import RecommenderBenchmark
from standout.data_utility.utility import Utility, measure_utility
from standout.release.model import Release
from standout.sanitized import Sanitized
from standout.sanitizing.sanitize import sanitize
from standout.sanitizing.step import Step

__all__ = ["Lab"]

QUICK_TARGETS = 500
ENOUGH = 1_000_000
"""Quick recommenders learn from about so many entries at most."""
FULL, FRESH = 1, 2
"""Added to the seed: people and facts that a way is measure_utility by are not those it was chosen by."""


@dataclass(eq=False)
class Lab:
    """One release and one adversary; ways to sanitize it are tried with the same people and entries."""

    release: Release
    adversary: Adversary
    targets: int
    people: int
    seed: int
    among: Among = "released"
    threads: int | None = None
    work: Path | None = None
    kept: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.work is not None:
            try:
                self.kept = dict(json.loads(self._file.read_text(encoding="utf-8")))
            except (OSError, ValueError, TypeError):
                self.kept = {}

    def quick(self, steps: Sequence[Step]) -> Point:
        """A few people; on large data a recommender that learns from a part. Sanitized once, for both."""
        return self._tried("quick", tuple(steps))

    def full(self, steps: Sequence[Step]) -> Point:
        """As many people as were asked for, others than before; the whole of the release."""
        return self._tried("full", tuple(steps))

    def fresh(self, steps: Sequence[Step]) -> Point:
        """Once more with people, facts, held-out entries and noise that nothing was chosen by."""
        return self._tried("fresh", tuple(steps))

    def _tried(self, stage: str, steps: tuple[Step, ...]) -> Point:
        key = key_of(
            stage, list(map(str, steps)), self.adversary.key(), self.targets, self.people, self.seed,
            QUICK_TARGETS, ENOUGH, self.release.fingerprint, __version__,
        )  # fmt: skip
        if key in self.kept:
            return Point.of(self.kept[key], steps, self.among, self.seed, self.release.fingerprint)
        found: Point = getattr(self, f"_{stage}")(steps)
        self.kept[key] = found.to_dict()
        if self.work is not None:
            text = json.dumps(self.kept)
            write_atomically(self._file, lambda file: file.write(text.encode()), private=True)
        return found

    def _quick(self, steps: tuple[Step, ...]) -> Point:
        safer = sanitize(self._bench.holdout.rest, *steps, seed=self.seed, threads=self.threads)
        found = risk(safer, steps, self.adversary, QUICK_TARGETS, self.seed, self.threads)
        return Point(steps, found, self._judged(self._bench, safer, steps), "quick", self.among)

    def _full(self, steps: tuple[Step, ...]) -> Point:
        if self._bench.share == 1:
            price = self.quick(steps).utility
        else:
            safer = sanitize(self._whole.holdout.rest, *steps, seed=self.seed, threads=self.threads)
            price = self._judged(self._whole, safer, steps)
        return Point(steps, self._risk(steps, self.seed, FULL), price, "full", self.among)

    def _fresh(self, steps: tuple[Step, ...]) -> Point:
        noise = self.seed + FRESH
        safer = sanitize(self._other.holdout.rest, *steps, seed=noise, threads=self.threads)
        price = self._judged(self._other, safer, steps)
        return Point(steps, self._risk(steps, noise, FRESH), price, "fresh", self.among)

    def _risk(self, steps: tuple[Step, ...], noise: int, draw: int) -> Risk:
        safer = sanitize(self.release, *steps, seed=noise, threads=self.threads)
        return risk(safer, steps, self.adversary, self.targets, self.seed + draw, self.threads)

    def _judged(self, bench: RecommenderBenchmark, safer: Sanitized, steps: tuple[Step, ...]) -> Utility:
        return measure_utility(bench, safer, tuple(map(str, steps)), self.seed, self.release.fingerprint)

    @cached_property
    def _bench(self) -> RecommenderBenchmark:
        share = min(1.0, ENOUGH / self.release.n_entries)
        return RecommenderBenchmark.of(self.release, self.people, self.seed, share)

    @cached_property
    def _whole(self) -> RecommenderBenchmark:
        return RecommenderBenchmark(self._bench.holdout)

    @cached_property
    def _other(self) -> RecommenderBenchmark:
        return RecommenderBenchmark.of(self.release, self.people, self.seed + FRESH)

    @property
    def _file(self) -> Path:
        assert self.work is not None
        return self.work / "advice.json"
