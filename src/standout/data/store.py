"""Save and open the index on disk: a folder of flat columns that are mapped into memory, and a manifest.

    manifest.json          format, fingerprint, sizes, provenance, and the type and SHA-256 of each column
    by-record-item.bin …   one raw little-endian array per file

docs/index-format.md describes every file; `index_writer` writes them.
"""

import warnings
from collections.abc import Iterator
from pathlib import Path

from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.data.file_checks import checked_files
from standout.data.flat_arrays import array_fields, levels_are_valid
from standout.data.index_columns import check_small, contradiction, damaged, map_column, read_manifest
from standout.data.index_files import is_index, open_index_writer, read_folder
from standout.data.joined import open_joined
from standout.data.manifest import Manifest
from standout.data.postings import block_starts
from standout.data.release import Release, StoredColumns
from standout.data.sharded_index import write_shards

__all__ = ["is_index", "open_index", "save", "verify"]


@with_progress
def save(
    release: Release, path: str | Path, progress: ProgressOption = no_progress, *, shards: int | None = None
) -> None:
    """Save a release as an index; an existing index is replaced in one step.

    Parameters
    ----------
    release : Release
        The release to save.
    path : str or Path
        Folder of the index. It must be new, empty, or an index.
    progress : bool or callable, optional
        True shows a bar; a function is called with (stage, done, total).
    shards : int, optional
        Number of shards: folders with ranges of records, each an index that can be opened by itself. Results
        do not depend on it. Shards are whole blocks of 8,192 records, so there may be fewer, with a warning.

    Raises
    ------
    ParameterError
        If `shards` is not a whole number from 1 to 10,000.
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
    bounds = None if shards is None else _bounds(release, shards)
    with open_index_writer(path) as index:
        if bounds is None:
            index.write(release, progress)
        else:
            write_shards(index.folder, release, bounds, progress)
            index.publish()


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
    return read_folder(path, lambda folder: _open(folder, path))


def verify(path: str | Path, progress: Progress = no_progress) -> Iterator[tuple[str, bool]]:
    """Compare every file of an index with its checksum.

    Parameters
    ----------
    path : str or Path
        Folder of the index.
    progress : bool or callable, optional
        True shows a bar; a function is called with (stage, done, total).

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
    yield from checked_files(Path(path), progress)


def _bounds(release: Release, shards: int) -> tuple[int, ...]:
    """First record of each shard, and the number of records; warns if there are fewer shards than wanted."""
    from standout.data.shards import check_shards, choose_bounds  # with compiled kernels

    bounds = choose_bounds(release.lengths, check_shards(shards), 0)
    written, size = len(bounds) - 1, block_starts(release.n_records).step
    if written < shards:
        warnings.warn(
            f"{release.n_records:,} records are written in {written} shard{'s' if written > 1 else ''} "
            f"instead of {shards:,}, because shards are whole blocks of {size:,} records",
            stacklevel=3,
        )
    return bounds


def _open(folder: int, path: Path) -> Release:
    """Open the index in an opened folder."""
    manifest = read_manifest(folder, path)
    if manifest.shards:
        return open_joined(folder, path, manifest)
    stored = {name: map_column(folder, path, column) for name, column in manifest.columns.items()}
    checksums = {name: column.sha256 for name, column in manifest.columns.items()}
    origin = StoredColumns(path, stored, checksums)
    check_small(origin)
    return _release(manifest, origin)


def _release(manifest: Manifest, origin: StoredColumns) -> Release:
    """Make the release of the columns, after a check that they match."""
    path, stored = origin.path, origin.arrays
    try:
        problem = contradiction(manifest, stored)
        fields = None if problem else array_fields(stored, manifest.words.value_bits, manifest.words.time_bits)
    except (KeyError, ValueError) as error:
        raise damaged(path, "a column is missing or contradicts the others") from error
    if problem or fields is None:
        raise damaged(path, problem or "")
    if not levels_are_valid(fields["levels"]):
        raise damaged(path, "its values are not distinct and in order")
    return Release(
        **fields,
        clock=manifest.clock,
        provenance=manifest.read,
        stored_fingerprint=manifest.fingerprint,
        stored_columns=origin,
    )
