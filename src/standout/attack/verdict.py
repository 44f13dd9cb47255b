"""The verdict on one aux: the best guess, how far it stands out, and how many bits are missing."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from standout.attack.engine_kernels import LIKELIHOOD, cell_addends
from standout.attack.queries import Queries, attribute_parts
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints, offsets, take_rows
from standout.core.errors import check_share, finite_number, whole_number
from standout.data.export import FrameExport, ResultView
from standout.data.labels import position_of_id
from standout.know.facts import Fact
from standout.know.sanitized import original_of

if TYPE_CHECKING:
    import polars as pl


BY_VERDICT = ("candidates", "mean", "sigma", "scale", "highest", "second", "ties", "z")


class TargetColumns(NamedTuple):
    """The record of each query's target, -1 if none, its score, and how many records score higher and the same."""

    record: Ints
    score: Floats
    above: Ints
    level: Ints


@dataclass(frozen=True, slots=True)
class VerdictColumns:
    """The numbers of many verdicts, one row each.

    `candidates` is the number of records that the query may return. `mean` and `sigma` are over all their
    scores. `highest` and `second` are the two best scores, `ties` is the number of candidates with the best.
    `scale` is what scores are divided by in probabilities: σ in Algorithm 1B, 1 for log-likelihoods. `z` is
    Σ e^((score − highest)/scale), 0 if it was not computed; for Algorithm 1A it is the number of matches.
    The best records of query q are record[first[q]:first[q + 1]], by descending `score`; equal scores are in
    the order of the release. `target` is there if the targets' own records are known.
    """

    candidates: Ints
    mean: Floats
    sigma: Floats
    scale: Floats
    highest: Floats
    second: Floats
    ties: Ints
    z: Floats
    first: Ints
    record: Ints
    score: Floats
    target: TargetColumns | None = None

    def select(self, rows: Ints) -> "VerdictColumns":
        """These rows, in this order."""
        first, at = take_rows(self.first, rows)
        numbers = {name: getattr(self, name)[rows] for name in BY_VERDICT}
        return replace(self, **numbers, first=first, record=self.record[at], score=self.score[at])

    @classmethod
    def joined(cls, parts: "list[VerdictColumns]") -> "VerdictColumns":
        """The verdicts of several calls as one."""
        if len(parts) == 1:
            return parts[0]
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in (*BY_VERDICT, "record", "score")
        }
        if targets := [part.target for part in parts if part.target is not None]:
            columns["target"] = TargetColumns(*(np.concatenate(column) for column in zip(*targets, strict=True)))
        return cls(**columns, first=offsets(np.concatenate([np.diff(part.first) for part in parts])))

    @property
    def eccentricity(self) -> Floats:
        """(max − max2) / σ of every verdict; 0 if σ is 0."""
        return (self.highest - self.second) / np.where(self.sigma > 0, self.sigma, np.inf)


class Match(NamedTuple):
    """A claim: this record belongs to the target."""

    record: str
    score: float
    eccentricity: float


class Candidate(NamedTuple):
    """A record of a lineup."""

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


