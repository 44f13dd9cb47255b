"""The risk table: how likely each person is to be identified, and with how few facts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout.adversary import Adversary
from standout.attack.scoreboard import ScoreboardRH
from standout.auditing.exposure import NEVER, needed
from standout.core.arrays import Floats, Ints
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.rng import check_seed, generator, key
from standout.evaluate.estimates import rate
from standout.evaluate.population import Population
from standout.evaluate.success_rate import success_rates
from standout.release.model import Release
from standout.report.safe_tables import private_table, table_form

__all__ = ["risk_table", "success_rates"]

BATCH = 256
"""Records that are tried at a time; it changes no number."""
SIZES = (1, 2, 3, 4, 6, 8, 12, 16)
SCHEMA = {
    "record": pl.String, "length": pl.Int64, "facts_needed": pl.Int64, "probability": pl.Float64,
    "low": pl.Float64, "high": pl.Float64,
}  # fmt: skip


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
    attack: ScoreboardRH | None = None,
) -> pl.DataFrame:
    """record, length, facts_needed, probability, low and high: a row for each record, in the release's order.

    records   "all", or so many drawn at random
    draws     how many times each person is observed, each time with other facts
    facts     numbers of facts that are tried; the probability is that with all that the adversary knows
    path      a .csv or .parquet file to write it to, for its owner alone
    attack    the paper's unless another is given

    `facts_needed` is the smallest number of facts from which on the guess stays right, in more than half of
    the draws; empty if there is none. All but the length is empty for a record with too few items. If the
    release was made from another, rows are the original's records; who is not in the release has 0 to 0.

    >>> import standout as so
    >>> release = so.synthesize(records=100, items=80, entries=2_000, seed=7)
    >>> risk_table(release, so.Adversary(knows=4), records=20, seed=1).columns
    ['record', 'length', 'facts_needed', 'probability', 'low', 'high']
    """
    file = None if path is None else Path(path)
    if file is not None:
        table_form(file)
    sizes = _sizes(facts, adversary)
    people = Population.of(release)
    places, draws, seed = (
        _places(people.original, records, seed),
        whole_number("draws", draws, 1),
        check_seed(seed),
    )
    able = adversary.eligible(people.original, places)
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA}
    for low in range(0, len(places), BATCH):
        here, can = places[low : low + BATCH], able[low : low + BATCH]
        right = _tried(people, adversary, here[can], sizes, draws, seed, threads, attack)
        _add(columns, people, here, can, right, sizes)
        progress("risk table", min(low + BATCH, len(places)), len(places))
    table = pl.DataFrame(columns, schema=SCHEMA)
    if file is not None:
        private_table(table, file)
    return table


def _add(
    columns: dict[str, list[Any]], people: Population, places: Ints, able: NDArray[np.bool_], right: Floats,
    sizes: Sequence[int],
) -> None:  # fmt: skip
    """The rows of some records, of whom those `able` were tried; `right` is by record, draw and size."""
    n, draws = right.shape[:2]
    facts = np.sort(needed(right.reshape(n * draws, -1), sizes).reshape(n, draws), axis=1)[:, draws // 2]
    tried = iter(zip(facts.tolist(), right[:, :, -1].sum(axis=1).tolist(), strict=True))
    there = (people.record_of(places) >= 0).tolist()
    for place, can, is_there in zip(places.tolist(), able.tolist(), there, strict=True):
        columns["record"].append(people.original.records[place])
        columns["length"].append(int(people.original.lengths[place]))
        if not can:
            row: tuple[Any, ...] = (None, None, None, None)
        else:
            least, hits = next(tried)
            found = rate(min(hits, draws), draws)
            high = found.high if is_there else 0.0
            row = (None if least == NEVER else least, found.value, found.low, high)
        for name, cell in zip(("facts_needed", "probability", "low", "high"), row, strict=True):
            columns[name].append(cell)


def _tried(
    people: Population, adversary: Adversary, places: Ints, sizes: Sequence[int], draws: int, seed: int,
    threads: int | None, attack: ScoreboardRH | None,
) -> Floats:  # fmt: skip
    """The chance that the guess is right, by record, draw and number of facts; each draw has its own."""
    found = np.zeros((len(places), draws, len(sizes)))
    for draw in range(draws if len(places) else 0):
        own = int(key(seed, "risk", draw) >> np.uint64(1))
        known = people.known_facts(adversary, places, own)
        found[:, draw] = success_rates(people.release, known, places, sizes, threads, attack)
    return found


def _sizes(facts: Sequence[int] | None, adversary: Adversary) -> list[int]:
    """Numbers of facts in order; all that the adversary knows is the last."""
    asked = [size for size in SIZES if size < adversary.knows] if facts is None else list(facts)
    found = sorted({*(whole_number("facts", size, 1) for size in asked), adversary.knows})
    if found[-1] > adversary.knows:
        raise ParameterError(f"facts must be from 1 to the {adversary.knows} that the adversary knows")
    return found


def _places(release: Release, records: Any, seed: int) -> Ints:
    if records == "all":
        return np.arange(release.n_records)
    if isinstance(records, str):
        raise ParameterError(f"records must be a number or all, got {records!r}")
    count = whole_number("records", records, 1)
    return np.sort(generator(check_seed(seed), "risk table").permutation(release.n_records)[:count])
