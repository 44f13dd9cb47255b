"""Add one fact to the scores of a block's records that have its item several times: for nested attacks."""

import numpy as np

from standout.attack.kernels.lane_additions import notice
from standout.attack.kernels.nested_arrays import NestedWorkspace
from standout.attack.kernels.query_arrays import QueryFacts, ScoreRule, U
from standout.attack.kernels.repeated_parts import fill_parts
from standout.core.jit import Array, Int, Real, subroutine
from standout.release.postings import Postings
from standout.similarity.lookup_tables import KernelTables

__all__ = ["add_repeats"]


@subroutine
def add_repeats(
    postings: Postings,
    tables: KernelTables,
    facts: QueryFacts,
    rule: ScoreRule,
    fact: Int,
    low: Int,
    high: Int,
    block: Int,
    exclude: Int,
    lane: Int,
    width: Int,
    sums: Array,
    least: Real,
    work: NestedWorkspace,
) -> None:
    """Add the parts of the records in words low … high - 1 to their scores in one lane, and to its sums.

    `block` is the first record of the block, `exclude` a position in it. Notices records that reach `least`.
    """
    positions, parts = work.repeated.position, work.repeated.part
    scores, noticed, n_noticed, mark = work.scores, work.noticed, work.n_noticed, work.mark
    added, grown = 0.0, 0.0
    for i in range(U(fill_parts(postings, tables, facts, rule, fact, low, high, block, work.repeated))):
        position, part = np.int64(positions[i]), parts[i]
        if position == exclude:
            continue
        at = position * width + lane
        old = scores[at]
        new = old + part
        scores[at] = new
        added += np.float64(part)
        grown += np.float64(part) * (np.float64(old) + np.float64(new))
        if new >= least:
            notice(noticed, n_noticed, mark, position, lane, at)
    sums[0, lane] += added
    sums[1, lane] += grown
