"""Attacks in parts of a release compared with the whole release at once: what the division costs.

python -m benchmarks.parts [--entries 10000000] [--rounds 5] [--folder build/bench]

Both sides run in this process on one thread, so the ratio of CPU time is the overhead of parts: merging, and
scoring a second time for Z. Their verdicts must be equal to the last bit. It also prints the bytes that would
be sent to a worker and back, for each part and query.
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

import standout as so
from benchmarks.data_files import index_file
from benchmarks.harness import interleaved, options, restart_single_threaded
from benchmarks.ratio_table import HEADER, RatioRow
from standout.core.threads import Part, even_parts, use_pool
from standout.data.entries import block_count

MODULE = "benchmarks.parts"
QUERIES, DRAWS = 64, 8
PARTS = (1, 2, 4, 16)
ADVERSARY = so.Adversary(knows=8, wrong=2, value_error=1, time_error=14)
R = TypeVar("R")
Job = Callable[[], so.Verdicts]


class LocalExecutor:
    """All parts in this process, one after another."""

    def __init__(self, release: so.Release, parts: Sequence[Part]) -> None:
        self.release, self.parts = release, tuple(parts)

    def map(self, function: Callable[..., R], *arguments: Any) -> list[R]:
        """The results of all parts."""
        return [function(self.release, part, *arguments) for part in self.parts]


class CountingExecutor(LocalExecutor):
    """Counts the bytes of arguments and results; pickling them takes time, so it is not timed."""

    sent = received = 0

    def map(self, function: Callable[..., R], *arguments: Any) -> list[R]:
        """The results of all parts."""
        self.sent += len(self.parts) * len(pickle.dumps(arguments))
        results = super().map(function, *arguments)
        self.received += sum(len(pickle.dumps(result)) for result in results)
        return results


def jobs(release: so.Release) -> dict[str, Job]:
    """The attacks to compare, each with QUERIES queries."""
    people = np.random.default_rng(1).permutation(release.n_records)
    targets = people[ADVERSARY.eligible(release, people)][:QUERIES]
    known = ADVERSARY.observe_all(release, targets, 1)
    drawn = ADVERSARY.observe_all(release, targets[: QUERIES // DRAWS], 1, draws=DRAWS)
    paper, likelihood, sizes = so.ScoreboardRH(), so.Likelihood(ADVERSARY), range(2, 9)
    return {
        "paper, without Z": partial(paper.attacks, release, known, with_z=False, threads=1),
        "paper, with Z": partial(paper.attacks, release, known, threads=1),
        "likelihood, with Z": partial(likelihood.attacks, release, known, threads=1),
        "likelihood, all sizes, without Z": partial(likelihood.nested, release, known, sizes, with_z=False, threads=1),
        "likelihood, all sizes, with Z": partial(likelihood.nested, release, known, sizes, threads=1),
        "likelihood, 8 draws, all sizes, with Z": partial(likelihood.nested, release, drawn, sizes, threads=1),
    }


def with_executor(release: so.Release, executor: LocalExecutor | None, job: Job) -> so.Verdicts:
    """The verdicts of a job on these parts."""
    pool: Any = SimpleNamespace(executor_of=lambda other: executor if other is release else None)
    with use_pool(None if executor is None else pool):
        return job()


def rows(release: so.Release, rounds: int) -> Iterator[RatioRow]:
    """Parts ÷ whole, and bytes."""
    for name, job in jobs(release).items():
        expected = job()
        for count in PARTS:
            executor = CountingExecutor(release, even_parts(block_count(release), count))
            verdicts = with_executor(release, executor, job)
            for column in fields(expected.columns):
                same = np.array_equal(getattr(verdicts.columns, column.name), getattr(expected.columns, column.name))
                assert same, column.name
            local = LocalExecutor(release, executor.parts)
            least = interleaved(rounds, {"parts": partial(with_executor, release, local, job), "whole": job})
            ours, other = least["parts"] / QUERIES, least["whole"] / QUERIES
            travels = f"{executor.sent / count / QUERIES:,.0f} + {executor.received / count / QUERIES:,.0f} bytes"
            yield RatioRow(f"{name}: {count} parts ({travels})", ours / other, "", ours, other)


def main() -> None:
    """Print the table."""
    restart_single_threaded(MODULE)
    given = options(__doc__, rounds=5)
    release = so.open(index_file(given.folder, given.entries))
    print(f"{release}\n\n{HEADER}")
    for row in rows(release, given.rounds):
        print(row, flush=True)


if __name__ == "__main__":
    main()
