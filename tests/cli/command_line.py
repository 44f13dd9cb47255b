"""What the tests of the command line share: `standout` in a process of its own, and the form of an error."""

import subprocess
import sys

from conftest import Outcome

SECRET = "JaneDoe"
TIMEOUT = 120


def started(*args, **more):
    """`standout` in a process of its own."""
    command = [sys.executable, "-c", "from standout.cli import main; main()", *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False, **more)
    return Outcome(done.returncode, done.stdout, done.stderr)


def check_error(told):
    assert told.code == 1 and told.out == ""
    assert told.err.startswith("standout: ") and told.err.endswith("\n") and told.err.count("\n") == 1
    assert "Traceback" not in told.err and SECRET not in told.err
    assert 20 < len(told.err) < 600
