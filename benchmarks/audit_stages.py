"""Where the time of an audit goes: CPU seconds of all threads, by stage.

python -m benchmarks.audit_stages standin.index [--targets 1000] [--threads 2] [--findings findings.json]

The stages are functions of the library, wrapped before the audit begins. A stage does not include the stages
that it calls. The main thread waits while others work, so the CPU time of the process between two moments
of the main thread is that of the stage. The table is written again after each report of progress if a file is
given with --table: an interrupted run shows its part. On n free cores, an audit takes about the time of the
main thread and an n-th of the time of all others.
"""

import argparse
import importlib
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import standout as so
from standout.attack.engine_kernels import LIKELIHOOD

STAGES = {
    "standout.data.release:Release.check": "checksums and codes of the index",
    "standout.auditing.audit:check_attack_on_sample": "self-check",
    "standout.auditing.runs:choose_strongest": "choosing the stronger attack: other work",
    "standout.evaluate.targets:random_targets": "choosing targets",
    "standout.evaluate.targets:Population.known_facts": "drawing facts",
    "standout.attack.scoreboard:prepare_queries": "preparing queries",
    "standout.attack.likelihood:prepare_likelihood_queries": "preparing queries",
    "standout.attack.own_attack:score": "walks of",
    "standout.attack.any_attack:score": "walks of",
    "standout.evaluate.outcomes:record_scores": "outcomes: scores of targets",
    "standout.evaluate.outcomes:_similar_guesses": "outcomes: similar guesses",
    "standout.evaluate.outcomes:_revealed_by_guesses": "outcomes: revealed items",
    "standout.evaluate.outcomes:lineup_sizes": "outcomes: sizes of lineups",
    "standout.evaluate.outcomes:_in_top": "outcomes: in the top",
    "standout.evaluate.simulate:attack_outcomes": "outcomes: other",
    "standout.evaluate.targets:SimilarRecords.of": "records similar to targets",
    "standout.evaluate.targets:SimilarRecords.look_ahead": "records similar to targets",
    "standout.evaluate.simulate:_Run.cells": "cells",
    "standout.auditing.audit:check_runs": "checks of outcomes",
    "standout.auditing.audit:sparsity": "sparsity",
    "standout.auditing.audit:assemble_findings": "findings",
    "standout.auditing.assemble_findings:checked_findings": "checks of findings",
}
OTHER = "everything else"


class StageClock:
    """CPU seconds by stage. `calls` says how often each stage began."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self._stack = [OTHER]
        self._last = time.process_time()

    def switch(self) -> None:
        """Count the time until now for the present stage."""
        now = time.process_time()
        self.seconds[self._stack[-1]] += now - self._last
        self._last = now

    def wrap(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """The function, as a stage."""

        def stage(*arguments: Any, **options: Any) -> Any:
            self.switch()
            self._stack.append(f"{name} {_kind_of_walk(arguments[0], options)}" if name == "walks of" else name)
            self.calls[self._stack[-1]] += 1
            try:
                return function(*arguments, **options)
            finally:
                self.switch()
                self._stack.pop()

        return stage

    def table(self) -> str:
        """The stages, the longest first."""
        self.switch()
        total = sum(self.seconds.values())
        lines = [
            f"| {name} | {self.calls[name] or ''} | {seconds:.1f} | {seconds / total:.1%} |"
            for name, seconds in self.seconds.most_common()
        ]
        header = ["| stage | calls | CPU s | share |", "|---|---|---|---|"]
        return "\n".join([*header, *lines, f"| sum | | {total:.1f} | |"])


def _kind_of_walk(queries: Any, options: dict[str, Any]) -> str:
    attack = "Likelihood" if queries.mode == LIKELIHOOD else "the paper's attack"
    target = "absent" if (queries.exclude >= 0).any() else "present"
    return f"{attack}, {'with' if options.get('with_z', True) else 'without'} Z, target {target}"


def install(clock: StageClock) -> None:
    """Replace each stage by its wrapped form where it is used."""
    for place, name in STAGES.items():
        module, _, path = place.partition(":")
        owner: Any = importlib.import_module(module)
        *parents, last = path.split(".")
        for parent in parents:
            owner = getattr(owner, parent)
        function = vars(owner)[last]
        if isinstance(function, classmethod):
            setattr(owner, last, classmethod(clock.wrap(function.__func__, name)))
        else:
            setattr(owner, last, clock.wrap(function, name))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--targets", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--findings", type=Path)
    parser.add_argument("--table", type=Path)
    given = parser.parse_args()
    release = so.open(given.index)
    clock = StageClock()
    install(clock)
    started, main_started = time.perf_counter(), time.thread_time()

    def progress(stage: str, done: int, total: int) -> None:
        if given.table is not None:
            given.table.write_text(f"{done} of {total}\n{clock.table()}\n", encoding="utf-8")

    result = so.audit(release, targets=given.targets, threads=given.threads, progress=progress)
    seconds, main_seconds = time.perf_counter() - started, time.thread_time() - main_started
    table = (
        f"{given.targets} targets, {seconds:.0f} s of wall time, "
        f"{main_seconds:.0f} CPU s of the main thread\n{clock.table()}\n"
    )
    print(table)
    if given.table is not None:
        given.table.write_text(table, encoding="utf-8")
    if given.findings is not None:
        result.to_json(given.findings)


if __name__ == "__main__":
    main()
