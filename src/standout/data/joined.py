"""An index in shards, opened as one release: its columns are mapped next to one another, without a copy.

Entries by record are one array, because each shard's file begins where the one before ends in its page (see
`Column.lead`). Words by item lie shard after shard, and the runs of an item point to all of them. Ids of
records and the columns of runs are joined in memory: a few bytes a record and 17 bytes a run.
"""

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints
from standout.core.memory import STEP, AddressRange
from standout.data.flat_arrays import Columns, catalogue_fields, levels_are_valid, run_columns
from standout.data.index_columns import check_small, contradiction, damaged, map_column, new_range, place_column
from standout.data.index_files import FOLDER, open_file
from standout.data.labels import Labels
from standout.data.manifest import CATALOGUE, LEADS, MANIFEST, Manifest, Shard
from standout.data.postings import NO_NUMBERS, Postings, StoredRuns, block_starts, run_positions
from standout.data.release import RecordEntries, Release, StoredColumns, code_type, read_only

__all__ = ["open_joined", "open_shard_folder", "read_shard_manifest", "word_places"]


@dataclass
class _Joining:
    """The columns of the shards that were opened so far, by name, and the ranges that they share."""

    folder: int
    path: Path
    manifest: Manifest
    ranges: dict[str, AddressRange] = field(default_factory=dict)
    manifests: list[Manifest] = field(default_factory=list)
    columns: list[Columns] = field(default_factory=list)
    stored: Columns = field(default_factory=dict)
    checksums: dict[str, str] = field(default_factory=dict)

    def add_file(self, name: str, array: NDArray[Any], sha256: str) -> None:
        """Note a file, whose name begins with its shard."""
        self.stored[name], self.checksums[name] = array, sha256


def open_joined(folder: int, path: Path, manifest: Manifest) -> Release:
    """Open all shards of an index in an opened folder; raise StoreError if they do not fit together."""
    joining = _Joining(folder, path, manifest)
    catalogue = {name: map_column(folder, path, column) for name, column in manifest.columns.items()}
    for name, column in manifest.columns.items():
        joining.add_file(name, catalogue[name], column.sha256)
    _reserve_ranges(joining)
    for number in range(len(manifest.shards)):
        _add_shard(joining, number)
    origin = StoredColumns(
        path, joining.stored, joining.checksums, tuple(shard.first_record for shard in manifest.shards)
    )
    check_small(origin)
    _check_shards(joining)
    try:
        fields = catalogue_fields(catalogue)
        by_item = _join_postings(joining)
    except (KeyError, ValueError) as error:
        raise damaged(path, "a column is missing or contradicts the others") from error
    if not levels_are_valid(fields["levels"]):
        raise damaged(path, "its values are not distinct and in order")
    for name, joined in (("start", by_item.start), ("support", by_item.support)):
        if len(joined) and not np.array_equal(joined, catalogue.get(f"by-item-{name}", NO_NUMBERS)):
            raise damaged(path, f"by-item-{name}.bin contradicts the shards")
    return Release(
        **fields,
        records=_join_labels(joining.columns),
        clock=manifest.clock,
        by_record=_join_records(joining),
        by_item=by_item,
        provenance=manifest.read,
        stored_fingerprint=manifest.fingerprint,
        stored_columns=origin,
    )


def open_shard_folder(folder: int, shard: Shard) -> int:
    """Open the folder of a shard; the descriptor is the caller's to close."""
    return os.open(shard.folder, FOLDER, dir_fd=folder)


def read_shard_manifest(folder: int, path: Path, shard: Shard) -> Manifest:
    """Read the manifest of a shard in its opened folder, after a comparison with its checksum."""
    name = f"{shard.folder}/{MANIFEST}"
    try:
        with os.fdopen(open_file(folder, MANIFEST), "rb") as file:
            content = file.read()
    except OSError as error:
        raise damaged(path, f"{name} is missing or cannot be read") from error
    if hashlib.sha256(content).hexdigest() != shard.sha256:
        raise damaged(path, f"{name} does not match its checksum")
    return Manifest.from_json(content, path / shard.folder)


