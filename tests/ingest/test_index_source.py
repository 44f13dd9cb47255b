"""An index that is built in bounded memory, with or without shards, is the index of the same data."""

import errno
import gzip
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import standout as so
from standout.core.work_folders import RESUME
from standout.data import code_blocks, sharded_index

BLOCK = 1 << 13
TIMEOUT = 120
pytestmark = pytest.mark.once


def rows(records, count, seed, repeats=0.0):
    """Lines in random order; some repeat a person and item, and some have no value or no time."""
    draw = np.random.default_rng(seed)
    people = np.concatenate([np.arange(records), draw.integers(0, records, count - records)])
    items, stars, days = (draw.integers(0, 2_000, count), draw.integers(1, 6, count), draw.integers(10, 29, count))
    again = draw.random(count) < repeats
    items[again] = people[again] % 3
    value = ["" if n % 11 == 0 else stars[n] for n in range(count)]
    time = ["" if n % 7 == 0 else f"2020-02-{days[n]}" for n in range(count)]
    return [f"p{people[n]},{items[n]},{value[n]},{time[n]}" for n in draw.permutation(count)]


def write(path, lines):
    content = "\n".join(["person,item,stars,day", *lines]) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(content.encode(), 1))
    else:
        path.write_text(content)
    return path


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A source of 17 blocks of records, and its release."""
    path = write(tmp_path_factory.mktemp("many") / "rows.csv", rows(17 * BLOCK - 99, 200_000, 1))
    return path, so.read(path)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def check_same(path, release):
    """An index has the entries of a release, is intact, and stands alone in its folder."""
    index = so.open(path).check()
    assert index.fingerprint == release.fingerprint
    assert index.provenance == release.provenance
    assert list(index.items) == list(release.items) and index.clock == release.clock
    np.testing.assert_array_equal(index.by_record.item, release.by_record.item)
    np.testing.assert_array_equal(index.support, release.support)
    assert all(intact for _, intact in so.verify(path))
    assert names(path.parent) == [path.name]


@pytest.mark.parametrize("shards", [None, 1, 2, 16, 99])
def test_any_number_of_shards_gives_the_index_of_the_release_built_in_memory(many, tmp_path, shards):
    path, release = many
    so.index(path, tmp_path / "index", shards=shards)
    check_same(tmp_path / "index", release)
    assert len(list((tmp_path / "index").glob("shard-*"))) == min(shards or 0, 17)


@pytest.mark.parametrize("repeats", ["auto", "keep", "last", "first", "max"])
@pytest.mark.parametrize("share", [0.004, 0.2])
def test_several_files_with_repeats_give_the_same_index(tmp_path, repeats, share):
    lines = rows(2 * BLOCK + 10, 30_000, 2, share)
    (tmp_path / "out").mkdir()
    paths = [write(tmp_path / name, lines[part::3]) for part, name in enumerate(["a.csv", "b.csv.gz", "c.csv"])]
    so.index(paths, tmp_path / "out" / "index", shards=2, repeats=repeats)
    check_same(tmp_path / "out" / "index", so.read(paths, repeats=repeats))


def test_repeats_that_are_an_error_are_one_for_shards_too(tmp_path):
    path = write(tmp_path / "rows.csv", rows(BLOCK + 10, 20_000, 2, 0.2))
    with pytest.raises(so.SourceError, match="rows repeat the record and item of an earlier row"):
        so.index(path, tmp_path / "index", shards=2, repeats="error")
    assert names(tmp_path) == ["rows.csv"]


def test_levels_and_times_that_only_dropped_rows_have_are_dropped(tmp_path):
    lines = [f"p{n},7,{n % 5 + 1},2020-02-15" for n in range(2 * BLOCK)]
    lines = ["p0,7,99,2020-01-01", "p1,7,bad,2019-01-01", *lines]
    path = write(tmp_path / "rows.csv", lines)
    (tmp_path / "out").mkdir()
    so.index(path, tmp_path / "out" / "index", shards=2, max_rejects=1)
    release = so.read(path, max_rejects=1)
    assert release.levels.tolist() == [1, 2, 3, 4, 5] and release.clock.span == 1
    check_same(tmp_path / "out" / "index", release)


def test_titles_are_in_the_index(tmp_path):
    path = write(tmp_path / "rows.csv", [f"p{n},{n % 9},1,2020-02-15" for n in range(2 * BLOCK)])
    (tmp_path / "titles.csv").write_text("item,title\n3,Brazil\n")
    index = so.index(path, tmp_path / "index", shards=2, titles=tmp_path / "titles.csv")
    assert index.item("3").title == "Brazil"


def test_an_index_is_divided_and_joined_again(many, tmp_path):
    path, release = many
    so.index(path, tmp_path / "whole")
    so.index(tmp_path / "whole", tmp_path / "four", shards=4)
    so.index(tmp_path / "four", tmp_path / "joined")
    for name in ("four", "joined"):
        assert so.open(tmp_path / name).check().fingerprint == release.fingerprint


def test_shards_are_chosen_when_memory_does_not_suffice(many, tmp_path, monkeypatch):
    path, release = many
    monkeypatch.setattr(code_blocks, "PROGRAM", 0)
    so.index(path, tmp_path / "index", memory="30MB")
    check_same(tmp_path / "index", release)
    assert (tmp_path / "index" / "shard-0000").is_dir()


def test_memory_that_does_not_suffice_for_the_ids_is_refused_in_one_line(many, tmp_path):
    path, _ = many
    with pytest.raises(so.ParameterError, match=r"^memory must be at least [\d.]+ MB: .* MB for the ids") as caught:
        so.index(path, tmp_path / "index", memory="20MB")
    assert "\n" not in str(caught.value) and names(tmp_path) == []


@pytest.mark.parametrize("memory", ["4 apples", "-1GB", "0", 0, True, "GB", "1e9"])
def test_a_memory_that_is_no_size_is_refused(many, tmp_path, memory):
    with pytest.raises(so.ParameterError, match="memory must be a size such as 500MB"):
        so.index(many[0], tmp_path / "index", memory=memory)


@pytest.mark.parametrize("shards", [0, -1, True, 2.0, 10**9])
def test_a_number_of_shards_that_cannot_work_is_refused(many, tmp_path, shards):
    with pytest.raises(so.ParameterError, match="shards must be a whole number from 1"):
        so.index(many[0], tmp_path / "index", shards=shards)


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize(("name", "call"), [("write", 5), ("write", 60), ("posix_fallocate", 3), ("fsync", 20)])
def test_a_full_disk_is_a_clear_error_and_leaves_nothing(many, tmp_path, monkeypatch, old, name, call):
    target, calls, real = tmp_path / "index", [], getattr(os, name)
    if old:
        so.save(so.synthesize(records=50, items=20, entries=200), target)
    before = [path.name for path in sorted(tmp_path.rglob("*"))]

    def full(*args):
        calls.append(args)
        if len(calls) >= call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args)

    monkeypatch.setattr(os, name, full)
    with pytest.raises(so.StandoutError, match=r"not enough disk space|No space left") as caught:
        so.index(many[0], target, shards=4)
    monkeypatch.undo()
    assert "\n" not in str(caught.value)
    assert [path.name for path in sorted(tmp_path.rglob("*"))] == before


KILLED = """
import os, signal, sys
import standout as so
from standout.data import {module} as module

