"""Learning the evidence model from the profiles that match more strongly than decoys do."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from standout.core.arrays import Bools, Floats
from standout.core.progress import Progress, no_progress
from standout.facts import KnownFacts
from standout.linking.agreement import COLUMNS, TIMES
from standout.linking.best_records import BestRecords, concatenate
from standout.linking.claims import DecoyStrengths, absent_share
from standout.linking.evidence import EvidenceModel
from standout.linking.record_search import RecordSearch

__all__ = ["learn_model", "presence"]

ROUNDS = 4
MAX_FALSE_SHARE = 0.5
"""A profile counts only if it is more likely present than absent."""


def learn_model(
    profiles: Sequence[KnownFacts],
    match_decoys: Callable[[RecordSearch], DecoyStrengths],
    search: RecordSearch,
    progress: Progress = no_progress,
) -> EvidenceModel:
    """Return the model after a few rounds of expectation and maximisation.

    Each round attacks the profiles and the decoys with the model so far, and weighs every profile by the
    probability that it is present.
    """
    for number in range(ROUNDS):
        found = [search.find(known, full=False) for known in profiles]
        best = concatenate(found)
        has_candidate = best.record >= 0
        weight = presence(best.strength, has_candidate, match_decoys(search))
        weight = np.where(has_candidate & (best.ties == 1), weight, 0.0)
        rows = [_counts(search, *batch) for batch in zip(profiles, found, strict=True)]
        counts = (weight[:, None] * np.concatenate(rows)).sum(axis=0)
        search = replace(search, model=search.model.updated(counts))
        progress("learning", number + 1, ROUNDS)
    return search.model


def presence(strength: Floats, has_candidate: Bools, decoys: DecoyStrengths) -> Floats:
    """Return the probability that each profile is present: 1 − the share of absent ones at its strength."""
    false_claim = decoys.false_claim(strength)
    ordered = np.sort(strength[has_candidate])
    n = max(len(ordered), 1)
    at_least = (len(ordered) - np.searchsorted(ordered, strength)) / n
    false_share = absent_share(false_claim[has_candidate]) * false_claim / np.maximum(at_least, 1 / n)
    order = np.argsort(strength)
    false_share[order] = np.minimum.accumulate(false_share[order])  # a stronger match is no less likely
    return np.where(false_share < MAX_FALSE_SHARE, 1.0 - false_share, 0.0)


def _counts(search: RecordSearch, known: KnownFacts, best: BestRecords) -> Floats:
    """The counts of profiles and their best records; times only where they were compared."""
    counts, found = np.zeros((len(best), COLUMNS)), np.flatnonzero(best.record >= 0)
    counts[found] = search.agreement.counts(known, found, best.record[found], search.model.ratios)
    counts[~best.dated, TIMES] = 0.0
    return counts
