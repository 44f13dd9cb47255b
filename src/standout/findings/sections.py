"""The parts of an audit's findings: adversaries, grids, exposure, theory, classes of equal rows, before and after."""

from collections.abc import Sequence
from typing import Literal

from standout.core.arrays import Bools, Floats
from standout.evaluate.estimates import Estimate, paired_difference, rate_by_target, rate_text
from standout.findings.json_types import Count, Day, NonNegative, PositiveCount, Rate, Share, about, finding

# Results of one adversary: its measures as it is named, and with other numbers of known facts.

LINEUP_MASS = 0.9


@finding
class CurvePoint:
    """Measures with one number of known facts; what an attack does not measure is null.

    identified: Share of targets whose best guess is the right record. If t records tie, the guess counts 1/t.
    correct_claims: Share of targets for whom the right record is claimed, at `threshold`
    absent_claims: Share of absent targets for whom a record is claimed, at `threshold`
    threshold_at_budget: The least threshold that keeps claims about absent targets within the budget, chosen on all
        targets
    correct_claims_at_budget: Share of targets for whom the right record is claimed, each at the threshold that the
        other targets choose
    lineup_size: Median number of the likeliest records that share 90 % of the probability
    """

    facts: PositiveCount = about("Number of known facts")
    enough_for: PositiveCount = about("The point covers people about whom this many facts can be known")
    identified: Rate
    correct_claims: Rate | None = None
    absent_claims: Rate | None = None
    threshold_at_budget: NonNegative | None = None
    correct_claims_at_budget: Rate | None = None
    bits_gained: Estimate | None = about("Mean information gained about who the target is, in bits", default=None)
    lineup_size: Estimate | None = None


@finding
class PopulationClaims:
    """Claims if the target may be anybody of a population, of which the release is a sample."""

    in_release: Rate = about("Share of the people in the release who are claimed correctly")
    identified: Rate = about("Share of the population that is claimed correctly")
    confidence: Rate = about("Share of claims that are correct")


@finding
class Measures:
    """Measures of one attack with exactly the facts that the adversary's description names.

    claims_by: What a claim needs at least: "phi", an eccentricity, or "posterior", a probability
    identified: Share of targets whose best guess is the right record. If t records tie, the guess counts 1/t.
    threshold_at_budget: The least threshold that keeps claims about absent targets within the budget, chosen on all
        targets
    correct_claims_at_budget: Share of targets for whom the right record is claimed, each at the threshold that the
        other targets choose
    absent_claims_at_budget: Share of absent targets for whom a record is claimed, each at the threshold that the other
        targets choose
    lineup_size: Median number of the likeliest records that share `lineup_mass` of the probability
    revealed: Mean number of items of the best guess that the adversary did not know; null without entries
    calibration_bias: `stated_probability` minus `identified`: above 0 if the attack is surer than it should be
    population: Claims if the target may not be in the release; null if no population was given
    """

    facts: PositiveCount = about("Number of known facts")
    targets: PositiveCount = about("Number of targets")
    claims_by: Literal["phi", "posterior"]
    threshold: NonNegative = about("The least eccentricity or posterior for a claim")
    identified: Rate
    identified_in_release: Rate = about("The same among targets who are in the release")
    in_top: Rate | None = about("Share of targets whose record is among the first `top` of the settings", default=None)
    correct_claims: Rate = about("Share of targets for whom the right record is claimed, at `threshold`")
    wrong_claims: Rate = about("Share of targets for whom a wrong record is claimed, at `threshold`")
    absent_claims: Rate = about("Share of absent targets for whom a record is claimed, at `threshold`")
    threshold_at_budget: NonNegative
    correct_claims_at_budget: Rate
    absent_claims_at_budget: Rate
    bits_gained: Estimate = about("Mean information gained about who the target is, in bits")
    bits_left: Estimate = about("Mean information that is still missing, in bits")
    lineup_size: Estimate | None = None
    lineup_mass: Share = LINEUP_MASS
    revealed: Estimate | None = None
    revealed_correct: Estimate | None = about("Mean number of these items that are true of the target", default=None)
    revealed_correct_share: Rate | None = about("Share of these items that are true of the target", default=None)
    stated_probability: Share = about("Mean probability that the attack itself gives its best guess")
    calibration_bias: Estimate | None = None
    population: PopulationClaims | None = None


