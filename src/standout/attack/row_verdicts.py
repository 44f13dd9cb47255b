"""What an attack says about each person: the best rows, how far they stand out, how probable they are."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from standout.attack.table_attacks import ExactMatch, TableAttack, TableLikelihood, TableThreshold
from standout.attack.table_kernels import (
    TOLERANCE,
    UNIT,
    RowSummaries,
    score_rows,
    scores_of_rows,
    scores_of_targets,
    vote,
)
from standout.attack.table_scores import (
    CountedResult,
    Preparation,
    Prepared,
    count_facts,
    original_of,
    representing_rows,
)
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import ParameterError, whole_number
from standout.core.progress import Progress, no_progress
from standout.core.threads import run_in_slices
from standout.data.column import Column
from standout.data.release import Release
from standout.know.adversary import Adversary
from standout.know.fact import Fact
from standout.know.facts import Aux, KnownFacts, encode_auxes

__all__ = ["RowVerdicts", "TableCandidate", "TableLineup", "attack_rows", "table_lineup", "weighted_votes"]

LN2 = math.log(2.0)


@dataclass(frozen=True, eq=False, slots=True)
class RowVerdicts:
    """The result of an attack on many people, one element for each.

    Attributes
    ----------
    candidates : int
        Number of rows that each person may be.
    guess : ndarray of int
        The first of the best rows.
    ties : ndarray of int
        Number of best rows; of an attack with a threshold, the number of rows that pass it.
    found : ndarray of float
        The probability that a random one of the best rows is the target's: 1 / ties or 0.
    above : ndarray of int
        Number of rows that score higher than the target's.
    eccentricity : ndarray of float
        (best − second best) / σ; 0 in a tie  [Algorithm 1B].
    posterior : ndarray of float
        The probability of the guess: e^score over the sum of all rows; e^(score/σ) of the paper's attack.
    own_posterior : ndarray of float
        The same of the target's row; 0 if it is not in the table.
    best_likelihood : ndarray of float or None
        P(facts) / P(facts | guess): how probable the facts are about anybody, if the attack says so.
    present : ndarray of bool or None
        Whether a row of the table stands for the target.
    """

    candidates: int
    guess: Ints
    ties: Ints
    found: Floats
    above: Ints
    eccentricity: Floats
    posterior: Floats
    own_posterior: Floats
    best_likelihood: Floats | None = None
    present: Bools | None = None

    @property
    def bits_left(self) -> Floats:
        """−log2 of the probability of the target's row; at most log2 of the number of candidates."""
        most = math.log2(max(self.candidates, 1))
        with np.errstate(divide="ignore"):
            return np.minimum(-elementary.log(self.own_posterior) / LN2, most)


@dataclass(frozen=True, slots=True)
class _Scores:
    summaries: RowSummaries
    own: "np.ndarray[tuple[int], np.dtype[np.int32]]"
    present: Bools
    candidates: Ints


