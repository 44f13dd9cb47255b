"""The paper's two algorithms: aux in, verdict out."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from standout.attack.engine import score
from standout.attack.engine_kernels import MINIMUM
from standout.attack.matching import MatchingVerdict
from standout.attack.own_queries import batch_attack, check_sizes, guard_overrides
from standout.attack.queries import Queries, Weights, excluded_records, prepare_queries, weight_function
from standout.attack.verdict import Verdict
from standout.attack.verdicts import Verdicts
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError, positive_share
from standout.core.progress import Progress, no_progress
from standout.data.release import Release
from standout.know.facts import Aux, KnownFacts, encode_auxes
from standout.know.similarity import Decay, Similarity, Within, check_similarity

__all__ = ["ExactMatch", "Exclude", "MatchingQueries", "Scoreboard", "ScoreboardRH", "check_top"]

# Queries of Algorithm 1A: a record's score is that of its least similar attribute.


@dataclass(frozen=True, eq=False)
class MatchingQueries(Queries):
    """Queries with the scores of Algorithm 1A; a sum of terms counts as their mean."""

    mode: ClassVar[int] = MINIMUM

    @classmethod
    def of(cls, queries: Queries) -> "MatchingQueries":
        """The same queries with other scores."""
        columns = {column.name: getattr(queries, column.name) for column in fields(Queries)}
        prepare = None if queries.prepare is None else partial(_prepare, queries.prepare)
        return cls(**columns | {"prepare": prepare})

    @property
    def grid(self) -> Floats:
        """None: similarities are not added up."""
        return np.zeros(len(self))

    def parts(self, query: Ints, fact: Ints, record: Ints, terms: Floats) -> Floats:
        """The similarity of each fact, between 0 and 1."""
        return np.asarray(np.fmax(terms, 0.0).sum(axis=0) / self.tables.terms[self.facts.shape[fact]])

    def scores_of(self, query: Ints, record: Ints) -> Floats:
        """The score of each record for the query of the same index; 0 if an item is not in the release."""
        pair, fact, terms = self.pairs(query, record)
        lowest = np.full(len(query), np.inf)
        np.minimum.at(lowest, pair, self.parts(query[pair], fact, record[pair], terms))
        has_all = np.diff(self.facts.first)[query] == np.diff(self.known.first)[query]
        return np.where(has_all & (lowest < np.inf), lowest, 0.0)


def _prepare(prepare: Callable[..., Queries], known: KnownFacts, exclude: Ints) -> MatchingQueries:
    return MatchingQueries.of(prepare(known=known, exclude=exclude))


Exclude = str | None | Sequence[str | None] | NDArray[np.int64]


@dataclass(frozen=True)
class Scoreboard:
    """Algorithm 1A: a candidate is as good as its least similar attribute  [section 4].

    score(aux, r′) = min Sim(aux_i, r′_i) over the known items. The matching set D′ has all records with a
    score ≥ α, and each of them is equally probable. (The paper writes > α, which would drop its own exact
    matches.) Where a record has an item several times, the most similar of these entries counts.

    Parameters
    ----------
    similarity : Similarity
        Sim of a known fact and an entry; default: `Within()`. A sum of terms counts as their mean.
    alpha : float
        Minimum score of a match, above 0 and at most 1.

    Raises
    ------
    ParameterError
        If a parameter has the wrong type or is out of range.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> verdict = so.Scoreboard(so.Present()).attack(release, so.Aux([so.Fact("17"), so.Fact("42")]))
    >>> verdict.matching, verdict.ties
    (15, 15)
    """

    similarity: Similarity = field(default_factory=Within)
    alpha: float = 1.0

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        guard_overrides(cls)

    def __post_init__(self) -> None:
        check_similarity(self.similarity)
        positive_share("alpha", self.alpha)

    def attack(self, release: Release, aux: Aux, *, exclude: str | None = None, top: int = 10) -> MatchingVerdict:
        """Attack one target.

        Parameters
        ----------
        release : Release
            The data set that would be published.
        aux : Aux
            What the adversary knows about the target.
        exclude : str, optional
            Id of a record to remove from the release first.
        top : int
            Number of best records to have ready, from 2 to 1,000.

        Returns
        -------
        MatchingVerdict
            The matching set and its probabilities.
        """
        attacks = batch_attack(type(self))
        verdict = attacks(self, release, [aux], exclude=exclude, top=top, threads=1)[0]
        assert isinstance(verdict, MatchingVerdict)
        return verdict

    def attacks(
        self,
        release: Release,
        auxes: Iterable[Aux] | KnownFacts,
        *,
        exclude: Exclude = None,
        top: int = 10,
        threads: int | None = None,
        progress: Progress = no_progress,
    ) -> Verdicts:
        """Attack many targets.

        Parameters
        ----------
        release : Release
            The data set that would be published.
        auxes : iterable of Aux, or KnownFacts
            What the adversary knows about each target.
        exclude : str, or sequence of str or None, optional
            Id of a record to remove first: one for all targets, or one for each.
        top : int
            Number of best records to have ready, from 2 to 1,000.
        threads : int, optional
            Number of threads; default: all cores. The results do not depend on it.
        progress : callable, optional
            Called as progress(stage, done, total).

        Returns
        -------
        Verdicts
            One verdict for each aux, in the same order.
        """
        queries = MatchingQueries.of(_queries(release, auxes, exclude, self.similarity, "one"))
        scored = score(queries, check_top(top), alpha=self.alpha, threads=threads, progress=progress)
        return Verdicts(*scored, self.alpha)

    def nested(
        self,
        release: Release,
        auxes: Iterable[Aux] | KnownFacts,
        sizes: Sequence[int],
        *,
        exclude: Exclude = None,
        top: int = 2,
        with_z: bool = True,
        threads: int | None = None,
        progress: Progress = no_progress,
    ) -> Verdicts:
        """Attack with only the first facts of each aux, for several sizes.

        Parameters
        ----------
        release : Release
            The data set that would be published.
        auxes : iterable of Aux, or KnownFacts
            What the adversary knows about each target.
        sizes : sequence of int
            Numbers of facts.
        exclude, top, with_z, threads, progress
            As in `attacks`. `with_z` has no effect: the number of matches is always counted.

        Returns
        -------
        Verdicts
            The verdict on aux q with sizes[s] facts has the number q · len(sizes) + s.

        Raises
        ------
        ParameterError
            If a size is not a whole number ≥ 1.
        """
        check_sizes(sizes)
        queries = MatchingQueries.of(_queries(release, auxes, exclude, self.similarity, "one"))
        scored = score(queries, check_top(top), sizes, alpha=self.alpha, threads=threads, progress=progress)
        return Verdicts(*scored, self.alpha)


@dataclass(frozen=True)
class ExactMatch(Scoreboard):
    """Records that equal every known cell and entry are candidates: what k-anonymity and ARX's risks assume.

    Examples
    --------
    >>> ExactMatch().alpha
    1.0
    """

    similarity: Similarity = field(default_factory=lambda: Within(value=0, time=0))


@dataclass(frozen=True)
class ScoreboardRH:
    """Algorithm 1B: rare items count more, and the best must stand out  [section 4; Netflix form: section 5].

    score(aux, r′) = Σ wt(i) · Sim(aux_i, r′_i) over the known items, with wt(i) = 1 / ln max(|supp(i)|, 2).
    By default Sim is the Netflix form, e^(−|Δvalue|/ρ0) + e^(−|Δdays|/d0). Where a record has an item several
    times, the most similar of these entries counts.

    Parameters
    ----------
    similarity : Similarity, optional
        Sim of a known fact and an entry; default: `Decay(value_scale, time_scale)`.
    weights : {"rarity", "one", "inverse"} or callable
        wt(i) as above, 1, 1/|supp(i)|, or a function from an array of supports to an array of weights.
    value_scale : float, optional
        ρ0 of the default similarity; None: values are not compared.
    time_scale : float, optional
        d0 of the default similarity, in days; None: dates are not compared.

    Raises
    ------
    ParameterError
        If a parameter has the wrong type or is out of range, or if both a similarity and scales are given.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> aux = so.Aux([so.Fact("17", value=4), so.Fact("42", value=3)])
    >>> so.ScoreboardRH(so.Within(value=1, time=None)).attack(release, aux).candidates
    500
    """

    similarity: Similarity = field(default_factory=Decay)
    weights: Weights = "rarity"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        guard_overrides(cls)

    def __init__(
        self,
        similarity: Similarity | None = None,
        weights: Weights = "rarity",
        *,
        value_scale: float | None = 1.5,
        time_scale: float | None = 30,
    ) -> None:
        if similarity is not None:
            check_similarity(similarity)
            if (value_scale, time_scale) != (1.5, 30):
                raise ParameterError(
                    "value_scale and time_scale belong to the default similarity: give them or a similarity"
                )
        weight_function(weights)
        object.__setattr__(self, "similarity", similarity or Decay(value_scale, time_scale))
        object.__setattr__(self, "weights", weights)

    def attack(self, release: Release, aux: Aux, *, exclude: str | None = None, top: int = 10) -> Verdict:
        """Attack one target.

        Parameters
        ----------
        release : Release
            The data set that would be published.
        aux : Aux
            What the adversary knows about the target.
        exclude : str, optional
            Id of a record to remove from the release first.
        top : int
            Number of best records to have ready, from 2 to 1,000.

        Returns
        -------
        Verdict
            The best guess, its eccentricity, and the lineup.
        """
        attacks = batch_attack(type(self))
        verdicts: Verdicts = attacks(self, release, [aux], exclude=exclude, top=top, threads=1)
        return verdicts[0]

    def attacks(
        self,
        release: Release,
        auxes: Iterable[Aux] | KnownFacts,
        *,
        exclude: Exclude = None,
        top: int = 10,
        with_z: bool = True,
        threads: int | None = None,
        progress: Progress = no_progress,
    ) -> Verdicts:
        """Attack many targets.

        Parameters
        ----------
        release : Release
            The data set that would be published.
        auxes : iterable of Aux, or KnownFacts
            What the adversary knows about each target.
        exclude : str, or sequence of str or None, optional
            Id of a record to remove first: one for all targets, or one for each.
        top : int
            Number of best records to have ready, from 2 to 1,000.
        with_z : bool
            Whether to prepare probabilities. False is faster; probabilities are then computed on demand.
        threads : int, optional
            Number of threads; default: all cores. The results do not depend on it.
        progress : callable, optional
            Called as progress(stage, done, total).

        Returns
        -------
        Verdicts
            One verdict for each aux, in the same order.
        """
        queries = self._queries(release, auxes, exclude)
        return Verdicts(*score(queries, check_top(top), with_z=with_z, threads=threads, progress=progress))

    def nested(
        self,
        release: Release,
        auxes: Iterable[Aux] | KnownFacts,
        sizes: Sequence[int],
        *,
        exclude: Exclude = None,
        top: int = 2,
        with_z: bool = True,
        threads: int | None = None,
        progress: Progress = no_progress,
    ) -> Verdicts:
        """Attack with only the first facts of each aux, for several sizes at once.

        This is several times faster than `attacks` on each size.

        Parameters
        ----------
        release : Release
            The data set that would be published.
        auxes : iterable of Aux, or KnownFacts
            What the adversary knows about each target.
        sizes : sequence of int
            Numbers of facts.
        exclude, top, with_z, threads, progress
            As in `attacks`. Two best records are enough for the eccentricity.

        Returns
        -------
        Verdicts
            The verdict on aux q with sizes[s] facts has the number q · len(sizes) + s.

        Raises
        ------
        ParameterError
            If a size is not a whole number ≥ 1.
        """
        check_sizes(sizes)
        queries = self._queries(release, auxes, exclude)
        return Verdicts(*score(queries, check_top(top), sizes, with_z=with_z, threads=threads, progress=progress))

    def _queries(self, release: Release, auxes: Iterable[Aux] | KnownFacts, exclude: Exclude) -> Queries:
        return _queries(release, auxes, exclude, self.similarity, self.weights)


def _queries(
    release: Release, auxes: Iterable[Aux] | KnownFacts, exclude: Exclude, similarity: Similarity, weights: Weights
) -> Queries:
    known = auxes if isinstance(auxes, KnownFacts) else encode_auxes(release, auxes)
    records = excluded_records(release, exclude, len(known))
    return prepare_queries(release, known, similarity, weights, records)


def check_top(top: int) -> int:
    """Return `top` if it is a whole number from 2 to 1,000."""
    if isinstance(top, bool) or not isinstance(top, int) or not 2 <= top <= 1000:
        raise ParameterError(f"top must be a whole number from 2 to 1,000, got {top!r}")
    return top
