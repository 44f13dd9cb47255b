"""Kill commands with signal 9 at every file-system call, and check what is left: `make crash`.

    python -m tools.crash --kills 1000 [--only index sanitize …] [--record FILE]

A process that has loaded everything forks one child for each run, so that a run takes a fraction of a second.
An audit hook counts the child's calls that open, link, rename, lock or remove files, and kills it before the
n-th. If strace is installed, further kills happen at single writes, which have no audit event. After each
kill:

- every file is whole: it is the old one, the new one, or not there yet;
- files that are not finished can be read by their owner only;
- the same command runs again, without further options, and gives the same bytes as a run that was not killed;
- nothing else is in the folder.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tools.crash_runs import RUNS, Run, make_inputs
from tools.crash_strace import ENVIRONMENT, LONGEST, kill_with_strace, list_writes, strace_works

ROOT = Path(__file__).parents[1]
EVENTS = {
    "open", "os.rename", "os.link", "os.symlink", "os.remove", "os.mkdir", "os.rmdir", "os.chmod",
    "os.truncate", "os.listdir", "os.scandir", "os.utime", "fcntl.flock", "fcntl.fcntl", "fcntl.lockf",
    "shutil.rmtree", "shutil.move", "shutil.copyfile", "tempfile.mkstemp", "tempfile.mkdtemp",
    "mmap.__new__",
}  # fmt: skip
COMPLETE = "exists already"
SHARE_OF_WRITES = 0.25
"""Share of the kills that happen at single writes, if strace is installed."""


@dataclass
class Tally:
    """Kills of one command, and what was wrong after them."""

    command: str
    kills: int = 0
    reruns: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        lines = [
            f"{self.command:22} {self.kills:6,} kills {self.reruns:6,} reruns {len(self.wrong):4,} wrong "
            f"{self.seconds:7.1f} s"
        ]
        return "\n  ".join([*lines, *self.wrong[:5]])


def preload() -> None:
    """Import everything, but compute nothing: a forked child has no threads."""
    import importlib
    import pkgutil

    import standout
    import standout.cli.main

    for module in pkgutil.walk_packages(standout.__path__, "standout."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def run(words: list[str], folder: Path, kill_at: int = 0) -> tuple[int, int, str]:
    """Run a command in a forked child; kill it before its n-th call. Return its status, calls and errors."""
    log, count = folder.with_suffix(".log"), folder.with_suffix(".count")
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _be_the_command(words, folder, kill_at, log, count)
    deadline = time.monotonic() + LONGEST
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -1, 0, "it did not end"
        time.sleep(0.005)
    calls = int(count.read_text() or 0) if count.exists() and not kill_at else 0
    errors = log.read_text(errors="replace")
    for file in (log, count):
        file.unlink(missing_ok=True)
    code = os.waitstatus_to_exitcode(status)
    return code, calls, errors


def _be_the_command(words: list[str], folder: Path, kill_at: int, log: Path, count: Path) -> None:
    """What the child does; it never returns."""
    code = 99
    try:
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(folder)
        os.environ.update(ENVIRONMENT)
        sys.argv = ["standout", *words]
        from standout.cli.main import main

        calls = [0]

        def hook(event: str, arguments: tuple[object, ...]) -> None:
            if event in EVENTS and not (event == "open" and _is_code(arguments)):
                calls[0] += 1
                if calls[0] == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        sys.stdout.flush()
        seen = calls[0]
        count.write_text(f"{seen}")
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _is_code(arguments: tuple[object, ...]) -> bool:
    """Whether a file that is opened belongs to Python or to the cache of compiled code."""
    path = str(arguments[0])
    return path.endswith((".py", ".pyc", ".nbi", ".nbc", ".so")) or path.startswith(("/proc", "/sys", "/dev"))


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def readable_by_others(folder: Path, names: set[str]) -> list[str]:
    """Which of these files others can read."""
    return [
        name
        for name in sorted(names)
        if (folder / name).stat().st_mode & 0o077
        and not any(
            (folder / parent).stat().st_mode & 0o077 == 0 for parent in Path(name).parents if str(parent) != "."
        )
    ]


@dataclass
class Scene:
    """A command, the folder before it, and the folder after it."""

    run: Run
    before: Path
    after: dict[str, bytes]
    code: int
    calls: int

    def check(self, folder: Path) -> list[str]:
        """What is wrong in a folder after a kill, before and after the command runs again."""
        wrong, old = [], contents(self.before)
        found = contents(folder)
        for name in sorted({*old, *self.after} & {*found}):
            if found[name] not in (old.get(name), self.after.get(name)) and not self.run.is_state(name):
                wrong.append(f"{name} is neither the old file nor the new one")
        kept = {*found.values()}  # an old file may wait in a work folder until the next run puts it back
        if missing := [name for name in old if name in self.after and name not in found and old[name] not in kept]:
            wrong.append(f"lost: {missing}")
        unfinished = {name for name in found if name not in old and name not in self.after}
        if open_to_all := readable_by_others(folder, unfinished):
            wrong.append(f"others can read unfinished files: {open_to_all}")
        code, _, errors = run(self.run.words, folder)
        if code == 1 and COMPLETE in errors and contents(folder) == self.after:
            return wrong  # it had done everything when it was killed, and does not replace it
        if code != self.code:
            return [*wrong, f"the rerun exits with {code} instead of {self.code}: {errors[-300:]}"]
        final = contents(folder)
        if {*final} != {*self.after}:
            wrong.append(f"left behind: {sorted({*final} - {*self.after})}")
            wrong.append(f"missing: {sorted({*self.after} - {*final})}")
        if other := [name for name in sorted({*final} & {*self.after}) if final[name] != self.after[name]]:
            wrong.append(f"other bytes after the rerun: {other}")
        return wrong


def make_scene(case: Run, inputs: Path, work: Path) -> Scene:
    """Run a command twice without a kill: its result must not depend on the run."""
    before = work / "before"
    shutil.copytree(inputs, before)
    for words in case.earlier:
        code, _, errors = run(words, before)
        if code:
            raise SystemExit(f"{case.name}: standout {' '.join(words)} exits with {code}: {errors[-500:]}")
    results = []
    for name in ("first", "second"):
        folder = work / name
        shutil.copytree(before, folder)
        code, calls, errors = run(case.words, folder)
        if code not in (0, 4):
            raise SystemExit(f"{case.name}: exit code {code}: {errors[-800:]}")
        results.append(contents(folder))
        shutil.rmtree(folder)
    if results[0] != results[1]:
        other = [name for name in results[0] if results[0][name] != results[1].get(name)]
        raise SystemExit(f"{case.name}: two runs differ in {other or sorted({*results[0]} ^ {*results[1]})}")
    return Scene(case, before, results[0], code, calls)


def crash(case: Run, kills: int, inputs: Path, seed: int, with_strace: bool) -> Tally:
    """Kill a command at its calls, evenly spread, and check after each kill."""
    tally, start = Tally(case.name), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="crash") as place:
        work = Path(place)
        scene = make_scene(case, inputs, work)
        draw = random.Random(f"{case.name}/{seed}")
        writes = round(kills * SHARE_OF_WRITES) if with_strace else 0
        all_writes = _writes_of(scene, work) if writes else []
        at_calls = _spread(scene.calls, kills - writes, draw)
        for number, at in enumerate([*at_calls, *[0] * writes]):
            folder = work / f"kill-{number}"
            shutil.copytree(scene.before, folder)
            if at:
                code, _, _errors = run(case.words, folder, at)
                killed = code == -signal.SIGKILL
                name = f"call {at} of {scene.calls}"
            else:
                call, nth = draw.choice(all_writes)
                killed = kill_with_strace(case.words, folder, call, nth)
                name = f"{call} {nth}"
            tally.kills += killed
            tally.reruns += 1
            tally.wrong += [f"killed at {name}: {problem}" for problem in scene.check(folder)]
            shutil.rmtree(folder)
    tally.seconds = time.monotonic() - start
    return tally


def _writes_of(scene: Scene, work: Path) -> list[tuple[str, int]]:
    folder = work / "writes"
    shutil.copytree(scene.before, folder)
    try:
        return list_writes(scene.run.words, folder)
    finally:
        shutil.rmtree(folder)


def _spread(calls: int, kills: int, draw: random.Random) -> list[int]:
    """Numbers of calls: all of them if there are enough kills, and some several times."""
    every = list(range(1, calls + 1))
    if kills <= calls:
        return sorted(draw.sample(every, kills))
    return [*every, *(draw.choice(every) for _ in range(kills - calls))]


def main() -> None:
    """Kill all commands."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=200, help="Number of kills of all commands together.")
    parser.add_argument("--seed", type=int, default=1, help="Seed of the choice of calls.")
    parser.add_argument("--only", nargs="*", choices=[case.name for case in RUNS], default=[], metavar="RUN")
    parser.add_argument("--jobs", type=int, default=2, help="Number of processes.")
    parser.add_argument("--record", type=Path, help="Append the counts to this file, one JSON object per command.")
    arguments = parser.parse_args()
    chosen = [case for case in RUNS if not arguments.only or case.name in arguments.only]
    preload()
    with_strace = strace_works()
    shares = _shares(chosen, arguments.kills)
    wrong = kills = 0
    with tempfile.TemporaryDirectory(prefix="crash-inputs") as place:
        make_inputs(Path(place))
        for tally in _tallies(shares, arguments.jobs, Path(place), arguments.seed, with_strace):
            print(tally, flush=True)
            wrong, kills = wrong + len(tally.wrong), kills + tally.kills
            if arguments.record:
                _record(arguments.record, arguments.seed, tally)
    print(f"{kills:,} kills, {wrong:,} wrong" + ("" if with_strace else "; strace is missing, so no kills at writes"))
    sys.exit(wrong > 0)