@finding
class AttackFindings:
    """What one attack of an adversary achieves."""

    name: str = about('Name of the attack: "likelihood", "paper", or another that was stronger')
    as_named: Measures = about("Measures with exactly the facts that the adversary's description names")
    curve: tuple[CurvePoint, ...] = about("Measures with other numbers of facts")


@finding
class Control:
    """The attack on people in the data compared with the same attack on people who are not in it.

    control: Share of the same targets for whom a record is claimed after their own is removed. A claim about somebody
        who is not in the data is always wrong.
    residual: (main − control) / (1 − control), at least 0: the risk as Anonymeter defines it. Null if `control` is 1.
    """

    main: Rate = about("Share of targets for whom the right record is claimed, at the threshold")
    control: Rate
    difference: Estimate = about("`main` minus `control`, by target")
    residual: Rate | None


@finding
class ColumnError:
    """How inaccurate an adversary's knowledge of one column is.

    error: Largest error of a known value that is not wrong, in the units of the column; 0 if it is exact
    """

    column: str
    error: NonNegative
    text: str = about("The same in words")


@finding
class AdversaryFindings:
    """One adversary: what it knows and what it achieves.

    value_error: Largest error of a known value of an entry; null if values are not known
    time_error: Largest error of a known date in days; null if dates are not known
    length_error: Largest relative error of the record's length; null if it is not known
    joined_error: Largest error of the first date in days; null if it is not known
    control: This attack on people in the data, compared with the same attack on people who are not in it
    curve: Measures of this attack with other numbers of facts, the same share of them wrong
    attacks: All attacks on the same targets with the same facts, the strongest first
    """

    name: str
    title: str
    description: str = about("What the adversary knows, in words")
    gate: bool = about("Whether the adversary counts for the threshold")
    knows: PositiveCount = about("Number of known facts: entries, or attributes if the release has columns")
    wrong: Count = about("Number of known facts that are wrong")
    wrong_facts: Literal["values", "items", "any items"] = about("What is wrong in a wrong fact", default="values")
    value_error: NonNegative | None = None
    time_error: NonNegative | None = None
    items: str = about("Which entries or attributes of the target's record are known")
    length_error: NonNegative | None = None
    joined_error: NonNegative | None = None
    columns: tuple[str, ...] | None = about("The attributes that may be known; null for all", default=None)
    errors: tuple[ColumnError, ...] = about("How inaccurate known values of columns are", default=())
    note: str = about("How the adversary was adapted to the data")
    too_few_items: Count = about("Number of people about whom too little can be known for them to be targets")
    attack: str = about("Name of the strongest attack, chosen on other targets than those reported")
    as_named: Measures = about("Measures of this attack with exactly `knows` facts, `wrong` of them wrong")
    control: Control | None = None
    curve: tuple[CurvePoint, ...]
    attacks: tuple[AttackFindings, ...]
    curve_note: str = about("Whom the curve is about, and how it differs from the description")
    curve_too_few_items: Count = about("Number of people about whom too little can be known for the curve", default=0)

    def by(self, attack: str) -> Measures | None:
        """Measures of the attack of this name; None if it was not tried."""
        return next((each.as_named for each in self.attacks if each.name == attack), None)


@finding
class EnvelopePoint:
    """The strongest adversary with one number of known facts.

    gate_adversary: Name of the strongest adversary that counts for the threshold; null if none has this number of facts
    """

    facts: PositiveCount = about("Number of known facts")
    adversary: str = about("Name of the adversary that identifies most targets with this number of facts")
    identified: Rate = about("Share of targets whom this adversary identifies")
    gate_adversary: str | None
    gate_identified: Rate | None = about("Share of targets whom this adversary identifies")


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


# What each adversary identifies before and after sanitizing, on the same targets with the same facts.


