"""Theorems 1 to 5: how many known facts suffice, and whether a release agrees  [section 4].

Formulas:

    Theorems 1, 2, 4    m ≥ (log N − log ε) / −log(1 − δ)      facts_needed
    Theorem 3           m ≥ log(N / (k − 1)) / log(1/(1 − δ))  facts_for_lineup
    Theorem 5           δγ/λ                                   sample_sparsity
    Netflix Prize       1 − (1 − y/x)², x · (1 − √(1 − f))     prize_share, prize_improvement

`check` compares the bounds with measurements on a release, and `table` lists the results. The proofs leave
gaps, which the notes of the checks name:

Lemma 1      needs |supp(r)| as the denominator of Sim. With the union, as Sim is defined, a superset of r
             agrees on every attribute, yet the longer it is, the less similar it is. Both readings are measured.
Theorem 1    compares facts within 1 − ε of the target's with r′ as if they were the target's. That is true
             of exact facts, which the measurements use by default. With the imprecise facts of an adversary,
             what follows is that a match is similar within twice the distances.
Theorem 2    assumes that the target is one of the records without a similar one; a share ε of the records
             are not. What follows is 1 − 2ε. For Theorem 3, (1 − ε)/k and log2 k + ε log2 N follow.
Theorem 3    counts X false matches and guesses among X; with the target there are X + 1 candidates. E[X] ≤
             k − 1 gives 1/k for these.
Theorem 4    says that nothing matches a target that is not in the sample. A similar record may match; only
             sparsity excludes that. What follows is that no dissimilar record matches.
Theorem 5    applies Markov's inequality in the wrong direction: it bounds how often a share is large by its
             mean, not how often it is small. The theorem is false: if all records with a similar record have
             the same one, a sample is sparse whenever that one is missing. What follows is the mean, δ/λ.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from standout.attack.queries import Queries, prefix_queries, prepare_queries
from standout.attack.scoreboard import MatchingQueries, Scoreboard
from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.core.errors import ParameterError, whole_number
from standout.core.progress import no_progress
from standout.core.rng import check_seed, generator
from standout.core.threads import run_in_slices
from standout.data.build import subset
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, mean, rate
from standout.evaluate.targets import draw_targets, fact_similarities, highest_of_each, shuffled_entries
from standout.know.adversary import Adversary, known_facts
from standout.know.facts import KnownFacts, facts_from_entries
from standout.know.similarity import ROUNDING, Equal, Over, Present, Similarity, Within
from standout.measure.sparsity import sparsity

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "RMSE",
    "Check",
    "Settings",
    "check",
    "facts_for_lineup",
    "facts_needed",
    "false_matches",
    "prize_improvement",
    "prize_share",
    "sample_sparsity",
    "table",
]

Sign = Literal["≥", "≤"]
RMSE = 0.87
"""The best RMSE of November 2007."""


def facts_needed(records: int, epsilon: float, delta: float) -> int:
    """Number of known facts that suffice: the smallest m ≥ (log N − log ε) / −log(1 − δ)  [Theorem 1].

    Let the adversary know m random entries of a target, each within 1 − ε of the truth. Then a random one of
    the matching records is similar to the target, Sim ≥ 1 − ε − δ, with probability 1 − ε, for any data. If
    1 − ε of the records have no other record that similar, only the target matches [Theorem 2]. The same
    number suffices for a sample of the data, and to notice that a target is not in it [Theorem 4].

    Examples
    --------
    >>> [facts_needed(records=480_189, epsilon=0.01, delta=delta) for delta in (0.5, 0.9)]
    [26, 8]
    """
    n = whole_number("records", records, 1)
    return _smallest_m(math.log(n) - math.log(between_0_and_1("epsilon", epsilon)), delta)


def facts_for_lineup(records: int, k: int, delta: float) -> int:
    """Facts that leave a lineup of k: the smallest m ≥ log(N / (k − 1)) / log(1/(1 − δ))  [Theorem 3].

    A random one of the matching records is the target with probability 1/k, and log2 k bits are left, in
    sparse data as in Theorem 2. It is 0 if k − 1 ≥ N.
    """
    n = whole_number("records", records, 1)
    return _smallest_m(math.log(n) - math.log(whole_number("k", k, 2) - 1), delta)


def _smallest_m(log_ratio: float, delta: float) -> int:
    """The smallest whole m ≥ log_ratio / −log(1 − δ), at least 0, up to rounding errors."""
    facts = log_ratio / -math.log1p(-between_0_and_1("delta", delta))
    if not math.isfinite(facts):
        raise ParameterError(f"delta = {delta!r} is too small: the number of facts overflows")
    return max(0, round(facts) if abs(facts - round(facts)) <= ROUNDING else math.ceil(facts))


def false_matches(records: int, facts: int, delta: float) -> float:
    """Expected number of dissimilar records that match m facts, at most N (1 − δ)^m  [proof of Theorem 1]."""
    n, m = whole_number("records", records, 1), whole_number("facts", facts, 0)
    return math.exp(math.log(n) + m * math.log1p(-between_0_and_1("delta", delta)))


def sample_sparsity(delta: float, gamma: float, lam: float) -> float:
    """δγ/λ: if the data is not (ε, δ)-sparse, a 1/λ sample is not (ε, δγ/λ)-sparse  [Theorem 5].

    The theorem claims this with probability 1 − γ. The proof has a gap and the claim is false in general;
    see the module `standout.bounds`.
    """
    share = between_0_and_1("delta", delta, inclusive=True)
    return share * between_0_and_1("gamma", gamma) / check_lam(lam)


def between_0_and_1(name: str, number: Any, inclusive: bool = False) -> float:
    """A number between 0 and 1, or a ParameterError."""
    given = float(number) if isinstance(number, Real) and not isinstance(number, bool) else math.nan
    if not (0 <= given <= 1 if inclusive else 0 < given < 1):
        allowed = "from 0 to 1" if inclusive else "above 0 and below 1"
        raise ParameterError(f"{name} must be {allowed}, got {number!r}")
    return given


def check_lam(lam: Any) -> float:
    """λ, or a ParameterError."""
    given = float(lam) if isinstance(lam, Real) and not isinstance(lam, bool) else math.nan
    if not 1 <= given < math.inf:
        raise ParameterError(f"lam must be a finite number ≥ 1, got {lam!r}: a sample has 1/lam of the records")
    return given


# The Netflix Prize: how much de-anonymised records improve a recommender's error  [appendix, Netflix Prize].
#
# The true ratings of a de-anonymised subscriber are known, so the error is 0. Let a share f of the records be
# de-anonymised, each with the same number of test ratings, and let x be the RMSE without that.
#
#     the paper's reading    RMSE(f) = x · (1 − f)       "assuming that … RMSE behaves roughly linearly"
#     exact                  RMSE(f) = x · √(1 − f)      because squared errors are averaged
#
# The paper says "1/0.87 = 1.14 % of de-anonymized records, then the RMSE score improves by 1 %". That is the
# first formula with an improvement of 0.01 in RMSE itself, 0.87 → 0.86 (1.149 %, truncated); an improvement by
# 1 % of 0.87 would take 1 % of the records. By the exact formula it takes twice as many: 2.29 % of the
# records, and 1.99 % for 1 % of 0.87.


def prize_share(improvement: float, rmse: float = RMSE, *, relative: bool = False, linear: bool = False) -> float:
    """Share f of records to de-anonymise for an improvement y of the RMSE x: 1 − (1 − y/x)².

    `relative`: y is a share of x, so that 0.01 takes 0.87 to 0.8613 instead of 0.86. `linear`: the paper's
    reading, y/x.
    """
    most = 1.0 if relative else _number("rmse", rmse, 0.0, math.inf, above=True)
    part = _number("improvement", improvement, 0.0, most) / most
    return part if linear else part * (2 - part)


def prize_improvement(share: float, rmse: float = RMSE, *, relative: bool = False, linear: bool = False) -> float:
    """Improvement of the RMSE x if a share f of the records is de-anonymised: x · (1 − √(1 − f)).

    `relative`: as a share of x. `linear`: the paper's reading, x · f.
    """
    known = _number("share", share, 0.0, 1.0)
    part = known if linear else known / (1 + math.sqrt(1 - known))  # 1 − √(1 − f) without cancellation
    return part if relative else part * _number("rmse", rmse, 0.0, math.inf, above=True)


def _number(name: str, number: Any, low: float, high: float, above: bool = False) -> float:
    fits = isinstance(number, Real) and not isinstance(number, bool) and math.isfinite(number)
    if not fits or not low <= number <= high or (above and number == low):
        ends = f"a finite number above {low:g}" if above else f"a number from {low:g} to {high:g}"
        raise ParameterError(f"{name} must be {ends}, got {number!r}")
    return float(number)


# Results of checking a theorem on a release.


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of a check, None where one does not apply; `over` is the denominator of Sim."""

    epsilon: float
    delta: float
    m: int | None = None
    k: int | None = None
    lam: float | None = None
    gamma: float | None = None
    over: Over | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A bound compared with a measurement: the statement says that the quantity is ≥ or ≤ the bound.

    `holds` is True if the measurement is within the bound, False if the whole interval is outside. It is None if
    undecided: the interval contains the bound, nothing could be measured, or the premise is not met. The note
    names gaps in the proof that matter here. Records with fewer than m items cannot be targets.
    """

    theorem: int
    statement: str
    settings: Settings
    sign: Sign
    bound: float
    measured: Estimate
    holds: bool | None
    note: str = ""
    too_few_items: int = 0

    def __str__(self) -> str:
        verdict = {True: "holds", False: "does not hold", None: "undecided"}[self.holds]
        over = f" (over {self.settings.over})" if self.settings.over else ""
        numbers = f"{self.measured} {self.sign} {self.bound:.4g}"
        return f"Theorem {self.theorem}: {self.statement}{over}: {numbers}: {verdict}"


def table(checks: Iterable[Check]) -> "pl.DataFrame":
    """The checks as a table, one row for each."""
    import polars as pl

    real, number, text = pl.Float64, pl.Int64, pl.String
    schema = {"theorem": number, "statement": text}
    schema |= {"epsilon": real, "delta": real, "m": number, "k": number, "lambda": real, "gamma": real}
    schema |= {"over": text, "sign": text, "bound": real, "value": real, "low": real, "high": real}
    schema |= {"n": number, "baseline": real, "holds": pl.Boolean, "too_few_items": number, "note": text}
    rows = [
        asdict(check) | {"lambda": check.settings.lam} | asdict(check.settings) | asdict(check.measured)
        for check in checks
    ]
    return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema)


# What the theorems say about imprecise facts  [Theorem 1: Sim(aux_i, r_i) ≥ 1 − ε for all known i].
#
# A fact may be off by the distances of the similarity, and so may a matching record from the fact. The proof of
# Lemma 1 compares the record with the target as if the fact were exact. What follows for imprecise facts is
# that the two are within twice the distances, in what the adversary knows.


FACTS_PREMISE = "targets whose facts are all within 1 − ε (premise)"
TWICE = "a random match is similar within twice the distances"
FOLLOWS = "what follows for imprecise facts"
IMPRECISE = "facts are imprecise: what follows is similarity within twice the distances"
WRONG = "some facts are wrong, so the theorem does not apply"
NOT_RANDOM = "facts are not drawn at random, so the theorem does not apply"
BY_ENTRIES = "facts are random entries, not random items, so the theorem does not apply"


def twice_as_wide(similarity: Similarity, adversary: Adversary) -> Similarity:
    """What two entries have in common if both are similar to one imprecise fact: twice the distances.

    What the adversary does not know is not compared.
    """
    if isinstance(similarity, Within):
        value = None if adversary.value_error is None or similarity.value is None else 2 * similarity.value
        time = None if adversary.time_error is None or similarity.time is None else 2 * similarity.time
        return Within(value, time)
    return Present() if isinstance(similarity, Equal) and adversary.value_error is None else similarity


def with_notes(
    checks: Sequence[Check], adversary: Adversary, precise: Mapping[int, Estimate], has_repeats: bool
) -> list[Check]:
    """The checks with what the adversary's facts mean for them; `precise` is the premise for each m.

    Where the premise is not met, a measurement outside the bound proves nothing. If records have items
    several times, an adversary knows what people do often with a higher probability than the theorems assume.
    """
    is_random = type(adversary) is Adversary and str(adversary.items) == "any"
    is_exact = adversary.value_error == adversary.time_error == 0
    noted = []
    for check in checks:
        m, note, holds = check.settings.m, "", check.holds
        if m is not None and (not is_random or (precise[m].n and precise[m].value < 1)):
            note, holds = (WRONG if is_random else NOT_RANDOM), holds or None
        elif m is not None and has_repeats:
            note, holds = BY_ENTRIES, holds or None
        elif m is not None:
            note = FOLLOWS if check.statement == TWICE else "" if is_exact else IMPRECISE
        noted.append(replace(check, holds=holds, note="; ".join(filter(None, (note, check.note)))))
    return noted


# Algorithm 1A on random targets: which records match, and how similar they are to the target.
#
# The theorems draw attributes of a record, each with the same probability. If records have items several times,
# an attribute is an item with all its entries: m different items are drawn, and one random entry of each is
# known. Lemma 1 then holds as it stands, because a fact agrees with a record at most as well as the best pair
# of entries, by which Sim(r, r′) is defined.


ENTRIES_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class MatchingSet:
    """The matching set D′ of a target r, and Sim(r, r′) of its records.

    `over_first` divides by |supp(r)|, `over_union` by the size of the union.
    """

    target: int
    record: Ints
    over_first: Floats
    over_union: Floats

    def similarity(self, over: Over) -> Floats:
        """Sim(r, r′) with the denominator "first" or "union"."""
        return self.over_first if over == "first" else self.over_union

    def filter(self, keep: Bools) -> "MatchingSet":
        """The part that is in a sample. A score of Algorithm 1A depends on one record only."""
        return MatchingSet(self.target, self.record[keep], self.over_first[keep], self.over_union[keep])


@dataclass(frozen=True, slots=True)
class MatchingSets:
    """The matching sets of targets for m facts; `too_few_items` records have fewer than m items.

    `precise` says for each target whether all known facts are within the threshold of the target's entries.
    """

    m: int
    sets: list[MatchingSet]
    too_few_items: int
    precise: Bools


def matching_sets(
    release: Release,
    similarity: Similarity,
    alpha: float,
    m: int,
    *,
    targets: int | None = 200,
    seed: int = 0,
    threads: int | None = None,
    adversary: Adversary | None = None,
) -> MatchingSets:
    """The records with a score ≥ α in Algorithm 1A, given m facts about each target.

    The facts are random exact entries, or what an adversary who knows m facts has, errors included.
    """
    chosen, too_few_items = draw_targets(release.check(), targets, m, seed, "theorems", release.distinct_items)
    if adversary is not None:
        adversary = replace(adversary, knows=m, wrong=min(adversary.wrong, m))
        in_order, _ = draw_targets(release, None, 0, seed, "theorems")
        eligible = in_order[adversary.eligible(release, in_order)]
        chosen, too_few_items = eligible[:targets], release.n_records - len(eligible)
    records = _queries(release, _shuffled_facts(release, chosen, seed), similarity)
    if adversary is None:
        facts = prefix_queries(records, [m])
    else:
        facts = _queries(release, known_facts(adversary, release, chosen, seed), similarity)
    sets, matching = {}, MatchingQueries.of(facts)

    def work_on(low: int, high: int, _: None) -> None:
        for q in range(low, high):
            sets[q] = _matching_set(records, q, int(chosen[q]), np.flatnonzero(matching.scores(q) >= alpha))

    run_in_slices(len(chosen), threads, lambda: None, work_on, no_progress)
    pair, _, sim = fact_similarities(facts, np.arange(len(chosen)), chosen)
    n_precise = np.bincount(pair[sim >= alpha - ROUNDING], minlength=len(chosen))
    precise = np.asarray(n_precise == np.diff(facts.known.first))
    return MatchingSets(m, [sets[q] for q in range(len(chosen))], too_few_items, precise)


def measured_by(similarity: Similarity, release: Release, matches: MatchingSets, seed: int = 0) -> MatchingSets:
    """The same matching sets with Sim(r, r′) by another similarity."""
    targets = np.array([matching.target for matching in matches.sets], np.int64)
    records = _queries(release, _shuffled_facts(release, targets, seed), similarity)
    sets = [_matching_set(records, q, matching.target, matching.record) for q, matching in enumerate(matches.sets)]
    return replace(matches, sets=sets)


def _shuffled_facts(release: Release, targets: Ints, seed: int) -> KnownFacts:
    """All entries of each target as facts, in random order.

    If the target has items several times, a random entry of each item comes first.
    """
    orders = shuffled_entries(release, targets, seed, "theorems")
    if release.has_repeats:
        for i, target in enumerate(targets.tolist()):
            draw, order = generator(seed, "theorems", "items", release.records[target]), orders[i]
            _, first_of_item = np.unique(release.by_record.item[order], return_index=True)
            orders[i] = np.concatenate([order[draw.permutation(first_of_item)], np.delete(order, first_of_item)])
    first = offsets([len(order) for order in orders])
    return facts_from_entries(release, np.concatenate([np.empty(0, np.int64), *orders]), first)


def _queries(release: Release, known: KnownFacts, similarity: Similarity) -> Queries:
    return prepare_queries(release, known, similarity, "one", np.full(len(known), -1, np.int64))


def _matching_set(targets: Queries, q: int, target: int, record: Ints) -> MatchingSet:
    """Sim(r, r′) = Σ Sim(r_i, r′_i) with both denominators; query q has all entries of the target."""
    release, n_entries = targets.release, int(targets.release.lengths[target])
    n_items, total, n_shared = release.distinct_items, np.zeros(len(record)), np.zeros(len(record), np.int64)
    step = max(1, ENTRIES_AT_ONCE // n_entries)
    for low in range(0, len(record), step):
        others = record[low : low + step]
        pair, fact, sim = fact_similarities(targets, np.full(len(others), q), others)
        if release.has_repeats:
            pair_item, sim = highest_of_each(pair * release.n_items + targets.facts.item[fact], sim)
            pair = pair_item // release.n_items
        total[low : low + step] = np.bincount(pair, np.maximum(sim, 0.0), len(others))
        n_shared[low : low + step] = np.bincount(pair[sim >= 0], minlength=len(others))
    union = n_items[target] + n_items[record] - n_shared
    return MatchingSet(target, record, total / n_items[target], total / union)


OVER: tuple[Over, Over] = ("first", "union")
"""The denominators of Sim: |supp(r)|, for which Lemma 1 holds, and the union, as Sim is defined."""
NO_LEMMA = "Lemma 1 does not hold with the union as the denominator"
NONE_SIMILAR = "no record has a similar record, so there is nothing to check"


def check(
    release: Release,
    *,
    epsilon: float = 0.01,
    delta: float = 0.5,
    k: int = 10,
    lam: float = 8,
    gamma: float = 0.1,
    similarity: Similarity | None = None,
    adversary: Adversary | None = None,
    targets: int | None = 200,
    samples: int = 20,
    seed: int = 0,
    threads: int | None = None,
) -> list[Check]:
    """Theorems 1 to 5 on a release: compare each bound with a measurement.

    The adversary knows m random exact entries of each target, about different items. With `adversary`, the m
    facts have the errors of that adversary. The theorems require facts within 1 − ε of the target's: another
    check shows how many targets have only such facts. A further one measures Theorem 1 within twice the
    distances, which is what follows for imprecise facts. Theorem 4 puts each record into a sample with
    probability 1/λ; every target is attacked twice, with its own record in the sample and without it.
    """
    settings = Settings(
        epsilon=between_0_and_1("epsilon", epsilon),
        delta=between_0_and_1("delta", delta),
        k=whole_number("k", k, 2),
        lam=check_lam(lam),
        gamma=between_0_and_1("gamma", gamma),
    )
    if epsilon + delta >= 1:
        raise ParameterError(f"epsilon + delta must be below 1, got {epsilon!r} + {delta!r}")
    if adversary is not None and not isinstance(adversary, Adversary):
        raise ParameterError(f"adversary must be an Adversary, or None, got {type(adversary).__name__}")
    similarity = Within() if similarity is None else similarity
    if type(similarity) not in (Within, Equal, Present):
        raise ParameterError(f"similarity must be Within, Equal or Present, got {type(similarity).__name__}")
    board = Scoreboard(similarity, 1 - settings.epsilon)
    whole_number("samples", samples, 1)
    return _TheoremChecks(release, settings, board, adversary, targets, samples, check_seed(seed), threads).all()


class _TheoremChecks(NamedTuple):
    """The parameters of `check`, and one method for each theorem."""

    release: Release
    settings: Settings
    board: Scoreboard
    adversary: Adversary | None
    targets: int | None
    samples: int
    seed: int
    threads: int | None

    def all(self) -> list[Check]:
        n, settings = self.release.n_records, self.settings
        assert settings.k is not None
        matches = self.matching_sets(facts_needed(n, settings.epsilon, settings.delta))
        lineups = self.matching_sets(max(1, facts_for_lineup(n, settings.k, settings.delta)))
        similar_shares = {over: self.share_with_similar(self.release, over) for over in OVER}
        # (1 − ε − δ, ε)-sparsity, the premise of Theorems 2 and 3
        statement = "records with a similar record (premise)"
        premises = [self.check(2, statement, "≤", settings.epsilon, similar_shares[over], over=over) for over in OVER]
        is_sparse = premises[0].holds
        theorems = [
            *(self.similar_matches(1, "a random match is similar", matches, over) for over in OVER),
            *premises,
            self.theorem2(matches, is_sparse),
            *self.theorem3(lineups, is_sparse),
            *self.theorem4(matches),
        ]
        if self.adversary is not None:  # the premise for imprecise facts, and what follows from it
            precise = {each.m: _rate(each.precise.tolist()) for each in (matches, lineups)}
            wide = measured_by(twice_as_wide(self.board.similarity, self.adversary), self.release, matches, self.seed)
            premise = self.check(1, FACTS_PREMISE, "≥", 1.0, precise[matches.m], matches)
            follows = self.similar_matches(1, TWICE, wide, "first")
            noted = with_notes([follows, *theorems], self.adversary, precise, self.release.has_repeats)
            theorems = [premise, *noted]
        return [*theorems, *self.theorem5(similar_shares["union"].value)]

    def similar_matches(self, theorem: int, statement: str, matches: MatchingSets, over: Over, **more: Any) -> Check:
        """(1 − ε − δ, 1 − ε)-deanonymization: a random match is similar to the target."""
        share = self.rate([self.similar_share(matching, over) for matching in matches.sets])
        return self.check(theorem, statement, "≥", self.board.alpha, share, matches, over=over, **more)

    def theorem2(self, matches: MatchingSets, is_sparse: bool | None) -> Check:
        """(1, 1 − ε)-deanonymization: only the target matches."""
        share = self.rate([matching.record.tolist() == [matching.target] for matching in matches.sets])
        result = self.check(2, "only the target matches", "≥", self.board.alpha, share, matches)
        return _with_premise(is_sparse, result, "what follows is 1 − 2ε")

    def theorem3(self, matches: MatchingSets, is_sparse: bool | None) -> list[Check]:
        """(1, 1/k)-deanonymization, and entropic (1, log2 k): a random match is the target."""
        k, all_bits = self.settings.k, math.log2(self.release.n_records)
        assert k is not None
        shares = [1 / len(matching.record) if matching.target in matching.record else 0.0 for matching in matches.sets]
        bits = mean([-math.log2(share) if share else all_bits for share in shares], all_bits)
        guess = self.check(3, "a random match is the target", "≥", 1 / k, self.rate(shares), matches, k=k)
        left = self.check(3, "bits left", "≤", math.log2(k), bits, matches, k=k)
        return [
            _with_premise(is_sparse, guess, "what follows is (1 − ε)/k"),
            _with_premise(is_sparse, left, "what follows is log2 k + ε log2 N"),
        ]

    def theorem4(self, matches: MatchingSets) -> list[Check]:
        """From a sample: present targets are found, absent ones are noticed.

        A score of Algorithm 1A depends on one record only, so the matching set in a sample is the part of the
        matching set that is in the sample, and no release has to be built. Each target is attacked once in
        the sample and once not in it; the rest of the sample does not depend on that.
        """
        in_sample, absent, present = self.sample(0), [], []
        for matching in matches.sets:
            is_target = matching.record == matching.target
            absent.append(matching.filter(in_sample[matching.record] & ~is_target))
            present.append(matching.filter(in_sample[matching.record] | is_target))
        lam, alpha, inside = self.settings.lam, self.board.alpha, replace(matches, sets=present)
        nothing = _rate([not len(each.record) for each in absent])
        statement = "not in the sample: all matches are similar"
        only_similar = {
            over: _rate([self.similar_share(each, over, if_empty=1.0) == 1 for each in absent]) for over in OVER
        }
        unsure = "does not follow without sparsity"
        return [
            *(
                self.similar_matches(4, "in the sample: a random match is similar", inside, over, lam=lam)
                for over in OVER
            ),
            self.check(4, "not in the sample: nothing matches", "≥", alpha, nothing, matches, unsure, lam=lam),
            *(self.check(4, statement, "≥", alpha, only_similar[over], matches, over=over, lam=lam) for over in OVER),
        ]

    def theorem5(self, similar_share: float) -> list[Check]:
        """A sample of a release that is not sparse is not sparse either: as printed, and what follows.

        The δ of Theorem 5 is the share of records with a similar record: for any smaller one the release is
        not sparse. Sim is over the union, as it is defined: no lemma is needed.
        """
        lam, gamma = self.settings.lam, self.settings.gamma
        assert lam is not None and gamma is not None
        shares = []
        for number in range(self.samples if similar_share else 0):
            keep = self.sample(number)
            some = keep.any()
            shares.append(self.share_with_similar(subset(self.release, keep), "union").value if some else 0.0)
        bound = sample_sparsity(similar_share, gamma, lam)
        values = f"δ = {similar_share:.4g} measured, δγ/λ = {bound:.4g}; " if similar_share else f"{NONE_SIMILAR}; "
        printed, follows = _rate([each > bound for each in shares]), rate(math.fsum(shares), len(shares))
        rows = (
            ("samples that are not sparse", 1 - gamma, printed, "does not follow"),
            ("records of a sample with a similar record", similar_share / lam, follows, "what follows"),
        )
        return [
            self.check(5, statement, "≥", least, share, note=values + note, over="union", lam=lam, gamma=gamma)
            for statement, least, share, note in rows
        ]

    def check(
        self,
        theorem: int,
        statement: str,
        sign: Sign,
        bound: float,
        measured: Estimate,
        matches: MatchingSets | None = None,
        note: str = "",
        **more: Any,
    ) -> Check:
        """One check. `more` are the settings that matter for it."""
        if more.get("over") == "union" and theorem < 5:
            note = NO_LEMMA
        m, too_few_items = (None, 0) if matches is None else (matches.m, matches.too_few_items)
        settings = Settings(self.settings.epsilon, self.settings.delta, m, **more)
        holds = _holds(sign, bound, measured)
        return Check(theorem, statement, settings, sign, bound, measured, holds, note, too_few_items)

    @property
    def theta(self) -> float:
        """1 − ε − δ, the minimum similarity; rounded, because 1 − 0.01 − 0.9 must not be below 0.09."""
        return round(1 - self.settings.epsilon - self.settings.delta, 12)

    def matching_sets(self, m: int) -> MatchingSets:
        shared = {"targets": self.targets, "seed": self.seed, "threads": self.threads, "adversary": self.adversary}
        return matching_sets(self.release, self.board.similarity, self.board.alpha, m, **shared)  # type: ignore[arg-type]

    def rate(self, shares: Sequence[float]) -> Estimate:
        """The rate, with the baseline of a guess without facts."""
        return rate(math.fsum(shares), len(shares), 1 / self.release.n_records)

    def similar_share(self, matching: MatchingSet, over: Over, if_empty: float = 0.0) -> float:
        """The share of the matching records with Sim(r, r′) ≥ 1 − ε − δ."""
        if not len(matching.record):
            return if_empty
        return float((matching.similarity(over) >= self.theta - ROUNDING).mean())

    def share_with_similar(self, release: Release, over: Over) -> Estimate:
        """The share of records whose nearest neighbour is more similar than 1 − ε − δ."""
        n = release.n_records
        if n < 2:
            return rate(0, n)
        sample = n if self.targets is None else min(self.targets, n)
        similarity = self.board.similarity
        nearest = sparsity(release, similarity, sample=sample, over=over, seed=self.seed, threads=self.threads)
        return nearest.delta(self.theta)

    def sample(self, number: int) -> Bools:
        """Which records are in a sample: each with probability 1/λ."""
        assert self.settings.lam is not None
        draw = generator(self.seed, "theorems", "sample", number)
        return draw.random(self.release.n_records) < 1 / self.settings.lam


def _holds(sign: Sign, bound: float, measured: Estimate) -> bool | None:
    if measured.n == 0:
        return None
    if (measured.value >= bound - ROUNDING) if sign == "≥" else (measured.value <= bound + ROUNDING):
        return True
    return None if measured.low <= bound <= measured.high else False


def _with_premise(premise: bool | None, check: Check, note: str) -> Check:
    """The check of a theorem with a premise: without it, a measurement outside the bound proves nothing."""
    if premise is False:
        return replace(check, holds=check.holds or None, note=f"the premise is not met; {note}")
    return replace(check, note=note)


def _rate(successes: Sequence[bool]) -> Estimate:
    return rate(sum(successes), len(successes))
