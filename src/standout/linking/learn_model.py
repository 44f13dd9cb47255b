"""Learning the evidence model from the profiles that match more strongly than decoys do."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from standout.core.arrays import Bools, Floats, Ints
from standout.linking.agreement import TIMES
from standout.linking.best_records import BestRecords
from standout.linking.candidates import Candidates
from standout.linking.claims import DecoyStrengths, absent_share
from standout.linking.evidence import EvidenceModel

__all__ = ["DecoyCandidates", "learn_model", "presence"]

ChooseBest = Callable[[list[Candidates], EvidenceModel], BestRecords]
ROUNDS = 4
MAX_FALSE_SHARE = 0.5
"""A profile counts only if it is more likely present than absent."""


@dataclass(frozen=True, eq=False)
class DecoyCandidates:
    """The kind and person of each decoy, and its candidate records.

    `slack` allows for the record that is missing where a person was withheld: the eccentricity of N records
    is at most N/√(N − 1), so one record fewer changes it by a share of about 1/N.
    """

    kind: Ints
    person: Ints
    variants: list[Candidates]
    slack: float

    def strengths(self, best: BestRecords) -> DecoyStrengths:
        """Return how strongly the decoys match their best records."""
        return DecoyStrengths(self.kind, self.person, best.strength, self.slack)


def learn_model(
    profiles: list[Candidates], decoys: DecoyCandidates, choose_best: ChooseBest, model: EvidenceModel
) -> EvidenceModel:
    """Return the model after a few rounds of expectation and maximisation.

    Each round weighs every profile by the probability that it is present, judged with the model so far.
    """
    has_candidate = profiles[0].record[:, 0] >= 0
    for _ in range(ROUNDS):
        best = choose_best(profiles, model)
        strengths = decoys.strengths(choose_best(decoys.variants, model))
        weight = presence(best.strength, has_candidate, strengths)
        model = model.updated(_weighted_counts(best, np.where(has_candidate & (best.ties == 1), weight, 0.0)))
    return model


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


def _weighted_counts(best: BestRecords, weight: Floats) -> Floats:
    """The counts of profiles and their best records, weighted and added up; times only where compared."""
    counts = best.counts.copy()
    counts[~best.dated, TIMES] = 0.0
    return np.asarray((weight[:, None] * counts).sum(axis=0))
