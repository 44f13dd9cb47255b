"""Reference implementation of unicity and of altered entries."""

import math

from naive.release import lengths
from naive.similarity import apart, terms, within

__all__ = ["altered", "singled_out"]


def singled_out(entries, record, items, value=0, days=None):
    """Whether nobody else has all these items of a record, with values no further apart than `value`, and
    times in the same bin of so many days; None: not known."""
    for other in lengths(entries):
        pairs = [(entries[record, item], entries.get((other, item))) for item in items]
        if other != record and all(theirs and _agree(mine, theirs, value, days) for mine, theirs in pairs):
            return False
    return True


def _agree(known, entry, value, days):
    values = None if value is None else lambda one, other: float(apart(one, other) <= value)
    agreed = math.prod(terms((known[0], None), (entry[0], None), values, None))
    if days is None or known[1] is None:
        return bool(agreed)
    return bool(agreed) and entry[1] is not None and known[1] // days == entry[1] // days


def altered(history, record, value=0, time=0):
    """(shared, values that differ, times that differ, either, missing, extra) of {item: (value, time)}."""
    both = [(history[item], record[item]) for item in history if item in record]
    values = [within((mine[0], None), theirs, value, None) == 0 for mine, theirs in both]
    times = [within((None, mine[1]), theirs, None, time) == 0 for mine, theirs in both]
    either = sum(a or b for a, b in zip(values, times, strict=True))
    return (
        len(both),
        sum(values),
        sum(times),
        either,
        len({*history} - {*record}),
        len({*record} - {*history}),
    )
