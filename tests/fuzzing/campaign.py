"""Workers, counts and failures of a campaign."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import deque
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.fuzzing.targets import TARGETS

__all__ = ["Counts", "commit", "run_campaign", "shares"]

ROOT = Path(__file__).parents[2]
LONGEST_TASK = 25
"""Seconds of a task, about: the others can then share what is left."""


@dataclass
class Counts:
    """What happened to the inputs of one target."""

    target: str
    inputs: int = 0
    read: int = 0
    refused: int = 0
    peak_mb: int = 0
    seconds: float = 0.0
    failures: list = field(default_factory=list)

    def add(self, line):
        """Add the counts of some rounds."""
        self.inputs += line["inputs"]
        self.read += line["read"]
        self.refused += line["refused"]
        self.seconds += line["seconds"]
        self.peak_mb = max(self.peak_mb, line["peak"])
        self.failures += line["failures"]

    def __str__(self):
        rate = self.inputs / self.seconds if self.seconds else 0.0
        return (
            f"{self.target:24} {self.inputs:9,} inputs {self.read:9,} read {self.refused:9,} refused "
            f"{len(self.failures):5,} failures {self.peak_mb:6,} MB {rate:9,.0f} a second"
        )

    def to_json(self):
        """The counts with the number of failures by kind."""
        kinds = [failure["kind"] for failure in self.failures]
        numbers = {key: part for key, part in asdict(self).items() if key != "failures"}
        numbers["seconds"] = round(self.seconds, 1)
        return {**numbers, "failures": {kind: kinds.count(kind) for kind in sorted(set(kinds))}}


def shares(total, names):
    """Number of rounds of each target: its share of the total, and at least one."""
    weights = {name: TARGETS[name].share for name in names}
    return {name: max(1, round(total * weight / sum(weights.values()))) for name, weight in weights.items()}


def commit():
    """The commit, and + if files differ from it."""
    command = ["git", "-C", str(ROOT)]
    name = subprocess.run([*command, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=False)
    changed = subprocess.run([*command, "status", "--porcelain", "src"], capture_output=True, text=True, check=False)
    return name.stdout.strip() + ("+" if changed.stdout.strip() else "")


def run_campaign(rounds, seed, jobs, report):
    """Run the rounds of each target in several processes; `report` gets the counts of a target."""
    tasks = deque(_tasks(rounds, seed))
    counts = {name: Counts(name) for name in rounds}
    left = {name: sum(task["name"] == name for task in tasks) for name in rounds}
    lock = threading.Lock()
    with tempfile.TemporaryDirectory(prefix="fuzzing") as folder:

        def serve(number):
            with _Workers(Path(folder), number) as workers:
                while True:
                    with lock:
                        if not tasks:
                            return
                        task = tasks.popleft()
                    lines = workers.run(task)
                    with lock:
                        name = task["name"]
                        for line in lines:
                            counts[name].add(line)
                        left[name] -= 1
                        if not left[name]:
                            report(counts[name])

        threads = [threading.Thread(target=serve, args=(number,)) for number in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return list(counts.values())


def _tasks(rounds, seed):
    """Split the rounds of each target into tasks of some seconds."""
    for name, count in rounds.items():
        size = max(1, int(LONGEST_TASK * 1000 / TARGETS[name].milliseconds))
        for first in range(0, count, size):
            yield {"name": name, "seed": seed, "first": first, "count": min(size, count - first)}


class _Workers:
    """One process for each environment that targets need; a new one after a crash."""

    def __init__(self, folder, number):
        self.folder, self.number, self.processes = folder, number, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            process.stdin.close()
            process.wait()
            process.stdout.close()

    def run(self, task):
        """Run a task and return lines of counts; a crash is a failure of its round."""
        lines, ranges = [], [(task["first"], task["first"] + task["count"])]
        while ranges:
            first, end = ranges.pop(0)
            if first >= end:
                continue
            done = yield_from = first
            process = self._process(task["name"])
            request = {**task, "first": first, "count": end - first}
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            while done < end and (text := process.stdout.readline()):
                line = json.loads(text)
                lines.append(line)
                done = line["next"]
            if done < end or process.poll() is not None:
                at, code, errors = self._buried(task["name"])
                if code and done < end and not (lines and lines[-1]["failures"] and done > yield_from and at < done):
                    lines.append(_crash(at, code, errors))
                    ranges = [(done, at), (at + 1, end), *ranges]
                else:
                    ranges = [(done, end), *ranges]
        return lines

    def _process(self, name):
        environment = TARGETS[name].environment
        key = tuple(sorted(environment.items()))
        if key not in self.processes:
            status = f"status-{self.number}-{len(self.processes)}"
            command = [sys.executable, "-W", "error", "-m", "tests.fuzzing.worker", str(self.folder), status]
            with (self.folder / f"{status}.errors").open("wb") as errors:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                    cwd=ROOT,
                    env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", **environment},
                )
            process.status = self.folder / status
            self.processes[key] = process
        return self.processes[key]

    def _buried(self, name):
        """Round, exit code and last words of a process that died."""
        process = self._process(name)
        process.stdin.close()
        process.stdout.close()
        code = process.wait()
        self.processes = {key: other for key, other in self.processes.items() if other is not process}
        errors = Path(f"{process.status}.errors").read_text(errors="replace")
        at = process.status.read_text().strip() if process.status.exists() else ""
        if not at:
            raise RuntimeError(f"a worker did not start:\n{errors[-2000:]}")
        return int(at), code, errors


def _crash(at, code, errors):
    kind = "hang" if "Timeout" in errors else "abort"
    failure = {"round": at, "kind": kind, "text": f"the process ended with {code}\n{errors[-4000:]}"}
    return {"inputs": 1, "read": 0, "refused": 0, "failures": [failure], "next": at + 1, "peak": 0, "seconds": 0.0}
