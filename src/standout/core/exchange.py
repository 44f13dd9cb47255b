"""Two folders change places in one step, where the system can do that."""

import ctypes
import os
from pathlib import Path

__all__ = ["backup_path", "exchange"]

AT_FDCWD = -100
RENAME_EXCHANGE = 2


def exchange(one: Path, other: Path) -> None:
    """After this each path names what the other did.

    Linux does it in one step (renameat2). Elsewhere it takes three renames; a process killed between them
    leaves the content of `other` where `aside(other)` says.
    """
    if not _at_once(one, other):
        old = backup_path(other)
        other.rename(old)
        one.rename(other)
        old.rename(one)


def backup_path(path: Path) -> Path:
    """Where the content of a path stands in the middle of an exchange that takes three renames."""
    return path.with_name(f".{path.name}.old")


def _at_once(one: Path, other: Path) -> bool:
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    done: int = renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE)
    return done == 0
