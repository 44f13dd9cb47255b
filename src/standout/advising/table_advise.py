"""`advise` for a table: the smallest change that brings the risk below a limit, or that there is none."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from standout._version import __version__
from standout.advising.candidate import Candidate, Steps
from standout.advising.runner import CheckpointedRunner
from standout.advising.search import search_candidates
from standout.advising.strongest_attack import IdentificationRisk
from standout.advising.table_advice import TableAdvice
from standout.advising.table_candidates import (
    TableCandidateUtility,
    TableUtilityBenchmark,
    propose_table_combinations,
    step_columns,
    table_built_in_steps,
)
from standout.attack.any_attack import AnyAttack, attacks_by_name
from standout.attack.column_scores import AttackName, attack_columns, attack_named
from standout.auditing.ladder import LadderSource, headline_adversary
from standout.core.arrays import Floats
from standout.core.errors import ParameterError, whole_number
from standout.core.files import make_folder
from standout.core.json_files import JsonObject
from standout.core.progress import Progress
from standout.core.rng import check_seed
from standout.core.text import printable
from standout.core.threads import thread_count
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.simulate_table import table_targets
from standout.findings.advice import Among, Stage
from standout.know.adversary import Adversary, check_checkpoint_key
from standout.know.sanitized import Sanitized, original_of, representatives_of
from standout.sanitizing.sanitize import sanitize
from standout.sanitizing.step import Step
from standout.sanitizing.steps import step as parse_table_step

__all__ = [
    "TableAdviceSettings",
    "TableCandidateRunner",
    "advise_table",
    "headline_table_adversary",
    "table_attacks_by_name",
    "table_identification_risk",
]

# How many people of a table the strongest of several attacks identifies.


ATTACKS: tuple[AttackName, ...] = ("likelihood", "paper", "exact match")
"""The attacks that are tried, the strongest in theory first."""


def table_identification_risk(
    table: Release,
    adversary: Adversary,
    targets: int,
    seed: int,
    threads: int | None = None,
    own_attacks: Mapping[str, AnyAttack] | None = None,
) -> IdentificationRisk:
    """Share of targets whom the strongest attack identifies; they are drawn as `simulate_table` draws them.

    The strongest attack is the one that identifies most of these targets. So the rate is a little too high,
    by less than its sampling error. Choosing the attack on other targets would have no such bias, but where
    few are identified it often chooses the weaker attack, and the rate is then too low: a limit would be met
    by chance. `own_attacks` are tried as well.
    """
    rows, _ = table_targets(table, adversary, targets, seed)
    facts = adversary.observe_all(original_of(table), rows, seed)
    attacks = {name: attack_named(name, adversary) for name in ATTACKS} | dict(own_attacks or {})
    is_present = representatives_of(table)[rows] >= 0
    success = {name: attack_columns(table, facts, attack, threads=threads).found for name, attack in attacks.items()}
    strongest = max(success, key=lambda name: math.fsum(success[name]))  # the first of equally strong ones
    found, baseline = success[strongest], 1 / table.n_records
    return IdentificationRisk(
        everybody=_rate(found, float(is_present.mean()) * baseline),
        released=_rate(found[is_present], baseline),
        attack=strongest,
    )


def _rate(success: Floats, baseline: float) -> Estimate:
    # The sum of shares like 1/3 may exceed the number of targets by rounding.
    return rate(min(math.fsum(success), len(success)), len(success), baseline)


def table_attacks_by_name(attacks: Any) -> dict[str, AnyAttack]:
    """Attacks by name: a mapping, or a list of attacks."""
    named = attacks_by_name(attacks)
    if taken := sorted({*named} & {*ATTACKS}):
        raise ParameterError(f"attacks must have names other than {', '.join(ATTACKS)}, got {taken[0]!r:.40}")
    return named


# Measures candidates for a table: quick, full and fresh.


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

    table: Release
    adversary: Adversary
    targets: int
    seed: int
    among: Among = "released"
    threads: int | None = None
    work: Path | None = None
    attacks: Mapping[str, AnyAttack] = field(default_factory=dict)
    measured: dict[str, JsonObject] = field(default_factory=dict)

    def built_in_candidates(self, limit: float) -> list[Steps]:
        """Each built-in step on its own."""
        return [(step,) for step in table_built_in_steps(self.table, self.adversary)]

    def combination_rounds(self) -> tuple[int, ...]:
        """Three rounds, because a table may need steps on many columns."""
        return ROUNDS

    def propose(self, tried: Mapping[Steps, Candidate[TableCandidateUtility]], limit: float, count: int) -> list[Steps]:
        """Combinations of tried steps on different columns."""
        attributes = len(self.table.attributes if self.adversary.columns is None else self.adversary.columns)
        return propose_table_combinations(tried, limit, count, min(1.0, self.adversary.knows / attributes))

    def _run(self, stage: Stage, steps: Steps) -> Candidate[TableCandidateUtility]:
        fresh = FRESH if stage == "fresh" else 0
        draw = {"quick": 0, "full": FULL, "fresh": FRESH}[stage]
        table_steps = [step for step in steps if isinstance(step, Step)]
        safer = sanitize(self.table, table_steps, seed=self.seed + fresh)
        targets = min(QUICK_TARGETS, self.targets) if stage == "quick" else self.targets
        risk = table_identification_risk(safer, self.adversary, targets, self.seed + draw, self.threads, self.attacks)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAdviceSettings:
    """The parameters of `advise` that apply to tables."""

    candidates: Any = None
    attacks: Any = None
    targets: int = 1000
    among: Among = "released"
    name: str = ""
    seed: int = 0
    threads: int | None = None
    work: str | Path | None = None


def advise_table(
    table: Release, adversary: Adversary | None, limit: float, settings: TableAdviceSettings, progress: Progress
) -> TableAdvice:
    """Search for the smallest change of a table; see `standout.advise`."""
    if isinstance(table, Sanitized):
        raise ParameterError("release is sanitized already: give advise the original")
    if adversary is None:
        adversary = headline_table_adversary(table)
    if not isinstance(adversary, Adversary):
        raise ParameterError(f"adversary must be a Adversary for a table, got {type(adversary).__name__}")
    if settings.work is not None and adversary.entries is not None:
        check_checkpoint_key(adversary.entries, "work")
    runner = TableCandidateRunner(
        table=table,
        adversary=adversary,
        targets=min(whole_number("targets", settings.targets, 1), table.n_records),
        seed=check_seed(settings.seed),
        among=settings.among,
        threads=thread_count(settings.threads),
        work=None if settings.work is None else make_folder(Path(settings.work), private=True),
        attacks={} if settings.attacks is None else table_attacks_by_name(settings.attacks),
    )
    given = None if settings.candidates is None else _parse_candidates(settings.candidates, table)
    result = search_candidates(runner, limit, given, progress)
    return TableAdvice(
        original=table,
        search=result,
        adversary=adversary,
        limit=limit,
        among=settings.among,
        seed=runner.seed,
        name=printable(str(settings.name)),
    )


def headline_table_adversary(table: Release, ladder: LadderSource = None, headline: str | None = None) -> Adversary:
    """The headline adversary of a ladder, adapted to the table; default: the acquaintance."""
    return headline_adversary(table, ladder, headline)


def _parse_candidates(candidates: Any, table: Release) -> list[Steps]:
    """Candidates as tuples of steps, without duplicates."""
    if isinstance(candidates, str) or not isinstance(candidates, Iterable):
        raise ParameterError(
            "candidates must be a list of steps or of sequences of steps, like ['round age 5', …], "
            f"got {type(candidates).__name__}"
        )
    parsed = [_parse_candidate(candidate, table) for candidate in candidates]
    if not parsed:
        raise ParameterError("candidates must have at least one candidate; default: built-in steps")
    return list(dict.fromkeys(parsed))


def _parse_candidate(candidate: Any, table: Release) -> Steps:
    several = [candidate] if isinstance(candidate, (str, Step)) else candidate
    if not isinstance(several, Iterable):
        raise ParameterError(
            f"candidates must be steps or sequences of steps, got one that is a {type(candidate).__name__}"
        )
    steps = tuple(parse_table_step(step) if isinstance(step, str) else step for step in several)
    if not steps or not all(isinstance(step, Step) for step in steps):
        raise ParameterError("candidates for a table must be steps on tables, such as 'round age 5'")
    for name in {name for step in steps for name in step_columns(step)}:
        table.column_position(name)
    return steps
