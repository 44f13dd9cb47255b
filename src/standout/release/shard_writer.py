"""Write an index in shards: each shard is a normal index in a folder of its own, then the common catalogue.

    folder/shard-0000/ …   write_shard, in any order; a shard is complete when it has a manifest
    folder/                join_shards, after all shards

The folder is a private one, which `IndexWriter.publish` then moves to its target.
"""

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.address_ranges import STEP
from standout.core.progress import Progress, no_progress
from standout.release.column_files import NewColumn, columns_to_write, write_columns, write_manifest
from standout.release.flat_arrays import array_bytes, fingerprint_from_digests
from standout.release.manifest import (
    CATALOGUE,
    JOINED,
    LEADS,
    MANIFEST,
    Column,
    Manifest,
    Shard,
    shard_folder,
)
from standout.release.model import Release
from standout.release.provenance import Provenance
from standout.release.record_range import record_range

__all__ = ["join_shards", "write_shard", "write_shards"]

PIECE = 1 << 24


def write_shard(folder: Path, release: Release, first_entry: int, progress: Progress = no_progress) -> int:
    """Write one shard, and return its size in bytes; an unfinished one in the same folder is removed.

    Parameters
    ----------
    folder : Path
        Folder of the shard, named by `shard_folder`.
    release : Release
        The records of the shard, with codes from 0 on, and all items, levels, times and word bits of the
        whole release.
    first_entry : int
        Number of entries of all shards before.
    progress : callable, optional
        Called with (stage, done, total).
    """
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(mode=0o700)
    columns = columns_to_write(release)
    for name in LEADS & columns.keys():
        lead = first_entry * columns[name].type.itemsize % STEP
        columns[name] = columns[name]._replace(lead=lead)
    written = write_columns(folder, columns, progress)
    digests = {name: column.sha256 for name, column in written.items()}
    manifest = Manifest.of(release, written, fingerprint_from_digests(digests, release.clock))
    return sum(column.lead + column.bytes for column in written.values()) + write_manifest(folder, manifest)


def join_shards(folder: Path, provenance: Provenance, progress: Progress = no_progress) -> int:
    """Write the catalogue and the manifest of all shards in a folder; return their size in bytes.

    The fingerprint is that of the same release without shards. Columns are read in pieces for it.
    """
    manifests = list(_manifests(folder))
    parts = [manifest for manifest, _ in manifests]
    first, repeats = parts[0], any(part.repeats for part in parts)
    columns = {name: NewColumn.of(_read(folder, 0, column)) for name, column in _catalogue(first).items()}
    starts = [_read(folder, number, part.columns["by-item-start"]) for number, part in enumerate(parts)]
    columns["by-item-start"] = NewColumn.of(np.sum(starts, axis=0))
    if repeats:
        columns["by-item-support"] = NewColumn.of(
            np.sum([_support(folder, number, part) for number, part in enumerate(parts)], axis=0)
        )
    written = write_columns(folder, columns, no_progress)
    joined = {name: _joined_digest(folder, parts, name, progress) for name in first.columns if name in JOINED}
    digests = {name: column.sha256 for name, column in written.items()} | joined
    manifest = Manifest(
        fingerprint=fingerprint_from_digests(digests, first.clock),
        records=sum(part.records for part in parts),
        items=first.items,
        entries=sum(part.entries for part in parts),
        repeats=repeats,
        clock=first.clock,
        words=first.words,
        read=provenance,
        columns=written,
        shards=tuple(_shards(manifests)),
        joined=joined,
    )
    return sum(column.bytes for column in written.values()) + write_manifest(folder, manifest)


def write_shards(
    folder: Path, release: Release, bounds: Sequence[int], progress: Progress = no_progress
) -> int:
    """Write a release in shards; return their size in bytes. Shard s begins at record bounds[s]."""
    size = 0
    for number, (low, high) in enumerate(pairwise(bounds)):
        first_entry = int(release.by_record.start[low])
        shard = record_range(release, low, high)
        size += write_shard(folder / shard_folder(number), shard, first_entry, progress)
    return size + join_shards(folder, release.provenance, progress)


def _manifests(folder: Path) -> Iterator[tuple[Manifest, str]]:
    """Yield the manifest of each shard and its SHA-256."""
    for number in count():
        path = folder / shard_folder(number)
        if not path.exists():
            return
        content = (path / MANIFEST).read_bytes()
        yield Manifest.from_json(content, path), hashlib.sha256(content).hexdigest()


def _shards(manifests: Sequence[tuple[Manifest, str]]) -> Iterator[Shard]:
    first_record = 0
    for number, (manifest, sha256) in enumerate(manifests):
        yield Shard(shard_folder(number), first_record, manifest.records, manifest.entries, sha256)
        first_record += manifest.records


def _catalogue(manifest: Manifest) -> dict[str, Column]:
    """The columns that all shards have alike."""
    names = CATALOGUE - {"by-item-start", "by-item-support"}
    return {name: column for name, column in manifest.columns.items() if name in names}


def _read(folder: Path, number: int, column: Column) -> NDArray[Any]:
    """Read a column of a shard into memory."""
    path = folder / shard_folder(number) / column.file
    return np.fromfile(path, np.dtype(column.type).newbyteorder("<"), offset=column.lead)


def _support(folder: Path, number: int, manifest: Manifest) -> NDArray[np.int64]:
    """Number of records of a shard that have each item."""
    if manifest.repeats:
        return _read(folder, number, manifest.columns["by-item-support"])
    return np.diff(_read(folder, number, manifest.columns["by-item-start"]))


def _joined_digest(folder: Path, parts: Sequence[Manifest], name: str, progress: Progress) -> str:
    """SHA-256 of a column of all shards, one after another; offsets continue those of the shard before."""
    digest, end = hashlib.sha256(), 0
    for number, part in enumerate(parts):
        progress("fingerprint", number, len(parts))
        column = part.columns[name]
        if name in ("record-id-offsets", "by-record-start"):
            offsets = _read(folder, number, column) + end
            digest.update(array_bytes(offsets[1 if number else 0 :].astype("<i8", copy=False)))
            end = int(offsets[-1])
        else:
            with (folder / shard_folder(number) / column.file).open("rb") as file:
                file.seek(column.lead)
                while piece := file.read(PIECE):
                    digest.update(piece)
    return digest.hexdigest()
