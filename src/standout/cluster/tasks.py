"""What runs on a worker: a group of tasks. It returns errors instead of raising them.

Dask logs the arguments and the message of a task that raises, and both may be somebody's data.
"""

import os
import pickle
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from standout._version import __version__
from standout.core.errors import StandoutError, StoreError

__all__ = ["GroupResult", "TaskGroup", "machine_memory", "run_group"]


class TaskGroup:
    """Tasks that one worker computes one after the other. Its text shows nothing of them."""

    def __init__(
        self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], is_placed: bool = False
    ) -> None:
        self.is_placed = is_placed
        self.function = function
        self.tasks = tasks
        self.version = __version__

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
        return GroupResult([], _sendable(error), time.perf_counter() - start, _own_address())
    return GroupResult(results, None, time.perf_counter() - start)


def _own_address() -> str:
    """Address of this worker of Dask; empty elsewhere."""
    distributed = sys.modules.get("distributed")
    try:
        return "" if distributed is None else str(distributed.get_worker().address)
    except ValueError:
        return ""


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
