"""A checkpoint is used only as it was written, for the same work, and if nobody else can have written it."""

import json
import os
import warnings

import pytest

import standout as so
from standout.core import json_files as checkpoint_files
from standout.core.json_files import read_checkpoint, write_checkpoint

pytestmark = pytest.mark.once

ABOUT, RESULTS = "targets 5, seed 2", {"identified": [0.5, 0.25]}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.checkpoint"
    write_checkpoint(path, ABOUT, json.dumps(RESULTS).encode())
    return path


def is_ignored(path, about=ABOUT, parse=json.loads, reason=""):
    """Whether a checkpoint is ignored with one warning of one line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = read_checkpoint(path, about, parse)
    (warning,) = caught
    text = str(warning.message)
    assert f"is not used: {reason}" in text and "\n" not in text and "\x1b" not in text
    return result is None


def test_results_are_read_as_they_were_written_and_a_missing_file_is_no_reason_to_warn(path, tmp_path):
    assert read_checkpoint(path, ABOUT, json.loads) == RESULTS
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_checkpoint(tmp_path / "none", ABOUT, json.loads) is None


def test_every_changed_byte_and_every_shortened_file_is_ignored(path):
    whole = path.read_bytes()
    for at in range(len(whole)):
        for content in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :], whole[at:] * (at > 0)):
            path.write_bytes(content)
            assert is_ignored(path), at
    path.write_bytes(whole)
    assert read_checkpoint(path, ABOUT, json.loads) == RESULTS


def test_a_checkpoint_of_other_work_or_of_another_version_is_ignored(path, monkeypatch):
    assert is_ignored(path, about="targets 6, seed 2", reason="it is damaged or of another run")
    monkeypatch.setattr(checkpoint_files, "__version__", "999.0")
    assert is_ignored(path, reason="it is of another version")


def test_content_that_cannot_be_parsed_is_ignored(path):
    write_checkpoint(path, ABOUT, b"[1, 2")
    assert is_ignored(path, reason="it cannot be read")
    write_checkpoint(path, ABOUT, b"[" * 100_000)
    assert is_ignored(path, reason="it cannot be read")
    write_checkpoint(path, ABOUT, b"7")
    assert is_ignored(path, parse=lambda content: json.loads(content)["rows"], reason="it cannot be read")


def test_a_file_that_others_can_write_and_what_is_no_file_are_ignored(path, tmp_path):
    path.chmod(0o620)
    assert is_ignored(path, reason="somebody else owns it or can write it")
    (tmp_path / "folder\x1b[31m").mkdir()
    assert is_ignored(tmp_path / "folder\x1b[31m")
    os.mkfifo(tmp_path / "pipe")
    assert is_ignored(tmp_path / "pipe", reason="it is not a file")


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"7", b"null", b"PK\3\4", b'{"rows": 7}', b"\xff" * 99])
def test_a_reproduction_starts_over_where_a_checkpoint_is_not_one(content, tmp_path):
    release = so.synthesize(records=60, items=40, entries=900, seed=7)
    first = so.reproduce(release, tmp_path, only="6", targets=9)
    checkpoint, *_ = (tmp_path / "checkpoints").glob("*.checkpoint")
    checkpoint.write_bytes(content)
    with pytest.warns(RuntimeWarning, match="it is not a checkpoint. This part of the work starts over"):
        again = so.reproduce(release, tmp_path, only="6", targets=9)
    assert again.results == first.results
