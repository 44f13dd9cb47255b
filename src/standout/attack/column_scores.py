"""Attacks on people of a release with columns: known cells and known entries, scored together by the engine."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from standout.attack.any_attack import AnyAttack, check_attack
from standout.attack.column_evidence import CellTabulation
from standout.attack.engine import score
from standout.attack.engine_kernels import CELL_STEP, LIKELIHOOD, MINIMUM, SUM
from standout.attack.likelihood import Likelihood
from standout.attack.likelihood_queries import LikelihoodQueries
from standout.attack.own_attack import Attack
from standout.attack.queries import Queries, prepare_queries
from standout.attack.scoreboard import ExactMatch, Scoreboard, ScoreboardRH
from standout.attack.verdict import PosteriorVerdict
from standout.attack.verdict_columns import VerdictColumns
from standout.attack.verdicts import Verdicts
from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError, whole_number
from standout.core.progress import Progress, no_progress
from standout.core.threads import map_on_threads
from standout.data.release import Release
from standout.know.adversary import Adversary
from standout.know.facts import KnownFacts
from standout.know.sanitized import Sanitized, representatives_of
from standout.know.similarity import Decay, Present

__all__ = ["AttackName", "attack_columns", "attack_named", "column_verdict", "counts_wrong", "weighted_votes"]

AttackName = Literal["likelihood", "paper", "threshold", "exact match"]


def attack_named(attack: AttackName | AnyAttack, adversary: Adversary | None = None) -> AnyAttack:
    """The attack of this name, with the adversary's errors; an attack is returned as it is."""
    if not isinstance(attack, str):
        return check_attack(attack)
    attacks: dict[str, AnyAttack] = {
        "likelihood": Likelihood(adversary),
        "paper": ScoreboardRH(),
        "threshold": Scoreboard(Decay(), alpha=0.5),
        "exact match": ExactMatch(),
    }
    if attack not in attacks:
        raise ParameterError(f"attack must be one of {', '.join(attacks)}, or an attack, got {attack!r}")
    return attacks[attack]


def counts_wrong(attack: AnyAttack) -> bool:
    """Whether the number of wrong facts is used, with products instead of sums of logarithms."""
    adversary = attack.adversary if isinstance(attack, Likelihood) else None
    return adversary is not None and adversary.wrong > 0


def attack_columns(
    release: Release,
    known: KnownFacts,
    attack: AnyAttack,
    *,
    absent: bool = False,
    probabilities: bool = True,
    counted: bool = True,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Verdicts:
    """Attack many people at once.

    If `absent`, each target's record is removed, and what is counted is counted without it. Without
    `probabilities`, posteriors of the paper's attack are NaN. Unless `counted`, `Likelihood` takes each fact to
    be wrong with the same probability, instead of a known number.
    """
    records, counted = _records(release, known), counted and counts_wrong(attack)
    own, gone = np.where(absent, -1, records), np.where(absent, records, -1)
    if isinstance(attack, Attack):
        return attack.with_targets(release, known, gone, own, threads, progress)
    alpha = round(attack.alpha / CELL_STEP) * CELL_STEP if isinstance(attack, Scoreboard) else None
    with_z = probabilities or isinstance(attack, Likelihood)
    parts = []
    for targets, queries in _queries(release, known, attack, gone, absent, counted, threads):
        options: dict[str, Any] = {"with_z": with_z, "alpha": alpha or 0.0, "threads": threads, "progress": progress}
        queries, columns = score(queries, 2, own=own[targets], **options)
        if counted and (columns.highest <= queries.lowest).any():  # products below all numbers
            return attack_columns(
                release, known, attack, absent=absent, counted=False, threads=threads, progress=progress
            )
        parts.append(columns)
    return Verdicts(queries, VerdictColumns.joined(parts), alpha)


def _records(release: Release, known: KnownFacts) -> Ints:
    """The record that represents each target, or -1."""
    target = known.cells.target
    return np.where(target >= 0, representatives_of(release)[target], -1)


def _queries(
    release: Release, known: KnownFacts, attack: AnyAttack, exclude: Ints, absent: bool, counted: bool,
    threads: int | None,
) -> Iterator[tuple[slice, Queries]]:  # fmt: skip
    """The queries about known cells and entries, in slices whose tables fit into memory."""
    mode = LIKELIHOOD if isinstance(attack, Likelihood) else MINIMUM if isinstance(attack, Scoreboard) else SUM
    for targets, cells in CellTabulation(release, attack, absent, counted, threads).batches(known):
        few, without = known.of(np.arange(targets.start, targets.stop)), exclude[targets]
        if not len(known.item):
            plain = prepare_queries(release, few, Present(), "one", without)
            yield targets, replace(plain, mode=mode, cells=cells, prepare=None)
            continue
        by_entries: Any = attack
        if isinstance(attack, Likelihood):
            by_entries = Likelihood(None if attack.adversary is None else getattr(attack.adversary, "entries", None))
        if isinstance(release, Sanitized):
            few = release.translate_facts(few, np.maximum(few.cells.target, 0))
        queries: Queries = by_entries._queries(release, few, without)
        most, lowest, lacking = cells.most + np.ldexp(1.0, np.add(*queries.exponents)), cells.lowest, np.zeros(len(few))
        if isinstance(queries, LikelihoodQueries):  # scores are relative to a record without any known entry
            lacking = np.diff(few.first) * math.log1p(-queries.coverage)
            lowest = lowest + np.rint(lacking / CELL_STEP) * CELL_STEP
        arrays = cells.arrays._replace(lacking=lacking)
        yield targets, replace(queries, cells=replace(cells, arrays=arrays, lowest=lowest, most=most))


def weighted_votes(
    release: Release, known: KnownFacts, attack: AnyAttack, name: str, *, absent: bool = False, counted: bool = True,
    threads: int | None = None, progress: Progress = no_progress,
) -> Floats:  # fmt: skip
    """For each target, the posterior of each level of a released column (the last one: an empty cell)."""
    column, exclude = release.column(name), np.where(absent, _records(release, known), -1)
    votes: list[Floats] = []

    def vote(queries: Queries, q: int) -> Floats:
        scores = queries.scores(q)
        weight = elementary.exp(scores - scores.max())
        return np.asarray(np.bincount(column.codes, weight, column.n_levels + 1) / weight.sum())

    for _, queries in _queries(release, known, attack, exclude, absent, counted and counts_wrong(attack), threads):
        for shares in map_on_threads(vote, ((queries, q) for q in range(len(queries))), threads):
            votes.append(shares)
            progress("attacking", len(votes), len(known))
    return np.array(votes).reshape(len(known), -1)


def column_verdict(release: Release, known: KnownFacts, attack: AnyAttack, population: int | None) -> PosteriorVerdict:
    """Rank all records by how well they fit what is known about one person; facts are about the original."""
    if not isinstance(attack, Likelihood):
        raise ParameterError("attack must be Likelihood in a release with columns: others have no posterior")
    people = release.n_records if population is None else whole_number("population", population, release.n_records)
    [(_, queries)] = _queries(release, known, attack, np.full(1, -1), False, False, None)
    assert queries.cells is not None
    queries = replace(queries, cells=replace(queries.cells, others=people - release.n_records))
    return PosteriorVerdict(*score(queries, 10, with_z=False), 0)
