"""The verdict of the Bayesian attack on one aux: posterior probabilities of all records, and of nobody."""

import math
from dataclasses import dataclass

import numpy as np

from standout.attack.eccentricity import Match
from standout.attack.likelihood_queries import LikelihoodQueries
from standout.attack.verdict import Verdict
from standout.attack.verdict_columns import VerdictColumns
from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.checks import positive_share

__all__ = ["PosteriorVerdict", "posterior_strengths"]

STRONGEST = 15.0
"""Strengths end here: a posterior is rounded to 1 where its distance from 1 is below 1e-15."""


@dataclass(frozen=True, eq=False, repr=False)
class PosteriorVerdict(Verdict):
    """Result of `Likelihood` for one aux.

    Scores are log-likelihood ratios, and probabilities are posteriors.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> adversary = so.Adversary(knows=6, value_error=0, time_error=3)
    >>> verdict = so.Likelihood(adversary).attack(release, adversary.observe(release, "42", seed=1))
    >>> verdict.claim(0.95).record, verdict.probability("42") > 0.99, verdict.nobody < 0.01
    ('42', True, True)
    """

    def __repr__(self) -> str:
        best = self._probability(self.highest) if self.candidates else 0.0
        return (
            f"<PosteriorVerdict: {self.candidates:,} candidates; probability of the best {best:.3g}, "
            f"of nobody {self.nobody:.3g}; {self.ties:,} with the best score>"
        )

    @property
    def nobody(self) -> float:
        """Posterior probability that the target is not in the release; 1 if there is no candidate."""
        ratio = self._nobody_ratio if self.candidates else math.inf
        return ratio / (self.z + ratio) if math.isfinite(ratio) else 1.0

    def claim(self, probability: float = 0.95) -> Match | None:
        """The best record if its posterior is at least this probability.

        Parameters
        ----------
        probability : float
            Minimum posterior for a claim, above 0 and at most 1.

        Returns
        -------
        Match or None
            None means that the target is not claimed to be in the release.

        Raises
        ------
        ParameterError
            If `probability` is out of range.
        """
        positive_share("probability", probability)
        if self.ties != 1 or self.highest <= 0 or self._probability(self.highest) < probability:
            return None
        assert self.best is not None
        return Match(self.best, self.highest, self.eccentricity)

    def entropy(self, record: str | int) -> float:
        """−log2 of the posterior among the records: the bits still missing if the target is in the release.

        log2 N for a record that is not a candidate: the adversary can only guess.

        Parameters
        ----------
        record : str or int
            Id of the record.

        Returns
        -------
        float
            The number of bits.
        """
        position = self._position(record)
        return -self._log2(self._score(position)) if self._is_candidate(position) else self.bits

    def _probability(self, score: float) -> float:
        """Posterior of a candidate with this score."""
        return math.exp(score - self.highest) / (self.z + self._nobody_ratio)

    @property
    def _nobody_ratio(self) -> float:
        """How much likelier than the best record it is that the target is not in the release."""
        score = float(self.queries.nobody(self.columns.candidates)[self.q])
        return math.exp(score - self.highest) if score - self.highest < 700 else math.inf

    def _factors(self, fact: Ints, position: int, terms: Floats) -> tuple[Floats, Floats]:
        assert isinstance(self.queries, LikelihoodQueries)
        weight, similarity = self.queries.ratios(fact, np.full(len(fact), position), terms)
        return weight, np.where(np.isnan(terms[0]), 0.0, similarity)


def posterior_strengths(columns: VerdictColumns, nobody: Floats) -> Floats:
    """−log10(1 − posterior) of each best guess, given the score of nobody for each query."""
    ratio = elementary.exp(np.minimum(nobody - columns.highest, 700.0))
    others = np.maximum(columns.z - 1.0, 0.0) + ratio
    return np.minimum(-elementary.log(others / (1.0 + others)) / math.log(10), STRONGEST)
