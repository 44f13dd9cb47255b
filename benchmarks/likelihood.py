"""The Bayesian attack compared with the paper's: the same queries, CPU time on one thread.

python -m benchmarks.likelihood [--entries 10000000] [--rounds 7] [--folder build/bench]

Three adversaries; attacks with and without probabilities, all numbers of facts at once, and 8 draws of noise.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import standout as so
from benchmarks.data_files import index_file
from benchmarks.harness import interleaved, options, restart_single_threaded
from benchmarks.ratio_table import HEADER, RatioRow

MODULE = "benchmarks.likelihood"
TARGETS, DRAWS, GOAL = 256, 8, "≤ 1.3"
ADVERSARIES = (
    so.Adversary(knows=8, wrong=2, value_error=1, time_error=14),
    so.Adversary(knows=8, wrong=2, value_error=1, time_error=None),
    so.Adversary(knows=2, value_error=0, time_error=14),
)


def rows(release: so.Release, rounds: int) -> Iterator[RatioRow]:
    """Likelihood ÷ ScoreboardRH."""
    for adversary in ADVERSARIES:
        people = np.random.default_rng(1).permutation(release.n_records)
        targets = people[adversary.eligible(release, people)][:TARGETS]
        known = adversary.observe_all(release, targets, 1)
        drawn = adversary.observe_all(release, targets[: TARGETS // DRAWS], 1, draws=DRAWS)
        paper, likelihood = so.ScoreboardRH(), so.Likelihood(adversary)
        sizes = range(1, adversary.knows + 1)

        def jobs(attack: so.ScoreboardRH | so.Likelihood) -> dict[str, Callable[[], object]]:
            return {
                "with Z": partial(attack.attacks, release, known, threads=1),  # noqa: B023
                "without Z": partial(attack.attacks, release, known, threads=1, with_z=False),  # noqa: B023
                "all sizes": partial(attack.nested, release, known, sizes, threads=1),  # noqa: B023
                "8 draws": partial(attack.nested, release, drawn, sizes, threads=1),  # noqa: B023
            }

        for name in jobs(paper):
            pair = {"paper": jobs(paper)[name], "likelihood": jobs(likelihood)[name]}
            interleaved(1, pair)  # compiled, and counts of the release kept
            least = interleaved(rounds, pair)
            ours, other = (least[side] / TARGETS for side in ("likelihood", "paper"))
            yield RatioRow(f"{adversary}: {name}", ours / other, GOAL, ours, other)


def main() -> None:
    """Print the table."""
    restart_single_threaded(MODULE)
    given = options(__doc__, rounds=7)
    release = so.open(index_file(given.folder, given.entries))
    print(f"{release}\n\n{HEADER}")
    for row in rows(release, given.rounds):
        print(row, flush=True)


if __name__ == "__main__":
    main()
