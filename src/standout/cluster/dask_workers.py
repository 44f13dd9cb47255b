"""Workers of a Dask cluster. Keys of tasks are numbers; arguments and errors are never in Dask's logs."""

import asyncio
import ipaddress
import logging
import secrets
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import cached_property
from types import ModuleType
from typing import Any, cast
from urllib.parse import urlsplit

from standout.cluster.workers import (
    GroupLost,
    GroupResult,
    TaskGroup,
    is_divided,
    machine_memory,
    ordered_results,
    part_executor,
    run_group,
)
from standout.core.errors import ParameterError, StandoutError, WorkersLost, install_command
from standout.core.threads import WorkerPool, use_pool

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

    def map(self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], places: int = 0) -> Iterator[Any]:
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
            answer = self.client.sync(self.client.scheduler.identity, n_workers=-1, callback_timeout=SILENCE_SECONDS)
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


# Workers that are started when the first task is sent, so that errors in options or data come first.


class _LazyPool:
    def __init__(self, start: Callable[[], WorkerPool]) -> None:
        self.start, self.pool = start, cast(WorkerPool | None, None)

    def __getattr__(self, name: str) -> Any:
        if self.pool is None:
            self.pool = self.start()
        return getattr(self.pool, name)

    def executor_of(self, release: Any) -> Any:
        return self.__getattr__("executor_of")(release) if is_divided(release) else None

    @property
    def is_started(self) -> bool:
        return self.pool is not None


@contextmanager
def use_lazily(workers: AbstractContextManager[WorkerPool]) -> Iterator[None]:
    """Use these workers within the context; they are started when they are first needed."""
    with ExitStack() as stack, use_pool(cast(WorkerPool, _LazyPool(lambda: stack.enter_context(workers)))):
        yield


# Import Dask if it is installed, and keep its logs and warnings from the terminal.


LOGGERS = ("distributed", "tornado", "asyncio")


def import_distributed() -> ModuleType:
    """The package distributed."""
    try:
        import cryptography  # noqa: F401  for certificates of local workers
        import distributed
    except ImportError:
        raise ParameterError(f"workers need Dask: {install_command('cluster')}") from None
    module: ModuleType = distributed
    return module


@contextmanager
def quiet(debug: bool) -> Iterator[None]:
    """Silence Dask within the context, unless for debugging. Its log may have addresses and paths."""
    if debug:
        yield
        return
    loggers = [logging.getLogger(name) for name in LOGGERS]
    loggers += [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith(LOGGERS)]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"distributed\b.*")
            yield
    finally:
        for logger, was_disabled in zip(loggers, before, strict=True):
            logger.disabled = was_disabled


# Dask workers on this machine: spawned processes that only this user can reach.


LOOPBACK = "127.0.0.1"
START_SECONDS = 120
SETTINGS = {
    "distributed.worker.multiprocessing-method": "spawn",
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}


@contextmanager
def local_workers(count: int, debug: bool = False) -> Iterator[DaskPool]:
    """A pool of `count` processes with one thread each.

    Scheduler and workers listen on the loopback address only. They talk TLS with a certificate that exists in
    memory only, because every user of the machine can connect to that address, and a scheduler runs whatever
    it is sent. There is no dashboard. Memory is not limited: mapped indexes would count as memory of workers.
    """
    import dask

    distributed = import_distributed()
    with ExitStack() as stack:
        stack.enter_context(quiet(debug))
        stack.enter_context(dask.config.set(SETTINGS))
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="standout-workers-"))
        security = distributed.Security.temporary()
        cluster: Any = stack.enter_context(
            distributed.LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                processes=True,
                host=LOOPBACK,
                protocol="tls://",
                security=security,
                dashboard_address=None,
                scheduler_kwargs={"dashboard": False, "dashboard_address": f"{LOOPBACK}:0"},
                memory_limit=0,
                local_directory=folder,
                silence_logs=logging.WARNING if debug else logging.CRITICAL + 1,
            )
        )
        client = stack.enter_context(
            distributed.Client(cluster, set_as_default=False, security=security, timeout=START_SECONDS)
        )
        client.wait_for_workers(count, timeout=START_SECONDS)
        yield DaskPool(client)


# Connect to a Dask scheduler: refuse what is not safe, and name versions that differ.


CONNECT_SECONDS = 30
WORKER_SECONDS = 60
COMPARED = ("python", "standout", "numpy", "numba", "dask", "distributed")
TLS_SETTINGS = "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__TLS__CLIENT__CERT and …__TLS__CLIENT__KEY"


@contextmanager
def scheduler_workers(address: str, insecure: bool = False, debug: bool = False) -> Iterator[DaskPool]:
    """The workers of the scheduler at an address, unless that is not safe, or their Standout is another version."""
    check_address("scheduler", address, insecure)
    distributed = import_distributed()
    with ExitStack() as stack:
        stack.enter_context(quiet(debug))
        client = stack.enter_context(_client(distributed, address))
        try:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except Exception as error:
            raise StandoutError(
                f"{address} has no workers: start some with `dask worker {address} --memory-limit 0`"
            ) from error
        pool = DaskPool(client)
        for worker in pool.workers:
            check_address("a worker", worker, insecure)
        check_versions(client)
        yield pool


