"""Files that belong together appear together, at whichever moment a process is killed."""

import json
import os
import signal
import subprocess
import sys

import pytest

from standout.core.files import Part, publish, sweep, work_folder

pytestmark = pytest.mark.once
TIMEOUT = 60

# Killed before the call of this number that changes the file system; it exits with 0 if there are fewer.
RUN = """
import os, signal, sys
from pathlib import Path
from standout.core import files as work_folders
place, number = Path(sys.argv[1]), int(sys.argv[2])
calls = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link"}
def count(event, arguments):
    global number
    if event in calls or event == "open" and str(arguments[0]).startswith(str(place)) and arguments[2] & 3:
        number -= 1
        if number < 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
work_folders.sweep(place)
work_folders.sweep(place / "private")
with work_folders.work_folder(place) as folder, work_folders.work_folder(place / "private") as private:
    (private / "key").write_text("new")
    (folder / "sidecar").write_text("new")
    if sys.argv[3] == "folder":
        (folder / "output").mkdir()
        (folder / "output" / "manifest").write_text("new")
    else:
        (folder / "output").write_text("new")
    work_folders.publish([
        work_folders.Part(private / "key", place / "private" / "key"),
        work_folders.Part(folder / "sidecar", place / "sidecar"),
        work_folders.Part(folder / "output", place / "output"),
    ])
"""


def run(place, number, kind):
    command = [sys.executable, "-c", RUN, str(place), str(number), kind]
    process = subprocess.run(command, timeout=TIMEOUT, check=False, capture_output=True)
    assert process.returncode in (0, -signal.SIGKILL), process.stderr.decode()
    return process.returncode == 0


def content(place):
    """What a place holds: names and texts, without the names of private folders."""
    files = sorted(path for path in place.rglob("*") if path.is_file())
    return {str(path.relative_to(place)): path.read_text() for path in files}


def old_files(place, kind, exists):
    (place / "private").mkdir(parents=True)
    if not exists:
        return {}
    names = ["private/key", "sidecar", "output/manifest" if kind == "folder" else "output"]
    for name in names:
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("old")
    return dict.fromkeys(names, "old")


@pytest.mark.parametrize(("kind", "exists"), [("file", True), ("folder", True), ("file", False)])
def test_all_is_old_or_all_is_new_at_whichever_call_a_process_is_killed(tmp_path, kind, exists):
    outcomes = []
    for number in range(100):
        place = tmp_path / str(number)
        old = old_files(place, kind, exists)
        is_finished = run(place, number, kind)
        left = content(place)
        if "output" in left or "output/manifest" in left:  # it never has parts of another publication beside it
            parts = {text for name, text in left.items() if ".standout-" not in name}
            assert len(parts) == 1
        for folder in (place / "private", place) if number % 2 else (place, place / "private"):
            sweep(folder)
        new = dict.fromkeys(["private/key", "sidecar", "output/manifest" if kind == "folder" else "output"], "new")
        assert content(place) in (old, new)
        assert not [path for path in place.rglob("*") if ".standout-" in path.name]
        outcomes.append(content(place) == new)
        if is_finished:
            break
    assert is_finished
    assert outcomes[-1]
    assert outcomes == sorted(outcomes)  # old until a moment, then new
    assert len(outcomes) > 10


def test_a_failed_publication_leaves_what_was_there(tmp_path):
    (tmp_path / "key").write_text("old")
    (tmp_path / "output").write_text("old")
    with pytest.raises(OSError, match="nowhere"), work_folder(tmp_path) as folder:
        for name in ("key", "output"):
            (folder / name).write_text("new")
        publish([Part(folder / "key", tmp_path / "key"), Part(folder / "output", tmp_path / "nowhere" / "output")])
    assert content(tmp_path) == {"key": "old", "output": "old"}


def test_a_work_folder_in_use_stays_and_is_private(tmp_path):
    with work_folder(tmp_path) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        sweep(tmp_path)
        assert folder.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_others_could_have_made_is_not_believed(tmp_path):
    """Its journal could name any file of the user."""
    victim, planted = tmp_path / "victim", tmp_path / ".standout-0123456789abcdef.part"
    victim.write_text("precious")
    planted.mkdir()
    planted.chmod(0o777)
    status = os.lstat(victim)
    journal = {
        "moves": [["x", "victim", status.st_dev, status.st_ino]],
        "last": ["gone", 1, 1],
        "before": [],
        "after": [],
    }
    (planted / "journal.json").write_text(json.dumps(journal))
    sweep(tmp_path)
    assert victim.read_text() == "precious"
    planted.chmod(0o700)
    sweep(tmp_path)
    assert not victim.exists()  # the user's own journal is believed


@pytest.mark.parametrize(
    "journal",
    [
        "",
        "[",
        "7",
        "null",
        '{"last": [], "moves": []}',
        '{"last": ["a", 1], "before": [1e999], "moves": []}',
        '{"last": ["a", 1], "before": ["\\u0000"], "moves": [["\\ud800/x", ""]], "after": "x"}',
        "[" * 10_000,
    ],
)
def test_a_damaged_journal_is_ignored(tmp_path, journal):
    planted = tmp_path / ".standout-0123456789abcdef.part"
    planted.mkdir(mode=0o700)
    (planted / "journal.json").write_text(journal)
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def planted_folder(place, *moves):
    """A work folder as an archive of somebody else can contain it: it belongs to who unpacks it."""
    planted = place / ".standout-0123456789abcdef.part"
    planted.mkdir(mode=0o700, parents=True)
    (planted / "planted.old").write_text("planted")
    journal = {
        "moves": [[name, target, 1, 1] for name, target in moves],
        "last": ["gone", 1, 1],
        "before": [],
        "after": [],
    }
    (planted / "journal.json").write_text(json.dumps(journal))
    return planted


def test_a_journal_moves_nothing_beyond_its_folder(tmp_path, monkeypatch):
    download, home = tmp_path / "download", tmp_path / "home"
    home.mkdir()
    (home / "secret.old").write_text("precious")
    moves = [
        ("planted", str(home / ".profile")),
        ("planted", "../home/.profile"),
        (str(home / "secret"), "stolen"),
        ("../../home/secret", "stolen"),
        ("planted", ".."),
    ]
    download.mkdir()
    monkeypatch.chdir(download)
    for move in moves:
        planted = planted_folder(download, move)
        sweep(download)
        assert content(home) == {"secret.old": "precious"}
        assert not planted.exists() and content(download) == {}


def test_what_was_there_returns_after_its_folder_was_renamed(tmp_path):
    before, after = tmp_path / "before", tmp_path / "after"
    planted_folder(before, ("planted", "output"))
    before.rename(after)
    sweep(after)
    assert content(after) == {"output": "planted"}


def test_a_pipe_instead_of_a_journal_does_not_block(tmp_path):
    planted = tmp_path / ".standout-0123456789abcdef.part"
    planted.mkdir(mode=0o700)
    os.mkfifo(planted / "journal.json")
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []
