"""Private folders in which files are prepared that belong together and appear together.

A work folder has a random name, belongs to its owner only, and is locked. `publish` moves what it holds to
its targets: all of them or none, even if the process is killed at any moment. A journal says what was moved.
The next process that writes to the folder around it undoes an incomplete publication and removes the work
folder (`new_files.sweep`), unless its work can be resumed (`is_resumable`).
"""

import fcntl
import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

__all__ = [
    "FOLDER",
    "RESUME",
    "Part",
    "create_folder",
    "is_at",
    "is_resumable",
    "is_temporary_name",
    "lock_stale",
    "publish",
    "random_path",
    "remove_stale",
    "work_folder",
]

PREFIX, SUFFIX = ".standout-", ".part"
NAME = re.compile(re.escape(PREFIX) + "([0-9a-f]{12}-)?[0-9a-f]{16}" + re.escape(SUFFIX))
JOURNAL, MAIN = "journal.json", "main.json"
OTHERS = 0o077
MOST_PARTS, LARGEST_JOURNAL = 16, 1 << 20
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


RESUME, KEPT_SECONDS = "resume", 7 * 86_400
"""File of a work folder from which a killed process can resume, and how long such a folder is kept."""


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

    @property
    def is_done(self) -> bool:
        with suppress(OSError, ValueError):
            status = os.lstat(self.target)
            return (status.st_dev, status.st_ino) == (self.device, self.number)
        return False

    def undo(self) -> None:
        """Remove the new content and put the old content back, unless something else is there now."""
        if self.is_done:
            _remove(Path(self.target))
        if os.path.lexists(self.old) and not os.path.lexists(self.target):
            Path(self.old).rename(self.target)


def random_path(folder: Path, tag: str = "", suffix: str = SUFFIX) -> Path:
    """Path in a folder that nobody can guess; a tag says what it is for (`new_folders`)."""
    return folder / f"{PREFIX}{tag}{secrets.token_hex(8)}{suffix}"


def is_temporary_name(name: str) -> bool:
    """Whether `random_path` makes such names."""
    return NAME.fullmatch(name) is not None


@contextmanager
def work_folder(parent: Path) -> Iterator[Path]:
    """Yield a new private folder; at the end it is removed with all that it holds."""
    path, lock = create_folder(parent.absolute())
    try:
        yield path
    finally:
        try:
            _undo_and_remove(path)
        finally:
            os.close(lock)


def publish(parts: Sequence[Part]) -> None:
    """Move parts to their targets, in place of what is there; the last one completes the publication.

    Until the last one is at its target, a failure makes all targets what they were. So its target never has
    a part of another publication next to it.
    """
    main = parts[-1].new.parent
    moves = [_move(part) for part in parts]
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


def is_resumable(path: Path) -> bool:
    """Whether a work folder holds work that the next run may resume; after a week it does not count."""
    with suppress(OSError):
        status = (path / RESUME).lstat()
        return stat.S_ISREG(status.st_mode) and abs(time.time() - status.st_mtime) < KEPT_SECONDS
    return False


def remove_stale(path: Path) -> None:
    """Remove a work folder if its process has ended, and undo an incomplete publication.

    Raises OSError if it is in use, belongs to somebody else or is no such folder.
    """
    lock = lock_stale(path)
    try:
        main = _read_json(path / MAIN)
        if isinstance(main, str) and is_temporary_name(Path(main).name) and Path(main).exists():
            main_lock = lock_stale(Path(main))
            try:
                _undo_and_remove(Path(main))
            finally:
                os.close(main_lock)
        _undo_and_remove(path)
    finally:
        os.close(lock)


def create_folder(parent: Path, tag: str = "") -> tuple[Path, int]:
    """Create and lock a folder; another one if a process that cleans up was quicker than the lock."""
    while True:
        path = random_path(parent, tag)
        path.mkdir(mode=0o700)
        with suppress(FileNotFoundError):
            lock = os.open(path, FOLDER)
            with suppress(OSError):  # no locks on this file system: nobody else can lock it either
                fcntl.flock(lock, fcntl.LOCK_EX)
            if is_at(lock, path):
                return path, lock
            os.close(lock)


def lock_stale(path: Path) -> int:
    """Lock a work folder whose process has ended; raises OSError as `remove_stale` does."""
    lock = os.open(path, FOLDER)
    try:
        status = os.fstat(lock)
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & OTHERS:
            raise PermissionError("this folder belongs to others")
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not is_at(lock, path):
            raise FileNotFoundError("another process has removed it")
    except BaseException:
        os.close(lock)
        raise
    return lock


def is_at(descriptor: int, path: Path) -> bool:
    """Whether the folder of a descriptor is at a path, which is not a link to it."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    return False


def _move(part: Part) -> _Move:
    status = part.new.lstat()
    target, old = part.target.absolute(), part.new.with_name(f"{part.new.name}.old")
    return _Move(str(target), status.st_dev, status.st_ino, str(old))


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
    confined = [_confined(move, folder if Path(move.old).parent == main else None) for move in moves]
    return [] if confined[-1] is None else [move for move in confined if move is not None]


def _confined(move: _Move, folder: Path | None) -> _Move | None:
    """The move, if it is between a work folder and the folder around it.

    The work folder with the journal is `folder`, where it was found, even if all was moved since then. For
    others (None), the journal's own paths count.
    """
    target, old = Path(move.target), Path(move.old)
    if any(path.name in ("", "..") or "\0" in str(path) for path in (target, old)):
        return None
    if folder is None and (old.parent.parent != target.parent or not _is_work_folder(old.parent)):
        return None
    place = folder or old.parent
    return move._replace(target=str(place.parent / target.name), old=str(place / old.name))


def _is_work_folder(path: Path) -> bool:
    with suppress(OSError, ValueError):
        status = path.lstat()
        is_private = stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode) & OTHERS
        return is_temporary_name(path.name) and is_private and status.st_uid == os.geteuid()
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


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
