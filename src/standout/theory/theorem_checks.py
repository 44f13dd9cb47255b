"""Theorems 1 to 5 on a release: each bound compared with a measurement; `bounds.py` explains the notes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.adversary import Adversary
from standout.attack.scoreboard import Scoreboard
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.rng import check_seed, generator
from standout.evaluate.estimates import Estimate, mean, rate
from standout.release.model import Release
from standout.release.subset import subset
from standout.similarity.attributes import ROUNDING, Equal, Present, Similarity, Within
from standout.similarity.records import Over
from standout.theory.bound_formulas import (
    between_0_and_1,
    check_lam,
    facts_for_lineup,
    facts_needed,
    sample_sparsity,
)
from standout.theory.check_results import Check, Settings, Sign
from standout.theory.imprecise_facts import (
    FACTS_PREMISE,
    TWICE,
    check_adversary,
    twice_as_wide,
    with_notes,
)
from standout.theory.matching_sets import MatchingSet, MatchingSets, matching_sets, measured_by
from standout.theory.sparsity import sparsity

__all__ = ["check"]

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

    Parameters
    ----------
    release
        The release.
    epsilon, delta
        ε and δ, above 0 and below 1; their sum must be below 1.
    k
        Length of the lineup for Theorem 3.
    lam, gamma
        λ and γ of Theorems 4 and 5.
    similarity
        Within, Equal or Present; default: Within(value=1, time=14).
    adversary
        Whose facts Theorems 1 to 4 are measured with; `knows` is replaced by m. Default: exact facts.
    targets
        Number of targets, drawn from the records with at least m items; None: all of them.
    samples
        Number of samples for Theorem 5.
    seed
        Random seed.
    threads
        Number of threads; default: all cores.

    Returns
    -------
    list of Check
        One or more checks for each theorem.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=20_000, seed=7)
    >>> print(check(release, delta=0.9, targets=50, samples=2)[0])
    Theorem 1: a random match is similar (over first): 1.000 (0.929 to 1.000, n = 50) ≥ 0.99: holds
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
    similarity = Within() if similarity is None else similarity
    if type(similarity) not in (Within, Equal, Present):
        raise ParameterError(f"similarity must be Within, Equal or Present, got {type(similarity).__name__}")
    checks = _TheoremChecks(
        release=release,
        settings=settings,
        board=Scoreboard(similarity, 1 - settings.epsilon),
        adversary=check_adversary(adversary),
        targets=targets,
        samples=whole_number("samples", samples, 1),
        seed=check_seed(seed),
        threads=threads,
    )
    return checks.all()


@dataclass(frozen=True, slots=True)
class _TheoremChecks:
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
        premises = [self.premise(similar_shares[over], over) for over in OVER]
        is_sparse = premises[0].holds
        theorems = [
            *(self.theorem1(matches, over) for over in OVER),
            *premises,
            self.theorem2(matches, is_sparse),
            *self.theorem3(lineups, is_sparse),
            *self.theorem4(matches),
        ]
        if self.adversary is not None:
            theorems = self.with_imprecise_facts(theorems, matches, lineups)
        return [*theorems, *self.theorem5(similar_shares["union"].value)]

    def with_imprecise_facts(
        self, checks: list[Check], matches: MatchingSets, lineups: MatchingSets
    ) -> list[Check]:
        """The checks with notes on imprecise facts, after their premise and what follows from it."""
        assert self.adversary is not None
        precise = {each.m: _rate(each.precise.tolist()) for each in (matches, lineups)}
        wide = twice_as_wide(self.board.similarity, self.adversary)
        sets = measured_by(wide, self.release, matches, self.seed).sets
        share = self.rate([self.similar_share(matching, "first") for matching in sets])
        premise = self.check(1, FACTS_PREMISE, "≥", 1.0, precise[matches.m], matches)
        follows = self.check(1, TWICE, "≥", self.board.alpha, share, matches, over="first")
        checks = with_notes([follows, *checks], self.adversary, precise, self.release.has_repeats)
        return [premise, *checks]

    def theorem1(self, matches: MatchingSets, over: Over) -> Check:
        """(1 − ε − δ, 1 − ε)-deanonymization: a random match is similar to the target."""
        share = self.rate([self.similar_share(matching, over) for matching in matches.sets])
        return self.check(1, "a random match is similar", "≥", self.board.alpha, share, matches, over=over)

    def premise(self, share: Estimate, over: Over) -> Check:
        """(1 − ε − δ, ε)-sparsity, the premise of Theorems 2 and 3."""
        statement = "records with a similar record (premise)"
        return self.check(2, statement, "≤", self.settings.epsilon, share, over=over)

    def theorem2(self, matches: MatchingSets, is_sparse: bool | None) -> Check:
        """(1, 1 − ε)-deanonymization: only the target matches."""
        share = self.rate([matching.record.tolist() == [matching.target] for matching in matches.sets])
        result = self.check(2, "only the target matches", "≥", self.board.alpha, share, matches)
        return _with_premise(is_sparse, result, "what follows is 1 − 2ε")

    def theorem3(self, matches: MatchingSets, is_sparse: bool | None) -> list[Check]:
        """(1, 1/k)-deanonymization, and entropic (1, log2 k): a random match is the target."""
        k, all_bits = self.settings.k, math.log2(self.release.n_records)
        assert k is not None
        shares = [
            1 / len(matching.record) if matching.target in matching.record else 0.0
            for matching in matches.sets
        ]
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
        in_sample = self.sample(0)
        absent, present = [], []
        for matching in matches.sets:
            is_target = matching.record == matching.target
            absent.append(matching.filter(in_sample[matching.record] & ~is_target))
            present.append(matching.filter(in_sample[matching.record] | is_target))

        def row(statement: str, measured: Estimate, over: Over | None = None, note: str = "") -> Check:
            return self.check(
                4,
                statement,
                "≥",
                self.board.alpha,
                measured,
                matches=matches,
                note=note,
                over=over,
                lam=self.settings.lam,
            )

        nothing_matches = _rate([not len(matching.record) for matching in absent])
        return [
            *(
                row(
                    "in the sample: a random match is similar",
                    self.rate([self.similar_share(matching, over) for matching in present]),
                    over,
                )
                for over in OVER
            ),
            row(
                "not in the sample: nothing matches", nothing_matches, note="does not follow without sparsity"
            ),
            *(
                row(
                    "not in the sample: all matches are similar",
                    _rate([self.similar_share(matching, over, if_empty=1.0) == 1 for matching in absent]),
                    over,
                )
                for over in OVER
            ),
        ]

    def theorem5(self, similar_share: float) -> list[Check]:
        """A sample of a release that is not sparse is not sparse either: as printed, and what follows.

        The δ of Theorem 5 is the share of records with a similar record: for any smaller one the release is
        not sparse. Sim is over the union, as it is defined: no lemma is needed.
        """
        lam, gamma = self.settings.lam, self.settings.gamma
        assert lam is not None and gamma is not None
        shares = [self.similar_share_in_sample(i) for i in range(self.samples)] if similar_share else []
        bound = sample_sparsity(similar_share, gamma, lam)
        not_sparse, share = _rate([share > bound for share in shares]), rate(math.fsum(shares), len(shares))
        values = (
            f"δ = {similar_share:.4g} measured, δγ/λ = {bound:.4g}; "
            if similar_share
            else f"{NONE_SIMILAR}; "
        )
        check = partial(self.check, 5, sign="≥", over="union", lam=lam, gamma=gamma)
        return [
            check(
                statement="samples that are not sparse",
                bound=1 - gamma,
                measured=not_sparse,
                note=values + "does not follow",
            ),
            check(
                statement="records of a sample with a similar record",
                bound=similar_share / lam,
                measured=share,
                note=values + "what follows",
            ),
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
        return Check(
            theorem=theorem,
            statement=statement,
            settings=Settings(self.settings.epsilon, self.settings.delta, m, **more),
            sign=sign,
            bound=bound,
            measured=measured,
            holds=_holds(sign, bound, measured),
            note=note,
            too_few_items=too_few_items,
        )

    @property
    def theta(self) -> float:
        """1 − ε − δ, the minimum similarity; rounded, because 1 − 0.01 − 0.9 must not be below 0.09."""
        return round(1 - self.settings.epsilon - self.settings.delta, 12)

    def matching_sets(self, m: int) -> MatchingSets:
        return matching_sets(
            self.release,
            self.board.similarity,
            self.board.alpha,
            m,
            targets=self.targets,
            seed=self.seed,
            threads=self.threads,
            adversary=self.adversary,
        )

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
        nearest = sparsity(
            release, similarity, sample=sample, over=over, seed=self.seed, threads=self.threads
        )
        return nearest.delta(self.theta)

    def similar_share_in_sample(self, number: int) -> float:
        """The share of records of a 1/λ sample that have a similar one; 0 for an empty sample."""
        keep = self.sample(number)
        return self.share_with_similar(subset(self.release, keep), "union").value if keep.any() else 0.0

    def sample(self, number: int) -> NDArray[np.bool_]:
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
