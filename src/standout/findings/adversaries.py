"""Results of one adversary: its measures as it is named, and with other numbers of known facts."""

from dataclasses import dataclass
from typing import Literal

from standout.evaluate.estimates import Estimate
from standout.findings.json_types import Count, NonNegative, PositiveCount, Rate, Share

__all__ = ["AdversaryFindings", "AttackFindings", "Control", "CurvePoint", "EnvelopePoint", "MeasuresAsNamed"]


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
