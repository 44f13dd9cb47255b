"""Save and open the index on disk: a folder of flat columns that are mapped into memory, and a manifest.

    manifest.json          format, fingerprint, sizes, provenance, and the type and SHA-256 of each column
    by-record-item.bin …   one raw little-endian array per file

docs/index-format.md describes every file.

An index is built in a locked folder with a random name next to its target and renamed when it is complete, so a
second build of the same index is refused, and a killed one leaves the old index (or none) and a folder that the
next build removes. A replaced index is removed file by file, so a reader that has its folder open can miss files.
The reader sees then that the path leads to another folder, and begins again there: it gets the old index or the
new one.
"""

import errno
import fcntl
import hashlib
import mmap
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import BuildRunning, ParameterError, StoreError
from standout.core.files import (
    FOLDER,
    PUBLISHED,
    exchange,
    identity,
    is_at,
    new_folder,
    open_private,
    random_name,
    siblings,
    write_all,
)
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.core.threads import drop_pages
from standout.data.manifest import (
    FORMAT,
    MANIFEST,
    Column,
    Manifest,
    array_bytes,
    damage,
    damaged_column,
    fingerprint_from_digests,
    release_columns,
)
from standout.data.release import Release

T = TypeVar("T")
PIECE = 1 << 24
HEAD = 1 << 16
BACKUP = ".old"
READ = os.O_RDONLY | os.O_CLOEXEC
SMALL = 1 << 22
"""Largest column in bytes whose checksum is tested at opening; all are before anything is reported."""


@with_progress
def save(release: Release, path: str | Path, progress: ProgressOption = no_progress) -> None:
    """Save a release as an index; an existing index is replaced in one step.

    Parameters
    ----------
    path : str or Path
        Folder of the index. It must be new, empty, or an index.
    progress : bool or callable, optional
        True shows a bar; a function is called with (stage, done, total).

    Raises
    ------
    ParameterError
        If the release has columns, which an index does not hold.
    StoreError
        If the folder is not an index, the disk is full, or another process is building the same index.

    Examples
    --------
    >>> import standout as so, tempfile
    >>> release = so.synthesize(records=10, items=10, entries=40, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     so.save(release, f"{folder}/demo")
    ...     so.open(f"{folder}/demo").fingerprint == release.fingerprint
    True
    """
    if release.columns:
        raise ParameterError("release must have no columns: an index holds entries only")
    with open_index_writer(path) as index:
        index.write(release, progress)


def open_index(path: str | Path) -> Release:
    """Open an index. Its columns are mapped into memory, so that only the parts in use are loaded.

    The checksums of columns up to 4 MiB are tested here. `Release.check` tests all. Functions that report
    about all entries (`audit`, `simulate`, `link`, `advise`, `sanitize` and others) call it first.

    Raises
    ------
    StoreError
        If the path is not an index, or the index is damaged or of another version.

    Examples
    --------
    >>> import standout as so
    >>> so.open("nowhere.index")
    Traceback (most recent call last):
    standout.core.errors.StoreError: nowhere.index is not an index: no such file or directory
    """
    path = Path(path)

    def read(folder: int) -> Release:
        manifest = _read_manifest(folder, path)
        stored = {name: _map_column(folder, path, name, column) for name, column in manifest.columns.items()}
        small = {name: array for name, array in stored.items() if array.nbytes <= SMALL}
        if name := damaged_column(small, {name: manifest.columns[name].sha256 for name in small}):
            raise damage(path, f"{name}.bin does not match its checksum")
        return manifest.release(path, stored)

    return _read_folder(path, read)


def verify(path: str | Path, progress: Progress = no_progress) -> Iterator[tuple[str, bool]]:
    """Compare every file of an index with its checksum; StoreError if its manifest cannot be read.

    Yields
    ------
    file : str
        Name of a file of the index.
    intact : bool
        Whether its content matches its checksum.

    Examples
    --------
    >>> import standout as so, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     so.save(so.synthesize(records=10, items=10, entries=40, seed=7), f"{folder}/demo")
    ...     all(intact for file, intact in so.verify(f"{folder}/demo"))
    True
    """
    path = Path(path)
    with ExitStack() as opened:

        def open_all(folder: int) -> tuple[Manifest, dict[str, BufferedReader | None]]:
            """Open every file before the first is read: the index may be replaced in the meantime."""
            manifest, files = _read_manifest(folder, path), dict[str, BufferedReader | None]()
            for name in manifest.columns:
                try:
                    files[name] = opened.enter_context(os.fdopen(_open_file(folder, f"{name}.bin"), "rb"))
                except OSError:
                    files[name] = None
            if None in files.values() and not _leads_to(path, folder):
                raise StoreError("replaced")
            return manifest, files

        manifest, files = _read_folder(path, open_all)
        done, total = 0, sum(column.bytes for column in manifest.columns.values())
        for name, column in manifest.columns.items():
            progress("checking", done, total)
            is_intact, file = False, files[name]
            with suppress(OSError):
                is_intact = file is not None and hashlib.file_digest(file, "sha256").hexdigest() == column.sha256
            yield f"{name}.bin", is_intact
            done += column.bytes
        digests = {name: column.sha256 for name, column in manifest.columns.items()}
        yield MANIFEST, fingerprint_from_digests(digests, manifest.clock) == manifest.fingerprint


