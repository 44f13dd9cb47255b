"""`standout.read`: recognise the format of a source and read it."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from standout.core.errors import ParameterError, ReadingWarning, SourceError
from standout.core.progress import Progress, ProgressMeter, ProgressOption, no_progress, with_progress
from standout.core.results import FrameExport
from standout.data.code_blocks import MemoryPlan
from standout.data.labels import Provenance, TimeUnit
from standout.data.release import Release
from standout.data.repeats import Repeats
from standout.data.store import is_index, open_index
from standout.ingest import netflix
from standout.ingest.collector import Collector, SourceEntries
from standout.ingest.column_roles import Roles, check_people
from standout.ingest.delimited import DelimitedLayout, detect_layout, layout_of_further_file, read_delimited
from standout.ingest.diagnosis import PYTHON, merge_unused, reading_warnings, waive_columns
from standout.ingest.file_parts import merge_files, read_table_file, read_text_file, uses_workers
from standout.ingest.formats import NETFLIX_TITLES, RecognisedSource, SourceFile, recognise, record_ids
from standout.ingest.item_titles import labels_of_titles, parse_titles, read_titles
from standout.ingest.options import Column, Options
from standout.ingest.rejects import RejectLog
from standout.ingest.sources import Stream, expand_paths, open_stream, tar_members
from standout.ingest.tokens import encoding_setting, text_head

if TYPE_CHECKING:
    from standout.ingest.value_levels import ValueType

__all__ = ["SOURCES", "SourceReader", "as_release", "read", "read_table_files", "read_text_files"]

# Read the files of a source one after another, or on workers where there are any (see `file_parts`).


SAMPLED_FILES = 100
"""Largest number of files whose first rows are examined for what their unused columns look like."""


def read_text_files(
    source: RecognisedSource, options: Options, rejects: RejectLog, memory: MemoryPlan | None, meter: ProgressMeter
) -> tuple[Collector, DelimitedLayout]:
    """Read delimited files; returns the layout of the first."""
    files, records = source.files, record_ids(source.files, options.record_from_name)
    step = -(-len(files) // SAMPLED_FILES)
    with _opened(files[0], records[0], options) as stream, meter.part(1):
        first = detect_layout(stream, options, source.kind if source.kind == "MovieLens" else "")
        has_value, has_time = first.roles.value is not None, first.roles.time is not None
        collector = Collector(options, rejects, has_value, has_time, memory=memory)
        read_delimited(stream, first, collector, meter)

    def further_layout(number: int, stream: Stream) -> DelimitedLayout:
        nonlocal first
        first, layout = layout_of_further_file(stream, first, str(files[0].path), options, number % step == 0)
        return layout

    def tasks(low: int) -> Iterator[tuple[Any, ...]]:
        for number in range(low, len(files)):
            with _opened(files[number], records[number], options) as stream:
                layout = further_layout(number, stream)
            yield files[number], records[number], layout

    number = 1
    while number < len(files):
        if uses_workers(collector, files[number:]):
            number += sum(1 for _ in merge_files(collector, read_text_file, tasks(number), meter))
        if number < len(files):
            with _opened(files[number], records[number], options) as stream, meter.part(1):
                read_delimited(stream, further_layout(number, stream), collector, meter)
            number += 1
    return collector, first


@contextmanager
def _opened(file: SourceFile, record: str, options: Options) -> Iterator[Stream]:
    with open_stream(file.path, file.member, options.encoding) as stream:
        text_head(stream)  # in UTF-8, whose lines can be skipped
        stream.skip(options.skip_lines)
        stream.record = record
        yield stream


def read_table_files(
    source: RecognisedSource, options: Options, rejects: RejectLog, memory: MemoryPlan | None, meter: ProgressMeter
) -> tuple[Collector, Roles]:
    """Read files with named columns; returns the role of each column."""
    from standout.ingest.frames import open_file, read_frame

    files, records = source.files, record_ids(source.files, options.record_from_name)
    earlier: tuple[Collector, Roles] | None = None
    number = 0
    while number < len(files):
        if earlier is not None and uses_workers(earlier[0], files[number:]):
            collector, roles = earlier
            tasks = ((files[i], records[i], source.kind, roles) for i in range(number, len(files)))
            for part in merge_files(collector, read_table_file, tasks, meter):
                assert part.roles is not None
                earlier = (collector, replace(part.roles, unused=merge_unused(earlier[1].unused, part.roles.unused)))
                number += 1
        if number < len(files):
            with ExitStack() as stack, meter.part(1):
                earlier = read_frame(
                    partial(open_file, source.kind, files[number], options, stack),
                    str(files[number].path),
                    options,
                    rejects,
                    meter,
                    earlier=earlier,
                    memory=memory,
                    record=records[number],
                )
            number += 1
    assert earlier is not None
    return earlier


SOURCES = (
    "source must be a path, a URL, a list of them, a Polars or pandas frame, "
    "or an object with the Arrow C stream interface"
)
RECORDED = {
    "max_rejects", "member", "quote", "record_from_name", "skip_lines", "sql_table", "value_bin",
    "value_type",
}  # fmt: skip


@with_progress
def read(
    source: Any,
    *,
    record: Column | None = None,
    item: Column | Sequence[Column] | None = None,
    value: Column | bool | None = None,
    time: Column | bool | None = None,
    ignore: Column | Sequence[Column] | None = None,
    latitude: Column | None = None,
    longitude: Column | None = None,
    grid: float | str | None = None,
    geohash: int | None = None,
    titles: str | Path | None = None,
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
    """Read a release from files, a folder, a URL, a data frame or an index.

    Reads CSV and similar files (any separator; gzip, zstd, zip), JSON lines and arrays, Parquet, Arrow IPC
    (Feather), SQLite and DuckDB files, MovieLens, the Netflix Prize files, frames and Arrow tables. Ids are
    text and stay as they are. `release.provenance` says how the source was interpreted; docs/reading.md has
    the rules.

    Parameters
    ----------
    source : path, URL, list of them, or frame
        A file, a glob, a folder of files of one kind, a URL (s3://, https://, …), an index, a Polars or
        pandas frame, a LazyFrame, a DuckDB relation, or any object with the Arrow C stream interface.
    record : str or int, optional
        Column of the record, by name or number (1 is the first); default: recognised by its name.
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
    options = Options(
        record=record,
        item=item,
        value=value,
        time=time,
        ignore=ignore,
        latitude=latitude,
        longitude=longitude,
        grid=grid,
        geohash=geohash,
        separator=separator,
        header=header,
        quote=quote,
        encoding=encoding,
        member=member,
        sql_table=sql_table,
        skip_lines=skip_lines,
        record_from_name=record_from_name,
        value_type=value_type,
        value_bin=value_bin,
        time_format=time_format,
        time_unit=time_unit,
        time_bin=time_bin,
        zone=zone,
        repeats=repeats,
        max_rejects=max_rejects,
    )
    release = SourceReader(options, progress).read(source, titles)
    for message in reading_warnings(release, PYTHON):
        warnings.warn(message, ReadingWarning, stacklevel=2)
    return release


@dataclass(slots=True)
class SourceReader:
    """Reads one source; afterwards `rejects` has the unusable rows."""

    options: Options
    progress: Progress = no_progress
    rejects: RejectLog = field(default_factory=RejectLog)
    memory: MemoryPlan | None = None

    def read(self, source: Any, titles: str | Path | None = None) -> Release:
        """Read the release in a source."""
        content = self.collect(source, titles)
        return content if isinstance(content, Release) else content.build(self.progress)

    def collect(self, source: Any, titles: str | Path | None = None) -> SourceEntries | Release:
        """Read the entries of a source, from which a release is built; an index is a release already."""
        if not isinstance(source, (str, Path, list, tuple)):
            return self._with_titles(self._frame(source), titles)
        sources = [source] if isinstance(source, (str, Path)) else list(source)
        if not sources or not all(isinstance(path, (str, Path)) for path in sources):
            raise ParameterError(SOURCES)
        paths = expand_paths(sources)
        if len(paths) == 1 and isinstance(paths[0], Path) and is_index(paths[0]):
            release = self._index(paths[0])
            if titles is None:
                return release
            by_id = read_titles(expand_paths([titles])[0], items=release.items)
            return replace(release, titles=labels_of_titles(release.items, by_id))
        recognised = recognise(paths, self.options)
        entries, found = self._files(recognised), recognised.titles
        if titles is None and found is not None:
            return replace(entries, titles=lambda items: read_titles(found.path, found.member, items))
        return self._with_titles(entries, titles)

    def _index(self, path: Path) -> Release:
        if changed := sorted(self.options.changed() - {"ignore"}):
            raise ParameterError(
                f"{changed[0]} cannot be set for the index {path}: it applies only when a source file is read"
            )
        return waive_columns(open_index(path), self.options.ignored)

    def _files(self, source: RecognisedSource) -> SourceEntries:
        names = _shorten(tuple(dict.fromkeys(_printable(file.path.name) for file in source.files)))
        if self.options.record_from_name is not None:
            names = (f"{len(source.files):,} files",)  # their names are ids
        settings = {"skipped files": f"{source.skipped:,}"} if source.skipped else {}
        if source.kind == "Netflix Prize":
            return self._netflix(source.files, names)
        if source.kind in ("delimited text", "MovieLens"):
            return self._delimited(source, names, settings)
        return self._tables(source, names, settings)

    def _delimited(self, source: RecognisedSource, names: tuple[str, ...], settings: dict[str, str]) -> SourceEntries:
        meter = ProgressMeter("reading", len(source.files), self.progress)
        collector, first = read_text_files(source, self.options, self.rejects, self.memory, meter)
        return self._finish(source.kind, names, collector, first.roles, first.settings() | settings)

    def _tables(self, source: RecognisedSource, names: tuple[str, ...], settings: dict[str, str]) -> SourceEntries:
        """Read files with named columns."""
        meter = ProgressMeter("reading", len(source.files), self.progress)
        earlier = read_table_files(source, self.options, self.rejects, self.memory, meter)
        return self._finish(source.kind, names, *earlier, settings)

    def _netflix(self, files: tuple[SourceFile, ...], names: tuple[str, ...]) -> SourceEntries:
        collector, titles = netflix.new_collector(self.options, self.rejects, self.memory), None
        for file in files:
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
            raise SourceError(f"{files[0].path} has no Netflix Prize files, such as mv_0000001.txt")
        entries = self._finish("Netflix Prize", names, collector, netflix.column_roles(self.options))
        return entries if titles is None else replace(entries, titles=lambda items: titles)

    def _frame(self, source: Any) -> SourceEntries:
        from standout.ingest.frames import is_frame, open_frame, read_frame

        if not is_frame(source):
            raise ParameterError(f"{SOURCES}, got {type(source).__name__}")
        for name in sorted(self.options.changed() & {"record_from_name", "skip_lines", "sql_table"}):
            raise ParameterError(f"{name} cannot be set for a frame: it applies only when files are read")
        collector, roles = read_frame(
            lambda: open_frame(source), "the frame", self.options, self.rejects, self.progress, memory=self.memory
        )
        return self._finish("frame", (), collector, roles)

    def _finish(
        self,
        kind: str,
        files: tuple[str, ...],
        collector: Collector,
        roles: Roles,
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> SourceEntries:
        """Return the entries, with a provenance that says how the source was read."""
        settings = encoding_setting(collector.encodings) | dict(settings)
        if collector.times is not None:
            settings |= collector.times.settings()
            settings |= {} if self.options.bin is None else {"time bin": str(self.options.bin)}
        settings |= {} if self.options.places is None else self.options.places.settings()
        for name in sorted(self.options.changed() & RECORDED):
            settings[name.replace("_", " ")] = str(getattr(self.options, name))
        provenance = Provenance(
            kind, files, roles.names_by_role(), settings, reasons=roles.reasons, unused=roles.unused
        )
        if roles.record is not None:
            check_people(collector.records.labels(), provenance)
        return collector.finish(provenance)

    def _with_titles(self, entries: SourceEntries, titles: str | Path | None) -> SourceEntries:
        if titles is None:
            return entries
        path = expand_paths([titles])[0]
        return replace(entries, titles=lambda items: read_titles(path, items=items))


def _printable(name: str) -> str:
    """File name as valid text, whatever its bytes are."""
    return os.fsencode(name).decode("utf-8", "replace")


def _shorten(files: tuple[str, ...]) -> tuple[str, ...]:
    """Names of up to 8 files; of more files, the first name and their number."""
    return files if len(files) <= 8 else (files[0], f"… {len(files):,} files")


# Take a release, or read one, so that functions accept a path or a frame directly.


def as_release(source: Any, name: str = "release") -> Release:
    """Return a release as it is; read anything else that `standout.read` reads, with its default options.

    Parameters
    ----------
    source
        A release, a path or URL, a list of them, or a frame.
    name
        Name of the parameter in messages.

    Returns
    -------
    Release
        The release.

    Raises
    ------
    ParameterError
        If it is none of these.

    Examples
    --------
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
