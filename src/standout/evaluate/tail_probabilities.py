"""Probabilities of results at least as extreme as the observed one, for the self-check."""

import math

__all__ = ["beta_binomial_tail", "binomial_tail"]


def binomial_tail(hits: int, n: int, chance: float) -> float:
    """Probability of at least `hits` hits in n independent trials.

    >>> round(binomial_tail(1, 200, 1 / 20_000), 4), binomial_tail(0, 10, 0.5)
    (0.01, 1.0)
    """
    if hits <= 0 or chance >= 1:
        return 1.0
    if hits > n or chance <= 0:
        return 0.0
    logs = (
        _log_choose(n, k) + k * math.log(chance) + (n - k) * math.log1p(-chance) for k in range(hits, n + 1)
    )
    return min(1.0, math.fsum(map(math.exp, logs)))


def beta_binomial_tail(hits: int, n: int, a: int, b: int) -> float:
    """Probability that at least `hits` of n new numbers exceed the a-th highest of a + b − 1 old ones.

    >>> round(beta_binomial_tail(1, 1, 1, 1), 6), round(beta_binomial_tail(3, 3, 1, 27), 6)
    (0.5, 0.000246)
    """
    logs = (
        _log_choose(n, k) + _log_beta(k + a, n - k + b) - _log_beta(a, b) for k in range(max(hits, 0), n + 1)
    )
    return min(1.0, math.fsum(map(math.exp, logs)))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _log_beta(x: float, y: float) -> float:
    return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)
