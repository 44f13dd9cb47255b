"""Build a release from coded entries: sort them by record and by item, in one canonical form.

Ids are in shortlex order, entries in the order of their codes, and codes have the narrowest type that holds
them. The same entries in any row order therefore give the same arrays, byte for byte.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints, offsets
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.data import build_kernels
from standout.data.build_kernels import CodeMap, ColumnSizes, group_by_record
from standout.data.code_blocks import CodeBlocks
from standout.data.labels import Clock, Labels, Provenance, TimeUnit
from standout.data.postings import NO_NUMBERS, Postings, StoredRuns, block_starts, run_positions, word_bits, word_type
from standout.data.release import Codes, Levels, RecordEntries, Release, code_type, read_only
from standout.data.repeats import Repeats, apply_rule, chosen_rule, column_or_empty, count_distinct

__all__ = [
    "CodedEntries",
    "RankedEntries",
    "Repeats",
    "UsedCodes",
    "WholeRelease",
    "build_release",
    "built_provenance",
    "count_codes",
    "drop_unused_codes",
    "id_bytes",
    "pack_by_item",
    "rank_entries",
    "rank_used",
    "read_only_entries",
    "read_only_levels",
    "select_labels",
    "shortlex_order",
]

# Drop levels and times that no entry has, so that the content alone decides the codes.


NO_COUNTS: Ints = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class UsedCodes:
    """How many entries have each level and none (the last count), and the range of their times.

    `of` counts the entries of a release or of a shard, and `merged` adds the counts of shards.
    """

    sizes: ColumnSizes
    entries: int
    values: Ints
    first_time: int
    last_time: int
    without_time: int

    @classmethod
    def of(cls, by_record: RecordEntries, sizes: ColumnSizes) -> "UsedCodes":
        """Count the codes of entries."""
        no_value, no_time = (int(code) for code in sizes.missing)
        values = NO_COUNTS if by_record.value is None else count_codes(by_record.value, no_value + 1)
        time = column_or_empty(by_record.time)
        low, high = (int(end) for end in build_kernels.bounds(time, no_time))
        return cls(sizes, len(by_record.item), values, low, high, int(np.count_nonzero(time == no_time)))

    @staticmethod
    def merged(parts: "list[UsedCodes]") -> "UsedCodes":
        """Counts of several shards together."""
        return reduce(UsedCodes._plus, parts)

    def _plus(self, other: "UsedCodes") -> "UsedCodes":
        timed = [part for part in (self, other) if part.last_time >= 0]
        return UsedCodes(
            self.sizes,
            self.entries + other.entries,
            self.values + other.values,
            min((part.first_time for part in timed), default=0),
            max((part.last_time for part in timed), default=-1),
            self.without_time + other.without_time,
        )

    @property
    def without_value(self) -> int:
        """Number of entries without a value, of a release with values."""
        return int(self.values[-1]) if len(self.values) else 0

    @property
    def has_gaps(self) -> bool:
        """Whether some entries have a time and others have none."""
        return self.last_time >= 0 and self.without_time > 0

    @property
    def used_levels(self) -> Levels | None:
        """Levels that entries have."""
        levels, used = self.sizes.levels, self._level_codes()
        if levels is None or len(used) == len(levels):
            return levels
        return tuple(levels[i] for i in used) if isinstance(levels, tuple) else levels[used]

    @property
    def used_clock(self) -> Clock | None:
        """Clock of the times that entries have."""
        clock = self.sizes.clock
        span = self.last_time - self.first_time + 1
        if clock is None or span == clock.span:
            return clock
        return replace(clock, origin=clock.origin + self.first_time if span else 0, span=span)

    def recode(self, by_record: RecordEntries) -> RecordEntries:
        """Return the entries with codes of the used levels and times."""
        value, time = by_record.value, by_record.time
        if value is not None:
            value = self._recoded_values(value)
        if time is not None:
            time = self._recoded_times(time)
        return RecordEntries(by_record.start, by_record.item, value, time)

    def _level_codes(self) -> Ints:
        return np.flatnonzero(self.values[:-1])

    def _recoded_values(self, value: Codes) -> Codes:
        used, n_levels = self._level_codes(), len(self.values) - 1
        if len(used) == n_levels:
            return value
        code = np.full(n_levels + 1, len(used))
        code[used] = np.arange(len(used))
        return code.astype(code_type(len(used) + 1))[value]

    def _recoded_times(self, time: Codes) -> Codes:
        old, span = int(self.sizes.missing[1]), self.last_time - self.first_time + 1
        if span == old:
            return time
        moved = np.where(time == old, time.dtype.type(span), time - time.dtype.type(self.first_time))
        return moved.astype(code_type(span + 1))


def drop_unused_codes(
    groups: RecordEntries, levels: Levels | None, clock: Clock | None
) -> tuple[RecordEntries, Levels | None, Clock | None]:
    """Drop levels and times that no entry has, so that the content alone decides the codes."""
    has_value, has_time = groups.value is not None, groups.time is not None
    used = UsedCodes.of(groups, ColumnSizes(0, levels if has_value else None, clock if has_time else None))
    return (used.recode(groups), used.used_levels if has_value else levels, used.used_clock if has_time else clock)


def count_codes(codes: Codes, count: int) -> Ints:
    """Count how often each code 0 … count - 1 occurs, without np.bincount's copy as 64-bit integers."""
    counts = np.zeros(count, np.int64)
    build_kernels.tally(codes, counts)
    return counts


