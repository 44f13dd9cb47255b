"""Arrow: IPC (Feather) files and streams, and objects with the Arrow C stream interface."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from standout.core.errors import SourceError
from standout.ingest.arrow_sizes import check_arrow_sizes
from standout.ingest.tables import ROWS, SAMPLE_ROWS, Table, table_from_lazy

__all__ = ["IPC_FILE", "IPC_STREAM", "ipc_table", "is_arrow_stream", "table_from_arrow"]

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
