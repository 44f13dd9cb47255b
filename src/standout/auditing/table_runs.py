"""The attacks of an audit of a table: each adversary with each attack, on the same targets and facts."""

import math
from dataclasses import dataclass, replace

import numpy as np

from standout.attack.column_scores import AttackName, ColumnVerdicts, attack_columns, attack_named
from standout.attack.scoreboard import ScoreboardRH
from standout.auditing.ladder import Rung, eligible_share, with_facts
from standout.auditing.runs import AuditPlan
from standout.core.arrays import Bools, Floats, Ints
from standout.core.progress import Progress
from standout.core.rng import key
from standout.evaluate.claims import ClaimRates, RatesWithinBudget, rates_within_budget
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.simulate_table import TableSimulation, population_rates, table_targets
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
STRONGEST = 12.0
"""Largest strength of a claim: a posterior of 1 − 10^−12 counts as certain, even if it is not quite 1."""


@dataclass(frozen=True, eq=False, slots=True)
class TableAttackRun:
    """One attack of one adversary, and its claims within the budget."""

    name: str
    simulation: TableSimulation
    within: RatesWithinBudget
    is_present: Bools

    @property
    def claims_by_posterior(self) -> bool:
        """Whether a claim needs a posterior; otherwise an eccentricity."""
        return not isinstance(self.simulation.attack, ScoreboardRH)

    @property
    def threshold_at_budget(self) -> float:
        """The threshold that keeps to the budget: an eccentricity, or a posterior."""
        phi = self.within.phi
        return phi if not self.claims_by_posterior else min(max(1.0 - 10.0**-phi, 0.0), 1.0)

    @property
    def identified_in_table(self) -> Estimate:
        """Share of identified targets among those who are in the table."""
        found, n = self.simulation.verdicts.found[self.is_present], int(self.is_present.sum())
        return rate(min(math.fsum(found), n), n, 1.0 / self.simulation.verdicts.candidates)


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
    rows, left_out = table_targets(plan.release, adversary, plan.targets, plan.seed)
    facts = adversary.observe_all(plan.original, rows, plan.seed)
    strongest = _strongest(plan, adversary, rows, progress)
    names = sorted(ATTACKS, key=lambda name: name != strongest)
    runs = [_run_attack(plan, adversary, name, facts, left_out, progress) for name in names]
    return TableRun(rung, facts, left_out, tuple(runs))


def strongest_verdicts(
    plan: AuditPlan, adversary: Adversary, facts: KnownFacts, progress: Progress
) -> tuple[str, ColumnVerdicts]:
    """Name of the strongest attack, chosen on other targets, and its verdicts."""
    strongest = _strongest(plan, adversary, facts.cells.target, progress)
    return strongest, _verdicts(plan, adversary, strongest, facts, progress)


def _strongest(plan: AuditPlan, adversary: Adversary, reported: Ints, progress: Progress) -> AttackName:
    """Name of the attack that identifies most people other than those it is reported on."""
    order, _ = table_targets(plan.release, adversary, None, plan.seed, "choice")
    others = order[~np.isin(order, reported)]
    targets = min(PILOT_TARGETS, max(PILOT_WORK // plan.release.n_records, PILOT_TARGETS // 3))
    pilot = (others if len(others) >= FEWEST else order)[:targets]
    facts = adversary.observe_all(plan.original, pilot, int(key(plan.seed, "choice") >> np.uint64(1)))
    success = {name: math.fsum(_verdicts(plan, adversary, name, facts, progress).found) for name in ATTACKS}
    return max(ATTACKS, key=lambda name: success[name])  # the first of equally strong ones


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
    attack = attack_named(name, adversary)
    population = None
    if plan.population is not None:
        population = population_rates(verdicts, absent, plan.population, plan.posterior, plan.original.n_records)
    simulation = TableSimulation(
        adversary, attack, facts.cells.target, left_out, verdicts, absent, plan.posterior, plan.phi, population
    )
    by_posterior = name != "paper"
    rates = ClaimRates(
        _strength(verdicts, by_posterior)[:, None],
        (verdicts.found == 1.0).astype(np.float64)[:, None],
        _strength(absent, by_posterior)[:, None],
        0.0 if by_posterior else 2.0 / max(plan.release.n_records, 2),
    )
    present = representatives_of(plan.release)[facts.cells.target] >= 0
    return TableAttackRun(name, simulation, rates_within_budget(rates, plan.budget), present)


def _strength(verdicts: ColumnVerdicts, by_posterior: bool) -> Floats:
    """How strong each claim is; below 0 where there is nothing to claim."""
    if not by_posterior:
        return np.minimum(verdicts.eccentricity, 1e9)
    strength = -np.log10(np.maximum(1.0 - verdicts.posterior, 10.0**-STRONGEST))
    return np.where(verdicts.ties > 0, strength, -1.0)


def run_curve(plan: AuditPlan, adversary: Adversary, progress: Progress) -> TableCurve:
    """What each attack identifies with other numbers of attributes, on the same targets.

    The known attributes of a point are the first that the adversary of the largest point learns. So a smaller
    number has, on average, the same share of wrong ones.
    """
    most = _most_attributes(plan, adversary)
    longest = with_facts(adversary, most)
    targets = min(plan.targets, max(CURVE_WORK // plan.release.n_records, FEWEST))
    rows, left_out = table_targets(plan.release, longest, targets, plan.seed, "curve")
    facts = longest.observe_all(plan.original, rows, plan.seed)
    knows = tuple(sorted({*(size for size in plan.facts if size < most), most}))
    identified: dict[str, list[Estimate]] = {name: [] for name in ATTACKS}
    for size in knows:
        known = replace(facts, cells=facts.cells.first_attributes(plan.original, size))
        for name in ATTACKS:
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
    after = run.strongest.simulation.verdicts
    return compare_before_after(
        run.rung.name,
        Successes(attack=name, success=before.found, baseline=1 / before.candidates),
        Successes(attack=run.strongest.name, success=after.found, baseline=1 / after.candidates),
        run.strongest.is_present,
    )
