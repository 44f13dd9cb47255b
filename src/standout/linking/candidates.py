"""The candidate records of each profile: the best scores of Algorithm 1B, and what they agree on."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from standout.attack.queries import Queries
from standout.attack.scoreboard import ScoreboardRH
from standout.attack.verdict_columns import VerdictColumns
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.facts import KnownFacts
from standout.findings.links import Dates
from standout.linking.agreement import COLUMNS, Agreement
from standout.linking.evidence import PARTS

__all__ = ["TOP", "Candidates", "concatenate", "find_candidates"]

WITH_DATES, WITHOUT_DATES = ScoreboardRH(), ScoreboardRH(time_scale=None)
VARIANTS: dict[Dates, tuple[bool, ...]] = {"use": (True,), "ignore": (False,), "learn": (True, False)}
"""Whether dates are compared, in each attack that is tried."""
TOP = 8
"""How many records with the best scores are candidates."""


class Candidates(NamedTuple):
    """The candidate records of profiles: a row for each profile, TOP columns in the order of scores.

    Where there are fewer candidates, `record` is -1 and the score 0. `counts` are rows of an Agreement.
    `ties` is the number of records with the best score. `bits` is the entropy left to name the best record.
    `margin` is the eccentricity split into PARTS; it is 0 if it was not requested. `dated` says whether dates
    were compared.
    """

    record: Ints
    score: Floats
    counts: Floats
    sigma: Floats
    ties: Ints
    bits: Floats
    margin: Floats
    dated: Bools


def find_candidates(
    agreement: Agreement,
    known: KnownFacts,
    dates: Dates,
    *,
    removed: Ints | None = None,
    full: bool = True,
    threads: int | None = None,
) -> list[Candidates]:
    """Return the candidates of each profile, once for each variant of `dates`.

    `removed` is the record that is removed from the release for each profile. Without `full`, bits and
    margins are not computed.
    """
    return [
        _attack(agreement, known, dated, removed=removed, full=full, threads=threads)
        for dated in VARIANTS[dates]
    ]


def concatenate(batches: list[list[Candidates]]) -> list[Candidates]:
    """Join the candidates of consecutive batches, variant by variant."""
    return [_concatenate(variant) for variant in zip(*batches, strict=True)]


def _concatenate(batches: Sequence[Candidates]) -> Candidates:
    return Candidates(*(np.concatenate(column) for column in zip(*batches, strict=True)))


def _attack(
    agreement: Agreement,
    known: KnownFacts,
    dated: bool,
    *,
    removed: Ints | None,
    full: bool,
    threads: int | None,
) -> Candidates:
    attack, n = WITH_DATES if dated else WITHOUT_DATES, len(known)
    verdicts = attack.attacks(
        agreement.release, known, exclude=removed, top=TOP, with_z=full, threads=threads
    )
    columns = verdicts.columns
    at = columns.first[:-1, None] + np.arange(TOP)
    exists = at < columns.first[1:, None]
    record = np.where(exists, np.append(columns.record, -1)[np.where(exists, at, -1)], -1)
    score = np.where(exists, np.append(columns.score, 0.0)[np.where(exists, at, -1)], 0.0)
    query, rank = np.nonzero(exists)
    counts = np.zeros((n, TOP, COLUMNS))
    counts[query, rank] = agreement.counts(known, query, record[query, rank], removed)
    z = np.where(columns.z > 0, columns.z, np.maximum(columns.candidates, 1))
    return Candidates(
        record=record,
        score=score,
        counts=counts,
        sigma=columns.sigma,
        ties=columns.ties,
        bits=elementary.log2(z),
        margin=_margins(verdicts.queries, columns, record) if full else np.zeros((n, len(PARTS))),
        dated=np.full(n, dated),
    )


def _margins(queries: Queries, columns: VerdictColumns, record: Ints) -> Floats:
    """(max − max2) / σ of each query, split into the terms of values, of dates, and of items alone."""
    lead = _score_parts(queries, record[:, 0]) - _score_parts(queries, record[:, 1])
    return lead / np.where(columns.sigma > 0, columns.sigma, np.inf)[:, None]


def _score_parts(queries: Queries, record: Ints) -> Floats:
    """The score of one record for each query, split into PARTS."""
    scored = np.flatnonzero(record >= 0)
    pair, fact, terms = queries.pairs(scored, record[scored])
    step = queries.step[scored[pair]]
    weighted = np.rint(queries.weight[fact] * np.maximum(terms, 0.0) / step) * step
    bare = (queries.known.value[queries.origin[fact]] < 0) | (queries.release.n_levels == 0)
    by_part = (np.where(bare, 0.0, weighted[0]), weighted[1], np.where(bare, weighted[0], 0.0))
    parts = np.zeros((len(record), len(PARTS)))
    for column, part in enumerate(by_part):
        parts[scored, column] = np.bincount(pair, part, len(scored))
    return parts
