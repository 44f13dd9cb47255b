"""The tables of several draws of the same facts, next to each other: one lane for each draw."""

from standout.attack.kernels.nested_arrays import NestedWorkspace
from standout.attack.kernels.query_arrays import OUT, ZERO, QueryFacts, ScoreRule, U
from standout.core.jit import Int, subroutine
from standout.core.simd import LANES
from standout.similarity.lookup_tables import KernelTables
from standout.similarity.time_cells import time_similarity

__all__ = ["spread_tables"]


@subroutine
def spread_tables(
    facts: QueryFacts,
    tables: KernelTables,
    rule: ScoreRule,
    work: NestedWorkspace,
    q: Int,
    lanes: Int,
    steps: Int,
    span: Int,
) -> None:
    """Write the lanes' tables, weight included, next to each other by kind and time; empty lanes add 0."""
    a, b, c, time_row = work.a, work.b, work.c, tables.c
    for j in range(steps):
        for lane in range(LANES):
            f = facts.first[q + min(lane, lanes - 1)] + j
            factor, u = facts.weight[f] if lane < lanes else ZERO, facts.shape[f]
            for kind in range(tables.a.shape[1]):
                a[j, kind * LANES + lane] = factor * tables.a[u, kind]
                b[j, kind * LANES + lane] = factor * tables.b[u, kind]
                if rule.sized:
                    a[j, kind * LANES + lane] += rule.constant[f] if lane < lanes else OUT
            first = tables.off[u, 0] - U(facts.time[f])
            for t in range(U(span)):
                c[U(j), t * U(LANES) + U(lane)] = time_similarity(time_row, first + t)