# Put ids in their canonical order: shortlex, by length and then by bytes.


PER_ID = 64
"""Bytes for each id while a release is built: its count, length, order, rank and offsets."""


def id_bytes(*labels: Labels) -> int:
    """Bytes of memory that ids take while a release is built, without the table that gave them codes."""
    return sum(3 * int(ids.offsets[-1]) + PER_ID * len(ids) for ids in labels)


def shortlex_order(labels: Labels) -> NDArray[np.int64]:
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


def rank_used(labels: Labels, counts: NDArray[np.int64]) -> tuple[Labels, NDArray[np.uint32], NDArray[np.int64]]:
    """Return the used labels in shortlex order, the new code of each old one, and the old of each new."""
    order = shortlex_order(labels)
    order = order[counts[order] > 0]
    rank = np.zeros(len(labels), np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    return select_labels(labels, order), rank, order


def select_labels(labels: Labels, order: NDArray[np.int64]) -> Labels:
    """Return some labels in the given order."""
    lengths = np.diff(labels.offsets)[order]
    text_offsets = offsets(lengths)
    data = np.empty(text_offsets[-1], np.uint8)
    build_kernels.copy_texts(labels.offsets, labels.data, order, data)
    return Labels(read_only(text_offsets), read_only(data))


# Entries as the readers deliver them, and the final code of everything in them.


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


@dataclass(frozen=True, slots=True)
class RankedEntries:
    """Ids in use in their final order, the final codes, and where the entries of each record begin."""

    records: Labels
    items: Labels
    codes: CodeMap
    start: Ints
    sizes: ColumnSizes


def rank_entries(coded: CodedEntries) -> RankedEntries:
    """Count the entries, sort the ids in use, and give everything its final code."""
    counts = coded.blocks.counts(len(coded.records), len(coded.items))
    records, record_rank, order = rank_used(coded.records, counts.per_record)
    items, item_rank, _ = rank_used(coded.items, counts.per_item)
    clock = _clock(coded, counts.time_bounds)
    n_levels = 0 if coded.levels is None else len(coded.levels)
    level = np.append(np.empty(0, np.uint32) if coded.level is None else coded.level, n_levels)
    first_time = 0 if clock is None else clock.origin + build_kernels.TIME_BIAS
    return RankedEntries(
        records,
        items,
        CodeMap(record_rank, item_rank, level.astype(np.uint32), first_time),
        offsets(counts.per_record[order]),
        ColumnSizes(len(items), coded.levels, clock),
    )


def _clock(coded: CodedEntries, time_bounds: Ints) -> Clock | None:
    if coded.zone is None:
        return None
    low, high = int(time_bounds[0]), int(time_bounds[1])
    if high < 0:
        return Clock(coded.unit, 0, 0, coded.zone)
    return Clock(coded.unit, low - build_kernels.TIME_BIAS, high - low + 1, coded.zone)


Runs = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]


def build_release(
    coded: CodedEntries, repeats: Repeats, provenance: Provenance, progress: Progress = no_progress
) -> Release:
    """Build the release of coded entries; takes the blocks out of `coded` one by one, to save memory."""
    if repeats not in get_args(Repeats):
        raise ParameterError(f"repeats must be {', '.join(get_args(Repeats)[:-1])} or error, got {repeats!r}")
    ranked, blocks = rank_entries(coded), len(coded.blocks)
    sizes = ranked.sizes
    by_record, repeated = group_by_record(coded.blocks.drain(), blocks, ranked.codes, ranked.start, sizes, progress)
    repeats = chosen_rule(repeats, repeated, int(ranked.start[-1]))
    by_record = apply_rule(by_record, repeats, repeated > 0, sizes.missing)
    used = UsedCodes.of(by_record, sizes)
    by_record, levels, clock = used.recode(by_record), used.used_levels, used.used_clock
    records, items = ranked.records, ranked.items
    return Release(
        records=records,
        items=items,
        titles=None,
        levels=read_only_levels(levels),
        clock=clock,
        by_record=read_only_entries(by_record),
        by_item=pack_by_item(by_record, len(items), levels, clock, progress),
        provenance=built_provenance(provenance, repeats, repeated, used),
    )


