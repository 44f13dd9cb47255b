"""`standout.read`: recognise the format and the kind of a source, and read it."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from standout.core.errors import ColumnError, ParameterError, ReadingWarning, SourceError
from standout.core.progress import Progress, ProgressMeter, ProgressOption, no_progress, with_progress
from standout.data.build import MemoryPlan
from standout.data.entries import Repeats
from standout.data.export import FrameExport
from standout.data.labels import Provenance, TimeUnit
from standout.data.release import Release
from standout.data.store import is_index, open_index
from standout.ingest import netflix
from standout.ingest.collector import Collector, SourceEntries
from standout.ingest.column_roles import Roles, check_people, resolve_roles
from standout.ingest.delimited import (
    ColumnTexts,
    Layout,
    head_columns,
    layout_of_further_file,
    open_text,
    read_delimited,
    read_layout,
)
from standout.ingest.diagnosis import PYTHON, Wording, merge_unused, reading_warnings, waive_columns
from standout.ingest.file_parts import merge_files, read_frame_file, read_text_file, uses_workers
from standout.ingest.formats import NETFLIX_TITLES, TEXT, RecognisedSource, recognise, record_ids
from standout.ingest.item_titles import labels_of_titles, parse_titles, read_titles
from standout.ingest.options import ColumnName, Kind, Options
from standout.ingest.rejects import RejectLog, check_rejects
from standout.ingest.schema import Schema
from standout.ingest.sources import Stream, expand_paths, open_stream, tar_members
from standout.ingest.tables import (
    LARGEST,
    SourceColumns,
    TablePlan,
    TableReading,
    cells_of_frames,
    cells_of_texts,
    join_history,
    table_plan,
)
from standout.ingest.tokens import encoding_setting

if TYPE_CHECKING:
    from standout.ingest.cells import DistinctCells
    from standout.ingest.frames import FrameSource
    from standout.ingest.value_levels import ValueType

SAMPLED_FILES = 100
"""Largest number of files whose first rows are examined for what their unused columns look like."""

SOURCES = (
    "source must be a path, a URL, a list of them, a Polars or pandas frame, "
    "or an object with the Arrow C stream interface"
)
RECORDED = {
    "max_rejects", "member", "quote", "record_from_name", "skip_lines", "sql_table", "value_bin",
    "value_type",
}  # fmt: skip
KNOWN_HISTORIES = ("MovieLens", "Netflix Prize")


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
    value_type: "ValueType" = "auto",
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
        Columns to leave out on purpose. Other unused columns that look like a date, a number, a coordinate,
        an id or a quasi-identifier cause a `ReadingWarning`, and an audit with `fail_above` rejects them.
    latitude, longitude : str or int, optional
        Columns of coordinates in decimal degrees; default: recognised by their names. Only with `grid` or
        `geohash`.
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
        Entries of the people of a table, such as ratings, joined by the id. People without a row are appended
        with empty cells.
    history_options : mapping, optional
        Options of this function for the history.
    separator : str, optional
        Separator of a delimited file; default: recognised.
    header : bool, optional
        Whether the first line has the column names; default: recognised.
    quote : str
        Quote character; empty for none.
    encoding : str
        Encoding of a text file.
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
        Round times down to minute, hour, day, week (from Monday), month, or to a number of minutes, hours,
        days or weeks such as "15min", "6h" or "2d".
    zone : str
        Time zone. Unix times and times with a zone are converted to it; other times are taken as written.
    repeats : {"auto", "keep", "last", "first", "max", "error"}
        Which of several rows with the same record and item to keep: all ("keep"), the last or the first in
        time (then in row order), or the one with the largest value; "error" raises an error. "auto" keeps
        all if more than 1 % of the rows repeat, otherwise the last.
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
    for message in reader.messages(release, PYTHON):
        warnings.warn(message, ReadingWarning, stacklevel=2)
    return release


def as_schema(schema: Schema | str | Path | Mapping[str, Any] | None) -> Schema:
    """The schema that a user names or describes."""
    if schema is None or isinstance(schema, Schema):
        return schema or Schema()
    return Schema.of_dict(schema) if isinstance(schema, Mapping) else Schema.read(schema)


@dataclass(slots=True)
class SourceReader:
    """Reads one source; afterwards `rejects` has the unusable rows, and `table` how a table was read.

    `reason` says why a source was read as a table, if that was recognised.
    """

    options: Options
    progress: Progress = no_progress
    rejects: RejectLog = field(default_factory=RejectLog)
    memory: MemoryPlan | None = None
    table: TableReading | None = None
    reason: str = ""
    history: Release | None = None

    def read(
        self,
        source: Any,
        titles: str | Path | None = None,
        history: Any = None,
        history_options: Mapping[str, Any] | None = None,
    ) -> Release:
        """Read the release in a source, and join a history of the same people."""
        content = self.collect(source, titles)
        release = content if isinstance(content, Release) else content.build(self.progress)
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

    def messages(self, release: Release, wording: Wording) -> Iterator[str]:
        """Yield what the user should know about how a release was read."""
        if self.table is None:
            yield from reading_warnings(release, wording)
        else:
            yield from self.table.warnings
        if self.history is not None:
            yield from (f"history: {message}" for message in reading_warnings(self.history, wording))

    def collect(self, source: Any, titles: str | Path | None = None) -> SourceEntries | Release:
        """Read the entries of a source, from which a release is built; an index or a table is a release already."""
        if not isinstance(source, (str, Path, list, tuple)):
            return self._with_titles(self._frame(source), titles)
        sources = [source] if isinstance(source, (str, Path)) else list(source)
        if not sources or not all(isinstance(path, (str, Path)) for path in sources):
            raise ParameterError(SOURCES)
        paths = expand_paths(sources)
        if len(paths) == 1 and isinstance(paths[0], Path) and paths[0].is_dir() and is_index(paths[0]):
            return self._with_titles(self._index(paths[0]), titles)
        found = recognise(paths, self.options)
        files = _shorten(tuple(dict.fromkeys(_printable(file.path.name) for file in found.files)))
        size = LARGEST + 1
        if len(sources) == 1 and Path(sources[0]).is_file():
            size = Path(sources[0]).stat().st_size
        may_be_table = self.options.kind == "table" or (len(sources) == 1 and found.kind not in KNOWN_HISTORIES)
        if found.kind == "Netflix Prize":
            if self.options.kind == "table":
                raise SourceError(f"{paths[0]} has Netflix Prize files, which are a history: leave out kind='table'")
            content: SourceEntries | Release = self._netflix(found, files)
        else:
            content = (self._text if found.kind in TEXT else self._files)(found, files, size if may_be_table else None)
        if titles is None and found.titles is not None and not isinstance(content, Release):
            path, member = found.titles.path, found.titles.member
            return replace(content, titles=lambda items: read_titles(path, member, items))
        return self._with_titles(content, titles)

    def _with_titles(self, content: SourceEntries | Release, titles: str | Path | None) -> SourceEntries | Release:
        if titles is None:
            return content
        if isinstance(content, Release) and content.columns:
            raise ParameterError("titles must be given for a history only: a table has no items")
        path = expand_paths([titles])[0]
        if not isinstance(content, Release):
            return replace(content, titles=lambda items: read_titles(path, items=items))
        return replace(content, titles=labels_of_titles(content.items, read_titles(path, items=content.items)))

    def _index(self, path: Path) -> Release:
        if self.options.kind == "table":
            raise SourceError(f"{path} is an index of a history: leave out kind='table'")
        if changed := sorted(self.options.changed() - {"ignore"}):
            raise ParameterError(
                f"{changed[0]} cannot be set for the index {path}: it applies only when a source file is read"
            )
        return waive_columns(open_index(path), self.options.ignored)

    def _table(self, columns: SourceColumns, plan: TablePlan) -> Release | None:
        """Read a table; None if its cells show that it is a history."""
        table = TableReading(self.options, self.progress)
        release = table.read(columns, plan)
        if release is not None:
            self.table, self.reason = table, plan.reason
        return release

    # Delimited text

    def _text(self, source: RecognisedSource, names: tuple[str, ...], size: int | None) -> SourceEntries | Release:
        """Read delimited files. The first is opened once, unless its last rows show that it is no table."""
        records = record_ids(source.files, self.options.record_from_name)
        with open_text(source.files[0], self.options, records[0]) as stream:
            layout = read_layout(stream, self.options)
            plan = self._text_plan(stream, layout, size)
            if plan is None:
                return self._text_history(source, names, records, stream, layout)
            release = self._text_table(source, stream, layout.as_table(stream, self.options), plan)
        if release is not None:
            return release
        self.rejects = RejectLog()
        with open_text(source.files[0], self.options, records[0]) as stream:
            return self._text_history(source, names, records, stream, layout)

    def _text_plan(self, stream: Stream, layout: Layout, size: int | None) -> TablePlan | None:
        """Whether a file looks like a table, by its header and by the people in its first rows."""
        if size is None or self.options.kind == "history":
            return None
        if self.options.kind == "table":
            return TablePlan()
        try:
            layout = layout.as_table(stream, self.options)
            plan = table_plan(layout.names, self.options, size) if layout.header else None
        except (ColumnError, SourceError):
            return None
        columns = head_columns(stream, layout, plan.unique) if plan is not None else []
        return None if any(len(set(cells)) < len(cells) for cells in columns) else plan

    def _text_table(self, source: RecognisedSource, stream: Stream, layout: Layout, plan: TablePlan) -> Release | None:
        texts: ColumnTexts | None = None

        def cells(wanted: Sequence[int]) -> "Iterator[DistinctCells]":
            nonlocal texts
            texts = ColumnTexts(wanted)
            texts.read(stream, layout, self.rejects, self.progress)
            for file in source.files[1:]:
                with open_text(file, self.options) as more:
                    own = read_layout(more, self.options).as_table(more, self.options)
                    if own.names != layout.names:
                        raise SourceError(
                            f"{file.path} has other columns than {source.files[0].path}: read them one by one"
                        )
                    texts.read(more, own, self.rejects, self.progress)
            settings = encoding_setting(texts.encodings) | layout.settings()
            check_rejects(self.rejects, self.options.limit, "line", Provenance("", settings=settings), None)
            return cells_of_texts(texts)

        files = tuple(_printable(file.path.name) for file in source.files)
        release = self._table(SourceColumns(layout.names, cells, "delimited text", files), plan)
        if release is None or texts is None:
            return None
        read = release.provenance
        settings = encoding_setting(texts.encodings) | layout.settings() | read.settings
        return replace(release, provenance=replace(read, settings=settings, **self.rejects.provenance("line")))

    def _text_history(
        self, source: RecognisedSource, names: tuple[str, ...], records: list[str], stream: Stream, layout: Layout
    ) -> SourceEntries:
        """Read a history, one file after another, or on workers where there are any (see `file_parts`)."""
        options, files = self.options, source.files
        meter, step = ProgressMeter("reading", len(files), self.progress), -(-len(files) // SAMPLED_FILES)
        first = layout.as_history(stream, options)
        in_order = source.kind if source.kind == "MovieLens" else ""
        roles = resolve_roles(first.names, options, first.header, first.sample, source=stream.name, in_order=in_order)
        first = replace(first, rows=[])
        collector = self._collector(roles, "line")
        with meter.part(1):
            read_delimited(stream, first, roles, collector, meter)

        def further(number: int, stream: Stream) -> tuple[Layout, Roles]:
            nonlocal roles
            layout, own, unused = layout_of_further_file(
                stream, first, roles, str(files[0].path), options, number % step == 0
            )
            roles = replace(roles, unused=unused)
            return layout, own

        def tasks(low: int) -> Iterator[tuple[Any, ...]]:
            for number in range(low, len(files)):
                with open_text(files[number], options, records[number]) as stream:
                    yield files[number], records[number], *further(number, stream)

        number = 1
        while number < len(files):
            if uses_workers(collector, files[number:]):
                number += sum(1 for _ in merge_files(collector, read_text_file, tasks(number), meter))
            if number < len(files):
                with open_text(files[number], options, records[number]) as stream, meter.part(1):
                    read_delimited(stream, *further(number, stream), collector, meter)
                number += 1
        return self._finish(source, names, collector, roles, first.settings())

    def _collector(self, roles: Roles, unit: str) -> Collector:
        has_value, has_time = roles.value is not None, roles.time is not None
        return Collector(self.options, self.rejects, has_value, has_time, unit, self.memory)

    # Frames, and files with named columns

    def _frame(self, source: Any) -> SourceEntries | Release:
        from standout.ingest.frames import is_frame, open_frame, polars_errors, read_frame

        if not is_frame(source):
            raise ParameterError(f"{SOURCES}, got {type(source).__name__}")
        for name in sorted(self.options.changed() & {"record_from_name", "skip_lines", "sql_table"}):
            raise ParameterError(f"{name} cannot be set for a frame: it applies only when files are read")
        can_be_read_twice = type(source).__module__.startswith(("polars", "pandas"))
        if self.options.kind == "table" or (self.options.kind == "auto" and can_be_read_twice):
            with polars_errors("the frame"):
                opened = open_frame(source)
                plan = table_plan(opened.names, self.options, 0)
                if plan is not None and hasattr(source, "collect"):  # run a query once: it may change the order of rows
                    source = source.collect()
                    opened = open_frame(source)
            if plan is not None:
                columns = SourceColumns(
                    opened.names, partial(cells_of_frames, [("the frame", opened)], "frame"), "frame"
                )
                if (release := self._table(columns, plan)) is not None:
                    return release
        collector, roles = read_frame(
            lambda: open_frame(source), "the frame", self.options, self.rejects, self.progress, memory=self.memory
        )
        return self._finish(RecognisedSource("frame", ()), (), collector, roles)

    def _files(self, source: RecognisedSource, names: tuple[str, ...], size: int | None) -> SourceEntries | Release:
        """Read files with named columns."""
        from standout.ingest.frames import open_file, polars_errors, read_frame

        files, records = source.files, record_ids(source.files, self.options.record_from_name)
        if size is not None and self.options.kind != "history":
            with ExitStack() as stack:
                parts: list[tuple[str, FrameSource]] = []
                for file in files if self.options.kind == "table" else files[:1]:
                    with polars_errors(str(file.path)):
                        parts.append((str(file.path), open_file(source.kind, file, self.options, stack)))
                plan = table_plan(parts[0][1].names, self.options, size)
                if plan is not None and len(parts) < len(files):
                    parts += [(str(file.path), open_file(source.kind, file, self.options, stack)) for file in files[1:]]
                if (release := None if plan is None else self._file_table(source, parts, plan)) is not None:
                    return release
        meter = ProgressMeter("reading", len(files), self.progress)
        earlier: tuple[Collector, Roles] | None = None
        number = 0
        while number < len(files):
            if earlier is not None and uses_workers(earlier[0], files[number:]):
                collector, roles = earlier
                tasks = ((files[i], records[i], source.kind, roles) for i in range(number, len(files)))
                for part in merge_files(collector, read_frame_file, tasks, meter):
                    assert part.roles is not None
                    roles = replace(part.roles, unused=merge_unused(earlier[1].unused, part.roles.unused))
                    earlier = (collector, roles)
                    number += 1
            if number < len(files):
                with ExitStack() as stack, meter.part(1):
                    earlier = read_frame(
                        partial(open_file, source.kind, files[number], self.options, stack),
                        str(files[number].path),
                        self.options,
                        self.rejects,
                        meter,
                        earlier=earlier,
                        memory=self.memory,
                        record=records[number],
                    )
                number += 1
        assert earlier is not None
        return self._finish(source, names, *earlier)

    def _file_table(
        self, source: RecognisedSource, parts: "list[tuple[str, FrameSource]]", plan: TablePlan
    ) -> Release | None:
        for name, part in parts[1:]:
            if part.names != parts[0][1].names:
                raise _other_columns(name, parts[0][0])
        files = tuple(_printable(file.path.name) for file in source.files)
        cells = partial(cells_of_frames, parts, source.kind)
        return self._table(SourceColumns(parts[0][1].names, cells, source.kind, files), plan)

    # The Netflix Prize

    def _netflix(self, source: RecognisedSource, names: tuple[str, ...]) -> SourceEntries:
        collector, titles = netflix.new_collector(self.options, self.rejects, self.memory), None
        for file in source.files:
            if file.tar:
                for base, stream in tar_members(file.path):
                    if netflix.FILES.fullmatch(base):
                        netflix.read_netflix(stream, collector, self.progress)
                    elif base in NETFLIX_TITLES:
                        titles = parse_titles(base, stream)
            else:
                with open_stream(file.path, file.member) as stream:
                    netflix.read_netflix(stream, collector, self.progress)
        if not collector.sources:
            raise SourceError(f"{source.files[0].path} has no Netflix Prize files, such as mv_0000001.txt")
        entries = self._finish(source, names, collector, netflix.column_roles(self.options))
        return entries if titles is None else replace(entries, titles=lambda items: titles)

    def _finish(
        self,
        source: RecognisedSource,
        files: tuple[str, ...],
        collector: Collector,
        roles: Roles,
        layout: Mapping[str, str] | None = None,
    ) -> SourceEntries:
        """Return the entries of a history, with a provenance that says how the source was read."""
        settings = encoding_setting(collector.encodings) | dict(layout or {})
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
        return collector.finish(provenance)


def _other_columns(name: str, first: str) -> SourceError:
    return SourceError(f"{name} has other columns than {first}: read them one by one")


def _printable(name: str) -> str:
    """File name as valid text, whatever its bytes are."""
    return os.fsencode(name).decode("utf-8", "replace")


def _shorten(files: tuple[str, ...]) -> tuple[str, ...]:
    """Names of up to 8 files; of more files, the first name and their number."""
    return files if len(files) <= 8 else (files[0], f"… {len(files):,} files")


def as_release(source: Any, name: str = "release") -> Release:
    """Return a release as it is; read anything else that `standout.read` reads, with its default options.

    >>> import polars as pl
    >>> as_release(pl.DataFrame({"user": ["7"], "film": ["Brazil"]})).n_records
    1
    """
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
