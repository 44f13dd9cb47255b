"""The parameter `client` of public functions: a Dask client whose workers do the work."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from standout.core.errors import ParameterError
from standout.core.worker_pool import WorkerPool, use_pool

__all__ = ["on_client", "pool_of_client"]

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
    from standout.cluster.dask_pool import DaskPool
    from standout.cluster.scheduler import check_versions, warn_without_tls

    dask_pool = DaskPool(client)
    warn_without_tls([client.scheduler.address, *dask_pool.workers])
    check_versions(client)
    return dask_pool
