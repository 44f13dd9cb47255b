"""The attacks of an audit: each adversary as it is named, and with increasing numbers of known facts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from standout.adversary import Adversary
from standout.attack.any_attack import AnyAttack, fit_attack
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.auditing.ladder import Rung, eligible_share, with_facts
from standout.core.foreign_text import printable
from standout.core.progress import Progress
from standout.evaluate.candidate_attacks import LIKELIHOOD, PAPER, choose_strongest
from standout.evaluate.cell import SimulationCell
from standout.evaluate.population import Population
from standout.evaluate.simulate import simulate
from standout.evaluate.simulation import Simulation
from standout.evaluate.simulation_runner import random_targets
from standout.release.model import Release

__all__ = ["AdversaryRun", "AttackRun", "AuditPlan", "curve_adversary", "run_adversary", "strongest_attack"]

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

    @property
    def limits(self) -> tuple[str, ...]:
        """A sentence about the attacks if not all were tried."""
        if self.only is None:
            return ()
        name = next(iter(_attacks(self, Adversary())))
        return (
            f"The audit tried one attack only ({printable(name)}). Another attack may identify more people.",
        )

    @property
    def people(self) -> Population:
        """The people among whom targets are drawn."""
        return Population.of(self.release)

    def simulate(
        self,
        attack: AnyAttack,
        adversary: Adversary,
        facts: Sequence[int],
        progress: Progress,
        absent: bool = True,
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
        return all(
            simulation is not None and simulation.complete for simulation in (self.as_named, self.curve)
        )


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


def curve_adversary(
    adversary: Adversary, release: Release, facts: Sequence[int]
) -> tuple[Adversary, tuple[int, ...]]:
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
    strongest = choose_strongest(
        plan.release, adversary, fitted, reported, seed=plan.seed, threads=plan.threads
    )
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
