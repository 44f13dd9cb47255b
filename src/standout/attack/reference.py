"""The paper's attack in plain NumPy: read this first. The kernels compute the same numbers, only faster.

Quotes: Narayanan and Shmatikov (2008), sections 4 and 5. `scores` has all records. See docs/attack.md.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from standout.core.arrays import Floats, Ints

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
