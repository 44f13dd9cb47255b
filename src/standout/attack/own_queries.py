"""Queries whose scores an attack of the user's own computes, in blocks that fit into memory."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from standout.attack.queries import Queries, excluded_records, prepare_queries
from standout.attack.verdict_columns import VerdictColumns
from standout.attack.verdicts import Verdicts
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.data.release import Release
from standout.know.facts import Aux, KnownFacts, encode_auxes
from standout.know.similarity import Present, call_user_code

__all__ = [
    "OwnQueries",
    "batch_attack",
    "check_sizes",
    "first_facts",
    "guard_overrides",
    "nested_with_attacks",
    "own_columns",
    "own_queries",
]

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

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-len(self) // self.block_size)

    def block(self, number: int) -> Floats:
        """The scores of all records for the queries of a block; -∞ unless a record is a candidate.

        The last block is kept: the right record's score is asked for after the best ones.
        """
        if number not in self._kept:
            scores = self._computed(number)
            self._kept.clear()
            self._kept[number] = scores
        return self._kept[number]

    def _computed(self, number: int) -> Floats:
        low = number * self.block_size
        query = np.arange(low, min(low + self.block_size, len(self)))
        known, exclude = _part(self.known, query), self.exclude[query]
        given = call_user_code(lambda: self.function(self.release, known, exclude), self.source)
        scores = _checked_scores(given, (len(query), self.release.n_records), self.source)
        excluded = np.flatnonzero(exclude >= 0)
        scores[excluded, exclude[excluded]] = -np.inf
        if self.known.filtered:
            n = self.release.n_records
            for row, q in enumerate(query.tolist()):
                is_candidate = Queries.are_candidates(self, np.full(n, q), np.arange(n))
                scores[row, ~is_candidate] = -np.inf
        return _relative(scores)

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

    def is_candidate(self, q: int) -> Bools:
        """Which records are candidates of query q."""
        return np.asarray(self.scores(q) > -np.inf)

    def are_candidates(self, query: Ints, record: Ints) -> Bools:
        """Whether each record is a candidate of the query of the same index."""
        return np.asarray(self.scores_of(query, record) > -np.inf)

    def pairs(self, query: Ints, record: Ints) -> tuple[Ints, Ints, Floats]:
        """Refuse: scores have no parts."""
        raise ParameterError("explain is not available: an attack of your own gives scores, not their parts")


def own_queries(release: Release, known: KnownFacts, exclude: Ints, function: ScoreFunction, source: str) -> OwnQueries:
    """The queries of an attack of the user's own."""
    plain = prepare_queries(release, known, Present(), "one", exclude)
    columns = {column.name: getattr(plain, column.name) for column in fields(Queries)}
    return OwnQueries(**columns, function=function, source=source)


def own_columns(queries: OwnQueries, top: int, progress: Progress, log_likelihood: bool = False) -> VerdictColumns:
    """The columns of all verdicts, block by block.

    Scores that are log-likelihoods have σ = 1 where they differ, so that Π ∝ e^score.
    """
    parts = []
    for number in range(queries.n_blocks):
        parts.append(_block_columns(queries.block(number), top, log_likelihood))
        progress("attacking", min((number + 1) * queries.block_size, len(queries)), len(queries))
    if not parts:
        return VerdictColumns.empty(0)
    names = [column.name for column in fields(VerdictColumns) if column.name != "first"]
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return VerdictColumns(**columns, first=offsets(np.concatenate([np.diff(part.first) for part in parts])))


def _block_columns(scores: Floats, top: int, log_likelihood: bool) -> VerdictColumns:
    """The columns of one block  [Algorithm 1B: max, max2, σ and Π, over all candidates]."""
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


def _part(known: KnownFacts, query: Ints) -> KnownFacts:
    """The facts about consecutive targets."""
    first = known.first[query[0] : query[-1] + 2]
    return known.select(query, np.arange(first[0], first[-1]), first - first[0])


def first_facts(known: KnownFacts, sizes: Sequence[int]) -> KnownFacts:
    """Each target with only its first facts: one target for every size, sizes within targets."""
    query = np.repeat(np.arange(len(known)), len(sizes))
    counts = np.minimum(np.tile(np.array(sizes, np.int64), len(known)), np.diff(known.first)[query])
    first = offsets(counts)
    fact = np.arange(first[-1]) + np.repeat(known.first[query] - first[:-1], counts)
    return known.select(query, fact, first)


# Subclasses of attacks: what they override takes effect in a simulation, or is refused.


def guard_overrides(kind: type[Any]) -> None:
    """Make a subclass of an attack consistent; call it in `__init_subclass__`.

    Simulations call `nested`. If only `attacks` is overridden, `nested` calls it. If only `attack` is, the
    other two are refused: they would return the verdicts of the base class.
    """
    own = vars(kind)
    if "attacks" in own and "nested" not in own:
        kind.nested = nested_with_attacks
    elif "attack" in own and "attacks" not in own and "nested" not in own:
        kind.attacks = kind.nested = _refuse


def batch_attack(kind: type[Any]) -> Any:
    """The `attacks` of a class or its bases that is not refused, for `attack` to call."""
    found = (vars(base).get("attacks") for base in kind.__mro__)
    return next(attacks for attacks in found if attacks is not None and attacks is not _refuse)


def check_sizes(sizes: Sequence[int]) -> None:
    """Refuse numbers of facts that are not whole numbers ≥ 1."""
    if not all(isinstance(size, int) and size >= 1 for size in sizes):
        raise ParameterError("sizes must be whole numbers ≥ 1")


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
    check_sizes(sizes)
    known = auxes if isinstance(auxes, KnownFacts) else encode_auxes(release, auxes)
    excluded = np.repeat(excluded_records(release, exclude, len(known)), len(sizes))
    shorter = first_facts(known, sizes)
    verdicts = attack.attacks(release, shorter, exclude=excluded, top=top, threads=threads, progress=progress)
    if not isinstance(verdicts, Verdicts) or len(verdicts) != len(shorter):
        raise ParameterError(f"{type(attack).__name__}.attacks() must return Verdicts, one for each aux")
    return verdicts


def _refuse(attack: Any, *given: Any, **options: Any) -> Verdicts:
    raise ParameterError(
        f"{type(attack).__name__} overrides only attack, which has no effect on many targets: override "
        "attacks instead, or subclass so.Attack"
    )
