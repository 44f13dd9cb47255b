"""Queries → the numbers of their verdicts: slices on threads, then the best anew in double precision."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from standout.attack.kernels.block_scores import BlockWorkspace, QuerySummaries, score_queries
from standout.attack.kernels.conjunction import Workspace, minimum_similarities, new_workspace
from standout.attack.kernels.nested_scores import NestedWorkspace, QueryGroups, score_prefixes
from standout.attack.queries import Queries, prefix_queries
from standout.attack.verdict import VerdictColumns, VerdictRow
from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.errors import StoreError
from standout.core.progress import Progress, no_progress
from standout.core.simd import LANES
from standout.core.threads import run_in_slices

__all__ = ["run_1a", "run_1b", "run_1b_nested"]

PLACES = 64
SPREAD = 1.0
"""A variance below so many squared means is not trusted to single-precision scores."""
SPREAD_OF_MANY = 1 / 256
"""The same for a release of MANY records, over which the errors of single scores average out."""
MANY = 1 << 16
FLAT = 1 << 13
"""Up to so many units of time, lanes have tables of their own."""
FAINT = 1e-15
"""Nor is anything, if the highest score is below this."""


def run_1b(
    queries: Queries, top: int, with_z: bool, threads: int | None = None, progress: Progress = no_progress
) -> VerdictColumns:
    """The columns of the verdicts. Neither the number of threads nor the slices change a bit of them."""
    found = QuerySummaries.of(len(queries), max(PLACES, 4 * top))
    most = int(np.diff(queries.facts.first).max(initial=1))
    release, single = queries.release, queries.single

    def work_on(low: int, high: int, work: BlockWorkspace) -> None:
        score_queries(
            release.by_item, queries.facts, single, queries.candidates, release.n_records, top, with_z,
            work, found, low, high,
        )  # fmt: skip

    run_in_slices(
        len(queries), threads, lambda: BlockWorkspace.of(release.n_records, most, top), work_on, progress
    )
    least = SPREAD if release.n_records < MANY else SPREAD_OF_MANY
    return refine(queries, found, top, with_z, least)


def run_1b_nested(
    queries: Queries,
    sizes: Sequence[int],
    top: int,
    with_z: bool,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> tuple[Queries, VerdictColumns]:
    """Each query with its first so many facts, for every size: one walk for all of them.

    Neighbouring queries about the same items, as draws of different noise are, share the walk too.
    """
    wide = prefix_queries(queries, sizes)
    if not len(wide):
        return wide, VerdictColumns.empty(0)
    release, single = queries.release, queries.single
    if queries.known.filtered or not single.shared.all():
        return wide, run_1b(wide, top, with_z, threads, progress)
    found = QuerySummaries.of(len(wide), max(PLACES, 4 * top))
    found.candidates[:] = release.n_records - (wide.exclude >= 0)
    steps = int(np.diff(queries.facts.first).max(initial=0))
    groups, source = _groups(queries, wide, len(sizes), steps)
    lanes = int(np.diff(groups.first).max(initial=1))
    kinds, times = single.a.shape[1], (1 << release.by_item.time_bits) if lanes > 1 else 0

    def work_on(low: int, high: int, nest: NestedWorkspace) -> None:
        score_prefixes(
            release.by_item, queries.facts, single, groups, release.n_records, release.span, top, with_z,
            nest, found, low, high,
        )  # fmt: skip

    width = 1 if lanes == 1 else LANES
    run_in_slices(
        len(groups.exclude),
        threads,
        lambda: NestedWorkspace.of(steps, kinds, times, top, width),
        work_on,
        progress,
    )
    return wide, refine(wide, found.select_rows(source), top, with_z)


def _groups(queries: Queries, wide: Queries, n_sizes: int, steps: int) -> tuple[QueryGroups, Ints]:
    """Which queries are walked together and where the verdict after each number of facts goes; and for every
    size which of these it is: two sizes may come to the same facts of the release."""
    facts, exclude = queries.facts, queries.exclude

    def layout(q: int) -> Ints:
        """The known items of a query, and their places in it."""
        own = queries.own(q)
        return np.stack([facts.item[own], queries.origin[own] - queries.known.first[q]])

    first = [0]
    for q in range(1, len(queries)):
        same = queries.release.span <= FLAT and q - first[-1] < LANES and exclude[q] == exclude[first[-1]]
        if not same or not np.array_equal(layout(q), layout(first[-1])):
            first.append(q)
    row = np.full((len(queries), max(steps, 1)), -1, np.int64)
    counts, source = np.diff(wide.facts.first), np.arange(len(wide))
    for at in np.flatnonzero(counts).tolist():
        q, j = at // n_sizes, int(counts[at]) - 1
        row[q, j] = at if row[q, j] < 0 else row[q, j]
        source[at] = row[q, j]
    return QueryGroups(np.array([*first, len(queries)], np.int64), row, exclude[first]), source


def run_1a(
    queries: Queries, alpha: float, top: int, threads: int | None = None, progress: Progress = no_progress
) -> VerdictColumns:
    """The columns of Algorithm 1A: `z` is how many match."""
    rows: dict[int, VerdictRow] = {}

    def work_on(low: int, high: int, work: Workspace) -> None:
        for q in range(low, high):
            rows[q] = _matching(queries, q, alpha, top, work)

    run_in_slices(len(queries), threads, new_workspace, work_on, progress)
    return VerdictColumns.empty(len(queries)).with_rows(rows)


def _matching(queries: Queries, q: int, alpha: float, top: int, work: Workspace) -> VerdictRow:
    record, score_of = minimum_similarities(queries, q, work)
    n = queries.count(q)
    order = np.argsort(-score_of, kind="stable")
    highest = float(score_of[order[0]]) if len(order) else 0.0
    ties = int(np.count_nonzero(score_of == highest)) if len(order) else n
    second = float(score_of[order[1]]) if len(order) > 1 else 0.0 if n > 1 else highest
    mean, sigma = mean_and_sigma_with_zeros(score_of, n)
    kept = order[: max(top, ties)] if len(order) else order
    matching = int(np.count_nonzero(score_of >= alpha))
    return VerdictRow(n, mean, sigma, highest, second, ties, matching, record[kept], score_of[kept])


def refine(
    queries: Queries, found: QuerySummaries, top: int, with_z: bool, least: float = SPREAD
) -> VerdictColumns:
    """The best of each query in double precision, in order; queries that need it are done anew, exactly."""
    n = np.maximum(found.candidates, 1)
    mean, rough = _spread_of(found.total, found.squares, n)
    told = np.diff(queries.facts.first) > 0
    again = found.more | (told & ((rough**2 < least * mean**2) | (found.highest < FAINT)))
    filled = np.arange(found.places)[None, :] < np.where(again, 0, found.n)[:, None]
    best, single = (
        _best(queries, np.nonzero(filled)[0], found.record[filled.ravel()]),
        found.score[filled.ravel()],
    )
    own, single = best.query, single.astype(np.float64)
    total = found.total + np.bincount(
        own, best.score - single, len(n)
    )  # the best weigh most, so they are exact
    squares = found.squares + np.bincount(own, best.score**2 - single**2, len(n))
    mean, sigma = _spread_of(total, squares, n)
    z = np.zeros(len(n))
    if with_z:
        once = 1.0 / np.where((rough > 0) & ~again, rough, np.inf)
        scale = 1.0 / np.where((sigma > 0) & ~again, sigma, np.inf)
        old = np.bincount(own, elementary.exp((single - found.highest[own]) * once[own]), len(n))
        new = np.bincount(own, elementary.exp((best.score - best.highest[own]) * scale[own]), len(n))
        z = np.maximum(found.z - old, 0.0) * elementary.exp((found.highest - best.highest) * scale) + new
        z[sigma == 0] = 0.0
    order, kept = best.order(top)
    columns = VerdictColumns(
        found.candidates, mean, sigma, best.highest, best.second,
        np.where(best.highest > 0, best.ties, found.candidates), z,
        np.searchsorted(kept, np.arange(len(n) + 1)), best.record[order], best.score[order],
    )  # fmt: skip
    columns.second[(found.candidates == 1)] = columns.highest[found.candidates == 1]
    redone = {int(q): _exactly(queries, int(q), top, with_z) for q in np.flatnonzero(again)}
    return columns.with_rows(redone) if redone else columns


def _spread_of(total: Floats, squares: Floats, n: Ints) -> tuple[Floats, Floats]:
    """Mean and standard deviation from sums."""
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
        place = np.arange(len(query)) - np.searchsorted(query, query)
        kept = place < np.maximum(top, self.ties[query])
        return order[kept], query[kept]


def _best(queries: Queries, query: Ints, record: Ints) -> _Best:
    if len(record) and record.max() >= queries.release.n_records:
        raise StoreError("the index is damaged: an entry points nowhere; run standout verify")
    score_of = queries.scores_of(query, record)
    highest, second = np.zeros(len(queries)), np.zeros(len(queries))
    np.maximum.at(highest, query, score_of)
    is_best = score_of == highest[query]
    ties = np.bincount(query[is_best], minlength=len(queries))
    np.maximum.at(second, query[~is_best], score_of[~is_best])
    return _Best(query, record, score_of, highest, np.where(ties > 1, highest, second), ties)


def _exactly(queries: Queries, q: int, top: int, with_z: bool) -> VerdictRow:
    """A query done in double precision throughout."""
    every = queries.scores(q)
    scores = every[every > -np.inf]
    mean, sigma = mean_and_sigma(scores)
    best = np.flatnonzero(every > 0)
    if len(best) > top:
        best = best[every[best] >= np.partition(every[best], -top)[-top]]
    best = best[np.argsort(-every[best], kind="stable")]
    highest = float(every[best[0]]) if len(best) else 0.0
    ties = int(np.count_nonzero(scores == highest))
    rest = scores[scores < highest]
    second = highest if ties > 1 or not len(rest) else float(rest.max())
    z = float(elementary.exp((scores - highest) / sigma).sum()) if sigma and with_z else 0.0
    kept = best[: max(top, ties)]
    return VerdictRow(len(scores), mean, sigma, highest, second, ties, z, kept, every[kept])


def mean_and_sigma_with_zeros(scores: Floats, n: int) -> tuple[float, float]:
    """Mean and standard deviation of n scores, of which all but these are 0."""
    if len(scores) == n:
        return mean_and_sigma(scores)
    mean = float(scores.sum()) / n
    off = float(((scores - mean) ** 2).sum()) + (n - len(scores)) * mean * mean
    return mean, float(np.sqrt(off / n))


def mean_and_sigma(scores: Floats) -> tuple[float, float]:
    """Mean and standard deviation of all scores; exactly 0 spread if they are all the same."""
    if not len(scores):
        return 0.0, 0.0
    if scores.min() == scores.max():
        return float(scores[0]), 0.0
    mean = float(scores.mean())
    return mean, float(np.sqrt(np.mean((scores - mean) ** 2)))
