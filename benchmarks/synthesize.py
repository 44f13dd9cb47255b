"""Synthetic releases: CPU seconds on one thread and peak memory, compared with drawing random columns.

python -m benchmarks.synthesize [--entries 10000000] [--rounds 2]

The limit is the time that NumPy takes to draw as many random items, values and days, and to sort the items of
each record. The goals are for the full size of the Netflix Prize data (--entries 100480507): 120 s and 4,000
MB.
"""

import sys
from collections.abc import Callable

import numpy as np

import standout as so
from benchmarks.harness import Cost, best_of, options, run_job
from standout.paper.published import published
from standout.paper.synthesize import Like

MODULE = "benchmarks.synthesize"
PEOPLE, FILMS, RATINGS = (published()["sizes"][name] for name in ("records", "items", "entries"))


def synthetic_release(like: Like, records: int) -> Callable[[], object]:
    """A job that makes a synthetic release."""

    def work() -> object:
        release = so.synthesize(like=like, records=records, items=FILMS, entries=entries_of(records), threads=1)
        return release.n_entries

    so.synthesize(like=like, records=50, items=60, entries=900)  # compiles
    return work


def random_columns(records: int) -> Callable[[], object]:
    """A job that draws random columns."""

    def work() -> object:
        draw, entries = np.random.default_rng(0), entries_of(records)
        item = draw.integers(FILMS, size=entries, dtype=np.uint16)
        value = draw.integers(5, size=entries, dtype=np.uint8)
        time = draw.integers(2_243, size=entries, dtype=np.uint16)
        for record in np.array_split(item, records):
            record.sort()
        return int(item[-1]) + int(value[-1]) + int(time[-1])

    return work


def entries_of(records: int) -> int:
    """Number of entries in proportion to the Netflix Prize data."""
    return -(-RATINGS * records // PEOPLE)


def main() -> None:
    """Print the table."""
    if sys.argv[1:2] == ["--job"]:
        name, records = sys.argv[2], int(sys.argv[3])
        run_job(random_columns(records) if name == "random columns" else synthetic_release(name, records))
        return
    given = options(__doc__, rounds=2)
    records = max(round(given.entries * PEOPLE / RATINGS), 100)
    names = ("random columns", "flat", "quick", "netflix")
    costs = best_of(given.rounds, MODULE, {name: [str(records)] for name in names})
    limit: Cost = costs["random columns"]
    print(f"{entries_of(records):,} entries of {records:,} records, on one thread\n")
    print(f"{'':<18}{'CPU s':>8}{'÷ limit':>10}{'MB':>8}")
    for name, cost in costs.items():
        print(f"{name:<18}{cost.cpu:>8.1f}{cost.cpu / limit.cpu:>10.1f}{cost.memory:>8,.0f}")


if __name__ == "__main__":
    main()
