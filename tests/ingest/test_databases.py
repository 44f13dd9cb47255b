"""SQLite and DuckDB files: one table is read, and the file is never changed."""

import gzip
import hashlib
import sqlite3
import sys

import duckdb
import pytest

import standout as so
from conftest import content
from standout.ingest import frames as databases

CSV = "user,item,rating,time\n007,a,4,2005-03-01\n7,a,0.5,2005-03-02\n7,b,,\n"
ROWS = [("007", "a", 4, "2005-03-01"), ("7", "a", 0.5, "2005-03-02"), ("7", "b", None, None)]
COLUMNS = '("user" TEXT, "item" TEXT, "rating" DOUBLE, "time" TEXT)'


def made(kind, path, *statements):
    database = (sqlite3 if kind == "SQLite" else duckdb).connect(str(path))
    database.execute(f'CREATE TABLE "visits ""x""" {COLUMNS}')
    database.executemany('INSERT INTO "visits ""x""" VALUES (?, ?, ?, ?)', ROWS)
    for statement in statements:
        database.execute(statement)
    if kind == "SQLite":
        database.commit()
    database.close()
    return path


KINDS = pytest.mark.parametrize("kind", ["SQLite", "DuckDB"])


@KINDS
def test_the_only_table_is_read_and_the_file_stays_as_it_is(put, tmp_path, kind, monkeypatch):
    path = made(kind, tmp_path / "what ever?.bin", 'CREATE VIEW v AS SELECT 1 AS "user"')
    before = hashlib.sha256(path.read_bytes()).digest(), sorted(tmp_path.iterdir())
    monkeypatch.setattr(databases, "FETCH", 2)
    for source in [path, put(gzip.compress(path.read_bytes()), "packed.gz")]:
        release = so.read(source)
        assert content(release) == content(so.read(put(CSV)))
        assert release.provenance.format == kind
    assert (hashlib.sha256(path.read_bytes()).digest(), sorted(tmp_path.iterdir())) == before


@KINDS
def test_one_of_several_tables_must_be_named(tmp_path, kind):
    path = made(kind, tmp_path / "x", f"CREATE TABLE other {COLUMNS}")
    with pytest.raises(so.SourceError, match=r"has 2 tables: choose one with sql_table=… \(other, visits"):
        so.read(path)
    with pytest.raises(so.ParameterError, match=r'sql_table must be one of other, visits "x", got'):
        so.read(path, sql_table="x")
    assert so.read(path, sql_table='visits "x"').n_entries == 3
    with pytest.raises(so.SourceError, match="has no rows"):
        so.read(path, sql_table="other")


@KINDS
def test_an_empty_database_is_refused(tmp_path, kind):
    path = made(kind, tmp_path / "x", 'DROP TABLE "visits ""x"""')
    with pytest.raises(so.SourceError, match="has no tables"):
        so.read(path)


def test_a_table_can_only_be_named_for_a_database(put):
    with pytest.raises(so.ParameterError, match="sql_table can only be set for a SQLite or DuckDB file"):
        so.read(put(CSV), sql_table="visits")


def test_cells_of_sqlite_keep_their_type(tmp_path):
    path = tmp_path / "x.db"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE t (user, item, rating, photo)")
    database.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [(7, "a", 1, b"x"), ("007", "b", 1.5, None)])
    database.commit()
    database.close()
    release = so.read(path, kind="history", ignore="photo")
    assert release.record("7").entries[0].value == 1
    assert release.record("007").entries[0].value == 1.5
    with pytest.raises(so.ColumnError, match="'photo' has binary data"):
        so.read(path, item="photo")


def test_without_duckdb_the_message_says_how_to_install_it(tmp_path, monkeypatch):
    path = made("DuckDB", tmp_path / "x")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(so.SourceError, match=r"pip install 'duckdb>=1.4' pyarrow"):
        so.read(path)


@KINDS
def test_a_truncated_database_is_refused(tmp_path, kind):
    path = made(kind, tmp_path / "x")
    data = path.read_bytes()
    for cut in (len(data) // 2, len(data) // 4, 4096, 100, 40, 16):
        (tmp_path / "cut").write_bytes(data[:cut])
        with pytest.raises(so.SourceError) as error:
            so.read(tmp_path / "cut")
        assert "\n" not in str(error.value)
