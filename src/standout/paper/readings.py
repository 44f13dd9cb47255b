"""Readings: other interpretations of the paper's text, where our numbers differ from the paper's.

Bits gained (Figures 3 and 5), nearest neighbours (Figure 12) and wrong films (Figure 10 of 2008) are computed
in every reading that the text allows, and each is compared with the paper. No default follows from this: the
reading that fits best need not be the one that was meant.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from standout.attack.queries import Queries, excluded_records, prepare_queries
from standout.attack.scoreboard import ScoreboardRH
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.core.rng import generator
from standout.core.threads import run_in_slices
from standout.data.build import subset
from standout.data.entries import unpack_item
from standout.data.release import Release
from standout.know.facts import KnownFacts
from standout.know.similarity import Decay, Similarity, Within
from standout.paper.comparison import GOALS, Setting, Unit, bars, neighbours
from standout.paper.figures import NEIGHBOUR_PANELS, NEIGHBOUR_SECONDS, SIMILARITIES, AttackRunner

AS_DEFINED = "as defined here"
"""The reading that the rest of Standout uses."""


class Reading(NamedTuple):
    """One number of the paper in one reading: what was measured, over n targets."""

    figure: str
    reading: str
    panel: str
    label: str
    paper: float
    measured: float
    n: int

    @property
    def difference(self) -> float:
        """The measured number minus the paper's."""
        return self.measured - self.paper


class Fit(NamedTuple):
    """How well a reading fits a figure.

    The mean and the largest |difference|, the mean difference (bias), and how many cells are within the goal.
    """

    figure: str
    reading: str
    mean: float
    worst: float
    bias: float
    within: int
    cells: int


def unit_of(figure: str) -> Unit:
    """The unit of a figure's readings."""
    return "bits" if figure in ("3", "5") else "rate"


def fits(readings: tuple[Reading, ...]) -> tuple[Fit, ...]:
    """How well each reading fits each figure, in the order of the readings."""
    groups: dict[tuple[str, str], list[float]] = {}
    for reading in readings:
        groups.setdefault((reading.figure, reading.reading), []).append(reading.difference)
    result = []
    for (figure, name), group in groups.items():
        differences = np.array(group)
        sizes = np.abs(differences)
        within = int((sizes <= GOALS[unit_of(figure)]).sum())
        bias = float(differences.mean())
        result.append(Fit(figure, name, float(sizes.mean()), float(sizes.max()), bias, within, len(group)))
    return tuple(result)


def _in_order(readings: list[Reading], names: tuple[str, ...]) -> tuple[Reading, ...]:
    return tuple(sorted(readings, key=lambda reading: names.index(reading.reading)))


# Readings of bits gained: other candidates, other weights, another average  [Figures 3 and 5].


SCORED_TARGETS = 300
"""Number of targets for which the scores of all records are computed."""
LINEUP = 100
SCORING_SECONDS = 10.0
"""Approximate time to compute all scores for SCORED_TARGETS targets at the paper's size."""
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
        panel = bar.setting.words["films" if bar.setting.outside_top else "dates"]
        for reading, gained, n in _bits_gained(runner, bar.setting):
            readings.append(Reading(figure, reading, panel, bar.setting.facts, bar.paper, gained, n))
    return _in_order(readings, BIT_READINGS)


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


def _bits_left_of_target(decay: Queries, near: Queries, q: int, target: int, right: int) -> list[float]:
    """Bits left for one target in the readings BIT_READINGS[FROM_SCORES]."""
    release, n = decay.release, decay.release.n_records
    # scores of all records by decay and by thresholds, how many known items they have, and how many of these agree
    sums = np.zeros((4, n))
    for fact in range(*decay.facts.first[q : q + 2].tolist()):
        records, value, time = unpack_item(release.by_item, int(decay.facts.item[fact]), release.n_levels, release.span)
        queries, fact_of = np.full(len(records), q), np.full(len(records), fact)
        similar = near.similarity_terms(fact_of, value, time)
        sums[0, records] += decay.parts(queries, fact_of, records, decay.similarity_terms(fact_of, value, time))
        sums[1, records] += near.parts(queries, fact_of, records, similar)
        sums[2, records] += 1
        sums[3, records] += similar.sum(axis=0) > 0
    candidates = np.flatnonzero(sums[2])
    scores, thresholds, has, agrees = sums[:, candidates]
    index, known = int(np.searchsorted(candidates, target)), int(np.diff(decay.facts.first)[q])
    score, zeros = scores[index], n - len(candidates)
    best = np.argsort(-scores, kind="stable")[:LINEUP]
    sigma = float(np.std(np.append(scores, np.zeros(n - len(scores)))))
    higher, ties = np.count_nonzero(scores > score), np.count_nonzero(scores == score)

    def log2_of_matches(is_match: Bools) -> float:
        return math.log2(is_match.sum() if is_match[index] else n)

    return [
        _entropy(scores, zeros),
        _surprisal(thresholds, thresholds[index], zeros),
        _surprisal(scores, score, 0),
        _surprisal(scores[has == known], score, 0),
        log2_of_matches(agrees == known),
        log2_of_matches(agrees >= right),
        _surprisal(scores[best], score, 0, sigma) if index in best else math.log2(n),
        math.log2(1 + higher + (ties - 1) / 2),
    ]


