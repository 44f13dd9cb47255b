"""Entries of a shard that are sorted, in files, until the counts of all shards have decided their codes.

Whether repeated rows are kept, which levels and times are in use, and how wide a word is depends on the
whole release. So each shard is sorted and counted first, and then finished.
"""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from standout.core.checkpoint_files import read_checkpoint, write_checkpoint
from standout.core.errors import StoreError
from standout.core.private_files import open_private, write_all
from standout.release.flat_arrays import array_bytes, array_digest
from standout.release.model import Codes, RecordEntries
from standout.release.record_groups import ColumnSizes
from standout.release.repeats import Repeats, chosen_rule, merge_repeats
from standout.release.used_codes import UsedCodes

__all__ = [
    "RecordChange",
    "ShardCounts",
    "SortedShard",
    "count_shard",
    "save_arrays",
    "stored_arrays",
    "total_counts",
]

COUNTS = "counts"
AUTO: tuple[Repeats, Repeats] = ("keep", "last")
"""Rules of which "auto" chooses one, by the number of repeated rows."""


@dataclass(frozen=True, slots=True)
class ShardCounts:
    """Rows of a shard, how many have the item of an earlier one, and the used codes by rule for repeats."""

    rows: int
    repeated: int
    used: dict[Repeats, UsedCodes]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts for JSON."""
        used = {
            rule: [
                codes.entries,
                codes.values.tolist(),
                codes.first_time,
                codes.last_time,
                codes.without_time,
            ]
            for rule, codes in self.used.items()
        }
        return {"rows": self.rows, "repeated": self.repeated, "used": used}

    @classmethod
    def from_dict(cls, content: Any, sizes: ColumnSizes) -> "ShardCounts":
        """Make counts from parsed JSON."""
        used: dict[Repeats, UsedCodes] = {}
        for rule in get_args(Repeats):
            if rule in content["used"]:
                entries, values, *times = content["used"][rule]
                used[rule] = UsedCodes(sizes, entries, np.array(values, np.int64), *times)
        return cls(content["rows"], content["repeated"], used)


def count_shard(by_record: RecordEntries, repeated: int, repeats: Repeats, sizes: ColumnSizes) -> ShardCounts:
    """Count the codes of a shard for each rule that may be chosen; entries are in row order."""
    used: dict[Repeats, UsedCodes] = {}
    for rule in AUTO if repeats == "auto" else (repeats,):
        kept = by_record
        if repeated and rule != "keep":
            kept = merge_repeats(_copy(by_record), sizes.missing, rule)
        used[rule] = UsedCodes.of(kept, sizes)
    return ShardCounts(len(by_record.item), repeated, used)


def total_counts(parts: list[ShardCounts], repeats: Repeats) -> tuple[Repeats, int, list[UsedCodes]]:
    """Return the rule for repeats, the number of repeated rows, and the used codes of each shard."""
    repeated = sum(part.repeated for part in parts)
    rule = chosen_rule(repeats, repeated, sum(part.rows for part in parts))
    return rule, repeated, [part.used[rule] for part in parts]


class RecordChange(NamedTuple):
    """The entries of a record of a shard, after a change that keeps their number."""

    shard: int
    record: int
    columns: dict[str, list[int]]

    @classmethod
    def of(cls, shard: int, by_record: RecordEntries, record: int) -> "RecordChange":
        """Return the present entries of a record."""
        part = slice(*by_record.start[record : record + 2])
        columns = zip(by_record._fields[1:], by_record[1:], strict=True)
        return cls(
            shard, record, {name: column[part].tolist() for name, column in columns if column is not None}
        )

    def apply(self, by_record: RecordEntries) -> None:
        """Change the entries of the record in place."""
        part = slice(*by_record.start[self.record : self.record + 2])
        for name, codes in self.columns.items():
            getattr(by_record, name)[part] = codes


class SortedShard:
    """The sorted entries of one shard in a folder; `about` is everything that they depend on."""

    def __init__(self, folder: Path, about: str) -> None:
        self.folder, self.about = folder, about

    def write(self, by_record: RecordEntries, counts: ShardCounts) -> None:
        """Write entries and counts; they are complete once the counts are there."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700)
        columns = {name: column for name, column in by_record._asdict().items() if column is not None}
        content = counts.to_dict() | {"columns": save_arrays(self.folder, columns)}
        write_checkpoint(self.folder / COUNTS, self.about, json.dumps(content).encode())

    def counts(self, sizes: ColumnSizes) -> ShardCounts | None:
        """Return the counts, or None if the shard is not complete."""
        return read_checkpoint(
            self.folder / COUNTS,
            self.about,
            lambda content: ShardCounts.from_dict(json.loads(content), sizes),
        )

    def mapped(self) -> RecordEntries:
        """Map the entries; changes to them stay in memory."""
        described = read_checkpoint(
            self.folder / COUNTS, self.about, lambda content: json.loads(content)["columns"]
        )
        columns = {
            name: np.memmap(self.folder / f"{name}.bin", np.dtype(kind), "c")
            for name, (kind, _) in (described or {}).items()
        }
        return RecordEntries(columns["start"], columns["item"], columns.get("value"), columns.get("time"))

    def read(self) -> RecordEntries:
        """Read the entries; raise StoreError if they are not as they were written."""
        described = read_checkpoint(
            self.folder / COUNTS, self.about, lambda content: json.loads(content)["columns"]
        )
        columns = None if described is None else stored_arrays(self.folder, described)
        if columns is None:
            raise StoreError(f"{self.folder.name} of the build is damaged: run the command again")
        return RecordEntries(columns["start"], columns["item"], columns.get("value"), columns.get("time"))

    def discard(self) -> None:
        """Remove the entries, but not their counts."""
        for column in RecordEntries._fields:
            (self.folder / f"{column}.bin").unlink(missing_ok=True)


def save_arrays(folder: Path, arrays: dict[str, NDArray[Any]]) -> dict[str, list[str]]:
    """Write arrays to files; return the type and SHA-256 of each."""
    for name, array in arrays.items():
        with open_private(folder / f"{name}.bin") as file:
            write_all(file, array_bytes(array))
    return {name: [array.dtype.str, array_digest(array)] for name, array in arrays.items()}


def stored_arrays(folder: Path, described: dict[str, list[str]]) -> dict[str, NDArray[Any]] | None:
    """Read arrays from files; None if one of them is not as it was written."""
    arrays = {}
    for name, (kind, digest) in described.items():
        array = np.fromfile(folder / f"{name}.bin", np.dtype(kind))
        if array_digest(array) != digest:
            return None
        arrays[name] = array
    return arrays


def _copy(by_record: RecordEntries) -> RecordEntries:
    """Copy entries, without their offsets, which no rule changes."""

    def copied(column: Codes | None) -> Codes | None:
        return None if column is None else column.copy()

    return RecordEntries(
        by_record.start, by_record.item.copy(), copied(by_record.value), copied(by_record.time)
    )
