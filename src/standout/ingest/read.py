"""`standout.read`: recognise the format and the kind of a source, and read it."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from standout.cluster.workers import on_client
from standout.core.errors import ParameterError, ReadingWarning, SourceError
from standout.core.progress import Progress, ProgressMeter, ProgressOption, no_progress, with_progress
from standout.core.threads import current_pool, memory_limit
from standout.data.build import MemoryPlan
from standout.data.entries import Repeats
from standout.data.export import FrameExport
from standout.data.labels import Provenance, TimeUnit
from standout.data.release import Release
from standout.data.store import is_index, open_index, open_index_writer
from standout.ingest.cells import ValueType
from standout.ingest.collector import Collector
from standout.ingest.delimited import Layout, netflix_roles, open_text, read_netflix
from standout.ingest.formats import (
    NETFLIX_FILES,
    NETFLIX_TITLES,
    TEXT,
    ColumnName,
    Format,
    Kind,
    Options,
    RecognisedSource,
    SourceFile,
    labels_of_titles,
    parse_titles,
    read_titles,
    recognise,
    record_ids,
)
from standout.ingest.report import RejectLog, reading_warnings, waive_columns
from standout.ingest.roles import check_people, resolve_roles
from standout.ingest.schema import Schema
from standout.ingest.sources import RemotePath, expand_paths, file_size, open_stream, tar_members
from standout.ingest.tables import LARGEST, TablePlan, TableReading, join_history, table_plan

MOST_BYTES = 1 << 30
"""Largest file that a worker reads."""
RECORDED = {
    "max_rejects", "member", "quote", "record_from_name", "skip_lines", "sql_table", "value_bin",
    "value_type",
}  # fmt: skip


@with_progress
def read(
    source: Any,
    *,
    kind: Kind = "auto",
    record: ColumnName | bool | None = None,
    item: ColumnName | Sequence[ColumnName] | None = None,
    value: ColumnName | bool | None = None,
    time: ColumnName | bool | None = None,
    ignore: ColumnName | Sequence[ColumnName] | None = None,
    latitude: ColumnName | None = None,
    longitude: ColumnName | None = None,
    grid: float | str | None = None,
    geohash: int | None = None,
    titles: str | Path | None = None,
    schema: Schema | str | Path | Mapping[str, Any] | None = None,
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
    record_from_name: str | None = None,
    value_type: ValueType = "auto",
    value_bin: float | None = None,
    time_format: str | None = None,
    time_unit: TimeUnit | None = None,
    time_bin: str | None = None,
    zone: str = "UTC",
    repeats: Repeats = "auto",
    max_rejects: int | str = 0,
    progress: ProgressOption = no_progress,
) -> Release:
    """Read a release from files, a folder, a URL, a data frame or an index: a history, a survey, or both.

    Reads CSV and similar files (any separator; gzip, zstd, zip), JSON lines and arrays, Parquet, Arrow IPC
    (Feather), SQLite and DuckDB files, MovieLens, the Netflix Prize files, frames and Arrow tables. Ids are
    text and stay as they are. In a survey (one row per person), every column but the id is an attribute, and
    what it is is inferred from its cells. `release.provenance` says how the source was interpreted;
    docs/reading.md and docs/tables.md have the rules.

    Parameters
    ----------
    source : path, URL, list of them, or frame
        A file, a glob, a folder of files of one kind, a URL (s3://, https://, …), an index, a Polars or
        pandas frame, a LazyFrame, a DuckDB relation, or any object with the Arrow C stream interface.
    kind : {"auto", "table", "history"}
        Whether a row is a person or an entry; default: recognised by the columns and the ids.
    record : str, int or False, optional
        Column of the record, by name or number (1 is the first); default: recognised. False: a table without ids.
    item : str, int or list, optional
        Column of the item. Several columns are joined to one item.
    value, time : str, int or bool, optional
        Columns of the value and of the time. False ignores such a column.
    ignore : str, int or list, optional
        Columns to leave out on purpose. Others that nobody uses and that may identify people cause a
        `ReadingWarning`, and an audit with `fail_above` rejects them.
    latitude, longitude : str or int, optional
        Columns of coordinates in decimal degrees, with `grid` or `geohash`; default: recognised by their names.
    grid : float or str, optional
        Items are places: squares of this many degrees. The id of a square is its south-west corner.
    geohash : int, optional
        Items are places: geohashes of this many letters, 1 to 12.
    titles : path, optional
        File with titles of the items.
    schema : Schema, path or mapping, optional
        What the columns of a table are and how they are compared: a schema, a schema file, or by column name a
        mapping such as {"zip": {"hierarchy": "prefix"}}. What it leaves open is inferred.
    missing : list of str, optional
        Texts that mean an empty cell of a table; default: usual ones such as NA and ?.
    history : path, URL, frame or Release, optional
        Entries of the people of a table, joined by the id. People without a row are appended with empty cells.
    history_options : mapping, optional
        Options of this function for the history.
    separator, header, quote, encoding : optional
        Separator of a delimited file, whether its first line has the column names, its quote character (empty for
        none), and its encoding; default: recognised.
    member : str, optional
        File to read inside a zip archive.
    sql_table : str, optional
        Table to read in a SQLite or DuckDB file; default: its only table.
    skip_lines : int
        Number of lines to skip at the start of each text file.
    record_from_name : str, optional
        Regular expression, if each file is one record. The record id is its first group (or the whole match)
        in the path of the file below the folder.
    value_type : {"auto", "number", "text"}
        "auto": numbers if any value is a number, else categories.
    value_bin : float, optional
        Round numbers down to multiples of this width.
    time_format : str, optional
        "s", "ms", "us" or "ns" since 1970, "iso", or a pattern of strptime; default: recognised.
    time_unit : {"day", "hour", "minute"}
        Unit of the times in the release; default: day, or the unit of `time_bin`.
    time_bin : str, optional
        Round times down to minute, hour, day, week, month, or to several units such as "15min", "6h" or "2d".
    zone : str
        Time zone. Unix times and times with a zone are converted to it; other times are taken as written.
    repeats : {"auto", "keep", "last", "first", "max", "error"}
        Which of several rows with the same record and item to keep: all ("keep"), the last or the first in time
        (then in row order), or that with the largest value; "error" raises an error. "auto" keeps all if more than
        1 % of the rows repeat, otherwise the last.
    max_rejects : int or str
        Largest number or share ("5%") of unusable rows.
    progress : bool or callable, optional
        True shows a bar; a function is called with (stage, done, total).

    Returns
    -------
    Release
        The release.

    Raises
    ------
    SourceError
        If the source cannot be read.
    ColumnError
        If a column is missing or cannot be identified.
    RejectedRows
        If more rows are unusable than `max_rejects` allows.
    ParameterError
        If an option is not allowed.

    Examples
    --------
    >>> import polars as pl, standout as so
    >>> frame = pl.DataFrame({"user": ["007", "7"], "film": ["Brazil", "Bent"], "stars": [4.5, 1]})
    >>> so.read(frame).record("007").entries
    (Entry(item='Brazil', value=4.5, time=None),)
    """
    given = {name: value for name, value in locals().items() if name in Options.__dataclass_fields__}
    given["kind"] = "table" if history is not None and kind == "auto" else kind
    reader = SourceReader(Options(**given | {"schema": as_schema(schema)}), progress)
    release = reader.read(source, titles, history, history_options)
    for message in reader.messages(release):
        warnings.warn(message, ReadingWarning, stacklevel=2)
    return release


def as_schema(schema: Schema | str | Path | Mapping[str, Any] | None) -> Schema:
    """The schema that a user names or describes."""
    if schema is None or isinstance(schema, Schema):
        return schema or Schema()
    return Schema.of_dict(schema) if isinstance(schema, Mapping) else Schema.read(schema)


def open_part(
    kind: Format, file: SourceFile, options: Options, like: Layout | None = None
) -> AbstractContextManager[Any]:
    """Open a file; a further file of delimited text has the layout of the first."""
    if kind in TEXT:
        return open_text(file, options, like)
    from standout.ingest.frames import open_file

    return open_file(kind, file, options)


class Further(NamedTuple):
    """What the first of several files says about the others; their columns may be in another order."""

    kind: Format
    first: str
    layout: Layout | None

    def read(self, file: SourceFile, record: str, collector: Collector, progress: Progress) -> None:
        """Pass every row of a file to a collector."""
        with open_part(self.kind, file, collector.options, self.layout) as part:
            if sorted(part.names) != sorted(collector.roles.names):
                raise SourceError(f"{file.path} has other columns than {self.first}: read them one by one")
            part.read(collector.roles.reordered(part.names), record, collector, progress)


def read_part(further: Further, file: SourceFile, record: str, collector: Collector) -> Collector:
    """Read a file on a worker."""
    further.read(file, record, collector, no_progress)
    return collector.packed()


@dataclass(slots=True)
class SourceReader:
    """Reads one source; afterwards `rejects` has the unusable rows, and `table` how a table was read."""

    options: Options
    progress: Progress = no_progress
    rejects: RejectLog = field(default_factory=RejectLog)
    memory: MemoryPlan | None = None
    table: TableReading | None = None
    history: Release | None = None

    def read(
        self,
        source: Any,
        titles: str | Path | None = None,
        history: Any = None,
        history_options: Mapping[str, Any] | None = None,
    ) -> Release:
        """Read the release in a source, and join a history of the same people."""
        release = self._source(source, titles)
        settings = dict(history_options or {})
        if history is None:
            if history_options is not None:
                raise ParameterError("history_options must be given with a history only: set history as well")
            return release
        if isinstance(history, Release):
            if settings:
                raise ParameterError("history_options cannot be set if history is a release that was read before")
            return join_history(release, history)
        titles = settings.pop("titles", None)
        if unknown := sorted({*settings} - {*Options.__dataclass_fields__}):
            raise ParameterError(f"history_options must be options of so.read, got {unknown[0]!r}")
        reader = SourceReader(Options(**{"kind": "history"} | settings), self.progress)
        self.history = reader.read(history, titles)
        return join_history(release, self.history)

    def messages(self, release: Release) -> Iterator[str]:
        """Yield what the user should know about how a release was read."""
        doubts = None if self.table is None else (doubt.text for doubt in self.table.doubts)
        yield from reading_warnings(release) if doubts is None else doubts
        if self.history is not None:
            yield from (f"history: {message}" for message in reading_warnings(self.history))

    def _source(self, source: Any, titles: str | Path | None) -> Release:
        known: SourceFile | None = None
        sources = [source] if isinstance(source, (str, Path)) else source
        if not isinstance(sources, (list, tuple)):
            release = self._frame(source)
        elif not sources or not all(isinstance(path, (str, Path)) for path in sources):
            from standout.ingest.frames import SOURCES

            raise ParameterError(SOURCES)
        else:
            paths = expand_paths(list(sources))
            if len(paths) == 1 and isinstance(paths[0], Path) and paths[0].is_dir() and is_index(paths[0]):
                release = self._index(paths[0])
            else:
                found = recognise(paths, self.options)
                known = found.titles
                size = Path(sources[0]).stat().st_size if Path(sources[0]).is_file() else LARGEST + 1
                may_be_table = len(sources) == 1 and found.kind != "MovieLens"
                is_netflix = found.kind == "Netflix Prize"
                release = self._netflix(found) if is_netflix else self._files(found, size if may_be_table else None)
        if titles is not None:
            if release.columns:
                raise ParameterError("titles must be given for a history only: a table has no items")
            known = SourceFile(expand_paths([titles])[0])
        if known is None or release.columns:
            return release
        read_now = read_titles(known.path, known.member, release.items)
        return replace(release, titles=labels_of_titles(release.items, read_now))

    def _index(self, path: Path) -> Release:
        if self.options.kind == "table":
            raise SourceError(f"{path} is an index of a history: leave out kind='table'")
        if changed := sorted(self.options.changed() - {"ignore"}):
            raise ParameterError(f"{changed[0]} cannot be set for the index {path}: it applies to source files")
        return waive_columns(open_index(path), self.options.ignored)

    def _frame(self, source: Any) -> Release:
        from standout.ingest.frames import open_frame, polars_errors

        for name in sorted(self.options.changed() & {"record_from_name", "skip_lines", "sql_table"}):
            raise ParameterError(f"{name} cannot be set for a frame: it applies only when files are read")
        with polars_errors("the frame"):
            opened, plan = open_frame(source), None
            if self.options.kind == "table" or type(source).__module__.startswith(("polars", "pandas")):
                plan = table_plan(opened.names, self.options, 0)  # a stream can be read only once
            if plan is not None and hasattr(source, "collect"):
                opened = open_frame(source.collect())  # run a query once: it may change the order of rows
        found = RecognisedSource("frame", ())
        release = None if plan is None else self._table(found, opened, plan)
        return self._history(found, opened) if release is None else release

    def _files(self, source: RecognisedSource, size: int | None) -> Release:
        """Read files. The first is opened once, unless its last rows show that it is no table."""
        with open_part(source.kind, source.files[0], self.options) as first:
            plan = TablePlan() if self.options.kind == "table" else None
            if plan is None and size is not None and (source.kind not in TEXT or first.has_sure_names(self.options)):
                plan = table_plan(first.names, self.options, size)
                plan = None if plan is not None and source.kind in TEXT and first.repeats(plan.unique) else plan
            if plan is None:
                return self._history(source, first)
            release = self._table(source, first, plan)
        if release is not None:
            return release
        self.rejects = RejectLog()
        with open_part(source.kind, source.files[0], self.options) as first:
            return self._history(source, first)

    def _table(self, source: RecognisedSource, first: Any, plan: TablePlan) -> Release | None:
        """Read one row per person; None if the cells show that it is a history."""

        def parts() -> Iterator[Any]:
            yield first
            for file in source.files[1:]:
                with open_part(source.kind, file, self.options) as part:
                    if part.names != first.names:
                        other = source.files[0].path
                        raise SourceError(f"{file.path} has other columns than {other}: read them one by one")
                    yield part

        table = TableReading(self.options, self.progress)
        release = table.read(first.names, partial(first.cells, parts, self), plan)
        if release is None:
            return None
        self.table = table
        read, files = release.provenance, tuple(_printable(file.path.name) for file in source.files)
        if source.kind not in TEXT:
            return replace(release, provenance=replace(read, format=source.kind, files=files))
        settings = self.rejects.settings() | first.layout.settings() | read.settings
        return replace(
            release,
            provenance=replace(
                read, format="delimited text", files=files, **self.rejects.provenance("line") | {"settings": settings}
            ),
        )

    def _history(self, source: RecognisedSource, first: Any) -> Release:
        """Read one row per entry, one file after another, or on workers where there are any."""
        options, files, kind = self.options, source.files, source.kind
        records, layout = record_ids(files, options.record_from_name), first.layout if kind in TEXT else None
        meter = ProgressMeter("reading", max(len(files), 1), self.progress)
        roles = resolve_roles(first.names, options, layout is None or layout.header, first.sample, kind)
        collector = Collector(options, self.rejects, roles, first.unit, self.memory)
        with meter.part(1):
            first.read(roles, records[0], collector, meter)
        number, pool, paths = 1, current_pool(), [file.path for file in files[1:]]
        if collector.places is not None or not all(isinstance(path, RemotePath) or path.is_file() for path in paths):
            pool = None
        elif pool is not None and paths and max(map(file_size, paths)) > MOST_BYTES:
            pool = None  # the codes of a file are in a worker's memory
        while number < len(files):
            further = Further(kind, str(files[0].path), layout)
            if pool is not None:
                tasks = ((further, files[i], records[i], collector.fresh()) for i in range(number, len(files)))
                for part in pool.map(read_part, tasks):
                    if not collector.merge(part):
                        break  # its times have another format
                    number += 1
                    with meter.part(1):
                        pass
            if number < len(files):
                with meter.part(1):
                    further.read(files[number], records[number], collector, meter)
                number += 1
        return self._finish(source, collector, {} if layout is None else layout.settings())

    def _netflix(self, source: RecognisedSource) -> Release:
        if self.options.kind == "table":
            path = source.files[0].path
            raise SourceError(f"{path} has Netflix Prize files, which are a history: leave out kind='table'")
        roles, titles = netflix_roles(self.options), None
        collector = Collector(self.options, self.rejects, roles, memory=self.memory)
        for file in source.files:
            if file.tar:
                for base, stream in tar_members(file.path):
                    if NETFLIX_FILES.fullmatch(base):
                        read_netflix(stream, collector, self.progress)
                    elif base in NETFLIX_TITLES:
                        titles = parse_titles(base, stream)
            else:
                with open_stream(file.path, file.member) as stream:
                    read_netflix(stream, collector, self.progress)
        if not collector.sources:
            raise SourceError(f"{source.files[0].path} has no Netflix Prize files, such as mv_0000001.txt")
        release = self._finish(source, collector, {})
        return release if titles is None else replace(release, titles=labels_of_titles(release.items, titles))

    def _finish(self, source: RecognisedSource, collector: Collector, layout: Mapping[str, str]) -> Release:
        """Build a history, with a provenance that says how the source was read."""
        roles = collector.roles
        files = tuple(dict.fromkeys(_printable(file.path.name) for file in source.files))
        files = files if len(files) <= 8 else (files[0], f"… {len(files):,} files")
        settings = self.rejects.settings() | dict(layout)
        settings |= {"skipped files": f"{source.skipped:,}"} if source.skipped else {}
        if collector.times is not None:
            settings |= collector.times.settings()
            settings |= {} if self.options.bin is None else {"time bin": str(self.options.bin)}
        settings |= {} if self.options.places is None else self.options.places.settings()
        for name in sorted(self.options.changed() & RECORDED):
            settings[name.replace("_", " ")] = str(getattr(self.options, name))
        if self.options.record_from_name is not None:
            files = (f"{len(source.files):,} files",)  # their names are ids
        provenance = Provenance(
            source.kind, files, roles.names_by_role(), settings, reasons=roles.reasons, unused=roles.unused
        )
        if roles.record is not None:
            check_people(collector.records.labels(), provenance)
        return collector.finish(provenance, self.progress)


def _printable(name: str) -> str:
    """File name as valid text, whatever its bytes are."""
    return os.fsencode(name).decode("utf-8", "replace")


def as_release(source: Any, name: str = "release") -> Release:
    """Return a release as it is; read anything else that `standout.read` reads, with its default options."""
    if isinstance(source, Release):
        return source
    is_path = isinstance(source, (str, Path, list, tuple))
    is_frame = type(source).__module__.startswith(("polars", "pandas"))
    is_stream = hasattr(source, "__arrow_c_stream__") and not isinstance(source, FrameExport)
    if not (is_path or is_frame or is_stream):  # a FrameExport is a result of Standout, such as a table
        raise ParameterError(
            f"{name} must be a Release, a path or a frame, got {type(source).__name__}: read it with so.read(…)"
        )
    return read(source)


@on_client
def index(
    source: Any,
    output: str | Path,
    *,
    memory: int | str | None = None,
    titles: str | Path | None = None,
    progress: ProgressOption = no_progress,
    client: Any = None,
    **options: Any,
) -> Release:
    """Read a source and write it as an index, also if memory does not hold its entries.

    What does not fit is in files next to the index while it is built. A build that is killed leaves the old index
    or none.

    Parameters
    ----------
    source : path, URL, list of them, or frame
        What `read` takes.
    output : str or Path
        Folder of the index. It must be new, empty, or an index, which is replaced.
    memory : int or str, optional
        Bytes of memory that the build may use, such as "500MB", "4GB" or "2GiB"; default: 60 % of what is
        available. All ids are held in memory.
    titles : path, optional
        File with titles of the items.
    progress : bool or callable, optional
        True shows a bar; a function is called with (stage, done, total).
    client : distributed.Client, optional
        Its workers read the files, if the source has several that they find at the same paths. It changes no
        result. Default: this process reads them.
    **options
        Options of `read`.

    Returns
    -------
    Release
        The release in the index.

    Raises
    ------
    ParameterError
        If an option is not allowed, or `memory` is too small for the ids.
    SourceError
        If the source cannot be read.
    StoreError
        If the index cannot be written, for example because the disk is full.

    Examples
    --------
    >>> import polars as pl, standout as so, tempfile
    >>> frame = pl.DataFrame({"user": ["007", "7"], "film": ["Brazil", "Bent"], "stars": [4.5, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release = so.index(frame, f"{folder}/films.index", memory="1GB")
    ...     release.n_records, release.fingerprint == so.read(frame).fingerprint
    (2, True)
    """
    reader = SourceReader(Options(**{"kind": "history"} | options), progress)
    write_index(reader, source, output, memory, titles)
    release = open_index(output)
    for message in reading_warnings(release):
        warnings.warn(message, ReadingWarning, stacklevel=2)
    return release


def write_index(
    reader: SourceReader,
    source: Any,
    output: str | Path,
    memory: int | str | None = None,
    titles: str | Path | None = None,
) -> None:
    """Read a source and write it as an index."""
    limit = memory_limit(memory)
    with open_index_writer(output) as index:
        reader.memory = MemoryPlan(limit, index.folder)
        index.write(reader.read(source, titles), reader.progress)
