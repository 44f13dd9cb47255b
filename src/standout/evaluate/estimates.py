"""Numbers with their uncertainty: a value, its 95 % interval, the number of trials, and the baseline."""

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from standout.core.arrays import Floats
from standout.core.errors import ParameterError
from standout.core.text import is_near_limit
from standout.core.text import percent as typeset_percent

CONFIDENCE = 0.95
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
NORMAL_FROM = 1000
"""From this many values on, the interval of a median uses the normal approximation."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rate, mean or median with its interval.

    Attributes
    ----------
    value
        The estimate.
    low, high
        The ends of the 95 % confidence interval; not finite where it is unknown.
    n
        Number of trials.
    baseline
        The value that guessing without knowledge reaches; None if there is no such value.

    Examples
    --------
    >>> rate(843, 1000, baseline=1 / 480_189)
    Estimate(value=0.843, low=0.819..., high=0.864..., n=1000, baseline=2.08...e-06)
    >>> print(rate(843, 1000))
    0.843 (0.819 to 0.864, n = 1,000)
    """

    value: float
    low: float
    high: float
    n: int
    baseline: float | None = None

    def __str__(self) -> str:
        digits = 3 if max(abs(self.low), abs(self.high)) < 10 else 1
        interval = f"{self.low:,.{digits}f} to {self.high:,.{digits}f}"
        return f"{self.value:,.{digits}f} ({interval}, n = {self.n:,})"

    @property
    def width(self) -> float:
        """Half of the interval's length: 0.01 means ± 1 percentage point."""
        return (self.high - self.low) / 2


def rate(successes: float, n: int, baseline: float | None = None) -> Estimate:
    """The share of n trials that succeeded, with Wilson's interval.

    (p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n)

    A trial may succeed in part: the right record in a tie of t counts 1/t. Outcomes then vary less than the
    formula assumes, and the interval is wider than necessary. The interval of no trials is 0 to 1.

    >>> rate(0, 100).high
    0.036...
    """
    if not 0 <= successes <= n:
        raise ParameterError(f"successes must be from 0 to n = {n:,}, got {successes!r}")
    if n == 0:
        return Estimate(0.0, 0.0, 1.0, 0, baseline)
    share, z2_over_n = successes / n, Z * Z / n
    middle = share + z2_over_n / 2
    reach = Z * math.sqrt(share * (1 - share) / n + z2_over_n / (4 * n))
    low = 0.0 if successes == 0 else (middle - reach) / (1 + z2_over_n)
    high = 1.0 if successes == n else (middle + reach) / (1 + z2_over_n)
    return Estimate(share, max(low, 0.0), min(high, 1.0), n, baseline)


def rate_by_target(values: ArrayLike, baseline: float | None = None) -> Estimate:
    """The rate over targets of outcomes by target and draw: the draws of one target are one trial."""
    trials = np.asarray(values).mean(axis=1)
    return rate(min(math.fsum(trials), len(trials)), len(trials), baseline)


def mean(values: ArrayLike, baseline: float | None = None) -> Estimate:
    """The mean of numbers, with Student's interval: x̄ ± t s/√n.

    The interval of fewer than two numbers is (−∞, ∞).

    >>> print(mean([3.1, 2.9, 3.0, 3.4]))
    3.100 (2.756 to 3.444, n = 4)
    """
    return weighted_mean(values, np.ones(len(np.asarray(values))), baseline)


def weighted_mean(values: ArrayLike, weights: ArrayLike, baseline: float | None = None) -> Estimate:
    """The mean of numbers with random weights, with the interval of a ratio: r ± t √(m/(m − 1) Σ e²) / Σ w.

    r = Σ w x / Σ w, e = w (x − r), and m is the number of weights above 0: numbers with weight 0 are not
    trials. With weights of 0 and 1 this is `mean` of the numbers with weight 1.

    >>> print(weighted_mean([3.1, 2.9, 3.0, 3.4, 99.0], [1, 1, 1, 1, 0]))
    3.100 (2.756 to 3.444, n = 4)
    """
    weight = np.asarray(weights, np.float64)
    counts = weight > 0
    number, weight = np.asarray(values, np.float64)[counts], weight[counts]
    n, total = len(number), math.fsum(weight)
    if n == 0:
        return Estimate(0.0, -math.inf, math.inf, 0, baseline)
    middle = math.fsum(weight * number) / total
    if n == 1:
        return Estimate(middle, -math.inf, math.inf, 1, baseline)
    spread = math.sqrt(math.fsum((weight * (number - middle)) ** 2) * n / (n - 1)) / total
    reach = student(n - 1) * spread
    return Estimate(middle, middle - reach, middle + reach, n, baseline)


def difference(first: Estimate, second: Estimate, correlation: float = 0.0) -> Estimate:
    """The first minus the second, with an interval made of both intervals (Newcombe 1998, method 10).

    low = d − √(a² − 2 ρ a b + b²), with a from the first value down to its low end, b from the second value
    up to its high end, and ρ the correlation of the two in one trial; high likewise. Unlike the interval of a
    mean of differences it does not vanish where all trials agree: ten successes in ten are no certainty.

    >>> print(difference(rate(9, 10), rate(10, 10)))
    -0.100 (-0.404 to 0.189, n = 10)
    """
    value = first.value - second.value
    below, above = (
        math.sqrt(max(a * a - 2 * correlation * a * b + b * b, 0.0)) if math.isfinite(a + b) else math.inf
        for a, b in (
            (first.value - first.low, second.high - second.value),
            (first.high - first.value, second.value - second.low),
        )
    )
    return Estimate(value, value - below, value + above, min(first.n, second.n))


