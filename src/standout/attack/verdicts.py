"""The verdicts of one call on many aux."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import overload

import numpy as np

from standout.attack.engine_kernels import LIKELIHOOD
from standout.attack.queries import Queries
from standout.attack.verdict import MatchingVerdict, PosteriorVerdict, Verdict, posterior_strengths
from standout.attack.verdict_columns import TargetColumns, VerdictColumns
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints

__all__ = ["NO_CLAIM", "Verdicts"]

NO_CLAIM = -1.0
"""Instead of the strength of a claim where none is possible: a tie, no spread, a single candidate."""


@dataclass(frozen=True, eq=False, repr=False)
class Verdicts:
    """The verdicts on many aux: a sequence of Verdict, and their numbers as columns.

    Attributes
    ----------
    queries : Queries
        The facts in terms of the release.
    columns : VerdictColumns
        The numbers of all verdicts.
    alpha : float or None
        Minimum score of a match in Algorithm 1A; None for Algorithm 1B.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> verdicts = so.ScoreboardRH().attacks(release, [so.Aux([so.Fact("17")]), so.Aux([so.Fact("42")])])
    >>> len(verdicts), verdicts[1].candidates, verdicts.columns.ties.tolist()
    (2, 500, [352, 15])
    """

    queries: Queries
    columns: VerdictColumns
    alpha: float | None = None

    def __len__(self) -> int:
        return len(self.columns.candidates)

    def __iter__(self) -> Iterator[Verdict]:
        return (self[q] for q in range(len(self)))

    @overload
    def __getitem__(self, q: int) -> Verdict: ...
    @overload
    def __getitem__(self, q: slice) -> list[Verdict]: ...
    def __getitem__(self, q: int | slice) -> Verdict | list[Verdict]:
        if isinstance(q, slice):
            return [self[i] for i in range(*q.indices(len(self)))]
        if not -len(self) <= q < len(self):
            raise IndexError(q)
        if self.queries.mode == LIKELIHOOD:
            return PosteriorVerdict(self.queries, self.columns, q % len(self))
        if self.alpha is None:
            return Verdict(self.queries, self.columns, q % len(self))
        return MatchingVerdict(self.queries, self.columns, q % len(self), self.alpha)

    def claim_strengths(self) -> Floats:
        """How strong a claim about each best guess is; NO_CLAIM where no claim is possible.

        The eccentricity  [Algorithm 1B], or −log10(1 − posterior) for `Likelihood`.

        Returns
        -------
        array of float
            One strength per verdict.
        """
        columns = self.columns
        is_possible = (columns.ties == 1) & (columns.highest > self.queries.lowest)
        if self.queries.mode == LIKELIHOOD:
            columns = self._with_z()
            strength = posterior_strengths(columns, self.queries.nobody(columns.candidates))
        else:
            is_possible &= (columns.sigma > 0) & (columns.candidates > 1)
            strength = columns.eccentricity
        if self.alpha is not None:
            is_possible &= columns.z > 0  # Algorithm 1A claims nothing if no record matches
        return np.where(is_possible, strength, NO_CLAIM)

    def _with_z(self) -> VerdictColumns:
        """The columns with Z, computed now where the attack left it out (`with_z=False`)."""
        columns = self.columns
        missing = np.flatnonzero((columns.z == 0) & (columns.candidates > 0))
        if not len(missing):
            return columns
        z = columns.z.copy()
        z[missing] = [self[int(q)].z for q in missing]
        return replace(columns, z=z)

    # What is known of targets whose own records are known, one element for each.

    @property
    def _target(self) -> TargetColumns:
        assert self.columns.target is not None
        return self.columns.target

    @property
    def candidates(self) -> int:
        """Number of records that each target may be."""
        return int(self.columns.candidates.min(initial=self.queries.release.n_records))

    @property
    def present(self) -> Bools:
        """Whether a record of the release stands for the target."""
        return self._target.record >= 0

    @property
    def ties(self) -> Ints:
        """Number of best records; of an attack with a threshold, of the records that pass it."""
        return self.columns.ties if self.alpha is None else self.columns.z.astype(np.int64)

    @property
    def guess(self) -> Ints:
        """The first of the best records, or -1."""
        listed, record = np.diff(self.columns.first) > 0, np.append(self.columns.record, -1)
        return np.where(listed & (self.ties > 0), record[self.columns.first[:-1]], -1)

    @property
    def _is_best(self) -> Bools:
        """Whether the target's record is among the best, or passes the threshold."""
        best = self.columns.highest if self.alpha is None else self.alpha
        return self.present & (self._target.score >= best)

    @property
    def found(self) -> Floats:
        """The probability that a random one of the best records is the target's."""
        return np.where(self._is_best, 1.0 / np.maximum(self.ties, 1), 0.0)

    @property
    def above(self) -> Ints:
        """Number of records that score higher than the target's."""
        return self._target.above if self.alpha is None else np.zeros(len(self), np.int64)

    @property
    def level(self) -> Ints:
        """Number of records that score the same; -1 if the target's does not pass a threshold."""
        return self._target.level if self.alpha is None else np.where(self._is_best, self.ties, -1)

    @property
    def eccentricity(self) -> Floats:
        """(best − second best) / σ; 0 in a tie  [Algorithm 1B]."""
        if self.alpha is not None:
            return np.where(self.ties == 1, np.inf, 0.0)
        return np.where(self.columns.candidates > 1, self.columns.eccentricity, 0.0)

    @property
    def posterior(self) -> Floats:
        """The probability of the guess; NaN if it was not computed."""
        if self.alpha is not None:
            return np.where(self.ties > 0, 1.0 / np.maximum(self.ties, 1), 0.0)
        z = np.where(self.columns.scale > 0, self.columns.z, self.columns.candidates)
        return 1.0 / np.where(z > 0, z, np.nan)

    @property
    def own_posterior(self) -> Floats:
        """The probability of the target's record; 0 if it is not in the release."""
        if self.alpha is not None:
            return np.where(self._is_best, self.posterior, 0.0)
        below = (np.where(self.present, self._target.score, 0.0) - self.columns.highest) * self.present
        scale = np.where(self.columns.scale > 0, self.columns.scale, 1.0)
        return np.where(self.present, elementary.exp(below / scale) * self.posterior, 0.0)

    @property
    def best_likelihood(self) -> Floats | None:
        """P(facts) / P(facts | guess): how probable the facts are about anybody, if the attack says so."""
        return elementary.exp(-self.columns.highest) if self.queries.mode == LIKELIHOOD else None

    @property
    def bits_left(self) -> Floats:
        """−log2 of the probability of the target's record; at most log2 of the number of candidates."""
        return np.minimum(-elementary.log2(self.own_posterior), math.log2(max(self.candidates, 1)))

    def __repr__(self) -> str:
        return f"<Verdicts: {len(self):,}>"
