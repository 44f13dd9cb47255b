"""A walk: queries and the kernel that scores them, all facts at once or each number of facts in one go.

`Walk.summaries` runs the kernel on threads for a part of the release. `first_round` and `second_round` are
what a worker computes for its part (see `core.parts`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from standout.attack.block_kernels import BlockWorkspace, score_queries
from standout.attack.nested_arrays import NestedWorkspace, QueryGroups
from standout.attack.nested_kernels import score_prefixes
from standout.attack.queries import Queries, prefix_queries
from standout.attack.query_arrays import FIRST_ROUND, PARTITION, SECOND_ROUND, QuerySummaries
from standout.attack.summaries import (
    MassBounds,
    MergedSummaries,
    PartSummaries,
    Shortlists,
    capacity_of,
    merge_summaries,
    query_units,
)
from standout.attack.verdict_columns import VerdictColumns, VerdictRow
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.core.parts import Part, Words, executor_of
from standout.core.progress import Progress, no_progress
from standout.core.simd_fallback import LANES
from standout.core.threads import run_in_slices
from standout.data.block_ranges import record_range, whole
from standout.data.release import Release

__all__ = [
    "SPREAD",
    "SPREAD_OF_MANY",
    "Walk",
    "first_round",
    "queries_to_repeat",
    "refine",
    "second_round",
    "walk_all_parts",
]

FLAT = 1 << 13
"""Largest number of time units for which lanes have tables of their own."""


@dataclass(frozen=True, eq=False)
class Walk:
    """Queries whose `top` best records are wanted, with all facts or with the first few for each of `sizes`.

    With sizes, neighbouring queries about the same items, such as draws of different noise, share one walk.
    """

    queries: Queries
    top: int
    sizes: tuple[int, ...] | None = None

    @cached_property
    def rows(self) -> Queries:
        """The queries that are answered: one for each size if there are sizes."""
        return self.queries if self.sizes is None else prefix_queries(self.queries, self.sizes)

    @cached_property
    def units(self) -> Floats:
        """The units of the sums of each row: those of its query with all facts."""
        units = query_units(self.queries.step)
        return units if self.sizes is None else np.repeat(units, len(self.sizes), axis=0)

    def detached(self) -> "Walk":
        """The same without the release, to be sent to a worker."""
        return replace(self, queries=self.queries.detached())

    def attached(self, release: Release) -> "Walk":
        """A detached walk with its release."""
        return replace(self, queries=self.queries.attached(release))

    def summaries(
        self,
        part: Part,
        rounds: int,
        bounds: MassBounds | None = None,
        threads: int | None = 1,
        progress: Progress = no_progress,
    ) -> QuerySummaries:
        """What the kernel finds in a part. The second round alone needs the bounds of the whole release."""
        summaries = QuerySummaries.empty(self.units, capacity_of(self.top))
        if bounds is not None:
            summaries = summaries._replace(highest=bounds.highest, scale=bounds.scale, cut=bounds.cut)
        if self.sizes is None:
            self._score_queries(part, rounds, summaries, threads, progress)
            return summaries
        return self._score_prefixes(part, rounds, summaries, threads, progress)

    def _score_queries(
        self, part: Part, rounds: int, summaries: QuerySummaries, threads: int | None, progress: Progress
    ) -> None:
        queries = self.queries
        release, tables = queries.release, queries.kernel_tables
        most_facts = int(np.diff(queries.facts.first).max(initial=1))

        def allocate() -> BlockWorkspace:
            n_blocks, n_sizes = part.last_block - part.first_block, len(queries.rule.sizes.inverse)
            return BlockWorkspace.allocate(n_blocks, most_facts, self.top, n_sizes, release.has_repeats)

        def work_on(low: int, high: int, work: BlockWorkspace) -> None:
            score_queries(
                release.by_item,
                queries.facts,
                tables,
                queries.candidates,
                queries.rule,
                n_records=release.n_records,
                first_block=part.first_block,
                rounds=rounds,
                work=work,
                summaries=summaries,
                low=low,
                high=high,
            )

        run_in_slices(len(queries), threads, allocate, work_on, progress)

    def _score_prefixes(
        self, part: Part, rounds: int, summaries: QuerySummaries, threads: int | None, progress: Progress
    ) -> QuerySummaries:
        assert self.sizes is not None
        queries, prefixes, records = self.queries, self.rows, record_range(self.queries.release, part)
        release, tables = queries.release, queries.kernel_tables
        is_here = (prefixes.exclude >= records.start) & (prefixes.exclude < records.stop)
        summaries.candidates[:] = len(records) - is_here
        steps = int(np.diff(queries.facts.first).max(initial=0))
        groups, source = _group(queries, prefixes, len(self.sizes), steps)
        lanes = int(np.diff(groups.first).max(initial=1))
        kinds, times = tables.a.shape[1], (1 << release.by_item.time_bits) if lanes > 1 else 0

        def allocate() -> NestedWorkspace:
            width, n_sizes = 1 if lanes == 1 else LANES, len(queries.rule.sizes.inverse)
            return NestedWorkspace.allocate(
                steps, kinds, times, self.top, width=width, n_sizes=n_sizes, repeats=release.has_repeats
            )

        def work_on(low: int, high: int, work: NestedWorkspace) -> None:
            score_prefixes(
                release.by_item,
                queries.facts,
                tables,
                groups,
                queries.rule,
                n_records=release.n_records,
                first_block=part.first_block,
                last_block=part.last_block,
                span=release.span,
                rounds=rounds,
                work=work,
                summaries=summaries,
                low=low,
                high=high,
            )

        run_in_slices(len(groups.exclude), threads, allocate, work_on, progress)
        return summaries.select_rows(source)


def _group(queries: Queries, prefixes: Queries, n_sizes: int, steps: int) -> tuple[QueryGroups, Ints]:
    """Groups of queries that share a walk, and the row of the summaries for each prefix.

    Two sizes have the same row if they come to the same facts of the release.
    """
    number = np.arange(len(queries))
    start = np.where(_is_like_the_one_before(queries), 0, number)
    place = number - np.maximum.accumulate(start)  # among equal neighbours
    first = np.flatnonzero(place % LANES == 0)
    row = np.full((len(queries), max(steps, 1)), -1, np.int64)
    counts, source = np.diff(prefixes.facts.first), np.arange(len(prefixes))
    known = np.flatnonzero(counts)
    cell = known // n_sizes * row.shape[1] + counts[known] - 1
    cells, first_of_cell = np.unique(cell, return_index=True)
    row.flat[cells] = known[first_of_cell]
    source[known] = row.flat[cell]
    return QueryGroups(np.append(first, len(queries)), row, queries.exclude[first]), source


def _is_like_the_one_before(queries: Queries) -> Bools:
    """Whether a query has the items of the one before, at the same positions, and leaves out its record."""
    facts, exclude, counts = queries.facts, queries.exclude, np.diff(queries.facts.first)
    is_like = np.append(False, (counts[1:] == counts[:-1]) & (exclude[1:] == exclude[:-1]))
    is_like &= queries.release.span <= FLAT
    query = np.repeat(np.arange(len(queries)), counts)
    fact = np.flatnonzero(is_like[query])
    before, position = fact - counts[query[fact]], queries.origin - queries.known.first[query]
    differs = (facts.item[fact] != facts.item[before]) | (position[fact] != position[before])
    is_like[query[fact[differs]]] = False
    return np.asarray(is_like)


def first_round(release: Release, part: Part, walk: Walk) -> PartSummaries:
    """The first round of a part, with the exact scores of its shortlists."""
    walk = walk.attached(release)
    summaries = PartSummaries.of(walk.summaries(part, FIRST_ROUND))
    return replace(summaries, listed=summaries.listed.with_exact_scores(walk.rows))


def second_round(release: Release, part: Part, walk: Walk, bounds: MassBounds) -> Words:
    """The part's share of Z of each row."""
    return walk.attached(release).summaries(part, SECOND_ROUND, bounds).sums[:, PARTITION]


def walk_all_parts(walk: Walk, with_z: bool, threads: int | None, progress: Progress) -> MergedSummaries:
    """Both rounds on all parts of the release, or on the whole at once if it has no executor."""
    release, rule = walk.queries.release, walk.queries.rule
    executor, facts = executor_of(release), np.diff(walk.rows.facts.first)

    def merge(parts: list[PartSummaries]) -> MergedSummaries:
        return merge_summaries(parts, walk.units, facts, rule.slack, walk.top)

    if executor is None:
        rounds = FIRST_ROUND | SECOND_ROUND if with_z else FIRST_ROUND
        summaries = walk.summaries(whole(release), rounds, threads=threads, progress=progress)
        return merge([PartSummaries.of(summaries)])
    sent = walk.detached()
    merged = merge(executor.map(first_round, sent))
    if with_z:
        bounds = merged.mass_bounds(rule.sized)
        merged = merged.with_mass(executor.map(second_round, sent, bounds), walk.units)
    progress("attacking", len(walk.queries), len(walk.queries))
    return merged


# Merged summaries of queries → the columns of their verdicts: the best again in double precision.


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
