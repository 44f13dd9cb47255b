"""Slow twin of `evaluate/sample_size.py`: tries one number of trials after the other.

The upper end of Wilson's interval is the share at which the measured one is z standard errors too low.
It is found by bisection instead of by a formula. A chance is counted exactly from the binomial distribution.
"""

from math import comb, sqrt

Z = 1.959963984540054
"""The 97.5 % point of the normal distribution, from a printed table."""

__all__ = ["chance_to_prove", "naive_trials_to_prove", "wilson_end"]


def wilson_end(share, n):
    """The largest share from which the measured one is at most Z standard errors away."""
    low, high = share, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle - share <= Z * sqrt(middle * (1 - middle) / n):
            low = middle
        else:
            high = middle
    return low


def naive_trials_to_prove(share, limit):
    """The first number of trials for which the interval ends at or below the limit."""
    n = 1
    while wilson_end(share, n) > limit:
        n += 1
    return n


def chance_to_prove(share, limit, n):
    """Probability that the interval of n trials, each a success with this share, ends within the limit."""
    proving = [k for k in range(int(limit * n) + 1) if wilson_end(k / n, n) <= limit]
    return sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in proving)
