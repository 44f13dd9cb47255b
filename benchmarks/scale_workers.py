"""Threads and Dask workers at equal cores: the time of one simulation.

python -m benchmarks.scale_workers INDEX [--targets 1000] [--workers 2] [--rounds 3]

Both attack the same targets of the index with the same facts, and their outcomes must be equal. Workers
have one thread each. Starting them and compiling kernels is not measured: a small simulation comes first.
The goal is a time with Dask of at most 1.15 times that of threads. Runs are interleaved.
"""

import argparse
import time
from contextlib import ExitStack
from dataclasses import fields

import standout as so
from standout.cluster.workers import local_workers
from standout.core.threads import WorkerPool

ADVERSARY = so.Adversary(knows=8, wrong=2, value_error=1, time_error=14)
FACTS = [2, 4, 8]
FEW = 128
GOAL = 1.15


def outcomes(index: str, targets: int, threads: int, pool: WorkerPool | None) -> tuple[float, list[bytes]]:
    """Seconds of one simulation, and its outcomes."""
    release = so.open(index)
    start = time.perf_counter()
    result = so.simulate(
        release, ADVERSARY, attack=so.Likelihood(), facts=FACTS, targets=targets, threads=threads, client=pool
    )
    seconds = time.perf_counter() - start
    cells = [cell.outcomes for cell in result.cells]
    return seconds, [getattr(cell, field.name).tobytes() for cell in cells for field in fields(cell)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--targets", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    so.open(given.index).check()
    with ExitStack() as stack:
        pools = {
            f"{given.workers} threads": None,
            f"{given.workers} Dask workers": stack.enter_context(local_workers(given.workers)),
        }
        for pool in pools.values():
            outcomes(given.index, FEW, given.workers, pool)
        best = dict.fromkeys(pools, float("inf"))
        expected = None
        for _ in range(given.rounds):
            for name, pool in pools.items():
                seconds, result = outcomes(given.index, given.targets, given.workers, pool)
                best[name], expected = min(best[name], seconds), expected or result
                assert result == expected, f"{name}: other outcomes"
        threads = best[f"{given.workers} threads"]
        print("| | seconds | relative to threads |\n|---|--:|--:|")
        for name, seconds in best.items():
            print(f"| {name} | {seconds:.1f} | {seconds / threads:.2f} |")
        print(f"\nGoal: at most {GOAL} with Dask. The outcomes of all are byte-identical.")


if __name__ == "__main__":
    main()
