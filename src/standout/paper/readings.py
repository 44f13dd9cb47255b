"""Readings: other interpretations of the paper's text, where our numbers differ from the paper's.

Bits gained (Figures 3 and 5), nearest neighbours (Figure 12) and wrong films (Figure 10 of 2008) are computed
in every reading that the text allows, and each is compared with the paper. No default follows from this: the
reading that fits best need not be the one that was meant.
"""

import gzip
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from standout.attack.queries import Queries, excluded_records, prepare_queries
from standout.attack.scoreboard import ScoreboardRH
from standout.attack.summaries import mean_and_sigma_with_zeros
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import SourceError
from standout.core.rng import generator
from standout.core.threads import run_in_slices
from standout.data.postings import unpack_item
from standout.data.release import Release
from standout.data.subset import subset
from standout.know.facts import KnownFacts
from standout.know.record_similarity import Over
from standout.know.similarity import Decay, Present, Similarity, Within
from standout.measure.sparsity import Sparsity, sparsity
from standout.paper.attack_runner import NEIGHBOUR_SAMPLE, NEIGHBOUR_SECONDS, AttackRunner
from standout.paper.comparison_rows import GOALS, Setting, Unit, bars, neighbours

__all__ = [
    "AS_DEFINED",
    "BIT_READINGS",
    "FILM_READINGS",
    "NEIGHBOUR_READINGS",
    "SECONDS",
    "SECONDS_FILM_READINGS",
    "SECONDS_NEIGHBOUR_READINGS",
    "SIMILARITIES",
    "Fit",
    "Reading",
    "bits_left",
    "count_qualifying",
    "draw_qualifying",
    "find_qualifying",
    "fits",
    "in_order",
    "readings_of_bits",
    "readings_of_films",
    "readings_of_neighbours",
    "unit_of",
]

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


def fits(readings: tuple[Reading, ...]) -> tuple[Fit, ...]:
    """How well each reading fits each figure, in the order of the readings."""
    groups: dict[tuple[str, str], list[Reading]] = {}
    for reading in readings:
        groups.setdefault((reading.figure, reading.reading), []).append(reading)
    return tuple(_fit(*key, group) for key, group in groups.items())


def in_order(readings: list[Reading], names: tuple[str, ...]) -> tuple[Reading, ...]:
    """The readings in the order of these names."""
    return tuple(sorted(readings, key=lambda reading: names.index(reading.reading)))


def unit_of(figure: str) -> Unit:
    """The unit of a figure's readings."""
    return "bits" if figure in ("3", "5") else "rate"


def _fit(figure: str, name: str, group: list[Reading]) -> Fit:
    differences = np.array([reading.difference for reading in group])
    sizes = np.abs(differences)
    return Fit(
        figure=figure,
        reading=name,
        mean=float(sizes.mean()),
        worst=float(sizes.max()),
        bias=float(differences.mean()),
        within=int((sizes <= GOALS[unit_of(figure)]).sum()),
        cells=len(group),
    )


# Readings of bits gained: other candidates, other weights, another average  [Figures 3 and 5].


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
        records, value, time = unpack_item(release.by_item, int(decay.facts.item[fact]), release.n_levels, release.span)
        queries, fact_of = np.full(len(records), q), np.full(len(records), fact)
        similar = near.similarity_terms(fact_of, value, time)
        sums[0, records] += decay.parts(queries, fact_of, records, decay.similarity_terms(fact_of, value, time))
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


# Readings of wrong films: by popularity, all equally likely, missing from the data  [Figure 10 of 2008].


SECONDS_FILM_READINGS = 40.0
FILM_READINGS = (AS_DEFINED, "all films equally likely", "films missing from the data")
"""By default, wrong films are drawn by popularity. A film that is missing from the data adds to no score, so
only the right facts remain."""


def readings_of_films(runner: AttackRunner) -> tuple[Reading, ...]:
    """The bars of wrong films in all readings."""
    readings = [reading for bar in bars("sp10") for reading in _readings(runner, bar.setting, bar.paper)]
    return in_order(readings, FILM_READINGS)


def _readings(runner: AttackRunner, setting: Setting, paper: float) -> Iterator[Reading]:
    label = f"{setting.right} of {setting.known}"
    for name, attack in _attacks(setting):
        cell = runner.cell(attack)
        if cell is not None:
            identified = cell.outcomes.identified
            yield Reading(
                figure="sp10",
                reading=name,
                panel="identified",
                label=label,
                paper=paper,
                measured=float(identified.mean()),
                n=len(identified),
            )


def _attacks(setting: Setting) -> Iterator[tuple[str, Setting]]:
    """(reading, attack) for a bar of the paper."""
    by_popularity = setting.wrong_facts == "items"
    yield FILM_READINGS[0 if by_popularity else 1], setting
    if by_popularity:
        yield FILM_READINGS[2], setting._replace(known=setting.right, wrong_facts="values")


# Readings of nearest neighbours: other people, other candidates, another denominator  [Figure 12].


SIMILARITIES = (0.05, 0.1, 0.2, 0.3, 0.5)
POOL_SIZES = (1_000, 10_000, 50_000)
MINIMUM_RATINGS = (20, 100)
SECONDS_NEIGHBOUR_READINGS = 1.5 * NEIGHBOUR_SECONDS
NEIGHBOUR_READINGS = (
    AS_DEFINED,
    "divided by the target's own length",
    *(f"among {size:,} random records" for size in POOL_SIZES),
    *(f"people with ≥ {minimum} ratings" for minimum in MINIMUM_RATINGS),
)


