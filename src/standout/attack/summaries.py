"""What each part of a release contributes to the verdicts of queries, and how parts are merged.

All merges are exact, so the merged numbers do not depend on how the release is divided into parts:
candidates are counted, sums are in fixed point, and the merged shortlist has exactly the records whose scores
reach the bound that the best scores of all parts give.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.queries import Queries
from standout.attack.query_arrays import LEAST, PARTITION, SCORES, SQUARES, QuerySummaries
from standout.attack.sum_kernels import LEAST_VARIANCE, ROUNDING
from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import StoreError
from standout.core.parts import Words, merged_sums, sum_unit, sum_values
from standout.data.postings import BLOCK_BITS
from standout.data.release import INVALID_CODE

__all__ = [
    "Grid",
    "MassBounds",
    "MergedSummaries",
    "PartSummaries",
    "Shortlists",
    "capacity_of",
    "mean_and_sigma_with_zeros",
    "merge_summaries",
    "query_units",
    "sigma_of_sums",
    "whole_sums",
]

CAPACITY = 64
"""Least number of records that fit on a shortlist."""
GRID_BITS = 48
"""A query's highest possible score has about 2^GRID_BITS of its steps, as a fact adds two terms."""
LEAST_BITS, MOST_BITS = -160, 140
"""Single precision has no positive numbers beyond these powers of two."""


@dataclass(frozen=True)
class Shortlists:
    """Records that may be among the best of their queries, in the order of queries and then records.

    `single` are their scores in single precision, `exact` in double precision; None if not computed yet.
    """

    query: Ints
    record: Ints
    single: NDArray[np.float32]
    exact: Floats | None = None

    def select(self, chosen: Bools | Ints) -> "Shortlists":
        """These elements."""
        exact = None if self.exact is None else self.exact[chosen]
        return Shortlists(self.query[chosen], self.record[chosen], self.single[chosen], exact)

    def with_exact_scores(self, queries: Queries) -> "Shortlists":
        """The same with scores in double precision."""
        if self.exact is not None:
            return self
        if len(self.record) and self.record.max() >= queries.release.n_records:
            raise StoreError(INVALID_CODE)
        return replace(self, exact=queries.scores_of(self.query, self.record))


@dataclass(frozen=True)
class PartSummaries:
    """The result of the first round for one part: columns by query as in QuerySummaries, and shortlists."""

    candidates: Ints
    sums: Words
    lost: NDArray[np.float32]
    listed: Shortlists

    @classmethod
    def of(cls, summaries: QuerySummaries) -> "PartSummaries":
        """What a kernel has filled in."""
        is_filled = np.arange(summaries.capacity)[None, :] < summaries.shortlisted[:, None]
        query, record = np.nonzero(is_filled)[0], summaries.record[is_filled.ravel()]
        order = np.lexsort((record, query))
        single = summaries.score[is_filled.ravel()][order]
        listed = Shortlists(query[order], record[order], single)
        return cls(summaries.candidates, summaries.sums, summaries.lost, listed)


@dataclass(frozen=True)
class MassBounds:
    """What the sum Z of each query needs from the whole release (see `QuerySummaries`)."""

    highest: Floats
    scale: Floats
    cut: NDArray[np.float32]


@dataclass(frozen=True)
class MergedSummaries:
    """The summaries of all parts: `overflow` says that more records may be the best than a list has room for.

    `total`, `squares` and `z` are the sums in double precision; z is 0 before the second round.
    """

    candidates: Ints
    total: Floats
    squares: Floats
    highest: Floats
    overflow: Bools
    listed: Shortlists
    z: Floats

    def mass_bounds(self, sized: bool) -> MassBounds:
        """What the second round needs; as the kernels compute it if there is one part."""
        n, count = np.maximum(self.candidates, 1), len(self.candidates)
        mean = self.total / n
        variance = self.squares / n - mean * mean
        is_spread = variance > LEAST_VARIANCE
        scale = np.where(is_spread, 1.0 / np.sqrt(np.where(is_spread, variance, 1.0)), 0.0)
        cut = np.full(count, np.inf, np.float32)
        np.minimum.at(cut, self.listed.query, self.listed.single)
        return MassBounds(self.highest, np.ones(count) if sized else scale, cut)

    def with_mass(self, parts: Sequence[Words], units: Floats) -> "MergedSummaries":
        """The same with Z, given the sums of the second round of all parts."""
        return replace(self, z=sum_values(merged_sums(np.stack(parts)), units[:, PARTITION]))


def capacity_of(top: int) -> int:
    """Number of records that fit on a shortlist for this many best records."""
    return max(CAPACITY, 4 * top)


def query_units(step: Floats) -> Floats:
    """The units of the sums of scores, of squares and of Z of queries with these steps.

    They follow from bounds of the sum of a block: its number of records times the highest possible score,
    its square, or 1. Twice as much, because scores in single precision are rounded.
    """
    bits = np.clip(np.frexp(step)[1] - 1 + GRID_BITS + 1, LEAST_BITS, MOST_BITS)
    return np.stack([sum_unit(n + BLOCK_BITS) for n in (bits, 2 * bits, np.ones_like(bits))], axis=1)


