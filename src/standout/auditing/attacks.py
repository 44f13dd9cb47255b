"""The attacks of an audit: each adversary exactly as named, and with more and more facts."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from standout.adversary import Adversary
from standout.attack.scoreboard import ScoreboardRH
from standout.auditing.ladder import Rung, able, scaled
from standout.core.progress import Progress
from standout.core.rng import generator
from standout.evaluate.estimates import Estimate
from standout.evaluate.population import Population
from standout.evaluate.simulate import Simulation, SimulationCell, simulate
from standout.evaluate.success_rate import success_rates
from standout.release.model import Release
from standout.sanitizing.noise_aware import noise_aware_attacks, noise_steps

__all__ = ["Attacked", "Plan", "attacked", "curve_of", "measures", "strongest"]

Measures = dict[tuple[str, str], Estimate]
TRIED = 500
"""People on whom attacks are compared."""
HALF = 0.5
"""A curve ends where so large a share of the records does."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of every adversary. `allowing` says how the attack differs from the paper's."""

    release: Release
    targets: int
    facts: tuple[int, ...]
    phi: float
    budget: float
    top: int
    seed: int
    threads: int | None
    work: Path | None
    attack: ScoreboardRH = field(default_factory=ScoreboardRH)
    allowing: str = ""

    @property
    def people(self) -> Population:
        """Whom it is about."""
        return Population.of(self.release)

    def simulated(self, adversary: Adversary, facts: Sequence[int], progress: Progress) -> Simulation:
        """The adversary tried with so many facts."""
        return simulate(
            self.release, {"adversary": adversary}, attack=self.attack, facts=list(facts),
            targets=self.targets, phi=self.phi, budget=self.budget, top=self.top, seed=self.seed,
            threads=self.threads, progress=progress,
            save=None if self.work is None else self.work / "attack",
        )  # fmt: skip


def strongest(plan: Plan, adversary: Adversary) -> Plan:
    """The plan with the attack that finds most people: where a release has noise, some allow for it."""
    ways = noise_aware_attacks(plan.release, noise_steps(plan.release), adversary)
    if len(ways) == 1:
        return plan
    people = plan.people
    order = generator(plan.seed, "strongest").permutation(people.original.n_records)
    places = order[adversary.eligible(people.original, order)][: min(plan.targets, TRIED)]
    known = people.known_facts(adversary, places, plan.seed)
    found = {
        name: float(success_rates(plan.release, known, places, [adversary.knows], plan.threads, way).sum())
        for name, way in ways.items()
    }
    best = max(found, key=lambda name: found[name])
    return replace(plan, attack=ways[best], allowing=best)


@dataclass(frozen=True, slots=True)
class Attacked:
    """What became of one adversary: `named` exactly as it is, `curve` with more and more facts.

    None and () for what was not tried because the audit was cut short.
    """

    rung: Rung
    more: Adversary
    named: Simulation | None
    curve: Simulation | None

    @property
    def complete(self) -> bool:
        return all(one is not None and one.complete for one in (self.named, self.curve))

    @property
    def at(self) -> SimulationCell | None:
        """The adversary exactly as named."""
        found = [] if self.named is None else self.named.cells
        return next((cell for cell in found if cell.facts == self.rung.adversary.knows), None)

    @property
    def cells(self) -> tuple[SimulationCell, ...]:
        """With more and more facts."""
        return () if self.curve is None else self.curve.cells


def curve_of(one: Adversary, release: Release, facts: Sequence[int]) -> tuple[Adversary, tuple[int, ...]]:
    """The adversary with the most of these numbers of facts that half of the records have, the same share
    of them wrong; and the numbers up to it."""
    most = max((size for size in facts if able(scaled(one, size), release) >= HALF), default=1)
    sizes = tuple(size for size in sorted({*facts, most}) if size <= most)
    found = scaled(one, most)
    return (found if able(found, release) else replace(found, wrong=0, wrong_facts="values")), sizes


def attacked(plan: Plan, rung: Rung, progress: Progress) -> Attacked:
    """An adversary tried: as named, then with more and more facts. What is the same is tried once."""
    more, sizes = curve_of(rung.adversary, plan.people.original, plan.facts)
    halves = _Halves(progress, 2)
    if more == rung.adversary:
        both = plan.simulated(more, sorted({*sizes, more.knows}), _Halves(progress, 1))
        kept = tuple(cell for cell in both.cells if cell.facts in sizes)
        return Attacked(rung, more, both, replace(both, cells=kept))
    named = plan.simulated(rung.adversary, [rung.adversary.knows], halves)
    if not named.complete:
        return Attacked(rung, more, named, None)
    halves.done = 1
    return Attacked(rung, more, named, plan.simulated(more, sizes, halves))


@dataclass
class _Halves:
    """Several runs as one."""

    progress: Progress
    runs: int
    done: int = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        self.progress(stage, self.done * total + done, self.runs * total)


def measures(simulation: Simulation, cell: SimulationCell) -> Measures:
    """All measures of a cell by (measure, setting)."""
    return {(name, setting): estimate for name, setting, estimate in simulation.measurements(cell)}
