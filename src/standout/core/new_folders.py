"""Folders that are built under a random name, and swept if their process is killed.

A folder for the target NAME is `.standout-TAG-RANDOM.part` next to it. TAG is a hash of NAME, so that two
builds of one target find each other; nobody can guess RANDOM. The folder is locked as long as its process
lives. An unlocked one was left by a killed process, and the next build in the same place removes it.
"""

import fcntl
import hashlib
import os
import random
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "FOLDER",
    "NewFolder",
    "lock_folder",
    "new_folder",
    "random_name",
    "remove_folder",
    "same_folder",
    "siblings",
]

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
PREFIX, PART = ".standout-", ".part"
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
        own = _locked_folder(target)
        others = [path for path in siblings(target.parent) if path != own.path]
        in_use = [_is_in_use(path, target) for path in others]
        if not any(in_use):
            return own
        remove_folder(own)
        time.sleep(random.uniform(0, LONGEST_PAUSE))
    return None


def remove_folder(folder: NewFolder) -> None:
    """Remove a folder unless it has moved, and release its lock."""
    if same_folder(folder.lock, folder.path):
        shutil.rmtree(folder.path, ignore_errors=True)
    os.close(folder.lock)


def random_name(target: Path, suffix: str = PART) -> Path:
    """A path next to a target that nobody can guess, and that names the target by its tag."""
    return target.with_name(f"{PREFIX}{_tag(target)}-{secrets.token_hex(8)}{suffix}")


def siblings(place: Path, target: Path | None = None, suffix: str = PART) -> Iterator[Path]:
    """Yield the folders with names of `random_name`: of one target, or of all."""
    tag = "*" if target is None else _tag(target)
    yield from place.glob(f"{PREFIX}{tag}-*{suffix}")


def lock_folder(path: Path) -> int:
    """Lock the folder itself, not its name; raise BlockingIOError if another process holds the lock.

    The lock ends with the process. File systems without locks are used without.
    """
    lock = os.open(path, FOLDER | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise
    except OSError:
        pass
    return lock


def same_folder(descriptor: int, path: Path, follow_symlinks: bool = False) -> bool:
    """Whether a path leads to the folder of a descriptor."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat(follow_symlinks=follow_symlinks))
    except OSError:
        return False


def _locked_folder(target: Path) -> NewFolder:
    while True:
        path = random_name(target)
        path.mkdir(mode=0o700)
        try:
            lock = lock_folder(path)
        except (BlockingIOError, FileNotFoundError):
            continue  # another process is removing it: it was not locked yet
        if same_folder(lock, path):
            os.fchmod(lock, 0o700)
            return NewFolder(path, lock)
        os.close(lock)


def _is_in_use(path: Path, target: Path) -> bool:
    """Whether another process is building the target in this folder; a folder of nobody is removed."""
    with suppress(OSError):
        lock = os.open(path, FOLDER | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # unknown (an OSError) without locks
            if os.fstat(lock).st_uid == os.geteuid():
                shutil.rmtree(path, ignore_errors=True)
        except BlockingIOError:
            return f"-{_tag(target)}-" in path.name
        finally:
            os.close(lock)
    return False


def _tag(target: Path) -> str:
    return hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]
