"""The runs of an item: the first one in a part of the release, and the one in a block."""

import numpy as np

from standout.core.jit import Array, Int, inline

__all__ = ["first_run", "run_end"]


@inline
def first_run(block: Array, low: Int, high: Int, number: Int) -> Int:
    """The first of the runs low … high - 1 of an item that is in block `number` or later."""
    while low < high and number > 0:
        middle = (low + high) // 2
        if block[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def run_end(run: Array, block: Array, end: Array, item: Int, cursor: Int, number: Int) -> Int:
    """Where the words of an item end in block `number`, if its next run is in this block; else 0."""
    if cursor < run[item + 1] and block[cursor] == number:
        return end[cursor]
    return np.int64(0)
