"""How many rows agree with a person's row: k, uniqueness, prosecutor and marketer risk.

The prosecutor knows that the target is in the table, and knows the target's values of some columns. If f rows
have these values, a guess among them is right with probability 1/f. The marketer guesses for everyone, and
is right for the mean of 1/f over all rows: the number of classes divided by the number of rows.

These numbers count all rows of the table, so they are exact: both ends of an interval are the number itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from standout.core.arrays import Ints
from standout.evaluate.estimates import Estimate
from standout.risk_measures.classes import Missing, matching_rows
from standout.tables.model import Table

__all__ = ["SIZES", "THRESHOLDS", "IdentityRisk", "SizeCount", "exact", "identity_risk", "risk_of_sizes"]

SIZES = (2, 3, 5, 10)
"""Share of rows in classes smaller than these."""
THRESHOLDS = (0.05, 0.1, 0.2, 0.5)
"""Share of rows with a risk above these."""


@dataclass(frozen=True, slots=True)
class SizeCount:
    """How many rows agree with `size` rows (themselves included)."""

    size: int
    rows: int


@dataclass(frozen=True, slots=True)
class IdentityRisk:
    """How well the values of some columns single out the rows of a table.

    Attributes
    ----------
    columns
        The columns that the adversary knows.
    missing
        What a missing cell agrees with: "equal" (missing cells only) or "any" (every value).
    k
        The smallest number of rows that agree with a row, itself included: the table is k-anonymous.
    unique
        Share of rows that no other row agrees with.
    smaller
        For each size s, the share of rows that fewer than s rows agree with.
    highest
        The prosecutor's chance for the row at most risk, 1/k.
    mean
        The mean of the prosecutor's chances 1/f, which is the marketer's risk.
    above
        For each threshold, the share of rows with a chance 1/f above it.
    sizes
        The distribution of f: how many rows agree with f rows.
    """

    columns: tuple[str, ...]
    missing: Missing
    k: int
    unique: Estimate
    smaller: tuple[tuple[int, Estimate], ...]
    highest: Estimate
    mean: Estimate
    above: tuple[tuple[float, Estimate], ...]
    sizes: tuple[SizeCount, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.unique.n

    def __str__(self) -> str:
        columns = ", ".join(self.columns)
        return (
            f"k = {self.k:,}, {self.unique.value:.1%} unique, marketer risk {self.mean.value:.1%} ({columns})"
        )


def exact(value: float, n: int, baseline: float | None = None) -> Estimate:
    """A number that counts all n rows: its interval is the number itself."""
    return Estimate(value, value, value, n, baseline)


def identity_risk(table: Table, columns: Sequence[str], missing: Missing = "equal") -> IdentityRisk:
    """k, uniqueness and prosecutor risk of a set of columns, counted over all rows.

    Examples
    --------
    >>> from standout.tables.column import Column
    >>> sex = Column("sex", "category", ("f", "m"), np.array([0, 1, 1, 0], np.uint8))
    >>> age = Column("age", "number", np.array([34.0, 82.0]), np.array([1, 0, 0, 0], np.uint8))
    >>> print(identity_risk(Table((sex, age)), ["sex", "age"]))
    k = 1, 50.0% unique, marketer risk 75.0% (sex, age)
    """
    return risk_of_sizes(matching_rows(table, columns, missing), tuple(columns), missing)


def risk_of_sizes(matching: Ints, columns: tuple[str, ...], missing: Missing) -> IdentityRisk:
    """The risk of rows that this many rows agree with."""
    n = len(matching)
    size, rows = np.unique(matching, return_counts=True)
    chance = 1.0 / size

    def share(chosen: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> Estimate:
        return exact(int(rows[chosen].sum()) / n, n, 1 / n)

    return IdentityRisk(
        columns=columns,
        missing=missing,
        k=int(size[0]),
        unique=share(size < 2),
        smaller=tuple((limit, share(size < limit)) for limit in SIZES),
        highest=exact(float(chance[0]), n, 1 / n),
        mean=exact(float((rows * chance).sum()) / n, n, 1 / n),
        above=tuple((limit, share(chance > limit)) for limit in THRESHOLDS),
        sizes=tuple(SizeCount(int(s), int(count)) for s, count in zip(size, rows, strict=True)),
    )
