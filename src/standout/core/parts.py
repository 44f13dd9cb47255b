"""Computations over parts of a release: map over ranges of blocks, merge in the order of the parts, finish.

A part is a range of the release's blocks of records (see `release.postings`). A computation is a function
of a release, a part and other arguments. Its results are merged exactly, so they do not depend on how many
parts there are. An executor runs the function on all parts: in this process (`LocalExecutor`), or on workers
that open the same release by its path. It is attached to a release, and every attack on that release uses it:

    attach_executor(release, executor)

Without an executor, attacks run on the whole release on threads, with the same results.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from standout.core.threads import current_pool

__all__ = ["Executor", "LocalExecutor", "Part", "attach_executor", "even_parts", "executor_of"]

R = TypeVar("R")
ATTACHED = "_executor"


class Part(NamedTuple):
    """The blocks first_block … last_block - 1 of a release."""

    first_block: int
    last_block: int


class Executor(ABC):
    """Runs functions on all parts of one release.

    `parts` are ascending and adjacent, from block 0 to the release's last. A function is called as
    function(release, part, *arguments), with the release as the worker has opened it. It belongs to a module,
    and its arguments and results can be pickled. It has no side effects, so that a worker may run it again
    after another was lost. Errors that it raises are raised here.
    """

    parts: tuple[Part, ...]

    @abstractmethod
    def map_batches(self, function: Callable[..., R], batches: Iterable[Sequence[Any]]) -> Iterator[list[R]]:
        """For each of the batches, which are arguments, in order: the results of all parts, in their order.

        Later batches may run while the results of earlier ones are read.
        """

    def map(self, function: Callable[..., R], *arguments: Any) -> list[R]:
        """The results of all parts, in their order."""
        return next(iter(self.map_batches(function, [arguments])))


class LocalExecutor(Executor):
    """All parts in this process, one after another."""

    def __init__(self, release: object, parts: Sequence[Part]) -> None:
        self.release, self.parts = release, tuple(parts)

    def map_batches(self, function: Callable[..., R], batches: Iterable[Sequence[Any]]) -> Iterator[list[R]]:
        """As in `Executor`."""
        for arguments in batches:
            yield [function(self.release, part, *arguments) for part in self.parts]


def even_parts(n_blocks: int, count: int) -> tuple[Part, ...]:
    """Split blocks into at most `count` parts of about the same number of blocks, at least one part."""
    count = max(1, min(count, n_blocks))
    ends = [n_blocks * i // count for i in range(count + 1)]
    return tuple(Part(low, high) for low, high in pairwise(ends))


def attach_executor(release: object, executor: Executor | None) -> None:
    """Let all attacks on this release run on an executor's parts; None: on threads of this process again."""
    vars(release)[ATTACHED] = executor


def executor_of(release: object) -> Executor | None:
    """The executor of a release: the one attached, or that of the current workers; None if it has none."""
    executor, pool = vars(release).get(ATTACHED), current_pool()
    if executor is None and pool is not None:
        executor = pool.executor_of(release)
    assert executor is None or isinstance(executor, Executor)
    return executor
