"""Folders, and files that appear only when they are complete."""

import ctypes
import fcntl
import hashlib
import os
import random
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from standout.core.errors import StandoutError
from standout.core.work_folders import (
    FOLDER,
    PREFIX,
    RESUME,
    SUFFIX,
    create_folder,
    is_at,
    is_resumable,
    is_temporary_name,
    lock_stale,
    random_path,
    remove_stale,
    work_folder,
)

__all__ = [
    "OWNER_ONLY_PRIVATE_FILES",
    "NewFolder",
    "append_private",
    "exchange",
    "make_folder",
    "new_file",
    "new_folder",
    "open_private",
    "random_name",
    "remove_empty_folders",
    "remove_folder",
    "siblings",
    "sweep",
    "temporary_folder",
    "try_folder",
    "unfinished_folders",
    "write_all",
    "write_atomically",
    "write_content",
]

# Files that appear only when they are complete, and leave nothing behind when the process is killed.
#
# Where the system can (O_TMPFILE), a file has no name until it is complete. Elsewhere, and for the moment in
# which it replaces an older file, it has a random name, is readable by its owner only and is locked. The next
# process that writes to the folder removes such files if nobody holds their lock. No name can be guessed, and
# no link is followed.


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


NEW_FOLDERS: list[Path] = []
"""Folders that this process created."""


def make_folder(path: Path, private: bool = False) -> Path:
    """Create a folder unless it exists, and return its path."""
    try:
        new = [folder for folder in (path, *path.parents) if not folder.exists()]
        path.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
    except OSError as error:
        reason = "a file has this name" if isinstance(error, FileExistsError) else error.strerror
        raise StandoutError(f"cannot create the folder {path}: {reason}; choose another path") from error
    NEW_FOLDERS.extend(new)
    try:
        try_folder(path)
    except OSError as error:
        raise StandoutError(
            f"cannot write to the folder {path}: {error.strerror}; change that, or choose another path"
        ) from error
    return path


def remove_empty_folders() -> None:
    """Remove the folders that this process created and that are still empty, after a run without results."""
    for folder in sorted(set(NEW_FOLDERS), key=lambda folder: -len(folder.parts)):
        with suppress(OSError):
            folder.rmdir()
    NEW_FOLDERS.clear()


def write_content(path: Path, content: str | bytes) -> None:
    """Write text or bytes to a file."""
    data = content.encode() if isinstance(content, str) else content
    write_atomically(path, lambda file: file.write(data))


def write_atomically(path: Path, write: Callable[[IO[bytes]], object], private: bool = False) -> None:
    """Write a file that appears at `path` when it is complete; only its owner can read a private file."""
    try:
        with new_file(path, private) as file:
            write(file)
    except Exception as error:
        reason = _reason(error)
        if reason is None:
            raise
        raise StandoutError(f"{path} cannot be written: {reason}") from error


def _reason(error: Exception) -> str | None:
    """Why the system refused to write; None for other errors. Polars names the system's error in a text."""
    number = error.errno if isinstance(error, OSError) else None
    if number is None and (named := re.search(r"\(os error (\d+)\)", str(error))):
        number = int(named[1])
    if number is None:
        return str(error) if isinstance(error, OSError) else None
    return os.strerror(number)


# Files with people's data: only their owner can read them.


OWNER_ONLY_PRIVATE_FILES = 0o600


@contextmanager
def open_private(path: Path) -> Iterator[int]:
    """Open a file for writing and yield its descriptor; create it if needed, but do not truncate it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY_PRIVATE_FILES)
    try:
        os.fchmod(descriptor, OWNER_ONLY_PRIVATE_FILES)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def append_private(path: Path) -> Iterator[int]:
    """Open a file for appending and yield its descriptor; create it if needed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, OWNER_ONLY_PRIVATE_FILES)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: memoryview) -> None:
    """Write bytes to a descriptor, in as many steps as the system needs."""
    while content:
        content = content[os.write(descriptor, content) :]


# Exchange two folders, in one step where the operating system can do that.


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


# New folders, of which only one is built for each target at a time.
#
# The folder for the target NAME is a locked work folder next to it, `.standout-TAG-RANDOM.part`. TAG is a hash
# of NAME, so that two builds of one target find each other. The lock ends with the process: the next build in
# the same place removes folders that are not locked.


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
