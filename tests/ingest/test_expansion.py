"""Compressed files: what they become is limited, and titles are read line by line."""

import gzip
import io
import tracemalloc
import zipfile
from functools import partial

import pytest
from tests.fuzzing.seeds import archived

import standout as so
from standout.ingest import formats as item_titles
from standout.ingest import sources as expansion
from standout.ingest.sources import CappedReader, zstd

ROWS = b"user,item,rating\n" + b"".join(b"u%d,i%d,3\n" % (n % 9, n % 5) for n in range(40))
PADDED = ROWS + b"u1,i1,3\n" * 60_000


def packed(kind, content, path):
    if kind == "gzip":
        path.write_bytes(gzip.compress(content))
    elif kind == "zstd":
        path.write_bytes(zstd.compress(content))
    else:
        method = {"zip": zipfile.ZIP_DEFLATED, "bzip2": zipfile.ZIP_BZIP2, "lzma": zipfile.ZIP_LZMA}[kind]
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("data.csv", content)
    return path


@pytest.mark.parametrize("kind", ["gzip", "zstd", "zip", "bzip2", "lzma"])
@pytest.mark.parametrize("reader", [so.read, partial(so.read, kind="table")])
def test_a_file_that_grows_too_much_is_refused_in_one_line(monkeypatch, tmp_path, kind, reader):
    path = packed(kind, PADDED, tmp_path / "data.csv")
    monkeypatch.setattr(expansion, "FREE_BYTES", 1 << 16)
    with pytest.raises(so.SourceError, match=r"more than 100 times.*for example STANDOUT_MAX_EXPANSION=1000") as caught:
        reader(path)
    assert "\n" not in str(caught.value) and "u1" not in str(caught.value)


@pytest.mark.parametrize("kind", ["gzip", "zstd", "zip"])
def test_a_higher_ratio_small_files_and_honest_files_are_read(monkeypatch, tmp_path, kind):
    path = packed(kind, PADDED, tmp_path / "data.csv")
    assert so.read(path, repeats="last").n_records == 9  # up to FREE_BYTES, the ratio does not matter
    monkeypatch.setattr(expansion, "FREE_BYTES", 1 << 10)
    assert so.read(packed(kind, ROWS, tmp_path / "honest.csv")).n_records == 9
    monkeypatch.setenv("STANDOUT_MAX_EXPANSION", "1e6")
    assert so.read(path, repeats="last").n_records == 9


@pytest.mark.parametrize("text", ["none", "0", "-1", "nan"])
def test_the_variable_must_be_a_ratio(monkeypatch, tmp_path, text):
    monkeypatch.setenv("STANDOUT_MAX_EXPANSION", text)
    with pytest.raises(so.ParameterError, match="STANDOUT_MAX_EXPANSION must be a number from 1"):
        so.read(packed("gzip", ROWS, tmp_path / "data.csv"))


def test_files_of_a_compressed_tar_and_of_tars_inside_it_count_together(monkeypatch, tmp_path):
    film = b"1:\n" + b"7,3,2005-01-01\n" * 30_000
    inner = archived({f"mv_000000{n}.txt": film for n in (1, 2)})
    path = tmp_path / "training_set.tar.gz"
    path.write_bytes(gzip.compress(archived({"inner.tar": inner})))
    monkeypatch.setattr(expansion, "FREE_BYTES", len(film) + 1_000)
    with pytest.raises(so.SourceError, match="more than 100 times as long"):
        so.read(path)


@pytest.mark.parametrize("size", [10, 10_000])
def test_no_more_than_the_limit_is_read_whatever_was_asked_for(monkeypatch, size):
    monkeypatch.setattr(expansion, "FREE_BYTES", 1_000)
    body = io.BytesIO(bytes(50_000))
    reader = CappedReader(body, 1, "file")
    with pytest.raises(so.SourceError):
        for _ in range(200):
            reader.read(size)
    assert body.tell() <= 1_000 + max(size, 1)
    exact = CappedReader(io.BytesIO(bytes(1_000)), 1, "file")
    assert len(exact.read(2_000)) == 1_000 and exact.read(2_000) == b""


def movielens(folder, movies, **options):
    with zipfile.ZipFile(folder / "ml.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ml/ratings.csv", "userId,movieId,rating,timestamp\n" + "1,7,3,0\n2,7,4,0\n2,8,1,0\n")
        archive.writestr("ml/movies.csv", movies)
    return so.read(folder / "ml.zip", **options)


def test_titles_take_no_memory_for_items_that_are_not_in_the_data(tmp_path):
    movies = "movieId,title\n" + "".join(f"{n},{'x' * 200}{n}\n" for n in range(100_000))
    release = movielens(tmp_path, movies)
    tracemalloc.start()
    try:
        titles = item_titles.read_titles(tmp_path / "ml.zip", "ml/movies.csv", release.items)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [*titles] == ["7", "8"] and [*titles.values()] == [*release.titles]
    assert peak < len(movies) / 2


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_titles_are_read_with_any_line_end_and_encoding(tmp_path, newline, encoding):
    rows = ["movieId,title", "6,None", '7,"Amélie, a film', 'in two lines"', "8,Été"]
    release = movielens(tmp_path, newline.join(rows).encode(encoding))
    assert [*release.titles] == [f"Amélie, a film{newline}in two lines", "Été"]


def test_a_title_file_of_one_endless_line_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(item_titles, "LONGEST_LINE", 1_000)
    with pytest.raises(so.SourceError, match="line of more than 1,000 characters"):
        movielens(tmp_path, "movieId,title\n7," + "x" * 5_000)
