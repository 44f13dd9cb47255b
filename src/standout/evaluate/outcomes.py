"""What became of every try: an attack on known targets, held against the truth."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from standout.attack.scoreboard import ScoreboardRH
from standout.attack.verdict import Verdict, VerdictColumns, Verdicts
from standout.core import elementary
from standout.core.arrays import Floats, Ints, offsets
from standout.evaluate.pairs import revealed_items
from standout.evaluate.population import Population
from standout.facts import KnownFacts
from standout.release.model import Release
from standout.similarity.attributes import Similarity

__all__ = ["MASSES", "NO_CLAIM", "Criteria", "Outcomes", "attack_outcomes", "claims", "record_scores"]

NO_CLAIM = -1.0
"""Instead of an eccentricity where nobody can stand out: a tie, no spread, a single candidate."""
NOBODY = -np.inf
"""Instead of the score of a record that is not there."""
MASSES = (0.5, 0.9, 0.99)
SHOWN = 20
"""Of so many tied records it is looked at what each reveals."""


class Criteria(NamedTuple):
    """What is asked of every try: is the target among the `top` best, is the best guess at least `theta`
    similar to it by `similarity`, and what if the target were `absent`?"""

    top: int
    theta: float
    similarity: Similarity
    absent: bool


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Arrays by target, draw and number of facts.

    A target is a person; in a release that was made from another it is whoever stands for that person, and
    what is similar to it or true of it is judged by the original. For whom nobody stands, nobody is right.

    identified    the chance that the best guess is the target: 1/ties if it is among the best, else 0
    in_top        the chance that the target is among the first `top`, where equals go by chance
    similar       the chance that the best guess is at least θ similar to the target  [Definition 2]
    eccentricity  the eccentricity where one record stands out, else NO_CLAIM: it is claimed if that is ≥ φ
    bits          −log2 Π(target)  [Definition 4]; log2 N where nobody stands for it
    similar_bits  the least −log2 Π of the records at least θ similar to the target; log2 N where none is
    sure          Π of the best guess
    candidates    N: how many records could be found
    beyond        how many items the best guess has that were not known
    revealed      how many of those the target has as well, counted by similarity
    lineup_50     how many of the likeliest records hold 50 % of the mass (first draw of some; else NaN)
    lineup_90     … 90 %
    lineup_99     … 99 %
    absent        as `claim`, with the target taken out of the release; NaN if that was not asked
    """

    identified: Floats
    in_top: Floats
    similar: Floats
    eccentricity: Floats
    bits_left: Floats
    similar_bits_left: Floats
    best_probability: Floats
    candidates: Floats
    revealed: Floats
    revealed_correct: Floats
    lineup_50: Floats
    lineup_90: Floats
    lineup_99: Floats
    absent_eccentricity: Floats

    def __len__(self) -> int:
        return len(self.identified)

    @classmethod
    def concatenate(cls, parts: "Sequence[Outcomes]") -> "Outcomes":
        """One after the other."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    def slice(self, low: int, high: int) -> "Outcomes":
        """Of targets low … high - 1."""
        return Outcomes(*(getattr(self, field.name)[low:high] for field in fields(Outcomes)))

    def for_size(self, index: int) -> "Outcomes":
        """By target and draw, for one number of facts, given by its place."""
        return Outcomes(*(getattr(self, field.name)[:, :, index] for field in fields(Outcomes)))


def attack_outcomes(
    attack: ScoreboardRH,
    release: Release,
    known: KnownFacts,
    targets: Ints,
    sizes: Sequence[int],
    criteria: Criteria,
    near: Mapping[int, Ints],
    lineups: int = 0,
    threads: int | None = None,
) -> Outcomes:
    """The outcomes for these people, each of whom `known` describes in as many draws, in the release's terms.

    `near` are the records that are at least θ similar to a target, but for its own. How long a lineup has to
    be is worked out for the first so many targets: it takes all scores.
    """
    draws, people = len(known) // max(len(targets), 1), Population.of(release)
    top = max(criteria.top, 2)
    verdicts = attack.nested(release, known, sizes, top=top, threads=threads)
    target, stands = np.repeat(targets, draws * len(sizes)), people.record_of(targets)
    columns, score = verdicts.columns, record_scores(verdicts, np.repeat(stands, draws * len(sizes)))
    is_best = score == columns.highest
    guesses = _Guesses.of(columns, target)
    shape = len(targets), draws, len(sizes)
    learned = _learned(release, verdicts, guesses, criteria)
    own = np.full(len(score), NOBODY) if people.is_sanitized else score
    similar = _similar(verdicts, target, own, near)
    absent = np.full(shape, np.nan)
    if criteria.absent:
        gone = np.repeat(stands, draws)
        away = attack.nested(release, known, sizes, exclude=gone, with_z=False, threads=threads)
        absent = claims(away.columns).reshape(shape)
    n = release.n_records
    found = (
        is_best / np.maximum(columns.ties, 1), _in_top(verdicts, score, criteria.top),
        similar.guess, claims(columns), _bits(columns, score, n), _bits(columns, similar.highest, n),
        elementary.exp2(-_bits(columns, columns.highest, n)), columns.candidates.astype(np.float64),
        learned.beyond, learned.right, *_lineups(verdicts, lineups, len(sizes), draws),
    )  # fmt: skip
    return Outcomes(*(column.reshape(shape) for column in (*found, absent)))


def claims(columns: VerdictColumns) -> Floats:
    """The eccentricity where exactly one record stands out, else NO_CLAIM."""
    possible = (columns.ties == 1) & (columns.sigma > 0) & (columns.candidates > 1)
    return np.where(possible, columns.eccentricity, NO_CLAIM)


def record_scores(verdicts: Verdicts, record: Ints) -> Floats:
    """The score of the record beside each query, NOBODY where there is none."""
    found = verdicts.queries.scores_of(np.arange(len(record)), np.maximum(record, 0))
    return np.where(record >= 0, found, NOBODY)


def _bits(columns: VerdictColumns, score: Floats, n: int) -> Floats:
    """−log2 Π of a candidate with this score, for each query; log2 of the candidates where nothing sets
    anybody apart, and of all n records where it is nobody's score."""
    spread = columns.sigma > 0
    sigma, z = np.where(spread, columns.sigma, 1.0), np.where(spread, columns.z, 1.0)
    bits = ((columns.highest - score) / sigma + elementary.log(z)) / math.log(2)
    bits = np.where(spread, bits, elementary.log2(np.maximum(columns.candidates, 1)))
    return np.where(score == NOBODY, math.log2(n), bits)


