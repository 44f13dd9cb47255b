"""Attacks on slices of targets: on threads of this process, or on workers that have opened the same index.

The outcomes of a slice depend on its targets and the settings only, so slices may run anywhere.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from standout.attack.any_attack import BUILT_IN_SIMILARITIES, AnyAttack, check_attack, is_built_in
from standout.attack.column_scores import attack_columns
from standout.attack.scoreboard import ScoreboardRH
from standout.core.arrays import Floats, Ints
from standout.core.parts import executor_of
from standout.core.progress import Progress, no_progress
from standout.core.threads import WorkerPool, current_pool, map_on_threads
from standout.data.release import Release
from standout.data.store import SharedIndex
from standout.evaluate.columns import column_attack_outcomes
from standout.evaluate.outcomes import Criteria, Outcomes, attack_outcomes, record_scores
from standout.evaluate.similar_records import SimilarRecords
from standout.evaluate.targets import Population
from standout.know.adversary import Adversary
from standout.know.facts import KnownFacts
from standout.know.sanitized import original_of

__all__ = ["TargetAttacks", "TargetSuccess", "shared_workers", "success_rates"]

Slice = tuple[Ints, dict[int, bool], int]
"""Targets, whether each may have a similar record, and the number of targets whose lineups are measured."""

LARGEST_SHARE = 0.75
"""Share of a machine's memory that an index may take if each worker reads all of it."""
TASK = 16
"""Number of targets in a task of a worker or a thread."""


class SharedWorkers(NamedTuple):
    """Workers, and the index that each of them opens."""

    pool: WorkerPool
    shared: SharedIndex


def shared_workers(release: Release) -> SharedWorkers | None:
    """The workers that can attack slices of the targets; None: threads of this process do it."""
    pool, index = current_pool(), SharedIndex.of(release)
    if pool is None or index is None or SharedIndex.size(release) > LARGEST_SHARE * pool.memory:
        return None
    return SharedWorkers(pool, index)


@dataclass(frozen=True, slots=True)
class TargetAttacks:
    """What every target is attacked with, and what the attacks are judged by."""

    attack: AnyAttack
    adversary: Adversary
    sizes: tuple[int, ...]
    criteria: Criteria
    draws: int
    seed: int

    def batches(
        self, release: Release, targets: Ints, first: int, size: int, lineups: int, threads: int | None
    ) -> Iterator[Outcomes]:
        """The outcomes of targets[first:], `size` at a time; lineup sizes of the first `lineups` targets.

        Workers, or else threads, attack slices of the targets. If an index is too large for the memory of a
        machine, they attack all targets in parts of the release instead (see `core.parts`).
        """
        similar = SimilarRecords(release.history, self.criteria.similarity, self.criteria.theta, threads)
        bounds = [(low, min(low + size, len(targets))) for low in range(first, len(targets), size)]
        if release.columns:  # the kernels of columns have threads of their own
            for low, high in bounds:
                yield self.outcomes(release, targets[low:high], similar, 0, threads)
            return
        attack_slices = self._on_workers(release)
        if attack_slices is None:
            # The first batch compiles, and counts what all attacks share.
            alone = bounds[:1] if self._bears_threads(release) else bounds
            for low, high in alone:
                similar.look_ahead(targets, low, high)
                yield self.outcomes(release, targets[low:high], similar, max(lineups - low, 0), threads)
            bounds = bounds[len(alone) :]
            attack_slices = partial(map_on_threads, partial(_outcomes, release, self), threads=threads)
        small = [_split(low, high) for low, high in bounds]
        slices = (
            (targets[low:high], similar.look_ahead(targets, low, high), max(lineups - low, 0))
            for of_batch in small
            for low, high in of_batch
        )
        results = attack_slices(slices)
        for of_batch in small:
            yield Outcomes.concatenate(list(islice(results, len(of_batch))))

    def _on_workers(self, release: Release) -> Callable[[Iterable[Slice]], Iterator[Outcomes]] | None:
        """Attacks slices of targets on workers; None without workers, or if the index is too large."""
        workers = shared_workers(release)
        if workers is None:
            return None
        pool, shared = workers
        return lambda slices: pool.map(_outcomes_on_worker, ((shared, self, *part) for part in slices))

    def _bears_threads(self, release: Release) -> bool:
        """Whether threads may attack targets at the same time: code of the user may not bear that."""
        return (
            current_pool() is None
            and executor_of(release) is None
            and is_built_in(self.attack)
            and type(self.adversary) is Adversary
            and type(self.criteria.similarity) in BUILT_IN_SIMILARITIES
        )

    def outcomes(
        self, release: Release, targets: Ints, similar: SimilarRecords, lineups: int, threads: int | None
    ) -> Outcomes:
        """The outcomes of these targets."""
        if release.columns:
            known = self.adversary.observe_all(original_of(release), targets, self.seed, self.draws)
            return column_attack_outcomes(self.attack, release, known, self.draws, self.sizes, self.criteria, threads)
        return attack_outcomes(
            self.attack,
            release,
            known=Population.of(release).known_facts(self.adversary, targets, self.seed, self.draws),
            targets=targets,
            sizes=self.sizes,
            criteria=self.criteria,
            similar_records=similar.of(targets, 0, len(targets)),
            lineups=min(lineups, len(targets)),
            threads=threads,
        )


