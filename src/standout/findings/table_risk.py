"""Risk measures of a table that count rows: classes, column sets, and what classes and attacks disclose."""

from dataclasses import dataclass

from standout.evaluate.estimates import Estimate
from standout.findings.json_types import Count, NonNegative, PositiveCount, Rate, Share

__all__ = [
    "ClassSize",
    "ColumnSetFindings",
    "Disclosure",
    "Diversity",
    "IdentityFindings",
    "Learned",
    "PopulationEstimate",
    "RiskAbove",
    "SmallClasses",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassSize:
    """Rows in classes of one size, or of a range of sizes.

    Attributes
    ----------
    low
        Smallest size.
    high
        Largest size; null if there is no limit.
    rows
        Number of rows in such classes.
    """

    low: PositiveCount
    high: PositiveCount | None
    rows: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallClasses:
    """Share of rows in classes with fewer than `size` rows."""

    size: PositiveCount
    share: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskAbove:
    """Share of rows whose prosecutor risk is above `risk`."""

    risk: Share
    share: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityFindings:
    """How well the quasi-identifiers single out rows, counted over all rows: the numbers are exact.

    Attributes
    ----------
    columns
        The quasi-identifiers that the table has.
    k
        Size of the smallest class of rows with equal quasi-identifiers.
    classes
        Number of classes.
    unique
        Share of rows that are alone in their class.
    smaller
        Shares of rows in small classes.
    highest
        Prosecutor risk of the row at most risk: 1/k.
    mean
        Mean prosecutor risk, which is the marketer risk: classes per row.
    above
        Shares of rows with a high prosecutor risk.
    sizes
        Numbers of rows by size of their class.
    k_with_gaps
        k if a missing cell agrees with every value, as in sdcMicro.
    unique_with_gaps
        Share of unique rows if a missing cell agrees with every value.
    """

    columns: tuple[str, ...]
    k: PositiveCount
    classes: PositiveCount
    unique: Share
    smaller: tuple[SmallClasses, ...]
    highest: Share
    mean: Share
    above: tuple[RiskAbove, ...]
    sizes: tuple[ClassSize, ...]
    k_with_gaps: PositiveCount
    unique_with_gaps: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSetFindings:
    """The set of columns of one size that makes most rows unique.

    Attributes
    ----------
    unique
        Share of rows that no other row equals in these columns.
    exhaustive
        Whether no other set of this size makes more rows unique. If not, it is the best set found.
    tried
        Number of sets of this size that were counted.
    """

    columns: tuple[str, ...]
    unique: Share
    exhaustive: bool
    tried: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Diversity:
    """What classes of equal quasi-identifiers say about a sensitive column.

    Attributes
    ----------
    distinct
        l: the smallest number of different values in a class.
    entropy
        Entropy l: the smallest e^entropy of the values in a class.
    same_value
        Share of rows whose class has one value only: who knows the class knows the value.
    t_closeness
        t: the largest distance between the values in a class and those in the table.
    """

    distinct: Count
    entropy: NonNegative
    same_value: Share
    t_closeness: NonNegative


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosure:
    """How well a sensitive column is guessed, and what the classes say about it.

    Attributes
    ----------
    guessed
        Share of targets whose value is guessed; null if the column was not guessed.
    control
        The same for people who are not in the table: what the table says about anybody.
    baseline
        Share of the commonest value.
    adversary
        What the adversary knows.
    diversity
        What classes of equal quasi-identifiers say about the column; null if it was not measured.
    note
        Why a number is missing; empty if none is.
    """

    column: str
    guessed: Rate | None
    control: Rate | None
    baseline: Share
    adversary: str
    diversity: Diversity | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What the right row shows that the adversary did not know.

    Attributes
    ----------
    columns
        Mean number of further columns with a value.
    bits
        Mean of −log2 of the share of people who have the same value, over these columns.
    """

    columns: Estimate
    bits: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationEstimate:
    """The quasi-identifiers in a population of which the table is a sample.

    Attributes
    ----------
    population
        Number of people in the population.
    unique
        Share of the table's rows that are unique in the population, as estimated.
    journalist
        Mean risk if the target is one of the population: the mean of 1/F over rows, as estimated.
    method
        How the numbers were estimated.
    """

    population: PositiveCount
    unique: Rate | None
    journalist: Rate | None
    method: str
