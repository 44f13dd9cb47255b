"""The best record of each profile, and how strong that match is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from standout.attack.likelihood_queries import LikelihoodQueries
from standout.attack.own_queries import OwnQueries
from standout.attack.queries import Queries
from standout.attack.verdict_columns import VerdictColumns
from standout.attack.verdicts import Verdicts
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.linking.evidence import PARTS, evidence_parts, log_odds

__all__ = ["TOP", "BestRecords", "best_by_evidence", "best_by_score", "concatenate"]

TOP = 8
"""How many records with the best scores are looked at, where an attack's scores are not evidence."""
EQUAL = 1e-9
"""Strengths that differ by at most this, or by this share, are equal: the rest is rounding."""
EXACT = 1e-11
"""A sum over all records that is smaller is taken over the best ones, of which it is known more exactly."""
MOST, TINY = 700.0, 1e-300
"""Largest exponent whose exponential is finite, and a number whose logarithm is."""
DIGITS = 9
"""Evidence is compared up to this many decimals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestRecords:
    """The best record of each profile, a row each.

    `record` and `runner_up` are record positions in the release, -1 for none; `score` and `runner_up_score`
    their scores. `ties` is the number of records as good as the best. `eccentricity` is the lead of its score
    over all others in units of σ, `evidence` the log₂ odds that it is the person. `strength` is the one of
    the two that decides about claims, and `margin` its lead over the runner-up, split into PARTS; it is 0 if
    it was not requested, or if scores have no parts. `bits` is the entropy left to name the record. `dated`
    says whether dates were compared.
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


def concatenate(batches: Sequence[BestRecords]) -> BestRecords:
    """Join the best records of consecutive batches."""
    names = [field.name for field in fields(BestRecords)]
    return BestRecords(
        **{name: np.concatenate([getattr(batch, name) for batch in batches]) for name in names}
    )


def _choose(keep: Bools, kept: BestRecords, other: BestRecords, name: str) -> Any:
    column = getattr(kept, name)
    return np.where(keep if column.ndim == 1 else keep[:, None], column, getattr(other, name))


def best_by_evidence(
    queries: LikelihoodQueries, columns: VerdictColumns, *, dated: bool, floor: bool
) -> BestRecords:
    """Return the most likely records; their strength is the odds against all other records and nobody.

    The TOP records with the best scores are weighed again, without `floor` as in `evidence_parts`.
    """
    record, score = _best_of(columns, TOP)
    parts, rows = evidence_parts(queries, record, floor), np.arange(len(record))
    evidence = np.where(record >= 0, parts.sum(axis=-1), -np.inf)
    order = np.argsort(-np.round(evidence, DIGITS), axis=1, kind="stable")  # equals stay in their order
    best, second = order[:, 0], order[:, 1]
    listed = np.where(record >= 0, elementary.exp(score - columns.highest[:, None]), 0.0).sum(axis=1)
    rest = np.where(columns.z - listed > EXACT, columns.z - listed, 0.0)
    has_record, has_second = record[:, 0] >= 0, record[rows, second] >= 0
    own = np.where(has_record, evidence[rows, best], 0.0)
    others = _Others(
        listed=np.where(record >= 0, evidence, -np.inf) - own[:, None],
        best=best,
        rest=elementary.log(np.maximum(rest, TINY)) + columns.highest - own,
        nobody=queries.nobody(columns.candidates) - own,
    )
    odds = np.where(has_record, others.log_odds(), 0.0) / math.log(2)
    lead = parts[rows, best] - np.where(has_second, parts[rows, second].T, 0.0).T
    best_other = np.where(has_second, evidence[rows, second], 0.0)
    return BestRecords(
        record=record[rows, best],
        runner_up=record[rows, second],
        score=own,
        runner_up_score=best_other,
        ties=np.where(columns.ties > TOP, columns.ties, _tie_count(evidence, own)),
        eccentricity=(own - best_other) / np.where(columns.sigma > 0, columns.sigma, np.inf),
        evidence=odds,
        strength=odds,
        bits=np.where(has_record, others.bits(), elementary.log2(np.maximum(columns.candidates, 1))),
        dated=np.full(len(record), dated),
        margin=lead / math.log(2),
    )


