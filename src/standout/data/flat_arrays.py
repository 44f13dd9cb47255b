"""A release as named flat arrays, as the index stores them and the fingerprint hashes them."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.threads import thread_count
from standout.data.labels import Clock, Labels
from standout.data.postings import stored_runs, words_are_valid
from standout.data.release import INVALID_CODE, Levels, Release

Columns = dict[str, NDArray[Any]]

CONTENT = (
    "record-ids", "record-id-offsets", "item-ids", "item-id-offsets", "levels", "level-texts", "level-offsets",
    "by-record-start", "by-record-item", "by-record-value", "by-record-time",
)  # fmt: skip
"""Columns that hold the content; the others follow from them or are titles."""
PIECE = 1 << 22
FEW = 1 << 23
"""Up to this many bytes are hashed without other threads."""


def release_columns(release: Release) -> Columns:
    """Return every array of a release by its name, in little-endian byte order."""
    runs = stored_runs(release.by_item)
    named: dict[str, NDArray[Any] | None] = {
        **_content_columns(release),
        "by-item-start": runs.start,
        "by-item-run": runs.run,
        "by-item-block": runs.block,
        "by-item-end": runs.end,
        "by-item-word": release.by_item.word,
    }
    if release.has_repeats:
        named |= {"by-item-single": runs.single, "by-item-support": runs.support}
    if release.titles is not None:
        named |= {"titles": release.titles.data, "title-offsets": release.titles.offsets}
    return {name: _little_endian(array) for name, array in named.items() if array is not None}


def _content_columns(release: Release) -> dict[str, NDArray[Any] | None]:
    """The columns of CONTENT; None for those that the release does not have."""
    levels: dict[str, NDArray[Any] | None] = {}
    if isinstance(release.levels, tuple):
        texts = Labels.of(release.levels)
        levels = {"level-texts": texts.data, "level-offsets": texts.offsets}
    else:
        levels = {"levels": release.levels}
    return {
        "record-ids": release.records.data,
        "record-id-offsets": release.records.offsets,
        "item-ids": release.items.data,
        "item-id-offsets": release.items.offsets,
        **levels,
        "by-record-start": release.by_record.start,
        "by-record-item": release.by_record.item,
        "by-record-value": release.by_record.value,
        "by-record-time": release.by_record.time,
    }


def array_bytes(array: NDArray[Any]) -> memoryview:
    """Bytes of an array, without a copy."""
    return np.ascontiguousarray(array).view(np.uint8).data if array.size else memoryview(b"")


def _digest(array: NDArray[Any]) -> str:
    """SHA-256 of an array's bytes, the same as sha256sum prints for its file."""
    return hashlib.sha256(array_bytes(array)).hexdigest()


def fingerprint(release: Release) -> str:
    """Hash of a release's content, whatever the order of its rows; titles do not count."""
    columns = _content_columns(release).items()
    digests = {name: _digest(_little_endian(array)) for name, array in columns if array is not None}
    return fingerprint_from_digests(digests, release.clock)


def fingerprint_from_digests(digests: dict[str, str], clock: Clock | None) -> str:
    """Hash the digests of the columns; columns are canonical, so equal content has equal bytes."""
    content = {name: digests[name] for name in CONTENT if name in digests}
    times = None if clock is None else [clock.unit, clock.origin, clock.span]
    text = json.dumps(["standout release 1", content, times], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


# Whether a release from disk is what was written: checksums, order of ids and values, and codes in range.


def damage_message(path: Path, problem: str) -> str:
    """The error about a damaged index."""
    return f"{path} is damaged: {problem}; run standout verify, then index the source again"


def damaged_column(columns: Mapping[str, NDArray[Any]], sha256: Mapping[str, str]) -> str | None:
    """Name of a column that does not match its checksum, or None."""
    names = sorted(columns, key=lambda name: -columns[name].nbytes)
    threads = 1 if sum(column.nbytes for column in columns.values()) <= FEW else thread_count(None)
    if threads == 1:
        return next((name for name in names if _digest(columns[name]) != sha256.get(name)), None)
    with ThreadPoolExecutor(threads) as pool:  # hashing releases the interpreter lock
        digests = list(pool.map(lambda name: _digest(columns[name]), names))
    return next((name for name, digest in zip(names, digests, strict=True) if digest != sha256.get(name)), None)


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
    highest = (release.n_items - 1, release.n_levels, release.span)
    columns = zip(release.by_record[1:], highest, strict=True)
    is_valid = (
        all(column is None or int(column.max(initial=0)) <= high for column, high in columns)
        and _items_ascend(release)
        and words_are_valid(release.by_item, release.n_records, release.n_levels, release.span)
    )
    return None if is_valid else INVALID_CODE


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
    """Whether ids are in shortlex order, each once; ids of equal length are compared as rows of bytes."""
    lengths = np.diff(labels.offsets)
    if (lengths[1:] < lengths[:-1]).any():
        return False
    begins = np.flatnonzero(np.diff(lengths, prepend=-1))
    for begin, end in zip(begins, [*begins[1:], len(lengths)], strict=True):
        width = int(lengths[begin])
        if width == 0 and end - begin > 1:
            return False
        step = max(1, PIECE // max(width, 1))
        for low in range(begin + 1, end, step):
            high = min(low + step, end)
            rows = labels.data[labels.offsets[low - 1] : labels.offsets[high]].reshape(-1, width)
            differs = rows[1:] != rows[:-1]
            at = np.arange(len(differs)), differs.argmax(axis=1)
            if not (differs[at] & (rows[1:][at] > rows[:-1][at])).all():
                return False
    return True
