"""Options for workers: processes of this machine, or a Dask cluster."""

import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from standout.cli.error_lines import naming_options
from standout.cli.option_groups import GATE, WORKERS, option
from standout.cli.options import output_file, threads_option
from standout.cli.reading import Command
from standout.core.errors import ParameterError
from standout.ingest.remote import is_remote, public_url

if TYPE_CHECKING:
    from standout.findings.gate import Gate

__all__ = ["GateFiles", "gate_options", "reading_worker_options", "worker_options"]


def worker_options(command: Command) -> Command:
    """Add --threads, --workers, --scheduler and --insecure; the command runs with these workers."""
    shared = "DATA must be an index (see docs/lab/scale.md)."
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

    run = option(
        "--insecure",
        "",
        "Allow a tcp:// scheduler on another machine, without encryption.",
        group=WORKERS,
        is_flag=True,
    )(run)
    run = option(
        "--scheduler",
        "ADDRESS",
        f"Dask scheduler whose workers can read {data}, such as tls://host:8786 (see docs/lab/scale.md).",
        group=WORKERS,
    )(run)
    return option(
        "--workers",
        "N",
        f"Number of worker processes on this machine. {shared}",
        group=WORKERS,
        type=click.IntRange(1, 1024),
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
    from standout.data.store import is_index

    typed = "--workers" if scheduler is None else "--scheduler"
    if data is not None and not is_index(Path(data)):
        raise ParameterError(
            f"{typed} needs an index, which all workers open: run standout index DATA -o NAME.index first, "
            "then use NAME.index"
        )
    from standout.cluster.dask_workers import (
        check_address,
        import_distributed,
        local_workers,
        scheduler_workers,
        use_lazily,
    )

    debug = "--debug" in sys.argv[1:]
    with naming_options(scheduler="--scheduler", workers=typed):
        if scheduler is not None:
            check_address("scheduler", scheduler, insecure)
        import_distributed()
        pool = local_workers(count or 1, debug) if scheduler is None else None
        with use_lazily(pool or scheduler_workers(str(scheduler), insecure, debug)):
            yield


# Options of commands that check a limit: files that tell other programs what the check found.


@dataclass(frozen=True, slots=True)
class GateFiles:
    """The files that were asked for. Until a command has finished, they say that it has not."""

    junit: Path | None = None
    sarif: Path | None = None
    markdown: Path | None = None

    @property
    def _paths(self) -> dict[str, Path]:
        named = {"--junit": self.junit, "--sarif": self.sarif, "--markdown": self.markdown}
        return {option: path for option, path in named.items() if path is not None}

    def start(
        self,
        command: str,
        data: str,
        limit: float | None,
        needs: str,
        output: Path,
        inputs: Iterable[str | Path | None] = (),
    ) -> None:
        """Write that nothing is decided yet, so that no older file looks like a result.

        The output folder of the command is made if a file is in it. Raises an error if a file cannot be
        written, is an input or has two options, or if there is no limit.
        """
        if not self._paths:
            return
        if limit is None:
            raise ParameterError(f"{next(iter(self._paths))} needs {needs}")
        from standout.core.files import make_folder
        from standout.findings.gate import undecided_gate

        if any(path.parent == output for path in self._paths.values()):
            make_folder(output)
        for name, path in self._paths.items():
            output_file(path, name, [data, *inputs])
        if len({path.resolve() for path in self._paths.values()}) < len(self._paths):
            raise ParameterError(f"{' and '.join(self._paths)} must be different files")
        self.write(undecided_gate(command, limit), data)

    def write(self, gate: "Gate", data: str) -> None:
        """Write what a gate found."""
        if not self._paths:
            return
        from standout.core.files import write_content
        from standout.report.gate_files import junit_text, markdown_text, sarif_text

        texts: dict[str, Callable[[], str]] = {
            "--junit": lambda: junit_text(gate, _location(data)),
            "--sarif": lambda: sarif_text(gate, _uri(data)),
            "--markdown": lambda: markdown_text(gate, _location(data)),
        }
        for name, path in self._paths.items():
            write_content(path, texts[name]())


def _location(data: str) -> str:
    """Where the data is: a path in the working folder, else only its name, or a URL without its secrets."""
    if is_remote(data):
        return public_url(data)
    path = Path(os.path.abspath(data))  # noqa: PTH100 - keeps links, as people typed them
    working_folder = Path.cwd()
    return path.relative_to(working_folder).as_posix() if path.is_relative_to(working_folder) else path.name


def _uri(data: str) -> str:
    location = os.fsencode(_location(data))
    return quote(location, safe="/:%" if is_remote(data) else "/")


OPTIONS = [
    option(name, "FILE", text, group=GATE, type=click.Path(path_type=Path))
    for name, text in (
        ("--junit", "Write the result of the check as JUnit XML: one test case per condition."),
        ("--sarif", "Write the conditions that are not met as SARIF 2.1.0."),
        ("--markdown", "Write a summary of the check as Markdown."),
    )
]


def gate_options(command: Command) -> Command:
    """Add --junit, --sarif and --markdown; passed on as `gate_files`."""

    @functools.wraps(command)
    def run(junit: Path | None, sarif: Path | None, markdown: Path | None, **others: Any) -> None:
        command(gate_files=GateFiles(junit, sarif, markdown), **others)

    for add_option in reversed(OPTIONS):
        run = add_option(run)
    return run
