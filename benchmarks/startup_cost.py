"""Costs of a process besides the work: compiling, loading compiled code, memory.

Each job runs in a separate process and prints one number. benchmarks.attack starts them.
"""

import ctypes
import gc
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["compiling", "compiling_nested", "late_imports", "loading", "memory"]

MODULE = "benchmarks.startup_cost"
INTERVAL = 0.002
"""Seconds between two looks at the memory."""


def compiling(index: Path, rounds: int) -> float:
    """CPU seconds that the first attack takes more than the second, with an empty cache."""
    return min(_in_new_cache(["first_attack", str(index)], 1) for _ in range(rounds))


def loading(index: Path, rounds: int) -> float:
    """The same with compiled code in the cache."""
    return _in_new_cache(["first_attack", str(index)], 1 + rounds)


def compiling_nested(index: Path) -> float:
    """Additional CPU seconds to compile the nested kernel."""
    return _in_new_cache(["first_nested", str(index)], 1)


def late_imports(rounds: int) -> float:
    """CPU seconds of the modules that Numba imports at the first call of compiled code."""
    return min(_run(["late_imports"], dict(os.environ)) for _ in range(rounds))


def memory(index: Path, tiny: Path, threads: int) -> float:
    """Peak MB per thread that a batch of attacks takes in addition to the mapped index."""
    return _run(["anonymous", str(index), str(tiny), str(threads)], dict(os.environ)) / threads


def _in_new_cache(job: list[str], times: int) -> float:
    """The minimum of several processes that share a cache of compiled code.

    The cache is empty at first. If there are several processes, the first one only fills it.
    """
    with tempfile.TemporaryDirectory() as cache:
        seconds = [_run(job, {**os.environ, "NUMBA_CACHE_DIR": cache}) for _ in range(times)]
    return min(seconds[1:] or seconds)


def _run(job: list[str], environment: dict[str, str]) -> float:
    command = [sys.executable, "-m", MODULE, *job]
    process = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(process.stdout)


def late_imports_job() -> float:
    """Refresh Numba's registries, which imports what it needs."""
    import numba  # noqa: F401
    from numba.core.registry import cpu_target

    start = time.process_time()
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    return time.process_time() - start


def first_attack_job(index: str) -> float:
    """The first attack compared with the second."""
    import standout as so

    late_imports_job()
    attack, release = so.ScoreboardRH(), so.open(index)
    aux = so.Adversary(knows=4).observe(release, release.records[0])
    return _first_minus_second(lambda: attack.attack(release, aux))


def first_nested_job(index: str) -> float:
    """The first nested attack compared with the second."""
    import standout as so

    attack, release = so.ScoreboardRH(), so.open(index)
    aux = so.Adversary(knows=4).observe(release, release.records[0])
    attack.attack(release, aux)
    return _first_minus_second(lambda: attack.nested(release, [aux], [2, 4], threads=1))


def _first_minus_second(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    middle = time.process_time()
    work()
    return 2 * middle - start - time.process_time()


def anonymous_job(index: str, tiny: str, threads: str) -> float:
    """Peak MB of anonymous memory during a batch of attacks."""
    import standout as so
    from benchmarks.queries import mixed

    attack, release = so.ScoreboardRH(), so.open(index)
    warm = so.open(tiny)
    attack.attacks(warm, mixed(warm, 32), threads=int(threads))
    known = mixed(release, 200)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # freed memory must not count
    with _peak_memory() as memory:
        attack.attacks(release, known, threads=int(threads))
    return memory[0] - memory[1]


@contextmanager
def _peak_memory() -> Iterator[list[float]]:
    """[highest, first] MB of anonymous memory, sampled every few milliseconds."""
    memory = [_anonymous()] * 2
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(INTERVAL):
            memory[0] = max(memory[0], _anonymous())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield memory
    finally:
        stop.set()
        watcher.join()


def _anonymous() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) / 1000


JOBS: dict[str, Callable[..., float]] = {
    "late_imports": late_imports_job,
    "first_attack": first_attack_job,
    "first_nested": first_nested_job,
    "anonymous": anonymous_job,
}

if __name__ == "__main__":
    print(JOBS[sys.argv[1]](*sys.argv[2:]))
