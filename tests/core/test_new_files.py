"""New files appear whole or not at all, and what a killed process leaves is removed by the next one."""

import os
import signal
import stat
import subprocess
import sys

import pytest

from standout.core import files as new_files
from standout.core.files import new_file, temporary_folder

KILLED = """
import os, signal, sys
from pathlib import Path
from standout.core import files as new_files
if sys.argv[2] == "named":
    new_files.TEMPORARY = 0
if sys.argv[2] == "naming":
    link = new_files._link
    def killed(descriptor, path):
        if path.name == "key.csv":
            raise FileExistsError
        link(descriptor, path)
        os.kill(os.getpid(), signal.SIGKILL)
    new_files._link = killed
with new_files.new_file(Path(sys.argv[1]), private=True) as file:
    file.write(b"secret")
    file.flush()
    if sys.argv[2] != "naming":
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(params=["unnamed", "named"])
def way(request, monkeypatch):
    """Both ways of making a file: without a name until it is complete, and with a random one."""
    if request.param == "named":
        monkeypatch.setattr(new_files, "TEMPORARY", 0)
    return request.param


def names(folder):
    return [path.name for path in folder.iterdir()]


def test_a_file_appears_when_it_is_complete_and_replaces_an_older_one(tmp_path, way):
    path = tmp_path / "key.csv"
    path.write_bytes(b"old")
    with new_file(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["key.csv"]


def test_a_failure_leaves_the_older_file_and_nothing_else(tmp_path, way):
    path = tmp_path / "key.csv"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="stop"), new_file(path) as file:
        file.write(b"new")
        raise ValueError("stop")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["key.csv"]


def test_only_the_owner_reads_a_private_file_and_others_follow_the_umask(tmp_path, way):
    for private, mode in ((True, 0o600), (False, 0o644)):
        before = os.umask(0o022)
        with new_file(tmp_path / "file", private) as file:
            file.write(b"x")
        os.umask(before)
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode


def test_a_link_is_replaced_and_never_followed(tmp_path, way):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / "key.csv").symlink_to(victim)
    with new_file(tmp_path / "key.csv") as file:
        file.write(b"new")
    assert victim.read_bytes() == b"precious"
    assert (tmp_path / "key.csv").read_bytes() == b"new"


@pytest.mark.once
@pytest.mark.parametrize("moment", ["unnamed", "named", "naming"])
def test_what_a_killed_process_left_is_removed_by_the_next_one(tmp_path, moment):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "key.csv"), moment]
    assert subprocess.run(command, timeout=60, check=False).returncode == -signal.SIGKILL
    if moment == "unnamed" and new_files.TEMPORARY:
        assert names(tmp_path) == []
    assert not (tmp_path / "key.csv").exists()
    with new_file(tmp_path / "key.csv", private=True) as file:
        file.write(b"whole")
    assert names(tmp_path) == ["key.csv"]


def test_the_unfinished_file_of_a_running_process_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(new_files, "TEMPORARY", 0)
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
