"""Pass the rows of a table (a frame, a Parquet file, …) to a collector, batch by batch."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout.core.errors import ColumnError, ParameterError, SourceError, install_command
from standout.core.files import temporary_folder
from standout.core.progress import Progress
from standout.data.build_kernels import TIME_BIAS
from standout.data.code_blocks import MemoryPlan
from standout.ingest.collector import Batch, Collector, Spans, constant_spans
from standout.ingest.column_kinds import NESTED
from standout.ingest.column_roles import Roles, resolve_roles
from standout.ingest.diagnosis import merge_unused
from standout.ingest.formats import Kind, SourceFile
from standout.ingest.options import Options
from standout.ingest.rejects import Reason, RejectLog
from standout.ingest.size_limits import check_arrow_sizes, check_parquet_sizes
from standout.ingest.sources import first_bytes, is_packed, open_stream
from standout.ingest.times import TimeReader

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "IPC_FILE",
    "IPC_STREAM",
    "ROWS",
    "SAMPLE_ROWS",
    "Table",
    "duckdb_table",
    "ipc_table",
    "is_arrow_stream",
    "open_table",
    "parquet_table",
    "polars_errors",
    "read_frame",
    "sqlite_table",
    "table_from_arrow",
    "table_from_lazy",
    "table_from_pandas",
]

# Tables: sources with named columns that are read in batches, such as frames and Parquet files.


ROWS = 1 << 18
"""Largest number of rows of a batch."""
SAMPLE_ROWS = 50

Batches = Callable[[list[int]], Iterator[pl.DataFrame]]
"""Reads the columns at these positions; each is named after its position in the table: "0", "3", …"""


@dataclass(frozen=True, slots=True)
class Table:
    """A source with named columns. `sample` returns the first rows of all columns, named like the batches.

    `rows` is the number of rows, or 0 if it is not known before they are read. `position` returns how much
    was read and the total, if it is not the number of rows.
    """

    names: tuple[str, ...]
    batches: Batches
    sample: Callable[[], pl.DataFrame]
    rows: int = 0
    position: Callable[[], tuple[int, int]] | None = None


def table_from_lazy(frame: pl.LazyFrame, rows: int = 0) -> Table:
    """Make a table of a lazy Polars frame."""
    names = tuple(frame.collect_schema().names())

    def select(positions: list[int]) -> pl.LazyFrame:
        return frame.select(pl.col(names[i]).alias(str(i)) for i in positions)

    def batches(positions: list[int]) -> Iterator[pl.DataFrame]:
        for batch in select(positions).collect_batches(chunk_size=ROWS, maintain_order=True):
            yield from batch.iter_slices(ROWS)

    def sample() -> pl.DataFrame:
        return select(list(range(len(names)))).head(SAMPLE_ROWS).collect()

    return Table(names, batches, sample, rows)


def table_from_pandas(frame: "pd.DataFrame") -> Table:
    """Make a table of a pandas frame."""
    names = tuple(str(name) for name in frame.columns)

    def select(part: "pd.DataFrame", positions: list[int]) -> pl.DataFrame:
        return pl.DataFrame([_from_pandas_column(part.iloc[:, i], str(i)) for i in positions])

    return Table(
        names,
        lambda positions: select(frame, positions).iter_slices(ROWS),
        lambda: select(frame.head(SAMPLE_ROWS), list(range(len(names)))),
        len(frame),
    )


def parquet_table(path: Path) -> Table:
    """Make a table of a Parquet file."""
    check_parquet_sizes(path)
    frame = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    return table_from_lazy(frame, int(frame.select(pl.len()).collect().item()))


def _from_pandas_column(column: "pd.Series[Any]", name: str) -> pl.Series:
    kind = column.dtype.kind
    if kind in "iufb" and isinstance(column.dtype, np.dtype):
        return pl.Series(name, column.to_numpy(), nan_to_null=True)
    if kind == "M":
        moved = column.dt.tz_convert("UTC").dt.tz_localize(None) if column.dt.tz is not None else column
        times = pl.Series(name, moved.to_numpy().astype("datetime64[us]"))
        return times.dt.replace_time_zone("UTC") if column.dt.tz is not None else times
    missing = column.isna().tolist()
    return pl.Series(
        name,
        [None if is_missing else cell for cell, is_missing in zip(column.tolist(), missing, strict=True)],
        strict=False,
    )


def read_frame(
    open_table: Callable[[], Table],
    name: str,
    options: Options,
    rejects: RejectLog,
    progress: Progress,
    *,
    earlier: tuple[Collector, Roles] | None = None,
    record: str = "",
    memory: MemoryPlan | None = None,
) -> tuple[Collector, Roles]:
    """Pass every row of a table to a collector; also return the role of each column.

    Every source that is not text ends here. `name` names the source in messages. `earlier` has the collector
    and the roles of the files before it, and `record` is the id of all rows if each file is one record.
    """
    with polars_errors(name):
        table, row = open_table(), 0
        if earlier is None:
            roles = resolve_roles(table.names, options, header=True, sample=_sample(table), declared=True)
            has_value, has_time = roles.value is not None, roles.time is not None
            collector = Collector(options, rejects, has_value, has_time, unit="row", memory=memory)
        else:
            collector, roles = earlier[0], _same_columns(table, earlier[1], name, earlier[0])
        collector.begin_source(name)
        for batch in table.batches(roles.wanted):
            collector.add(_to_batch(batch, roles, row, collector.times, record))
            row += len(batch)
            progress("reading", *(table.position() if table.position else (row, max(row, table.rows))))
    if row == 0:
        raise SourceError(f"{name} has no rows: check the source")
    return collector, roles


def _sample(table: Table) -> list[tuple[str, ...]]:
    """First rows of a table as text."""
    return list(zip(*map(_sample_texts, table.sample().get_columns()), strict=True))


def _sample_texts(column: pl.Series) -> list[str]:
    """Cells as text. If all are missing, one cell shows the type; nested cells are not shown."""
    kind = column.dtype
    if kind.is_nested() or kind in (pl.Binary, pl.Duration, pl.Object):
        return [NESTED] * len(column)
    if column.is_null().all() and (kind.is_temporal() or kind.is_numeric()):
        return ["1970-01-01" if kind.is_temporal() else "0"] * len(column)
    return column.cast(pl.String, strict=False).fill_null("").to_list()


def _same_columns(table: Table, roles: Roles, name: str, collector: Collector) -> Roles:
    """Return the roles for the columns of a further file, which may be in another order."""
    if sorted(table.names) != sorted(roles.names):
        raise SourceError(f"{name} has other columns than {collector.sources[0]}: read them one by one")
    unused = merge_unused(roles.unused, roles.unused_in(table.names, _sample(table)))
    return replace(roles, unused=unused).reordered(table.names)


@contextmanager
def polars_errors(name: str) -> Iterator[None]:
    """Turn errors of Polars into a SourceError of one line."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        raise SourceError(f"{name} cannot be read: {_kind(error)}") from error
    except UnicodeError as error:
        raise SourceError(f"{name} cannot be read: it contains text that is not Unicode") from error
    except pl.exceptions.PanicException as error:  # a damaged file can make Polars panic
        raise SourceError(f"{name} cannot be read: it is damaged") from error
    except FileNotFoundError as error:
        raise SourceError(f"{name} cannot be read: no such file") from error
    except OSError as error:
        raise SourceError(f"{name} cannot be read: {error.strerror or 'it is damaged'}") from error


