"""What chance adds to a statistic of so many people: two standard errors of each kind."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["mean_error", "quantile_error", "sd_error", "share_error", "top_share"]

ERRORS = 2  # standard errors


def share_error(share: float, n: float) -> float:
    """Of a share of n.

    >>> share_error(0.5, 10_000)
    0.01
    """
    return ERRORS * math.sqrt(share * (1 - share) / n)


def mean_error(found: NDArray[Any]) -> float:
    """Of a mean."""
    return ERRORS * float(found.std()) / math.sqrt(len(found))


def sd_error(found: NDArray[Any]) -> float:
    """Of a standard deviation: √((m₄ − s⁴) / 4 s² n)."""
    square = (found - found.mean()) ** 2
    variance = float(square.mean())
    return ERRORS * float(square.std()) / (2 * math.sqrt(variance * len(found))) if variance else 0.0


def quantile_error(found: NDArray[Any], at: float) -> float:
    """Of a quantile: half of what lies between those that chance may put in its place."""
    reach = share_error(at, len(found))
    low, high = np.quantile(found, np.clip([at - reach, at + reach], 0, 1))
    return float(high - low) / 2


def top_share(sizes: NDArray[Any], part: float) -> tuple[float, float]:
    """What the largest such part has of the sum of all, and what chance adds to that.

    >>> top_share(np.array([60, 20, 10, 5, 5]), 0.2)[0]
    0.6
    """
    falling = np.sort(sizes)[::-1]
    top = max(round(part * len(sizes)), 1)
    share = float(falling[:top].sum() / sizes.sum())
    moves = np.maximum(sizes - falling[top - 1], 0) - share * sizes  # by one person, up to a constant
    return share, mean_error(moves) / float(sizes.mean())