def _sigma_highest_z(scores: Floats, zeros: int, sigma: float | None) -> tuple[float, float, float]:
    """(σ, highest score, Z) of these scores and `zeros` scores of 0; σ is computed if it is None."""
    n = len(scores) + zeros
    sigma = float(np.std(np.append(scores, np.zeros(zeros)))) if sigma is None else sigma
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


# Readings of wrong films: by popularity, all equally likely, missing from the data  [Figure 10 of 2008].


FILM_READINGS = (AS_DEFINED, "all films equally likely", "films missing from the data")
"""By default, wrong films are drawn by popularity. A film that is missing from the data adds to no score, so
only the right facts remain."""


def readings_of_films(runner: AttackRunner) -> tuple[Reading, ...]:
    """The bars of wrong films in all readings."""
    readings = []
    for _, _, setting, paper in bars("sp10"):
        attacks = {FILM_READINGS[1]: setting}
        if setting.wrong_facts == "items":
            only_right = setting._replace(known=setting.right, wrong_facts="values")
            attacks = {FILM_READINGS[0]: setting, FILM_READINGS[2]: only_right}
        for name, attack in attacks.items():
            cell, label = runner.cell(attack), f"{setting.right} of {setting.known}"
            if cell is not None:
                identified = cell.outcomes.identified
                measured = float(identified.mean())
                readings.append(Reading("sp10", name, "identified", label, paper, measured, len(identified)))
    return _in_order(readings, FILM_READINGS)


# Readings of nearest neighbours: other people, other candidates, another denominator  [Figure 12].


POOL_SIZES = (1_000, 10_000, 50_000)
MINIMUM_RATINGS = (20, 100)
NEIGHBOUR_READINGS = (
    AS_DEFINED,
    "divided by the target's own length",
    *(f"among {size:,} random records" for size in POOL_SIZES),
    *(f"people with ≥ {minimum} ratings" for minimum in MINIMUM_RATINGS),
)


def readings_of_neighbours(runner: AttackRunner) -> tuple[Reading, ...]:
    """Figure 12 in all readings."""
    readings = []
    for panel, _, similarity in NEIGHBOUR_PANELS:
        if panel == "sets" or runner.release.levels is not None:
            for reading, nearest in _neighbours_by_reading(runner, similarity):
                for x in SIMILARITIES:
                    paper, measured = neighbours()[panel][x], float((nearest >= x).mean())
                    label = f"at least {x:.2f}"
                    readings.append(Reading("12", reading, panel, label, paper, measured, len(nearest)))
    return _in_order(readings, NEIGHBOUR_READINGS)


def _neighbours_by_reading(runner: AttackRunner, similarity: Similarity) -> Iterator[tuple[str, Floats]]:
    """(reading, similarity of the nearest neighbours)."""
    release, defined = runner.release, runner.nearest_neighbours(similarity)
    yield AS_DEFINED, defined.nearest
    yield NEIGHBOUR_READINGS[1], runner.search(release, similarity, "first").nearest
    for size, reading in zip(POOL_SIZES, NEIGHBOUR_READINGS[2:5], strict=True):
        if size < release.n_records:
            is_drawn = np.zeros(release.n_records, np.bool_)
            is_drawn[generator(runner.seed, "readings", "pool").permutation(release.n_records)[:size]] = True
            yield reading, runner.search(subset(release, is_drawn), similarity).nearest
    for minimum, reading in zip(MINIMUM_RATINGS, NEIGHBOUR_READINGS[5:], strict=True):
        is_long = release.lengths[defined.records] >= minimum
        if is_long.any():
            yield reading, defined.nearest[is_long]


READINGS: dict[str, tuple[Callable[[AttackRunner], tuple[Reading, ...]], float]] = {
    "3": (lambda runner: readings_of_bits(runner, "3"), 6 * SCORING_SECONDS),
    "5": (lambda runner: readings_of_bits(runner, "5"), 6 * SCORING_SECONDS),
    "12": (readings_of_neighbours, 1.5 * NEIGHBOUR_SECONDS),
    "sp10": (readings_of_films, 40.0),
}
"""The figures in several readings of the paper's text: how they are computed, and the approximate time at its size."""
