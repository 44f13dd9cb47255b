"""Attacks on people of a release with columns: from known cells to look-up tables, scores and verdicts.

Every attack says what a known cell adds to the score of each record. Known entries of a mix are scored by the same
attack on its history. Both parts add up (of Algorithm 1A: the smaller one counts), because both are about the
same person.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from standout.attack.any_attack import AnyAttack, check_attack
from standout.attack.column_kernels import (
    TOLERANCE,
    UNIT,
    CountedSummaries,
    RowSummaries,
    count_rows,
    score_rows,
    scores_of_rows,
    scores_of_targets,
    vote,
)
from standout.attack.column_tables import Batch, Preparation
from standout.attack.likelihood import Likelihood
from standout.attack.queries import Queries
from standout.attack.scoreboard import ExactMatch, Scoreboard, ScoreboardRH
from standout.attack.verdict import Match, Part, PosteriorVerdict
from standout.attack.verdict_columns import VerdictColumns
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import ParameterError, positive_share, whole_number
from standout.core.progress import Progress, no_progress
from standout.core.threads import run_in_slices
from standout.data.release import Release
from standout.know.adversary import Adversary
from standout.know.facts import Cells, KnownFacts
from standout.know.sanitized import original_of, representatives_of
from standout.know.similarity import Decay

__all__ = [
    "AttackName",
    "ColumnVerdict",
    "ColumnVerdicts",
    "attack_columns",
    "attack_named",
    "column_verdict",
    "counts_wrong",
    "weighted_votes",
]

AttackName = Literal["likelihood", "paper", "threshold", "exact match"]
MANY = 100
"""With more facts than this, sums of logarithms might exceed the range of the kernels' whole numbers."""
LN2 = math.log(2.0)


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
    return adversary is not None and (adversary.wrong > 0 or adversary.knows > MANY)


@dataclass(frozen=True, eq=False, slots=True)
class ColumnVerdicts:
    """The result of an attack on many people, one element for each.

    candidates       number of records that each person may be
    guess            the first of the best records, or -1
    ties             number of best records; of an attack with a threshold, of the records that pass it
    found            the probability that a random one of the best records is the target's: 1 / ties or 0
    above, level     numbers of records that score higher than the target's, and the same; level is -1 if the
                     target's does not pass a threshold
    eccentricity     (best − second best) / σ; 0 in a tie  [Algorithm 1B]
    posterior        the probability of the guess: e^score over the sum of all; e^(score/σ) of the paper's attack
    own_posterior    the same of the target's record; 0 if it is not in the release
    best_likelihood  P(facts) / P(facts | guess): how probable the facts are about anybody, if the attack says so
    present          whether a record of the release stands for the target
    """

    candidates: int
    guess: Ints
    ties: Ints
    found: Floats
    above: Ints
    level: Ints
    eccentricity: Floats
    posterior: Floats
    own_posterior: Floats
    best_likelihood: Floats | None
    present: Bools

    @property
    def bits_left(self) -> Floats:
        """−log2 of the probability of the target's record; at most log2 of the number of candidates."""
        most = math.log2(max(self.candidates, 1))
        with np.errstate(divide="ignore"):
            return np.minimum(-elementary.log(self.own_posterior) / LN2, most)


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
) -> ColumnVerdicts:
    """Attack many people at once.

    If `absent`, each target's record is removed, and what is counted is counted without it. Probabilities of
    the paper's attack take a second pass, because σ comes first; without them its posteriors are NaN. Unless
    `counted`, `Likelihood` takes each fact to be wrong with the same probability, instead of a known number.
    """
    target = known.cells.target
    records = np.where(target >= 0, representatives_of(release)[target], -1)
    present = (records >= 0) & (not absent)
    counted = counted and counts_wrong(attack)
    preparation = Preparation(release, attack, absent, counted, threads)
    if counted:
        found, scale = _count(preparation, known, records, progress)
        if not (preparation.adversary.wrong and (found.best == 0).any()):  # products below all numbers
            return _counted_verdicts(found, scale, present, release.n_records - absent)
        preparation = Preparation(release, attack, absent, False, threads)
    out, own = RowSummaries.empty(len(known)), np.zeros(len(known), np.int32)
    for batch in preparation.batches(known):
        _score(preparation, batch, records, probabilities, out, own, progress)
    candidates = release.n_records - ((records >= 0) & absent)
    return _verdicts(out, own, present, candidates, attack, release.n_records - absent)


