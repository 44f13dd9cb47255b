"""The matching criterion of Algorithm 1B: whether the best score stands out."""

import math
from typing import NamedTuple

from standout.core.errors import ParameterError

__all__ = ["Match", "check_phi", "eccentricity"]


class Match(NamedTuple):
    """A claim: this record belongs to the target.

    Attributes
    ----------
    record : str
        Id of the record.
    score : float
        Its score, the highest.
    eccentricity : float
        How far it stands out.

    Examples
    --------
    >>> Match("42", score=2.1, eccentricity=1.9).record
    '42'
    """

    record: str
    score: float
    eccentricity: float


def eccentricity(highest: float, second: float, sigma: float) -> float:
    """Eccentricity of the best score: how far it stands out from the second best.

    (max − max2)/σ, with σ over all candidates, zeros included  [Algorithm 1B]. 0 for a tie or for σ = 0.

    >>> eccentricity(5.0, 2.0, 1.5), eccentricity(5.0, 5.0, 1.5), eccentricity(5.0, 5.0, 0.0)
    (2.0, 0.0, 0.0)
    """
    return (highest - second) / sigma if sigma > 0 else 0.0


def check_phi(phi: float) -> float:
    """Return φ as a float if it is a finite number ≥ 0."""
    if isinstance(phi, bool) or not isinstance(phi, (int, float)) or not math.isfinite(phi) or phi < 0:
        raise ParameterError(f"phi must be a finite number ≥ 0, got {phi!r}")
    return float(phi)
