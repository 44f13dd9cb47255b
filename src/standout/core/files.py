"""Output files and folders: they appear only when they are complete, and a path that cannot be written is refused.

Where the system can (O_TMPFILE), a file has no name until it is complete. Elsewhere, and for the moment in
which it replaces an older file, it has a random name, is readable by its owner only and is locked. The next
process that writes to the folder removes such files if nobody holds their lock (`sweep`). No name can be
guessed, and no link is followed.

Files that belong together are prepared in a work folder, which has a random name, belongs to its owner only, and
is locked. `publish` moves what it holds to its targets: all of them or none, even if the process is killed at any
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
from typing import IO, Any, NamedTuple

from standout.core.errors import ParameterError, StandoutError

PREFIX, SUFFIX = ".standout-", ".part"
NAME = re.compile(re.escape(PREFIX) + "([0-9a-f]{12}-)?[0-9a-f]{16}" + re.escape(SUFFIX))
JOURNAL, MAIN = "journal.json", "main.json"
OWNER_ONLY, OTHERS = 0o600, 0o077
MOST_PARTS, LARGEST_JOURNAL = 16, 1 << 20
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
TEMPORARY = getattr(os, "O_TMPFILE", 0)
TRIES, LONGEST_PAUSE = 20, 0.02
NEW_FOLDERS: list[Path] = []
"""Folders that this process created."""
PUBLISHED: list[tuple[Path, os.stat_result]] = []
"""Where this process puts outputs that are complete, and which file or folder each is."""
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


def random_path(folder: Path, tag: str = "", suffix: str = SUFFIX) -> Path:
    """Path in a folder that nobody can guess; a tag says what it is for."""
    return folder / f"{PREFIX}{tag}{secrets.token_hex(8)}{suffix}"


def is_at(descriptor: int, path: Path) -> bool:
    """Whether the folder of a descriptor is at a path, which is not a link to it."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    return False


