"""The attacks of an audit: each adversary as it is named, and with increasing numbers of known facts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from standout.attack.any_attack import AnyAttack, fit_attack
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.auditing.ladder import Rung, eligible_share, with_facts
from standout.core.arrays import Floats
from standout.core.progress import Progress
from standout.core.text import printable
from standout.data.release import Release
from standout.evaluate.compare import LIKELIHOOD, PAPER, choose_strongest
from standout.evaluate.estimates import Estimate, paired_difference, rate
from standout.evaluate.simulate import simulate
from standout.evaluate.simulation import Simulation, SimulationCell
from standout.evaluate.targets import Population, random_targets
from standout.findings.adversaries import (
    AdversaryBeforeAfter,
    AdversaryFindings,
    Control,
    CurvePoint,
    EnvelopePoint,
    Measures,
    Successes,
    compare_before_after,
)
from standout.know.adversary import Adversary

ALWAYS = (LIKELIHOOD, PAPER)
"""Attacks that every adversary makes, and that the report compares."""
CURVE_SHARE = 0.5
"""A curve ends at the largest number of facts for which this share of the records has enough entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """Settings that all attacks share, and the attacks of the user's own.

    `only` is the one attack to try, or its name; None: the paper's attack, Likelihood, and the user's own.
    """

    release: Release
    targets: int
    facts: tuple[int, ...]
    phi: float
    posterior: float
    budget: float
    top: int
    seed: int
    threads: int | None
    work: Path | None
    own_attacks: Mapping[str, AnyAttack] = field(default_factory=dict)
    only: str | AnyAttack | None = None
    population: int | None = None

    @property
    def limits(self) -> tuple[str, ...]:
        """A sentence about the attacks if not all were tried."""
        if self.only is None:
            return ()
        name = self.only if isinstance(self.only, str) else type(self.only).__name__
        return (f"The audit tried one attack only ({printable(name)}). Another attack may identify more people.",)

    @property
    def original(self) -> Release:
        """The data that adversaries know facts about."""
        return self.people.original

    @property
    def people(self) -> Population:
        """The people among whom targets are drawn."""
        return Population.of(self.release)

    def simulate(
        self, attack: AnyAttack, adversary: Adversary, facts: Sequence[int], progress: Progress, absent: bool = True
    ) -> Simulation:
        """Attacks of the adversary with these numbers of facts, also on absent targets as a control."""
        return simulate(
            self.release,
            {"adversary": adversary},
            attack=attack,
            facts=list(facts),
            targets=self.targets,
            phi=self.phi,
            posterior=self.posterior,
            budget=self.budget,
            top=self.top,
            absent=absent,
            seed=self.seed,
            threads=self.threads,
            progress=progress,
            save=None if self.work is None else self.work / "attack",
        )


@dataclass(frozen=True, slots=True)
class AttackRun:
    """One attack of one adversary: `as_named`, and `curve` with other numbers of facts.

    Both are None if the audit was interrupted before them.
    """

    name: str
    attack: AnyAttack
    as_named: Simulation | None
    curve: Simulation | None

    @property
    def complete(self) -> bool:
        """Whether all targets were attacked."""
        return all(simulation is not None and simulation.complete for simulation in (self.as_named, self.curve))


@dataclass(frozen=True, slots=True)
class AdversaryRun:
    """The attacks of one adversary on the same targets with the same facts, the strongest first.

    Which attack is the strongest was decided on other targets.
    """

    rung: Rung
    curve_adversary: Adversary
    attacks: tuple[AttackRun, ...]
    complete: bool

    @property
    def strongest(self) -> AttackRun:
        """The attack that counts."""
        return self.attacks[0]

    @property
    def as_named(self) -> Simulation | None:
        """The strongest attack of the adversary exactly as it is named."""
        return self.strongest.as_named

    @property
    def named_cell(self) -> SimulationCell | None:
        """Outcomes of the strongest attack of the adversary exactly as it is named."""
        return self.named_cell_of(self.strongest)

    def named_cell_of(self, run: AttackRun) -> SimulationCell | None:
        """Outcomes of one attack of the adversary exactly as it is named."""
        cells = [] if run.as_named is None else run.as_named.cells
        return next((cell for cell in cells if cell.facts == self.rung.adversary.knows), None)

    def points_of(self, run: AttackRun) -> tuple[tuple[Simulation, SimulationCell], ...]:
        """The points of the curve of one attack, each with the simulation that it is from.

        Beyond the curve's largest number of facts, they are about people with enough entries for all facts
        that the named adversary knows.
        """
        if run.curve is None or run.as_named is None:
            return ()
        most = self.curve_adversary.knows
        further = [(run.as_named, cell) for cell in run.as_named.cells if cell.facts > most]
        return *((run.curve, cell) for cell in run.curve.cells), *further

    @property
    def curve_cells(self) -> tuple[SimulationCell, ...]:
        """Outcomes of the strongest attack by number of facts, all of the same targets."""
        return () if self.strongest.curve is None else self.strongest.curve.cells


