"""The difference of two rates on the same targets, with its interval."""

import math
from statistics import NormalDist

import numpy as np

from standout.core.arrays import Floats
from standout.evaluate.estimates import CONFIDENCE, Estimate

__all__ = ["paired_difference"]


def paired_difference(first: Floats, second: Floats, confidence: float = CONFIDENCE) -> Estimate:
    """Mean of first − second over the same targets, with the interval of Bonett and Price (2012).

    Each number is between 0 and 1. The interval is Wald's of the differences and two more, +1 and −1:
    m ± z √((s − m²)/(n + 2)), with m and s their mean and mean square over n + 2. The two keep its width
    above 0 where no target differs. Student's interval would then be a point, and McNemar's test gives no
    interval. It holds for differences that are not −1, 0 or 1, as in ties.

    Parameters
    ----------
    first, second
        The success of two attacks on each target.
    confidence
        The probability that the interval covers the difference.

    Returns
    -------
    Estimate
        The mean difference.

    Examples
    --------
    >>> print(paired_difference(np.array([1.0] * 60 + [0.0] * 40), np.array([1.0] * 50 + [0.0] * 50)))
    0.100 (0.034 to 0.162, n = 100)
    """
    differences = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    n = len(differences)
    if n == 0:
        return Estimate(0.0, -1.0, 1.0, 0)
    total, squares = math.fsum(differences), math.fsum(differences * differences)
    middle = total / (n + 2)
    variance = max((squares + 2) / (n + 2) - middle * middle, 0.0) / (n + 2)
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(variance)
    return Estimate(total / n, max(middle - reach, -1.0), min(middle + reach, 1.0), n)
