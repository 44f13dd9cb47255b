"""`standout.read_table`: read a table with one row per person."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from standout.core.errors import ParameterError, ReadingWarning
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.ingest.options import Column, Options
from standout.tables.history_join import join_history, read_history
from standout.tables.model import Table
from standout.tables.schema import Schema
from standout.tables.table_reader import TableReader

__all__ = ["as_schema", "read_table"]


@with_progress
def read_table(
    source: Any,
    *,
    id: Column | bool | None = None,  # noqa: A002  (the name of its option)
    schema: Schema | str | Path | Mapping[str, Any] | None = None,
    ignore: Column | Sequence[Column] | None = None,
    missing: Sequence[str] | None = None,
    history: Any = None,
    history_options: Mapping[str, Any] | None = None,
    separator: str | None = None,
    header: bool | None = None,
    quote: str = '"',
    encoding: str = "utf-8",
    member: str | None = None,
    sql_table: str | None = None,
    skip_lines: int = 0,
    progress: ProgressOption = no_progress,
) -> Table:
    """Read a table with one row per person from a file, a database, a URL or a data frame.

    Every column but the id is an attribute. What a column is (number, ordered, category, date, boolean or
    set) is inferred from its cells, and so are its similarity, its error and its role.
    `table.provenance` says how the source was read; docs/tables.md has the rules.

    Parameters
    ----------
    source : path, URL, list of them, or frame
        Anything that `standout.read` reads: CSV and similar files, Parquet, Arrow, JSON lines, SQLite,
        DuckDB, Polars and pandas frames.
    id : str, int or False, optional
        Column with the ids of the rows, by name or number (1 is the first); False: there is none. Default:
        recognised.
    schema : Schema, path or mapping, optional
        What the columns are and how they are compared: a schema, a schema file, or by column name a mapping
        such as {"zip": {"hierarchy": "prefix"}}. What it leaves open is inferred.
    ignore : str, int or list, optional
        Columns to leave out on purpose.
    missing : list of str, optional
        Texts that mean an empty cell, in all columns; default: usual ones such as NA and ?.
    history : path, URL, frame or Release, optional
        Entries of the same people, such as ratings, joined by the id. People without a row are appended with
        empty cells.
    history_options : mapping, optional
        Options of `standout.read` for the history.
    separator : str, optional
        Separator of a delimited file; default: recognised.
    header : bool, optional
        Whether the first line has the column names; default: recognised.
    quote : str
        Quote character; empty for none.
    encoding : str
        Encoding of a text file.
    member : str, optional
        File to read inside a zip archive.
    sql_table : str, optional
        Table to read in a SQLite or DuckDB file; default: its only table.
    skip_lines : int
        Number of lines to skip at the start of each text file.
    progress : bool or callable, optional
        True shows a bar; a function is called with (stage, done, total).

    Returns
    -------
    Table
        The table.

    Raises
    ------
    SourceError
        If the source cannot be read.
    ColumnError
        If a column is missing or cannot be read as the schema says.
    ParameterError
        If an option is not allowed.

    Examples
    --------
    >>> import polars as pl, standout as so
    >>> table = so.read_table(pl.DataFrame({"id": ["a", "b"], "age": [34, 82], "sex": ["f", "m"]}))
    >>> table
    <Table: 2 rows × 2 columns>
    >>> [(column.name, column.kind, column.role) for column in table]
    [('age', 'number', 'quasi-identifier'), ('sex', 'category', 'quasi-identifier')]
    """
    options = Options(
        ignore=ignore,
        separator=separator,
        header=header,
        quote=quote,
        encoding=encoding,
        member=member,
        sql_table=sql_table,
        skip_lines=skip_lines,
    )
    name = Path(schema).name if isinstance(schema, (str, Path)) else ""
    reader = TableReader(options, id, missing, as_schema(schema), name, progress)
    table, messages = reader.read(source), list[str]()
    if history is not None:
        entries, messages = read_history(history, history_options, progress)
        table = join_history(table, entries)
    elif history_options is not None:
        raise ParameterError("history_options must be given with a history only: set history as well")
    for message in (*reader.warnings, *messages):
        warnings.warn(message, ReadingWarning, stacklevel=2)
    return table


def as_schema(schema: Schema | str | Path | Mapping[str, Any] | None) -> Schema:
    """The schema that a user names or describes."""
    if schema is None or isinstance(schema, Schema):
        return schema or Schema()
    return Schema.of_dict(schema) if isinstance(schema, Mapping) else Schema.read(schema)