def curve_adversary(adversary: Adversary, release: Release, facts: Sequence[int]) -> tuple[Adversary, tuple[int, ...]]:
    """The adversary of the curve, and the numbers of facts in the curve.

    The adversary knows the largest of these numbers for which half of the records have enough entries, with
    the same share of wrong facts.
    """
    shares = {size: eligible_share(with_facts(adversary, size), release) for size in facts}
    largest = max((size for size in facts if shares[size] >= CURVE_SHARE), default=1)
    sizes = tuple(size for size in sorted({*facts, largest}) if size <= largest)
    longest = with_facts(adversary, largest)
    if not eligible_share(longest, release):
        longest = replace(longest, wrong=0, wrong_facts="values")
    return longest, sizes


def run_adversary(plan: AuditPlan, rung: Rung, progress: Progress) -> AdversaryRun:
    """The attacks of an adversary: the paper's, Likelihood, and a stronger one if there is any."""
    longest, sizes = curve_adversary(rung.adversary, plan.people.original, plan.facts)
    attacks = _attacks(plan, rung.adversary)
    runs, parts = _ProgressOfRuns(progress, 2 * len(attacks)), []
    for name, attack in attacks.items():
        part = _run_attack(plan, name, attack, rung.adversary, (longest, sizes), runs)
        parts.append(part)
        if not part.complete:
            break
        runs.finished = 2 * len(parts)
    return AdversaryRun(rung, longest, tuple(parts), len(parts) == len(attacks) and parts[-1].complete)


def strongest_attack(plan: AuditPlan, adversary: Adversary) -> tuple[str, AnyAttack]:
    """Name of the strongest attack, chosen on other targets than those reported, and the attack."""
    return next(iter(_attacks(plan, adversary).items()))


def _attacks(plan: AuditPlan, adversary: Adversary) -> dict[str, AnyAttack]:
    """The attacks to run by name, the strongest first. It is chosen on other targets.

    They are not yet fitted to the adversary: that of the curve may have another share of wrong facts.
    """
    candidates: dict[str, AnyAttack] = {PAPER: ScoreboardRH(), LIKELIHOOD: Likelihood(), **plan.own_attacks}
    if isinstance(plan.only, str):
        return {plan.only: candidates[plan.only]}
    if plan.only is not None:
        return {type(plan.only).__name__: plan.only}
    reported = random_targets(plan.people.original, adversary, plan.seed)[: plan.targets]
    fitted = {name: fit_attack(attack, adversary) for name, attack in candidates.items()}
    strongest = choose_strongest(plan.release, adversary, fitted, reported, seed=plan.seed, threads=plan.threads)
    return {name: candidates[name] for name in dict.fromkeys([strongest, *ALWAYS])}


def _run_attack(
    plan: AuditPlan,
    name: str,
    attack: AnyAttack,
    adversary: Adversary,
    curve: tuple[Adversary, tuple[int, ...]],
    runs: "_ProgressOfRuns",
) -> AttackRun:
    """One attack of an adversary as it is named, then for its curve; identical attacks run once.

    If the curve ends before the number of facts that the adversary knows, the first run continues it.
    """
    longest, sizes = curve
    if longest == adversary:
        both = plan.simulate(attack, longest, sorted({*sizes, longest.knows}), runs)
        cells = tuple(cell for cell in both.cells if cell.facts in sizes)
        return AttackRun(name, attack, both, replace(both, cells=cells))
    further = [size for size in plan.facts if longest.knows < size < adversary.knows]
    as_named = plan.simulate(attack, adversary, [*further, adversary.knows], runs)
    if not as_named.complete:
        return AttackRun(name, attack, as_named, None)
    runs.finished += 1
    return AttackRun(name, attack, as_named, plan.simulate(attack, longest, sizes, runs))


@dataclass
class _ProgressOfRuns:
    """Progress of several runs as one."""

    progress: Progress
    runs: int
    finished: int = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        self.progress(stage, self.finished * total + done, self.runs * total)


