"""How long an advice takes, and its parts: quick tries, full ones, afresh, and linking two releases.

    python -m benchmarks.advising ../shared/data/movielens-latest-small
    python -m benchmarks.advising build/bench/release-10000000.index --parts

With --parts one way of each kind is tried, and the whole is worked out from that; without it all is run.
"""

import argparse
import resource
import time
from pathlib import Path

import standout as so
from standout.advising.advise import _headline
from standout.advising.menu import menu
from standout.advising.runner import Lab
from standout.advising.search import AGAIN, ATTEMPTS, COMBINED, FINAL

WAY = ("round-time none", "drop-entries 0.5")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data")
    parser.add_argument("--limit", type=float, default=0.05)
    parser.add_argument("--parts", action="store_true")
    asked = parser.parse_args()
    data = Path(asked.data)
    release = so.open(data) if (data / "manifest.json").is_file() else so.read(data)
    print(release)
    if asked.parts:
        parts(release)
    else:
        whole(release, asked.limit)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


def parts(release: so.Release) -> None:
    """One way of each kind, and what the whole would take."""
    steps = [so.step(words) for words in WAY]
    lab = Lab(release, _headline(release), 1000, 1000, 0)
    took = {"quick, the first": timed(lab.quick, steps)}
    other = [so.step("cluster-records 5")]
    took["quick"] = timed(lab.quick, other)
    took["full, the first"] = timed(lab.full, steps)
    took["full"] = timed(lab.full, other)
    took["afresh, the first"] = timed(lab.fresh, steps)
    one, two = (so.sanitize(release, *steps, seed=seed, renumber=True) for seed in (3, 4))
    took["composition"] = timed(so.composition, one, two)
    for name, seconds in took.items():
        print(f"{name:20} {seconds:8.1f} s", flush=True)
    ways = len(menu(release, 0.05)) + 1 + COMBINED + AGAIN
    total = took["quick, the first"] + took["quick"] * (ways - 1)
    total += took["full, the first"] + took["full"] * FINAL
    total += took["afresh, the first"] * ATTEMPTS + took["composition"]
    print(f"{ways} ways quickly, {FINAL + 1} fully, {ATTEMPTS} afresh at most: about {total / 60:.1f} min")


def whole(release: so.Release, limit: float) -> None:
    """All of it, with the time at which each stage began."""
    begun, seen = time.perf_counter(), ""

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal seen
        if stage != seen:
            seen = stage
            print(f"{time.perf_counter() - begun:8.1f} s  {stage} ({total})", flush=True)

    found = so.advise(release, limit=limit, progress=tell)
    print(f"{time.perf_counter() - begun:8.1f} s  done: {found}")
    print(found.summary)


def timed(work, *given) -> float:
    begun = time.perf_counter()
    work(*given)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
