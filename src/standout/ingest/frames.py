"""Sources with named columns that are read in batches: frames, Parquet, Arrow, SQLite, DuckDB (JSON: `json_lines`)."""

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
from standout.data.build import MemoryPlan
from standout.data.build_kernels import TIME_BIAS
from standout.ingest.collector import Batch, Collector, Spans, byte_array, constant_spans
from standout.ingest.column_roles import Roles, resolve_roles
from standout.ingest.diagnosis import merge_unused
from standout.ingest.first_rows import NESTED
from standout.ingest.formats import Kind, SourceFile
from standout.ingest.options import Options
from standout.ingest.rejects import Reason, RejectLog
from standout.ingest.sources import first_bytes, is_packed, open_stream
from standout.ingest.times import TimeReader

if TYPE_CHECKING:
    import pandas as pd

ROWS, FETCH = 1 << 18, 1 << 16
"""Largest number of rows of a batch, and of rows that are fetched from SQLite at a time."""
SAMPLE_ROWS, SHOWN, COPY = 50, 20, 1 << 20
IPC_FILE = b"ARROW1"


@dataclass(frozen=True, slots=True)
class FrameSource:
    """A source with named columns.

    `batches` reads the columns at some positions, each named after its position: "0", "3", …; `sample` returns
    the first rows of all columns. `rows` is the number of rows, or 0 if it is not known before they are read.
    `position` returns how much was read and the total, if it is not the number of rows.
    """

    names: tuple[str, ...]
    batches: Callable[[list[int]], Iterator[pl.DataFrame]]
    sample: Callable[[], pl.DataFrame]
    rows: int = 0
    position: Callable[[], tuple[int, int]] | None = None


def is_frame(source: Any) -> bool:
    """Whether an object in memory can be read: a frame, or an object with the Arrow C stream interface."""
    return _is_pandas(source) or isinstance(source, (pl.DataFrame, pl.LazyFrame)) or is_arrow_stream(source)


def is_arrow_stream(source: Any) -> bool:
    """Whether an object offers its rows through the Arrow C stream interface."""
    return hasattr(source, "__arrow_c_stream__")


def _is_pandas(source: Any) -> bool:
    return type(source).__module__.startswith("pandas") and type(source).__name__ == "DataFrame"


def open_frame(source: Any) -> FrameSource:
    """Open an object in memory, or a DuckDB relation."""
    if _is_pandas(source):  # Arrow would lose the text of mixed columns
        return _pandas_source(source)
    if isinstance(source, pl.DataFrame):
        return _lazy_source(source.lazy(), len(source))
    return _lazy_source(source) if isinstance(source, pl.LazyFrame) else _arrow_source(source)


def open_file(kind: Kind, file: SourceFile, options: Options, stack: ExitStack) -> FrameSource:
    """Open a file with named columns; `stack` removes what must be removed after reading."""
    name = str(file.path)
    if kind in ("JSON lines", "JSON array"):
        from standout.ingest.json_lines import json_source

        return json_source(name, lambda: open_stream(file.path, file.member, options.encoding), kind)
    path = file.path
    if not isinstance(path, Path) or file.member is not None or is_packed(first_bytes(path)):
        path = stack.enter_context(temporary_folder()) / "source"
        with open_stream(file.path, file.member) as stream, path.open("xb") as copy:
            room = memoryview(bytearray(COPY))
            while count := stream.fill(room):
                copy.write(room[:count])
    if kind == "Parquet":
        frame = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        return _lazy_source(frame, int(frame.select(pl.len()).collect().item()))
    if kind == "Arrow":
        if first_bytes(path, len(IPC_FILE)) == IPC_FILE:
            return _lazy_source(pl.scan_ipc(path, glob=False, hive_partitioning=False))
        stream_frame = pl.read_ipc_stream(path)  # Polars reads a stream as a whole
        return _lazy_source(stream_frame.lazy(), len(stream_frame))
    return (_sqlite_source if kind == "SQLite" else _duckdb_source)(path, options.sql_table, name)


def _lazy_source(frame: pl.LazyFrame, rows: int = 0) -> FrameSource:
    names = tuple(frame.collect_schema().names())

    def select(positions: Sequence[int]) -> pl.LazyFrame:
        return frame.select(pl.col(names[i]).alias(str(i)) for i in positions)

    def batches(positions: list[int]) -> Iterator[pl.DataFrame]:
        for batch in select(positions).collect_batches(chunk_size=ROWS, maintain_order=True):
            yield from batch.iter_slices(ROWS)

    return FrameSource(names, batches, lambda: select(range(len(names))).head(SAMPLE_ROWS).collect(), rows)


def _pandas_source(frame: "pd.DataFrame") -> FrameSource:
    names = tuple(str(name) for name in frame.columns)

    def select(part: "pd.DataFrame", positions: Sequence[int]) -> pl.DataFrame:
        return pl.DataFrame([_from_pandas_column(part.iloc[:, i], str(i)) for i in positions])

    return FrameSource(
        names,
        lambda positions: select(frame, positions).iter_slices(ROWS),
        lambda: select(frame.head(SAMPLE_ROWS), range(len(names))),
        len(frame),
    )


