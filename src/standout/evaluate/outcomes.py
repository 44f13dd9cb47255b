"""The outcome of every attack: the verdicts on known targets, compared with the right record."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from standout.attack.any_attack import AnyAttack, AttackName, attack_columns, attack_named, weighted_votes
from standout.attack.engine_kernels import LIKELIHOOD
from standout.attack.likelihood import Likelihood
from standout.attack.queries import Queries
from standout.attack.scoreboard import Scoreboard
from standout.attack.verdict import MatchingVerdict, TargetVerdicts, Verdict, VerdictColumns, Verdicts
from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.core.threads import run_in_slices
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.targets import Population, random_targets, revealed_items
from standout.know.adversary import Adversary
from standout.know.facts import KnownFacts
from standout.know.sanitized import Sanitized, original_of, representatives_of
from standout.know.similarity import Similarity

NO_RECORD = -np.inf
"""Instead of a score where no record represents the target."""
MAX_TIED_GUESSES = 20
"""In a larger tie, what the guesses reveal is averaged over this many of them."""
MANY_SIMILAR = 4
"""If more than one in so many records is similar to a target, all records are scored."""
STRONGEST_IN_COLUMNS = 12.0
"""Strengths of claims about columns end here: posteriors closer to 1 do not differ."""


class Criteria(NamedTuple):
    """What every attack is judged by.

    top           length of the lineup
    theta         minimum similarity to count a wrong record as similar to the target
    similarity    the similarity that `theta` refers to
    absent        whether to attack also with the target's record removed
    """

    top: int
    theta: float
    similarity: Similarity
    absent: bool


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Outcomes by target, draw and number of facts.

    A target is a person. In a sanitized release, the right record is the one that represents the person, and
    similarity is to the person's record in the original. If no record represents the target, no guess is
    right.

    identified            probability that the best guess is the right record: 1/t in a tie of t, otherwise 0
    in_top                probability that the right record is among the first `top`; ties in random order
    similar               probability that the best guess is at least θ similar to the target  [Definition 2]
    claim_strength        eccentricity of the best guess, or −log10(1 − posterior) for `Likelihood`; NO_CLAIM
                          if no claim is possible; a claim if it is ≥ φ
    bits_left             −log2 Π(right record)  [Definition 4]; log2 N if no record represents the target
    similar_bits_left     the smallest −log2 Π of a record at least θ similar to the target; log2 N if none is
    best_probability      Π of the best guess
    candidates            N, the number of records that the facts about length and first date do not exclude
    revealed              number of items of the best guess that were not known
    revealed_correct      number of these that the target has as well, each weighted by its similarity
    lineup_50             number of most probable records that hold 50 % of the probability; NaN except in the
                          first draw of some targets
    lineup_90             the same for 90 %
    lineup_99             the same for 99 %
    absent_claim_strength `claim_strength` with the target's record removed; NaN if that was not asked for
    anybody               P(facts) / P(facts | best guess); NaN if the attack does not say
    absent_probability    `best_probability` and `anybody` with the target's record removed
    absent_anybody

    Measures that do not exist for a kind of release are NaN.
    """

    identified: Floats
    in_top: Floats
    similar: Floats
    claim_strength: Floats
    bits_left: Floats
    similar_bits_left: Floats
    best_probability: Floats
    candidates: Floats
    revealed: Floats
    revealed_correct: Floats
    lineup_50: Floats
    lineup_90: Floats
    lineup_99: Floats
    absent_claim_strength: Floats
    anybody: Floats
    absent_probability: Floats
    absent_anybody: Floats

    def __len__(self) -> int:
        return len(self.identified)

    @classmethod
    def of(cls, **columns: Floats) -> "Outcomes":
        """These columns; what is not measured is NaN."""
        unknown = np.full(len(columns["identified"]), np.nan)
        return cls(**{field.name: columns.get(field.name, unknown) for field in fields(cls)})

    @classmethod
    def concatenate(cls, parts: "Sequence[Outcomes]") -> "Outcomes":
        """The outcomes of several groups of targets as one."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    def each(self, change: Callable[[Floats], Floats]) -> "Outcomes":
        """The outcomes with a change of every column."""
        return Outcomes(*(change(getattr(self, field.name)) for field in fields(Outcomes)))

    def slice(self, low: int, high: int) -> "Outcomes":
        """The outcomes of targets low … high - 1."""
        return self.each(lambda column: column[low:high])

    def for_size(self, index: int) -> "Outcomes":
        """The outcomes for one number of facts, given by its index; by target and draw."""
        return self.each(lambda column: column[:, :, index])


def attack_outcomes(
    attack: AnyAttack,
    release: Release,
    known: KnownFacts,
    targets: Ints,
    sizes: Sequence[int],
    criteria: Criteria,
    similar_records: Mapping[int, Ints],
    lineups: int = 0,
    threads: int | None = None,
) -> Outcomes:
    """The outcomes of attacks on these targets, each with a given number of known facts.

    `known` has the same number of draws for each target; in codes of the release, but of columns in those of the
    original. `similar_records` maps a target to the records at least θ similar to it, without its own. Lineup sizes
    are computed for the first `lineups` targets only, because they need all scores.
    """
    draws, population = len(known) // max(len(targets), 1), Population.of(release)
    shape = len(targets), draws, len(sizes)
    if release.columns:
        by_query = _column_outcomes(attack, release, known, sizes, criteria, threads)
        return by_query.each(lambda column: column.reshape(shape))
    verdicts = attack.nested(release, known, sizes, top=max(criteria.top, 2), threads=threads)
    target, right_record = np.repeat(targets, draws * len(sizes)), population.record_of(targets)
    columns, n = verdicts.columns, release.n_records
    score = record_scores(verdicts, np.repeat(right_record, draws * len(sizes)))
    own_score = np.full(len(score), NO_RECORD) if population.is_sanitized else score
    similar, highest_similar = _similar_guesses(verdicts, target, own_score, similar_records)
    revealed, revealed_correct = _revealed_by_guesses(release, verdicts, target, criteria)
    lineup_50, lineup_90, lineup_99 = lineup_sizes(verdicts, lineups, len(sizes), draws, threads)
    absent = np.full(len(score), np.nan)
    if criteria.absent:
        exclude, with_z = np.repeat(right_record, draws), verdicts.queries.mode == LIKELIHOOD  # φ needs no Z
        absent = attack.nested(release, known, sizes, exclude=exclude, with_z=with_z, threads=threads).claim_strengths()
    by_query = Outcomes.of(
        identified=(score == columns.highest) / np.maximum(columns.ties, 1),
        in_top=_in_top(verdicts, score, criteria.top),
        similar=similar,
        claim_strength=verdicts.claim_strengths(),
        bits_left=_bits_left(verdicts, score, n),
        similar_bits_left=_bits_left(verdicts, highest_similar, n),
        best_probability=elementary.exp2(-_bits_left(verdicts, columns.highest, n)),
        candidates=columns.candidates.astype(np.float64),
        revealed=revealed,
        revealed_correct=revealed_correct,
        lineup_50=lineup_50,
        lineup_90=lineup_90,
        lineup_99=lineup_99,
        absent_claim_strength=absent,
    )
    return by_query.each(lambda column: column.reshape(shape))


def record_scores(verdicts: Verdicts, records: Ints) -> Floats:
    """The score of one record in each query; NO_RECORD where the record is -1 or not a candidate."""
    query, record = np.arange(len(records)), np.maximum(records, 0)
    is_candidate = (records >= 0) & verdicts.queries.are_candidates(query, record)
    return np.where(is_candidate, verdicts.queries.scores_of(query, record), NO_RECORD)


def _bits_left(verdicts: Verdicts, score: Floats, n: int) -> Floats:
    """−log2 Π of a candidate with this score, for each query; log2 of all n records for NO_RECORD.

    log2 of the number of candidates if all scores are equal. In Algorithm 1A it is log2 |D′| for a record that
    matches. For any other, the adversary can only guess.
    """
    columns: VerdictColumns = verdicts.columns
    if verdicts.alpha is not None:
        matching = np.where(score >= verdicts.alpha, columns.z, 0.0)
        return elementary.log2(np.where(matching > 0, matching, n))
    has_spread = (columns.scale > 0) & (columns.z > 0)  # z is not computed if all scores are equal
    scale, z = np.where(has_spread, columns.scale, 1.0), np.where(has_spread, columns.z, 1.0)
    bits = ((columns.highest - score) / scale + elementary.log(z)) / math.log(2)
    bits = np.where(has_spread, bits, elementary.log2(np.maximum(columns.candidates, 1)))
    return np.where(score == NO_RECORD, math.log2(n), bits)


def _in_top(verdicts: Verdicts, score: Floats, top: int) -> Floats:
    """The probability that a record with this score is among the first `top`, with ties in random order."""
    columns, n_listed = verdicts.columns, np.diff(verdicts.columns.first)
    query, n = np.repeat(np.arange(len(score)), n_listed), len(score)
    higher = np.bincount(query, columns.score > score[query], n)
    equal = np.bincount(query, columns.score == score[query], n)
    equal = np.where(score > 0, equal, columns.candidates - n_listed)
    last = columns.score[np.maximum(columns.first[1:] - 1, 0)] if len(columns.score) else np.zeros(n)
    cut_off = (n_listed >= max(top, 2)) & (last == score) & (0 < score) & (score < columns.highest)
    for q in np.flatnonzero(cut_off & (higher < top)):  # more records than those listed may be equal
        equal[q] = np.count_nonzero(verdicts[int(q)].scores == score[q])
    return np.where(score == NO_RECORD, 0.0, np.clip((top - higher) / np.maximum(equal, 1), 0.0, 1.0))


def _revealed_by_guesses(
    release: Release, verdicts: Verdicts, target: Ints, criteria: Criteria
) -> tuple[Floats, Floats]:
    """Items that the best guess of each query reveals, and how many are correct; nothing if all scores are 0.

    Averaged over the records that tie for the best, or MAX_TIED_GUESSES that are evenly spread over a large tie.
    """
    columns, n, known = verdicts.columns, len(verdicts), verdicts.queries.known
    ties = np.where(columns.highest > 0, columns.ties, 0)
    chosen = np.minimum(ties, MAX_TIED_GUESSES)
    query = np.repeat(np.arange(n), chosen)
    number = np.arange(len(query)) - np.repeat(np.cumsum(chosen) - chosen, chosen)
    position = (2 * number + 1) * ties[query] // (2 * np.maximum(chosen, 1)[query])
    guess = columns.record[columns.first[query] + position]
    items = revealed_items(release, target[query], guess, known.of(query), criteria.similarity)
    share = 1.0 / np.maximum(chosen, 1)[query]
    revealed, correct = (np.bincount(query, column * share, n) for column in (items.revealed, items.correct))
    return revealed.astype(np.float64), correct.astype(np.float64)


def _similar_guesses(
    verdicts: Verdicts, target: Ints, own_score: Floats, similar_records: Mapping[int, Ints]
) -> tuple[Floats, Floats]:
    """The probability that the best guess is similar to the target, and the highest similar score, by query.

    The target's own record counts as similar, with the score `own_score`, unless that is NO_RECORD.
    """
    columns, queries = verdicts.columns, verdicts.queries
    n_similar, highest = (own_score == columns.highest).astype(np.float64), own_score.copy()
    for person, records in similar_records.items():
        queries_of_person = np.flatnonzero(target == person)
        query, record = np.repeat(queries_of_person, len(records)), np.tile(records, len(queries_of_person))
        is_candidate = queries.are_candidates(query, record)
        query, scores = query[is_candidate], _scores_of(queries, query[is_candidate], record[is_candidate])
        np.maximum.at(highest, query, scores)
        np.add.at(n_similar, query, scores == columns.highest[query])
    return np.minimum(n_similar / np.maximum(columns.ties, 1), 1.0), highest


def _scores_of(queries: Queries, query: Ints, record: Ints) -> Floats:
    """The score of each record for the query of the same index; both ways give the same bits.

    Where many records are similar to a target and entries repeat, the scores of all records are cheaper:
    queries with some of the same facts share the work.
    """
    release = queries.release
    if not release.has_repeats or len(query) * MANY_SIMILAR < release.n_records * len(np.unique(query)):
        return queries.scores_of(query, record)
    scores = np.empty(len(query))
    for q in np.unique(query).tolist():
        scores[query == q] = queries.scores(q)[record[query == q]]
    return scores


def _column_outcomes(
    attack: AnyAttack, release: Release, known: KnownFacts, sizes: Sequence[int], criteria: Criteria,
    threads: int | None,
) -> Outcomes:  # fmt: skip
    """The outcomes by query; NaN for measures that only histories have."""

    def strengths(verdicts: TargetVerdicts) -> Floats:
        """−log10(1 − posterior), or the eccentricity; -1 where there is nothing to claim."""
        if not isinstance(attack, (Likelihood, Scoreboard)):
            return np.minimum(verdicts.eccentricity, 1e9)
        strength = -np.log10(np.maximum(1.0 - verdicts.posterior, 10.0**-STRONGEST_IN_COLUMNS))
        return np.where(verdicts.ties > 0, strength, -1.0)

    parts: list[dict[str, Floats]] = []
    for size in sizes:
        few = replace(known, cells=known.cells.first_attributes(original_of(release), size))
        verdicts = attack_columns(release, few, attack, threads=threads)
        n, passing, top = verdicts.candidates, verdicts.ties, criteria.top
        among_others = np.clip((top - passing) / np.maximum(n - passing, 1), 0.0, 1.0)  # none of them passes
        in_top = np.clip((top - verdicts.above) / np.maximum(verdicts.level, 1), 0.0, 1.0)
        columns = {
            "identified": verdicts.found,
            "in_top": np.where(verdicts.present, np.where(verdicts.level < 0, among_others, in_top), 0.0),
            "claim_strength": strengths(verdicts),
            "bits_left": verdicts.bits_left,
            "best_probability": np.minimum(verdicts.posterior, 1.0),
            "candidates": np.full(len(passing), float(n)),
            "anybody": verdicts.best_likelihood,
        }
        if criteria.absent:
            absent = attack_columns(release, few, attack, absent=True, threads=threads)
            columns |= {
                "absent_claim_strength": strengths(absent),
                "absent_probability": absent.posterior,
                "absent_anybody": absent.best_likelihood,
            }
        parts.append({name: column for name, column in columns.items() if column is not None})
    return Outcomes.of(**{name: np.stack([part[name] for part in parts], axis=-1).ravel() for name in parts[0]})


# How many of the most probable records hold 50, 90 and 99 % of the probability.


MASSES = np.array([0.5, 0.9, 0.99])
TOLERANCE = 1e-12
"""A sum that falls short by this share, which is rounding, counts as reached."""


def lineup_sizes(verdicts: Verdicts, targets: int, sizes: int, draws: int, threads: int | None) -> Floats:
    """The lineup size for each of MASSES and each query; NaN but for the first draw of the first targets."""
    found = np.full((len(MASSES), len(verdicts)), np.nan)
    queries = [target * draws * sizes + size for target in range(targets) for size in range(sizes)]

    def work_on(low: int, high: int, _: None) -> None:
        for q in queries[low:high]:
            found[:, q] = _lineup_size(verdicts[q])

    run_in_slices(len(queries), threads, lambda: None, work_on, no_progress)
    return found


def _lineup_size(verdict: Verdict) -> Floats:
    """The number of most probable records that hold each of MASSES. All scores that are not positive are 0."""
    n = verdict.candidates
    if isinstance(verdict, MatchingVerdict) or verdict.scale == 0.0:
        return np.asarray(np.ceil(MASSES * (getattr(verdict, "matching", 0) or n)))
    scores = verdict.scores
    scores = np.sort(scores[scores > 0])[::-1]
    held = np.cumsum(elementary.exp((scores - verdict.highest) / verdict.scale))
    of_zero, of_positive = math.exp(-verdict.highest / verdict.scale), float(held[-1]) if len(held) else 0.0
    wanted = MASSES * (of_positive + of_zero * (n - len(held))) * (1.0 - TOLERANCE)
    beyond = np.ceil(np.maximum(wanted - of_positive, 0.0) / max(of_zero, 1e-300))
    return np.where(wanted <= of_positive, np.searchsorted(held, wanted) + 1.0, len(held) + beyond)


# Attribute disclosure: guessing a column that is not known from the rows that fit what is known.


@dataclass(frozen=True, slots=True)
class Inference:
    """Share of right guesses of a column: about people in the table, about others (`control`), and of the commonest."""

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
    rows = random_targets(original, adversary, check_seed(seed), "inference")
    if not len(rows):
        raise ParameterError(f"no row has {adversary.knows} attributes that are not missing: lower knows")
    rows = rows[~hidden.is_missing[rows] & (representatives_of(release)[rows] >= 0)][:targets]
    facts = adversary.observe_all(original, rows, seed)
    facts = replace(facts, cells=facts.cells.where(facts.cells.column != original.column_position(column)))
    true = hidden.codes[rows].astype(np.int64)
    channel = release.channels.get(column) if isinstance(release, Sanitized) else None
    true = true if channel is None else channel.released[true]  # what the release would show of the true values
    shares = []
    for gone in (False, True):
        votes = weighted_votes(release, facts, attack, column, absent=gone, threads=threads, progress=progress)[:, :-1]
        best = votes == votes.max(axis=1, keepdims=True)
        shown = true < best.shape[1]  # a value that was suppressed everywhere cannot be guessed
        right = shown * best[np.arange(len(rows)), np.where(shown, true, 0)] / best.sum(axis=1)
        shares.append(rate(math.fsum(right), len(rows)))
    counts = release.column(column).counts[:-1]
    return Inference(column, shares[0], shares[1], float(counts.max()) / max(int(counts.sum()), 1))
