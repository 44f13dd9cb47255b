"""Writing an index: it appears complete or not at all, whatever happens to the build."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager, suppress

import pytest
from index_checks import TIMEOUT, check_alone, check_holds, damaged_files, run_python, tree

import standout as so
from standout.core import files as work_folders
from standout.core.errors import BuildRunning
from standout.core.files import random_name
from standout.data.store import open_index_writer


def foreign_targets(folder):
    (folder / "file").write_text("notes")
    (folder / "folder").mkdir()
    (folder / "folder" / "notes.txt").write_text("notes")
    (folder / "extension").mkdir()
    (folder / "extension" / "manifest.json").write_text('{"manifest_version": 3}')
    (folder / "extension" / "worker.js").write_text("run()")
    (folder / "link").symlink_to(folder / "folder")
    (folder / "dangling").symlink_to(folder / "nowhere")


def test_a_target_that_is_not_an_index_is_refused_and_untouched(release, tmp_path):
    foreign_targets(tmp_path)
    before = tree(tmp_path)
    for name in ("file", "folder", "extension", "link", "dangling", "missing/index", "file/index"):
        with pytest.raises(so.StoreError) as caught:
            so.save(release, tmp_path / name)
        assert tree(tmp_path) == before
        assert "\n" not in str(caught.value)


def test_a_name_is_as_long_as_the_system_allows_or_refused_before_the_work(release, tmp_path):
    check_saved(release, tmp_path / ("x" * 255))
    with pytest.raises(so.StoreError), open_index_writer(tmp_path / ("x" * 256)):
        pytest.fail("the work has begun")
    check_alone(tmp_path / ("x" * 255))


def check_saved(release, path):
    so.save(release, path)
    check_holds(path, release)


def test_a_link_with_the_name_of_an_unfinished_folder_is_not_followed(release, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "letters.txt").write_text("dear")
    random_name(tmp_path / "index").symlink_to(home)
    so.save(release, tmp_path / "index")
    assert tree(home) == {"letters.txt": b"dear"}


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("name", [".index.old", ".index.new", ".index.building", ".standout-notes.part"])
def test_folders_of_the_user_next_to_the_target_are_left_alone(release, other, tmp_path, copy_index, old, name):
    """Also if they are indexes."""
    if old:
        so.save(release, tmp_path / "index")
    copy_index(other, tmp_path / name)
    before = tree(tmp_path / name)
    so.save(release, tmp_path / "index")
    assert tree(tmp_path / name) == before
    assert {path.name for path in tmp_path.iterdir()} == {"index", name}


def test_unfinished_folders_of_killed_builds_are_removed_and_those_of_others_are_not(release, tmp_path):
    left, foreign = random_name(tmp_path / "index"), random_name(tmp_path / "elsewhere")
    for folder in (left, foreign):
        folder.mkdir(mode=0o700)
        (folder / "record-ids.bin").write_bytes(b"7")
    with open_index_writer(tmp_path / "another"):
        assert not left.exists() and not foreign.exists()
        so.save(release, tmp_path / "index")
        assert len(list(tmp_path.iterdir())) == 2  # the index, and the folder of the other build
    check_holds(tmp_path / "index", release)


def test_an_empty_folder_becomes_an_index(release, tmp_path):
    (tmp_path / "index").mkdir()
    so.save(release, tmp_path / "index")
    check_holds(tmp_path / "index", release)


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_a_target_that_appears_during_a_build_is_left_alone(release, tmp_path, kind):
    path = tmp_path / "index"
    with pytest.raises(so.StoreError, match="exists and is not"), open_index_writer(path) as writer:
        if kind == "file":
            path.write_text("dear")
        elif kind == "folder":
            path.mkdir()
            (path / "letters.txt").write_text("dear")
        else:
            path.symlink_to(tmp_path)
        before = tree(path)
        writer.write(release)
    assert tree(path) == before
    check_alone(path)


def test_an_old_index_is_replaced_also_by_three_renames(index, other, monkeypatch):
    monkeypatch.setattr(work_folders, "_exchange_at_once", lambda first, second: False)
    so.save(other, index)
    check_holds(index, other)


def test_a_second_build_of_the_same_index_is_refused(index, release, other):
    with open_index_writer(index) as writer:
        with pytest.raises(BuildRunning, match=f"another process is building {index}: wait"):
            so.save(other, index)
        writer.write(release)
    check_holds(index, release)
    so.save(other, index)
    check_holds(index, other)


SECOND_BUILD = """
import sys
import standout as so

