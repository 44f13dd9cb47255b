"""Precision and recall of claims at every φ and for every budget, where the truth is known."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from standout.core.arrays import Bools, Floats, Ints
from standout.evaluate.claim_rates import ROUNDING

__all__ = ["JudgedProfiles"]

POINTS = 400
BUDGETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True, eq=False)
class JudgedProfiles:
    """Profiles compared with the truth, a row each.

    `claimable` profiles have a unique best record, `identified` ones the right one, and `present` ones belong
    to a person of the release.
    """

    strength: Floats
    claimable: Bools
    identified: Bools
    present: Bools

    def by_phi(self) -> pl.DataFrame:
        """Return phi, claims, correct_claims, precision, recall, absent_claims for many φ."""
        levels = np.unique(self.strength[self.claimable])
        phi = np.concatenate([[0.0], np.nextafter(levels * (1.0 + ROUNDING), np.inf)])
        phi = phi[np.unique(np.linspace(0, len(phi) - 1, min(POINTS, len(phi))).astype(np.int64))]
        return self._rates("phi", phi, phi)

    def by_budget(self, phi_for: Callable[[float], float]) -> pl.DataFrame:
        """Return the same for several budgets; budgets for which there is no φ are left out."""
        phis = {budget: phi_for(budget) for budget in BUDGETS}
        phis = {budget: phi for budget, phi in phis.items() if np.isfinite(phi)}
        return self._rates("budget", np.array(list(phis)), np.array(list(phis.values())))

    def _rates(self, name: str, setting: Floats, phi: Floats) -> pl.DataFrame:
        claims = self._count(self.claimable, phi)
        correct = self._count(self.claimable & self.identified, phi)
        absent = self._count(self.claimable & ~self.present, phi)
        precision = [int(c) / int(n) if n else None for c, n in zip(correct, claims, strict=True)]
        columns = {
            name: setting,
            "claims": claims,
            "correct_claims": correct,
            "precision": pl.Series(precision, dtype=pl.Float64),
            "recall": correct / max(int(self.present.sum()), 1),
            "absent_claims": absent / max(int((~self.present).sum()), 1),
        }
        return pl.DataFrame(columns)

    def _count(self, group: Bools, phi: Floats) -> Ints:
        """How many of a group are claimed at each φ."""
        ordered = np.sort(self.strength[group])
        return np.asarray(len(ordered) - np.searchsorted(ordered, phi), np.int64)
