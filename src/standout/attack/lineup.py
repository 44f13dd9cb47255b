"""Record selection: a lineup of candidates with probabilities, and the parts of a score."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from standout.fact import Fact

__all__ = ["Candidate", "Lineup", "Part"]


class Candidate(NamedTuple):
    """A record of a lineup.

    Attributes
    ----------
    record : str
        Id of the record.
    score : float
        Its score.
    probability : float
        Π(r′), proportional to e^(score/σ)  [Algorithm 1B]; for `Likelihood` the posterior.

    Examples
    --------
    >>> Candidate("42", score=2.1, probability=0.4).record
    '42'
    """

    record: str
    score: float
    probability: float


@dataclass(frozen=True, slots=True)
class Lineup:
    """The most probable records in descending order, and the probability of all others  [section 4].

    A record with score 0 is never in a lineup, so it may be shorter than requested.

    Attributes
    ----------
    candidates : tuple of Candidate
        The records.
    outside : float
        The probability that the target is none of them. For `Likelihood` this includes the case that the
        target is not in the release.

    Examples
    --------
    >>> lineup = Lineup((Candidate("42", 2.1, 0.4), Candidate("7", 1.3, 0.2)), outside=0.4)
    >>> len(lineup), lineup[0].record, [candidate.probability for candidate in lineup]
    (2, '42', [0.4, 0.2])
    """

    candidates: tuple[Candidate, ...]
    outside: float

    def __len__(self) -> int:
        return len(self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __getitem__(self, index: int) -> Candidate:
        return self.candidates[index]


class Part(NamedTuple):
    """What one fact adds to the score of a record: weight · similarity.

    For `Likelihood` it is ln(weight · similarity), and at least 0.

    Attributes
    ----------
    fact : Fact
        The known fact.
    item : str or None
        Id of its item; None if the release does not have it.
    has : bool
        Whether the record has the item.
    similarity : float
        Sim of the fact and the record's entry; 0 if the record lacks the item. For `Likelihood`, how much
        likelier the known value and date are with this entry than with any.
    weight : float or None
        wt(i); None if the release does not have the item. For `Likelihood`, how much likelier it is to know
        this item of the record than of somebody else.
    score : float
        What the fact adds.
    by_item, by_value, by_time : float or None
        What its item, its value and its date add: the difference that each makes when it becomes known, in
        this order. They add up to the score, up to rounding. A value or date that does not fit adds less than
        0. None if the attack cannot say.

    Examples
    --------
    >>> Part(Fact("17", value=4), "17", True, similarity=1.0, weight=0.2, score=0.2).score
    0.2
    """

    fact: Fact
    item: str | None
    has: bool
    similarity: float
    weight: float | None
    score: float
    by_item: float | None = None
    by_value: float | None = None
    by_time: float | None = None
