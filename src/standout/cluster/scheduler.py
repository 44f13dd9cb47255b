"""Connect to a Dask scheduler: refuse what is not safe, and name versions that differ."""

import asyncio
import ipaddress
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

from standout.cluster.dask_pool import DaskPool
from standout.cluster.quiet_dask import import_distributed, quiet
from standout.core.errors import ParameterError, StandoutError

__all__ = [
    "check_address",
    "check_versions",
    "compare_versions",
    "scheduler_workers",
    "version_differences",
    "warn_without_tls",
]

CONNECT_SECONDS = 30
WORKER_SECONDS = 60
PACKAGES = ("standout", "numba")
COMPARED = ("python", "standout", "numpy", "numba", "dask", "distributed")
TLS_SETTINGS = "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__TLS__CLIENT__CERT and …__TLS__CLIENT__KEY"


@contextmanager
def scheduler_workers(address: str, insecure: bool = False, debug: bool = False) -> Iterator[DaskPool]:
    """The workers of the scheduler at an address.

    Raises
    ------
    ParameterError
        If the address is not safe or is none.
    StandoutError
        If nobody answers, there are no workers, or a worker has another version of Standout.
    """
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
    if scheme == "tls" or insecure or _is_loopback(host):
        return
    raise ParameterError(
        f"{name} must be a tls:// address, or on this machine, got {address!r}: over tcp:// anybody on "
        "the network can read the results and run code on the workers. Set up TLS (docs/scale.md), or add "
        "insecure=True"
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


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
        raise StandoutError(
            f"the scheduler at {address} and this machine cannot connect: {reason}"
        ) from error
    except (OSError, TimeoutError, ValueError) as error:
        raise StandoutError(
            f"no scheduler answers at {address} within {CONNECT_SECONDS} seconds: check the address, and "
            "that it runs"
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
        raise ParameterError(
            f"scheduler is a tls:// address, but Dask has no certificates: set {TLS_SETTINGS}"
        )
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
    compare_versions(client.get_versions(packages=list(PACKAGES)))


def compare_versions(versions: Mapping[str, Any]) -> None:
    """Refuse workers with another Standout; warn about other versions that differ."""
    differences = version_differences(versions)
    if not differences:
        return
    text = "; ".join(differences)
    if any(line.startswith("standout ") for line in differences):
        raise StandoutError(f"all workers need the same version of Standout: {text}")
    warnings.warn(f"versions differ, so numbers may differ in the last digits: {text}", stacklevel=2)


def version_differences(versions: Mapping[str, Any]) -> list[str]:
    """What differs from this process, by package: its version here, and on scheduler and workers.

    The scheduler computes nothing, so only Python and Dask matter there.
    """
    own = _versions_of(versions["client"])
    others = {"scheduler": _versions_of(versions["scheduler"])}
    others |= {f"worker {address}": _versions_of(answer) for address, answer in versions["workers"].items()}
    lines = []
    for package in COMPARED:
        different: dict[str, list[str]] = {}
        for name, found in others.items():
            if name == "scheduler" and package not in ("python", "dask", "distributed"):
                continue
            if found.get(package) != own.get(package):
                different.setdefault(found.get(package) or "missing", []).append(name)
        for version, names in different.items():
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            lines.append(f"{package} {own.get(package)} here, {version} on {names[0]}{more}")
    return lines


def _versions_of(answer: Mapping[str, Any]) -> dict[str, str | None]:
    host = {name: str(version) for name, version in dict(answer["host"]).items() if name == "python"}
    packages = {name: version and str(version) for name, version in dict(answer["packages"]).items()}
    python = (host.get("python") or packages.get("python") or "").split(".final")[0]
    return {**packages, "python": python}