so.save(so.synthesize(records=50, items=20, entries=200, seed=2), sys.argv[1])
"""


def test_a_second_process_is_refused_while_a_build_is_running(index, release):
    with open_index_writer(index) as writer:
        finished = run_python(SECOND_BUILD, index)
        writer.write(release)
    assert "BuildRunning" in finished.stderr
    check_holds(index, release)


@pytest.mark.parametrize("begins", ["before", "after"])
@pytest.mark.parametrize(
    ("moment", "nth"),
    [("write", 1), ("fsync", 17), ("_exchange_at_once", 1), ("rmtree", 1), ("rename", 1), ("rename", 2), ("rename", 3)],
)
def test_a_second_build_at_any_moment_is_refused_or_whole(index, release, other, monkeypatch, moment, nth, begins):
    """A build of `other` begins before or after a step of a build of `release`, and ends after it."""
    monkeypatch.setattr(work_folders, "LONGEST_PAUSE", 0)
    owner = {"_exchange_at_once": work_folders, "rmtree": shutil}.get(moment, os)
    if moment == "rename":  # three of them, where folders cannot change places at once
        monkeypatch.setattr(work_folders, "_exchange_at_once", lambda first, second: False)
    real, second = getattr(owner, moment), ExitStack()
    calls, begun = [], []

    def begin():
        with suppress(BuildRunning):
            begun.append(second.enter_context(open_index_writer(index)))

    def step(*args, **kwargs):
        calls.append(args)
        if len(calls) == nth and begins == "before":
            begin()
        result = real(*args, **kwargs)
        if len(calls) == nth and begins == "after":
            begin()
        return result

    monkeypatch.setattr(owner, moment, step)
    so.save(release, index)
    assert len(calls) >= nth
    with second:
        for writer in begun:
            writer.write(other)
    assert so.open(index).fingerprint in {release.fingerprint, *[other.fingerprint for _ in begun]}
    assert damaged_files(index) == []
    check_alone(index)


class OwnError(Exception):
    """Somebody's own error inside a build."""


@pytest.mark.parametrize("error", [OwnError, KeyboardInterrupt, SystemExit, so.StoreError, MemoryError])
@pytest.mark.parametrize("old", [True, False])
def test_a_build_that_fails_leaves_the_old_index_or_nothing(tmp_path, release, error, old):
    path = tmp_path / "index"
    if old:
        so.save(release, path)
    before = tree(tmp_path)
    with pytest.raises(error), open_index_writer(path):
        raise error
    assert tree(tmp_path) == before


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize(
    ("name", "call", "code"),
    [
        ("posix_fallocate", 1, errno.ENOSPC),
        ("posix_fallocate", 5, errno.EDQUOT),
        ("write", 1, errno.EDQUOT),
        ("write", 9, errno.ENOSPC),
        ("write", 3, errno.EIO),
        ("fsync", 3, errno.EIO),
        ("fsync", 5, errno.ENOSPC),
    ],
)
def test_a_full_disk_is_a_clear_error_and_leaves_nothing(tmp_path, release, other, monkeypatch, old, code, name, call):
    path, calls, real = tmp_path / "index", [], getattr(os, name)
    if old:
        so.save(other, path)
    before = tree(tmp_path)

    def full(*args):
        calls.append(args)
        if len(calls) >= call:
            raise OSError(code, os.strerror(code))
        return real(*args)

    monkeypatch.setattr(os, name, full)
    with pytest.raises(
        so.StoreError, match="cannot be written" if code == errno.EIO else "not enough disk space"
    ) as caught:
        so.save(release, path)
    monkeypatch.undo()
    assert "\n" not in str(caught.value) and str(tmp_path) in str(caught.value)
    assert tree(tmp_path) == before


@contextmanager
def mounted(folder, size):
    """A file system of this size at the folder; skips where that is not allowed."""
    folder.mkdir()
    if sys.platform != "linux" or os.getuid() != 0:
        pytest.skip("mounting a small file system needs Linux and root")
    options = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    finished = subprocess.run(options, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    if finished.returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, timeout=TIMEOUT)


def test_a_disk_that_is_really_full_is_a_clear_error_and_leaves_the_old_index(tmp_path, release):
    folder = tmp_path / "disk"
    with mounted(folder, 256 * 1024):
        so.save(release, folder / "index")
        large = so.synthesize(records=2_000, items=2_000, entries=20_000, seed=3)
        with pytest.raises(so.StoreError, match="not enough disk space"):
            so.save(large, folder / "index")
        check_holds(folder / "index", release)


