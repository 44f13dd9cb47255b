"""Whether the posterior of TableLikelihood on UCI Adult is right: for people in the table, and for others."""

from collections.abc import Iterator

import numpy as np

import standout as so
from standout.core.arrays import Floats
from standout.table_attack.row_verdicts import RowVerdicts
from tools.adult import QUASI_IDENTIFIERS
from tools.table_attack_results import AGE_ERROR, SEED, adversaries
from tools.table_rivals import known_facts, most_matches

__all__ = ["calibration_part", "said_and_right"]

TARGETS, POSTERIOR = 10_000, 0.95
ONE_WRONG = "1 wrong, age exact"
BINS = ((0.1, 0.5), (0.5, 0.9), (0.9, 1.0))
FULL = 48_842
"""The number of rows of adult.csv and adult_test.csv together: the one is a sample of both."""

INSIDE = """What Likelihood says and what is right, for {targets:,} people who are in the table, by the
posterior of the best guess: its mean, and the share of these guesses that are right (number of people in
brackets).
"""
OUTSIDE = """
The adversary may not know that the target is in the table. The first column is the share of absent people
about whom a claim is made at a posterior of {posterior:g}, if the adversary takes it for granted that they
are in the table. The other columns are for targets from a population of N people: the share of claims at a
posterior of {posterior:g} that are right, what the posterior says on average, and the number of claims about
{targets:,} people in the table and about {targets:,} others.
"""
SHOWS = """
Without wrong facts, guesses about people in the table are right at least as often as the posterior says. With
a wrong fact, those at a posterior of 0.5 to 0.9 are right less often. With 6 facts, one of them wrong, and
age exact, {all_agree:,} of these {both:,} guesses agree with all facts: the posterior says {said_all:.3f} on
average, and {right_all:.3f} of them are right. Of the others {right_other:.3f} are right, and the posterior
says {said_other:.3f}. So the error is that rows that agree with all facts count, although one fact is
certainly wrong.

Without wrong facts the posterior is too sure of itself for a population, and the more so the larger the
population; the shares for the largest rest on few claims about others. With a wrong fact there are too few
claims to tell. P(facts), the probability of the facts about somebody who is not in the table, is a
product over columns, and the columns depend on each other (husbands are married men).
`so.simulate_table(…, population=N)` measures the share of right claims with people whose rows were removed;
do not read it from the posterior.
"""


def calibration_part(table: so.Table) -> Iterator[str]:
    """The tables on calibration."""
    simulations = {
        name: so.simulate_table(table, adversary, targets=TARGETS, seed=SEED)
        for name, adversary in _several().items()
    }
    yield INSIDE.format(targets=TARGETS)
    yield f"| what is known | {' | '.join(f'{low:g} to {high:g}: said, right' for low, high in BINS)} |"
    yield "|---" * (len(BINS) + 1) + "|"
    for name, simulation in simulations.items():
        yield f"| {name} | {' | '.join(_bin(simulation.verdicts, *ends) for ends in BINS)} |"
    yield OUTSIDE.format(targets=TARGETS, posterior=POSTERIOR)
    populations = (FULL, 10 * table.n_rows, 100 * table.n_rows)
    heads = " | ".join(f"N = {people:,}: right, said (claims)" for people in populations)
    yield f"| what is known | absent claims, no population | {heads} |"
    yield "|---" * (len(populations) + 2) + "|"
    for name, simulation in simulations.items():
        cells = [_population_cell(simulation, people) for people in populations]
        yield f"| {name} | {simulation.absent_claims.value:.3f} | {' | '.join(cells)} |"
    yield SHOWS.format(**_agreeing(table, simulations[f"6 known, {ONE_WRONG}"]))


def _agreeing(table: so.Table, simulation: so.TableSimulation) -> dict[str, float]:
    """Guesses at a posterior of 0.5 to 0.9: those that agree with all facts, and the others."""
    verdicts = simulation.verdicts
    known = known_facts(table, simulation.adversary, TARGETS, SEED)
    chosen = np.flatnonzero((verdicts.posterior >= 0.5) & (verdicts.posterior < 0.9))
    agree = np.array([most_matches(known, q)[verdicts.guess[q]] == len(known.of(q)) for q in chosen])
    everything, others = chosen[agree], chosen[~agree]
    return {
        "all_agree": len(everything),
        "both": len(chosen),
        "said_all": float(verdicts.posterior[everything].mean()),
        "right_all": float(verdicts.found[everything].mean()),
        "said_other": float(verdicts.posterior[others].mean()),
        "right_other": float(verdicts.found[others].mean()),
    }


def _several() -> dict[str, so.TableAdversary]:
    eight = tuple(QUASI_IDENTIFIERS)
    return {f"6 known, {name}": adversary for name, adversary in adversaries().items()} | {
        "8 known, none wrong, age exact": so.TableAdversary(columns=eight, error=0.0),
        f"8 known, 1 wrong, age ± {AGE_ERROR:g}": so.TableAdversary(
            columns=eight, wrong=1, error=0.0, errors={"age": AGE_ERROR}
        ),
    }


def _bin(verdicts: RowVerdicts, low: float, high: float) -> str:
    chosen = (verdicts.posterior >= low) & ((verdicts.posterior < high) | (high == 1.0))
    if not chosen.any():
        return "–"
    said, right = verdicts.posterior[chosen].mean(), verdicts.found[chosen].mean()
    return f"{said:.3f}, {right:.3f} ({int(chosen.sum()):,})"


def _posterior(verdicts: RowVerdicts, others: float) -> Floats:
    """The posterior of the guess if so many people who are not in the table may be the target too."""
    assert verdicts.best_likelihood is not None
    return 1.0 / (1.0 / verdicts.posterior + others * verdicts.best_likelihood)


def said_and_right(simulation: so.TableSimulation, people: int) -> tuple[float, float, int, int]:
    """Of claims about a population: the mean posterior, the share that is right, and their numbers."""
    n_rows = simulation.verdicts.candidates
    share = n_rows / people
    inside = _posterior(simulation.verdicts, people - n_rows)
    outside = _posterior(simulation.absent, people - n_rows)
    in_claims, out_claims = inside >= POSTERIOR, outside >= POSTERIOR
    made = share * in_claims.sum() + (1.0 - share) * out_claims.sum()
    if made == 0:
        return np.nan, np.nan, 0, 0
    said = (share * inside[in_claims].sum() + (1.0 - share) * outside[out_claims].sum()) / made
    right = share * simulation.verdicts.found[in_claims].sum() / made
    return float(said), float(right), int(in_claims.sum()), int(out_claims.sum())


def _population_cell(simulation: so.TableSimulation, people: int) -> str:
    said, right, inside, outside = said_and_right(simulation, people)
    return "no claims" if inside + outside == 0 else f"{right:.3f}, {said:.3f} ({inside:,} + {outside:,})"
