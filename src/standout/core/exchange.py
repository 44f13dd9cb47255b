"""Exchange two folders, in one step where the operating system can do that."""

import ctypes
import os
from pathlib import Path

__all__ = ["exchange"]

AT_FDCWD = -100
RENAME_EXCHANGE = 2
RENAME_SWAP = 2


def exchange(first: Path, second: Path, backup: Path) -> None:
    """Exchange the contents of two paths.

    Linux (renameat2) and macOS (renamex_np) do it in one step. Other systems and file systems need three
    renames: there is nothing at `second` for a moment, and a process killed then leaves the old at `backup`.
    """
    if not _exchange_at_once(first, second):
        second.rename(backup)
        try:
            first.rename(second)
        except BaseException:
            backup.rename(second)
            raise
        backup.rename(first)


def _exchange_at_once(first: Path, second: Path) -> bool:
    library = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(first), os.fsencode(second)
    if hasattr(library, "renameat2"):
        return bool(library.renameat2(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE) == 0)
    if hasattr(library, "renamex_np"):
        return bool(library.renamex_np(*names, RENAME_SWAP) == 0)
    return False
