"""The attacks of an audit: each adversary as it is named, and with increasing numbers of known facts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from standout.adversary import Adversary
from standout.attack.any_attack import AnyAttack, checkpoint_key
from standout.attack.scoreboard import ScoreboardRH
from standout.auditing.ladder import Rung, eligible_share, with_facts
from standout.core.progress import Progress
from standout.core.rng import generator
from standout.evaluate.cell import SimulationCell
from standout.evaluate.population import Population
from standout.evaluate.simulate import simulate
from standout.evaluate.simulation import Simulation
from standout.evaluate.success_rate import success_rates
from standout.release.catalogue import printable
from standout.release.model import Release
from standout.sanitizing.noise_aware import noise_aware_attacks, noise_steps

__all__ = ["AdversaryRun", "AuditPlan", "curve_adversary", "run_adversary", "with_strongest_attack"]

COMPARISON_TARGETS = 500
"""Number of targets on which attacks are compared."""
CURVE_SHARE = 0.5
"""A curve ends at the largest number of facts for which this share of the records has enough items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """Settings that every adversary's attack shares. `adaptation` says how it differs from the paper's."""

    release: Release
    targets: int
    facts: tuple[int, ...]
    phi: float
    budget: float
    top: int
    seed: int
    threads: int | None
    work: Path | None
    own_attacks: Mapping[str, AnyAttack] = field(default_factory=dict)
    attack: AnyAttack = field(default_factory=ScoreboardRH)
    adaptation: str = ""

    @property
    def limits(self) -> tuple[str, ...]:
        """A sentence about the attack if it is the user's own."""
        if self.adaptation not in self.own_attacks:
            return ()
        return (
            f"The attack “{printable(self.adaptation)}” identified most targets of the headline adversary "
            "in a comparison. All adversaries use it.",
        )

    @property
    def people(self) -> Population:
        """The people among whom targets are drawn."""
        return Population.of(self.release)

    def simulate(self, adversary: Adversary, facts: Sequence[int], progress: Progress) -> Simulation:
        """Attacks of the adversary with these numbers of facts."""
        return simulate(
            self.release,
            {"adversary": adversary},
            attack=self.attack,
            facts=list(facts),
            targets=self.targets,
            phi=self.phi,
            budget=self.budget,
            top=self.top,
            seed=self.seed,
            threads=self.threads,
            progress=progress,
            save=None if self.work is None else self.work / "attack",
        )


def with_strongest_attack(plan: AuditPlan, adversary: Adversary) -> AuditPlan:
    """The plan with the attack that identifies most targets.

    A release with noise has several candidates: the paper's attack, and attacks that take the noise into
    account. The user's own are candidates on any release.
    """
    if plan.work is not None:
        for attack in plan.own_attacks.values():
            checkpoint_key(attack, "work")
    built_in = noise_aware_attacks(plan.release, noise_steps(plan.release), adversary)
    attacks: dict[str, AnyAttack] = {**built_in, **plan.own_attacks}
    if len(attacks) == 1:
        return plan
    people = plan.people
    order = generator(plan.seed, "strongest").permutation(people.original.n_records)
    targets = order[adversary.eligible(people.original, order)][: min(plan.targets, COMPARISON_TARGETS)]
    known = people.known_facts(adversary, targets, plan.seed)
    identified = {
        name: float(
            success_rates(plan.release, known, targets, [adversary.knows], plan.threads, attack).sum()
        )
        for name, attack in attacks.items()
    }
    best = max(identified, key=lambda name: identified[name])
    return replace(plan, attack=attacks[best], adaptation=best)


@dataclass(frozen=True, slots=True)
class AdversaryRun:
    """Attacks of one adversary: `as_named`, and `curve` with other numbers of facts.

    Both are None if the audit was interrupted before them.
    """

    rung: Rung
    curve_adversary: Adversary
    as_named: Simulation | None
    curve: Simulation | None

    @property
    def complete(self) -> bool:
        """Whether all attacks were made."""
        return all(
            simulation is not None and simulation.complete for simulation in (self.as_named, self.curve)
        )

    @property
    def named_cell(self) -> SimulationCell | None:
        """Outcomes of the adversary exactly as it is named."""
        cells = [] if self.as_named is None else self.as_named.cells
        return next((cell for cell in cells if cell.facts == self.rung.adversary.knows), None)

    @property
    def curve_cells(self) -> tuple[SimulationCell, ...]:
        """Outcomes by number of facts."""
        return () if self.curve is None else self.curve.cells


def curve_adversary(
    adversary: Adversary, release: Release, facts: Sequence[int]
) -> tuple[Adversary, tuple[int, ...]]:
    """The adversary of the curve, and the numbers of facts in the curve.

    The adversary knows the largest of these numbers for which half of the records have enough items, with the
    same share of wrong facts.
    """
    shares = {size: eligible_share(with_facts(adversary, size), release) for size in facts}
    largest = max((size for size in facts if shares[size] >= CURVE_SHARE), default=1)
    sizes = tuple(size for size in sorted({*facts, largest}) if size <= largest)
    longest = with_facts(adversary, largest)
    if not eligible_share(longest, release):
        longest = replace(longest, wrong=0, wrong_facts="values")
    return longest, sizes


def run_adversary(plan: AuditPlan, rung: Rung, progress: Progress) -> AdversaryRun:
    """Attacks of an adversary as it is named, then for its curve; identical attacks run once."""
    longest, sizes = curve_adversary(rung.adversary, plan.people.original, plan.facts)
    if longest == rung.adversary:
        both = plan.simulate(longest, sorted({*sizes, longest.knows}), _ProgressOfRuns(progress, 1))
        curve = tuple(cell for cell in both.cells if cell.facts in sizes)
        return AdversaryRun(rung, longest, both, replace(both, cells=curve))
    runs = _ProgressOfRuns(progress, 2)
    as_named = plan.simulate(rung.adversary, [rung.adversary.knows], runs)
    if not as_named.complete:
        return AdversaryRun(rung, longest, as_named, None)
    runs.finished = 1
    return AdversaryRun(rung, longest, as_named, plan.simulate(longest, sizes, runs))


@dataclass
class _ProgressOfRuns:
    """Progress of several runs as one."""

    progress: Progress
    runs: int
    finished: int = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        self.progress(stage, self.finished * total + done, self.runs * total)
