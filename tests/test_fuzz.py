"""A bounded number of mutations of every reader, each in its own process: a crash or a hang is seen too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import READERS

ROOT = Path(__file__).parents[1]
COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
ROUNDS = 40 if COMPILED else 8
SEED = 2008
TIMEOUT = 120


@pytest.mark.parametrize("reader", READERS)
def test_a_mutated_source_is_read_or_refused_and_nothing_else(reader):
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "tests.fuzz",
        "--rounds",
        f"{ROUNDS}",
        "--seed",
        f"{SEED}",
    ]
    done = subprocess.run(
        [*command, "--only", reader], cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"{reader}: ") and ", 0 wrong" in done.stdout
