"""When is a claim worth making? How often people who are not there would be claimed, and φ for a budget."""

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

__all__ = ["Null", "check_budget", "check_decoys", "likely_absent", "nobody", "templates"]

MIDDLE = 0.5
NO_PHI = math.inf


def check_budget(budget: Any) -> float:
    """The share of people who are not there that may be claimed, or a clear error."""
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not 0 < budget < 1:
        raise ParameterError(f"budget must be above 0 and below 1, got {budget!r}")
    return float(budget)


def check_decoys(decoys: Any, budget: float | None) -> int:
    """How many decoys of each kind, or a clear error: φ for a budget needs enough of them."""
    if isinstance(decoys, bool) or not isinstance(decoys, (int, np.integer)) or not 0 <= decoys <= 1_000_000:
        raise ParameterError(f"decoys must be a whole number from 0 to 1,000,000, got {decoys!r}")
    least = 0 if budget is None else math.ceil(1 / budget - 1e-9) - 1
    if decoys < least:
        raise ParameterError(
            f"a budget of {budget:g} takes {least:,} decoys at least, got {decoys:,}: take more, or give phi"
        )
    return int(decoys)


def templates(facts: Ints, decoys: int, seed: int) -> Ints:
    """The profiles after which decoys are made: drawn at random from those with facts, each as often."""
    able = generator(seed, "templates").permutation(np.flatnonzero(facts > 0))
    return np.resize(able, decoys).astype(np.int64) if len(able) else able.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Null:
    """How far decoys stand out: `kind`, `person` (whose they are) and `claim` of each.

    Of several decoys of one person the one that stands out most counts, once: what they have in common they
    have by one chance. What differs by no more than a share `slack`, and by rounding, is equal.

    >>> far = np.array([0.5, 1.0, 2.0, 4.0])
    >>> some = Null(np.zeros(4, int), np.arange(4), far)
    >>> some.false_claim(np.array([3.0, 0.7])).tolist(), round(some.phi(0.2), 3)
    ([0.4, 0.8], 4.0)
    """

    kind: Ints
    person: Ints
    claim: Floats
    slack: float = 0.0

    def __len__(self) -> int:
        return len(self.claim)

    @cached_property
    def _past(self) -> list[Floats]:
        """Just above how far people stand out of whom decoys are made, by kind, ascending."""
        past = np.nextafter(self.claim + np.abs(self.claim) * (self.slack + ROUNDING), np.inf)
        found = []
        for kind in np.unique(self.kind):
            people, place = np.unique(self.person[self.kind == kind], return_inverse=True)
            most = np.full(len(people), -np.inf)
            np.maximum.at(most, place, past[self.kind == kind])
            found.append(np.sort(most))
        return found

    def false_claim(self, claim: Floats) -> Floats:
        """(1 + decoys that stand out as far) / (1 + decoys); of the kinds the larger share.

        How likely somebody who is not there would stand out as far.
        """
        shares = [_share(own, claim) for own in self._past]
        return np.max(shares, axis=0) if shares else np.ones(len(claim))

    def phi(self, budget: float) -> float:
        """The least φ, from 0 on, at which decoys of each kind keep to the budget, by the upper end of what
        their share may be; ∞ if they are too few."""
        return max(0.0, max((_phi(own, budget) for own in self._past), default=NO_PHI))

    def expected(self, phi: float, profiles: int) -> float:
        """How many of so many profiles would be claimed at φ if nobody of them were there. What does not
        stand out at all is not claimed at φ = 0 either."""
        least = np.array([max(phi, math.ulp(0.0))])
        return profiles * float(self.false_claim(least)[0]) if math.isfinite(phi) else 0.0


def nobody() -> Null:
    """No decoys at all."""
    none = np.empty(0, np.int64)
    return Null(none, none, np.empty(0))


def _share(past: Floats, claim: Floats) -> Floats:
    """(1 + decoys that stand out as far) / (1 + decoys)."""
    above = len(past) - np.searchsorted(past, claim, "right")
    return np.asarray((1.0 + above) / (1.0 + len(past)))


def _phi(past: Floats, budget: float) -> float:
    """The least φ at which so few decoys are claimed that the budget is kept to with confidence: just above
    one of them. Where there are too few for that, above all of them, if one more would not exceed it."""
    n = len(past)
    if 1.0 > budget * (1 + n) + 1e-9:
        return NO_PHI
    allowed = 0
    while allowed < n and rate(allowed + 1, n).high <= budget:
        allowed += 1
    return float(past[n - 1 - allowed]) if allowed < n else 0.0


def likely_absent(false_claim: Floats) -> float:
    """The share of profiles that look like decoys: twice those above the middle  [Storey 2002, λ = ½].

    >>> likely_absent(np.array([0.01, 0.01, 0.3, 0.6, 0.9]))
    0.8
    """
    n = len(false_claim)
    return min(1.0, float(np.count_nonzero(false_claim > MIDDLE)) / (MIDDLE * n)) if n else 0.0
