"""New files appear whole or not at all, and what a killed process leaves is removed by the next one."""

import os
import signal
import stat
import subprocess
import sys

import pytest

from standout.core.files import new_file, temporary_folder

KILLED = """
import os, signal, sys
from pathlib import Path
from standout.core.files import new_file
with new_file(Path(sys.argv[1]), private=True) as file:
    file.write(b"secret")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def names(folder):
    return [path.name for path in folder.iterdir()]


def test_a_file_appears_when_it_is_complete_and_replaces_an_older_one(tmp_path):
    path = tmp_path / "key.csv"
    path.write_bytes(b"old")
    with new_file(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["key.csv"]


def test_a_failure_leaves_the_older_file_and_nothing_else(tmp_path):
    path = tmp_path / "key.csv"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="stop"), new_file(path) as file:
        file.write(b"new")
        raise ValueError("stop")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["key.csv"]


def test_only_the_owner_reads_a_private_file_and_others_follow_the_umask(tmp_path):
    for private, mode in ((True, 0o600), (False, 0o644)):
        before = os.umask(0o022)
        with new_file(tmp_path / "file", private) as file:
            file.write(b"x")
        os.umask(before)
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode


def test_a_link_is_replaced_and_never_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / "key.csv").symlink_to(victim)
    with new_file(tmp_path / "key.csv") as file:
        file.write(b"new")
    assert victim.read_bytes() == b"precious"
    assert (tmp_path / "key.csv").read_bytes() == b"new"


@pytest.mark.once
def test_what_a_killed_process_left_is_removed_by_the_next_one(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "key.csv")]
    assert subprocess.run(command, timeout=60, check=False).returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert left.name != "key.csv" and stat.S_IMODE(left.stat().st_mode) == 0o600
    with new_file(tmp_path / "key.csv", private=True) as file:
        file.write(b"whole")
    assert names(tmp_path) == ["key.csv"]


def test_the_unfinished_file_of_a_running_process_stays(tmp_path):
    with new_file(tmp_path / "one") as file:
        file.write(b"1")
        with new_file(tmp_path / "two") as other:
            other.write(b"2")
    assert (tmp_path / "one").read_bytes() == b"1"


COPYING = """
import os, signal
from standout.core.files import temporary_folder
with temporary_folder() as folder:
    (folder / "copy.csv").write_text("private")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.once
def test_a_copy_that_a_killed_process_left_is_removed_by_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    killed = subprocess.run([sys.executable, "-c", COPYING], timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    left = list(tmp_path.iterdir())
    assert len(left) == 1
    assert stat.S_IMODE(left[0].stat().st_mode) == 0o700
    with temporary_folder() as folder:
        assert list(tmp_path.iterdir()) == [folder]
    assert list(tmp_path.iterdir()) == []
