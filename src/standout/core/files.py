"""Output files: they appear only when they are complete, and a path that cannot be written is refused at once.

Where the system can (O_TMPFILE), a file has no name until it is complete. Elsewhere, and for the moment in
which it replaces an older file, it has a random name, is readable by its owner only and is locked. The next
process that writes to the folder removes such files if nobody holds their lock (`work_folders.sweep`). No name
can be guessed, and no link is followed.
"""

import errno
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from standout.core.errors import ParameterError, StandoutError
from standout.core.work_folders import lock, random_path, sweep, work_folder

OWNER_ONLY = 0o600
TEMPORARY = getattr(os, "O_TMPFILE", 0)
NEW_FOLDERS: list[Path] = []
"""Folders that this process created."""
OTHER_FORMATS = (".arrow", ".duckdb", ".html", ".json", ".jsonl", ".parquet", ".sqlite", ".toml", ".xlsx")
REASONS = {
    errno.ELOOP: "its links form a loop",
    errno.ENAMETOOLONG: "its name is too long",
    errno.ENOENT: "its folder does not exist",
    errno.ENOTDIR: "its folder is a file",
    errno.EACCES: "you may not write to its folder",
    errno.EPERM: "you may not write to its folder",
    errno.EROFS: "its folder is read-only",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is full",
    errno.EFBIG: "the limit of the size of files (ulimit -f) is too small",
}


@contextmanager
def new_file(path: Path, private: bool = False) -> Iterator[IO[bytes]]:
    """Yield a file to write; it appears at `path`, in place of an older file, if nothing fails.

    Only its owner can read a private file. If `path` is a link, the link is replaced.
    """
    sweep(path.parent)
    descriptor, name = _open(path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if not private:
                mask = os.umask(0o077)
                os.umask(mask)
                os.fchmod(file.fileno(), OWNER_ONLY | (0o666 & ~mask))
            if name is not None or not _linked(file.fileno(), path):
                name = name or _named(file.fileno(), path.parent)
                name.replace(path)
                name = None
    finally:
        if name is not None:
            with suppress(OSError):
                name.unlink()


def _open(folder: Path) -> tuple[int, Path | None]:
    """Open a new file in a folder: its descriptor, and its name if it needs one. It is locked."""
    if TEMPORARY and Path("/proc/self/fd").is_dir():
        with suppress(OSError):  # not on this file system
            descriptor = os.open(folder, os.O_RDWR | TEMPORARY | os.O_CLOEXEC, OWNER_ONLY)
            lock(descriptor)
            return descriptor, None
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        path = random_path(folder)
        descriptor = os.open(path, flags, OWNER_ONLY)
        lock(descriptor)
        if os.fstat(descriptor).st_nlink:
            return descriptor, path
        os.close(descriptor)  # a process that cleans up was quicker than the lock


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
        number = error.errno if isinstance(error, OSError) else None
        if number is None and (named := re.search(r"\(os error (\d+)\)", str(error))):  # Polars names it in a text
            number = int(named[1])
        if number is None and not isinstance(error, OSError):
            raise
        raise StandoutError(f"{path} cannot be written: {error if number is None else os.strerror(number)}") from error


@contextmanager
def open_private(path: Path) -> Iterator[int]:
    """Open a file that only its owner can read; yield its descriptor. It is created if needed, but not truncated."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY)
    try:
        os.fchmod(descriptor, OWNER_ONLY)
        yield descriptor
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: memoryview) -> None:
    """Write bytes to a descriptor, in as many steps as the system needs."""
    while content:
        content = content[os.write(descriptor, content) :]


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a private folder for temporary files, and remove those of killed processes."""
    place = Path(tempfile.gettempdir())
    sweep(place)
    with work_folder(place) as folder:
        yield folder


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
        _try_folder(path)
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


# Try output paths before long work: where a file or folder cannot be written, say so at once.


def check_output_file(path: Path, option: str = "") -> None:
    """Refuse a path that no file can be written to; `option` names it in the message.

    A file is made in its folder and removed again.

    >>> check_output_file(Path("/"))
    Traceback (most recent call last):
    standout.core.errors.ParameterError: '/' cannot be written: it is a folder; choose another path
    """
    try:
        _check_kind(path)
        _try_folder(path.parent)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError):
            reason = REASONS.get(error.errno or 0, error.strerror or str(error))
        else:
            reason = "its name has a zero byte" if "null" in str(error) else str(error)
        subject = f"{option} {str(path)!r}" if option else repr(str(path))
        raise ParameterError(f"{subject} cannot be written: {reason}; choose another path") from error


def check_output_files(folder: Path, *names: str) -> None:
    """Refuse a folder in which one of these files cannot be written; they may be in folders of it."""
    for name in names:
        path = folder / name
        if path.parent.is_dir():
            check_output_file(path)
        elif path.parent.exists():
            raise ParameterError(f"{path.parent} is a file, but a folder will be written there: move it")


def check_csv_name(path: Path, option: str) -> None:
    """Refuse the name of another format for a file that is written as CSV."""
    if path.suffix.lower() in OTHER_FORMATS:
        raise ParameterError(f"{option} is written as CSV: choose a name that ends in .csv, got {path.name!r}")


def _try_folder(folder: Path) -> None:
    """Make a file in a folder and remove it again; raises OSError if that is impossible."""
    descriptor, name = _open(folder)
    try:
        os.write(descriptor, b"x")
    finally:
        os.close(descriptor)
        if name is not None:
            name.unlink()


def _check_kind(path: Path) -> None:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - follows links, and tells why it cannot
    except FileNotFoundError:
        path.parent.stat()
        return
    if stat.S_ISDIR(mode):
        raise ValueError("it is a folder")
    is_stream = path.is_symlink() and str(path.readlink()).startswith("/proc/")  # /dev/stdout
    if is_stream or not stat.S_ISREG(mode):
        raise ValueError("it is a device or a pipe, not a file")
