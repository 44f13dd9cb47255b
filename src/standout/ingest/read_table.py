"""`standout.read_table`: read a table with one row per person."""

import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from standout.core.errors import ColumnError, ParameterError, ReadingWarning, SourceError, StandoutError
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.data.column import Column as Column_history_join
from standout.data.labels import Labels
from standout.data.release import Release
from standout.data.store import is_index
from standout.data.subset import arrange
from standout.ingest.column_names import is_id_name
from standout.ingest.diagnosis import PYTHON, Wording, reading_warnings
from standout.ingest.distinct_cells import distinct_cells
from standout.ingest.formats import recognise
from standout.ingest.frames import is_frame
from standout.ingest.header import recognise as recognised_columns
from standout.ingest.options import Column, Options
from standout.ingest.read import SourceReader
from standout.ingest.schema import Schema
from standout.ingest.sources import expand_paths
from standout.ingest.table_cells import delimited_layout, open_columns
from standout.ingest.table_reader import TableReader

__all__ = [
    "WITHOUT_HISTORY",
    "WITHOUT_ROW",
    "as_schema",
    "join_history",
    "looks_like_table",
    "read_history",
    "read_table",
]

# Recognise a file that is a table with one row per person, rather than a history.


HISTORY = {
    "record", "item", "value", "time", "latitude", "longitude", "grid", "geohash", "record_from_name",
    "value_type", "value_bin", "time_format", "time_unit", "time_bin", "repeats",
}  # fmt: skip
"""Options that only a history has."""
FEWEST_COLUMNS, FEWEST_WITH_ITEM = 3, 4
ROWS_PER_PERSON = 2
"""An id that has so many rows on average is that of people with several rows."""
LARGEST = 200 << 20
"""Size in bytes up to which the ids of a file are compared."""


def looks_like_table(source: Any, options: Options | None = None) -> str:
    """Why a source looks like a table with one row per person; "" if it does not.

    A table has several columns, and none that is recognised as the item of a history. If one has such a name,
    as a title or a course, it is a table if each row has an id of its own. If the first column is an id and
    most ids have several rows, it is none. Nothing is raised: a source that cannot be read is no table.

    >>> import polars as pl
    >>> looks_like_table(pl.DataFrame({"age": [30, 40], "sex": ["f", "m"], "smoker": ["no", "yes"]}))
    'it has 3 columns, and none is an item'
    >>> looks_like_table(pl.DataFrame({"user": ["7", "7"], "film": ["a", "b"], "stars": [1, 2]}))
    ''
    """
    options = options or Options()
    if options.changed() & HISTORY or _is_read_once(source):
        return ""
    try:
        with ExitStack() as stack:
            names = _certain_names(source, options, stack)
            return _reason(names, source, options, stack) if names else ""
    except StandoutError:
        return ""


def _certain_names(source: Any, options: Options, stack: ExitStack) -> tuple[str, ...]:
    """Names of the columns, without reading all rows; none if the source has none or is a known history."""
    if not isinstance(source, (str, Path, list, tuple)):
        return open_columns(source, options, stack, no_progress).names
    found = recognise(expand_paths([source] if isinstance(source, (str, Path)) else list(source)), options)
    if found.kind in ("MovieLens", "Netflix Prize"):
        return ()
    if found.kind == "delimited text":
        layout = delimited_layout(found.files[0], options)
        return layout.names if layout.header else ()
    return open_columns(source, options, stack, no_progress).names


def _reason(names: Sequence[str], source: Any, options: Options, stack: ExitStack) -> str:
    items, records = recognised_columns(names, "item"), recognised_columns(names, "record")
    if len(names) < (FEWEST_WITH_ITEM if items else FEWEST_COLUMNS):
        return ""
    if items and (not records or _size(source) > LARGEST):
        return ""
    if not records:
        if is_id_name(names[0]) and _size(source) <= LARGEST and _has_many_rows(source, options, stack):
            return ""
        return f"it has {len(names)} columns, and none is an item"
    columns = open_columns(source, options, stack, no_progress)
    if all(distinct_cells(series).all_differ for series in columns.series(records)):
        return f"it has {len(names)} columns, and each row has an id of its own"
    return ""


