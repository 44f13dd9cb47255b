"""The bounds of Theorems 1 to 5 and of the Netflix Prize by arithmetic, and the results of checks  [section 4]."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from standout.core.errors import ParameterError, whole_number
from standout.evaluate.estimates import Estimate
from standout.know.similarity import ROUNDING, Over

if TYPE_CHECKING:
    import polars as pl

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
