"""Checking a limit: files that tell other programs what a check found, and the hook for pre-commit.

    python -m standout.cli.gate [--OPTION=VALUE …] FILE …

The hook runs `standout audit --fail-above` on each file that is about to be committed. Options are those of
`standout audit`, with = before the value, because everything else is a file. Reports are not kept: run
`standout audit` on the file to get one. The exit code is 0 only if all files pass.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from standout.cli.error_lines import ERROR
from standout.cli.options import GATE, option, output_file
from standout.core.errors import ParameterError
from standout.core.files import make_folder, write_content
from standout.ingest.sources import is_remote, public_url

if TYPE_CHECKING:
    from standout.findings.audit import Gate

FORMS = {".xml": "JUnit", ".sarif": "SARIF 2.1.0", ".md": "Markdown"}
LIMIT = "--fail-above"
DEFAULT_LIMIT = f"{LIMIT}=0.05"
REPORT = b"Report: "
"""The line about the report, which the hook does not keep."""

GATE_HELP = "Write what the check found to NAME.xml (JUnit), NAME.sarif or NAME.md (Markdown). Repeat for several."
gate_option = option("--gate gate_files", "FILE", GATE_HELP, GATE, multiple=True)


def start_gate(
    files: Sequence[Path],
    command: str,
    data: str,
    limit: float | None,
    needs: str,
    output: Path,
    inputs: Iterable[str | Path | None] = (),
) -> None:
    """Write that nothing is decided yet, so that no older file looks like a result.

    The output folder of the command is made if a file is in it. Raises an error if a file cannot be written or is
    an input, or if there is no limit.
    """
    if not files:
        return
    if limit is None:
        raise ParameterError(f"--gate needs {needs}")
    from standout.findings.audit import undecided_gate

    for path in files:
        if path.suffix not in FORMS:
            raise ParameterError(f"--gate must end in {', '.join(FORMS)}, got {path.name!r}")
        if path.parent == output:
            make_folder(output)
        output_file(path, "--gate", [data, *inputs])
    write_gate(files, undecided_gate(command, limit), data)


def write_gate(files: Sequence[Path], gate: "Gate", data: str) -> None:
    """Write what a check found, in the form that the name of each file says."""
    from standout.report.exports import junit_text, markdown_text, sarif_text

    location = _location(data)
    for path in files:
        if path.suffix == ".sarif":
            uri = quote(os.fsencode(location), safe="/:%" if is_remote(data) else "/")
            write_content(path, sarif_text(gate, uri))
        else:
            write_content(path, (junit_text if path.suffix == ".xml" else markdown_text)(gate, location))


def _location(data: str) -> str:
    """Where the data is: a path in the working folder, else only its name, or a URL without its secrets."""
    if is_remote(data):
        return public_url(data)
    path = Path(os.path.abspath(data))  # noqa: PTH100 - keeps links, as people typed them
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else path.name


def hook(arguments: Sequence[str]) -> int:
    """Audit each file, print what was found, and return the highest exit code."""
    options = [argument for argument in arguments if argument.startswith("-")]
    files = [argument for argument in arguments if not argument.startswith("-")]
    if LIMIT in options:
        sys.stderr.write(f"standout: write {DEFAULT_LIMIT}, with =, because other words are files\n")
        return 2
    if not any(option.startswith(f"{LIMIT}=") for option in options):
        options.append(DEFAULT_LIMIT)
    return max((_audit(path, options) for path in files), default=0)


def _audit(path: str, options: Sequence[str]) -> int:
    """Audit a file in a process of its own; a process that a signal ended is an error."""
    with tempfile.TemporaryDirectory(prefix="standout-hook-") as folder:
        sys.stdout.write(f"{ascii(path)[1:-1]}\n")
        sys.stdout.flush()
        command = [sys.executable, "-m", "standout", "audit", *options, "-o", str(Path(folder) / "report")]
        ended = subprocess.run([*command, "--", path], stdout=subprocess.PIPE, check=False)
    lines = ended.stdout.splitlines(keepends=True)
    sys.stdout.buffer.writelines(line for line in lines if not line.startswith(REPORT))
    sys.stdout.flush()
    return ended.returncode if ended.returncode >= 0 else ERROR


if __name__ == "__main__":
    sys.exit(hook(sys.argv[1:]))
