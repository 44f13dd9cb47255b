"""Claims: when a record is claimed, and how many claims are right at each φ.

Within a budget of false claims, φ is never chosen on the target that it is tried on: each target is attacked with
the φ that all other targets choose. The shares of correct claims and of claims about absent targets are then those
of new targets.

A share has two sources of error. It is an average over few targets: Wilson's interval. And φ rests on the few
absent targets that come close to it. By how much does the share change if φ is that of another sample? In a
sample of n, the number of absent targets at or above the φ that a share u of all absent people reach is
binomial: n u ± z √(n u (1 − u)). So the φ in question lies between those that claim so many of the sample.
The shares of correct claims at these two are the second interval. With too few targets, no φ of the sample is
high enough, and that interval begins at 0. Both intervals are combined as for the sum of two independent
errors, each end by itself (Zou and Donner 2008, "MOVER").
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from standout.attack.any_attack import AnyAttack
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import Scoreboard
from standout.attack.verdict import STRONGEST
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError, check_share, finite_number
from standout.evaluate.estimates import Estimate, Z, rate_by_target
from standout.evaluate.outcomes import Outcomes

# Claims at each φ: correct, wrong, or about an absent target  [Definitions 2 and 3].
#
# The adversary claims a record if the strength of the claim is at least φ: its eccentricity in the paper's
# attack, −log10(1 − posterior) in a Bayesian one. A higher φ gives fewer wrong claims, and fewer correct ones.
# A trial is a target; several draws of one target are one trial that succeeds in part.


POINTS = 200
LAST_DIGITS = 1e-9
"""Relative difference that two processors may show."""
ROUNDING = 1e-5
"""Relative difference up to which two claim strengths may come from the same scores."""


class ClaimThreshold(NamedTuple):
    """The least strength of a claim, as users state it: `measure` is "phi" or "posterior"."""

    measure: str
    value: float

    @classmethod
    def of(cls, attack: AnyAttack, phi: float, posterior: float, columns: bool = False) -> "ClaimThreshold":
        """The threshold of an attack, after a check of both parameters.

        Records that pass Algorithm 1A are equally probable, which in a release with columns is a posterior.
        """
        phi, posterior = finite_number("phi", phi), check_share("posterior", posterior)
        by_posterior = isinstance(attack, (Likelihood, Scoreboard) if columns else Likelihood)
        return cls("posterior", posterior) if by_posterior else cls("phi", phi)

    @property
    def by_posterior(self) -> bool:
        """Whether the strength of a claim is −log10(1 − posterior)."""
        return self.measure == "posterior"

    @property
    def strength(self) -> float:
        """The threshold as a strength.

        >>> round(ClaimThreshold("posterior", 0.95).strength, 3), ClaimThreshold("phi", 1.5).strength
        (1.301, 1.5)
        """
        if not self.by_posterior:
            return self.value
        return min(-math.log10(1.0 - self.value), STRONGEST) if self.value < 1 else STRONGEST

    @property
    def setting(self) -> str:
        """Name of the setting in tables."""
        return f"{self.measure}={self.value:g}"

    @property
    def symbol(self) -> str:
        """Name of the measure in text."""
        return "posterior" if self.by_posterior else "φ"

    @property
    def text(self) -> str:
        r"""The threshold in text, with spaces that do not break.

        >>> ClaimThreshold("posterior", 0.95).text, ClaimThreshold("phi", 1.5).text
        ('posterior\xa0≥\xa00.95', 'φ\xa0=\xa01.5')
        """
        return f"{self.symbol}\xa0{'≥' if self.by_posterior else '='}\xa0{self.value:g}"

    def stated(self, strength: float) -> float:
        """A strength in the unit of the threshold: an eccentricity, or a probability."""
        return 1.0 - 10.0**-strength if self.by_posterior else strength


PAPER_THRESHOLD = ClaimThreshold("phi", 1.5)
"""The paper's."""


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
            correct_claims=rate_by_target(is_claim & is_correct),
            wrong_claims=rate_by_target(is_claim & (self.identified < 1.0)),
            no_claim=rate_by_target(~is_claim),
            absent_claims=rate_by_target(absent_claim),
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
        """The φ at which the larger of both rates, of missed and of claimed absent targets, is smallest."""
        self._check_has_absent()
        phi, correct, _, absent = self._steps()
        larger = np.maximum(1.0 - correct, absent)
        best = int(np.argmin(larger))
        return EqualErrorRate(float(phi[best]), float(larger[best]))

    def curve(self, points: int = POINTS) -> pl.DataFrame:
        """The rates at up to `points` values of φ, from 0 to where nothing is claimed."""
        steps = self._steps()
        chosen = np.unique(np.linspace(0, len(steps[0]) - 1, min(points, len(steps[0]))).astype(np.int64))
        phi, correct, wrong, absent = (column[chosen] for column in steps)
        no_claim = np.maximum(1 - correct - wrong, 0.0)
        columns = {"phi": phi, "correct_claims": correct, "wrong_claims": wrong, "no_claim": no_claim}
        return pl.DataFrame(columns | ({"absent_claims": absent} if self.has_absent else {}))

    def _just_above(self, strengths: Floats) -> Floats:
        return np.asarray(np.nextafter(strengths * (1.0 + self.slack + ROUNDING), np.inf))

    def _check_has_absent(self) -> None:
        if not self.has_absent:
            raise ParameterError("no absent targets were attacked: simulate with absent=True")

    def _steps(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Every φ where a share changes, and the shares of correct, wrong and absent claims there."""
        absent = self.absent_claim_strength.ravel() if self.has_absent else np.empty(0)
        present, is_correct = self.claim_strength.ravel(), self.identified.ravel() == 1.0
        levels = np.unique(np.concatenate([present, absent]))
        levels = levels[levels >= 0]
        # One step more or less, by rounding, would move every point of a curve.
        levels = levels[np.diff(levels, prepend=-np.inf) > LAST_DIGITS * levels]
        phi = np.concatenate([[0.0], self._just_above(levels)])

        correct, wrong, false = (
            (len(strengths) - np.searchsorted(np.sort(strengths), phi)) / max(n, 1)
            for strengths, n in (
                (present[is_correct], present.size),
                (present[~is_correct], present.size),
                (absent, absent.size),
            )
        )
        return phi, correct, wrong, false


class RatesWithinBudget(NamedTuple):
    """The φ that all targets choose within a budget, and the shares claimed at the φ that the others choose."""

    phi: float
    correct_claims: Estimate
    absent_claims: Estimate


def rates_within_budget(rates: ClaimRates, budget: float) -> RatesWithinBudget:
    """The rates of claims of an adversary who chooses φ on other targets, so that it keeps to the budget.

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
    correct, absent = rate_by_target(is_correct), rate_by_target(rates.absent_claim_strength >= phi_of_others)
    # The shares of correct claims at the highest and lowest φ that another sample might choose. A sample too small
    # for the budget chooses a φ that a share 1/(n + 1) of absent people reach, on average.
    most = max(budget, 1 / (n + 1))
    fewest = n * budget - Z * math.sqrt(n * budget * (1 - budget))
    lowest = _correct_claims_with(rates, fewest) if fewest >= 0 else 0.0
    highest = _correct_claims_with(rates, n * most + Z * math.sqrt(n * most * (1 - most)))
    value = correct.value
    below = math.hypot(value - correct.low, max(value - lowest, 0.0))
    above = math.hypot(correct.high - value, max(highest - value, 0.0))
    at_phi = rates.at(phi).absent_claims
    return RatesWithinBudget(
        phi,
        Estimate(value, max(value - below, 0.0), min(value + above, 1.0), correct.n),
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


def _correct_claims_with(rates: ClaimRates, absent_claims: float) -> float:
    """The share of correct claims at the φ that claims so many absent targets, interpolated."""
    place = absent_claims * float(rates.absent_claim_strength.shape[1])
    below = math.floor(place)
    lower, upper = (
        rates.at(float(phi)).correct_claims.value for phi in rates.phi_rejecting(np.array([below, below + 1]))
    )
    return lower + (place - below) * (upper - lower)
