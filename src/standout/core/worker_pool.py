"""What long computations need of workers on other processes or machines: a map whose results are in order.

The package `cluster` makes pools. Computations ask for `current_pool()` and work on threads if there is none,
so only the outermost call names the workers. A task is a function of a module and small arguments; its result
depends on nothing else, so that a lost worker's tasks can run again elsewhere.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

__all__ = ["WorkerPool", "current_pool", "use_pool"]


class WorkerPool(Protocol):
    """Workers that compute tasks."""

    @property
    def size(self) -> int:
        """Number of tasks that run at the same time."""

    @property
    def is_started(self) -> bool:
        """Whether the workers are there; a pool may start them when the first task is sent."""

    @property
    def memory(self) -> int:
        """Bytes of memory of the smallest machine with workers."""

    def executor_of(self, release: Any) -> Any:
        """An executor for parts of a release (see `core.parts`); None if attacks on it are better whole."""

    def map(self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], places: int = 0) -> Iterator[Any]:
        """The results of function(*task) for each task, in their order.

        Tasks are taken from the iterable only a little ahead of the results. Tasks whose numbers are equal
        modulo `places` run on the same worker, if possible; without places, tasks may share a message.
        """


_POOL: ContextVar[WorkerPool | None] = ContextVar("pool", default=None)


def current_pool() -> WorkerPool | None:
    """The workers to use; None: threads of this process."""
    return _POOL.get()


@contextmanager
def use_pool(pool: WorkerPool | None) -> Iterator[None]:
    """Use these workers within the context."""
    token = _POOL.set(pool)
    try:
        yield
    finally:
        _POOL.reset(token)
