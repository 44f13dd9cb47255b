"""Sources with named columns that are read in batches: frames, Parquet, Arrow, SQLite, DuckDB, JSON."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from glob import escape
from itertools import chain
from pathlib import Path
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout.core.errors import ColumnError, ParameterError, SourceError, install_command
from standout.core.files import temporary_folder
from standout.core.progress import Progress
from standout.ingest.cells import DistinctCells, distinct_cells
from standout.ingest.collector import Batch, Collector, Spans, byte_array, constant_spans
from standout.ingest.formats import Format, Options, SourceFile
from standout.ingest.roles import NESTED, Roles
from standout.ingest.sources import PACKED, UTF8, first_bytes, is_utf8, open_stream, read_errors
from standout.ingest.times import NO_TIME, TimeReader
from standout.ingest.tokens import UTF8_MARK, without_marks

if TYPE_CHECKING:
    import pandas as pd

    from standout.ingest.read import SourceReader

ROWS, FETCH = 1 << 18, 1 << 16
"""Largest number of rows of a batch, and of rows that are fetched from SQLite at a time."""
SAMPLE_ROWS, SHOWN, COPY = 50, 20, 1 << 20
IPC_FILE = b"ARROW1"
JSON_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
AT_A_TIME = 8
"""Number of columns of a table that are read at a time, from a format that stores them one by one."""
SOURCES = (
    "source must be a path, a URL, a list of them, a Polars or pandas frame, "
    "or an object with the Arrow C stream interface"
)
Batches = Callable[[Sequence[int], int | None], Iterator[pl.DataFrame]]


@dataclass(frozen=True, slots=True)
class FrameSource:
    """A source with named columns.

    `batches` reads the columns at some positions, each named after its position: "0", "3", …; the second argument is
    the number of rows, if only the first ones are wanted. `rows` is the number of rows, or 0 if it is not known before
    they are read. A format that is columnar stores the columns one by one.
    """

    names: tuple[str, ...]
    batches: Batches
    rows: int = 0
    name: str = "the frame"
    is_columnar: bool = False

    unit = "row"

    @property
    def sample(self) -> list[tuple[str, ...]]:
        """A few rows, as text."""
        with polars_errors(self.name):
            first = next(self.batches(range(len(self.names)), SAMPLE_ROWS), pl.DataFrame())
            return list(zip(*map(_sample_texts, first.get_columns()), strict=True))

    def read(self, roles: Roles, record: str, collector: Collector, progress: Progress) -> None:
        """Pass every row of a history to the collector; `record` is the id of all rows if each file is one record."""
        collector.sources.append(self.name)
        row = 0
        with polars_errors(self.name):
            for batch in self.batches(roles.wanted, None):
                collector.add(_to_batch(batch, roles, row, collector.times, record))
                row += len(batch)
                progress("reading", row, max(row, self.rows))
        if row == 0:
            raise SourceError(f"{self.name} has no rows: check the source")

    def cells(
        self, parts: Callable[[], Iterable["FrameSource"]], reader: "SourceReader", wanted: Sequence[int]
    ) -> Iterator[DistinctCells]:
        """Yield the distinct cells of some columns of a table, in sources with the same columns."""
        at_a_time = AT_A_TIME if self.is_columnar else max(len(wanted), 1)
        for first in range(0, len(wanted), at_a_time):
            positions, batches = list(wanted[first : first + at_a_time]), list[pl.DataFrame]()
            for part in parts():
                with polars_errors(part.name):
                    own = list(part.batches(positions, None))
                if not any(map(len, own)):
                    raise SourceError(f"{part.name} has no rows: check the source")
                batches += own
            for position in positions:
                series = [batch[str(position)] for batch in batches]
                kinds = {column.dtype for column in series if column.dtype != pl.Null}
                common = pl.String if len(kinds) > 1 else next(iter(kinds), pl.Null())  # as text if their types differ
                column = pl.concat([part if part.dtype == common else part.cast(common) for part in series])
                yield distinct_cells(column.alias(self.names[position]))


def open_frame(source: Any) -> FrameSource:
    """Open an object in memory, or a DuckDB relation."""
    if type(source).__module__.startswith("pandas") and type(source).__name__ == "DataFrame":
        return _pandas_source(source)  # Arrow would lose the text of mixed columns
    if isinstance(source, pl.DataFrame):
        return _lazy_source(source.lazy(), len(source))
    if isinstance(source, pl.LazyFrame):
        return _lazy_source(source)
    if not hasattr(source, "__arrow_c_stream__"):
        raise ParameterError(f"{SOURCES}, got {type(source).__name__}")
    return _arrow_source(source)


@contextmanager
def open_file(kind: Format, file: SourceFile, options: Options) -> Iterator[FrameSource]:
    """Open a file with named columns."""
    with ExitStack() as stack:
        with polars_errors(str(file.path)):
            opened = _open_file(kind, file, options, stack)
        yield replace(opened, name=str(file.path), is_columnar=kind in ("Parquet", "Arrow"))


def _open_file(kind: Format, file: SourceFile, options: Options, stack: ExitStack) -> FrameSource:
    path, is_json = file.path, kind in ("JSON lines", "JSON array")
    is_plain = is_utf8(options.encoding) and not first_bytes(path).startswith(UTF8_MARK)
    is_plain = (is_plain and escape(str(path)) == str(path)) or not is_json  # Polars takes a*.jsonl for a pattern
    if not is_plain or not isinstance(path, Path) or file.member or first_bytes(path).startswith(PACKED):
        path = stack.enter_context(temporary_folder()) / "source"
        with (
            open_stream(file.path, file.member, options.encoding if is_json else UTF8) as stream,
            path.open("xb") as copy,
        ):
            stream.head = without_marks(stream.peek()) if is_json else stream.peek()
            copyfileobj(stream, copy, COPY)
    if is_json:
        return _json_source(path, str(file.path), kind == "JSON array")
    if kind == "Parquet":
        frame = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        return _lazy_source(frame, int(frame.select(pl.len()).collect().item()))
    if kind == "Arrow":
        if first_bytes(path, len(IPC_FILE)) == IPC_FILE:
            return _lazy_source(pl.scan_ipc(path, glob=False, hive_partitioning=False))
        return open_frame(pl.read_ipc_stream(path))  # Polars reads a stream as a whole
    return (_sqlite_source if kind == "SQLite" else _duckdb_source)(path, options.sql_table, str(file.path))


def _lazy_source(frame: pl.LazyFrame, rows: int = 0) -> FrameSource:
    names = tuple(frame.collect_schema().names())

    def batches(positions: Sequence[int], most: int | None) -> Iterator[pl.DataFrame]:
        return _batches(frame.select(pl.col(names[i]).alias(str(i)) for i in positions), most)

    return FrameSource(names, batches, rows)


def _batches(frame: pl.LazyFrame, most: int | None) -> Iterator[pl.DataFrame]:
    if most is not None:
        yield frame.head(most).collect()
        return
    for batch in frame.collect_batches(chunk_size=ROWS, maintain_order=True):
        yield from batch.iter_slices(ROWS)


def _pandas_source(frame: "pd.DataFrame") -> FrameSource:
    def batches(positions: Sequence[int], most: int | None) -> Iterator[pl.DataFrame]:
        part = frame if most is None else frame.head(most)
        return pl.DataFrame([_from_pandas_column(part.iloc[:, i], str(i)) for i in positions]).iter_slices(ROWS)

    return FrameSource(tuple(map(str, frame.columns)), batches, len(frame))


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
        return open_frame(pl.DataFrame(source))
    reader, rows = pa.RecordBatchReader.from_stream(source), getattr(source, "num_rows", 0)
    names = tuple(reader.schema.names)
    if len(set(names)) < len(names):
        raise SourceError("the source has two columns with the same name: rename one")
    frames = (pl.DataFrame(pl.from_arrow(batch)) for batch in reader)  # they can be read only once
    first = list(next(frames, pl.DataFrame()).iter_slices(ROWS))

    def batches(positions: Sequence[int], most: int | None) -> Iterator[pl.DataFrame]:
        for frame in chain(first, frames) if most is None else (part.head(most) for part in first[:1]):
            yield from frame.select(pl.nth(i).alias(str(i)) for i in positions).iter_slices(ROWS)

    return FrameSource(names, batches, rows if isinstance(rows, int) else 0)


def _sqlite_source(path: Path, table: str | None, name: str) -> FrameSource:
    def connect() -> "closing[sqlite3.Connection]":
        return closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True))

    with _database_errors(name, sqlite3.Error), connect() as database:
        listed = database.execute(
            "SELECT name, type = 'table' FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
            "AND type IN ('table', 'view') ORDER BY name"
        ).fetchall()
        chosen = _chosen(table, listed, name)
        names = tuple(column[0] for column in database.execute(f"SELECT * FROM {chosen} LIMIT 0").description)
        rows = int(database.execute(f"SELECT count(*) FROM {chosen}").fetchone()[0])

    def batches(positions: Sequence[int], most: int | None) -> Iterator[pl.DataFrame]:
        columns = ", ".join(_quoted(names[i]) for i in positions)
        with _database_errors(name, sqlite3.Error), connect() as database:
            cursor = database.execute(f"SELECT {columns} FROM {chosen} LIMIT {-1 if most is None else most}")
            while fetched := cursor.fetchmany(FETCH):
                cells = zip(positions, zip(*fetched, strict=True), strict=True)
                yield pl.DataFrame([_sqlite_series(names[i], str(i), own, most is not None) for i, own in cells])

    return FrameSource(names, batches, rows)


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
            "SELECT table_name, table_type = 'BASE TABLE' FROM information_schema.tables "
            "WHERE table_schema = 'main' ORDER BY table_name"
        ).fetchall()
        return _arrow_source(database.sql(f"SELECT * FROM {_chosen(table, listed, name)}"))


def _chosen(table: str | None, listed: Sequence[tuple[str, bool]], name: str) -> str:
    """The table or view that the user named, or the only table, in quotes; `listed` says which are tables."""
    names = [each for each, _ in listed]
    shown = ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
    if table is not None and table not in names:
        raise ParameterError(f"sql_table must be one of {shown}, got {table!r}: {name} has no such table")
    candidates = [table] if table is not None else [each for each, is_table in listed if is_table] or names
    if not candidates:
        raise SourceError(f"{name} has no tables: check the file")
    if len(candidates) > 1:
        raise SourceError(f"{name} has {len(candidates)} tables: choose one with sql_table=… ({shown})")
    return _quoted(candidates[0])


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
    """Turn errors of Polars and of files into a SourceError of one line."""
    with read_errors(name):
        try:
            yield
        except pl.exceptions.PolarsError as error:
            # the first line, without quotes and brackets, which may contain data
            shown = " ".join(str(error).splitlines()[0].split("'")[0].split("[")[0].split()) or type(error).__name__
            raise SourceError(f"{name} cannot be read: {shown}") from error
        except pl.exceptions.PanicException as error:  # a damaged file can make Polars panic
            raise SourceError(f"{name} cannot be read: it is damaged") from error


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
    return Batch(
        line=np.arange(first + 1, first + len(batch) + 1),
        status=status,
        record=constant_spans(record, len(batch)) if roles.record is None else _spans(_id(column(roles.record))),
        item=tuple(_spans(_id(column(position), roles.places)) for position in roles.item),
        value=None if roles.value is None else _spans(_text(column(roles.value))),
        time=time,
    )


def _id(column: pl.Series, is_coordinate: bool = False) -> pl.Series:
    """Ids or degrees as text; whole numbers that are floats only because some are missing stay whole."""
    column = column.fill_nan(None) if column.dtype.is_float() else column
    if column.dtype.is_float() and not is_coordinate:
        whole = column.cast(pl.Int64, strict=False)
        if not (whole.cast(column.dtype).eq_missing(column)).all():
            raise ColumnError(f"column {column.name!r} has fractions: ids must be text or whole numbers")
        column = whole
    return _text(column)


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
    """Convert dates and datetimes to codes of times."""
    kind = column.dtype
    if kind in (pl.Time, pl.Duration):
        raise ColumnError(f"column {column.name!r} has type {kind}: convert it to a date or datetime")
    seconds = column.to_physical().fill_null(0).to_numpy().astype(np.int64)
    if isinstance(kind, pl.Datetime):
        seconds //= {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[kind.time_unit]
    else:
        seconds *= 86_400
    seconds[column.is_null().to_numpy()] = NO_TIME
    is_local = np.full(len(seconds), not (isinstance(kind, pl.Datetime) and kind.time_zone is not None))
    return reader.to_codes(seconds, is_local, status)


# JSON: one object for each line, or an array of objects, which is held in memory.


def _json_source(path: Path, name: str, is_array: bool) -> FrameSource:
    """Open a JSON file in UTF-8; it is read once for its fields, and once for its rows."""

    def scan(**options: Any) -> pl.LazyFrame:
        return pl.read_json(path, **options).lazy() if is_array else pl.scan_ndjson(path, **options)

    try:
        schema = scan(infer_schema_length=None).collect_schema()
        is_nested = {field: kind.is_nested() for field, kind in schema.items()}
    except JSON_ERRORS:  # a list in one object, an object in another
        is_nested = {}
        for found in _json_objects(path, name, is_array):
            is_nested |= {
                field: isinstance(cell, (list, dict)) or is_nested.get(field, False) for field, cell in found.items()
            }
    names = tuple(is_nested)

    def batches(positions: Sequence[int], most: int | None) -> Iterator[pl.DataFrame]:
        if most is None and (nested := [names[i] for i in positions if is_nested[names[i]]]):
            raise ColumnError(
                f"column {nested[0]!r} has nested fields: choose another column, "
                "or write the fields that you need as columns of their own"
            )
        columns = [(pl.lit(NESTED) if is_nested[names[i]] else pl.col(names[i])).alias(str(i)) for i in positions]
        schema = {names[i]: pl.String for i in positions if not is_nested[names[i]]}  # so 007 and 7 stay different ids
        try:
            yield from _batches(scan(schema=schema).select(columns), most)
        except JSON_ERRORS as error:
            for _ in _json_objects(path, name, is_array):  # names the first that is none
                pass
            raise SourceError(f"{name} is not valid JSON: check the file") from error

    return FrameSource(names, batches)


def _json_objects(path: Path, name: str, is_array: bool) -> Iterator[dict[str, Any]]:
    """Yield objects one by one; an error names the line of the first that is none, and never its content."""
    with path.open("rb") as file:
        for number, line in enumerate([file.read()] if is_array else file, start=1):
            try:
                found = json.loads(line, parse_int=str) if line.strip() else []  # int() refuses 4,301 digits
            except (ValueError, RecursionError):
                found = None
            found = [found] if isinstance(found, dict) and not is_array else found
            if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
                where = "is not a JSON array of objects" if is_array else f"line {number} is not a JSON object"
                raise SourceError(f"{name} {where}: write one object in each line, or an array of objects")
            yield from found
