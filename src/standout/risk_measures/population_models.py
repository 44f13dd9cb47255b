"""How many people of a population agree with a row, if the rows are a sample: three models.

f is the number of rows of the sample with some values, F the number of people of the population with them,
and π = n/N the sampling fraction. A model gives the chance that a match of a row is right, E[1/F | f], and
the chance that nobody else of the population has its values, P(F = 1 | f = 1).

benedetti-franconi   F − f is negative binomial with shape f and probability π. It knows nothing about the
                     classes of this table, and understates where most people are unique.
pitman               Pitman's sampling formula, fitted to the class sizes by maximum likelihood [Hoshino].
                     F − f is negative binomial with shape f − α and probability (n + θ)/(N + θ).
zayatz               Classes of the population have the sizes of the classes of the sample, in the same
                     proportions; each member is in the sample with probability π [Zayatz 1991].
"""

import math
from dataclasses import dataclass

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.risk_measures.pitman import Pitman, fit_pitman

__all__ = ["MODELS", "ModelRisk", "expected_inverse", "model_risks", "zayatz_weights"]

MODELS = ("benedetti-franconi", "pitman", "zayatz")
SERIES_FROM = 0.25
"""From this probability on, the series converges within a few hundred terms whatever the size."""
SERIES_SIZE = 40
"""From this size on, it converges within 60 terms whatever the probability."""


@dataclass(frozen=True, slots=True)
class ModelRisk:
    """What a model says of a sample.

    Attributes
    ----------
    unique
        Expected share of the rows whose values nobody else of the population has.
    mean
        Mean of E[1/F | f] over the rows: the expected share of right matches.
    highest
        The largest E[1/F | f].
    """

    unique: float
    mean: float
    highest: float


def model_risks(size: Ints, classes: Ints, population: float, weights: Floats) -> dict[str, ModelRisk]:
    """The risk by each model that is defined, for `classes[i]` classes of `size[i]` rows.

    weights are `zayatz_weights` of the sizes and the sampling fraction.
    """
    occurs = classes > 0
    size, classes, weights = size[occurs], classes[occurs], weights[np.ix_(occurs, occurs)]
    n = int((size * classes).sum())
    fraction = n / population
    found = {
        "benedetti-franconi": _negative_binomial(size, classes, 0.0, fraction),
        "zayatz": _zayatz(size, classes, weights),
    }
    fitted = fit_pitman(size, classes)
    if fitted is not None:
        found["pitman"] = _pitman(size, classes, fitted, n, population)
    return {model: found[model] for model in MODELS if model in found}


def _negative_binomial(size: Ints, classes: Ints, shape: float, probability: float) -> ModelRisk:
    alone = probability ** (1.0 + shape)
    return _risk(size, classes, expected_inverse(size, shape, probability), alone)


def _pitman(size: Ints, classes: Ints, fitted: Pitman, n: int, population: float) -> ModelRisk:
    if fitted.alpha >= 1.0:  # all rows are unique, so nothing says that people of the population are not
        return ModelRisk(1.0, 1.0, 1.0)
    probability = (n + fitted.theta) / (population + fitted.theta)
    return _negative_binomial(size, classes, -fitted.alpha, probability)


def _zayatz(size: Ints, classes: Ints, weights: Floats) -> ModelRisk:
    likely = weights * classes
    total = likely.sum(axis=1)
    alone = float(likely[0, 0] / total[0]) if size[0] == 1 else 0.0
    return _risk(size, classes, (likely / size).sum(axis=1) / total, alone)


def _risk(size: Ints, classes: Ints, inverse: Floats, alone: float) -> ModelRisk:
    rows = size * classes
    n = int(rows.sum())
    n_unique = int(classes[0]) if size[0] == 1 else 0
    return ModelRisk(n_unique / n * alone, float((rows * inverse).sum()) / n, float(inverse.max()))


def zayatz_weights(size: Ints, fraction: float) -> Floats:
    """P(f | F) for each f = size[i] in the sample and F = size[j] in the population, sampled one by one.

    >>> zayatz_weights(np.array([1, 2]), 0.5).tolist()
    [[0.5, 0.5], [0.0, 0.25]]
    """
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

    Examples
    --------
    >>> expected_inverse(np.array([1, 2]), 0.0, 0.1).round(6).tolist()
    [0.255843, 0.082684]
    """
    if probability >= 1.0:
        return 1.0 / size
    inverse = _inverse_by_series(size, shape, probability)
    if probability < SERIES_FROM:
        small = size < SERIES_SIZE
        inverse[small] = _inverse_by_recurrence(shape, probability)[size[small] - 1]
    return inverse


def _inverse_by_recurrence(shape: float, p: float) -> Floats:
    q, inverse = 1.0 - p, np.empty(SERIES_SIZE)
    # expm1 keeps the digits for shapes near 0
    inverse[0] = p / q * (-math.expm1(shape * math.log(p)) / shape if shape else -math.log(p))
    for f in range(1, SERIES_SIZE):
        inverse[f] = p * (1.0 - f * inverse[f - 1]) / (q * (f + shape))
    return inverse


def _inverse_by_series(size: Ints, shape: float, p: float) -> Floats:
    q, term = 1.0 - p, np.ones(len(size))
    total = term.copy()
    for k in range(1, 200):
        term *= q * (k - shape) / (size + k)
        total += term
    return p / size * total
