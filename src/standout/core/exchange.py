"""Exchange two folders, in one step where the operating system can do that."""

import ctypes
import os
from pathlib import Path

__all__ = ["backup_path", "exchange"]

AT_FDCWD = -100
RENAME_EXCHANGE = 2


def exchange(first: Path, second: Path) -> None:
    """Exchange the contents of two paths.

    Linux does it in one step (renameat2). Other systems need three renames; a process killed between them
    leaves the content of `second` at `backup_path(second)`.
    """
    if not _exchange_at_once(first, second):
        backup = backup_path(second)
        second.rename(backup)
        first.rename(second)
        backup.rename(first)


def backup_path(path: Path) -> Path:
    """Path that holds the content of `path` in the middle of an exchange by three renames."""
    return path.with_name(f".{path.name}.old")


def _exchange_at_once(first: Path, second: Path) -> bool:
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    status: int = renameat2(AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second), RENAME_EXCHANGE)
    return status == 0
