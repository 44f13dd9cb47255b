"""Attacks on people who have items several times, compared with as many entries of different items.

python -m benchmarks.repeats [--entries 2000000] [--rounds 7] [--folder build/bench]

CPU time per entry that an attack reads, on one thread. "purchases" has three entries of every fourth item of
a person, "visits" twenty of nearly every item.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

import standout as so
from benchmarks.harness import interleaved, options, restart_single_threaded
from benchmarks.ratio_table import HEADER, RatioRow
from standout.know.facts import KnownFacts

MODULE = "benchmarks.repeats"
RECORDS, ITEMS, TARGETS, DRAWS, GOAL = 100_000, 200, 64, 8, "≤ 1.3"
SHAPES = {"different items": (0.0, 1), "purchases": (0.25, 3), "visits": (0.9, 20)}
ADVERSARY = so.Adversary(knows=8, wrong=2, value_error=1, time_error=14)
SIZES = range(1, ADVERSARY.knows + 1)


class Sample(NamedTuple):
    """A release, facts about some of its people, and the number of entries that attacks on them read."""

    release: so.Release
    known: KnownFacts
    drawn: KnownFacts
    read: int


def sample(entries: int, repeated: float, times: int) -> Sample:
    """A release in which a share of the items of each person has about so many entries."""
    draw = np.random.default_rng(7)
    pairs = int(entries / (1 + repeated * (times - 1)))
    cell = draw.choice(RECORDS * ITEMS, pairs, replace=False)
    counts = np.where(draw.random(pairs) < repeated, 2 + draw.poisson(max(times - 2, 0), pairs), 1)
    cell = np.repeat(cell, counts)
    days = draw.integers(0, 2_000, len(cell)).astype("timedelta64[D]")
    frame = pl.DataFrame(
        {
            "record": (cell // ITEMS).astype(str),
            "item": (cell % ITEMS).astype(str),
            "value": draw.integers(1, 6, len(cell)).astype(float),
            "time": np.datetime64("2005-01-01") + days,
        }
    )
    release = so.read(frame, repeats="keep")
    people = draw.permutation(release.n_records)
    targets = people[ADVERSARY.eligible(release, people)][:TARGETS]
    known = ADVERSARY.observe_all(release, targets, 1)
    drawn = ADVERSARY.observe_all(release, targets[: TARGETS // DRAWS], 1, draws=DRAWS)
    return Sample(release, known, drawn, int(release.item_entries[known.item].sum()))


def jobs(attack: so.ScoreboardRH | so.Likelihood, data: Sample) -> dict[str, Callable[[], object]]:
    """What is timed."""
    return {
        "all facts": partial(attack.attacks, data.release, data.known, threads=1, with_z=False),
        "all sizes": partial(attack.nested, data.release, data.known, SIZES, threads=1, with_z=False),
        "8 draws": partial(attack.nested, data.release, data.drawn, SIZES, threads=1, with_z=False),
    }


def rows(samples: dict[str, Sample], rounds: int) -> Iterator[RatioRow]:
    """Time per entry with repeats ÷ without."""
    plain, *others = samples
    for attack in (so.ScoreboardRH(), so.Likelihood(ADVERSARY)):
        for name in jobs(attack, samples[plain]):
            work = {shape: jobs(attack, data)[name] for shape, data in samples.items()}
            interleaved(1, work)  # compiled, and counts of the release kept
            least = interleaved(rounds, work)
            per_entry = {shape: least[shape] / samples[shape].read for shape in samples}
            for shape in others:
                label = f"{type(attack).__name__}, {name}: {shape}"
                ratio = per_entry[shape] / per_entry[plain]
                yield RatioRow(label, ratio, GOAL, per_entry[shape], per_entry[plain])


def main() -> None:
    """Print the table."""
    restart_single_threaded(MODULE)
    given = options(__doc__, rounds=7)
    entries = min(given.entries, 2_000_000)  # more are computed again in double precision
    samples = {name: sample(entries, *shape) for name, shape in SHAPES.items()}
    for name, data in samples.items():
        repeats = data.release.n_entries - int(data.release.support.sum())
        print(f"{name}: {data.release}, {repeats:,} repeats")
    print(f"\n{HEADER}")
    for row in rows(samples, given.rounds):
        print(row, flush=True)


if __name__ == "__main__":
    main()
