"""Write the columns of a release to the files of a folder, piece by piece, with their checksums."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.private_files import open_private, write_all
from standout.core.progress import Progress
from standout.core.work_folders import FOLDER
from standout.release.flat_arrays import array_bytes, columns_without_words
from standout.release.manifest import MANIFEST, Column, Manifest
from standout.release.model import Release
from standout.release.postings import ordered_words

__all__ = ["NewColumn", "columns_to_write", "write_columns", "write_manifest"]

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
    file = os.open(folder, FOLDER)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _write_column(
    folder: Path, name: str, column: NewColumn, done: int, total: int, progress: Progress
) -> Column:
    checksum, position = hashlib.sha256(), column.lead
    with open_private(folder / f"{name}.bin") as file:
        os.lseek(file, column.lead, os.SEEK_SET)
        for piece in _pieces(column):
            checksum.update(piece)
            write_all(file, piece)
            progress("writing", done + position, total)
            position += len(piece)
        os.fsync(file)
    return Column(
        f"{name}.bin", column.type.name, column.length, column.bytes, checksum.hexdigest(), column.lead
    )


def _pieces(column: NewColumn) -> Iterator[memoryview]:
    for array in column.pieces:
        content = array_bytes(array.astype(column.type, copy=False))
        for position in range(0, len(content), PIECE):
            yield content[position : position + PIECE]
