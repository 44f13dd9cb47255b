"""Build a release from coded entries: sort them by record and by item, in one canonical form.

Ids are in shortlex order, entries in the order of their codes, and codes have the narrowest type that holds
them. The same entries in any row order therefore give the same arrays, byte for byte.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import offsets
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.release import build_kernels
from standout.release.clock import Clock, TimeUnit
from standout.release.labels import Labels
from standout.release.model import Codes, Levels, RecordEntries, Release, code_type, read_only
from standout.release.postings import NO_NUMBERS, Postings, block_starts, word_bits, word_type
from standout.release.provenance import Provenance
from standout.release.repeats import Repeats, column_or_empty, count_distinct, merge_repeats, sort_in_place
from standout.release.run_columns import StoredRuns, run_positions

__all__ = [
    "CodedEntries",
    "Repeats",
    "build_release",
    "count_codes",
    "drop_unused_codes",
    "pack_by_item",
    "read_only_entries",
    "read_only_levels",
    "shortlex_order",
]

Runs = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]
KEPT_FROM = 0.01
"""Repeated rows are kept if more than this share of the rows repeat and the user has not chosen."""
BUNDLES = 512
"""Number of bundles of records in the first pass: few enough that their ends stay in the cache."""
NO_CODES: Codes = np.empty(0, np.uint8)


@dataclass(slots=True)
class CodedEntries:
    """Entries as the readers deliver them: blocks of codes, and the meaning of the codes.

    `level` maps a value code of the blocks to its level; it is None without a value column.
    `zone` is None without a time column.
    """

    blocks: list[NDArray[np.uint32]]
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
    per_record = np.zeros(len(coded.records), np.int64)
    per_item = np.zeros(len(coded.items), np.int64)
    time_bounds = np.array([np.iinfo(np.int64).max, -1], np.int64)
    for block in coded.blocks:
        build_kernels.count(block, per_record, per_item, time_bounds)
    records, record_rank, order = _rank_used(coded.records, per_record)
    items, item_rank, _ = _rank_used(coded.items, per_item)
    clock = _clock(coded, time_bounds)
    start = offsets(per_record[order])
    shift = (len(records) // BUNDLES).bit_length()
    bundles = _bundle(coded, record_rank, item_rank, start, clock, shift, progress=progress)
    sizes = _Sizes(len(items), coded.levels, clock)
    by_record, repeated = _sort_records(start, bundles, shift, sizes, progress)
    del bundles
    if repeats == "auto":
        repeats = "keep" if repeated > KEPT_FROM * start[-1] else "last"
    if repeated and repeats == "keep":
        sort_in_place(by_record)
    elif repeated:
        by_record = merge_repeats(by_record, sizes.missing, repeats)
    by_record, levels, clock = drop_unused_codes(by_record, coded.levels, clock)
    provenance = replace(
        provenance,
        repeats=repeated,
        merged=0 if repeats == "keep" else repeated,
        settings=provenance.settings | {"repeats": repeats},
        without_value=0 if levels is None else _count_missing(by_record.value, len(levels)),
        without_time=0 if clock is None else _count_missing(by_record.time, clock.span),
    )
    return Release(
        records=records,
        items=items,
        titles=None,
        levels=read_only_levels(levels),
        clock=clock,
        by_record=read_only_entries(by_record),
        by_item=pack_by_item(by_record, len(items), levels, clock, progress),
        provenance=provenance,
    )


def pack_by_item(
    by_record: RecordEntries,
    n_items: int,
    levels: Levels | None,
    clock: Clock | None,
    progress: Progress = no_progress,
) -> Postings:
    """Sort the entries by item; levels and clock are those that `drop_unused_codes` returns."""
    n_levels, span = 0 if levels is None else len(levels), 0 if clock is None else clock.span
    gaps = span > 0 and int(column_or_empty(by_record.time).max()) == span  # the highest code means missing
    value_bits, time_bits = word_bits(n_levels, span, gaps)
    layout = [time_bits, time_bits + value_bits, span, n_levels + 1 if gaps else 0]
    start = offsets(count_codes(by_record.item, n_items))
    word = np.empty(len(by_record.item), word_type(value_bits, time_bits))
    repeats = build_kernels.count_repeats(by_record.start, by_record.item) > 0
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


def shortlex_order(labels: Labels) -> NDArray[np.int64]:
    """Positions of the labels in shortlex order: by length, then by bytes; sorted one length at a time."""
    lengths = np.diff(labels.offsets)
    order = np.argsort(lengths, kind="stable")
    bounds = np.searchsorted(lengths[order], np.arange(lengths.max(initial=0) + 2))
    for length in np.unique(lengths):
        group = order[bounds[length] : bounds[length + 1]]
        if length:
            texts = _select(labels, group).data.view(f"S{length}")
            group[:] = group[np.argsort(texts, kind="stable")]
    return order


def _rank_used(
    labels: Labels, counts: NDArray[np.int64]
) -> tuple[Labels, NDArray[np.uint32], NDArray[np.int64]]:
    """Return the used labels in shortlex order, the new code of each old one, and the old of each new."""
    order = shortlex_order(labels)
    order = order[counts[order] > 0]
    rank = np.zeros(len(labels), np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    return _select(labels, order), rank, order


def _select(labels: Labels, order: NDArray[np.int64]) -> Labels:
    lengths = np.diff(labels.offsets)[order]
    text_offsets = offsets(lengths)
    data = np.empty(text_offsets[-1], np.uint8)
    build_kernels.copy_texts(labels.offsets, labels.data, order, data)
    return Labels(read_only(text_offsets), read_only(data))


def _clock(coded: CodedEntries, time_bounds: NDArray[np.int64]) -> Clock | None:
    if coded.zone is None:
        return None
    low, high = int(time_bounds[0]), int(time_bounds[1])
    if high < 0:
        return Clock(coded.unit, 0, 0, coded.zone)
    return Clock(coded.unit, low - build_kernels.TIME_BIAS, high - low + 1, coded.zone)


def _bundle(
    coded: CodedEntries,
    record_rank: NDArray[np.uint32],
    item_rank: NDArray[np.uint32],
    start: NDArray[np.int64],
    clock: Clock | None,
    shift: int,
    *,
    progress: Progress,
) -> NDArray[np.uint32]:
    """Give all entries their final codes, in bundles of 2**shift records; free the blocks one by one."""
    n_levels = 0 if coded.levels is None else len(coded.levels)
    level = np.append(NO_CODES if coded.level is None else coded.level, n_levels).astype(np.uint32)
    times = np.array(
        [0, 0] if clock is None else [clock.origin + build_kernels.TIME_BIAS, clock.span], np.int64
    )
    cursor = start[:-1][:: 1 << shift].copy()
    bundles = np.empty((start[-1], 4), np.uint32)
    total, blocks = len(coded.blocks), coded.blocks[::-1]
    coded.blocks.clear()
    while blocks:
        progress("grouping by record", total - len(blocks), total)
        build_kernels.partition(
            block=blocks.pop(),
            record_rank=record_rank,
            item_rank=item_rank,
            level=level,
            clock=times,
            shift=shift,
            cursor=cursor,
            out=bundles,
        )
    return bundles


class _Sizes(NamedTuple):
    """Number of items, and the levels and clock before unused codes are dropped."""

    n_items: int
    levels: Levels | None
    clock: Clock | None

    @property
    def missing(self) -> NDArray[np.int64]:
        """Value code and time code of an entry without one."""
        n_levels = 0 if self.levels is None else len(self.levels)
        return np.array([n_levels, 0 if self.clock is None else self.clock.span], np.int64)

    def empty_columns(self, entries: int) -> tuple[Codes, Codes, Codes]:
        """Return new columns of item, value and time codes."""
        no_value, no_time = self.missing
        value = NO_CODES if self.levels is None else np.empty(entries, code_type(no_value + 1))
        time = NO_CODES if self.clock is None else np.empty(entries, code_type(no_time + 1))
        return np.empty(entries, code_type(self.n_items)), value, time


def _sort_records(
    start: NDArray[np.int64],
    bundles: NDArray[np.uint32],
    shift: int,
    sizes: _Sizes,
    progress: Progress,
) -> tuple[RecordEntries, int]:
    """Sort each record's entries by item; also return how many have the item of an earlier one."""
    n, repeated = len(start) - 1, 0
    item, value, time = sizes.empty_columns(len(bundles))
    cursor = start[:-1].copy()
    ends = np.append(start[:: 1 << shift], start[-1])
    rows = np.empty((int(np.diff(ends).max()), 3), np.uint32)
    for low in range(0, n, 1 << shift):
        progress("sorting records", low, n)
        high = min(low + (1 << shift), n)
        build_kernels.scatter(bundles[start[low] : start[high]], start[low], cursor, rows)
        repeated += build_kernels.settle(
            start=start, rows=rows, low=low, high=high, item=item, value=value, time=time
        )
    by_record = RecordEntries(
        start, item, None if sizes.levels is None else value, None if sizes.clock is None else time
    )
    return by_record, repeated


