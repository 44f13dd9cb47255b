"""Whether a release from disk is what was written: checksums, order of ids and values, and codes in range."""

import hashlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.threads import thread_count
from standout.release.flat_arrays import array_bytes
from standout.release.labels import Labels
from standout.release.model import INVALID_CODE, Levels, Release
from standout.release.postings import words_are_valid

__all__ = ["checked_meanwhile", "damage_message", "damaged_column", "levels_are_valid", "problem"]

PIECE = 1 << 22
FEW = 1 << 23
"""Up to this many bytes are hashed without other threads."""


def damage_message(path: Path, problem: str) -> str:
    """The error about a damaged index."""
    return f"{path} is damaged: {problem}; run standout verify, then index the source again"


def damaged_column(columns: Mapping[str, NDArray[Any]], sha256: Mapping[str, str]) -> str | None:
    """Name of a column that does not match its checksum, or None."""
    names = sorted(columns, key=lambda name: -columns[name].nbytes)

    def is_damaged(name: str) -> bool:
        return hashlib.sha256(array_bytes(columns[name])).hexdigest() != sha256.get(name)

    if sum(column.nbytes for column in columns.values()) <= FEW:
        return next(filter(is_damaged, names), None)
    with ThreadPoolExecutor(thread_count(None)) as pool:  # hashing releases the interpreter lock
        damaged = list(pool.map(is_damaged, names))
    return next((name for name, is_bad in zip(names, damaged, strict=True) if is_bad), None)


def problem(release: Release) -> str | None:
    """What is wrong with a release from disk, as an error message, or None.

    Checksums find every accidental change. The other checks matter if somebody wrote the manifest to match.
    """
    origin = release.stored_columns
    if origin is not None:
        if name := damaged_column(origin.arrays, origin.sha256):
            return damage_message(origin.path, f"{name}.bin does not match its checksum")
        for kind, labels in (("record", release.records), ("item", release.items)):
            if not _in_order(labels):
                return damage_message(origin.path, f"{kind}-ids.bin is not in order")
    return None if _codes_are_valid(release) else INVALID_CODE


@contextmanager
def checked_meanwhile(release: Release) -> Iterator[None]:
    """Check a release on another thread during the work with it; damage is an error at the end."""
    with ThreadPoolExecutor(1) as pool:
        check = pool.submit(release.check)
        try:
            yield
        finally:
            check.result()


def levels_are_valid(levels: Levels | None) -> bool:
    """Whether categories are distinct, and numbers also finite and in ascending order."""
    if levels is None:
        return True
    if isinstance(levels, tuple):
        return len(set(levels)) == len(levels)
    return bool(np.isfinite(levels).all() and (levels[1:] > levels[:-1]).all())


def _codes_are_valid(release: Release) -> bool:
    highest = (release.n_items - 1, release.n_levels, release.span)
    columns = zip(release.by_record[1:], highest, strict=True)
    return (
        all(column is None or int(column.max(initial=0)) <= high for column, high in columns)
        and _items_ascend(release)
        and words_are_valid(release.by_item, release.n_records, release.n_levels, release.span)
    )


def _items_ascend(release: Release) -> bool:
    """Whether the items of each record ascend, and are distinct if nothing repeats."""
    start, item = release.by_record[:2]
    compare = np.greater_equal if release.has_repeats else np.greater
    for low in range(1, len(item), PIECE):
        high = min(low + PIECE, len(item))
        ascends = compare(item[low:high], item[low - 1 : high - 1])
        first = start[np.searchsorted(start, low) : np.searchsorted(start, high)]
        ascends[first - low] = True
        if not ascends.all():
            return False
    return True


def _in_order(labels: Labels) -> bool:
    """Whether ids are in shortlex order, each once."""
    lengths = np.diff(labels.offsets)
    if (lengths[1:] < lengths[:-1]).any():
        return False
    return all(_rows_ascend(rows) for rows in _rows_of_equal_length(labels, lengths))


def _rows_of_equal_length(labels: Labels, lengths: NDArray[np.int64]) -> Iterator[NDArray[np.uint8]]:
    """Yield the ids of each length as a matrix of bytes; ids of equal length follow one another."""
    begins = np.flatnonzero(np.diff(lengths, prepend=-1))
    for begin, end in zip(begins, [*begins[1:], len(lengths)], strict=True):
        data = labels.data[labels.offsets[begin] : labels.offsets[end]]
        yield data.reshape(end - begin, int(lengths[begin]))


def _rows_ascend(rows: NDArray[np.uint8]) -> bool:
    if rows.shape[1] == 0:
        return len(rows) < 2
    step = max(1, PIECE // rows.shape[1])
    for low in range(1, len(rows), step):
        this, before = rows[low : low + step], rows[low - 1 : min(low + step, len(rows)) - 1]
        differs = this != before
        column = differs.argmax(axis=1)
        row = np.arange(len(this))
        if not (differs[row, column] & (this[row, column] > before[row, column])).all():
            return False
    return True
