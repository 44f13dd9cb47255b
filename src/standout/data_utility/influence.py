"""Numbers with what each person adds to them, so that differences and ratios keep their intervals.

Means over the same people are not independent: that one of them was hard to predict moves both. What a person
adds to a number to first order, its influence, is carried along; the interval of anything made of them is
Student's, of the influences' mean  [the delta method].
"""

import math
from dataclasses import dataclass

import numpy as np

from standout.core.arrays import Floats
from standout.evaluate.estimates import CONFIDENCE, Estimate, student

__all__ = ["InfluenceEstimate"]


@dataclass(frozen=True, eq=False, slots=True)
class InfluenceEstimate:
    """A number, and what each of the people it was measured on adds to it; those sum to 0.

    >>> before = InfluenceEstimate.mean(np.array([1.0, 0.4, 0.6]))
    >>> after = InfluenceEstimate.mean(np.array([0.5, 0.2, 0.3]))
    >>> print((after / before).estimate(), after.estimate(), sep="; ")
    0.500 (0.500 to 0.500, n = 3); 0.333 (-0.046 to 0.713, n = 3)
    """

    value: float
    influence: Floats

    @classmethod
    def mean(cls, values: Floats) -> "InfluenceEstimate":
        middle = float(values.mean())
        return cls(middle, values - middle)

    def root(self) -> "InfluenceEstimate":
        value = math.sqrt(self.value)
        return InfluenceEstimate(
            value, self.influence / (2 * value) if value else np.zeros_like(self.influence)
        )

    def __sub__(self, other: "InfluenceEstimate") -> "InfluenceEstimate":
        return InfluenceEstimate(self.value - other.value, self.influence - other.influence)

    def __truediv__(self, other: "InfluenceEstimate") -> "InfluenceEstimate":
        ratio = self.value / other.value
        return InfluenceEstimate(ratio, (self.influence - ratio * other.influence) / other.value)

    def estimate(self, baseline: float | None = None) -> Estimate:
        n = len(self.influence)
        if n < 2:
            return Estimate(self.value, -math.inf, math.inf, n, baseline)
        error = math.sqrt(float((self.influence**2).sum()) / (n - 1) / n)
        reach = student(n - 1, CONFIDENCE) * error
        return Estimate(self.value, self.value - reach, self.value + reach, n, baseline)
