"""The verdicts of one call on many aux."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import overload

import numpy as np

from standout.attack.likelihood_queries import LikelihoodQueries
from standout.attack.queries import Queries
from standout.attack.verdict import MatchingVerdict, PosteriorVerdict, Verdict, posterior_strengths
from standout.attack.verdict_columns import VerdictColumns
from standout.core.arrays import Floats

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
        if isinstance(self.queries, LikelihoodQueries):
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
        is_possible = (columns.ties == 1) & (columns.highest > 0)
        if isinstance(self.queries, LikelihoodQueries):
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

    def __repr__(self) -> str:
        return f"<Verdicts: {len(self):,}>"
