"""The attacks of an audit of a table: each adversary with each attack, on the same targets and facts."""

import math
from dataclasses import dataclass, fields, replace

import numpy as np

from standout.attack.column_scores import AttackName, ColumnVerdicts, attack_columns, attack_named
from standout.auditing.ladder import Rung, eligible_share, with_facts
from standout.auditing.runs import AuditPlan
from standout.core.arrays import Bools, Ints
from standout.core.progress import Progress
from standout.core.rng import key
from standout.evaluate.claims import ClaimRates, ClaimThreshold, RatesWithinBudget, rates_within_budget
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.outcomes import Outcomes, column_outcomes
from standout.evaluate.simulation import RandomGuess, SimulationCell, population_rates
from standout.evaluate.targets import column_targets
from standout.findings.adversaries import AdversaryBeforeAfter, Successes, compare_before_after
from standout.know.adversary import Adversary
from standout.know.facts import KnownFacts
from standout.know.sanitized import representatives_of

ATTACKS: tuple[AttackName, ...] = ("likelihood", "paper", "exact match")
PILOT_TARGETS = 300
"""Number of other targets on which attacks are compared."""
PILOT_WORK = 100_000_000
"""Fewer are enough if the table has so many rows that targets · rows would exceed this; at least a third."""
FEWEST = 30
"""With fewer other targets than this, attacks are compared on the reported targets with other facts."""
CURVE_SHARE = 0.5
"""A curve ends at the largest number of attributes for which this share of the rows has enough cells."""
CURVE_WORK = 400_000_000
"""A curve has fewer targets if the table has so many rows that targets · rows would exceed this."""


@dataclass(frozen=True, eq=False, slots=True)
class TableAttackRun:
    """One attack of one adversary, and its claims within the budget."""

    name: AttackName
    verdicts: ColumnVerdicts
    absent: ColumnVerdicts
    cell: SimulationCell
    within: RatesWithinBudget
    is_present: Bools

    @property
    def claims_by_posterior(self) -> bool:
        """Whether a claim needs a posterior; otherwise an eccentricity."""
        return self.name != "paper"

    @property
    def threshold_at_budget(self) -> float:
        """The threshold that keeps to the budget: an eccentricity, or a posterior."""
        phi = self.within.phi
        return phi if not self.claims_by_posterior else min(max(1.0 - 10.0**-phi, 0.0), 1.0)

    @property
    def identified_in_table(self) -> Estimate:
        """Share of identified targets among those who are in the table."""
        found, n = self.verdicts.found[self.is_present], int(self.is_present.sum())
        return rate(min(math.fsum(found), n), n, 1.0 / self.verdicts.candidates)


@dataclass(frozen=True, eq=False, slots=True)
class TableRun:
    """The attacks of one adversary on the same targets with the same facts, the strongest first.

    Which attack is the strongest was decided on other targets.
    """

    rung: Rung
    facts: KnownFacts
    n_left_out: int
    attacks: tuple[TableAttackRun, ...]

    @property
    def strongest(self) -> TableAttackRun:
        """The attack that counts."""
        return self.attacks[0]


@dataclass(frozen=True, eq=False, slots=True)
class TableCurve:
    """What each attack identifies, by number of known attributes; `adversary` knows the most of these."""

    adversary: Adversary
    knows: tuple[int, ...]
    n_left_out: int
    identified: dict[str, tuple[Estimate, ...]]


def run_table_adversary(plan: AuditPlan, rung: Rung, progress: Progress) -> TableRun:
    """All attacks of an adversary exactly as it is named."""
    adversary = rung.adversary
    rows, left_out = column_targets(plan.release, adversary, plan.targets, plan.seed)
    facts = adversary.observe_all(plan.original, rows, plan.seed)
    strongest = _strongest(plan, adversary, rows, progress)
    names = sorted(tried_attacks(plan), key=lambda name: name != strongest)
    runs = [_run_attack(plan, adversary, name, facts, left_out, progress) for name in names]
    return TableRun(rung, facts, left_out, tuple(runs))


def tried_attacks(plan: AuditPlan) -> tuple[AttackName, ...]:
    """Names of the attacks to try: the one that was asked for, or all."""
    return tuple(name for name in ATTACKS if plan.only in (None, name))


def strongest_verdicts(
    plan: AuditPlan, adversary: Adversary, facts: KnownFacts, progress: Progress
) -> tuple[str, ColumnVerdicts]:
    """Name of the strongest attack, chosen on other targets, and its verdicts."""
    strongest = _strongest(plan, adversary, facts.cells.target, progress)
    return strongest, _verdicts(plan, adversary, strongest, facts, progress)


