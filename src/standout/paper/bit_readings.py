"""Readings of bits gained: other candidates, other weights, another mean  [Figures 3 and 5]."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from standout.attack.batches import mean_and_sigma_with_zeros
from standout.attack.queries import Queries, excluded_records, prepare_queries
from standout.attack.scoreboard import ScoreboardRH
from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.rng import generator
from standout.core.threads import run_in_slices
from standout.facts import KnownFacts
from standout.paper.attack_runner import Lab
from standout.paper.paper_results import Setting, bars
from standout.paper.readings import DEFINED, Reading
from standout.release.model import Release
from standout.release.postings import unpack_item
from standout.similarity.attributes import Decay, Within

__all__ = ["BITS", "COST", "bits_left", "readings_of_bits"]

SOME = 300
"""Targets for which all scores are looked at."""
LINEUP = 100
LOOK = 10.0
"""Seconds that looking at all scores of so many targets takes at the paper's size, about."""
COST = 6 * LOOK
BITS = (
    DEFINED,
    "median over targets",
    "half Π, half guessing (A′ of Definition 4)",
    "the likeliest record at least half similar",
    "entropy of Π itself, no oracle",
    "thresholds in the score, not decay",
    "candidates: any known film",
    "candidates: all known films",
    "uniform over matches (Algorithm 1A)",
    "uniform over matches in m of m′",
    f"lineup of the {LINEUP} best, else log2 N",
    "log2 of the target's place in the order",
    "wrong ratings drawn from all five",
)
"""−log2 Π(target) over all records, mean over targets; and what is read differently."""


def readings_of_bits(lab: Lab, figure: str) -> tuple[Reading, ...]:
    """The bits of Figure 3 or 5 in all readings."""
    found: list[Reading] = []
    for bar in bars(figure):
        panel = bar.setting.films if bar.setting.outside_top else bar.setting.dates
        for reading, gained, n in _gained(lab, bar.setting):
            found.append(Reading(figure, reading, panel, bar.setting.facts, bar.paper, gained, n))
    order = {reading: at for at, reading in enumerate(BITS)}
    return tuple(sorted(found, key=lambda one: order[one.reading]))


def _gained(lab: Lab, setting: Setting) -> Iterator[tuple[str, float, int]]:
    """(reading, bits gained, over how many targets) of one attack; nothing if it cannot be tried."""
    cell = lab.cell(setting)
    if cell is None:
        return
    total, seen = math.log2(lab.release.n_records), cell.outcomes
    bits, similar = seen.bits_left.mean(axis=1), seen.similar_bits_left.mean(axis=1)
    mixed = -elementary.log2((elementary.exp2(-bits) + 1 / lab.release.n_records) / 2)
    for reading, left in zip(
        BITS[:4], (bits.mean(), np.median(bits), mixed.mean(), similar.mean()), strict=True
    ):
        yield reading, float(total - left), len(bits)
    places = cell.targets[:SOME]
    known = setting.adversary.observe_all(lab.release, places, lab.seed)
    for reading, left in zip(BITS[4:12], bits_left(lab, setting, places, known), strict=True):
        yield reading, float(total - left.mean()), len(left)
    if setting.right < setting.known and lab.release.levels is not None:
        left = _drawn_from_all(lab, places, known)
        yield BITS[12], float(total - left.mean()), len(left)
    else:  # nothing is wrong, so nothing is drawn
        yield BITS[12], float(total - bits.mean()), len(bits)


def bits_left(lab: Lab, setting: Setting, places: Ints, known: KnownFacts) -> Floats:
    """Bits left in the readings BITS[4:12], a row each, for targets at these places of whom this is known."""
    release = lab.release
    nobody = excluded_records(release, None, len(known))
    decay = prepare_queries(release, known, Decay(), "rarity", nobody)
    near = prepare_queries(release, known, Within(setting.value_error, setting.time_error), "rarity", nobody)
    found = np.zeros((8, len(places)))

    def work_on(low: int, high: int, work: None) -> None:
        for q in range(low, high):
            found[:, q] = _look(decay, near, q, int(places[q]), setting.right)

    with lab.meter.part(LOOK):
        run_in_slices(len(places), lab.threads, lambda: None, work_on, lab.meter)
    return found


class _Scores(NamedTuple):
    """Of the records that have any known item: places, scores by decay and by thresholds, and in how many of
    the known items they have something, and something within the thresholds."""

    record: Ints
    decay: Floats
    near: Floats
    has: Ints
    agrees: Ints


