"""Risk if the rows are a sample of a population, and the adversary does not know who is in it (journalist).

The adversary finds the F people of the population with the values of a row, and guesses which of them it is.
F is not known; `population_models` estimates it in three ways. No estimate is right for every table, and each
can understate, so the headline is the highest. It never exceeds the prosecutor's risk.

Intervals come from 100 bootstrap samples of the classes. They cover the chance in which classes were sampled,
not the error of a model: for that, compare the models.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from standout.core.arrays import Ints
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.rng import generator
from standout.evaluate.estimates import CONFIDENCE, Estimate
from standout.risk_measures.identity import IdentityRisk, exact
from standout.risk_measures.population_models import MODELS, ModelRisk, model_risks, zayatz_weights

__all__ = ["ModelEstimate", "PopulationRisk", "population_risk"]

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
    """Risk of rows that are a sample of a population.

    Attributes
    ----------
    population
        Number of people in the population.
    fraction
        Number of rows divided by the population.
    unique
        Share of the rows whose values nobody else of the population has.
    mean
        Expected share of right matches if the adversary matches every row with the population.
    highest
        The chance of a right match for the row at most risk.
    models
        The same by each model. The numbers above are the highest of these.
    """

    population: int
    fraction: float
    unique: Estimate
    mean: Estimate
    highest: Estimate
    models: tuple[ModelEstimate, ...]

    def __str__(self) -> str:
        return (
            f"{self.unique.value:.1%} of the rows unique among {self.population:,} people, "
            f"{self.mean.value:.1%} of matches right"
        )


def population_risk(identity: IdentityRisk, population: int, seed: int = 0) -> PopulationRisk:
    """The risk of a sample from `population` people, from class sizes in which a missing cell is a value.

    Raises
    ------
    ParameterError
        If the population is smaller than the table.

    Examples
    --------
    >>> from standout.risk_measures.identity import risk_of_sizes
    >>> sample = risk_of_sizes(np.array([1, 1, 1, 2, 2, 5, 5, 5, 5, 5]), ("age",), "equal")
    >>> print(population_risk(sample, 10))
    30.0% of the rows unique among 10 people, 50.0% of matches right
    """
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
        _highest([getattr(model, name) for model in models], getattr(identity, name).value)
        for name in MEASURES
    ]
    return PopulationRisk(population, n / population, unique, mean, highest, tuple(models))


def _with_intervals(size: Ints, classes: Ints, population: int, n: int, seed: int) -> list[ModelEstimate]:
    weights = zayatz_weights(size, n / population)
    found = model_risks(size, classes, population, weights)
    resampled: list[Mapping[str, ModelRisk]] = []
    rng, n_classes = generator(seed, "classes of the population"), int(classes.sum())
    for _ in range(RESAMPLES):
        drawn = rng.multinomial(n_classes, classes / n_classes)
        scale = float((size * drawn).sum()) / n  # keeps the sampling fraction
        resampled.append(model_risks(size, drawn, population * scale, weights))
    return [
        ModelEstimate(
            model,
            *[
                _estimate(
                    getattr(found[model], name),
                    [getattr(sample[model], name) for sample in resampled if model in sample],
                    n,
                )
                for name in MEASURES
            ],
        )
        for model in MODELS
        if model in found
    ]


def _estimate(value: float, resampled: list[float], n: int) -> Estimate:
    """The value with the percentiles of the resampled values; without these, nothing is known."""
    if not resampled:
        return Estimate(value, 0.0, 1.0, n)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return Estimate(value, min(float(low), value), max(float(high), value), n)


def _highest(estimates: list[Estimate], prosecutor: float) -> Estimate:
    """The highest value, with an interval up to the highest end of all, or the prosecutor's risk."""
    worst = max(estimates, key=lambda estimate: estimate.value)
    high = max(worst.value, min(max(estimate.high for estimate in estimates), prosecutor))
    return Estimate(worst.value, min(worst.low, worst.value), high, worst.n)
