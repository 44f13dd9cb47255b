"""Save and open the index on disk: a folder of flat columns that are mapped into memory, and a manifest.

    manifest.json          format, fingerprint, sizes, provenance, and the type and SHA-256 of each column
    by-record-item.bin …   one raw little-endian array per file

docs/index-format.md describes every file; `index_writer` writes them.
"""

import hashlib
import mmap
import os
from collections.abc import Iterator
from contextlib import ExitStack
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core import bus_errors
from standout.core.errors import StoreError
from standout.core.progress import Progress, no_progress
from standout.release.flat_arrays import Columns, array_fields, fingerprint_from_digests, run_columns
from standout.release.index_folder import is_index, leads_to, open_file, read_folder
from standout.release.index_writer import open_index_writer
from standout.release.integrity import damage_message, damaged_column, levels_are_valid
from standout.release.manifest import MANIFEST, Column, Manifest
from standout.release.model import Release, StoredColumns, read_only
from standout.release.postings import block_starts
from standout.release.run_columns import mismatched_column

__all__ = ["is_index", "open_index", "save", "verify"]

SMALL = 1 << 22
"""Largest column in bytes whose checksum is tested at opening; all are before anything is reported."""


def save(release: Release, path: str | Path, progress: Progress = no_progress) -> None:
    """Save a release as an index; an existing index is replaced in one step.

    Parameters
    ----------
    release : Release
        The release to save.
    path : str or Path
        Folder of the index. It must be new, empty, or an index.
    progress : callable, optional
        Called with (stage, done, total).

    Raises
    ------
    StoreError
        If the folder is not an index, the disk is full, or the index cannot be written.
    BuildRunning
        If another process is building the same index.

    Examples
    --------
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
    """Open an index. Its columns are mapped into memory, so that only the parts in use are loaded.

    The checksums of columns up to 4 MiB are tested here. `Release.check` tests all. Functions that report
    about all entries (`audit`, `simulate`, `link`, `advise`, `sanitize` and others) call it first.

    Parameters
    ----------
    path : str or Path
        Folder of the index.

    Returns
    -------
    Release
        The release that was saved.

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
    manifest, stored = read_folder(path, lambda folder: _mapped_columns(folder, path))
    checksums = {name: column.sha256 for name, column in manifest.columns.items()}
    small = {name: array for name, array in stored.items() if array.nbytes <= SMALL}
    if name := damaged_column(small, checksums):
        raise _damaged(path, f"{name}.bin does not match its checksum")
    return _release(manifest, StoredColumns(path, stored, checksums))


def verify(path: str | Path, progress: Progress = no_progress) -> Iterator[tuple[str, bool]]:
    """Compare every file of an index with its checksum.

    Parameters
    ----------
    path : str or Path
        Folder of the index.
    progress : callable, optional
        Called with (stage, done, total).

    Yields
    ------
    file : str
        Name of a file of the index.
    intact : bool
        Whether its content matches its checksum.

    Raises
    ------
    StoreError
        If the path is not an index, or its manifest cannot be read.

    Examples
    --------
    >>> import standout as so, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     so.save(so.synthesize(records=10, items=10, entries=40, seed=7), f"{folder}/demo")
    ...     all(intact for file, intact in so.verify(f"{folder}/demo"))
    True
    """
    path = Path(path)
    with ExitStack() as files:
        manifest, opened = read_folder(path, lambda folder: _opened_columns(folder, path, files))
        total = sum(column.bytes for column in manifest.columns.values())
        done = 0
        for column, file in zip(manifest.columns.values(), opened, strict=True):
            progress("checking", done, total)
            yield column.file, _digest_file(file) == column.sha256
            done += column.bytes
        digests = {name: column.sha256 for name, column in manifest.columns.items()}
        yield MANIFEST, fingerprint_from_digests(digests, manifest.clock) == manifest.fingerprint


