"""How the records of a release are divided into shards, each a range of whole blocks of records."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints, offsets
from standout.core.errors import ParameterError, StoreError
from standout.core.files import open_private, write_all
from standout.core.json_files import read_checkpoint, write_checkpoint
from standout.core.memory import size_text
from standout.core.progress import Progress
from standout.data.build import (
    UsedCodes,
    WholeRelease,
    built_provenance,
    pack_by_item,
    read_only_entries,
    read_only_levels,
)
from standout.data.build_kernels import CodeMap, ColumnSizes, group_by_record, split
from standout.data.code_blocks import PER_ENTRY, CodeBlocks
from standout.data.flat_arrays import array_bytes, array_digest
from standout.data.labels import Clock, Labels, Provenance
from standout.data.packed_blocks import append_block, read_blocks
from standout.data.postings import BLOCK_BITS, block_starts
from standout.data.release import Codes, Levels, RecordEntries, Release, read_only
from standout.data.repeats import Repeats, apply_rule, chosen_rule, merge_repeats

__all__ = [
    "ChangeEntries",
    "PartitionedRows",
    "RecordChange",
    "ShardCounts",
    "ShardPlan",
    "ShardRows",
    "ShardedBuild",
    "SortedShard",
    "Whole",
    "check_shards",
    "choose_bounds",
    "count_shard",
    "load_plan",
    "save_arrays",
    "save_plan",
    "stored_arrays",
    "total_counts",
]

MOST_SHARDS = 10_000


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """Everything about a release that its shards share, before unused levels and times are dropped.

    Shard s has the records bounds[s] to bounds[s + 1] - 1. `lengths` has the number of rows of each record.
    `is_built` if the entries come from a release, whose provenance is complete.
    """

    records: Labels
    items: Labels
    titles: Labels | None
    lengths: NDArray[np.integer]
    sizes: ColumnSizes
    bounds: tuple[int, ...]
    repeats: Repeats
    provenance: Provenance
    is_built: bool = False

    @property
    def n_shards(self) -> int:
        """Number of shards."""
        return len(self.bounds) - 1

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yield the first record of each shard, and the one after its last."""
        yield from pairwise(self.bounds)

    def start(self, shard: int) -> Ints:
        """Where the rows of each record of a shard begin."""
        return offsets(self.lengths[self.bounds[shard] : self.bounds[shard + 1]])

    def shard_records(self, shard: int) -> Labels:
        """Ids of the records of a shard."""
        ends = self.records.offsets[self.bounds[shard] : self.bounds[shard + 1] + 1]
        return Labels(read_only(ends - ends[0]), read_only(self.records.data[ends[0] : ends[-1]]))

    def shard_of_block(self) -> NDArray[np.uint32]:
        """Shard of each block of records."""
        blocks = np.array(block_starts(self.bounds[-1]))
        return (np.searchsorted(self.bounds, blocks, side="right") - 1).astype(np.uint32)


def check_shards(shards: int | None) -> int | None:
    """Check a number of shards that the user gave."""
    is_number = isinstance(shards, int) and not isinstance(shards, bool)
    if shards is not None and not (is_number and 1 <= shards <= MOST_SHARDS):
        raise ParameterError(f"shards must be a whole number from 1 to {MOST_SHARDS:,}, got {shards!r:.100}")
    return shards


