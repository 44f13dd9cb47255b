"""Profiles → who in the release each points to, how far that stands out, and what carries it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.queries import Queries
from standout.attack.scoreboard import ScoreboardRH
from standout.attack.verdict import VerdictColumns
from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.facts import KnownFacts
from standout.linking.agreement import COLUMNS, Agreement
from standout.linking.evidence import PARTS, Model, odds

__all__ = ["By", "Candidates", "Dates", "Scored", "candidates", "judged", "together"]

Flags = NDArray[np.bool_]
Dates = Literal["use", "ignore", "learn"]
By = Literal["evidence", "eccentricity"]
WITH, WITHOUT = ScoreboardRH(), ScoreboardRH(time_scale=None)
WAYS: dict[str, tuple[bool, ...]] = {"use": (True,), "ignore": (False,), "learn": (True, False)}
"""Whether dates are compared: each way is tried."""
TOP = 8
"""So many records with the best scores are candidates."""
EQUAL = 1e-9
"""Evidence and claims that differ by less than this, or by this share, are equal: the rest is rounding."""
DIGITS = 9


class Candidates(NamedTuple):
    """The best records of profiles by the attack's score, a row for each profile and TOP columns.

    Where there are fewer, `record` is -1 and the score 0. `counts` is what a profile and a candidate have in
    common. `ties` have the best score; `bits` are left to point at the best one; `margin` is the eccentricity
    by what gives it, 0 if that was not asked for. `dated` says whether dates were compared.
    """

    record: Ints
    score: Floats
    counts: Floats
    sigma: Floats
    ties: Ints
    bits: Floats
    margin: Floats
    dated: Flags


@dataclass(frozen=True, slots=True)
class Scored:
    """What became of profiles, a row each.

    `record` and `runner_up` are places in the release, -1 for nobody; `score` and `second` their scores.
    `ties` are as good as the best. `eccentricity` is by how many σ its score is above those of all others,
    `evidence` the odds that it is the person, in bits. `claim` is the one of the two that decides, and
    `margin` what it has more of that than the runner-up, by where that comes from. `bits` are left to point
    at the record. `dated` says whether dates were compared. `counts` is what both have in common.
    """

    record: Ints
    runner_up: Ints
    score: Floats
    second: Floats
    ties: Ints
    eccentricity: Floats
    evidence: Floats
    claim: Floats
    bits: Floats
    dated: Flags
    margin: Floats
    counts: Floats

    @property
    def able(self) -> Flags:
        """Whether the best record stands out at all: a tie is no match, nor what is less likely than not."""
        return np.asarray((self.record >= 0) & (self.ties == 1) & (self.claim > 0))

    def __len__(self) -> int:
        return len(self.record)

    def better(self, other: "Scored") -> "Scored":
        """Of each row the one that stands out more; this one if they are equal."""
        mine = (self.claim > other.claim) | np.isclose(self.claim, other.claim, rtol=EQUAL, atol=EQUAL)
        return Scored(
            *(
                np.where(mine if own.ndim == 1 else mine[:, None], own, its)
                for own, its in ((getattr(self, one.name), getattr(other, one.name)) for one in fields(self))
            )
        )


def candidates(
    agreement: Agreement, known: KnownFacts, dates: Dates, gone: Ints | None, full: bool, threads: int | None
) -> list[Candidates]:
    """Who each profile may be, in each way that is tried. Without `full`, neither bits nor margins are worked
    out. `gone` are the records, one for each profile, that are taken out of the release before."""
    return [_attacked(agreement, known, dated, gone, full, threads) for dated in WAYS[dates]]


def together(parts: list[list[Candidates]]) -> list[Candidates]:
    """Parts behind each other, way by way."""
    return [_together(way) for way in zip(*parts, strict=True)]


def _together(parts: Sequence[Candidates]) -> Candidates:
    return Candidates(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _attacked(
    agreement: Agreement, known: KnownFacts, dated: bool, gone: Ints | None, full: bool, threads: int | None
) -> Candidates:
    attack, n = WITH if dated else WITHOUT, len(known)
    verdicts = attack.attacks(agreement.release, known, exclude=gone, top=TOP, with_z=full, threads=threads)
    columns = verdicts.columns
    at = columns.first[:-1, None] + np.arange(TOP)
    there = at < columns.first[1:, None]
    record = np.where(there, np.append(columns.record, -1)[np.where(there, at, -1)], -1)
    score = np.where(there, np.append(columns.score, 0.0)[np.where(there, at, -1)], 0.0)
    query, place = np.nonzero(there)
    counts = np.zeros((n, TOP, COLUMNS))
    counts[query, place] = agreement.counts(known, query, record[query, place], gone)
    z = np.where(columns.z > 0, columns.z, np.maximum(columns.candidates, 1))
    margin = _margins(verdicts.queries, columns, record) if full else np.zeros((n, len(PARTS)))
    return Candidates(
        record, score, counts, columns.sigma, columns.ties, elementary.log2(z), margin, np.full(n, dated)
    )


def judged(ways: list[Candidates], model: Model, records: int, by: By) -> Scored:
    """Who each profile points to. With dates="learn" there are two ways, and the one that stands out more
    holds: decoys make the same choice, so it is paid for."""
    found = [_judged(way, model, records, by) for way in ways]
    return found[0] if len(found) == 1 else found[0].better(found[1])


def _judged(found: Candidates, model: Model, records: int, by: By) -> Scored:
    n, rows = len(found.record), np.arange(len(found.record))
    parts = model.parts(found.counts, found.dated[:, None])
    evidence = np.where(found.record >= 0, parts.sum(axis=-1), -np.inf)
    ranked = -np.round(evidence, DIGITS) if by == "evidence" else np.zeros((n, TOP))
    order = np.argsort(ranked, axis=1, kind="stable")  # equals stay in the order of their scores
    best, second = order[:, 0], order[:, 1]
    score = found.score[rows, best]
    others = np.where(best == 0, found.score[:, 1], found.score[:, 0])
    sigma = np.where(found.sigma > 0, found.sigma, np.inf)
    eccentricity = (score - others) / sigma
    sure = np.where(found.record[:, 0] >= 0, odds(evidence, records)[rows, best] / math.log(2), 0.0)
    if by == "evidence":
        least = evidence[rows, best] - EQUAL * np.maximum(np.abs(evidence[rows, best]), 1.0)
        ties = np.where(found.record[:, 0] >= 0, (evidence >= least[:, None]).sum(axis=1), found.ties)
        margin = parts[rows, best] - np.where(found.record[rows, second] >= 0, parts[rows, second].T, 0.0).T
        margin /= math.log(2)
    else:
        ties, margin = found.ties, found.margin
    bits = found.bits + (found.score[:, 0] - score) / sigma / math.log(2)
    return Scored(
        found.record[rows, best], found.record[rows, second], score, found.score[rows, second], ties,
        eccentricity, sure, sure if by == "evidence" else eccentricity, bits, found.dated, margin,
        found.counts[rows, best],
    )  # fmt: skip


def _margins(queries: Queries, columns: VerdictColumns, record: Ints) -> Floats:
    """(max − max2) / σ of each query by what gives it: the terms of values, of dates, and of bare items."""
    parts = _parts(queries, record[:, 0]) - _parts(queries, record[:, 1])
    return parts / np.where(columns.sigma > 0, columns.sigma, np.inf)[:, None]


def _parts(queries: Queries, record: Ints) -> Floats:
    """The score of one record for each query, in three parts."""
    asked = np.flatnonzero(record >= 0)
    pair, fact, terms = queries.pairs(asked, record[asked])
    step = queries.step[asked[pair]]
    made = np.rint(queries.weight[fact] * np.maximum(terms, 0.0) / step) * step
    bare = (queries.known.value[queries.origin[fact]] < 0) | (queries.release.n_levels == 0)
    found = np.zeros((len(record), len(PARTS)))
    for place, part in enumerate((np.where(bare, 0.0, made[0]), made[1], np.where(bare, made[0], 0.0))):
        found[asked, place] = np.bincount(pair, part, len(asked))
    return found
