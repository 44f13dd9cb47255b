"""Results of one adversary: its measures as it is named, and with other numbers of known facts."""

import math
from collections.abc import Sequence
from typing import Literal

from standout.core.arrays import Bools, Floats
from standout.evaluate.estimates import Estimate, paired_difference, rate, rate_text
from standout.findings.json_types import Count, NonNegative, PositiveCount, Rate, Share, about, finding

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


# What each adversary identifies before and after sanitizing, on the same targets with the same facts.


SMALL_POINTS = 10.0
"""Changes below this many percentage points have one decimal."""


@finding
class Successes:
    """How often an attack identifies each target, from 0 to 1, and the chance of a random guess."""

    attack: str
    success: Floats
    baseline: float


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