# One process builds `other` at many paths, so that Standout is imported once. For each path it forks, and the
# fork kills itself in its n-th call of a function.

KILLED_BUILDS = """
import os, signal, sys
import standout as so
from standout.core import files as work_folders

release = so.synthesize(records=50, items=20, entries=200, seed=2)

def killing(real, name, nth):
    calls = []

    def call(*args, **kwargs):
        calls.append(args)
        if len(calls) == nth and name != "_exchange_at_once":
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*args, **kwargs)
        if len(calls) == nth:  # the two folders have been exchanged
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return call

for argument in sys.argv[1:]:
    path, name, nth = argument.rsplit(":", 2)
    child = os.fork()
    if child == 0:
        owner = work_folders if name == "_exchange_at_once" else os
        setattr(owner, name, killing(getattr(owner, name), name, int(nth)))
        so.save(release, path)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
KILLS = [
    ("posix_fallocate", 9),
    ("write", 1),
    ("write", 8),
    ("write", 15),
    ("fsync", 1),
    ("fsync", 15),
    ("fsync", 16),
    ("fsync", 17),
    ("_exchange_at_once", 1),
    ("unlink", 1),
    ("unlink", 5),
    ("rmdir", 1),
]


def kill_builds(folder, kills):
    """Build at a path for each kill; return the paths. Every build must have been killed."""
    paths = [folder / f"{name}-{nth}" / "index" for name, nth in kills]
    arguments = [f"{path}:{name}:{nth}" for path, (name, nth) in zip(paths, kills, strict=True)]
    finished = run_python(KILLED_BUILDS, *arguments)
    assert finished.stderr == ""
    assert finished.stdout.split() == [f"{-signal.SIGKILL}"] * len(kills)
    return paths


def test_a_build_killed_at_any_moment_leaves_the_old_index_or_the_new_one(tmp_path, release, other, copy_index):
    for name, nth in KILLS:
        copy_index(release, tmp_path / f"{name}-{nth}" / "index")
    for path in kill_builds(tmp_path, KILLS):
        assert so.open(path).fingerprint in (release.fingerprint, other.fingerprint)
        assert damaged_files(path) == []
        so.save(release, path)
        check_holds(path, release)


def test_a_first_build_killed_at_any_moment_leaves_no_index(tmp_path, release):
    kills = [("write", 3), ("fsync", 15), ("rename", 1)]
    for name, nth in kills:
        (tmp_path / f"{name}-{nth}").mkdir()
    for path in kill_builds(tmp_path, kills):
        assert not path.exists()
        so.save(release, path)
        check_holds(path, release)


def test_the_next_build_recovers_an_exchange_that_was_killed_between_three_renames(
    tmp_path, release, other, monkeypatch
):
    """Killed between its three renames, a build leaves the old index beside the path, under a random name."""
    path = tmp_path / "index"
    so.save(release, path)
    path.rename(random_name(path, ".old"))
    with suppress(OwnError), open_index_writer(path):
        raise OwnError
    check_holds(path, release)
    path.rename(random_name(path, ".old"))
    monkeypatch.setattr(work_folders, "_exchange_at_once", lambda first, second: False)
    so.save(other, path)
    so.save(release, path)
    assert so.open(path).fingerprint == release.fingerprint
    assert damaged_files(path) == []
    check_alone(path)


TERMINATED = """
import os, sys

def wait(file):
    print("writing", flush=True)
    sys.stdin.readline()

os.fsync = wait
sys.argv[0] = "standout"
from standout.cli.main import main
main()
"""


@pytest.mark.parametrize(("number", "old"), [(signal.SIGTERM, True), (signal.SIGINT, False)])
def test_a_terminated_build_leaves_nothing_behind(tmp_path, release, number, old):
    source, path = tmp_path / "source.csv", tmp_path / "out" / "index"
    path.parent.mkdir()
    source.write_text("user,item\np,x\n")
    if old:
        so.save(release, path)
    before = tree(path.parent)
    command = [sys.executable, "-c", TERMINATED, "index", str(source), "-o", str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stdout.readline() == "writing\n"
            child.send_signal(number)
            _, errors = child.communicate(timeout=TIMEOUT)
        finally:
            child.kill()
    assert child.returncode not in (0, None) and "Traceback" not in errors
    assert tree(path.parent) == before