# What the adversaries of an audit identify in the original, to compare with the sanitized release.


def attack_original(plan: AuditPlan, run: AdversaryRun, progress: Progress) -> AdversaryBeforeAfter:
    """Attack the original with the same targets and facts as the sanitized release.

    The attack is the strongest on the original, chosen on other targets, as it is for the release.
    """
    after, adversary = run.named_cell, run.rung.adversary
    assert after is not None
    before_plan = replace(plan, release=plan.people.original)
    name, attack = strongest_attack(before_plan, adversary)
    simulation = before_plan.simulate(attack, adversary, [adversary.knows], progress, absent=False)
    if not simulation.complete:
        raise KeyboardInterrupt
    before = simulation.cells[0]
    assert (before.targets == after.targets).all()
    return compare_before_after(
        run.rung.name,
        _successes(name, before),
        _successes(run.strongest.name, after),
        plan.people.record_of(after.targets) >= 0,
    )


def _successes(attack: str, cell: SimulationCell) -> Successes:
    return Successes(attack=attack, success=cell.outcomes.identified.mean(axis=1), baseline=1 / cell.n_records)


# The control of an adversary: the same attack on people who are not in the data.
#
# As in Anonymeter (Giomi et al., PoPETs 2023), a main attack on people in the data is compared with a control
# attack on people who are not in it. Here the control is each target after its record is removed. A claim about
# somebody who is not in the data is always wrong, so the control shows how often the adversary is sure without
# reason.


def control_of(main: Floats, control: Floats) -> Control:
    """Correct claims about targets in the data, and claims about the same targets without their records."""
    n = len(main)
    main_rate, control_rate = (rate(min(math.fsum(of), n), n) for of in (main, control))
    return Control(
        main=main_rate,
        control=control_rate,
        difference=paired_difference(main, control),
        residual=residual(main_rate, control_rate),
    )


def control_of_cell(cell: SimulationCell) -> Control:
    """The control of the targets of one cell."""
    outcomes, threshold = cell.outcomes, cell.threshold.strength
    is_correct = (outcomes.claim_strength >= threshold) & (outcomes.identified == 1.0)
    absent = outcomes.absent_claim_strength >= threshold
    return control_of(np.asarray(is_correct.mean(axis=1)), np.asarray(absent.mean(axis=1)))


def residual(main: Estimate, control: Estimate) -> Estimate | None:
    """Anonymeter's risk: (main − control) / (1 − control), at least 0; None if the control always claims.

    The ends of its interval combine how far it moves with each end of the main and of the control rate, as
    Newcombe's interval of a difference does.

    >>> round(residual(rate(90, 100), rate(20, 100)).value, 3)
    0.875
    """
    if control.value >= 1.0:
        return None
    value = _residual(main.value, control.value)
    below = math.hypot(value - _residual(main.low, control.value), value - _residual(main.value, control.high))
    above = math.hypot(value - _residual(main.high, control.value), value - _residual(main.value, control.low))
    low, middle, high = (min(max(end, 0.0), 1.0) for end in (value - below, value, value + above))
    return Estimate(middle, low, high, main.n)


def _residual(main: float, control: float) -> float:
    return (main - control) / (1.0 - control) if control < 1.0 else -math.inf


# The envelope of the curves: the strongest adversary at each number of known facts.


def envelope(adversaries: Sequence[AdversaryFindings]) -> tuple[EnvelopePoint, ...]:
    """The highest identified rate at each number of facts, as named or on a curve; the first among equals."""
    strongest = _strongest(adversaries)
    counting = _strongest([adversary for adversary in adversaries if adversary.gate])
    return tuple(
        EnvelopePoint(
            facts=facts,
            adversary=name,
            identified=identified,
            gate_adversary=counting[facts][0] if facts in counting else None,
            gate_identified=counting[facts][1] if facts in counting else None,
        )
        for facts, (name, identified) in sorted(strongest.items())
    )


def _strongest(adversaries: Sequence[AdversaryFindings]) -> dict[int, tuple[str, Estimate]]:
    """Name and rate of the strongest adversary by number of facts."""
    best: dict[int, tuple[str, Estimate]] = {}
    for adversary in adversaries:
        points: list[Measures | CurvePoint] = [adversary.as_named, *adversary.curve]
        for point in points:
            identified = point.identified
            if math.isfinite(identified.value) and (
                point.facts not in best or identified.value > best[point.facts][1].value
            ):
                best[point.facts] = adversary.name, identified
    return best