def is_index(path: Path) -> bool:
    """Whether a path is a folder with a Standout manifest, damaged or not."""

    def has_manifest(folder: int) -> bool:
        with os.fdopen(_open_file(folder, MANIFEST), "rb") as file:
            return f'"{FORMAT}"'.encode() in file.read(HEAD)

    try:
        return _read_folder(path, has_manifest)
    except (StoreError, OSError):
        return False


def _read_folder(path: Path, read: Callable[[int], T]) -> T:
    """Return read(folder), called again if the index was replaced meanwhile; folder is a descriptor."""
    while True:
        try:
            folder = os.open(path, READ | os.O_DIRECTORY)
        except (OSError, ValueError) as error:
            reason = os.strerror(error.errno or 0).lower() if isinstance(error, OSError) else "not a valid path"
            raise StoreError(f"{path} is not an index: {reason}") from error
        try:
            return read(folder)
        except (StoreError, OSError):
            if _leads_to(path, folder):
                raise
        finally:
            os.close(folder)


def _leads_to(path: Path, folder: int) -> bool:
    """Whether a path leads to the folder of a descriptor, also through links."""
    try:
        return os.path.samestat(os.fstat(folder), path.stat())
    except OSError:
        return False


def _open_file(folder: int, name: str) -> int:
    """Open a file of an index for reading. A pipe does not block."""
    return os.open(name, READ | os.O_NONBLOCK, dir_fd=folder)


def _read_manifest(folder: int, path: Path) -> Manifest:
    try:
        with os.fdopen(_open_file(folder, MANIFEST), "rb") as file:
            content = file.read()
    except OSError as error:
        raise StoreError(f"{path} is not an index: its {MANIFEST} is missing or cannot be read") from error
    return Manifest.from_json(content, path)


def _map_column(folder: int, path: Path, name: str, column: Column) -> NDArray[Any]:
    """Map a column read-only, after a check of its size."""
    try:
        file = _open_file(folder, f"{name}.bin")
    except OSError as error:
        raise damage(path, f"{name}.bin is missing or cannot be read") from error
    try:
        size = os.fstat(file).st_size
        if size != column.bytes:
            raise damage(path, f"{name}.bin has {size:,} bytes instead of {column.bytes:,}")
        content = mmap.mmap(file, size, access=mmap.ACCESS_READ) if size else b""
        return np.frombuffer(content, np.dtype(column.type).newbyteorder("<"))
    except OSError as error:
        raise StoreError(f"cannot map {name}.bin of {path} into memory: {error.strerror}") from error
    finally:
        os.close(file)


# Write an index.


