"""Jobs in processes of their own, interleaved, the best of several: CPU seconds, wall seconds, peak memory.

A job is a function that gets ready (imports, compiles on something tiny) and returns the work; only the
work is timed, in the process itself. Peak memory is of the whole process, as the kernel counts it.

What is quick and compared by ratio runs in one process instead, on one thread: `alone`, `interleaved`.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Cost", "alone", "best_of", "child", "interleaved", "settings"]

LIMITS = ("MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS")
ONE_THREAD = dict.fromkeys(LIMITS, "1")
LONG = 0.2
"""Seconds: what takes less is repeated within a round."""


@dataclass(frozen=True)
class Cost:
    """The least CPU and wall seconds of several runs, and the largest memory in MB."""

    cpu: float
    wall: float
    memory: float
    result: object = None


def settings(description: str | None, rounds: int) -> argparse.Namespace:
    """The options that every benchmark has: entries, rounds, and the folder for its files."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--folder", type=Path, default=Path("build/bench"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    return given


def best_of(rounds: int, module: str, jobs: dict[str, list[str]]) -> dict[str, Cost]:
    """Runs every job `rounds` times, one after the other in turn; each job is named and has arguments."""
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
    told = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{module} {arguments} failed")
    measured = json.loads(told.splitlines()[-1])
    return Cost(measured["cpu"], measured["wall"], usage.ru_maxrss / 1e3, measured["result"])


def child(work: Callable[[], object]) -> None:
    """Times the work and tells the parent."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"wall": wall, "cpu": cpu, "result": result}))


def alone(module: str) -> None:
    """Starts the process anew with every library held to one thread, as CPU time is to be compared."""
    if any(os.environ.get(name) != count for name, count in ONE_THREAD.items()):
        os.execve(sys.executable, [sys.executable, "-m", module, *sys.argv[1:]], {**os.environ, **ONE_THREAD})


def interleaved(
    rounds: int, jobs: dict[str, Callable[[], object]], clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """The least CPU seconds (or of another clock) of each job: one after the other, round by round."""
    least = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, job in jobs.items():
            spent = 0.0
            while spent < LONG:
                begun = clock()
                job()
                took = clock() - begun
                spent, least[name] = spent + took, min(least[name], took)
    return least