def _score(
    preparation: Preparation, batch: Batch, records: Ints, probabilities: bool, out: RowSummaries,
    own: NDArray[np.int32], progress: Progress,
) -> None:  # fmt: skip
    """Fill in the scores of one batch of queries; two passes where weights need σ first."""
    attack, n_rows = preparation.attack, preparation.release.n_records
    target, own, least = records[batch.queries], own[batch.queries], isinstance(attack, Scoreboard)
    scores_of_targets(batch.columns, batch.facts, batch.more, target, least, own)
    compared = np.full(len(own), round(attack.alpha * UNIT), np.int32) if isinstance(attack, Scoreboard) else own
    excluded, summaries = preparation.excluded(target), out.part(batch.queries)

    def run(out: RowSummaries, scale: Floats) -> None:
        def work(low: int, high: int, _: None) -> None:
            score_rows(batch.columns, batch.facts, batch.more, excluded, compared, least, scale, out, low, high, n_rows)

        run_in_slices(len(target), preparation.threads, lambda: None, work, progress)

    run(summaries, np.full(len(target), float(isinstance(attack, Likelihood))))
    if least or isinstance(attack, Likelihood):
        return
    summaries.weight[:] = np.nan
    if probabilities:
        again = RowSummaries.empty(len(target))
        run(again, 1.0 / np.maximum(_sigma(summaries, n_rows - (excluded >= 0)), 1e-9))
        summaries.weight[:] = again.weight


def _sigma(summaries: RowSummaries, n: Ints) -> Floats:
    count = np.maximum(n, 1)
    mean = summaries.total / count
    return np.sqrt(np.maximum(summaries.squares / count - mean * mean, 0.0))


def _verdicts(
    out: RowSummaries, own: NDArray[np.int32], present: Bools, candidates: Ints, attack: AnyAttack, n: int
) -> ColumnVerdicts:
    if isinstance(attack, Scoreboard):  # all records that pass are equally probable
        passing = out.above + out.level
        inside = present & (own >= round(attack.alpha * UNIT))
        share = 1.0 / np.maximum(passing, 1)
        alone, probability = np.where(passing == 1, np.inf, 0.0), np.where(passing > 0, share, 0.0)
        found, guess = np.where(inside, share, 0.0), np.where(passing > 0, out.guess, -1)
        own_probability, none = np.where(inside, probability, 0.0), np.zeros(len(found), np.int64)
        level = np.where(inside, passing, -1)
        return ColumnVerdicts(n, guess, passing, found, none, level, alone, probability, own_probability, None, present)
    by_likelihood = isinstance(attack, Likelihood)
    found = np.where(present & (own == out.best), 1.0 / np.maximum(out.ties, 1), 0.0)
    sigma = _sigma(out, candidates)
    gap = (out.best.astype(np.int64) - out.second) / UNIT
    eccentricity = np.where((sigma > 0) & (out.ties == 1) & (n > 1), gap / np.maximum(sigma, 1e-9), 0.0)
    scale = np.ones(len(found)) if by_likelihood else 1.0 / np.maximum(sigma, 1e-9)
    total = np.maximum(out.weight, 1e-300)
    likelihood = elementary.exp(-(out.best / UNIT)) if by_likelihood else None
    below = (own.astype(np.int64) - out.best) / UNIT
    own_probability = np.where(present, elementary.exp(below * scale) / total, 0.0)
    return ColumnVerdicts(
        n, out.guess, out.ties, found, out.above, out.level, eccentricity, 1.0 / total, own_probability, likelihood,
        present,
    )  # fmt: skip