def word_places(shards: tuple[Shard, ...], itemsize: int) -> list[int]:
    """Where the words of each shard begin in their range, and where the last one's end, in bytes."""
    places, end = [], 0
    for shard in shards:
        places.append(-(-end // STEP) * STEP)
        end = places[-1] + shard.entries * itemsize
    return [*places, end]


def _reserve_ranges(joining: _Joining) -> None:
    manifest, types = joining.manifest, joining.manifest.column_types()
    for name in LEADS & manifest.joined.keys():
        size = manifest.entries * np.dtype(types[name]).itemsize
        joining.ranges[name] = new_range(joining.path, f"{name}.bin", size)
    size = word_places(manifest.shards, np.dtype(types["by-item-word"]).itemsize)[-1]
    joining.ranges["by-item-word"] = new_range(joining.path, "by-item-word.bin", size)


def _add_shard(joining: _Joining, number: int) -> None:
    """Map the columns of a shard, after all before it."""
    path, shard = joining.path, joining.manifest.shards[number]
    try:
        folder = open_shard_folder(joining.folder, shard)
    except OSError as error:
        raise damaged(path, f"{shard.folder} is missing or cannot be read") from error
    try:
        manifest = read_shard_manifest(folder, path, shard)
        if not _fits(manifest, joining.manifest, shard):
            raise damaged(path, f"{shard.folder}/{MANIFEST} contradicts the other shards")
        joining.manifests.append(manifest)
        joining.columns.append(_map_columns(joining, number, folder, manifest))
    finally:
        os.close(folder)


def _check_shards(joining: _Joining) -> None:
    """Raise StoreError if the columns of a shard contradict one another."""
    for shard, manifest, columns in zip(joining.manifest.shards, joining.manifests, joining.columns, strict=True):
        try:
            problem = contradiction(manifest, columns)
        except (KeyError, ValueError) as error:
            problem = "a column is missing or contradicts the others"
            raise damaged(joining.path, f"{shard.folder}: {problem}") from error
        if problem:
            raise damaged(joining.path, f"{shard.folder}: {problem}")


def _fits(own: Manifest, whole: Manifest, shard: Shard) -> bool:
    """Whether the manifest of a shard has the right records and entries, and the common catalogue."""
    columns = CATALOGUE - {"by-item-start", "by-item-support"}
    same = all(own.columns.get(name) == whole.columns.get(name) for name in columns)
    names = own.columns.keys() & LEADS == whole.joined.keys() & LEADS
    sizes = (own.records, own.entries, own.items) == (shard.records, shard.entries, whole.items)
    settings = (own.clock, own.words) == (whole.clock, whole.words)
    return same and names and sizes and settings and not own.shards and own.repeats <= whole.repeats


def _map_columns(joining: _Joining, number: int, folder: int, manifest: Manifest) -> Columns:
    """Map all columns of a shard: entries into the ranges of all shards, the others by themselves."""
    shard, columns = joining.manifest.shards[number], Columns()
    entries = sum(before.entries for before in joining.manifest.shards[:number])
    for name, column in manifest.columns.items():
        prefix = f"{shard.folder}/"
        if name in joining.ranges:
            size, whole = np.dtype(column.type).itemsize, joining.ranges[name]
            is_word = name == "by-item-word"
            at = word_places(joining.manifest.shards, size)[number] if is_word else entries * size
            if column.length != shard.entries or column.lead != at % STEP:
                raise damaged(joining.path, f"{prefix}{column.file} contradicts the other files")
            place_column(whole, at, folder, joining.path, column, prefix)
            columns[name] = whole.array(column.type)[at // size : at // size + column.length]
        else:
            columns[name] = map_column(folder, joining.path, column, prefix)
        joining.add_file(prefix + name, columns[name], column.sha256)
    return columns


def _join_labels(shards: list[Columns]) -> Labels:
    """The ids of the records of all shards."""
    data = np.concatenate([columns["record-ids"] for columns in shards])
    return Labels(_join_offsets([columns["record-id-offsets"] for columns in shards]), read_only(data))


def _join_offsets(parts: list[Ints]) -> Ints:
    """Offsets of all parts, one after another."""
    ends = np.cumsum([part[-1] for part in parts])
    joined = [parts[0], *(part[1:] + end for part, end in zip(parts[1:], ends[:-1], strict=True))]
    return read_only(np.concatenate(joined))


def _join_records(joining: _Joining) -> RecordEntries:
    """Entries by record: one array for each column."""
    types = joining.manifest.column_types()
    item, value, time = (
        joining.ranges[name].array(types[name]) if name in joining.ranges else None
        for name in ("by-record-item", "by-record-value", "by-record-time")
    )
    if item is None:
        raise damaged(joining.path, "a column is missing or contradicts the others")
    start = _join_offsets([columns["by-record-start"] for columns in joining.columns])
    return RecordEntries(start, item, value, time)


def _join_postings(joining: _Joining) -> Postings:
    """Entries by item: the runs of each item are those of the first shard, then those of the next."""
    manifest, word_type = joining.manifest, np.dtype(joining.manifest.column_types()["by-item-word"])
    parts = [run_columns(columns) for columns in joining.columns]
    start, run = (np.sum([part[k] for part in parts], axis=0) for k in range(2))
    n_blocks, n_runs = len(block_starts(manifest.records)), int(run[-1])
    block = np.empty(n_runs, code_type(n_blocks))
    begin, end = np.empty(n_runs, np.int64), np.empty(n_runs, np.int64)
    single = np.empty(n_runs if manifest.repeats else 0, np.int64)
    support = np.zeros(manifest.items if manifest.repeats else 0, np.int64)
    place, places = run[:-1].copy(), word_places(manifest.shards, word_type.itemsize)
    for part, shard, at in zip(parts, manifest.shards, places[:-1], strict=True):
        to = np.repeat(place - part.run[:-1], np.diff(part.run)) + np.arange(len(part.block))
        first_block, base = (shard.first_record // block_starts(manifest.records).step, at // word_type.itemsize)
        block[to] = part.block.astype(np.int64) + first_block
        begin[to], end[to], single_ends = _shifted(part, base)
        if manifest.repeats:
            single[to] = single_ends
            support += part.support if len(part.single) else np.diff(part.start)
        place += np.diff(part.run)
    return Postings(
        start=read_only(start),
        run=read_only(run),
        block=read_only(block),
        begin=read_only(begin),
        end=read_only(end),
        word=joining.ranges["by-item-word"].array(word_type),
        value_bits=manifest.words.value_bits,
        time_bits=manifest.words.time_bits,
        single=read_only(single) if manifest.repeats else NO_NUMBERS,
        support=read_only(support) if manifest.repeats else NO_NUMBERS,
    )


def _shifted(part: StoredRuns, base: int) -> tuple[Ints, Ints, Ints]:
    """Return (begin, end, single) of the runs of a shard whose words begin at `base`."""
    begin, end, single = run_positions(part)
    return begin + base, end + base, (single if len(single) else end) + base
