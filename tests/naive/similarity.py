"""Reference implementation of Sim, the similarity of a known fact and an entry.

Facts and entries are (value, time), with None for what is not known. Times are in days.
"""

import math

__all__ = ["decay", "decay_terms", "equal", "mean_decay", "present", "terms", "value_distance", "weight", "within"]


def weight(count):
    """wt(i) = 1 / ln |supp(i)|, with a support of 1 counted as 2  [Algorithm 1B]."""
    return 1 / math.log(max(count, 2))


def within(known, entry, value=1, time=14):
    """Sim: 1 if the value and the time lie within their thresholds, else 0; None: not compared."""
    values = None if value is None else lambda a, b: float(value_distance(a, b) <= value)
    times = None if time is None else lambda days: float(abs(days) <= time)
    return math.prod(terms(known, entry, values, times))


def decay(known, entry, value_scale=1.5, time_scale=30):
    """Sim for Netflix: e^(-|difference of values| / rho0) + e^(-|days| / d0)  [Section 5]."""
    return math.fsum(decay_terms(known, entry, value_scale, time_scale))


def mean_decay(known, entry, value_scale=1.5, time_scale=30):
    """`decay` divided by the number of summands: from 0 to 1."""
    summands = decay_terms(known, entry, value_scale, time_scale)
    return math.fsum(summands) / len(summands)


def decay_terms(known, entry, value_scale, time_scale):
    """The summands of `decay`."""
    values = None if value_scale is None else lambda a, b: math.exp(-value_distance(a, b) / value_scale)
    times = None if time_scale is None else lambda days: math.exp(-abs(days) / time_scale)
    return terms(known, entry, values, times)


def present(known, entry):
    """Sim: 1 for every record that has the item."""
    return 1.0


def equal(known, entry):
    """Sim: 1 if the values are equal; times are not compared."""
    return math.prod(terms(known, entry, lambda a, b: float(a == b), None))


def value_distance(a, b):
    """Absolute difference of two numbers; 0 for equal categories, infinite for different ones."""
    if isinstance(a, str) or isinstance(b, str):
        return 0.0 if a == b else math.inf
    return abs(b - a)


def terms(known, entry, values, times):
    """Similarities of the value and of the time, of those that are known and compared.

    An entry without the known value or time has similarity 0 there. If nothing is compared, the item
    itself counts 1.
    """
    similarities = []
    if known[0] is not None and values is not None:
        similarities.append(0.0 if entry[0] is None else values(known[0], entry[0]))
    if known[1] is not None and times is not None:
        similarities.append(0.0 if entry[1] is None else times(entry[1] - known[1]))
    return similarities or [1.0]
