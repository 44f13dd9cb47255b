"""A table that is a sample of a population: claims about people who may not be in it.

A person of the population who is not in the table explains the facts as well as anybody does. In units of the
guess that is P(facts) / P(facts | guess), and there are N − n such people:

    posterior = 1 / (1 / posterior among the rows + (N − n) · P(facts) / P(facts | guess))

P(facts) is a product over columns, which depend on each other in truth. The mean of P(facts | row) over the
other rows is another estimate, and the higher of the two counts.
"""

import math
from dataclasses import dataclass

import numpy as np

from standout.core.arrays import Bools, Floats
from standout.evaluate.estimates import Estimate, rate
from standout.table_attack.row_verdicts import RowVerdicts

__all__ = ["PopulationRates", "population_rates", "posterior_among"]


@dataclass(frozen=True, slots=True)
class PopulationRates:
    """Claims about one of a population: the table is a sample, and the target may not be in it.

    `identified` is the share of the population that is claimed rightly, `in_table` that of the people in the
    table, `confidence` the share of claims that are right.
    """

    population: int
    identified: Estimate
    in_table: Estimate
    confidence: Estimate


def population_rates(
    verdicts: RowVerdicts, absent: RowVerdicts, people: int, posterior: float, n_original: int
) -> PopulationRates:
    """Claims about people in the table and about others, with a posterior that allows for both.

    `n_original` is the number of people whom the table was made of; some of their rows may have been removed.
    """
    n_rows, n = verdicts.candidates, len(verdicts.found)
    claims = _claims(verdicts, people - n_rows, posterior)
    right = math.fsum(verdicts.found * claims)
    wrong = math.fsum((1.0 - verdicts.found) * claims)
    false = float(_claims(absent, people - n_rows, posterior).sum())
    share, of_original = n_original / people, rate(right, n)
    present = n if verdicts.present is None else int(np.count_nonzero(verdicts.present))
    in_table = rate(min(right, present), present)
    identified = Estimate(of_original.value * share, of_original.low * share, of_original.high * share, n)
    return PopulationRates(people, identified, in_table, _confidence(right, wrong, false, n, share))


def _claims(verdicts: RowVerdicts, nobody: float, posterior: float) -> Bools:
    return np.asarray((posterior_among(verdicts, nobody) >= posterior) & (verdicts.ties > 0))


def posterior_among(verdicts: RowVerdicts, nobody: float) -> Floats:
    """The posterior of the guess if so many other people may be the target too."""
    likely = verdicts.best_likelihood
    if likely is not None:
        others = (1.0 / verdicts.posterior - 1.0) / max(verdicts.candidates - 1, 1)
        return 1.0 / (1.0 / verdicts.posterior + nobody * np.maximum(likely, others))
    return verdicts.posterior / (1.0 + nobody / max(verdicts.candidates, 1))


def _confidence(right: float, wrong: float, false: float, n: int, share: float) -> Estimate:
    """The share of claims that are right. Its interval takes the ends of both rates."""
    made = share * (right + wrong) + (1.0 - share) * false
    if made == 0:
        return Estimate(0.0, 0.0, 1.0, 0)
    low_right, high_right = rate(right, n).low, rate(right, n).high
    bad = [share * w + (1.0 - share) * f for w, f in zip(_ends(wrong, n), _ends(false, n), strict=True)]
    low = share * low_right / max(share * low_right + bad[1], 1e-300)
    high = share * high_right / max(share * high_right + bad[0], 1e-300)
    return Estimate(share * right / made, low, high, n)


def _ends(successes: float, n: int) -> tuple[float, float]:
    estimate = rate(successes, n)
    return estimate.low, estimate.high
