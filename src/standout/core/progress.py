"""How long-running work reports its progress."""

import functools
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from html import escape
from importlib import import_module
from typing import Any, TypeVar

from standout.core.errors import ParameterError
from standout.core.text import printable
from standout.core.threads import current_pool

STEPS = 1000

Progress = Callable[[str, int, int], None]
"""Called with the name of the stage, the amount of work done, and the total amount."""
ProgressOption = Progress | Any
"""What callers may give to a function that is decorated `with_progress`: a Progress, True or False."""
F = TypeVar("F", bound=Callable[..., Any])
_watchers: list[Callable[[str], None]] = []
"""Called with what is being done between two reports, such as compiling."""


def no_progress(stage: str, done: int, total: int) -> None:
    """Report nothing."""


def with_progress(function: F, use_client: Callable[[Any], AbstractContextManager[Any]] | None = None) -> F:
    """Let a function take progress=True, which shows a bar in a terminal or a notebook while it runs.

    With `use_client` it also takes a `client`, whose workers it runs on.
    """

    @functools.wraps(function)
    def run(*arguments: Any, **named: Any) -> Any:
        wanted, client = named.get("progress", no_progress), named.pop("client", None) if use_client else None
        if not callable(wanted) and wanted not in (True, False, None):
            raise ParameterError(f"progress must be True, False or a function, got {type(wanted).__name__}")
        with ExitStack() as stack:
            if not callable(wanted):
                named["progress"] = stack.enter_context(progress_bar()) if wanted is True else no_progress
            if use_client is not None and client is not None:
                stack.enter_context(use_client(client))
            return function(*arguments, **named)

    return run  # type: ignore[return-value]


def show_activity(name: str) -> None:
    """Name what is being done until the next report on the bar that is shown, if there is one."""
    for watcher in tuple(_watchers):
        watcher(name)


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


# A progress bar in a terminal or a notebook, and nothing anywhere else.
#
# Rich draws it in terminals. In a notebook Rich needs ipywidgets, so the bar is an HTML element there, which
# every front end shows.


COMPILING = "compiling, once"
DELAY = 1.0
"""Seconds before a bar appears."""
INTERVAL = 0.2
"""Seconds between two updates in a notebook."""


@contextmanager
def progress_bar(delay: float = DELAY) -> Iterator[Progress]:
    """Show a bar for work that takes longer than a second; it is removed when the work is done."""
    display = _display()
    if display is None:
        yield no_progress
        return
    start = time.monotonic() + delay

    def report(stage: str, done: int, total: int) -> None:
        if time.monotonic() >= start:
            display.show(stage, done, total)

    def note(name: str) -> None:  # at once: no report will come before it is done
        display.show(name, 0, None)

    _watchers.append(note)
    try:
        with _watch_compiler():
            yield report
    finally:
        _watchers.remove(note)
        display.close()


def _watch_compiler() -> AbstractContextManager[Any]:
    """Make an activity of compiling, if Numba is loaded: it takes seconds, and only the first time."""
    event = sys.modules.get("numba.core.event")
    if event is None:
        return nullcontext()

    class Compiling(event.Listener):  # type: ignore[name-defined,misc]
        """Compiling a kernel compiles its subroutines: only the outermost call counts."""

        depth = 0

        def on_start(self, event: Any) -> None:
            if self.depth == 0:
                show_activity(COMPILING)
            self.depth += 1

        def on_end(self, event: Any) -> None:
            self.depth -= 1

    listening: AbstractContextManager[Any] = event.install_listener("numba:compile", Compiling())
    return listening


def stage_text(stage: str) -> str:
    """The stage, and how many workers it runs on."""
    pool = current_pool()
    number = f" · {pool.size} workers" if pool is not None and pool.is_started else ""
    return printable(stage) + number


def _display() -> "_Terminal | _Notebook | None":
    """What shows the bar, with a total of None while it is unknown how long the work takes."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None and hasattr(shell, "kernel"):  # this process is the kernel of a notebook
        return _Notebook()
    return _Terminal() if sys.stderr.isatty() else None


class _Terminal:
    """A bar of Rich on stderr. Each stage has its own, so that the remaining time is that of the stage."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining

        self.bar = Progress(
            TextColumn("{task.description:20}", markup=False),
            BarColumn(),
            TaskProgressColumn("{task.percentage:3.0f} %", markup=False),
            Remaining(),
            console=Console(stderr=True, highlight=False, markup=False, emoji=False),
            transient=True,
        )
        self.tasks: dict[str, TaskID] = {}

    def show(self, stage: str, done: int, total: int | None) -> None:
        if stage not in self.tasks:
            self.tasks[stage] = self.bar.add_task(stage_text(stage), total=total)
            self.bar.start()
        for name, task in self.tasks.items():
            self.bar.update(task, visible=name == stage)
        self.bar.update(self.tasks[stage], completed=done, total=total, description=stage_text(stage))

    def close(self) -> None:
        self.bar.stop()


class _Notebook:
    """An HTML element below the cell. Front ends draw it in their own colours."""

    def __init__(self) -> None:
        self.handle: Any = None
        self.stage, self.shown_at = "", 0.0

    def show(self, stage: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if stage == self.stage and now - self.shown_at < INTERVAL:
            return
        self.stage, self.shown_at = stage, now
        self._update(bar_html(stage_text(stage), done, total))

    def close(self) -> None:
        if self.handle is not None:
            self._update("")

    def _update(self, html: str) -> None:
        ipython: Any = import_module("IPython.display")
        content = ipython.HTML(html)
        if self.handle is None:
            self.handle = ipython.display(content, display_id=True)
        else:
            self.handle.update(content)


def bar_html(text: str, done: int, total: int | None) -> str:
    """The bar as HTML; without a total it shows only that something is being done."""
    if total is None:
        return f"<progress></progress> {escape(text)}"
    value = f'value="{done}" max="{max(total, 1)}"'
    return f"<progress {value}></progress> {escape(text)}, {100 * done / max(total, 1):.0f} %"
