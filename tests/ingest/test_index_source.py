"""An index that is built in bounded memory is the index of the same data."""

import errno
import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import standout as so
from standout.core.threads import file_array
from standout.data import build as code_blocks
from standout.data import entries as repeats_module

BLOCK = 1 << 13
TIMEOUT = 600
"""Seconds after which a process hangs: a cold start compiles kernels, on a busy machine for minutes."""
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


@pytest.fixture
def little(monkeypatch):
    """A size of memory that holds few entries: arrays go to files, and words are made for some items at a time."""
    monkeypatch.setattr(code_blocks.MemoryPlan, "left", 100_000)
    monkeypatch.setattr(repeats_module, "PIECE", 1 << 12)
    made = []
    monkeypatch.setattr(code_blocks, "file_array", lambda *args: made.append(args) or file_array(*args))
    yield "64MB"
    assert made


def test_an_index_of_more_entries_than_memory_holds_is_that_of_the_release_built_in_memory(many, tmp_path, little):
    path, release = many
    so.index(path, tmp_path / "index", memory=little)
    check_same(tmp_path / "index", release)
    so.save(release, tmp_path / "whole")
    for file in (tmp_path / "whole").iterdir():
        assert (tmp_path / "index" / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize("repeats", ["auto", "keep", "last", "first", "max"])
@pytest.mark.parametrize("share", [0.004, 0.2])
def test_several_files_with_repeats_give_the_same_index(tmp_path, repeats, share, little):
    lines = rows(2 * BLOCK + 10, 30_000, 2, share)
    (tmp_path / "out").mkdir()
    paths = [write(tmp_path / name, lines[part::3]) for part, name in enumerate(["a.csv", "b.csv.gz", "c.csv"])]
    so.index(paths, tmp_path / "out" / "index", memory=little, repeats=repeats)
    check_same(tmp_path / "out" / "index", so.read(paths, repeats=repeats))


def test_repeats_that_are_an_error_are_one_in_files_too(tmp_path, little):
    path = write(tmp_path / "rows.csv", rows(BLOCK + 10, 20_000, 2, 0.2))
    with pytest.raises(so.SourceError, match="rows repeat the record and item of an earlier row"):
        so.index(path, tmp_path / "index", memory=little, repeats="error")
    assert names(tmp_path) == ["rows.csv"]


def test_levels_and_times_that_only_dropped_rows_have_are_dropped(tmp_path, little):
    lines = [f"p{n},7,{n % 5 + 1},2020-02-15" for n in range(2 * BLOCK)]
    lines = ["p0,7,99,2020-01-01", "p1,7,bad,2019-01-01", *lines]
    path = write(tmp_path / "rows.csv", lines)
    (tmp_path / "out").mkdir()
    so.index(path, tmp_path / "out" / "index", memory=little, max_rejects=1)
    release = so.read(path, max_rejects=1)
    assert release.levels.tolist() == [1, 2, 3, 4, 5] and release.clock.span == 1
    check_same(tmp_path / "out" / "index", release)


def test_titles_are_in_the_index(tmp_path, little):
    path = write(tmp_path / "rows.csv", [f"p{n},{n % 9},1,2020-02-15" for n in range(2 * BLOCK)])
    (tmp_path / "titles.csv").write_text("item,title\n3,Brazil\n")
    index = so.index(path, tmp_path / "index", memory=little, titles=tmp_path / "titles.csv")
    assert index.item("3").title == "Brazil"


def test_memory_that_does_not_suffice_for_the_ids_is_refused_in_one_line(many, tmp_path):
    path, _ = many
    with pytest.raises(so.ParameterError, match=r"^memory must be at least [\d.]+ MB: .* MB for the ids") as caught:
        so.index(path, tmp_path / "index", memory="20MB")
    assert "\n" not in str(caught.value) and names(tmp_path) == []


@pytest.mark.parametrize("memory", ["4 apples", "-1GB", "0", 0, True, "GB", "1e9"])
def test_a_memory_that_is_no_size_is_refused(many, tmp_path, memory):
    with pytest.raises(so.ParameterError, match="memory must be a size such as 500MB"):
        so.index(many[0], tmp_path / "index", memory=memory)


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize(
    ("name", "call"), [("write", 5), ("posix_fallocate", 3), ("posix_fallocate", 9), ("fsync", 12)]
)
def test_a_full_disk_is_a_clear_error_and_leaves_nothing(many, tmp_path, monkeypatch, little, old, name, call):
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
        so.index(many[0], target, memory=little)
    monkeypatch.undo()
    assert "\n" not in str(caught.value)
    assert [path.name for path in sorted(tmp_path.rglob("*"))] == before


KILLED = f"""
import os, signal, sys
import standout as so
import {code_blocks.__name__} as build

build.MemoryPlan.left = 100_000
build.{code_blocks.pack_by_item.__name__} = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
so.index(sys.argv[1], sys.argv[2], memory="64MB")
"""


def test_a_killed_build_leaves_the_old_index_and_nothing_after_the_next(many, tmp_path):
    path, release = many
    target, old = tmp_path / "index", so.synthesize(records=50, items=20, entries=200)
    so.save(old, target)
    command = [sys.executable, "-c", KILLED, str(path), str(target)]
    killed = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert so.open(target).check().fingerprint == old.fingerprint
    so.index(path, target)
    check_same(target, release)


MEASURED = """
import re, sys
from pathlib import Path
import standout as so
so.index(sys.argv[1], sys.argv[2], memory=sys.argv[3])
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
    subprocess.run([*measure, tiny, target, "1GB"], timeout=TIMEOUT, check=True)  # compiles the kernels
    command = [*measure, str(path), target, "420MB"]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert finished.returncode == 0, finished.stderr
    assert int(finished.stdout) <= 420_000_000
