"""The risk table: how likely each person is to be identified, and with how few facts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from standout.attack.any_attack import AnyAttack, fit_attack
from standout.attack.likelihood import Likelihood
from standout.auditing.exposure import NEVER, smallest_sufficient
from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import ParameterError, whole_number
from standout.core.progress import Progress, no_progress
from standout.core.rng import check_seed, generator, key
from standout.data.release import Release
from standout.evaluate.estimates import rate
from standout.evaluate.simulate import success_rates
from standout.evaluate.targets import Population
from standout.know.adversary import Adversary
from standout.report.page import private_table, table_form

BATCH = 256
"""Number of records that are attacked at a time; it changes no result."""
SIZES = (1, 2, 3, 4, 6, 8, 12, 16)
COLUMNS = {
    "record": pl.String,
    "length": pl.Int64,
    "facts_needed": pl.Int64,
    "probability": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}


def risk_table(
    release: Release,
    adversary: Adversary,
    *,
    records: str | int = "all",
    draws: int = 8,
    facts: Sequence[int] | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
    path: str | Path | None = None,
    attack: AnyAttack | None = None,
) -> pl.DataFrame:
    """Risk of each person: one row for each record, in the order of the release.

    `facts_needed` is the smallest number of facts at which the best guess is right in more than half of the
    draws, at this and every larger number; it is empty if there is none. A record with too few entries or
    cells has only its length, the number of these. If the release was sanitized, the rows are the records of
    the original, and a person missing from the release has probability 0.

    Parameters
    ----------
    release : Release
        The data that would be published.
    adversary : Adversary
        What is known about each person.
    records : "all" or int
        All records, or a random sample of this size.
    draws : int
        Number of random draws of known facts for each person.
    facts : sequence of int, optional
        Numbers of facts that are tried. The probability is that with everything the adversary knows.
    seed : int
        Seed of all random draws.
    threads : int, optional
        Number of threads. Default: all processors.
    progress : callable
        Called with the stage, the work done and the total.
    path : str or Path, optional
        A .csv or .parquet file to write, readable only by its owner.
    attack : an attack, optional
        The attack. Default: Likelihood.

    Returns
    -------
    polars.DataFrame
        Columns record, length, facts_needed, probability, low and high.

    Raises
    ------
    ParameterError
        If a parameter is out of range or the file has another ending.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=100, items=80, entries=2_000, seed=7)
    >>> risk_table(release, so.Adversary(knows=4), records=20, seed=1).columns
    ['record', 'length', 'facts_needed', 'probability', 'low', 'high']
    """
    file = None if path is None else Path(path)
    if file is not None:
        table_form(file)
    draws = whole_number("draws", draws, 1)
    fitted = fit_attack(Likelihood() if attack is None else attack, adversary)
    attacks = _RepeatedAttacks(
        Population.of(release), adversary, _sizes(facts, adversary), draws, check_seed(seed), threads, fitted
    )
    rows = _rows(attacks.people.original, records, seed)
    eligible = adversary.eligible(attacks.people.original, rows)
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for low in range(0, len(rows), BATCH):
        batch, is_eligible = rows[low : low + BATCH], eligible[low : low + BATCH]
        _append(columns, attacks, batch, is_eligible)
        progress("risk table", min(low + BATCH, len(rows)), len(rows))
    table = pl.DataFrame(columns, schema=COLUMNS)
    if file is not None:
        private_table(table, file)
    return table


@dataclass(frozen=True, slots=True)
class _RepeatedAttacks:
    """Several attacks on each person, each with other known facts."""

    people: Population
    adversary: Adversary
    sizes: list[int]
    draws: int
    seed: int
    threads: int | None
    attack: AnyAttack | None

    def correct(self, rows: Ints) -> Floats:
        """Probability that the best guess is right, by person, draw and number of facts."""
        correct = np.zeros((len(rows), self.draws, len(self.sizes)))
        for draw in range(self.draws if len(rows) else 0):
            draw_seed = int(key(self.seed, "risk", draw) >> np.uint64(1))
            known = self.people.known_facts(self.adversary, rows, draw_seed)
            correct[:, draw] = success_rates(self.people.release, known, rows, self.sizes, self.threads, self.attack)
        return correct


def _append(columns: dict[str, list[Any]], attacks: _RepeatedAttacks, rows: Ints, eligible: Bools) -> None:
    """Add the rows of some records to the columns."""
    people, draws = attacks.people, attacks.draws
    correct = attacks.correct(rows[eligible])
    n = len(correct)
    needed = smallest_sufficient(correct.reshape(n * draws, -1), attacks.sizes).reshape(n, draws)
    median_needed = np.sort(needed, axis=1)[:, draws // 2]
    results = iter(zip(median_needed.tolist(), correct[:, :, -1].sum(axis=1).tolist(), strict=True))
    is_present = (people.record_of(rows) >= 0).tolist()
    filled = [~column.is_missing for column in people.original.columns]
    lengths = np.sum([people.original.lengths, *filled], axis=0)
    for row, is_eligible, present in zip(rows.tolist(), eligible.tolist(), is_present, strict=True):
        columns["record"].append(people.original.records[row])
        columns["length"].append(int(lengths[row]))
        risk: tuple[int | float | None, ...] = (None, None, None, None)
        if is_eligible:
            facts, hits = next(results)
            probability = rate(min(hits, draws), draws)
            high = probability.high if present else 0.0
            risk = (None if facts == NEVER else facts, probability.value, probability.low, high)
        for name, value in zip(("facts_needed", "probability", "low", "high"), risk, strict=True):
            columns[name].append(value)


def _sizes(facts: Sequence[int] | None, adversary: Adversary) -> list[int]:
    """Numbers of facts in order; the last is everything the adversary knows."""
    sizes = [size for size in SIZES if size < adversary.knows] if facts is None else list(facts)
    sizes = sorted({*(whole_number("facts", size, 1) for size in sizes), adversary.knows})
    if sizes[-1] > adversary.knows:
        raise ParameterError(
            f"facts must be from 1 to {adversary.knows}, the number that the adversary knows, got {sizes[-1]}"
        )
    return sizes


def _rows(release: Release, records: Any, seed: int) -> Ints:
    if records == "all":
        return np.arange(release.n_records)
    if isinstance(records, str):
        raise ParameterError(f'records must be a whole number or "all", got {records!r}')
    count = whole_number("records", records, 1)
    return np.sort(generator(check_seed(seed), "risk table").permutation(release.n_records)[:count])