def _kind(error: Exception) -> str:
    """First line of a Polars error, without quotes and brackets, which may contain data."""
    return " ".join(str(error).splitlines()[0].split("'")[0].split("[")[0].split()) or type(error).__name__


def _to_batch(batch: pl.DataFrame, roles: Roles, first: int, times: TimeReader | None, record: str) -> Batch:
    def column(position: int) -> pl.Series:
        return batch.get_column(str(position)).alias(roles.names[position])

    status = np.zeros(len(batch), np.uint8)
    time: Spans | NDArray[np.uint32] | None = None
    if roles.time is not None and times is not None:
        cells = column(roles.time)
        time = _units(cells, times, status) if cells.dtype.is_temporal() else _spans(_text(cells))
    item_text = _coordinate if roles.places else _id
    return Batch(
        line=np.arange(first + 1, first + len(batch) + 1),
        status=status,
        record=constant_spans(record, len(batch)) if roles.record is None else _spans(_id(column(roles.record))),
        item=tuple(_spans(item_text(column(position))) for position in roles.item),
        value=None if roles.value is None else _spans(_text(column(roles.value))),
        time=time,
    )


def _id(column: pl.Series) -> pl.Series:
    """Ids as text; whole numbers that are floats only because some are missing stay whole."""
    if column.dtype.is_float():
        column = column.fill_nan(None)
        whole = column.cast(pl.Int64, strict=False)
        if not (whole.cast(column.dtype).eq_missing(column)).all():
            raise ColumnError(f"column {column.name!r} has fractions: ids must be text or whole numbers")
        column = whole
    return _text(column)


def _coordinate(column: pl.Series) -> pl.Series:
    """Degrees as text; a NaN is a missing number."""
    return _text(column.fill_nan(None) if column.dtype.is_float() else column)


def _text(column: pl.Series) -> pl.Series:
    try:
        if column.dtype.is_nested():
            raise pl.exceptions.InvalidOperationError("nested")
        return column.cast(pl.String)
    except pl.exceptions.PolarsError as error:
        raise ColumnError(f"column {column.name!r} has type {column.dtype}: convert it to text or numbers") from error


def _spans(column: pl.Series) -> Spans:
    """Spans of a column of texts in one buffer; missing texts are empty."""
    filled = column.fill_null("")
    ends = np.cumsum(filled.str.len_bytes().to_numpy().astype(np.int64))
    text = filled.str.join("").item() or ""
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
    return Spans(np.frombuffer(text.encode() or b" ", np.uint8), starts, ends)


