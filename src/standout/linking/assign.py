"""One record cannot be two people: of the profiles that claim the same one, the best keeps it."""

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats, Ints
from standout.evaluate.claim_rates import ROUNDING

__all__ = ["contested", "one_to_one"]

Flags = NDArray[np.bool_]


def contested(record: Ints, claimed: Flags) -> Ints:
    """How many other profiles claim the same record, 0 where none is claimed."""
    counts = np.bincount(record[claimed], minlength=int(record.max(initial=0)) + 1)
    return np.where(claimed, counts[np.maximum(record, 0)] - 1, 0)


def one_to_one(record: Ints, eccentricity: Floats, claimed: Flags) -> tuple[Flags, Flags]:
    """(claims that are kept, claims that tie): of several on one record the most eccentric is kept.

    If the best two are equal, but for rounding, nobody can say whose the record is: none is kept.

    >>> record, far = np.array([5, 5, 7, 7, 9]), np.array([3.0, 8.0, 4.0, 4.0, 2.0])
    >>> [flags.tolist() for flags in one_to_one(record, far, np.ones(5, bool))]
    [[False, True, False, False, True], [False, False, True, True, False]]
    """
    best = np.zeros(int(record.max(initial=0)) + 1)
    np.maximum.at(best, record[claimed], eccentricity[claimed])
    leads = claimed & (eccentricity * (1.0 + ROUNDING) >= best[np.maximum(record, 0)])
    tied = contested(record, leads) > 0
    return leads & ~tied, leads & tied
