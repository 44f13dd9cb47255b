"""MovieLens in all its shapes: recognised by itself, with its titles."""

import io
import zipfile

import pytest

import naive
import standout as so
from conftest import content

ROWS = [("1", "31", "2.5", "1260759144"), ("1", "1029", "3", "1260759179"), ("2", "31", "4", "835355493")]
KEPT = {(user, film): (float(stars), naive.unix_time(time)) for user, film, stars, time in ROWS}
NAMES = {"31": "Misérables, Les (1995)", "1029": 'Dumbo, "the" Elephant (1941)'}


def lines(rows, separator):
    return "".join(separator.join(row) + "\n" for row in rows)


HEADER = ("userId", "movieId", "rating", "timestamp")
CSV_TITLES = 'movieId,title,genres\n31,"Misérables, Les (1995)",X\n1029,"Dumbo, ""the"" Elephant (1941)",X\n'
SHAPES = {
    "u.data": {
        "u.data": lines(ROWS, "\t").encode(),
        "u.item": "".join(f"{i}|{name}|01-Jan-1995||0|1\n" for i, name in NAMES.items()).encode("latin-1"),
    },
    "ratings.dat": {
        "ratings.dat": lines(ROWS, "::").encode(),
        "movies.dat": "".join(f"{i}::{name}::Drama|War\n" for i, name in NAMES.items()).encode("latin-1"),
    },
    "ratings.dat in UTF-8": {
        "ratings.dat": lines(ROWS, "::").encode(),
        "movies.dat": "".join(f"{i}::{name}::Drama|War\n" for i, name in NAMES.items()).encode(),
    },
    "ratings.csv": {
        "ratings.csv": lines([HEADER, *ROWS], ",").encode(),
        "movies.csv": CSV_TITLES.encode(),
    },
    "ratings.csv with crlf": {
        "ratings.csv": lines([HEADER, *ROWS], ",").replace("\n", "\r\n").encode(),
        "movies.csv": CSV_TITLES.replace("\n", "\r\n").encode(),
    },
}  # fmt: skip


@pytest.fixture(params=SHAPES)
def shape(request, tmp_path):
    """(folder, file of ratings): other files lie beside it."""
    files = SHAPES[request.param]
    for name, data in {**files, "README": b"read me", "tags.csv": b"userId,movieId,tag,timestamp\n"}.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path, tmp_path / next(iter(files))


def zipped(folder):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.mkdir("ml-tiny")
        for path in folder.iterdir():
            archive.write(path, f"ml-tiny/{path.name}")
    return made.getvalue()


def test_every_shape_is_recognised_with_its_titles(put, shape):
    for wrapping in ["folder", "file", "text", "zip"]:
        folder, file = shape
        source = {"folder": folder, "file": file, "text": str(file), "zip": folder}[wrapping]
        release = so.read(put(zipped(folder), "ml-tiny.zip") if wrapping == "zip" else source)
        assert content(release) == KEPT
        assert dict(zip(release.items, release.titles, strict=True)) == NAMES
        assert release.provenance.format == "MovieLens"
        assert list(release.provenance.columns) == ["record", "item", "value", "time"]


def test_all_shapes_are_one_release(put):
    files = [put(data[name], name) for data in SHAPES.values() for name in list(data)[:1]]
    assert len({so.read(file).fingerprint for file in files}) == 1


def test_titles_are_no_part_of_the_fingerprint(shape):
    folder, file = shape
    with_titles = so.read(file)
    for path in folder.iterdir():
        if path != file:
            path.unlink()
    without = so.read(file)
    assert without.titles is None
    assert without.fingerprint == with_titles.fingerprint


def test_values_and_times_can_be_left_out_of_every_shape(shape):
    for left_out in ["value", "time"]:
        release = so.read(shape[0], **{left_out: False})
        assert content(release) == {
            pair: (None, time) if left_out == "value" else (value, None) for pair, (value, time) in KEPT.items()
        }


def test_titles_given_by_the_user_come_first(shape, put):
    release = so.read(shape[0], titles=put("item,name\n31,Thirty-one\n", "mine.csv"))
    assert dict(zip(release.items, release.titles, strict=True)) == {"31": "Thirty-one", "1029": ""}


def test_a_file_of_titles_may_be_any_csv(shape, put):
    for text in ["31,Thirty-one\n", "title,id\nThirty-one,31\n", "31,Thirty-one,1\n7\n"]:
        assert so.read(shape[0], titles=put(text, "mine.csv")).titles[0] == "Thirty-one"


def test_a_file_without_titles_says_so(shape, put):
    with pytest.raises(so.SourceError, match="has no titles"):
        so.read(shape[0], titles=put("31;Thirty-one\n", "mine.csv"))


@pytest.mark.parametrize("name", ["nowhere.csv", "."])
def test_titles_that_cannot_be_read_are_an_error_of_the_source(shape, tmp_path, name):
    with pytest.raises(so.SourceError):
        so.read(shape[0], titles=tmp_path / name)


@pytest.mark.parametrize("mark", ["\x85", "\x1c", "\u2028", "\x0b"])
def test_only_a_line_end_ends_a_title(tmp_path, mark):
    (tmp_path / "ratings.dat").write_text(lines(ROWS, "::"), encoding="utf-8")
    (tmp_path / "movies.dat").write_text(f"31::Wait{mark}What (1990)::Drama\n", encoding="utf-8")
    assert so.read(tmp_path).titles[0] == f"Wait{mark}What (1990)"


def test_a_file_with_a_movielens_name_and_other_content_is_read_by_its_content(put):
    release = so.read(put("user,film,stars\na,x,5\n", "ratings.csv"))
    assert content(release) == {("a", "x"): (5.0, None)}
    assert release.provenance.format == "delimited text"