def _strongest(plan: AuditPlan, adversary: Adversary, reported: Ints, progress: Progress) -> AttackName:
    """Name of the attack that identifies most people other than those it is reported on."""
    names = tried_attacks(plan)
    if len(names) == 1:
        return names[0]
    order, _ = column_targets(plan.release, adversary, None, plan.seed, "choice")
    others = order[~np.isin(order, reported)]
    targets = min(PILOT_TARGETS, max(PILOT_WORK // plan.release.n_records, PILOT_TARGETS // 3))
    pilot = (others if len(others) >= FEWEST else order)[:targets]
    facts = adversary.observe_all(plan.original, pilot, int(key(plan.seed, "choice") >> np.uint64(1)))
    success = {name: math.fsum(_verdicts(plan, adversary, name, facts, progress).found) for name in names}
    return max(names, key=lambda name: success[name])  # the first of equally strong ones


def _verdicts(
    plan: AuditPlan,
    adversary: Adversary,
    name: AttackName,
    facts: KnownFacts,
    progress: Progress,
    *,
    absent: bool = False,
    probabilities: bool = False,
) -> ColumnVerdicts:
    return attack_columns(
        plan.release,
        facts,
        attack_named(name, adversary),
        absent=absent,
        probabilities=probabilities,
        threads=plan.threads,
        progress=progress,
    )


def _run_attack(
    plan: AuditPlan, adversary: Adversary, name: AttackName, facts: KnownFacts, left_out: int, progress: Progress
) -> TableAttackRun:
    verdicts = _verdicts(plan, adversary, name, facts, progress, probabilities=True)
    absent = _verdicts(plan, adversary, name, facts, progress, absent=True, probabilities=plan.population is not None)
    is_present = representatives_of(plan.release)[facts.cells.target] >= 0
    by_posterior = name != "paper"
    outcomes = column_outcomes(verdicts, absent, by_posterior)
    population = None
    if plan.population is not None:
        counts = plan.release.n_records, plan.original.n_records, int(is_present.sum())
        population = population_rates(outcomes, plan.population, plan.posterior, *counts)
    cell = SimulationCell(
        adversary=name,
        facts=adversary.knows,
        outcomes=Outcomes(*(getattr(outcomes, field.name)[:, None] for field in fields(Outcomes))),
        n_records=plan.release.n_records,
        n_considered=plan.original.n_records,
        too_few_items=left_out,
        random_guess=RandomGuess(math.nan, math.nan),
        targets=facts.cells.target,
        threshold=ClaimThreshold("posterior", plan.posterior) if by_posterior else ClaimThreshold("phi", plan.phi),
        population=population,
    )
    rates = ClaimRates.of(cell.outcomes, 0.0 if by_posterior else 2.0 / max(plan.release.n_records, 2))
    return TableAttackRun(name, verdicts, absent, cell, rates_within_budget(rates, plan.budget), is_present)


def run_curve(plan: AuditPlan, adversary: Adversary, progress: Progress) -> TableCurve:
    """What each attack identifies with other numbers of attributes, on the same targets.

    The known attributes of a point are the first that the adversary of the largest point learns. So a smaller
    number has, on average, the same share of wrong ones.
    """
    most = _most_attributes(plan, adversary)
    longest = with_facts(adversary, most)
    targets = min(plan.targets, max(CURVE_WORK // plan.release.n_records, FEWEST))
    rows, left_out = column_targets(plan.release, longest, targets, plan.seed, "curve")
    facts = longest.observe_all(plan.original, rows, plan.seed)
    knows = tuple(sorted({*(size for size in plan.facts if size < most), most}))
    identified: dict[str, list[Estimate]] = {name: [] for name in tried_attacks(plan)}
    for size in knows:
        known = replace(facts, cells=facts.cells.first_attributes(plan.original, size))
        for name in tried_attacks(plan):
            verdicts = _verdicts(plan, longest, name, known, progress)
            estimate = rate(min(math.fsum(verdicts.found), len(rows)), len(rows), 1.0 / max(verdicts.candidates, 1))
            identified[name].append(estimate)
    return TableCurve(longest, knows, left_out, {name: tuple(points) for name, points in identified.items()})


def _most_attributes(plan: AuditPlan, adversary: Adversary) -> int:
    """The largest number of attributes in the curve.

    If the table has too few attributes for a larger one, it is the adversary's own: the curve reaches the
    answer.
    """
    names = plan.original.attributes if adversary.columns is None else adversary.columns
    own = {adversary.knows} if adversary.knows < max(plan.facts) else set()
    for size in sorted({*plan.facts, *own}, reverse=True):
        if size <= len(names) and eligible_share(with_facts(adversary, size), plan.original) >= CURVE_SHARE:
            return size
    return 1


# What the adversaries of an audit identify in the original table, to compare with the sanitized one.


def attack_original_table(plan: AuditPlan, run: TableRun, progress: Progress) -> AdversaryBeforeAfter:
    """Attack the original table with the same targets and facts as the sanitized one.

    The attack is the strongest on the original, chosen on other targets, as it is for the sanitized table.
    """
    before_plan = replace(plan, release=plan.original)
    name, before = strongest_verdicts(before_plan, run.rung.adversary, run.facts, progress)
    after = run.strongest.verdicts
    return compare_before_after(
        run.rung.name,
        Successes(attack=name, success=before.found, baseline=1 / before.candidates),
        Successes(attack=run.strongest.name, success=after.found, baseline=1 / after.candidates),
        run.strongest.is_present,
    )
