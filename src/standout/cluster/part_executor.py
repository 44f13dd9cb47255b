"""Attacks on parts of a release: each worker keeps to its own parts, so it needs memory for these only."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from standout.core.parts import Executor, Part, even_parts
from standout.core.worker_pool import WorkerPool
from standout.release.model import Release
from standout.release.postings import BLOCK_BITS
from standout.release.shared_index import SharedIndex

__all__ = ["WorkerExecutor", "is_divided", "part_executor"]

R = TypeVar("R")
BLOCK = 1 << BLOCK_BITS
FEWEST_ENTRIES = 1 << 24
"""Entries from which on a walk over all records takes longer than sending it to workers."""


class WorkerExecutor(Executor):
    """Runs a function on all parts of an index; a part stays with one worker as long as that one lives."""

    def __init__(self, pool: WorkerPool, index: SharedIndex, parts: Sequence[Part]) -> None:
        self.pool, self.index, self.parts = pool, index, tuple(parts)

    def map_batches(self, function: Callable[..., R], batches: Iterable[Sequence[Any]]) -> Iterator[list[R]]:
        """As in `Executor`."""
        tasks = (
            (self.index, function, part, tuple(arguments)) for arguments in batches for part in self.parts
        )
        results = self.pool.map(_run_on_part, tasks, places=len(self.parts))
        while of_batch := list(islice(results, len(self.parts))):
            yield of_batch


def _run_on_part(index: SharedIndex, function: Callable[..., R], part: Part, arguments: tuple[Any, ...]) -> R:
    return function(index.open(), part, *arguments)


def is_divided(release: Release) -> bool:
    """Whether attacks on a release run on its parts."""
    return release.n_entries >= FEWEST_ENTRIES and SharedIndex.of(release) is not None


def part_executor(pool: WorkerPool, release: Release) -> WorkerExecutor | None:
    """The executor of a release that workers can open; None if they cannot, or it is small.

    A shard is at least one part. There are as many parts as workers, or more.
    """
    index, stored = SharedIndex.of(release), release.stored_columns
    if index is None or stored is None or not is_divided(release):
        return None
    n_blocks = -(-release.n_records // BLOCK)
    starts = [record // BLOCK for record in stored.shards] or [0]
    each = -(-pool.size // len(starts))
    parts = []
    for low, high in zip(starts, [*starts[1:], n_blocks], strict=True):
        parts += [
            Part(low + part.first_block, low + part.last_block) for part in even_parts(high - low, each)
        ]
    return WorkerExecutor(pool, index, parts)
