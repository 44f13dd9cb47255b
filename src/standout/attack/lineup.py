"""Record selection: a lineup of candidates with probabilities, and the parts of a score."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from standout.facts import Fact

__all__ = ["Candidate", "Lineup", "Part"]


class Candidate(NamedTuple):
    """A record of a lineup."""

    record: str
    score: float
    probability: float


@dataclass(frozen=True, slots=True)
class Lineup:
    """The likeliest records, in descending order, and the probability that it is somebody else.

    Records that nothing speaks for (a score of 0) are never in it: a lineup may be shorter than asked for.
    """

    candidates: tuple[Candidate, ...]
    outside: float

    def __len__(self) -> int:
        return len(self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __getitem__(self, place: int) -> Candidate:
        return self.candidates[place]


class Part(NamedTuple):
    """What one fact adds to the score of a record.

    `has` says whether the record has the item at all; `weight` is None where the release does not have it.
    """

    fact: Fact
    item: str | None
    has: bool
    similarity: float
    weight: float | None
    score: float
