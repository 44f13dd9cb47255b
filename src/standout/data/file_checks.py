"""Compare the files of an index with their checksums, while another process may replace the index."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack
from io import BufferedReader
from pathlib import Path

from standout.core.errors import StoreError
from standout.core.progress import Progress
from standout.data.flat_arrays import fingerprint_from_digests
from standout.data.index_columns import read_manifest
from standout.data.index_files import leads_to, open_file, read_folder
from standout.data.joined import open_shard_folder, read_shard_manifest
from standout.data.manifest import MANIFEST, Column, Manifest, Shard

__all__ = ["checked_files"]

File = BufferedReader | None
"""An open file; None if it cannot be opened."""
Shards = list[tuple[Shard, Manifest | None]]
"""The shards and their manifests; None if one cannot be used."""


def checked_files(path: Path, progress: Progress) -> Iterator[tuple[str, bool]]:
    """Yield the name of each file, and whether it is intact."""
    with ExitStack() as opened:
        folder, manifest, files = read_folder(path, lambda folder: _open(folder, path, opened))
        shards = [(shard, _shard_manifest(folder, path, shard)) for shard in manifest.shards]
        manifests = [manifest, *(own for _, own in shards if own is not None)]
        total = sum(column.bytes for part in manifests for column in part.columns.values())
        done = 0
        for name, column, file in _files(path, folder, manifest, files, shards):
            progress("checking", done, total)
            yield name, file is not None and _is_intact(file, column)
            done += column.bytes
        for shard, own in shards:
            yield f"{shard.folder}/{MANIFEST}", own is not None and _has_own_fingerprint(own)
        yield MANIFEST, _has_own_fingerprint(manifest)


def _open(folder: int, path: Path, opened: ExitStack) -> tuple[int, Manifest, list[File]]:
    """Open every file before the first is read: the index may be replaced in the meantime."""
    manifest = read_manifest(folder, path)
    files = _open_files(folder, path, folder, manifest, opened)
    folder = os.dup(folder)
    opened.callback(os.close, folder)
    return folder, manifest, files


def _open_files(folder: int, path: Path, inside: int, manifest: Manifest, opened: ExitStack) -> list[File]:
    """Open the files of a manifest in the folder `inside`."""
    files = list[File]()
    for column in manifest.columns.values():
        try:
            files.append(opened.enter_context(os.fdopen(open_file(inside, column.file), "rb")))
        except OSError:
            files.append(None)
    if None in files:
        _check_place(path, folder)
    return files


def _files(
    path: Path, folder: int, manifest: Manifest, files: list[File], shards: Shards
) -> Iterator[tuple[str, Column, File]]:
    """Yield all files with their names; those of a shard are opened when it is its turn."""
    for column, file in zip(manifest.columns.values(), files, strict=True):
        yield column.file, column, file
    for shard, own in shards:
        if own is not None:
            with ExitStack() as opened:
                inside = open_shard_folder(folder, shard)
                opened.callback(os.close, inside)
                files = _open_files(folder, path, inside, own, opened)
                for column, file in zip(own.columns.values(), files, strict=True):
                    yield f"{shard.folder}/{column.file}", column, file


def _shard_manifest(folder: int, path: Path, shard: Shard) -> Manifest | None:
    """Read the manifest of a shard; None if it is not as it was written."""
    try:
        inside = open_shard_folder(folder, shard)
        try:
            return read_shard_manifest(inside, path, shard)
        finally:
            os.close(inside)
    except (OSError, StoreError):
        _check_place(path, folder)
        return None


def _check_place(path: Path, folder: int) -> None:
    """Raise StoreError if the path leads to another folder by now."""
    if not leads_to(path, folder):
        raise StoreError(f"{path} was replaced meanwhile: run it again")


def _is_intact(file: BufferedReader, column: Column) -> bool:
    try:
        is_empty = not any(file.read(column.lead))
        return is_empty and hashlib.file_digest(file, "sha256").hexdigest() == column.sha256
    except OSError:
        return False


def _has_own_fingerprint(manifest: Manifest) -> bool:
    """Whether the fingerprint is that of the columns."""
    digests = {name: column.sha256 for name, column in manifest.columns.items()} | manifest.joined
    return fingerprint_from_digests(digests, manifest.clock) == manifest.fingerprint
