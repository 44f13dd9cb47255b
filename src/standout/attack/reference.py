"""The paper's attack in plain NumPy: read this first. The kernels compute the same numbers, only faster.

Quotes: Narayanan and Shmatikov (2008), sections 4 and 5. `scores` has all records. See docs/attack.md.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from standout.attack.likelihood_arrays import Entries, Errors, KnownFact
from standout.core.arrays import Bools, Floats, Ints

__all__ = [
    "eccentricity",
    "entropy",
    "lineup_1a",
    "lineup_1b",
    "match",
    "posterior",
    "scores",
    "scores_1a",
    "scores_1b",
]

Sim = Callable[["KnownItem"], Floats]


class KnownItem(NamedTuple):
    """An item i in supp(aux) and its entries in the release. A distance is None if aux does not say it."""

    record: Ints  # the record of each entry: those in supp(i), some perhaps several times
    value_distance: Floats | None  # |ρ_i − ρ′_i| for each of them, ∞ if the entry has no value
    days: Floats | None  # |d_i − d′_i| for each of them, ∞ if the entry has no date


def within(item: KnownItem, value: float = 1, days: float = 14) -> Floats:
    """Sim(aux_i, r′_i): "1 if and only if the two attribute values are within a certain threshold"."""
    parts = [np.ones(len(item.record), bool)]  # convention: an item alone counts 1
    parts += [] if item.value_distance is None else [item.value_distance <= value + 1e-9]  # 0.4 − 0.3 ≤ 0.1
    parts += [] if item.days is None else [item.days <= days + 1e-9]
    return np.asarray(np.all(parts, axis=0), np.float64)


def decay(item: KnownItem, rho0: float = 1.5, d0: float = 30) -> Floats:
    """Netflix form: e^(−|ρ_i − ρ′_i|/ρ0) + e^(−|d_i − d′_i|/d0); the paper omits the absolute values."""
    parts = [] if item.value_distance is None else [np.exp(-item.value_distance / rho0)]
    parts += [] if item.days is None else [np.exp(-item.days / d0)]
    return np.sum(parts, axis=0) if parts else np.ones(len(item.record))


def scores_1a(items: Sequence[KnownItem], n_records: int, sim: Sim = within) -> Floats:
    """Algorithm 1A: Score(aux, r′) = min Sim(aux_i, r′_i) over supp(aux); 0 if r′ lacks an item."""
    similarity = np.zeros((len(items), n_records))
    for i, item in enumerate(items):
        np.maximum.at(similarity[i], item.record, sim(item))  # the best of its entries
    return np.asarray(similarity.min(axis=0, initial=np.inf if items else 0.0))


def scores_1b(items: Sequence[KnownItem], n_records: int, sim: Sim = decay) -> Floats:
    """Algorithm 1B: Score(aux, r′) = Σ wt(i) Sim(aux_i, r′_i) over supp(aux), wt(i) = 1/log |supp(i)|."""
    scores = np.zeros(n_records)
    for item in items:
        np.maximum.at(best := np.zeros(n_records), item.record, sim(item))  # the best of its entries
        scores += best / math.log(max(int(np.count_nonzero(np.bincount(item.record))), 2))  # log 1 = 0
    return scores


def eccentricity(scores: Floats) -> float:
    """Algorithm 1B: (max − max2)/σ; convention: 0 for a tie, for σ = 0 and for a single record."""
    second, highest = np.sort(scores)[-2:] if len(scores) > 1 else (0.0, 0.0)
    return float((highest - second) / scores.std()) if highest > second else 0.0


def match(scores: Floats, phi: float = 1.5) -> int | None:
    """Algorithm 1B: "no match" if (max − max2)/σ < φ, otherwise "the record with the highest score"."""
    eccentric = eccentricity(scores)
    return int(scores.argmax()) if eccentric > 0 and eccentric >= phi else None


def matching_set(scores: Floats, alpha: float = 1.0) -> Ints:
    """Algorithm 1A: D′ = records with Score ≥ α; no match if empty. The paper's > α drops exact matches."""
    return np.flatnonzero(scores >= alpha)


def lineup_1a(scores: Floats, alpha: float = 1.0) -> Floats:
    """Algorithm 1A: "probability distribution is uniform on D′"."""
    return (scores >= alpha) / max(len(matching_set(scores, alpha)), 1)


def lineup_1b(scores: Floats) -> Floats:
    """Algorithm 1B: Π(r′) = c · e^(Score/σ), "c is a constant that makes the distribution sum up to 1"."""
    mass = np.exp((scores - scores.max()) / (scores.std() or 1.0))  # less the maximum: e^x would overflow
    return np.asarray(mass / mass.sum())


