"""The numbers of many verdicts as columns, from which a Verdict reads its own."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from standout.core.arrays import Floats, Ints, offsets

__all__ = ["TargetColumns", "VerdictColumns"]

BY_VERDICT = ("candidates", "mean", "sigma", "scale", "highest", "second", "ties", "z")


class TargetColumns(NamedTuple):
    """The record of each query's target, -1 if none, its score, and how many records score higher and the same."""

    record: Ints
    score: Floats
    above: Ints
    level: Ints


@dataclass(frozen=True, slots=True)
class VerdictColumns:
    """The numbers of many verdicts, one row each.

    `candidates` is the number of records that the query may return. `mean` and `sigma` are over all their
    scores. `highest` and `second` are the two best scores, `ties` is the number of candidates with the best.
    `scale` is what scores are divided by in probabilities: σ in Algorithm 1B, 1 for log-likelihoods. `z` is
    Σ e^((score − highest)/scale), 0 if it was not computed; for Algorithm 1A it is the number of matches.
    The best records of query q are record[first[q]:first[q + 1]], by descending `score`; equal scores are in
    the order of the release. `target` is there if the targets' own records are known.
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
    target: TargetColumns | None = None

    def select(self, rows: Ints) -> "VerdictColumns":
        """These rows, in this order."""
        first = offsets(np.diff(self.first)[rows])
        at = np.arange(first[-1]) + np.repeat(self.first[rows] - first[:-1], np.diff(first))
        numbers = {name: getattr(self, name)[rows] for name in BY_VERDICT}
        return replace(self, **numbers, first=first, record=self.record[at], score=self.score[at])

    @classmethod
    def joined(cls, parts: "list[VerdictColumns]") -> "VerdictColumns":
        """The verdicts of several calls as one."""
        if len(parts) == 1:
            return parts[0]
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in (*BY_VERDICT, "record", "score")
        }
        if targets := [part.target for part in parts if part.target is not None]:
            columns["target"] = TargetColumns(*(np.concatenate(column) for column in zip(*targets, strict=True)))
        return cls(**columns, first=offsets(np.concatenate([np.diff(part.first) for part in parts])))

    @property
    def eccentricity(self) -> Floats:
        """(max − max2) / σ of every verdict; 0 if σ is 0."""
        return (self.highest - self.second) / np.where(self.sigma > 0, self.sigma, np.inf)
