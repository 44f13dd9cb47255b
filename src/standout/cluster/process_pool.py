"""Workers that are processes of this machine, without Dask."""

import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from standout.cluster.ordered_run import GroupLost, ordered_results
from standout.cluster.part_executor import part_executor
from standout.cluster.tasks import GroupResult, TaskGroup, machine_memory, run_group
from standout.core.errors import WorkersLost

__all__ = ["ProcessPool", "process_workers"]

MOST_RESTARTS = 10


class ProcessPool:
    """Spawned processes. A process that dies is replaced, and its tasks run again."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.seconds: dict[str, float] = {}
        self.restarts = 0
        self.executor = self._start()
        self.overhead = _measured_overhead(self)

    @property
    def size(self) -> int:
        """Number of processes."""
        return self.count

    @property
    def memory(self) -> int:
        """As in `WorkerPool`."""
        return machine_memory()

    def executor_of(self, release: Any) -> Any:
        """As in `WorkerPool`."""
        return part_executor(self, release)

    @property
    def is_started(self) -> bool:
        """As in `WorkerPool`."""
        return True

    def map(
        self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], places: int = 0
    ) -> Iterator[Any]:
        """As in `WorkerPool`."""
        return ordered_results(self, function, tasks, places)

    def submit(self, group: TaskGroup, number: int, attempt: int) -> "Future[GroupResult]":
        """Give a group to the next free process."""
        try:
            return self.executor.submit(run_group, group)
        except BrokenProcessPool:
            self._restart()
            return self.executor.submit(run_group, group)

    def result(self, future: "Future[GroupResult]") -> GroupResult:
        """The result; GroupLost if a process died, which ends all that were running."""
        try:
            return future.result()
        except (BrokenProcessPool, CancelledError) as error:
            raise GroupLost from error

    def worker_name(self, number: int, attempt: int) -> str:
        """All processes are on this machine."""
        return "a worker of this machine"

    def check(self) -> None:
        """Processes are replaced, so they cannot all be lost."""

    def close(self) -> None:
        """End the processes."""
        self.executor.shutdown(wait=True, cancel_futures=True)

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.count, mp_context=multiprocessing.get_context("spawn"))

    def _restart(self) -> None:
        self.restarts += 1
        if self.restarts > MOST_RESTARTS:
            raise WorkersLost(
                f"worker processes died {self.restarts} times: check the memory of this machine"
            )
        self.executor.shutdown(wait=False, cancel_futures=True)
        self.executor = self._start()


@contextmanager
def process_workers(count: int) -> Iterator[ProcessPool]:
    """A pool of processes that ends with the context."""
    pool = ProcessPool(count)
    try:
        yield pool
    finally:
        pool.close()


def _measured_overhead(pool: ProcessPool) -> float:
    """Seconds for a group without tasks, once the process is there."""
    empty, times = TaskGroup(os.getpid, []), []
    for _ in range(5):
        start = time.perf_counter()
        pool.submit(empty, 0, 0).result()
        times.append(time.perf_counter() - start)
    return min(times)