@dataclass(frozen=True, slots=True)
class _Others:
    """Logarithms of the odds of other explanations against the best record.

    `listed` are those of the TOP records, of which number `best` is the best one; `rest` is about all other
    records together, `nobody` about the case that the person is absent.
    """

    listed: Floats
    best: Ints
    rest: Floats
    nobody: Floats

    def _total(self, nobody: bool) -> tuple[Floats, Floats]:
        """(shift, Σ e^(odds − shift)) of all records but the best, and of nobody."""
        terms = np.column_stack([self.listed, self.rest, self.nobody])
        terms[np.arange(len(terms)), self.best] = -np.inf
        terms = terms if nobody else terms[:, :-1]
        shift = np.maximum(terms.max(axis=1), -MOST)
        return shift, elementary.exp(terms - shift[:, None]).sum(axis=1)

    def log_odds(self) -> Floats:
        """The logarithm of the odds of the best record."""
        shift, total = self._total(nobody=True)
        return -(shift + elementary.log(np.maximum(total, TINY)))

    def bits(self) -> Floats:
        """−log2 of the probability of the best record among all records."""
        shift, total = self._total(nobody=False)
        more = shift + elementary.log(np.maximum(total, TINY))
        return (np.maximum(more, 0.0) + elementary.log1p(elementary.exp(-np.abs(more)))) / math.log(2)


def _tie_count(evidence: Floats, best: Floats) -> Ints:
    """How many of the records have the best evidence, up to rounding."""
    least = best - EQUAL * np.maximum(np.abs(best), 1.0)
    return np.asarray((evidence >= least[:, None]).sum(axis=1))


def best_by_score(verdicts: Verdicts, evidence: LikelihoodQueries, *, dated: bool, full: bool) -> BestRecords:
    """Return the records with the best scores; their strength is the eccentricity.

    `evidence` judges the TOP best records, so that evidence is shown too.
    """
    columns = verdicts.columns
    record, score = _best_of(columns, TOP)
    facts = np.diff(evidence.known.first) * math.log1p(-evidence.coverage)
    nats = evidence_parts(evidence, record, floor=False).sum(axis=-1) + facts[:, None]
    nats = np.where(record >= 0, nats, -np.inf)
    odds = log_odds(nats, evidence.release.n_records)[:, 0] / math.log(2)
    return BestRecords(
        record=record[:, 0],
        runner_up=record[:, 1],
        score=score[:, 0],
        runner_up_score=score[:, 1],
        ties=columns.ties,
        eccentricity=columns.eccentricity,
        evidence=np.where(record[:, 0] >= 0, odds, 0.0),
        strength=columns.eccentricity,
        bits=_bits(columns),
        dated=np.full(len(record), dated),
        margin=_margins(verdicts.queries, columns, record) if full else np.zeros((len(record), len(PARTS))),
    )


def _best_of(columns: VerdictColumns, top: int) -> tuple[Ints, Floats]:
    """The best records and their scores, a row for each query; -1 and 0 where there are fewer."""
    at = columns.first[:-1, None] + np.arange(top)
    exists = at < columns.first[1:, None]
    record = np.where(exists, np.append(columns.record, -1)[np.where(exists, at, -1)], -1)
    return record, np.where(exists, np.append(columns.score, 0.0)[np.where(exists, at, -1)], 0.0)


def _bits(columns: VerdictColumns) -> Floats:
    """The entropy left to name the best record."""
    return elementary.log2(np.where(columns.z > 0, columns.z, np.maximum(columns.candidates, 1)))


def _margins(queries: Queries, columns: VerdictColumns, record: Ints) -> Floats:
    """(max − max2) / σ of each query, split into the terms of values, of dates, and of items alone."""
    if isinstance(queries, OwnQueries):
        return np.zeros((len(record), len(PARTS)))
    lead = _score_parts(queries, record[:, 0]) - _score_parts(queries, record[:, 1])
    return lead / np.where(columns.sigma > 0, columns.sigma, np.inf)[:, None]


def _score_parts(queries: Queries, record: Ints) -> Floats:
    """The score of one record for each query, split into PARTS."""
    scored = np.flatnonzero(record >= 0)
    pair, fact, terms = queries.pairs(scored, record[scored])
    step = queries.step[scored[pair]]
    weighted = np.rint(queries.weight[fact] * np.fmax(terms, 0.0) / step) * step
    bare = (queries.known.value[queries.origin[fact]] < 0) | (queries.release.n_levels == 0)
    by_part = (np.where(bare, 0.0, weighted[0]), weighted[1], np.where(bare, weighted[0], 0.0))
    parts = np.zeros((len(record), len(PARTS)))
    for column, part in enumerate(by_part):
        parts[scored, column] = np.bincount(pair, part, len(scored))
    return parts