@dataclass(frozen=True, eq=False, repr=False)
class Verdict(ResultView, FrameExport):
    """Result of `ScoreboardRH` for one aux  [Algorithm 1B].

    The best few records are ready. Numbers about other records are computed on demand.

    Attributes
    ----------
    queries : Queries
        The facts in terms of the release, with their weights and tables of similarity.
    columns : VerdictColumns
        The numbers of all verdicts of the same call.
    q : int
        The row of this verdict.

    Examples
    --------
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
        """Number of candidates: all records except excluded and filtered ones."""
        return int(self.columns.candidates[self.q])

    @property
    def best(self) -> str | None:
        """Best guess: the record with the highest score, the first if several tie; None without a candidate."""
        records, _ = self._top
        if len(records):
            return self._id(records[0])
        candidates = np.flatnonzero(self.scores > -np.inf)
        return self._id(candidates[0]) if len(candidates) else None

    @property
    def ties(self) -> int:
        """Number of records with the highest score. A random one of them is right with chance 1/ties."""
        return int(self.columns.ties[self.q])

    @property
    def tied(self) -> tuple[str, ...]:
        """The records with the highest score."""
        records, _ = self._top
        if 0 < self.ties <= len(records):
            return tuple(map(self._id, records[: self.ties]))
        return tuple(map(self._id, np.flatnonzero(self.scores == self.highest))) if self.candidates else ()

    @property
    def highest(self) -> float:
        """The highest score, max(S)."""
        return float(self.columns.highest[self.q])

    @property
    def second(self) -> float:
        """The second-highest score, max2(S); equal to the highest if that is tied."""
        return float(self.columns.second[self.q])

    @property
    def mean(self) -> float:
        """Mean score of all candidates, zeros included."""
        return float(self.columns.mean[self.q])

    @property
    def sigma(self) -> float:
        """Standard deviation σ of the scores of all candidates, zeros included."""
        return float(self.columns.sigma[self.q])

    @property
    def scale(self) -> float:
        """What scores are divided by in probabilities: σ in Algorithm 1B, 1 for `Likelihood`."""
        return float(self.columns.scale[self.q])

    @property
    def eccentricity(self) -> float:
        """(max − max2)/σ: how far the best record stands out; 0 for a tie  [Algorithm 1B]."""
        return (self.highest - self.second) / self.sigma if self.sigma > 0 else 0.0

    @property
    def bits(self) -> float:
        """log2 of the number of candidates: the bits that are missing without any fact."""
        return math.log2(self.candidates) if self.candidates else 0.0

    @property
    def unknown(self) -> tuple[Fact, ...]:
        """The facts that name items which the release does not have."""
        known = self.queries.known
        return tuple(known.fact(self.queries.release, i) for i in self._facts if known.item[i] < 0)

    def match(self, phi: float = 1.5) -> Match | None:
        """The claim: the best record if its eccentricity is at least φ  [Algorithm 1B].

        A tie is no match. Nor is a single candidate, because there is no second-best score.
        """
        eccentric = self.eccentricity
        if eccentric < finite_number("phi", phi) or self.ties != 1 or self.sigma == 0.0 or self.candidates < 2:
            return None
        assert self.best is not None
        return Match(self.best, self.highest, eccentric)

    def score(self, record: str | int) -> float:
        """The score of a record, candidate or not."""
        return self._score(self._position(record))

    def probability(self, record: str | int) -> float:
        """Π(r′) ∝ e^(score/σ) over all candidates; 0 for any other record  [Algorithm 1B]."""
        position = self._position(record)
        return self._probability(self._score(position)) if self._is_candidate(position) else 0.0

    def rank(self, record: str | int) -> int:
        """1 + the number of candidates with a higher score."""
        return 1 + int(np.count_nonzero(self.scores > self.score(record)))

    def entropy(self, record: str | int) -> float:
        """−log2 Π(r): the bits that are still missing to identify this record  [Definition 4].

        log2 N for a record that is not a candidate: the adversary can only guess.
        """
        position = self._position(record)
        return -self._log2(self._score(position)) if self._is_candidate(position) else self.bits

    def lineup(self, k: int = 10) -> Lineup:
        """The k most probable records with their probabilities, and the probability of all others."""
        records, scores = self._best(whole_number("k", k, 1))
        probabilities = [self._probability(float(score)) for score in scores]
        mass = max(1.0, math.fsum(probabilities))  # the partition sum is exact to nine digits
        candidates = tuple(
            Candidate(self._id(record), float(score), probability / mass)
            for record, score, probability in zip(records, scores, probabilities, strict=True)
        )
        return Lineup(candidates, max(0.0, 1.0 - math.fsum(each.probability for each in candidates)))

    def _frame(self) -> "pl.DataFrame":
        import polars as pl

        schema = {"record": pl.String, "score": pl.Float64, "probability": pl.Float64}
        return pl.DataFrame(list(self.lineup()), schema=schema, orient="row")

    def explain(self, record: str | int) -> tuple[Part, ...]:
        """What each fact adds to the score of a record, in the order of the aux.

        The parts add up to the score exactly, for `Likelihood` up to 1e-9. Each says what the item, the value
        and the date add. For Algorithm 1A a part is the
        fact's similarity, and the score is the lowest part. If the record has an item several times, its most
        similar entry counts; for `Likelihood`, similarity is the mean over these entries.
        """
        position, queries, known = self._position(record), self.queries, self.queries.known
        parts = self._cell_parts(position)
        _, fact, terms = queries.pairs(np.array([self.q]), np.array([position]))
        same = np.full(len(fact), position)
        scores, has_item = queries.parts(np.full(len(fact), self.q), fact, same, terms), ~np.isnan(terms[0])
        weight, similarity = queries.factors(fact, same, terms)
        columns = similarity, weight, scores, *(attribute_parts(queries, self.q, position, scores) or ())
        index = {int(queries.origin[f]): i for i, f in enumerate(fact)}
        for at in self._facts:
            known_fact, i = known.fact(queries.release, at), index.get(at)
            if i is None:
                parts.append(Part(known_fact, None, False, 0.0, None, 0.0, 0.0, 0.0, 0.0))
            else:
                name = queries.release.items[int(queries.facts.item[fact[i]])]
                numbers = [float(column[i]) for column in columns]
                parts.append(Part(known_fact, name, bool(has_item[i]), *numbers))
        return tuple(parts)

    def _cell_parts(self, position: int) -> list[Part]:
        """What each known cell adds: ln of how much likelier it is of the record than of anybody."""
        cells, parts = self.queries.cells, list[Part]()
        if cells is None:
            return parts
        release, known = self.queries.release, cells.known
        own, shown = slice(*known.cells.first[self.q : self.q + 2]), {column.name for column in release.columns}
        added = dict(zip(cells.cell.tolist(), cell_addends(cells.arrays, position).tolist(), strict=True))
        facts = known.aux(original_of(release), self.q).facts
        for fact, cell in zip(facts, range(own.start, own.stop), strict=False):
            has = fact.item in shown and not release.column(fact.item).is_missing[position]
            parts.append(Part(fact, fact.item, bool(has), math.exp(added.get(cell, 0.0)), 1.0, added.get(cell, 0.0)))
        return parts

    @cached_property
    def scores(self) -> Floats:
        """The scores of all records in the order of the release; −∞ for records that are not candidates."""
        return self.queries.scores(self.q)

    def __repr__(self) -> str:
        return (
            f"<Verdict: {self.candidates:,} candidates, eccentricity {self.eccentricity:.3g}, "
            f"{self.ties:,} with the best score>"
        )

    @property
    def _facts(self) -> range:
        """Positions of the facts among the known ones, those about unknown items included."""
        first = self.queries.known.first
        return range(int(first[self.q]), int(first[self.q + 1]))

    @property
    def _top(self) -> tuple[Ints, Floats]:
        row = slice(int(self.columns.first[self.q]), int(self.columns.first[self.q + 1]))
        return self.columns.record[row], self.columns.score[row]

    def _best(self, k: int) -> tuple[Ints, Floats]:
        """The k best records with a score above the lowest, and their scores."""
        (records, scores), lowest = self._top, self.queries.lowest[self.q]
        if k > len(records) and len(records) < np.count_nonzero(self.scores > lowest):
            records = np.flatnonzero(self.scores > lowest)
            records = records[np.argsort(-self.scores[records], kind="stable")]
            scores = self.scores[records]
        return records[:k], scores[:k]

    def _score(self, position: int) -> float:
        return float(self.queries.scores_of(np.array([self.q]), np.array([position]))[0])

    def _log2(self, score: float) -> float:
        """log2 Π of a candidate with this score."""
        if self.scale == 0.0:
            return -self.bits
        return ((score - self.highest) / self.scale - math.log(self.z)) / math.log(2)

    def _probability(self, score: float) -> float:
        return float(2.0 ** self._log2(score))

    @cached_property
    def z(self) -> float:
        """Σ e^((score − highest)/scale) over all candidates: the constant of their probabilities."""
        z = float(self.columns.z[self.q])
        if z:
            return z
        scores = self.scores[self.scores > -np.inf]
        return float(elementary.exp((scores - self.highest) / self.scale).sum())

    def _position(self, record: str | int) -> int:
        return position_of_id(self.queries.release.records, record)

    def _is_candidate(self, position: int) -> bool:
        return bool(self.queries.are_candidates(np.array([self.q]), np.array([position]))[0])

    def _id(self, position: int | np.integer) -> str:
        return self.queries.release.records[position]


# The verdict of the Bayesian attack on one aux: posterior probabilities of all records, and of nobody.


STRONGEST = 15.0
"""Strengths end here: a posterior is rounded to 1 where its distance from 1 is below 1e-15."""


@dataclass(frozen=True, eq=False, repr=False)
class PosteriorVerdict(Verdict):
    """Result of `Likelihood` for one aux.

    Scores are log-likelihood ratios, and probabilities are posteriors.
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
        """The best record if its posterior is at least this probability."""
        check_share("probability", probability)
        is_lowest = self.highest <= self.queries.lowest[self.q]
        if self.ties != 1 or is_lowest or self._probability(self.highest) < probability:
            return None
        assert self.best is not None
        return Match(self.best, self.highest, self.eccentricity)

    def _probability(self, score: float) -> float:
        """Posterior of a candidate with this score."""
        return math.exp(score - self.highest) / (self.z + self._nobody_ratio)

    @property
    def _nobody_ratio(self) -> float:
        """How much likelier than the best record it is that the target is not in the release."""
        score = float(self.queries.nobody(self.columns.candidates)[self.q])
        return math.exp(score - self.highest) if score - self.highest < 700 else math.inf


