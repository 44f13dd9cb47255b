"""The matching criterion: does the best score stand out?"""

import math
from typing import NamedTuple

from standout.core.errors import ParameterError

__all__ = ["Match", "check_phi", "eccentricity"]


class Match(NamedTuple):
    """A claim: this record is the person."""

    record: str
    score: float
    eccentricity: float


def eccentricity(highest: float, second: float, sigma: float) -> float:
    """How far the best score stands out.

    (max − max2) / σ, σ over all candidates, zeros included  [Algorithm 1B].
    A tie or no spread gives 0: nothing stands out.

    >>> eccentricity(5.0, 2.0, 1.5), eccentricity(5.0, 5.0, 1.5), eccentricity(5.0, 5.0, 0.0)
    (2.0, 0.0, 0.0)
    """
    return (highest - second) / sigma if sigma > 0 else 0.0


def check_phi(phi: float) -> float:
    """φ, or a clear error."""
    if isinstance(phi, bool) or not isinstance(phi, (int, float)) or not math.isfinite(phi) or phi < 0:
        raise ParameterError(f"phi must be a finite number ≥ 0, got {phi!r}")
    return float(phi)