real, calls = module.{name}, []

def killing(*args, **kwargs):
    calls.append(args)
    if len(calls) == {nth}:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*args, **kwargs)

module.{name} = killing
so.index(sys.argv[1], sys.argv[2], shards=4)
"""
KILLS = [
    ("shards", "append_block", 3, 0),
    ("shards", "write_checkpoint", 2, 0),
    ("sharded_index", "write_shard", 1, 0),
    ("sharded_index", "write_shard", 3, 2),
    ("sharded_index", "write_manifest", 4, 3),
    ("sharded_index", "join_shards", 1, 4),
]


@pytest.mark.parametrize(("module", "name", "nth", "finished"), KILLS)
def test_a_killed_build_leaves_the_old_index_and_is_resumed_with_finished_shards(
    many, tmp_path, monkeypatch, module, name, nth, finished
):
    path, release = many
    target, old = tmp_path / "index", so.synthesize(records=50, items=20, entries=200)
    so.save(old, target)
    script = KILLED.format(module=module, name=name, nth=nth)
    command = [sys.executable, "-c", script, str(path), str(target)]
    killed = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert so.open(target).check().fingerprint == old.fingerprint
    work = next(tmp_path.glob(".standout-*"))
    assert len(list((work / "index").glob("shard-*/manifest.json"))) == finished
    so.save(old, tmp_path / "other")  # other commands leave the work alone
    assert work.exists() == (name != "append_block")
    written, real = [], sharded_index.write_shard
    monkeypatch.setattr(sharded_index, "write_shard", lambda *args: written.append(args) or real(*args))
    so.index(path, target, shards=4)
    shutil.rmtree(tmp_path / "other")
    check_same(target, release)
    assert len(written) == 4 - finished


def test_a_build_that_is_killed_after_the_index_has_appeared_is_not_resumed(many, tmp_path):
    path, release = many
    script = KILLED.format(module="sharded_index", name="remove_folder", nth=1)
    command = [sys.executable, "-c", script, str(path), str(tmp_path / "index")]
    killed = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert so.open(tmp_path / "index").check().fingerprint == release.fingerprint
    assert not list(tmp_path.glob(f".standout-*/{RESUME}"))
    so.index(path, tmp_path / "index", shards=4)
    check_same(tmp_path / "index", release)


def test_another_command_or_source_does_not_resume_a_killed_build(many, tmp_path):
    path, _ = many
    script = KILLED.format(module="sharded_index", name="write_shard", nth=3)
    source = tmp_path / "rows.csv"
    for change in ("options", "source", "save"):
        source.write_bytes(path.read_bytes())
        command = [sys.executable, "-c", script, str(source), str(tmp_path / change)]
        subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=False)
        assert [work for work in tmp_path.glob(".standout-*") if (work / RESUME).exists()]
        if change == "source":
            source.write_text("person,item,stars,day\np1,7,1,2020-02-15\n")
        if change == "save":
            so.save(so.synthesize(records=50, items=20, entries=200), tmp_path / change)
        else:
            so.index(source, tmp_path / change, shards=4, time=False if change == "options" else None)
            expected = so.read(source, time=False if change == "options" else None)
            assert so.open(tmp_path / change).check().fingerprint == expected.fingerprint
        assert not list(tmp_path.glob(".standout-*"))


def test_a_killed_build_with_damaged_ids_starts_over(many, tmp_path):
    path, release = many
    command = [
        sys.executable,
        "-c",
        KILLED.format(module="sharded_index", name="write_shard", nth=3),
        str(path),
        str(tmp_path / "index"),
    ]
    subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=False)
    ids = next(tmp_path.glob(".standout-*/plan/records-data.bin"))
    ids.write_bytes(ids.read_bytes()[:-1] + b"?")
    so.index(path, tmp_path / "index", shards=4)
    check_same(tmp_path / "index", release)


def test_an_interrupted_build_is_resumed(many, tmp_path, monkeypatch):
    path, release = many
    with monkeypatch.context() as patch:
        patch.setattr(sharded_index, "join_shards", interrupt)
        with pytest.raises(KeyboardInterrupt):
            so.index(path, tmp_path / "index", shards=3)
    assert len(names(tmp_path)) == 1
    monkeypatch.setattr(sharded_index, "write_shard", interrupt)
    so.index(path, tmp_path / "index", shards=3)
    check_same(tmp_path / "index", release)


def interrupt(*args):
    raise KeyboardInterrupt


MEASURED = """
import re, sys
from pathlib import Path
import standout as so
so.index(sys.argv[1], sys.argv[2], memory=sys.argv[3], shards=int(sys.argv[4]) or None)
print(int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024)
"""
PEAK = "ru_maxrss of a process can be that of the one that started it, so the peak comes from /proc"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason=PEAK)
def test_the_memory_of_a_build_stays_below_the_limit(tmp_path):
    draw = np.random.default_rng(5)
    path = tmp_path / "rows.csv"
    with path.open("w") as file:
        file.write("person,item,stars\n")
        for _ in range(15):
            parts = draw.integers(0, 60_000, 200_000), draw.integers(0, 9_000, 200_000)
            np.savetxt(file, np.transpose([*parts, draw.integers(1, 6, 200_000)]), "%d", ",")
    tiny = write(tmp_path / "tiny.csv", ["1,1,1,2020-02-15"])
    target, measure = str(tmp_path / "index"), [sys.executable, "-c", MEASURED]
    subprocess.run([*measure, tiny, target, "1GB", "1"], timeout=TIMEOUT, check=True)  # compiles the kernels
    command = [*measure, str(path), target, "420MB", "0"]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert finished.returncode == 0, finished.stderr
    assert (tmp_path / "index" / "shard-0000").is_dir()
    assert int(finished.stdout) <= 420_000_000
