"""From queries to the columns of their verdicts: walks over the release, in one part or several.

A part of a release gives the sums of scores as whole numbers, and its best records (`walk_part`). Merging parts
is adding and sorting, so verdicts do not depend on how the release is divided.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from standout.attack.engine_kernels import (
    ALIKE,
    BEST,
    LIKELIHOOD,
    MASS,
    MINIMUM,
    SQUARES,
    SUM,
    TIED,
    TOTAL,
    RowArrays,
    Summaries,
    Workspace,
    Z,
)
from standout.attack.queries import Queries, prefix_queries
from standout.attack.verdict import TargetColumns, VerdictColumns
from standout.core import elementary
from standout.core.arrays import Floats, Ints, offsets
from standout.core.errors import StoreError
from standout.core.progress import Progress, no_progress
from standout.core.threads import Part, executor_of, run_in_slices
from standout.data.entries import whole
from standout.data.release import INVALID_CODE, Release


class Walk(NamedTuple):
    """What to find: which rows, what about them (`rounds`), how many best records, and what counts as a match.

    `mark`, `inverse` and `own` are those of `Summaries`, `ties` the numbers of records to list that tie.
    """

    rows: RowArrays
    rounds: int
    top: int
    alpha: float = 0.0
    mark: Floats | None = None
    inverse: Floats | None = None
    ties: Ints | None = None
    own: Floats | None = None


def score(
    queries: Queries,
    top: int,
    sizes: Sequence[int] | None = None,
    *,
    with_z: bool = True,
    alpha: float = 0.0,
    own: Ints | None = None,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> tuple[Queries, VerdictColumns]:
    """The columns of all verdicts: of each query with all facts, or with its first ones for each of `sizes`.

    Also returns the queries that they answer. If the record `own` of each query is given (-1: none), it is compared
    with all others, and ties are counted, but not listed. Neither threads nor parts of the release change a bit of
    the columns. In Algorithm 1A, z is the number of records with a score of at least `alpha`.
    """
    if sizes is not None and list(sizes) != sorted(sizes):
        order = np.argsort(np.argsort(np.array(sizes), kind="stable"))
        columns = score(queries, top, sorted(sizes), with_z=with_z, alpha=alpha, threads=threads, progress=progress)[1]
        row = (np.arange(len(queries))[:, None] * len(sizes) + order).reshape(-1)
        return prefix_queries(queries, sizes), columns.select(row)
    answered = queries if sizes is None else prefix_queries(queries, sizes)
    rows = answered.rows(1 if sizes is None else len(sizes))
    release, mode, lowest = queries.release, queries.mode, answered.lowest
    executor = None if queries.cells else executor_of(release)
    sent, n_rows = queries.detached(), len(answered)
    progress = progress if executor is None else no_progress

    def run(plan: Walk) -> list[Summaries]:
        if executor is None:
            return [_walk(queries, whole(release), plan, threads, progress if plan.rounds & BEST else no_progress)]
        return list(executor.map(walk_part, sent, plan))

    def added(parts: list[Summaries], name: str) -> Ints:
        return np.asarray(np.sum([getattr(part, name) for part in parts], axis=0))

    z_round = MASS if with_z or mode == MINIMUM else 0
    own_score = None
    if own is not None:
        own_score = np.where(own >= 0, answered.scores_of(np.arange(n_rows), np.maximum(own, 0)) - lowest, np.nan)
    plan = Walk(rows, BEST, top, alpha, own=own_score)
    parts = run(plan if executor else plan._replace(rounds=BEST | z_round))
    candidates, sums, visited = added(parts, "candidates"), added(parts, "sums"), added(parts, "visited")
    listed, ties, record, best = _merge_lists(parts, top)
    if record.max(initial=0) >= max(release.n_records, 1):
        raise StoreError(INVALID_CODE)
    highest, n, unit = best[:, 0], np.maximum(candidates, 1), unit_of_sums(release)
    mean = sums[:, TOTAL] * unit / n
    variance = sums[:, SQUARES] * unit / n - mean * mean
    is_spread = variance > ALIKE * mean * mean
    spread = np.sqrt(np.where(is_spread, variance, 1.0))
    inverse = np.where(is_spread, rows.norm / spread, 0.0) if mode == SUM else np.ones(n_rows)
    sigma = np.where(is_spread, spread / rows.norm, 0.0)
    mark = best[np.arange(n_rows), (ties == 1).astype(np.int64)]
    if executor and z_round:
        sums = sums + added(run(plan._replace(rounds=MASS, mark=mark, inverse=inverse)), "sums")
    z = sums[:, Z].astype(np.float64)
    if mode != MINIMUM:
        z = z * unit + elementary.exp(-mark * inverse) * (candidates - visited)
        z = np.where(ties == 1, 1.0 + elementary.exp((mark - highest) * inverse) * z, z)
        z = np.where(inverse > 0, z, 0.0) * with_z
    for alike in np.flatnonzero(~is_spread & (listed > 0)).tolist():  # scores are all equal, or nearly
        scores = answered.scores(alike)
        scores = scores[scores > -np.inf]
        sigma[alike] = float(np.std((scores - scores.min()) * rows.norm[alike])) / rows.norm[alike]
        if mode == SUM and sigma[alike] > 0 and with_z:
            z[alike] = float(elementary.exp((scores - lowest[alike] - highest[alike]) / sigma[alike]).sum())
    if queries.cells and queries.cells.is_counted:
        sigma = np.zeros(n_rows)  # ln 0 has no spread
    many = (ties > top) & (listed > 0) & (own is None)
    first = offsets(np.where(many, ties, listed))
    row = np.repeat(np.arange(n_rows), np.diff(first))
    place, is_listed = np.minimum(np.arange(len(row)) - first[row], top - 1), ~many[row]
    best_record = record[row, place]
    if many.any():
        tied = run(plan._replace(rounds=TIED, mark=highest, ties=np.where(many, ties, 0)))
        of_row = np.concatenate([np.repeat(np.arange(n_rows), part.visited) for part in tied])
        best_record[~is_listed] = np.concatenate([part.tied for part in tied])[np.argsort(of_row, kind="stable")]
    progress("attacking", len(queries), len(queries))
    target = None
    if own is not None and own_score is not None:
        target = TargetColumns(own, own_score + lowest, added(parts, "above"), added(parts, "level"))
    return answered, VerdictColumns(
        candidates=candidates,
        mean=mean / rows.norm + lowest,
        sigma=sigma,
        scale=np.ones(n_rows) if mode == LIKELIHOOD else sigma,
        highest=highest + lowest,
        second=np.where((ties > 1) | (candidates == 1), highest, best[:, 1]) + lowest,
        ties=np.where(listed > 0, ties, candidates),
        z=z,
        first=first,
        record=best_record,
        score=np.where(is_listed, best[row, place], highest[row]) + lowest[row],
        target=target,
    )


def _merge_lists(parts: list[Summaries], top: int) -> tuple[Ints, Ints, Ints, Floats]:
    """How many best records each row has, how many tie for the highest score, the records and their scores."""
    record = np.concatenate([part.record.reshape(-1, top) for part in parts], axis=1)
    best = np.concatenate([part.score.reshape(-1, top) for part in parts], axis=1)
    listed = np.minimum(np.sum([part.listed for part in parts], axis=0), top)
    if len(parts) > 1:
        order = np.lexsort((record, -best), axis=1)[:, :top]
        record, best = np.take_along_axis(record, order, 1), np.take_along_axis(best, order, 1)
    ties = np.sum([np.where(part.score[::top] == best[:, 0], part.ties, 0) for part in parts], axis=0)
    return listed, ties, record, best


def walk_part(release: Release, part: Part, queries: Queries, plan: Walk) -> Summaries:
    """What a part of a release contributes."""
    return _walk(queries.attached(release), part, plan, 1, no_progress)


def _walk(queries: Queries, part: Part, plan: Walk, threads: int | None, progress: Progress) -> Summaries:
    release, rows = queries.release, plan.rows
    n, ties = len(rows.facts), np.zeros(len(rows.facts), np.int64) if plan.ties is None else plan.ties
    groups, tied_first = np.arange(len(rows.query)), offsets(ties)[:-1]
    if plan.ties is not None:
        groups = np.flatnonzero(np.maximum.reduceat(ties, rows.first[:-1]))
    room = n * plan.top if plan.rounds & BEST else 0
    out = Summaries(
        candidates=np.zeros(n, np.int64),
        sums=np.zeros((n, 3), np.int64),
        visited=np.zeros(n, np.int64),
        listed=np.zeros(n, np.int64),
        ties=np.zeros(n, np.int64),
        record=np.zeros(room, np.int64),
        score=np.zeros(room),
        mark=np.zeros(n) if plan.mark is None else plan.mark.copy(),
        inverse=np.zeros(n) if plan.inverse is None else plan.inverse.copy(),
        tied_first=np.where(ties > 0, tied_first, -1),
        tied=np.zeros(int(ties.sum()), np.int64),
        own=np.zeros(0) if plan.own is None else plan.own,
        above=np.zeros(n, np.int64),
        level=np.zeros(n, np.int64),
        unit=unit_of_sums(release),
        top=plan.top,
        alpha=float(plan.alpha),
    )
    is_kept = len(rows.query) == n and plan.rounds == BEST | MASS

    def work_on(low: int, high: int, work: Workspace) -> None:
        if plan.ties is None:
            queries.walk(rows, part, plan.rounds, work, out, low, high)
        else:
            for group in groups[low:high].tolist():
                queries.walk(rows, part, plan.rounds, work, out, group, group + 1)

    run_in_slices(len(groups), threads, lambda: queries.workspace(rows, part, is_kept), work_on, progress)
    is_filled = np.arange(len(out.tied)) - np.repeat(tied_first, ties) < np.repeat(out.visited, ties)
    return out._replace(tied=out.tied[is_filled])


def unit_of_sums(release: Release) -> float:
    """The unit of sums over all records: below 2^62 units in total, so that whole numbers do not overflow."""
    return math.ldexp(1.0, release.n_records.bit_length() + 3 - 62)