# The verdict of Algorithm 1A on one aux: the records that match all known facts.


@dataclass(frozen=True, eq=False, repr=False)
class MatchingVerdict(Verdict):
    """Result of `Scoreboard` for one aux  [Algorithm 1A].

    The matching set D′ has the records with a score ≥ α, and all of them are equally probable.
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
        if not self.matching or eccentric < finite_number("phi", phi) or (phi > 0 and self.ties != 1):
            return None
        assert self.best is not None
        return Match(self.best, self.highest, eccentric)

    def entropy(self, record: str | int) -> float:
        """log2 |D′| for a record of the matching set, log2 N for any other  [Definition 4]."""
        return math.log2(self.matching) if self.probability(record) > 0 else self.bits

    def _probability(self, score: float) -> float:
        return 1.0 / self.matching if self.matching and score >= self.alpha else 0.0


# The verdicts of one call on many aux.


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
        """
        columns = self.columns
        is_possible = (columns.ties == 1) & (columns.highest > self.queries.lowest)
        if self.queries.mode == LIKELIHOOD:
            z = columns.z.copy()
            for q in np.flatnonzero((z == 0) & (columns.candidates > 0)).tolist():  # the attack left it out
                scores = self.queries.scores(q)
                z[q] = elementary.exp(scores[scores > -np.inf] - columns.highest[q]).sum()
            nobody = self.queries.nobody(columns.candidates)
            others = np.maximum(z - 1.0, 0.0) + elementary.exp(np.minimum(nobody - columns.highest, 700.0))
            strength = np.minimum(-elementary.log(others / (1.0 + others)) / math.log(10), STRONGEST)
        else:
            is_possible &= (columns.sigma > 0) & (columns.candidates > 1)
            strength = columns.eccentricity
        if self.alpha is not None:
            is_possible &= columns.z > 0  # Algorithm 1A claims nothing if no record matches
        return np.where(is_possible, strength, NO_CLAIM)

    def __repr__(self) -> str:
        return f"<Verdicts: {len(self):,}>"


