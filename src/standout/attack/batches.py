"""Queries → the columns of their verdicts: kernels on all parts, then the best again in double precision."""

from collections.abc import Sequence

from standout.attack.double_precision import rows_in_double_precision
from standout.attack.engine import SPREAD, SPREAD_OF_MANY, Walk, queries_to_repeat, refine, walk_all_parts
from standout.attack.matching import matching_columns
from standout.attack.queries import Queries, prefix_queries
from standout.attack.verdict_columns import VerdictColumns, VerdictRow
from standout.core.arrays import Ints
from standout.core.progress import Progress, no_progress

__all__ = ["run_1a", "run_1b", "run_1b_nested"]

MANY = 1 << 16
"""Number of records over which the errors of single scores average out."""


def run_1b(
    queries: Queries, top: int, with_z: bool, threads: int | None = None, progress: Progress = no_progress
) -> VerdictColumns:
    """The columns of Algorithm 1B. Neither threads nor parts of the release change a bit of them."""
    least_spread = SPREAD if queries.release.n_records < MANY else SPREAD_OF_MANY
    return _run(Walk(queries, top), with_z, least_spread, threads, progress)


def run_1b_nested(
    queries: Queries,
    sizes: Sequence[int],
    top: int,
    with_z: bool,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> tuple[Queries, VerdictColumns]:
    """Each query with its first few facts, for every size: one walk for all of them."""
    if not len(queries) * len(sizes):
        return prefix_queries(queries, sizes), VerdictColumns.empty(0)
    if queries.known.filtered or not queries.kernel_tables.shared.all():
        prefixes = prefix_queries(queries, sizes)
        return prefixes, run_1b(prefixes, top, with_z, threads, progress)
    walk = Walk(queries, top, tuple(sizes))
    return walk.rows, _run(walk, with_z, SPREAD, threads, progress)


def _run(walk: Walk, with_z: bool, least_spread: float, threads: int | None, progress: Progress) -> VerdictColumns:
    merged = walk_all_parts(walk, with_z, threads, progress)
    again = queries_to_repeat(walk.rows, merged, least_spread)

    def repeat(chosen: Ints) -> dict[int, VerdictRow]:
        return rows_in_double_precision(walk, chosen, with_z, threads)

    return refine(walk.rows, merged, walk.top, with_z, again, repeat)


def run_1a(
    queries: Queries, alpha: float, top: int, threads: int | None = None, progress: Progress = no_progress
) -> VerdictColumns:
    """The columns of Algorithm 1A: `z` is the number of records that match."""
    return matching_columns(queries, alpha, top, threads, progress)