def _split(low: int, high: int) -> list[tuple[int, int]]:
    """Bounds of tasks: smaller than batches, so that all workers end at about the same time."""
    return [(start, min(start + TASK, high)) for start in range(low, high, TASK)]


def _outcomes_on_worker(
    index: SharedIndex, attacks: TargetAttacks, targets: Ints, may_have: dict[int, bool], lineups: int
) -> Outcomes:
    return _outcomes(index.open(), attacks, targets, may_have, lineups)


def _outcomes(
    release: Release, attacks: TargetAttacks, targets: Ints, may_have: dict[int, bool], lineups: int
) -> Outcomes:
    """The outcomes of these targets, in one thread: other threads have other targets."""
    criteria = attacks.criteria
    similar = SimilarRecords(release, criteria.similarity, criteria.theta, 1).expect(may_have)
    return attacks.outcomes(release, targets, similar, lineups, 1)


# How often the best guess of an attack is right, without the other outcomes of a simulation.


def success_rates(
    release: Release,
    known: KnownFacts,
    targets: Ints,
    sizes: Sequence[int],
    threads: int | None,
    attack: AnyAttack | None = None,
) -> Floats:
    """The probability that the best guess is right (1/t in a tie of t), by target and number of facts."""
    attack = ScoreboardRH() if attack is None else check_attack(attack)
    if release.columns:
        of_size = (replace(known, cells=known.cells.first_attributes(original_of(release), size)) for size in sizes)
        found = [attack_columns(release, few, attack, probabilities=False, threads=threads).found for few in of_size]
        return np.stack(found, axis=1)
    verdicts = attack.nested(release, known, list(sizes), with_z=False, threads=threads)
    score = record_scores(verdicts, np.repeat(Population.of(release).record_of(targets), len(sizes)))
    identified = (score == verdicts.columns.highest) / np.maximum(verdicts.columns.ties, 1)
    return np.asarray(identified.reshape(len(targets), len(sizes)))


# How often the best guess about each target is right: on threads, or on workers with the same index.
#
# It costs a fraction of a simulation, which also attacks absent targets, and measures probabilities and claims.


BATCH = 64
"""Number of targets between two reports of progress; it changes no result."""


@dataclass(frozen=True, slots=True)
class TargetSuccess:
    """What every target is attacked with: an attack, fitted to the adversary, and numbers of facts."""

    attack: AnyAttack
    adversary: Adversary
    sizes: tuple[int, ...]
    seed: int

    def of(self, release: Release, targets: Ints, threads: int | None, progress: Progress = no_progress) -> Floats:
        """Probability that the best guess is right (1/t in a tie of t), by target and number of facts."""
        parts: list[Floats] = []
        for part in self._parts(release, targets, threads):
            parts.append(part)
            progress("attacking", sum(map(len, parts)), len(targets))
        return np.concatenate([*parts, np.empty((0, len(self.sizes)))])

    def _parts(self, release: Release, targets: Ints, threads: int | None) -> Iterator[Floats]:
        slices = [targets[low : low + BATCH] for low in range(0, len(targets), BATCH)]
        workers = shared_workers(release)
        if workers is None:
            return (self.slice(release, part, threads) for part in slices)
        return workers.pool.map(_on_worker, ((workers.shared, self, part) for part in slices))

    def slice(self, release: Release, targets: Ints, threads: int | None) -> Floats:
        """The same for a few targets."""
        known = Population.of(release).known_facts(self.adversary, targets, self.seed)
        return success_rates(release, known, targets, self.sizes, threads, self.attack)


def _on_worker(index: SharedIndex, attacks: TargetSuccess, targets: Ints) -> Floats:
    """The same on a worker, in one thread: each thread of a worker has its own task."""
    return attacks.slice(index.open(), targets, 1)
