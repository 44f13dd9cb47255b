"""Sources with named columns that are read in batches: frames, Parquet, Arrow, SQLite, DuckDB, JSON."""

import io
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
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
from standout.core.jit import Array, Int, kernel
from standout.core.progress import Progress
from standout.ingest.cells import DistinctCells, distinct_cells
from standout.ingest.collector import Batch, Collector, Spans, byte_array, constant_spans
from standout.ingest.formats import Kind, SourceFile, has_long_number, is_object
from standout.ingest.options import Options
from standout.ingest.roles import NESTED, Roles
from standout.ingest.sources import PACKED, Stream, first_bytes, open_stream
from standout.ingest.times import NO_TIME, TimeReader
from standout.ingest.tokens import without_marks

if TYPE_CHECKING:
    import pandas as pd

ROWS, FETCH = 1 << 18, 1 << 16
"""Largest number of rows of a batch, and of rows that are fetched from SQLite at a time."""
SAMPLE_ROWS, SHOWN, COPY = 50, 20, 1 << 20
IPC_FILE = b"ARROW1"
AT_A_TIME = {"Parquet": 8, "Arrow": 8}
"""Number of columns of a table that are read at a time, from a format that stores them one by one."""
SOURCES = (
    "source must be a path, a URL, a list of them, a Polars or pandas frame, "
    "or an object with the Arrow C stream interface"
)


@dataclass(frozen=True, slots=True)
class FrameSource:
    """A source with named columns.

    `batches` reads the columns at some positions, each named after its position: "0", "3", …; `first` returns
    the first rows of all columns. `rows` is the number of rows, or 0 if it is not known before they are read.
    `position` returns how much was read and the total, if it is not the number of rows.
    """

    names: tuple[str, ...]
    batches: Callable[[list[int]], Iterator[pl.DataFrame]]
    first: Callable[[], pl.DataFrame]
    rows: int = 0
    position: Callable[[], tuple[int, int]] | None = None
    name: str = "the frame"

    unit = "row"

    @property
    def sample(self) -> list[tuple[str, ...]]:
        """A few rows, as text."""
        with polars_errors(self.name):
            return list(zip(*map(_sample_texts, self.first().get_columns()), strict=True))

    def read(self, roles: Roles, record: str, collector: Collector, progress: Progress) -> None:
        """Pass every row of a history to the collector; `record` is the id of all rows if each file is one record."""
        collector.sources.append(self.name)
        row = 0
        with polars_errors(self.name):
            for batch in self.batches(roles.wanted):
                collector.add(_to_batch(batch, roles, row, collector.times, record))
                row += len(batch)
                progress("reading", *(self.position() if self.position else (row, max(row, self.rows))))
        if row == 0:
            raise SourceError(f"{self.name} has no rows: check the source")


def cells_of_frames(parts: Sequence[FrameSource], kind: str, wanted: Sequence[int]) -> Iterator[DistinctCells]:
    """Yield the distinct cells of columns of frames, or of files with the same columns."""
    at_a_time = AT_A_TIME.get(kind, max(len(wanted), 1))
    for first in range(0, len(wanted), at_a_time):
        positions, batches = list(wanted[first : first + at_a_time]), list[pl.DataFrame]()
        for part in parts:
            with polars_errors(part.name):
                own = list(part.batches(positions))
            if not any(map(len, own)):
                raise SourceError(f"{part.name} has no rows: check the source")
            batches += own
        for position in positions:
            series = [batch[str(position)] for batch in batches]
            kinds = {column.dtype for column in series if column.dtype != pl.Null}
            common = pl.String if len(kinds) > 1 else next(iter(kinds), pl.Null())  # as text if their types differ
            column = pl.concat([part if part.dtype == common else part.cast(common) for part in series])
            yield distinct_cells(column.alias(parts[0].names[position]))


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


def open_file(kind: Kind, file: SourceFile, options: Options, stack: ExitStack) -> FrameSource:
    """Open a file with named columns; `stack` removes what must be removed after reading."""
    with polars_errors(str(file.path)):
        return replace(_open_file(kind, file, options, stack), name=str(file.path))


