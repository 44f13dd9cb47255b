"""Duration of an advice and of its parts: the quick, full and fresh stages, and linking two releases.

    python -m benchmarks.advising ../shared/data/movielens-latest-small
    python -m benchmarks.advising build/bench/release-10000000.index --parts

With --parts, one candidate of each kind is measured, and the total is extrapolated; without it, all is run.
"""

import argparse
import resource
import time
from pathlib import Path

import standout as so
from standout.advising.advise import headline_adversary
from standout.advising.candidates import built_in_steps
from standout.advising.search import FRESH_CANDIDATES, FULL_CANDIDATES, ROUNDS, CandidateRunner

STEPS = ("round-time none", "drop-entries 0.5")


def main() -> None:
    """Time a search, or its parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--limit", type=float, default=0.05)
    parser.add_argument("--parts", action="store_true")
    options = parser.parse_args()
    data = Path(options.data)
    release = so.open(data) if (data / "manifest.json").is_file() else so.read(data)
    print(release)
    if options.parts:
        run_parts(release)
    else:
        run_all(release, options.limit)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


def run_parts(release: so.Release) -> None:
    """Measure one candidate of each kind, and extrapolate the total."""
    steps, other = tuple(so.step(text) for text in STEPS), (so.step("cluster-records 5"),)
    adversary = headline_adversary(release)
    runner = CandidateRunner(release, adversary, targets=1000, people=1000, seed=0)
    seconds = {"quick, first": timed(runner.measure, "quick", steps)}
    seconds["quick"] = timed(runner.measure, "quick", other)
    seconds["full, first"] = timed(runner.measure, "full", steps)
    seconds["full"] = timed(runner.measure, "full", other)
    seconds["fresh, first"] = timed(runner.measure, "fresh", steps)
    first, second = (so.sanitize(release, *steps, seed=seed, renumber=True) for seed in (3, 4))
    seconds["composition"] = timed(so.composition, first, second)
    for name, duration in seconds.items():
        print(f"{name:20} {duration:8.1f} s", flush=True)
    quick = len(built_in_steps(release, adversary, 0.05)) + 1 + sum(ROUNDS)
    total = seconds["quick, first"] + seconds["quick"] * (quick - 1)
    total += seconds["full, first"] + seconds["full"] * FULL_CANDIDATES
    total += seconds["fresh, first"] * FRESH_CANDIDATES + seconds["composition"]
    stages = f"{quick} quick, {FULL_CANDIDATES + 1} full, at most {FRESH_CANDIDATES} fresh"
    print(f"{stages}: about {total / 60:.1f} min")


def run_all(release: so.Release, limit: float) -> None:
    """Run a whole search, and print the time at which each stage began."""
    begin, current = time.perf_counter(), ""

    def show(stage: str, done: int, total: int) -> None:
        nonlocal current
        if stage != current:
            current = stage
            print(f"{time.perf_counter() - begin:8.1f} s  {stage} ({total})", flush=True)

    advice = so.advise(release, limit=limit, progress=show)
    print(f"{time.perf_counter() - begin:8.1f} s  {advice}")
    print(advice.summary)


def timed(function, *arguments) -> float:
    """Return the seconds that a call takes."""
    begin = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
