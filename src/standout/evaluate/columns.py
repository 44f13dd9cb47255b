"""Outcomes of attacks on a release with columns: claims, a sample of a population, and columns to be guessed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from standout.attack.any_attack import AnyAttack
from standout.attack.column_scores import AttackName, ColumnVerdicts, attack_columns, attack_named, weighted_votes
from standout.attack.likelihood import Likelihood
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError, whole_number
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed, generator
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.outcomes import Criteria, Outcomes
from standout.know.adversary import Adversary
from standout.know.facts import KnownFacts
from standout.know.sanitized import Sanitized, original_of, representatives_of

__all__ = [
    "Inference",
    "PopulationRates",
    "claim_strengths",
    "column_attack_outcomes",
    "column_outcomes",
    "column_targets",
    "infer_column",
    "population_rates",
    "posterior_among",
]


STRONGEST = 12.0
"""Strengths of claims end here: posteriors closer to 1 do not differ."""


def column_targets(
    release: Release, adversary: Adversary, targets: int | None, seed: int, purpose: str = "table"
) -> tuple[Ints, int]:
    """Random people of a release with columns whom the adversary knows enough about, and how many were left out."""
    original = original_of(release)
    wanted = original.n_records if targets is None else whole_number("targets", targets, 1)
    order = generator(seed, purpose, "targets").permutation(original.n_records)
    eligible = order[adversary.eligible(original, order)]
    if not len(eligible):
        raise ParameterError(f"no row has {adversary.knows} attributes that are not missing: lower knows")
    return eligible[:wanted], original.n_records - len(eligible)


def column_attack_outcomes(
    attack: AnyAttack, release: Release, known: KnownFacts, draws: int, sizes: Sequence[int], criteria: Criteria,
    threads: int | None, progress: Progress = no_progress,
) -> Outcomes:  # fmt: skip
    """The outcomes of attacks with the first attributes of each target, for each number of them."""
    parts = []
    for size in sizes:
        few = replace(known, cells=known.cells.first_attributes(original_of(release), size))
        present = attack_columns(release, few, attack, threads=threads, progress=progress)
        absent = None
        if criteria.absent:
            absent = attack_columns(release, few, attack, absent=True, threads=threads, progress=progress)
        parts.append(column_outcomes(present, absent, isinstance(attack, Likelihood), criteria.top))
    shape = len(known) // draws, draws, len(sizes)
    columns = ([getattr(part, field.name) for part in parts] for field in fields(Outcomes))
    return Outcomes(*(np.stack(column, axis=-1).reshape(shape) for column in columns))


def column_outcomes(
    verdicts: ColumnVerdicts, absent: ColumnVerdicts | None, by_posterior: bool, top: int = 10
) -> Outcomes:
    """What the verdicts say about each target; NaN for measures that only histories have."""
    n, unknown = verdicts.candidates, np.full(len(verdicts.found), np.nan)
    passing = verdicts.ties
    among_others = np.clip((top - passing) / np.maximum(n - passing, 1), 0.0, 1.0)  # none of them passes
    in_top = np.clip((top - verdicts.above) / np.maximum(verdicts.level, 1), 0.0, 1.0)
    return Outcomes(
        identified=verdicts.found,
        in_top=np.where(verdicts.present, np.where(verdicts.level < 0, among_others, in_top), 0.0),
        similar=unknown,
        claim_strength=claim_strengths(verdicts, by_posterior),
        bits_left=verdicts.bits_left,
        similar_bits_left=unknown,
        best_probability=np.minimum(verdicts.posterior, 1.0),
        candidates=np.full(len(unknown), float(n)),
        revealed=unknown,
        revealed_correct=unknown,
        lineup_50=unknown,
        lineup_90=unknown,
        lineup_99=unknown,
        absent_claim_strength=unknown if absent is None else claim_strengths(absent, by_posterior),
        anybody=unknown if verdicts.best_likelihood is None else verdicts.best_likelihood,
        absent_probability=unknown if absent is None else absent.posterior,
        absent_anybody=unknown if absent is None or absent.best_likelihood is None else absent.best_likelihood,
    )


def claim_strengths(verdicts: ColumnVerdicts, by_posterior: bool) -> Floats:
    """How strong each claim is: −log10(1 − posterior), or the eccentricity; -1 where there is nothing to claim."""
    if not by_posterior:
        return np.minimum(verdicts.eccentricity, 1e9)
    strength = -np.log10(np.maximum(1.0 - verdicts.posterior, 10.0**-STRONGEST))
    return np.where(verdicts.ties > 0, strength, -1.0)


# A release that is a sample of a population: claims about people who may not be in it.
#
# A person of the population who is not in the release explains the facts as well as anybody does. In units of
# the guess that is P(facts) / P(facts | guess), and there are N − n such people:
#
#     posterior = 1 / (1 / posterior among the records + (N − n) · P(facts) / P(facts | guess))
#
# P(facts) is a product over columns, which depend on each other in truth. The mean of P(facts | record) over the
# other records is another estimate, and the higher of the two counts.


@dataclass(frozen=True, slots=True)
class PopulationRates:
    """Claims about one of a population: the release is a sample, and the target may not be in it.

    `identified` is the share of the population that is claimed rightly, `in_table` that of the people in the
    release, `confidence` the share of claims that are right.
    """

    population: int
    identified: Estimate
    in_table: Estimate
    confidence: Estimate


def population_rates(
    outcomes: Outcomes, people: int, posterior: float, n_records: int, n_original: int, present: int
) -> PopulationRates:
    """Claims about people in the release and about others, with a posterior that allows for both.

    The release was made of `n_original` people; some may have been removed, and `present` of the targets are
    in it.
    """
    others, n = people - n_records, len(outcomes)
    found = outcomes.identified.ravel()
    claims = posterior_among(outcomes.best_probability, outcomes.anybody, n_records, others) >= posterior
    # Without the target's own record there is one record less to choose from.
    false = posterior_among(outcomes.absent_probability, outcomes.absent_anybody, n_records - 1, others) >= posterior
    draws = max(found.size // max(n, 1), 1)
    right, wrong = math.fsum(found * claims) / draws, math.fsum((1.0 - found) * claims) / draws
    share, of_original = n_original / people, rate(right, n)
    in_table = rate(min(right, present), present)
    identified = Estimate(of_original.value * share, of_original.low * share, of_original.high * share, n)
    return PopulationRates(
        people, identified, in_table, _confidence(right, wrong, float(false.sum()) / draws, n, share)
    )


def posterior_among(probability: Floats, anybody: Floats, candidates: int, nobody: float) -> Floats:
    """The posterior of the guess if so many other people may be the target too; 0 without a guess."""
    probability, anybody = probability.ravel(), anybody.ravel()
    with np.errstate(divide="ignore"):
        others = (1.0 / probability - 1.0) / max(candidates - 1, 1)
        by_likelihood = 1.0 / (1.0 / probability + nobody * np.maximum(anybody, others))
    return np.where(np.isnan(anybody), probability / (1.0 + nobody / max(candidates, 1)), by_likelihood)


def _confidence(right: float, wrong: float, false: float, n: int, share: float) -> Estimate:
    """The share of claims that are right. Its interval takes the ends of both rates."""
    made = share * (right + wrong) + (1.0 - share) * false
    if made == 0:
        return Estimate(0.0, 0.0, 1.0, 0)
    of_right, of_wrong, of_false = (rate(count, n) for count in (right, wrong, false))
    most_bad = share * of_wrong.high + (1.0 - share) * of_false.high
    least_bad = share * of_wrong.low + (1.0 - share) * of_false.low
    low = share * of_right.low / max(share * of_right.low + most_bad, 1e-300)
    high = share * of_right.high / max(share * of_right.high + least_bad, 1e-300)
    return Estimate(share * right / made, low, high, n)


# Attribute disclosure: guessing a column that is not known from the rows that fit what is known.


@dataclass(frozen=True, slots=True)
class Inference:
    """How well an adversary guesses a column that is not known: with the target in the table, and without.

    Attributes
    ----------
    column : str
        The column that is guessed.
    guessed : Estimate
        Share of right guesses.
    control : Estimate
        Share of right guesses about people who are not in the table: what can be learned about anybody.
    baseline : float
        Share of the commonest value.
    """

    column: str
    guessed: Estimate
    control: Estimate
    baseline: float


@with_progress
def infer_column(
    release: Release,
    adversary: Adversary,
    column: str,
    attack: AttackName | AnyAttack = "likelihood",
    *,
    targets: int | None = 1000,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> Inference:
    """Guess the value of a column for random people, as the likeliest over all rows  [attribute disclosure].

    Parameters
    ----------
    release : Release
        A release with columns.
    adversary : Adversary
        Who knows what; the column must not be among what is known.
    column : str
        The column to guess; it must not be a set.
    attack : str or AnyAttack
        An attack with a posterior.
    targets, seed, threads, progress
        As in `simulate`.

    Returns
    -------
    Inference
        Share of right guesses, with a control.

    Raises
    ------
    ParameterError
        If the column is a set, or the attack has no posterior.

    Examples
    --------
    >>> import numpy as np
    >>> from standout.data.column import Column
    >>> draw = np.random.default_rng(7)
    >>> columns = [Column(f"c{i}", "category", tuple("abcd"), draw.integers(0, 4, 500, np.uint8))
    ...            for i in range(8)]
    >>> adversary = Adversary(columns=("c0", "c1", "c2", "c3", "c4", "c5"))
    >>> inference = infer_column(Release.of_columns(tuple(columns)), adversary, "c7", targets=100)
    >>> inference.guessed.value > 0.8 > 0.5 > inference.control.value
    True
    """
    original = original_of(release)
    hidden = original.column(column)
    attack = attack_named(attack, adversary)
    if hidden.starts is not None or not isinstance(attack, Likelihood):
        raise ParameterError("column must not be a set, and attack must have a posterior")
    rows, _ = column_targets(release, adversary, None, check_seed(seed), "inference")
    rows = rows[~hidden.is_missing[rows] & (representatives_of(release)[rows] >= 0)][:targets]
    facts = adversary.observe_all(original, rows, seed)
    facts = replace(facts, cells=facts.cells.where(facts.cells.column != original.column_position(column)))
    true = _released_codes(release, column, rows)
    shares = []
    for gone in (False, True):
        votes = weighted_votes(release, facts, attack, column, absent=gone, threads=threads, progress=progress)[:, :-1]
        best = votes == votes.max(axis=1, keepdims=True)
        shown = true < best.shape[1]  # a value that was suppressed everywhere cannot be guessed
        right = shown * best[np.arange(len(rows)), np.where(shown, true, 0)] / best.sum(axis=1)
        shares.append(rate(math.fsum(right), len(rows)))
    counts = release.column(column).counts[:-1]
    return Inference(column, shares[0], shares[1], float(counts.max()) / max(int(counts.sum()), 1))


def _released_codes(release: Release, column: str, rows: Ints) -> Ints:
    """What the release would show of the true values of these rows."""
    codes = original_of(release).column(column).codes[rows].astype(np.int64)
    channel = release.channels.get(column) if isinstance(release, Sanitized) else None
    return codes if channel is None else channel.released[codes]
