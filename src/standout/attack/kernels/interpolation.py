"""A long time table, read from its straight pieces."""

import numpy as np

from standout.attack.kernels.query_arrays import U
from standout.core.jit import Array, Int, Real, inline
from standout.core.simd import multiply_add
from standout.similarity.time_cells import time_cell, time_similarity

__all__ = ["interpolated"]


@inline
def interpolated(c: Array, lines: Array, line_bits: Int, at: Int) -> Real:
    """The number for a distance, from its straight piece if it has one."""
    cell = time_cell(c, at)
    piece = (cell >> U(line_bits)) << U(1)
    along = np.float32(np.int32(cell & ((U(1) << U(line_bits)) - U(1))))
    x = multiply_add(lines[piece + U(1)], along, lines[piece])
    return x if x == x else time_similarity(c, at)
