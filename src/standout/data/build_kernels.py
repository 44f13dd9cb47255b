"""Compiled loops that group entries by record and by item, by counting and scattering.

A block is an n × 4 array of uint32, one row per entry: record code, item code, value code and
time + 2**31. The value NONE and the time 0 mean missing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints
from standout.core.jit import Array, Flag, Int, kernel
from standout.core.progress import Progress
from standout.data import build_kernels
from standout.data.labels import Clock
from standout.data.packed_blocks import Block
from standout.data.postings import BLOCK_BITS
from standout.data.release import Codes, Levels, RecordEntries, code_type

__all__ = [
    "NONE",
    "TIME_BIAS",
    "CodeMap",
    "ColumnSizes",
    "bounds",
    "count",
    "count_distinct",
    "count_outside",
    "count_repeats",
    "group_by_record",
    "merge_repeats",
    "order_by_entries",
    "pack",
    "partition",
    "place_runs",
    "scatter",
    "settle",
    "sort_repeats",
    "split",
    "tally",
]

NONE = np.uint32(0xFFFFFFFF)
TIME_BIAS = 1 << 31
FIRST, MAX = 1, 2
MOST_ENTRIES = 32
"""Records with more entries of an item are not ordered by their number."""


@kernel
def count(block: Array, per_record: Array, per_item: Array, time_bounds: Array) -> None:
    """Count a block's entries by record and by item; update time_bounds = [lowest time, highest time]."""
    for i in range(len(block)):
        per_record[block[i, 0]] += 1
        per_item[block[i, 1]] += 1
        time = np.int64(block[i, 3])
        if time == 0:
            continue
        if time < time_bounds[0]:
            time_bounds[0] = time
        if time > time_bounds[1]:
            time_bounds[1] = time


@kernel
def partition(
    block: Array,
    record_rank: Array,
    item_rank: Array,
    level: Array,
    clock: Array,
    shift: Int,
    cursor: Array,
    out: Array,
) -> None:
    """Put a block's entries into bundles of records, with final codes: out[p] = (record, item, value, time).

    Bundle r >> shift holds record r; clock = [lowest time, span]. A few hundred write positions stay in the
    cache, one per record would not: scattering 100 million entries directly into records took 13 s.
    """
    origin, span = clock[0], clock[1]
    for i in range(len(block)):
        record = np.int64(record_rank[block[i, 0]])
        p = cursor[record >> shift]
        cursor[record >> shift] = p + 1
        value, time = block[i, 2], np.int64(block[i, 3])
        out[p, 0] = record
        out[p, 1] = item_rank[block[i, 1]]
        out[p, 2] = level[value] if value != NONE else level[len(level) - 1]
        out[p, 3] = time - origin if time != 0 else span


@kernel
def scatter(bundle: Array, base: Int, cursor: Array, rows: Array) -> None:
    """Put a bundle's entries into their records, in row order: rows[p - base] = (item, value, time)."""
    for i in range(len(bundle)):
        record = bundle[i, 0]
        p = cursor[record]
        cursor[record] = p + 1
        rows[p - base, 0] = bundle[i, 1]
        rows[p - base, 1] = bundle[i, 2]
        rows[p - base, 2] = bundle[i, 3]


@kernel
def settle(start: Array, rows: Array, low: Int, high: Int, item: Array, value: Array, time: Array) -> Int:
    """Sort records low … high - 1 by item, in row order where items repeat; return the number of repeats.

    rows = the entries of these records.
    """
    repeats = 0
    w = start[low]
    order = np.empty(0, np.int64)
    for record in range(low, high):
        begin, n = start[record] - start[low], start[record + 1] - start[record]
        ascending = True
        for i in range(begin + 1, begin + n):
            if rows[i, 0] <= rows[i - 1, 0]:
                ascending = False
                break
        if not ascending:  # merge sort is stable and has no bad cases
            order = np.argsort(rows[begin : begin + n, 0], kind="mergesort")
        for i in range(n):
            row = begin + i if ascending else begin + order[i]
            item[w] = rows[row, 0]
            if len(value):
                value[w] = rows[row, 1]
            if len(time):
                time[w] = rows[row, 2]
            if i > 0 and item[w] == item[w - 1]:
                repeats += 1
            w += 1
    return repeats