def _from_pandas_column(column: "pd.Series[Any]", name: str) -> pl.Series:
    kind = column.dtype.kind
    if kind in "iufb" and isinstance(column.dtype, np.dtype):
        return pl.Series(name, column.to_numpy(), nan_to_null=True)
    if kind == "M":
        moved = column.dt.tz_convert("UTC").dt.tz_localize(None) if column.dt.tz is not None else column
        times = pl.Series(name, moved.to_numpy().astype("datetime64[us]"))
        return times.dt.replace_time_zone("UTC") if column.dt.tz is not None else times
    cells = zip(column.tolist(), column.isna().tolist(), strict=True)
    return pl.Series(name, [None if is_missing else cell for cell, is_missing in cells], strict=False)


def _arrow_source(source: Any) -> FrameSource:
    """An object with the Arrow C stream interface: batch by batch with pyarrow, otherwise as a whole."""
    try:
        import pyarrow as pa
    except ImportError:
        frame = pl.DataFrame(source)
        return _lazy_source(frame.lazy(), len(frame))
    reader, rows = pa.RecordBatchReader.from_stream(source), getattr(source, "num_rows", 0)
    names = tuple(reader.schema.names)
    if len(set(names)) < len(names):
        raise SourceError("the source has two columns with the same name: rename one")
    frames = (pl.DataFrame(pl.from_arrow(batch)) for batch in reader)  # they can be read only once
    first = list(next(frames, pl.DataFrame()).iter_slices(ROWS))

    def select(frame: pl.DataFrame, positions: Sequence[int]) -> pl.DataFrame:
        return frame.select(pl.nth(i).alias(str(i)) for i in positions)

    def batches(positions: list[int]) -> Iterator[pl.DataFrame]:
        for frame in chain(first, frames):
            yield from select(frame, positions).iter_slices(ROWS)

    def sample() -> pl.DataFrame:
        return select(first[0].head(SAMPLE_ROWS), range(len(names))) if first else pl.DataFrame()

    return FrameSource(names, batches, sample, rows if isinstance(rows, int) else 0)


def _sqlite_source(path: Path, table: str | None, name: str) -> FrameSource:
    def connect() -> "closing[sqlite3.Connection]":
        return closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True))

    with _database_errors(name, sqlite3.Error), connect() as database:
        listed = database.execute(
            "SELECT name, type FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
            "AND type IN ('table', 'view') ORDER BY name"
        ).fetchall()
        chosen = _quoted(_choose(table, [row[0] for row in listed if row[1] == "table"], [r[0] for r in listed], name))
        names = tuple(column[0] for column in database.execute(f"SELECT * FROM {chosen} LIMIT 0").description)
        rows = int(database.execute(f"SELECT count(*) FROM {chosen}").fetchone()[0])

    def select(positions: Sequence[int], is_sample: bool) -> Iterator[pl.DataFrame]:
        columns, limit = ", ".join(_quoted(names[i]) for i in positions), SAMPLE_ROWS if is_sample else -1
        with _database_errors(name, sqlite3.Error), connect() as database:
            cursor = database.execute(f"SELECT {columns} FROM {chosen} LIMIT {limit}")
            while fetched := cursor.fetchmany(FETCH):
                cells = zip(positions, zip(*fetched, strict=True), strict=True)
                yield pl.DataFrame([_sqlite_series(names[i], str(i), column, is_sample) for i, column in cells])

    return FrameSource(
        names,
        lambda positions: select(positions, False),
        lambda: next(select(range(len(names)), True), pl.DataFrame()),
        rows,
    )


def _sqlite_series(column: str, name: str, cells: Sequence[Any], is_sample: bool) -> pl.Series:
    """Return the cells of a column, which may have different types: as text, unless all are numbers."""
    types = set(map(type, cells)) - {type(None)}
    if bytes in types and is_sample:
        return pl.Series(name, [None] * len(cells), pl.Binary)
    if bytes in types:
        raise ColumnError(f"column {column!r} has binary data: choose another column, or convert it to text")
    if types in ({int}, {float}):
        return pl.Series(name, cells, pl.Int64 if types == {int} else pl.Float64)
    return pl.Series(name, [None if cell is None else str(cell) for cell in cells], pl.String)


def _duckdb_source(path: Path, table: str | None, name: str) -> FrameSource:
    try:
        import duckdb
    except ImportError:
        raise SourceError(f"{name} is a DuckDB file: install DuckDB with `{install_command('duckdb')}`") from None
    with _database_errors(name, duckdb.Error):
        database = duckdb.connect(str(path), read_only=True)
        database.execute("SET enable_external_access = false")  # so that a view cannot read other files
        listed = database.execute(
            "SELECT table_name, table_type FROM information_schema.tables "
            "WHERE table_schema = 'main' ORDER BY table_name"
        ).fetchall()
        chosen = _choose(table, [row[0] for row in listed if row[1] == "BASE TABLE"], [row[0] for row in listed], name)
        return _arrow_source(database.sql(f"SELECT * FROM {_quoted(chosen)}"))


