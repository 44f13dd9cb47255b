"""Mutate the sources of every reader, in another process: a crash or a hang fails the test too."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import standout as so
from fuzz import READERS
from fuzz_sources import NETFLIX, gzipped, tarred
from standout.ingest import sources

ROOT = Path(__file__).parents[2]
COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
ROUNDS, SLOW_ROUNDS = 8, 40
SEED = 2008
TIMEOUT = 120


GROUPS = {
    "text": ["csv", "dates", "patterns", "joined", "colons", "recoded"],
    "compressed": ["gzip", "zstd", "zip", "movielens zip", "netflix gzip"],
    "folders": ["movielens", "movielens 1m", "titles", "u.item"],
    "films": ["netflix", "tar", "tar gzip"],
    "parquet": ["parquet"],
    "objects": ["json lines", "json array", "sqlite", "duckdb"],
    "arrow": ["arrow", "arrow stream"],
    "rest": ["options", "index"],
}


def test_every_reader_is_fuzzed():
    assert sorted(reader for group in GROUPS.values() for reader in group) == sorted(READERS)


def fuzz(readers, rounds):
    """Fuzz some readers in another process; return the outcome of each round."""
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "tests.fuzz",
        "--rounds",
        f"{rounds}",
        "--seed",
        f"{SEED}",
    ]
    command += ["--from", "0", "--only", *readers]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    outcomes = [json.loads(line) for line in finished.stdout.splitlines()]
    assert "\n".join(outcome for outcome in outcomes if outcome not in ("read", "refused")) == ""
    assert finished.returncode == 0, finished.stderr
    assert len(outcomes) == rounds * len(readers)
    return set(outcomes)


def test_a_mutated_source_is_read_or_refused():
    assert fuzz(sorted(READERS), ROUNDS) == {"read", "refused"}


@pytest.mark.slow
def test_a_mutated_source_is_read_or_refused_in_many_rounds():
    for group in GROUPS:
        outcomes = fuzz(GROUPS[group], SLOW_ROUNDS if COMPILED else SLOW_ROUNDS // 2)
        assert not COMPILED or outcomes == {"read", "refused"}


@pytest.mark.parametrize("end", [-1, -4, -8, -20])
@pytest.mark.parametrize("change", ["cut", "flip"])
def test_a_compressed_tar_is_checked_to_its_end(monkeypatch, tmp_path, change, end):
    """The films end before the compressed bytes do, and the checksum is last."""
    data = bytearray(gzipped(tarred(NETFLIX)))
    if change == "cut":
        del data[end:]
    else:
        data[end] ^= 1
    (tmp_path / "films.tar.gz").write_bytes(data)
    monkeypatch.setattr(sources, "HEAD", 1024)  # so that the first bytes of the file do not include its end
    with pytest.raises(so.SourceError, match=r"truncated|damaged"):
        so.read(tmp_path / "films.tar.gz")
