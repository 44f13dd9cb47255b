"""Titles of the measures, defined once, so that console and report use the same name for a number."""

from typing import Literal, NamedTuple

from standout.core.formatting import percent
from standout.evaluate.claim_threshold import ClaimThreshold

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
    Measure("correct_claims", "share", "Correct claims at {threshold}"),
    Measure("wrong_claims", "share", "Wrong claims at {threshold}"),
    Measure("absent_claims", "share", "Claims about absent people at {threshold}"),
    Measure("threshold_at_budget", "phi", "{Measure} for ≤\xa0{budget} false claims"),
    Measure("correct_claims_at_budget", "share", "Correct claims at ≤\xa0{budget} false claims"),
    Measure("absent_claims_at_budget", "share", "Claims about absent people at this {measure}"),
    Measure("bits_gained", "number", "Bits gained (mean)"),
    Measure("bits_left", "number", "Bits missing (mean)"),
    Measure("lineup_size", "number", "Lineup: records that share {mass} of the probability (median)"),
    Measure("revealed", "number", "Items revealed (mean)"),
    Measure("revealed_correct", "number", "Items revealed correctly (mean)"),
    Measure("revealed_correct_share", "share", "Revealed items that are correct"),
)


def measure_titles(
    threshold: ClaimThreshold | None, budget: float, top: int = 10, mass: float = LINEUP_MASS
) -> dict[str, str]:
    r"""Titles of all measures by their keys in findings.json, with the settings filled in.

    Without a threshold they suit several attacks, each with its own.

    >>> titles = measure_titles(ClaimThreshold("phi", 1.5), budget=0.01)
    >>> titles["correct_claims"], titles["correct_claims_at_budget"]
    ('Correct claims at φ\xa0=\xa01.5', 'Correct claims at ≤\xa01\xa0% false claims')
    >>> measure_titles(ClaimThreshold("posterior", 0.95), budget=0.01)["correct_claims"]
    'Correct claims at posterior\xa0≥\xa00.95'
    """
    measure = "threshold" if threshold is None else threshold.symbol
    settings = {
        "threshold": "the\xa0threshold" if threshold is None else threshold.text,
        "measure": measure,
        "Measure": measure if measure == "φ" else measure.capitalize(),
        "budget": percent(budget),
        "top": str(top),
        "mass": percent(mass),
    }
    return {each.key: each.title.format(**settings) for each in MEASURES}
