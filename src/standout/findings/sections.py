"""The sections of an audit's findings that not every release has: grids, exposure, theory, classes of equal rows."""

from typing import Literal

from standout.evaluate.estimates import Estimate
from standout.findings.json_types import Count, Day, NonNegative, PositiveCount, Rate, Share, about, finding

# Grids of an audit: the share of identified people by number of known facts and by error.


@finding
class GridCell:
    """One cell of a grid: one number of known facts with one error.

    attack: Name of the strongest attack. It is chosen for each half of the targets on the other half; both names if the
        halves differ.
    """

    facts: PositiveCount = about("Number of known facts")
    identified: Rate = about("Share of targets whom the strongest attack identifies")
    attack: str


@finding
class ErrorRow:
    """The cells with one error.

    error: Largest error of a known date in days, or of a known value; null if it is not known
    is_own: Whether this is the adversary's own error, so that the last cell is the adversary as it is named
    """

    error: NonNegative | None
    label: str = about("The error in words")
    is_own: bool
    cells: tuple[GridCell, ...] = about("The cells in the order of the numbers of facts")


@finding
class ErrorGrid:
    """Share of identified people by number of known facts and by one error of the adversary.

    varies: The error that differs between the rows: of dates or of values
    """

    varies: Literal["time_error", "value_error"]
    fixed: str = about("What is the same in all cells, in a sentence")
    targets: PositiveCount = about("Number of targets of each cell: the same people in all cells")
    rows: tuple[ErrorRow, ...] = about('One row for each error, the smallest first and "not known" last')


@finding
class ErrorGrids:
    """How much depends on the number of known facts, and how much on their accuracy."""

    adversary: str = about("Name of the adversary whose facts and errors vary")
    at_least: PositiveCount = about("Number of entries that everybody in the grids has at least")
    too_few_items: Count = about("Number of people whose records are too short for the grids")
    grids: tuple[ErrorGrid, ...] = about("A grid for dates and a grid for values, as far as the data has them")
    note: str = about("Why a grid is missing; empty if none is")


# Who is exposed to the headline adversary: with how few facts, in which groups, and with which items.


@finding
class FactsNeeded:
    """Share of targets who are identified with at most this many facts.

    share: Targets identified with at most `facts` facts and with every larger number that was tried. A tie does not
        count as identified.
    """

    facts: PositiveCount
    share: Rate


@finding
class Group:
    """People whose records have something in common.

    low, high: Smallest and largest number of entries, popularity rank of the rarest known item, or date of the first
        entry
    """

    label: str
    low: PositiveCount | Day
    high: PositiveCount | Day
    people: Count | None = about("Number of people in the group; null if the group depends on what the adversary knows")
    identified: Rate = about("Share of the group's targets who are identified")


@finding
class SensitiveCategory:
    """How many people would have a sensitive item of one category revealed.

    revealed: Share of targets with such an item who are identified and have one revealed that was not known
    """

    category: str = about("The user's own name of the category; `any` for all items together")
    items: Count = about("Number of items of the release in the category")
    people_with: Count = about("Number of people with such an item")
    revealed: Rate
    people_revealed: Count = about("This share of all people with such an item and enough entries to be targets")
    explanation: str


@finding
class SensitiveItems:
    """Result for the user's list of sensitive items."""

    file: str
    items_listed: Count = about("Number of lines of the file that name an item")
    items_in_release: Count = about("Number of these lines whose item is in the release")
    adversary: str
    rows: tuple[SensitiveCategory, ...]


@finding
class Exposure:
    """Who is exposed to the headline adversary."""

    adversary: str = about("Name of the adversary")
    facts_needed: tuple[FactsNeeded, ...]
    by_length: tuple[Group, ...] = about("Groups by number of entries of the record")
    by_popularity: tuple[Group, ...] = about("Groups by popularity rank of the rarest known item")
    by_first_date: tuple[Group, ...] = about("Groups by date of the record's first entry")
    sensitive: SensitiveItems | None = about("Result for the list of sensitive items, if one was given")


# What the paper's theory says about a release: sparsity, and the bounds of the theorems.


@finding
class SparsityPoint:
    """One point of the sparsity curve."""

    epsilon: Share = about("Similarity of two records, from 0 to 1")
    share: Rate = about("Share of records whose nearest neighbour is at least this similar")


@finding
class Sparsity:
    """How similar the nearest neighbours of records are (Definition 1 of the paper)."""

    similarity: str = about("What makes two entries of one item similar")
    n: Count = about("Number of records whose neighbours were searched")
    curve: tuple[SparsityPoint, ...]


