"""How many trials it takes to prove that a rate is below a limit."""

import math
from statistics import NormalDist

from standout.core.errors import ParameterError
from standout.evaluate.estimates import CONFIDENCE, rate

__all__ = ["trials_to_prove"]


def trials_to_prove(share: float, limit: float, chance: float = 0.5) -> int:
    """The smallest number of trials after which the interval of `rate` ends at or below the limit.

    n = ((z √(L(1 − L)) + y √(p(1 − p))) / (L − p))², with p the true share, L the limit, z of Wilson's
    interval, and y the quantile of the chance. At a chance of one half (y = 0) the measured share equals p;
    at a higher chance it may be above p by sampling error, and the interval still ends below the limit.

    Parameters
    ----------
    share
        The share that is expected in each trial, below the limit.
    limit
        The limit, below 1.
    chance
        Probability that the trials prove it, at least one half.

    Returns
    -------
    int
        Number of trials, at least 1.

    Examples
    --------
    >>> n = trials_to_prove(0.04, 0.05)
    >>> n, rate(0.04 * n, n).high <= 0.05, rate(0.04 * (n - 1), n - 1).high <= 0.05
    (1825, True, False)
    >>> trials_to_prove(0.04, 0.05, chance=0.9)
    4601
    """
    if not 0 <= share < limit < 1:
        raise ParameterError(f"share must be at least 0 and below the limit {limit!r}, got {share!r}")
    if not 0.5 <= chance < 1:
        raise ParameterError(f"chance must be at least 0.5 and below 1, got {chance!r}")
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    y = NormalDist().inv_cdf(chance)
    reach = z * math.sqrt(limit * (1 - limit)) + y * math.sqrt(share * (1 - share))
    n = max(1, math.ceil((reach / (limit - share)) ** 2))
    # The formula is exact, but its rounding may differ from that of the interval.
    return n if chance > 0.5 or rate(share * n, n).high <= limit else n + 1
