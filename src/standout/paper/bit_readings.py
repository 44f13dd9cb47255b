"""Readings of bits gained: other candidates, other weights, another average  [Figures 3 and 5]."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from standout.attack.queries import Queries, excluded_records, prepare_queries
from standout.attack.score_spread import mean_and_sigma_with_zeros
from standout.attack.scoreboard import ScoreboardRH
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.core.rng import generator
from standout.core.threads import run_in_slices
from standout.facts import KnownFacts
from standout.paper.attack_runner import AttackRunner
from standout.paper.paper_results import Setting, bars
from standout.paper.readings import AS_DEFINED, Reading, in_order
from standout.release.model import Release
from standout.release.postings import unpack_item
from standout.similarity.attributes import Decay, Within

__all__ = ["BIT_READINGS", "SECONDS", "bits_left", "readings_of_bits"]

SCORED_TARGETS = 300
"""Number of targets for which the scores of all records are computed."""
LINEUP = 100
SCORING_SECONDS = 10.0
"""Approximate time to compute all scores for SCORED_TARGETS targets at the paper's size."""
SECONDS = 6 * SCORING_SECONDS
BIT_READINGS = (
    AS_DEFINED,
    "median over targets",
    "half Π, half guessing (A′ of Definition 4)",
    "most likely record with similarity ≥ 0.5",
    "entropy of Π itself, no oracle",
    "score with thresholds instead of decay",
    "candidates with any known film",
    "candidates with all known films",
    "uniform over matches (Algorithm 1A)",
    "uniform over matches in m of m′",
    f"lineup of the {LINEUP} best, else log2 N",
    "log2 of the target's rank by score",
    "wrong ratings drawn from all five levels",
)
"""The default is −log2 Π(target) over all records, averaged over targets; the others change one thing."""
FROM_OUTCOMES, FROM_SCORES, FROM_NEW_ATTACKS = slice(0, 4), slice(4, 12), 12
"""Readings that follow from the simulation, from the scores of all records, and from new attacks."""


def readings_of_bits(runner: AttackRunner, figure: str) -> tuple[Reading, ...]:
    """The bits of Figure 3 or 5 in all readings."""
    readings = []
    for bar in bars(figure):
        panel = bar.setting.films if bar.setting.outside_top else bar.setting.dates
        for reading, gained, n in _bits_gained(runner, bar.setting):
            readings.append(Reading(figure, reading, panel, bar.setting.facts, bar.paper, gained, n))
    return in_order(readings, BIT_READINGS)


def _bits_gained(runner: AttackRunner, setting: Setting) -> Iterator[tuple[str, float, int]]:
    """(reading, bits gained, number of targets) of one attack; nothing if it is not possible."""
    cell = runner.cell(setting)
    if cell is None:
        return
    n, outcomes = runner.release.n_records, cell.outcomes
    total = math.log2(n)
    bits, similar = outcomes.bits_left.mean(axis=1), outcomes.similar_bits_left.mean(axis=1)
    mixed = -elementary.log2((elementary.exp2(-bits) + 1 / n) / 2)
    averages = bits.mean(), np.median(bits), mixed.mean(), similar.mean()
    for reading, average in zip(BIT_READINGS[FROM_OUTCOMES], averages, strict=True):
        yield reading, float(total - average), len(bits)
    targets = cell.targets[:SCORED_TARGETS]
    known = setting.adversary.observe_all(runner.release, targets, runner.seed)
    all_left = bits_left(runner, setting, targets, known)
    for reading, left in zip(BIT_READINGS[FROM_SCORES], all_left, strict=True):
        yield reading, float(total - left.mean()), len(left)
    has_wrong_facts = setting.right < setting.known and runner.release.levels is not None
    left = _bits_left_with_any_ratings(runner, targets, known) if has_wrong_facts else bits
    yield BIT_READINGS[FROM_NEW_ATTACKS], float(total - left.mean()), len(left)


def bits_left(runner: AttackRunner, setting: Setting, targets: Ints, known: KnownFacts) -> Floats:
    """Bits left for each target (a column) in the readings BIT_READINGS[FROM_SCORES] (rows)."""
    release = runner.release
    no_exclusion = excluded_records(release, None, len(known))
    thresholds = Within(setting.value_error, setting.time_error)
    decay = prepare_queries(release, known, Decay(), "rarity", no_exclusion)
    near = prepare_queries(release, known, thresholds, "rarity", no_exclusion)
    left = np.zeros((8, len(targets)))

    def work_on(low: int, high: int, work: None) -> None:
        for q in range(low, high):
            left[:, q] = _bits_left_of_target(decay, near, q, int(targets[q]), setting.right)

    with runner.meter.part(SCORING_SECONDS):
        run_in_slices(len(targets), runner.threads, lambda: None, work_on, runner.meter)
    return left


class _Scores(NamedTuple):
    """The records that have any known item.

    record       their indices
    decay, near  their scores by decay and by thresholds
    has, agrees  how many known items they have, and how many of these agree within the thresholds
    """

    record: Ints
    decay: Floats
    near: Floats
    has: Ints
    agrees: Ints


