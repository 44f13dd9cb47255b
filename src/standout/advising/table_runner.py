"""Measures candidates for a table: quick, full and fresh."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from standout._version import __version__
from standout.advising.candidate import Candidate, Steps
from standout.advising.checkpointed_runner import CheckpointedRunner
from standout.advising.table_built_in_steps import table_built_in_steps
from standout.advising.table_candidate_utility import TableCandidateUtility, TableUtilityBenchmark
from standout.advising.table_combinations import propose_table_combinations
from standout.advising.table_identification import table_identification_risk
from standout.evaluate.estimates import Estimate
from standout.findings.advice import Among, Stage
from standout.findings.json_types import JsonObject
from standout.table_attack.table_adversary import TableAdversary
from standout.table_attack.table_attacks import TableAttack
from standout.table_sanitizing.sanitize_table import sanitize_table
from standout.table_sanitizing.table_step import TableStep
from standout.tables.model import Table

__all__ = ["TableCandidateRunner"]

ROUNDS = (20, 16, 16)
"""Number of combinations in each round; each round learns from those before."""
QUICK_TARGETS = 500
QUICK_ROWS, FULL_ROWS = 2_000, 10_000
"""Number of people on whom associations are compared."""
FULL, FRESH = 1, 2
"""Added to the seed, so that each stage has other targets and known facts than the stage before."""


@dataclass(eq=False)
class TableCandidateRunner(CheckpointedRunner[TableCandidateUtility]):
    """One table and one adversary. All candidates are measured with the same people."""

    table: Table
    adversary: TableAdversary
    targets: int
    seed: int
    among: Among = "released"
    threads: int | None = None
    work: Path | None = None
    attacks: Mapping[str, TableAttack] = field(default_factory=dict)
    measured: dict[str, JsonObject] = field(default_factory=dict)

    def built_in_candidates(self, limit: float) -> list[Steps]:
        """Each built-in step on its own."""
        return [(step,) for step in table_built_in_steps(self.table, self.adversary)]

    def combination_rounds(self) -> tuple[int, ...]:
        """Three rounds, because a table may need steps on many columns."""
        return ROUNDS

    def propose(
        self, tried: Mapping[Steps, Candidate[TableCandidateUtility]], limit: float, count: int
    ) -> list[Steps]:
        """Combinations of tried steps on different columns."""
        attributes = len(self.table.attributes if self.adversary.columns is None else self.adversary.columns)
        return propose_table_combinations(tried, limit, count, min(1.0, self.adversary.most / attributes))

    def _run(self, stage: Stage, steps: Steps) -> Candidate[TableCandidateUtility]:
        fresh = FRESH if stage == "fresh" else 0
        draw = {"quick": 0, "full": FULL, "fresh": FRESH}[stage]
        table_steps = [step for step in steps if isinstance(step, TableStep)]
        safer = sanitize_table(self.table, table_steps, seed=self.seed + fresh)
        targets = min(QUICK_TARGETS, self.targets) if stage == "quick" else self.targets
        risk = table_identification_risk(
            safer, self.adversary, targets, self.seed + draw, self.threads, self.attacks
        )
        benchmark = self._quick_benchmark if stage == "quick" else self._full_benchmark
        return Candidate(steps, risk, benchmark.measure(safer), stage, self.among)

    def _stored_utility(self, steps: Steps, estimates: Mapping[str, Estimate]) -> TableCandidateUtility:
        return TableCandidateUtility(
            kept=estimates["kept"],
            information=estimates["information"],
            associations=estimates.get("associations"),
            rows_kept=estimates["rows_kept"],
            bits=estimates["bits"],
        )

    @cached_property
    def _quick_benchmark(self) -> TableUtilityBenchmark:
        return TableUtilityBenchmark(self.table, QUICK_ROWS, self.seed)

    @cached_property
    def _full_benchmark(self) -> TableUtilityBenchmark:
        return TableUtilityBenchmark(self.table, FULL_ROWS, self.seed)

    def _key(self, stage: Stage, steps: Steps) -> str:
        """Hash of everything that the numbers of a candidate depend on."""
        settings = (
            "table",
            stage,
            list(map(str, steps)),
            repr(self.adversary),
            [repr(attack) for attack in self.attacks.values()],
            [(column.error, repr(column.similarity), column.attribute) for column in self.table.columns],
            self.targets,
            self.seed,
            (QUICK_TARGETS, QUICK_ROWS, FULL_ROWS),
            self.table.fingerprint,
            __version__,
        )
        return hashlib.blake2b(json.dumps(settings, default=str).encode(), digest_size=12).hexdigest()
