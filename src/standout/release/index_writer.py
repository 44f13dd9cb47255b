"""Write an index: build it in a hidden folder and rename the folder when it is complete.

The hidden folder is `.NAME.building`, next to the target NAME. It is locked, so that two builds cannot mix.
The lock ends with its process: a killed build leaves the old index (or none) and a folder that the next
build removes.
"""

import errno
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from standout.core.errors import BuildRunning, StoreError
from standout.core.exchange import backup_path, exchange
from standout.core.private_files import open_private
from standout.core.progress import Progress, no_progress
from standout.release.flat_arrays import array_bytes, fingerprint_from_digests, release_columns
from standout.release.manifest import FORMAT, MANIFEST, Column, Manifest
from standout.release.model import Release

__all__ = ["IndexWriter", "is_index", "open_index_writer"]

PIECE = 1 << 24
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def is_index(path: Path) -> bool:
    """Whether a path is a folder with a Standout manifest, damaged or not."""
    try:
        with (path / MANIFEST).open("rb") as file:
            return f'"{FORMAT}"'.encode() in file.read()
    except (OSError, ValueError):
        return False


@dataclass(slots=True)
class IndexWriter:
    """An index being written."""

    target: Path
    folder: Path
    lock: int

    def write(self, release: Release, progress: Progress = no_progress) -> None:
        """Write the columns and the manifest, then move the index to its target."""
        arrays = release_columns(release)
        total = sum(array.nbytes for array in arrays.values())
        self._reserve(arrays, total)
        done, columns = 0, {}
        for name, array in arrays.items():
            columns[name] = _write_column(self.folder, name, array, done, total, progress)
            done += array.nbytes
        digests = {name: column.sha256 for name, column in columns.items()}
        manifest = Manifest.of(release, columns, fingerprint_from_digests(digests, release.clock))
        with open_private(self.folder / MANIFEST) as file:
            _write_all(file, memoryview(manifest.to_json()))
            os.fsync(file)
        _sync(self.folder)
        self._publish()

    def _reserve(self, arrays: dict[str, NDArray[Any]], total: int) -> None:
        """Reserve the disk space before anything is written."""
        try:
            for name, array in arrays.items():
                with open_private(self.folder / f"{name}.bin") as file:
                    if array.nbytes and hasattr(os, "posix_fallocate"):
                        os.posix_fallocate(file, 0, array.nbytes)
        except OSError as error:
            raise _write_error(error, self.target, total) from error

    def _publish(self) -> None:
        """Rename the folder to its target; exchange it with an old index and remove that.

        The old index is locked first, because after the exchange it is where the next build would begin.
        """
        _check_target(self.target)  # again: it may have appeared in the meantime
        if not self.target.exists():
            self.folder.rename(self.target)
            fcntl.flock(self.lock, fcntl.LOCK_UN)
        else:
            old = os.open(self.target, FOLDER)
            try:
                fcntl.flock(old, fcntl.LOCK_EX)
                exchange(self.folder, self.target)
                fcntl.flock(self.lock, fcntl.LOCK_UN)
                shutil.rmtree(self.folder, ignore_errors=True)
            finally:
                os.close(old)
        _sync(self.target.parent)


@contextmanager
def open_index_writer(path: str | Path) -> Iterator[IndexWriter]:
    """Yield a writer; the target is checked and locked before the long work, and cleaned up if it fails."""
    target = _absolute(path)
    folder = target.with_name(f".{target.name}.building")
    try:
        _recover(target)
        _check_target(target)
        lock = _lock_empty(folder, target)
    except OSError as error:
        raise _write_error(error, target, None) from error
    try:
        yield IndexWriter(target, folder, lock)
    except OSError as error:
        raise _write_error(error, target, None) from error
    finally:
        if _same_folder(lock, folder):
            shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _absolute(path: str | Path) -> Path:
    target = Path(path).absolute()
    if not target.name or "\0" in str(target):
        raise StoreError(f"{target!s:.100} is not a valid name for an index: choose another path")
    return target


def _recover(target: Path) -> None:
    """Repair what a build left that was killed in the middle of an exchange, unless a build is running."""
    backup = backup_path(target)
    if backup.is_symlink() or not is_index(backup):
        return
    lock = _lock(backup, target)
    try:
        shutil.rmtree(backup) if target.exists() else backup.rename(target)
    finally:
        os.close(lock)


def _check_target(target: Path) -> None:
    if not target.parent.is_dir():
        raise StoreError(f"{target.parent} is not a folder: create it, or choose another path")
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise StoreError(f"{target} exists and is not a folder: choose another path")
    if target.is_dir() and any(target.iterdir()) and not is_index(target):
        raise StoreError(
            f"{target} exists and is not an index: it will not be overwritten; choose another path"
        )


def _lock_empty(folder: Path, target: Path) -> int:
    """Create, lock and empty the folder; return the lock."""
    while True:
        folder.mkdir(mode=0o700, exist_ok=True)
        try:
            lock = _lock(folder, target)
        except FileNotFoundError:
            continue  # another build has just renamed it
        if _same_folder(lock, folder):
            break
        os.close(lock)
    os.fchmod(lock, 0o700)
    for leftover in folder.iterdir():  # of a build that was killed
        if leftover.is_dir() and not leftover.is_symlink():
            shutil.rmtree(leftover)
        else:
            leftover.unlink()
    return lock


def _lock(folder: Path, target: Path) -> int:
    """Lock the folder itself, not its name; the lock ends with the process."""
    lock = os.open(folder, FOLDER | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise BuildRunning(
            f"another process is building {target}: wait until it has finished, or choose another path"
        ) from error
    return lock


def _same_folder(lock: int, folder: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock), folder.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def _write_column(
    folder: Path, name: str, array: NDArray[Any], done: int, total: int, progress: Progress
) -> Column:
    checksum, content = hashlib.sha256(), array_bytes(array)
    with open_private(folder / f"{name}.bin") as file:
        for position in range(0, len(content), PIECE):
            piece = content[position : position + PIECE]
            checksum.update(piece)
            _write_all(file, piece)
            progress("writing", done + position, total)
        os.fsync(file)
    return Column(f"{name}.bin", array.dtype.name, len(array), array.nbytes, checksum.hexdigest())


def _write_all(file: int, piece: memoryview) -> None:
    while piece:
        piece = piece[os.write(file, piece) :]


def _sync(folder: Path) -> None:
    file = os.open(folder, FOLDER)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _write_error(error: OSError, target: Path, size: int | None) -> StoreError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        needed = "" if size is None else f"the index needs {size / 1e6:,.1f} MB; "
        return StoreError(
            f"not enough disk space in {target.parent}: {needed}free some, or choose another path"
        )
    return StoreError(f"{target} cannot be written: {error.strerror or error}")