def _has_many_rows(source: Any, options: Options, stack: ExitStack) -> bool:
    """Whether the ids in the first column have several rows on average."""
    cells = distinct_cells(next(iter(open_columns(source, options, stack, no_progress).series([0]))))
    return len(cells.values) * ROWS_PER_PERSON <= cells.n_rows


def _is_read_once(source: Any) -> bool:
    """Whether a source cannot be read again, or is an index of a history."""
    if isinstance(source, (str, Path)):
        return is_index(Path(source))
    if isinstance(source, (list, tuple)):
        return len(source) != 1 or not isinstance(source[0], (str, Path)) or is_index(Path(source[0]))
    return not is_frame(source) or not type(source).__module__.startswith(("polars", "pandas"))


def _size(source: Any) -> int:
    path = source[0] if isinstance(source, (list, tuple)) else source
    if isinstance(path, (str, Path)) and Path(path).is_file():
        return Path(path).stat().st_size
    return 0 if not isinstance(path, (str, Path)) else LARGEST + 1


# Join a table with a history of the same people, such as their ratings.


WITHOUT_HISTORY, WITHOUT_ROW = "rows without a history", "people of the history without a row"


def read_history(
    source: Any, options: Mapping[str, Any] | None, progress: Progress, wording: Wording = PYTHON
) -> tuple[Release, list[str]]:
    """Read a history, and return it with what the user should check."""
    if isinstance(source, Release):
        if options:
            raise ParameterError("history_options cannot be set if history is a release that was read before")
        return source, []
    settings = dict(options or {})
    titles = settings.pop("titles", None)
    unknown = sorted({*settings} - {*Options.__dataclass_fields__})
    if unknown:
        raise ParameterError(f"history_options must be options of so.read, got {unknown[0]!r}")
    release = SourceReader(Options(**settings), progress).read(source, titles)
    return release, [f"history: {message}" for message in reading_warnings(release, wording)]


def join_history(table: Release, history: Release) -> Release:
    """Join by the ids of people.

    A row without a history has record -1. People of the history without a row are appended, with all cells
    empty, so that nobody is left out.
    """
    if not table.has_ids:
        raise ColumnError("a history can only be joined to a table with ids: name their column with id=…")
    record_of = {record: position for position, record in enumerate(history.records)}
    known = np.array([record_of.get(row, -1) for row in table.records], np.int64)
    without = int(np.count_nonzero(known < 0))
    if without == table.n_records:
        raise SourceError("no id of the table is an id of the history: check the columns of ids; ids are text")
    has_row = np.zeros(history.n_records, np.bool_)
    has_row[known[known >= 0]] = True
    others = np.flatnonzero(~has_row)
    ids = Labels.of(chain(table.records, (history.records[position] for position in others.tolist())))
    counts = {WITHOUT_HISTORY: f"{without:,}", WITHOUT_ROW: f"{len(others):,}"}
    settings = table.provenance.settings | {"history": _described(history)} | counts
    return replace(
        arrange(history, np.append(known, others).astype(np.int64)),
        records=replace(ids, ordered=False),
        columns=tuple(_extended(column, len(others)) for column in table.columns),
        has_ids=True,
        provenance=replace(table.provenance, settings=settings),
    )


def _extended(column: Column_history_join, rows: int) -> Column_history_join:
    """The column with more rows, whose cells are empty."""
    if not rows:
        return column
    if column.starts is not None:
        return replace(column, starts=np.append(column.starts, np.full(rows, column.starts[-1])))
    return replace(column, codes=np.append(column.codes, np.full(rows, column.missing, column.codes.dtype)))


def _described(history: Release) -> str:
    files = ", ".join(history.provenance.files) or history.provenance.format
    return f"{files}: {history.n_entries:,} entries of {history.n_records:,} people"


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
) -> Release:
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
        Release to read in a SQLite or DuckDB file; default: its only table.
    skip_lines : int
        Number of lines to skip at the start of each text file.
    progress : bool or callable, optional
        True shows a bar; a function is called with (stage, done, total).

    Returns
    -------
    Release
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
    <Release: 2 rows × 2 columns>
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
