"""Attacks on slices of targets: on threads of this process, or on workers that have opened the same index.

The outcomes of a slice depend on its targets and the settings only, so slices may run anywhere.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple

from standout.adversary import Adversary
from standout.attack.any_attack import BUILT_IN_SIMILARITIES, AnyAttack, is_built_in
from standout.core.arrays import Ints
from standout.core.parts import executor_of
from standout.core.threads import map_on_threads
from standout.core.worker_pool import WorkerPool, current_pool
from standout.evaluate.outcomes import Criteria, Outcomes, attack_outcomes
from standout.evaluate.population import Population
from standout.evaluate.similar_records import SimilarRecords
from standout.release.model import Release
from standout.release.shared_index import SharedIndex

__all__ = ["TargetAttacks", "shared_workers"]

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
        similar = SimilarRecords(release, self.criteria.similarity, self.criteria.theta, threads)
        bounds = [(low, min(low + size, len(targets))) for low in range(first, len(targets), size)]
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
