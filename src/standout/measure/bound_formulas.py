"""The bounds of Theorems 1 to 5, by arithmetic  [section 4]."""

import math
from numbers import Real
from typing import Any

from standout.core.errors import ParameterError, whole_number
from standout.know.similarity import ROUNDING

__all__ = ["between_0_and_1", "check_lam", "facts_for_lineup", "facts_needed", "false_matches", "sample_sparsity"]


def facts_needed(records: int, epsilon: float, delta: float) -> int:
    """Number of known facts that suffice: the smallest m ≥ (log N − log ε) / −log(1 − δ)  [Theorem 1].

    Let the adversary know m random entries of a target, each within 1 − ε of the truth. Then a random one of
    the matching records is similar to the target, Sim ≥ 1 − ε − δ, with probability 1 − ε, for any data. If
    1 − ε of the records have no other record that similar, only the target matches [Theorem 2]. The same
    number suffices for a sample of the data, and to notice that a target is not in it [Theorem 4].

    Parameters
    ----------
    records
        N, the number of records.
    epsilon
        ε, the error probability, above 0 and below 1.
    delta
        δ, above 0 and below 1.

    Returns
    -------
    int
        The number of facts m.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> [facts_needed(records=480_189, epsilon=0.01, delta=delta) for delta in (0.5, 0.9)]
    [26, 8]
    """
    n = whole_number("records", records, 1)
    return _smallest_m(math.log(n) - math.log(between_0_and_1("epsilon", epsilon)), delta)


def facts_for_lineup(records: int, k: int, delta: float) -> int:
    """Facts that leave a lineup of k: the smallest m ≥ log(N / (k − 1)) / log(1/(1 − δ))  [Theorem 3].

    A random one of the matching records is the target with probability 1/k, and log2 k bits are left, in
    sparse data as in Theorem 2.

    Parameters
    ----------
    records
        N, the number of records.
    k
        Length of the lineup, at least 2.
    delta
        δ, above 0 and below 1.

    Returns
    -------
    int
        The number of facts m; 0 if k − 1 ≥ N.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> [facts_for_lineup(records=480_189, k=k, delta=0.5) for k in (2, 10, 100)]
    [19, 16, 13]
    """
    n = whole_number("records", records, 1)
    return _smallest_m(math.log(n) - math.log(whole_number("k", k, 2) - 1), delta)


def false_matches(records: int, facts: int, delta: float) -> float:
    """Expected number of dissimilar records that match m facts, at most N (1 − δ)^m  [proof of Theorem 1].

    Parameters
    ----------
    records
        N, the number of records.
    facts
        m, the number of known facts.
    delta
        δ, above 0 and below 1.

    Returns
    -------
    float
        The bound.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> false_matches(records=480_189, facts=26, delta=0.5)
    0.0071...
    """
    n, m = whole_number("records", records, 1), whole_number("facts", facts, 0)
    return math.exp(math.log(n) + m * math.log1p(-between_0_and_1("delta", delta)))


def sample_sparsity(delta: float, gamma: float, lam: float) -> float:
    """δγ/λ: if the data is not (ε, δ)-sparse, a 1/λ sample is not (ε, δγ/λ)-sparse  [Theorem 5].

    The theorem claims this with probability 1 − γ. The proof has a gap and the claim is false in general;
    see the module `standout.bounds`.

    Parameters
    ----------
    delta
        δ, the share of records with a similar record, from 0 to 1.
    gamma
        γ, above 0 and below 1.
    lam
        λ, at least 1: each record is in the sample with probability 1/λ.

    Returns
    -------
    float
        δγ/λ.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> round(sample_sparsity(delta=0.2, gamma=0.1, lam=8), 6)
    0.0025
    """
    share = between_0_and_1("delta", delta, inclusive=True)
    return share * between_0_and_1("gamma", gamma) / check_lam(lam)


def between_0_and_1(name: str, number: Any, inclusive: bool = False) -> float:
    """A number between 0 and 1, or a ParameterError."""
    given = float(number) if isinstance(number, Real) and not isinstance(number, bool) else math.nan
    if not (0 <= given <= 1 if inclusive else 0 < given < 1):
        allowed = "from 0 to 1" if inclusive else "above 0 and below 1"
        raise ParameterError(f"{name} must be {allowed}, got {number!r}")
    return given


def check_lam(lam: Any) -> float:
    """λ, or a ParameterError."""
    given = float(lam) if isinstance(lam, Real) and not isinstance(lam, bool) else math.nan
    if not 1 <= given < math.inf:
        raise ParameterError(f"lam must be a finite number ≥ 1, got {lam!r}: a sample has 1/lam of the records")
    return given


def _smallest_m(log_ratio: float, delta: float) -> int:
    """The smallest whole m ≥ log_ratio / −log(1 − δ), at least 0, up to rounding errors."""
    facts = log_ratio / -math.log1p(-between_0_and_1("delta", delta))
    if not math.isfinite(facts):
        raise ParameterError(f"delta = {delta!r} is too small: the number of facts overflows")
    return max(0, round(facts) if abs(facts - round(facts)) <= ROUNDING else math.ceil(facts))
