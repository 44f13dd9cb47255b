"""The findings of an audit of a table: the content of its findings.json.

`TableFindings` is the whole. No finding contains the content of a cell, the id of a row or the name of a
level; columns are named.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from standout.evaluate.estimates import Estimate
from standout.findings.adversaries import BeforeAfter
from standout.findings.audit import Run, Threshold, Trust, Verdict
from standout.findings.json_types import Count, NonNegative, PositiveCount, Rate, Share
from standout.findings.reading import TableOriginal, TableReading, TableSummary

__all__ = [
    "SCHEMA_TITLE",
    "ClassSize",
    "ColumnError",
    "ColumnSetFindings",
    "Disclosure",
    "Diversity",
    "IdentityFindings",
    "Learned",
    "PopulationEstimate",
    "RiskAbove",
    "SmallClasses",
    "TableAdversaryFindings",
    "TableAnswer",
    "TableAttackFindings",
    "TableCurvePoint",
    "TableFindings",
    "TableMeasures",
    "TablePopulation",
    "TableSettings",
]

# Results of one adversary on a table: every attack as the adversary is named, and a curve.


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCurvePoint:
    """What one attack identifies with one number of known attributes.

    Attributes
    ----------
    knows
        Number of known attributes.
    identified
        Share of targets whose best guess is the right row.
    """

    knows: PositiveCount
    identified: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePopulation:
    """Claims if the target may be anybody of a population, of which the table is a sample.

    Attributes
    ----------
    in_table
        Share of the people in the table who are claimed correctly.
    identified
        Share of the population that is claimed correctly.
    confidence
        Share of claims that are correct.
    """

    in_table: Rate
    identified: Rate
    confidence: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMeasures:
    """Measures of one attack with exactly the attributes that the adversary's description names.

    Attributes
    ----------
    targets
        Number of targets.
    claims_by
        What a claim needs at least: "phi", an eccentricity, or "posterior", a probability.
    threshold
        The least eccentricity or posterior for a claim.
    identified
        Share of targets whose best guess is the right row. If t rows tie, the guess counts 1/t.
    identified_in_table
        The same among targets who are in the table.
    correct_claims
        Share of targets for whom the right row is claimed, at `threshold`.
    wrong_claims
        Share of targets for whom a wrong row is claimed, at `threshold`.
    absent_claims
        Share of absent targets for whom a row is claimed, at `threshold`.
    threshold_at_budget
        The least threshold that keeps claims about absent targets within the budget, chosen on all targets.
    correct_claims_at_budget
        Share of targets for whom the right row is claimed, each at the threshold that the others choose.
    absent_claims_at_budget
        Share of absent targets for whom a row is claimed, each at the threshold that the others choose.
    bits_gained
        Mean information gained about who the target is, in bits.
    bits_left
        Mean information that is still missing, in bits.
    stated_probability
        Mean probability that the attack itself gives its best guess.
    population
        Claims if the target may not be in the table; null if no population was given.
    """

    targets: PositiveCount
    claims_by: Literal["phi", "posterior"]
    threshold: NonNegative
    identified: Rate
    identified_in_table: Rate
    correct_claims: Rate
    wrong_claims: Rate
    absent_claims: Rate
    threshold_at_budget: NonNegative
    correct_claims_at_budget: Rate
    absent_claims_at_budget: Rate
    bits_gained: Estimate
    bits_left: Estimate
    stated_probability: Share
    population: TablePopulation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAttackFindings:
    """What one attack of an adversary achieves.

    Attributes
    ----------
    name
        Name of the attack: "likelihood", "paper" or "exact match".
    as_named
        Measures with exactly the attributes that the adversary's description names.
    curve
        What it identifies with other numbers of known attributes; only of the headline adversary.
    """

    name: str
    as_named: TableMeasures
    curve: tuple[TableCurvePoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnError:
    """How inaccurate an adversary's knowledge of one column is.

    Attributes
    ----------
    error
        Largest error of a known value that is not wrong, in the units of the column; 0 if it is exact.
    text
        The same in words.
    """

    column: str
    error: NonNegative
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAdversaryFindings:
    """One adversary: what it knows and what it achieves.

    Attributes
    ----------
    description
        What the adversary knows, in one sentence.
    gate
        Whether the adversary counts for the threshold.
    knows
        Number of known attributes.
    wrong
        Number of known attributes whose value is wrong.
    choose
        Which attributes are known: any, drawn at random, or those whose value fewest people share.
    columns
        The attributes that may be known; null for all.
    errors
        How inaccurate known values are, by column.
    note
        How the adversary was adapted to the table.
    too_few_cells
        Number of people whose rows have too few cells for them to be targets.
    attack
        Name of the strongest attack, chosen on other targets.
    attacks
        All attacks, the strongest first.
    curve_note
        What the curve covers; empty if there is none.
    """

    name: str
    title: str
    description: str
    gate: bool
    knows: PositiveCount
    wrong: Count
    choose: Literal["any", "rarest"]
    columns: tuple[str, ...] | None
    errors: tuple[ColumnError, ...]
    note: str
    too_few_cells: Count
    attack: str
    attacks: tuple[TableAttackFindings, ...]
    curve_note: str

    @property
    def as_named(self) -> TableMeasures:
        """Measures of the strongest attack."""
        return self.attacks[0].as_named

    def by(self, attack: str) -> TableMeasures | None:
        """Measures of the attack of this name; None if it was not tried."""
        return next((each.as_named for each in self.attacks if each.name == attack), None)


# Risk measures of a table that count rows: classes, column sets, and what classes and attacks disclose.


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


SCHEMA_TITLE = "Findings of a Standout audit of a table (findings.json), version 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings:
    """Settings of the audit.

    Attributes
    ----------
    targets
        Largest number of targets for each adversary.
    knows
        Numbers of known attributes in the curve.
    phi
        Minimum eccentricity for a claim of the paper's attack.
    posterior
        Minimum posterior for a claim of the other attacks.
    budget
        Largest share of absent targets that may be claimed.
    quick
        Whether the audit used fewer targets to finish sooner.
    fail_above
        Largest acceptable share of identified people.
    headline
        Name of the adversary that the answer is about.
    ladder
        Origin of the adversaries: default, own, or the name of a file.
    quasi_identifiers
        Columns that the register knows, and that classes are made of.
    quasi_identifiers_reason
        Why these are the quasi-identifiers.
    sensitive
        Columns that must not be learned.
    population
        Number of people of whom the table is a sample; null if it was not given.
    """

    targets: PositiveCount
    knows: tuple[PositiveCount, ...]
    phi: NonNegative
    posterior: Share
    budget: Share
    quick: bool
    fail_above: Share | None
    headline: str
    ladder: str
    quasi_identifiers: tuple[str, ...]
    quasi_identifiers_reason: str
    sensitive: tuple[str, ...]
    population: PositiveCount | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAnswer:
    """The main result in one sentence, with its number.

    Attributes
    ----------
    adversary
        Name of the adversary that the sentence is about.
    rate
        Share of targets that this adversary identifies.
    comparison
        The same by exact matching, in one sentence; empty if it was not tried.
    people_identified
        The rate as a number of people: of those with enough cells to be targets.
    people_total
        Number of people.
    too_few_cells
        Number of people whose rows have too few cells for them to be targets.
    """

    sentence: str
    adversary: str
    rate: Rate
    comparison: str
    people_identified: Count
    people_total: PositiveCount
    too_few_cells: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFindings:
    """Everything an audit of a table found. Rates are shares from 0 to 1, and every text is plain text.

    Attributes
    ----------
    complete
        Whether the audit finished. If not, results that are missing were not computed.
    reading
        How the table was read and, if it was sanitized, the original.
    adversaries
        Results by adversary, in the order of the ladder.
    identity
        Classes of the quasi-identifiers; null if the table has none of them.
    column_sets
        For each size, the set of columns that makes most rows unique.
    disclosure
        How well each sensitive column is guessed.
    learned
        What the right row shows that the headline adversary did not know.
    population
        The quasi-identifiers in the population; null if no population was given.
    limits
        What the findings do not say, in sentences.
    versions
        Versions of the software, by name.
    before_after
        What the adversaries identify in the original and in the sanitized table; null without an original.
    """

    schema: Literal["standout-table-findings"] = "standout-table-findings"
    schema_version: Literal[1] = 1
    complete: bool
    run: Run
    data: TableSummary
    original: TableOriginal | None
    reading: tuple[TableReading, ...]
    settings: TableSettings
    trust: Trust
    answer: TableAnswer
    adversaries: tuple[TableAdversaryFindings, ...]
    identity: IdentityFindings | None
    column_sets: tuple[ColumnSetFindings, ...]
    disclosure: tuple[Disclosure, ...]
    learned: Learned | None
    population: PopulationEstimate | None
    verdict: Verdict
    threshold: Threshold
    limits: tuple[str, ...]
    versions: Mapping[str, str]
    before_after: BeforeAfter | None = None

    @property
    def headline(self) -> TableAdversaryFindings:
        """Results of the adversary that the answer is about."""
        return next(each for each in self.adversaries if each.name == self.answer.adversary)

    def finished_at(self, time: str) -> "TableFindings":
        """The findings with the time at which the report was written."""
        return replace(self, run=replace(self.run, finished_at=time))
