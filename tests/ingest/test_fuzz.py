"""A bounded number of mutations of every reader, each in its own process: a crash or a hang is seen too."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import standout as so
from fuzz import NETFLIX, READERS, gzipped, tarred
from standout.ingest import sources

ROOT = Path(__file__).parents[2]
COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
ROUNDS = 40 if COMPILED else 20
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
    command += ["--from", "0", "--only", *GROUPS[group]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert "\n".join(outcome for outcome in outcomes if outcome not in ("read", "refused")) == ""
    assert done.returncode == 0, done.stderr
    assert len(outcomes) == ROUNDS * len(GROUPS[group])
    assert not COMPILED or {"read", "refused"} <= set(outcomes)


@pytest.mark.parametrize("end", [-1, -4, -8, -20])
@pytest.mark.parametrize("change", ["cut", "flip"])
def test_a_packed_tar_is_checked_to_its_end(monkeypatch, tmp_path, change, end):
    """The films are over before the packed bytes are, and their checksum stands last."""
    data = bytearray(gzipped(tarred(NETFLIX)))
    if change == "cut":
        del data[end:]
    else:
        data[end] ^= 1
    (tmp_path / "films.tar.gz").write_bytes(data)
    monkeypatch.setattr(sources, "HEAD", 1024)  # the first look at a large file does not reach its end
    with pytest.raises(so.SourceError, match=r"truncated|damaged"):
        so.read(tmp_path / "films.tar.gz")
