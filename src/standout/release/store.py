"""The index on disk: a folder of flat columns, mapped into memory, and a manifest that vouches for them.

    manifest.json          format, fingerprint, sizes, how it was read, and each column's type and SHA-256
    by-record-item.bin …   one raw little-endian array a file, nothing else in it

docs/index-format.md describes it file by file; `building.py` writes it.
"""

import hashlib
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import StoreError
from standout.core.progress import Progress, no_progress
from standout.release.flat_arrays import fingerprint_from_digests, release_fields
from standout.release.index_writer import is_index, open_index_writer
from standout.release.manifest import MANIFEST, Column, Manifest
from standout.release.model import Release, read_only
from standout.release.postings import block_starts, mismatched_column

__all__ = ["is_index", "open_index", "save", "verify"]


def save(release: Release, path: str | Path, progress: Progress = no_progress) -> None:
    """Writes a release as an index; an index that is there already is replaced in one step.

    >>> import standout as so, tempfile
    >>> release = so.synthesize(records=10, items=10, entries=40, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     so.save(release, f"{folder}/demo")
    ...     so.open(f"{folder}/demo").fingerprint == release.fingerprint
    True
    """
    with open_index_writer(path) as index:
        index.write(release, progress)


def open_index(path: str | Path) -> Release:
    """The release in an index. Its columns are mapped: only what is touched is loaded.

    >>> import standout as so
    >>> so.open("nowhere.index")
    Traceback (most recent call last):
    standout.core.errors.StoreError: nowhere.index is not an index: no such file or directory
    """
    path = Path(path)
    with _folder(path) as folder:
        manifest = _manifest(folder, path)
        stored = {name: _mapped(folder, path, column) for name, column in manifest.columns.items()}
    return _release(manifest, stored, path)


def verify(path: str | Path, progress: Progress = no_progress) -> Iterator[tuple[str, bool]]:
    """(file, is it whole) for every file of an index, by its checksum.

    >>> import standout as so, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     so.save(so.synthesize(records=10, items=10, entries=40, seed=7), f"{folder}/demo")
    ...     all(whole for file, whole in so.verify(f"{folder}/demo"))
    True
    """
    path = Path(path)
    with _folder(path) as folder:
        manifest = _manifest(folder, path)
        total = sum(column.bytes for column in manifest.columns.values())
        done = 0
        for column in manifest.columns.values():
            progress("checking", done, total)
            yield column.file, _digest_file(folder, column.file) == column.sha256
            done += column.bytes
        digests = {name: column.sha256 for name, column in manifest.columns.items()}
        yield MANIFEST, fingerprint_from_digests(digests, manifest.clock) == manifest.fingerprint


@contextmanager
def _folder(path: Path) -> Iterator[int]:
    """The folder itself: a new index put in its place meanwhile cannot mix with what is read from here."""
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno or 0).lower() if isinstance(error, OSError) else "no such name"
        raise StoreError(f"{path} is not an index: {reason}") from error
    try:
        yield folder
    finally:
        os.close(folder)


def _manifest(folder: int, path: Path) -> Manifest:
    try:
        with os.fdopen(os.open(MANIFEST, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder), "rb") as file:
            content = file.read()
    except OSError as error:
        raise StoreError(f"{path} is not an index: it has no readable {MANIFEST}") from error
    return Manifest.from_json(content, path)


def _mapped(folder: int, path: Path, column: Column) -> NDArray[Any]:
    """A column, mapped read-only, after a look at its size."""
    try:
        file = os.open(column.file, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        raise StoreError(f"{path} is damaged: {column.file} cannot be read") from error
    try:
        size = os.fstat(file).st_size
        if size != column.bytes:
            raise StoreError(
                f"{path} is damaged: {column.file} has {size:,} bytes instead of {column.bytes:,}"
            )
        if size == 0:
            return read_only(np.empty(0, column.type))
        content = mmap.mmap(file, size, prot=mmap.PROT_READ)
        return np.frombuffer(content, np.dtype(column.type).newbyteorder("<"))
    except OSError as error:
        raise StoreError(f"{path}: {column.file} cannot be mapped: {error.strerror}") from error
    finally:
        os.close(file)


def _release(manifest: Manifest, stored: dict[str, NDArray[Any]], path: Path) -> Release:
    """The release of the columns, after a check that they fit together."""
    try:
        fields = release_fields(stored, manifest.words.value_bits, manifest.words.time_bits)
    except (KeyError, ValueError) as error:
        raise StoreError(f"{path} is damaged: a column is missing or does not fit") from error
    for name, (count, last) in _ends(manifest, stored).items():
        start = stored[name]
        if len(start) != count + 1 or start[0] != 0 or start[-1] != last or bool((np.diff(start) < 0).any()):
            raise _misfit(path, name)
    by_record, by_item = fields["by_record"], fields["by_item"]
    entries = (*by_record[1:], by_item.word)
    if any(column is not None and len(column) != manifest.entries for column in entries):
        raise StoreError(f"{path} is damaged: its columns are of different lengths")
    if odd := mismatched_column(by_item, len(block_starts(manifest.records))):
        raise _misfit(path, f"by-item-{odd}")
    return Release(
        **fields,
        clock=manifest.clock,
        provenance=manifest.read,
        stored_fingerprint=manifest.fingerprint,
    )


def _misfit(path: Path, name: str) -> StoreError:
    return StoreError(f"{path} is damaged: {name}.bin does not fit its other files; run standout verify")


def _ends(manifest: Manifest, stored: dict[str, NDArray[Any]]) -> dict[str, tuple[int, int]]:
    """How many groups each array of offsets has, and where the last one ends."""
    ends = {
        "by-record-start": (manifest.records, manifest.entries),
        "by-item-start": (manifest.items, manifest.entries),
        "by-item-run": (manifest.items, len(stored["by-item-block"])),
        "record-id-offsets": (manifest.records, len(stored["record-ids"])),
        "item-id-offsets": (manifest.items, len(stored["item-ids"])),
    }
    if "titles" in stored:
        ends["title-offsets"] = (manifest.items, len(stored["titles"]))
    if "level-texts" in stored:
        ends["level-offsets"] = (len(stored["level-offsets"]) - 1, len(stored["level-texts"]))
    return ends


def _digest_file(folder: int, name: str) -> str:
    try:
        with os.fdopen(os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
