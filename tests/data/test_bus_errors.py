"""An index that is cut while it is mapped: on the command line, this is one line and exit code 3."""

import signal
import sys

import pytest
from index_checks import run_python

from standout.core import threads as bus_errors

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(sys.platform != "linux", reason="the system names the signal otherwise"),
]

CUT = """
import os, signal, sys
from pathlib import Path
from standout.data import store

path = sys.argv[1]

def cut(*arguments):
    for file in Path(path).rglob("*.bin"):
        os.truncate(file, 0)

store.damaged_column = cut  # it is called when all files are mapped, before anything is read
"""
COMMAND = (
    CUT
    + """
from standout.cli.main import main

sys.argv = ["standout", "describe", path]
main()
"""
)
LIBRARY = (
    CUT
    + """
import standout as so

so.open(path)
"""
)


def test_the_command_line_says_in_one_line_that_the_index_was_cut(index):
    finished = run_python(COMMAND, index)
    assert (finished.returncode, finished.stdout, finished.stderr) == (3, "", bus_errors.LINE.decode())


def test_a_library_leaves_the_signal_alone(index):
    assert run_python(LIBRARY, index).returncode == -signal.SIGBUS


@pytest.mark.parametrize("handler", ["signal.signal(signal.SIGBUS, print)", "faulthandler.enable()"])
def test_a_handler_of_somebody_else_is_kept(index, handler):
    before = "import ctypes, faulthandler; lookup = ctypes.CDLL(None).signal; lookup.restype = ctypes.c_void_p"
    code = f"""
{before}
import signal, sys
{handler}
import standout as so
from standout.core import threads as bus_errors

def current():
    handler = lookup(signal.SIGBUS, None)
    lookup(signal.SIGBUS, ctypes.c_void_p(handler))
    return handler

kept = current()
bus_errors.allow()
so.open(sys.argv[1])
print(kept is not None and current() == kept)
"""
    finished = run_python(code, index)
    assert (finished.stdout, finished.stderr) == ("True\n", "")
