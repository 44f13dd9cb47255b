"""Output files and folders: they appear only when they are complete, and a path that cannot be written is refused.

Until it is complete, a file has a random name, is readable by its owner only and is locked. The next process that
writes to the folder removes such files if nobody holds their lock (`sweep`). No name can be guessed, and no link is
followed.

Files that belong together are prepared in work folders, which have a random name, belong to their owner only, and
are locked. `publish` moves what they hold to its targets: all of it or nothing, even if the process is killed at any
moment. A journal says what was moved; `sweep` undoes an incomplete publication.

The work folder for a target NAME has a tag, a hash of NAME, so that two builds of one target find each other:
`.standout-TAG-RANDOM.part`. The lock ends with the process.
"""

import ctypes
import errno
import fcntl
import hashlib
import json
import os
import random
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from standout.core.errors import ParameterError, StandoutError

PREFIX, SUFFIX = ".standout-", ".part"
NAME = re.compile(re.escape(PREFIX) + "([0-9a-f]{12}-)?[0-9a-f]{16}" + re.escape(SUFFIX))
JOURNAL, LARGEST_JOURNAL = "journal.json", 1 << 20
OWNER_ONLY, OTHERS = 0o600, 0o077
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
TRIES, LONGEST_PAUSE = 20, 0.02
NEW_FOLDERS: list[Path] = []
"""Folders that this process created."""
PUBLISHED: list[tuple[Path, os.stat_result]] = []
"""Where this process puts outputs that are complete, and which file or folder each is."""
OTHER_FORMATS = (".arrow", ".duckdb", ".html", ".json", ".jsonl", ".parquet", ".sqlite", ".toml", ".xlsx")
REASONS = {errno.ENOENT: "its folder does not exist", errno.ENOTDIR: "its folder is a file"}


def is_at(descriptor: int, path: Path) -> bool:
    """Whether the file or folder of a descriptor is at a path, which is not a link to it."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    return False


def _random_path(folder: Path, tag: str = "", suffix: str = SUFFIX) -> Path:
    return folder / f"{PREFIX}{tag}{secrets.token_hex(8)}{suffix}"


def _is_mine(descriptor: int, path: Path) -> bool:
    """Lock what was just made; False if a process that cleans up was quicker and has removed it."""
    with suppress(OSError):  # a file system without locks: nobody else can lock it either
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    if is_at(descriptor, path):
        return True
    os.close(descriptor)
    return False


# Single files.


@contextmanager
def new_file(path: Path, private: bool = False) -> Iterator[IO[bytes]]:
    """Yield a file to write; it appears at `path`, in place of an older file, if nothing fails.

    Only its owner can read a private file. If `path` is a link, the link is replaced.
    """
    sweep(path.parent)
    name, descriptor = _open_new(path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if not private:
                mask = os.umask(0o077)
                os.umask(mask)
                os.fchmod(file.fileno(), OWNER_ONLY | (0o666 & ~mask))
            name.replace(path)
    except BaseException:
        with suppress(OSError):
            name.unlink()
        raise


def _open_new(folder: Path) -> tuple[Path, int]:
    """A new file in a folder, and its locked descriptor."""
    while True:
        path = _random_path(folder)
        descriptor = os.open(path, FILE | os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        if _is_mine(descriptor, path):
            return path, descriptor


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


# Check output paths before long work: where a file or folder cannot be written, say so at once.


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


def published() -> list[Path]:
    """Complete outputs of this process that are in place: an interruption after that moment loses nothing."""
    places = []
    for target, status in PUBLISHED:
        with suppress(OSError):
            if os.path.samestat(target.lstat(), status):
                places.append(target)
    return places


def check_output_file(path: Path, option: str = "") -> None:
    """Refuse a path that no file can be written to; `option` names it in the message."""
    reason = ""
    try:
        try:
            mode = os.stat(path).st_mode  # noqa: PTH116 - follows links, and tells why it cannot
        except FileNotFoundError:
            mode = stat.S_IFREG
        is_stream = path.is_symlink() and str(path.readlink()).startswith("/proc/")  # /dev/stdout
        if stat.S_ISDIR(mode):
            reason = "it is a folder"
        elif is_stream or not stat.S_ISREG(mode):
            reason = "it is a device or a pipe, not a file"
        else:
            _try_folder(path.parent)
    except OSError as error:
        reason = REASONS.get(error.errno or 0, error.strerror or str(error))
    except ValueError:
        reason = "its name has a zero byte"
    if reason:
        subject = f"{option} {str(path)!r}" if option else repr(str(path))
        raise ParameterError(f"{subject} cannot be written: {reason}; choose another path")


def check_output_files(folder: Path, *names: str) -> None:
    """Refuse a folder in which one of these files cannot be written; they may be in folders of it."""
    for path in (folder / name for name in names):
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
    path, descriptor = _open_new(folder)
    try:
        os.write(descriptor, b"x")
    finally:
        os.close(descriptor)
        path.unlink()


# Work folders.


@contextmanager
def work_folder(parent: Path, tag: str = "") -> Iterator[Path]:
    """Yield a new private folder; at the end it is removed with all that it holds, unless it has moved."""
    while True:
        path = _random_path(parent.absolute(), tag)
        path.mkdir(mode=0o700)
        with suppress(FileNotFoundError):
            lock = os.open(path, FOLDER)
            if _is_mine(lock, path):
                break
    try:
        yield path
    finally:
        try:
            if is_at(lock, path):
                _undo(path)
                shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(lock)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a private folder for temporary files, and remove those of killed processes."""
    place = Path(tempfile.gettempdir())
    sweep(place)
    with work_folder(place) as folder:
        yield folder


