"""A few kills of the commands that write private files; `make crash` does many."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TIMEOUT = 300


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a forked process")
def test_a_killed_command_loses_nothing_and_leaves_nothing():
    command = [sys.executable, "-m", "tools.crash", "--kills", "12", "--only", "index", "sanitize", "simulate"]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
