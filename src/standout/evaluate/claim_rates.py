"""Claims at each φ: correct, wrong, or about an absent target  [Definitions 2 and 3].

The adversary claims a record if the strength of the claim is at least φ: its eccentricity in the paper's
attack, −log10(1 − posterior) in a Bayesian one. A higher φ gives fewer wrong claims, and fewer correct ones.
A trial is a target; several draws of one target are one trial that succeeds in part.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.outcomes import Outcomes

__all__ = ["LAST_DIGITS", "ROUNDING", "ClaimRates", "EqualErrorRate", "RatesAtPhi"]

POINTS = 200
LAST_DIGITS = 1e-9
"""Relative difference that two processors may show."""
ROUNDING = 1e-5
"""Relative difference up to which two claim strengths may come from the same scores."""


class RatesAtPhi(NamedTuple):
    """Shares of present targets (correct claim, wrong claim, no claim) and of absent targets (claimed)."""

    correct_claims: Estimate
    wrong_claims: Estimate
    no_claim: Estimate
    absent_claims: Estimate


class EqualErrorRate(NamedTuple):
    """The φ at which present targets are missed as often as absent ones are claimed, and that rate."""

    phi: float
    rate: float


@dataclass(frozen=True, slots=True)
class ClaimRates:
    """The rates of claims at any φ.

    Parameters
    ----------
    claim_strength, identified, absent_claim_strength
        As in `Outcomes`, by target and draw.
    slack
        A φ that is chosen lies above all strengths that differ by no more than this share, and rounding.

    Examples
    --------
    >>> import numpy as np
    >>> present, absent = np.array([[3.0], [2.0], [0.5], [-1.0]]), np.array([[0.2], [0.9], [0.4], [-1.0]])
    >>> rates = ClaimRates(present, np.array([[1.0], [1.0], [0.0], [0.0]]), absent)
    >>> rates.at(1.5).correct_claims.value, rates.at(1.5).absent_claims.value, rates.phi_for(0.25)
    (0.5, 0.0, 0.900009...)
    """

    claim_strength: Floats
    identified: Floats
    absent_claim_strength: Floats
    slack: float = 0.0

    @classmethod
    def of(cls, outcomes: Outcomes, slack: float | None = None) -> "ClaimRates":
        """The claim rates of outcomes. The default slack suits eccentricities; posteriors need 0.

        The highest possible eccentricity among N records is N/√(N − 1). Present and absent targets have N and
        N − 1 candidates, so their eccentricities may differ by 1/2N for no other reason.
        """
        if slack is None:
            n = float(outcomes.candidates.min(initial=np.inf))
            slack = 2.0 / max(n, 2.0) if n < np.inf else 0.0
        return cls(outcomes.claim_strength, outcomes.identified, outcomes.absent_claim_strength, slack)

    @property
    def has_absent(self) -> bool:
        """Whether absent targets were attacked, too."""
        return bool(self.absent_claim_strength.size) and not bool(np.isnan(self.absent_claim_strength).any())

    def at(self, phi: float) -> RatesAtPhi:
        """The rates at one φ."""
        is_claim, is_correct = self.claim_strength >= phi, self.identified == 1.0
        absent_claim = self.absent_claim_strength >= phi if self.has_absent else np.zeros((0, 1), np.bool_)
        return RatesAtPhi(
            correct_claims=_rate(is_claim & is_correct),
            wrong_claims=_rate(is_claim & (self.identified < 1.0)),
            no_claim=_rate(~is_claim),
            absent_claims=_rate(absent_claim),
        )

    def phi_for(self, budget: float) -> float:
        """The smallest φ at which a further absent target is claimed with at most this probability.

        The further target may be one that is claimed: (claims + 1) / (targets + 1) must not exceed the
        budget. If there are too few targets for that, φ lies above all absent targets.
        """
        return float(self.phi_rejecting(np.array([self.allowed_claims(budget)]))[0])

    def allowed_claims(self, budget: float) -> int:
        """How many claims about absent targets keep to the budget if those of one more target are added."""
        if not 0 <= budget < 1:
            raise ParameterError(f"budget must be at least 0 and below 1, got {budget!r}")
        self._check_has_absent()
        targets, draws = self.absent_claim_strength.shape
        allowed: int = max(math.floor(budget * (targets + 1) * draws + 1e-9) - draws, 0)
        return allowed

    def phi_rejecting(self, positions: Ints) -> Floats:
        """The φ just above the absent strengths at these positions, counted from the highest as 0.

        So many absent targets are claimed at each φ, or fewer in a tie; φ is 0 beyond the last position.
        """
        strengths = np.append(np.sort(self.absent_claim_strength.ravel())[::-1], -1.0)
        rejected = strengths[np.minimum(positions, len(strengths) - 1)]
        return np.where(rejected >= 0, self._just_above(rejected), 0.0)

    def equal_error_rate(self) -> EqualErrorRate:
        """The φ at which present targets are missed as often as absent ones are claimed, and that rate.

        Both rates move in steps: this is the φ at which the larger of them is smallest.
        """
        self._check_has_absent()
        steps = self._steps()
        larger = np.maximum(1.0 - steps.correct, steps.absent)
        best = int(np.argmin(larger))
        return EqualErrorRate(float(steps.phi[best]), float(larger[best]))

    def curve(self, points: int = POINTS) -> pl.DataFrame:
        """The rates at up to `points` values of φ, from 0 to where nothing is claimed.

        Columns: phi, correct_claims, wrong_claims, no_claim and, if absent targets were attacked,
        absent_claims.
        """
        steps = self._steps()
        chosen = np.unique(np.linspace(0, len(steps.phi) - 1, min(points, len(steps.phi))).astype(np.int64))
        correct, wrong = steps.correct[chosen], steps.wrong[chosen]
        columns = {
            "phi": steps.phi[chosen],
            "correct_claims": correct,
            "wrong_claims": wrong,
            "no_claim": np.maximum(1 - correct - wrong, 0.0),
        }
        return pl.DataFrame(columns | ({"absent_claims": steps.absent[chosen]} if self.has_absent else {}))

    def _just_above(self, strengths: Floats) -> Floats:
        return np.asarray(np.nextafter(strengths * (1.0 + self.slack + ROUNDING), np.inf))

    def _check_has_absent(self) -> None:
        if not self.has_absent:
            raise ParameterError("no absent targets were attacked: simulate with absent=True")

    def _steps(self) -> "_Steps":
        absent = self.absent_claim_strength.ravel() if self.has_absent else np.empty(0)
        present, is_correct = self.claim_strength.ravel(), self.identified.ravel() == 1.0
        levels = np.unique(np.concatenate([present, absent]))
        levels = _distinct(levels[levels >= 0])
        phi = np.concatenate([[0.0], self._just_above(levels)])
        return _Steps(
            phi,
            _shares_above(present[is_correct], phi, present.size),
            _shares_above(present[~is_correct], phi, present.size),
            _shares_above(absent, phi, absent.size),
        )


class _Steps(NamedTuple):
    """The shares of correct, wrong and absent claims at every φ where one of them changes."""

    phi: Floats
    correct: Floats
    wrong: Floats
    absent: Floats


def _distinct(levels: Floats) -> Floats:
    """Ascending levels without those that differ from the previous one only by rounding.

    One step more or less would move every point of a curve.
    """
    return levels[np.diff(levels, prepend=-np.inf) > LAST_DIGITS * levels]


def _shares_above(strengths: Floats, phi: Floats, n: int) -> Floats:
    """For each φ how many of these strengths reach it, as a share of n."""
    ordered = np.sort(strengths)
    return (len(ordered) - np.searchsorted(ordered, phi)) / max(n, 1)


def _rate(successes: NDArray[np.bool_]) -> Estimate:
    """The rate by target; the draws of one target are one trial that may succeed in part."""
    return rate(min(float(successes.mean(axis=1).sum()), len(successes)), len(successes))