def merge_summaries(
    parts: Sequence[PartSummaries], units: Floats, facts: Ints, slack: float, top: int
) -> MergedSummaries:
    """Merge the first rounds of all parts, in their order; `facts` is the number of facts of each query."""
    candidates = np.sum([part.candidates for part in parts], axis=0)
    sums = merged_sums(np.stack([part.sums for part in parts]))
    lost = np.max([part.lost for part in parts], axis=0)
    listed = _joined([part.listed for part in parts])
    floor = _bounds(listed, facts, slack, top)
    listed = listed.select(listed.single >= floor[listed.query])
    count, highest = len(candidates), np.zeros(len(candidates))
    np.maximum.at(highest, listed.query, listed.single.astype(np.float64))
    return MergedSummaries(
        candidates=candidates,
        total=sum_values(sums[:, SCORES], units[:, SCORES]),
        squares=sum_values(sums[:, SQUARES], units[:, SQUARES]),
        highest=highest,
        overflow=(lost >= floor) | (np.bincount(listed.query, minlength=count) > capacity_of(top)),
        listed=listed,
        z=sum_values(sums[:, PARTITION], units[:, PARTITION]),
    )


def _joined(lists: Sequence[Shortlists]) -> Shortlists:
    """The shortlists of all parts."""
    if len(lists) == 1:
        return lists[0]
    exact = None
    if lists[0].exact is not None:
        exact = np.concatenate([part.exact for part in lists if part.exact is not None])
    joined = Shortlists(
        np.concatenate([part.query for part in lists]),
        np.concatenate([part.record for part in lists]),
        np.concatenate([part.single for part in lists]),
        exact,
    )
    return joined.select(np.lexsort((joined.record, joined.query)))


def _bounds(listed: Shortlists, facts: Ints, slack: float, top: int) -> NDArray[np.float32]:
    """The bound that the `top` best scores of each query give, as `kernels.shortlist.raise_bound`."""
    order = np.lexsort((-listed.single, listed.query))
    query = listed.query[order]
    rank = np.arange(len(query)) - np.searchsorted(query, query)
    last = np.zeros(len(facts))
    last[query[rank == top - 1]] = listed.single[order][rank == top - 1]
    bound = last * (1.0 - ROUNDING * (facts + 4)) - slack * facts
    return np.asarray(np.maximum(bound.astype(np.float32), LEAST))


# Mean and standard deviation of scores in double precision, from sums in whole numbers.
#
# Sums of whole numbers are exact, so they do not depend on the order of scores, nor on how these are divided
# into parts.


HALF = 24
"""Half the bits of a whole number. Its square has 48 bits, and a sum of 2^13 of those less than 63."""
CHUNK = 1 << 13
GRID_BITS_SCORE_SPREAD = 2 * HALF


class Grid(NamedTuple):
    """Scores as whole numbers: (score − shift) / step, rounded."""

    shift: float
    step: float

    @classmethod
    def between(cls, lowest: float, highest: float) -> "Grid":
        """A grid of 2^48 steps for scores that lie between these."""
        exponent = math.frexp(highest - lowest)[1] - GRID_BITS_SCORE_SPREAD if highest > lowest else 0
        return cls(lowest, math.ldexp(1.0, max(exponent, -1022)))

    def whole_numbers(self, scores: Floats) -> Ints:
        """The scores in steps."""
        return np.rint((scores - self.shift) / self.step).astype(np.int64)

    def mean_and_sigma(self, n: int, total: int, squares: int) -> tuple[float, float]:
        """Mean and standard deviation of n scores, given their sum and that of their squares in steps."""
        return self.shift + total / n * self.step, sigma_of_sums(n, total, squares, self.step)


def whole_sums(numbers: Ints) -> tuple[int, int]:
    """The sum of whole numbers from 0 to about 2^48, and the sum of their squares: exactly."""
    total = squares = 0
    for low in range(0, len(numbers), CHUNK):
        number = numbers[low : low + CHUNK]
        upper, lower = number >> HALF, number & ((1 << HALF) - 1)
        total += int(number.sum())
        squares += (int(upper @ upper) << 2 * HALF) + (int(upper @ lower) << HALF + 1) + int(lower @ lower)
    return total, squares


def sigma_of_sums(n: int, total: int, squares: int, step: float) -> float:
    """The standard deviation of n scores from sums in steps; exactly 0 if the scores are all equal."""
    return math.sqrt(n * squares - total**2) / n * step


def mean_and_sigma_with_zeros(scores: Floats, n: int) -> tuple[float, float]:
    """Mean and standard deviation of n scores ≥ 0; those not given are 0."""
    if not len(scores):
        return 0.0, 0.0
    grid = Grid.between(float(scores.min()) if len(scores) == n else 0.0, float(scores.max()))
    return grid.mean_and_sigma(n, *whole_sums(grid.whole_numbers(scores)))
