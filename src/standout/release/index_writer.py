"""Write an index: build it in a folder with a random name and rename the folder when it is complete.

The folder is next to the target and locked (`core.new_folders`), so a second build of the same index is
refused. The lock ends with its process: a killed build leaves the old index (or none) and a folder that the
next build removes.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from standout.core.errors import BuildRunning, StoreError
from standout.core.exchange import exchange
from standout.core.new_folders import (
    NewFolder,
    new_folder,
    random_name,
    remove_folder,
    siblings,
    unfinished_folders,
)
from standout.core.progress import Progress, no_progress
from standout.core.work_folders import FOLDER, is_at
from standout.release.column_files import columns_to_write, sync_folder, write_columns, write_manifest
from standout.release.flat_arrays import fingerprint_from_digests
from standout.release.index_folder import is_index
from standout.release.manifest import Manifest
from standout.release.model import Release

__all__ = [
    "IndexWriter",
    "begin_build",
    "check_target",
    "index_path",
    "is_index",
    "open_index_writer",
    "write_error",
]

BACKUP = ".old"


@dataclass(slots=True)
class IndexWriter:
    """An index being written."""

    target: Path
    folder: Path

    def write(self, release: Release, progress: Progress = no_progress) -> int:
        """Write the columns and the manifest, then move the index to its target; return its size in bytes."""
        columns = columns_to_write(release)
        total = sum(column.bytes for column in columns.values())
        try:
            written = write_columns(self.folder, columns, progress)
        except OSError as error:
            raise write_error(error, self.target, total) from error
        digests = {name: column.sha256 for name, column in written.items()}
        manifest = Manifest.of(release, written, fingerprint_from_digests(digests, release.clock))
        total += write_manifest(self.folder, manifest)
        self.publish()
        return total

    def publish(self) -> None:
        """Rename the folder to its target; exchange it with an old index and remove that."""
        if _exists(self.target):
            self._replace()
        else:
            self.folder.rename(self.target)
        sync_folder(self.target.parent)

    def _replace(self) -> None:
        """Exchange the folder with the old index, which is locked, and remove that."""
        check_target(self.target)  # again: it may have appeared in the meantime
        old = os.open(self.target, FOLDER)
        with suppress(OSError):
            fcntl.flock(old, fcntl.LOCK_EX | fcntl.LOCK_NB)
        backup = random_name(self.target, BACKUP)
        try:
            exchange(self.folder, self.target, backup)
            if not is_at(old, self.folder):  # somebody has just put something else there
                exchange(self.folder, self.target, backup)
                raise StoreError(f"{self.target} was changed during the build: run it again")
        finally:
            if is_at(old, self.folder):
                shutil.rmtree(self.folder, ignore_errors=True)
            os.close(old)


@contextmanager
def open_index_writer(path: str | Path) -> Iterator[IndexWriter]:
    """Yield a writer; the target is checked and locked before the long work, and cleaned up if it fails."""
    target = index_path(path)
    try:
        check_target(target)
        folder = begin_build(target)
    except OSError as error:
        raise write_error(error, target, None) from error
    try:
        yield IndexWriter(target, folder.path)
    except OSError as error:
        raise write_error(error, target, None) from error
    finally:
        remove_folder(folder)


def begin_build(target: Path, resumable: bool = False) -> NewFolder:
    """Make the folder to build in; repair what a build left that was killed between three renames.

    Unless this build is resumable itself, it removes an unfinished one that could be resumed.
    """
    folder = new_folder(target)
    if folder is None:
        raise _build_running(target)
    try:
        for backup in siblings(target, BACKUP):
            _recover(backup, target)
        for unfinished in () if resumable else unfinished_folders(target, folder):
            remove_folder(unfinished)
    except BlockingIOError as error:
        remove_folder(folder)
        raise _build_running(target) from error
    except BaseException:
        remove_folder(folder)
        raise
    return folder


def _recover(backup: Path, target: Path) -> None:
    with suppress(FileNotFoundError):
        lock = os.open(backup, FOLDER)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(backup) if _exists(target) else backup.rename(target)
        finally:
            os.close(lock)


def _build_running(target: Path) -> BuildRunning:
    return BuildRunning(
        f"another process is building {target}: wait until it has finished, or choose another path"
    )


def index_path(path: str | Path) -> Path:
    """Absolute path of an index; raise StoreError if it is no valid name."""
    target = Path(path).absolute()
    if not target.name or "\0" in str(target):
        raise StoreError(f"{target!s:.100} is not a valid name for an index: choose another path")
    return target


def _exists(path: Path) -> bool:
    """Whether there is anything at a path; an OSError if its name is too long."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


def check_target(target: Path) -> None:
    """Raise StoreError unless an index can be written to a path."""
    if not target.parent.is_dir():
        raise StoreError(f"{target.parent} is not a folder: create it, or choose another path")
    if _exists(target) and (target.is_symlink() or not target.is_dir()):
        raise StoreError(f"{target} exists and is not a folder: choose another path")
    if target.is_dir() and any(target.iterdir()) and not is_index(target):
        raise StoreError(
            f"{target} exists and is not an index: it will not be overwritten; choose another path"
        )


def write_error(error: OSError, target: Path, size: int | None) -> StoreError:
    """Error about an index that cannot be written; size = bytes that it needs, if known."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        needed = "" if size is None else f"the index needs {size / 1e6:,.1f} MB; "
        return StoreError(
            f"not enough disk space in {target.parent}: {needed}free some, or choose another path"
        )
    return StoreError(f"{target} cannot be written: {error.strerror or error}")
