"""The results of checking a theorem on a release: settings, bound, measurement, and a table of them."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from standout.evaluate.estimates import Estimate
from standout.know.record_similarity import Over

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Check", "Settings", "Sign", "table"]

Sign = Literal["≥", "≤"]


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
    """A bound compared with a measurement.

    Attributes
    ----------
    theorem
        Number of the theorem.
    statement
        The quantity that is bounded.
    settings
        The parameters.
    sign, bound
        What the theorem says: the quantity is ≥ or ≤ the bound.
    measured
        The measurement.
    holds
        True if the measurement is within the bound, False if the whole interval is outside. None if
        undecided: the interval contains the bound, nothing could be measured, or the premise is not met.
    note
        Gaps in the proof that matter here.
    too_few_items
        Number of records with fewer than m items, which cannot be targets.
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
    """The checks as a table.

    Parameters
    ----------
    checks
        What `check` returned.

    Returns
    -------
    polars.DataFrame
        One row for each check.

    Examples
    --------
    >>> table([]).columns[:4]
    ['theorem', 'statement', 'epsilon', 'delta']
    """
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
