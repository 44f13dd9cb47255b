"""The Bayesian attack in plain NumPy: read this first. The kernels compute the same numbers, only faster.

A fact is one of the target's entries: with probability c, the coverage, from the own record, otherwise from
anywhere in the release. `entries` are all entries of the release, `errors` the adversary's (see
`likelihood_arrays`). `scores` has one score per record; a record is its position. See docs/attack.md.
"""

import numpy as np

from standout.attack.reference_arrays import Entries, Errors, KnownFact
from standout.core.arrays import Bools, Floats

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
