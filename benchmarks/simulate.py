"""Simulations at scale: queries per core-second, compared with the kernel for single queries.

python -m benchmarks.simulate [--entries 10000000] [--rounds 3] [--folder build/bench]

10,000 targets × 2 … 10 facts × 4 draws of noise, with present and with absent targets. One walk computes
every number of facts of a target, for all its draws. It measures CPU time on one thread. The single queries
are a sample of the same queries, and their verdicts must be the same. A complete simulation follows.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import standout as so
from benchmarks.data_files import index_file
from benchmarks.harness import interleaved, options, restart_single_threaded
from benchmarks.queries import SIZES, draw_targets, one_by_one
from benchmarks.ratio_table import HEADER, RatioRow, check_same_verdicts

MODULE = "benchmarks.simulate"
TARGETS, SAMPLE, COMPLETE = 10_000, 40, 1_000
ADVERSARY = so.Adversary(knows=SIZES[-1], value_error=1, time_error=14)
ATTACK = so.ScoreboardRH()
CASES = (("present", False, False), ("absent", False, True), ("present, with Z", True, False))


def rows(release: so.Release, rounds: int, draws: int, count: int, goal: str) -> Iterator[RatioRow]:
    """Present and absent targets, `count` of them with `draws` draws of noise; with Z a tenth of them."""
    all_targets = draw_targets(release, count)
    sample = all_targets[:SAMPLE]
    for case, with_z, absent in CASES:
        targets = all_targets[: count // 10] if with_z else all_targets
        known, few = (ADVERSARY.observe_all(release, chosen, 1, draws) for chosen in (targets, sample))
        exclude, few_exclude = (np.repeat(chosen, draws) if absent else None for chosen in (targets, sample))
        single = one_by_one(few)
        single_exclude = None if few_exclude is None else np.repeat(few_exclude, len(SIZES))
        together = partial(ATTACK.nested, release, sizes=SIZES, with_z=with_z, threads=1)
        separately = partial(ATTACK.attacks, release, single, exclude=single_exclude, top=2, with_z=with_z, threads=1)
        check_same_verdicts(together(auxes=few, exclude=few_exclude), separately(), case)
        other = interleaved(rounds, {"separately": separately})["separately"] / len(single)
        ours = _cpu_seconds(partial(together, auxes=known, exclude=exclude)) / (len(known) * len(SIZES))
        name = f"single queries ÷ {len(targets):,} × m = 2…10 × {draws} draw{'s' * (draws > 1)}, {case}"
        yield RatioRow(name, other / ours, "" if with_z else goal, ours, other)


def _cpu_seconds(job: Callable[[], object]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def main() -> None:
    """Print the table."""
    restart_single_threaded(MODULE)
    given = options(__doc__, rounds=3)
    release = so.open(index_file(given.folder, given.entries))
    print(f"{release}\n\n{HEADER}")
    for draws, count, goal in ((1, TARGETS // 4, "≥ 3.5"), (4, TARGETS, ""), (8, TARGETS // 4, "≥ 12")):
        for row in rows(release, given.rounds, draws, count, goal):
            print(f"{row}   {1 / row.ours:,.0f} queries per core-second", flush=True)
    start, cpu_start = time.perf_counter(), time.process_time()
    so.simulate(release, ADVERSARY, facts=SIZES, targets=COMPLETE, seed=1)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu_start
    print(
        f"\nso.simulate, {COMPLETE:,} targets × m = 2…10, present and absent, all measures, all cores: "
        f"{wall:.1f} s ({cpu:.1f} core-seconds)"
    )


if __name__ == "__main__":
    main()
