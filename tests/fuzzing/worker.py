"""A process that runs rounds, and watches their time, their memory and the files they leave.

It reads one task per line (target, seed, first round, number of rounds) and answers with one line of counts
for some of the rounds at a time. The number of the current round is in a file, so that a crash can be
assigned to it.
"""

import faulthandler
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path

__all__ = ["case_of", "check_round", "main"]

HANG = 10
"""Seconds of computing that a round may take."""
HANG_BY_THE_CLOCK = 60
"""Seconds that a round may take on a machine that does other things, too."""
DEAD = 120
"""Seconds after which a round that never ends is stopped; compiling a kernel may take part of them."""
LARGEST = 2048
"""Megabytes that the process may use."""
REPORT_EVERY = 1.0
UNFINISHED = (".standout", ".tmp")


def case_of(target, name, seed, at):
    """The case of a round, and nothing else, depends on target, seed and number."""
    return target.case(random.Random(f"{name}/{seed}/{at}"))


def check_round(target, case, folder, scratch):
    """Run a case in a folder; return "read" or the error's line, or raise what is wrong."""
    case.write(folder)
    before = _names(folder)
    start, computed = time.monotonic(), _computed()
    outcome = target.run(case, folder)
    took, computing = time.monotonic() - start, _computed() - computed
    if computing > HANG or took > HANG_BY_THE_CLOCK:
        raise TimeoutError(f"took {took:.0f} s, {computing:.0f} s of them computing")
    if left := [name for name in _names(folder) - before if name.startswith(UNFINISHED)]:
        raise AssertionError(f"left behind: {left}")
    if left := _names(scratch):
        raise AssertionError(f"left among the temporary files: {left}")
    return outcome


def _computed():
    """Seconds that all threads of this process and its children have computed."""
    return sum(os.times()[:4])


def _names(folder):
    return {path.name for path in os.scandir(folder)}


def safely_checked(target, case, root):
    """ "read", the line of the error, or the failure with its traceback."""
    folder, scratch = root / "round", root / "scratch"
    with suppress(FileExistsError):
        scratch.mkdir()
    for last in (False, True):
        folder.mkdir()
        try:
            return check_round(target, case, folder, scratch), None
        except TimeoutError:  # compiling takes long once
            if last:
                return "hang", traceback.format_exc()
        except BaseException as error:
            return type(error).__name__, traceback.format_exc()
        finally:
            os.chdir(root)
            shutil.rmtree(folder, ignore_errors=True)
            for left in scratch.iterdir():
                shutil.rmtree(left) if left.is_dir() else left.unlink()
    return None


def peak():
    """Megabytes that this process has used at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def run_task(name, seed, first, count, root, status):
    """Run the rounds of a task and write lines of counts."""
    from tests.fuzzing.targets import TARGETS

    target = TARGETS[name].target
    counts = {"inputs": 0, "read": 0, "refused": 0, "failures": []}
    written = started = time.monotonic()
    for at in range(first, first + count):
        os.pwrite(status, f"{at:20d}".encode(), 0)
        faulthandler.dump_traceback_later(DEAD, exit=True)
        outcome, failure = safely_checked(target, case_of(target, name, seed, at), root)
        faulthandler.cancel_dump_traceback_later()
        if failure is None and peak() > LARGEST:
            outcome, failure = "memory", f"the process has used {peak()} MB"
        counts["inputs"] += 1
        if failure is not None:
            counts["failures"].append({"round": at, "kind": outcome, "text": failure})
        else:
            counts["read" if outcome == "read" else "refused"] += 1
        now = time.monotonic()
        if now - written > REPORT_EVERY or at == first + count - 1 or outcome == "memory":
            _write({**counts, "next": at + 1, "peak": peak(), "seconds": now - started})
            counts = {"inputs": 0, "read": 0, "refused": 0, "failures": []}
            written = started = now
        if outcome == "memory":
            sys.exit(1)


def _write(line):
    os.write(OUT, json.dumps(line).encode() + b"\n")


OUT = 1


def main():
    """Run the tasks that the standard input lists."""
    global OUT
    OUT = os.dup(1)  # what a round prints must not mix with the counts
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    tasks = os.fdopen(os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a command that reads its input must not read the tasks
    faulthandler.enable()
    root = Path(tempfile.mkdtemp(prefix="fuzz", dir=sys.argv[1]))
    scratch = root / "scratch"
    scratch.mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)
    status = os.open(root.parent / sys.argv[2], os.O_WRONLY | os.O_CREAT)
    try:
        for line in tasks:
            run_task(**json.loads(line), root=root, status=status)
    finally:
        os.chdir("/")
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
