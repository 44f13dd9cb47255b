"""Dask workers: send them tasks and return the results in order, whatever happens to a worker.

Tasks are sent in groups that are large enough for their overhead. A group that one worker cannot compute for
want of disk or memory goes to another one; a group that is late is also given to another one, and the first
result counts. Tasks are pure, so nothing of this changes a result. Keys of tasks are numbers; arguments and
errors are never in Dask's logs.
"""

import asyncio
import ipaddress
import logging
import os
import pickle
import secrets
import sys
import tempfile
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from math import ceil
from queue import Empty, SimpleQueue
from statistics import median
from types import ModuleType
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from standout._version import __version__
from standout.core.errors import ParameterError, StandoutError, StoreError, WorkersLost, install_command
from standout.core.progress import with_progress
from standout.core.threads import Part, WorkerPool, even_parts, use_pool
from standout.data.entries import BLOCK_BITS
from standout.data.release import Release
from standout.data.store import SharedIndex

R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


def on_client(function: F) -> F:
    """Let a function take `progress`, and run with the workers of its argument `client`; default: threads."""
    return with_progress(function, use_client)


def use_client(client: Any) -> AbstractContextManager[Any]:
    """Run with the workers of a Dask client or a `WorkerPool`."""
    if hasattr(client, "map") and hasattr(client, "size"):
        return use_pool(client)
    if not (hasattr(client, "submit") and hasattr(client, "scheduler")):
        raise ParameterError(f"client must be a distributed.Client, got {type(client).__name__}")
    pool = DaskPool(client)
    warn_without_tls([client.scheduler.address, *pool.workers])
    compare_versions(client.get_versions(packages=["standout", "numba"]))
    return use_pool(pool)


# What runs on a worker: a group of tasks. It returns errors instead of raising them, because Dask logs the
# arguments and the message of a task that raises, and both may be somebody's data.


class TaskGroup:
    """Tasks that one worker computes one after the other. Its text shows nothing of them."""

    def __init__(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], is_placed: bool = False) -> None:
        self.function, self.tasks, self.is_placed, self.version = function, tasks, is_placed, __version__

    def __repr__(self) -> str:
        return f"<{len(self.tasks)} tasks>"


class GroupResult(NamedTuple):
    """The results of a group, or the error that ended it; how many seconds it took, and where it failed."""

    results: list[Any]
    error: Exception | None
    seconds: float
    worker: str = ""

    def __repr__(self) -> str:
        return f"<results of {len(self.results)} tasks>"


def run_group(group: TaskGroup) -> GroupResult:
    """Compute the tasks of a group."""
    start = time.perf_counter()
    try:
        if group.version != __version__:
            raise StoreError(f"it has Standout {__version__}, but the command has {group.version}: install the same")
        results = [group.function(*task) for task in group.tasks]
        return GroupResult(results, None, time.perf_counter() - start)
    except Exception as error:
        place, sent, address = "".join(traceback.format_tb(error.__traceback__)), error, ""
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # whatever an exception of somebody else's code can cause
            sent = StandoutError(f"a task ended with {type(error).__name__}")
        sent.add_note(f"On the worker:\n{place}")
        with suppress(ValueError, KeyError):  # not a worker of Dask
            address = str(sys.modules["distributed"].get_worker().address)
        return GroupResult([], sent, time.perf_counter() - start, address)


def _machine_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


# Results in order.

OVERHEAD, OVERHEAD_SHARE = 0.005, 0.05
"""Seconds that sending a group takes, and the largest share of its time that it may take."""
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


@dataclass(eq=False)
class _Pending:
    number: int
    group: TaskGroup
    sent: float
    attempts: int = 0
    futures: list[Any] = field(default_factory=list)
    result: GroupResult | None = None

    def cancel(self) -> None:
        for future in self.futures:
            (getattr(future, "release", None) or future.cancel)()  # futures of Dask are released


