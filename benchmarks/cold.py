"""What a process pays before and beside the work: compiling, loading what was compiled, memory.

Each job runs in a process of its own, and prints one number. benchmarks.attack starts them.
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

__all__ = ["compiling", "compiling_nested", "loading", "memory", "starting"]

MODULE = "benchmarks.cold"
OFTEN = 0.002


def compiling(index: Path, rounds: int) -> float:
    """CPU seconds that the first attack takes beyond the second, if nothing was compiled before."""
    return min(_in_new_cache(["first_attack", str(index)], 1) for _ in range(rounds))


def loading(index: Path, rounds: int) -> float:
    """The same if all was."""
    return _in_new_cache(["first_attack", str(index)], 1 + rounds)


def compiling_nested(index: Path) -> float:
    """What compiling the nested kernel takes on top."""
    return _in_new_cache(["first_nested", str(index)], 1)


def starting(rounds: int) -> float:
    """CPU seconds of what Numba imports no sooner than at the first call of anything compiled."""
    return min(_run(["start"], dict(os.environ)) for _ in range(rounds))


def memory(index: Path, tiny: Path, threads: int) -> float:
    """MB per thread that a batch of attacks takes beyond what it maps, at its peak."""
    return _run(["anonymous", str(index), str(tiny), str(threads)], dict(os.environ)) / threads


def _in_new_cache(job: list[str], times: int) -> float:
    """The least of several processes that share a cache of compiled code, which is empty at first. The first
    of several only fills it."""
    with tempfile.TemporaryDirectory() as cache:
        took = [_run(job, {**os.environ, "NUMBA_CACHE_DIR": cache}) for _ in range(times)]
    return min(took[1:] or took)


def _run(job: list[str], environment: dict[str, str]) -> float:
    command = [sys.executable, "-m", MODULE, *job]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)


def start_job() -> float:
    import numba  # noqa: F401
    from numba.core.registry import cpu_target

    begun = time.process_time()
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    return time.process_time() - begun


def first_attack_job(index: str) -> float:
    import standout as so

    start_job()
    attack, release = so.ScoreboardRH(), so.open(index)
    aux = so.Adversary(knows=4).observe(release, release.records[0])
    return _beyond_the_second(lambda: attack.attack(release, aux))


def first_nested_job(index: str) -> float:
    import standout as so

    attack, release = so.ScoreboardRH(), so.open(index)
    aux = so.Adversary(knows=4).observe(release, release.records[0])
    attack.attack(release, aux)
    return _beyond_the_second(lambda: attack.nested(release, [aux], [2, 4], threads=1))


def _beyond_the_second(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    middle = time.process_time()
    work()
    return 2 * middle - begun - time.process_time()


def anonymous_job(index: str, tiny: str, threads: str) -> float:
    import standout as so
    from benchmarks.queries import mixed

    attack, release = so.ScoreboardRH(), so.open(index)
    warm = so.open(tiny)
    attack.attacks(warm, mixed(warm, 32), threads=int(threads))
    known = mixed(release, 200)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was let go counts no more
    with _peak() as peak:
        attack.attacks(release, known, threads=int(threads))
    return peak[0] - peak[1]


@contextmanager
def _peak() -> Iterator[list[float]]:
    """[highest, first] MB of memory that is no file's, looked at every few milliseconds meanwhile."""
    seen = [_anonymous()] * 2
    done = threading.Event()

    def look() -> None:
        while not done.wait(OFTEN):
            seen[0] = max(seen[0], _anonymous())

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        done.set()
        looking.join()


def _anonymous() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) / 1000


JOBS: dict[str, Callable[..., float]] = {
    "start": start_job,
    "first_attack": first_attack_job,
    "first_nested": first_nested_job,
    "anonymous": anonymous_job,
}

if __name__ == "__main__":
    print(JOBS[sys.argv[1]](*sys.argv[2:]))
