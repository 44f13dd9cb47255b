"""The numbers of many verdicts as columns, from which a Verdict reads its own."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from standout.core.arrays import Floats, Ints, offsets

__all__ = ["VerdictColumns", "VerdictRow"]


class VerdictRow(NamedTuple):
    """The numbers of one verdict, as in VerdictColumns."""

    candidates: int
    mean: float
    sigma: float
    scale: float
    highest: float
    second: float
    ties: int
    z: float
    record: Ints
    score: Floats


@dataclass(frozen=True, slots=True)
class VerdictColumns:
    """The numbers of many verdicts, one row each.

    `candidates` is the number of records that the query may return. `mean` and `sigma` are over all their
    scores. `highest` and `second` are the two best scores, `ties` is the number of candidates with the best.
    `scale` is what scores are divided by in probabilities: σ in Algorithm 1B, 1 for log-likelihoods. `z` is
    Σ e^((score − highest)/scale), 0 if it was not computed; for Algorithm 1A it is the number of matches.
    The best records of query q are record[first[q]:first[q + 1]], by descending `score`; equal scores are in
    the order of the release.
    """

    candidates: Ints
    mean: Floats
    sigma: Floats
    scale: Floats
    highest: Floats
    second: Floats
    ties: Ints
    z: Floats
    first: Ints
    record: Ints
    score: Floats

    @classmethod
    def empty(cls, count: int) -> "VerdictColumns":
        """Rows to be filled in by `with_rows`."""
        return cls(
            candidates=np.zeros(count, np.int64),
            mean=np.zeros(count),
            sigma=np.zeros(count),
            scale=np.zeros(count),
            highest=np.zeros(count),
            second=np.zeros(count),
            ties=np.zeros(count, np.int64),
            z=np.zeros(count),
            first=np.zeros(count + 1, np.int64),
            record=np.empty(0, np.int64),
            score=np.empty(0),
        )

    def with_rows(self, rows: dict[int, VerdictRow]) -> "VerdictColumns":
        """The same columns with these rows replaced."""
        bounds = zip(self.first[:-1].tolist(), self.first[1:].tolist(), strict=True)
        best = [(self.record[low:high], self.score[low:high]) for low, high in bounds]
        numbers = {name: getattr(self, name).copy() for name in VerdictRow._fields[:8]}
        for q, row in rows.items():
            best[q] = row.record, row.score
            for name, column in numbers.items():
                column[q] = getattr(row, name)
        first = offsets([len(record) for record, _ in best])
        record = np.concatenate([self.record[:0], *(records for records, _ in best)])
        score = np.concatenate([self.score[:0], *(scores for _, scores in best)])
        return replace(self, **numbers, first=first, record=record, score=score)

    def select(self, rows: Ints) -> "VerdictColumns":
        """These rows, in this order."""
        first = offsets(np.diff(self.first)[rows])
        at = np.arange(first[-1]) + np.repeat(self.first[rows] - first[:-1], np.diff(first))
        numbers = {name: getattr(self, name)[rows] for name in VerdictRow._fields[:8]}
        return replace(self, **numbers, first=first, record=self.record[at], score=self.score[at])

    @property
    def eccentricity(self) -> Floats:
        """(max − max2) / σ of every verdict; 0 if σ is 0."""
        return (self.highest - self.second) / np.where(self.sigma > 0, self.sigma, np.inf)
