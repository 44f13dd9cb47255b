"""Attacks of the user's own: scores of all records in, verdicts out. Scores come in blocks that fit into memory."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from standout.attack.engine import score
from standout.attack.queries import Queries, excluded_records, first_facts, prepare_queries, weight_function
from standout.attack.verdict import TargetColumns, Verdict, VerdictColumns, Verdicts
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.data.entries import unpack_item
from standout.data.release import Release
from standout.know.facts import Aux, KnownFacts, encode_auxes
from standout.know.similarity import (
    NearbyPlaces,
    PlaceDecay,
    PlaceSimilarity,
    Present,
    Similarity,
    Within,
    call_user_code,
    check_similarity,
    days_per_unit,
)

Exclude = str | None | Sequence[str | None] | NDArray[np.int64]
V = TypeVar("V", bound=Verdict)


class QueryAttack(Generic[V]):
    """Base class of all attacks: `_queries` says what is asked, and the engine answers."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Let what a subclass overrides take effect in a simulation, or refuse it.

        Simulations call `nested`. If only `attacks` is overridden, `nested` calls it. If only `attack` is, the
        other two are refused: they would return the verdicts of the base class.
        """
        super().__init_subclass__(**options)
        own: dict[str, Any] = dict(vars(cls))
        if "attacks" in own and "nested" not in own:
            cls.nested = nested_with_attacks  # type: ignore[method-assign, assignment]
        elif "attack" in own and "attacks" not in own and "nested" not in own:
            cls.attacks = cls.nested = _refuse  # type: ignore[method-assign, assignment]

    def attack(self, release: Release, aux: Aux, *, exclude: str | None = None, top: int = 10) -> V:
        """Attack one target."""
        found = (vars(base).get("attacks") for base in type(self).__mro__)
        attacks = next(attacks for attacks in found if attacks is not None and attacks is not _refuse)
        return cast(V, attacks(self, release, [aux], exclude=exclude, top=top, threads=1)[0])

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
        known, excluded = _checked(release, auxes, exclude, (), top)
        return self._answers(release, known, excluded, None, top, with_z=with_z, threads=threads, progress=progress)

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
        """Attack with only the first facts of each aux, for several sizes at once."""
        known, excluded = _checked(release, auxes, exclude, sizes, top)
        return self._answers(release, known, excluded, sizes, top, with_z=with_z, threads=threads, progress=progress)

    def _answers(
        self, release: Release, known: KnownFacts, exclude: Ints, sizes: Sequence[int] | None, top: int, **options: Any
    ) -> Verdicts:
        queries, alpha = self._queries(release, known, exclude), getattr(self, "alpha", None)
        return Verdicts(*score(queries, top, sizes, alpha=alpha or 0.0, **options), alpha)

    def _queries(self, release: Release, known: KnownFacts, exclude: Ints) -> Queries:
        raise NotImplementedError


def _checked(
    release: Release, auxes: Iterable[Aux] | KnownFacts, exclude: Exclude, sizes: Sequence[int], top: int
) -> tuple[KnownFacts, Ints]:
    """The facts in codes of the release, and the record that each target leaves out, or -1."""
    if isinstance(top, bool) or not isinstance(top, int) or not 2 <= top <= 1000:
        raise ParameterError(f"top must be a whole number from 2 to 1,000, got {top!r}")
    if not all(isinstance(size, int) and size >= 1 for size in sizes):
        raise ParameterError("sizes must be whole numbers ≥ 1")
    known = auxes if isinstance(auxes, KnownFacts) else encode_auxes(release, auxes)
    return known, excluded_records(release, exclude, len(known))


def nested_with_attacks(
    attack: Any,
    release: Release,
    auxes: Iterable[Aux] | KnownFacts,
    sizes: Sequence[int],
    *,
    exclude: Any = None,
    top: int = 2,
    with_z: bool = True,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Verdicts:
    """Attack with only the first facts of each aux, for several sizes, by one call of `attacks`."""
    known, excluded = _checked(release, auxes, exclude, sizes, top)
    excluded, shorter = np.repeat(excluded, len(sizes)), first_facts(known, sizes)
    verdicts = attack.attacks(release, shorter, exclude=excluded, top=top, threads=threads, progress=progress)
    if not isinstance(verdicts, Verdicts) or len(verdicts) != len(shorter):
        raise ParameterError(f"{type(attack).__name__}.attacks() must return Verdicts, one for each aux")
    return verdicts


def _refuse(attack: Any, *given: Any, **options: Any) -> Verdicts:
    raise ParameterError(
        f"{type(attack).__name__} overrides only attack, which has no effect on many targets: override "
        "attacks instead, or subclass so.Attack"
    )


# Attacks of the user's own: scores of all records in, verdicts out. Scores come in blocks that fit into memory.


ScoreFunction = Callable[[Release, KnownFacts, Ints], Any]
BLOCK_BYTES = 1 << 26
"""Largest block of scores, queries × records: 64 MB."""
DIGITS = 40
"""Scores are rounded to this many binary digits of the highest, so that ties do not depend on the last."""


@dataclass(frozen=True, eq=False)
class OwnQueries(Queries):
    """Queries with the scores of an attack of the user's own.

    Scores are relative to the lowest of the query: a record with the lowest score has 0, as a record that
    shares nothing with the known facts has in the paper's attacks. A block always has the same queries,
    because a sum in another block may differ in the last digit. `source` names the attack in errors.
    """

    function: ScoreFunction = field(kw_only=True)
    source: str = field(kw_only=True)
    _kept: dict[int, Floats] = field(kw_only=True, default_factory=dict)

    @property
    def block_size(self) -> int:
        """Number of queries in a block."""
        return max(1, BLOCK_BYTES // (8 * max(self.release.n_records, 1)))

    def block(self, number: int) -> Floats:
        """The scores of all records for the queries of a block; -∞ unless a record is a candidate.

        The last block is kept: the right record's score is asked for after the best ones.
        """
        if number in self._kept:
            return self._kept[number]
        low, n_records = number * self.block_size, self.release.n_records
        query = np.arange(low, min(low + self.block_size, len(self)))
        first, exclude = self.known.first[query[0] : query[-1] + 2], self.exclude[query]
        known = self.known.select(query, np.arange(first[0], first[-1]), first - first[0])
        given = call_user_code(lambda: self.function(self.release, known, exclude), self.source)
        scores = _checked_scores(given, (len(query), n_records), self.source)
        excluded = np.flatnonzero(exclude >= 0)
        scores[excluded, exclude[excluded]] = -np.inf
        for row in range(len(query) if self.known.filtered else 0):
            is_candidate = Queries.are_candidates(self, np.full(n_records, query[row]), np.arange(n_records))
            scores[row, ~is_candidate] = -np.inf
        scores = _relative(scores)
        self._kept.clear()
        self._kept[number] = scores
        return scores

    def scores(self, q: int) -> Floats:
        """The scores of all records for query q; -∞ unless a record is a candidate."""
        return np.asarray(self.block(q // self.block_size)[q % self.block_size])

    def scores_of(self, query: Ints, record: Ints) -> Floats:
        """The score of each record for the query of the same index."""
        scores, block = np.empty(len(query)), query // self.block_size
        for number in np.unique(block).tolist():
            here = block == number
            scores[here] = self.block(number)[query[here] % self.block_size, record[here]]
        return scores

    def are_candidates(self, query: Ints, record: Ints) -> Bools:
        """Whether each record is a candidate of the query of the same index."""
        return np.asarray(self.scores_of(query, record) > -np.inf)

    def pairs(self, query: Ints, record: Ints, best: bool = False) -> tuple[Ints, Ints, Floats]:
        """Refuse: scores have no parts."""
        raise ParameterError("explain is not available: an attack of your own gives scores, not their parts")


def _block_columns(scores: Floats, top: int, log_likelihood: bool) -> VerdictColumns:
    """The columns of one block  [Algorithm 1B: max, max2, σ and Π, over all candidates].

    Scores that are log-likelihoods have σ = 1 where they differ, so that Π ∝ e^score.
    """
    possible = scores > -np.inf
    n = possible.sum(axis=1)
    finite = np.where(possible, scores, 0.0)
    mean = finite.sum(axis=1) / np.maximum(n, 1)
    off = np.where(possible, scores - mean[:, None], 0.0)
    sigma = np.sqrt((off * off).sum(axis=1) / np.maximum(n, 1))
    sigma = (sigma > 0).astype(np.float64) if log_likelihood else sigma
    highest = np.where(n > 0, scores.max(axis=1, initial=-np.inf), 0.0)
    ties = (scores == highest[:, None]).sum(axis=1)
    below = np.where(scores < highest[:, None], scores, -np.inf).max(axis=1, initial=-np.inf)
    second = np.where((ties > 1) | (n < 2), highest, below)
    best = [_best(row, max(top, tied)) for row, tied in zip(scores, ties.tolist(), strict=True)]
    z = np.zeros(len(scores))
    for row in np.flatnonzero(sigma > 0).tolist():
        z[row] = elementary.exp((scores[row, possible[row]] - highest[row]) / sigma[row]).sum()
    return VerdictColumns(
        candidates=n.astype(np.int64),
        mean=mean,
        sigma=sigma,
        scale=sigma,
        highest=highest,
        second=second,
        ties=ties.astype(np.int64),
        z=z,
        first=offsets([len(record) for record in best]),
        record=np.concatenate([np.empty(0, np.int64), *best]),
        score=np.concatenate([np.empty(0), *(row[record] for row, record in zip(scores, best, strict=True))]),
    )


def _best(scores: Floats, top: int) -> Ints:
    """The records with the highest scores above 0, ties in the order of the release."""
    above = np.flatnonzero(scores > 0)
    if len(above) > top:
        least = np.partition(scores[above], len(above) - top)[len(above) - top]
        above = above[scores[above] >= least]
    return np.asarray(above[np.argsort(-scores[above], kind="stable")][:top])


def _relative(scores: Floats) -> Floats:
    """Scores on a grid, relative to the lowest of the candidates."""
    finite = np.where(scores > -np.inf, scores, np.inf)
    lowest = finite.min(axis=1, initial=np.inf, keepdims=True)
    relative = np.where(scores > -np.inf, scores - np.where(np.isfinite(lowest), lowest, 0.0), -np.inf)
    highest = np.maximum(relative.max(axis=1, initial=0.0, keepdims=True), np.finfo(np.float64).tiny)
    largest = np.maximum(
        np.abs(np.where(scores > -np.inf, scores, 0.0)).max(axis=1, initial=0.0, keepdims=True), highest
    )
    step = np.ldexp(1.0, np.maximum(np.frexp(largest)[1] - DIGITS, -1000))
    return np.asarray(np.rint(relative / step) * step)


def _checked_scores(given: Any, shape: tuple[int, int], source: str) -> Floats:
    try:
        array = np.asarray(given)
        scores = array.astype(np.float64) if array.dtype.kind in "biuf" else None
    except ValueError:  # lists of different lengths
        scores = None
    if scores is None or scores.shape != shape:
        found = "something else" if scores is None else " × ".join(f"{size:,}" for size in scores.shape)
        raise ParameterError(f"{source} must return numbers, {shape[0]:,} queries × {shape[1]:,} records, got {found}")
    if np.isnan(scores).any() or (scores == np.inf).any():
        raise ParameterError(f"{source} must return finite numbers, or -inf for records that are ruled out")
    return scores


class Attack(QueryAttack[Verdict]):
    """Base class of attacks of your own: subclass it and override `scores`.

    The best guess is the record with the highest score, its eccentricity is (max − max2)/σ, and
    Π ∝ e^(score/σ), as in Algorithm 1B. `simulate`, `compare`, `audit`, `advise` and the risk table take
    such an attack. docs/extending.md has examples.

    Attributes
    ----------
    log_likelihood : bool
        Set it in a subclass whose scores are logarithms of likelihoods: then Π ∝ e^score, `Verdict.sigma` is
        1, and the eccentricity is the logarithm of the odds of the best record against the second.

    Examples
    --------
    >>> import numpy as np
    >>> import standout as so
    >>> class MostItems(so.Attack):
    ...     def scores(self, release, known):
    ...         scores = np.zeros((len(known), release.n_records))
    ...         for fact in so.fact_entries(release, known):
    ...             scores[fact.target, fact.record] += 1
    ...         return scores
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> aux = so.Adversary(knows=6).observe(release, "42", seed=1)
    >>> verdict = MostItems().attack(release, aux)
    >>> "42" in verdict.tied, verdict.ties
    (True, 39)
    """

    log_likelihood: ClassVar[bool] = False

    def scores(self, release: Release, known: KnownFacts) -> Any:
        """Score all records for each target.

        If `release.has_repeats`, a record may have an item several times, and `FactEntries.highest` gives one
        number for each record.

        Parameters
        ----------
        release : Release
            The data set that would be published.
        known : KnownFacts
            What the adversary knows about each target.

        Returns
        -------
        array of float, targets × records
            Higher is better; −∞ rules a record out. A row must not depend on the other targets.
        """
        raise NotImplementedError(f"{type(self).__name__} must have a method scores(release, known)")

    def scores_without(self, release: Release, known: KnownFacts, exclude: Ints) -> Any:
        """Score all records if a record is removed from the release for each target.

        Override it for an attack whose scores of the other records depend on the removed one, as by the
        support of items. Default: `scores`; the removed records are ruled out afterwards.

        Parameters
        ----------
        release : Release
            The data set, with all records.
        known : KnownFacts
            What the adversary knows about each target.
        exclude : array of int
            Position of the removed record of each target; -1: none.

        Returns
        -------
        array of float, targets × records
            As in `scores`.
        """
        return self.scores(release, known)

    def key(self) -> str:
        """Text that identifies this attack and its parameters in checkpoints: override it to use them."""
        return ""

    nested = nested_with_attacks

    def _answers(
        self, release: Release, known: KnownFacts, exclude: Ints, sizes: Sequence[int] | None, top: int, **options: Any
    ) -> Verdicts:
        plain = prepare_queries(release, known, Present(), "one", exclude)
        columns = {column.name: getattr(plain, column.name) for column in fields(Queries)}
        queries = OwnQueries(**columns, function=self._scores, source=f"{type(self).__name__}.scores()")
        parts = []
        for low in range(0, len(queries), queries.block_size):
            parts.append(_block_columns(queries.block(low // queries.block_size), top, self.log_likelihood))
            options["progress"]("attacking", min(low + queries.block_size, len(queries)), len(queries))
        nothing = np.empty((0, release.n_records))
        return Verdicts(queries, VerdictColumns.joined(parts or [_block_columns(nothing, top, self.log_likelihood)]))

    def with_targets(
        self, release: Release, known: KnownFacts, exclude: Ints, own: Ints, progress: Progress
    ) -> Verdicts:
        """The verdicts on many targets whose own records are known; -1: none."""
        verdicts = self._answers(release, known, exclude, None, 2, progress=progress)
        score, above, level = np.full(len(own), np.nan), np.zeros(len(own), np.int64), np.zeros(len(own), np.int64)
        for q in np.flatnonzero(own >= 0).tolist():
            scores = verdicts.queries.scores(q)
            score[q] = scores[own[q]]
            above[q], level[q] = np.count_nonzero(scores > score[q]), np.count_nonzero(scores == score[q])
        return replace(verdicts, columns=replace(verdicts.columns, target=TargetColumns(own, score, above, level)))

    def _scores(self, release: Release, known: KnownFacts, exclude: Ints) -> Any:
        if (exclude >= 0).any():
            return self.scores_without(release, known, exclude)
        return self.scores(release, known)


# Algorithm 1B for places that are known imprecisely: a fact about a place also matches places nearby.


@dataclass(frozen=True)
class PlaceScoreboard(Attack):
    """Algorithm 1B on traces: a known place also matches the places nearby.

    score(aux, r′) = Σ wt(i) · max Sim_place(i, j) · Sim(aux_i, r′_j) over the facts. The maximum is over the
    entries r′_j of the record in the places j within reach of i. wt(i) = 1 / ln max(n, 2), where n is the
    number of records with an entry within reach. With a reach of 0 metres this is `ScoreboardRH`.

    It is plain NumPy, for releases of moderate size: its work grows with the entries within reach of a fact.

    Parameters
    ----------
    places : PlaceSimilarity
        Sim_place: `PlacesWithin` or `PlaceDecay`.
    similarity : Similarity
        Sim of value and time; default: `Within(None, 0.5)`, the same half day before or after.

    Raises
    ------
    ParameterError
        If a parameter has the wrong type. In an attack: if the items of the release are not places.

    Examples
    --------
    >>> import polars as pl
    >>> import standout as so
    >>> frame = pl.DataFrame({
    ...     "user": ["ann", "ann", "bob", "cem"],
    ...     "lat": [37.751, 37.764, 37.799, 37.721],
    ...     "lon": [-122.401, -122.411, -122.499, -122.455],
    ... })
    >>> release = so.read(frame, grid=0.01)
    >>> aux = so.Aux([so.Fact("37.75,-122.42"), so.Fact("37.76,-122.43")])
    >>> so.PlaceScoreboard(so.PlacesWithin(2_000)).attack(release, aux).best
    'ann'
    """

    places: PlaceSimilarity = field(default_factory=PlaceDecay)
    similarity: Similarity = field(default_factory=lambda: Within(None, 0.5))

    def __post_init__(self) -> None:
        if not isinstance(self.places, PlaceSimilarity):
            raise ParameterError("places must be a PlaceSimilarity such as PlacesWithin(500)")
        check_similarity(self.similarity)

    def key(self) -> str:
        """Text that identifies this attack and its parameters in checkpoints."""
        return repr(self)

    def scores(self, release: Release, known: KnownFacts) -> Floats:
        """Score all records for each target."""
        return self.scores_without(release, known, np.full(len(known), -1))

    def scores_without(self, release: Release, known: KnownFacts, exclude: Ints) -> Floats:
        """Score all records if a record is removed for each target: it counts in no weight."""
        nearby, weight = NearbyPlaces.of(release), weight_function("rarity")
        scores = np.zeros((len(known), release.n_records))
        for target in range(len(known)):
            for fact in range(known.first[target], known.first[target + 1]):
                best, present = self._best(release, nearby, known, fact)
                if exclude[target] >= 0:
                    present[exclude[target]] = False
                support = np.array([np.count_nonzero(present)])
                scores[target] += weight(support)[0] * best if support[0] else 0.0
        return scores

    def _best(self, release: Release, nearby: NearbyPlaces, known: KnownFacts, fact: int) -> tuple[Floats, Any]:
        """For each record its best entry within reach of a fact, and whether it has an entry there."""
        best, present = np.zeros(release.n_records), np.zeros(release.n_records, bool)
        centre = _centre(release, known, fact)
        if centre is None:
            return best, present
        items, metres = nearby.within(*centre, self.places.reach)
        for item, closeness in zip(items.tolist(), self.places.places(metres).tolist(), strict=True):
            record, value, time = unpack_item(release.by_item, item, release.n_levels, release.span)
            np.maximum.at(best, record, closeness * self._similarity(release, known, fact, value, time))
            present[record] = True
        return best, present

    def _similarity(self, release: Release, known: KnownFacts, fact: int, value: Ints, time: Ints) -> Floats:
        """Sim of value and time of each entry; what the fact does not give is not compared."""
        parts = []
        if known.value[fact] >= 0 and release.levels is not None:
            by_level = self.similarity.values(known.values[known.value[fact]], release.levels)
            parts += [] if by_level is None else [np.append(by_level, 0.0)[value]]
        if known.timed[fact]:
            by_entry = self.similarity.times((time - known.time[fact]) * days_per_unit(release))
            parts += [] if by_entry is None else [np.where(time < release.span, by_entry, 0.0)]
        if not parts:
            return np.ones(len(time))
        return np.asarray(np.sum(parts, axis=0) if self.similarity.adds else np.prod(parts, axis=0))


def _centre(release: Release, known: KnownFacts, fact: int) -> tuple[float, float] | None:
    """Centre of the place of a fact, also if the release has no such place; None if it is no place."""
    from standout.ingest.places import places_of

    places, item = places_of(release.provenance.settings), int(known.item[fact])
    name = release.items[item] if item >= 0 else known.names.get(fact, "")
    assert places is not None
    try:
        latitude, longitude = places.centres([name])[0].tolist()
    except ValueError:
        return None
    return latitude, longitude
