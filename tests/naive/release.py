"""Reference implementation of a release: which entries it has, its supports, ranks and postings.

A row is (record, item, value, time). A value is a number, a text or None. A time is a whole number of units
on the wall clock (see `units`), anything else that can be compared, or None. Entries are
{(record, item): (value, time)}.
"""

from collections import Counter

__all__ = [
    "digits",
    "entries",
    "lengths",
    "outside_top",
    "postings",
    "ranks",
    "record_of",
    "shortlex",
    "support",
    "without",
]


def entries(rows, repeats="last"):
    """{(record, item): (value, time)}: one entry for each pair, chosen among its rows.

    last   the latest time; no time is before all times; of equals the later row
    first  the earliest time; no time is after all times; of equals the earlier row
    max    the largest value, no value is below all values; of equals the last
    """
    kept = {}
    for record, item, value, time in rows:
        old = kept.get((record, item))
        if old is None or _replaces((value, time), old, repeats):
            kept[record, item] = (value, time)
    return kept


def _replaces(new, old, repeats):
    (new_value, new_time), (old_value, old_time) = new, old
    if repeats == "first":
        return new_time is not None and (old_time is None or new_time < old_time)
    if repeats == "max" and new_value != old_value:
        return new_value is not None and (old_value is None or new_value > old_value)
    return old_time is None or (new_time is not None and new_time >= old_time)


def shortlex(texts):
    """Shorter ones first, then by their bytes: 9 before 10."""
    return sorted(texts, key=lambda text: (len(text.encode()), text.encode()))


def support(entries):
    """{item: how many records have it}."""
    return Counter(item for _, item in entries)


def lengths(entries):
    """{record: how many items it has}."""
    return Counter(record for record, _ in entries)


def ranks(entries):
    """{item: its place among the most popular, 1 is the first}; equals go by their ids in shortlex order."""
    counts = support(entries)
    popular = sorted(shortlex(counts), key=lambda item: -counts[item])
    return {item: place for place, item in enumerate(popular, 1)}


def record_of(entries, record):
    """{item: (value, day)} of one record."""
    return {item: cell for (other, item), cell in entries.items() if other == record}


def without(entries, record):
    """The entries of everybody else."""
    return {pair: cells for pair, cells in entries.items() if pair[0] != record}


def postings(entries, n_items, n_levels, span, block_bits=13):
    """Entries by item as an index holds them: its columns as lists, and the bits of a word's fields.

    entries = {(record, item): (value, time)} in whole numbers from 0 on, below n_levels and span.
    """
    gaps = span > 0 and any(time is None for _, time in entries.values())
    kinds = 2 * (n_levels + 1) if gaps else n_levels + 1
    value_bits, time_bits = digits(kinds - 1), digits(max(span - 1, 0))
    made = {"start": [0], "run": [0], "block": [], "end": [], "word": []}
    for item in range(n_items):
        own = sorted((record, *cells) for (record, other), cells in entries.items() if other == item)
        ends = {}
        for count, (record, value, time) in enumerate(own, 1):
            kind = n_levels if value is None else value
            if time is None and gaps:
                kind += n_levels + 1
            ends[record // 2**block_bits] = count
            place = record % 2**block_bits
            made["word"].append((place * 2**value_bits + kind) * 2**time_bits + (time or 0))
        made["block"] += ends.keys()
        made["end"] += ends.values()
        made["start"].append(len(made["word"]))
        made["run"].append(len(made["block"]))
    return made | {"value_bits": value_bits, "time_bits": time_bits}


def digits(number):
    """How many binary digits a number has, none for 0."""
    return len(f"{number:b}") if number else 0


def outside_top(entries, tops=(100, 500, 1000), leasts=(1, 5, 10)):
    """{top: {least: share of the records with at least so many items that are not in the top}}.

    A top that holds all items is left out.
    """
    rank, people = ranks(entries), list(lengths(entries))
    table = {}
    for top in tops:
        if top < len(rank):
            outside = Counter(record for record, item in entries if rank[item] > top)
            table[top] = {
                least: sum(outside[one] >= least for one in people) / len(people) for least in leasts
            }
    return table
