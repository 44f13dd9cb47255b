"""Options of commands that check a limit: files that tell other programs what the check found."""

import functools
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from standout.cli.option_groups import GATE, grouped_option
from standout.cli.output_folders import output_file
from standout.cli.source_options import Command
from standout.core.errors import ParameterError
from standout.ingest.remote import is_remote, public_url

if TYPE_CHECKING:
    from standout.findings.gate import Gate

__all__ = ["GateFiles", "gate_options"]


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
        from standout.core.atomic_files import make_folder
        from standout.findings.gate import undecided_gate

        if any(path.parent == output for path in self._paths.values()):
            make_folder(output)
        for option, path in self._paths.items():
            output_file(path, option, [data, *inputs])
        if len({path.resolve() for path in self._paths.values()}) < len(self._paths):
            raise ParameterError(f"{' and '.join(self._paths)} must be different files")
        self.write(undecided_gate(command, limit), data)

    def write(self, gate: "Gate", data: str) -> None:
        """Write what a gate found."""
        if not self._paths:
            return
        from standout.core.atomic_files import write_content
        from standout.report.gate_files import junit_text, markdown_text, sarif_text

        texts: dict[str, Callable[[], str]] = {
            "--junit": lambda: junit_text(gate, _location(data)),
            "--sarif": lambda: sarif_text(gate, _uri(data)),
            "--markdown": lambda: markdown_text(gate, _location(data)),
        }
        for option, path in self._paths.items():
            write_content(path, texts[option]())


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
    grouped_option(GATE, name, type=click.Path(path_type=Path), metavar="FILE", help=text)
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