def ordered_results(
    pool: "DaskPool", function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], places: int = 0
) -> Iterator[Any]:
    """The results of all tasks in their order; see `WorkerPool.map`."""
    run = _Run(pool, function, iter(tasks), places)
    try:
        while run.send_groups():
            first = run.pending[0].result
            if first is None:
                run.wait()
            else:
                run.pending.popleft()
                yield from first.results
    finally:
        for one in run.pending:
            one.cancel()


class _Run:
    def __init__(self, pool: "DaskPool", function: Callable[..., Any], tasks: Iterator[Any], places: int) -> None:
        self.pool, self.function, self.tasks, self.places, self.count = pool, function, tasks, places, 0
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.pending: deque[_Pending] = deque()
        self.done: SimpleQueue[tuple[_Pending, Any]] = SimpleQueue()
        self.durations: deque[float] = deque(maxlen=64)

    def send_groups(self) -> bool:
        """Send further groups; returns whether any result is still missing."""
        size, seconds = max(self.pool.size, 1), self.pool.seconds.get(self.name)
        enough = 1 if seconds is None or self.places else ceil(OVERHEAD / OVERHEAD_SHARE / max(seconds, 1e-9))
        unfinished = sum(one.result is None for one in self.pending)
        while unfinished < AHEAD * size and len(self.pending) < WINDOW * size:
            chunk = list(islice(self.tasks, min(max(enough, 1), LARGEST_GROUP)))
            if not chunk:
                break
            place = self.count % self.places if self.places else self.count
            self.pending.append(_Pending(place, TaskGroup(self.function, chunk, self.places > 0), time.monotonic()))
            self._send(self.pending[-1])
            self.count += 1
            unfinished += 1
        return bool(self.pending)

    def wait(self) -> None:
        """Wait for one future, a tick at most; then look for late groups and lost workers."""
        try:
            one, future = self.done.get(timeout=TICK)
        except Empty:
            self.pool.check()
            limit = LATE_SECONDS + LATE_RATIO * median(self.durations or [UNKNOWN_SECONDS])
            for one in self.pending:
                if one.result is None and one.attempts < TRIES and time.monotonic() - one.sent > limit:
                    one.sent = time.monotonic()
                    self._send(one)
            return
        if one.result is not None:
            return
        try:
            result = self.pool.result(future)
        except GroupLost:
            self._send(one)
            return
        if result.error is not None:
            self._try_again(one, result.error, result.worker)
            return
        self.durations.append(result.seconds)
        self.pool.seconds[self.name] = result.seconds / max(len(one.group.tasks), 1)
        one.result = result
        one.cancel()

    def _send(self, one: _Pending) -> None:
        try:
            future = self.pool.submit(one.group, one.number, one.attempts)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            text = (
                "the attack, adversary or similarity cannot be sent to workers: use classes and functions of a module"
            )
            raise ParameterError(text) from error
        one.attempts += 1
        one.futures.append(future)
        future.add_done_callback(lambda future: self.done.put((one, future)))

    def _try_again(self, one: _Pending, error: Exception, address: str) -> None:
        """Another worker may have the disk or the memory that this one lacks, or an intact index."""
        if not isinstance(error, OSError | MemoryError | StoreError):
            raise error
        if one.attempts < min(TRIES, self.pool.size):
            self._send(one)
            return
        worker = f"worker {address or self.pool.preferred(one.number, one.attempts - 1) or 'unknown'}"
        if isinstance(error, StoreError):
            raise StoreError(f"{worker}: {error}") from error
        reason = "not enough memory" if isinstance(error, MemoryError) else getattr(error, "strerror", "") or "error"
        raise StandoutError(f"{worker}: {reason}") from error


SILENCE_SECONDS, EMPTY_SECONDS = 30, 60
"""How long the scheduler may not answer, and how long there may be no worker, before they count as lost."""
GATHER_SECONDS, CHECK_SECONDS = 60, 5
AGAIN = "run the same command again: it resumes where a checkpoint exists"
SCHEDULER_LOST = f"the scheduler is lost or does not answer; {AGAIN}"