def _mapped_columns(folder: int, path: Path) -> tuple[Manifest, Columns]:
    manifest = _manifest(folder, path)
    return manifest, {name: _mapped(folder, path, column) for name, column in manifest.columns.items()}


def _opened_columns(
    folder: int, path: Path, files: ExitStack
) -> tuple[Manifest, list[BufferedReader | None]]:
    """Open every file before the first is read: the index may be replaced in the meantime."""
    manifest, opened = _manifest(folder, path), list[BufferedReader | None]()
    for column in manifest.columns.values():
        try:
            opened.append(files.enter_context(os.fdopen(open_file(folder, column.file), "rb")))
        except OSError:
            opened.append(None)
    if None in opened and not leads_to(path, folder):
        raise StoreError(f"{path} was replaced")
    return manifest, opened


def _manifest(folder: int, path: Path) -> Manifest:
    try:
        with os.fdopen(open_file(folder, MANIFEST), "rb") as file:
            content = file.read()
    except OSError as error:
        raise StoreError(f"{path} is not an index: its {MANIFEST} is missing or cannot be read") from error
    return Manifest.from_json(content, path)


def _mapped(folder: int, path: Path, column: Column) -> NDArray[Any]:
    """Map a column read-only, after a check of its size."""
    try:
        file = open_file(folder, column.file)
    except OSError as error:
        raise _damaged(path, f"{column.file} is missing or cannot be read") from error
    try:
        size = os.fstat(file).st_size
        if size != column.bytes:
            raise _damaged(path, f"{column.file} has {size:,} bytes instead of {column.bytes:,}")
        if size == 0:
            return read_only(np.empty(0, column.type))
        bus_errors.explain()
        content = mmap.mmap(file, size, prot=mmap.PROT_READ)
        return np.frombuffer(content, np.dtype(column.type).newbyteorder("<"))
    except OSError as error:
        raise StoreError(f"cannot map {column.file} of {path} into memory: {error.strerror}") from error
    finally:
        os.close(file)


def _release(manifest: Manifest, origin: StoredColumns) -> Release:
    """Make the release of the columns, after a check that they match."""
    path, stored = origin.path, origin.arrays
    try:
        problem = _contradiction(manifest, stored)
        fields = (
            None if problem else array_fields(stored, manifest.words.value_bits, manifest.words.time_bits)
        )
    except (KeyError, ValueError) as error:
        raise _damaged(path, "a column is missing or contradicts the others") from error
    if problem or fields is None:
        raise _damaged(path, problem or "")
    if not levels_are_valid(fields["levels"]):
        raise _damaged(path, "its values are not distinct and in order")
    return Release(
        **fields,
        clock=manifest.clock,
        provenance=manifest.read,
        stored_fingerprint=manifest.fingerprint,
        stored_columns=origin,
    )


def _contradiction(manifest: Manifest, stored: Columns) -> str | None:
    """What is wrong with the lengths of the columns, the offsets or the runs; None if they match."""
    for name, (count, last) in _ends(manifest, stored).items():
        start = stored[name]
        if len(start) != count + 1 or start[0] != 0 or start[-1] != last or bool((np.diff(start) < 0).any()):
            return f"{name}.bin contradicts the other files"
    entries = ("by-record-item", "by-record-value", "by-record-time", "by-item-word")
    if any(len(stored[name]) != manifest.entries for name in entries if name in stored):
        return "its columns have different lengths"
    if column := mismatched_column(run_columns(stored), len(block_starts(manifest.records))):
        return f"by-item-{column}.bin contradicts the other files"
    return None


def _damaged(path: Path, problem: str) -> StoreError:
    return StoreError(damage_message(path, problem))


def _ends(manifest: Manifest, stored: Columns) -> dict[str, tuple[int, int]]:
    """Number of groups of each array of offsets, and where the last group ends."""
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


def _digest_file(file: BufferedReader | None) -> str:
    try:
        return "" if file is None else hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
