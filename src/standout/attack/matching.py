"""Verdicts of Algorithm 1A, part by part: the records that match all facts, merged exactly.

The second round is needed for the mean and σ: their sums are exact in whole numbers, in steps that depend
on the lowest and highest scores of all parts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from standout.attack.conjunction import Workspace, minimum_similarities, new_workspace
from standout.attack.eccentricity import Match, check_phi
from standout.attack.queries import Queries
from standout.attack.summaries import Grid, whole_sums
from standout.attack.verdict import Verdict
from standout.attack.verdict_columns import VerdictColumns, VerdictRow
from standout.core.arrays import Floats, Ints
from standout.core.parts import Executor, Part, executor_of
from standout.core.progress import Progress
from standout.core.threads import run_in_slices
from standout.data.release import Release

__all__ = ["MatchingVerdict", "matching_columns"]


class PartMatches(NamedTuple):
    """What the records of a part contribute to one verdict.

    `scored` is the number of candidates with a score above 0, `matches` of those with at least α. `lowest`
    and `highest` are the extremes of their scores, `ties` is how many have the highest. `record` and `score`
    are the best, in descending order of scores: as many as are wanted or tie for the highest score.
    """

    candidates: int
    scored: int
    matches: int
    lowest: float
    highest: float
    ties: int
    record: Ints
    score: Floats


def matching_columns(
    queries: Queries, alpha: float, top: int, threads: int | None, progress: Progress
) -> VerdictColumns:
    """The columns of the verdicts: `z` is the number of records that match."""
    executor, empty = executor_of(queries.release), VerdictColumns.empty(len(queries))
    if executor is not None:
        rows = _rows_of_parts(executor, queries, alpha, top)
        progress("attacking", len(queries), len(queries))
        return empty.with_rows(dict(enumerate(rows)))
    by_query: dict[int, VerdictRow] = {}

    def work_on(low: int, high: int, work: Workspace) -> None:
        for q in range(low, high):
            by_query[q] = _row(queries, q, alpha, top, work)

    run_in_slices(len(queries), threads, new_workspace, work_on, progress)
    return empty.with_rows(by_query)


def _row(queries: Queries, q: int, alpha: float, top: int, work: Workspace) -> VerdictRow:
    """The verdict of one query, with all records at once."""
    record, scores = minimum_similarities(queries, q, work)
    matches = _part_matches(queries.count_candidates(q), record, scores, alpha, top)
    return _finished(matches, *whole_sums(_grid(matches).whole_numbers(scores)))


def _rows_of_parts(executor: Executor, queries: Queries, alpha: float, top: int) -> list[VerdictRow]:
    sent = queries.detached()
    merged = [_merged(of_parts, top) for of_parts in zip(*executor.map(part_matches, sent, alpha, top), strict=True)]
    sums = executor.map(part_sums, sent, [_grid(matches) for matches in merged])
    by_query = [tuple(map(sum, zip(*of_parts, strict=True))) for of_parts in zip(*sums, strict=True)]
    return [_finished(matches, *totals) for matches, totals in zip(merged, by_query, strict=True)]


def part_matches(release: Release, part: Part, queries: Queries, alpha: float, top: int) -> list[PartMatches]:
    """What a part contributes to the verdict of each query."""
    queries, work = queries.attached(release), new_workspace()
    return [
        _part_matches(queries.count_candidates(q, part), *minimum_similarities(queries, q, work, part), alpha, top)
        for q in range(len(queries))
    ]


def part_sums(release: Release, part: Part, queries: Queries, grids: Sequence[Grid]) -> list[tuple[int, int]]:
    """The part's sums of scores and of squares for each query, in the steps of its grid."""
    queries, work = queries.attached(release), new_workspace()
    return [
        whole_sums(grid.whole_numbers(minimum_similarities(queries, q, work, part)[1])) for q, grid in enumerate(grids)
    ]


def _part_matches(candidates: int, record: Ints, scores: Floats, alpha: float, top: int) -> PartMatches:
    order = np.argsort(-scores, kind="stable")
    highest = float(scores[order[0]]) if len(order) else 0.0
    ties = int(np.count_nonzero(scores == highest))
    best = order[: max(top, ties)]
    return PartMatches(
        candidates=candidates,
        scored=len(scores),
        matches=int(np.count_nonzero(scores >= alpha)),
        lowest=float(scores.min(initial=np.inf)),
        highest=highest,
        ties=ties,
        record=record[best],
        score=scores[best],
    )


def _merged(parts: Sequence[PartMatches], top: int) -> PartMatches:
    """The contribution of all parts, in their order."""
    highest = max(part.highest for part in parts)
    ties = sum(part.ties for part in parts if part.highest == highest)
    record = np.concatenate([part.record for part in parts])
    score = np.concatenate([part.score for part in parts])
    best = np.argsort(-score, kind="stable")[: max(top, ties)]
    return PartMatches(
        candidates=sum(part.candidates for part in parts),
        scored=sum(part.scored for part in parts),
        matches=sum(part.matches for part in parts),
        lowest=min(part.lowest for part in parts),
        highest=highest,
        ties=ties,
        record=record[best],
        score=score[best],
    )


def _grid(matches: PartMatches) -> Grid:
    """The grid for the sums; records without a score have 0."""
    lowest = matches.lowest if matches.scored == matches.candidates else 0.0
    return Grid.between(min(lowest, matches.highest), matches.highest)


def _finished(matches: PartMatches, total: int, squares: int) -> VerdictRow:
    n, scored = matches.candidates, matches.scored
    mean, sigma = _grid(matches).mean_and_sigma(n, total, squares) if scored else (0.0, 0.0)
    second = float(matches.score[1]) if scored > 1 else 0.0 if n > 1 else matches.highest
    return VerdictRow(
        candidates=n,
        mean=mean,
        sigma=sigma,
        scale=sigma,
        highest=matches.highest,
        second=second,
        ties=matches.ties if scored else n,
        z=matches.matches,
        record=matches.record,
        score=matches.score,
    )


# The verdict of Algorithm 1A on one aux: the records that match all known facts.


@dataclass(frozen=True, eq=False, repr=False)
class MatchingVerdict(Verdict):
    """Result of `Scoreboard` for one aux  [Algorithm 1A].

    The matching set D′ has the records with a score ≥ α, and all of them are equally probable.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> aux = so.Adversary(knows=3, value_error=1, time_error=14).observe(release, "42", seed=1)
    >>> verdict = so.Scoreboard(so.Within(value=1, time=14), alpha=1).attack(release, aux)
    >>> verdict.matching, verdict.probability("42"), verdict.match().record
    (1, 1.0, '42')
    """

    alpha: float = 1.0

    @property
    def matching(self) -> int:
        """|D′|: the number of records that match."""
        return int(self.columns.z[self.q])

    def match(self, phi: float = 0.0) -> Match | None:
        """The best record if any record matches, else None  [Algorithm 1A].

        With φ > 0 the best record must also stand out, as in Algorithm 1B.
        """
        eccentric = self.eccentricity
        if not self.matching or eccentric < check_phi(phi) or (phi > 0 and self.ties != 1):
            return None
        assert self.best is not None
        return Match(self.best, self.highest, eccentric)

    def entropy(self, record: str | int) -> float:
        """log2 |D′| for a record of the matching set, log2 N for any other  [Definition 4]."""
        return math.log2(self.matching) if self.probability(record) > 0 else self.bits

    def _probability(self, score: float) -> float:
        return 1.0 / self.matching if self.matching and score >= self.alpha else 0.0
