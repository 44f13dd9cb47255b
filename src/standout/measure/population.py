"""Risk if the rows are a sample of a population, and the adversary does not know who is in it (journalist).

The adversary finds the F people of the population with the values of a row, and guesses which of them it is.
F is not known; `population_models` estimates it in three ways. No estimate is right for every table, and each
can understate, so the headline is the highest. It never exceeds the prosecutor's risk.

Intervals come from 100 bootstrap samples of the classes. They cover the chance in which classes were sampled,
not the error of a model: for that, compare the models.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError, whole_number
from standout.core.rng import generator
from standout.evaluate.estimates import CONFIDENCE, Estimate
from standout.measure.equivalence import IdentityRisk, exact

# Pitman's sampling formula, fitted to class sizes by maximum likelihood  [Pitman 1995; Hoshino 2001].
#
# With u classes of n rows, S_j of them of size j, the logarithm of the likelihood is
#
#     Σ_{i<u} ln(θ + iα) − Σ_{i<n} ln(θ + i) + Σ_j S_j Σ_{i<j} ln(i − α),    0 < α < 1, θ > −α.
#
# Its derivatives are sums of fractions, which the digamma function ψ adds up: Σ_{i<n} 1/(θ + i) = ψ(θ + n) −
# ψ(θ + 1).


SMALLEST, LARGEST = 1e-3, 1.0 - 1e-9
"""Below, differences of ψ lose digits; at α = 0.001 the formula hardly differs from its limit, Ewens's."""
TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Pitman:
    """The parameters of Pitman's formula; α = 1 means that every class has one row."""

    alpha: float
    theta: float


