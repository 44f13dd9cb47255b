"""Columns of any source that so.read reads: files, databases, URLs, frames."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from standout.core.errors import ParameterError, SourceError
from standout.core.progress import Progress
from standout.ingest.file_tables import open_table
from standout.ingest.formats import RecognisedSource, check_options, recognise
from standout.ingest.frame_tables import is_table, table_of
from standout.ingest.frames import polars_errors
from standout.ingest.options import Options
from standout.ingest.read import SOURCES
from standout.ingest.sources import expand_paths
from standout.ingest.tables import Table as IngestTable
from standout.release.store import is_index
from standout.tables.delimited_columns import open_delimited

__all__ = ["SourceColumns", "open_columns"]

AT_A_TIME = {"Parquet": 8, "Arrow": 8, "SQLite": 8, "JSON lines": 16, "JSON array": 16}
"""Number of columns that are read at a time, from a source that can be read again."""


@dataclass(frozen=True, slots=True)
class SourceColumns:
    """A source as named columns. `series` reads those at some positions, one after the other, in order."""

    names: tuple[str, ...]
    series: Callable[[Sequence[int]], Iterator[pl.Series]]
    format: str
    files: tuple[str, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)


def open_columns(source: Any, options: Options, stack: ExitStack, progress: Progress) -> SourceColumns:
    """Open a source; `stack` removes temporary files after reading."""
    if not isinstance(source, (str, Path, list, tuple)):
        return _frame(source, options)
    sources = [source] if isinstance(source, (str, Path)) else list(source)
    if not sources or not all(isinstance(path, (str, Path)) for path in sources):
        raise ParameterError(SOURCES)
    paths = expand_paths(sources)
    if len(paths) == 1 and isinstance(paths[0], Path) and is_index(paths[0]):
        raise SourceError(f"{paths[0]} is an index of a history: read it with so.open")
    recognised = recognise(paths, options)
    check_options(recognised.kind, options)
    if recognised.kind == "Netflix Prize":
        raise SourceError(f"{paths[0]} has Netflix Prize files, which are a history: read them with so.read")
    is_text = recognised.kind in ("delimited text", "MovieLens")
    opened = [
        (_delimited if is_text else _file)(recognised, place, options, stack, progress)
        for place in range(len(recognised.files))
    ]
    return opened[0] if len(opened) == 1 else _joined(opened, paths)


def _frame(source: Any, options: Options) -> SourceColumns:
    if not is_table(source):
        raise ParameterError(f"{SOURCES}, got {type(source).__name__}")
    for name in sorted(options.changed() & {"skip_lines", "sql_table", "member", "header"}):
        raise ParameterError(f"{name} cannot be set for a frame: it applies only when files are read")
    if isinstance(source, pl.LazyFrame):  # run once: a query may return its rows in another order
        with polars_errors("the frame"):
            source = source.collect()
    with polars_errors("the frame"):
        table = table_of(source)
    return SourceColumns(
        table.names, lambda wanted: _series(table, wanted, len(table.names), "the frame"), "frame"
    )


def _file(
    source: RecognisedSource, place: int, options: Options, stack: ExitStack, progress: Progress
) -> SourceColumns:
    file = source.files[place]
    name = str(file.path)
    with polars_errors(name):
        table = open_table(source.kind, file, options, stack)
    at_a_time = AT_A_TIME.get(source.kind, len(table.names))
    return SourceColumns(
        table.names,
        lambda wanted: _series(table, wanted, at_a_time, name),
        source.kind,
        (_shown(file.path.name),),
    )


def _delimited(
    source: RecognisedSource, place: int, options: Options, stack: ExitStack, progress: Progress
) -> SourceColumns:
    file = source.files[place]
    opened = open_delimited(file, options, stack, progress)
    return SourceColumns(
        opened.names,
        lambda wanted: opened.columns(wanted, stack),
        "delimited text",
        (_shown(file.path.name),),
        opened.layout.settings(),
    )


def _series(table: IngestTable, wanted: Sequence[int], at_a_time: int, name: str) -> Iterator[pl.Series]:
    """Yield columns of a table of so.read, some of them at a time."""
    with polars_errors(name):
        for first in range(0, len(wanted), max(at_a_time, 1)):
            positions = list(wanted[first : first + at_a_time])
            batches = list(table.batches(positions))
            if not batches or not any(map(len, batches)):
                raise SourceError(f"{name} has no rows: check the source")
            for position in positions:
                parts = [batch[str(position)] for batch in batches]
                yield _one_type(parts).alias(table.names[position])


def _one_type(parts: list[pl.Series]) -> pl.Series:
    """Join the parts of a column; as text if their types differ."""
    kinds = {part.dtype for part in parts if part.dtype != pl.Null}
    if len(kinds) > 1:
        parts = [part.cast(pl.String) for part in parts]
    elif kinds:
        parts = [part.cast(*kinds) if part.dtype == pl.Null else part for part in parts]
    return parts[0] if len(parts) == 1 else pl.concat(parts)


def _joined(parts: list[SourceColumns], paths: list[Any]) -> SourceColumns:
    """Several files with the same columns are one table, in the order of the files."""
    first = parts[0]
    for part, path in zip(parts[1:], paths[1:], strict=False):
        if part.names != first.names:
            raise SourceError(f"{path} has other columns than {paths[0]}: read them one by one")

    def series(wanted: Sequence[int]) -> Iterator[pl.Series]:
        for columns in zip(*(part.series(wanted) for part in parts), strict=True):
            yield _one_type([column.alias(columns[0].name) for column in columns])

    return replace(first, series=series, files=tuple(name for part in parts for name in part.files))


def _shown(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
