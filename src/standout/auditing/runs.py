"""The attacks of an audit: each adversary as it is named, with other numbers of facts, and with other errors."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from standout.attack.any_attack import AnyAttack, AttackName, attack_named, fit_attack
from standout.auditing.exposure import SensitiveList
from standout.auditing.ladder import DataSpread, RelativeError, Rung, eligible_share, with_facts
from standout.core.arrays import Floats, Ints
from standout.core.progress import Progress, ProgressMeter
from standout.data.release import Release
from standout.evaluate.compare import LIKELIHOOD, PAPER, choose_strongest
from standout.evaluate.simulate import simulate, target_success
from standout.evaluate.simulation import Simulation, SimulationCell
from standout.evaluate.targets import Population, random_targets
from standout.findings.audit import Settings
from standout.findings.sections import AdversaryBeforeAfter, compare_before_after
from standout.know.adversary import Adversary, has_own_draws

EXACT_MATCH: AttackName = "exact match"
CURVE_SHARE = 0.5
"""A curve ends at the largest number of facts for which this share of the records has enough entries or cells."""
CURVE_WORK, FEWEST = 400_000_000, 30
"""A curve of columns has fewer targets if targets · rows would exceed this, but at least so many."""


WITHOUT_ABSENT: dict[str, Any] = {"absent": False, "population": None}
"""Options of a simulation without absent targets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """What the caller asked of the audit.

    `only` is the one attack to try, or its name; None: the built-in ones, and the strongest of the user's own.
    """

    release: Release
    settings: Settings
    seed: int
    threads: int | None
    work: Path | None
    own_attacks: Mapping[str, AnyAttack] = field(default_factory=dict)
    only: str | AnyAttack | None = None
    name: str = ""
    limits: tuple[str, ...] = ()
    sensitive: SensitiveList | None = None

    @property
    def people(self) -> Population:
        """The people among whom targets are drawn."""
        return Population.of(self.release)

    @property
    def options(self) -> dict[str, Any]:
        """What all simulations of the audit have in common."""
        settings = self.settings
        names = ("targets", "phi", "posterior", "budget", "top", "population")
        work = None if self.work is None else self.work / "attack"
        return {name: getattr(settings, name) for name in names} | {
            "seed": self.seed,
            "threads": self.threads,
            "save": work,
        }


def built_in_attacks(release: Release) -> tuple[AttackName, ...]:
    """The attacks that every adversary makes, and that the report compares."""
    return (LIKELIHOOD, PAPER, EXACT_MATCH) if release.columns else (LIKELIHOOD, PAPER)


@dataclass(frozen=True, eq=False, slots=True)
class AttackRun:
    """One attack of one adversary: the cell of exactly what it knows, and `curve` with other numbers of facts.

    Cells of `further` numbers of facts, beyond the curve, have the targets of `cell`. What an interruption left out
    is None or empty.
    """

    name: str
    attack: AnyAttack
    simulation: Simulation
    cell: SimulationCell | None
    curve: tuple[SimulationCell, ...] = ()
    further: tuple[SimulationCell, ...] = ()
    complete: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class AdversaryRun:
    """The attacks of one adversary on the same targets with the same facts; the strongest on other targets is first."""

    rung: Rung
    curve_adversary: Adversary | None
    attacks: tuple[AttackRun, ...]
    complete: bool

    @property
    def strongest(self) -> AttackRun:
        """The attack that counts."""
        return self.attacks[0]


def curve_adversary(adversary: Adversary, release: Release, facts: Sequence[int]) -> tuple[Adversary, tuple[int, ...]]:
    """The adversary of the curve, and the numbers of facts in the curve.

    The adversary knows the largest of these numbers for which half of the records have enough entries or cells, with
    the same share of wrong facts. A curve of columns may also end at what the adversary knows, because there may be
    few columns.
    """
    own = {adversary.knows} if release.columns and adversary.knows < max(facts) else set()
    most = math.inf
    if release.columns:
        most = len(release.attributes if adversary.columns is None else adversary.columns)
    enough = (size for size in sorted({*facts, *own}, reverse=True) if size <= most)
    largest = next((size for size in enough if eligible_share(with_facts(adversary, size), release) >= CURVE_SHARE), 1)
    longest = with_facts(adversary, largest)
    if not release.columns and not eligible_share(longest, release):
        longest = replace(longest, wrong=0, wrong_facts="values")
    return longest, tuple(sorted({*(size for size in facts if size < largest), largest}))


