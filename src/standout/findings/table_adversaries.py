"""Results of one adversary on a table: every attack as the adversary is named, and a curve."""

from dataclasses import dataclass
from typing import Literal

from standout.evaluate.estimates import Estimate
from standout.findings.json_types import Count, NonNegative, PositiveCount, Rate, Share

__all__ = [
    "ColumnError",
    "TableAdversaryFindings",
    "TableAttackFindings",
    "TableCurvePoint",
    "TableMeasures",
    "TablePopulation",
]


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
