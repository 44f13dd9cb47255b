"""Measurements: CPU seconds, wall seconds and peak memory of jobs, the best of several interleaved runs.

`best_of` runs each job in a separate process. A job is a function that prepares (imports, compiles on tiny
data) and returns the work; only the work is timed. Peak memory is that of the whole process, as the kernel
counts it.

Quick jobs that are compared by ratio run in one process on one thread instead: `restart_single_threaded` and
`interleaved`.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Cost", "best_of", "interleaved", "options", "restart_single_threaded", "run_job"]

LIMITS = ("MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS")
ONE_THREAD = dict.fromkeys(LIMITS, "1")
SHORTEST = 0.2
"""Seconds; a job that takes less is repeated within a round."""


@dataclass(frozen=True)
class Cost:
    """The minimum CPU and wall seconds of several runs, and the largest memory in MB."""

    cpu: float
    wall: float
    memory: float
    result: object = None


def options(description: str | None, rounds: int, tables: Sequence[str] = ()) -> argparse.Namespace:
    """The options of every benchmark: entries, rounds, the folder for its files, and which of its tables."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--folder", type=Path, default=Path("build/bench"))
    if tables:
        parser.add_argument("--only", nargs="+", choices=tables, default=tables)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    return given


def best_of(rounds: int, module: str, jobs: dict[str, list[str]]) -> dict[str, Cost]:
    """Run every job `rounds` times, in turn; `jobs` has the arguments of each job by name."""
    runs: dict[str, list[Cost]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, arguments in jobs.items():
            runs[name].append(_run(module, [name, *arguments]))
    return {
        name: Cost(
            min(cost.cpu for cost in costs),
            min(cost.wall for cost in costs),
            max(cost.memory for cost in costs),
            costs[0].result,
        )
        for name, costs in runs.items()
    }


def _run(module: str, arguments: list[str]) -> Cost:
    process = subprocess.Popen([sys.executable, "-m", module, "--job", *arguments], stdout=subprocess.PIPE)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{module} {arguments} failed")
    measured = json.loads(output.splitlines()[-1])
    return Cost(measured["cpu"], measured["wall"], usage.ru_maxrss / 1e3, measured["result"])


def run_job(work: Callable[[], object]) -> None:
    """Time the work and print the result for the parent process."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"wall": wall, "cpu": cpu, "result": result}))


def restart_single_threaded(module: str) -> None:
    """Restart the process with every library limited to one thread, so that CPU times can be compared."""
    if any(os.environ.get(name) != count for name, count in ONE_THREAD.items()):
        os.execve(sys.executable, [sys.executable, "-m", module, *sys.argv[1:]], {**os.environ, **ONE_THREAD})


def interleaved(
    rounds: int, jobs: dict[str, Callable[[], object]], clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """The minimum CPU seconds of each job (or seconds of another clock), in turn, round by round."""
    least = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, job in jobs.items():
            spent = 0.0
            while spent < SHORTEST:
                start = clock()
                job()
                seconds = clock() - start
                spent, least[name] = spent + seconds, min(least[name], seconds)
    return least
