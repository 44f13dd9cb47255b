"""Claims within a budget of false claims, cross-fitted: φ is never chosen on the target that it is tried on.

Each target is attacked with the φ that all other targets choose. The shares of correct claims and of claims
about absent targets are then those of new targets. The order of the targets does not matter.

A share has two sources of error. It is an average over few targets: Wilson's interval. And φ rests on the few
absent targets that come close to it. By how much does the share change if φ is that of another sample? In a
sample of n, the number of absent targets at or above the φ that a share u of all absent people reach is
binomial: n u ± z √(n u (1 − u)). So the φ in question lies between those that claim so many of the sample.
The shares of correct claims at these two are the second interval. With too few targets, no φ of the sample is
high enough, and that interval begins at 0. Both intervals are combined as for the sum of two independent
errors, each end by itself (Zou and Donner 2008, "MOVER").
"""

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from standout.core.arrays import Floats, Ints
from standout.evaluate.claim_rates import ClaimRates
from standout.evaluate.estimates import CONFIDENCE, Estimate, rate

__all__ = ["RatesWithinBudget", "rates_within_budget"]


class RatesWithinBudget(NamedTuple):
    """Claims at a φ that keeps to a budget of false claims.

    phi              the φ that all targets together choose
    correct_claims   share of targets claimed correctly, at the φ that the other targets choose
    absent_claims    share of absent targets claimed, at the φ that the other targets choose
    """

    phi: float
    correct_claims: Estimate
    absent_claims: Estimate


def rates_within_budget(rates: ClaimRates, budget: float) -> RatesWithinBudget:
    """The rates of claims of an adversary who chooses φ on other targets, so that it keeps to the budget.

    Parameters
    ----------
    rates
        Strengths of claims about present and absent targets.
    budget
        Largest share of absent targets that may be claimed.

    Returns
    -------
    RatesWithinBudget
        The interval of `correct_claims` is about the φ that exactly the budget of all absent people reach.
        The interval of `absent_claims` is about the φ that is reported.

    Examples
    --------
    >>> import numpy as np
    >>> absent = np.arange(500.0)[:, None] / 500
    >>> within = rates_within_budget(ClaimRates(absent + 0.5, np.ones((500, 1)), absent), budget=0.01)
    >>> print(within.absent_claims)
    0.010 (0.003 to 0.020, n = 500)
    >>> print(within.correct_claims)
    0.508 (0.464 to 0.553, n = 500)
    """
    phi, n = rates.phi_for(budget), len(rates.claim_strength)
    phi_of_others = _phi_of_others(rates, rates.allowed_claims(budget))[:, None]
    is_correct = (rates.claim_strength >= phi_of_others) & (rates.identified == 1.0)
    correct = _rate(is_correct.mean(axis=1))
    absent = _rate((rates.absent_claim_strength >= phi_of_others).mean(axis=1))
    at_phi = rates.at(phi).absent_claims
    return RatesWithinBudget(
        phi,
        _combined(correct, _correct_at_plausible_phi(rates, budget, n)),
        Estimate(absent.value, min(at_phi.low, absent.value), max(at_phi.high, absent.value), n),
    )


def _phi_of_others(rates: ClaimRates, allowed: int) -> Floats:
    """For each target the φ at which as many as allowed of the other absent targets are claimed."""
    strengths = rates.absent_claim_strength
    position = np.empty(strengths.size, np.int64)
    position[np.argsort(-strengths.ravel(), kind="stable")] = np.arange(strengths.size)
    rejected: Ints = np.full(len(strengths), allowed)
    for place in np.sort(position.reshape(strengths.shape), axis=1).T:
        rejected += place <= rejected  # the target's own strengths do not count
    return rates.phi_rejecting(rejected)


class _Range(NamedTuple):
    low: float
    high: float


def _correct_at_plausible_phi(rates: ClaimRates, budget: float, n: int) -> _Range:
    """The shares of correct claims at the highest and lowest φ that another sample might choose.

    A sample too small for the budget chooses a φ that a share 1/(n + 1) of absent people reach, on average.
    """
    least, most = budget, max(budget, 1 / (n + 1))
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    fewest = n * least - z * math.sqrt(n * least * (1 - least))
    return _Range(
        _correct_claims_with(rates, fewest) if fewest >= 0 else 0.0,
        _correct_claims_with(rates, n * most + z * math.sqrt(n * most * (1 - most))),
    )


def _correct_claims_with(rates: ClaimRates, absent_claims: float) -> float:
    """The share of correct claims at the φ that claims so many absent targets, interpolated."""
    place = absent_claims * float(rates.absent_claim_strength.shape[1])
    below = math.floor(place)
    lower, upper = (
        rates.at(float(phi)).correct_claims.value for phi in rates.phi_rejecting(np.array([below, below + 1]))
    )
    return lower + (place - below) * (upper - lower)


def _combined(estimate: Estimate, plausible: _Range) -> Estimate:
    """The estimate with an interval that covers both its own error and that of φ."""
    value = estimate.value
    below = math.hypot(value - estimate.low, max(value - plausible.low, 0.0))
    above = math.hypot(estimate.high - value, max(plausible.high - value, 0.0))
    return Estimate(value, max(value - below, 0.0), min(value + above, 1.0), estimate.n)


def _rate(shares: Floats) -> Estimate:
    return rate(min(math.fsum(shares), len(shares)), len(shares))
