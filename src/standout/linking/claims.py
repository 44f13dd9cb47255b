"""When a claim is made: how often decoys would be claimed, and the φ that keeps to a budget."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.rng import generator
from standout.evaluate.claim_rates import ROUNDING
from standout.evaluate.estimates import rate

__all__ = ["DecoyStrengths", "absent_share", "check_budget", "check_decoys", "draw_templates", "no_decoys"]

MIDDLE = 0.5
NO_PHI = math.inf
MAX_DECOYS = 1_000_000


def check_budget(budget: Any) -> float:
    """Return the budget, or raise a ParameterError."""
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not 0 < budget < 1:
        raise ParameterError(f"budget must be above 0 and below 1, got {budget!r}")
    return float(budget)


def check_decoys(decoys: Any, budget: float | None) -> int:
    """Return the number of decoys of each kind, or raise: a φ for a budget needs 1/budget − 1 of them."""
    whole = isinstance(decoys, (int, np.integer)) and not isinstance(decoys, bool)
    if not whole or not 0 <= decoys <= MAX_DECOYS:
        raise ParameterError(f"decoys must be a whole number from 0 to {MAX_DECOYS:,}, got {decoys!r}")
    least = 0 if budget is None else math.ceil(1 / budget - 1e-9) - 1
    if decoys < least:
        raise ParameterError(
            f"decoys must be at least {least:,} for a budget of {budget:g}, got {decoys:,}: "
            "use more decoys, or set phi"
        )
    return int(decoys)


def draw_templates(facts: Ints, decoys: int, seed: int) -> Ints:
    """Return the profiles that decoys imitate: drawn at random among those with facts, equally often."""
    usable = generator(seed, "templates").permutation(np.flatnonzero(facts > 0))
    return np.resize(usable, decoys).astype(np.int64) if len(usable) else usable.astype(np.int64)


@dataclass(frozen=True, eq=False)
class DecoyStrengths:
    """How strong the best match of each decoy is: the null distribution that claims must beat.

    `kind` is an index into `decoys.KINDS`, `person` identifies the person a decoy was made from, `strength`
    is the measure that decides about claims. Only the strongest decoy of a person counts, because decoys of
    one person are not independent. Strengths that differ by at most a share `slack`, or by rounding, are
    equal.

    >>> strength = np.array([0.5, 1.0, 2.0, 4.0])
    >>> decoys = DecoyStrengths(np.zeros(4, int), np.arange(4), strength)
    >>> decoys.false_claim(np.array([3.0, 0.7])).tolist(), round(decoys.phi(0.2), 3)
    ([0.4, 0.8], 4.0)
    """

    kind: Ints
    person: Ints
    strength: Floats
    slack: float = 0.0

    def __len__(self) -> int:
        return len(self.strength)

    def of_kind(self, kind: int) -> "DecoyStrengths":
        """Return the decoys of one kind."""
        chosen = self.kind == kind
        return DecoyStrengths(self.kind[chosen], self.person[chosen], self.strength[chosen], self.slack)

    @cached_property
    def _thresholds(self) -> list[Floats]:
        """For each kind, the value just above each person's strongest decoy, ascending."""
        above = np.nextafter(self.strength + np.abs(self.strength) * (self.slack + ROUNDING), np.inf)
        thresholds = []
        for kind in np.unique(self.kind):
            people, index = np.unique(self.person[self.kind == kind], return_inverse=True)
            strongest = np.full(len(people), -np.inf)
            np.maximum.at(strongest, index, above[self.kind == kind])
            thresholds.append(np.sort(strongest))
        return thresholds

    def false_claim(self, strength: Floats) -> Floats:
        """Return (1 + decoys at least as strong) / (1 + decoys), the larger share of the two kinds.

        This is a p-value: how likely an absent person would match some record at least as strongly.
        """
        shares = [_share_at_least(kind, strength) for kind in self._thresholds]
        return np.max(shares, axis=0) if shares else np.ones(len(strength))

    def phi(self, budget: float) -> float:
        """Return the smallest φ ≥ 0 at which decoys of each kind keep to the budget; ∞ if they are too few.

        The upper end of the 95 % interval of the share of claimed decoys must not exceed the budget.
        """
        return max(0.0, max((_phi_for(kind, budget) for kind in self._thresholds), default=NO_PHI))

    def expected_claims(self, phi: float, profiles: int) -> float:
        """Return how many of `profiles` absent profiles would be claimed at φ.

        Ties are never claimed, not even at φ = 0.
        """
        least = np.array([max(phi, math.ulp(0.0))])
        return profiles * float(self.false_claim(least)[0]) if math.isfinite(phi) else 0.0


def no_decoys() -> DecoyStrengths:
    """Return an empty distribution."""
    none = np.empty(0, np.int64)
    return DecoyStrengths(none, none, np.empty(0))


def _share_at_least(thresholds: Floats, strength: Floats) -> Floats:
    """(1 + decoys at least as strong) / (1 + decoys)."""
    above = len(thresholds) - np.searchsorted(thresholds, strength, "right")
    return np.asarray((1.0 + above) / (1.0 + len(thresholds)))


def _phi_for(thresholds: Floats, budget: float) -> float:
    """The smallest φ at which so few decoys are claimed that the budget is kept with confidence.

    With too few decoys for that, φ lies above all of them, provided that one more would fit the budget.
    """
    n = len(thresholds)
    if 1.0 > budget * (1 + n) + 1e-9:
        return NO_PHI
    allowed = 0
    while allowed < n and rate(allowed + 1, n).high <= budget:
        allowed += 1
    return float(thresholds[n - 1 - allowed]) if allowed < n else 0.0


def absent_share(false_claim: Floats) -> float:
    """Estimate the share of absent profiles: twice the share of p-values above ½ [Storey 2002, λ = ½].

    >>> absent_share(np.array([0.01, 0.01, 0.3, 0.6, 0.9]))
    0.8
    """
    n = len(false_claim)
    return min(1.0, float(np.count_nonzero(false_claim > MIDDLE)) / (MIDDLE * n)) if n else 0.0
