"""Equivalence classes: rows with equal values of some columns.

Cells are codes, so the codes of several columns are the digits of one whole number (mixed radix), and rows
are equal if their numbers are. Where the number would not fit into 64 bits, the classes found so far are
numbered first. Nothing is hashed without comparing, so the classes are exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints
from standout.core.errors import ParameterError
from standout.release.model import read_only
from standout.risk_measures.class_kernels import number_keys, table_bits
from standout.tables.column import Column
from standout.tables.model import Table

__all__ = ["MISSING", "Classes", "Missing", "cell_codes", "equivalence_classes", "matching_rows"]

Missing = Literal["equal", "any"]
MISSING: tuple[Missing, ...] = ("equal", "any")
LARGEST_KEY = 1 << 64
MOST_COMPARISONS = 500_000_000
"""Patterns of missing cells × classes that are compared at most; about a minute."""
MOST_PATTERNS = 1000
"""Each pattern is compared with each."""


@dataclass(frozen=True, eq=False)
class Classes:
    """The equivalence classes of a set of columns.

    Attributes
    ----------
    columns : tuple of str
        The columns in which the rows of a class are equal.
    number : ndarray
        The class of each row. Classes are numbered in the order of their first rows.
    counts : ndarray
        Number of rows in each class.
    """

    columns: tuple[str, ...]
    number: NDArray[np.int32]
    counts: Ints

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.counts)

    @property
    def k(self) -> int:
        """Size of the smallest class."""
        return int(self.counts.min())

    @property
    def n_unique(self) -> int:
        """Number of rows that are alone in their class."""
        return int(np.count_nonzero(self.counts == 1))

    @cached_property
    def size(self) -> Ints:
        """For each row the size of its class."""
        return read_only(self.counts[self.number])


def equivalence_classes(table: Table, columns: Sequence[str]) -> Classes:
    """Rows with equal values of these columns; a missing cell equals only a missing cell.

    A set of categories is one value: two rows agree if they have the same members.

    Examples
    --------
    >>> sex = Column("sex", "category", ("f", "m"), np.array([0, 1, 1, 2], np.uint8))
    >>> age = Column("age", "number", np.array([34.0, 82.0]), np.array([1, 0, 0, 0], np.uint8))
    >>> classes = equivalence_classes(Table((sex, age)), ["sex", "age"])
    >>> classes.number.tolist(), classes.counts.tolist(), classes.k
    ([0, 1, 1, 2], [1, 2, 1], 1)
    """
    if not columns:
        raise ParameterError("columns must name at least one column")
    return _classes_of([table.column(name) for name in columns])


def _classes_of(columns: Sequence[Column]) -> Classes:
    number, counts = _numbered(_radix_key([cell_codes(column) for column in columns]))
    return Classes(tuple(column.name for column in columns), number, counts)


def _radix_key(digits: Sequence[tuple[NDArray[Any], int]]) -> NDArray[np.uint64]:
    """One whole number for each row, equal for equal rows only."""
    key, n_values = np.zeros(len(digits[0][0]), np.uint64), 1
    for codes, n_codes in digits:
        if n_values * n_codes > LARGEST_KEY:
            number, counts = _numbered(key)
            key, n_values = number.astype(np.uint64), len(counts)
        key = key * np.uint64(n_codes) + codes.astype(np.uint64)
        n_values *= n_codes
    return key


def _numbered(key: NDArray[np.uint64]) -> tuple[NDArray[np.int32], Ints]:
    """The number of each key, from 0 in the order of first occurrence, and how often each occurs."""
    number, counts = np.empty(len(key), np.int32), np.empty(len(key), np.int64)
    n_classes = number_keys(key, table_bits(len(key)), number, counts)
    return read_only(number), read_only(counts[:n_classes].copy())


def cell_codes(column: Column) -> tuple[NDArray[Any], int]:
    """One code for each cell, equal for equal cells, and the number of codes; missing cells have one too.

    >>> sets = Column("likes", "set", ("a", "b"), np.array([0, 1, 0, 1]), np.array([0, 2, 2, 4]))
    >>> cell_codes(sets)[0].tolist()
    [0, 1, 0]
    """
    if column.starts is None:
        return column.codes, column.n_levels + 1
    length, digits = np.diff(column.starts), np.zeros(column.n_rows, np.uint64)
    for position in range(int(length.max(initial=0))):
        has = np.flatnonzero(length > position)
        member = np.zeros(column.n_rows, np.uint64)
        member[has] = column.codes[column.starts[has] + position].astype(np.uint64) + np.uint64(1)
        number, _ = _numbered(digits)
        digits = number.astype(np.uint64) * np.uint64(column.n_levels + 1) + member
    number, counts = _numbered(digits)
    return number, len(counts)


def matching_rows(table: Table, columns: Sequence[str], missing: Missing = "equal") -> Ints:
    """For each row the number of rows that agree with it in these columns, itself included.

    Parameters
    ----------
    table
        The table.
    columns
        Names of the columns.
    missing
        "equal": a missing cell agrees with a missing cell only, so a gap can single out a row. This is the
        more careful count. "any": a missing cell agrees with every value, as in sdcMicro.

    Examples
    --------
    >>> sex = Column("sex", "category", ("f", "m"), np.array([0, 1, 1, 2], np.uint8))
    >>> matching_rows(Table((sex,)), ["sex"]).tolist()
    [1, 2, 2, 1]
    >>> matching_rows(Table((sex,)), ["sex"], missing="any").tolist()
    [2, 3, 3, 4]
    """
    if missing not in MISSING:
        raise ParameterError(f"missing must be one of {', '.join(MISSING)}, got {missing!r}")
    classes = equivalence_classes(table, columns)
    if missing == "equal":
        return classes.size
    return _matches_with_gaps([table.column(name) for name in columns], classes)[classes.number]


def _matches_with_gaps(columns: Sequence[Column], classes: Classes) -> Ints:
    """For each class the number of rows that agree with it where neither has a gap.

    Classes are grouped by which columns they lack. Two groups are compared in the columns that neither lacks.
    """
    first = np.full(classes.n_classes, -1, np.int64)
    first[classes.number[::-1]] = np.arange(len(classes.number))[::-1]
    cells = [(codes[first], n_codes) for codes, n_codes in map(cell_codes, columns)]
    gaps = np.column_stack([column.is_missing[first] for column in columns])
    patterns, group = np.unique(gaps, axis=0, return_inverse=True)
    if len(patterns) * classes.n_classes > MOST_COMPARISONS or len(patterns) > MOST_PATTERNS:
        raise ParameterError(
            f'missing="any" compares rows by which cells are missing; there are {len(patterns):,} such '
            'patterns: name fewer columns, or use missing="equal"'
        )
    members = [np.flatnonzero(group.ravel() == g) for g in range(len(patterns))]
    total = np.zeros(classes.n_classes, np.int64)
    for g, own in enumerate(members):
        for h, other in enumerate(members):
            shared = np.flatnonzero(~(patterns[g] | patterns[h]))
            both = np.concatenate([own, other])
            digits = [(np.zeros(len(both), np.uint8), 1)]
            digits += [(cells[column][0][both], cells[column][1]) for column in shared]
            number, counts = _numbered(_radix_key(digits))
            rows = np.zeros(len(counts), np.int64)
            np.add.at(rows, number[len(own) :], classes.counts[other])
            total[own] += rows[number[: len(own)]]
    return total
