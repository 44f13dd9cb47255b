"""The manifest of an index: its content, how the source was read, and the type and checksum of every column."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout._version import __version__
from standout.core.errors import StandoutError, StoreError
from standout.core.json_files import dump_with_checksum, is_intact
from standout.core.threads import thread_count
from standout.data.column import Levels
from standout.data.entries import (
    NO_ENDS,
    NO_NUMBERS,
    Postings,
    RecordEntries,
    StoredRuns,
    block_starts,
    code_type,
    mismatched_column,
    run_positions,
    stored_runs,
    word_bits,
    word_type,
    words_are_valid,
)
from standout.data.labels import Clock, Labels, Provenance
from standout.data.release import INVALID_CODE, Release, StoredColumns

FORMAT = "standout index"
VERSION = 3
MANIFEST = "manifest.json"
FIXED_TYPES = {
    **dict.fromkeys(("record-ids", "item-ids", "titles", "level-texts"), "uint8"),
    **dict.fromkeys(("record-id-offsets", "item-id-offsets", "title-offsets", "level-offsets"), "int64"),
    **dict.fromkeys(("by-record-start", "by-item-start", "by-item-run", "by-item-support"), "int64"),
    **dict.fromkeys(("by-item-end", "by-item-single"), "uint32"),
    "levels": "float64",
}


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


class Column(NamedTuple):
    """The file of a column: the type, number and SHA-256 of its elements."""

    file: str
    type: str
    length: int
    bytes: int
    sha256: str


class Words(NamedTuple):
    """Numbers of bits that hold the kind and the time in a word by item."""

    value_bits: int
    time_bits: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """Content of an index."""

    fingerprint: str
    records: int
    items: int
    entries: int
    repeats: bool
    clock: Clock | None
    words: Words
    read: Provenance
    columns: dict[str, Column]

    @classmethod
    def of(cls, release: Release, columns: dict[str, Column], fingerprint: str) -> "Manifest":
        """Make the manifest of a release."""
        sizes = release.n_records, release.n_items, release.n_entries, release.has_repeats
        words = Words(release.by_item.value_bits, release.by_item.time_bits)
        return cls(fingerprint, *sizes, release.clock, words, release.provenance, columns)

    def to_json(self) -> bytes:
        """Return the content of the manifest file."""
        header = {"format": FORMAT, "version": VERSION, "written by": f"standout {__version__}"}
        columns = {name: column._asdict() for name, column in self.columns.items()}
        return dump_with_checksum({**header, **asdict(self), "words": self.words._asdict(), "columns": columns})

    @classmethod
    def from_json(cls, data: bytes, path: Path) -> "Manifest":
        """Parse a manifest file; raise StoreError if it cannot be used."""

        def damaged(problem: str) -> StoreError:
            return StoreError(f"{path} is damaged: its {MANIFEST} {problem}; index the source again")

        try:
            content = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise damaged("is not JSON") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise StoreError(f"{path} is not a Standout index: its {MANIFEST} has another format")
        version = content.get("version")
        if type(version) is int and version > 0 and version != VERSION:
            age, advice = (
                ("a newer", "update Standout") if version > VERSION else ("an older", "index the source again")
            )
            raise StoreError(
                f"{path} was written by {age} Standout (format {version}, this version reads {VERSION}): {advice}"
            )
        if version != VERSION or not is_intact(content):
            raise damaged("does not match its checksum")
        try:
            manifest = cls._from_content(content)
            manifest._check()
            return manifest
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, StandoutError) as error:
            raise damaged("contradicts itself") from error

    @classmethod
    def _from_content(cls, content: Any) -> "Manifest":
        """Make a manifest of parsed JSON, whose shape nothing has checked yet."""
        return cls(
            **{name: content[name] for name in ("fingerprint", "records", "items", "entries", "repeats")},
            clock=None if content["clock"] is None else Clock(**content["clock"]),
            words=Words(**content["words"]),
            read=Provenance.from_dict(content["read"]),
            columns={name: Column(**column) for name, column in content["columns"].items()},
        )

    def _check(self) -> None:
        """Raise an error if a field has the wrong type, or a column a type that contradicts the sizes."""
        sizes, names, clock = (self.records, self.items, self.entries), self.columns.keys(), self.clock
        if not isinstance(self.fingerprint, str) or not all(type(size) is int and size > 0 for size in sizes):
            raise ValueError("sizes")
        about_repeats = {"by-item-single", "by-item-support"}
        if about_repeats & names != (about_repeats if self.repeats is True else set()):
            raise ValueError("repeats")
        if (clock is not None) != ("by-record-time" in names):
            raise ValueError("clock")
        span = 0 if clock is None else clock.span
        if type(span) is not int or span < 0:
            raise ValueError("span")
        if clock is not None and span:
            clock.decode(0), clock.decode(span - 1)
        types = FIXED_TYPES | self._code_types(span)
        for name, column in self.columns.items():
            size = np.dtype(types[name]).itemsize * column.length
            is_named = column.file == f"{name}.bin" and column.type == types[name]
            if not is_named or column.bytes != size or not isinstance(column.sha256, str):
                raise ValueError(name)

    def _code_types(self, span: int) -> dict[str, str]:
        numbers, texts = "levels" in self.columns, "level-offsets" in self.columns
        if texts != ("level-texts" in self.columns) or numbers + texts != ("by-record-value" in self.columns):
            raise ValueError("levels")
        n_levels = self.columns["level-offsets"].length - 1 if texts else 0
        n_levels = self.columns["levels"].length if numbers else n_levels
        legal = {word_bits(n_levels, span, gaps) for gaps in (False, span > 0)}
        if n_levels < 0 or self.words not in legal or not all(type(part) is int for part in self.words):
            raise ValueError("words")
        return {
            "by-record-item": code_type(self.items).name,
            "by-record-value": code_type(n_levels + 1).name,
            "by-record-time": code_type(span + 1).name,
            "by-item-block": code_type(len(block_starts(self.records))).name,
            "by-item-word": word_type(*self.words).name,
        }

    def contradiction(self, stored: Columns) -> str | None:
        """What is wrong with the lengths of the columns, the offsets or the runs; None if they match."""
        ends = {
            "by-record-start": (self.records, self.entries),
            "by-item-start": (self.items, self.entries),
            "by-item-run": (self.items, len(stored["by-item-block"])),
            "record-id-offsets": (self.records, len(stored["record-ids"])),
            "item-id-offsets": (self.items, len(stored["item-ids"])),
        }
        if "titles" in stored:
            ends["title-offsets"] = (self.items, len(stored["titles"]))
        if "level-texts" in stored:
            ends["level-offsets"] = (len(stored["level-offsets"]) - 1, len(stored["level-texts"]))
        for name, (count, last) in ends.items():
            start = stored[name]
            if len(start) != count + 1 or start[0] != 0 or start[-1] != last or bool((np.diff(start) < 0).any()):
                return f"{name}.bin contradicts the other files"
        entries = ("by-record-item", "by-record-value", "by-record-time", "by-item-word")
        if any(len(stored[name]) != self.entries for name in entries if name in stored):
            return "its columns have different lengths"
        if column := mismatched_column(_runs(stored), len(block_starts(self.records))):
            return f"by-item-{column}.bin contradicts the other files"
        return None if levels_are_valid(_levels(stored)) else "its values are not distinct and in order"

    def release(self, origin: StoredColumns) -> Release:
        """The release of the columns, which must match."""
        stored = origin.arrays
        runs = _runs(stored)
        begin, end, single = run_positions(runs)
        return Release(
            records=Labels(stored["record-id-offsets"], stored["record-ids"]),
            items=Labels(stored["item-id-offsets"], stored["item-ids"]),
            titles=Labels(stored["title-offsets"], stored["titles"]) if "titles" in stored else None,
            levels=_levels(stored),
            clock=self.clock,
            by_record=RecordEntries(
                stored["by-record-start"],
                stored["by-record-item"],
                stored.get("by-record-value"),
                stored.get("by-record-time"),
            ),
            by_item=Postings(
                start=runs.start,
                run=runs.run,
                block=runs.block,
                begin=begin,
                end=end,
                word=stored["by-item-word"],
                value_bits=self.words.value_bits,
                time_bits=self.words.time_bits,
                single=single,
                support=runs.support,
            ),
            provenance=self.read,
            stored_fingerprint=self.fingerprint,
            stored_columns=origin,
        )


def _levels(stored: Columns) -> Levels | None:
    if "level-texts" in stored:
        return tuple(Labels(stored["level-offsets"], stored["level-texts"]))
    return stored.get("levels")


def _runs(stored: Columns) -> StoredRuns:
    start, run, block, end = (stored[f"by-item-{name}"] for name in ("start", "run", "block", "end"))
    single, support = stored.get("by-item-single", NO_ENDS), stored.get("by-item-support", NO_NUMBERS)
    return StoredRuns(start, run, block, end, single, support)
