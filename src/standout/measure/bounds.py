"""Theorems 1 to 5: how many known facts suffice, and whether a release agrees  [section 4].

Formulas:

    Theorems 1, 2, 4    m ≥ (log N − log ε) / −log(1 − δ)      facts_needed
    Theorem 3           m ≥ log(N / (k − 1)) / log(1/(1 − δ))  facts_for_lineup
    Theorem 5           if the data is not (ε, δ)-sparse, a 1/λ sample is not (ε, δγ/λ)-sparse, with probability 1 − γ
    Netflix Prize       1 − (1 − y/x)²                         prize_share

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

from standout.attack.engine_kernels import MINIMUM
from standout.attack.queries import prepare_queries
from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.core.errors import ParameterError, whole_number
from standout.core.progress import no_progress
from standout.core.rng import check_seed, generator
from standout.core.threads import run_in_slices
from standout.data.build import subset
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, mean, rate
from standout.evaluate.targets import draw_targets, fact_similarities, no_facts, revealed_items, shuffled_entries
from standout.know.adversary import Adversary, known_facts
from standout.know.facts import KnownFacts, facts_from_entries
from standout.know.similarity import ROUNDING, Equal, Over, Present, Similarity, Within
from standout.measure.sparsity import sparsity

if TYPE_CHECKING:
    import polars as pl

__all__ = ["RMSE", "Check", "Settings", "check", "facts_for_lineup", "facts_needed", "prize_share", "table"]

Sign = Literal["≥", "≤"]
RMSE = 0.87
"""The best RMSE of November 2007."""
OVER: tuple[Over, Over] = ("first", "union")
"""The denominators of Sim: |supp(r)|, for which Lemma 1 holds, and the union, as Sim is defined."""


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
    return _smallest_m(math.log(n) - math.log(_inside("epsilon", epsilon)), delta)


def facts_for_lineup(records: int, k: int, delta: float) -> int:
    """Facts that leave a lineup of k: the smallest m ≥ log(N / (k − 1)) / log(1/(1 − δ))  [Theorem 3].

    A random one of the matching records is the target with probability 1/k, and log2 k bits are left, in
    sparse data as in Theorem 2. It is 0 if k − 1 ≥ N.
    """
    n = whole_number("records", records, 1)
    return _smallest_m(math.log(n) - math.log(whole_number("k", k, 2) - 1), delta)


def _smallest_m(log_ratio: float, delta: float) -> int:
    """The smallest whole m ≥ log_ratio / −log(1 − δ), at least 0, up to rounding errors."""
    facts = log_ratio / -math.log1p(-_inside("delta", delta))
    if not math.isfinite(facts):
        raise ParameterError(f"delta = {delta!r} is too small: the number of facts overflows")
    return max(0, round(facts) if abs(facts - round(facts)) <= ROUNDING else math.ceil(facts))


def _inside(name: str, number: Any, low: float = 0, high: float = 1, ends: bool = False, reason: str = "") -> float:
    """A number between two others, or with `ends` one of these; else a ParameterError."""
    given = float(number) if isinstance(number, Real) and not isinstance(number, bool) else math.nan
    if not (low <= given <= high if ends else low < given < high):
        allowed = f"from {low:g} to {high:g}" if ends else f"above {low:g} and below {high:g}"
        raise ParameterError(f"{name} must be {reason or allowed}, got {number!r}")
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


def prize_share(improvement: float, rmse: float = RMSE, *, linear: bool = False) -> float:
    """Share f of records to de-anonymise for an improvement y of the RMSE x: 1 − (1 − y/x)².

    `linear`: the paper's reading, y/x. With rmse = 1, the improvement is a share of the RMSE.
    """
    most = _inside("rmse", rmse, 0, math.inf, reason="a finite number above 0")
    part = _inside("improvement", improvement, 0, most, ends=True) / most
    return part if linear else part * (2 - part)


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

    names = "theorem statement epsilon delta m k lambda gamma over sign bound value low high n baseline holds"
    schema: dict[str, Any] = dict.fromkeys([*names.split(), "too_few_items", "note"], pl.Float64)
    schema |= dict.fromkeys(("theorem", "m", "k", "n", "too_few_items"), pl.Int64)
    schema |= dict.fromkeys(("statement", "over", "sign", "note"), pl.String) | {"holds": pl.Boolean}
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
WRONG = "some facts are wrong, so the theorem does not apply"
NOT_RANDOM = "facts are not drawn at random, so the theorem does not apply"
BY_ENTRIES = "facts are random entries, not random items, so the theorem does not apply"
NO_LEMMA = "Lemma 1 does not hold with the union as the denominator"


def twice_as_wide(similarity: Similarity, adversary: Adversary) -> Similarity:
    """What two entries have in common if both are similar to one imprecise fact: twice the distances.

    What the adversary does not know is not compared.
    """
    if isinstance(similarity, Within):
        value = None if adversary.value_error is None or similarity.value is None else 2 * similarity.value
        time = None if adversary.time_error is None or similarity.time is None else 2 * similarity.time
        return Within(value, time)
    return Present() if isinstance(similarity, Equal) and adversary.value_error is None else similarity


def _with_note(check: Check, adversary: Adversary, premise: Mapping[int, Estimate], has_repeats: bool) -> Check:
    """The check with what the adversary's facts mean for it; `premise` is for each m.

    Where the premise is not met, a measurement outside the bound proves nothing. If records have items
    several times, an adversary knows what people do often with a higher probability than the theorems assume.
    """
    m, holds = check.settings.m, check.holds
    if m is None:
        return check
    if type(adversary) is not Adversary or str(adversary.items) != "any":
        note = NOT_RANDOM
    elif premise[m].n and premise[m].value < 1:
        note = WRONG
    elif has_repeats:
        note = BY_ENTRIES
    else:
        is_exact = adversary.value_error == adversary.time_error == 0
        imprecise = "facts are imprecise: what follows is similarity within twice the distances"
        note = "what follows for imprecise facts" if check.statement == TWICE else "" if is_exact else imprecise
    holds = holds or None if note in (NOT_RANDOM, WRONG, BY_ENTRIES) else holds
    return replace(check, holds=holds, note="; ".join(filter(None, (note, check.note))))


# Algorithm 1A on random targets: which records match, and how similar they are to the target.
#
# The theorems draw attributes of a record, each with the same probability. If records have items several times,
# an attribute is an item with all its entries: m different items are drawn, and one random entry of each is
# known. Lemma 1 then holds as it stands, because a fact agrees with a record at most as well as the best pair
# of entries, by which Sim(r, r′) is defined.


class MatchingSet(NamedTuple):
    """The matching set D′ of a target r, and Sim(r, r′) of its records with each denominator."""

    target: int
    record: Ints
    similarity: dict[Over, Floats]

    def filter(self, keep: Bools) -> "MatchingSet":
        """The part that is in a sample. A score of Algorithm 1A depends on one record only."""
        similarity = {over: numbers[keep] for over, numbers in self.similarity.items()}
        return MatchingSet(self.target, self.record[keep], similarity)


class MatchingSets(NamedTuple):
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
    known = (
        _shuffled_facts(release, chosen, m, seed)
        if adversary is None
        else known_facts(adversary, release, chosen, seed)
    )
    facts = prepare_queries(release, known, similarity, "one", np.full(len(known), -1, np.int64))
    sets, matching = {}, replace(facts, mode=MINIMUM)

    def work_on(low: int, high: int, _: None) -> None:
        for q in range(low, high):
            sets[q] = _matching_set(release, int(chosen[q]), np.flatnonzero(matching.scores(q) >= alpha), similarity)

    run_in_slices(len(chosen), threads, lambda: None, work_on, no_progress)
    pair, _, sim = fact_similarities(facts, np.arange(len(chosen)), chosen)
    n_precise = np.bincount(pair[sim >= alpha - ROUNDING], minlength=len(chosen))
    precise = np.asarray(n_precise == np.diff(facts.known.first))
    return MatchingSets(m, [sets[q] for q in range(len(chosen))], too_few_items, precise)


def measured_by(similarity: Similarity, release: Release, matches: MatchingSets) -> MatchingSets:
    """The same matching sets with Sim(r, r′) by another similarity."""
    return matches._replace(
        sets=[_matching_set(release, each.target, each.record, similarity) for each in matches.sets]
    )


def _shuffled_facts(release: Release, targets: Ints, m: int, seed: int) -> KnownFacts:
    """Random entries of each target, about m different items."""
    orders = shuffled_entries(release, targets, seed, "theorems", None if release.has_repeats else m)
    if release.has_repeats:
        for i, target in enumerate(targets.tolist()):
            draw = generator(seed, "theorems", "items", release.records[target])
            _, first_of_item = np.unique(release.by_record.item[orders[i]], return_index=True)
            orders[i] = orders[i][draw.permutation(first_of_item)[:m]]
    first = offsets([len(order) for order in orders])
    return facts_from_entries(release, np.concatenate([np.empty(0, np.int64), *orders]), first)


def _matching_set(release: Release, target: int, record: Ints, similarity: Similarity) -> MatchingSet:
    """Sim(r, r′) = Σ Sim(r_i, r′_i) with both denominators. Without known facts, all that is shared is revealed."""
    items = revealed_items(release, np.full(len(record), target), record, no_facts(release, len(record)), similarity)
    return MatchingSet(
        target, record, {"first": items.correct / release.distinct_items[target], "union": items.similarity}
    )


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
    _inside("epsilon", epsilon), _inside("delta", delta), _inside("gamma", gamma)
    _inside("lam", lam, 1 - ROUNDING, math.inf, reason="a finite number ≥ 1")
    if epsilon + delta >= 1:
        raise ParameterError(f"epsilon + delta must be below 1, got {epsilon!r} + {delta!r}")
    if adversary is not None and not isinstance(adversary, Adversary):
        raise ParameterError(f"adversary must be an Adversary, or None, got {type(adversary).__name__}")
    similarity = Within() if similarity is None else similarity
    if type(similarity) not in (Within, Equal, Present):
        raise ParameterError(f"similarity must be Within, Equal or Present, got {type(similarity).__name__}")
    whole_number("k", k, 2), whole_number("samples", samples, 1), check_seed(seed)
    theorems = _Theorems(release, epsilon, delta, similarity, targets, seed, threads)
    facts = facts_needed(release.n_records, epsilon, delta), facts_for_lineup(release.n_records, k, delta)
    options = {"targets": targets, "seed": seed, "threads": threads, "adversary": adversary}
    matches, lineups = (
        matching_sets(release, similarity, 1 - epsilon, max(1, m), **options)  # type: ignore[arg-type]
        for m in facts
    )
    similar_shares = {over: theorems.share_with_similar(release, over) for over in OVER}
    statement = "records with a similar record (premise)"  # (1 − ε − δ, ε)-sparsity, of Theorems 2 and 3
    premises = [theorems.check(2, statement, "≤", epsilon, similar_shares[over], over=over) for over in OVER]
    checks = [
        *theorems.similar_matches(1, "a random match is similar", matches),
        *premises,
        *theorems.unique_matches(matches, lineups, k, premises[0].holds),
        *theorems.in_sample(matches, float(lam)),
    ]
    if adversary is not None:  # the premise for imprecise facts, and what follows from it
        precise = {each.m: _rate(each.precise.tolist()) for each in (matches, lineups)}
        wide = measured_by(twice_as_wide(similarity, adversary), release, matches)
        checks = [theorems.similar_matches(1, TWICE, wide)[0], *checks]
        checks = [_with_note(each, adversary, precise, release.has_repeats) for each in checks]
        checks = [theorems.check(1, FACTS_PREMISE, "≥", 1.0, precise[matches.m], matches), *checks]
    return checks + theorems.sparse_samples(similar_shares["union"].value, samples, float(lam), gamma)


class _Theorems(NamedTuple):
    """The parameters of `check`, and one method for each kind of statement."""

    release: Release
    epsilon: float
    delta: float
    similarity: Similarity
    targets: int | None
    seed: int
    threads: int | None

    def similar_matches(self, theorem: int, statement: str, matches: MatchingSets, **more: Any) -> list[Check]:
        """(1 − ε − δ, 1 − ε)-deanonymization: a random match is similar to the target."""
        guess, checks = 1 / self.release.n_records, []
        for over in OVER:
            share = _rate([self.similar_share(each, over) for each in matches.sets], guess)
            checks.append(self.check(theorem, statement, "≥", 1 - self.epsilon, share, matches, over=over, **more))
        return checks

    def unique_matches(
        self, matches: MatchingSets, lineups: MatchingSets, k: int, is_sparse: bool | None
    ) -> list[Check]:
        """(1, 1 − ε)-deanonymization: only the target matches [Theorem 2]; (1, 1/k), and entropic (1, log2 k) [3].

        Without the premise, a measurement outside the bound proves nothing.
        """
        guess, all_bits = 1 / self.release.n_records, math.log2(self.release.n_records)
        alone = _rate([each.record.tolist() == [each.target] for each in matches.sets], guess)
        shares = [1 / len(each.record) if each.target in each.record else 0.0 for each in lineups.sets]
        bits = mean([-math.log2(share) if share else all_bits for share in shares], all_bits)
        unmet = "the premise is not met; " if is_sparse is False else ""
        notes = [f"{unmet}what follows is {bound}" for bound in ("1 − 2ε", "(1 − ε)/k", "log2 k + ε log2 N")]
        checks = [
            self.check(2, "only the target matches", "≥", 1 - self.epsilon, alone, matches, notes[0]),
            self.check(3, "a random match is the target", "≥", 1 / k, _rate(shares, guess), lineups, notes[1], k=k),
            self.check(3, "bits left", "≤", math.log2(k), bits, lineups, notes[2], k=k),
        ]
        return [replace(each, holds=each.holds or None) if unmet else each for each in checks]

    def in_sample(self, matches: MatchingSets, lam: float) -> list[Check]:
        """From a sample: present targets are found, absent ones are noticed  [Theorem 4].

        A score of Algorithm 1A depends on one record only, so the matching set in a sample is the part of the
        matching set that is in the sample, and no release has to be built. Each target is attacked once in
        the sample and once not in it; the rest of the sample does not depend on that.
        """
        in_sample, absent, present = self.sample(0, lam), [], []
        for each in matches.sets:
            is_target = each.record == each.target
            absent.append(each.filter(in_sample[each.record] & ~is_target))
            present.append(each.filter(in_sample[each.record] | is_target))
        likely, inside = 1 - self.epsilon, matches._replace(sets=present)
        found = self.similar_matches(4, "in the sample: a random match is similar", inside, lam=lam)
        statement, note = "not in the sample: nothing matches", "does not follow without sparsity"
        nothing = _rate([not len(each.record) for each in absent])
        found.append(self.check(4, statement, "≥", likely, nothing, matches, note, lam=lam))
        statement = "not in the sample: all matches are similar"
        for over in OVER:
            similar = _rate([self.similar_share(each, over, if_empty=1.0) == 1 for each in absent])
            found.append(self.check(4, statement, "≥", likely, similar, matches, over=over, lam=lam))
        return found

    def sparse_samples(self, similar_share: float, samples: int, lam: float, gamma: float) -> list[Check]:
        """A sample of a release that is not sparse is not sparse either: as printed [Theorem 5], and what follows.

        The δ of Theorem 5 is the share of records with a similar record: for any smaller one the release is
        not sparse. Sim is over the union, as it is defined: no lemma is needed.
        """
        shares = []
        for number in range(samples if similar_share else 0):
            keep = self.sample(number, lam)
            part = self.share_with_similar(subset(self.release, keep), "union").value if keep.any() else 0.0
            shares.append(part)
        bound = similar_share * gamma / lam
        values = f"δ = {similar_share:.4g} measured, δγ/λ = {bound:.4g}"
        values = values if similar_share else "no record has a similar record, so there is nothing to check"
        rows = (
            ("samples that are not sparse", 1 - gamma, [each > bound for each in shares], "does not follow"),
            ("records of a sample with a similar record", similar_share / lam, shares, "what follows"),
        )
        return [
            self.check(
                5, statement, "≥", least, _rate(found), note=f"{values}; {note}", over="union", lam=lam, gamma=gamma
            )
            for statement, least, found, note in rows
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
        is_within = measured.value >= bound - ROUNDING if sign == "≥" else measured.value <= bound + ROUNDING
        holds = True if is_within else None if measured.low <= bound <= measured.high else False
        settings = Settings(self.epsilon, self.delta, m, **more)
        return Check(
            theorem, statement, settings, sign, bound, measured, holds if measured.n else None, note, too_few_items
        )

    @property
    def theta(self) -> float:
        """1 − ε − δ, the minimum similarity; rounded, because 1 − 0.01 − 0.9 must not be below 0.09."""
        return round(1 - self.epsilon - self.delta, 12)

    def similar_share(self, matching: MatchingSet, over: Over, if_empty: float = 0.0) -> float:
        """The share of the matching records with Sim(r, r′) ≥ 1 − ε − δ."""
        similar = matching.similarity[over] >= self.theta - ROUNDING
        return float(similar.mean()) if len(similar) else if_empty

    def share_with_similar(self, release: Release, over: Over) -> Estimate:
        """The share of records whose nearest neighbour is more similar than 1 − ε − δ."""
        n = release.n_records
        if n < 2:
            return rate(0, n)
        sample = n if self.targets is None else min(self.targets, n)
        nearest = sparsity(release, self.similarity, sample=sample, over=over, seed=self.seed, threads=self.threads)
        return nearest.delta(self.theta)

    def sample(self, number: int, lam: float) -> Bools:
        """Which records are in a sample: each with probability 1/λ."""
        return generator(self.seed, "theorems", "sample", number).random(self.release.n_records) < 1 / lam


def _rate(shares: Sequence[float], baseline: float | None = None) -> Estimate:
    return rate(math.fsum(shares), len(shares), baseline)
