"""Titles of the measures, defined once, so that console and report use the same name for a number."""

from typing import Literal, NamedTuple

from standout.core.formatting import percent

__all__ = ["LINEUP_MASS", "MEASURES", "Measure", "measure_titles"]

LINEUP_MASS = 0.9


class Measure(NamedTuple):
    """A measure: its key in findings.json, its unit and its title with placeholders for settings."""

    key: str
    unit: Literal["share", "number", "phi"]
    title: str


MEASURES = (
    Measure("identified", "share", "Identified"),
    Measure("identified_in_release", "share", "Identified, among people in the release"),
    Measure("in_top", "share", "Right record among the top {top}"),
    Measure("correct_claims", "share", "Correct claims at φ\xa0=\xa0{phi}"),
    Measure("wrong_claims", "share", "Wrong claims at φ\xa0=\xa0{phi}"),
    Measure("absent_claims", "share", "Claims about absent people at φ\xa0=\xa0{phi}"),
    Measure("phi_at_budget", "phi", "φ for ≤\xa0{budget} false claims"),
    Measure("correct_claims_at_budget", "share", "Correct claims at ≤\xa0{budget} false claims"),
    Measure("absent_claims_at_budget", "share", "Claims about absent people at this φ"),
    Measure("bits_gained", "number", "Bits gained (mean)"),
    Measure("bits_left", "number", "Bits missing (mean)"),
    Measure("lineup_size", "number", "Lineup: records that share {mass} of the probability (median)"),
    Measure("revealed", "number", "Items revealed (mean)"),
    Measure("revealed_correct", "number", "Items revealed correctly (mean)"),
    Measure("revealed_correct_share", "share", "Revealed items that are correct"),
)


def measure_titles(phi: float, budget: float, top: int = 10, mass: float = LINEUP_MASS) -> dict[str, str]:
    r"""Titles of all measures by their keys in findings.json, with the settings filled in.

    >>> titles = measure_titles(phi=1.5, budget=0.01)
    >>> titles["correct_claims"], titles["correct_claims_at_budget"]
    ('Correct claims at φ\xa0=\xa01.5', 'Correct claims at ≤\xa01\xa0% false claims')
    """
    settings = {"phi": f"{phi:g}", "budget": percent(budget), "top": str(top), "mass": percent(mass)}
    return {measure.key: measure.title.format(**settings) for measure in MEASURES}
