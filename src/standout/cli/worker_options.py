"""Options for workers: processes of this machine, or a Dask cluster."""

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from standout.cli.common_options import threads_option
from standout.cli.option_errors import naming_options
from standout.cli.option_groups import WORKERS, grouped_option
from standout.cli.source_options import Command
from standout.core.errors import ParameterError

__all__ = ["reading_worker_options", "worker_options"]


def worker_options(command: Command) -> Command:
    """Add --threads, --workers, --scheduler and --insecure; the command runs with these workers."""
    shared = "DATA must be an index (see docs/scale.md)."
    return threads_option(_with_workers(command, shared, "DATA"))


def reading_worker_options(command: Command) -> Command:
    """Add --workers, --scheduler and --insecure to a command that reads files."""
    return _with_workers(command, "They read the files of SOURCE if there are several.", "SOURCE")


def _with_workers(command: Command, shared: str, data: str) -> Command:

    @functools.wraps(command)
    def run(workers: int | None, scheduler: str | None, insecure: bool, **others: Any) -> None:
        if workers is not None or scheduler is not None:
            _check_others(others)
        with _workers(workers, scheduler, insecure, others.get("data")):
            command(**others)

    run = grouped_option(
        WORKERS,
        "--insecure",
        is_flag=True,
        help="Allow a tcp:// scheduler on another machine, without encryption.",
    )(run)
    run = grouped_option(
        WORKERS,
        "--scheduler",
        metavar="ADDRESS",
        help=f"Dask scheduler whose workers can read {data}, such as tls://host:8786 (see docs/scale.md).",
    )(run)
    return grouped_option(
        WORKERS,
        "--workers",
        type=click.IntRange(1, 1024),
        metavar="N",
        help=f"Number of worker processes on this machine. {shared}",
        show_default="threads of one process",
    )(run)


def _check_others(others: dict[str, Any]) -> None:
    """Refuse options for data that is made in memory, where workers cannot see it."""
    if others.get("original") is not None:
        raise ParameterError("--workers and --scheduler cannot be used with --original: use --threads")
    if others.get("grids") or others.get("geohashes"):
        raise ParameterError("--workers and --scheduler cannot be used with places: use --threads")


@contextmanager
def _workers(count: int | None, scheduler: str | None, insecure: bool, data: str | None) -> Iterator[None]:
    if insecure and scheduler is None:
        raise ParameterError("--insecure needs --scheduler")
    if count is None and scheduler is None:
        yield
        return
    if count is not None and scheduler is not None:
        raise ParameterError("--workers and --scheduler cannot be used together: choose one")
    from standout.release.index_folder import is_index

    option = "--workers" if scheduler is None else "--scheduler"
    if data is not None and not is_index(Path(data)):
        raise ParameterError(
            f"{option} needs an index, which all workers open: run standout index DATA -o NAME.index first, "
            "then use NAME.index"
        )
    from standout.cluster.lazy_pool import use_lazily
    from standout.cluster.local_workers import local_workers
    from standout.cluster.quiet_dask import import_distributed
    from standout.cluster.scheduler import check_address, scheduler_workers

    debug = "--debug" in sys.argv[1:]
    with naming_options(scheduler="--scheduler", workers=option):
        if scheduler is not None:
            check_address("scheduler", scheduler, insecure)
        import_distributed()
        pool = local_workers(count or 1, debug) if scheduler is None else None
        with use_lazily(pool or scheduler_workers(str(scheduler), insecure, debug)):
            yield
