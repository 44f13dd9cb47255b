"""The stand-in that is made shard by shard is the one that is made at once."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import standout as so
from standout.core.errors import ParameterError
from standout.data import sharded_index
from standout.paper import synthesize as synthetic
from standout.paper.synthesize import give_unused_items

BLOCK = 1 << 13
TIMEOUT = 120
SIZES = {"records": 3 * BLOCK + 40, "entries": 60_000}
pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def whole():
    return so.synthesize(like="netflix", seed=4, **SIZES)


@pytest.mark.parametrize("shards", [1, 2, 4])
@pytest.mark.parametrize("threads", [1, 2])
def test_any_number_of_shards_gives_the_same_release(whole, tmp_path, shards, threads):
    release = so.synthesize_index(tmp_path / "index", seed=4, shards=shards, threads=threads, **SIZES)
    assert release.check().fingerprint == whole.fingerprint
    assert release.provenance == whole.provenance and list(release.titles) == list(whole.titles)
    np.testing.assert_array_equal(release.by_record.time, whole.by_record.time)
    np.testing.assert_array_equal(release.support, whole.support)
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_items_that_nobody_has_are_given_to_the_same_people_whatever_the_shards(tmp_path):
    sizes = {"records": 2 * BLOCK, "items": 9_000, "entries": 2 * BLOCK + 3_000}
    release = so.synthesize_index(tmp_path / "index", seed=1, shards=2, **sizes)
    assert release.check().fingerprint == so.synthesize(like="netflix", seed=1, **sizes).fingerprint
    assert (release.support > 0).all()


def test_no_item_is_given_away_where_all_are_in_use(whole):
    columns = whole.by_record
    assert give_unused_items([columns], whole.n_items, seed=4) == []


@pytest.mark.parametrize("like", ["quick", "flat"])
def test_other_data_is_divided_after_it_is_made(tmp_path, like):
    release = so.synthesize_index(tmp_path / "index", like=like, shards=2, records=2 * BLOCK, seed=2)
    assert (tmp_path / "index" / "shard-0001").is_dir()
    assert release.fingerprint == so.synthesize(like=like, records=2 * BLOCK, seed=2).fingerprint


def test_a_small_release_is_not_divided_unless_that_is_asked_for(tmp_path):
    so.synthesize_index(tmp_path / "index", records=500)
    assert not (tmp_path / "index" / "shard-0000").exists()


def test_a_scale_multiplies_the_people():
    assert synthetic.scaled_records(10) == 4_801_890 and synthetic.scaled_records(0.01) == 4_802
    for scale in (0, -1, True, "10", float("nan"), 10**9):
        with pytest.raises(ParameterError, match="scale must be a number above 0"):
            synthetic.scaled_records(scale)


KILLED = """
import os, signal, sys
import standout as so
from standout.data import sharded_index as module

real, calls = module.write_shard, []

def killing(*args):
    calls.append(args)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*args)

module.write_shard = killing
from standout.paper import synthesize as synthetic
synthetic.IN_MEMORY, synthetic.PROGRAM, synthetic.PER_PERSON = 10**9, 0, 0
so.synthesize_index(sys.argv[1], seed=4, memory="300kB", records={records}, entries={entries})
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a process")
def test_a_killed_run_is_resumed_with_its_finished_shards_whatever_the_memory(whole, tmp_path, monkeypatch):
    command = [sys.executable, "-c", KILLED.format(**SIZES), str(tmp_path / "index")]
    killed = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    written, real = [], sharded_index.write_shard
    monkeypatch.setattr(sharded_index, "write_shard", lambda *args: written.append(args) or real(*args))
    monkeypatch.setattr(synthetic, "IN_MEMORY", 10**9)
    monkeypatch.setattr(synthetic, "PER_ENTRY", 3)  # as if more memory were available now
    release = so.synthesize_index(tmp_path / "index", seed=4, memory="300kB", **SIZES)
    assert len(written) == 1 and release.check().fingerprint == whole.fingerprint
