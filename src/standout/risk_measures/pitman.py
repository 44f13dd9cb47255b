"""Pitman's sampling formula, fitted to class sizes by maximum likelihood  [Pitman 1995; Hoshino 2001].

With u classes of n rows, S_j of them of size j, the logarithm of the likelihood is

    Σ_{i<u} ln(θ + iα) − Σ_{i<n} ln(θ + i) + Σ_j S_j Σ_{i<j} ln(i − α),    0 < α < 1, θ > −α.

Its derivatives are sums of fractions, which the digamma function ψ adds up: Σ_{i<n} 1/(θ + i) = ψ(θ + n) −
ψ(θ + 1).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats, Ints

__all__ = ["Pitman", "digamma", "fit_pitman"]

Number = TypeVar("Number", float, Floats)
SMALLEST, LARGEST = 1e-3, 1.0 - 1e-9
"""Below, differences of ψ lose digits; at α = 0.001 the formula hardly differs from its limit, Ewens's."""
STEPS, TOLERANCE = 200, 1e-11


@dataclass(frozen=True, slots=True)
class Pitman:
    """The parameters of Pitman's formula; α = 1 means that every class has one row."""

    alpha: float
    theta: float


def fit_pitman(size: Ints, classes: Ints) -> Pitman | None:
    """The parameters with the highest likelihood for `classes[i]` classes of `size[i]` rows.

    None if there are not at least two classes. α = 1 if all rows are unique: the likelihood then rises up to
    there.

    Examples
    --------
    >>> fitted = fit_pitman(np.array([1, 2, 5]), np.array([60, 15, 4]))
    >>> round(fitted.alpha, 4), round(fitted.theta, 4)
    (0.3698, 68.6642)
    """
    n, u = int((size * classes).sum()), int(classes.sum())
    if u < 2:
        return None
    if u == n:
        return Pitman(1.0, 0.0)

    near = [math.log(n)]  # the last θ found: the next one is close to it

    def slope(alpha: float) -> float:
        theta = _best_theta(alpha, n, u, near[-1])
        near.append(math.log(theta + alpha))
        spread = (digamma(np.asarray(size - alpha, np.float64)) - digamma(1.0 - alpha)) * classes
        return (u - 1 - theta * _sum_of_fractions(alpha, theta, u)) / alpha - float(spread.sum())

    alpha = _root(slope, SMALLEST, LARGEST)
    return Pitman(alpha, _best_theta(alpha, n, u, near[-1]))


def _best_theta(alpha: float, n: int, u: int, near: float) -> float:
    """The θ with the highest likelihood for this α; the derivative falls from +∞ at −α to below 0."""
    lowest, highest = math.log(1e-12), math.log(1e3 * n * n)

    def slope(log_excess: float) -> float:
        theta = math.exp(log_excess) - alpha
        return _sum_of_fractions(alpha, theta, u) - (digamma(theta + n) - digamma(theta + 1.0))

    low, high = max(near - 0.5, lowest), min(near + 0.5, highest)
    while low > lowest and slope(low) < 0:
        low = max(low - 4.0, lowest)
    while high < highest and slope(high) > 0:
        high = min(high + 4.0, highest)
    return math.exp(_root(slope, low, high)) - alpha


def _sum_of_fractions(alpha: float, theta: float, u: int) -> float:
    """Σ 1/(θ + iα) for i = 1, …, u − 1."""
    return (digamma(u + theta / alpha) - digamma(1.0 + theta / alpha)) / alpha


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function crosses 0; the end nearest to it if it does not.

    Secants between the ends (Illinois method), and a bisection after two of them: next to a pole, secants
    alone creep, and a small step is no sign that the root is near.
    """
    at_low, at_high = function(low), function(high)
    if at_low <= 0:
        return low
    if at_high >= 0:
        return high
    was_above = None
    for step in range(STEPS):
        middle = high - at_high * (high - low) / (at_high - at_low)
        if step % 3 == 2 or not low < middle < high:
            middle = (low + high) / 2
        value = function(middle)
        if value == 0:
            return middle
        if value > 0:
            low, at_low = middle, value
            at_high /= 2 if was_above is True else 1
        else:
            high, at_high = middle, value
            at_low /= 2 if was_above is False else 1
        was_above = value > 0
        if high - low <= TOLERANCE * max(1.0, abs(high)):
            break
    return (low + high) / 2


def digamma(x: Number) -> Number:
    """ψ(x) = d ln Γ(x) / dx for x > 0.

    >>> round(digamma(1.0), 12)
    -0.577215664902
    """
    below = x * 0.0
    for _ in range(10):  # ψ(x) = ψ(x + 1) − 1/x, up to where the asymptotic series is exact
        below = below + 1.0 / x
        x = x + 1.0
    log = math.log(x) if isinstance(x, float) else elementary.log(x)
    y = 1.0 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))))
    return log - 0.5 / x - series - below
