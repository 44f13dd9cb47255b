"""Making synthetic releases: CPU seconds on one thread and peak memory, beside drawing random columns.

python -m benchmarks.making [--entries 10000000] [--rounds 2]

The limit is what NumPy takes to draw as many items, values and days that mean nothing and to sort each
record's items. What must be reached is meant for Netflix's size (--entries 100480507): 120 s and 4,000 MB.
"""

import sys
from collections.abc import Callable

import numpy as np

import standout as so
from benchmarks.harness import Cost, best_of, child, settings
from standout.synthetic.published_statistics import published

MODULE = "benchmarks.making"
PEOPLE, FILMS, RATINGS = (published()["sizes"][name] for name in ("records", "items", "entries"))


def made(like: str, records: int) -> Callable[[], object]:
    def work() -> object:
        return so.synthesize(
            like=like, records=records, items=FILMS, entries=sized(records), threads=1
        ).n_entries  # type: ignore[arg-type]

    so.synthesize(like=like, records=50, items=60, entries=900)  # type: ignore[arg-type]
    return work


def random_columns(records: int) -> Callable[[], object]:
    def work() -> object:
        draw, entries = np.random.default_rng(0), sized(records)
        item = draw.integers(FILMS, size=entries, dtype=np.uint16)
        value = draw.integers(5, size=entries, dtype=np.uint8)
        time = draw.integers(2_243, size=entries, dtype=np.uint16)
        for some in np.array_split(item, records):
            some.sort()
        return int(item[-1]) + int(value[-1]) + int(time[-1])

    return work


def sized(records: int) -> int:
    return -(-RATINGS * records // PEOPLE)


def main() -> None:
    if sys.argv[1:2] == ["--job"]:
        name, records = sys.argv[2], int(sys.argv[3])
        child(random_columns(records) if name == "random columns" else made(name, records))
        return
    given = settings(__doc__, rounds=2)
    records = max(round(given.entries * PEOPLE / RATINGS), 100)
    names = ("random columns", "flat", "quick", "netflix")
    costs = best_of(given.rounds, MODULE, {name: [str(records)] for name in names})
    limit: Cost = costs["random columns"]
    print(f"{sized(records):,} entries of {records:,} records, on one thread\n")
    print(f"{'':<18}{'CPU s':>8}{'÷ limit':>10}{'MB':>8}")
    for name, cost in costs.items():
        print(f"{name:<18}{cost.cpu:>8.1f}{cost.cpu / limit.cpu:>10.1f}{cost.memory:>8,.0f}")


if __name__ == "__main__":
    main()
