"""Run a simulation: choose the targets, attack them in batches, and resume from a checkpoint."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from standout._version import __version__
from standout.adversary import Adversary, check_checkpoint_key
from standout.attack.any_attack import BUILT_IN_SIMILARITIES, AnyAttack, checkpoint_key, fit_attack
from standout.core.arrays import Ints
from standout.core.checks import whole_number
from standout.core.errors import NotFoundError, ParameterError, WorkersLost
from standout.core.progress import Progress
from standout.core.rng import generator
from standout.evaluate.cell import RandomGuess, SimulationCell, rate_by_target
from standout.evaluate.checkpoint import Checkpoint
from standout.evaluate.claim_threshold import ClaimThreshold
from standout.evaluate.outcomes import Criteria, Outcomes
from standout.evaluate.pairs import no_facts, revealed_items
from standout.evaluate.population import Population
from standout.evaluate.simulation import Simulation
from standout.evaluate.target_attacks import TargetAttacks
from standout.release.labels import position_of_id
from standout.release.model import Release

__all__ = ["SimulationRunner", "random_targets"]

FactCounts = int | Sequence[int] | None
TargetChoice = int | str | Sequence[str]

BATCH = 64
"""Number of targets between two reports of progress; it changes no result."""
LINEUPS, FEW_LINEUPS, MANY_RECORDS = 200, 25, 100_000
"""Lineup sizes are computed for 200 targets, but for 25 in a release of more than 100,000 records."""


@dataclass(frozen=True, eq=False, slots=True)
class _Targets:
    """The targets in order, how many people were considered, and how many have too few entries."""

    index: Ints
    n_considered: int
    too_few_items: int


class _Task(NamedTuple):
    """One adversary, the numbers of facts to attack with, and the targets."""

    name: str
    adversary: Adversary
    sizes: list[int]
    targets: _Targets


@dataclass(frozen=True, eq=False)
class SimulationRunner:
    """The checked parameters of `simulate`, and the run itself: targets, batches, checkpoints, cells."""

    release: Release
    attack: AnyAttack
    criteria: Criteria
    draws: int
    threshold: ClaimThreshold
    budget: float
    seed: int
    precision: float | None
    threads: int | None
    progress: Progress
    save: Path | None

    @cached_property
    def population(self) -> Population:
        """The people who can be targets."""
        return Population.of(self.release)

    def simulation(
        self, adversaries: dict[str, Adversary], facts: FactCounts, targets: TargetChoice
    ) -> Simulation:
        """Attack the targets with every adversary and number of facts."""
        tasks = [
            _Task(name, adversary, _sizes(facts, adversary), self._targets(name, adversary, targets))
            for name, adversary in adversaries.items()
        ]
        cells: list[SimulationCell] = []
        complete = True
        for number, task in enumerate(tasks, 1):
            stage = "attacking" if len(tasks) == 1 else f"attacking {number}/{len(tasks)}"
            outcomes, complete = self._outcomes(task, stage)
            cells += [] if outcomes is None else self._cells(task, outcomes)
            if not complete:
                break
        return Simulation(
            cells=tuple(cells),
            criteria=self.criteria,
            threshold=self.threshold,
            budget=self.budget,
            seed=self.seed,
            fingerprint=self.release.fingerprint,
            complete=complete,
            original=self.population.original.fingerprint if self.population.is_sanitized else None,
        )

    def _targets(self, name: str, adversary: Adversary, targets: TargetChoice) -> _Targets:
        original = self.population.original
        if isinstance(targets, str) and targets != "all":
            raise ParameterError(f'targets must be a number, "all", or a list of record ids, got {targets!r}')
        if isinstance(targets, Iterable) and not isinstance(targets, str):
            order = np.unique([_index_of(original, record_id) for record_id in targets]).astype(np.int64)
        else:
            order = generator(self.seed, "targets").permutation(original.n_records)
        eligible = adversary.eligible(original, order)
        index = order[eligible]
        if not len(index):
            raise ParameterError(
                f"no record can be a target: none has enough entries for {name!r}, "
                f"who knows {adversary.knows}"
            )
        if targets != "all" and not isinstance(targets, Iterable):
            wanted = whole_number("targets", targets, 1)
            index = index if self.precision else index[:wanted]
        return _Targets(index, len(order), int(len(order) - eligible.sum()))

    def _cells(self, task: _Task, outcomes: Outcomes) -> list[SimulationCell]:
        targets = task.targets.index[: len(outcomes)]
        random_guess = self._random_guess(targets)
        present = float((self.population.record_of(targets) >= 0).mean())
        return [
            SimulationCell(
                adversary=task.name,
                facts=size,
                outcomes=outcomes.for_size(index),
                n_records=self.release.n_records,
                n_considered=task.targets.n_considered,
                too_few_items=task.targets.too_few_items,
                random_guess=random_guess,
                targets=targets,
                present=present,
                threshold=self.threshold,
            )
            for index, size in enumerate(task.sizes)
        ]

    def _outcomes(self, task: _Task, stage: str) -> tuple[Outcomes | None, bool]:
        """The outcomes, and whether the run is complete; Ctrl-C ends it early."""
        targets = task.targets.index
        checkpoint = Checkpoint.load(self.save, self._settings(task.adversary, task.sizes), targets)
        batches: Iterator[Outcomes] | None = None
        parts: list[Outcomes] = []
        n_attacked, total = 0, len(targets)
        try:
            while n_attacked < total and not _is_precise(parts, self.precision):
                end = min(n_attacked + BATCH, total)
                part = checkpoint.outcomes_of(n_attacked, end)
                if part is None:
                    batches = batches or self._batches(task, n_attacked)
                    part = next(batches)
                parts.append(part)
                n_attacked = end
                checkpoint.save(parts)
                self.progress(stage, n_attacked, total)
        except KeyboardInterrupt:
            pass
        except WorkersLost:
            checkpoint.save(parts, now=True)
            raise
        checkpoint.save(parts, now=True)
        complete = n_attacked == total or _is_precise(parts, self.precision)
        return (Outcomes.concatenate(parts) if parts else None), complete

    def _batches(self, task: _Task, first: int) -> Iterator[Outcomes]:
        """The outcomes of the targets from the first on, BATCH at a time."""
        lineups = LINEUPS if self.release.n_records <= MANY_RECORDS else FEW_LINEUPS
        attacks = TargetAttacks(
            attack=fit_attack(self.attack, task.adversary),
            adversary=task.adversary,
            sizes=tuple(task.sizes),
            criteria=self.criteria,
            draws=self.draws,
            seed=self.seed,
        )
        return attacks.batches(self.release, task.targets.index, first, BATCH, lineups, self.threads)

    def _settings(self, adversary: Adversary, sizes: list[int]) -> list[object]:
        """Everything that the outcomes depend on. A function does not identify itself by its name."""
        if self.save is None:
            return []
        if type(self.criteria.similarity) not in BUILT_IN_SIMILARITIES:
            raise ParameterError(
                "save works with the built-in similarities only: a checkpoint cannot tell one function from "
                "another"
            )
        check_checkpoint_key(adversary, "save")
        return [
            *self.population.key(),
            adversary.key(),
            sizes,
            checkpoint_key(fit_attack(self.attack, adversary)),
            repr(self.criteria),
            self.draws,
            self.seed,
            LINEUPS,
            FEW_LINEUPS,
            __version__,
        ]

    def _random_guess(self, targets: Ints) -> RandomGuess:
        """What guessing a random record achieves."""
        guesses = generator(self.seed, "guesses").integers(self.release.n_records, size=len(targets))
        known = no_facts(self.release, len(targets))
        items = revealed_items(self.release, targets, guesses, known, self.criteria.similarity)
        is_similar = items.similarity >= self.criteria.theta
        return RandomGuess(float(is_similar.mean()), float((items.correct / items.revealed).mean()))


def random_targets(original: Release, adversary: Adversary, seed: int) -> Ints:
    """Everybody who has enough entries for the adversary, in the random order in which targets are taken."""
    order = generator(seed, "targets").permutation(original.n_records)
    return np.asarray(order[adversary.eligible(original, order)])


def _is_precise(parts: list[Outcomes], precision: float | None) -> bool:
    """Whether the interval of `identified` is narrow enough for every number of facts."""
    if precision is None or not parts:
        return False
    identified = np.concatenate([part.identified for part in parts])
    return all(
        rate_by_target(identified[:, :, size], 0.0).width <= precision for size in range(identified.shape[2])
    )


def _sizes(facts: FactCounts, adversary: Adversary) -> list[int]:
    given = [adversary.knows] if facts is None else [facts] if isinstance(facts, (int, np.integer)) else facts
    sizes = sorted({whole_number("facts", size, 1) for size in given})
    if not sizes or sizes[-1] > adversary.knows:
        raise ParameterError(
            f"facts must be from 1 to {adversary.knows}, the number that the adversary knows, got {facts}"
        )
    return sizes


def _index_of(release: Release, record_id: object) -> int:
    try:
        return position_of_id(release.records, record_id)
    except (NotFoundError, ParameterError) as error:
        raise type(error)(f"targets: {error}") from None
