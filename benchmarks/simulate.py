"""Simulations at scale: queries a core answers in a second, beside the kernel for single queries.

python -m benchmarks.simulate [--entries 10000000] [--rounds 3] [--folder build/bench]

10,000 targets × 2 … 10 facts × 4 draws of noise, with the targets in the release and taken out of it: every
number of facts of a target on one walk, and its draws beside each other. CPU time on one thread. The single
queries are a sample of the same ones, and their verdicts must be the same. Then a whole simulation.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import standout as so
from benchmarks.attack import HEADER, Row, _check_same
from benchmarks.files import index_file
from benchmarks.harness import alone, interleaved, settings
from benchmarks.queries import SIZES, one_by_one, targets

MODULE = "benchmarks.simulate"
TARGETS, SAMPLE, WHOLE = 10_000, 40, 1_000
ADVERSARY = so.Adversary(knows=SIZES[-1], value_error=1, time_error=14)
ATTACK = so.ScoreboardRH()
CASES = (("present", False, False), ("absent", False, True), ("present, with Z", True, False))


def rows(release: so.Release, rounds: int, draws: int, count: int, must: str) -> Iterator[Row]:
    """So many targets in so many draws of noise, present and absent; with Z a tenth of them."""
    people = targets(release, count)
    for what, with_z, absent in CASES:
        some = people[: count // 10] if with_z else people
        known, few = (ADVERSARY.observe_all(release, who, 1, draws) for who in (some, people[:SAMPLE]))
        gone, few_gone = (np.repeat(who, draws) if absent else None for who in (some, people[:SAMPLE]))
        single, single_gone = one_by_one(few), None if few_gone is None else np.repeat(few_gone, len(SIZES))
        together = partial(ATTACK.nested, release, sizes=SIZES, with_z=with_z, threads=1)
        apart = partial(ATTACK.attacks, release, single, exclude=single_gone, top=2, with_z=with_z, threads=1)
        _check_same(together(auxes=few, exclude=few_gone), apart(), what)
        other = interleaved(rounds, {"apart": apart})["apart"] / len(single)
        ours = _once(partial(together, auxes=known, exclude=gone)) / (len(known) * len(SIZES))
        name = f"single queries ÷ {len(some):,} × m = 2…10 × {draws} draw{'s' * (draws > 1)}, {what}"
        yield Row(name, other / ours, "" if with_z else must, ours, other)


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
