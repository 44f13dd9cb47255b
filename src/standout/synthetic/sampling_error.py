"""Sampling error of each kind of statistic: two standard errors."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["mean_error", "quantile_error", "sd_error", "share_error", "top_share"]

STANDARD_ERRORS = 2


def share_error(share: float, n: float) -> float:
    """Sampling error of a share of n people.

    >>> share_error(0.5, 10_000)
    0.01
    """
    return STANDARD_ERRORS * math.sqrt(share * (1 - share) / n)


def mean_error(values: NDArray[Any]) -> float:
    """Sampling error of the mean of these values."""
    return STANDARD_ERRORS * float(values.std()) / math.sqrt(len(values))


def sd_error(values: NDArray[Any]) -> float:
    """Sampling error of the standard deviation of these values: √((m₄ − s⁴) / 4 s² n)."""
    square = (values - values.mean()) ** 2
    variance = float(square.mean())
    return (
        STANDARD_ERRORS * float(square.std()) / (2 * math.sqrt(variance * len(values))) if variance else 0.0
    )


def quantile_error(values: NDArray[Any], share: float) -> float:
    """Sampling error of a quantile: half the distance between the quantiles that may take its place."""
    error = share_error(share, len(values))
    low, high = np.quantile(values, np.clip([share - error, share + error], 0, 1))
    return float(high - low) / 2


def top_share(sizes: NDArray[Any], part: float) -> tuple[float, float]:
    """Share of the sum that belongs to the largest `part` of the sizes, and its sampling error.

    >>> top_share(np.array([60, 20, 10, 5, 5]), 0.2)[0]
    0.6
    """
    falling = np.sort(sizes)[::-1]
    top = max(round(part * len(sizes)), 1)
    share = float(falling[:top].sum() / sizes.sum())
    # how much each person moves the share, up to a constant
    influence = np.maximum(sizes - falling[top - 1], 0) - share * sizes
    return share, mean_error(influence) / float(sizes.mean())
