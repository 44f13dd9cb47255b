"""Pass the rows of a table (a frame, a Parquet file, …) to a collector, batch by batch."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout.core.errors import ColumnError, SourceError
from standout.core.progress import Progress
from standout.ingest.collector import Batch, Collector, Spans, constant_spans
from standout.ingest.column_kinds import NESTED
from standout.ingest.column_roles import Roles, resolve_roles
from standout.ingest.options import Options
from standout.ingest.rejects import Reason, RejectLog
from standout.ingest.tables import Table
from standout.ingest.timestamps import TimeReader
from standout.ingest.unused_columns import merge_unused
from standout.release.build_kernels import TIME_BIAS
from standout.release.code_blocks import MemoryPlan

__all__ = ["polars_errors", "read_frame"]


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
        record=constant_spans(record, len(batch))
        if roles.record is None
        else _spans(_id(column(roles.record))),
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
        raise ColumnError(
            f"column {column.name!r} has type {column.dtype}: convert it to text or numbers"
        ) from error


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
