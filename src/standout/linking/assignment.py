"""One profile for each record: of the profiles that claim the same record, the strongest keeps it."""

import numpy as np

from standout.core.arrays import Bools, Floats, Ints
from standout.evaluate.claim_rates import ROUNDING

__all__ = ["one_to_one", "rival_claims"]


def rival_claims(record: Ints, claimed: Bools) -> Ints:
    """Return how many other profiles claim the same record; 0 where no record is claimed."""
    counts = np.bincount(record[claimed], minlength=int(record.max(initial=0)) + 1)
    return np.where(claimed, counts[np.maximum(record, 0)] - 1, 0)


def one_to_one(record: Ints, strength: Floats, claimed: Bools) -> tuple[Bools, Bools]:
    """Return which claims are kept and which tie: for each record the strongest claim is kept.

    If the two strongest claims are equal up to rounding, neither is kept: the record could be either's.

    >>> record, strength = np.array([5, 5, 7, 7, 9]), np.array([3.0, 8.0, 4.0, 4.0, 2.0])
    >>> [flags.tolist() for flags in one_to_one(record, strength, np.ones(5, bool))]
    [[False, True, False, False, True], [False, False, True, True, False]]
    """
    strongest = np.zeros(int(record.max(initial=0)) + 1)
    np.maximum.at(strongest, record[claimed], strength[claimed])
    leads = claimed & (strength * (1.0 + ROUNDING) >= strongest[np.maximum(record, 0)])
    tied = rival_claims(record, leads) > 0
    return leads & ~tied, leads & tied
