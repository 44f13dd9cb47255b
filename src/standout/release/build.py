"""Coded entries → Release: by record and by item, by counting and scattering, in one canonical form.

Ids stand in shortlex order, entries in the order of their codes, codes in the narrowest type that holds
them. The same entries in any row order therefore give the same arrays, byte for byte.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import offsets
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.release import build_kernels as kernels
from standout.release.clock import Clock, TimeUnit
from standout.release.labels import Labels
from standout.release.model import Codes, Levels, RecordEntries, Release, code_type, read_only
from standout.release.postings import Postings, block_starts, word_bits, word_type
from standout.release.provenance import Provenance

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

Repeats = Literal["last", "first", "max", "error"]
Runs = tuple[NDArray[np.uint32], NDArray[np.uint32]]
POLICY = {"last": 0, "first": 1, "max": 2, "error": 0}
BUNDLES = 512
NO_CODES: Codes = np.empty(0, np.uint8)


@dataclass(slots=True)
class CodedEntries:
    """Entries as the readers hand them over: blocks of codes, and what the codes stand for.

    `level` maps a value code of the blocks to its level; without a value column it is None.
    `zone` is None where there is no time column.
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
    """The release of these entries. Takes the blocks out of `coded` as it goes, to keep memory low."""
    if repeats not in get_args(Repeats):
        raise ParameterError(f"repeats must be last, first, max or error, got {repeats!r}")
    per_record = np.zeros(len(coded.records), np.int64)
    per_item = np.zeros(len(coded.items), np.int64)
    seen = np.array([np.iinfo(np.int64).max, -1], np.int64)
    for block in coded.blocks:
        kernels.count(block, per_record, per_item, seen)
    records, record_rank, order = _ranked(coded.records, per_record)
    items, item_rank, _ = _ranked(coded.items, per_item)
    clock = _clock(coded, seen)
    start = offsets(per_record[order])
    shift = (len(records) // BUNDLES).bit_length()
    bundles = _bundled(coded, record_rank, item_rank, start, clock, shift, progress)
    by_record, dropped = _settled(start, bundles, shift, len(items), coded.levels, clock, repeats, progress)
    del bundles
    by_record, levels, clock = drop_unused_codes(by_record, coded.levels, clock)
    provenance = replace(
        provenance,
        repeats=dropped,
        without_value=0 if levels is None else _missing(by_record.value, len(levels)),
        without_time=0 if clock is None else _missing(by_record.time, clock.span),
    )
    by_item = pack_by_item(by_record, len(items), levels, clock, progress)
    return Release(
        records,
        items,
        None,
        read_only_levels(levels),
        clock,
        read_only_entries(by_record),
        by_item,
        provenance,
    )


def pack_by_item(
    by_record: RecordEntries,
    n_items: int,
    levels: Levels | None,
    clock: Clock | None,
    progress: Progress = no_progress,
) -> Postings:
    """The same entries by item. Levels and clock are those in use, as `tightened` gives them."""
    n_levels, span = 0 if levels is None else len(levels), 0 if clock is None else clock.span
    gaps = span > 0 and int(_column(by_record.time).max()) == span  # `missing` is the highest code
    value_bits, time_bits = word_bits(n_levels, span, gaps)
    layout = [time_bits, time_bits + value_bits, span, n_levels + 1 if gaps else 0]
    start = offsets(count_codes(by_record.item, n_items))
    word = np.empty(len(by_record.item), word_type(value_bits, time_bits))
    runs = list(_packed_blocks(by_record, np.array(layout, np.uint64), start, word, progress))
    run, block, end = (read_only(column) for column in _by_item(runs, n_items))
    return Postings(read_only(start), run, block, end, read_only(word), value_bits, time_bits)


def _packed_blocks(
    by_record: RecordEntries,
    layout: NDArray[np.uint64],
    start: NDArray[np.int64],
    word: Codes,
    progress: Progress,
) -> Iterator[Runs]:
    """Fills `word` block by block; yields the items and the ends of each block's runs."""
    n, n_items = len(by_record.start) - 1, len(start) - 1
    value, time = _column(by_record.value), _column(by_record.time)
    cursor = np.repeat(start[:-1, None], 2, axis=1)
    touched, end = np.empty(n_items, np.uint32), np.empty(n_items, np.uint32)
    for low in block_starts(n):
        progress("grouping by item", low, n)
        count = kernels.pack(
            by_record.start, by_record.item, value, time, low, min(low + block_starts(n).step, n), layout,
            start, cursor, word, touched, end,
        )  # fmt: skip
        yield touched[:count].copy(), end[:count].copy()


def _by_item(runs: list[Runs], n_items: int) -> tuple[NDArray[np.int64], Codes, NDArray[np.uint32]]:
    """(run, block, end) of the postings, from the runs of each block."""
    counts = np.zeros(n_items, np.int64)
    for items, _ in runs:
        kernels.tally(items, counts)
    run = offsets(counts)
    block, end = np.empty(run[-1], code_type(len(runs))), np.empty(run[-1], np.uint32)
    cursor = run[:-1].copy()
    for number, (items, ends) in enumerate(runs):
        kernels.place_runs(items, ends, number, cursor, block, end)
    return run, block, end


def shortlex_order(labels: Labels) -> NDArray[np.int64]:
    """The positions of the labels in shortlex order: lengths first, then bytes, one length at a time."""
    lengths = np.diff(labels.offsets)
    order = np.argsort(lengths, kind="stable")
    bounds = np.searchsorted(lengths[order], np.arange(lengths.max(initial=0) + 2))
    for length in np.unique(lengths):
        group = order[bounds[length] : bounds[length + 1]]
        if length:
            texts = _taken(labels, group).data.view(f"S{length}")
            group[:] = group[np.argsort(texts, kind="stable")]
    return order


def _ranked(
    labels: Labels, counts: NDArray[np.int64]
) -> tuple[Labels, NDArray[np.uint32], NDArray[np.int64]]:
    """The labels that are used in shortlex order, the new code of each old one, and the old of each new."""
    order = shortlex_order(labels)
    order = order[counts[order] > 0]
    rank = np.zeros(len(labels), np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    return _taken(labels, order), rank, order


def _taken(labels: Labels, order: NDArray[np.int64]) -> Labels:
    lengths = np.diff(labels.offsets)[order]
    text_offsets = offsets(lengths)
    data = np.empty(text_offsets[-1], np.uint8)
    kernels.copy_texts(labels.offsets, labels.data, order, data)
    return Labels(read_only(text_offsets), read_only(data))


def _clock(coded: CodedEntries, seen: NDArray[np.int64]) -> Clock | None:
    if coded.zone is None:
        return None
    low, high = int(seen[0]), int(seen[1])
    if high < 0:
        return Clock(coded.unit, 0, 0, coded.zone)
    return Clock(coded.unit, low - kernels.TIME_BIAS, high - low + 1, coded.zone)


def _bundled(
    coded: CodedEntries,
    record_rank: NDArray[np.uint32],
    item_rank: NDArray[np.uint32],
    start: NDArray[np.int64],
    clock: Clock | None,
    shift: int,
    progress: Progress,
) -> NDArray[np.uint32]:
    """All entries in their final codes, in bundles of 2**shift records; blocks are let go one by one."""
    n_levels = 0 if coded.levels is None else len(coded.levels)
    level = np.append(NO_CODES if coded.level is None else coded.level, n_levels).astype(np.uint32)
    times = np.array([0, 0] if clock is None else [clock.origin + kernels.TIME_BIAS, clock.span], np.int64)
    cursor = start[:-1][:: 1 << shift].copy()
    bundles = np.empty((start[-1], 4), np.uint32)
    total, blocks = len(coded.blocks), coded.blocks[::-1]
    coded.blocks.clear()
    while blocks:
        progress("grouping by record", total - len(blocks), total)
        kernels.partition(blocks.pop(), record_rank, item_rank, level, times, shift, cursor, bundles)
    return bundles


def _settled(
    start: NDArray[np.int64],
    bundles: NDArray[np.uint32],
    shift: int,
    n_items: int,
    levels: Levels | None,
    clock: Clock | None,
    repeats: Repeats,
    progress: Progress,
) -> tuple[RecordEntries, int]:
    """Each record's entries in the order of items, one of each repeat; and how many went."""
    n, dropped = len(start) - 1, 0
    n_levels, span = 0 if levels is None else len(levels), 0 if clock is None else clock.span
    other = np.empty(len(bundles), code_type(n_items))
    value = NO_CODES if levels is None else np.empty(len(bundles), code_type(n_levels + 1))
    time = NO_CODES if clock is None else np.empty(len(bundles), code_type(span + 1))
    cursor, settled = start[:-1].copy(), np.zeros(n + 1, np.int64)
    missing = np.array([n_levels, span], np.int64)
    ends = np.append(start[:: 1 << shift], start[-1])
    rows = np.empty((int(np.diff(ends).max()), 3), np.uint32)
    for low in range(0, n, 1 << shift):
        progress("sorting records", low, n)
        high = min(low + (1 << shift), n)
        kernels.scatter(bundles[start[low] : start[high]], start[low], cursor, rows)
        dropped += kernels.settle(
            start, rows, low, high, POLICY[repeats], missing, other, value, time, settled
        )
    kept = [
        column if len(column) == settled[n] else column[: settled[n]].copy()
        for column in (other, value, time)
    ]
    by_record = RecordEntries(
        settled, kept[0], None if levels is None else kept[1], None if clock is None else kept[2]
    )
    return by_record, dropped


def drop_unused_codes(
    groups: RecordEntries, levels: Levels | None, clock: Clock | None
) -> tuple[RecordEntries, Levels | None, Clock | None]:
    """The same entries without levels and times that none of them has: what is there decides the form."""
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
    kept = tuple(levels[i] for i in used) if isinstance(levels, tuple) else levels[used]
    return recode.astype(code_type(len(used) + 1))[value], kept


def _used_times(time: Codes, clock: Clock) -> tuple[Codes, Clock]:
    low, high = (int(end) for end in kernels.bounds(time, clock.span))
    span = high - low + 1
    if span == clock.span:
        return time, clock
    unknown = time == clock.span
    moved = np.where(unknown, time.dtype.type(span), time - time.dtype.type(low))
    origin = clock.origin + low if span else 0
    return moved.astype(code_type(span + 1)), replace(clock, origin=origin, span=span)


def count_codes(codes: Codes, count: int) -> NDArray[np.int64]:
    """How often each code 0 … count - 1 occurs, without np.bincount's copy as 64-bit numbers."""
    counts = np.zeros(count, np.int64)
    kernels.tally(codes, counts)
    return counts


def _missing(column: Codes | None, code: int) -> int:
    return 0 if column is None else int(np.count_nonzero(column == code))


def _column(column: Codes | None) -> Codes:
    return NO_CODES if column is None else column


def read_only_entries(groups: RecordEntries) -> RecordEntries:
    value = None if groups.value is None else read_only(groups.value)
    time = None if groups.time is None else read_only(groups.time)
    return RecordEntries(read_only(groups.start), read_only(groups.item), value, time)


def read_only_levels(levels: Levels | None) -> Levels | None:
    return read_only(levels) if isinstance(levels, np.ndarray) else levels