def _in_top(verdicts: Verdicts, score: Floats, top: int) -> Floats:
    """The chance that the target is among the first `top`, where equals stand in any order."""
    columns, listed = verdicts.columns, np.diff(verdicts.columns.first)
    query, n = np.repeat(np.arange(len(score)), listed), len(score)
    higher = np.bincount(query, columns.score > score[query], n)
    equal = np.bincount(query, columns.score == score[query], n)
    equal = np.where(score > 0, equal, columns.candidates - listed)
    last = columns.score[np.maximum(columns.first[1:] - 1, 0)] if len(columns.score) else np.zeros(n)
    cut_off = (listed >= max(top, 2)) & (last == score) & (0 < score) & (score < columns.highest)
    for q in np.flatnonzero(cut_off & (higher < top)):  # perhaps more are equal than are listed
        equal[q] = np.count_nonzero(verdicts[int(q)].scores == score[q])
    return np.where(score == NOBODY, 0.0, np.clip((top - higher) / np.maximum(equal, 1), 0.0, 1.0))


class _Guesses(NamedTuple):
    """The records that tie for the best, or some of them if they are many: which query, target and record."""

    query: Ints
    target: Ints
    record: Ints
    share: Floats

    @classmethod
    def of(cls, columns: VerdictColumns, target: Ints) -> "_Guesses":
        ties = np.where(columns.highest > 0, columns.ties, 0)
        shown = np.minimum(ties, SHOWN)
        query = np.repeat(np.arange(len(target)), shown)
        place = np.arange(len(query)) - np.repeat(np.cumsum(shown) - shown, shown)
        place = (2 * place + 1) * ties[query] // (2 * np.maximum(shown, 1)[query])  # from everywhere
        share = 1.0 / np.maximum(shown, 1)[query]
        return cls(query, target[query], columns.record[columns.first[query] + place], share)


