"""Compiled loops that group entries by record and by item, by counting and scattering.

A block is an n × 4 array of uint32, one row per entry: record code, item code, value code and
time + 2**31. The value NONE and the time 0 mean missing.
"""

import numpy as np

from standout.core.jit import Array, Flag, Int, kernel

__all__ = [
    "NONE",
    "TIME_BIAS",
    "bounds",
    "count",
    "count_outside",
    "pack",
    "partition",
    "place_runs",
    "scatter",
    "settle",
    "tally",
]

NONE = np.uint32(0xFFFFFFFF)
TIME_BIAS = 1 << 31
FIRST, MAX = 1, 2


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
def settle(
    start: Array,
    rows: Array,
    low: Int,
    high: Int,
    policy: Int,
    missing: Array,
    item: Array,
    value: Array,
    time: Array,
    new_start: Array,
) -> Int:
    """Sort records low … high - 1 by item and keep one entry of each repeat; return how many were dropped.

    rows = the entries of these records; missing = [value code, time code] of an entry without one.
    Record r now begins at new_start[r], and the last one ends at new_start[high].
    """
    repeats = 0
    w = new_start[low]
    order = np.empty(0, np.int64)
    for record in range(low, high):
        new_start[record] = w
        begin, n = start[record] - start[low], start[record + 1] - start[record]
        ascending = True
        for i in range(begin + 1, begin + n):
            if rows[i, 0] <= rows[i - 1, 0]:
                ascending = False
                break
        if not ascending:  # merge sort is stable and has no bad cases
            order = np.argsort(rows[begin : begin + n, 0], kind="mergesort")
        i = 0
        while i < n:
            best = begin + i if ascending else begin + order[i]
            i += 1
            while not ascending and i < n and rows[begin + order[i], 0] == rows[best, 0]:
                rival = begin + order[i]
                repeats += 1
                i += 1
                if _supersedes(rows, rival, best, policy, missing):
                    best = rival
            item[w] = rows[best, 0]
            if len(value):
                value[w] = rows[best, 1]
            if len(time):
                time[w] = rows[best, 2]
            w += 1
    new_start[high] = w
    return repeats


@kernel
def _supersedes(rows: Array, rival: Int, best: Int, policy: Int, missing: Array) -> Flag:
    """Whether a later row of the same (record, item) replaces the current one."""
    no_value, no_time = missing[0], missing[1]
    old_time, new_time = np.int64(rows[best, 2]), np.int64(rows[rival, 2])
    if policy == FIRST:
        return new_time < old_time  # missing is the highest code: any known time is earlier
    if old_time == no_time:
        old_time = np.int64(-1)
    if new_time == no_time:
        new_time = np.int64(-1)
    if policy == MAX:
        old_value, new_value = np.int64(rows[best, 1]), np.int64(rows[rival, 1])
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
) -> Int:
    """Scatter the block of records low … high - 1 into the items' words; return its number of items.

    touched[k], end[k] = the k-th of these items, and the end of its words, relative to first[touched[k]].
    cursor[i] = [position of the next word of item i, end of its last run]; equal before its first word here.
    layout = [time bits, time and value bits, span, addition to the kind of an entry without a time].
    """
    time_bits, low_bits, span, bank = layout[0], layout[1], layout[2], layout[3]
    n = 0
    for record in range(low, high):
        position = np.uint64(record - low) << low_bits
        for i in range(start[record], start[record + 1]):
            item = items[i]
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
    for k in range(n):
        item = touched[k]
        cursor[item, 1] = cursor[item, 0]
        end[k] = cursor[item, 0] - first[item]
    return n


@kernel
def place_runs(
    items: Array, end: Array, number: Int, cursor: Array, out_block: Array, out_end: Array
) -> None:
    """Append a block's runs to those of their items; blocks arrive in ascending order."""
    for k in range(len(items)):
        p = cursor[items[k]]
        cursor[items[k]] = p + 1
        out_block[p] = number
        out_end[p] = end[k]


@kernel
def count_outside(start: Array, items: Array, rank: Array, tops: Array, out: Array) -> None:
    """Set out[t, r] to the number of items of record r outside the tops[t] most popular."""
    for record in range(len(start) - 1):
        for i in range(start[record], start[record + 1]):
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