SMALL_POINTS = 10.0
"""Changes below this many percentage points have one decimal."""


@finding
class AdversaryBeforeAfter:
    """One adversary on the original and on the sanitized data.

    after: Share of the same targets who are identified in the sanitized data. Those who are missing from it cannot be
        identified.
    """

    name: str = about("Name of the adversary")
    attack_before: str = about("The strongest attack on each, chosen on other targets")
    attack_after: str = about("The strongest attack on each, chosen on other targets")
    before: Rate = about("Share of targets who are identified in the original")
    after: Rate
    difference: Estimate = about("after − before, with the interval of paired trials")
    before_in_release: Rate = about("The same for the targets whom the sanitized data represent")
    after_in_release: Rate = about("The same for the targets whom the sanitized data represent")
    difference_in_release: Estimate = about("The same for the targets whom the sanitized data represent")
    explanation: str = about("The difference in a sentence")


@finding
class BeforeAfter:
    """The adversaries before and after sanitizing."""

    adversaries: tuple[AdversaryBeforeAfter, ...] = about("One comparison for each adversary")
    some_missing: bool = about("Whether some targets are missing from the sanitized data")
    summary: str = about("What changed for the headline adversary, in sentences")


def compare_before_after(
    name: str, before: tuple[str, Floats, float], after: tuple[str, Floats, float], is_present: Bools
) -> AdversaryBeforeAfter:
    """Compare an attack, its success by target and the chance of a guess; `is_present` is after sanitizing."""
    (attack_before, found_before, guess_before), (attack_after, found_after, guess_after) = before, after
    difference = paired_difference(found_after, found_before)
    return AdversaryBeforeAfter(
        name=name,
        attack_before=attack_before,
        attack_after=attack_after,
        before=rate_by_target(found_before[:, None], guess_before),
        after=rate_by_target(found_after[:, None], guess_after * float(is_present.mean())),
        difference=difference,
        before_in_release=rate_by_target(found_before[is_present, None], guess_before),
        after_in_release=rate_by_target(found_after[is_present, None], guess_after),
        difference_in_release=paired_difference(found_after[is_present], found_before[is_present]),
        explanation=_change(difference),
    )


def before_after(adversaries: Sequence[AdversaryBeforeAfter], headline: str) -> BeforeAfter | None:
    """All comparisons; None if there is none."""
    if not adversaries:
        return None
    some_missing = any(each.after.n != each.after_in_release.n for each in adversaries)
    main = next((each for each in adversaries if each.name == headline), adversaries[0])
    sentences = [
        f"Before sanitizing, the adversary “{main.name}” identifies {rate_text(main.before)} of the targets; "
        f"after sanitizing, {rate_text(main.after)} of the same targets.",
        main.explanation,
    ]
    if main.after.n != main.after_in_release.n and main.after_in_release.n:
        sentences += [
            f"People missing from the release cannot be identified. Among those who are still in it, "
            f"{rate_text(main.before_in_release)} are identified before and "
            f"{rate_text(main.after_in_release)} after.",
            _change(main.difference_in_release, " of them"),
        ]
    return BeforeAfter(adversaries=tuple(adversaries), some_missing=some_missing, summary=" ".join(sentences))


def _change(difference: Estimate, whom: str = "") -> str:
    """A change, if the interval excludes 0; otherwise that none is shown."""
    if difference.low <= 0 <= difference.high:
        low, high = (f"{100 * end:+.1f}".replace("-", "−") for end in (difference.low, difference.high))
        return (
            "This shows no difference beyond sampling error: the interval of the change is "
            f"{low} to {high} percentage points."
        )
    more = "fewer" if difference.high < 0 else "more"
    sizes = [100 * abs(number) for number in (difference.value, difference.low, difference.high)]
    digits = 0 if max(sizes) >= SMALL_POINTS else 1
    size, low, high = (f"{number:.{digits}f}" for number in (sizes[0], *sorted(sizes[1:])))
    return f"The adversary identifies {more}{whom}: by {size} percentage points ({low} to {high})."
