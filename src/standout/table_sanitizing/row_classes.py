"""Classes of rows that have equal values in some columns. An empty cell is a value like any other."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from standout.core.arrays import Ints
from standout.table_sanitizing.level_change import with_levels_of
from standout.tables.column import Column

__all__ = ["cell_numbers", "class_numbers", "stacked_cells"]


def cell_numbers(column: Column) -> Ints:
    """A number for each cell; equal cells, and only they, have the same number, and empty ones have 0."""
    if column.starts is None:
        return np.asarray((column.codes.astype(np.int64) + 1) % (column.n_levels + 1))
    members = np.split(column.codes, column.starts[1:-1])
    number_of: dict[bytes, int] = {b"": 0}
    return np.array([number_of.setdefault(row.tobytes(), len(number_of)) for row in members], np.int64)


def stacked_cells(sets: Column, others: Column) -> Ints:
    """Numbers of the cells of one column of sets and then of another; equal sets have the same number.

    A set with a member that the other column lacks has a number of its own.
    """
    known = with_levels_of(sets, others)
    assert sets.starts is not None and known.starts is not None and others.starts is not None
    codes = np.concatenate([known.codes.astype(np.int64), others.codes.astype(np.int64)])
    starts = np.append(known.starts[:-1], known.starts[-1] + others.starts)
    number = cell_numbers(replace(others, codes=codes, starts=starts))
    number[: sets.n_rows][np.diff(known.starts) < np.diff(sets.starts)] = -1
    return number


def class_numbers(cells: Sequence[Ints]) -> Ints:
    """Number of the class of each row, from 0.

    >>> class_numbers([np.array([5, 5, 7]), np.array([0, 1, 0])]).tolist()
    [0, 1, 2]
    """
    number: Ints = np.zeros(len(cells[0]), np.int64) if cells else np.empty(0, np.int64)
    for column in cells:
        width = int(column.max(initial=0)) + 1
        _, number = np.unique(number * width + column, return_inverse=True)
    return number