def _counted_verdicts(out: CountedSummaries, scale: Floats, present: Bools, n: int) -> ColumnVerdicts:
    """Likelihood with a known number of wrong facts: what the kernel finds are probabilities."""
    best, total = np.maximum(out.best, 1e-300), np.maximum(out.total, 1e-300)
    is_best = present & (out.own >= out.best * (1.0 - TOLERANCE)) & (out.best > 0)
    found = np.where(is_best, 1.0 / np.maximum(out.ties, 1), 0.0)
    own, chance = np.where(present, out.own / total, 0.0), np.where(out.best > 0, best / total, 0.0)
    nobody, gap = elementary.exp(-scale) / best, np.zeros(len(found))
    return ColumnVerdicts(n, out.guess, out.ties, found, out.above, out.level, gap, chance, own, nobody, present)


def _count(
    preparation: Preparation, known: KnownFacts, records: Ints, progress: Progress,
    codes: NDArray[np.unsignedinteger] | None = None, votes: Floats | None = None,
) -> tuple[CountedSummaries, Floats]:  # fmt: skip
    """The probability of each record for each query, and ln of what these were divided by.

    If `votes` is given, the probabilities of all records are added to it, by query and code of the record.
    """
    out, scale, n_rows = CountedSummaries.empty(len(known)), np.zeros(len(known)), preparation.release.n_records
    codes = np.empty(0, np.uint8) if codes is None else codes
    for batch in preparation.batches(known):
        scale[batch.queries] = batch.scale
        target, part = records[batch.queries], out.part(batch.queries)
        excluded = preparation.excluded(target)
        there = np.full(len(target), -1) if preparation.absent else target
        some = np.empty((0, 0)) if votes is None else votes[batch.queries]

        def work(
            low: int, high: int, _: None, batch: Batch = batch, there: Ints = there, excluded: Ints = excluded,
            some: Floats = some, part: CountedSummaries = part,
        ) -> None:  # fmt: skip
            columns, facts, more = batch.columns, batch.facts, batch.more
            count_rows(columns, facts, more, there, excluded, codes, some, part, low, high, n_rows)

        run_in_slices(len(target), preparation.threads, lambda: None, work, progress)
    return out, scale


def weighted_votes(
    release: Release, known: KnownFacts, attack: AnyAttack, name: str, *, absent: bool = False, counted: bool = True,
    threads: int | None = None, progress: Progress = no_progress,
) -> Floats:  # fmt: skip
    """For each target, the posterior of each level of a released column (the last one: an empty cell)."""
    column, target = release.column(name), known.cells.target
    records = np.where(target >= 0, representatives_of(release)[target], -1)
    votes, n_rows = np.zeros((len(known), column.n_levels + 1)), column.n_rows
    preparation = Preparation(release, attack, absent, counted and counts_wrong(attack), threads)
    if preparation.counted:
        _count(preparation, known, records, progress, column.codes, votes)
    else:
        for batch in preparation.batches(known):
            excluded, some = preparation.excluded(records[batch.queries]), votes[batch.queries]
            count = len(excluded)
            found, own, none, scale = (
                RowSummaries.empty(count),
                np.zeros(count, np.int32),
                np.zeros(count),
                np.ones(count),
            )

            def work(
                low: int, high: int, _: None, batch: Batch = batch, excluded: Ints = excluded, some: Floats = some,
                found: RowSummaries = found, own: Any = own, none: Floats = none, scale: Floats = scale,
            ) -> None:  # fmt: skip
                columns, facts, more = batch.columns, batch.facts, batch.more
                score_rows(columns, facts, more, excluded, own, False, none, found, low, high, n_rows)
                vote(columns, facts, more, excluded, found.best, scale, column.codes, some, low, high, n_rows)

            run_in_slices(count, threads, lambda: None, work, progress)
    return np.asarray(votes / np.maximum(votes.sum(axis=1, keepdims=True), 1e-300))


# The verdict on one person: all records with their posteriors, and what each fact adds.


