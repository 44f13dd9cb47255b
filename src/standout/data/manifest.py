"""The manifest of an index: its content, how the source was read, and the checksum of every file."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from standout._version import __version__
from standout.core.errors import StandoutError, StoreError
from standout.core.json_files import dump_with_checksum, is_intact
from standout.core.memory import STEP
from standout.data.labels import Clock, Provenance
from standout.data.postings import block_starts, word_bits, word_type
from standout.data.release import Release, code_type

__all__ = ["FORMAT", "MANIFEST", "VERSION", "Column", "Manifest", "Shard", "Words", "shard_folder"]

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
CATALOGUE = {
    "item-ids",
    "item-id-offsets",
    "titles",
    "title-offsets",
    "levels",
    "level-texts",
    "level-offsets",
    "by-item-start",
    "by-item-support",
}
"""Columns that an index in shards has for all of them."""
LEADS = {"by-record-item", "by-record-value", "by-record-time"}
"""Columns that may begin after other bytes."""
JOINED = LEADS | {"record-ids", "record-id-offsets", "by-record-start"}
"""Columns that only the shards have, and that the fingerprint covers."""


def shard_folder(number: int) -> str:
    """Name of the folder of a shard."""
    return f"shard-{number:04}"


@dataclass(frozen=True, slots=True)
class Column:
    """The file of a column: the type, number and SHA-256 of its elements, and the zero bytes before them."""

    file: str
    type: str
    length: int
    bytes: int
    sha256: str
    lead: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the fields; without a lead of 0, as in indexes without shards."""
        return {name: part for name, part in asdict(self).items() if name != "lead" or part}


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard of an index: its folder, its place among all records, and the SHA-256 of its manifest."""

    folder: str
    first_record: int
    records: int
    entries: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Words:
    """Numbers of bits that hold the kind and the time in a word by item."""

    value_bits: int
    time_bits: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """Content of an index.

    An index in shards has the columns of its catalogue only, and `joined` has the SHA-256 of columns that its
    shards have in parts.
    """

    fingerprint: str
    records: int
    items: int
    entries: int
    repeats: bool
    clock: Clock | None
    words: Words
    read: Provenance
    columns: dict[str, Column]
    shards: tuple[Shard, ...] = ()
    joined: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, release: Release, columns: dict[str, Column], fingerprint: str) -> "Manifest":
        """Make the manifest of a release."""
        sizes = release.n_records, release.n_items, release.n_entries, release.has_repeats
        words = Words(release.by_item.value_bits, release.by_item.time_bits)
        return cls(fingerprint, *sizes, release.clock, words, release.provenance, columns)

    def to_json(self) -> bytes:
        """Return the content of the manifest file."""
        header = {"format": FORMAT, "version": VERSION, "written by": f"standout {__version__}"}
        content = asdict(self) | {"columns": {name: part.to_dict() for name, part in self.columns.items()}}
        if not self.shards:
            del content["shards"], content["joined"]
        return dump_with_checksum({**header, **content})

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
            shards=tuple(Shard(**shard) for shard in content.get("shards", ())),
            joined=content.get("joined", {}),
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
        types = self.column_types()
        for name, column in self.columns.items():
            size = np.dtype(types[name]).itemsize * column.length
            named = column.file == f"{name}.bin" and column.type == types[name]
            if not named or column.bytes != size or not isinstance(column.sha256, str):
                raise ValueError(name)
            if type(column.lead) is not int or not 0 <= column.lead < (STEP if name in LEADS else 1):
                raise ValueError(name)
        self._check_shards()

    def _check_shards(self) -> None:
        """Raise an error if the shards have not all records and entries, at the beginning of blocks."""
        if not self.shards:
            if self.joined:
                raise ValueError("joined")
            return
        if not (self.columns.keys() <= CATALOGUE and {*self.joined} <= JOINED):
            raise ValueError("columns")
        records = entries = 0
        for number, shard in enumerate(self.shards):
            sizes = shard.first_record, shard.records, shard.entries
            if not all(type(size) is int for size in sizes) or min(sizes[1:]) < 1:
                raise ValueError("sizes")
            if shard.folder != shard_folder(number) or shard.first_record != records:
                raise ValueError("shards")
            if records % block_starts(self.records).step or not isinstance(shard.sha256, str):
                raise ValueError("shards")
            records, entries = records + shard.records, entries + shard.entries
        if (records, entries) != (self.records, self.entries):
            raise ValueError("shards")

    def _repeat_columns(self) -> set[str]:
        if self.repeats is not True:
            return set()
        return {"by-item-support"} if self.shards else {"by-item-single", "by-item-support"}

    def column_types(self) -> dict[str, str]:
        """Type of each column, also of those that only the shards have; blocks are those of all records."""
        return FIXED_TYPES | self._code_types()

    def _names(self) -> set[str]:
        return {*self.columns, *self.joined}

    def _code_types(self) -> dict[str, str]:
        n_levels, span = self._n_levels(), 0 if self.clock is None else self.clock.span
        if (self.clock is not None) != ("by-record-time" in self._names()):
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
        if texts != ("level-texts" in self.columns) or numbers + texts != ("by-record-value" in self._names()):
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