class IndexWriter(NamedTuple):
    """An index being written in a folder of its own, which then moves to its target."""

    target: Path
    folder: Path

    def write(self, release: Release, progress: Progress = no_progress) -> None:
        """Write the columns and the manifest, then move the index to its target."""
        columns, written, done = release_columns(release), dict[str, Column](), 0
        total = sum(column.nbytes for column in columns.values())
        try:
            for name, column in columns.items():  # reserve the disk space before anything is written
                with open_private(self.folder / f"{name}.bin") as file:
                    if column.nbytes and hasattr(os, "posix_fallocate"):
                        os.posix_fallocate(file, 0, column.nbytes)
            for name, column in columns.items():
                checksum, content = hashlib.sha256(), array_bytes(column)
                with open_private(self.folder / f"{name}.bin") as file:
                    for position in range(0, len(content), PIECE):
                        piece = content[position : position + PIECE]
                        checksum.update(piece)
                        write_all(file, piece)
                        progress("writing", done + position, total)
                        drop_pages()
                    os.fsync(file)
                written[name] = Column(column.dtype.name, len(column), checksum.hexdigest())
                done += column.nbytes
        except OSError as error:
            raise _write_error(error, self.target, total) from error
        digests = {name: column.sha256 for name, column in written.items()}
        manifest = Manifest.of(release, written, fingerprint_from_digests(digests, release.clock))
        with open_private(self.folder / MANIFEST) as file:
            write_all(file, memoryview(manifest.to_json()))
            os.fsync(file)
        _sync_folder(self.folder)
        PUBLISHED.append((self.target, self.folder.lstat()))
        if _exists(self.target):
            self._exchange()
        else:
            self.folder.rename(self.target)
        _sync_folder(self.target.parent)

    def _exchange(self) -> None:
        """Exchange the folder with the old index, which is locked, and remove that."""
        _check_target(self.target)  # again: it may have appeared in the meantime
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
    target = Path(path).absolute()
    if not target.name or "\0" in str(target):
        raise StoreError(f"{target!s:.100} is not a valid name for an index: choose another path")
    running = BuildRunning(f"another process is building {target}: wait until it has finished, or choose another path")
    with ExitStack() as stack:
        try:
            _check_target(target)
            folder = stack.enter_context(new_folder(target))
            if folder is None:
                raise running
            for backup in siblings(target, BACKUP):  # of a build that was killed between three renames
                with suppress(FileNotFoundError):
                    lock = os.open(backup, FOLDER)
                    stack.callback(os.close, lock)
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(backup) if _exists(target) else backup.rename(target)
        except BlockingIOError as error:
            raise running from error
        except OSError as error:
            raise _write_error(error, target, None) from error
        try:
            yield IndexWriter(target, folder)
        except OSError as error:
            raise _write_error(error, target, None) from error


def _exists(path: Path) -> bool:
    """Whether there is anything at a path; an OSError if its name is too long."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


def _check_target(target: Path) -> None:
    """Raise StoreError unless an index can be written to a path."""
    if not target.parent.is_dir():
        raise StoreError(f"{target.parent} is not a folder: create it, or choose another path")
    if _exists(target) and (target.is_symlink() or not target.is_dir()):
        raise StoreError(f"{target} exists and is not a folder: choose another path")
    if target.is_dir() and any(target.iterdir()) and not is_index(target):
        raise StoreError(f"{target} exists and is not an index: it will not be overwritten; choose another path")


def _sync_folder(folder: Path) -> None:
    """Wait until the names of a folder's files are on the disk."""
    file = os.open(folder, FOLDER)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _write_error(error: OSError, target: Path, size: int | None) -> StoreError:
    """Error about an index that cannot be written; size = bytes that it needs, if known."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        needed = "" if size is None else f"the index needs {size / 1e6:,.1f} MB; "
        return StoreError(f"not enough disk space in {target.parent}: {needed}free some, or choose another path")
    return StoreError(f"{target} cannot be written: {error.strerror or error}")


# A release as workers know it: the path of an index that all of them can read, and its fingerprint.


BOOT = Path("/proc/sys/kernel/random/boot_id")
MOST_OPENED = 4
"""Number of indexes that a worker keeps open."""


class SharedIndex(NamedTuple):
    """An index for workers: its path, its fingerprint, and which file on which machine was checked."""

    path: str
    fingerprint: str
    checked: tuple[str | int, ...]

    @classmethod
    def of(cls, release: Release) -> "SharedIndex | None":
        """The index that a release was opened from; None if it is in memory only or was changed since."""
        if type(release) is not Release or release.stored is None:
            return None
        path = str(release.stored.path.absolute())
        return cls(path, release.stored.fingerprint, _file_identity(path))

    @staticmethod
    def size(release: Release) -> int:
        """Bytes of the columns of an open index."""
        return 0 if release.stored is None else sum(column.nbytes for column in release.stored.arrays.values())

    @lru_cache(MOST_OPENED)  # noqa: B019 - it is bounded
    def open(self) -> Release:
        """The release. A process opens it once, and checks it unless it is the very files checked before.

        StoreError if there is no such index here, it is damaged, or it is another release.
        """
        release = open_index(self.path)
        if release.fingerprint != self.fingerprint:
            raise StoreError(
                f"{self.path} is another release than the one to work on: its fingerprint differs; give all "
                "workers the same index at the same path"
            )
        return release if _file_identity(self.path) == self.checked else release.check()


def _file_identity(path: str) -> tuple[str | int, ...]:
    """The running machine, and device and number of the manifest: equal for the same file only."""
    try:
        machine = BOOT.read_text(encoding="ascii").strip()
    except OSError:
        machine = socket.gethostname()
    return machine, *identity(Path(path) / MANIFEST)
