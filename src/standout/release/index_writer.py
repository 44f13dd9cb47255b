"""Writing an index: out of sight until it is whole, put in place with one rename.

It is built in `.NAME.building` beside its target NAME. That folder is locked, so that two builds cannot
mix, and the lock goes with the process that holds it: a killed build leaves the old index (or none) and a
folder that the next build clears away.
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
    """Whether a path is a folder with a manifest of ours in it, whole or not."""
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
        """Writes the columns and the manifest, and puts the index in place."""
        named = release_columns(release)
        total = sum(array.nbytes for array in named.values())
        self._reserve(named, total)
        done, told = 0, {}
        for name, array in named.items():
            told[name] = _write_column(self.folder, name, array, done, total, progress)
            done += array.nbytes
        digests = {name: column.sha256 for name, column in told.items()}
        manifest = Manifest.of(release, told, fingerprint_from_digests(digests, release.clock))
        with open_private(self.folder / MANIFEST) as file:
            _write_all(file, memoryview(manifest.to_json()))
            os.fsync(file)
        _sync(self.folder)
        self._publish()

    def _reserve(self, named: dict[str, NDArray[Any]], total: int) -> None:
        """Takes the space before anything is written."""
        try:
            for name, array in named.items():
                with open_private(self.folder / f"{name}.bin") as file:
                    if array.nbytes and hasattr(os, "posix_fallocate"):
                        os.posix_fallocate(file, 0, array.nbytes)
        except OSError as error:
            raise _write_error(error, self.target, total) from error

    def _publish(self) -> None:
        """One rename; if an old index is there the two change places, and the old one is removed.

        The old one is locked first: from then on it stands where the next build would begin.
        """
        _check_target(self.target)  # once more: it may have come meanwhile
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
    """A place to build an index in; checked and locked before the long work starts, cleared if it fails."""
    target = _named(path)
    folder = target.with_name(f".{target.name}.building")
    try:
        _recover(target)
        _check_target(target)
        lock = _locked(folder, target)
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


def _named(path: str | Path) -> Path:
    target = Path(path).absolute()
    if not target.name or "\0" in str(target):
        raise StoreError(f"{target!s:.100} cannot be the name of an index")
    return target


def _recover(target: Path) -> None:
    """Mends what a build killed in the middle of an exchange left behind; one that lives has it locked."""
    old = backup_path(target)
    if old.is_symlink() or not is_index(old):
        return
    lock = _flocked(old, target)
    try:
        shutil.rmtree(old) if target.exists() else old.rename(target)
    finally:
        os.close(lock)


def _check_target(target: Path) -> None:
    if not target.parent.is_dir():
        raise StoreError(f"{target.parent} is not a folder")
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise StoreError(f"{target} exists and is not a folder: name another place")
    if target.is_dir() and any(target.iterdir()) and not is_index(target):
        raise StoreError(f"{target} exists and is not an index: it will not be overwritten")


def _locked(folder: Path, target: Path) -> int:
    """The folder, made, locked and empty."""
    while True:
        folder.mkdir(mode=0o700, exist_ok=True)
        try:
            lock = _flocked(folder, target)
        except FileNotFoundError:
            continue  # another build has just moved it into place
        if _same_folder(lock, folder):
            break
        os.close(lock)
    os.fchmod(lock, 0o700)
    for left in folder.iterdir():  # of a build that was killed
        shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
    return lock


def _flocked(folder: Path, target: Path) -> int:
    """A lock on the folder itself, whatever it is called later; it ends with the process."""
    lock = os.open(folder, FOLDER | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise BuildRunning(
            f"another build of {target} is running: wait for it, or name another place"
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
        for at in range(0, len(content), PIECE):
            piece = content[at : at + PIECE]
            checksum.update(piece)
            _write_all(file, piece)
            progress("writing", done + at, total)
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
        needs = "" if size is None else f": the index needs {size / 1e6:,.1f} MB"
        return StoreError(f"there is not enough space at {target.parent}{needs}")
    return StoreError(f"{target} cannot be written: {error.strerror or error}")
