"""A release as named flat arrays, as the index stores them and the fingerprint hashes them."""

import hashlib
import json
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from standout.release.clock import Clock
from standout.release.labels import Labels
from standout.release.model import Levels, RecordEntries, Release
from standout.release.postings import NO_NUMBERS, Postings, ordered_words
from standout.release.run_columns import NO_ENDS, StoredRuns, run_positions, stored_runs

__all__ = [
    "CONTENT",
    "Columns",
    "array_bytes",
    "array_digest",
    "array_fields",
    "catalogue_fields",
    "columns_without_words",
    "fingerprint",
    "fingerprint_from_digests",
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
