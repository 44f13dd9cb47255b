"""Workers that are started when the first task is sent, so that errors in options or data come first."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from standout.cluster.part_executor import is_divided
from standout.core.worker_pool import WorkerPool, use_pool

__all__ = ["use_lazily"]


class _LazyPool:
    def __init__(self, start: Callable[[], WorkerPool]) -> None:
        self.start = start
        self.pool: WorkerPool | None = None

    @property
    def started(self) -> WorkerPool:
        if self.pool is None:
            self.pool = self.start()
        return self.pool

    @property
    def size(self) -> int:
        return self.started.size

    @property
    def memory(self) -> int:
        return self.started.memory

    def executor_of(self, release: Any) -> Any:
        return self.started.executor_of(release) if is_divided(release) else None

    @property
    def is_started(self) -> bool:
        return self.pool is not None

    def map(
        self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], places: int = 0
    ) -> Iterator[Any]:
        return self.started.map(function, tasks, places)


@contextmanager
def use_lazily(workers: AbstractContextManager[WorkerPool]) -> Iterator[None]:
    """Use these workers within the context; they are started when they are first needed."""
    with ExitStack() as stack, use_pool(_LazyPool(lambda: stack.enter_context(workers))):
        yield
