"""Private folders in which files are prepared that belong together and appear together.

A work folder has a random name, belongs to its owner only, and is locked. `publish` moves what it holds to
its targets: all of them or none, even if the process is killed at any moment. A journal says what was moved.
The next process that writes to the folder around it undoes an incomplete publication and removes the work
folder (`sweep`).

The work folder for a target NAME has a tag, a hash of NAME, so that two builds of one target find each other:
`.standout-TAG-RANDOM.part`. The lock ends with the process.
"""

import ctypes
import fcntl
import hashlib
import json
import os
import random
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

PREFIX, SUFFIX = ".standout-", ".part"
NAME = re.compile(re.escape(PREFIX) + "([0-9a-f]{12}-)?[0-9a-f]{16}" + re.escape(SUFFIX))
JOURNAL, MAIN = "journal.json", "main.json"
OTHERS = 0o077
MOST_PARTS, LARGEST_JOURNAL = 16, 1 << 20
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
TRIES, LONGEST_PAUSE = 20, 0.02


def random_path(folder: Path, tag: str = "", suffix: str = SUFFIX) -> Path:
    """Path in a folder that nobody can guess; a tag says what it is for."""
    return folder / f"{PREFIX}{tag}{secrets.token_hex(8)}{suffix}"


def is_at(descriptor: int, path: Path) -> bool:
    """Whether the folder of a descriptor is at a path, which is not a link to it."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    return False


def lock(descriptor: int) -> None:
    """Lock a file or folder; nothing happens on a file system without locks: nobody else can lock it either."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)


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
                lock(descriptor)
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


def sweep(folder: Path) -> None:
    """Remove unfinished files and work folders that killed processes left in a folder."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if NAME.fullmatch(entry.name):
                with suppress(OSError):
                    is_folder = entry.is_dir(follow_symlinks=False)
                    (_remove_stale_folder if is_folder else _remove_stale_file)(folder / entry.name)


def _remove_stale_file(path: Path) -> None:
    """Remove an unfinished file if its process has ended; OSError if it is in use."""
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    finally:
        os.close(descriptor)


def _remove_stale_folder(path: Path) -> None:
    """Remove a work folder if its process has ended, and undo an incomplete publication; OSError if it is in use."""
    with _locked(path):
        main = _read_json(path / MAIN)
        if isinstance(main, str) and NAME.fullmatch(Path(main).name) and Path(main).exists():
            with _locked(Path(main)):
                _undo_and_remove(Path(main))
        _undo_and_remove(path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock a work folder whose process has ended; OSError if it is in use, of others or no such folder."""
    descriptor = os.open(path, FOLDER)
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & OTHERS:
            raise PermissionError("this folder belongs to others")
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