def attack_rows(
    table: Release,
    facts: KnownFacts,
    attack: TableAttack,
    adversary: Adversary | None = None,
    *,
    absent: bool = False,
    probabilities: bool = True,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> RowVerdicts:
    """Attack many people at once.

    Parameters
    ----------
    table : Release
        The released table.
    facts : KnownFacts
        What is known; its targets are rows of the original.
    attack : TableAttack
        The attack.
    adversary : Adversary, optional
        The adversary whose errors the facts have. Default: each column's own error.
    absent : bool
        Remove each target's row, and count without it.
    probabilities : bool
        Whether the probabilities of the paper's attack are needed: they take a second pass, because σ comes
        first. Without them its posteriors are NaN.
    threads : int, optional
        Number of threads; it changes no result.
    progress : callable
        Called with the stage, the work done and the total.

    Returns
    -------
    RowVerdicts
        One element per target.
    """
    rows = np.where(facts.cells.target >= 0, representing_rows(table)[facts.cells.target], -1)
    scores = _Scores(
        RowSummaries.empty(len(facts)),
        np.zeros(len(facts), np.int32),
        (rows >= 0) & (not absent),
        table.n_records - ((rows >= 0) & absent),
    )
    preparation = Preparation(table, attack, adversary, absent, threads)
    if isinstance(attack, TableLikelihood) and attack.counts_wrong:
        assert attack.adversary is not None
        result = count_facts(preparation, facts, rows, attack.adversary, threads, progress)
        if attack.adversary.wrong and (result.summaries.best == 0).any():  # products below all numbers
            simpler = replace(attack, counted=False)
            return attack_rows(table, facts, simpler, adversary, absent=absent, threads=threads, progress=progress)
        return _counted(result, scores.present, table.n_records - absent)
    for batch in preparation.batches(facts):
        _score(batch, rows, attack, absent, probabilities, scores, table.n_records, threads, progress)
    return _verdicts(scores, attack, table.n_records - absent)


def _score(
    batch: Prepared,
    rows: Ints,
    attack: TableAttack,
    absent: bool,
    probabilities: bool,
    scores: _Scores,
    n_rows: int,
    threads: int | None,
    progress: Progress,
) -> None:
    """Fill in the scores of one batch of queries; two passes where weights need σ first."""
    target, least = rows[batch.queries], attack.takes_smallest
    own = scores.own[batch.queries]
    scores_of_targets(batch.columns, batch.facts, batch.more, target, least, own)
    compared = own
    if isinstance(attack, (TableThreshold, ExactMatch)):
        compared = np.full(len(own), round(attack.alpha * UNIT), np.int32)
    excluded = target if absent else np.full(len(target), -1)
    summaries = scores.summaries.part(batch.queries)
    scale = np.full(len(target), 1.0 if attack.has_posterior else 0.0)

    def run(out: RowSummaries, scale: Floats) -> None:
        def work(low: int, high: int, _: None) -> None:
            score_rows(batch.columns, batch.facts, batch.more, excluded, compared, least, scale, out, low, high, n_rows)

        run_in_slices(len(target), threads, lambda: None, work, progress)

    run(summaries, scale)
    if not attack.has_posterior and not least and not probabilities:
        summaries.weight[:] = np.nan
    elif not attack.has_posterior and not least:
        again = RowSummaries.empty(len(target))
        run(again, 1.0 / np.maximum(_sigma(summaries, n_rows - (excluded >= 0)), 1e-9))
        summaries.weight[:] = again.weight


def _sigma(summaries: RowSummaries, n: Ints) -> Floats:
    count = np.maximum(n, 1)
    mean = summaries.total / count
    return np.sqrt(np.maximum(summaries.squares / count - mean * mean, 0.0))


def _verdicts(scores: _Scores, attack: TableAttack, n: int) -> RowVerdicts:
    out = scores.summaries
    if isinstance(attack, (TableThreshold, ExactMatch)):
        return _matches(scores, attack, n)
    found = np.where(scores.present & (scores.own == out.best), 1.0 / np.maximum(out.ties, 1), 0.0)
    sigma = _sigma(out, scores.candidates)
    gap = (out.best.astype(np.int64) - out.second) / UNIT
    eccentricity = np.where((sigma > 0) & (out.ties == 1) & (n > 1), gap / np.maximum(sigma, 1e-9), 0.0)
    scale = np.ones(len(found)) if attack.has_posterior else 1.0 / np.maximum(sigma, 1e-9)
    best = out.best / UNIT
    total = np.maximum(out.weight, 1e-300)
    likelihood = elementary.exp(-best) if attack.has_posterior else None
    below = (scores.own.astype(np.int64) - out.best) / UNIT
    own = np.where(scores.present, elementary.exp(below * scale) / total, 0.0)
    return RowVerdicts(
        n, out.guess, out.ties, found, out.above, eccentricity, 1.0 / total, own, likelihood, scores.present
    )


def _counted(result: CountedResult, present: Bools, n: int) -> RowVerdicts:
    """Likelihood with a known number of wrong facts: what the kernel finds are probabilities."""
    out = result.summaries
    best, total = np.maximum(out.best, 1e-300), np.maximum(out.total, 1e-300)
    is_best = present & (out.own >= out.best * (1.0 - TOLERANCE)) & (out.best > 0)
    found = np.where(is_best, 1.0 / np.maximum(out.ties, 1), 0.0)
    own, chance = np.where(present, out.own / total, 0.0), np.where(out.best > 0, best / total, 0.0)
    nobody, gap = elementary.exp(-result.scale) / best, np.zeros(len(found))
    return RowVerdicts(n, out.guess, out.ties, found, out.above, gap, chance, own, nobody, present)


def _matches(scores: _Scores, attack: TableThreshold | ExactMatch, n: int) -> RowVerdicts:
    """Algorithm 1A and exact matching: all rows that pass are equally probable."""
    out, limit = scores.summaries, round(attack.alpha * UNIT)
    passing = out.above + out.level
    inside = scores.present & (scores.own >= limit)
    found = np.where(inside, 1.0 / np.maximum(passing, 1), 0.0)
    alone = np.where(passing == 1, np.inf, 0.0)
    probability = np.where(passing > 0, 1.0 / np.maximum(passing, 1), 0.0)
    own = np.where(inside, probability, 0.0)
    guess = np.where(passing > 0, out.guess, -1)
    return RowVerdicts(
        n, guess, passing, found, np.zeros(len(found), np.int64), alone, probability, own, None, scores.present
    )


def weighted_votes(
    table: Release,
    facts: KnownFacts,
    attack: TableAttack,
    adversary: Adversary | None,
    name: str,
    *,
    absent: bool = False,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Floats:
    """For each target, the posterior of each level of a released column (the last one: an empty cell)."""
    column = table.column(name)
    rows = np.where(facts.cells.target >= 0, representing_rows(table)[facts.cells.target], -1)
    votes = np.zeros((len(facts), column.n_levels + 1))
    if isinstance(attack, TableLikelihood) and attack.counts_wrong:
        assert attack.adversary is not None
        preparation = Preparation(table, attack, adversary, absent, threads)
        count_facts(preparation, facts, rows, attack.adversary, threads, progress, column.codes, votes)
        return np.asarray(votes / np.maximum(votes.sum(axis=1, keepdims=True), 1e-300))
    for batch in Preparation(table, attack, adversary, absent, threads).batches(facts):
        target = rows[batch.queries]
        excluded = target if absent else np.full(len(target), -1)
        _vote(batch, excluded, column, votes[batch.queries], threads, progress)
    return np.asarray(votes / np.maximum(votes.sum(axis=1, keepdims=True), 1e-300))


def _vote(
    batch: Prepared, excluded: Ints, column: Column, votes: Floats, threads: int | None, progress: Progress
) -> None:
    """Find the best score of each query of a batch, then add up the weights of its rows."""
    count, n_rows = len(excluded), column.n_rows
    found, own, no_scale = RowSummaries.empty(count), np.zeros(count, np.int32), np.zeros(count)
    scale, columns, facts, more = np.ones(count), batch.columns, batch.facts, batch.more

    def work(low: int, high: int, _: None) -> None:
        score_rows(columns, facts, more, excluded, own, False, no_scale, found, low, high, n_rows)
        vote(columns, facts, more, excluded, found.best, scale, column.codes, votes, low, high, n_rows)

    run_in_slices(count, threads, lambda: None, work, progress)


# The rows of a table that fit what is known about one person best, and why.


@dataclass(frozen=True, slots=True)
class TableCandidate:
    """A row of the lineup.

    Attributes
    ----------
    row : int
        Position of the row in the table.
    id : str or None
        Its id, if the table has ids.
    probability : float
        Probability that it is the target's row.
    score : float
        Sum of the parts.
    parts : dict
        What each known column adds to the score.

    Examples
    --------
    >>> TableCandidate(3, None, 0.9, 4.5, {"age": 4.5}).probability
    0.9
    """

    row: int
    id: str | None
    probability: float
    score: float
    parts: dict[str, float]


@dataclass(frozen=True, slots=True)
class TableLineup:
    """The rows that fit some known cells best.

    Attributes
    ----------
    candidates : tuple of TableCandidate
        The best rows; the first has the highest score.
    ties : int
        Number of rows with the highest score.
    nobody : float
        Probability that the target is not in the table.
    bits_left : float
        Bits that are missing to identify the best row: −log2 of its probability.
    """

    candidates: tuple[TableCandidate, ...]
    ties: int
    nobody: float
    bits_left: float

    def __repr__(self) -> str:
        best = f"{self.candidates[0].probability:.3g}" if self.candidates else "none"
        return f"<TableLineup: best row {best}, {self.ties:,} tied for it, {self.bits_left:.1f} bits left>"


def table_lineup(
    table: Release,
    known: Mapping[str, float | str | date],
    attack: TableAttack | None = None,
    *,
    adversary: Adversary | None = None,
    population: int | None = None,
    top: int = 10,
) -> TableLineup:
    """Rank all rows by how well they fit what is known about one person.

    Parameters
    ----------
    table : Release
        The table.
    known : mapping
        A value for some columns, such as {"age": 34, "sex": "f"}. Of a set, one member. A number or date that
        no row has stands for the nearest one.
    attack : TableAttack, optional
        An attack with a posterior. Default: `TableLikelihood` with each column's own error.
    adversary : Adversary, optional
        Whose errors the known values have.
    population : int, optional
        Number of people of whom the table is a sample.
    top : int
        Number of rows to return.

    Returns
    -------
    TableLineup
        The best rows with their probabilities.

    Raises
    ------
    ParameterError
        If a column or value is not in the table, or the attack has no posterior.

    Examples
    --------
    >>> from standout.data.column import Column
    >>> age = Column("age", "number", np.array([30.0, 34.0, 60.0]), np.array([0, 1, 2, 1], np.uint8))
    >>> sex = Column("sex", "category", ("f", "m"), np.array([0, 0, 1, 1], np.uint8))
    >>> lineup = table_lineup(Release.of_columns((age, sex)), {"age": 34, "sex": "m"})
    >>> [candidate.row for candidate in lineup.candidates[:2]], lineup.ties
    ([3, 1], 1)
    """
    attack = TableLikelihood(adversary) if attack is None else attack
    if not attack.has_posterior:
        raise ParameterError("attack must have a posterior, such as TableLikelihood")
    people = table.n_records if population is None else whole_number("population", population, table.n_records)
    if not known:
        raise ParameterError("known must have at least one column")
    facts = encode_auxes(original_of(table), [Aux([_fact(*fact) for fact in known.items()])])
    scores, parts = _scores(table, facts, attack, adversary)
    best = float(scores.max(initial=0.0))
    weight = elementary.exp(scores - best)
    outside = (people - table.n_records) * float(elementary.exp(np.array([-best]))[0])
    total = float(weight.sum()) + outside
    order = np.argsort(-scores, kind="stable")[: whole_number("top", top, 1)]
    candidates = tuple(
        TableCandidate(
            row=int(row),
            id=table.records[int(row)] if table.has_ids else None,
            probability=float(weight[row]) / total,
            score=float(scores[row]),
            parts={name: float(part[row]) for name, part in parts.items()},
        )
        for row in order
    )
    ties = int(np.count_nonzero(scores == best))
    return TableLineup(candidates, ties, outside / total, math.log2(total))


def _fact(column: str, value: float | str | date) -> Fact:
    return Fact(column, time=value) if isinstance(value, date) else Fact(column, value)


def _scores(
    table: Release, facts: KnownFacts, attack: TableAttack, adversary: Adversary | None
) -> tuple[Floats, dict[str, Floats]]:
    """Scores of all rows, and what each known column adds to them."""
    names = original_of(table).column_names
    parts = {
        names[facts.cells.column[f]]: _part(table, fact, attack, adversary)
        for f, fact in enumerate(_single_facts(facts))
    }
    return np.sum([*parts.values()], axis=0), parts


def _single_facts(facts: KnownFacts) -> list[KnownFacts]:
    number = np.arange(len(facts.cells.column))
    return [replace(facts, cells=facts.cells.where(number == f)) for f in number]


def _part(table: Release, fact: KnownFacts, attack: TableAttack, adversary: Adversary | None) -> Floats:
    score = np.zeros(table.n_records, np.int32)
    for batch in Preparation(table, attack, adversary).batches(fact):
        scores_of_rows(batch.columns, batch.facts, batch.more, attack.takes_smallest, score)
    return score / UNIT
