"""Reference implementation of Sim, the similarity of a known fact and an entry.

Facts and entries are (value, time), with None for what is not known. Times are in days.
"""

import math

__all__ = ["apart", "decay", "decay_terms", "equal", "mean_decay", "present", "terms", "weight", "within"]


def weight(count):
    """wt(i) = 1 / ln |supp(i)|; an item that one person has is as rare as one that two have."""
    return 1 / math.log(max(count, 2))


def within(known, entry, value=1, time=14):
    """Sim: 1 if all that is compared lies within its threshold, else 0; None: not compared."""
    values = None if value is None else lambda one, other: float(apart(one, other) <= value)
    times = None if time is None else lambda days: float(abs(days) <= time)
    return math.prod(terms(known, entry, values, times))


def decay(known, entry, value_scale=1.5, time_scale=30):
    """Sim in the Netflix form: e^(-|difference of values| / rho0) + e^(-|days| / d0)."""
    return math.fsum(decay_terms(known, entry, value_scale, time_scale))


def mean_decay(known, entry, value_scale=1.5, time_scale=30):
    """The same between 0 and 1."""
    found = decay_terms(known, entry, value_scale, time_scale)
    return math.fsum(found) / len(found)


def decay_terms(known, entry, value_scale, time_scale):
    values = None if value_scale is None else lambda one, other: math.exp(-apart(one, other) / value_scale)
    times = None if time_scale is None else lambda days: math.exp(-abs(days) / time_scale)
    return terms(known, entry, values, times)


def present(known, entry):
    """Sim: having the item is enough."""
    return 1.0


def equal(known, entry):
    """Sim: 1 if the values are the same; the time does not count."""
    return math.prod(terms(known, entry, lambda one, other: float(one == other), None))


def apart(one, other):
    """How far values are from each other; categories are the same, or infinitely far."""
    if isinstance(one, str) or isinstance(other, str):
        return 0.0 if one == other else math.inf
    return abs(other - one)


def terms(known, entry, values, times):
    """How alike the values are and the times are, as far as the fact tells them and they are compared.

    An entry that lacks what is told has nothing in common with it there. If nothing is compared, having the
    item counts 1.
    """
    found = []
    if known[0] is not None and values is not None:
        found.append(0.0 if entry[0] is None else values(known[0], entry[0]))
    if known[1] is not None and times is not None:
        found.append(0.0 if entry[1] is None else times(entry[1] - known[1]))
    return found or [1.0]
