"""The best record of each profile among its candidates, and how strong that match is."""

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from standout.core.arrays import Bools, Floats, Ints
from standout.findings.links import ClaimMeasure
from standout.linking.candidates import TOP, Candidates
from standout.linking.evidence import EvidenceModel, log_odds

__all__ = ["BestRecords", "best_records"]

EQUAL = 1e-9
"""Evidence and strengths that differ by at most this, or by this share, are equal: the rest is rounding."""
DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class BestRecords:
    """The best record of each profile, a row each.

    `record` and `runner_up` are record positions in the release, -1 for none; `score` and `runner_up_score`
    their scores. `ties` is the number of records as good as the best. `eccentricity` is the lead of its score
    over all others in units of σ, `evidence` the log₂ odds that it is the person. `strength` is the one of
    the two that decides about claims, and `margin` its lead over the runner-up, split into PARTS. `bits` is
    the entropy left to name the record. `dated` says whether dates were compared, `counts` is the row of the
    Agreement.
    """

    record: Ints
    runner_up: Ints
    score: Floats
    runner_up_score: Floats
    ties: Ints
    eccentricity: Floats
    evidence: Floats
    strength: Floats
    bits: Floats
    dated: Bools
    margin: Floats
    counts: Floats

    @property
    def claimable(self) -> Bools:
        """Whether the best record is unique and more likely than not: a tie is never claimed."""
        return np.asarray((self.record >= 0) & (self.ties == 1) & (self.strength > 0))

    def __len__(self) -> int:
        return len(self.record)

    def stronger(self, other: "BestRecords") -> "BestRecords":
        """Return the stronger row of the two for each profile; this one if they are equal."""
        equal = np.isclose(self.strength, other.strength, rtol=EQUAL, atol=EQUAL)
        keep = (self.strength > other.strength) | equal
        return BestRecords(**{field.name: _choose(keep, self, other, field.name) for field in fields(self)})


def _choose(keep: Bools, kept: BestRecords, other: BestRecords, name: str) -> Any:
    column = getattr(kept, name)
    return np.where(keep if column.ndim == 1 else keep[:, None], column, getattr(other, name))


def best_records(
    variants: list[Candidates], model: EvidenceModel, *, records: int, by: ClaimMeasure
) -> BestRecords:
    """Return the best record of each profile.

    With dates="learn" there are two variants, and the stronger one counts. Decoys make the same choice, so
    φ accounts for it.
    """
    best = [_best_records(variant, model, records, by) for variant in variants]
    return best[0] if len(best) == 1 else best[0].stronger(best[1])


def _best_records(
    candidates: Candidates, model: EvidenceModel, records: int, by: ClaimMeasure
) -> BestRecords:
    n, rows = len(candidates.record), np.arange(len(candidates.record))
    parts = model.parts(candidates.counts, candidates.dated[:, None])
    evidence = np.where(candidates.record >= 0, parts.sum(axis=-1), -np.inf)
    ranking = -np.round(evidence, DIGITS) if by == "evidence" else np.zeros((n, TOP))
    order = np.argsort(ranking, axis=1, kind="stable")  # equals stay in the order of their scores
    best, second = order[:, 0], order[:, 1]
    score = candidates.score[rows, best]
    best_other = np.where(best == 0, candidates.score[:, 1], candidates.score[:, 0])
    sigma = np.where(candidates.sigma > 0, candidates.sigma, np.inf)
    eccentricity = (score - best_other) / sigma
    has_candidate = candidates.record[:, 0] >= 0
    odds = np.where(has_candidate, log_odds(evidence, records)[rows, best] / math.log(2), 0.0)
    ties, margin = candidates.ties, candidates.margin
    if by == "evidence":
        ties = np.where(has_candidate, _tie_count(evidence, evidence[rows, best]), candidates.ties)
        has_second = candidates.record[rows, second] >= 0
        margin = parts[rows, best] - np.where(has_second, parts[rows, second].T, 0.0).T
        margin /= math.log(2)
    return BestRecords(
        record=candidates.record[rows, best],
        runner_up=candidates.record[rows, second],
        score=score,
        runner_up_score=candidates.score[rows, second],
        ties=ties,
        eccentricity=eccentricity,
        evidence=odds,
        strength=odds if by == "evidence" else eccentricity,
        bits=candidates.bits + (candidates.score[:, 0] - score) / sigma / math.log(2),
        dated=candidates.dated,
        margin=margin,
        counts=candidates.counts[rows, best],
    )


def _tie_count(evidence: Floats, best: Floats) -> Ints:
    """How many candidates have the best evidence, up to rounding."""
    least = best - EQUAL * np.maximum(np.abs(best), 1.0)
    return np.asarray((evidence >= least[:, None]).sum(axis=1))
