"""Large populations of targets in which the true rates of claims are known."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from standout.attack.verdict import NO_CLAIM
from standout.evaluate.claims import ClaimRates

POPULATIONS = ("moderate tails", "heavy tails", "posteriors")
SIZE = 200_000


@dataclass(frozen=True)
class People:
    """Strengths of claims about present and absent people, and whether the former would be correct."""

    present: NDArray[np.float64]
    correct: NDArray[np.bool_]
    absent: NDArray[np.float64]
    sorted_correct: NDArray[np.float64]
    sorted_absent: NDArray[np.float64]

    def sample(self, chosen):
        right = self.correct[chosen].astype(np.float64)
        return ClaimRates(self.present[chosen][:, None], right[:, None], self.absent[chosen][:, None])

    def correct_claims(self, phi):
        return (len(self.sorted_correct) - np.searchsorted(self.sorted_correct, phi)) / len(self.present)

    def absent_claims(self, phi):
        return (len(self.absent) - np.searchsorted(self.sorted_absent, phi)) / len(self.absent)

    def phi_for(self, budget):
        return np.nextafter(self.sorted_absent[-1 - int(budget * len(self.absent))] * (1 + 1e-5), np.inf)


@lru_cache
def population(name):
    """People some of whom are easier to find than others, so that both strengths of a person are related."""
    rng = np.random.default_rng(17)
    ease, first, second = rng.normal(size=(3, SIZE))
    if name == "moderate tails":
        present, absent = np.abs(1.8 + 0.7 * ease + 0.8 * first), np.abs(0.5 * ease + second) / 2
    elif name == "heavy tails":
        present, absent = np.exp(0.8 + 0.5 * ease + 0.7 * first), 0.3 * np.exp(0.5 * ease + second)
    elif name == "ties":
        present, absent = np.exp(1 + 0.5 * ease + first), 0.3 * np.exp(0.5 * ease + 1.4 * second)
        present, absent = np.minimum(present, 5.0), np.minimum(absent, 5.0)
    else:  # −log10(1 − posterior)
        present, absent = (
            np.log10(1 + np.exp(middle + 0.8 * ease + 1.5 * noise)) for middle, noise in ((1.5, first), (-2, second))
        )
    present = np.where(rng.random(SIZE) < 0.05, NO_CLAIM, present)
    absent = np.where(rng.random(SIZE) < 0.1, NO_CLAIM, absent)
    correct = (rng.random(SIZE) < 1 / (1 + np.exp(-1.5 - ease))) & (present >= 0)
    return People(present, correct, absent, np.sort(present[correct]), np.sort(absent))
