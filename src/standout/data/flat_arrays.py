"""A release as named flat arrays, as the index stores them and the fingerprint hashes them."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from standout.core.threads import thread_count
from standout.data.labels import Clock, Labels
from standout.data.postings import (
    NO_ENDS,
    NO_NUMBERS,
    Postings,
    StoredRuns,
    ordered_words,
    run_positions,
    stored_runs,
    words_are_valid,
)
from standout.data.release import INVALID_CODE, Levels, RecordEntries, Release

__all__ = [
    "CONTENT",
    "Columns",
    "array_bytes",
    "array_digest",
    "array_fields",
    "catalogue_fields",
    "checked_meanwhile",
    "columns_without_words",
    "damage_message",
    "damaged_column",
    "fingerprint",
    "fingerprint_from_digests",
    "levels_are_valid",
    "problem",
    "release_columns",
    "run_columns",
]

Columns = dict[str, NDArray[Any]]

CONTENT = (
    "record-ids",
    "record-id-offsets",
    "item-ids",
    "item-id-offsets",
    "levels",
    "level-texts",
    "level-offsets",
    "by-record-start",
    "by-record-item",
    "by-record-value",
    "by-record-time",
)
"""Columns that hold the content; the others follow from them or are titles."""


def release_columns(release: Release) -> Columns:
    """Return every array of a release by its name, in little-endian byte order."""
    pieces = [_little_endian(piece) for piece in ordered_words(release.by_item)]
    words = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    return columns_without_words(release) | {"by-item-word": words}


def columns_without_words(release: Release) -> Columns:
    """Return every array but the words by item, which an index in shards has in several places."""
    runs = stored_runs(release.by_item)
    named: dict[str, NDArray[Any] | None] = {
        **_content_columns(release),
        "by-item-start": runs.start,
        "by-item-run": runs.run,
        "by-item-block": runs.block,
        "by-item-end": runs.end,
    }
    if release.has_repeats:
        named |= {"by-item-single": runs.single, "by-item-support": runs.support}
    if release.titles is not None:
        named |= {"titles": release.titles.data, "title-offsets": release.titles.offsets}
    return {name: _little_endian(array) for name, array in named.items() if array is not None}


def _content_columns(release: Release) -> dict[str, NDArray[Any] | None]:
    """The columns of CONTENT; None for those that the release does not have."""
    return {
        "record-ids": release.records.data,
        "record-id-offsets": release.records.offsets,
        "item-ids": release.items.data,
        "item-id-offsets": release.items.offsets,
        **_level_columns(release.levels),
        "by-record-start": release.by_record.start,
        "by-record-item": release.by_record.item,
        "by-record-value": release.by_record.value,
        "by-record-time": release.by_record.time,
    }


class CatalogueFields(TypedDict):
    """The fields of a release about items and values."""

    items: Labels
    titles: Labels | None
    levels: Levels | None


class ArrayFields(CatalogueFields):
    """The fields of a release that are arrays."""

    records: Labels
    by_record: RecordEntries
    by_item: Postings


def array_fields(stored: Columns, value_bits: int, time_bits: int) -> ArrayFields:
    """Return the fields of a release that are arrays; the columns must match.

    The bits are those of the words by item.
    """
    begin, end, single = run_positions(run_columns(stored))
    return {
        "records": Labels(stored["record-id-offsets"], stored["record-ids"]),
        **catalogue_fields(stored),
        "by_record": RecordEntries(
            stored["by-record-start"],
            stored["by-record-item"],
            stored.get("by-record-value"),
            stored.get("by-record-time"),
        ),
        "by_item": Postings(
            start=stored["by-item-start"],
            run=stored["by-item-run"],
            block=stored["by-item-block"],
            begin=begin,
            end=end,
            word=stored["by-item-word"],
            value_bits=value_bits,
            time_bits=time_bits,
            single=single,
            support=stored.get("by-item-support", NO_NUMBERS),
        ),
    }


def catalogue_fields(stored: Columns) -> CatalogueFields:
    """Return the fields of a release about items and values."""
    levels: Levels | None = stored.get("levels")
    if "level-texts" in stored:
        levels = tuple(Labels(stored["level-offsets"], stored["level-texts"]))
    return {
        "items": Labels(stored["item-id-offsets"], stored["item-ids"]),
        "titles": Labels(stored["title-offsets"], stored["titles"]) if "titles" in stored else None,
        "levels": levels,
    }


def run_columns(stored: Columns) -> StoredRuns:
    """Return the columns of runs."""
    return StoredRuns(
        start=stored["by-item-start"],
        run=stored["by-item-run"],
        block=stored["by-item-block"],
        end=stored["by-item-end"],
        single=stored.get("by-item-single", NO_ENDS),
        support=stored.get("by-item-support", NO_NUMBERS),
    )


def array_digest(array: NDArray[Any]) -> str:
    """SHA-256 of an array's bytes, the same as sha256sum prints for its file."""
    return hashlib.sha256(array_bytes(array)).hexdigest()


def array_bytes(array: NDArray[Any]) -> memoryview:
    """Bytes of an array, without a copy."""
    return np.ascontiguousarray(array).view(np.uint8).data if array.size else memoryview(b"")


def fingerprint(release: Release) -> str:
    """Hash of a release's content, whatever the order of its rows; titles do not count."""
    columns = _content_columns(release).items()
    digests = {name: array_digest(_little_endian(array)) for name, array in columns if array is not None}
    return fingerprint_from_digests(digests, release.clock)


def fingerprint_from_digests(digests: dict[str, str], clock: Clock | None) -> str:
    """Hash the digests of the columns; columns are canonical, so equal content has equal bytes."""
    content = {name: digests[name] for name in CONTENT if name in digests}
    times = None if clock is None else [clock.unit, clock.origin, clock.span]
    text = json.dumps(["standout release 1", content, times], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _level_columns(levels: Levels | None) -> dict[str, NDArray[Any] | None]:
    if isinstance(levels, tuple):
        texts = Labels.of(levels)
        return {"level-texts": texts.data, "level-offsets": texts.offsets}
    return {"levels": levels}


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


# Whether a release from disk is what was written: checksums, order of ids and values, and codes in range.


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