def median(values: ArrayLike, baseline: float | None = None) -> Estimate:
    """The median of numbers, with an interval that holds for any distribution.

    The k-th smallest of n lies above the median with the probability that a fair coin shows heads fewer than k
    times in n throws. The interval is the shortest whose ends both leave at most 2.5 % outside.

    >>> print(median([1, 1, 2, 3, 5, 8, 13, 21, 34]))
    5.0 (1.0 to 21.0, n = 9)
    """
    ordered = np.sort(np.asarray(values, np.float64))
    n = len(ordered)
    if not n:
        return Estimate(0.0, -math.inf, math.inf, 0, baseline)
    k, exactly, tail = 0, 0.5**n, (1 - CONFIDENCE) / 2
    if n >= NORMAL_FROM:
        k = max(0, math.floor(n / 2 - Z * math.sqrt(n) / 2))
    else:  # the largest k such that fewer than k heads in n throws have at most the probability `tail`
        at_most = exactly
        while at_most <= tail:
            k += 1
            exactly *= (n - k + 1) / k
            at_most += exactly
    low = float(ordered[k - 1]) if k else -math.inf
    high = float(ordered[n - k]) if k else math.inf
    return Estimate(float(np.median(ordered)), low, high, n, baseline)


@lru_cache(maxsize=1 << 12)
def student(freedom: int, confidence: float = CONFIDENCE) -> float:
    """The t such that a Student variable lies within ± t with this probability.

    >>> round(student(9), 5)
    2.26216
    """
    from scipy.special import stdtrit  # importing it takes longer than most commands need to start

    return float(stdtrit(freedom, (1 + confidence) / 2))


# Rates as text for sentences: 84 % (82 % to 86 %).


def percent(number: float, fine: bool | None = None) -> str:
    """A share as a percentage; a positive share never becomes 0 %, and a share below 1 never 100 %.

    >>> percent(0.843), percent(0.0004), percent(0.9996), percent(1.0), percent(0.0496), percent(0.01)
    ('84 %', 'less than 0.1 %', 'more than 99.9 %', '100 %', '5 %', '1 %')
    """
    text = typeset_percent(number, fine).replace("\xa0", " ")
    return text.replace("<", "less than").replace(">", "more than")


def rate_text(estimate: Estimate) -> str:
    """A rate with its interval: 84 % (82 % to 86 %)."""
    fine = any(is_near_limit(number) for number in (estimate.value, estimate.low, estimate.high))
    low, high = percent(estimate.low, fine), percent(estimate.high, fine)
    return f"{percent(estimate.value, fine)} ({low} to {high})"


# The difference of two rates on the same targets, with its interval.


def paired_difference(first: Floats, second: Floats) -> Estimate:
    """Mean of first − second over the same targets, with the interval of Bonett and Price (2012).

    Each number is between 0 and 1. The interval is Wald's of the differences and two more, +1 and −1:
    m ± z √((s − m²)/(n + 2)), with m and s their mean and mean square over n + 2. The two keep its width
    above 0 where no target differs. Student's interval would then be a point, and McNemar's test gives no
    interval. It holds for differences that are not −1, 0 or 1, as in ties.

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
    reach = Z * math.sqrt(variance)
    return Estimate(total / n, max(middle - reach, -1.0), min(middle + reach, 1.0), n)


# How many trials it takes to prove that a rate is below a limit.


def trials_to_prove(share: float, limit: float, chance: float = 0.5) -> int:
    """The smallest number of trials after which the interval of `rate` ends at or below the limit.

    n = ((z √(L(1 − L)) + y √(p(1 − p))) / (L − p))², with p the true share, L the limit, z of Wilson's
    interval, and y the quantile of the chance. At a chance of one half (y = 0) the measured share equals p;
    at a higher chance it may be above p by sampling error, and the interval still ends below the limit.

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
    y = NormalDist().inv_cdf(chance)
    reach = Z * math.sqrt(limit * (1 - limit)) + y * math.sqrt(share * (1 - share))
    n = max(1, math.ceil((reach / (limit - share)) ** 2))
    # The formula is exact, but its rounding may differ from that of the interval.
    return n if chance > 0.5 or rate(share * n, n).high <= limit else n + 1


# Probabilities of results at least as extreme as the observed one, for the self-check.


def binomial_tail(hits: int, n: int, chance: float) -> float:
    """Probability of at least `hits` hits in n independent trials.

    >>> round(binomial_tail(1, 200, 1 / 20_000), 4), binomial_tail(0, 10, 0.5)
    (0.01, 1.0)
    """
    from scipy.special import bdtrc

    if hits <= 0 or chance >= 1:
        return 1.0
    return 0.0 if hits > n else float(bdtrc(hits - 1, n, chance))


def beta_binomial_tail(hits: int, n: int, a: int, b: int) -> float:
    """Probability that at least `hits` of n new numbers exceed the a-th highest of a + b − 1 old ones.

    >>> round(beta_binomial_tail(1, 1, 1, 1), 6), round(beta_binomial_tail(3, 3, 1, 27), 6)
    (0.5, 0.000246)
    """
    from scipy.special import betaln

    k = np.arange(max(hits, 0), n + 1)
    logs = betaln(k + a, n - k + b) - betaln(a, b) - betaln(k + 1, n - k + 1) - math.log(n + 1)
    return min(1.0, math.fsum(np.exp(logs)))
