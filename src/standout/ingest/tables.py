"""Tables: sources with named columns that are read in batches, such as frames and Parquet files."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from standout.ingest.parquet_sizes import check_parquet_sizes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ROWS", "SAMPLE_ROWS", "Table", "parquet_table", "table_from_lazy", "table_from_pandas"]

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
