"""What a column is compared by, unless the user says otherwise: its similarity, its error and its role."""

import math

import numpy as np

from standout.core.arrays import Floats
from standout.ingest.column_names import is_quasi_identifier, name_words, plain_name
from standout.tables.column import Column, ColumnRole
from standout.tables.column_similarity import ColumnSimilarity
from standout.tables.known_names import QUASI_IDENTIFIERS, SENSITIVE

__all__ = ["default_error", "default_role", "default_similarity", "spread"]

ERROR, SCALE = 20, 10
"""The error is a twentieth of the spread, the scale of a decay a tenth."""
LONGEST_ERROR, LONGEST_SCALE = 14.0, 30.0
"""Of dates, in days: as for histories."""
LOW, HIGH = 0.1, 0.9
FEW = 2
"""Of two levels, nobody takes one for the other by mistake: numbers may be codes, such as 1 and 2 for sex."""


def spread(column: Column) -> float:
    """Distance between the 10th and the 90th percentile of a column of numbers or dates.

    If most cells have one value, as a capital gain of 0, the other cells count.

    >>> column = Column("age", "number", np.array([20.0, 30.0, 60.0]), np.array([0, 1, 2], np.uint8))
    >>> spread(column)
    40.0
    """
    levels, counts = np.asarray(column.levels, np.float64), column.counts[:-1].copy()
    if not len(levels):
        return 0.0
    wide = _between(levels, counts)
    if wide == 0.0:
        counts[np.argmax(counts)] = 0
        wide = _between(levels, counts) if counts.any() else 0.0
    return wide if wide > 0.0 else float(levels[-1] - levels[0])


def _between(levels: Floats, counts: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> float:
    until = np.cumsum(counts)
    low, high = np.searchsorted(until, [LOW * until[-1], HIGH * until[-1]])
    return float(levels[min(high, len(levels) - 1)] - levels[low])


def default_error(column: Column) -> float:
    """How far an imprecise adversary is off.

    Numbers: a twentieth of the spread, rounded to one digit; at least 1 for whole numbers. Dates: the same,
    and at most 14 days. Ordered levels: one step. Other columns, and those with two levels: 0.
    """
    if column.n_levels <= FEW or column.kind not in ("number", "date", "ordered"):
        return 0.0
    if column.kind == "ordered":
        return 1.0
    error = one_digit(spread(column) / ERROR)
    if column.kind == "date":
        return min(max(float(round(error)), 1.0), LONGEST_ERROR)
    return max(float(round(error)), 1.0) if _is_whole(column) else error


def default_similarity(column: Column) -> ColumnSimilarity:
    """Sim of a column: decay for numbers and dates, ordered, hierarchy if there is one, otherwise equal."""
    if column.kind in ("number", "date") and column.n_levels > FEW:
        scale = one_digit(spread(column) / SCALE)
        if column.kind == "date":
            scale = min(max(scale, 1.0), LONGEST_SCALE)
        elif _is_whole(column):
            scale = max(scale, 1.0)
        return ColumnSimilarity("decay", scale)
    if column.kind == "ordered":
        return ColumnSimilarity("ordered")
    return ColumnSimilarity("hierarchy" if column.hierarchy is not None else "equal")


def default_role(name: str) -> ColumnRole:
    """Role that a column's name suggests.

    >>> default_role("native-country"), default_role("Diagnosis"), default_role("hours")
    ('quasi-identifier', 'sensitive', 'other')
    """
    words = {*name_words(name), plain_name(name)}
    if words & SENSITIVE:
        return "sensitive"
    return "quasi-identifier" if is_quasi_identifier(name) or words & QUASI_IDENTIFIERS else "other"


def one_digit(number: float) -> float:
    """Round to one significant digit.

    >>> one_digit(1.8), one_digit(0.034), one_digit(4_870.0)
    (2.0, 0.03, 5000.0)
    """
    if number <= 0.0:
        return 0.0
    places = -math.floor(math.log10(number))
    return float(round(number, places))


def _is_whole(column: Column) -> bool:
    levels = np.asarray(column.levels, np.float64)
    return bool((levels == np.floor(levels)).all())
