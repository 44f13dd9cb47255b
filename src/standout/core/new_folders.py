"""New folders, of which only one is built for each target at a time.

The folder for the target NAME is a locked work folder next to it, `.standout-TAG-RANDOM.part`. TAG is a hash
of NAME, so that two builds of one target find each other. The lock ends with the process: the next build in
the same place removes folders that are not locked.
"""

import fcntl
import hashlib
import os
import random
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from standout.core.new_files import sweep
from standout.core.work_folders import (
    FOLDER,
    PREFIX,
    RESUME,
    SUFFIX,
    create_folder,
    is_at,
    lock_stale,
    random_path,
)

__all__ = ["NewFolder", "new_folder", "random_name", "remove_folder", "siblings", "unfinished_folders"]

TRIES, LONGEST_PAUSE = 20, 0.02


class NewFolder(NamedTuple):
    """A new folder and the descriptor that holds its lock."""

    path: Path
    lock: int


def new_folder(target: Path) -> NewFolder | None:
    """Make a locked folder next to a target; None if another process has one for the same target.

    Each process makes its folder before it looks for others, so two can never miss each other. If they see
    each other, both step back and try again after a random pause.
    """
    for _ in range(TRIES):
        own = NewFolder(*create_folder(target.parent, _tag(target)))
        sweep(target.parent)
        if not any(_is_locked(path) for path in siblings(target) if path != own.path):
            return own
        remove_folder(own)
        time.sleep(random.uniform(0, LONGEST_PAUSE))
    return None


def remove_folder(folder: NewFolder) -> None:
    """Remove a folder unless it has moved, and release its lock; what is left after a kill is not resumed."""
    if is_at(folder.lock, folder.path):
        (folder.path / RESUME).unlink(missing_ok=True)
        shutil.rmtree(folder.path, ignore_errors=True)
    os.close(folder.lock)


def unfinished_folders(target: Path, own: NewFolder) -> Iterator[NewFolder]:
    """Lock and yield the other folders that killed builds of a target left; own = the folder of this one."""
    for path in siblings(target):
        if path != own.path:
            with suppress(OSError):
                yield NewFolder(path, lock_stale(path))


def random_name(target: Path, suffix: str = SUFFIX) -> Path:
    """A path next to a target that nobody can guess, and that names the target by its tag."""
    return random_path(target.parent, _tag(target), suffix)


def siblings(target: Path, suffix: str = SUFFIX) -> Iterator[Path]:
    """Yield what has a name that `random_name` makes for a target."""
    yield from target.parent.glob(f"{PREFIX}{_tag(target)}*{suffix}")


def _is_locked(path: Path) -> bool:
    with suppress(OSError):  # it is gone, or the file system has no locks
        folder = os.open(path, FOLDER)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(folder)
    return False


def _tag(target: Path) -> str:
    return f"{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]}-"