def readings_of_neighbours(runner: AttackRunner) -> tuple[Reading, ...]:
    """Figure 12 in all readings."""
    readings = [
        Reading(
            figure="12",
            reading=reading,
            panel=panel,
            label=f"at least {x:.2f}",
            paper=dict(neighbours()[panel])[x],
            measured=share,
            n=n,
        )
        for panel, similarity in (("sets", Present()), ("ratings", Within(value=0, time=None)))
        if panel == "sets" or runner.release.levels is not None
        for reading, shares, n in _shares_by_reading(runner, similarity)
        for x, share in zip(SIMILARITIES, shares, strict=True)
    ]
    return in_order(readings, NEIGHBOUR_READINGS)


def _shares_by_reading(runner: AttackRunner, similarity: Similarity) -> Iterator[tuple[str, list[float], int]]:
    """(reading, share of people with a neighbour of at least each of SIMILARITIES, number of people)."""
    release = runner.release
    defined = runner.nearest_neighbours(similarity)
    yield AS_DEFINED, *_shares(defined)
    yield NEIGHBOUR_READINGS[1], *_shares(_search(runner, release, similarity, "first"))
    for size, reading in zip(POOL_SIZES, NEIGHBOUR_READINGS[2:5], strict=True):
        if size < release.n_records:
            pool = _random_records(release, size, runner.seed)
            yield reading, *_shares(_search(runner, pool, similarity, "union"))
    for minimum, reading in zip(MINIMUM_RATINGS, NEIGHBOUR_READINGS[5:], strict=True):
        is_long = release.lengths[defined.records] >= minimum
        if is_long.any():
            long = replace(defined, records=defined.records[is_long], nearest=defined.nearest[is_long])
            yield reading, *_shares(long)


def _shares(neighbours: Sparsity) -> tuple[list[float], int]:
    return [float((neighbours.nearest >= x).mean()) for x in SIMILARITIES], len(neighbours.nearest)


def _search(runner: AttackRunner, release: Release, similarity: Similarity, over: Over) -> Sparsity:
    sample = NEIGHBOUR_SAMPLE if release.n_records > NEIGHBOUR_SAMPLE else None
    part_of_all = min(release.n_records / runner.release.n_records + 0.1, 1)
    with runner.meter.part(NEIGHBOUR_SECONDS / 2 * part_of_all):
        return sparsity(
            release,
            similarity,
            sample=sample,
            over=over,
            seed=runner.seed,
            threads=runner.threads,
            progress=runner.meter,
        )


def _random_records(release: Release, size: int, seed: int) -> Release:
    """A release of `size` records drawn at random."""
    is_drawn = np.zeros(release.n_records, np.bool_)
    is_drawn[generator(seed, "readings", "pool").permutation(release.n_records)[:size]] = True
    return subset(release, is_drawn)


# Test entries of the Netflix Prize: ratings that the contest published without their values  [Figure 7].


FILE_NAMES = ("qualifying.txt", "qualifying.txt.gz")
HELD_OUT = 9
"""The latest 9 ratings of each person were assigned to probe, quiz and test, a third each."""


def draw_qualifying(lengths: Ints, seed: int = 0) -> Ints:
    """Random numbers of test entries for records of these lengths, if the true ones are not known.

    The contest held out the latest 9 of a person's T ratings, or half of them if T < 18. Each fell at random
    to probe, quiz or test. Probe is published with the rest. So a binomial (h, 2/3) number of h = min(9, T/2)
    ratings is missing. A person with n ratings left had T ≈ 3n/2 ratings, hence h = min(9, 3n/4).

    >>> draw_qualifying(np.array([1, 8, 12, 500]), seed=1).tolist()
    [1, 4, 6, 7]
    """
    held_out = np.minimum(HELD_OUT, (3 * lengths + 2) // 4)
    return np.asarray(generator(seed, "held back").binomial(held_out, 2 / 3), np.int64)


def find_qualifying(source: Path) -> Path | None:
    """The file of test entries in a folder of the Netflix Prize; None if there is none."""
    folder = source if source.is_dir() else source.parent
    return next((folder / name for name in FILE_NAMES if (folder / name).is_file()), None)


def count_qualifying(path: Path, release: Release) -> Ints:
    """Number of test entries of each record, from the contest's qualifying file.

    The file has a line `item:` for each item, followed by a line `record,date` for each of its entries.
    """
    counts = Counter(_record_ids(path))
    return np.array([counts.get(release.records[i], 0) for i in range(release.n_records)], np.int64)


def _record_ids(path: Path) -> Iterator[str]:
    """The record id of each test entry in the file."""
    try:
        with _open_text(path) as file:
            yield from _parse(path, file)
    except (OSError, UnicodeDecodeError, EOFError) as error:
        reason = getattr(error, "strerror", None) or "it is not a qualifying file of the Netflix Prize"
        raise SourceError(f"{path} cannot be read: {reason}") from error


def _open_text(path: Path) -> TextIO:
    return gzip.open(path, "rt", encoding="ascii") if path.suffix == ".gz" else path.open(encoding="ascii")


def _parse(path: Path, lines: TextIO) -> Iterator[str]:
    has_item = False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.endswith(":"):
            has_item = True
        elif text:
            record, comma, _ = text.partition(",")
            if not (has_item and comma and record):
                raise SourceError(
                    f"{path}, line {number}: expected an item followed by a colon, or a record and a date"
                )
            yield record
