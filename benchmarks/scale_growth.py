"""How the cost of the main jobs grows with the data: the same job on a small and on a large index.

python -m benchmarks.scale_growth SMALL.index LARGE.index [--jobs open lineup neighbours audit] [--rounds 1]

Each job runs in a process of its own. Peak memory is that of the process, which counts the pages of the index
that it reads; "own" is what cannot be taken back while it runs (anonymous memory). Pages of the index may be
dropped and read again, so a machine needs the own memory, and is fast if it has the rest too. Kernels are
compiled before the measurement, by the same job on tiny data.
"""

import argparse
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.harness import Cost, best_of, run_job

MODULE = "benchmarks.scale_growth"
FACTS, QUERIES, SAMPLE = 8, 40, 1000
RECORDS = 500
SAMPLING = 0.05
"""Seconds between two readings of the memory."""


def open_index(release: Any) -> dict[str, float]:
    """Open the index, and check nothing."""
    return {"records": release.n_records}


def lineup(release: Any) -> dict[str, float]:
    """Seconds of one lineup: the first, and the median of the others."""
    import standout as so

    adversary = so.Adversary(knows=FACTS, wrong=2, value_error=1, time_error=14)
    attack, seconds = so.Likelihood().for_adversary(adversary), []
    for target in _targets(release, QUERIES):
        known = adversary.observe(release, release.record_at(int(target)).id, seed=1)
        start = time.perf_counter()
        attack.attack(release, known).lineup(10)
        seconds.append(time.perf_counter() - start)
    return {"first": seconds[0], "median": median(seconds[1:])}


def neighbours(release: Any) -> dict[str, float]:
    """The nearest neighbours, by sets of items, of a random sample."""
    import standout as so

    result = so.sparsity(release, sample=min(SAMPLE, release.n_records))
    return {"mean": float(result.nearest.mean())}


def audit(release: Any) -> dict[str, float]:
    """The default audit."""
    import standout as so

    result = so.audit(release)
    return {"identified": result.findings.answer.rate.value}


WORK = {"open": open_index, "lineup": lineup, "neighbours": neighbours, "audit": audit}


def job(name: str, path: str) -> Callable[[], object]:
    """A job on an index; kernels are compiled on tiny data first."""
    import standout as so

    WORK[name](so.synthesize(records=RECORDS, seed=1))

    def work() -> dict[str, float]:
        with OwnMemory() as memory:
            release = so.open(path)
            result = WORK[name](release)
        return {**result, "entries": release.n_entries, "own": memory.highest}

    return work


class OwnMemory:
    """The highest anonymous memory of this process, in MB, while the block runs."""

    def __init__(self) -> None:
        self.highest = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "OwnMemory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
            self.highest = max(self.highest, int(status["RssAnon"].split()[0]) / 1e3)
            if self._ended.wait(SAMPLING):
                return


def _targets(release: Any, count: int) -> Any:
    import numpy as np

    long_enough = np.flatnonzero(release.lengths >= FACTS)
    return np.random.default_rng(1).choice(long_enough, count)


def _row(name: str, cost: Cost) -> str:
    result = cost.result
    assert isinstance(result, dict)
    own, entries = result.pop("own"), result.pop("entries")
    answer = ", ".join(f"{key} {value:,.3g}" for key, value in result.items())
    figures = [f"{cost.wall:.2f}", f"{cost.cpu:.2f}", f"{cost.memory:,.0f}", f"{own:,.0f}"]
    return f"| {name} | {entries:,} | {' | '.join(figures)} | {answer} |"


def main() -> None:
    """Print the table of docs/lab/scale.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("indexes", nargs="+")
    parser.add_argument("--jobs", nargs="+", choices=WORK, default=list(WORK))
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    print("| job | entries | wall s | CPU s | peak MB | own MB | result |")
    print("|---|--:|--:|--:|--:|--:|---|", flush=True)
    for name in given.jobs:
        for path in given.indexes:
            cost = best_of(given.rounds, MODULE, {"job": [name, path]})["job"]
            print(_row(name, cost), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        run_job(job(*sys.argv[3:]))
    else:
        main()
