"""How long-running work reports its progress."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from standout.core.errors import ParameterError

__all__ = [
    "Activity",
    "Progress",
    "ProgressMeter",
    "ProgressOption",
    "activity",
    "no_progress",
    "watch_activities",
    "with_progress",
]

STEPS = 1000

Progress = Callable[[str, int, int], None]
"""Called with the name of the stage, the amount of work done, and the total amount."""
ProgressOption = Progress | Any
"""What callers may give to a function that is decorated `with_progress`: a Progress, True or False."""
Activity = Callable[[str | None], None]
"""Called with what is being done between two reports, such as compiling; with None when it is done."""
F = TypeVar("F", bound=Callable[..., Any])
_watchers: list[Activity] = []


def no_progress(stage: str, done: int, total: int) -> None:
    """Report nothing."""


def with_progress(function: F) -> F:
    """Let a function take progress=True, which shows a bar in a terminal or a notebook while it runs."""

    @functools.wraps(function)
    def run(*arguments: Any, **named: Any) -> Any:
        wanted = named.get("progress", no_progress)
        if callable(wanted):
            return function(*arguments, **named)
        if wanted is not True:
            if wanted not in (False, None):
                kind = type(wanted).__name__
                raise ParameterError(f"progress must be True, False or a function, got {kind}")
            return function(*arguments, **named | {"progress": no_progress})
        from standout.core.progress_bar import progress_bar

        with progress_bar() as report:
            return function(*arguments, **named | {"progress": report})

    return run  # type: ignore[return-value]


@contextmanager
def activity(name: str) -> Iterator[None]:
    """Name what is being done meanwhile on the bar that is shown, if there is one."""
    for watcher in tuple(_watchers):
        watcher(name)
    try:
        yield
    finally:
        for watcher in tuple(_watchers):
            watcher(None)


@contextmanager
def watch_activities(watcher: Activity) -> Iterator[None]:
    """Call a function with the name of each activity that begins, and with None when it ends."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


class ProgressMeter:
    """Progress of work that consists of several parts; each part counts in proportion to its cost."""

    def __init__(self, stage: str = "", total: float = 0.0, progress: Progress = no_progress) -> None:
        self.stage, self.total, self.progress = stage, total, progress
        self.finished, self.cost = 0.0, 0.0

    @contextmanager
    def part(self, cost: float) -> Iterator[None]:
        """Run one part of the work, of the given cost."""
        self.cost = cost
        yield
        self.finished += cost
        self.cost = 0.0
        self("", 0, 1)

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report the progress of the current part."""
        share = (self.finished + self.cost * done / max(total, 1)) / max(self.total, 1e-9)
        self.progress(self.stage, min(int(STEPS * share), STEPS), STEPS)