def _scores(decay: Queries, near: Queries, q: int) -> _Scores:
    """The scores of query q."""
    release, facts = decay.release, range(*decay.facts_of(q).indices(len(decay.weight)))
    sums = np.zeros((4, release.n_records))
    for fact in facts:
        records, value, time = unpack_item(
            release.by_item, int(decay.facts.item[fact]), release.n_levels, release.span
        )
        queries, fact_of = np.full(len(records), q), np.full(len(records), fact)
        similar = near.similarity_terms(fact_of, value, time)
        sums[0, records] += decay.parts(
            queries, fact_of, records, decay.similarity_terms(fact_of, value, time)
        )
        sums[1, records] += near.parts(queries, fact_of, records, similar)
        sums[2, records] += 1
        sums[3, records] += similar.sum(axis=0) > 0
    record = np.flatnonzero(sums[2])
    scored = sums[:, record]
    return _Scores(record, scored[0], scored[1], scored[2].astype(np.int64), scored[3].astype(np.int64))


def _bits_left_of_target(decay: Queries, near: Queries, q: int, target: int, right: int) -> list[float]:
    """Bits left for one target in the readings BIT_READINGS[FROM_SCORES]."""
    scores, n = _scores(decay, near, q), decay.release.n_records
    index, known = int(np.searchsorted(scores.record, target)), int(np.diff(decay.facts.first)[q])
    score, zeros = scores.decay[index], n - len(scores.record)
    best = np.argsort(-scores.decay, kind="stable")[:LINEUP]
    _, sigma = mean_and_sigma_with_zeros(scores.decay, n)
    higher, ties = np.count_nonzero(scores.decay > score), np.count_nonzero(scores.decay == score)
    return [
        _entropy(scores.decay, zeros),
        _surprisal(scores.near, scores.near[index], zeros),
        _surprisal(scores.decay, score, 0),
        _surprisal(scores.decay[scores.has == known], score, 0),
        _log2_of_matches(scores.agrees == known, index, n),
        _log2_of_matches(scores.agrees >= right, index, n),
        _surprisal(scores.decay[best], score, 0, sigma) if index in best else math.log2(n),
        math.log2(1 + higher + (ties - 1) / 2),
    ]


def _log2_of_matches(is_match: Bools, index: int, n: int) -> float:
    """log2 of the number of matches if the target is among them, else log2 of all n records."""
    return math.log2(is_match.sum() if is_match[index] else n)


def _sigma_highest_z(scores: Floats, zeros: int, sigma: float | None) -> tuple[float, float, float]:
    """(σ, highest score, Z) of these scores and `zeros` scores of 0; σ is computed if it is None."""
    n = len(scores) + zeros
    sigma = mean_and_sigma_with_zeros(scores, n)[1] if sigma is None else sigma
    highest = float(scores.max())
    if sigma == 0.0:
        return 0.0, highest, float(n)
    z = float(elementary.exp((scores - highest) / sigma).sum()) + zeros * math.exp(-highest / sigma)
    return sigma, highest, z


def _surprisal(scores: Floats, score: float, zeros: int, sigma: float | None = None) -> float:
    """−log2 Π of a candidate with this score, Π ∝ e^(score/σ) over `scores` and `zeros` scores of 0."""
    sigma, highest, z = _sigma_highest_z(scores, zeros, sigma)
    return float(((highest - score) / sigma if sigma else 0.0) + math.log(z)) / math.log(2)


def _entropy(scores: Floats, zeros: int) -> float:
    """Σ −Π log2 Π over `scores` and `zeros` scores of 0."""
    sigma, highest, z = _sigma_highest_z(scores, zeros, None)
    if sigma == 0.0:
        return math.log2(z)
    exponents = (scores - highest) / sigma
    exponent_of_zero = -highest / sigma
    weighted_sum = float((elementary.exp(exponents) * exponents).sum())
    weighted_sum += zeros * math.exp(exponent_of_zero) * exponent_of_zero
    return (math.log(z) - weighted_sum / z) / math.log(2)


def _bits_left_with_any_ratings(runner: AttackRunner, targets: Ints, known: KnownFacts) -> Floats:
    """Bits left if wrong ratings are drawn from all levels, so that some are right by accident."""
    release = runner.release
    query = np.repeat(np.arange(len(targets)), np.diff(known.first))
    is_wrong = known.value != _true_values(release, targets[query], known.item)
    levels = generator(runner.seed, "readings", "values").integers(release.n_levels, size=len(is_wrong))
    redrawn = replace(known, value=np.where(is_wrong & (known.value >= 0), levels, known.value))
    verdicts = ScoreboardRH().attacks(release, redrawn, threads=runner.threads)
    pairs = zip(verdicts, targets.tolist(), strict=True)
    return np.array([verdict.entropy(release.records[target]) for verdict, target in pairs])


def _true_values(release: Release, records: Ints, items: Ints) -> Ints:
    """The value code of each record's entry of the item at the same index."""
    side, values = release.by_record, np.empty(len(records), np.int64)
    assert side.value is not None
    for i, (record, item) in enumerate(zip(records.tolist(), items.tolist(), strict=True)):
        low, high = int(side.start[record]), int(side.start[record + 1])
        values[i] = side.value[low + int(np.searchsorted(side.item[low:high], item))]
    return values