def _open_file(kind: Kind, file: SourceFile, options: Options, stack: ExitStack) -> FrameSource:
    name = str(file.path)
    if kind in ("JSON lines", "JSON array"):
        return _json_source(name, lambda: open_stream(file.path, file.member, options.encoding), kind)
    path = file.path
    if not isinstance(path, Path) or file.member is not None or first_bytes(path).startswith(PACKED):
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


# JSON: one object for each line, or an array of objects, in blocks of constant memory.

BLOCK = 1 << 23
LARGEST_OBJECT = 1 << 28
NEWLINE, QUOTE, BACKSLASH, COMMA = ord("\n"), ord('"'), ord("\\"), ord(",")
OPEN, CLOSE, OPEN_LIST, CLOSE_LIST = ord("{"), ord("}"), ord("["), ord("]")
# States between the objects of an array.
START, FIRST, NEXT, INSIDE, AFTER, END, BAD = range(7)


@dataclass(frozen=True, slots=True)
class _Json:
    """A JSON source that can be read several times."""

    name: str
    open: Callable[[], AbstractContextManager[Stream]]
    kind: Kind

    def blocks(self) -> Iterator[tuple[int, bytes, Stream]]:
        """Yield blocks of complete lines, the number of lines before them, and the stream."""
        with self.open() as stream:
            stream.head = without_marks(stream.peek())
            before, rest = 0, b""
            splitter = ArraySplitter(self.name) if self.kind == "JSON array" else None
            buffer = np.empty(BLOCK, np.uint8)
            while count := stream.fill(buffer.data):
                part = buffer[:count] if splitter is None else splitter.split(buffer[:count])
                content = rest + part.tobytes()
                cut = content.rfind(b"\n") + 1
                rest = content[cut:]
                if len(rest) > LARGEST_OBJECT:
                    raise SourceError(f"{self.name} has an object of more than {LARGEST_OBJECT >> 20} MB")
                if cut:
                    yield before, content[:cut], stream
                    before += content.count(b"\n", 0, cut)
            if splitter is not None:
                splitter.finish()
            if rest.strip():
                yield before, rest, stream

    def damaged(self, before: int, block: bytes) -> SourceError:
        """Error that names the first bad line, or the object of an array, and never its content."""
        unit = "line" if self.kind == "JSON lines" else "object"
        for number, line in enumerate(block.split(b"\n"), start=before + 1):
            if line.strip() and not is_object(line):
                return SourceError(f"{self.name} {unit} {number} is not a JSON object: check the file")
            if line.strip() and has_long_number(line):
                return SourceError(
                    f"{self.name} {unit} {number} has a number with more digits than a number can have: put "
                    "it in quotes if it is an id"
                )
        lines = block.rstrip().count(b"\n") + 1
        return SourceError(f"{self.name} is not valid JSON in {unit}s {before + 1} to {before + lines}")


def _json_source(name: str, opens: Callable[[], AbstractContextManager[Stream]], kind: Kind) -> FrameSource:
    """Open a JSON source; it is read once for its fields, and once for its rows."""
    source = _Json(name, opens, kind)
    fields: dict[str, bool] = {}
    for before, block, _ in source.blocks():
        for field, is_nested in _json_fields(source, before, block).items():
            fields[field] = fields.get(field, False) or is_nested
    names = tuple(fields)
    state = [0, 0]

    def batches(positions: list[int]) -> Iterator[pl.DataFrame]:
        for position in positions:
            if fields[names[position]]:
                raise ColumnError(
                    f"column {names[position]!r} has nested fields: choose another column, "
                    "or write the fields that you need as columns of their own"
                )
        for before, block, stream in source.blocks():
            yield _read_json(source, before, block, {names[i]: str(i) for i in positions})
            state[:] = stream.done, stream.total

    def sample() -> pl.DataFrame:
        for before, block, _ in source.blocks():
            lines = b"\n".join(block.split(b"\n", SAMPLE_ROWS)[:SAMPLE_ROWS])
            return _read_json(source, before, lines, {name: str(i) for i, name in enumerate(names)})
        return pl.DataFrame()

    return FrameSource(names, batches, sample, position=lambda: (state[0], state[1]))