@kernel
def merge_repeats(
    start: Array, item: Array, value: Array, time: Array, policy: Int, missing: Array, new_start: Array
) -> None:
    """Keep one entry of each (record, item), in place: that of the policy; entries are in row order.

    missing = [value code, time code] of an entry without one. Record r now begins at new_start[r].
    """
    w = 0
    for record in range(len(start) - 1):
        new_start[record] = w
        for i in range(start[record], start[record + 1]):
            is_repeat = i > start[record] and item[i] == item[w - 1]
            if is_repeat and not _supersedes(value, time, i, w - 1, policy, missing):
                continue
            at = w - 1 if is_repeat else w
            item[at] = item[i]
            if len(value):
                value[at] = value[i]
            if len(time):
                time[at] = time[i]
            w = at + 1
    new_start[len(start) - 1] = w


@kernel
def sort_repeats(start: Array, item: Array, value: Array, time: Array) -> None:
    """Sort the entries of each (record, item) by time, then by value, in place."""
    for record in range(len(start) - 1):
        i, end = start[record], start[record + 1]
        while i < end:
            n = np.int64(1)
            while i + n < end and item[i + n] == item[i]:
                n += 1
            if n > 1:
                keys = np.zeros(n, np.uint64)
                for k in range(n):
                    moment = np.uint64(time[i + k]) if len(time) else np.uint64(0)
                    level = np.uint64(value[i + k]) if len(value) else np.uint64(0)
                    keys[k] = moment << np.uint64(32) | level
                keys.sort()
                for k in range(n):
                    if len(value):
                        value[i + k] = keys[k] & np.uint64(0xFFFFFFFF)
                    if len(time):
                        time[i + k] = keys[k] >> np.uint64(32)
            i += n


@kernel
def count_repeats(start: Array, item: Array) -> Int:
    """Count the entries with the record and item of an earlier entry."""
    repeats = 0
    for record in range(len(start) - 1):
        for i in range(start[record] + 1, start[record + 1]):
            repeats += item[i] == item[i - 1]
    return repeats


@kernel
def count_distinct(start: Array, item: Array, per_record: Array, per_item: Array) -> None:
    """Add the number of distinct items of each record, and of distinct records of each item."""
    for record in range(len(start) - 1):
        for i in range(start[record], start[record + 1]):
            if i == start[record] or item[i] != item[i - 1]:
                per_record[record] += 1
                per_item[item[i]] += 1


@kernel
def _supersedes(value: Array, time: Array, rival: Int, best: Int, policy: Int, missing: Array) -> Flag:
    """Whether a later row of the same (record, item) replaces the current one."""
    no_value, no_time = missing[0], missing[1]
    old_time, new_time = no_time, no_time
    if len(time):
        old_time, new_time = np.int64(time[best]), np.int64(time[rival])
    if policy == FIRST:
        return new_time < old_time  # missing is the highest code: any known time is earlier
    if old_time == no_time:
        old_time = np.int64(-1)
    if new_time == no_time:
        new_time = np.int64(-1)
    if policy == MAX and len(value):
        old_value, new_value = np.int64(value[best]), np.int64(value[rival])
        if old_value == no_value:
            old_value = np.int64(-1)
        if new_value == no_value:
            new_value = np.int64(-1)
        if new_value != old_value:
            return new_value > old_value
    return new_time >= old_time


@kernel
def pack(
    start: Array,
    items: Array,
    value: Array,
    time: Array,
    low: Int,
    high: Int,
    layout: Array,
    first: Array,
    cursor: Array,
    word: Array,
    touched: Array,
    end: Array,
    single: Array,
) -> Int:
    """Scatter the block of records low … high - 1 into the items' words; return its number of items.

    touched[k], end[k] = the k-th of these items, and the end of its words, relative to first[touched[k]].
    cursor[i] = [position of the next word of item i, end of its last run]; equal before its first word here.
    layout = [time bits, time and value bits, span, addition to the kind of an entry without a time].
    With `single`, entries whose record has the item once come first, and single[k] is where they end; the
    other records follow in the order of their numbers of entries.
    """
    time_bits, low_bits, span, bank = layout[0], layout[1], layout[2], layout[3]
    n, with_single, repeats, scratch = 0, 0, len(single) > 0, np.empty(0, word.dtype)
    for part in range(2 if repeats else 1):
        for record in range(low, high):
            position = np.uint64(record - low) << low_bits
            begin, stop = start[record], start[record + 1]
            for i in range(begin, stop):
                item = items[i]
                if repeats:
                    alone = (i == begin or items[i - 1] != item) and (i + 1 == stop or items[i + 1] != item)
                    if alone == (part == 1):
                        continue
                p = cursor[item, 0]
                if p == cursor[item, 1]:
                    touched[n] = item
                    n += 1
                cursor[item, 0] = p + 1
                kind = np.uint64(value[i]) if len(value) else np.uint64(0)
                moment = np.uint64(time[i]) if len(time) else span
                if moment == span:
                    kind += bank
                    moment = np.uint64(0)
                word[p] = position | kind << time_bits | moment
        if repeats and part == 0:
            for k in range(n):
                single[k] = cursor[touched[k], 0] - first[touched[k]]
            with_single = n
    for k in range(n):
        item = touched[k]
        if repeats:
            if k >= with_single:
                single[k] = cursor[item, 1] - first[item]
            begin, stop = first[item] + single[k], cursor[item, 0]
            if stop - begin > len(scratch):
                scratch = np.empty(2 * (stop - begin), word.dtype)
            order_by_entries(word, begin, stop, low_bits, scratch)
        cursor[item, 1] = cursor[item, 0]
        end[k] = cursor[item, 0] - first[item]
    return n


