"""What a computation runs on: threads, workers of other processes, parts of a release, and memory.

Kernels release the interpreter lock, so threads are enough on one machine. The package `cluster` makes pools of
workers. Computations ask for `current_pool()` and work on threads if there is none, so only the outermost call
names the workers. A task is a function of a module and small arguments; its result depends on nothing else, so
that a lost worker's tasks can run again elsewhere.
"""

import mmap
import os
import re
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import pairwise
from pathlib import Path
from threading import local
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from standout.core.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

R = TypeVar("R")
W = TypeVar("W")
AHEAD = 2
"""Number of tasks per thread that may be taken before their results are read."""
SLICE = 32
"""Largest number of tasks in a slice. Attacks on 10 million entries took 3 % longer with 16."""


def thread_count(threads: int | None) -> int:
    """Number of threads to use; default: all cores."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ParameterError(f"threads must be a whole number ≥ 1, got {threads!r}")
    return threads


def run_in_slices(
    count: int,
    threads: int | None,
    new_workspace: Callable[[], W],
    work_on: Callable[[int, int, W], None],
    progress: Callable[[str, int, int], None],
) -> None:
    """Call work_on(low, high, workspace) for slices of range(count); every thread has its own workspace."""
    threads = thread_count(threads)
    size = max(1, min(SLICE, count // (8 * threads)))
    slices = [(low, min(low + size, count)) for low in range(0, count, size)]
    own = local()

    def work_on_slice(low: int, high: int) -> int:
        if not hasattr(own, "workspace"):
            own.workspace = new_workspace()
        work_on(low, high, own.workspace)
        return high

    for done in map_on_threads(work_on_slice, slices, max(min(threads, len(slices)), 1)):
        progress("attacking", done, count)


def map_on_threads(function: Callable[..., R], tasks: Iterable[tuple[Any, ...]], threads: int | None) -> Iterator[R]:
    """The results of function(*task) for each task, in their order.

    Tasks are taken from the iterable, in this thread, only a little ahead of the results.
    """
    threads = thread_count(threads)
    if threads == 1:
        yield from (function(*task) for task in tasks)
        return
    waiting: deque[Future[R]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for task in tasks:
            waiting.append(pool.submit(function, *task))
            if len(waiting) >= AHEAD * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


# Workers of other processes and machines.


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
        """What runs functions on parts of a release; None if attacks on it are better whole.

        Its map(function, *arguments) gives function(release, part, *arguments) for each of its parts, in order, with
        the release as the worker has opened it. The function belongs to a module, its arguments and results can be
        pickled, and it has no side effects: a worker may run it again.
        """

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


# Parts of a release: map over ranges of blocks of records, merge in the order of the parts. Merging is exact, so
# results do not depend on how many parts there are.


class Part(NamedTuple):
    """The blocks first_block … last_block - 1 of a release."""

    first_block: int
    last_block: int


def even_parts(n_blocks: int, count: int) -> tuple[Part, ...]:
    """Split blocks into at most `count` parts of about the same number of blocks, at least one part."""
    count = max(1, min(count, n_blocks))
    return tuple(Part(low, high) for low, high in pairwise(n_blocks * i // count for i in range(count + 1)))


def executor_of(release: object) -> Any:
    """What runs functions on the parts of a release on the current workers; None: the release is better whole."""
    pool = current_pool()
    return None if pool is None else pool.executor_of(release)


# Memory: amounts as people write them, and how much this machine has left.


UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}
WRITTEN = re.compile(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*([A-Za-z]*)\s*", re.ASCII)
SHARE = 0.6
"""Share of the available memory that a build may use; the system's file cache needs the rest."""
UNKNOWN = 4 * 10**9
"""Taken for the available memory where the system does not say."""
SYSTEM = Path("/")


def parse_size(text: int | str, name: str = "memory") -> int:
    """Number of bytes of a size such as 500MB, 4GB or 2GiB."""
    is_text = isinstance(text, (str, int)) and not isinstance(text, bool)
    written = WRITTEN.fullmatch(str(text)) if is_text else None
    unit = None if written is None else UNITS.get(written[2].upper())
    size = 0 if written is None or unit is None else round(float(written[1]) * unit)
    if size < 1:
        raise ParameterError(f"{name} must be a size such as 500MB, 4GB or 2GiB, got {text!r:.100}")
    return size


def size_text(size: float) -> str:
    """A size for people, rounded up so that it suffices."""
    tenths, name = -(-int(size) // 10**5), "MB"
    if tenths >= 10_000:
        tenths, name = -(-int(size) // 10**8), "GB"
    return f"{tenths // 10} {name}" if tenths % 10 == 0 else f"{tenths / 10} {name}"


def memory_limit(memory: int | str | None) -> int:
    """Bytes that a build may use: those that are given, or a share of what is available."""
    return parse_size(memory) if memory is not None else int(SHARE * available_memory())


def available_memory(system: Path = SYSTEM) -> int:
    """Bytes that the machine, or the container around this process, has left."""
    free = _number(system / "proc/meminfo", "MemAvailable:")
    known = [] if free is None else [1024 * free]
    for limit, used, controller in (
        ("memory.max", "memory.current", ""),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory"),
    ):
        folder, inside = system / "sys/fs/cgroup" / controller, _group_path(system, controller)
        for path in [folder / inside, *(folder / parent for parent in inside.parents)]:
            with suppress(OSError, ValueError):  # cached files do not count: the system frees them when needed
                cached = _number(path / "memory.stat", "inactive_file ", "total_inactive_file ") or 0
                known.append(int((path / limit).read_text()) - int((path / used).read_text()) + cached)
    return max(min(known, default=UNKNOWN), 0)


def _number(file: Path, *names: str) -> int | None:
    """The number on the first line of a file that begins with one of these names."""
    with suppress(OSError, ValueError):
        for line in file.read_text().splitlines():
            if line.startswith(names):
                return int(line.split()[1])
    return None


def _group_path(system: Path, controller: str) -> Path:
    """The control group of this process."""
    with suppress(OSError):
        for line in (system / "proc/self/cgroup").read_text().splitlines():
            _, names, path = line.split(":", 2)
            if controller in names.split(","):
                return Path(path.lstrip("/"))
    return Path()


# Arrays in files, for what memory does not hold: the system writes and reads their pages.


_MAPS: list[weakref.ref[mmap.mmap]] = []


def file_array(folder: Path, shape: int | tuple[int, ...], dtype: "DTypeLike") -> "NDArray[Any]":
    """A new array in a file of this folder that has no name: nothing is left of it when it is not used any more.

    Its space is reserved, because a full disk would end the process at a later write.
    """
    import numpy as np

    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if not size:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile(dir=folder) as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
        mapped = mmap.mmap(file.fileno(), size)
    _MAPS[:] = [*(known for known in _MAPS if known() is not None), weakref.ref(mapped)]
    return np.frombuffer(mapped, dtype).reshape(shape)


def drop_pages() -> None:
    """Let go of the pages of all such arrays; they stay in the system's cache or on the disk."""
    for known in _MAPS:
        if (mapped := known()) is not None and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)
