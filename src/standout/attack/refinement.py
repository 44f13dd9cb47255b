"""Merged summaries of queries → the columns of their verdicts: the best again in double precision."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from standout.attack.part_summaries import MergedSummaries, Shortlists
from standout.attack.queries import Queries
from standout.attack.verdict_columns import VerdictColumns, VerdictRow
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints

__all__ = ["SPREAD", "SPREAD_OF_MANY", "queries_to_repeat", "refine"]

SPREAD = 1.0
"""A variance below this many squared means is computed again in double precision."""
SPREAD_OF_MANY = 1 / 256
"""The same for a release of at least MANY records, over which the errors of single scores average out."""
FAINT = 1e-15
"""A query whose highest score is below this is computed again in double precision."""
FAINT_STEPS = 1 << 24
"""The same below this many steps of the query's grid, on which single precision does not round its scores."""
FAINT_SLACKS = 64
"""For log-likelihood ratios, the same below this many times the error of a part, which may hide a score."""


def queries_to_repeat(queries: Queries, merged: MergedSummaries, least_spread: float) -> Bools:
    """Queries for which single precision is not enough: they are computed again in double precision."""
    mean, sigma = _mean_and_sigma(merged.total, merged.squares, np.maximum(merged.candidates, 1))
    has_facts, sized = np.diff(queries.facts.first) > 0, queries.rule.sized
    least = np.maximum(FAINT, FAINT_STEPS * queries.step) if not sized else FAINT_SLACKS * queries.rule.slack
    least_spread = SPREAD_OF_MANY if sized else least_spread  # σ is not in log-likelihoods' probabilities
    too_close = sigma**2 < least_spread * mean**2
    return np.asarray(merged.overflow | (has_facts & (too_close | (merged.highest < least))))


def refine(
    queries: Queries,
    merged: MergedSummaries,
    top: int,
    with_z: bool,
    again: Bools,
    in_double_precision: Callable[[Ints], dict[int, VerdictRow]],
) -> VerdictColumns:
    """Score the shortlists in double precision and put them in order; the queries `again` are repeated."""
    n = np.maximum(merged.candidates, 1)
    listed = merged.listed.select(~again[merged.listed.query]).with_exact_scores(queries)
    best, single = _Best.of(listed, len(n)), listed.single.astype(np.float64)
    # the best weigh most in the sums, so they enter with their exact scores
    total = merged.total + np.bincount(best.query, best.score - single, len(n))
    squares = merged.squares + np.bincount(best.query, best.score**2 - single**2, len(n))
    mean, sigma = _mean_and_sigma(total, squares, n)
    scale, z = np.ones(len(n)) if queries.rule.sized else sigma, np.zeros(len(n))
    if with_z:
        z = np.where(scale > 0, _refine_z(merged, best, _inverse(scale, again)), 0.0)
    order, query = best.order(top)
    is_alone = merged.candidates == 1
    columns = VerdictColumns(
        candidates=merged.candidates,
        mean=mean,
        sigma=sigma,
        scale=scale,
        highest=best.highest,
        second=np.where(is_alone, best.highest, best.second),
        ties=np.where(best.highest > 0, best.ties, merged.candidates),
        z=z,
        first=np.searchsorted(query, np.arange(len(n) + 1)),
        record=best.record[order],
        score=best.score[order],
    )
    repeated = np.flatnonzero(again)
    return columns.with_rows(in_double_precision(repeated)) if len(repeated) else columns


def _inverse(sigma: Floats, again: Bools) -> Floats:
    """1/σ; 0 if σ is 0, and for queries that are computed again."""
    return 1.0 / np.where((sigma > 0) & ~again, sigma, np.inf)


def _refine_z(merged: MergedSummaries, best: "_Best", scale: Floats) -> Floats:
    """Z of all candidates: the exact scores of the shortlist, and the sum over all others."""
    query, n = best.query, len(scale)
    listed = elementary.exp((best.score - best.highest[query]) * scale[query])
    shift = np.minimum((merged.highest - best.highest) * scale, 0.0 if n == 0 else 1.0)
    return merged.z * elementary.exp(shift) + np.bincount(query, listed, n)


def _mean_and_sigma(total: Floats, squares: Floats, n: Ints) -> tuple[Floats, Floats]:
    """Mean and standard deviation from the sums of scores and of squared scores."""
    mean = total / n
    return mean, np.sqrt(np.maximum(squares / n - mean * mean, 0.0))


class _Best(NamedTuple):
    """Records that may be among the best of their queries, with their scores in double precision."""

    query: Ints
    record: Ints
    score: Floats
    highest: Floats
    second: Floats
    ties: Ints

    @classmethod
    def of(cls, listed: Shortlists, queries: int) -> "_Best":
        """The best on shortlists with exact scores."""
        query, score = listed.query, listed.exact
        assert score is not None
        highest, second = np.zeros(queries), np.zeros(queries)
        np.maximum.at(highest, query, score)
        is_best = score == highest[query]
        ties = np.bincount(query[is_best], minlength=queries)
        np.maximum.at(second, query[~is_best], score[~is_best])
        return cls(query, listed.record, score, highest, np.where(ties > 1, highest, second), ties)

    def order(self, top: int) -> tuple[Ints, Ints]:
        """The order of the best of each query, `top` or as many as tie for the highest; and their queries."""
        order = np.lexsort((self.record, -self.score, self.query))
        query = self.query[order]
        rank = np.arange(len(query)) - np.searchsorted(query, query)
        is_best = rank < np.maximum(top, self.ties[query])
        return order[is_best], query[is_best]
