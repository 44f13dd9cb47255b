"""Claims at φ: how often they are right, wrong, or made of somebody who is not there  [Definitions 2 and 3].

A record is claimed if its eccentricity is at least φ. The higher φ, the fewer are claimed wrongly and the
fewer are found. Trials are by target and draw; several draws of one target count as one trial, which
succeeds in part.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout.core.arrays import Floats
from standout.core.errors import ParameterError
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.outcomes import Outcomes

__all__ = ["ClaimRates", "RatesAtPhi", "rates_at"]

POINTS = 200
ROUNDING = 1e-5
"""The share by which eccentricities of the same scores may differ."""


class RatesAtPhi(NamedTuple):
    """Of present targets: found, claimed as somebody else, not claimed. Of absent ones: falsely claimed."""

    correct_claims: Estimate
    wrong_claims: Estimate
    no_claim: Estimate
    absent_claims: Estimate


@dataclass(frozen=True, slots=True)
class ClaimRates:
    """What each φ would give: claims by target and draw, whether they are right, and claims of the absent.

    A φ that is chosen lies above all claims that differ by no more than a share `slack`, and by rounding.

    >>> import numpy as np
    >>> present, absent = np.array([[3.0], [2.0], [0.5], [-1.0]]), np.array([[0.2], [0.9], [0.4], [-1.0]])
    >>> rates = ClaimRates(present, np.array([[1.0], [1.0], [0.0], [0.0]]), absent)
    >>> rates.at(1.5).correct_claims.value, rates.at(1.5).absent_claims.value, rates.phi_for(0.25)
    (0.5, 0.0, 0.400004...)
    """

    eccentricity: Floats
    identified: Floats
    absent_eccentricity: Floats
    slack: float = 0.0

    @classmethod
    def of(cls, outcomes: Outcomes) -> "ClaimRates":
        """With some slack: the highest eccentricity of N records is N/√(N − 1), so that present and absent
        targets, with N and N − 1, differ by 1/2N where nothing else tells them apart."""
        n = float(outcomes.candidates.min(initial=np.inf))
        return cls(
            outcomes.eccentricity,
            outcomes.identified,
            outcomes.absent_eccentricity,
            2.0 / max(n, 2.0) if n < np.inf else 0.0,
        )

    @property
    def has_absent(self) -> bool:
        """Whether it was tried with absent targets, too."""
        return bool(self.absent_eccentricity.size) and not bool(np.isnan(self.absent_eccentricity).any())

    def at(self, phi: float) -> RatesAtPhi:
        """The rates at one φ."""
        claimed = self.eccentricity >= phi
        found, wrong = claimed & (self.identified == 1.0), claimed & (self.identified < 1.0)
        false = self.absent_eccentricity >= phi if self.has_absent else np.zeros((0, 1), np.bool_)
        return RatesAtPhi(*(_rate(hits) for hits in (found, wrong, ~claimed, false)))

    def phi_for(self, budget: float) -> float:
        """The least φ at which at most this share of absent targets is claimed."""
        if not 0 <= budget < 1:
            raise ParameterError(f"budget must be at least 0 and below 1, got {budget!r}")
        self._check()
        claims = np.sort(self.absent_eccentricity.ravel())[::-1]
        allowed = int(np.floor(budget * len(claims) + 1e-9))
        least = float(claims[allowed]) if allowed < len(claims) else -1.0
        return float(self._past(np.array([least]))[0]) if least >= 0 else 0.0

    def _past(self, claims: Floats) -> Floats:
        """Just above these claims."""
        return np.asarray(np.nextafter(claims * (1.0 + self.slack + ROUNDING), np.inf))

    def _check(self) -> None:
        if not self.has_absent:
            raise ParameterError("it was not tried with absent targets: simulate with absent=True")

    def equal_error_rate(self) -> tuple[float, float]:
        """(φ, rate): where present targets are missed as often as absent ones are claimed.

        Both rates move in steps: it is the φ at which the larger of them is least, and that rate.
        """
        self._check()
        curve = self._steps()
        worst = np.maximum(1.0 - curve.found, curve.false)
        best = int(np.argmin(worst))
        return float(curve.phi[best]), float(worst[best])

    def curve(self, points: int = POINTS) -> pl.DataFrame:
        """phi, found, wrong, silent and false, at up to so many φ from 0 to where nothing is claimed."""
        steps = self._steps()
        chosen = np.unique(np.linspace(0, len(steps.phi) - 1, min(points, len(steps.phi))).astype(np.int64))
        found, wrong, false = steps.found[chosen], steps.wrong[chosen], steps.false[chosen]
        silent = np.maximum(1 - found - wrong, 0.0)
        columns = {
            "phi": steps.phi[chosen],
            "correct_claims": found,
            "wrong_claims": wrong,
            "no_claim": silent,
        }
        return pl.DataFrame(columns | ({"absent_claims": false} if self.has_absent else {}))

    def _steps(self) -> "_Steps":
        absent = self.absent_eccentricity.ravel() if self.has_absent else np.empty(0)
        claim, right = self.eccentricity.ravel(), self.identified.ravel() == 1.0
        levels = np.unique(np.concatenate([claim, absent]))
        levels = levels[levels >= 0]
        phi = np.concatenate([[0.0], self._past(levels)])
        found, wrong = _above(claim[right], phi, claim.size), _above(claim[~right], phi, claim.size)
        return _Steps(phi, found, wrong, _above(absent, phi, absent.size))


class _Steps(NamedTuple):
    phi: Floats
    found: Floats
    wrong: Floats
    false: Floats


def _above(claims: Floats, phi: Floats, n: int) -> Floats:
    """The share of n that is claimed at each φ."""
    ordered = np.sort(claims)
    return (len(ordered) - np.searchsorted(ordered, phi)) / max(n, 1)


def _rate(hits: NDArray[np.bool_]) -> Estimate:
    """The rate of trials that may succeed in part: a target's draws are one trial."""
    return rate(min(float(hits.mean(axis=1).sum()), len(hits)), len(hits))


def rates_at(outcomes: Outcomes, phi: float) -> RatesAtPhi:
    """The rates of claims at one φ."""
    return ClaimRates.of(outcomes).at(phi)