@kernel
def order_by_entries(word: Array, low: Int, high: Int, shift: Int, scratch: Array) -> None:
    """Put the records of words low … high - 1 in the order of their numbers of words; many count as most.

    The words of a record follow one another and stay so. Records with equally many words keep their order.
    """
    first = np.zeros(MOST_ENTRIES + 2, np.int64)  # by number of words, moved by 1
    for turn in range(2):  # count the words, then place them
        i = low
        while i < high:
            end = i + 1
            while end < high and np.uint64(word[end]) >> shift == np.uint64(word[i]) >> shift:
                end += 1
            size = min(end - i, MOST_ENTRIES)
            if turn == 0:
                first[size + 1] += end - i
            else:
                scratch[first[size] : first[size] + end - i] = word[i:end]
                first[size] += end - i
            i = end
        if turn == 0:
            for size in range(1, MOST_ENTRIES + 2):
                first[size] += first[size - 1]
    word[low:high] = scratch[: high - low]


@kernel
def place_runs(
    items: Array,
    end: Array,
    single: Array,
    number: Int,
    cursor: Array,
    out_block: Array,
    out_end: Array,
    out_single: Array,
) -> None:
    """Append a block's runs to those of their items; blocks arrive in ascending order."""
    for k in range(len(items)):
        p = cursor[items[k]]
        cursor[items[k]] = p + 1
        out_block[p] = number
        out_end[p] = end[k]
        if len(single):
            out_single[p] = single[k]


@kernel
def count_outside(start: Array, items: Array, rank: Array, tops: Array, out: Array) -> None:
    """Set out[t, r] to the number of items of record r outside the tops[t] most popular."""
    for record in range(len(start) - 1):
        for i in range(start[record], start[record + 1]):
            if i > start[record] and items[i] == items[i - 1]:
                continue
            for t in range(len(tops)):
                out[t, record] += rank[items[i]] > tops[t]


@kernel
def tally(codes: Array, counts: Array) -> None:
    """Add to counts[c] how often code c occurs."""
    for i in range(len(codes)):
        counts[codes[i]] += 1


@kernel
def bounds(codes: Array, missing: Int) -> tuple[Int, Int]:
    """Lowest and highest code other than `missing`; (0, -1) if there is none."""
    low, high = np.int64(missing), np.int64(-1)
    for i in range(len(codes)):
        code = np.int64(codes[i])
        if code == missing:
            continue
        if code < low:
            low = code
        if code > high:
            high = code
    return (low, high) if high >= 0 else (0, -1)


@kernel
def copy_texts(offsets: Array, data: Array, order: Array, out: Array) -> None:
    """Write the texts one after another in the given order."""
    at = 0
    for i in range(len(order)):
        for k in range(offsets[order[i]], offsets[order[i] + 1]):
            out[at] = data[k]
            at += 1


# Group coded entries by record, in two steps that stay in the cache: bundles of records, then records.


BUNDLES = 512
"""Number of bundles of records in the first pass: few enough that their ends stay in the cache."""
NO_CODES: Codes = np.empty(0, np.uint8)


