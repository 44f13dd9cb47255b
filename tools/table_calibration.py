"""Whether the posterior of Likelihood on UCI Adult is right: for people in the table, and for others."""

from collections.abc import Iterator

import numpy as np

import standout as so
from standout.evaluate.outcomes import Outcomes
from standout.evaluate.simulation import SimulationCell, posterior_among
from tools.adult import QUASI_IDENTIFIERS
from tools.table_attack_results import AGE_ERROR, SEED, adversaries

__all__ = ["calibration_part", "said_and_right"]

TARGETS, POSTERIOR = 10_000, 0.95
BINS = ((0.1, 0.5), (0.5, 0.9), (0.9, 1.0))
FULL = 48_842
"""The number of rows of adult.csv and adult_test.csv together: the one is a sample of both."""

INSIDE = """By posterior of the best guess, for {targets:,} people who are in the table: its mean, and the share of
these guesses that are right (number of people in brackets).
"""
OUTSIDE = """
If the target may not be in the table: the share of absent people who are claimed at a posterior of {posterior:g} by
an adversary who takes presence for granted; and, for targets from N people, the share of claims that are right, what
the posterior says, and the number of claims about {targets:,} people in the table and {targets:,} others.
"""
SHOWS = """
Where the target may not be in the table, the posterior is too sure of itself, the more so the larger the
population: P(facts) is a product over columns, and the columns depend on each other. Read the share of right
claims from `so.simulate(…, population=N)`, not from the posterior.
"""


def calibration_part(table: so.Release) -> Iterator[str]:
    """The tables on calibration."""
    simulations = {
        name: so.simulate(table, adversary, targets=TARGETS, seed=SEED).cell() for name, adversary in _several().items()
    }
    yield INSIDE.format(targets=TARGETS)
    yield f"| what is known | {' | '.join(f'{low:g} to {high:g}: said, right' for low, high in BINS)} |"
    yield "|---" * (len(BINS) + 1) + "|"
    for name, simulation in simulations.items():
        yield f"| {name} | {' | '.join(_bin(simulation.outcomes, *ends) for ends in BINS)} |"
    yield OUTSIDE.format(targets=TARGETS, posterior=POSTERIOR)
    populations = (FULL, 10 * table.n_records, 100 * table.n_records)
    heads = " | ".join(f"N = {people:,}: right, said (claims)" for people in populations)
    yield f"| what is known | absent claims, no population | {heads} |"
    yield "|---" * (len(populations) + 2) + "|"
    for name, simulation in simulations.items():
        cells = [_population_cell(simulation, people) for people in populations]
        yield f"| {name} | {simulation.claims.absent_claims.value:.3f} | {' | '.join(cells)} |"
    yield SHOWS


def _several() -> dict[str, so.Adversary]:
    eight = tuple(QUASI_IDENTIFIERS)
    return {f"6 known, {name}": adversary for name, adversary in adversaries().items()} | {
        "8 known, none wrong, age exact": so.Adversary(columns=eight, error=0.0),
        f"8 known, 1 wrong, age ± {AGE_ERROR:g}": so.Adversary(
            columns=eight, wrong=1, error=0.0, errors={"age": AGE_ERROR}
        ),
    }


def _bin(outcomes: Outcomes, low: float, high: float) -> str:
    posterior = outcomes.best_probability
    chosen = (posterior >= low) & ((posterior < high) | (high == 1.0))
    if not chosen.any():
        return "–"
    said, right = posterior[chosen].mean(), outcomes.identified[chosen].mean()
    return f"{said:.3f}, {right:.3f} ({int(chosen.sum()):,})"


def said_and_right(simulation: SimulationCell, people: int) -> tuple[float, float, int, int]:
    """Of claims about a population: the mean posterior, the share that is right, and their numbers."""
    n_rows, outcomes = simulation.n_records, simulation.outcomes
    share = n_rows / people
    inside = posterior_among(outcomes.best_probability, outcomes.anybody, n_rows, people - n_rows)
    outside = posterior_among(outcomes.absent_probability, outcomes.absent_anybody, n_rows - 1, people - n_rows)
    in_claims, out_claims = inside >= POSTERIOR, outside >= POSTERIOR
    made = share * in_claims.sum() + (1.0 - share) * out_claims.sum()
    if made == 0:
        return np.nan, np.nan, 0, 0
    said = (share * inside[in_claims].sum() + (1.0 - share) * outside[out_claims].sum()) / made
    right = share * outcomes.identified.ravel()[in_claims].sum() / made
    return float(said), float(right), int(in_claims.sum()), int(out_claims.sum())


def _population_cell(simulation: SimulationCell, people: int) -> str:
    said, right, inside, outside = said_and_right(simulation, people)
    return "no claims" if inside + outside == 0 else f"{right:.3f}, {said:.3f} ({inside:,} + {outside:,})"
