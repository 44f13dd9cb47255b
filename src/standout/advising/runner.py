"""Measures candidates in three stages, quick, full and fresh, and stores each result in a checkpoint."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from standout._version import __version__
from standout.advising.built_in_steps import built_in_steps, table_built_in_steps
from standout.advising.candidate import Candidate, Steps, propose_column_combinations, propose_combinations
from standout.advising.risk import IdentificationRisk, identification_risk
from standout.attack.any_attack import AnyAttack, checkpoint_key
from standout.core.arrays import Ints
from standout.core.json_files import JsonObject, read_checkpoint, write_checkpoint
from standout.core.rng import generator
from standout.data.release import Release
from standout.evaluate.estimates import Estimate
from standout.findings.advice import Among, Stage
from standout.know.adversary import Adversary
from standout.know.sanitized import Sanitized
from standout.sanitizing.column_utility import ColumnUtility, association, column_utility, columns_at
from standout.sanitizing.recommender import RecommenderBenchmark
from standout.sanitizing.sanitize import sanitize
from standout.sanitizing.utility import Utility, entry_measures

ABOUT = "candidates"
"""What the checkpoint has. The key of each candidate depends on all settings."""
FIRST_COMBINATIONS, MORE_COMBINATIONS = 24, 16
"""Number of combinations in the first round and in the second, which learns from the first."""
COLUMN_ROUNDS = (20, 16, 16)
"""The same with columns: three rounds, because steps on many columns may be needed."""
QUICK_TARGETS = 500
QUICK_ENTRIES = 1_000_000
"""In the quick stage, recommenders learn from about this many entries at most."""
QUICK_ROWS, FULL_ROWS = 2_000, 10_000
"""Number of people on whom associations of columns are compared."""
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
            parse = lambda content: dict(json.loads(content))  # noqa: E731
            self.measured = read_checkpoint(self._checkpoint, ABOUT, parse) or {}

    def built_in_candidates(self, limit: float) -> list[Steps]:
        """Each built-in step on its own."""
        if self.release.columns:
            return [(step,) for step in table_built_in_steps(self.release, self.adversary)]
        return [(step,) for step in built_in_steps(self.release, limit)]

    def combination_rounds(self) -> tuple[int, ...]:
        """Number of combinations in each round; each round learns from those before."""
        return COLUMN_ROUNDS if self.release.columns else (FIRST_COMBINATIONS, MORE_COMBINATIONS)

    def propose(self, tried: Mapping[Steps, Candidate], limit: float, count: int) -> list[Steps]:
        """Combinations of steps of different families that were not tried yet and promise most."""
        if not self.release.columns:
            return propose_combinations(tried, limit, count)
        attributes = len(self.release.attributes if self.adversary.columns is None else self.adversary.columns)
        return propose_column_combinations(tried, limit, count, min(1.0, self.adversary.knows / attributes))

    def quick(self, steps: Steps) -> Candidate:
        """Measure with few targets, and on large data with a part of it."""
        return self._measure("quick", tuple(steps))

    def full(self, steps: Steps) -> Candidate:
        """Measure with all targets, other ones than in the quick stage, and with all data."""
        return self._measure("full", tuple(steps))

    def fresh(self, steps: Steps) -> Candidate:
        """Measure once more with targets, facts, held-out entries and noise that influenced no choice."""
        return self._measure("fresh", tuple(steps))

    def _measure(self, stage: Stage, steps: Steps) -> Candidate:
        """Measure a candidate, or return what the checkpoint has."""
        key = self._key(stage, steps)
        if key in self.measured:
            return Candidate.from_checkpoint(self.measured[key], steps, self.among)
        risk, utility = (self._measure_columns if self.release.columns else self._measure_entries)(stage, steps)
        candidate = Candidate(steps, risk, utility, stage, self.among)
        self.measured[key] = candidate.to_checkpoint()
        if self.work is not None:
            write_checkpoint(self._checkpoint, ABOUT, json.dumps(self.measured).encode())
        return candidate

    def _measure_columns(self, stage: Stage, steps: Steps) -> tuple[IdentificationRisk, Utility]:
        safer = sanitize(self.release, steps, seed=self.seed + (FRESH if stage == "fresh" else 0))
        targets = min(QUICK_TARGETS, self.targets) if stage == "quick" else self.targets
        draw = {"quick": 0, "full": FULL, "fresh": FRESH}[stage]
        benchmark = self._quick_columns if stage == "quick" else self._full_columns
        return self._risk(safer, targets, self.seed + draw), benchmark.measure(safer)

    def _measure_entries(self, stage: Stage, steps: Steps) -> tuple[IdentificationRisk, Utility]:
        if stage == "quick":
            # One sanitized release serves both measurements, which halves the time of the stage.
            safer = self._sanitized_rest(self._quick_benchmark, steps, self.seed)
            return self._risk(safer, QUICK_TARGETS, self.seed), self._utility(self._quick_benchmark, safer, steps)
        draw = FULL if stage == "full" else FRESH
        noise_seed = self.seed + (FRESH if stage == "fresh" else 0)
        if stage == "full" and self._quick_benchmark.share == 1:
            utility = self.quick(steps).utility
        else:
            benchmark = self._full_benchmark if stage == "full" else self._fresh_benchmark
            utility = self._utility(benchmark, self._sanitized_rest(benchmark, steps, noise_seed), steps)
        safer = sanitize(self.release, steps, seed=noise_seed, threads=self.threads)
        return self._risk(safer, self.targets, self.seed + draw), utility

    def _risk(self, safer: Sanitized, targets: int, seed: int) -> IdentificationRisk:
        return identification_risk(safer, self.adversary, targets, seed, self.threads, self.attacks)

    def _sanitized_rest(self, benchmark: RecommenderBenchmark, steps: Steps, noise_seed: int) -> Sanitized:
        return sanitize(benchmark.holdout.rest, steps, seed=noise_seed, threads=self.threads)

    def _utility(self, benchmark: RecommenderBenchmark, safer: Sanitized, steps: Steps) -> Utility:
        measures: dict[str, Any] = {**entry_measures(benchmark, safer, self.seed)}
        steps_made = tuple(map(str, steps))
        return Utility(steps=steps_made, seed=self.seed, fingerprint=self.release.fingerprint, **measures)

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

    @cached_property
    def _quick_columns(self) -> "ColumnBenchmark":
        return ColumnBenchmark(self.release, QUICK_ROWS, self.seed)

    @cached_property
    def _full_columns(self) -> "ColumnBenchmark":
        return ColumnBenchmark(self.release, FULL_ROWS, self.seed)

    @property
    def _checkpoint(self) -> Path:
        assert self.work is not None
        return self.work / "candidates.checkpoint"

    def _key(self, stage: Stage, steps: Steps) -> str:
        """Hash of everything that the numbers of a candidate depend on."""
        columns = self.release.columns
        settings = (
            stage,
            list(map(str, steps)),
            repr(self.adversary) if columns else self.adversary.key(),
            [] if self.work is None else [checkpoint_key(attack, "work") for attack in self.attacks.values()],
            [(column.error, repr(column.similarity), column.attribute) for column in columns],
            self.targets,
            self.people,
            self.seed,
            (QUICK_TARGETS, QUICK_ENTRIES, QUICK_ROWS, FULL_ROWS),
            self.release.fingerprint,
            __version__,
        )
        return hashlib.blake2b(json.dumps(settings, default=str).encode(), digest_size=12).hexdigest()


# Utility of a candidate with columns: what its cells and the associations of its columns still say.
#
# information    bits that a released cell says about the original one / bits of the original one, mean over
#                all columns that vary; people who are left out say nothing
# associations   1 − Σ |change of the association of two columns| / Σ association, over all pairs that are
#                associated beyond what chance gives
# kept           the smaller of the two, so that a change that either use would notice has a cost


SHUFFLES, CHANCE = 5, 2.0
"""A pair counts if its association exceeds twice the largest of 5 that shuffled rows have by chance."""


@dataclass(eq=False)
class ColumnBenchmark:
    """The original, and the sample of its people on whom associations are compared."""

    release: Release
    rows: int
    seed: int

    def measure(self, safer: Sanitized) -> Utility:
        """Utility of a release that was made from the original."""
        columns, n = tuple(column_utility(safer, old) for old in self.release.columns), self.release.n_records
        information = _exact(_information(columns), n)
        associations = self._associations(safer)
        shares = [information] if associations is None else [information, associations]
        return Utility(
            steps=tuple(report.step for report in safer.step_reports),
            kept=min(shares, key=lambda share: share.value),
            information=information,
            associations=associations,
            rows_kept=_exact(safer.n_records / n, n),
            bits=_exact(math.fsum(column.bits_kept for column in columns), n),
            seed=self.seed,
            fingerprint=self.release.fingerprint,
        )

    def _associations(self, safer: Sanitized) -> Estimate | None:
        if not self._before:
            return None
        total, after = math.fsum(self._before.values()), self._after(safer)
        change = math.fsum(abs(after[pair] - before) for pair, before in self._before.items())
        value, n = max(1.0 - change / total, 0.0), len(self._people)
        return _exact(value, n) if n == self.release.n_records else Estimate(value, math.nan, math.nan, n, 0.0)

    def _after(self, safer: Sanitized) -> dict[tuple[str, str], float]:
        """The association of each pair; only pairs with a changed column are computed."""
        is_used = np.zeros(self.release.n_records, np.bool_)
        is_used[self._people] = True
        new = columns_at(safer, np.flatnonzero(is_used[safer.original_row]))
        is_whole = safer.n_records == self.release.n_records
        same = {name for name in new if is_whole and name not in safer.channels}
        return {
            (a, b): before if a in same and b in same else association(new[a], new[b]) if a in new and b in new else 0.0
            for (a, b), before in self._before.items()
        }

    @cached_property
    def _people(self) -> Ints:
        order = generator(self.seed, "advice", "association rows").permutation(self.release.n_records)
        return np.sort(order[: self.rows])

    @cached_property
    def _before(self) -> dict[tuple[str, str], float]:
        """The association of each pair in the original, unless chance explains it."""
        old = columns_at(self.release, self._people)
        draw, n = generator(self.seed, "advice", "shuffled rows"), len(self._people)
        orders = [draw.permutation(n) for _ in range(SHUFFLES)]
        shuffled = [{name: column.rows(order) for name, column in old.items()} for order in orders]
        before = {}
        for a, b in combinations(old, 2):
            strength = association(old[a], old[b])
            chance = max(association(old[a], columns[b]) for columns in shuffled)
            if strength > CHANCE * max(chance, 1.0 / math.sqrt(n)):
                before[a, b] = strength
        return before


def _information(columns: tuple[ColumnUtility, ...]) -> float:
    """Mean share of the bits of a column that is left; 1 if no column varies."""
    shares = [min(column.bits_kept / column.bits_before, 1.0) for column in columns if column.bits_before > 0]
    return math.fsum(shares) / len(shares) if shares else 1.0


def _exact(value: float, n: int) -> Estimate:
    """A number that is counted, not estimated."""
    return Estimate(value, value, value, n, 0.0)
