"""The columns of an index on disk: mapped into memory, and compared with one another."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core import memory as bus_errors
from standout.core.errors import StoreError
from standout.core.memory import AddressRange
from standout.data.flat_arrays import Columns, damage_message, damaged_column, run_columns
from standout.data.index_files import open_file
from standout.data.manifest import MANIFEST, Column, Manifest
from standout.data.postings import block_starts, mismatched_column
from standout.data.release import StoredColumns

__all__ = ["check_small", "contradiction", "damaged", "map_column", "new_range", "place_column", "read_manifest"]

SMALL = 1 << 22
"""Largest column in bytes whose checksum is tested at opening; all are before anything is reported."""


def read_manifest(folder: int, path: Path) -> Manifest:
    """Read the manifest of an opened folder."""
    try:
        with os.fdopen(open_file(folder, MANIFEST), "rb") as file:
            content = file.read()
    except OSError as error:
        raise StoreError(f"{path} is not an index: its {MANIFEST} is missing or cannot be read") from error
    return Manifest.from_json(content, path)


def map_column(folder: int, path: Path, column: Column, prefix: str = "") -> NDArray[Any]:
    """Map a column read-only, after a check of its size; errors name it after a prefix."""
    whole = new_range(path, prefix + column.file, column.lead + column.bytes)
    place_column(whole, column.lead, folder, path, column, prefix)
    return whole.array("u1")[column.lead :].view(np.dtype(column.type).newbyteorder("<"))


def place_column(whole: AddressRange, at: int, folder: int, path: Path, column: Column, prefix: str = "") -> None:
    """Map a column to a place of a range, after a check of its size."""
    name = prefix + column.file
    try:
        file = open_file(folder, column.file)
    except OSError as error:
        raise damaged(path, f"{name} is missing or cannot be read") from error
    try:
        size, expected = os.fstat(file).st_size, column.lead + column.bytes
        if size != expected:
            raise damaged(path, f"{name} has {size:,} bytes instead of {expected:,}")
        whole.place(file, at, column.bytes, column.lead)
    except OSError as error:
        raise _not_mapped(path, name, error) from error
    finally:
        os.close(file)


def new_range(path: Path, name: str, size: int) -> AddressRange:
    """A range of addresses for a column."""
    bus_errors.explain()
    try:
        return AddressRange(size)
    except OSError as error:
        raise _not_mapped(path, name, error) from error


def _not_mapped(path: Path, name: str, error: OSError) -> StoreError:
    return StoreError(f"cannot map {name} of {path} into memory: {error.strerror}")


def damaged(path: Path, problem: str) -> StoreError:
    """The error about a damaged index."""
    return StoreError(damage_message(path, problem))


def check_small(origin: StoredColumns) -> None:
    """Raise StoreError if a small column does not match its checksum."""
    small = {name: array for name, array in origin.arrays.items() if array.nbytes <= SMALL}
    if name := damaged_column(small, origin.sha256):
        raise damaged(origin.path, f"{name}.bin does not match its checksum")


def contradiction(manifest: Manifest, stored: Columns) -> str | None:
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
