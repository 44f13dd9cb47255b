"""The index on disk: a folder of flat columns, mapped into memory, and a manifest that vouches for them.

    manifest.json          format, fingerprint, sizes, how it was read, and each column's type and SHA-256
    by-record-item.bin …   one raw little-endian array a file, nothing else in it

It is written to `.NAME.building` beside its target NAME and put in place with one rename. The
folder being written is locked, so that two builds cannot mix, and the lock goes with the process that
holds it: a killed build leaves the old index (or none) and a folder that the next build clears away.
"""

import errno
import fcntl
import hashlib
import json
import mmap
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout._version import __version__
from standout.errors import BuildRunning, StoreError
from standout.release.clock import Clock
from standout.release.columns import columns, fingerprint_of, from_columns, raw
from standout.release.exchange import exchange
from standout.release.model import Release, frozen
from standout.release.progress import Progress, quiet
from standout.release.provenance import Provenance

__all__ = ["FORMAT", "VERSION", "Building", "building", "is_index", "open_index", "save", "verify"]

FORMAT = "standout index"
VERSION = 1
MANIFEST = "manifest.json"
PIECE = 1 << 24
OWNER_ONLY = 0o600
TYPES = {"uint8", "uint16", "uint32", "uint64", "int64", "float64"}


def is_index(path: Path) -> bool:
    """Whether a path is a folder with a manifest in it."""
    return (path / MANIFEST).is_file()


def save(release: Release, path: str | Path, progress: Progress = quiet) -> None:
    """Writes a release as an index; an index that is there already is replaced in one step.

    >>> import standout as so, tempfile
    >>> release = so.synthesize(records=10, items=10, entries=40, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     so.save(release, f"{folder}/demo")
    ...     so.open(f"{folder}/demo").fingerprint == release.fingerprint
    True
    """
    with building(path) as index:
        index.write(release, progress)


def open_index(path: str | Path) -> Release:
    """The release in an index. Its columns are mapped: only what is touched is loaded."""
    path = Path(path)
    fd = _open_folder(path)
    try:
        manifest = _manifest(fd, path)
        stored = {name: _mapped(fd, path, name, told) for name, told in manifest["columns"].items()}
    finally:
        os.close(fd)
    return _release(manifest, stored, path)


def verify(path: str | Path, progress: Progress = quiet) -> Iterator[tuple[str, bool]]:
    """(file, is it whole) for every file of an index, by its checksum."""
    path = Path(path)
    fd = _open_folder(path)
    try:
        manifest = _manifest(fd, path)
        total = sum(told["bytes"] for told in manifest["columns"].values())
        done, digests = 0, {}
        for name, told in manifest["columns"].items():
            progress("checking", done, total)
            digests[name] = _digest_file(fd, told["file"])
            done += told["bytes"]
            yield told["file"], digests[name] == told["sha256"]
        clock = None if manifest["clock"] is None else Clock(**manifest["clock"])
        yield MANIFEST, fingerprint_of(digests, clock) == manifest["fingerprint"]
    finally:
        os.close(fd)


@dataclass(slots=True)
class Building:
    """An index being written, out of sight until it is whole."""

    target: Path
    folder: Path

    def write(self, release: Release, progress: Progress = quiet) -> None:
        """Writes the columns and the manifest, and puts the index in place."""
        named = columns(release)
        total = sum(array.nbytes for array in named.values())
        self._reserve(named, total)
        done, told = 0, {}
        for name, array in named.items():
            told[name] = _write_column(self.folder, name, array, done, total, progress)
            done += array.nbytes
        digests = {name: column["sha256"] for name, column in told.items()}
        _write_manifest(self.folder, release, told, fingerprint_of(digests, release.clock))
        _sync(self.folder)
        self._publish()

    def _reserve(self, named: dict[str, NDArray[Any]], total: int) -> None:
        """Takes the space before anything is written."""
        try:
            for name, array in named.items():
                with _created(self.folder / f"{name}.bin") as file:
                    if array.nbytes and hasattr(os, "posix_fallocate"):
                        os.posix_fallocate(file, 0, array.nbytes)
        except OSError as error:
            raise _write_error(error, self.target, total) from error

    def _publish(self) -> None:
        """One rename; if an old index is there the two change places, and the old one is removed."""
        if not self.target.exists():
            self.folder.rename(self.target)
        else:
            exchange(self.folder, self.target)
            shutil.rmtree(self.folder, ignore_errors=True)
        _sync(self.target.parent)


@contextmanager
def building(path: str | Path) -> Iterator[Building]:
    """A place to build an index in; checked and locked before the long work starts, cleared if it fails."""
    target = Path(path).absolute()
    _check_target(target)
    folder = target.with_name(f".{target.name}.building")
    lock = _locked(folder, target)
    try:
        yield Building(target, folder)
    except OSError as error:
        raise _write_error(error, target, None) from error
    finally:
        if folder.exists() and _same_folder(lock, folder):
            shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _check_target(target: Path) -> None:
    if not target.parent.is_dir():
        raise StoreError(f"{target.parent} is not a folder")
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise StoreError(f"{target} exists and is not a folder: name another place")
    if target.is_dir() and any(target.iterdir()) and not is_index(target):
        raise StoreError(f"{target} exists and is not an index: it will not be overwritten")


def _locked(folder: Path, target: Path) -> int:
    """The folder, made, locked and empty. The lock is on the folder itself and ends with the process."""
    while True:
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # another build has just moved it into place
        except OSError as error:
            raise _write_error(error, target, None) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            raise BuildRunning(
                f"another build of {target} is running: wait for it, or name another place"
            ) from error
        if _same_folder(lock, folder):
            break
        os.close(lock)
    for left in folder.iterdir():  # of a build that was killed
        left.unlink() if not left.is_dir() else shutil.rmtree(left)
    return lock