class _Scores(NamedTuple):
    """The scores of all records for one person, as a verdict asks for them; `others` people are elsewhere."""

    release: Release
    known: KnownFacts
    parts: Floats
    """What each cell adds to the score of each record, and at the end what the entries add."""
    others: int

    def scores(self, q: int) -> Floats:
        return np.asarray(self.parts.sum(axis=0))

    def scores_of(self, query: Ints, record: Ints) -> Floats:
        return np.asarray(self.parts[:, record].sum(axis=0))

    def are_candidates(self, query: Ints, record: Ints) -> Bools:
        return np.ones(len(record), np.bool_)

    def nobody(self, candidates: Ints) -> Floats:
        """Everybody elsewhere explains the facts as anybody does: with a score of 0."""
        return np.full(1, math.log(self.others) if self.others else -math.inf)


@dataclass(frozen=True, eq=False, repr=False)
class ColumnVerdict(PosteriorVerdict):
    """Result of `Likelihood` for one person of a release with columns. Scores may be below 0."""

    def explain(self, record: str | int) -> tuple[Part, ...]:
        """What each known cell adds to the score of a record: ln of how much likelier it is than for anybody."""
        position, queries = self._position(record), cast(_Scores, self.queries)
        released = {column.name: column for column in queries.release.columns}
        parts = []
        for fact, added in zip(queries.known.aux(original_of(queries.release), 0), queries.parts, strict=False):
            column, score = released.get(fact.item), float(added[position])
            has = column is not None and not column.is_missing[position]
            parts.append(Part(fact, fact.item, has, math.exp(score), 1.0, score))
        return tuple(parts)

    def claim(self, probability: float = 0.95) -> Match | None:
        """The best record if its posterior is at least this probability."""
        positive_share("probability", probability)
        if self.ties != 1 or self._probability(self.highest) < probability:
            return None
        return Match(self.lineup(1)[0].record, self.highest, self.eccentricity)

    def _best(self, k: int) -> tuple[Ints, Floats]:
        order = np.argsort(-self.scores, kind="stable")[:k]
        return order, self.scores[order]


def column_verdict(release: Release, known: KnownFacts, attack: AnyAttack, population: int | None) -> ColumnVerdict:
    """Rank all records by how well they fit what is known about one person; facts are about the original."""
    if not isinstance(attack, Likelihood):
        raise ParameterError("attack must be Likelihood in a release with columns: others have no posterior")
    people = release.n_records if population is None else whole_number("population", population, release.n_records)
    number, cells = np.arange(len(known.cells.column)), known.cells
    none = Cells(np.zeros(2, np.int64), number[:0], number[:0], cells.target)
    alone = known.select(np.zeros(1, np.int64), number[:0], np.zeros(2, np.int64))
    each = [replace(alone, cells=cells.where(number == cell)) for cell in number]
    each += [replace(known, cells=none)] if len(known.item) else []
    parts = np.array([_cell_scores(release, fact, attack) for fact in each]).reshape(-1, release.n_records)
    scores = parts.sum(axis=0)
    highest, n = float(scores.max()), len(scores)
    ties = int(np.count_nonzero(scores == highest))
    second = highest if ties > 1 else float(np.partition(scores, -2)[-2]) if n > 1 else highest
    columns = VerdictColumns(
        candidates=np.array([n]), mean=scores.mean(keepdims=True), sigma=scores.std(keepdims=True), scale=np.ones(1),
        highest=np.array([highest]), second=np.array([second]), ties=np.array([ties]),
        z=elementary.exp(scores - highest).sum(keepdims=True), first=np.zeros(2, np.int64),
        record=np.empty(0, np.int64), score=np.empty(0),
    )  # fmt: skip
    return ColumnVerdict(cast(Queries, _Scores(release, known, parts, people - release.n_records)), columns, 0)


def _cell_scores(release: Release, known: KnownFacts, attack: AnyAttack) -> Floats:
    """The scores of all records for the only query, without the number of wrong facts."""
    score = np.zeros(release.n_records, np.int32)
    for batch in Preparation(release, attack).batches(known):
        scores_of_rows(batch.columns, batch.facts, batch.more, False, score)
    return score / UNIT
