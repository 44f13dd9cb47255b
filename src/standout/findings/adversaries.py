"""Results of one adversary: its measures as it is named, and with other numbers of known facts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from standout.core.arrays import Bools, Floats
from standout.evaluate.estimates import Estimate, paired_difference, rate, rate_text
from standout.findings.json_types import Count, Day, NonNegative, PositiveCount, Rate, Share

__all__ = [
    "AdversaryBeforeAfter",
    "AdversaryFindings",
    "AttackFindings",
    "BeforeAfter",
    "Control",
    "CurvePoint",
    "DateGroup",
    "EnvelopePoint",
    "ErrorGrid",
    "ErrorGrids",
    "ErrorRow",
    "Exposure",
    "FactsNeeded",
    "GridCell",
    "MeasuresAsNamed",
    "RankGroup",
    "SensitiveCategory",
    "SensitiveItems",
    "SizeGroup",
    "Successes",
    "before_after",
    "compare_before_after",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """Measures with one number of known facts.

    Attributes
    ----------
    facts
        Number of known facts.
    enough_for
        The point covers people with enough entries for this many facts.
    identified
        Share of targets whose best guess is the right record.
    correct_claims
        Share of targets for whom the right record is claimed, at `threshold`.
    absent_claims
        Share of absent targets for whom a record is claimed, at `threshold`.
    threshold_at_budget
        The least threshold that keeps claims about absent targets within the budget, chosen on all targets.
    correct_claims_at_budget
        Share of targets for whom the right record is claimed, each at the threshold that the other targets
        choose.
    bits_gained
        Mean information gained about who the target is, in bits.
    lineup_size
        Median number of the likeliest records that share 90 % of the probability.
    """

    facts: PositiveCount
    enough_for: PositiveCount
    identified: Rate
    correct_claims: Rate
    absent_claims: Rate
    threshold_at_budget: NonNegative
    correct_claims_at_budget: Rate
    bits_gained: Estimate
    lineup_size: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuresAsNamed:
    """Measures of the adversary with exactly the facts that its description names.

    Attributes
    ----------
    facts
        Number of known facts.
    targets
        Number of targets.
    claims_by
        What a claim needs at least: "phi", an eccentricity, or "posterior", a probability.
    threshold
        The least eccentricity or posterior for a claim.
    identified
        Share of targets whose best guess is the right record.
    identified_in_release
        The same among targets who are in the release.
    in_top
        Share of targets whose record is among the first `top` of the settings.
    correct_claims
        Share of targets for whom the right record is claimed, at `threshold`.
    wrong_claims
        Share of targets for whom a wrong record is claimed, at `threshold`.
    absent_claims
        Share of absent targets for whom a record is claimed, at `threshold`.
    threshold_at_budget
        The least threshold that keeps claims about absent targets within the budget, chosen on all targets.
    correct_claims_at_budget
        Share of targets for whom the right record is claimed, each at the threshold that the other targets
        choose.
    absent_claims_at_budget
        Share of absent targets for whom a record is claimed, each at the threshold that the other targets
        choose.
    bits_gained
        Mean information gained about who the target is, in bits.
    bits_left
        Mean information that is still missing, in bits.
    lineup_size
        Median number of the likeliest records that share `lineup_mass` of the probability.
    revealed
        Mean number of items of the best guess that the adversary did not know.
    revealed_correct
        Mean number of these items that are true of the target.
    revealed_correct_share
        Share of these items that are true of the target.
    stated_probability
        Mean probability that the attack itself gives its best guess.
    calibration_bias
        `stated_probability` minus `identified`: above 0 if the attack is surer than it should be.
    """

    facts: PositiveCount
    targets: PositiveCount
    claims_by: Literal["phi", "posterior"]
    threshold: NonNegative
    identified: Rate
    identified_in_release: Rate
    in_top: Rate
    correct_claims: Rate
    wrong_claims: Rate
    absent_claims: Rate
    threshold_at_budget: NonNegative
    correct_claims_at_budget: Rate
    absent_claims_at_budget: Rate
    bits_gained: Estimate
    bits_left: Estimate
    lineup_size: Estimate | None
    lineup_mass: Share
    revealed: Estimate
    revealed_correct: Estimate
    revealed_correct_share: Rate
    stated_probability: Share
    calibration_bias: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackFindings:
    """What one attack of an adversary achieves.

    Attributes
    ----------
    name
        Name of the attack: "likelihood", "paper", or another that was stronger.
    as_named
        Measures with exactly the facts that the adversary's description names.
    curve
        Measures with other numbers of facts.
    """

    name: str
    as_named: MeasuresAsNamed
    curve: tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """The attack on people in the data compared with the same attack on people who are not in it.

    Attributes
    ----------
    main
        Share of targets for whom the right record is claimed, at the threshold.
    control
        Share of the same targets for whom a record is claimed after their own is removed. A claim about
        somebody who is not in the data is always wrong.
    difference
        `main` minus `control`, by target.
    residual
        (main − control) / (1 − control), at least 0: the risk as Anonymeter defines it. Null if `control`
        is 1.
    """

    main: Rate
    control: Rate
    difference: Estimate
    residual: Rate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdversaryFindings:
    """One adversary: what it knows and what it achieves.

    Attributes
    ----------
    description
        What the adversary knows, in one line.
    gate
        Whether the adversary counts for the threshold.
    knows
        Number of known facts.
    wrong
        Number of known facts that are wrong.
    wrong_facts
        What is wrong in a wrong fact.
    value_error
        Largest error of a known value; null if values are not known.
    time_error
        Largest error of a known date in days; null if dates are not known.
    items
        Which items of the target's record are known.
    length_error
        Largest relative error of the record's length; null if it is not known.
    joined_error
        Largest error of the first date in days; null if it is not known.
    note
        How the adversary was adapted to the data.
    too_few_items
        Number of people whose records are too short to be targets of this adversary.
    attack
        Name of the strongest attack, chosen on other targets than those reported.
    as_named
        Measures of this attack with exactly `knows` facts, `wrong` of them wrong.
    control
        This attack on people in the data, compared with the same attack on people who are not in it.
    curve
        Measures of this attack with other numbers of facts, the same share of them wrong.
    attacks
        All attacks on the same targets with the same facts, the strongest first.
    curve_note
        Whom the curve is about, and how it differs from the description.
    curve_too_few_items
        Number of people whose records are too short for the curve.
    """

    name: str
    title: str
    description: str
    gate: bool
    knows: PositiveCount
    wrong: Count
    wrong_facts: Literal["values", "items", "any items"]
    value_error: NonNegative | None
    time_error: NonNegative | None
    items: str
    length_error: NonNegative | None
    joined_error: NonNegative | None
    note: str
    too_few_items: Count
    attack: str
    as_named: MeasuresAsNamed
    control: Control
    curve: tuple[CurvePoint, ...]
    attacks: tuple[AttackFindings, ...]
    curve_note: str
    curve_too_few_items: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopePoint:
    """The strongest adversary with one number of known facts.

    Attributes
    ----------
    facts
        Number of known facts.
    adversary
        Name of the adversary that identifies most targets with this number of facts.
    identified
        Share of targets whom this adversary identifies.
    gate_adversary
        Name of the strongest adversary that counts for the threshold; null if none has this number of facts.
    gate_identified
        Share of targets whom this adversary identifies.
    """

    facts: PositiveCount
    adversary: str
    identified: Rate
    gate_adversary: str | None
    gate_identified: Rate | None


# Grids of an audit: the share of identified people by number of known facts and by error.


@dataclass(frozen=True, slots=True, kw_only=True)
class GridCell:
    """One cell of a grid: one number of known facts with one error.

    Attributes
    ----------
    facts
        Number of known facts.
    identified
        Share of targets whom the strongest attack identifies.
    attack
        Name of the strongest attack. It is chosen for each half of the targets on the other half; both names
        if the halves differ.
    """

    facts: PositiveCount
    identified: Rate
    attack: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """The cells with one error.

    Attributes
    ----------
    error
        Largest error of a known date in days, or of a known value; null if it is not known.
    label
        The error in words.
    is_own
        Whether this is the adversary's own error, so that the last cell is the adversary as it is named.
    cells
        The cells in the order of the numbers of facts.
    """

    error: NonNegative | None
    label: str
    is_own: bool
    cells: tuple[GridCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorGrid:
    """Share of identified people by number of known facts and by one error of the adversary.

    Attributes
    ----------
    varies
        The error that differs between the rows: of dates or of values.
    title
        What the grid shows.
    fixed
        What is the same in all cells, in a sentence.
    targets
        Number of targets of each cell: the same people in all cells.
    rows
        One row for each error, the smallest first and "not known" last.
    """

    varies: Literal["time_error", "value_error"]
    title: str
    fixed: str
    targets: PositiveCount
    rows: tuple[ErrorRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorGrids:
    """How much depends on the number of known facts, and how much on their accuracy.

    Attributes
    ----------
    adversary
        Name of the adversary whose facts and errors vary.
    at_least
        Number of entries that everybody in the grids has at least.
    too_few_items
        Number of people whose records are too short for the grids.
    grids
        A grid for dates and a grid for values, as far as the data has them.
    note
        Why a grid is missing; empty if none is.
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

    Attributes
    ----------
    share
        Targets identified with at most `facts` facts and with every larger number that was tried. A tie does
        not count as identified.
    """

    facts: PositiveCount
    share: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeGroup:
    """People whose records have between `low` and `high` entries.

    Attributes
    ----------
    people
        Number of people in the group.
    identified
        Share of the group's targets who are identified.
    """

    label: str
    low: PositiveCount
    high: PositiveCount
    people: Count
    identified: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class RankGroup:
    """Targets whose rarest known item has a popularity rank between `low` and `high`.

    Attributes
    ----------
    people
        Always null: the group depends on what the adversary knows.
    identified
        Share of the group's targets who are identified.
    """

    label: str
    low: PositiveCount
    high: PositiveCount
    people: None = None
    identified: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class DateGroup:
    """People whose first entry is between two days.

    Attributes
    ----------
    people
        Number of people in the group.
    identified
        Share of the group's targets who are identified.
    """

    label: str
    low: Day
    high: Day
    people: Count
    identified: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveCategory:
    """How many people would have a sensitive item of one category revealed.

    Attributes
    ----------
    category
        The user's own name of the category; `any` for all items together.
    items
        Number of items of the release in the category.
    people_with
        Number of people with such an item.
    revealed
        Share of targets with such an item who are identified and have one revealed that was not known.
    people_revealed
        This share of all people with such an item and enough entries to be targets.
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

    Attributes
    ----------
    items_listed
        Number of lines of the file that name an item.
    items_in_release
        Number of these lines whose item is in the release.
    """

    file: str
    items_listed: Count
    items_in_release: Count
    adversary: str
    rows: tuple[SensitiveCategory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """Who is exposed to the headline adversary.

    Attributes
    ----------
    adversary
        Name of the adversary.
    by_length
        Groups by number of entries of the record.
    by_popularity
        Groups by popularity rank of the rarest known item.
    by_first_date
        Groups by date of the record's first entry.
    sensitive
        Result for the list of sensitive items, if one was given.
    """

    adversary: str
    facts_needed: tuple[FactsNeeded, ...]
    by_length: tuple[SizeGroup, ...]
    by_popularity: tuple[RankGroup, ...]
    by_first_date: tuple[DateGroup, ...]
    sensitive: SensitiveItems | None


# What each adversary identifies before and after sanitizing, on the same targets with the same facts.


SMALL_POINTS = 10.0
"""Changes below this many percentage points have one decimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Successes:
    """How often an attack identifies each target, from 0 to 1, and the chance of a random guess."""

    attack: str
    success: Floats
    baseline: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AdversaryBeforeAfter:
    """One adversary on the original and on the sanitized data.

    Attributes
    ----------
    name
        Name of the adversary.
    attack_before, attack_after
        The strongest attack on each, chosen on other targets.
    before
        Share of targets who are identified in the original.
    after
        Share of the same targets who are identified in the sanitized data. Those who are missing from it
        cannot be identified.
    difference
        after − before, with the interval of paired trials.
    before_in_release, after_in_release, difference_in_release
        The same for the targets whom the sanitized data represent.
    explanation
        The difference in a sentence.
    """

    name: str
    attack_before: str
    attack_after: str
    before: Rate
    after: Rate
    difference: Estimate
    before_in_release: Rate
    after_in_release: Rate
    difference_in_release: Estimate
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAfter:
    """The adversaries before and after sanitizing.

    Attributes
    ----------
    adversaries
        One comparison for each adversary.
    some_missing
        Whether some targets are missing from the sanitized data.
    summary
        What changed for the headline adversary, in sentences.
    """

    adversaries: tuple[AdversaryBeforeAfter, ...]
    some_missing: bool
    summary: str


