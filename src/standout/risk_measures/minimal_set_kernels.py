"""Compiled search for the smallest set of columns that makes a row unique.

A set of columns does not make a row unique if another row agrees in all of them. So each other row covers the
sets within the columns in which it agrees, and the row is unique on a set that no row covers.

The columns are ordered by how rare the row's value is. A set is looked for by its rarest value: only rows
with this value can cover it, and the search stops as soon as all sets with it are covered. If values are
common, few rows cover all; if they are rare, there are few rows. Sets of columns are bits of 64-bit words.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.jit import Array, Flag, Int, inline, kernel, subroutine

__all__ = ["RowCells", "find_smallest_sizes"]

U = np.uint64
BITS = 64


class RowCells(NamedTuple):
    """The cells of n rows and m columns.

    code     n × m: the code of each cell
    row      m × n: the rows ordered by their code in each column
    first    where the rows of each code begin in `row`, for one column after the other
    start    m: where the codes of each column begin in `first`
    """

    code: Array
    row: NDArray[np.int32]
    first: NDArray[np.int64]
    start: NDArray[np.int64]


@kernel
def find_smallest_sizes(cells: RowCells, targets: Array, largest: Int, smallest: Array) -> None:
    """Write for each target the smallest number of columns that make it unique; largest + 1 if none do."""
    n_columns = cells.code.shape[1]
    agrees = np.zeros((n_columns + BITS - 1) // BITS, np.uint64)
    pairs = np.zeros_like(agrees)
    triples = np.zeros((n_columns, len(agrees)), np.uint64)
    is_open = np.zeros(n_columns, np.bool_)
    for i in range(len(targets)):
        own = cells.code[targets[i]]
        order = _rarest_first(cells, own)
        smallest[i] = largest + 1
        if _n_rows(cells, own, order[0]) == 1:
            smallest[i] = 1
        elif largest >= 2 and _has_unique_pair(cells, targets[i], order, agrees, pairs):
            smallest[i] = 2
        elif largest >= 3 and _has_unique_triple(cells, targets[i], order, agrees, triples, is_open):
            smallest[i] = 3


@inline
def _n_rows(cells: RowCells, own: Array, column: Int) -> Int:
    """Number of rows with the target's value of a column."""
    at = cells.start[column] + own[column]
    return cells.first[at + 1] - cells.first[at]


@subroutine
def _rarest_first(cells: RowCells, own: Array) -> Array:
    """The columns, that with the target's rarest value first."""
    counts = np.empty(len(own), np.int64)
    for column in range(len(own)):
        counts[column] = _n_rows(cells, own, column)
    return np.argsort(counts, kind="mergesort")


@subroutine
def _compare(cells: RowCells, target: Int, row: Int, order: Array, start: Int, agrees: Array) -> None:
    """Set the bits of the positions from `start` on, in the order, where two rows agree."""
    agrees[:] = U(0)
    for position in range(start, len(order)):
        if cells.code[row, order[position]] == cells.code[target, order[position]]:
            agrees[position // BITS] |= U(1) << U(position % BITS)


@inline
def _has_bit(words: Array, position: Int) -> Flag:
    return (words[position // BITS] >> U(position % BITS)) & U(1) == U(1)


@subroutine
def _covers_all(words: Array, start: Int, end: Int) -> Flag:
    """Whether all bits from start up to end are set."""
    for position in range(start, end):  # noqa: SIM110 - Numba compiles no generators
        if not _has_bit(words, position):
            return False
    return True


@subroutine
def _has_unique_pair(cells: RowCells, target: Int, order: Array, agrees: Array, pairs: Array) -> Flag:
    """Whether no other row agrees in some pair of columns."""
    for rarest in range(len(order) - 1):
        column = order[rarest]
        code = cells.start[column] + cells.code[target, column]
        pairs[:] = U(0)
        is_covered = False
        for at in range(cells.first[code], cells.first[code + 1]):
            row = cells.row[column, at]
            if row == target:
                continue
            _compare(cells, target, row, order, rarest + 1, agrees)
            for word in range(len(pairs)):
                pairs[word] |= agrees[word]
            if _covers_all(pairs, rarest + 1, len(order)):
                is_covered = True
                break
        if not is_covered:
            return True
    return False


@subroutine
def _has_unique_triple(
    cells: RowCells, target: Int, order: Array, agrees: Array, triples: Array, is_open: Array
) -> Flag:
    """Whether no other row agrees in some triple of columns; triples[b] are those covered with b."""
    n_columns = len(order)
    for rarest in range(n_columns - 2):
        column = order[rarest]
        code = cells.start[column] + cells.code[target, column]
        triples[:] = U(0)
        is_open[:] = False
        is_open[rarest + 1 : n_columns - 1] = True
        n_open = n_columns - 2 - rarest
        for at in range(cells.first[code], cells.first[code + 1]):
            row = cells.row[column, at]
            if row == target:
                continue
            _compare(cells, target, row, order, rarest + 1, agrees)
            for second in range(rarest + 1, n_columns - 1):
                if is_open[second] and _has_bit(agrees, second):
                    for word in range(len(agrees)):
                        triples[second, word] |= agrees[word]
                    if _covers_all(triples[second], second + 1, n_columns):
                        is_open[second] = False
                        n_open -= 1
            if n_open == 0:
                break
        if n_open > 0:
            return True
    return False