def check_address(name: str, address: str, insecure: bool) -> None:
    """Refuse what is no address of Dask, or a connection that others could read and write.

    >>> check_address("scheduler", "tcp://127.0.0.1:8786", insecure=False)
    >>> check_address("scheduler", "tcp://10.1.2.3:8786", insecure=False)
    Traceback (most recent call last):
    standout.core.errors.ParameterError: scheduler must be a tls:// address, or on this machine, ...
    """
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
        f"{name} must be a tls:// address, or on this machine, got {address!r}: over tcp:// anybody on "
        "the network can read the results and run code on the workers. Set up TLS (docs/lab/scale.md), or add "
        "insecure=True"
    )


def _client(distributed: Any, address: str) -> Any:
    """A client. TLS is set up as Dask's configuration says."""
    security = _certificates(distributed, address.startswith("tls:"))
    try:
        asyncio.run(asyncio.wait_for(_connect(distributed, address, security), CONNECT_SECONDS))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # differing versions are named in one line instead
            return distributed.Client(
                address, set_as_default=False, security=security, timeout=CONNECT_SECONDS, name="standout"
            )
    except distributed.comm.CommClosedError as error:
        reason = (
            "the same authority must have signed its certificate and the one used here"
            if security.require_encryption
            else "if it uses TLS, its address begins with tls://"
        )
        raise StandoutError(f"the scheduler at {address} and this machine cannot connect: {reason}") from error
    except (OSError, TimeoutError, ValueError) as error:
        raise StandoutError(
            f"no scheduler answers at {address} within {CONNECT_SECONDS} seconds: check the address, and that it runs"
        ) from error


async def _connect(distributed: Any, address: str, security: Any) -> None:
    """Connect once. A client would wait forever for a scheduler that accepts a connection but is silent."""
    settings = security.get_connection_args("client")
    connection = await distributed.comm.connect(address, CONNECT_SECONDS, **settings)
    await connection.close()


def _certificates(distributed: Any, is_tls: bool) -> Any:
    """The certificates of Dask's configuration, loaded here so that an unusable file has its own error."""
    security = distributed.Security(require_encryption=is_tls)
    if is_tls and not (security.tls_ca_file and security.tls_client_cert):
        raise ParameterError(f"scheduler is a tls:// address, but Dask has no certificates: set {TLS_SETTINGS}")
    try:
        security.get_connection_args("client")
    except (OSError, ValueError) as error:  # those of ssl are among them
        raise StandoutError(
            "Dask cannot load its certificates: a file is missing, or the key does not belong to the "
            f"certificate. Check {TLS_SETTINGS}"
        ) from error
    return security


def warn_without_tls(addresses: Iterable[str]) -> None:
    """Warn if others on the network could read and write what is exchanged with these addresses."""
    try:
        for address in addresses:
            if not address.startswith("inproc:"):
                check_address("client", address, insecure=False)
    except ParameterError:
        warnings.warn(
            "the client has no TLS: anybody on the network can read the results and run code on the workers",
            stacklevel=2,
        )


def check_versions(client: Any) -> None:
    """Compare the versions of this process with those of a client's scheduler and workers."""
    compare_versions(client.get_versions(packages=["standout", "numba"]))


def compare_versions(versions: Mapping[str, Any]) -> None:
    """Refuse workers with another Standout; warn about other versions that differ."""
    differences = version_differences(versions)
    text = "; ".join(differences)
    if any(line.startswith("standout ") for line in differences):
        raise StandoutError(f"all workers need the same version of Standout: {text}")
    if differences:
        warnings.warn(f"versions differ, so numbers may differ in the last digits: {text}", stacklevel=2)


def version_differences(versions: Mapping[str, Any]) -> list[str]:
    """What differs from this process, by package: its version here, and on scheduler and workers.

    The scheduler computes nothing, so only Python and Dask matter there.
    """

    def version(answer: Mapping[str, Any], package: str) -> str | None:
        found = {**dict(answer["packages"]), "python": dict(answer["host"]).get("python")}.get(package)
        return str(found).split(".final")[0] if found else None

    others = {"scheduler": versions["scheduler"]}
    others |= {f"worker {address}": answer for address, answer in versions["workers"].items()}
    lines = []
    for package in COMPARED:
        own, different = version(versions["client"], package), dict[str, list[str]]()
        for name, answer in others.items():
            matters = name != "scheduler" or package in ("python", "dask", "distributed")
            if matters and version(answer, package) != own:
                different.setdefault(version(answer, package) or "missing", []).append(name)
        for found, names in different.items():
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            lines.append(f"{package} {own} here, {found} on {names[0]}{more}")
    return lines
