"""Files that appear only when they are complete, and leave nothing behind when the process is killed.

Where the system can (O_TMPFILE), a file has no name until it is complete. Elsewhere, and for the moment in
which it replaces an older file, it has a random name, is readable by its owner only and is locked. The next
process that writes to the folder removes such files if nobody holds their lock. No name can be guessed, and
no link is followed.
"""

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from standout.core.work_folders import is_resumable, is_temporary_name, random_path, remove_stale, work_folder

__all__ = ["new_file", "sweep", "temporary_folder", "try_folder"]

OWNER_ONLY = 0o600
TEMPORARY = getattr(os, "O_TMPFILE", 0)


@contextmanager
def new_file(path: Path, private: bool = False) -> Iterator[IO[bytes]]:
    """Yield a file to write; it appears at `path`, in place of an older file, if nothing fails.

    Only its owner can read a private file. If `path` is a link, the link is replaced.
    """
    folder = path.parent
    sweep(folder)
    descriptor, name = _open(folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if not private:
                os.fchmod(file.fileno(), OWNER_ONLY | (0o666 & ~_umask()))
            if name is not None or not _linked(file.fileno(), path):
                name = name or _named(file.fileno(), folder)
                name.replace(path)
                name = None
    finally:
        if name is not None:
            with suppress(OSError):
                name.unlink()


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a private folder for temporary files, and remove those of killed processes."""
    place = Path(tempfile.gettempdir())
    sweep(place)
    with work_folder(place) as folder:
        yield folder


def try_folder(folder: Path) -> None:
    """Make a file in a folder and remove it again; raises OSError if that is impossible."""
    descriptor, name = _open(folder)
    try:
        os.write(descriptor, b"x")
    finally:
        os.close(descriptor)
        if name is not None:
            name.unlink()


def sweep(folder: Path) -> None:
    """Remove unfinished files and work folders that killed processes left in a folder.

    Work that can be resumed stays.
    """
    with suppress(OSError):
        for entry in os.scandir(folder):
            if is_temporary_name(entry.name) and not is_resumable(folder / entry.name):
                with suppress(OSError):
                    is_folder = entry.is_dir(follow_symlinks=False)
                    (remove_stale if is_folder else _remove_if_unlocked)(folder / entry.name)


def _remove_if_unlocked(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    finally:
        os.close(descriptor)


def _open(folder: Path) -> tuple[int, Path | None]:
    """Open a new file in a folder: its descriptor, and its name if it needs one. It is locked."""
    if TEMPORARY and Path("/proc/self/fd").is_dir():
        with suppress(OSError):  # not on this file system
            descriptor = os.open(folder, os.O_RDWR | TEMPORARY | os.O_CLOEXEC, OWNER_ONLY)
            _lock(descriptor)
            return descriptor, None
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        path = random_path(folder)
        descriptor = os.open(path, flags, OWNER_ONLY)
        _lock(descriptor)
        if os.fstat(descriptor).st_nlink:
            return descriptor, path
        os.close(descriptor)  # a process that cleans up was quicker than the lock


def _lock(descriptor: int) -> None:
    with suppress(OSError):  # no locks on this file system: nobody else can lock it either
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _linked(descriptor: int, path: Path) -> bool:
    """Give a file without a name this one, in one step; False if the name is taken."""
    try:
        _link(descriptor, path)
    except FileExistsError:
        return False
    return True


def _named(descriptor: int, folder: Path) -> Path:
    """Give a file without a name a random one."""
    path = random_path(folder)
    _link(descriptor, path)
    return path


def _link(descriptor: int, path: Path) -> None:
    place = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:  # with dst_dir_fd, Python calls linkat, which can follow the link in /proc
        os.link(f"/proc/self/fd/{descriptor}", path.name, dst_dir_fd=place, follow_symlinks=True)
    finally:
        os.close(place)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
