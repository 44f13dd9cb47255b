"""What known entries of a history add to the scores of a table's rows.

The history is scored by the attack on releases that corresponds to the attack on the table: `Likelihood`,
Algorithm 1B, Algorithm 1A, or equality of all known entries. Scores of both parts add up (of Algorithm 1A:
the smaller one counts), because both are about the same person. A row without a history has no known entry.
"""

import math

import numpy as np
from numpy.typing import NDArray

from standout.adversary import Adversary
from standout.attack.any_attack import AnyAttack
from standout.attack.likelihood import Likelihood
from standout.attack.likelihood_queries import LikelihoodQueries
from standout.attack.scoreboard import Scoreboard, ScoreboardRH
from standout.core.arrays import Floats, Ints
from standout.facts import KnownFacts
from standout.similarity.attributes import Decay, Within
from standout.table_attack.kernels import LOWEST, UNIT
from standout.table_attack.table_attacks import ExactMatch, TableAttack, TableLikelihood, TableScoreboard
from standout.tables.model import Table

__all__ = ["history_scores"]


def history_scores(
    table: Table, known: KnownFacts, queries: slice, attack: TableAttack, entries: Adversary, excluded: Ints
) -> NDArray[np.int32]:
    """Scores of all rows for some queries, in the units of the kernels, by what is known of the history.

    `excluded` is a row per query that is not in the table, or -1.
    """
    release, record = table.history, table.history_record
    assert release is not None and record is not None
    few = _select(known, queries)
    left_out = np.where(excluded >= 0, record[excluded], -1)
    verdicts = _release_attack(attack, entries).attacks(release, few, exclude=left_out)
    scores = np.empty((len(few), table.n_rows), np.int32)
    for q in range(len(few)):
        scores[q] = _by_row(verdicts[q].scores, record, _shift(verdicts[q].queries, few, q))
    return scores


def _select(known: KnownFacts, queries: slice) -> KnownFacts:
    first = known.first[queries.start : queries.stop + 1]
    return known.select(
        np.arange(queries.start, queries.stop), np.arange(first[0], first[-1]), first - first[0]
    )


def _release_attack(attack: TableAttack, entries: Adversary) -> AnyAttack:
    """The attack on releases that corresponds to one on tables."""
    if isinstance(attack, TableLikelihood):
        return Likelihood(entries)
    if isinstance(attack, TableScoreboard):
        return ScoreboardRH()
    return Scoreboard(Within(value=0, time=0) if isinstance(attack, ExactMatch) else Decay())


def _shift(queries: object, known: KnownFacts, q: int) -> float:
    """What a row without any known entry scores: scores of `Likelihood` are relative to it."""
    if not isinstance(queries, LikelihoodQueries):
        return 0.0
    return float(known.first[q + 1] - known.first[q]) * math.log1p(-queries.coverage)


def _by_row(scores: Floats, record: Ints, shift: float) -> NDArray[np.int32]:
    fixed = np.where(np.isfinite(scores), np.rint((scores + shift) * UNIT), LOWEST / 4)
    return np.append(fixed, round(shift * UNIT)).astype(np.int32)[record]
