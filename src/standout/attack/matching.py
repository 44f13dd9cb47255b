"""The verdict of Algorithm 1A on one aux: the records that match all known facts."""

import math
from dataclasses import dataclass

from standout.attack.eccentricity import Match, check_phi
from standout.attack.verdict import Verdict

__all__ = ["MatchingVerdict"]


@dataclass(frozen=True, eq=False, repr=False)
class MatchingVerdict(Verdict):
    """Result of `Scoreboard` for one aux  [Algorithm 1A].

    The matching set D′ has the records with a score ≥ α, and all of them are equally probable.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> aux = so.Adversary(knows=3, value_error=1, time_error=14).observe(release, "42", seed=1)
    >>> verdict = so.Scoreboard(so.Within(value=1, time=14), alpha=1).attack(release, aux)
    >>> verdict.matching, verdict.probability("42"), verdict.match().record
    (1, 1.0, '42')
    """

    alpha: float = 1.0

    @property
    def matching(self) -> int:
        """|D′|: the number of records that match."""
        return int(self.columns.z[self.q])

    def match(self, phi: float = 0.0) -> Match | None:
        """The best record if any record matches, else None  [Algorithm 1A].

        With φ > 0 the best record must also stand out, as in Algorithm 1B.
        """
        eccentric = self.eccentricity
        if not self.matching or eccentric < check_phi(phi) or (phi > 0 and self.ties != 1):
            return None
        assert self.best is not None
        return Match(self.best, self.highest, eccentric)

    def entropy(self, record: str | int) -> float:
        """log2 |D′| for a record of the matching set, log2 N for any other  [Definition 4]."""
        return math.log2(self.matching) if self.probability(record) > 0 else self.bits

    def _probability(self, score: float) -> float:
        return 1.0 / self.matching if self.matching and score >= self.alpha else 0.0
