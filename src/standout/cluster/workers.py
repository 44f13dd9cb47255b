"""Send tasks to workers and return their results in order, whatever happens to a worker.

Tasks are sent in groups that are large enough for their overhead. A group that one worker cannot compute for
want of disk or memory goes to another one; a group that is late is also given to another one, and the first
result counts. Tasks are pure, so nothing of this changes a result.
"""

import functools
import os
import pickle
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from math import ceil
from queue import Empty, SimpleQueue
from statistics import median
from typing import Any, NamedTuple, Protocol, TypeVar

from standout._version import __version__
from standout.core.errors import ParameterError, StandoutError, StoreError
from standout.core.threads import Executor, Part, WorkerPool, even_parts, use_pool
from standout.data.entries import BLOCK_BITS
from standout.data.release import Release
from standout.data.store import SharedIndex

# What runs on a worker: a group of tasks. It returns errors instead of raising them.
#
# Dask logs the arguments and the message of a task that raises, and both may be somebody's data.


class TaskGroup:
    """Tasks that one worker computes one after the other. Its text shows nothing of them."""

    def __init__(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], is_placed: bool = False) -> None:
        self.function, self.tasks, self.is_placed, self.version = function, tasks, is_placed, __version__

    def __len__(self) -> int:
        return len(self.tasks)

    def __repr__(self) -> str:
        return f"<{len(self)} tasks>"


class GroupResult(NamedTuple):
    """The results of a group, or the error that ended it; how many seconds it took, and where it ran."""

    results: list[Any]
    error: Exception | None
    seconds: float
    worker: str = ""

    def __repr__(self) -> str:
        return f"<results of {len(self.results)} tasks>"


def run_group(group: TaskGroup) -> GroupResult:
    """Compute the tasks of a group."""
    start, results = time.perf_counter(), list[Any]()
    try:
        if group.version != __version__:
            raise StoreError(
                f"Standout {__version__} is installed there, but the command has {group.version}: "
                "install the same version"
            )
        for task in group.tasks:
            results.append(group.function(*task))
    except Exception as error:
        distributed, address = sys.modules.get("distributed"), ""
        with suppress(ValueError, AttributeError):  # not a worker of Dask
            address = str(distributed.get_worker().address)  # type: ignore[union-attr]
        return GroupResult([], _sendable(error), time.perf_counter() - start, address)
    return GroupResult(results, None, time.perf_counter() - start)


def machine_memory() -> int:
    """Bytes of memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _sendable(error: Exception) -> Exception:
    """The error with its place in the code, or what is known about it if it cannot be sent."""
    place = "".join(traceback.format_tb(error.__traceback__))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever an exception of somebody else's code can cause
        error = StandoutError(f"a task ended with {type(error).__name__}")
    error.add_note(f"On the worker:\n{place}")
    return error


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

    def cancel(self) -> None:
        """Give up all attempts; futures of Dask are released."""
        for future in self.futures:
            (getattr(future, "release", None) or future.cancel)()


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
            one.cancel()

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
        one.cancel()

    def _try_again(self, one: _Pending, error: Exception, address: str) -> None:
        """Another worker may have the disk or the memory that this one lacks, or an intact index."""
        is_local = isinstance(error, OSError | MemoryError | StoreError)
        if is_local and one.attempts < min(TRIES, self.backend.size):
            self._send(one)
            return
        if not is_local:
            raise error
        worker = f"worker {address}" if address else self.backend.worker_name(one.number, one.attempts - 1)
        if isinstance(error, StoreError):
            raise StoreError(f"{worker}: {error}") from error
        reason = "not enough memory" if isinstance(error, MemoryError) else getattr(error, "strerror", "") or "error"
        raise StandoutError(f"{worker}: {reason}") from error

    def _send_late(self) -> None:
        limit = LATE_SECONDS + LATE_RATIO * median(self.durations or [UNKNOWN_SECONDS])
        for one in self.pending:
            if one.result is None and one.attempts < TRIES and time.monotonic() - one.sent > limit:
                one.sent = time.monotonic()
                self._send(one)


# The parameter `client` of public functions: a Dask client whose workers do the work.


F = TypeVar("F", bound=Callable[..., Any])


def on_client(function: F) -> F:
    """Let a function run with the workers of its argument `client`; default: threads of this process."""

    @functools.wraps(function)
    def run(*arguments: Any, client: Any = None, **named: Any) -> Any:
        if client is None:
            return function(*arguments, **named)
        with use_pool(pool_of_client(client)):
            return function(*arguments, **named)

    return run  # type: ignore[return-value]


def pool_of_client(client: Any) -> WorkerPool:
    """The pool of a Dask client, or the pool itself.

    A connection without encryption is a warning here: a client that somebody has made is already connected.
    """
    if hasattr(client, "map") and hasattr(client, "size"):
        pool: WorkerPool = client
        return pool
    if not (hasattr(client, "submit") and hasattr(client, "scheduler")):
        raise ParameterError(f"client must be a distributed.Client, got {type(client).__name__}")
    from standout.cluster.dask_workers import DaskPool, check_versions, warn_without_tls

    dask_pool = DaskPool(client)
    warn_without_tls([client.scheduler.address, *dask_pool.workers])
    check_versions(client)
    return dask_pool


# Attacks on parts of a release: each worker keeps to its own parts, so it needs memory for these only.


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
        tasks = ((self.index, function, part, tuple(arguments)) for arguments in batches for part in self.parts)
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

    There are as many parts as workers.
    """
    index = SharedIndex.of(release)
    if index is None or not is_divided(release):
        return None
    return WorkerExecutor(pool, index, even_parts(-(-release.n_records // BLOCK), pool.size))
