"""The verdict on one aux: who it points to, how far that stands out, and what would still be missing."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, overload

import numpy as np

from standout.attack.eccentricity import Match, check_phi, eccentricity
from standout.attack.kernels.conjunction import minimum_similarities, new_workspace
from standout.attack.lineup import Candidate, Lineup, Part
from standout.attack.queries import Queries
from standout.core import elementary
from standout.core.arrays import Floats, Ints, offsets
from standout.core.errors import NotFoundError, ParameterError
from standout.facts import Fact

__all__ = ["MatchingVerdict", "Verdict", "VerdictColumns", "VerdictRow", "Verdicts"]


class VerdictRow(NamedTuple):
    """The numbers of one verdict, as in VerdictColumns."""

    candidates: int
    mean: float
    sigma: float
    highest: float
    second: float
    ties: int
    z: float
    record: Ints
    score: Floats


@dataclass(frozen=True, slots=True)
class VerdictColumns:
    """The numbers of many verdicts, a row each.

    `candidates` is how many records could be found, `mean` and `sigma` are over all their scores, `highest`
    and `second` the two best scores, `ties` how many candidates have the best. `z` is Σ e^((score −
    highest)/σ), 0 where it was not asked for; for Algorithm 1A how many match. Query q's best records are
    record[first[q]:first[q + 1]], in descending order of `score`, equals by their place in the release.
    """

    candidates: Ints
    mean: Floats
    sigma: Floats
    highest: Floats
    second: Floats
    ties: Ints
    z: Floats
    first: Ints
    record: Ints
    score: Floats

    @classmethod
    def empty(cls, count: int) -> "VerdictColumns":
        return cls(
            np.zeros(count, np.int64), np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count),
            np.zeros(count, np.int64), np.zeros(count), np.zeros(count + 1, np.int64), np.empty(0, np.int64),
            np.empty(0),
        )  # fmt: skip

    def with_rows(self, rows: dict[int, VerdictRow]) -> "VerdictColumns":
        """The same with other rows in some places."""
        bounds = zip(self.first[:-1].tolist(), self.first[1:].tolist(), strict=True)
        best = [(self.record[low:high], self.score[low:high]) for low, high in bounds]
        numbers = {name: getattr(self, name).copy() for name in VerdictRow._fields[:7]}
        for q, row in rows.items():
            best[q] = row.record, row.score
            for name, column in numbers.items():
                column[q] = getattr(row, name)
        first = offsets([len(record) for record, _ in best])
        record = np.concatenate([self.record[:0], *(records for records, _ in best)])
        score = np.concatenate([self.score[:0], *(scores for _, scores in best)])
        return replace(self, **numbers, first=first, record=record, score=score)

    @property
    def eccentricity(self) -> Floats:
        """(max − max2) / σ of every verdict; 0 where σ is."""
        return (self.highest - self.second) / np.where(self.sigma > 0, self.sigma, np.inf)


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """What ScoreboardRH makes of one aux. What goes beyond the best few is computed when it is asked for.

    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> aux = so.Adversary(knows=6, value_error=0, time_error=3).observe(release, "42", seed=1)
    >>> verdict = so.ScoreboardRH().attack(release, aux)
    >>> verdict.best, verdict.ties, round(verdict.eccentricity, 1)
    ('42', 1, 3.0)
    >>> verdict.match(phi=1.5).record
    '42'
    >>> round(verdict.entropy("42"), 3), verdict.rank("42")
    (1.394, 1)
    """

    queries: Queries
    columns: VerdictColumns
    q: int

    @property
    def candidates(self) -> int:
        """How many records could be found: all, without the excluded and the filtered ones."""
        return int(self.columns.candidates[self.q])

    @property
    def best(self) -> str | None:
        """A record with the highest score, the first in the release if several tie; None if nobody."""
        records = self._top[0]
        if len(records):
            return self._id(records[0])
        found = np.flatnonzero(self.scores > -np.inf)
        return self._id(found[0]) if len(found) else None

    @property
    def ties(self) -> int:
        """How many records have the highest score. A best guess among them is right once in so many."""
        return int(self.columns.ties[self.q])

    @property
    def tied(self) -> tuple[str, ...]:
        """The records with the highest score."""
        records = self._top[0]
        if 0 < self.ties <= len(records):
            return tuple(map(self._id, records[: self.ties]))
        return tuple(map(self._id, np.flatnonzero(self.scores == self.highest))) if self.candidates else ()

    @property
    def highest(self) -> float:
        """The highest score."""
        return float(self.columns.highest[self.q])

    @property
    def second(self) -> float:
        """The second-highest score; the highest once more if it is tied."""
        return float(self.columns.second[self.q])

    @property
    def mean(self) -> float:
        """The mean score of all candidates, zeros included."""
        return float(self.columns.mean[self.q])

    @property
    def sigma(self) -> float:
        """σ: the standard deviation of the scores of all candidates, zeros included."""
        return float(self.columns.sigma[self.q])

    @property
    def eccentricity(self) -> float:
        """(max − max2) / σ: how far the best record stands out; 0 for a tie."""
        return eccentricity(self.highest, self.second, self.sigma)

    @property
    def bits(self) -> float:
        """log2 of the number of candidates: what one would need to know without aux."""
        return math.log2(self.candidates) if self.candidates else 0.0

    @property
    def unknown(self) -> tuple[Fact, ...]:
        """The facts that name items which the release does not have."""
        known = self.queries.known
        here = slice(int(known.first[self.q]), int(known.first[self.q + 1]))
        return tuple(
            known.fact(self.queries.release, i) for i in range(here.start, here.stop) if known.item[i] < 0
        )

    def match(self, phi: float = 1.5) -> Match | None:
        """The best record, or None: "not here". It takes an eccentricity of at least φ  [Algorithm 1B].

        A tie is no match, nor is the only candidate: nothing can stand out.
        """
        stands_out = self.eccentricity
        if stands_out < check_phi(phi) or self.ties != 1 or self.sigma == 0.0 or self.candidates < 2:
            return None
        assert self.best is not None
        return Match(self.best, self.highest, stands_out)

    def score(self, record: str) -> float:
        """The score of a record, whether it is a candidate or not."""
        return self._score(self._place(record))

    def probability(self, record: str) -> float:
        """Π(r′) ∝ e^(score/σ) over all candidates; 0 for a record that is none  [Algorithm 1B]."""
        place = self._place(record)
        return self._probability(self._score(place)) if self._is_candidate(place) else 0.0

    def rank(self, record: str) -> int:
        """1 + how many candidates have a higher score."""
        return 1 + int(np.count_nonzero(self.scores > self.score(record)))

    def entropy(self, record: str) -> float:
        """−log2 Π(r): the bits still missing to point at this record  [Definition 4].

        For a record that is no candidate it is log2 N: the adversary can but guess.
        """
        place = self._place(record)
        return -self._log2(self._score(place)) if self._is_candidate(place) else self.bits

    def lineup(self, k: int = 10) -> Lineup:
        """The k likeliest records with their probabilities, and the mass left outside."""
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise ParameterError(f"a lineup has at least 1 record, got {k!r}")
        records, scores = self._best(k)
        found = tuple(
            Candidate(self._id(record), float(score), self._probability(float(score)))
            for record, score in zip(records, scores, strict=True)
        )
        return Lineup(found, max(0.0, 1.0 - math.fsum(one.probability for one in found)))

    def explain(self, record: str) -> tuple[Part, ...]:
        """What each fact added to the score of a record, in the order of aux. The parts add up to it exactly.

        For Algorithm 1A a part is the fact's similarity, and the score is the least of them.
        """
        place, queries, known = self._place(record), self.queries, self.queries.known
        _, fact, terms = queries.pairs(np.array([self.q]), np.array([place]))
        parts, held, similarity = self._parts(fact, terms), terms[0] >= 0, np.maximum(terms, 0.0).sum(axis=0)
        told = {int(queries.origin[f]): i for i, f in enumerate(fact)}
        found = []
        for at in range(int(known.first[self.q]), int(known.first[self.q + 1])):
            thing, i = known.fact(queries.release, at), told.get(at)
            if i is None:
                found.append(Part(thing, None, False, 0.0, None, 0.0))
            else:
                name = queries.release.items[int(queries.facts.item[fact[i]])]
                numbers = float(similarity[i]), float(queries.weight[fact[i]]), float(parts[i])
                found.append(Part(thing, name, bool(held[i]), *numbers))
        return tuple(found)

    @cached_property
    def scores(self) -> Floats:
        """The scores of all records in the order of the release; −∞ for those that are no candidates."""
        return self.queries.scores(self.q)

    def __repr__(self) -> str:
        return (
            f"<Verdict: {self.candidates:,} candidates, eccentricity {self.eccentricity:.3g}, "
            f"{self.ties:,} with the best score>"
        )

    @property
    def _top(self) -> tuple[Ints, Floats]:
        here = slice(int(self.columns.first[self.q]), int(self.columns.first[self.q + 1]))
        return self.columns.record[here], self.columns.score[here]

    def _best(self, k: int) -> tuple[Ints, Floats]:
        """The k best records with a score above 0, and their scores."""
        records, scores = self._top
        if k > len(records) and len(records) < np.count_nonzero(self.scores > 0):
            records = np.flatnonzero(self.scores > 0)
            records = records[np.argsort(-self.scores[records], kind="stable")]
            scores = self.scores[records]
        return records[:k], scores[:k]

    def _parts(self, fact: Ints, terms: Floats) -> Floats:
        return self.queries.parts(np.full(len(fact), self.q), fact, terms)

    def _score(self, place: int) -> float:
        return float(self.queries.scores_of(np.array([self.q]), np.array([place]))[0])

    def _log2(self, score: float) -> float:
        """log2 Π of a candidate with this score."""
        if self.sigma == 0.0:
            return -self.bits
        return ((score - self.highest) / self.sigma - math.log(self._z)) / math.log(2)

    def _probability(self, score: float) -> float:
        return float(2.0 ** self._log2(score))

    @cached_property
    def _z(self) -> float:
        """Σ e^((score − highest)/σ) over all candidates."""
        z = float(self.columns.z[self.q])
        if z:
            return z
        scores = self.scores[self.scores > -np.inf]
        return float(elementary.exp((scores - self.highest) / self.sigma).sum())

    def _place(self, record: str) -> int:
        if not isinstance(record, str):
            raise ParameterError(f"a record's id is text, got {type(record).__name__}")
        place = self.queries.release.records.find(record)
        if place is None:
            raise NotFoundError("the release has no record of that id; ids are text, so 007 is not 7")
        return place

    def _is_candidate(self, place: int) -> bool:
        keep = self.queries.is_candidate(self.q)
        return keep is None or bool(keep[place])

    def _id(self, place: int | np.integer) -> str:
        return self.queries.release.records[place]


@dataclass(frozen=True, eq=False, repr=False)
class MatchingVerdict(Verdict):
    """What Scoreboard makes of one aux: the matching set D′ of records with a score ≥ α, all equally likely.

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
        """|D′|: how many records match."""
        return int(self.columns.z[self.q])

    def match(self, phi: float = 0.0) -> Match | None:
        """The best record if any matches, else None  [Algorithm 1A]. With φ > 0 it must stand out too."""
        stands_out = self.eccentricity
        if not self.matching or stands_out < check_phi(phi) or (phi > 0 and self.ties != 1):
            return None
        assert self.best is not None
        return Match(self.best, self.highest, stands_out)

    def entropy(self, record: str) -> float:
        """log2 |D′| for a record of the matching set; log2 N for any other: nothing points to it."""
        return math.log2(self.matching) if self.probability(record) > 0 else self.bits

    @cached_property
    def scores(self) -> Floats:
        records, scores = minimum_similarities(self.queries, self.q, new_workspace())
        keep = self.queries.is_candidate(self.q)
        every = np.zeros(self.queries.release.n_records)
        every[records] = scores
        return every if keep is None else np.where(keep, every, -np.inf)

    def _score(self, place: int) -> float:
        _, fact, terms = self.queries.pairs(np.array([self.q]), np.array([place]))
        whole = len(fact) == self.queries.known.first[self.q + 1] - self.queries.known.first[self.q]
        return float(self._parts(fact, terms).min()) if whole and len(fact) else 0.0

    def _probability(self, score: float) -> float:
        return 1.0 / self.matching if self.matching and score >= self.alpha else 0.0

    def _parts(self, fact: Ints, terms: Floats) -> Floats:
        count = self.queries.tables.terms[self.queries.facts.shape[fact]]
        return np.asarray(np.maximum(terms, 0.0).sum(axis=0) / count)


@dataclass(frozen=True, eq=False, repr=False)
class Verdicts:
    """The verdicts on many aux: a sequence of Verdict, and their numbers as columns."""

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