def run_adversary(plan: AuditPlan, rung: Rung, progress: Progress, with_curve: bool = True) -> AdversaryRun:
    """The attacks of an adversary: the built-in ones, and a stronger one if there is any."""
    adversary, original = rung.adversary, plan.people.original
    longest, sizes = curve_adversary(adversary, original, plan.settings.facts)
    attacks = strongest_first(plan, adversary)
    parts, finished, total_runs = list[AttackRun](), 0, 2 * len(attacks)

    def shown(stage: str, done: int, total: int) -> None:
        progress(stage, finished * total + done, total_runs * total)

    of_curve, one_run = plan.options, not original.columns and with_curve and longest == adversary
    facts = [*sizes] if one_run else [size for size in plan.settings.facts if longest.knows < size < adversary.knows]
    if original.columns:  # the curve has other targets, because there may be fewer of them
        rows = random_targets(original, longest, plan.seed, "curve")
        few = rows[: min(max(CURVE_WORK // plan.release.n_records, FEWEST), plan.settings.targets)]
        of_curve |= WITHOUT_ABSENT | {"targets": [original.records[row] for row in few.tolist()]}
        facts = []
    facts = sorted({*facts, adversary.knows})
    for name, attack in attacks.items():
        one = {"adversary": adversary}
        named = simulate(plan.release, one, attack=attack, facts=facts, progress=shown, **plan.options)
        own = next((cell for cell in named.cells if cell.facts == adversary.knows), None)
        part = AttackRun(name, attack, named, own, complete=named.complete)
        if one_run:
            part = replace(part, curve=tuple(cell for cell in named.cells if cell.facts in sizes))
        elif named.complete and with_curve:
            finished += 1
            one = {"adversary": longest}
            curve = simulate(plan.release, one, attack=attack, facts=[*sizes], progress=shown, **of_curve)
            further = tuple(cell for cell in named.cells if cell.facts > longest.knows and not original.columns)
            part = replace(part, curve=curve.cells, further=further, complete=curve.complete)
        parts.append(part)
        if not parts[-1].complete:
            break
        finished = 2 * len(parts)
    complete = len(parts) == len(attacks) and parts[-1].complete
    return AdversaryRun(rung, longest if with_curve else None, tuple(parts), complete)


def strongest_first(plan: AuditPlan, adversary: Adversary) -> dict[str, AnyAttack]:
    """The attacks to run by name, the strongest first. It is chosen on other targets than those reported.

    They are not yet fitted to the adversary: that of the curve may have another share of wrong facts.
    """
    always = built_in_attacks(plan.release)
    candidates: dict[str, AnyAttack] = {name: attack_named(name) for name in always} | dict(plan.own_attacks)
    if isinstance(plan.only, str):
        return {plan.only: candidates[plan.only]}
    if plan.only is not None:
        return {type(plan.only).__name__: plan.only}
    reported = random_targets(plan.people.original, adversary, plan.seed)[: plan.settings.targets]
    fitted = {name: fit_attack(attack, adversary) for name, attack in candidates.items()}
    strongest = choose_strongest(plan.release, adversary, fitted, reported, seed=plan.seed, threads=plan.threads)
    return {name: candidates[name] for name in dict.fromkeys([strongest, *always])}


def attack_original(plan: AuditPlan, run: AdversaryRun, progress: Progress) -> AdversaryBeforeAfter:
    """Attack the original with the same targets and facts as the sanitized release.

    The attack is the strongest on the original, chosen on other targets, as it is for the release.
    """
    after, adversary = run.strongest.cell, run.rung.adversary
    assert after is not None
    before_plan = replace(plan, release=plan.people.original)
    name, attack = next(iter(strongest_first(before_plan, adversary).items()))
    options = before_plan.options | WITHOUT_ABSENT
    one, facts = {"adversary": adversary}, [adversary.knows]
    simulation = simulate(before_plan.release, one, attack=attack, facts=facts, progress=progress, **options)
    if not simulation.complete:
        raise KeyboardInterrupt
    before = simulation.cells[0]
    assert (before.targets == after.targets).all()
    of_before, of_after = (
        (by, cell.outcomes.identified.mean(axis=1), 1 / cell.n_records)
        for by, cell in ((name, before), (run.strongest.name, after))
    )
    return compare_before_after(run.rung.name, of_before, of_after, plan.people.record_of(after.targets) >= 0)


# The headline adversary with other numbers of facts and other errors of dates and values of entries: the grids.
#
# A walk over the release gives all numbers of facts of one adversary, so a grid costs one walk for each row and
# attack. There are no claims and no absent targets in a grid, and fewer targets than elsewhere.


Varies = Literal["time_error", "value_error"]
GRID_TARGETS = 250
"""Largest number of targets of a grid."""
MOST_SIZES = 8
"""Largest number of columns of a grid."""
ERRORS = {
    "time_error": (RelativeError(0.005, 3), RelativeError(0.02, 14), RelativeError(0.1, 60)),
    "value_error": (RelativeError(0.1), RelativeError(0.33), RelativeError(0.67)),
}
"""Of dates as precise as a public profile, as an acquaintance, and as a season; of values, a third is one star of
five, as in the default adversaries."""


@dataclass(frozen=True, slots=True)
class ErrorLevel:
    """One row of a grid: an error, None if not known, and the adversary who makes it."""

    error: float | None
    adversary: Adversary


@dataclass(frozen=True, slots=True)
class GridRun:
    """The attacks of one grid: success by target and number of facts, for each level and each attack."""

    varies: Varies
    sizes: tuple[int, ...]
    targets: Ints
    levels: tuple[ErrorLevel, ...]
    success: tuple[Mapping[str, Floats], ...]


@dataclass(frozen=True, slots=True)
class SameDraws(Adversary):
    """An adversary who knows the same entries as another, with the same random numbers for errors.

    Cells then differ by their facts and errors only, not by the luck of the draw.
    """

    drawn_as: str = ""

    @classmethod
    def of(cls, adversary: Adversary, other: Adversary) -> "SameDraws":
        """The other adversary, with the draws of the first."""
        settings = {each.name: getattr(other, each.name) for each in fields(Adversary)}
        return cls(**settings, drawn_as=adversary.key())

    def key(self) -> str:
        """That of the other adversary."""
        return self.drawn_as


def measure_grids(plan: AuditPlan, run: AdversaryRun, progress: Progress) -> tuple[GridRun, ...]:
    """The grids of an adversary: of date errors and of value errors, as far as the data has them."""
    adversary, original = run.rung.adversary, plan.people.original
    if has_own_draws(adversary):
        return ()
    spread = DataSpread(original)
    levels = {varies: error_levels(adversary, original, varies, spread) for varies in varying(plan.release, original)}
    levels = {varies: rows for varies, rows in levels.items() if len(rows) > 1}
    every = {level.adversary.key(): level.adversary for rows in levels.values() for level in rows}
    targets = random_targets(original, adversary, plan.seed)[: plan.settings.targets]
    for other in every.values():  # the first targets of the adversary who are targets of the others as well
        targets = targets[other.eligible(original, targets)]
    targets, sizes = targets[:GRID_TARGETS], grid_sizes(plan.settings.facts, adversary.knows)
    if not len(targets):
        return ()
    meter = ProgressMeter("grids", float(len(every) * len(run.attacks)), progress)
    success: dict[str, dict[str, Floats]] = {key: {} for key in every}
    for key, other in every.items():
        for part in run.attacks:
            with meter.part(1.0):
                attack, draws = fit_attack(part.attack, other), SameDraws.of(adversary, other)
                success[key][part.name] = target_success(
                    plan.release, attack, draws, targets, sizes, plan.seed, plan.threads, meter
                )
    return tuple(
        GridRun(varies, sizes, targets, rows, tuple(success[level.adversary.key()] for level in rows))
        for varies, rows in levels.items()
    )


def varying(release: Release, original: Release) -> list[Varies]:
    """The errors that can vary: of dates and of values, if there are any."""
    has: dict[Varies, int] = {"time_error": release.span and original.span}
    has["value_error"] = release.n_levels and original.n_levels
    return [varies for varies, number in has.items() if number]


def error_levels(adversary: Adversary, original: Release, varies: Varies, spread: DataSpread) -> tuple[ErrorLevel, ...]:
    """The adversary with each error: exact, the default errors on this data, its own, and not known.

    Where neither values nor dates are left in which a fact could be wrong, wrong facts are wrong items, as in
    the ladder. Errors under which no record can be a target are left out.
    """
    errors = {spread.error(varies, error) for error in ERRORS[varies]}
    known = sorted({0.0, *errors, getattr(adversary, varies)} - {None})
    if varies == "value_error" and not isinstance(original.levels, np.ndarray):
        known = [0.0]
    levels = []
    for error in [*known, None]:
        other = replace(adversary, **{varies: error})
        candidates = (other, replace(other, wrong_facts="items"))
        levels += [ErrorLevel(error, each) for each in candidates if eligible_share(each, original)][:1]
    return tuple(levels)


def grid_sizes(facts: Sequence[int], knows: int) -> tuple[int, ...]:
    """Numbers of facts up to all that the adversary knows; a few of them if there are many."""
    sizes = sorted({*(size for size in facts if size < knows), knows})
    places = np.linspace(0, len(sizes) - 1, min(len(sizes), MOST_SIZES))
    return tuple(sizes[place] for place in np.unique(np.rint(places).astype(np.int64)))
