"""The manifest of an index: its content, how the source was read, and the checksum of every file."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from standout._version import __version__
from standout.core.checked_json import dump_with_checksum, is_intact
from standout.core.errors import StandoutError, StoreError
from standout.release.clock import Clock
from standout.release.model import Release, code_type
from standout.release.postings import block_starts, word_bits, word_type
from standout.release.provenance import Provenance

__all__ = ["FORMAT", "MANIFEST", "VERSION", "Column", "Manifest", "Words"]

FORMAT = "standout index"
VERSION = 3
MANIFEST = "manifest.json"
FIXED_TYPES = {
    "record-ids": "uint8",
    "record-id-offsets": "int64",
    "item-ids": "uint8",
    "item-id-offsets": "int64",
    "titles": "uint8",
    "title-offsets": "int64",
    "levels": "float64",
    "level-texts": "uint8",
    "level-offsets": "int64",
    "by-record-start": "int64",
    "by-item-start": "int64",
    "by-item-run": "int64",
    "by-item-end": "uint32",
    "by-item-single": "uint32",
    "by-item-support": "int64",
}


@dataclass(frozen=True, slots=True)
class Column:
    """The file of a column: the type, number and SHA-256 of its elements."""

    file: str
    type: str
    length: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Words:
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
        return dump_with_checksum({**header, **asdict(self)})

    @classmethod
    def from_json(cls, data: bytes, path: Path) -> "Manifest":
        """Parse a manifest file; raise StoreError if it cannot be used."""
        try:
            content = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise _damaged(path, "is not JSON") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise StoreError(f"{path} is not a Standout index: its {MANIFEST} has another format")
        version = content.get("version")
        if type(version) is int and version > VERSION:
            raise StoreError(
                f"{path} was written by a newer Standout (format {version}, this version reads {VERSION}): "
                "update Standout"
            )
        if type(version) is int and 0 < version < VERSION:
            raise StoreError(
                f"{path} was written by an older Standout (format {version}, this version reads {VERSION}): "
                "index the source again"
            )
        if version != VERSION or not is_intact(content):
            raise _damaged(path, "does not match its checksum")
        try:
            return cls._from_content(content)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, StandoutError) as error:
            raise _damaged(path, "contradicts itself") from error

    @classmethod
    def _from_content(cls, content: Any) -> "Manifest":
        """Make a manifest of parsed JSON, whose shape nothing has checked yet."""
        manifest = cls(
            fingerprint=content["fingerprint"],
            records=content["records"],
            items=content["items"],
            entries=content["entries"],
            repeats=content["repeats"],
            clock=None if content["clock"] is None else Clock(**content["clock"]),
            words=Words(**content["words"]),
            read=Provenance.from_dict(content["read"]),
            columns={name: Column(**column) for name, column in content["columns"].items()},
        )
        manifest._check()
        return manifest

    def _check(self) -> None:
        """Raise an error if a field has the wrong type, or a column a type that contradicts the sizes."""
        sizes = self.records, self.items, self.entries
        if not isinstance(self.fingerprint, str) or not all(type(size) is int and size > 0 for size in sizes):
            raise ValueError("sizes")
        if {"by-item-single", "by-item-support"} & self.columns.keys() != self._repeat_columns():
            raise ValueError("repeats")
        if self.clock is not None and (type(self.clock.span) is not int or self.clock.span < 0):
            raise ValueError("span")
        if self.clock is not None and self.clock.span:
            self.clock.decode(0), self.clock.decode(self.clock.span - 1)
        types = FIXED_TYPES | self._code_types()
        for name, column in self.columns.items():
            size = np.dtype(types[name]).itemsize * column.length
            named = column.file == f"{name}.bin" and column.type == types[name]
            if not named or column.bytes != size or not isinstance(column.sha256, str):
                raise ValueError(name)

    def _repeat_columns(self) -> set[str]:
        return {"by-item-single", "by-item-support"} if self.repeats is True else set()

    def _code_types(self) -> dict[str, str]:
        n_levels, span = self._n_levels(), 0 if self.clock is None else self.clock.span
        if (self.clock is not None) != ("by-record-time" in self.columns):
            raise ValueError("clock")
        return {
            "by-record-item": code_type(self.items).name,
            "by-record-value": code_type(n_levels + 1).name,
            "by-record-time": code_type(span + 1).name,
            "by-item-block": code_type(len(block_starts(self.records))).name,
            "by-item-word": self._word_type(n_levels, span),
        }

    def _n_levels(self) -> int:
        numbers, texts = "levels" in self.columns, "level-offsets" in self.columns
        if texts != ("level-texts" in self.columns) or numbers + texts != ("by-record-value" in self.columns):
            raise ValueError("levels")
        if texts:
            return self.columns["level-offsets"].length - 1
        return self.columns["levels"].length if numbers else 0

    def _word_type(self, n_levels: int, span: int) -> str:
        words = self.words.value_bits, self.words.time_bits
        legal = {word_bits(n_levels, span, gaps) for gaps in (False, span > 0)}
        if n_levels < 0 or words not in legal or not all(type(part) is int for part in words):
            raise ValueError("words")
        return word_type(*words).name


def _damaged(path: Path, problem: str) -> StoreError:
    return StoreError(f"{path} is damaged: its {MANIFEST} {problem}; index the source again")
