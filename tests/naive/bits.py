"""Reference implementation of the bits of a known value."""

import math

__all__ = ["bits_of_nearness"]


def bits_of_nearness(values, reach):
    """Mean over values of −log2 of the share of the others within `reach`, as harmonic numbers."""
    return _mean_bits_of_nearness(values, lambda value, other: abs(value - other) <= reach)


def _mean_bits_of_nearness(values, is_near):
    """(H(n − 1) − H(k)) / ln 2, averaged over n values, where k of the n − 1 others are near."""
    total = 0.0
    for i, value in enumerate(values):
        near = sum(is_near(value, other) for j, other in enumerate(values) if j != i)
        total += sum(1 / k for k in range(near + 1, len(values))) / math.log(2)
    return total / max(len(values), 1)