def _choose(table: str | None, tables: list[str], tables_and_views: list[str], name: str) -> str:
    """Return the table that the user named, or the only one."""
    listed = ", ".join(tables_and_views[:SHOWN]) + (", …" if len(tables_and_views) > SHOWN else "")
    if table is not None and table not in tables_and_views:
        raise ParameterError(f"sql_table must be one of {listed}, got {table!r}: {name} has no such table")
    candidates = [table] if table is not None else tables or tables_and_views
    if not candidates:
        raise SourceError(f"{name} has no tables: check the file")
    if len(candidates) > 1:
        raise SourceError(f"{name} has {len(candidates)} tables: choose one with sql_table=… ({listed})")
    return candidates[0]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _database_errors(name: str, kind: type[Exception]) -> Iterator[None]:
    try:
        yield
    except kind as error:
        raise SourceError(f"{name} cannot be read: the database is damaged, locked or not supported") from error


@contextmanager
def polars_errors(name: str) -> Iterator[None]:
    """Turn errors of Polars into a SourceError of one line."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        # the first line, without quotes and brackets, which may contain data
        shown = " ".join(str(error).splitlines()[0].split("'")[0].split("[")[0].split()) or type(error).__name__
        raise SourceError(f"{name} cannot be read: {shown}") from error
    except UnicodeError as error:
        raise SourceError(f"{name} cannot be read: it contains text that is not Unicode") from error
    except pl.exceptions.PanicException as error:  # a damaged file can make Polars panic
        raise SourceError(f"{name} cannot be read: it is damaged") from error
    except FileNotFoundError as error:
        raise SourceError(f"{name} cannot be read: no such file") from error
    except OSError as error:
        raise SourceError(f"{name} cannot be read: {error.strerror or 'it is damaged'}") from error


# The rows of a history.


def read_frame(
    open_source: Callable[[], FrameSource],
    name: str,
    options: Options,
    rejects: RejectLog,
    progress: Progress,
    *,
    earlier: tuple[Collector, Roles] | None = None,
    record: str = "",
    memory: MemoryPlan | None = None,
) -> tuple[Collector, Roles]:
    """Pass every row to a collector; also return the role of each column.

    `name` names the source in messages. `earlier` has the collector and the roles of the files before it, and
    `record` is the id of all rows if each file is one record.
    """
    with polars_errors(name):
        source, row = open_source(), 0
        sample = list(zip(*map(_sample_texts, source.sample().get_columns()), strict=True))
        if earlier is None:
            roles = resolve_roles(source.names, options, header=True, sample=sample, declared=True)
            has_value, has_time = roles.value is not None, roles.time is not None
            collector = Collector(options, rejects, has_value, has_time, unit="row", memory=memory)
        else:
            collector, roles = earlier
            if sorted(source.names) != sorted(roles.names):
                raise SourceError(f"{name} has other columns than {collector.sources[0]}: read them one by one")
            unused = merge_unused(roles.unused, roles.unused_in(source.names, sample))
            roles = replace(roles, unused=unused).reordered(source.names)
        collector.begin_source(name)
        for batch in source.batches(roles.wanted):
            collector.add(_to_batch(batch, roles, row, collector.times, record))
            row += len(batch)
            progress("reading", *(source.position() if source.position else (row, max(row, source.rows))))
    if row == 0:
        raise SourceError(f"{name} has no rows: check the source")
    return collector, roles


def _sample_texts(column: pl.Series) -> list[str]:
    """Cells as text. If all are missing, one cell shows the type; nested cells are not shown."""
    kind = column.dtype
    if kind.is_nested() or kind in (pl.Binary, pl.Duration, pl.Object):
        return [NESTED] * len(column)
    if column.is_null().all() and (kind.is_temporal() or kind.is_numeric()):
        return ["1970-01-01" if kind.is_temporal() else "0"] * len(column)
    return column.cast(pl.String, strict=False).fill_null("").to_list()


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
    return Spans(byte_array(filled.str.join("").item() or ""), np.append(0, ends[:-1]), ends)


def _units(column: pl.Series, reader: TimeReader, status: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Convert dates and datetimes to whole units on the wall clock + TIME_BIAS; 0 if missing."""
    kind = column.dtype
    if kind in (pl.Time, pl.Duration):
        raise ColumnError(f"column {column.name!r} has type {kind}: convert it to a date or datetime")
    seconds = column.to_physical().fill_null(0).to_numpy().astype(np.int64)
    if isinstance(kind, pl.Datetime):
        seconds //= {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[kind.time_unit]
    else:
        seconds *= 86_400
    units = reader.from_seconds(seconds, local=not (isinstance(kind, pl.Datetime) and kind.time_zone is not None))
    missing = column.is_null().to_numpy()
    outside = (np.abs(units) >= TIME_BIAS) & ~missing  # outside the calendar, or outside 32 bits
    status[outside] = Reason.TIME_OUT_OF_RANGE
    return np.where(missing | outside, 0, units + TIME_BIAS).astype(np.uint32)