def _scores(decay: Queries, near: Queries, q: int) -> _Scores:
    release, own = decay.release, range(*decay.facts_of(q).indices(len(decay.weight)))
    found = np.zeros((4, release.n_records))
    for fact in own:
        records, value, time = unpack_item(
            release.by_item, int(decay.facts.item[fact]), release.n_levels, release.span
        )
        query, same = np.full(len(records), q), np.full(len(records), fact)
        similar = near.similarity_terms(same, value, time)
        found[0, records] += decay.parts(query, same, decay.similarity_terms(same, value, time))
        found[1, records] += near.parts(query, same, similar)
        found[2, records] += 1
        found[3, records] += similar.sum(axis=0) > 0
    record = np.flatnonzero(found[2])
    scored = found[:, record]
    return _Scores(record, scored[0], scored[1], scored[2].astype(np.int64), scored[3].astype(np.int64))


def _look(decay: Queries, near: Queries, q: int, target: int, right: int) -> list[float]:
    """Bits left for one target, in the readings BITS[4:12]."""
    scores, n = _scores(decay, near, q), decay.release.n_records
    at, known = int(np.searchsorted(scores.record, target)), int(np.diff(decay.facts.first)[q])
    own, rest, nothing = scores.decay[at], n - len(scores.record), math.log2(n)
    everything = scores.has == known
    best = np.argsort(-scores.decay, kind="stable")[:LINEUP]
    _, sigma = mean_and_sigma_with_zeros(scores.decay, n)
    higher, ties = np.count_nonzero(scores.decay > own), np.count_nonzero(scores.decay == own)
    matches, enough = scores.agrees == known, scores.agrees >= right
    return [
        _entropy(scores.decay, rest),
        _left(scores.near, scores.near[at], rest),
        _left(scores.decay, own, 0),
        _left(scores.decay[everything], own, 0),
        math.log2(matches.sum()) if matches[at] else nothing,
        math.log2(enough.sum()) if enough[at] else nothing,
        _left(scores.decay[best], own, 0, sigma) if at in best else nothing,
        math.log2(1 + higher + (ties - 1) / 2),
    ]


def _weights(scores: Floats, rest: int, sigma: float | None) -> tuple[float, float, float]:
    """(σ, highest, Z) of these scores and `rest` of 0; σ may be another's."""
    n = len(scores) + rest
    sigma = mean_and_sigma_with_zeros(scores, n)[1] if sigma is None else sigma
    highest = float(scores.max())
    if sigma == 0.0:
        return 0.0, highest, float(n)
    z = float(elementary.exp((scores - highest) / sigma).sum()) + rest * math.exp(-highest / sigma)
    return sigma, highest, z


def _left(scores: Floats, own: float, rest: int, sigma: float | None = None) -> float:
    """−log2 Π of a candidate with this score, Π ∝ e^(score/σ) over these and `rest` records that score 0."""
    sigma, highest, z = _weights(scores, rest, sigma)
    return float(((highest - own) / sigma if sigma else 0.0) + math.log(z)) / math.log(2)


def _entropy(scores: Floats, rest: int) -> float:
    """Σ −Π log2 Π."""
    sigma, highest, z = _weights(scores, rest, None)
    if sigma == 0.0:
        return math.log2(z)
    every = (scores - highest) / sigma
    none = -highest / sigma
    mean = float((elementary.exp(every) * every).sum()) + rest * math.exp(none) * none
    return (math.log(z) - mean / z) / math.log(2)


def _drawn_from_all(lab: Lab, places: Ints, known: KnownFacts) -> Floats:
    """Bits left if a wrong rating is drawn from all levels, and so is right now and then."""
    release = lab.release
    query = np.repeat(np.arange(len(places)), np.diff(known.first))
    wrong = known.value != _true_values(release, places[query], known.item)
    drawn = generator(lab.seed, "readings", "values").integers(release.n_levels, size=len(wrong))
    other = replace(known, value=np.where(wrong & (known.value >= 0), drawn, known.value))
    verdicts = ScoreboardRH().attacks(release, other, threads=lab.threads)
    return np.array(
        [
            verdict.entropy(release.records[place])
            for verdict, place in zip(verdicts, places.tolist(), strict=True)
        ]
    )


def _true_values(release: Release, record: Ints, item: Ints) -> Ints:
    """The value code of each record's entry of the item beside it."""
    side, found = release.by_record, np.empty(len(record), np.int64)
    assert side.value is not None
    for i, (one, thing) in enumerate(zip(record.tolist(), item.tolist(), strict=True)):
        low, high = int(side.start[one]), int(side.start[one + 1])
        found[i] = side.value[low + int(np.searchsorted(side.item[low:high], thing))]
    return found
