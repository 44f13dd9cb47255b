"""Send tasks to workers and return their results in order, whatever happens to a worker.

Tasks are sent in groups that are large enough for their overhead. A group that one worker cannot compute for
want of disk or memory goes to another one; a group that is late is also given to another one, and the first
result counts. Tasks are pure, so nothing of this changes a result.
"""

import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from math import ceil
from queue import Empty, SimpleQueue
from statistics import median
from typing import Any, Protocol

from standout.cluster.tasks import GroupResult, TaskGroup
from standout.core.errors import ParameterError, StandoutError, StoreError

__all__ = ["Backend", "GroupLost", "ordered_results"]

OVERHEAD_SHARE = 0.05
"""Largest share of the time that sending a group may take."""
LARGEST_GROUP = 256
AHEAD, WINDOW = 2, 32
"""Unfinished groups, and groups whose results wait for an earlier one, for each task that runs at a time."""
TICK = 1.0
LATE_SECONDS, LATE_RATIO = 20.0, 4.0
"""A group is late after these seconds and this many times the usual time."""
UNKNOWN_SECONDS = 60.0
"""The usual time before any group is done: kernels may have to be compiled."""
TRIES = 3


class GroupLost(Exception):  # noqa: N818
    """A group has to be sent again: its worker is gone, or the result with it."""


class Backend(Protocol):
    """Some kind of workers."""

    overhead: float
    seconds: dict[str, float]

    @property
    def size(self) -> int:
        """Number of tasks that run at the same time."""

    def submit(self, group: TaskGroup, number: int, attempt: int) -> Any:
        """A future of the group's result. Other attempts run on other workers, if possible."""

    def result(self, future: Any) -> GroupResult:
        """The result of a future that is done. Raises GroupLost, or an error if no worker can help."""

    def worker_name(self, number: int, attempt: int) -> str:
        """The worker that should compute a group, for errors."""

    def check(self) -> None:
        """Raise an error if all workers are lost."""


@dataclass(eq=False)
class _Pending:
    number: int
    group: TaskGroup
    sent: float
    attempts: int = 0
    futures: list[Any] = field(default_factory=list)
    result: GroupResult | None = None


def ordered_results(
    backend: Backend, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], places: int = 0
) -> Iterator[Any]:
    """The results of all tasks in their order; see `WorkerPool.map`."""
    run = _Run(backend, function, iter(tasks), places)
    try:
        while run.has_more():
            yield from run.next_results()
    finally:
        run.release()


@dataclass(eq=False)
class _Run:
    backend: Backend
    function: Callable[..., Any]
    tasks: Iterator[tuple[Any, ...]]
    places: int
    pending: deque[_Pending] = field(default_factory=deque)
    done: "SimpleQueue[tuple[_Pending, Any]]" = field(default_factory=SimpleQueue)
    count: int = 0
    durations: deque[float] = field(default_factory=lambda: deque(maxlen=64))

    @property
    def _name(self) -> str:
        return f"{self.function.__module__}.{self.function.__qualname__}"

    def has_more(self) -> bool:
        """Send further groups; returns whether any result is still missing."""
        size = max(self.backend.size, 1)
        unfinished = sum(one.result is None for one in self.pending)
        while unfinished < AHEAD * size and len(self.pending) < WINDOW * size:
            chunk = list(islice(self.tasks, self._group_size()))
            if not chunk:
                break
            place = self.count % self.places if self.places else self.count
            one = _Pending(place, TaskGroup(self.function, chunk, self.places > 0), time.monotonic())
            self.count += 1
            self.pending.append(one)
            self._send(one)
            unfinished += 1
        return bool(self.pending)

    def next_results(self) -> list[Any]:
        """The results of the next group, or none yet."""
        if self.pending[0].result is None:
            self._wait()
        first = self.pending[0]
        if first.result is None:
            return []
        self.pending.popleft()
        return first.result.results

    def release(self) -> None:
        """Give up what has not been computed."""
        for one in self.pending:
            for future in one.futures:
                _cancel(future)

    def _group_size(self) -> int:
        """Tasks in a group, from the measured time of one and the measured overhead of a group."""
        seconds = self.backend.seconds.get(self._name)
        if seconds is None or self.places:
            return 1
        return min(max(ceil(self.backend.overhead / OVERHEAD_SHARE / max(seconds, 1e-9)), 1), LARGEST_GROUP)

    def _send(self, one: _Pending) -> None:
        try:
            future = self.backend.submit(one.group, one.number, one.attempts)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ParameterError(
                "the attack, adversary or similarity cannot be sent to workers: use classes and functions of "
                "a module instead of local ones"
            ) from error
        one.attempts += 1
        one.futures.append(future)
        future.add_done_callback(lambda future: self.done.put((one, future)))

    def _wait(self) -> None:
        """Wait for one future, a tick at most; then look for late groups and lost workers."""
        try:
            one, future = self.done.get(timeout=TICK)
        except Empty:
            self.backend.check()
            self._send_late()
            return
        if one.result is not None:
            return
        try:
            result = self.backend.result(future)
        except GroupLost:
            self._send(one)
            return
        if result.error is not None:
            self._try_again(one, result.error, result.worker)
            return
        self.durations.append(result.seconds)
        self.backend.seconds[self._name] = result.seconds / max(len(one.group), 1)
        one.result = result
        for other in one.futures:
            _cancel(other)

    def _try_again(self, one: _Pending, error: Exception, address: str) -> None:
        """Another worker may have the disk or the memory that this one lacks, or an intact index."""
        is_local = isinstance(error, OSError | MemoryError | StoreError)
        if is_local and one.attempts < min(TRIES, self.backend.size):
            self._send(one)
            return
        if not is_local:
            raise error
        worker = f"worker {address}" if address else self.backend.worker_name(one.number, one.attempts - 1)
        text = str(error) if isinstance(error, StoreError) else _reason(error)
        raise (StoreError if isinstance(error, StoreError) else StandoutError)(f"{worker}: {text}") from error

    def _send_late(self) -> None:
        limit = LATE_SECONDS + LATE_RATIO * median(self.durations or [UNKNOWN_SECONDS])
        for one in self.pending:
            if one.result is None and one.attempts < TRIES and time.monotonic() - one.sent > limit:
                one.sent = time.monotonic()
                self._send(one)


def _reason(error: Exception) -> str:
    return (
        "not enough memory" if isinstance(error, MemoryError) else getattr(error, "strerror", "") or "error"
    )


def _cancel(future: Any) -> None:
    release = getattr(future, "release", None) or future.cancel
    release()