def drop_unused_codes(
    groups: RecordEntries, levels: Levels | None, clock: Clock | None
) -> tuple[RecordEntries, Levels | None, Clock | None]:
    """Drop levels and times that no entry has, so that the content alone decides the codes."""
    value, time = groups.value, groups.time
    if levels is not None and value is not None:
        value, levels = _used_levels(value, levels)
    if clock is not None and time is not None:
        time, clock = _used_times(time, clock)
    return RecordEntries(groups.start, groups.item, value, time), levels, clock


def _used_levels(value: Codes, levels: Levels) -> tuple[Codes, Levels]:
    used = np.flatnonzero(count_codes(value, len(levels) + 1)[: len(levels)])
    if len(used) == len(levels):
        return value, levels
    recode = np.full(len(levels) + 1, len(used))
    recode[used] = np.arange(len(used))
    used_levels = tuple(levels[i] for i in used) if isinstance(levels, tuple) else levels[used]
    return recode.astype(code_type(len(used) + 1))[value], used_levels


def _used_times(time: Codes, clock: Clock) -> tuple[Codes, Clock]:
    low, high = (int(end) for end in build_kernels.bounds(time, clock.span))
    span = high - low + 1
    if span == clock.span:
        return time, clock
    unknown = time == clock.span
    moved = np.where(unknown, time.dtype.type(span), time - time.dtype.type(low))
    origin = clock.origin + low if span else 0
    return moved.astype(code_type(span + 1)), replace(clock, origin=origin, span=span)


def count_codes(codes: Codes, count: int) -> NDArray[np.int64]:
    """Count how often each code 0 … count - 1 occurs, without np.bincount's copy as 64-bit integers."""
    counts = np.zeros(count, np.int64)
    build_kernels.tally(codes, counts)
    return counts


def _count_missing(column: Codes | None, code: int) -> int:
    return 0 if column is None else int(np.count_nonzero(column == code))


def read_only_entries(groups: RecordEntries) -> RecordEntries:
    """Return the entries with read-only arrays."""
    value = None if groups.value is None else read_only(groups.value)
    time = None if groups.time is None else read_only(groups.time)
    return RecordEntries(read_only(groups.start), read_only(groups.item), value, time)


def read_only_levels(levels: Levels | None) -> Levels | None:
    """Return the levels with a read-only array."""
    return read_only(levels) if isinstance(levels, np.ndarray) else levels
