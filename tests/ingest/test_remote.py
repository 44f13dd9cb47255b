"""Remote files: read like local ones, and no message or release shows a credential of their URL."""

import gzip
import http.server
import io
import sqlite3
import sys
import threading
import traceback
from functools import partial

import fsspec
import polars as pl
import pytest

import standout as so
from conftest import content
from standout.ingest.sources import is_remote, public_url

CSV = b"user,item,rating\n007,a,4\n7,a,0.5\n7,b,1\n"


@pytest.fixture
def memory():
    """put(name, data) writes a file into the memory of this process and returns its URL."""
    files = fsspec.filesystem("memory")

    def put(name, data):
        files.pipe(f"/standout/{name}", data)
        return f"memory://standout/{name}"

    yield put
    files.rm("/standout", recursive=True)


@pytest.fixture
def web(tmp_path):
    """A folder and the address of a server that ends with the test."""
    handler = partial(Quiet, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield tmp_path, f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Log nothing."""

    def do_HEAD(self):
        """Refuse partial requests, as a server may."""
        self.extensions_map = {}
        super().do_HEAD()


def parquet():
    file = io.BytesIO()
    pl.read_csv(CSV, schema_overrides={"user": pl.String}).write_parquet(file)
    return file.getvalue()


def sqlite(tmp_path):
    database = sqlite3.connect(tmp_path / "x.db")
    database.execute("CREATE TABLE t (user TEXT, item TEXT, rating REAL)")
    database.executemany("INSERT INTO t VALUES (?, ?, ?)", [("007", "a", 4), ("7", "a", 0.5), ("7", "b", 1)])
    database.commit()
    database.close()
    return (tmp_path / "x.db").read_bytes()


def test_remote_files_are_recognised_and_decompressed_like_local_ones(memory, put, tmp_path):
    twin = so.read(put(CSV))
    lines = pl.read_csv(CSV, schema_overrides={"user": pl.String}).write_ndjson().encode()
    for name, data in {
        "a.csv": CSV,
        "b.csv.gz": gzip.compress(CSV),
        "c.parquet": parquet(),
        "d.jsonl": lines,
        "e.db": sqlite(tmp_path),
    }.items():
        release = so.read(memory(name, data))
        assert content(release) == content(twin)
        assert release.provenance.files == (name,)


def test_remote_folders_and_patterns_are_several_files(memory):
    for name in ("anna", "bert"):
        memory(f"fleet/{name}.txt", b"item,value\nx,1\ny,2\n")
    memory("fleet/README.md", b"about")
    release = so.read("memory://standout/fleet", record_from_name="(.*)[.]txt")
    assert [release.record_at(i).id for i in range(2)] == ["anna", "bert"]
    assert so.read("memory://standout/fleet/*.txt", record_from_name="(.*)[.]txt").n_records == 2


def test_web_files_are_read_from_servers_that_send_only_whole_files(web, put):
    folder, address = web
    (folder / "a.csv").write_bytes(CSV)
    (folder / "a.parquet").write_bytes(parquet())
    (folder / "a.csv.gz").write_bytes(gzip.compress(CSV))
    for name in ("a.csv", "a.parquet", "a.csv.gz"):
        release = so.read(f"http://{address}/{name}?signature=secret")
        assert content(release) == content(so.read(put(CSV)))
        assert release.provenance.files == (name,)


def shown(error):
    return "".join(traceback.format_exception(error))


def test_errors_show_no_credentials(web):
    folder, address = web
    (folder / "bad.csv").write_bytes(b"user,item\na\n\xff\xff,x\n")
    for url in [
        f"http://me:secret@{address}/missing.csv?token=secret#secret",
        f"http://me:secret@{address}/bad.csv?token=secret",
        "http://me:secret@127.0.0.1:1/a.csv?token=secret",
        "s3://me:secret@bucket/a.csv?token=secret",
        "nonsense://me:secret@host/a.csv",
        "memory://me:secret@standout/missing.csv?x=secret",
    ]:
        with pytest.raises(so.StandoutError) as error:
            so.read(url)
        assert "\n" not in str(error.value)
        assert "secret" not in shown(error.value)


def test_only_urls_are_remote():
    for source in ["data.csv", "/a/b.csv", "C:\\a.csv", "c://a.csv", "a:b", "x*.csv"]:
        assert not is_remote(source)
        assert public_url(source) == source
    assert public_url("simplecache::s3://me:pw@bucket/a.csv?x=1") == "simplecache::s3://bucket/a.csv"


def test_without_fsspec_the_message_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(so.SourceError, match=r"pip install aiohttp 'fsspec>=2024.6'"):
        so.read("s3://bucket/a.csv")


def test_temporary_copies_are_removed(memory, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    so.read(memory("c.parquet", parquet()))
    with pytest.raises(so.SourceError):
        so.read(memory("d.parquet", parquet()[:-20]))
    assert list(tmp_path.iterdir()) == []
