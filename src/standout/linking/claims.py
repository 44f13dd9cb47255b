"""When is a claim worth making? How often people who are not there would be claimed, and φ for a budget.

Eccentricity depends on how much is told of somebody, so profiles are held against decoys of about their own
size: sizes are cut into bands.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.errors import ParameterError
from standout.measure.success import ROUNDING
from standout.rng import generator

__all__ = ["Null", "bands_for", "check_budget", "check_decoys", "likely_absent", "size_bands", "templates"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
PER_BUDGET = 2
"""A band has so many decoys that this many of them lie above a φ for the budget."""
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


def size_bands(facts: Ints, most: int) -> Ints:
    """Where bands of sizes begin: 1, 2, 4, 8 … facts, with the emptiest joined to a neighbour until there are
    `most` at most.

    >>> size_bands(np.array([1, 1, 1, 2, 3, 9, 9, 9, 12]), most=2).tolist()
    [1, 8]
    """
    own = np.log2(np.maximum(facts[facts > 0], 1)).astype(np.int64)
    if not len(own):
        return np.ones(1, np.int64)
    begin, counts = (column.tolist() for column in np.unique(own, return_counts=True))
    while len(begin) > most:
        pairs = [left + right for left, right in pairwise(counts)]
        at = pairs.index(min(pairs))
        counts[at : at + 2] = [pairs[at]]
        del begin[at + 1]
    return np.concatenate([[1], 2 ** np.array(begin[1:], np.int64)]).astype(np.int64)


def bands_for(decoys: int, budget: float) -> int:
    """Into how many bands so many decoys may be divided."""
    return max(1, decoys // math.ceil(PER_BUDGET / budget))


def templates(facts: Ints, bands: Ints, decoys: int, seed: int) -> Ints:
    """The profiles after which decoys are made: the same number for each band, in turn from its profiles."""
    band = np.searchsorted(bands, facts, "right") - 1
    found = []
    for at in range(len(bands)):
        own = generator(seed, "templates", at).permutation(np.flatnonzero((band == at) & (facts > 0)))
        wanted = decoys // len(bands) + (at < decoys % len(bands))
        found.append(np.resize(own, wanted) if len(own) else own)
    return np.concatenate(found).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Null:
    """How far decoys stand out: `kind`, `facts` (of their templates) and `eccentricity` of each.

    What differs by no more than a share `slack`, and by rounding, is equal.

    >>> some = Null(np.array([1]), np.zeros(4, int), np.ones(4, int), np.array([0.5, 1.0, 2.0, 4.0]), 1)
    >>> some.false_claim(np.array([3.0, 0.7]), np.array([1, 1])).tolist(), some.phi(0.4).round(3).tolist()
    ([0.4, 0.8], [2.0])
    """

    bands: Ints
    kind: Ints
    facts: Ints
    eccentricity: Floats
    kinds: int
    slack: float = 0.0

    def __len__(self) -> int:
        return len(self.eccentricity)

    def band_of(self, facts: Ints) -> Ints:
        """The band of so many facts."""
        return np.maximum(np.searchsorted(self.bands, facts, "right") - 1, 0)

    def _past(self, band: int) -> list[Floats]:
        """Just above the eccentricities of the decoys of a band, by kind, ascending."""
        here = self.band_of(self.facts) == band
        past = np.nextafter(self.eccentricity * (1.0 + self.slack + ROUNDING), np.inf)
        return [np.sort(past[here & (self.kind == kind)]) for kind in range(self.kinds)]

    def false_claim(self, eccentricity: Floats, facts: Ints) -> Floats:
        """(1 + decoys that stand out as far) / (1 + decoys), of its own band; of the kinds the larger share.

        How likely somebody who is not there would stand out as far. Without facts it is 1.
        """
        found, band = np.ones(len(eccentricity)), self.band_of(facts)
        for at in range(len(self.bands)):
            here = (band == at) & (facts > 0)
            shares = [_share(own, eccentricity[here]) for own in self._past(at) if len(own)]
            found[here] = np.max(shares, axis=0) if shares else 1.0
        return found

    def phi(self, budget: float) -> Floats:
        """By band the least φ for which decoys of each kind keep to the budget; ∞ if they are too few."""
        return np.array(
            [
                max((_phi(own, budget) for own in self._past(at) if len(own)), default=NO_PHI)
                for at in range(len(self.bands))
            ]
        )

    def expected(self, phi: Floats, facts: Ints) -> float:
        """How many of these profiles would be claimed at their bands' φ if nobody of them were there."""
        band = self.band_of(facts)
        total = 0.0
        for at in range(len(self.bands)):
            count = int(np.count_nonzero((band == at) & (facts > 0)))
            shares = [float(_share(own, phi[at : at + 1])[0]) for own in self._past(at) if len(own)]
            total += count * max(shares, default=1.0) if np.isfinite(phi[at]) else 0.0
        return total


def _share(past: Floats, eccentricity: Floats) -> Floats:
    """(1 + decoys that stand out as far) / (1 + decoys)."""
    above = len(past) - np.searchsorted(past, eccentricity, "right")
    return np.asarray((1.0 + above) / (1.0 + len(past)))


def _phi(past: Floats, budget: float) -> float:
    """The least φ with (1 + decoys ≥ φ) / (1 + decoys) ≤ budget: just above one of them."""
    allowed = math.floor(budget * (1 + len(past)) + 1e-9) - 1
    if allowed < 0:
        return NO_PHI
    if allowed >= len(past):
        return 0.0
    return float(past[len(past) - 1 - allowed])


def likely_absent(false_claim: Floats) -> float:
    """The share of profiles that look like decoys: twice those above the middle  [Storey 2002, λ = ½].

    >>> likely_absent(np.array([0.01, 0.01, 0.3, 0.6, 0.9]))
    0.8
    """
    n = len(false_claim)
    return min(1.0, float(np.count_nonzero(false_claim > MIDDLE)) / (MIDDLE * n)) if n else 0.0
