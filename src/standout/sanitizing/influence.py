"""Estimates with the influence of each person, so that differences and ratios keep their intervals.

Two means over the same people are not independent: a person who is hard to predict moves both. The influence
of a person is what that person adds to a number, to first order. It is carried through differences and
ratios; their interval is Student's, from the variance of the influences  [the delta method].
"""

import math
from dataclasses import dataclass

import numpy as np

from standout.core.arrays import Floats
from standout.evaluate.estimates import CONFIDENCE, Estimate, student


@dataclass(frozen=True, eq=False, slots=True)
class InfluenceEstimate:
    """A number and the influence of each person it was measured on; influences sum to 0.

    >>> before = InfluenceEstimate.mean(np.array([1.0, 0.4, 0.6]))
    >>> after = InfluenceEstimate.mean(np.array([0.5, 0.2, 0.3]))
    >>> print((after / before).estimate(), after.estimate(), sep="; ")
    0.500 (0.500 to 0.500, n = 3); 0.333 (-0.046 to 0.713, n = 3)
    """

    value: float
    influence: Floats

    @classmethod
    def mean(cls, values: Floats) -> "InfluenceEstimate":
        """Mean over people."""
        mean = float(values.mean())
        return cls(mean, values - mean)

    def root(self) -> "InfluenceEstimate":
        """Square root."""
        value = math.sqrt(self.value)
        influence = self.influence / (2 * value) if value else np.zeros_like(self.influence)
        return InfluenceEstimate(value, influence)

    def __sub__(self, other: "InfluenceEstimate") -> "InfluenceEstimate":
        return InfluenceEstimate(self.value - other.value, self.influence - other.influence)

    def __truediv__(self, other: "InfluenceEstimate") -> "InfluenceEstimate":
        ratio = self.value / other.value
        return InfluenceEstimate(ratio, (self.influence - ratio * other.influence) / other.value)

    def estimate(self, baseline: float | None = None) -> Estimate:
        """Number with its 95 % interval."""
        n = len(self.influence)
        if n < 2:
            return Estimate(self.value, -math.inf, math.inf, n, baseline)
        error = math.sqrt(float((self.influence**2).sum()) / (n - 1) / n)
        reach = student(n - 1, CONFIDENCE) * error
        return Estimate(self.value, self.value - reach, self.value + reach, n, baseline)
