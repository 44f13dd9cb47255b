"""Odd files: each is read, or refused in one line that says what to do."""

import os
import zipfile
from functools import partial

import pytest

import standout as so
from standout.auditing.ladder import read_ladder

ROWS = "user,item,rating\n" + "".join(f"u{n % 7},i{n % 5},3\n" for n in range(35))
READERS = pytest.mark.parametrize("reader", [so.read, partial(so.read, kind="table")])
MANY_DIGITS = "9" * 5_000


def refused(reader, path, match, error=so.SourceError):
    with pytest.raises(error, match=match) as caught:
        reader(path)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600


def archive_of(path, *names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            info = zipfile.ZipInfo("name")
            info.filename = name
            archive.writestr(info, ROWS)
    return path


@READERS
def test_a_zip_without_named_files_is_refused(reader, tmp_path):
    refused(reader, archive_of(tmp_path / "a.zip", ""), "is a zip archive without files")
    refused(reader, archive_of(tmp_path / "b.zip"), "zip archive without files")


def test_a_file_without_a_name_does_not_count_in_a_zip(tmp_path):
    assert so.read(archive_of(tmp_path / "a.zip", "", "data.csv")).n_records == 7
    with pytest.raises(so.SourceError, match="contains 2 files: choose one"):
        so.read(archive_of(tmp_path / "b.zip", "", "a.csv", "b.csv"), member="")


@READERS
def test_a_pipe_is_refused_before_it_is_opened(reader, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refused(reader, pipe, "is a pipe or a device.*write it to a file first")
    refused(reader, "/dev/zero", "is a pipe or a device")


@READERS
def test_a_header_longer_than_what_is_looked_at_is_not_called_a_file_without_rows(reader, tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("user,item,rating," + "x" * 300_000 + "\nu1,i1,3,a\nu2,i1,2,b\n")
    refused(reader, path, r"the first two lines together are longer than 256 KB \(line 1 is too long\)")
    path.write_text("user,item\nu1," + "x" * 300_000 + "\nu2,b\n")
    refused(reader, path, r"the first two lines together are longer than 256 KB \(line 2 is too long\)")
    path.write_text("user,item,rating\n")
    refused(reader, path, "has a header and no rows|may be a header or a row")


def test_numbers_of_thousands_of_digits_are_no_times_and_no_crash(tmp_path):
    path = tmp_path / "times.csv"
    path.write_text(f"user,item,rating,time\nu1,i1,3,{MANY_DIGITS}\nu2,i1,4,{MANY_DIGITS}\n")
    with pytest.raises(so.SourceError, match="2 of 2 rows are unusable") as caught:
        so.read(path, kind="history")
    assert "999" not in str(caught.value)


@READERS
@pytest.mark.parametrize("shape", ["{},{}", "[{},{}]"], ids=["lines", "array"])
def test_a_json_number_of_thousands_of_digits_is_refused(reader, shape, tmp_path):
    objects = (f'{{"user": "u1", "item": "a", "rating": {MANY_DIGITS}}}', '{"user": "u2", "item": "b", "rating": 2}')
    path = tmp_path / "data.json"
    path.write_text(shape.format(*objects).replace("},{", "}\n{" if shape[0] == "{" else "},{"))
    refused(reader, path, "is not valid JSON")


@READERS
@pytest.mark.parametrize("name", ["data.csv", "data.json"])
def test_several_byte_order_marks_are_no_part_of_the_first_name(reader, name, tmp_path):
    lines = [f"u{n},i{n % 5},{n % 3}" for n in range(9)]
    rows = (
        "\n".join(["user,item,rating", *lines])
        if name == "data.csv"
        else '{"user": "u1", "item": "a"}\n{"user": "u2", "item": "b"}\n'
    )
    (tmp_path / "plain").mkdir()
    paths = tmp_path / "plain" / name, tmp_path / name
    for path, marks in zip(paths, ("", "\ufeff\ufeff"), strict=True):
        path.write_text(marks + rows, encoding="utf-8")
    plain, marked = (reader(path) for path in paths)
    assert plain.fingerprint == marked.fingerprint


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("time_error = 1" + "0" * 400, "time_error must be a number, a text such as .* got 10{39}$"),
        ("knows = 1" + "0" * 5_000, "more digits than a number can have"),
        ("knows = " + "[" * 100_000 + "]" * 100_000, "nested too deeply"),
    ],
    ids=["overflow", "digits", "nested"],
)
def test_a_ladder_with_impossible_numbers_or_nesting_is_refused(tmp_path, content, match):
    path = tmp_path / "ladder.toml"
    path.write_text(f'[[adversary]]\nname = "a"\n{content}\n')
    refused(read_ladder, path, match, so.ParameterError)


@READERS
def test_a_folder_with_a_pipe_is_refused_because_reading_it_may_never_end(reader, tmp_path):
    (tmp_path / "data.csv").write_text(ROWS)
    os.mkfifo(tmp_path / "pipe.csv")
    refused(reader, tmp_path, "is a pipe or a device")