def _units(column: pl.Series, reader: TimeReader, status: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Convert dates and datetimes to whole units on the wall clock + TIME_BIAS; 0 if missing."""
    if column.dtype == pl.Time or column.dtype == pl.Duration:
        raise ColumnError(f"column {column.name!r} has type {column.dtype}: convert it to a date or datetime")
    zoned = isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone is not None
    if isinstance(column.dtype, pl.Datetime):
        per_second = {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[column.dtype.time_unit]
        seconds = column.to_physical().fill_null(0).to_numpy() // per_second
    else:
        seconds = column.to_physical().fill_null(0).to_numpy().astype(np.int64) * 86_400
    units = reader.from_seconds(seconds, local=not zoned)
    missing = column.is_null().to_numpy()
    outside = (np.abs(units) >= TIME_BIAS) & ~missing  # outside the calendar, or outside 32 bits
    status[outside] = Reason.TIME_OUT_OF_RANGE
    return np.where(missing | outside, 0, units + TIME_BIAS).astype(np.uint32)


# Open a file of any format with named columns as a table.


COPY = 1 << 20


def open_table(kind: Kind, file: SourceFile, options: Options, stack: ExitStack) -> Table:
    """Open a file as a table; `stack` removes what must be removed after reading."""
    name = str(file.path)
    if kind in ("JSON lines", "JSON array"):
        from standout.ingest.json_lines import json_table

        return json_table(
            name,
            lambda: open_stream(file.path, file.member, options.encoding),
            "lines" if kind == "JSON lines" else "array",
        )
    path = _local(file, stack)
    if kind == "Parquet":
        return parquet_table(path)
    if kind == "Arrow":
        return ipc_table(path)
    return (sqlite_table if kind == "SQLite" else duckdb_table)(path, options.sql_table, name)


def _local(file: SourceFile, stack: ExitStack) -> Path:
    """Return a local, decompressed file: the file itself, or a copy in a private folder."""
    if isinstance(file.path, Path) and file.member is None and not is_packed(first_bytes(file.path)):
        return file.path
    folder = stack.enter_context(temporary_folder())
    with open_stream(file.path, file.member) as stream, (folder / "source").open("xb") as copy:
        room = memoryview(bytearray(COPY))
        while count := stream.fill(room):
            copy.write(room[:count])
    return folder / "source"


# Arrow: IPC (Feather) files and streams, and objects with the Arrow C stream interface.


IPC_FILE, IPC_STREAM = b"ARROW1", b"\xff\xff\xff\xff"


def ipc_table(path: Path) -> Table:
    """Make a table of an Arrow IPC file or stream; Polars reads a stream as a whole."""
    check_arrow_sizes(path)
    with path.open("rb") as file:
        start = file.read(len(IPC_FILE))
    if start == IPC_FILE:
        return table_from_lazy(pl.scan_ipc(path, glob=False, hive_partitioning=False))
    frame = pl.read_ipc_stream(path)
    return table_from_lazy(frame.lazy(), len(frame))


def is_arrow_stream(source: Any) -> bool:
    """Whether an object offers its rows through the Arrow C stream interface."""
    return hasattr(source, "__arrow_c_stream__")


def table_from_arrow(source: Any) -> Table:
    """Make a table of an object with the Arrow C stream interface.

    With pyarrow, it is read batch by batch; without it, Polars reads it as a whole.
    """
    try:
        import pyarrow as pa
    except ImportError:
        frame = pl.DataFrame(source)
        return table_from_lazy(frame.lazy(), len(frame))
    return _table_from_reader(pa.RecordBatchReader.from_stream(source), len_or_0(source))


def len_or_0(source: Any) -> int:
    """Return the number of rows of an Arrow table, or 0 for other objects."""
    rows = getattr(source, "num_rows", 0)
    return rows if isinstance(rows, int) else 0


def _table_from_reader(reader: Any, rows: int) -> Table:
    """Make a table of a reader of record batches, which can be read only once."""
    names = tuple(reader.schema.names)
    if len(set(names)) < len(names):
        raise SourceError("the source has two columns with the same name: rename one")
    frames = (_frame(batch) for batch in reader)
    first = next(frames, None)
    start = [] if first is None else [first]

    def batches(positions: list[int]) -> Iterator[pl.DataFrame]:
        for frame in chain(start, frames):
            yield from _select(frame, positions).iter_slices(ROWS)

    def sample() -> pl.DataFrame:
        if first is None:
            return pl.DataFrame()
        return _select(first.head(SAMPLE_ROWS), list(range(len(names))))

    return Table(names, batches, sample, rows)


def _frame(batch: Any) -> pl.DataFrame:
    frame = pl.from_arrow(batch)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _select(frame: pl.DataFrame, positions: list[int]) -> pl.DataFrame:
    return frame.select(pl.nth(i).alias(str(i)) for i in positions)


# Tables of SQLite and DuckDB files, which are opened to read only.


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
            names = tuple(column[0] for column in database.execute(f"SELECT * FROM {source} LIMIT 0").description)
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
        raise SourceError(f"{name} is a DuckDB file: install DuckDB with `{install_command('duckdb')}`") from None
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
            raise ParameterError(f"sql_table must be one of {listed}, got {table!r}: {name} has no such table")
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
