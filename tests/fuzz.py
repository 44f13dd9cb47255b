"""Feed mutated input to everything that reads input: the result is a result or one line, and nothing is left.

    python -m tests.fuzz --rounds 20000 --seed 1 [--only csv ladder …] [--jobs 2] [--record FILE]

A traceback, an abort, a round that computes for more than 10 seconds or takes a minute, more than 2 GB, a
message that shows a cell, and a file that is left behind are failures. Target, seed and number of the round
determine an input, so each failure can be repeated. Failing inputs are written to build/fuzz as small as they
can be made; move them to tests/corpus.
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

from tests.fuzzing.campaign import commit, run_campaign, shares
from tests.fuzzing.case import dump_case
from tests.fuzzing.minimise import minimised
from tests.fuzzing.targets import TARGETS
from tests.fuzzing.worker import case_of, safely_checked

__all__ = ["main"]

FAILURES = Path(__file__).parents[1] / "build" / "fuzz"
SHOWN = 3
IN_THIS_PROCESS = ("abort", "hang", "memory")


def main():
    """Run a campaign."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20_000, help="Number of inputs of all targets together.")
    parser.add_argument("--seed", type=int, default=1, help="Seed of the mutations.")
    parser.add_argument(
        "--only",
        nargs="*",
        choices=TARGETS,
        default=list(TARGETS),
        metavar="TARGET",
        help=f"Default: all of {', '.join(TARGETS)}.",
    )
    parser.add_argument("--jobs", type=int, default=2, help="Number of processes.")
    parser.add_argument("--record", type=Path, help="Append the counts to this file, one JSON object per target.")
    arguments = parser.parse_args()
    rounds = shares(arguments.rounds, arguments.only or list(TARGETS))

    def report(counts):
        _show(counts)
        if arguments.record:
            _record(arguments.record, arguments.seed, counts)

    all_counts = run_campaign(rounds, arguments.seed, arguments.jobs, report)
    failures = sum(len(counts.failures) for counts in all_counts)
    inputs = sum(counts.inputs for counts in all_counts)
    sys.stdout.write(f"{inputs:,} inputs, {failures:,} failures\n")
    for counts in all_counts:
        _keep_failures(counts, arguments.seed)
    sys.exit(failures > 0)


def _show(counts):
    sys.stdout.write(f"{counts}\n")
    for failure in counts.failures[:SHOWN]:
        sys.stdout.write(f"  round {failure['round']}, {failure['kind']}: {failure['text'].strip()[-1500:]}\n")
    sys.stdout.flush()


def _record(path, seed, counts):
    """Append the counts of a target as soon as it is done, so that an interrupted campaign counts, too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = {"commit": commit(), "seed": seed, **counts.to_json()}
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


def _keep_failures(counts, seed):
    """Write one input for each place that failed."""
    target, seen = TARGETS[counts.target].target, set()
    for failure in counts.failures:
        place = (failure["kind"], *re.findall(r'File "(.+?)", line (\d+)', failure["text"])[-1:])
        if place in seen or len(seen) >= SHOWN:
            continue
        seen.add(place)
        case = case_of(target, counts.target, seed, failure["round"])
        if failure["kind"] not in IN_THIS_PROCESS and not TARGETS[counts.target].environment:
            with tempfile.TemporaryDirectory() as folder:
                kind = failure["kind"]
                root = Path(folder)
                case = minimised(case, lambda smaller: safely_checked(target, smaller, root)[0] == kind)  # noqa: B023
        FAILURES.mkdir(parents=True, exist_ok=True)
        name = f"{counts.target}-{seed}-{failure['round']}".replace(" ", "-")
        (FAILURES / f"{name}.json").write_text(dump_case(counts.target, case, failure["text"].strip().splitlines()[-1]))


if __name__ == "__main__":
    main()