def built_provenance(provenance: Provenance, repeats: Repeats, repeated: int, used: UsedCodes) -> Provenance:
    """Add to a provenance what the build has found: repeated rows and missing values and times."""
    return replace(
        provenance,
        repeats=repeated,
        merged=0 if repeats == "keep" else repeated,
        settings=provenance.settings | {"repeats": repeats},
        without_value=used.without_value,
        without_time=used.without_time,
    )


class WholeRelease(NamedTuple):
    """What a whole release has, though some of its shards may not.

    `gaps`: some entries have a time and others have none; `repeats`: some record has an item several times.
    """

    gaps: bool
    repeats: bool


def pack_by_item(
    by_record: RecordEntries,
    n_items: int,
    levels: Levels | None,
    clock: Clock | None,
    progress: Progress = no_progress,
    whole: WholeRelease | None = None,
) -> Postings:
    """Sort the entries by item; levels and clock are those that `drop_unused_codes` returns.

    If the entries are a shard, `whole` says what the whole release has.
    """
    n_levels, span = 0 if levels is None else len(levels), 0 if clock is None else clock.span
    gaps = span > 0 and int(column_or_empty(by_record.time).max()) == span  # the highest code means missing
    gaps = gaps if whole is None else whole.gaps
    value_bits, time_bits = word_bits(n_levels, span, gaps)
    layout = [time_bits, time_bits + value_bits, span, n_levels + 1 if gaps else 0]
    start = offsets(count_codes(by_record.item, n_items))
    word = np.empty(len(by_record.item), word_type(value_bits, time_bits))
    repeats = build_kernels.count_repeats(by_record.start, by_record.item) > 0 if whole is None else whole.repeats
    runs = list(_packed_blocks(by_record, np.array(layout, np.uint64), start, word, repeats, progress))
    run, block, ends, single_ends = (read_only(column) for column in _group_runs(runs, n_items, repeats))
    begin, end, single = run_positions(StoredRuns(start, run, block, ends, single_ends))
    return Postings(
        start=read_only(start),
        run=run,
        block=block,
        begin=begin,
        end=end,
        word=read_only(word),
        value_bits=value_bits,
        time_bits=time_bits,
        single=single,
        support=read_only(count_distinct(by_record, n_items)[1]) if repeats else NO_NUMBERS,
    )


def _packed_blocks(
    by_record: RecordEntries,
    layout: NDArray[np.uint64],
    start: NDArray[np.int64],
    word: Codes,
    repeats: bool,
    progress: Progress,
) -> Iterator[Runs]:
    """Fill `word` block by block; yield the items of each block's runs, their ends and their single ends."""
    n, n_items = len(by_record.start) - 1, len(start) - 1
    value, time = column_or_empty(by_record.value), column_or_empty(by_record.time)
    cursor = np.repeat(start[:-1, None], 2, axis=1)
    touched, end = np.empty(n_items, np.uint32), np.empty(n_items, np.uint32)
    single = np.empty(n_items if repeats else 0, np.uint32)
    for low in block_starts(n):
        progress("grouping by item", low, n)
        count = build_kernels.pack(
            start=by_record.start,
            items=by_record.item,
            value=value,
            time=time,
            low=low,
            high=min(low + block_starts(n).step, n),
            layout=layout,
            first=start,
            cursor=cursor,
            word=word,
            touched=touched,
            end=end,
            single=single,
        )
        yield touched[:count].copy(), end[:count].copy(), single[:count].copy()


def _group_runs(
    runs: list[Runs], n_items: int, repeats: bool
) -> tuple[NDArray[np.int64], Codes, NDArray[np.uint32], NDArray[np.uint32]]:
    """Return (run, block, end, single) of the postings, from the runs of each block."""
    counts = np.zeros(n_items, np.int64)
    for items, _, _ in runs:
        build_kernels.tally(items, counts)
    run = offsets(counts)
    block, end = np.empty(run[-1], code_type(len(runs))), np.empty(run[-1], np.uint32)
    single = np.empty(run[-1] if repeats else 0, np.uint32)
    cursor = run[:-1].copy()
    for number, (items, ends, single_ends) in enumerate(runs):
        build_kernels.place_runs(items, ends, single_ends, number, cursor, block, end, single)
    return run, block, end, single


def read_only_entries(groups: RecordEntries) -> RecordEntries:
    """Return the entries with read-only arrays."""
    value = None if groups.value is None else read_only(groups.value)
    time = None if groups.time is None else read_only(groups.time)
    return RecordEntries(read_only(groups.start), read_only(groups.item), value, time)


def read_only_levels(levels: Levels | None) -> Levels | None:
    """Return the levels with a read-only array."""
    return read_only(levels) if isinstance(levels, np.ndarray) else levels
