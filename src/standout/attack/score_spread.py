"""Mean and standard deviation of scores in double precision, from sums in whole numbers.

Sums of whole numbers are exact, so they do not depend on the order of scores, nor on how these are divided
into parts.
"""

import math
from typing import NamedTuple

import numpy as np

from standout.core.arrays import Floats, Ints

__all__ = ["Grid", "mean_and_sigma_with_zeros", "sigma_of_sums", "whole_sums"]

HALF = 24
"""Half the bits of a whole number. Its square has 48 bits, and a sum of 2^13 of those less than 63."""
CHUNK = 1 << 13
GRID_BITS = 2 * HALF


class Grid(NamedTuple):
    """Scores as whole numbers: (score − shift) / step, rounded."""

    shift: float
    step: float

    @classmethod
    def between(cls, lowest: float, highest: float) -> "Grid":
        """A grid of 2^48 steps for scores that lie between these."""
        exponent = math.frexp(highest - lowest)[1] - GRID_BITS if highest > lowest else 0
        return cls(lowest, math.ldexp(1.0, max(exponent, -1022)))

    def whole_numbers(self, scores: Floats) -> Ints:
        """The scores in steps."""
        return np.rint((scores - self.shift) / self.step).astype(np.int64)

    def mean_and_sigma(self, n: int, total: int, squares: int) -> tuple[float, float]:
        """Mean and standard deviation of n scores, given their sum and that of their squares in steps."""
        return self.shift + total / n * self.step, sigma_of_sums(n, total, squares, self.step)


def whole_sums(numbers: Ints) -> tuple[int, int]:
    """The sum of whole numbers from 0 to about 2^48, and the sum of their squares: exactly."""
    total = squares = 0
    for low in range(0, len(numbers), CHUNK):
        number = numbers[low : low + CHUNK]
        upper, lower = number >> HALF, number & ((1 << HALF) - 1)
        total += int(number.sum())
        squares += (int(upper @ upper) << 2 * HALF) + (int(upper @ lower) << HALF + 1) + int(lower @ lower)
    return total, squares


def sigma_of_sums(n: int, total: int, squares: int, step: float) -> float:
    """The standard deviation of n scores from sums in steps; exactly 0 if the scores are all equal."""
    return math.sqrt(n * squares - total**2) / n * step


def mean_and_sigma_with_zeros(scores: Floats, n: int) -> tuple[float, float]:
    """Mean and standard deviation of n scores ≥ 0; those not given are 0."""
    if not len(scores):
        return 0.0, 0.0
    grid = Grid.between(float(scores.min()) if len(scores) == n else 0.0, float(scores.max()))
    return grid.mean_and_sigma(n, *whole_sums(grid.whole_numbers(scores)))
