"""Coded entries → Release: both orientations by counting and scattering, in one canonical form.

Ids stand in shortlex order, entries in the order of their codes, codes in the narrowest type that holds
them. The same entries in any row order therefore give the same arrays, byte for byte.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from standout.errors import ParameterError
from standout.release import kernels
from standout.release.clock import Clock, TimeUnit
from standout.release.labels import Labels
from standout.release.model import Codes, Levels, Orientation, Release, code_type, frozen
from standout.release.progress import Progress, quiet
from standout.release.provenance import Provenance

__all__ = [
    "Coded",
    "Repeats",
    "build",
    "frozen_groups",
    "frozen_levels",
    "oriented",
    "shortlex_order",
    "tally",
    "tightened",
]

Repeats = Literal["last", "first", "max", "error"]
POLICY = {"last": 0, "first": 1, "max": 2, "error": 0}
STRIDE = 1 << 14
BUNDLES = 512
NO_CODES: Codes = np.empty(0, np.uint8)


@dataclass(slots=True)
class Coded:
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


def build(coded: Coded, repeats: Repeats, provenance: Provenance, progress: Progress = quiet) -> Release:
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
    start = _starts(per_record[order])
    shift = (len(records) // BUNDLES).bit_length()
    bundles = _bundled(coded, record_rank, item_rank, start, clock, shift, progress)
    by_record, dropped = _settled(start, bundles, shift, len(items), coded.levels, clock, repeats, progress)
    del bundles
    by_record, levels, clock = tightened(by_record, coded.levels, clock)
    provenance = replace(
        provenance,
        repeats=dropped,
        without_value=0 if levels is None else _missing(by_record.value, len(levels)),
        without_time=0 if clock is None else _missing(by_record.time, clock.span),
    )
    by_item = oriented(by_record, len(items), progress)
    return Release(
        records, items, None, frozen_levels(levels), clock, frozen_groups(by_record), by_item, provenance
    )


def oriented(groups: Orientation, n_others: int, progress: Progress = quiet) -> Orientation:
    """The other orientation of the same entries."""
    n = len(groups.start) - 1
    start = _starts(tally(groups.other, n_others))
    cursor = start[:-1].copy()
    other = np.empty(len(groups.other), code_type(n))
    value = np.empty_like(_column(groups.value))
    time = np.empty_like(_column(groups.time))
    for low, high in _strides(n, "grouping by item", progress):
        kernels.transpose(
            groups.start, groups.other, _column(groups.value), _column(groups.time), low, high,
            cursor, other, value, time,
        )  # fmt: skip
    return frozen_groups(
        Orientation(
            start, other, None if groups.value is None else value, None if groups.time is None else time
        )
    )


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
    offsets = _starts(lengths)
    data = np.empty(offsets[-1], np.uint8)
    kernels.copy_texts(labels.offsets, labels.data, order, data)
    return Labels(frozen(offsets), frozen(data))


def _clock(coded: Coded, seen: NDArray[np.int64]) -> Clock | None:
    if coded.zone is None:
        return None
    low, high = int(seen[0]), int(seen[1])
    if high < 0:
        return Clock(coded.unit, 0, 0, coded.zone)
    return Clock(coded.unit, low - kernels.TIME_BIAS, high - low + 1, coded.zone)


def _bundled(
    coded: Coded,
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
) -> tuple[Orientation, int]:
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
    by_record = Orientation(
        settled, kept[0], None if levels is None else kept[1], None if clock is None else kept[2]
    )
    return by_record, dropped


def tightened(
    groups: Orientation, levels: Levels | None, clock: Clock | None
) -> tuple[Orientation, Levels | None, Clock | None]:
    """The same entries without levels and times that none of them has: what is there decides the form."""
    value, time = groups.value, groups.time
    if levels is not None and value is not None:
        value, levels = _used_levels(value, levels)
    if clock is not None and time is not None:
        time, clock = _used_times(time, clock)
    return Orientation(groups.start, groups.other, value, time), levels, clock


def _used_levels(value: Codes, levels: Levels) -> tuple[Codes, Levels]:
    used = np.flatnonzero(tally(value, len(levels) + 1)[: len(levels)])
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


def tally(codes: Codes, count: int) -> NDArray[np.int64]:
    """How often each code 0 … count - 1 occurs, without np.bincount's copy as 64-bit numbers."""
    counts = np.zeros(count, np.int64)
    kernels.tally(codes, counts)
    return counts


def _strides(n: int, stage: str, progress: Progress) -> Iterator[tuple[int, int]]:
    for low in range(0, n, STRIDE):
        progress(stage, low, n)
        yield low, min(low + STRIDE, n)


def _starts(counts: NDArray[Any]) -> NDArray[np.int64]:
    start = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=start[1:])
    return start


def _missing(column: Codes | None, code: int) -> int:
    return 0 if column is None else int(np.count_nonzero(column == code))


def _column(column: Codes | None) -> Codes:
    return NO_CODES if column is None else column


def frozen_groups(groups: Orientation) -> Orientation:
    value = None if groups.value is None else frozen(groups.value)
    time = None if groups.time is None else frozen(groups.time)
    return Orientation(frozen(groups.start), frozen(groups.other), value, time)


def frozen_levels(levels: Levels | None) -> Levels | None:
    return frozen(levels) if isinstance(levels, np.ndarray) else levels
