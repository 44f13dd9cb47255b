"""How much what a profile and a record have in common speaks for one person, and not for two.

The score of the attack says who is likeliest; eccentricity says by how much, but has a ceiling: one item that
nobody else has gives the highest there can be, whether one fact agrees or twenty do. Evidence has none. It is
the logarithm of a likelihood ratio, as in record linkage [Fellegi and Sunter 1969]:

    Σ over shared items    ln(c / p) + ln(m / u) of how far the values are apart + the same of the dates
    Σ over the other facts ln((1 − c) / (1 − p))

where c is the chance that a fact of a profile is in the same person's record, p that a stranger has the item,
m and u how often the values (dates) of one person, and of two, lie so far apart. p and u come from the
release. c and m are learned from the profiles themselves: those stand for present people that stand out
further than decoys do, to the extent that they do [as Käll et al. 2007 do for spectra]. Until then, and where
nobody stands out, they are what the paper's similarity takes for granted.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from standout.core import elementary
from standout.core.arrays import Floats
from standout.linking.agreement import CHANCE, MISSING, SHARED, TIMES, VALUES

__all__ = ["COVERED", "PARTS", "Model", "odds"]

Flags = NDArray[np.bool_]
COVERED = 0.5
VALUE_STEPS, TIME_DAYS = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.5, 1.5, 4.5, 18.5, 75.0, 240.0])
"""Middles of how far values (in steps) and times (in days) lie apart."""
VALUE_SCALE, TIME_SCALE, LEAST = 1.5, 30.0, 0.02
"""ρ0 and d0 of the paper; no distance is taken to be rarer than this."""
PRIOR = 100.0
"""What is taken for granted counts as so many facts."""
PARTS = ("values", "dates", "items")
TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Model:
    """c; ln(m / u) of values and of times; and what they were made of."""

    covered: float
    values: Floats
    times: Floats
    strangers: Floats
    possible: Flags

    @classmethod
    def declared(cls, strangers: Floats, possible: Flags) -> "Model":
        """Before anything is learned; `strangers` counts how far values and dates of two people lie apart,
        `possible` says how far they can."""
        nothing = np.zeros(0)
        return cls(COVERED, nothing, nothing, strangers, possible).learned(np.zeros(len(strangers)))

    def learned(self, seen: Floats) -> "Model":
        """The same release, with what was `seen` of people and their own records, in the same columns."""
        shared, facts = float(seen[SHARED]), float(seen[SHARED] + seen[MISSING])
        values, times = (
            _ratios(seen[part], _usual(middles, scale) * self.possible[part], self.strangers[part])
            for part, middles, scale in ((VALUES, VALUE_STEPS, VALUE_SCALE), (TIMES, TIME_DAYS, TIME_SCALE))
        )
        covered = (shared + PRIOR * COVERED) / (facts + PRIOR)
        return Model(covered, values, times, self.strangers, self.possible)

    def parts(self, counts: Floats, dated: Flags) -> Floats:
        """Evidence by what it comes from, in the order of PARTS; it adds up. `dated`: dates are compared."""
        items = counts[..., CHANCE] + counts[..., SHARED] * math.log(self.covered)
        items = items + counts[..., MISSING] * math.log1p(-self.covered)
        dates = np.where(dated, elementary.weighted_sum(counts[..., TIMES], self.times), 0.0)
        return np.stack([elementary.weighted_sum(counts[..., VALUES], self.values), dates, items], axis=-1)


def _usual(middles: Floats, scale: float) -> Floats:
    """How often one person's lie so far apart, by the paper's similarity."""
    return np.asarray(np.maximum(elementary.exp(-middles / scale), LEAST))


def _ratios(seen: Floats, usual: Floats, strangers: Floats) -> Floats:
    """ln(m / u). What lies further apart speaks no more for one person, whatever the counts say."""
    m = (seen + PRIOR * usual / usual.sum()) / (seen.sum() + PRIOR)
    u = (strangers + 1.0) / (strangers + 1.0).sum()
    ratios = np.where(usual > 0, elementary.log(np.maximum(m, TINY) / u), np.inf)  # inf: cannot be
    return np.asarray(np.minimum.accumulate(ratios))


def odds(evidence: Floats, records: int) -> Floats:
    """ln of the odds that each candidate is the person, against the other candidates of its row and nobody.

    Before anything is known, somebody is as likely as not in the release, and then as likely each of its
    records. A row has the evidence of each candidate, −∞ where there is none.

    >>> odds(np.array([[np.log(100.0), -np.inf]]), records=100).round(3).tolist()
    [[0.0, -inf]]
    """
    own = evidence - math.log(records)
    found = np.empty_like(own)
    for at in range(own.shape[1]):
        rest = np.delete(own, at, axis=1)
        most = np.maximum(rest.max(axis=1, initial=-np.inf), 0.0)
        total = elementary.exp(rest - most[:, None]).sum(axis=1) + elementary.exp(-most)
        found[:, at] = own[:, at] - most - elementary.log(total)
    return np.asarray(found)