def choose_bounds(
    lengths: NDArray[np.integer], shards: int | None, room: int, *, limit: int = 0, per_entry: int = PER_ENTRY
) -> tuple[int, ...]:
    """First record of each shard, and the number of records: at block boundaries, with similar entries.

    There are as many shards as are given, or as few as possible such that each fits into `room` bytes of the
    memory `limit`; at most one for each block.

    >>> choose_bounds(np.full(40_000, 5), 2, 0), choose_bounds(np.full(40_000, 5), None, 4 * 10**6)
    ((0, 16384, 40000), (0, 16384, 40000))
    """
    ends = np.cumsum(np.add.reduceat(lengths, block_starts(len(lengths)), dtype=np.int64))
    if shards is not None:
        return _bounds(ends, len(lengths), shards)
    largest = int(np.diff(ends, prepend=0).max()) * per_entry
    if largest > room:
        raise ParameterError(
            f"memory must be at least {size_text(limit - room + largest)}, because the entries of "
            f"{1 << BLOCK_BITS:,} records are held in memory, got {size_text(limit)}"
        )
    count = max(1, -(-int(ends[-1]) * per_entry // max(room, 1)))
    while True:
        bounds = _bounds(ends, len(lengths), count)
        sizes = np.diff(ends[np.array(bounds[1:]) - 1 >> BLOCK_BITS], prepend=0)
        if int(sizes.max()) * per_entry <= room:
            return bounds
        count += 1


def _bounds(ends: Ints, n_records: int, shards: int) -> tuple[int, ...]:
    """Bounds of shards from the number of entries up to the end of each block."""
    shards = min(shards, len(ends))
    wanted = ends[-1] * np.arange(1, shards) / shards
    after = np.searchsorted(ends, wanted)
    before = np.maximum(after - 1, 0)
    nearer = np.where(np.abs(ends[before] - wanted) < np.abs(ends[after] - wanted), before, after)
    last = nearer + 1
    for number in range(len(last)):  # each shard has a block, and leaves one for each of those after it
        low = last[number - 1] + 1 if number else 1
        last[number] = min(max(last[number], low), len(ends) - (shards - 1 - number))
    return (0, *(int(block) * block_starts(n_records).step for block in last), n_records)


# Divide coded entries among the shards: one file for each shard, in the order of rows, with final codes.


class PartitionedRows:
    """The rows of each shard, in files of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, blocks: CodeBlocks, codes: CodeMap, plan: ShardPlan, progress: Progress) -> None:
        """Write the rows of all blocks, which are freed one by one; files are on the disk at the end."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        shard_of_block, total = plan.shard_of_block(), len(blocks)
        first = np.array(plan.bounds, np.int64)
        time = np.array([codes.first_time, plan.sizes.missing[1]], np.int64)
        for number, block in enumerate(blocks.drain()):
            progress("partitioning", number, total)
            out, ends = np.empty_like(block), np.zeros(plan.n_shards + 1, np.int64)
            split(
                block=block,
                record_rank=codes.record,
                item_rank=codes.item,
                level=codes.level,
                clock=time,
                shard_of_block=shard_of_block,
                first=first,
                ends=ends,
                out=out,
            )
            for shard in range(plan.n_shards):
                if ends[shard] < ends[shard + 1]:
                    append_block(self._path(shard), out[ends[shard] : ends[shard + 1]])
        for shard in range(plan.n_shards):
            with self._path(shard).open("rb") as file:
                os.fsync(file.fileno())

    def entries(self, plan: ShardPlan, shard: int, progress: Progress) -> tuple[RecordEntries, int]:
        """Sort the rows of a shard by record and item; also return how many repeat an earlier one."""
        start, path = plan.start(shard), self._path(shard)
        codes = CodeMap.unchanged(len(start) - 1, plan.sizes)
        return group_by_record(read_blocks(path), 1, codes, start, plan.sizes, progress)

    def discard(self, shard: int) -> None:
        """Remove the rows of a shard."""
        self._path(shard).unlink(missing_ok=True)

    def _path(self, shard: int) -> Path:
        return self.folder / f"rows-{shard:04d}.bin"


# Entries of a shard that are sorted, in files, until the counts of all shards have decided their codes.
#
# Whether repeated rows are kept, which levels and times are in use, and how wide a word is depends on the
# whole release. So each shard is sorted and counted first, and then finished.


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
            rule: [codes.entries, codes.values.tolist(), codes.first_time, codes.last_time, codes.without_time]
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
        return cls(shard, record, {name: column[part].tolist() for name, column in columns if column is not None})

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
            self.folder / COUNTS, self.about, lambda content: ShardCounts.from_dict(json.loads(content), sizes)
        )

    def mapped(self) -> RecordEntries:
        """Map the entries; changes to them stay in memory."""
        described = read_checkpoint(self.folder / COUNTS, self.about, lambda content: json.loads(content)["columns"])
        columns = {
            name: np.memmap(self.folder / f"{name}.bin", np.dtype(kind), "c")
            for name, (kind, _) in (described or {}).items()
        }
        return RecordEntries(columns["start"], columns["item"], columns.get("value"), columns.get("time"))

    def read(self) -> RecordEntries:
        """Read the entries; raise StoreError if they are not as they were written."""
        described = read_checkpoint(self.folder / COUNTS, self.about, lambda content: json.loads(content)["columns"])
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

    return RecordEntries(by_record.start, by_record.item.copy(), copied(by_record.value), copied(by_record.time))


# A plan of shards in files, so that a killed build can be resumed without reading its sources again.


FOLDER = "plan"


def save_plan(folder: Path, plan: ShardPlan) -> bytes:
    """Write the arrays of a plan to files in a folder; return what describes them."""
    arrays: dict[str, NDArray[Any]] = {"lengths": plan.lengths}
    for name, labels in (("records", plan.records), ("items", plan.items), ("titles", plan.titles)):
        if labels is not None:
            arrays |= {f"{name}-data": labels.data, f"{name}-offsets": labels.offsets}
    (folder / FOLDER).mkdir(mode=0o700, exist_ok=True)
    levels, clock = plan.sizes.levels, plan.sizes.clock
    content = {
        "arrays": save_arrays(folder / FOLDER, arrays),
        "bounds": plan.bounds,
        "repeats": plan.repeats,
        "levels": levels if levels is None or isinstance(levels, tuple) else levels.tolist(),
        "categories": isinstance(levels, tuple),
        "clock": None if clock is None else asdict(clock),
        "provenance": plan.provenance.to_dict(),
    }
    return json.dumps(content).encode()


def load_plan(folder: Path, state: bytes) -> ShardPlan | None:
    """Read the plan that `save_plan` described; None if a file is not as it was written."""
    content = json.loads(state)
    try:
        arrays = stored_arrays(folder / FOLDER, content["arrays"])
    except OSError:
        return None
    if arrays is None:
        return None

    def labels(name: str) -> Labels:
        return Labels(arrays[f"{name}-offsets"], arrays[f"{name}-data"])

    return ShardPlan(
        records=labels("records"),
        items=labels("items"),
        titles=labels("titles") if "titles-data" in arrays else None,
        lengths=arrays["lengths"],
        sizes=ColumnSizes(len(labels("items")), _levels(content), _clock(content)),
        bounds=tuple(content["bounds"]),
        repeats=content["repeats"],
        provenance=Provenance.from_dict(content["provenance"]),
    )


def _levels(content: Any) -> Levels | None:
    levels = content["levels"]
    if levels is None:
        return None
    return tuple(levels) if content["categories"] else np.array(levels, np.float64)


def _clock(content: Any) -> Clock | None:
    return None if content["clock"] is None else Clock(**content["clock"])


# Build the shards of a release one by one, in memory that depends on the largest shard and on the ids.
#
# Each shard is sorted and counted; the counts of all shards decide what depends on the whole release (see
# `sorted_shards`); then each shard is packed by item and written. A killed build is resumed with the shards
# that are finished.


CHANGES = "changes"
ChangeEntries = Callable[[list[RecordEntries]], list[RecordChange]]
"""Changes the entries of all shards in place and returns what has changed."""


class ShardRows(Protocol):
    """Where the rows of a shard come from."""

    def entries(self, plan: ShardPlan, shard: int, progress: Progress) -> tuple[RecordEntries, int]:
        """Rows of a shard by record and item, and how many have the record and item of an earlier row."""

    def discard(self, shard: int) -> None:
        """The rows of a shard are not needed any more."""


@dataclass(frozen=True, slots=True)
class Whole:
    """What the counts of all shards decide.

    `repeated` is the number of repeated rows, and `entries` has the number of entries of each shard.
    """

    rule: Repeats
    repeated: int
    used: UsedCodes
    entries: tuple[int, ...]
    provenance: Provenance

    @property
    def levels(self) -> Levels | None:
        """Levels in use."""
        return read_only_levels(self.used.used_levels)

    @property
    def clock(self) -> Clock | None:
        """Clock of the times in use."""
        return self.used.used_clock

    @property
    def shape(self) -> WholeRelease:
        """What the words by item depend on."""
        return WholeRelease(self.used.has_gaps, self.rule == "keep" and self.repeated > 0)


@dataclass(frozen=True, slots=True)
class ShardedBuild:
    """The shards of one release; files of unfinished ones are in `folder`, and depend on `about`."""

    plan: ShardPlan
    rows: ShardRows
    folder: Path
    about: str
    changes: tuple[RecordChange, ...] = ()

    def changed(self, change: ChangeEntries) -> "ShardedBuild":
        """Return the build with changes to the sorted entries of all shards; a killed build keeps them."""
        path = self.folder / CHANGES

        def parse(content: bytes) -> tuple[RecordChange, ...]:
            return tuple(RecordChange(*part) for part in json.loads(content))

        changes = read_checkpoint(path, self.about, parse)
        if changes is None:
            changes = tuple(change([self._sorted(shard).mapped() for shard in range(self.plan.n_shards)]))
            write_checkpoint(path, self.about, json.dumps(changes).encode())
        return replace(self, changes=changes)

    def sort(self, progress: Progress) -> Whole:
        """Sort and count all shards that are not sorted yet."""
        counts = [self._sorted_counts(shard, progress) for shard in range(self.plan.n_shards)]
        rule, repeated, parts = total_counts(counts, self.plan.repeats)
        used = UsedCodes.merged(parts)
        provenance = self.plan.provenance
        if not self.plan.is_built:
            provenance = built_provenance(provenance, rule, repeated, used)
        return Whole(rule, repeated, used, tuple(part.entries for part in parts), provenance)

    def release(self, shard: int, whole: Whole, progress: Progress) -> Release:
        """Build one shard: its own records, all items, and the levels, clock and words of the whole."""
        plan, levels, clock = self.plan, whole.levels, whole.clock
        by_record = self._sorted(shard).read()
        for change in self.changes:
            if change.shard == shard:
                change.apply(by_record)
        by_record = apply_rule(by_record, whole.rule, whole.repeated > 0, plan.sizes.missing)
        by_record = whole.used.recode(by_record)
        return Release(
            records=plan.shard_records(shard),
            items=plan.items,
            titles=plan.titles,
            levels=levels,
            clock=clock,
            by_record=read_only_entries(by_record),
            by_item=pack_by_item(by_record, len(plan.items), levels, clock, progress, whole.shape),
            provenance=whole.provenance,
        )

    def finish(self, shard: int) -> None:
        """Remove the entries of a shard that is written."""
        self._sorted(shard).discard()

    def releases(self, whole: Whole, progress: Progress) -> Iterator[Release]:
        """Build all shards, one after another."""
        for shard in range(self.plan.n_shards):
            yield self.release(shard, whole, self.stage("building", shard, progress))

    def stage(self, name: str, shard: int, progress: Progress) -> Progress:
        """Progress under the name of a shard."""
        title = f"{name} shard {shard + 1} of {self.plan.n_shards}"
        return lambda stage, done, total: progress(title, done, total)

    def _sorted_counts(self, shard: int, progress: Progress) -> ShardCounts:
        plan, shard_files = self.plan, self._sorted(shard)
        counts = shard_files.counts(plan.sizes)
        if counts is None:
            by_record, repeated = self.rows.entries(plan, shard, self.stage("sorting", shard, progress))
            counts = count_shard(by_record, repeated, plan.repeats, plan.sizes)
            shard_files.write(by_record, counts)
        self.rows.discard(shard)
        return counts

    def _sorted(self, shard: int) -> SortedShard:
        return SortedShard(self.folder / f"sorted-{shard:04d}", f"{self.about} shard {shard}")
