"""A walk: queries and the kernel that scores them, all facts at once or each number of facts in one go.

`Walk.summaries` runs the kernel on threads for a part of the release. `first_round` and `second_round` are
what a worker computes for its part (see `core.parts`).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from standout.attack.kernels.block_arrays import BlockWorkspace
from standout.attack.kernels.block_scores import score_queries
from standout.attack.kernels.nested_arrays import NestedWorkspace, QueryGroups
from standout.attack.kernels.nested_scores import score_prefixes
from standout.attack.kernels.query_arrays import FIRST_ROUND, PARTITION, SECOND_ROUND, QuerySummaries
from standout.attack.part_summaries import (
    MassBounds,
    MergedSummaries,
    PartSummaries,
    capacity_of,
    merge_summaries,
    query_units,
)
from standout.attack.queries import Queries, prefix_queries
from standout.core.arrays import Bools, Floats, Ints
from standout.core.exact_sums import Words
from standout.core.parts import Part, executor_of
from standout.core.progress import Progress, no_progress
from standout.core.simd import LANES
from standout.core.threads import run_in_slices
from standout.release.block_ranges import record_range, whole
from standout.release.model import Release

__all__ = ["Walk", "first_round", "second_round", "walk_all_parts"]

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
