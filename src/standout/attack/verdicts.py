"""The verdicts of one call on many aux."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import overload

from standout.attack.matching_verdict import MatchingVerdict
from standout.attack.queries import Queries
from standout.attack.verdict import Verdict
from standout.attack.verdict_columns import VerdictColumns

__all__ = ["Verdicts"]


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
        if self.alpha is None:
            return Verdict(self.queries, self.columns, q % len(self))
        return MatchingVerdict(self.queries, self.columns, q % len(self), self.alpha)

    def __repr__(self) -> str:
        return f"<Verdicts: {len(self):,}>"