def fit_pitman(size: Ints, classes: Ints) -> Pitman | None:
    """The parameters with the highest likelihood for `classes[i]` classes of `size[i]` rows.

    None if there are not at least two classes. α = 1 if all rows are unique: the likelihood then rises up to
    there.
    """
    n, u = int((size * classes).sum()), int(classes.sum())
    if u < 2:
        return None
    if u == n:
        return Pitman(1.0, 0.0)

    from scipy.special import digamma

    def sum_of_fractions(alpha: float, theta: float) -> float:
        """Σ 1/(θ + iα) for i = 1, …, u − 1."""
        return float(digamma(u + theta / alpha) - digamma(1.0 + theta / alpha)) / alpha

    def best_theta(alpha: float) -> float:
        """The θ with the highest likelihood for this α; the derivative falls from +∞ at −α to below 0."""

        def slope(log_excess: float) -> float:
            theta = math.exp(log_excess) - alpha
            return float(sum_of_fractions(alpha, theta) - (digamma(theta + n) - digamma(theta + 1.0)))

        return math.exp(_root(slope, math.log(1e-12), math.log(1e3 * n * n))) - alpha

    def slope(alpha: float) -> float:
        theta = best_theta(alpha)
        spread = (digamma(np.asarray(size - alpha, np.float64)) - digamma(1.0 - alpha)) * classes
        return (u - 1 - theta * sum_of_fractions(alpha, theta)) / alpha - float(spread.sum())

    alpha = _root(slope, SMALLEST, LARGEST)
    return Pitman(alpha, best_theta(alpha))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function crosses 0; the end nearest to it if it does not."""
    from scipy.optimize import brentq

    if function(low) <= 0:
        return low
    return high if function(high) >= 0 else float(brentq(function, low, high, xtol=TOLERANCE))


# How many people of a population agree with a row, if the rows are a sample: three models.
#
# f is the number of rows of the sample with some values, F the number of people of the population with them,
# and π = n/N the sampling fraction. A model gives the chance that a match of a row is right, E[1/F | f], and
# the chance that nobody else of the population has its values, P(F = 1 | f = 1).
#
# benedetti-franconi   F − f is negative binomial with shape f and probability π. It knows nothing about the
#                      classes of this table, and understates where most people are unique.
# pitman               Pitman's sampling formula, fitted to the class sizes by maximum likelihood [Hoshino].
#                      F − f is negative binomial with shape f − α and probability (n + θ)/(N + θ).
# zayatz               Classes of the population have the sizes of the classes of the sample, in the same
#                      proportions; each member is in the sample with probability π [Zayatz 1991].


SERIES_FROM = 0.25
"""From this probability on, the series converges within a few hundred terms whatever the size."""
SERIES_SIZE = 40
"""From this size on, it converges within 60 terms whatever the probability."""


@dataclass(frozen=True, slots=True)
class ModelRisk:
    """What a model says of a sample."""

    unique: float  # expected share of the rows whose values nobody else of the population has
    mean: float  # mean of E[1/F | f] over the rows: the expected share of right matches
    highest: float  # the largest E[1/F | f]


def model_risks(size: Ints, classes: Ints, population: float, weights: Floats) -> dict[str, ModelRisk]:
    """The risk by each model that is defined, for `classes[i]` classes of `size[i]` rows.

    weights are `zayatz_weights` of the sizes and the sampling fraction.
    """
    occurs = classes > 0
    size, classes, weights = size[occurs], classes[occurs], weights[np.ix_(occurs, occurs)]
    n = int((size * classes).sum())
    fraction = n / population
    likely = weights * classes
    total = likely.sum(axis=1)
    alone = float(likely[0, 0] / total[0]) if size[0] == 1 else 0.0
    risks = {"benedetti-franconi": _risk(size, classes, expected_inverse(size, 0.0, fraction), fraction)}
    fitted = fit_pitman(size, classes)
    if fitted is not None and fitted.alpha >= 1.0:  # all rows are unique: nothing says that people are not
        risks["pitman"] = ModelRisk(1.0, 1.0, 1.0)
    elif fitted is not None:
        p, shape = (n + fitted.theta) / (population + fitted.theta), -fitted.alpha
        risks["pitman"] = _risk(size, classes, expected_inverse(size, shape, p), p ** (1.0 + shape))
    return risks | {"zayatz": _risk(size, classes, (likely / size).sum(axis=1) / total, alone)}


def _risk(size: Ints, classes: Ints, inverse: Floats, alone: float) -> ModelRisk:
    """The risk from E[1/F | f] of each size, and the chance that a unique row is alone in the population."""
    rows = size * classes
    n = int(rows.sum())
    n_unique = int(classes[0]) if size[0] == 1 else 0
    return ModelRisk(n_unique / n * alone, float((rows * inverse).sum()) / n, float(inverse.max()))


def zayatz_weights(size: Ints, fraction: float) -> Floats:
    """P(f | F) for each f = size[i] in the sample and F = size[j] in the population, sampled one by one."""
    log_factorial = np.append(0.0, np.cumsum(elementary.log(np.arange(1, int(size[-1]) + 1))))
    seen, present = size[:, None], size[None, :]
    unseen = np.maximum(present - seen, 0)
    log_ways = log_factorial[present] - log_factorial[seen] - log_factorial[unseen]
    log_chance = log_ways + seen * math.log(fraction) + unseen * math.log1p(-fraction)
    return np.where(present >= seen, elementary.exp(log_chance), 0.0)


def expected_inverse(size: Ints, shape: float, probability: float) -> Floats:
    """E[1/F | f] for each f = size[i], where F − f is negative binomial with shape f + `shape`.

    It is p ∫ u^(f − 1) (p + q u)^(a − 1) du from 0 to 1, with q = 1 − p and a the shape. By parts,

        E₁ = p (1 − p^a) / (a q),    E_{f + 1} = p (1 − f E_f) / (q (f + a)),

    which is stable for small p. The series (p/f) Σ q^k (1 − a)(2 − a)…(k − a) / ((f + 1)…(f + k)) converges
    fast for other p and for large f. With a = 0 this is the risk of Benedetti and Franconi.
    """
    if probability >= 1.0:
        return 1.0 / size
    p, q, term = probability, 1.0 - probability, np.ones(len(size))
    total = term.copy()
    for k in range(1, 200):
        term *= q * (k - shape) / (size + k)
        total += term
    inverse = p / size * total
    if probability < SERIES_FROM:
        # expm1 keeps the digits for shapes near 0
        by_parts = [p / q * (-math.expm1(shape * math.log(p)) / shape if shape else -math.log(p))]
        for f in range(1, SERIES_SIZE):
            by_parts.append(p * (1.0 - f * by_parts[-1]) / (q * (f + shape)))
        small = size < SERIES_SIZE
        inverse[small] = np.array(by_parts)[size[small] - 1]
    return inverse


RESAMPLES = 100
MEASURES = ("unique", "mean", "highest")


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """The estimates of one model; see `PopulationRisk`."""

    model: str
    unique: Estimate
    mean: Estimate
    highest: Estimate


@dataclass(frozen=True, slots=True)
class PopulationRisk:
    """Risk of rows that are a sample of a population."""

    population: int  # number of people in the population
    fraction: float  # number of rows divided by the population
    unique: Estimate  # share of the rows whose values nobody else of the population has
    mean: Estimate  # expected share of right matches if the adversary matches every row with the population
    highest: Estimate  # the chance of a right match for the row at most risk
    models: tuple[ModelEstimate, ...]  # the same by each model. The numbers above are the highest of these

    def __str__(self) -> str:
        return (
            f"{self.unique.value:.1%} of the rows unique among {self.population:,} people, "
            f"{self.mean.value:.1%} of matches right"
        )


def population_risk(identity: IdentityRisk, population: int, seed: int = 0) -> PopulationRisk:
    """The risk of a sample from `population` people, from class sizes in which a missing cell is a value."""
    n = identity.n_rows
    if whole_number("population", population, 1) < n:
        raise ParameterError(f"population must be at least the number of rows, {n:,}, got {population:,}")
    size = np.array([count.size for count in identity.sizes], np.int64)
    classes = np.array([count.rows // count.size for count in identity.sizes], np.int64)
    if population == n:
        unique, mean, highest = (exact(getattr(identity, name).value, n) for name in MEASURES)
        return PopulationRisk(population, 1.0, unique, mean, highest, ())
    models = _with_intervals(size, classes, population, n, seed)
    unique, mean, highest = [
        _highest([getattr(model, name) for model in models], getattr(identity, name).value) for name in MEASURES
    ]
    return PopulationRisk(population, n / population, unique, mean, highest, tuple(models))


def _with_intervals(size: Ints, classes: Ints, population: int, n: int, seed: int) -> list[ModelEstimate]:
    weights = zayatz_weights(size, n / population)
    found = model_risks(size, classes, population, weights)
    resampled: list[dict[str, ModelRisk]] = []
    rng, n_classes, tail = generator(seed, "classes of the population"), int(classes.sum()), (1 - CONFIDENCE) / 2
    for _ in range(RESAMPLES):
        drawn = rng.multinomial(n_classes, classes / n_classes)
        scale = float((size * drawn).sum()) / n  # keeps the sampling fraction
        resampled.append(model_risks(size, drawn, population * scale, weights))

    def estimate(model: str, name: str) -> Estimate:
        """The value with the percentiles of the resampled values; without these, nothing is known."""
        value, others = getattr(found[model], name), [getattr(each[model], name) for each in resampled if model in each]
        if not others:
            return Estimate(value, 0.0, 1.0, n)
        low, high = np.quantile(others, [tail, 1 - tail])
        return Estimate(value, min(float(low), value), max(float(high), value), n)

    return [ModelEstimate(model, *(estimate(model, name) for name in MEASURES)) for model in found]


def _highest(estimates: list[Estimate], prosecutor: float) -> Estimate:
    """The highest value, with an interval up to the highest end of all, or the prosecutor's risk."""
    worst = max(estimates, key=lambda estimate: estimate.value)
    high = max(worst.value, min(max(estimate.high for estimate in estimates), prosecutor))
    return Estimate(worst.value, min(worst.low, worst.value), high, worst.n)
