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


GROUPS = {
    "text": ["csv", "dates", "patterns", "joined", "colons", "recoded"],
    "packed": ["gzip", "zstd", "zip", "movielens zip", "netflix gzip"],
    "folders": ["movielens", "movielens 1m", "titles", "u.item"],
    "films": ["netflix", "tar", "tar gzip"],
    "parquet": ["parquet"],
    "rest": ["options", "index"],
}


def test_every_reader_is_fuzzed():
    assert sorted(reader for group in GROUPS.values() for reader in group) == sorted(READERS)


@pytest.mark.parametrize("group", GROUPS)
def test_a_mutated_source_is_read_or_refused_and_nothing_else(group):
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
    command += ["--only", *GROUPS[group]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == GROUPS[group]
