"""Errors relative to the data, in plain Python: inter-decile ranges, and the numbers they become."""

import math
from fractions import Fraction

__all__ = ["relative_time_error", "relative_value_error"]


def decile(values, tenths):
    """The smallest value that at least this many tenths of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(Fraction(tenths * len(ordered), 10)), 1) - 1]


def relative_value_error(values, share):
    """The distance between the median and another value that is nearest to a share of the spread."""
    raw = share * (decile(values, 9) - decile(values, 1))
    distances = sorted({abs(value - decile(values, 5)) for value in values})
    best = min(abs(distance - raw) for distance in distances)
    return next(distance for distance in distances if abs(distance - raw) <= best + 1e-9 * raw)


def relative_time_error(minutes, unit, share, at_most_days):
    """A share of the spread in days, at most a number of them, in whole days, hours or minutes.

    `minutes` are times in minutes, in steps of `unit` minutes.
    """
    error = min(Fraction(share) * (decile(minutes, 9) - decile(minutes, 1)), at_most_days * 1440)
    step = 1440 if error >= 1440 else 60 if error >= 60 else 1
    step = max(step, unit)
    return error // step * step / 1440
