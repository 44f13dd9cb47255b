"""Write the columns of a release to the files of a folder, piece by piece, with their checksums."""

import errno
import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import BuildRunning, StoreError
from standout.core.files import (
    NewFolder,
    exchange,
    new_folder,
    open_private,
    random_name,
    remove_folder,
    siblings,
    unfinished_folders,
    write_all,
)
from standout.core.progress import Progress, no_progress
from standout.core.work_folders import FOLDER as WORK_FOLDER
from standout.core.work_folders import is_at
from standout.data.flat_arrays import array_bytes, columns_without_words, fingerprint_from_digests
from standout.data.manifest import FORMAT, MANIFEST, Column, Manifest
from standout.data.postings import ordered_words
from standout.data.release import Release

__all__ = [
    "IndexWriter",
    "NewColumn",
    "begin_build",
    "check_target",
    "columns_to_write",
    "index_path",
    "is_index",
    "leads_to",
    "open_file",
    "open_index_writer",
    "read_folder",
    "write_columns",
    "write_error",
    "write_manifest",
]

PIECE = 1 << 24


class NewColumn(NamedTuple):
    """A column to write: its type, the number of its elements, and its pieces after `lead` zero bytes."""

    type: np.dtype[Any]
    length: int
    pieces: Iterable[NDArray[Any]]
    lead: int = 0

    @classmethod
    def of(cls, array: NDArray[Any]) -> "NewColumn":
        """A column that is one array."""
        return cls(array.dtype, len(array), [array])

    @property
    def bytes(self) -> int:
        """Size of the elements in bytes."""
        return self.length * self.type.itemsize


def columns_to_write(release: Release) -> dict[str, NewColumn]:
    """All columns of a release. Those of a release in shards are not gathered in memory."""
    columns = {name: NewColumn.of(array) for name, array in columns_without_words(release).items()}
    word = release.by_item.word
    words = NewColumn(word.dtype.newbyteorder("<"), release.n_entries, ordered_words(release.by_item))
    return columns | {"by-item-word": words}


def write_columns(folder: Path, columns: Mapping[str, NewColumn], progress: Progress) -> dict[str, Column]:
    """Reserve the disk space, then write the files of all columns; an OSError if the disk is full."""
    total, done = sum(column.lead + column.bytes for column in columns.values()), 0
    for name, column in columns.items():
        with open_private(folder / f"{name}.bin") as file:
            if column.bytes and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file, 0, column.lead + column.bytes)
    written = {}
    for name, column in columns.items():
        written[name] = _write_column(folder, name, column, done, total, progress)
        done += column.lead + column.bytes
    return written


def write_manifest(folder: Path, manifest: Manifest) -> int:
    """Write the manifest after all columns, and return its size; an index that has one is complete."""
    content, unfinished = manifest.to_json(), folder / f"{MANIFEST}.part"
    with open_private(unfinished) as file:
        write_all(file, memoryview(content))
        os.fsync(file)
    unfinished.replace(folder / MANIFEST)
    sync_folder(folder)
    return len(content)


def sync_folder(folder: Path) -> None:
    """Wait until the names of a folder's files are on the disk."""
    file = os.open(folder, WORK_FOLDER)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _write_column(folder: Path, name: str, column: NewColumn, done: int, total: int, progress: Progress) -> Column:
    checksum, position = hashlib.sha256(), column.lead
    with open_private(folder / f"{name}.bin") as file:
        os.lseek(file, column.lead, os.SEEK_SET)
        for piece in _pieces(column):
            checksum.update(piece)
            write_all(file, piece)
            progress("writing", done + position, total)
            position += len(piece)
        os.fsync(file)
    return Column(f"{name}.bin", column.type.name, column.length, column.bytes, checksum.hexdigest(), column.lead)


def _pieces(column: NewColumn) -> Iterator[memoryview]:
    for array in column.pieces:
        content = array_bytes(array.astype(column.type, copy=False))
        for position in range(0, len(content), PIECE):
            yield content[position : position + PIECE]


# Read the folder of an index while another process may replace it.
#
# A replaced index is removed file by file, so a reader that has its folder open can miss files. The reader sees
# then that the path leads to another folder, and begins again there: it gets the old index or the new one.


T = TypeVar("T")
HEAD = 1 << 16
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def is_index(path: Path) -> bool:
    """Whether a path is a folder with a Standout manifest, damaged or not."""
    try:
        return read_folder(path, _has_manifest)
    except StoreError:
        return False


def read_folder(path: Path, read: Callable[[int], T]) -> T:
    """Return read(folder), called again if the index was replaced meanwhile; folder is a descriptor."""
    while True:
        folder = _open(path)
        try:
            return read(folder)
        except (StoreError, OSError):
            if leads_to(path, folder):
                raise
        finally:
            os.close(folder)


def leads_to(path: Path, folder: int) -> bool:
    """Whether a path leads to the folder of a descriptor, also through links."""
    try:
        return os.path.samestat(os.fstat(folder), path.stat())
    except OSError:
        return False


def open_file(folder: int, name: str) -> int:
    """Open a file of an index for reading. A pipe does not block."""
    return os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder)


def _has_manifest(folder: int) -> bool:
    try:
        with os.fdopen(open_file(folder, MANIFEST), "rb") as file:
            return f'"{FORMAT}"'.encode() in file.read(HEAD)
    except OSError as error:
        raise StoreError(f"no {MANIFEST}") from error


def _open(path: Path) -> int:
    try:
        return os.open(path, FOLDER)
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno or 0).lower() if isinstance(error, OSError) else "not a valid path"
        raise StoreError(f"{path} is not an index: {reason}") from error


# Write an index: build it in a folder with a random name and rename the folder when it is complete.
#
# The folder is next to the target and locked (`core.new_folders`), so a second build of the same index is
# refused. The lock ends with its process: a killed build leaves the old index (or none) and a folder that the
# next build removes.


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
        old = os.open(self.target, WORK_FOLDER)
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
        lock = os.open(backup, WORK_FOLDER)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(backup) if _exists(target) else backup.rename(target)
        finally:
            os.close(lock)


def _build_running(target: Path) -> BuildRunning:
    return BuildRunning(f"another process is building {target}: wait until it has finished, or choose another path")


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
        raise StoreError(f"{target} exists and is not an index: it will not be overwritten; choose another path")


def write_error(error: OSError, target: Path, size: int | None) -> StoreError:
    """Error about an index that cannot be written; size = bytes that it needs, if known."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        needed = "" if size is None else f"the index needs {size / 1e6:,.1f} MB; "
        return StoreError(f"not enough disk space in {target.parent}: {needed}free some, or choose another path")
    return StoreError(f"{target} cannot be written: {error.strerror or error}")
