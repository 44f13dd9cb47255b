"""The paper's two algorithms: aux in, verdict out."""

from dataclasses import dataclass, field

from standout.attack.engine_kernels import MINIMUM
from standout.attack.own_attack import QueryAttack
from standout.attack.queries import Queries, Weights, prepare_queries, weight_function
from standout.attack.verdict import MatchingVerdict, Verdict
from standout.core.arrays import Ints
from standout.core.errors import ParameterError, check_share
from standout.data.release import Release
from standout.know.facts import KnownFacts
from standout.know.similarity import Decay, Similarity, Within, check_similarity


@dataclass(frozen=True)
class Scoreboard(QueryAttack[MatchingVerdict]):
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

    def __post_init__(self) -> None:
        check_similarity(self.similarity)
        check_share("alpha", self.alpha)

    def _queries(self, release: Release, known: KnownFacts, exclude: Ints) -> Queries:
        return prepare_queries(release, known, self.similarity, "one", exclude, MINIMUM)


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
class ScoreboardRH(QueryAttack[Verdict]):
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

    def _queries(self, release: Release, known: KnownFacts, exclude: Ints) -> Queries:
        return prepare_queries(release, known, self.similarity, self.weights, exclude)
