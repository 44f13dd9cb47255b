"""Tables of SQLite and DuckDB files, which are opened to read only."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from standout.core.errors import ColumnError, ParameterError, SourceError
from standout.core.extras import install_command
from standout.ingest.arrow import table_from_arrow
from standout.ingest.tables import SAMPLE_ROWS, Table

__all__ = ["duckdb_table", "sqlite_table"]

FETCH = 1 << 16
"""Rows that are fetched from SQLite at a time."""
SHOWN = 20


def sqlite_table(path: Path, table: str | None, name: str) -> Table:
    """Make a table of one in a SQLite file."""
    try:
        with closing(_connect(path)) as database:
            tables = _sqlite_names(database, ("table",))
            chosen = _choose(table, tables, _sqlite_names(database, ("table", "view")), name)
            source = f"{_quoted(chosen)}"
            names = tuple(
                column[0] for column in database.execute(f"SELECT * FROM {source} LIMIT 0").description
            )
            rows = int(database.execute(f"SELECT count(*) FROM {source}").fetchone()[0])
    except sqlite3.Error as error:
        raise _damaged(name) from error

    def select(positions: list[int], is_sample: bool) -> Iterator[pl.DataFrame]:
        limit = SAMPLE_ROWS if is_sample else -1
        columns = ", ".join(_quoted(names[i]) for i in positions)
        try:
            with closing(_connect(path)) as database:
                cursor = database.execute(f"SELECT {columns} FROM {source} LIMIT {limit}")
                while fetched := cursor.fetchmany(FETCH):
                    cells = zip(positions, zip(*fetched, strict=True), strict=True)
                    yield pl.DataFrame([_series(names[i], str(i), column, is_sample) for i, column in cells])
        except sqlite3.Error as error:
            raise _damaged(name) from error

    def sample() -> pl.DataFrame:
        return next(select(list(range(len(names))), True), pl.DataFrame())

    return Table(names, lambda positions: select(positions, False), sample, rows)


def duckdb_table(path: Path, table: str | None, name: str) -> Table:
    """Make a table of one in a DuckDB file."""
    try:
        import duckdb
    except ImportError:
        raise SourceError(
            f"{name} is a DuckDB file: install DuckDB with `{install_command('duckdb')}`"
        ) from None
    try:
        database = duckdb.connect(str(path), read_only=True)
        database.execute("SET enable_external_access = false")  # so that a view cannot read other files
        listed = database.execute(
            "SELECT table_name, table_type FROM information_schema.tables "
            "WHERE table_schema = 'main' ORDER BY table_name"
        ).fetchall()
        tables = [row[0] for row in listed if row[1] == "BASE TABLE"]
        chosen = _choose(table, tables, [row[0] for row in listed], name)
        return table_from_arrow(database.sql(f"SELECT * FROM {_quoted(chosen)}"))
    except duckdb.Error as error:
        raise _damaged(name) from error


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)


def _sqlite_names(database: sqlite3.Connection, kinds: Sequence[str]) -> list[str]:
    found = database.execute(
        "SELECT name, type FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    )
    return [name for name, kind in found.fetchall() if kind in kinds]


def _choose(table: str | None, tables: list[str], tables_and_views: list[str], name: str) -> str:
    """Return the table that the user named, or the only one."""
    listed = ", ".join(tables_and_views[:SHOWN]) + (", …" if len(tables_and_views) > SHOWN else "")
    if table is not None:
        if table not in tables_and_views:
            raise ParameterError(
                f"sql_table must be one of {listed}, got {table!r}: {name} has no such table"
            )
        return table
    if not tables_and_views:
        raise SourceError(f"{name} has no tables: check the file")
    candidates = tables or tables_and_views
    if len(candidates) > 1:
        raise SourceError(f"{name} has {len(candidates)} tables: choose one with sql_table=… ({listed})")
    return candidates[0]


def _series(column: str, name: str, cells: Sequence[Any], is_sample: bool) -> pl.Series:
    """Return the cells of a column, which may have different types: as text, unless all are numbers."""
    types = set(map(type, cells)) - {type(None)}
    if bytes in types and is_sample:
        return pl.Series(name, [None] * len(cells), pl.Binary)
    if bytes in types:
        raise ColumnError(f"column {column!r} has binary data: choose another column, or convert it to text")
    if types == {int}:
        return pl.Series(name, cells, pl.Int64)
    if types == {float}:
        return pl.Series(name, cells, pl.Float64)
    return pl.Series(name, [None if cell is None else str(cell) for cell in cells], pl.String)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _damaged(name: str) -> SourceError:
    return SourceError(f"{name} cannot be read: the database is damaged, locked or not supported")
