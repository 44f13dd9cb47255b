"""How often the best guess about each target is right: on threads, or on workers with the same index.

It costs a fraction of a simulation, which also attacks absent targets, and measures probabilities and claims.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from standout.adversary import Adversary
from standout.attack.any_attack import AnyAttack
from standout.core.arrays import Floats, Ints
from standout.core.progress import Progress, no_progress
from standout.evaluate.population import Population
from standout.evaluate.success_rate import success_rates
from standout.evaluate.target_attacks import shared_workers
from standout.release.model import Release
from standout.release.shared_index import SharedIndex

__all__ = ["TargetSuccess"]

BATCH = 64
"""Number of targets between two reports of progress; it changes no result."""


@dataclass(frozen=True, slots=True)
class TargetSuccess:
    """What every target is attacked with: an attack, fitted to the adversary, and numbers of facts."""

    attack: AnyAttack
    adversary: Adversary
    sizes: tuple[int, ...]
    seed: int

    def of(
        self, release: Release, targets: Ints, threads: int | None, progress: Progress = no_progress
    ) -> Floats:
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
