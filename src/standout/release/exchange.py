"""Two folders change places in one step, where the system can do that."""

import ctypes
import os
import shutil
from pathlib import Path

__all__ = ["exchange", "recover"]

AT_FDCWD = -100
RENAME_EXCHANGE = 2


def exchange(one: Path, other: Path) -> None:
    """After this each path names what the other did.

    Linux does it in one step (renameat2). Elsewhere it takes three renames; a process killed between them
    leaves the content of `other` beside it, and `recover` brings it back.
    """
    if not _at_once(one, other):
        old = _aside(other)
        other.rename(old)
        one.rename(other)
        old.rename(one)


def recover(path: Path) -> None:
    """Mends what a process killed in the middle of `exchange` left behind."""
    old = _aside(path)
    if not old.is_dir() or old.is_symlink():
        return
    if path.exists():
        shutil.rmtree(old)
    else:
        old.rename(path)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.old")


def _at_once(one: Path, other: Path) -> bool:
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    done: int = renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE)
    return done == 0