def compare_before_after(name: str, before: Successes, after: Successes, is_present: Bools) -> AdversaryBeforeAfter:
    """Compare the successes of an adversary on the same targets; `is_present` is after sanitizing."""
    difference = paired_difference(after.success, before.success)
    in_release = paired_difference(after.success[is_present], before.success[is_present])
    return AdversaryBeforeAfter(
        name=name,
        attack_before=before.attack,
        attack_after=after.attack,
        before=_rate(before.success, before.baseline),
        after=_rate(after.success, after.baseline * float(is_present.mean())),
        difference=difference,
        before_in_release=_rate(before.success[is_present], before.baseline),
        after_in_release=_rate(after.success[is_present], after.baseline),
        difference_in_release=in_release,
        explanation=_change(difference),
    )


def before_after(adversaries: Sequence[AdversaryBeforeAfter], headline: str, data: str) -> BeforeAfter | None:
    """All comparisons; None if there is none. `data` names what was sanitized, for the sentences."""
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
            f"People missing from the {data} cannot be identified. Among those who are still in it, "
            f"{rate_text(main.before_in_release)} are identified before and "
            f"{rate_text(main.after_in_release)} after.",
            _change(main.difference_in_release, " of them"),
        ]
    return BeforeAfter(adversaries=tuple(adversaries), some_missing=some_missing, summary=" ".join(sentences))


def _rate(success: Floats, baseline: float) -> Estimate:
    # The sum of shares like 1/3 may exceed the number of targets by rounding.
    return rate(min(math.fsum(success), len(success)), len(success), baseline)


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
