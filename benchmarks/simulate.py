"""Simulations at scale: queries a core answers in a second, beside the kernel for single queries.

python -m benchmarks.simulate [--entries 10000000] [--rounds 3] [--folder build/bench]

10,000 targets × 2 … 10 facts × 4 draws of noise, with the targets in the release and taken out of it: every
number of facts of a target on one walk, and its draws beside each other. CPU time on one thread. The single
queries are a sample of the same ones, and their verdicts must be the same. Then a whole simulation.
"""

import time
from collections.abc import Callable

import numpy as np

import standout as so
from benchmarks.attack import HEADER, Row, _check_same
from benchmarks.files import index_file
from benchmarks.harness import alone, interleaved, settings
from benchmarks.queries import SIZES, one_by_one, targets
from standout.facts import Known

MODULE = "benchmarks.simulate"
TARGETS, SAMPLE, WHOLE = 10_000, 40, 1_000
ADVERSARY = so.Adversary(knows=SIZES[-1], value_error=1, time_error=14)
ATTACK = so.ScoreboardRH()


def rows(release: so.Release, rounds: int, draws: int, count: int, must: str) -> list[Row]:
    """So many targets in so many draws of noise, present and absent, without Z and with it."""
    people = targets(release, count)
    known, few = (ADVERSARY.observe_all(release, some, 1, draws) for some in (people, people[:SAMPLE]))
    found = []
    for what, with_z, absent in (
        ("present", False, False),
        ("absent", False, True),
        ("present, with Z", True, False),
    ):
        gone = np.repeat(people, draws) if absent else None
        single = one_by_one(few)
        alone_gone = None if gone is None else np.repeat(gone[: len(few)], len(SIZES))

        def together(some: Known = known, gone: object = gone, with_z: bool = with_z) -> so.Verdicts:
            return ATTACK.nested(release, some, SIZES, exclude=gone, with_z=with_z, threads=1)  # type: ignore[arg-type]

        def apart(single: Known = single, gone: object = alone_gone, with_z: bool = with_z) -> so.Verdicts:
            return ATTACK.attacks(release, single, exclude=gone, top=2, with_z=with_z, threads=1)  # type: ignore[arg-type]

        _check_same(together(few, None if gone is None else gone[: len(few)]), apart(), what)
        other = interleaved(rounds, {"apart": apart})["apart"] / len(single)
        ours = _once(together) / (len(known) * len(SIZES))
        name = f"single queries ÷ {count:,} × m = 2…10 × {draws} draw{'s' * (draws > 1)}, {what}"
        found.append(Row(name, other / ours, "" if with_z else must, ours, other))
    return found


def _once(job: Callable[[], object]) -> float:
    begun = time.process_time()
    job()
    return time.process_time() - begun


def main() -> None:
    alone(MODULE)
    given = settings(__doc__, rounds=3)
    release = so.open(index_file(given.folder, given.entries))
    print(f"{release}\n\n{HEADER}")
    for draws, count, must in ((1, TARGETS // 4, "≥ 3.5"), (4, TARGETS, ""), (8, TARGETS // 4, "≥ 12")):
        for row in rows(release, given.rounds, draws, count, must):
            print(f"{row}   {1 / row.ours:,.0f} queries per core-second", flush=True)
    begun, cpu = time.perf_counter(), time.process_time()
    so.simulate(release, ADVERSARY, facts=SIZES, targets=WHOLE, seed=1)
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    print(f"\nso.simulate, {WHOLE:,} targets × m = 2…10, present and absent, all measures, all cores: "
          f"{wall:.1f} s ({cpu:.1f} core-seconds)")  # fmt: skip


if __name__ == "__main__":
    main()