def _json_fields(source: _Json, before: int, block: bytes) -> dict[str, bool]:
    """Return the fields of all objects, and whether they are nested."""
    try:
        schema = pl.scan_ndjson(io.BytesIO(block), infer_schema_length=None).collect_schema()
        return {field: dtype.is_nested() for field, dtype in schema.items()}
    except pl.exceptions.SchemaError:  # a field is a list in one object and an object in another
        return _fields_one_by_one(source, before, block)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise source.damaged(before, block) from error


def _fields_one_by_one(source: _Json, before: int, block: bytes) -> dict[str, bool]:
    fields: dict[str, bool] = {}
    for line in block.split(b"\n"):
        if not line.strip():
            continue
        if not is_object(line):
            raise source.damaged(before, block)
        for field, cell in json.loads(line, parse_int=str).items():
            fields[field] = fields.get(field, False) or isinstance(cell, (list, dict))
    return fields


def _read_json(source: _Json, before: int, block: bytes, columns: dict[str, str]) -> pl.DataFrame:
    """Read some fields of all objects as text, so that 007 and 7 stay different ids."""
    try:
        schema = dict.fromkeys(columns, pl.String)
        return pl.read_ndjson(io.BytesIO(block), schema=schema).select(
            pl.col(name).alias(alias) for name, alias in columns.items()
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise source.damaged(before, block) from error


class ArraySplitter:
    """Turns an array of objects into one object for each line, part by part."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.state = np.array([START, 0, 0, 0])  # state, depth, inside a string, after a backslash

    def split(self, part: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the objects in a part of the text, with a line end after each."""
        out = np.empty(len(part), np.uint8)
        count = _split_array(part, out, self.state)
        if self.state[0] == BAD:
            raise SourceError(f"{self.name} is not a valid JSON array of objects: check the file")
        return out[:count]

    def finish(self) -> None:
        """Check that the array is complete."""
        if self.state[0] != END:
            raise SourceError(f"{self.name} is truncated: the JSON array does not end; copy or download it again")


@kernel
def _split_array(part: Array, out: Array, state: Array) -> Int:
    """Copy the objects of an array, with line ends instead of commas; return the number of bytes."""
    where, depth, in_string, escaped = state[0], state[1], state[2], state[3]
    n = 0
    for i in range(len(part)):
        byte = part[i]
        if where == INSIDE:
            out[n] = 32 if byte == NEWLINE else byte
            n += 1
            if in_string:
                if escaped:
                    escaped = 0
                elif byte == BACKSLASH:
                    escaped = 1
                elif byte == QUOTE:
                    in_string = 0
            elif byte == QUOTE:
                in_string = 1
            elif byte == OPEN or byte == OPEN_LIST:  # noqa: SIM109
                depth += 1
            elif byte == CLOSE or byte == CLOSE_LIST:  # noqa: SIM109
                depth -= 1
                if depth == 0:
                    where = AFTER
        elif byte == 32 or byte == NEWLINE or byte == 13 or byte == 9:
            continue
        elif where == START and byte == OPEN_LIST:
            where = FIRST
        elif (where == FIRST or where == NEXT) and byte == OPEN:  # noqa: SIM109
            where, depth = INSIDE, 1
            out[n] = byte
            n += 1
        elif where == AFTER and byte == COMMA:
            where = NEXT
            out[n] = NEWLINE
            n += 1
        elif (where == FIRST or where == AFTER) and byte == CLOSE_LIST:  # noqa: SIM109
            where = END
        else:
            where = BAD
            break
    state[0], state[1], state[2], state[3] = where, depth, in_string, escaped
    return n
