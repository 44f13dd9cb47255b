"""Reference implementation of the steps of sanitize."""

import math
from collections import Counter
from datetime import timedelta
from itertools import combinations

from naive.reading import EPOCH

__all__ = [
    "bin_means",
    "equal_edges",
    "fewest_records",
    "item_sets",
    "jaccard",
    "km_pass",
    "km_suppress",
    "merged_entries",
    "period_start",
]


def period_start(day, name, count=1):
    """First day of the period that contains a date."""
    if name == "week":
        return day - timedelta(days=day.weekday())
    if name == "day":
        return day - timedelta(days=(day - EPOCH.date()).days % count)
    size = {"month": 1, "quarter": 3, "year": 12}[name]
    return day.replace(month=(day.month - 1) // size * size + 1, day=1)


def bin_means(values, edges):
    """{value: mean of its bin} for bins that begin at these edges."""
    bins = {}
    for value in values:
        bins.setdefault(sum(value >= edge for edge in edges), []).append(value)
    return {value: math.fsum(group) / len(group) for group in bins.values() for value in group}


def equal_edges(values, bins):
    """Edges of bins of about equally many values: cut where the share below is nearest to i / bins."""
    levels = sorted(set(values))
    cuts = set()
    for i in range(1, bins):
        goal = len(values) * i / bins
        cuts.add(min(levels[1:], key=lambda cut: abs(sum(v < cut for v in values) - goal), default=None))
    return sorted(cuts - {None})


def item_sets(entries):
    """{record: set of its items}."""
    sets = {}
    for record, item in entries:
        sets.setdefault(record, set()).add(item)
    return sets


def jaccard(items, other):
    """Items in common / items of either."""
    return len(items & other) / len(items | other)


def km_pass(entries, k, m):
    """One pass of km-suppress over the items, the most popular first: entries (record, item) that stay."""
    having, counts = item_sets(entries), Counter(item for _, item in entries)
    safe = {record: set() for record in having}
    for item in sorted(counts, key=lambda item: (-counts[item], len(item), item)):
        people = {record for record, items in having.items() if item in items}
        while bad := _records_with_rare_combinations(people, safe, k, m):
            people -= bad
        for record in people:
            safe[record].add(item)
    return {(record, item) for record, items in safe.items() for item in items}


def _records_with_rare_combinations(people, safe, k, m):
    sets = {
        record: [items for size in range(m) for items in combinations(sorted(safe[record]), size)] for record in people
    }
    counts = Counter(items for subsets in sets.values() for items in subsets)
    return {record for record, subsets in sets.items() if any(counts[items] < k for items in subsets)}


def km_suppress(entries, k, m):
    """The entries (record, item) that km-suppress keeps."""
    safe = km_pass(entries, k, min(m, 2))
    return km_pass(safe, k, 3) if m == 3 and safe else safe


def fewest_records(entries, m):
    """Smallest number of records that share a combination of up to m items which some record has."""
    counts = Counter()
    for items in item_sets(entries).values():
        for size in range(1, m + 1):
            counts.update(combinations(sorted(items), size))
    return min(counts.values())


def merged_entries(rows, keep):
    """The rows (record, item, value, time) that merge-repeats keeps: one of each record and item."""
    groups = {}
    for row in rows:
        groups.setdefault(row[:2], []).append(row)
    latest = max(row[3] for row in rows if row[3] is not None) if any(row[3] for row in rows) else None
    largest = max((row[2] for row in rows if row[2] is not None), default=0)

    def key(row):
        value, time = row[2:]
        if keep == "first":
            return (time is None, time or latest, value is None, largest if value is None else value)
        known_value = (value is not None, value or 0)
        known_time = (time is not None, (time - EPOCH.date()).days if time else 0)
        return (known_value, known_time) if keep == "max" else (known_time, known_value)

    choose = min if keep == "first" else max
    return [choose(group, key=key) for group in groups.values()]
