"""Compiled loops that group entries by record and by item, by counting and scattering.

A block is an n × 4 array of uint32, one row per entry: record code, item code, value code and
time + 2**31. The value NONE and the time 0 mean missing. `columns` is a 3 × n array of uint32: final codes of
items, values and times; a column that the release does not have is 0. One type for all of them, so that each
kernel is compiled once.
"""

import numpy as np

from standout.core.jit import Array, Int, kernel

NONE = np.uint32(0xFFFFFFFF)
TIME_BIAS = 1 << 31
MOST_ENTRIES = 32
"""Records with more entries of an item are not ordered by their number."""


@kernel
def count(block: Array, per_record: Array, per_item: Array, time_bounds: Array) -> None:
    """Count a block's entries by record and by item; update time_bounds = [lowest time, highest time]."""
    for i in range(len(block)):
        per_record[block[i, 0]] += 1
        per_item[block[i, 1]] += 1
        time = np.int64(block[i, 3])
        if time != 0:
            time_bounds[0] = min(time_bounds[0], time)
            time_bounds[1] = max(time_bounds[1], time)


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
def sort_records(bundle: Array, low: Int, start: Array, columns: Array) -> Int:
    """Sort a bundle's entries by record and item, in row order where items repeat; return the number of repeats.

    start[r] is where the entries of record low + r begin in `columns`.
    """
    rows = np.empty((len(bundle), 3), np.uint32)
    cursor, repeats = start.copy(), 0
    for i in range(len(bundle)):
        record = bundle[i, 0] - low
        p = cursor[record]
        cursor[record] = p + 1
        rows[p, 0] = bundle[i, 1]
        rows[p, 1] = bundle[i, 2]
        rows[p, 2] = bundle[i, 3]
    order = np.empty(0, np.int64)
    for record in range(len(start) - 1):
        begin, end = start[record], start[record + 1]
        ascending = True
        for i in range(begin + 1, end):
            if rows[i, 0] <= rows[i - 1, 0]:
                ascending = False
                break
        if not ascending:  # merge sort is stable and has no bad cases
            order = np.argsort(rows[begin:end, 0], kind="mergesort")
        for i in range(begin, end):
            row = i if ascending else begin + order[i - begin]
            for k in range(3):
                columns[k, i] = rows[row, k]
            repeats += i > begin and columns[0, i] == columns[0, i - 1]
    return repeats


@kernel
def pack(
    start: Array,
    columns: Array,
    items: Array,
    layout: Array,
    first: Array,
    cursor: Array,
    word: Array,
    touched: Array,
    end: Array,
    single: Array,
) -> Int:
    """Scatter a block of records into the words of items[0] … items[1] - 1; return how many of these it has.

    first[i] = position of the first word of item i. touched[k], end[k] = the k-th of these items, and the end of
    its words, relative to first[touched[k]].
    cursor[i] = [position of the next word of item i, end of its last run]; equal before its first word here.
    layout = [time bits, time and value bits, span, addition to the kind of an entry without a time].
    With `single`, entries whose record has the item once come first, and single[k] is where they end; the
    other records follow in the order of their numbers of entries.
    """
    time_bits, low_bits, span, bank = layout[0], layout[1], layout[2], layout[3]
    n, with_single, repeats, scratch = 0, 0, len(single) > 0, np.empty(0, word.dtype)
    for part in range(2 if repeats else 1):
        for record in range(len(start) - 1):
            position = np.uint64(record) << low_bits
            begin, stop = start[record], start[record + 1]
            for i in range(begin, stop):
                item = columns[0, i]
                if item < items[0]:
                    continue
                if item >= items[1]:
                    break
                if repeats:
                    alone = (i == begin or columns[0, i - 1] != item) and (i + 1 == stop or columns[0, i + 1] != item)
                    if alone == (part == 1):
                        continue
                p = cursor[item, 0]
                if p == cursor[item, 1]:
                    touched[n] = item
                    n += 1
                cursor[item, 0] = p + 1
                kind, moment = np.uint64(columns[1, i]), np.uint64(columns[2, i])
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
def copy_texts(offsets: Array, data: Array, order: Array, out: Array) -> None:
    """Write the texts one after another in the given order."""
    at = 0
    for i in range(len(order)):
        for k in range(offsets[order[i]], offsets[order[i] + 1]):
            out[at] = data[k]
            at += 1