def _lock(descriptor: int) -> None:
    """Lock a file or folder; nothing happens on a file system without locks: nobody else can lock it either."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)


# Single files.


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
            if name is None:
                try:
                    _link(file.fileno(), path)
                except FileExistsError:
                    name = random_path(path.parent)
                    _link(file.fileno(), name)
            if name is not None:
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


def _link(descriptor: int, path: Path) -> None:
    """Give a file without a name this one, in one step."""
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


# Work folders.


class WorkFolder(NamedTuple):
    """A new folder and the descriptor that holds its lock."""

    path: Path
    lock: int

    @classmethod
    def create(cls, parent: Path, tag: str = "") -> "WorkFolder":
        """Create and lock a folder; another one if a process that cleans up was quicker than the lock."""
        while True:
            path = random_path(parent, tag)
            path.mkdir(mode=0o700)
            with suppress(FileNotFoundError):
                descriptor = os.open(path, FOLDER)
                _lock(descriptor)
                if is_at(descriptor, path):
                    return cls(path, descriptor)
                os.close(descriptor)

    def remove(self) -> None:
        """Undo an incomplete publication, remove the folder unless it has moved, and release its lock."""
        try:
            if is_at(self.lock, self.path):
                _undo_and_remove(self.path)
        finally:
            os.close(self.lock)


@contextmanager
def work_folder(parent: Path) -> Iterator[Path]:
    """Yield a new private folder; at the end it is removed with all that it holds."""
    folder = WorkFolder.create(parent.absolute())
    try:
        yield folder.path
    finally:
        folder.remove()


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
        for entry in os.scandir(folder):
            if NAME.fullmatch(entry.name):
                path = folder / entry.name
                with suppress(OSError):  # it is in use, or of others
                    if not entry.is_dir(follow_symlinks=False):
                        with _locked(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK):
                            path.unlink()
                        continue
                    with _locked(path):
                        main = _read_json(path / MAIN)
                        if isinstance(main, str) and NAME.fullmatch(Path(main).name) and Path(main).exists():
                            with _locked(Path(main)):
                                _undo_and_remove(Path(main))
                        _undo_and_remove(path)


@contextmanager
def _locked(path: Path, flags: int = FOLDER) -> Iterator[None]:
    """Lock what a process left that has ended; OSError if it is in use, of others or neither a file nor a folder."""
    descriptor = os.open(path, flags)
    try:
        status = os.fstat(descriptor)
        is_folder = stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode) & OTHERS
        if status.st_uid != os.geteuid() or not (is_folder or stat.S_ISREG(status.st_mode)):
            raise PermissionError("this belongs to others")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not is_at(descriptor, path):
            raise FileNotFoundError("another process has removed it")
        yield
    finally:
        os.close(descriptor)


# Publish several files or folders at once.


class Part(NamedTuple):
    """A file or folder inside a work folder, and where it shall appear."""

    new: Path
    target: Path


class _Move(NamedTuple):
    """A part in the journal: its target, which file the new content is, and where the old content is kept."""

    target: str
    device: int
    number: int
    old: str

    @classmethod
    def of(cls, part: Part) -> "_Move":
        status = part.new.lstat()
        old = part.new.with_name(f"{part.new.name}.old")
        return cls(str(part.target.absolute()), status.st_dev, status.st_ino, str(old))

    @property
    def is_done(self) -> bool:
        with suppress(OSError, ValueError):
            status = os.lstat(self.target)
            return (status.st_dev, status.st_ino) == (self.device, self.number)
        return False

    def undo(self) -> None:
        """Remove the new content and put the old content back, unless something else is there now."""
        target = Path(self.target)
        if self.is_done:
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            else:
                target.unlink(missing_ok=True)
        if os.path.lexists(self.old) and not os.path.lexists(self.target):
            Path(self.old).rename(self.target)

    def confined(self, folder: Path | None) -> "_Move | None":
        """The move, if it is between a work folder and the folder around it.

        The work folder with the journal is `folder`, where it was found, even if all was moved since then. For
        others (None), the journal's own paths count.
        """
        target, old = Path(self.target), Path(self.old)
        if any(path.name in ("", "..") or "\0" in str(path) for path in (target, old)):
            return None
        if folder is None and (old.parent.parent != target.parent or not _is_work_folder(old.parent)):
            return None
        place = folder or old.parent
        return self._replace(target=str(place.parent / target.name), old=str(place / old.name))


def publish(parts: Sequence[Part]) -> None:
    """Move parts to their targets, in place of what is there; the last one completes the publication.

    Until the last one is at its target, a failure makes all targets what they were. So its target never has
    a part of another publication next to it.
    """
    main = parts[-1].new.parent
    moves = [_Move.of(part) for part in parts]
    PUBLISHED.append((parts[-1].target.absolute(), parts[-1].new.lstat()))
    for other in {part.new.parent for part in parts} - {main}:
        (other / MAIN).write_text(json.dumps(str(main)))
    (main / JOURNAL).write_text(json.dumps(moves))
    try:
        for move in reversed(moves):
            if os.path.lexists(move.target):
                Path(move.target).rename(move.old)
        for part in parts:
            part.new.rename(part.target)
    except BaseException:
        _undo(main)
        raise


def _undo_and_remove(folder: Path) -> None:
    _undo(folder)
    shutil.rmtree(folder, ignore_errors=True)


def _undo(folder: Path) -> None:
    """Make all targets of an incomplete publication what they were, the last one at the end."""
    moves = _journal(folder)
    if moves and not moves[-1].is_done:
        for move in moves:
            move.undo()


def _journal(folder: Path) -> list[_Move]:
    """The journal of a work folder; empty if there is none or it is incomplete: then nothing was moved.

    Somebody else may have prepared the folder, in an archive for example. So a journal cannot name any path:
    it moves only what lies in a work folder, and only to the folder around it.
    """
    content = _read_json(folder / JOURNAL)
    if not isinstance(content, list) or not 0 < len(content) <= MOST_PARTS:
        return []
    try:
        moves = [_Move(str(a), int(b), int(c), str(d)) for a, b, c, d in content]
    except (TypeError, ValueError, OverflowError):
        return []
    main = Path(moves[-1].old).parent
    confined = [move.confined(folder if Path(move.old).parent == main else None) for move in moves]
    return [] if confined[-1] is None else [move for move in confined if move is not None]


def _is_work_folder(path: Path) -> bool:
    with suppress(OSError, ValueError):
        status = path.lstat()
        is_private = stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode) & OTHERS
        return NAME.fullmatch(path.name) is not None and is_private and status.st_uid == os.geteuid()
    return False


def _read_json(path: Path) -> Any:
    """The content of a small regular file; None if there is no such file."""
    with suppress(OSError, ValueError, RecursionError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST_JOURNAL:
                return json.loads(file.read())
    return None


# Build a folder for a target, of which only one is built at a time, and put it in the place of an old one.


def new_folder(target: Path) -> WorkFolder | None:
    """Make a locked folder next to a target; None if another process has one for the same target.

    Each process makes its folder before it looks for others, so two can never miss each other. If they see
    each other, both step back and try again after a random pause.
    """
    for _ in range(TRIES):
        own = WorkFolder.create(target.parent, _tag(target))
        sweep(target.parent)
        if not any(_is_locked(path) for path in siblings(target) if path != own.path):
            return own
        own.remove()
        time.sleep(random.uniform(0, LONGEST_PAUSE))
    return None


def random_name(target: Path, suffix: str = SUFFIX) -> Path:
    """A path next to a target that nobody can guess, and that names the target by its tag."""
    return random_path(target.parent, _tag(target), suffix)


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
    library, here, swap = ctypes.CDLL(None, use_errno=True), -100, 2
    names = os.fsencode(first), os.fsencode(second)
    if hasattr(library, "renameat2"):
        return bool(library.renameat2(here, names[0], here, names[1], swap) == 0)
    return hasattr(library, "renamex_np") and bool(library.renamex_np(*names, swap) == 0)