class DaskPool:
    """The workers of a Dask client, a `WorkerPool`. A task that a worker was lost with runs again on another one."""

    is_started = True

    def __init__(self, client: Any) -> None:
        self.client = client
        self.seconds: dict[str, float] = {}
        self.session = secrets.randbits(63)
        """Part of the keys: Dask takes tasks of equal keys for the same, whichever client sent them."""
        self.count = 0
        self.seen = time.monotonic()
        self._update()

    def _update(self) -> None:
        """Ask the scheduler for its workers; it has to answer within a time."""
        try:
            answer = self.client.sync(self.client.scheduler.identity, n_workers=-1, callback_timeout=SILENCE_SECONDS)
        except Exception as error:
            raise WorkersLost(SCHEDULER_LOST) from error
        threads = {address: worker["nthreads"] for address, worker in answer["workers"].items()}
        self.workers, self.size = sorted(threads), sum(threads.values())
        self.checked = time.monotonic()

    @cached_property
    def memory(self) -> int:
        """As in `WorkerPool`."""
        return min(self.client.run(_machine_memory).values(), default=_machine_memory())

    def executor_of(self, release: Release) -> "WorkerExecutor | None":
        """As in `WorkerPool`: as many parts as workers."""
        index = SharedIndex.of(release)
        if index is None or release.n_entries < FEWEST_ENTRIES:
            return None
        return WorkerExecutor(self, index, even_parts(-(-release.n_records // (1 << BLOCK_BITS)), self.size))

    def map(self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], places: int = 0) -> Iterator[Any]:
        """As in `WorkerPool`."""
        self._update()
        return ordered_results(self, function, tasks, places)

    def preferred(self, number: int, attempt: int) -> str | None:
        """Address of the worker that should compute a group."""
        return self.workers[(number + attempt) % len(self.workers)] if self.workers else None

    def submit(self, group: TaskGroup, number: int, attempt: int) -> Any:
        """Send a group; the same number of a placed group goes to the same worker, unless that one is lost.

        A second attempt goes to another worker. All others go anywhere: if all workers are lost at once, Dask
        keeps a group for the worker that was asked for, even if new ones come.
        """
        self.count += 1
        is_for_one = attempt == 1 or (attempt == 0 and group.is_placed)
        preferred = self.preferred(number, attempt) if is_for_one else None
        return self.client.submit(
            run_group,
            group,
            key=f"{self.session}-{self.count}",
            pure=False,
            workers=[preferred] if preferred else None,
            allow_other_workers=preferred is not None,
        )

    def result(self, future: Any) -> GroupResult:
        """The result of a future that is done. A worker may die with it: Dask then computes it again."""
        from distributed import KilledWorker

        if future.status == "cancelled":
            raise WorkersLost(SCHEDULER_LOST)
        try:
            return cast(GroupResult, future.result(timeout=GATHER_SECONDS))
        except KilledWorker as error:
            count = error.allowed_failures + 1
            raise WorkersLost(f"one task ended {count} workers: check their memory; {AGAIN}") from error
        except ImportError as error:
            raise StandoutError("a worker cannot load Standout: install the same version there") from error
        except Exception as error:
            if future.status == "cancelled" or self.client.status != "running":
                raise WorkersLost(SCHEDULER_LOST) from error
            if future.status == "error":
                raise StandoutError(f"a worker ended a task with {type(error).__name__}") from error
            raise GroupLost from error

    def check(self) -> None:
        """Raise WorkersLost if the scheduler does not answer, or all workers have been gone for a while."""
        if self.client.status != "running":
            raise WorkersLost(SCHEDULER_LOST)
        if time.monotonic() - self.checked < CHECK_SECONDS:
            return
        self._update()
        if self.size:
            self.seen = time.monotonic()
        elif time.monotonic() - self.seen > EMPTY_SECONDS:
            raise WorkersLost(f"all workers are lost: start new ones, then {AGAIN}")


FEWEST_ENTRIES = 1 << 24
"""Entries from which on a walk over all records takes longer than sending it to workers."""


@dataclass(frozen=True)
class WorkerExecutor:
    """Runs a function on all parts of an index; a part stays with one worker, which needs memory for it only."""

    pool: WorkerPool
    index: SharedIndex
    parts: tuple[Part, ...]

    def map(self, function: Callable[..., R], *arguments: Any) -> list[R]:
        """The results of all parts, in their order."""
        tasks = ((self.index, function, part, *arguments) for part in self.parts)
        return list(self.pool.map(_run_on_part, tasks, places=len(self.parts)))


def _run_on_part(index: SharedIndex, function: Callable[..., R], part: Part, *arguments: Any) -> R:
    return function(index.open(), part, *arguments)


class _LazyPool:
    def __init__(self, start: Callable[[], DaskPool]) -> None:
        self.start, self.is_started = start, False

    def __getattr__(self, name: str) -> Any:
        if name == "pool":
            self.pool, self.is_started = self.start(), True
            return self.pool
        return getattr(self.pool, name)

    def executor_of(self, release: Release) -> WorkerExecutor | None:
        return self.pool.executor_of(release) if release.n_entries >= FEWEST_ENTRIES else None


@contextmanager
def use_lazily(workers: AbstractContextManager[DaskPool]) -> Iterator[None]:
    """Use these workers within the context; they start with the first task, so that errors in options come first."""
    with ExitStack() as stack, use_pool(cast(WorkerPool, _LazyPool(lambda: stack.enter_context(workers)))):
        yield


# Where workers come from: this machine, or a scheduler. Dask's own logs and warnings do not reach the terminal.

LOOPBACK = "127.0.0.1"
START_SECONDS, CONNECT_SECONDS, WORKER_SECONDS = 120, 30, 60
SETTINGS = {
    "distributed.worker.multiprocessing-method": "spawn",
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
TLS_SETTINGS = "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__TLS__CLIENT__CERT and …__TLS__CLIENT__KEY"


def import_distributed() -> ModuleType:
    """The package distributed."""
    try:
        import cryptography  # noqa: F401  for certificates of local workers
        import distributed
    except ImportError:
        raise ParameterError(f"workers need Dask: {install_command('cluster')}") from None
    return cast(ModuleType, distributed)


@contextmanager
def _quiet(debug: bool) -> Iterator[None]:
    """Silence Dask within the context, unless for debugging. Its log may have addresses and paths."""
    before = logging.root.manager.disable
    try:
        with warnings.catch_warnings():
            if not debug:
                logging.disable(logging.CRITICAL)
                warnings.filterwarnings("ignore", module=r"distributed\b.*")
            yield
    finally:
        logging.disable(before)


@contextmanager
def local_workers(count: int, debug: bool = False) -> Iterator[DaskPool]:
    """A pool of `count` processes with one thread each.

    Scheduler and workers listen on the loopback address only. They talk TLS with a certificate that exists in
    memory only, because every user of the machine can connect to that address, and a scheduler runs whatever
    it is sent. There is no dashboard. Memory is not limited: mapped indexes would count as memory of workers.
    """
    import dask

    distributed = import_distributed()
    with (
        _quiet(debug),
        dask.config.set(SETTINGS),
        tempfile.TemporaryDirectory(prefix="standout-workers-") as folder,
        distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            host=LOOPBACK,
            protocol="tls://",
            security=(security := distributed.Security.temporary()),
            dashboard_address=None,
            scheduler_kwargs={"dashboard": False, "dashboard_address": f"{LOOPBACK}:0"},
            memory_limit=0,
            local_directory=folder,
            silence_logs=logging.WARNING if debug else logging.CRITICAL + 1,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False, security=security, timeout=START_SECONDS) as client,
    ):
        client.wait_for_workers(count, timeout=START_SECONDS)
        yield DaskPool(client)


@contextmanager
def scheduler_workers(address: str, insecure: bool = False, debug: bool = False) -> Iterator[DaskPool]:
    """The workers of the scheduler at an address, unless that is not safe, or their Standout is another version."""
    check_address("scheduler", address, insecure)
    distributed = import_distributed()
    with _quiet(debug), _client(distributed, address) as client:
        try:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except Exception as error:
            text = f"{address} has no workers: start some with `dask worker {address} --memory-limit 0`"
            raise StandoutError(text) from error
        pool = DaskPool(client)
        for worker in pool.workers:
            check_address("a worker", worker, insecure)
        compare_versions(client.get_versions(packages=["standout", "numba"]))
        yield pool


def check_address(name: str, address: str, insecure: bool) -> None:
    """Refuse what is no address of Dask, or a connection that others could read and write."""
    try:
        parts = urlsplit(address)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except ValueError:
        scheme, host, port = "", None, None
    if scheme not in ("tcp", "tls") or not host or not port:
        raise ParameterError(f"{name} must be an address such as tls://host:8786, got {address!r}")
    if scheme == "tls" or insecure or host == "localhost":
        return
    with suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return
    raise ParameterError(
        f"{name} must be a tls:// address, or on this machine, got {address!r}: over tcp:// anybody on the network can "
        "read the results and run code on the workers. Set up TLS (docs/lab/scale.md), or add insecure=True"
    )


def warn_without_tls(addresses: Iterable[str]) -> None:
    """Warn if others on the network could read and write; a client that somebody has made is already connected."""
    try:
        for address in addresses:
            if not address.startswith("inproc:"):
                check_address("client", address, insecure=False)
    except ParameterError:
        text = "the client has no TLS: anybody on the network can read the results and run code on the workers"
        warnings.warn(text, stacklevel=2)


def _client(distributed: Any, address: str) -> Any:
    """A client. TLS is set up as Dask's configuration says."""
    is_tls = address.startswith("tls:")
    security = distributed.Security(require_encryption=is_tls)
    if is_tls and not (security.tls_ca_file and security.tls_client_cert):
        raise ParameterError(f"scheduler is a tls:// address, but Dask has no certificates: set {TLS_SETTINGS}")
    try:
        settings = security.get_connection_args("client")
    except (OSError, ValueError) as error:  # those of ssl are among them
        raise StandoutError(
            "Dask cannot load its certificates: a file is missing, or the key does not belong to the "
            f"certificate. Check {TLS_SETTINGS}"
        ) from error

    async def connect() -> None:  # a client would wait forever for a scheduler that accepts but is silent
        connection = await distributed.comm.connect(address, CONNECT_SECONDS, **settings)
        await connection.close()

    try:
        asyncio.run(asyncio.wait_for(connect(), CONNECT_SECONDS))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # differing versions are named in one line instead
            return distributed.Client(address, set_as_default=False, security=security, timeout=CONNECT_SECONDS)
    except distributed.comm.CommClosedError as error:
        needs = "one authority has to sign both certificates" if is_tls else "with TLS, its address begins with tls://"
        raise StandoutError(f"the scheduler at {address} and this machine cannot connect: {needs}") from error
    except (OSError, TimeoutError, ValueError) as error:
        text = (
            f"no scheduler answers at {address} within {CONNECT_SECONDS} seconds: check the address, and that it runs"
        )
        raise StandoutError(text) from error


def compare_versions(versions: Mapping[str, Any]) -> None:
    """Refuse workers with another Standout; warn about other versions that differ.

    The scheduler computes nothing, so only Python and Dask matter there.
    """

    def version(answer: Mapping[str, Any], package: str) -> str | None:
        found = {**dict(answer["packages"]), "python": dict(answer["host"]).get("python")}.get(package)
        return str(found).split(".final")[0] if found else None

    workers = {f"worker {address}": answer for address, answer in versions["workers"].items()}
    everywhere, lines = {"scheduler": versions["scheduler"], **workers}, []
    for package in ("python", "standout", "numpy", "numba", "dask", "distributed"):
        own, different = version(versions["client"], package), dict[str, list[str]]()
        for name, answer in (everywhere if package in ("python", "dask", "distributed") else workers).items():
            if version(answer, package) != own:
                different.setdefault(version(answer, package) or "missing", []).append(name)
        for found, names in different.items():
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            lines.append(f"{package} {own} here, {found} on {names[0]}{more}")
    text = "; ".join(lines)
    if any(line.startswith("standout ") for line in lines):
        raise StandoutError(f"all workers need the same version of Standout: {text}")
    if lines:
        warnings.warn(f"versions differ, so numbers may differ in the last digits: {text}", stacklevel=2)
