"""The manifest of an index: its content, how the source was read, and the type and checksum of every column."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from standout._version import __version__
from standout.core.errors import StandoutError, StoreError
from standout.core.json_files import dump_with_checksum, is_intact
from standout.data.flat_arrays import Columns, levels_are_valid
from standout.data.labels import Clock, Labels, Provenance
from standout.data.postings import (
    NO_ENDS,
    NO_NUMBERS,
    Postings,
    StoredRuns,
    block_starts,
    mismatched_column,
    run_positions,
    word_bits,
    word_type,
)
from standout.data.release import Levels, RecordEntries, Release, StoredColumns, code_type

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
