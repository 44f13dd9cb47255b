"""Queries → the columns of their verdicts: slices on threads, then the best again in double precision."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from standout.attack.kernels.block_arrays import BlockWorkspace
from standout.attack.kernels.block_scores import score_queries
from standout.attack.kernels.conjunction import Workspace, minimum_similarities, new_workspace
from standout.attack.kernels.nested_arrays import NestedWorkspace, QueryGroups
from standout.attack.kernels.nested_scores import score_prefixes
from standout.attack.kernels.query_arrays import QuerySummaries
from standout.attack.queries import Queries, prefix_queries
from standout.attack.verdict_columns import VerdictColumns, VerdictRow
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import StoreError
from standout.core.progress import Progress, no_progress
from standout.core.simd import LANES
from standout.core.threads import run_in_slices
from standout.release.model import INVALID_CODE

__all__ = ["run_1a", "run_1b", "run_1b_nested"]

CAPACITY = 64
"""Least number of records that fit on a shortlist."""
SPREAD = 1.0
"""A variance below this many squared means is computed again in double precision."""
SPREAD_OF_MANY = 1 / 256
"""The same for a release of at least MANY records, over which the errors of single scores average out."""
MANY = 1 << 16
FLAT = 1 << 13
"""Largest number of time units for which lanes have tables of their own."""
FAINT = 1e-15
"""A query whose highest score is below this is computed again in double precision."""
FAINT_STEPS = 1 << 24
"""The same below this many steps of the query's grid, on which single precision does not round its scores."""
FAINT_SLACKS = 64
"""For log-likelihood ratios, the same below this many times the error of a part, which may hide a score."""
TINY_SPREAD = 1e-100
"""Scores that differ by less are divided by their spread before they are squared: the squares would be 0."""


def run_1b(
    queries: Queries, top: int, with_z: bool, threads: int | None = None, progress: Progress = no_progress
) -> VerdictColumns:
    """The columns of Algorithm 1B. Neither the number of threads nor the slices change a bit of them."""
    summaries = QuerySummaries.empty(len(queries), max(CAPACITY, 4 * top))
    most_facts = int(np.diff(queries.facts.first).max(initial=1))
    release, tables = queries.release, queries.kernel_tables

    def allocate() -> BlockWorkspace:
        n_sizes = len(queries.rule.sizes.inverse)
        return BlockWorkspace.allocate(release.n_records, most_facts, top, n_sizes, release.has_repeats)

    def work_on(low: int, high: int, work: BlockWorkspace) -> None:
        score_queries(
            release.by_item,
            queries.facts,
            tables,
            queries.candidates,
            queries.rule,
            n_records=release.n_records,
            with_z=with_z,
            work=work,
            summaries=summaries,
            low=low,
            high=high,
        )

    run_in_slices(len(queries), threads, allocate, work_on, progress)
    least_spread = SPREAD if release.n_records < MANY else SPREAD_OF_MANY
    return refine(queries, summaries, top, with_z, least_spread)


