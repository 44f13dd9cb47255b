"""Workers of a Dask cluster. Keys of tasks are numbers; arguments and errors are never in Dask's logs."""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any

from standout.cluster.ordered_run import GroupLost, ordered_results
from standout.cluster.part_executor import part_executor
from standout.cluster.tasks import GroupResult, TaskGroup, machine_memory, run_group
from standout.core.errors import StandoutError, WorkersLost

__all__ = ["DaskPool"]

GATHER_SECONDS = 60
SILENCE_SECONDS = 30
"""How long the scheduler may not answer before it counts as lost."""
EMPTY_SECONDS = 60
"""How long there may be no worker before all count as lost."""
CHECK_SECONDS = 5
MEASURED = 20
"""Number of empty tasks that show the overhead."""
AGAIN = "run the same command again: it resumes where a checkpoint exists"


class DaskPool:
    """The workers of a Dask client. A task that a worker was lost with runs again on another one."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.seconds: dict[str, float] = {}
        self.session = secrets.randbits(63)
        """Part of the keys: Dask takes tasks of equal keys for the same, whichever client sent them."""
        self.count = 0
        self.threads: dict[str, int] = {}
        self.seen = time.monotonic()
        self.checked = 0.0
        self._update()
        self.overhead = self._measured_overhead()

    @property
    def size(self) -> int:
        """Number of threads of all workers."""
        return sum(self.threads.values())

    @property
    def workers(self) -> list[str]:
        """Addresses of the workers, in a fixed order."""
        return sorted(self.threads)

    @cached_property
    def memory(self) -> int:
        """As in `WorkerPool`."""
        return min(self.client.run(machine_memory).values(), default=machine_memory())

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
        self._update()
        return ordered_results(self, function, tasks, places)

    def submit(self, group: TaskGroup, number: int, attempt: int) -> Any:
        """Send a group; the same number of a placed group goes to the same worker, unless that one is lost.

        A second attempt goes to another worker. All others go anywhere: if all workers are lost at once, Dask
        keeps a group for the worker that was asked for, even if new ones come.
        """
        self.count += 1
        is_for_one = attempt == 1 or (attempt == 0 and group.is_placed)
        preferred = self._preferred(number, attempt) if is_for_one else None
        return self.client.submit(
            run_group,
            group,
            key=f"{self.session}-{self.count}",
            pure=False,
            workers=[preferred] if preferred else None,
            allow_other_workers=preferred is not None,
        )

    def result(self, future: Any) -> GroupResult:
        """The result. A worker may die with it: Dask then computes it again."""
        from distributed import KilledWorker

        if future.status == "cancelled":
            raise self._scheduler_lost()
        try:
            result: GroupResult = future.result(timeout=GATHER_SECONDS)
            return result
        except KilledWorker as error:
            raise WorkersLost(
                f"one task ended {error.allowed_failures + 1} workers: check their memory; {AGAIN}"
            ) from error
        except ImportError as error:
            raise StandoutError("a worker cannot load Standout: install the same version there") from error
        except Exception as error:
            if future.status == "cancelled" or self.client.status != "running":
                raise self._scheduler_lost() from error
            if future.status == "error":
                raise StandoutError(f"a worker ended a task with {type(error).__name__}") from error
            raise GroupLost from error

    def worker_name(self, number: int, attempt: int) -> str:
        """Address of the worker that a group was sent to."""
        return f"worker {self._preferred(number, attempt) or 'unknown'}"

    def check(self) -> None:
        """Raise WorkersLost if the scheduler does not answer, or all workers have been gone for a while."""
        if self.client.status != "running":
            raise self._scheduler_lost()
        if time.monotonic() - self.checked < CHECK_SECONDS:
            return
        self._update()
        if self.threads:
            self.seen = time.monotonic()
        elif time.monotonic() - self.seen > EMPTY_SECONDS:
            raise WorkersLost(f"all workers are lost: start new ones, then {AGAIN}")

    def _preferred(self, number: int, attempt: int) -> str | None:
        workers = self.workers
        return workers[(number + attempt) % len(workers)] if workers else None

    def _update(self) -> None:
        """Ask the scheduler for its workers; it has to answer within a time."""
        try:
            answer = self.client.sync(
                self.client.scheduler.identity, n_workers=-1, callback_timeout=SILENCE_SECONDS
            )
        except Exception as error:
            raise self._scheduler_lost() from error
        self.threads = {address: worker["nthreads"] for address, worker in answer["workers"].items()}
        self.checked = time.monotonic()

    def _scheduler_lost(self) -> WorkersLost:
        return WorkersLost(f"the scheduler is lost or does not answer; {AGAIN}")

    def _measured_overhead(self) -> float:
        """Seconds for a group without tasks, if many are sent one after the other."""
        times = []
        for _ in range(2):
            start = time.perf_counter()
            futures = [self.submit(TaskGroup(len, []), number, 0) for number in range(MEASURED)]
            with suppress(GroupLost):
                for future in futures:
                    self.result(future)
            times.append((time.perf_counter() - start) / MEASURED)
        return min(times)