def entropy(lineup: Floats, record: int) -> float:
    """Definition 4: H_S(Π, r) = −log2 Π(r), the bits still missing; "over an empty set" H_0 = log2 N."""
    return float(-np.log2(lineup[record])) if lineup[record] > 0 else math.log2(len(lineup))


# The Bayesian attack in plain NumPy: read this first. The kernels compute the same numbers, only faster.
#
# A fact is one of the target's entries: with probability c, the coverage, from the own record, otherwise from
# anywhere in the release. `entries` are all entries of the release, `errors` the adversary's (see
# `likelihood_arrays`). `scores` has one score per record; a record is its position. See docs/attack.md.


PRIOR = 10  # an item's values are averaged with ten more, spread like those of all items


def scores(facts: list[KnownFact], entries: Entries, errors: Errors, n_records: int) -> Floats:
    """Σ ln(c · entries · n / (n_i · |r|) + 1 − c) + ln(mean P(v, t | entry) / P(v, t)) − ln(1 − c)."""
    c, total, weight = errors.coverage, np.zeros(n_records), entries.weight[entries.item]
    size = np.maximum(np.bincount(entries.record, weight, n_records), 1)  # |r| if all items weigh 1
    for fact in facts:
        has = entries.item == fact.item
        n = np.bincount(entries.record[has], minlength=n_records)  # entries of the item: few have several
        of_item = 1 + c / (1 - c) * max(weight.sum(), 1) * n / (max(n.sum(), 1) * size)
        likely, average = _likelihoods(fact, entries, fact.errors or errors, has)
        alike = likely / average if average > 0 else np.ones(n.sum())  # no entry gives it: its item counts
        mean = np.bincount(entries.record[has], alike, n_records) / np.maximum(n, 1)
        total += np.log(np.maximum(of_item * mean, 1))  # never below a record without the item
    return total


def posterior(scores: Floats, n_facts: int, coverage: float, present: float) -> Floats:
    """Probabilities of all records, and last of "nobody here"; a score of −∞ rules a record out."""
    odds = np.isfinite(scores).sum() * (1 - present) / present  # nobody : one candidate, before any fact
    nobody = np.log(odds) - n_facts * np.log(1 - coverage) if odds > 0 else -np.inf
    mass = np.exp(np.append(scores, nobody) - max(scores.max(), nobody))  # e^x would overflow
    return np.asarray(mass / mass.sum())


def _likelihoods(fact: KnownFact, entries: Entries, errors: Errors, has: Bools) -> tuple[Floats, float | np.floating]:
    """P(v, t | entry) of each entry of the item, and P(v, t): its average over the release."""
    (right, mean_right), (wrong, mean_wrong) = _values(fact, entries, errors, has)
    w, width = errors.wrong, 2 * (errors.reach or 0) + 1
    either, mean = (1 - w) * right + w * wrong, (1 - w) * mean_right + w * mean_wrong
    if fact.time is None or errors.reach is None:
        return either, mean
    timed, near = entries.time >= 0, np.abs(entries.time - fact.time) <= errors.reach
    share = (near & timed).sum() / max(timed.sum(), 1)
    share += (1 - share) * entries.session * fact.repeats  # people act in sessions
    h, g = (1 - w) / width, w / (entries.span - width if entries.span > width else entries.span)
    of_timed = share * h * mean_right + (1 - share) * g * mean_wrong
    likely = np.where(timed[has], np.where(near[has], h * right, g * wrong), either / entries.span)
    return likely, timed.mean() * of_timed + (1 - timed.mean()) * mean / entries.span


def _values(fact: KnownFact, entries: Entries, errors: Errors, has: Bools) -> list[tuple[Floats, float | np.floating]]:
    """P(v | entry) of each entry of the item, and P(v): of a right fact, and of a wrong one."""
    levels, n, known = entries.levels, len(entries.levels), entries.level >= 0
    if fact.value is None or not n:
        return [(np.ones(has.sum()), 1.0)] * 2
    n_near = (np.abs(levels[:, None] - levels) <= errors.value + 1e-9).sum(axis=1)  # 0.4 − 0.3 ≤ 0.1
    near = np.abs(levels - fact.value) <= errors.value + 1e-9
    pairs = []
    for chance in near / n_near, np.where(n_near < n, ~near / np.maximum(n - n_near, 1), 1 / n):
        overall = chance[entries.level[known]].mean() if known.any() else 0.0
        by_entry = np.where(known, chance[entries.level], overall)[has]
        pairs.append((by_entry, (by_entry.sum() + PRIOR * overall) / (len(by_entry) + PRIOR)))
    return pairs
