"""Build a release from coded entries: sort them by record and by item, in one canonical form.

Ids are in shortlex order, entries in the order of their codes, and codes have the narrowest type that holds
them. The same entries in any row order therefore give the same arrays, byte for byte. If the entries do not fit
into memory, all arrays that have one element per entry are in files (see `MemoryPlan`), and the work goes over
them in pieces.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray

from standout.core.arrays import Ints, offsets, read_only, slices_of, take_rows
from standout.core.errors import ParameterError, SourceError
from standout.core.jit import Array
from standout.core.progress import Progress, no_progress
from standout.core.threads import drop_pages, file_array, size_text
from standout.data import build_kernels
from standout.data.column import Codes, Levels
from standout.data.entries import (
    KEPT_FROM,
    NO_NUMBERS,
    PIECE,
    Postings,
    RecordEntries,
    Repeats,
    apply_rule,
    block_starts,
    code_columns,
    code_type,
    count_distinct,
    entries_at,
    has_repeats,
    word_bits,
    word_type,
)
from standout.data.labels import Clock, Labels, Provenance, TimeUnit
from standout.data.release import Release

BUNDLES = 512
"""Number of bundles of records in the first pass: few enough that their ends stay in the cache."""
PER_ID = 64
"""Bytes for each id while a release is built: its count, length, order, rank and offsets."""


Block = NDArray[np.uint32]
"""One row per entry: record, item, value and time codes, as `build_kernels` describes them."""
BLOCK, SMALLEST_BLOCK = 1 << 22, 1 << 16
PER_ENTRY = 28
"""Bytes that a build needs for each entry at most: codes, bundles of records and the columns of the index."""
PROGRAM = 350 * 10**6
"""Bytes that the program and its buffers take before the first entry."""


@dataclass(slots=True, eq=False)
class MemoryPlan:
    """How much memory a build may use, and the folder for the arrays of entries if they do not fit.

    `ids` are the bytes that ids take, and `on_disk` says whether new arrays of entries go to files.
    """

    limit: int
    folder: Path
    ids: int = 0
    on_disk: bool = False

    @property
    def left(self) -> int:
        """Bytes left for entries; raises ParameterError if there are too few to build anything."""
        needed = PROGRAM + 64 * self.block_rows
        left = self.limit - needed - self.ids
        if left < SMALLEST_BLOCK * PER_ENTRY:
            least = size_text(1.05 * (needed + self.ids + SMALLEST_BLOCK * PER_ENTRY))
            raise ParameterError(
                f"memory must be at least {least}: {size_text(needed)} for the program, and {size_text(self.ids)} "
                f"for the ids so far, which are held in memory; got {size_text(self.limit)}"
            )
        return left

    @property
    def block_rows(self) -> int:
        """Rows of a block: few if memory is short."""
        rows = max(self.limit // (64 * 16), SMALLEST_BLOCK)
        return min(1 << (int(rows).bit_length() - 1), BLOCK)

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """A new array, in memory or in a file."""
        return file_array(self.folder, shape, dtype) if self.on_disk else np.empty(shape, dtype)


IN_MEMORY = MemoryPlan(sys.maxsize, Path())
"""All arrays in memory."""


@dataclass(slots=True)
class CodeBlocks:
    """Coded entries in a few large blocks, which are freed one by one while the release is built."""

    memory: MemoryPlan = IN_MEMORY
    full: list[Block] = field(default_factory=list)
    open: Block = field(default_factory=lambda: np.empty((0, 4), np.uint32))
    used: int = 0
    rows: int = 0

    def reserve(self, rows: int) -> Block:
        """Return space for some entries; call `take` with the number that was written."""
        if self.used + rows > len(self.open):
            self._close()
            self.open = self.memory.empty((max(rows, self.memory.block_rows), 4), np.uint32)
        return self.open[self.used : self.used + rows]

    def take(self, rows: int) -> None:
        """Count entries that were written to the reserved space."""
        self.used += rows
        self.rows += rows

    def make_room(self, ids: int) -> None:
        """Move full blocks to files if the entries do not fit; ids = bytes that the ids take."""
        memory = self.memory
        if memory is IN_MEMORY:
            return
        memory.ids = ids
        if self.rows * PER_ENTRY > memory.left and not memory.on_disk:
            memory.on_disk = True
            for number, block in enumerate(self.full):
                self.full[number] = memory.empty(block.shape, block.dtype)
                self.full[number][:] = block

    def __len__(self) -> int:
        return len(self.full) + (self.used > 0)

    def __iter__(self) -> Iterator[Block]:
        """Yield all blocks."""
        for block in [*self.full, self.open[: self.used]][: len(self)]:
            yield block
            drop_pages()

    def drain(self) -> Iterator[Block]:
        """Yield all blocks, and free each one when the next is asked for."""
        self._close()
        self.open = np.empty((0, 4), np.uint32)
        blocks, self.full = self.full[::-1], []
        while blocks:
            yield blocks.pop()
            drop_pages()

    def rewrite(self, change: Callable[[Block], Block]) -> "CodeBlocks":
        """Return the blocks with changed rows; `change` may drop some. These blocks are freed."""
        changed = CodeBlocks(self.memory)
        for block in self.drain():
            rows = change(block)
            changed.reserve(len(rows))[:] = rows
            changed.take(len(rows))
        return changed

    def _close(self) -> None:
        if self.used:
            self.full.append(self.open[: self.used])
            self.used = 0


@dataclass(slots=True)
class CodedEntries:
    """Entries as the readers deliver them: blocks of codes, and the meaning of the codes.

    `level` maps a value code of the blocks to its level; it is None without a value column.
    `zone` is None without a time column.
    """

    blocks: CodeBlocks
    records: Labels
    items: Labels
    levels: Levels | None
    level: NDArray[np.uint32] | None
    unit: TimeUnit
    zone: str | None


def build_release(
    coded: CodedEntries, repeats: Repeats, provenance: Provenance, progress: Progress = no_progress
) -> Release:
    """Build the release of coded entries; takes the blocks out of `coded` one by one, to save memory."""
    if repeats not in get_args(Repeats):
        raise ParameterError(f"repeats must be {', '.join(get_args(Repeats)[:-1])} or error, got {repeats!r}")
    memory, levels, clock = coded.blocks.memory, coded.levels, None
    per_record, per_item = np.zeros(len(coded.records), np.int64), np.zeros(len(coded.items), np.int64)
    time_bounds = np.array([np.iinfo(np.int64).max, -1])
    for block in coded.blocks:
        build_kernels.count(block, per_record, per_item, time_bounds)
    records, record_rank, order = _rank_used(coded.records, per_record)
    items, item_rank, _ = _rank_used(coded.items, per_item)
    low, high = (int(time) for time in time_bounds) if time_bounds[1] >= 0 else (build_kernels.TIME_BIAS, -1)
    if coded.zone is not None:
        clock = Clock(coded.unit, low - build_kernels.TIME_BIAS, max(high - low + 1, 0), coded.zone)
    missing = np.array([0 if levels is None else len(levels), 0 if clock is None else clock.span])
    level = np.append(np.empty(0, np.uint32) if coded.level is None else coded.level, missing[0]).astype(np.uint32)
    start = offsets(per_record[order])
    n_entries = int(start[-1])
    by_record = RecordEntries(
        start,
        memory.empty(n_entries, code_type(len(items))),
        None if levels is None else memory.empty(n_entries, code_type(missing[0] + 1)),
        None if clock is None else memory.empty(n_entries, code_type(missing[1] + 1)),
    )
    ranks = record_rank, item_rank, level, np.array([low, missing[1]])
    repeated = int(_group_by_record(coded.blocks, ranks, by_record, progress))  # NumPy's, where nothing is compiled
    if repeats == "error" and repeated:
        raise SourceError(
            f"{repeated:,} rows repeat the record and item of an earlier row: keep all with repeats='keep', or one of "
            "them with repeats='last', repeats='first' or repeats='max'"
        )
    if repeats == "auto":
        repeats = "keep" if repeated > KEPT_FROM * n_entries else "last"
    if repeated:
        by_record = apply_rule(by_record, repeats, missing)
    by_record, levels, clock = drop_unused_codes(by_record, levels, clock, memory)
    return Release(
        records=records,
        items=items,
        titles=None,
        levels=levels,
        clock=clock,
        by_record=by_record,
        by_item=pack_by_item(by_record, len(items), levels, clock, progress, memory),
        provenance=replace(
            provenance,
            repeats=repeated,
            merged=0 if repeats == "keep" else repeated,
            settings=provenance.settings | {"repeats": repeats},
            without_value=0 if levels is None else _number_of(len(levels), by_record.value),
            without_time=0 if clock is None else _number_of(clock.span, by_record.time),
        ),
    )


def _number_of(code: int, codes: Codes | None) -> int:
    """How often a code occurs, counted in pieces."""
    assert codes is not None
    return sum(int(np.count_nonzero(codes[at : at + PIECE] == code)) for at in range(0, len(codes), PIECE))


def _group_by_record(
    blocks: CodeBlocks, ranks: tuple[Array, Array, Array, Array], out: RecordEntries, progress: Progress
) -> int:
    """Sort entries by record and item; return how many have the item of an earlier one.

    Two steps that stay in the cache: bundles of records, then records.
    """
    start, n, n_blocks = out.start, len(out.start) - 1, len(blocks)
    shift = (n // BUNDLES).bit_length()
    cursor = start[:-1][:: 1 << shift].copy()
    bundles = blocks.memory.empty((int(start[-1]), 4), np.uint32)
    for number, block in enumerate(blocks.drain()):
        progress("grouping by record", number, n_blocks)
        build_kernels.partition(block, *ranks, shift, cursor, bundles)
    repeated = 0
    for low in range(0, n, 1 << shift):
        progress("sorting records", low, n)
        inside = start[low : low + (1 << shift) + 1]
        entries = slice(int(inside[0]), int(inside[-1]))
        columns = np.empty((3, entries.stop - entries.start), np.uint32)
        repeated += build_kernels.sort_records(bundles[entries], low, inside - inside[0], columns)
        for column, codes in zip(out[1:], columns, strict=True):
            if column is not None:
                column[entries] = codes
        drop_pages()
    return repeated


def drop_unused_codes(
    by_record: RecordEntries, levels: Levels | None, clock: Clock | None, memory: MemoryPlan = IN_MEMORY
) -> tuple[RecordEntries, Levels | None, Clock | None]:
    """Drop levels and times that no entry has, so that the content alone decides the codes."""
    value, time = by_record.value, by_record.time
    if value is not None and levels is not None:
        used = np.flatnonzero(count_codes(value, len(levels) + 1)[:-1])
        if len(used) < len(levels):
            code = np.full(len(levels) + 1, len(used))
            code[used] = np.arange(len(used))
            value = _recoded(value, lambda codes: code[codes], len(used) + 1, memory)
            levels = tuple(levels[i] for i in used) if isinstance(levels, tuple) else levels[used]
    if time is not None and clock is not None:
        old, low, high = clock.span, clock.span, -1
        for at in range(0, len(time), PIECE):
            known = time[at : at + PIECE]
            known = known[known != old] if int(known.max()) == old else known
            if len(known):
                low, high = min(low, int(known.min())), max(high, int(known.max()))
        if (span := max(high - low + 1, 0)) != old:
            clock = replace(clock, origin=clock.origin + low if span else 0, span=span)
            time = _recoded(time, lambda codes: np.where(codes == old, span, codes - low), span + 1, memory)
    return by_record._replace(value=value, time=time), levels, clock


def _recoded(codes: Codes, change: Callable[[Ints], Ints], count: int, memory: MemoryPlan) -> Codes:
    """The codes after a change, of which there are `count` then."""
    out: Codes = memory.empty(len(codes), code_type(count))
    for at in range(0, len(codes), PIECE):
        out[at : at + PIECE] = change(codes[at : at + PIECE].astype(np.int64))
    return out


def count_codes(codes: NDArray[np.integer[Any]], count: int) -> Ints:
    """Count how often each code 0 … count - 1 occurs, in pieces: np.bincount makes a copy of 64-bit integers."""
    counts = np.zeros(count, np.int64)
    for at in range(0, len(codes), PIECE):
        counts += np.bincount(codes[at : at + PIECE], minlength=count)
    return counts


# Put ids in their canonical order: shortlex, by length and then by bytes.


def id_bytes(*labels: Labels) -> int:
    """Bytes of memory that ids take while a release is built, without the table that gave them codes."""
    return sum(3 * int(ids.offsets[-1]) + PER_ID * len(ids) for ids in labels)


def shortlex_order(labels: Labels) -> Ints:
    """Positions of the labels in shortlex order: by length, then by bytes; sorted one length at a time."""
    lengths = np.diff(labels.offsets)
    order = np.argsort(lengths, kind="stable")
    bounds = np.searchsorted(lengths[order], np.arange(lengths.max(initial=0) + 2))
    for length in np.unique(lengths):
        group = order[bounds[length] : bounds[length + 1]]
        if length:
            texts = select_labels(labels, group).data.view(f"S{length}")
            group[:] = group[np.argsort(texts, kind="stable")]
    return order


def _rank_used(labels: Labels, counts: Ints) -> tuple[Labels, NDArray[np.uint32], Ints]:
    """Return the used labels in shortlex order, the new code of each old one, and the old of each new."""
    order = shortlex_order(labels)
    order = order[counts[order] > 0]
    rank = np.zeros(len(labels), np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    return select_labels(labels, order), rank, order


def select_labels(labels: Labels, order: NDArray[np.integer]) -> Labels:
    """Return some labels in the given order."""
    text_offsets = offsets(np.diff(labels.offsets)[order])
    data = np.empty(text_offsets[-1], np.uint8)
    build_kernels.copy_texts(labels.offsets, labels.data, np.asarray(order, np.int64), data)
    return Labels(text_offsets, data)


# Group entries by item.


def pack_by_item(
    by_record: RecordEntries,
    n_items: int,
    levels: Levels | None,
    clock: Clock | None,
    progress: Progress = no_progress,
    memory: MemoryPlan = IN_MEMORY,
) -> Postings:
    """Sort the entries by item; levels and clock are those that `drop_unused_codes` returns.

    If memory is short, words are made for some of the items at a time, with a pass over all entries for each.
    """
    n, n_entries = len(by_record.start) - 1, len(by_record.item)
    n_levels, span = 0 if levels is None else len(levels), 0 if clock is None else clock.span
    gaps = span > 0 and by_record.time is not None and int(by_record.time.max(initial=0)) == span  # the code of missing
    value_bits, time_bits = word_bits(n_levels, span, gaps)
    layout = np.array([time_bits, time_bits + value_bits, span, n_levels + 1 if gaps else 0], np.uint64)
    per_item, repeats = count_codes(by_record.item, n_items), has_repeats(by_record)
    start = offsets(per_item)
    word = memory.empty(n_entries, word_type(value_bits, time_bits))
    touched, end = np.empty(n_items, np.uint32), np.empty(n_items, np.uint32)
    single = np.empty(n_items if repeats else 0, np.uint32)
    runs: list[tuple[int, NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]] = []
    for part in slices_of(per_item, memory.left // (2 * word.itemsize) if memory.on_disk else n_entries):
        first = start - start[part.start]
        cursor = np.repeat(first[:-1, None], 2, axis=1)
        words = slice(int(start[part.start]), int(start[part.stop]))
        in_part = np.empty(words.stop - words.start, word.dtype) if memory.on_disk else word[words]
        for number, low in enumerate(block_starts(n)):
            progress("grouping by item", low, n)
            inside = by_record.start[low : low + block_starts(n).step + 1]
            columns = code_columns(by_record, int(inside[0]), int(inside[-1]))
            bounds = np.array([part.start, part.stop], np.int64)
            count = build_kernels.pack(
                inside - inside[0], columns, bounds, layout, first, cursor, in_part, touched, end, single
            )
            runs.append((number, touched[:count].copy(), end[:count].copy(), single[:count].copy()))
            drop_pages()
        if memory.on_disk:
            word[words] = in_part
    per_item = np.zeros(n_items, np.int64)
    for _, items, _, _ in runs:
        per_item[items] += 1
    run = offsets(per_item)
    block, edge = np.empty(run[-1], code_type(len(block_starts(n)))), np.zeros(run[-1] + 1, np.int64)
    single_end = np.empty(run[-1] if repeats else 0, np.int64)
    cursor = run[:-1].copy()
    for number, items, ends, singles in runs:  # blocks arrive in ascending order
        at = cursor[items]
        cursor[items] += 1
        block[at], edge[at + 1] = number, start[items] + ends
        if repeats:
            single_end[at] = start[items] + singles
    support = count_distinct(by_record, n_items)[1] if repeats else NO_NUMBERS
    start, run, block, edge, word, single_end, support = map(
        read_only, (start, run, block, edge, word, single_end, support)
    )
    return Postings(start, run, block, edge[:-1], edge[1:], word, value_bits, time_bits, single_end, support)


# Select some records of a release.


def subset(release: Release, keep: NDArray[np.bool_]) -> Release:
    """Return a release of some records, in canonical form: as if only their entries had been read."""
    if keep.shape != (release.n_records,) or not keep.any():
        raise ParameterError(
            f"keep must be {release.n_records:,} truth values with at least one True, one for each record"
        )
    entries = release.check().by_record
    part = entries_at(entries, np.repeat(keep, release.lengths), offsets(release.lengths[keep]))
    items, item = np.unique(part.item, return_inverse=True)
    part = part._replace(item=item.astype(code_type(len(items))))
    part, levels, clock = drop_unused_codes(part, release.levels, release.clock)
    return Release(
        records=select_labels(release.records, np.flatnonzero(keep)),
        items=select_labels(release.items, items),
        titles=None if release.titles is None else select_labels(release.titles, items),
        levels=levels,
        clock=clock,
        by_record=part,
        by_item=pack_by_item(part, len(items), levels, clock),
        provenance=release.provenance,
    )


def arrange(release: Release, position: Ints) -> Release:
    """The entries of the records at these positions, in this order; -1 is a record without entries.

    Columns are left out, and ids are row numbers.
    """
    starts = np.append(release.by_record.start, release.n_entries)  # a record without entries after the last one
    start, source = take_rows(starts, np.where(position < 0, release.n_records, position))
    entries = entries_at(release.by_record, source, start)
    return replace(
        release,
        records=Labels.of(map(str, range(1, len(position) + 1))),
        by_record=entries,
        by_item=pack_by_item(entries, release.n_items, release.levels, release.clock),
        stored=None,
        columns=(),
        has_ids=False,
    )