def run_1b_nested(
    queries: Queries,
    sizes: Sequence[int],
    top: int,
    with_z: bool,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> tuple[Queries, VerdictColumns]:
    """Each query with its first few facts, for every size: one walk for all of them.

    Neighbouring queries about the same items, such as draws of different noise, share the walk too.
    """
    prefixes = prefix_queries(queries, sizes)
    if not len(prefixes):
        return prefixes, VerdictColumns.empty(0)
    release, tables = queries.release, queries.kernel_tables
    if queries.known.filtered or not tables.shared.all():
        return prefixes, run_1b(prefixes, top, with_z, threads, progress)
    summaries = QuerySummaries.empty(len(prefixes), max(CAPACITY, 4 * top))
    summaries.candidates[:] = release.n_records - (prefixes.exclude >= 0)
    steps = int(np.diff(queries.facts.first).max(initial=0))
    groups, source = _group(queries, prefixes, len(sizes), steps)
    lanes = int(np.diff(groups.first).max(initial=1))
    kinds, times = tables.a.shape[1], (1 << release.by_item.time_bits) if lanes > 1 else 0

    def allocate() -> NestedWorkspace:
        width, n_sizes = 1 if lanes == 1 else LANES, len(queries.rule.sizes.inverse)
        return NestedWorkspace.allocate(
            steps, kinds, times, top, width=width, n_sizes=n_sizes, repeats=release.has_repeats
        )

    def work_on(low: int, high: int, work: NestedWorkspace) -> None:
        score_prefixes(
            release.by_item,
            queries.facts,
            tables,
            groups,
            queries.rule,
            n_records=release.n_records,
            span=release.span,
            with_z=with_z,
            work=work,
            summaries=summaries,
            low=low,
            high=high,
        )

    run_in_slices(len(groups.exclude), threads, allocate, work_on, progress)
    return prefixes, refine(prefixes, summaries.select_rows(source), top, with_z)


def _group(queries: Queries, prefixes: Queries, n_sizes: int, steps: int) -> tuple[QueryGroups, Ints]:
    """Groups of queries that share a walk, and the row of the summaries for each prefix.

    Two sizes have the same row if they come to the same facts of the release.
    """
    facts, exclude = queries.facts, queries.exclude

    def layout(q: int) -> Ints:
        """The known items of a query, and their positions in it."""
        positions = queries.facts_of(q)
        return np.stack([facts.item[positions], queries.origin[positions] - queries.known.first[q]])

    first = [0]
    for q in range(1, len(queries)):
        same = queries.release.span <= FLAT and q - first[-1] < LANES and exclude[q] == exclude[first[-1]]
        if not same or not np.array_equal(layout(q), layout(first[-1])):
            first.append(q)
    row = np.full((len(queries), max(steps, 1)), -1, np.int64)
    counts, source = np.diff(prefixes.facts.first), np.arange(len(prefixes))
    for prefix in np.flatnonzero(counts).tolist():
        q, j = prefix // n_sizes, int(counts[prefix]) - 1
        row[q, j] = prefix if row[q, j] < 0 else row[q, j]
        source[prefix] = row[q, j]
    return QueryGroups(np.array([*first, len(queries)], np.int64), row, exclude[first]), source


def run_1a(
    queries: Queries, alpha: float, top: int, threads: int | None = None, progress: Progress = no_progress
) -> VerdictColumns:
    """The columns of Algorithm 1A: `z` is the number of records that match."""
    rows: dict[int, VerdictRow] = {}

    def work_on(low: int, high: int, work: Workspace) -> None:
        for q in range(low, high):
            rows[q] = _row_1a(queries, q, alpha, top, work)

    run_in_slices(len(queries), threads, new_workspace, work_on, progress)
    return VerdictColumns.empty(len(queries)).with_rows(rows)


def _row_1a(queries: Queries, q: int, alpha: float, top: int, work: Workspace) -> VerdictRow:
    record, scores = minimum_similarities(queries, q, work)
    n = queries.count_candidates(q)
    order = np.argsort(-scores, kind="stable")
    highest = float(scores[order[0]]) if len(order) else 0.0
    ties = int(np.count_nonzero(scores == highest)) if len(order) else n
    second = float(scores[order[1]]) if len(order) > 1 else 0.0 if n > 1 else highest
    mean, sigma = mean_and_sigma_with_zeros(scores, n)
    best = order[: max(top, ties)] if len(order) else order
    return VerdictRow(
        candidates=n,
        mean=mean,
        sigma=sigma,
        scale=sigma,
        highest=highest,
        second=second,
        ties=ties,
        z=int(np.count_nonzero(scores >= alpha)),
        record=record[best],
        score=scores[best],
    )


def refine(
    queries: Queries, summaries: QuerySummaries, top: int, with_z: bool, least_spread: float = SPREAD
) -> VerdictColumns:
    """Score the shortlists in double precision and put them in order.

    A query for which single precision is not enough is computed again in double precision.
    """
    n = np.maximum(summaries.candidates, 1)
    mean, single_sigma = _mean_and_sigma_of_sums(summaries.total, summaries.squares, n)
    has_facts, sized = np.diff(queries.facts.first) > 0, queries.rule.sized
    least = np.maximum(FAINT, FAINT_STEPS * queries.step) if not sized else FAINT_SLACKS * queries.rule.slack
    least_spread = SPREAD_OF_MANY if sized else least_spread  # σ is not in log-likelihoods' probabilities
    too_close = single_sigma**2 < least_spread * mean**2
    again = summaries.overflow | (has_facts & (too_close | (summaries.highest < least)))
    is_filled = np.arange(summaries.capacity)[None, :] < np.where(again, 0, summaries.shortlisted)[:, None]
    best = _score_exactly(queries, np.nonzero(is_filled)[0], summaries.record[is_filled.ravel()])
    single = summaries.score[is_filled.ravel()].astype(np.float64)
    # the best weigh most in the sums, so they enter with their exact scores
    total = summaries.total + np.bincount(best.query, best.score - single, len(n))
    squares = summaries.squares + np.bincount(best.query, best.score**2 - single**2, len(n))
    mean, sigma = _mean_and_sigma_of_sums(total, squares, n)
    scale, z = np.ones(len(n)) if sized else sigma, np.zeros(len(n))
    if with_z:
        z = np.where(scale > 0, _refine_z(summaries, best, _inverse(scale, again)), 0.0)
    order, query = best.order(top)
    is_alone = summaries.candidates == 1
    columns = VerdictColumns(
        candidates=summaries.candidates,
        mean=mean,
        sigma=sigma,
        scale=scale,
        highest=best.highest,
        second=np.where(is_alone, best.highest, best.second),
        ties=np.where(best.highest > 0, best.ties, summaries.candidates),
        z=z,
        first=np.searchsorted(query, np.arange(len(n) + 1)),
        record=best.record[order],
        score=best.score[order],
    )
    rows = {int(q): _row_in_double_precision(queries, int(q), top, with_z) for q in np.flatnonzero(again)}
    return columns.with_rows(rows) if rows else columns


def _inverse(sigma: Floats, again: Bools) -> Floats:
    """1/σ; 0 if σ is 0, and for queries that are computed again."""
    return 1.0 / np.where((sigma > 0) & ~again, sigma, np.inf)


def _refine_z(summaries: QuerySummaries, best: "_Best", scale: Floats) -> Floats:
    """Z of all candidates: the exact scores of the shortlist, and the sum over all others."""
    query, n = best.query, len(scale)
    listed = elementary.exp((best.score - best.highest[query]) * scale[query])
    shift = np.minimum((summaries.highest - best.highest) * scale, 0.0 if n == 0 else 1.0)
    return summaries.z * elementary.exp(shift) + np.bincount(query, listed, n)


def _mean_and_sigma_of_sums(total: Floats, squares: Floats, n: Ints) -> tuple[Floats, Floats]:
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

    def order(self, top: int) -> tuple[Ints, Ints]:
        """The order of the best of each query, `top` or as many as tie for the highest; and their queries."""
        order = np.lexsort((self.record, -self.score, self.query))
        query = self.query[order]
        rank = np.arange(len(query)) - np.searchsorted(query, query)
        is_best = rank < np.maximum(top, self.ties[query])
        return order[is_best], query[is_best]


def _score_exactly(queries: Queries, query: Ints, record: Ints) -> _Best:
    if len(record) and record.max() >= queries.release.n_records:
        raise StoreError(INVALID_CODE)
    score = queries.scores_of(query, record)
    highest, second = np.zeros(len(queries)), np.zeros(len(queries))
    np.maximum.at(highest, query, score)
    is_best = score == highest[query]
    ties = np.bincount(query[is_best], minlength=len(queries))
    np.maximum.at(second, query[~is_best], score[~is_best])
    return _Best(query, record, score, highest, np.where(ties > 1, highest, second), ties)


def _row_in_double_precision(queries: Queries, q: int, top: int, with_z: bool) -> VerdictRow:
    all_scores = queries.scores(q)
    scores = all_scores if queries.is_candidate(q) is None else all_scores[all_scores > -np.inf]
    mean, sigma = mean_and_sigma(scores)
    scale = 1.0 if queries.rule.sized else sigma
    best = np.flatnonzero(all_scores > 0)
    if len(best) > top:
        score = all_scores[best]
        best = best[score >= np.partition(score, -top)[-top]]
    best = best[np.argsort(-all_scores[best], kind="stable")]
    highest = float(all_scores[best[0]]) if len(best) else 0.0
    ties = int(np.count_nonzero(scores == highest))
    second = float(scores.max(initial=-np.inf, where=scores < highest))
    best = best[: max(top, ties)]
    return VerdictRow(
        candidates=len(scores),
        mean=mean,
        sigma=sigma,
        scale=scale,
        highest=highest,
        second=highest if ties > 1 or second == -np.inf else second,
        ties=ties,
        z=float(elementary.exp((scores - highest) / scale).sum()) if scale and with_z else 0.0,
        record=best,
        score=all_scores[best],
    )


def mean_and_sigma_with_zeros(scores: Floats, n: int) -> tuple[float, float]:
    """Mean and standard deviation of n scores; those not given are 0."""
    if len(scores) == n:
        return mean_and_sigma(scores)
    mean = float(scores.sum()) / n
    squares = float(((scores - mean) ** 2).sum()) + (n - len(scores)) * mean * mean
    return mean, float(np.sqrt(squares / n))


def mean_and_sigma(scores: Floats) -> tuple[float, float]:
    """Mean and standard deviation of all scores; σ is exactly 0 if they are all equal."""
    if not len(scores):
        return 0.0, 0.0
    if scores.min() == scores.max():
        return float(scores[0]), 0.0
    above = scores - scores.min()  # exact, where the mean of nearly equal scores is rounded
    unit = float(above.max()) if above.max() < TINY_SPREAD else 1.0
    sigma = float(np.sqrt(np.mean(((above - above.mean()) / unit) ** 2))) * unit
    return float(scores.mean()), sigma
