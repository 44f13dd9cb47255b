"""The paper's two algorithms: aux in, verdict out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from standout.attack.batches import run_1a, run_1b, run_1b_nested
from standout.attack.queries import Queries, Weights, excluded_records, prepare_queries, weight_function
from standout.attack.verdict import MatchingVerdict, Verdict, Verdicts
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.facts import Aux, KnownFacts, encode_auxes
from standout.release.model import Release
from standout.similarity.attributes import Decay, Similarity, Within

__all__ = ["Scoreboard", "ScoreboardRH"]

Exclude = str | None | Sequence[str | None] | NDArray[np.int64]


@dataclass(frozen=True)
class Scoreboard:
    """Algorithm 1A: a candidate is as good as its least similar attribute  [section 4].

    score(aux, r′) = min Sim(aux_i, r′_i) over the known items; the matching set is all with a score ≥ α (the
    paper writes >, which would drop its own exact matches), each of them equally likely.

    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> verdict = so.Scoreboard(so.Present()).attack(release, so.Aux([so.Fact("17"), so.Fact("42")]))
    >>> verdict.matching, verdict.ties
    (15, 15)
    """

    similarity: Similarity = field(default_factory=Within)
    alpha: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.similarity, Similarity):
            raise ParameterError(f"similarity must be a Similarity, got {type(self.similarity).__name__}")
        number = isinstance(self.alpha, (int, float)) and not isinstance(self.alpha, bool)
        if not number or not 0 < self.alpha <= 1:
            raise ParameterError(f"alpha must be above 0 and at most 1, got {self.alpha!r}")

    def attack(
        self, release: Release, aux: Aux, *, exclude: str | None = None, top: int = 10
    ) -> MatchingVerdict:
        """The verdict on one aux. With `exclude` that record is taken out of the release first."""
        found = self.attacks(release, [aux], exclude=exclude, top=top, threads=1)[0]
        assert isinstance(found, MatchingVerdict)
        return found

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
        """The verdicts on many. `exclude` names one record for all, or one (or None) for each."""
        queries = _queries(release, auxes, exclude, self.similarity, "one")
        columns = run_1a(queries, self.alpha, check_top(top), threads, progress)
        return Verdicts(queries, columns, self.alpha)


@dataclass(frozen=True)
class ScoreboardRH:
    """Algorithm 1B: rare items count more, the best must stand out  [section 4; its Netflix form, section 5].

    score(aux, r′) = Σ wt(i) · Sim(aux_i, r′_i) over the known items, wt(i) = 1 / ln |supp(i)|.

    The similarity is Netflix's decay with ρ0 = `value_scale` and d0 = `time_scale` unless another is given.
    `weights` is "rarity" as above, "one", "inverse" (1 / |supp(i)|), or a function of the supports.

    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> aux = so.Aux([so.Fact("17", value=4), so.Fact("42", value=3)])
    >>> so.ScoreboardRH(so.Within(value=1, time=None)).attack(release, aux).candidates
    500
    """

    similarity: Similarity = field(default_factory=Decay)
    weights: Weights = "rarity"

    def __init__(
        self,
        similarity: Similarity | None = None,
        weights: Weights = "rarity",
        *,
        value_scale: float | None = 1.5,
        time_scale: float | None = 30,
    ) -> None:
        given = (value_scale, time_scale) != (1.5, 30)
        if similarity is not None and given:
            raise ParameterError(
                "value_scale and time_scale are the default decay's: give them or a similarity"
            )
        if similarity is not None and not isinstance(similarity, Similarity):
            raise ParameterError(f"similarity must be a Similarity, got {type(similarity).__name__}")
        weight_function(weights)
        object.__setattr__(self, "similarity", similarity or Decay(value_scale, time_scale))
        object.__setattr__(self, "weights", weights)

    def attack(self, release: Release, aux: Aux, *, exclude: str | None = None, top: int = 10) -> Verdict:
        """The verdict on one aux. With `exclude` that record is taken out of the release first."""
        return self.attacks(release, [aux], exclude=exclude, top=top, threads=1)[0]

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
        """The verdicts on many. `exclude` names one record for all, or one (or None) for each.

        Without Z (`with_z=False`) it is faster; probabilities are then worked out when they are asked for.
        """
        queries = self._queries(release, auxes, exclude)
        return Verdicts(queries, run_1b(queries, check_top(top), with_z, threads, progress))

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
        """The verdicts on the first so many facts of each aux, for every size: several times faster than one
        by one. The verdict on aux q with sizes[s] facts is number q · len(sizes) + s.

        Each has its `top` best records ready; two of them tell whether the best stands out.
        """
        if not all(isinstance(size, int) and size >= 1 for size in sizes):
            raise ParameterError("sizes must be whole numbers ≥ 1")
        queries = self._queries(release, auxes, exclude)
        return Verdicts(*run_1b_nested(queries, sizes, check_top(top), with_z, threads, progress))

    def _queries(self, release: Release, auxes: Iterable[Aux] | KnownFacts, exclude: Exclude) -> Queries:
        return _queries(release, auxes, exclude, self.similarity, self.weights)


def _queries(
    release: Release,
    auxes: Iterable[Aux] | KnownFacts,
    exclude: Exclude,
    similarity: Similarity,
    weights: Weights,
) -> Queries:
    known = auxes if isinstance(auxes, KnownFacts) else encode_auxes(release, auxes)
    return prepare_queries(
        release, known, similarity, weights, excluded_records(release, exclude, len(known))
    )


def check_top(top: int) -> int:
    if isinstance(top, bool) or not isinstance(top, int) or not 2 <= top <= 1000:
        raise ParameterError(f"top must be a whole number from 2 to 1,000, got {top!r}")
    return top
