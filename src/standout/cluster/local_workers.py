"""Dask workers on this machine: spawned processes that only this user can reach."""

import logging
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from standout.cluster.dask_pool import DaskPool
from standout.cluster.quiet_dask import import_distributed, quiet

__all__ = ["local_workers"]

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
