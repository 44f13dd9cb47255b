"""The hook for pre-commit: `standout audit --fail-above` on each file that is about to be committed.

    python -m standout.cli.gate_hook [--OPTION=VALUE …] FILE …

Options are those of `standout audit`, with = before the value, because everything else is a file. Reports are
not kept: run `standout audit` on the file to get one. The exit code is 0 only if all files pass.
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from standout.cli.error_lines import ERROR

__all__ = ["main"]

LIMIT = "--fail-above"
DEFAULT_LIMIT = f"{LIMIT}=0.05"
REPORT = b"Report: "
"""The line about the report, which is not kept."""


def main(arguments: Sequence[str]) -> int:
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
    sys.exit(main(sys.argv[1:]))