class _Learned(NamedTuple):
    beyond: Floats
    right: Floats


def _learned(release: Release, verdicts: Verdicts, guesses: _Guesses, criteria: Criteria) -> _Learned:
    """What the best guess of each query reveals, on average over those that tie; nothing if nobody scores."""
    n, known = len(verdicts), verdicts.queries.known
    first, counts = known.first[guesses.query], np.diff(known.first)[guesses.query]
    ends = offsets(counts)
    fact = np.arange(ends[-1]) + np.repeat(first - ends[:-1], counts)
    told = known.select(guesses.query, fact, ends)
    found = revealed_items(release, guesses.target, guesses.record, told, criteria.similarity)
    return _Learned(
        np.bincount(guesses.query, found.beyond * guesses.share, n).astype(np.float64),
        np.bincount(guesses.query, found.right * guesses.share, n).astype(np.float64),
    )


class _Similar(NamedTuple):
    guess: Floats
    highest: Floats


def _similar(verdicts: Verdicts, target: Ints, own: Floats, near: Mapping[int, Ints]) -> _Similar:
    """Of the candidates at least θ similar to each query's target: the chance that the best guess is one of
    them, and their highest score. The target's own record is, with the score `own`; NOBODY if it has none."""
    columns, queries = verdicts.columns, verdicts.queries
    tied, highest = (own == columns.highest).astype(np.float64), own.copy()
    for one, others in near.items():
        asked = np.flatnonzero(target == one)
        query, record = np.repeat(asked, len(others)), np.tile(others, len(asked))
        able = queries.are_candidates(query, record)
        query, scores = query[able], queries.scores_of(query[able], record[able])
        np.maximum.at(highest, query, scores)
        np.add.at(tied, query, scores == columns.highest[query])
    return _Similar(np.minimum(tied / np.maximum(columns.ties, 1), 1.0), highest)


def _lineups(verdicts: Verdicts, count: int, sizes: int, draws: int) -> Floats:
    """How many of the likeliest records hold each of MASSES, for the first draw of `count` targets."""
    found = np.full((len(MASSES), len(verdicts)), np.nan)
    for target in range(count):
        for q in range(target * draws * sizes, target * draws * sizes + sizes):
            found[:, q] = _lineup(verdicts[q])
    return found


def _lineup(verdict: Verdict) -> Floats:
    """How many of the likeliest records it takes to hold each of MASSES."""
    n = verdict.candidates
    if verdict.sigma == 0.0:
        return np.asarray(np.ceil(np.array(MASSES) * n))
    some = np.sort(verdict.scores[verdict.scores > 0])[::-1]
    weight = elementary.exp((np.append(some, 0.0) - verdict.highest) / verdict.sigma)
    held, rest = np.cumsum(weight[:-1]), float(weight[-1])
    wanted = np.array(MASSES) * (float(held[-1]) + rest * (n - len(some)) if len(held) else rest * n)
    within = np.searchsorted(held, wanted * (1 - 1e-12)) + 1.0
    beyond = len(some) + np.ceil((wanted * (1 - 1e-12) - (held[-1] if len(held) else 0.0)) / rest)
    return np.where(within <= len(some), within, beyond)