def _same_folder(lock: int, folder: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock), folder.stat())
    except FileNotFoundError:
        return False


@contextmanager
def _created(path: Path) -> Iterator[int]:
    """A file of ours, opened for writing, that only its owner can read."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY)
    try:
        yield fd
    finally:
        os.close(fd)


def _write_column(
    folder: Path, name: str, array: NDArray[Any], done: int, total: int, progress: Progress
) -> dict[str, Any]:
    checksum = hashlib.sha256()
    content = raw(array)
    with _created(folder / f"{name}.bin") as file:
        for at in range(0, len(content), PIECE):
            piece = content[at : at + PIECE]
            checksum.update(piece)
            _write_all(file, piece)
            progress("writing", done + at, total)
        os.fsync(file)
    return {
        "file": f"{name}.bin",
        "type": array.dtype.name,
        "length": len(array),
        "bytes": array.nbytes,
        "sha256": checksum.hexdigest(),
    }


def _write_all(file: int, piece: memoryview) -> None:
    while piece:
        piece = piece[os.write(file, piece) :]


def _write_manifest(folder: Path, release: Release, told: dict[str, Any], fingerprint: str) -> None:
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "written by": f"standout {__version__}",
        "fingerprint": fingerprint,
        "records": release.n_records,
        "items": release.n_items,
        "entries": release.n_entries,
        "clock": None if release.clock is None else asdict(release.clock),
        "read": release.provenance.to_dict(),
        "columns": told,
    }
    manifest["checksum"] = _manifest_checksum(manifest)
    with _created(folder / MANIFEST) as file:
        _write_all(file, memoryview((json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode()))
        os.fsync(file)


def _manifest_checksum(manifest: dict[str, Any]) -> str:
    told = {key: part for key, part in manifest.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _open_folder(path: Path) -> int:
    """The folder itself: a new index put in its place meanwhile cannot mix with what is read from here."""
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise StoreError(f"{path} is not an index: {os.strerror(error.errno or 0).lower()}") from error


def _manifest(folder: int, path: Path) -> dict[str, Any]:
    try:
        with os.fdopen(os.open(MANIFEST, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder), "rb") as file:
            manifest = json.loads(file.read())
    except OSError as error:
        raise StoreError(f"{path} is not an index: it has no readable {MANIFEST}") from error
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path} is damaged: its {MANIFEST} cannot be read") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoreError(f"{path} is not an index of Standout")
    version = manifest.get("version")
    if isinstance(version, int) and version > VERSION:
        raise StoreError(
            f"{path} was written by a newer Standout (format {version}, this one reads {VERSION})"
        )
    if version != VERSION or manifest.get("checksum") != _manifest_checksum(manifest):
        raise StoreError(f"{path} is damaged: its {MANIFEST} does not match its checksum")
    return manifest


def _mapped(folder: int, path: Path, name: str, told: dict[str, Any]) -> NDArray[Any]:
    """A column, mapped read-only, after a look at its size."""
    try:
        fd = os.open(told["file"], os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        raise StoreError(f"{path} is damaged: {told['file']} cannot be read") from error
    try:
        size, wanted = os.fstat(fd).st_size, told["bytes"]
        if size != wanted:
            raise StoreError(f"{path} is damaged: {told['file']} has {size:,} bytes instead of {wanted:,}")
        if size == 0:
            return frozen(np.empty(0, told["type"]))
        return np.frombuffer(
            mmap.mmap(fd, size, prot=mmap.PROT_READ), np.dtype(told["type"]).newbyteorder("<")
        )
    finally:
        os.close(fd)


def _release(manifest: dict[str, Any], stored: dict[str, NDArray[Any]], path: Path) -> Release:
    """The release of the columns, after a check that they fit together."""
    try:
        fields = from_columns(stored)
    except KeyError as error:
        raise StoreError(f"{path} is damaged: it has no column {error}") from error
    n_records, n_items, n = manifest["records"], manifest["items"], manifest["entries"]
    starts = {
        "by-record-start": (n_records, n), "by-item-start": (n_items, n),
        "record-id-offsets": (n_records, len(stored["record-ids"])),
        "item-id-offsets": (n_items, len(stored["item-ids"])),
    }  # fmt: skip
    if "titles" in stored:
        starts["title-offsets"] = (n_items, len(stored["titles"]))
    for name, (count, last) in starts.items():
        start = stored[name]
        if len(start) != count + 1 or start[0] != 0 or start[-1] != last or bool((np.diff(start) < 0).any()):
            raise StoreError(
                f"{path} is damaged: {name}.bin does not fit its other files; run standout verify"
            )
    for side in (fields["by_record"], fields["by_item"]):
        if any(column is not None and len(column) != n for column in side[1:]):
            raise StoreError(f"{path} is damaged: its columns are of different lengths")
    return Release(
        **fields,
        clock=None if manifest["clock"] is None else Clock(**manifest["clock"]),
        provenance=Provenance.from_dict(manifest["read"]),
        known_fingerprint=manifest["fingerprint"],
    )


def _digest_file(folder: int, name: str) -> str:
    try:
        with os.fdopen(os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _write_error(error: OSError, target: Path, size: int | None) -> StoreError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        needs = "" if size is None else f": the index needs {size / 1e6:,.1f} MB"
        return StoreError(f"there is not enough space at {target.parent}{needs}")
    return StoreError(f"{target} cannot be written: {error.strerror or error}")
