"""Theorems 1 to 5: how many facts are enough, and whether a release keeps to it  [section 4].

The facts that are enough, by arithmetic:

    Theorems 1, 2, 4    m ≥ (log N − log ε) / −log(1 − δ)      facts_needed
    Theorem 3           m ≥ log(N / (k − 1)) / log(1/(1 − δ))  facts_for_lineup
    Theorem 5           δγ/λ                                   sample_sparsity

`check` puts the bounds beside measurements. What it says about each theorem names what the proofs leave open:

Lemma 1      needs |supp(r)| below the line. With the union, as Sim is defined, a superset of r agrees on
             every attribute and is yet the less similar the longer it is. Both are measured.
Theorem 1    facts within 1 − ε of the target's are compared with r′ as if they were the target's own. They
             are told exactly here, where that is so.
Theorem 2    takes for granted that the target is one of the records without a similar one, of which an ε are
             not: what follows is 1 − 2ε, and for Theorem 3 (1 − ε)/k and log2 k + ε log2 N.
Theorem 3    counts X false matches and guesses among X; with the target there are X + 1 to guess among, which
             is what E[X] ≤ k − 1 gives 1/k for.
Theorem 4    says that for a target that is not in the sample nobody matches. Somebody may who is similar: it
             takes sparsity to rule that out. What follows is that nobody matches who is not similar.
Theorem 5    applies Markov's inequality the wrong way round: it bounds how often a share is large by its
             mean, not how often it is small. The theorem does not hold: where all who have a similar record
             have the same one, a sample is sparse whenever that one is not in it. What follows is the
             mean, δ/λ.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from standout.attack.scoreboard import Scoreboard
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.rng import check_seed, generator
from standout.evaluate.estimates import Estimate, mean, rate
from standout.release.model import Release
from standout.release.subset import subset
from standout.similarity.attributes import ROUNDING, Equal, Present, Similarity, Within
from standout.similarity.records import Over
from standout.theory.matching_sets import Suspects, Trial, trial
from standout.theory.sparsity import sparsity

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Check", "Settings", "check", "facts_for_lineup", "facts_needed", "false_matches", "sample_sparsity",
    "table",
]  # fmt: skip

Sign = Literal["≥", "≤"]
OVER: tuple[Over, Over] = ("first", "union")
"""|supp(r)| below the line, where Lemma 1 holds, and the union, as Sim is defined."""
NO_LEMMA = "Lemma 1 does not hold with the union below the line"
NONE_NEAR = "no record has a similar one, nothing to check"


def facts_needed(records: int, epsilon: float, delta: float) -> int:
    """The least m ≥ (log N − log ε) / −log(1 − δ): so many facts are enough  [Theorem 1].

    With so many random entries of a target, each within 1 − ε of the truth, a random one of those who match
    is similar to the target, Sim ≥ 1 − ε − δ, with probability 1 − ε, whatever the data. Where 1 − ε of the
    records have nobody that similar, only the target matches [Theorem 2]; from a sample the same number is
    enough, and shows that a target is not in it [Theorem 4].

    >>> [facts_needed(records=480_189, epsilon=0.01, delta=delta) for delta in (0.5, 0.9)]
    [26, 8]
    """
    n = whole_number("records", records, 1)
    return _facts(math.log(n) - math.log(_open("epsilon", epsilon)), delta)


def facts_for_lineup(records: int, k: int, delta: float) -> int:
    """The least m ≥ log(N / (k − 1)) / log(1/(1 − δ)): so many facts leave a lineup of k  [Theorem 3].

    A guess among those who match is right with probability 1/k, and log2 k bits are left. Sparsity as in
    Theorem 2. None are needed where k − 1 ≥ N.

    >>> [facts_for_lineup(records=480_189, k=k, delta=0.5) for k in (2, 10, 100)]
    [19, 16, 13]
    """
    n = whole_number("records", records, 1)
    return _facts(math.log(n) - math.log(whole_number("k", k, 2) - 1), delta)


def false_matches(records: int, facts: int, delta: float) -> float:
    """N (1 − δ)^m: at most so many who are not similar match m facts on average  [proof of Theorem 1].

    >>> false_matches(records=480_189, facts=26, delta=0.5)
    0.0071...
    """
    n, m = whole_number("records", records, 1), whole_number("facts", facts, 0)
    return math.exp(math.log(n) + m * math.log1p(-_open("delta", delta)))


def sample_sparsity(delta: float, gamma: float, lam: float) -> float:
    """δγ/λ: where D is not (ε, δ)-sparse, a 1/λ sample is not (ε, δγ/λ)-sparse  [Theorem 5].

    With probability 1 − γ, it says; that does not follow, and is not always so: see above.

    >>> round(sample_sparsity(delta=0.2, gamma=0.1, lam=8), 6)
    0.0025
    """
    return _open("delta", delta, ends=True) * _open("gamma", gamma) / _lam(lam)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a theorem was asked for. `over` is what stands below the line of Sim on records."""

    epsilon: float
    delta: float
    m: int | None = None
    k: int | None = None
    lam: float | None = None
    gamma: float | None = None
    over: Over | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A bound beside a measurement.

    `holds` is True if what was measured keeps to the bound, False if the bound lies outside its interval, and
    None if that cannot be told: the interval spans the bound, nothing could be measured, or the premise is
    not given. `left_out` records have fewer than m items.
    """

    theorem: int
    what: str
    settings: Settings
    sign: Sign
    bound: float
    measured: Estimate
    holds: bool | None
    note: str = ""
    left_out: int = 0

    def __str__(self) -> str:
        verdict = {True: "holds", False: "does not hold", None: "cannot be told"}[self.holds]
        over = f" (over {self.settings.over})" if self.settings.over else ""
        numbers = f"{self.measured} {self.sign} {self.bound:.4g}"
        return f"Theorem {self.theorem}: {self.what}{over}: {numbers}: {verdict}"


def check(
    release: Release,
    *,
    epsilon: float = 0.01,
    delta: float = 0.5,
    k: int = 10,
    lam: float = 8,
    gamma: float = 0.1,
    similarity: Similarity | None = None,
    targets: int | None = 200,
    samples: int = 20,
    seed: int = 0,
    threads: int | None = None,
) -> list[Check]:
    """Theorems 1 to 5 on a release: each bound beside what is measured.

    Of `targets` records with at least m items (None: of all of them) m random entries are told exactly. Sim
    is `similarity`: Within, Equal or Present; Within(value=1, time=14) if none is given. Theorem 4 releases
    each record with probability 1/λ; all targets are tried twice, with their own record and without it.
    Theorem 5 draws `samples` of 1/λ.

    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=20_000, seed=7)
    >>> print(check(release, delta=0.9, targets=50, samples=2)[0])
    Theorem 1: who matches is similar (over first): 1.000 (0.929 to 1.000, n = 50) ≥ 0.99: holds
    """
    ends = _open("epsilon", epsilon), _open("delta", delta)
    settings = Settings(*ends, None, whole_number("k", k, 2), _lam(lam), _open("gamma", gamma))
    if epsilon + delta >= 1:
        raise ParameterError(f"epsilon + delta must be below 1, got {epsilon!r} + {delta!r}")
    alike = Within() if similarity is None else similarity
    if type(alike) not in (Within, Equal, Present):
        raise ParameterError(f"similarity must be Within, Equal or Present, got {type(alike).__name__}")
    board = Scoreboard(alike, 1 - settings.epsilon)
    return _Checks(
        release, settings, board, targets, whole_number("samples", samples, 1), check_seed(seed), threads
    ).rows()


def table(rows: Iterable[Check]) -> "pl.DataFrame":
    """The checks as a frame, a row each."""
    import polars as pl

    real, number = pl.Float64, pl.Int64
    schema = {
        "theorem": number, "what": pl.String, "epsilon": real, "delta": real, "m": number, "k": number,
        "lambda": real, "gamma": real, "over": pl.String, "sign": pl.String, "bound": real, "value": real,
        "low": real, "high": real, "n": number, "baseline": real, "holds": pl.Boolean, "left_out": number,
        "note": pl.String,
    }  # fmt: skip
    cells = [
        {"theorem": row.theorem, "what": row.what, "sign": row.sign, "bound": row.bound, "holds": row.holds}
        | {"lambda": row.settings.lam, "left_out": row.left_out, "note": row.note}
        | asdict(row.settings)
        | asdict(row.measured)
        for row in rows
    ]
    return pl.DataFrame([{name: cell[name] for name in schema} for cell in cells], schema=schema)


@dataclass(frozen=True, slots=True)
class _Checks:
    """What `check` was asked, and its answers theorem by theorem."""

    release: Release
    settings: Settings
    board: Scoreboard
    targets: int | None
    samples: int
    seed: int
    threads: int | None

    def rows(self) -> list[Check]:
        n, given = self.release.n_records, self.settings
        assert given.k is not None
        tried = self.trial(facts_needed(n, given.epsilon, given.delta))
        fewer = self.trial(max(1, facts_for_lineup(n, given.k, given.delta)))
        near = {over: self.near(self.release, over) for over in OVER}
        premise = [self.premise(near[over], over) for over in OVER]
        sparse = premise[0].holds
        return [
            *(self.theorem1(tried, over) for over in OVER),
            *premise,
            self.theorem2(tried, sparse),
            *self.theorem3(fewer, sparse),
            *self.theorem4(tried),
            *self.theorem5(near["union"].value),
        ]

    def theorem1(self, tried: Trial, over: Over) -> Check:
        """(1 − ε − δ, 1 − ε)-deanonymization: a random one of those who match is similar to the target."""
        share = self.share([self.similar(one, over) for one in tried.suspects])
        return self.row(1, "who matches is similar", "≥", self.board.alpha, share, tried, over=over)

    def premise(self, near: Estimate, over: Over) -> Check:
        """(1 − ε − δ, ε)-sparsity, which Theorems 2 and 3 need."""
        return self.row(
            2, "records with a similar one (premise)", "≤", self.settings.epsilon, near, over=over
        )

    def theorem2(self, tried: Trial, sparse: bool | None) -> Check:
        """(1, 1 − ε)-deanonymization: only the target matches."""
        share = self.share([one.record.tolist() == [one.target] for one in tried.suspects])
        row = self.row(2, "only the target matches", "≥", self.board.alpha, share, tried)
        return _given(sparse, row, "what follows is 1 − 2ε")

    def theorem3(self, tried: Trial, sparse: bool | None) -> list[Check]:
        """(1, 1/k)-deanonymization and (1, log2 k), entropically: a guess is right, and few bits are left."""
        k, every = self.settings.k, math.log2(self.release.n_records)
        assert k is not None
        right = [1 / len(one.record) if one.target in one.record else 0.0 for one in tried.suspects]
        bits = mean([-math.log2(share) if share else every for share in right], every)
        guess = self.row(3, "a guess is right", "≥", 1 / k, self.share(right), tried, k=k)
        left = self.row(3, "bits left", "≤", math.log2(k), bits, tried, k=k)
        return [
            _given(sparse, guess, "what follows is (1 − ε)/k"),
            _given(sparse, left, "what follows is log2 k + ε log2 N"),
        ]

    def theorem4(self, tried: Trial) -> list[Check]:
        """From a sample: who is in it is found, and who is not in it is missed.

        A score of Algorithm 1A depends on one record only. So the matching set in a sample is that part of
        the matching set which is in it, and no release has to be built anew. A target is tried as one of the
        sample and as none of it; who else is in the sample does not depend on that.
        """
        sample, lam = self.sample(0), self.settings.lam
        absent = [one.kept(sample[one.record] & (one.record != one.target)) for one in tried.suspects]
        present = [one.kept(sample[one.record] | (one.record == one.target)) for one in tried.suspects]

        def row(what: str, measured: Estimate, over: Over | None = None, note: str = "") -> Check:
            return self.row(4, what, "≥", self.board.alpha, measured, tried, note, over=over, lam=lam)

        found = {over: self.share([self.similar(one, over) for one in present]) for over in OVER}
        rejected = _rate([not len(one.record) for one in absent])
        misled = {over: _rate([self.similar(one, over, nobody=1.0) == 1 for one in absent]) for over in OVER}
        return [
            *(row("in the sample: who matches is similar", found[over], over) for over in OVER),
            row("not in the sample: nobody matches", rejected, note="does not follow without sparsity"),
            *(row("not in the sample: whoever matches is similar", misled[over], over) for over in OVER),
        ]

    def theorem5(self, near: float) -> list[Check]:
        """A sample of a release that is not sparse is not sparse either: as printed, and what follows of it.

        The δ of Theorem 5 is the share of records that have a similar one: for any smaller one the release
        is not sparse. With the union below the line, as Sim is defined: no lemma is needed.
        """
        lam, gamma = self.settings.lam, self.settings.gamma
        assert lam is not None and gamma is not None
        shares = [self.near_in(number) for number in range(self.samples)] if near else []
        least = sample_sparsity(near, gamma, lam)
        dense, share = _rate([one > least for one in shares]), rate(math.fsum(shares), len(shares))
        told = f"δ = {near:.4g} measured, δγ/λ = {least:.4g}; " if near else f"{NONE_NEAR}; "
        more: dict[str, Any] = {"over": "union", "lam": lam, "gamma": gamma}
        return [
            self.row(
                5, "samples that are not sparse", "≥", 1 - gamma, dense,
                note=told + "does not follow", **more,
            ),
            self.row(
                5, "records of a sample with a similar one", "≥", near / lam, share,
                note=told + "what follows", **more,
            ),
        ]  # fmt: skip

    def row(
        self, theorem: int, what: str, sign: Sign, bound: float, measured: Estimate,
        tried: Trial | None = None, note: str = "", **more: Any,
    ) -> Check:  # fmt: skip
        """One check. `more` are the settings that matter for it."""
        if more.get("over") == "union" and theorem < 5:
            note = NO_LEMMA
        m, left_out = (None, 0) if tried is None else (tried.m, tried.left_out)
        settings = Settings(self.settings.epsilon, self.settings.delta, m, **more)
        holds = _holds(sign, bound, measured)
        return Check(theorem, what, settings, sign, bound, measured, holds, note, left_out)

    @property
    def theta(self) -> float:
        """1 − ε − δ: whoever is no more similar is a false match. 1 − 0.01 − 0.9 is 0.09, not a bit less."""
        return round(1 - self.settings.epsilon - self.settings.delta, 12)

    def trial(self, m: int) -> Trial:
        return trial(
            self.release, self.board.similarity, self.board.alpha, m, self.targets, self.seed, self.threads
        )

    def share(self, shares: Sequence[float]) -> Estimate:
        """The rate, beside that of a guess without facts."""
        return rate(math.fsum(shares), len(shares), 1 / self.release.n_records)

    def similar(self, one: Suspects, over: Over, nobody: float = 0.0) -> float:
        """The share of those who match whose Sim(r, r′) is at least 1 − ε − δ; `nobody` if there are none."""
        return float((one.over(over) >= self.theta - ROUNDING).mean()) if len(one.record) else nobody

    def near(self, release: Release, over: Over) -> Estimate:
        """The share of records whose nearest neighbour is more similar than 1 − ε − δ."""
        n = release.n_records
        if n < 2:
            return rate(0, n)
        sample = n if self.targets is None else min(self.targets, n)
        found = sparsity(
            release, self.board.similarity, sample=sample, over=over, seed=self.seed, threads=self.threads
        )
        return found.delta(self.theta)

    def near_in(self, number: int) -> float:
        """The same share in a 1/λ sample; nobody is near to anybody in an empty one."""
        keep = self.sample(number)
        return self.near(subset(self.release, keep), "union").value if keep.any() else 0.0

    def sample(self, number: int) -> NDArray[np.bool_]:
        """Which records are in a 1/λ sample: each of them with probability 1/λ."""
        assert self.settings.lam is not None
        draw = generator(self.seed, "theorems", "sample", number)
        return draw.random(self.release.n_records) < 1 / self.settings.lam


def _holds(sign: Sign, bound: float, measured: Estimate) -> bool | None:
    if measured.n == 0:
        return None
    if (measured.value >= bound - ROUNDING) if sign == "≥" else (measured.value <= bound + ROUNDING):
        return True
    return None if measured.low <= bound <= measured.high else False


def _given(premise: bool | None, row: Check, note: str) -> Check:
    """The check of what follows from a premise: without it, a bound that is not kept says nothing."""
    if premise is False:
        return replace(row, holds=row.holds or None, note=f"the premise is not given; {note}")
    return replace(row, note=note)


def _rate(found: Sequence[bool]) -> Estimate:
    return rate(sum(found), len(found))


def _facts(bits: float, delta: float) -> int:
    """The least whole m ≥ bits / −log(1 − δ), at least 0; what is whole but for rounding is whole."""
    facts = bits / -math.log1p(-_open("delta", delta))
    if not math.isfinite(facts):
        raise ParameterError(f"delta = {delta!r} is too small: there is no number for the facts needed")
    return max(0, round(facts) if abs(facts - round(facts)) <= ROUNDING else math.ceil(facts))


def _open(name: str, number: Any, ends: bool = False) -> float:
    """A number between 0 and 1, or an error."""
    given = float(number) if isinstance(number, Real) and not isinstance(number, bool) else math.nan
    if not (0 <= given <= 1 if ends else 0 < given < 1):
        between = "from 0 to 1" if ends else "above 0 and below 1"
        raise ParameterError(f"{name} must be {between}, got {number!r}")
    return given


def _lam(lam: Any) -> float:
    given = float(lam) if isinstance(lam, Real) and not isinstance(lam, bool) else math.nan
    if not 1 <= given < math.inf:
        raise ParameterError(f"lam must be a finite number ≥ 1, got {lam!r}: a sample is 1/lam of all")
    return given