def _shares(chosen: list[Run], kills: int) -> list[tuple[Run, int]]:
    """Kills of each run: more of those that take less time, and at least one."""
    total = sum(1 / case.seconds for case in chosen)
    return [(case, max(1, round(kills / case.seconds / total))) for case in chosen]


def _tallies(shares: list[tuple[Run, int]], jobs: int, inputs: Path, seed: int, with_strace: bool) -> Iterator[Tally]:
    """Results of all runs, from several processes that are forked from this one."""
    reading, writing = os.pipe()
    children = []
    for job in range(jobs):
        child = os.fork()
        if child == 0:
            os.close(reading)
            code = 1
            try:
                for case, kills in shares[job::jobs]:
                    tally = crash(case, kills, inputs, seed, with_strace)
                    os.write(writing, json.dumps(asdict(tally)).encode() + b"\n")
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        children.append(child)
    os.close(writing)
    with os.fdopen(reading) as lines:
        for line in lines:
            yield Tally(**json.loads(line))
    if any(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children):
        raise SystemExit("a run could not be tried")


def _record(path: Path, seed: int, tally: Tally) -> None:
    from tests.fuzzing.campaign import commit

    path.parent.mkdir(parents=True, exist_ok=True)
    line = {
        "commit": commit(),
        "seed": seed,
        "command": tally.command,
        "kills": tally.kills,
        "reruns": tally.reruns,
        "wrong": len(tally.wrong),
        "seconds": round(tally.seconds, 1),
    }
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