class ColumnSizes(NamedTuple):
    """Number of items, and the levels and clock before unused codes are dropped."""

    n_items: int
    levels: Levels | None
    clock: Clock | None

    @property
    def missing(self) -> Ints:
        """Value code and time code of an entry without one."""
        n_levels = 0 if self.levels is None else len(self.levels)
        return np.array([n_levels, 0 if self.clock is None else self.clock.span], np.int64)

    def empty_columns(self, entries: int) -> tuple[Codes, Codes, Codes]:
        """Return new columns of item, value and time codes."""
        no_value, no_time = self.missing
        value = NO_CODES if self.levels is None else np.empty(entries, code_type(no_value + 1))
        time = NO_CODES if self.clock is None else np.empty(entries, code_type(no_time + 1))
        return np.empty(entries, code_type(self.n_items)), value, time


@dataclass(frozen=True, slots=True)
class CodeMap:
    """The final code of each record, item and value code of blocks, and the lowest time of blocks.

    The last element of `level` is for entries without a value.
    """

    record: NDArray[np.uint32]
    item: NDArray[np.uint32]
    level: NDArray[np.uint32]
    first_time: int

    @classmethod
    def unchanged(cls, n_records: int, sizes: ColumnSizes) -> "CodeMap":
        """Codes of blocks that have final codes already, and time codes that are 1 higher."""
        counts = n_records, sizes.n_items, int(sizes.missing[0]) + 1
        record, item, level = (np.arange(count, dtype=np.uint32) for count in counts)
        return cls(record, item, level, first_time=1)


def group_by_record(
    blocks: Iterable[Block], n_blocks: int, codes: CodeMap, start: Ints, sizes: ColumnSizes, progress: Progress
) -> tuple[RecordEntries, int]:
    """Sort entries by record and item; also return how many have the item of an earlier one.

    Entries with the same record and item stay in the order of their rows.
    """
    shift = ((len(start) - 1) // BUNDLES).bit_length()
    bundles = _bundle(blocks, n_blocks, codes, start, int(sizes.missing[1]), shift, progress=progress)
    return _sort_records(start, bundles, shift, sizes, progress)


def _bundle(
    blocks: Iterable[Block], n_blocks: int, codes: CodeMap, start: Ints, span: int, shift: int, *, progress: Progress
) -> NDArray[np.uint32]:
    """Give all entries their final codes, in bundles of 2**shift records."""
    cursor = start[:-1][:: 1 << shift].copy()
    bundles = np.empty((start[-1], 4), np.uint32)
    clock = np.array([codes.first_time, span], np.int64)
    for number, block in enumerate(blocks):
        progress("grouping by record", number, n_blocks)
        build_kernels.partition(
            block=block,
            record_rank=codes.record,
            item_rank=codes.item,
            level=codes.level,
            clock=clock,
            shift=shift,
            cursor=cursor,
            out=bundles,
        )
    return bundles


def _sort_records(
    start: Ints, bundles: NDArray[np.uint32], shift: int, sizes: ColumnSizes, progress: Progress
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
        repeated += build_kernels.settle(start=start, rows=rows, low=low, high=high, item=item, value=value, time=time)
    by_record = RecordEntries(
        start, item, None if sizes.levels is None else value, None if sizes.clock is None else time
    )
    return by_record, repeated


# Compiled loop that divides coded entries among shards.


@kernel
def split(
    block: Array,
    record_rank: Array,
    item_rank: Array,
    level: Array,
    clock: Array,
    shard_of_block: Array,
    first: Array,
    ends: Array,
    out: Array,
) -> None:
    """Put a block's entries in the order of shards, with final codes; records count from the shard's first.

    Shard s gets out[ends[s] : ends[s + 1]], in row order; ends is 0 before. Times are 1 higher than final
    codes, and 0 if missing. first[s] = first record of shard s; clock = [lowest time, span].
    """
    for i in range(len(block)):
        ends[shard_of_block[record_rank[block[i, 0]] >> BLOCK_BITS] + 1] += 1
    cursor = np.zeros(len(ends), np.int64)
    for number in range(1, len(ends)):
        ends[number] += ends[number - 1]
        cursor[number] = ends[number]
    for i in range(len(block)):
        record = np.int64(record_rank[block[i, 0]])
        shard = np.int64(shard_of_block[record >> BLOCK_BITS])
        p = cursor[shard]
        cursor[shard] = p + 1
        value, time = block[i, 2], np.int64(block[i, 3])
        out[p, 0] = record - first[shard]
        out[p, 1] = item_rank[block[i, 1]]
        out[p, 2] = level[value] if value != NONE else level[len(level) - 1]
        out[p, 3] = time - clock[0] + 1 if time != 0 else 0
