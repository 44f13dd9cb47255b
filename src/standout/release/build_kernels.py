"""Entries in row order → entries grouped by record and by item: counting and scattering, compiled.

A block is an n × 4 array of uint32, one row per entry: record code, item code, value code and
time + 2**31. NONE as value and 0 as time mean that it is missing.
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
def count(block: Array, per_record: Array, per_item: Array, seen: Array) -> None:
    """Counts a block's entries by record and by item.

    seen = [lowest time, highest time], updated.
    """
    for i in range(len(block)):
        per_record[block[i, 0]] += 1
        per_item[block[i, 1]] += 1
        time = np.int64(block[i, 3])
        if time == 0:
            continue
        if time < seen[0]:
            seen[0] = time
        if time > seen[1]:
            seen[1] = time


@kernel
def partition(
    block: Array, record_rank: Array, item_rank: Array, level: Array, clock: Array, shift: Int,
    cursor: Array, out: Array,
) -> None:  # fmt: skip
    """Puts a block's entries into bundles of records, with final codes: out[p] = (record, item, value, time).

    Bundle r >> shift holds record r. A few hundred places to write to stay in the cache; as many as there are
    records would not: a scatter of 100 million entries straight into their records took 13 s.
    clock = [lowest time, span].
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
    """Puts a bundle's entries into their records, row order kept: rows[p - base] = (item, value, time)."""
    for i in range(len(bundle)):
        record = bundle[i, 0]
        p = cursor[record]
        cursor[record] = p + 1
        rows[p - base, 0] = bundle[i, 1]
        rows[p - base, 1] = bundle[i, 2]
        rows[p - base, 2] = bundle[i, 3]


@kernel
def settle(
    start: Array, rows: Array, low: Int, high: Int, policy: Int, missing: Array,
    other: Array, value: Array, time: Array, settled: Array,
) -> Int:  # fmt: skip
    """Sorts records low … high - 1 by item and keeps one entry of each repeat; returns how many went.

    rows = the entries of these records. Writes behind its own reading: settled[r] says where record r now
    starts, settled[high] where the last one ends.
    missing = [value code, time code] of an entry without one.
    """
    repeats = 0
    w = settled[low]
    order = np.empty(0, np.int64)
    for record in range(low, high):
        settled[record] = w
        begin, n = start[record] - start[low], start[record + 1] - start[record]
        ascending = True
        for i in range(begin + 1, begin + n):
            if rows[i, 0] <= rows[i - 1, 0]:
                ascending = False
                break
        if not ascending:  # a merge sort keeps equal items in row order, and has no bad cases
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
            other[w] = rows[best, 0]
            if len(value):
                value[w] = rows[best, 1]
            if len(time):
                time[w] = rows[best, 2]
            w += 1
    settled[high] = w
    return repeats


@kernel
def _supersedes(rows: Array, rival: Int, best: Int, policy: Int, missing: Array) -> Flag:
    """Whether a later row of the same (record, item) takes the place of the one kept so far."""
    no_value, no_time = missing[0], missing[1]
    old_time, new_time = np.int64(rows[best, 2]), np.int64(rows[rival, 2])
    if policy == FIRST:
        return new_time < old_time  # `missing` is the highest code: any known time comes before it
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
    start: Array, items: Array, value: Array, time: Array, low: Int, high: Int, layout: Array,
    first: Array, cursor: Array, word: Array, touched: Array, end: Array,
) -> Int:  # fmt: skip
    """Scatters the block of records low … high - 1 into the items' words; returns how many items it has.

    touched[k], end[k] = the k-th of them, and where its words now end, counted from first[touched[k]].
    cursor[i] = [where the next word of item i goes, where its last run ended]: equal until the block's first.
    layout = [time bits, time and value bits, span, what an entry without a time adds to its kind].
    """
    time_bits, low_bits, span, bank = layout[0], layout[1], layout[2], layout[3]
    n = 0
    for record in range(low, high):
        place = np.uint64(record - low) << low_bits
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
            word[p] = place | kind << time_bits | moment
    for k in range(n):
        item = touched[k]
        cursor[item, 1] = cursor[item, 0]
        end[k] = cursor[item, 0] - first[item]
    return n


@kernel
def place_runs(
    items: Array, end: Array, number: Int, cursor: Array, out_block: Array, out_end: Array
) -> None:
    """Puts a block's runs behind those that their items have; blocks arrive in ascending order."""
    for k in range(len(items)):
        p = cursor[items[k]]
        cursor[items[k]] = p + 1
        out_block[p] = number
        out_end[p] = end[k]


@kernel
def count_outside(start: Array, items: Array, rank: Array, tops: Array, out: Array) -> None:
    """out[t, r] = how many items of record r are not among the tops[t] most popular."""
    for record in range(len(start) - 1):
        for i in range(start[record], start[record + 1]):
            for t in range(len(tops)):
                out[t, record] += rank[items[i]] > tops[t]


@kernel
def tally(codes: Array, counts: Array) -> None:
    """counts[c] += how often code c occurs."""
    for i in range(len(codes)):
        counts[codes[i]] += 1


@kernel
def bounds(codes: Array, missing: Int) -> tuple[Int, Int]:
    """The lowest and the highest code that is not `missing`; (0, -1) if there is none."""
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
    """Writes the texts one after another in this order."""
    at = 0
    for i in range(len(order)):
        for k in range(offsets[order[i]], offsets[order[i] + 1]):
            out[at] = data[k]
            at += 1
