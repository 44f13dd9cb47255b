"""Straight pieces in place of a long table, which does not fit into a cache."""

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats
from standout.core.jit import Array, Int, kernel

__all__ = ["NO_PIECES", "TINY", "straight_pieces"]

STRAIGHT = 2.0**-22
"""Largest relative error of a straight piece of a longer table: four roundings."""
TRIES = 3
CROOKED = 1 / 256
"""Largest share of pieces that are not straight; with more, no piece is used."""
NO_LINES = np.empty(0, np.float32)
NO_PIECES = NO_LINES, 0
TINY = 1e-30
"""Smaller numbers are set to 0: near the end of single precision, arithmetic is slow and inexact."""


def straight_pieces(c: Floats, long: int) -> tuple[NDArray[np.float32], int]:
    """Straight pieces that replace c, as long as possible, and the number of bits of an index within one.

    There are up to an eighth of `long` pieces.
    """
    longest = (len(c) // (long // 8)).bit_length()
    for bits in range(longest, max(longest - TRIES, 0), -1):
        lines = np.empty(2 * -(-len(c) >> bits), np.float32)
        if _straighten(c, 1 << bits, lines) <= CROOKED * len(lines) / 2:
            return lines, bits
    return NO_PIECES


@kernel
def _straighten(c: Array, size: Int, lines: Array) -> Int:
    """Fill in value and slope of each piece of c, or NaN; return how many pieces are not straight."""
    crooked = 0
    for piece in range(len(lines) // 2):
        first, last = piece * size, min(piece * size + size, len(c))
        slope = (c[last - 1] - c[first]) / (size - 1) if last - first == size else 0.0
        high, low, least, most = 0.0, 0.0, np.inf, 0.0
        for i in range(first, last):
            off = c[i] - (c[first] + slope * (i - first))
            high, low = max(high, off), min(low, off)
            least, most = min(least, c[i]), max(most, c[i])
        straight = high - low <= 2.0 * STRAIGHT * least and (least >= TINY or most == 0.0)
        crooked += not straight
        value = c[first] + (high + low) / 2.0 if straight else np.nan  # as far above as below
        lines[2 * piece], lines[2 * piece + 1] = np.float32(value), np.float32(slope)
    return crooked
