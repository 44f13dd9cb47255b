"""Tables of objects in memory: Polars and pandas frames, and objects with the Arrow C stream interface."""

from typing import Any

import polars as pl

from standout.ingest.frames import Table, is_arrow_stream, table_from_arrow, table_from_lazy, table_from_pandas

__all__ = ["is_table", "table_of"]


def is_table(source: Any) -> bool:
    """Whether an object can be read as a table."""
    return _is_pandas(source) or isinstance(source, (pl.DataFrame, pl.LazyFrame)) or is_arrow_stream(source)


def table_of(source: Any) -> Table:
    """Make a table of an object in memory, or of a DuckDB relation."""
    if _is_pandas(source):  # Arrow would lose the text of mixed columns
        return table_from_pandas(source)
    if isinstance(source, pl.DataFrame):
        return table_from_lazy(source.lazy(), len(source))
    return table_from_lazy(source) if isinstance(source, pl.LazyFrame) else table_from_arrow(source)


def _is_pandas(source: Any) -> bool:
    return type(source).__module__.startswith("pandas") and type(source).__name__ == "DataFrame"
