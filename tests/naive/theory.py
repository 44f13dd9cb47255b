"""Reference implementation of the facts that theorems need, of unicity and of altered entries.

A trace is a list of entries (item, value, time): it may have an item several times.
"""

import math
from itertools import count

from naive.release import lengths
from naive.similarity import terms, value_distance, within

__all__ = ["altered_counts", "facts_needed", "is_unique", "is_unique_trace", "points"]


def facts_needed(n_records, delta, limit):
    """The smallest m with N · (1 − δ)^m ≤ limit, by trial  [Theorems 1 to 3]."""
    return next(m for m in count() if n_records * (1 - delta) ** m <= limit)


def is_unique(entries, record, items, value=0, days=None):
    """Whether no other record has all these items of a record with similar values and times.

    Similar values differ by at most `value`; similar times lie in the same bin of `days` days; None: not
    known.
    """
    for other in lengths(entries):
        pairs = [(entries[record, item], entries.get((other, item))) for item in items]
        if other != record and all(theirs and _agree(mine, theirs, value, days) for mine, theirs in pairs):
            return False
    return True


def points(trace, value=0, days=None):
    """The distinct points of a trace: {what is known of an entry: the entries of which that is known}.

    Known are the item, the value unless `value` is None, and the bin of `days` days unless that is None.
    """
    distinct = {}
    for item, level, time in trace:
        known_time = None if days is None or time is None else time // days
        point = (item, None if value is None else level, known_time)
        distinct.setdefault(point, []).append((item, level, time))
    return distinct


def is_unique_trace(traces, record, known, value=0, days=None):
    """Whether no other trace has, for each known entry (item, value, time), an entry that agrees with it."""
    for other, trace in traces.items():
        if other != record and all(
            any(entry[0] == fact[0] and _agree(fact[1:], entry[1:], value, days) for entry in trace) for fact in known
        ):
            return False
    return True


def _agree(known, entry, value, days):
    similarity = None if value is None else lambda a, b: float(value_distance(a, b) <= value)
    values_agree = math.prod(terms((known[0], None), (entry[0], None), similarity, None)) > 0
    if days is None or known[1] is None:
        return values_agree
    return values_agree and entry[1] is not None and known[1] // days == entry[1] // days


def altered_counts(history, record, value=0, time=0):
    """Items (shared, with other values, with other times, with either, missing, extra) of two histories.

    A history is {item: (value, time)}, or a trace. Each entry is compared with the one that differs least.
    """
    history, record = (_trace(entries) for entries in (history, record))
    differences = []
    for item, *mine in history:
        others = [theirs for other, *theirs in record if other == item]
        parts = [_differing_parts(mine, theirs, value, time) for theirs in others]
        differences += [min(parts, key=sum)] if parts else []
    values, times = (sum(part[i] for part in differences) for i in (0, 1))
    mine, theirs = {item for item, *_ in history}, {item for item, *_ in record}
    missing, extra = (sum(item not in theirs for item, *_ in history), sum(item not in mine for item, *_ in record))
    return len(differences), values, times, sum(map(any, differences)), missing, extra


def _trace(entries):
    """A history as a trace, entries of an item in the order of times, then of values; missing ones last."""
    trace = [(item, *cell) for item, cell in entries.items()] if isinstance(entries, dict) else entries
    return sorted(trace, key=lambda entry: (entry[2] is None, entry[2] or 0, entry[1] is None, entry[1] or 0))


def _differing_parts(mine, theirs, value, time):
    """Whether the values and the times of two entries differ."""
    return (within((mine[0], None), theirs, value, None) == 0, within((None, mine[1]), theirs, None, time) == 0)
