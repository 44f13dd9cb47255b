"""Queries for which single precision is not enough: all scores in double precision, part by part.

Scores are multiples of a query's step, so sums of scores and of squares are exact in whole numbers, in any
order. Z is the exact sum of the sums of blocks, each cut off at 2^-UNIT_BITS. Neither depends on how the
release is divided into parts.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from standout.attack.engine import Walk
from standout.attack.queries import Queries
from standout.attack.query_arrays import BLOCK
from standout.attack.sum_kernels import block_masses, score_sums
from standout.attack.summaries import sigma_of_sums
from standout.attack.verdict_columns import VerdictRow
from standout.core.arrays import Floats, Ints
from standout.core.parts import Part, executor_of
from standout.core.progress import no_progress
from standout.core.threads import run_in_slices
from standout.data.block_ranges import record_range
from standout.data.release import Release

__all__ = ["rows_in_double_precision"]

UNIT_BITS = 86


class PartRow(NamedTuple):
    """What the records of a part contribute to one verdict.

    `total` and `squares` are the sums of scores, in steps, and of their squares. `highest` is the highest
    score, `ties` the number of candidates with it, `below` the next lower score; -∞ if there is none.
    `record` and `score` are the best records with a score above 0, in descending order of scores: as many as
    are wanted, or as many as tie for the highest score.
    """

    candidates: int
    total: int
    squares: int
    highest: float
    ties: int
    below: float
    record: Ints
    score: Floats


def rows_in_double_precision(walk: Walk, chosen: Ints, with_z: bool, threads: int | None) -> dict[int, VerdictRow]:
    """The verdicts of chosen rows of a walk."""
    queries, executor = walk.rows, executor_of(walk.queries.release)
    if executor is None:
        return _rows_on_threads(queries, chosen, walk.top, with_z, threads)
    sent = walk.detached()
    parts = executor.map(part_rows, sent, chosen)
    rows = [_merged(of_parts, walk.top) for of_parts in zip(*parts, strict=True)]
    sigma = np.array([_sigma(row, queries.step[q]) for row, q in zip(rows, chosen, strict=True)])
    scale = np.ones(len(rows)) if queries.rule.sized else sigma
    highest = np.array([max(row.highest, 0.0) for row in rows])
    masses = executor.map(part_masses, sent, chosen, highest, scale) if with_z else [[0] * len(rows)]
    return {
        q: _finished(rows[i], float(queries.step[q]), float(sigma[i]), float(scale[i]), sum(mass))
        for (i, q), mass in zip(enumerate(chosen.tolist()), zip(*masses, strict=True), strict=True)
    }


def _rows_on_threads(
    queries: Queries, chosen: Ints, top: int, with_z: bool, threads: int | None
) -> dict[int, VerdictRow]:
    rows: dict[int, VerdictRow] = {}

    def work_on(low: int, high: int, _: None) -> None:
        for q in chosen[low:high].tolist():
            rows[q] = _row(queries, q, top, with_z)

    run_in_slices(len(chosen), threads, lambda: None, work_on, no_progress)
    return rows


def _row(queries: Queries, q: int, top: int, with_z: bool) -> VerdictRow:
    """The verdict of one query, with all records at once."""
    scores, step = queries.scores(q), float(queries.step[q])
    row = _merged([_part_row(scores, 0, step, top)], top)
    sigma = _sigma(row, step)
    scale = 1.0 if queries.rule.sized else sigma
    mass = _mass(scores, max(row.highest, 0.0), scale) if with_z else 0
    return _finished(row, step, sigma, scale, mass)


def part_rows(release: Release, part: Part, walk: Walk, chosen: Ints) -> list[PartRow]:
    """What a part contributes to the verdicts of chosen rows of a walk."""
    queries, first = walk.attached(release).rows, record_range(release, part).start
    return [_part_row(queries.part_scores(q, part), first, float(queries.step[q]), walk.top) for q in chosen.tolist()]


def part_masses(release: Release, part: Part, walk: Walk, chosen: Ints, highest: Floats, scale: Floats) -> list[int]:
    """The part's share of Z of chosen rows of a walk."""
    queries, bounds = walk.attached(release).rows, zip(highest.tolist(), scale.tolist(), strict=True)
    return [_mass(queries.part_scores(q, part), *bound) for q, bound in zip(chosen.tolist(), bounds, strict=True)]


def _part_row(all_scores: Floats, first_record: int, step: float, top: int) -> PartRow:
    sums = score_sums(all_scores, step, top)
    best = np.flatnonzero(all_scores >= sums.least) if sums.least > 0 else np.flatnonzero(all_scores > 0)
    best = best[np.argsort(-all_scores[best], kind="stable")][: max(top, sums.ties)]
    return PartRow(
        candidates=sums.candidates,
        total=sums.total,
        squares=sums.squares,
        highest=sums.highest,
        ties=sums.ties,
        below=sums.below,
        record=best + first_record,
        score=all_scores[best],
    )


def _merged(parts: Sequence[PartRow], top: int) -> PartRow:
    """The contribution of all parts, in their order."""
    if len(parts) == 1:
        return parts[0]
    highest = max(part.highest for part in parts)
    ties = sum(part.ties for part in parts if part.highest == highest)
    lower = [part.highest for part in parts if part.highest < highest]
    record = np.concatenate([part.record for part in parts])
    score = np.concatenate([part.score for part in parts])
    best = np.argsort(-score, kind="stable")[: max(top, ties)]
    return PartRow(
        candidates=sum(part.candidates for part in parts),
        total=sum(part.total for part in parts),
        squares=sum(part.squares for part in parts),
        highest=highest,
        ties=ties,
        below=max([part.below for part in parts] + lower),
        record=record[best],
        score=score[best],
    )


def _sigma(row: PartRow, step: float) -> float:
    """The standard deviation of all scores; exactly 0 if they are all equal."""
    return sigma_of_sums(max(row.candidates, 1), row.total, row.squares, step)


def _mass(all_scores: Floats, highest: float, scale: float) -> int:
    """Σ e^((score − highest)/scale) over candidates, in units of 2^-UNIT_BITS; 0 if scale is 0."""
    masses = np.zeros(-(-len(all_scores) // BLOCK))
    if scale:
        block_masses(all_scores, highest, scale, masses)
    return sum(int(mass * 2.0**UNIT_BITS) for mass in masses.tolist())


def _finished(row: PartRow, step: float, sigma: float, scale: float, mass: int) -> VerdictRow:
    highest = max(row.highest, 0.0)
    second = row.below if row.highest > -np.inf else highest
    return VerdictRow(
        candidates=row.candidates,
        mean=row.total / max(row.candidates, 1) * step,
        sigma=sigma,
        scale=scale,
        highest=highest,
        second=highest if row.ties > 1 or second == -np.inf else second,
        ties=row.ties,
        z=mass / (1 << UNIT_BITS),
        record=row.record,
        score=row.score,
    )
