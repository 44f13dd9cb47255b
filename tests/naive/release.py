"""Reference implementation of a release: which entries it has, its supports, ranks and postings.

A row is (record, item, value, time). A value is a number, a text or None. A time is a whole number of units
on the wall clock (see `units`), anything else that can be compared, or None. Entries are
{(record, item): (value, time)}, or {(record, item): [(value, time), …]} if a record may have an item several
times; `cells_of` gives a list in both cases.
"""

from collections import Counter
from itertools import pairwise

__all__ = [
    "all_cells",
    "cells_of",
    "digits",
    "entries",
    "lengths",
    "outside_top",
    "postings",
    "ranks",
    "record_of",
    "runs_fit",
    "shortlex",
    "support",
    "without",
    "word_is_valid",
]


def entries(rows, repeats="last"):
    """{(record, item): (value, time)}: one entry for each pair, chosen among its rows.

    last   the latest time; a missing time is the earliest; in a tie the later row
    first  the earliest time; a missing time is the latest; in a tie the earlier row
    max    the largest value; a missing value is the smallest; in a tie the `last`
    keep   all of them, as a list
    """
    chosen = {}
    if repeats == "keep":
        for record, item, value, time in rows:
            chosen.setdefault((record, item), []).append((value, time))
        return chosen
    for record, item, value, time in rows:
        old = chosen.get((record, item))
        if old is None or _replaces((value, time), old, repeats):
            chosen[record, item] = (value, time)
    return chosen


def _replaces(new, old, repeats):
    (new_value, new_time), (old_value, old_time) = new, old
    if repeats == "first":
        return new_time is not None and (old_time is None or new_time < old_time)
    if repeats == "max" and new_value != old_value:
        return new_value is not None and (old_value is None or new_value > old_value)
    return old_time is None or (new_time is not None and new_time >= old_time)


def shortlex(texts):
    """The texts sorted by length, then by their bytes: 9 before 10."""
    return sorted(texts, key=lambda text: (len(text.encode()), text.encode()))


def support(entries):
    """{item: number of records that have it}."""
    return Counter(item for _, item in entries)


def cells_of(cells):
    """The entries of one record and item as a list: none, one (value, time), or several in a list."""
    return [] if cells is None else cells if isinstance(cells, list) else [cells]


def all_cells(entries):
    """(record, item, value, time) of every entry."""
    return [(*pair, *cell) for pair, cells in entries.items() for cell in cells_of(cells)]


def lengths(entries):
    """{record: number of its entries}."""
    return Counter(record for record, *_ in all_cells(entries))


def ranks(entries):
    """{item: its rank by support}: 1 is the most popular; ties are in shortlex order of the ids."""
    counts = support(entries)
    popular = sorted(shortlex(counts), key=lambda item: -counts[item])
    return {item: rank for rank, item in enumerate(popular, 1)}


def record_of(entries, record):
    """{item: (value, day)} of one record."""
    return {item: cell for (other, item), cell in entries.items() if other == record}


def without(entries, record):
    """The entries of all other records."""
    return {pair: cells for pair, cells in entries.items() if pair[0] != record}


def postings(entries, n_items, n_levels, span, block_bits=13):
    """Entries by item as an index holds them: its columns as lists, and the bits of the fields of a word.

    Records, items, values and times are codes: whole numbers ≥ 0, values below n_levels, times below span.
    `entries` may also be a list of rows (record, item, value, time), in which a pair may occur several times.
    """
    rows = [(*pair, *cells) for pair, cells in entries.items()] if isinstance(entries, dict) else entries
    has_gaps = span > 0 and any(time is None for *_, time in rows)
    kinds = 2 * (n_levels + 1) if has_gaps else n_levels + 1
    value_bits, time_bits = digits(kinds - 1), digits(max(span - 1, 0))
    columns = {"start": [0], "run": [0], "block": [], "begin": [], "end": [], "word": [], "single": [], "support": []}
    times_of = Counter((record, item) for record, item, *_ in rows)
    for item in range(n_items):
        own = [(record, value, time) for record, other, value, time in rows if other == item]
        begins, ends, singles = {}, {}, {}
        for block in sorted({record // 2**block_bits for record, *_ in own}):
            inside = [row for row in own if row[0] // 2**block_bits == block]
            inside.sort(key=lambda row: (min(times_of[row[0], item], 32), *_by_time(row)))
            begins[block] = len(columns["word"])
            for record, value, time in inside:
                kind = n_levels if value is None else value
                if time is None and has_gaps:
                    kind += n_levels + 1
                offset = record % 2**block_bits
                columns["word"].append((offset * 2**value_bits + kind) * 2**time_bits + (time or 0))
            ends[block] = len(columns["word"])
            singles[block] = ends[block] - sum(times_of[row[0], item] > 1 for row in inside)
        columns["block"] += ends.keys()
        columns["begin"] += begins.values()
        columns["end"] += ends.values()
        columns["single"] += singles.values()
        columns["start"].append(len(columns["word"]))
        columns["run"].append(len(columns["block"]))
        columns["support"].append(len({record for record, *_ in own}))
    if max(times_of.values(), default=1) == 1:
        columns |= {"single": [], "support": []}
    return columns | {"value_bits": value_bits, "time_bits": time_bits}


def _by_time(row):
    """Sort by record, then by time, then by value; what is missing comes last."""
    record, value, time = row
    return record, time is None, time or 0, value is None, value or 0


def digits(number):
    """Number of binary digits of a number; 0 for 0."""
    return len(f"{number:b}") if number else 0


def runs_fit(start, run, block, end, n_blocks):
    """Whether the columns of runs fit together, given that start and run are in order."""
    supports = [high - low for low, high in pairwise(start)]
    for support, (low, high) in zip(supports, pairwise(run), strict=True):
        blocks, ends = block[low:high], end[low:high]
        if sorted(set(blocks)) != blocks or sorted({0, *ends}) != [0, *ends]:
            return False
        if any(number >= n_blocks for number in blocks) or (ends[-1] if ends else 0) != support:
            return False
    return True


def word_is_valid(word, block, bits, n_records, n_levels, span, block_bits=13):
    """Whether a word encodes a record, value and time that exist; bits = (value bits, time bits)."""
    value_bits, time_bits = bits
    rest, time = divmod(word, 2**time_bits)
    offset, kind = divmod(rest, 2**value_bits)
    if offset >= 2**block_bits or block * 2**block_bits + offset >= n_records:
        return False
    if value_bits == digits(n_levels):  # every entry has a time, or none has
        return kind <= n_levels and time < max(span, 1)
    return kind <= 2 * n_levels + 1 and (time < span if kind <= n_levels else time == 0)


def outside_top(entries, tops=(100, 500, 1000), leasts=(1, 5, 10)):
    """{top: {least: share of records with at least `least` items outside the `top` most popular}}.

    A top that would contain all items is omitted.
    """
    rank, records = ranks(entries), list(lengths(entries))
    table = {}
    for top in tops:
        if top < len(rank):
            outside = Counter(record for record, item in entries if rank[item] > top)
            table[top] = {least: sum(outside[record] >= least for record in records) / len(records) for least in leasts}
    return table