@finding
class Bound:
    """A theorem of the paper applied to the data, next to what was measured."""

    theorem: str
    statement: str = about("What the theorem says about this data")
    bound: Count | None = about("Number of facts that are enough; null if the theorem does not apply to this data")
    measured: str = about("What the audit measured")
    setting: str = about("Parameters of the theorem")


@finding
class Theory:
    """What the paper's theory says about the release."""

    sparsity: Sparsity
    bounds: tuple[Bound, ...]


# A yardstick for the main result: the same adversary on data that many readers have heard of.


@finding
class Yardstick:
    """What the headline adversary achieves on a stand-in of the Netflix Prize data."""

    data: str = about("The data of the yardstick")
    records: PositiveCount = about("Number of people in it")
    entries: PositiveCount = about("Number of entries in it")
    precision: str = about("How precisely the adversary knows values and dates there")
    identified: Rate = about("Share of targets there whom this adversary identifies")
    command: str = about("The commands that measured it")
    sentence: str = about("The yardstick in one sentence")


# What the columns of a release reveal: classes of equal rows, column sets, and what classes and attacks disclose.


@finding
class ClassSize:
    """Rows in classes of one size, or of a range of sizes."""

    low: PositiveCount = about("Smallest size")
    high: PositiveCount | None = about("Largest size; null if there is no limit")
    rows: Count = about("Number of rows in such classes")


@finding
class SmallClasses:
    """Share of rows in classes with fewer than `size` rows."""

    size: PositiveCount
    share: Share


@finding
class RiskAbove:
    """Share of rows whose prosecutor risk is above `risk`."""

    risk: Share
    share: Share


@finding
class Classes:
    """How well the quasi-identifiers single out rows, counted over all rows: the numbers are exact."""

    columns: tuple[str, ...] = about("The quasi-identifiers that the release has")
    k: PositiveCount = about("Size of the smallest class of rows with equal quasi-identifiers")
    classes: PositiveCount = about("Number of classes")
    unique: Share = about("Share of rows that are alone in their class")
    smaller: tuple[SmallClasses, ...] = about("Shares of rows in small classes")
    highest: Share = about("Prosecutor risk of the row at most risk: 1/k")
    mean: Share = about("Mean prosecutor risk, which is the marketer risk: classes per row")
    above: tuple[RiskAbove, ...] = about("Shares of rows with a high prosecutor risk")
    sizes: tuple[ClassSize, ...] = about("Numbers of rows by size of their class")
    k_with_gaps: PositiveCount = about("k if a missing cell agrees with every value, as in sdcMicro")
    unique_with_gaps: Share = about("Share of unique rows if a missing cell agrees with every value")


@finding
class ColumnSet:
    """The set of columns of one size that makes most rows unique.

    exhaustive: Whether no other set of this size makes more rows unique. If not, it is the best set found.
    """

    columns: tuple[str, ...]
    unique: Share = about("Share of rows that no other row equals in these columns")
    exhaustive: bool
    tried: Count = about("Number of sets of this size that were counted")


@finding
class Diversity:
    """What classes of equal quasi-identifiers say about a sensitive column."""

    distinct: Count = about("l: the smallest number of different values in a class")
    entropy: NonNegative = about("Entropy l: the smallest e^entropy of the values in a class")
    same_value: Share = about("Share of rows whose class has one value only: who knows the class knows the value")
    t_closeness: NonNegative = about("t: the largest distance between the values in a class and those in the release")


@finding
class Disclosure:
    """How well a sensitive column is guessed, and what the classes say about it.

    diversity: What classes of equal quasi-identifiers say about the column; null if it was not measured
    """

    column: str
    guessed: Rate | None = about("Share of targets whose value is guessed; null if the column was not guessed")
    control: Rate | None = about("The same for people who are not in the release: what it says about anybody")
    baseline: Share = about("Share of the commonest value")
    adversary: str = about("What the adversary knows")
    diversity: Diversity | None
    note: str = about("Why a number is missing; empty if none is")


@finding
class Learned:
    """What the right row shows that the adversary did not know."""

    columns: Estimate = about("Mean number of further columns with a value")
    bits: Estimate = about("Mean of −log2 of the share of people who have the same value, over these columns")


@finding
class PopulationEstimate:
    """The quasi-identifiers in a population of which the release is a sample.

    journalist: Mean risk if the target is one of the population: the mean of 1/F over rows, as estimated
    """

    population: PositiveCount = about("Number of people in the population")
    unique: Rate | None = about("Share of the rows that are unique in the population, as estimated")
    journalist: Rate | None
    method: str = about("How the numbers were estimated")
