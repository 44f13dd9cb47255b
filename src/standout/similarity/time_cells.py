"""Look up the similarity of two times in a table over their distance.

A table with one dimension has a cell for each distance that can come up: c[at]. Its length grows with the
span of the dates, so one wrong year would fill the memory. A table with two dimensions ends where the
similarity does not change any more: each row has the distances −reach … reach, and a last cell for all
others. There, `at` has the row in its high bits and `MIDDLE` + distance in its low COLUMN_BITS.

Numba compiles a kernel for each of the two, because the number of dimensions is part of the type: a short
table costs nothing more.
"""

import numpy as np

from standout.core.jit import Array, Int, Real, inline

__all__ = ["COLUMN_BITS", "MIDDLE", "time_cell", "time_similarity"]

U = np.uint64
COLUMN_BITS = 40
MIDDLE = 1 << (COLUMN_BITS - 1)
ROW_SHIFT, COLUMN_MASK, CENTRE = U(COLUMN_BITS), U((1 << COLUMN_BITS) - 1), U(MIDDLE)


@inline
def time_similarity(c: Array, at: Int) -> Real:
    """The number for a distance; `at` is unsigned, below 0 it wraps around."""
    if c.ndim == 2:
        return c[at >> ROW_SHIFT, _column(c, at)]
    return c[at]


@inline
def time_cell(c: Array, at: Int) -> Int:
    """The index of the same number in c with its rows one after another."""
    if c.ndim == 2:
        return (at >> ROW_SHIFT) * U(c.shape[1]) + _column(c, at)
    return at


@inline
def _column(c: Array, at: Int) -> Int:
    """The cell of a distance in its row; a distance beyond the first or the last cell is in the last."""
    last = U(c.shape[1] - 1)
    column = (at & COLUMN_MASK) - (CENTRE - (last >> U(1)))
    return column if column < last else last
