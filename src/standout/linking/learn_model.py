"""What people and their own records have in common, learned from the profiles that stand out."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats, Ints
from standout.linking.agreement import TIMES
from standout.linking.claims import Null, likely_absent
from standout.linking.evidence import Model
from standout.linking.scores import Candidates, Scored

__all__ = ["Absent", "learned"]

Judge = Callable[[list[Candidates], Model], Scored]
ROUNDS = 4
LIKELY = 0.5
"""A profile counts if it is likelier there than not."""


@dataclass(frozen=True, eq=False)
class Absent:
    """Decoys, attacked: `kind` and `person` of each, and who they may be. N records have no
    eccentricity above N/√(N − 1), and only the record that is missing would tell: it is near enough."""

    kind: Ints
    person: Ints
    ways: list[Candidates]
    slack: float

    def null(self, found: Scored) -> Null:
        """How far they stand out."""
        return Null(self.kind, self.person, found.claim, self.slack)


def learned(profiles: list[Candidates], absent: Absent, judge: Judge, model: Model) -> Model:
    """The model after a few rounds, in each of which profiles count as present people by as much as they
    stand out further than decoys, judged by the model so far."""
    tried = profiles[0].record[:, 0] >= 0
    for _ in range(ROUNDS):
        found = judge(profiles, model)
        present = _present(found.claim, tried, absent.null(judge(absent.ways, model)))
        model = model.learned(_seen(found, np.where(tried & (found.ties == 1), present, 0.0)))
    return model


def _present(claim: Floats, tried: NDArray[np.bool_], null: Null) -> Floats:
    """How likely each profile is there: 1 − the share of false ones among those that stand out as far."""
    false = null.false_claim(claim)
    ordered = np.sort(claim[tried])
    as_far = (len(ordered) - np.searchsorted(ordered, claim)) / max(len(ordered), 1)
    share = likely_absent(false[tried]) * false / np.maximum(as_far, 1 / max(len(ordered), 1))
    order = np.argsort(claim)
    share[order] = np.minimum.accumulate(share[order])  # who stands out further is no less likely there
    return np.where(share < LIKELY, 1.0 - share, 0.0)


def _seen(found: Scored, weight: Floats) -> Floats:
    """What profiles and their records have in common, added up; times where they were compared."""
    counts = found.counts.copy()
    counts[~found.dated, TIMES] = 0.0
    return np.asarray((weight[:, None] * counts).sum(axis=0))
