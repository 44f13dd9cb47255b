"""Kills at single writes of a command, which have no audit event: with strace, where it is installed."""

import contextlib
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

__all__ = ["ENVIRONMENT", "LONGEST", "kill_with_strace", "list_writes", "strace_works"]

WRITES = (
    "write", "pwrite64", "ftruncate", "rename", "renameat", "renameat2", "link", "linkat", "unlink",
    "unlinkat", "mkdir", "fchmod", "fsync", "msync",
)  # fmt: skip
LONGEST = 120
"""Seconds after which a command is stopped."""
ENVIRONMENT = {"SOURCE_DATE_EPOCH": "1000000000", "COLUMNS": "80"}
"""So that two runs write the same bytes."""


def list_writes(words: list[str], folder: Path) -> list[tuple[str, int]]:
    """Writes of a command's main thread: the system call, and the how manieth of its kind."""
    log = folder.with_suffix(".strace")
    _strace(words, folder, str(log))
    lines = [line.partition(" ") for line in log.read_text(errors="replace").splitlines()]
    log.unlink()
    threads = Counter(thread for thread, _, _ in lines)
    main = threads.most_common(1)[0][0]
    calls = [call.strip().partition("(")[0] for thread, _, call in lines if thread == main]
    return [(call, calls[: at + 1].count(call)) for at, call in enumerate(calls) if call in WRITES]


def kill_with_strace(words: list[str], folder: Path, call: str, number: int) -> bool:
    """Run a command and kill it at its n-th call of a kind; return whether it was killed."""
    code = _strace(words, folder, os.devnull, "-e", f"inject={call}:signal=KILL:when={number}")
    return code in (-signal.SIGKILL, 128 + signal.SIGKILL)


def _strace(words: list[str], folder: Path, log: str, *options: str) -> int:
    trace = ["strace", "-f", "-qq", "-o", log, "-e", f"trace={','.join(WRITES)}", *options]
    command = [*trace, sys.executable, "-m", "standout", *words]
    environment = {**os.environ, **ENVIRONMENT, "PYTHONDONTWRITEBYTECODE": "1"}
    finished = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=LONGEST, check=False)
    return finished.returncode


def strace_works() -> bool:
    """Whether strace is installed and may be used."""
    with contextlib.suppress(OSError):
        return (
            subprocess.run(["strace", "-f", "-e", "trace=write", "-o", os.devnull, "true"], check=False).returncode == 0
        )
    return False
