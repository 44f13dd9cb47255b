"""The sections of an audit's findings that not every release has: grids, exposure, theory, classes of equal rows."""

from dataclasses import dataclass
from typing import Literal

from standout.evaluate.estimates import Estimate
from standout.findings.json_types import Count, Day, NonNegative, PositiveCount, Rate, Share

# Grids of an audit: the share of identified people by number of known facts and by error.


@dataclass(frozen=True, slots=True, kw_only=True)
class GridCell:
    """One cell of a grid: one number of known facts with one error.

    facts: Number of known facts
    identified: Share of targets whom the strongest attack identifies
    attack: Name of the strongest attack. It is chosen for each half of the targets on the other half; both names if
        the halves differ.
    """

    facts: PositiveCount
    identified: Rate
    attack: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """The cells with one error.

    error: Largest error of a known date in days, or of a known value; null if it is not known
    label: The error in words
    is_own: Whether this is the adversary's own error, so that the last cell is the adversary as it is named
    cells: The cells in the order of the numbers of facts
    """

    error: NonNegative | None
    label: str
    is_own: bool
    cells: tuple[GridCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorGrid:
    """Share of identified people by number of known facts and by one error of the adversary.

    varies: The error that differs between the rows: of dates or of values
    fixed: What is the same in all cells, in a sentence
    targets: Number of targets of each cell: the same people in all cells
    rows: One row for each error, the smallest first and "not known" last
    """

    varies: Literal["time_error", "value_error"]
    fixed: str
    targets: PositiveCount
    rows: tuple[ErrorRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorGrids:
    """How much depends on the number of known facts, and how much on their accuracy.

    adversary: Name of the adversary whose facts and errors vary
    at_least: Number of entries that everybody in the grids has at least
    too_few_items: Number of people whose records are too short for the grids
    grids: A grid for dates and a grid for values, as far as the data has them
    note: Why a grid is missing; empty if none is
    """

    adversary: str
    at_least: PositiveCount
    too_few_items: Count
    grids: tuple[ErrorGrid, ...]
    note: str


# Who is exposed to the headline adversary: with how few facts, in which groups, and with which items.


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsNeeded:
    """Share of targets who are identified with at most this many facts.

    share: Targets identified with at most `facts` facts and with every larger number that was tried. A tie does not
        count as identified.
    """

    facts: PositiveCount
    share: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """People whose records have something in common.

    low, high: Smallest and largest number of entries, popularity rank of the rarest known item, or date of the first
        entry
    people: Number of people in the group; null if the group depends on what the adversary knows
    identified: Share of the group's targets who are identified
    """

    label: str
    low: PositiveCount | Day
    high: PositiveCount | Day
    people: Count | None
    identified: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveCategory:
    """How many people would have a sensitive item of one category revealed.

    category: The user's own name of the category; `any` for all items together
    items: Number of items of the release in the category
    people_with: Number of people with such an item
    revealed: Share of targets with such an item who are identified and have one revealed that was not known
    people_revealed: This share of all people with such an item and enough entries to be targets
    """

    category: str
    items: Count
    people_with: Count
    revealed: Rate
    people_revealed: Count
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveItems:
    """Result for the user's list of sensitive items.

    items_listed: Number of lines of the file that name an item
    items_in_release: Number of these lines whose item is in the release
    """

    file: str
    items_listed: Count
    items_in_release: Count
    adversary: str
    rows: tuple[SensitiveCategory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """Who is exposed to the headline adversary.

    adversary: Name of the adversary
    by_length: Groups by number of entries of the record
    by_popularity: Groups by popularity rank of the rarest known item
    by_first_date: Groups by date of the record's first entry
    sensitive: Result for the list of sensitive items, if one was given
    """

    adversary: str
    facts_needed: tuple[FactsNeeded, ...]
    by_length: tuple[Group, ...]
    by_popularity: tuple[Group, ...]
    by_first_date: tuple[Group, ...]
    sensitive: SensitiveItems | None


# What the paper's theory says about a release: sparsity, and the bounds of the theorems.


@dataclass(frozen=True, slots=True, kw_only=True)
class SparsityPoint:
    """One point of the sparsity curve.

    epsilon: Similarity of two records, from 0 to 1
    share: Share of records whose nearest neighbour is at least this similar
    """

    epsilon: Share
    share: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparsity:
    """How similar the nearest neighbours of records are (Definition 1 of the paper).

    similarity: What makes two entries of one item similar
    n: Number of records whose neighbours were searched
    """

    similarity: str
    n: Count
    curve: tuple[SparsityPoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A theorem of the paper applied to the data, next to what was measured.

    statement: What the theorem says about this data
    bound: Number of facts that are enough; null if the theorem does not apply to this data
    measured: What the audit measured
    setting: Parameters of the theorem
    """

    theorem: str
    statement: str
    bound: Count | None
    measured: str
    setting: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Theory:
    """What the paper's theory says about the release."""

    sparsity: Sparsity
    bounds: tuple[Bound, ...]


# A yardstick for the main result: the same adversary on data that many readers have heard of.


@dataclass(frozen=True, slots=True, kw_only=True)
class Yardstick:
    """What the headline adversary achieves on a stand-in of the Netflix Prize data.

    data: The data of the yardstick
    records: Number of people in it
    entries: Number of entries in it
    precision: How precisely the adversary knows values and dates there
    identified: Share of targets there whom this adversary identifies
    command: The commands that measured it
    sentence: The yardstick in one sentence
    """

    data: str
    records: PositiveCount
    entries: PositiveCount
    precision: str
    identified: Rate
    command: str
    sentence: str


# What the columns of a release reveal: classes of equal rows, column sets, and what classes and attacks disclose.


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassSize:
    """Rows in classes of one size, or of a range of sizes.

    low: Smallest size
    high: Largest size; null if there is no limit
    rows: Number of rows in such classes
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
class Classes:
    """How well the quasi-identifiers single out rows, counted over all rows: the numbers are exact.

    columns: The quasi-identifiers that the release has
    k: Size of the smallest class of rows with equal quasi-identifiers
    classes: Number of classes
    unique: Share of rows that are alone in their class
    smaller: Shares of rows in small classes
    highest: Prosecutor risk of the row at most risk: 1/k
    mean: Mean prosecutor risk, which is the marketer risk: classes per row
    above: Shares of rows with a high prosecutor risk
    sizes: Numbers of rows by size of their class
    k_with_gaps: k if a missing cell agrees with every value, as in sdcMicro
    unique_with_gaps: Share of unique rows if a missing cell agrees with every value
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
class ColumnSet:
    """The set of columns of one size that makes most rows unique.

    unique: Share of rows that no other row equals in these columns
    exhaustive: Whether no other set of this size makes more rows unique. If not, it is the best set found.
    tried: Number of sets of this size that were counted
    """

    columns: tuple[str, ...]
    unique: Share
    exhaustive: bool
    tried: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Diversity:
    """What classes of equal quasi-identifiers say about a sensitive column.

    distinct: l: the smallest number of different values in a class
    entropy: Entropy l: the smallest e^entropy of the values in a class
    same_value: Share of rows whose class has one value only: who knows the class knows the value
    t_closeness: t: the largest distance between the values in a class and those in the release
    """

    distinct: Count
    entropy: NonNegative
    same_value: Share
    t_closeness: NonNegative


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosure:
    """How well a sensitive column is guessed, and what the classes say about it.

    guessed: Share of targets whose value is guessed; null if the column was not guessed
    control: The same for people who are not in the release: what it says about anybody
    baseline: Share of the commonest value
    adversary: What the adversary knows
    diversity: What classes of equal quasi-identifiers say about the column; null if it was not measured
    note: Why a number is missing; empty if none is
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

    columns: Mean number of further columns with a value
    bits: Mean of −log2 of the share of people who have the same value, over these columns
    """

    columns: Estimate
    bits: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationEstimate:
    """The quasi-identifiers in a population of which the release is a sample.

    population: Number of people in the population
    unique: Share of the rows that are unique in the population, as estimated
    journalist: Mean risk if the target is one of the population: the mean of 1/F over rows, as estimated
    method: How the numbers were estimated
    """

    population: PositiveCount
    unique: Rate | None
    journalist: Rate | None
    method: str