def sweep(folder: Path) -> None:
    """Remove unfinished files and work folders that killed processes left in a folder."""
    with suppress(OSError):
        for path in [folder / entry.name for entry in os.scandir(folder) if NAME.fullmatch(entry.name)]:
            with suppress(OSError):  # it is in use, or of others
                is_folder = stat.S_ISDIR(path.lstat().st_mode)
                descriptor = os.open(path, FOLDER if is_folder else FILE | os.O_RDWR)
                try:
                    _lock_left(descriptor, path)
                    if is_folder:
                        _undo(path)
                        shutil.rmtree(path, ignore_errors=True)
                    else:
                        path.unlink()
                finally:
                    os.close(descriptor)


def _lock_left(descriptor: int, path: Path) -> None:
    """Lock what a process left that has ended; OSError if it is in use, of others or neither a file nor a folder."""
    status = os.fstat(descriptor)
    is_private_folder = stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode) & OTHERS
    if status.st_uid != os.geteuid() or not (is_private_folder or stat.S_ISREG(status.st_mode)):
        raise PermissionError("this belongs to others")
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if not is_at(descriptor, path):
        raise FileNotFoundError("another process has removed it")


# Publish several files or folders at once.


class Part(NamedTuple):
    """A file or folder inside a work folder, and where it shall appear, in the folder around the work folder."""

    new: Path
    target: Path


def publish(parts: Sequence[Part]) -> None:
    """Move parts to their targets, in place of what is there; the last one completes the publication.

    Until the last one is at its target, a failure makes all targets what they were. So its target never has
    a part of another publication next to it. The journal of a work folder lists its own parts, the last one, and
    the places of other work folders: those of other parts are undone before those next to the last one.
    """
    *others, main = dict.fromkeys(part.new.parent for part in parts)
    last = parts[-1].target.absolute()
    PUBLISHED.append((last, parts[-1].new.lstat()))
    for folder in (*others, main):
        moves = [(part.new.name, part.target.name, *identity(part.new)) for part in parts if part.new.parent == folder]
        journal: dict[str, object] = {"moves": moves, "before": [], "after": [str(main.parent)]}
        if folder == main:
            journal |= {"before": [str(other.parent) for other in others], "after": []}
        ending = (last.name if folder == main else str(last), *identity(parts[-1].new))
        (folder / JOURNAL).write_text(json.dumps(journal | {"last": ending}))
    try:
        for part in reversed(parts):
            if os.path.lexists(part.target):
                part.target.rename(part.new.with_name(f"{part.new.name}.old"))
        for part in parts:
            part.new.rename(part.target)
    except BaseException:
        for folder in (*others, main):
            _undo(folder)
        raise


def identity(path: Path) -> tuple[int, ...]:
    """Device and number of a file or folder; nothing if there is none."""
    with suppress(OSError):
        status = path.lstat()
        return status.st_dev, status.st_ino
    return ()


def _undo(folder: Path) -> None:
    """Make the targets of an incomplete publication what they were, the last one at the end.

    Without a complete journal nothing was moved. Somebody else may have prepared the folder, in an archive for
    example. So a journal cannot name any path: it moves only what lies in its folder, to the folder around it.
    """
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
        with os.fdopen(os.open(folder / JOURNAL, FILE | os.O_RDONLY), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_JOURNAL:
                return
            journal = json.loads(file.read())
        last, *ending = journal["last"]
        if identity(folder.parent / last) == tuple(ending):  # it is complete
            return
        for place in journal["before"]:
            sweep(Path(place))
        for name, target_name, *made in journal["moves"]:
            if any(Path(each).name != each or each == ".." for each in (name, target_name)):
                return
            target, old = folder.parent / target_name, folder / f"{name}.old"
            if identity(target) == tuple(made):
                shutil.rmtree(target) if target.is_dir() and not target.is_symlink() else target.unlink()
            if os.path.lexists(old) and not os.path.lexists(target):
                old.rename(target)
        for place in journal["after"]:
            sweep(Path(place))


# Build a folder for a target, of which only one is built at a time, and put it in the place of an old one.


@contextmanager
def new_folder(target: Path) -> Iterator[Path | None]:
    """Yield a locked folder next to a target; None if another process has one for the same target.

    Each process makes its folder before it looks for others, so two can never miss each other. If they see
    each other, both step back and try again after a random pause.
    """
    for _ in range(TRIES):
        with work_folder(target.parent, _tag(target)) as own:
            sweep(target.parent)
            if not any(_is_locked(path) for path in siblings(target) if path != own):
                yield own
                return
        time.sleep(random.uniform(0, LONGEST_PAUSE))
    yield None


def random_name(target: Path, suffix: str = SUFFIX) -> Path:
    """A path next to a target that nobody can guess, and that names the target by its tag."""
    return _random_path(target.parent, _tag(target), suffix)


def siblings(target: Path, suffix: str = SUFFIX) -> Iterator[Path]:
    """Yield what has a name that `random_name` makes for a target."""
    yield from target.parent.glob(f"{PREFIX}{_tag(target)}*{suffix}")


def _tag(target: Path) -> str:
    return f"{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]}-"


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


def exchange(first: Path, second: Path, backup: Path) -> None:
    """Exchange the contents of two paths.

    Linux (renameat2) does it in one step. Other systems and file systems need three renames: there is nothing at
    `second` for a moment, and a process killed then leaves the old at `backup`.
    """
    if _exchange_at_once(first, second):
        return
    second.rename(backup)
    try:
        first.rename(second)
    except BaseException:
        backup.rename(second)
        raise
    backup.rename(first)


def _exchange_at_once(first: Path, second: Path) -> bool:
    library, here, swap = ctypes.CDLL(None), -100, 2
    names = os.fsencode(first), os.fsencode(second)
    return hasattr(library, "renameat2") and library.renameat2(here, names[0], here, names[1], swap) == 0