# What an attack says about targets whose own records are known.


class TargetVerdicts(NamedTuple):
    """The verdicts on targets whose own records are known, one element for each.

    With a threshold, the records that pass it are the best ones, and all of them are equal.

    Attributes
    ----------
    candidates : int
        Number of records that each target may be.
    present : array of bool
        Whether a record of the release stands for the target.
    ties : array of int
        Number of best records.
    guess : array of int
        The first of the best records, or -1.
    found : array of float
        The probability that a random one of the best records is the target's.
    above, level : array of int
        Number of records that score higher than the target's, and the same; `level` is -1 if it fails a threshold.
    eccentricity : array of float
        (best − second best) / σ; 0 in a tie  [Algorithm 1B].
    posterior, own_posterior : array of float
        The probability of the guess, NaN if it was not computed; and of the target's record, 0 if it is not there.
    bits_left : array of float
        −log2 of the probability of the target's record; at most log2 of the number of candidates.
    best_likelihood : array of float or None
        P(facts) / P(facts | guess): how probable the facts are about anybody, if the attack says so.
    """

    candidates: int
    present: Bools
    ties: Ints
    guess: Ints
    found: Floats
    above: Ints
    level: Ints
    eccentricity: Floats
    posterior: Floats
    own_posterior: Floats
    bits_left: Floats
    best_likelihood: Floats | None

    @classmethod
    def of(cls, verdicts: Verdicts) -> "TargetVerdicts":
        """From the numbers of all verdicts and of the targets' own records."""
        columns, alpha, own = verdicts.columns, verdicts.alpha, verdicts.columns.target
        assert own is not None
        candidates = int(columns.candidates.min(initial=verdicts.queries.release.n_records))
        present, ties, above, level = own.record >= 0, columns.ties, own.above, own.level
        is_best = present & (own.score >= (columns.highest if alpha is None else alpha))
        if alpha is None:
            eccentricity = np.where(columns.candidates > 1, columns.eccentricity, 0.0)
            z = np.where(columns.scale > 0, columns.z, columns.candidates)
            posterior = 1.0 / np.where(z > 0, z, np.nan)
            below = np.where(present, own.score, columns.highest) - columns.highest
            relative = elementary.exp(below / np.where(columns.scale > 0, columns.scale, 1.0))
            own_posterior = np.where(present, relative * posterior, 0.0)
        else:
            ties, above = columns.z.astype(np.int64), np.zeros(len(verdicts), np.int64)
            level, eccentricity = np.where(is_best, ties, -1), np.where(ties == 1, np.inf, 0.0)
            posterior = np.where(ties > 0, 1.0 / np.maximum(ties, 1), 0.0)
            own_posterior = np.where(is_best, posterior, 0.0)
        listed, record = np.diff(columns.first) > 0, np.append(columns.record, -1)
        return cls(
            candidates=candidates,
            present=present,
            ties=ties,
            guess=np.where(listed & (ties > 0), record[columns.first[:-1]], -1),
            found=np.where(is_best, 1.0 / np.maximum(ties, 1), 0.0),
            above=above,
            level=level,
            eccentricity=eccentricity,
            posterior=posterior,
            own_posterior=own_posterior,
            bits_left=np.minimum(-elementary.log2(own_posterior), math.log2(max(candidates, 1))),
            best_likelihood=elementary.exp(-columns.highest) if verdicts.queries.mode == LIKELIHOOD else None,
        )
