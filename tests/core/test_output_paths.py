"""An output path that cannot be written is refused before any work is done."""

import errno
import os

import pytest

import standout as so
from standout.core import files as new_files
from standout.core.files import check_output_file, check_output_files, make_folder, write_atomically


def test_a_path_that_can_be_written_is_left_as_it_is(tmp_path):
    (tmp_path / "old.csv").write_text("old")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    before = sorted(tmp_path.iterdir())
    for name in ("new.csv", "old.csv", "dangling", "x" * 255):
        check_output_file(tmp_path / name)
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "old.csv").read_text() == "old"


def test_a_path_that_cannot_be_written_is_refused_with_the_reason(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    reasons = {
        tmp_path / "folder": "it is a folder",
        tmp_path / "missing" / "a.csv": "its folder does not exist",
        tmp_path / "file" / "a.csv": "its folder is a file",
        tmp_path / "loop": "Too many levels of symbolic links",
        tmp_path / "loop" / "a.csv": "Too many levels of symbolic links",
        tmp_path / "pipe": "a device or a pipe",
        tmp_path / ("x" * 300): "File name too long",
        tmp_path / "nul\0": "zero byte",
        "/dev/null": "a device or a pipe",
        "/dev/stdout": "a device or a pipe",
        "": "it is a folder",
    }
    for path, reason in reasons.items():
        with pytest.raises(so.ParameterError, match=reason):
            check_output_file(tmp_path.__class__(path))
    with pytest.raises(so.ParameterError, match=r"^--key '.*' cannot be written: it is a folder"):
        check_output_file(tmp_path / "folder", "--key")


@pytest.mark.parametrize(("number", "reason"), [(errno.EROFS, "Read-only"), (errno.ENOSPC, "No space left")])
def test_a_folder_that_takes_no_file_is_refused(tmp_path, monkeypatch, number, reason):
    def refuse(*arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(new_files.os, "write", refuse)
    with pytest.raises(so.ParameterError, match=reason):
        check_output_file(tmp_path / "a.csv")
    with pytest.raises(so.StandoutError, match="cannot write to the folder"):
        make_folder(tmp_path / "results")
    assert list(tmp_path.iterdir()) == [tmp_path / "results"]


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may write everywhere")
def test_a_folder_without_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(so.ParameterError, match="you may not write"):
        check_output_file(tmp_path / "a.csv")
    tmp_path.chmod(0o700)


def test_every_file_of_a_folder_is_tried(tmp_path):
    check_output_files(tmp_path, "report.html", "tables/a.csv")
    (tmp_path / "tables").touch()
    with pytest.raises(so.ParameterError, match="is a file, but a folder"):
        check_output_files(tmp_path, "tables/a.csv")
    (tmp_path / "report.html").mkdir()
    with pytest.raises(so.ParameterError, match="it is a folder"):
        check_output_files(tmp_path, "report.html")


def test_errors_of_the_system_are_named_and_others_pass(tmp_path):
    """Polars wraps an error of the system in one of its own."""

    def fail(error):
        def write(file):
            raise error

        return write

    with pytest.raises(so.StandoutError, match="cannot be written: File too large"):
        write_atomically(tmp_path / "a", fail(RuntimeError("parquet: File too large (os error 27)")))
    with pytest.raises(so.StandoutError, match="cannot be written: No space left on device"):
        write_atomically(tmp_path / "a", fail(OSError(errno.ENOSPC, "full")))
    with pytest.raises(RuntimeError, match="a bug"):
        write_atomically(tmp_path / "a", fail(RuntimeError("a bug")))
    assert list(tmp_path.iterdir()) == []
