"""The manifest of an index: what is in it, how it was read, and the checksum of every file."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from standout._version import __version__
from standout.errors import StandoutError, StoreError
from standout.release.clock import Clock
from standout.release.model import Release, code_type
from standout.release.provenance import Provenance

__all__ = ["FORMAT", "MANIFEST", "VERSION", "Column", "Manifest"]

FORMAT = "standout index"
VERSION = 1
MANIFEST = "manifest.json"
FIXED = {
    "record-ids": "uint8", "record-id-offsets": "int64", "item-ids": "uint8", "item-id-offsets": "int64",
    "titles": "uint8", "title-offsets": "int64", "levels": "float64", "level-texts": "uint8",
    "level-offsets": "int64", "by-record-start": "int64", "by-item-start": "int64",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """A column's file: the type of its numbers, how many they are, and their SHA-256."""

    file: str
    type: str
    length: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index holds."""

    fingerprint: str
    records: int
    items: int
    entries: int
    clock: Clock | None
    read: Provenance
    columns: dict[str, Column]

    @classmethod
    def of(cls, release: Release, columns: dict[str, Column], fingerprint: str) -> "Manifest":
        sizes = release.n_records, release.n_items, release.n_entries
        return cls(fingerprint, *sizes, release.clock, release.provenance, columns)

    def to_json(self) -> bytes:
        told = {"format": FORMAT, "version": VERSION, "written by": f"standout {__version__}", **asdict(self)}
        told["checksum"] = _checksum(told)
        return (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode()

    @classmethod
    def from_json(cls, content: bytes, path: Path) -> "Manifest":
        """The manifest in a file, or an error that says why it cannot be used."""
        try:
            told = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise StoreError(f"{path} is damaged: its {MANIFEST} cannot be read") from error
        if not isinstance(told, dict) or told.get("format") != FORMAT:
            raise StoreError(f"{path} is not an index of Standout")
        version = told.get("version")
        if isinstance(version, int) and version > VERSION:
            raise StoreError(
                f"{path} was written by a newer Standout (format {version}, this one reads {VERSION})"
            )
        if version != VERSION or told.get("checksum") != _checksum(told):
            raise StoreError(f"{path} is damaged: its {MANIFEST} does not match its checksum")
        try:
            return cls._checked(told)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, StandoutError) as error:
            raise StoreError(f"{path} is damaged: its {MANIFEST} makes no sense") from error

    @classmethod
    def _checked(cls, told: dict[str, Any]) -> "Manifest":
        made = cls(
            told["fingerprint"],
            told["records"],
            told["items"],
            told["entries"],
            None if told["clock"] is None else Clock(**told["clock"]),
            Provenance.from_dict(told["read"]),
            {name: Column(**column) for name, column in told["columns"].items()},
        )
        made._check()
        return made

    def _check(self) -> None:
        """Raises if a part is not of its kind, or a column not of the type that the sizes ask for."""
        sizes = self.records, self.items, self.entries
        if not isinstance(self.fingerprint, str) or not all(type(size) is int and size > 0 for size in sizes):
            raise ValueError("sizes")
        if self.clock is not None and self.clock.span:
            self.clock.decode(0), self.clock.decode(self.clock.span - 1)
        types = FIXED | self._code_types()
        for name, column in self.columns.items():
            size = np.dtype(types[name]).itemsize * column.length
            texts = column.file == f"{name}.bin" and column.type == types[name]
            if not texts or column.bytes != size or not isinstance(column.sha256, str):
                raise ValueError(name)

    def _code_types(self) -> dict[str, str]:
        types = {
            "by-record-item": code_type(self.items).name,
            "by-item-record": code_type(self.records).name,
        }
        if "by-record-value" in self.columns:
            texts = "level-offsets" in self.columns
            levels = self.columns["level-offsets"].length - 1 if texts else self.columns["levels"].length
            types |= dict.fromkeys(("by-record-value", "by-item-value"), code_type(levels + 1).name)
        if self.clock is not None:
            types |= dict.fromkeys(("by-record-time", "by-item-time"), code_type(self.clock.span + 1).name)
        if (self.clock is not None) != ("by-record-time" in self.columns):
            raise ValueError("clock")
        return types


def _checksum(told: dict[str, Any]) -> str:
    """SHA-256 of the manifest without its checksum, as JSON with sorted keys."""
    rest = {key: part for key, part in told.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
