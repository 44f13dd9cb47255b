"""`standout.read`: recognise the format of a source and read it."""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from standout.core.errors import ParameterError, ReadingWarning, SourceError
from standout.core.progress import Progress, no_progress
from standout.ingest import netflix
from standout.ingest.collector import Collector
from standout.ingest.column_roles import Roles
from standout.ingest.decimal_ids import check_people
from standout.ingest.delimited import detect_layout, read_delimited
from standout.ingest.encodings import encoding_setting
from standout.ingest.formats import NETFLIX_TITLES, RecognisedSource, SourceFile, recognise
from standout.ingest.item_titles import labels_of_titles, parse_titles, read_titles
from standout.ingest.options import Column, Options
from standout.ingest.rejects import RejectLog
from standout.ingest.sources import expand_paths, open_stream, tar_members
from standout.ingest.unused_columns import PYTHON, merge_unused, reading_warnings, waive_columns
from standout.release.build import Repeats
from standout.release.clock import TimeUnit
from standout.release.model import Release
from standout.release.provenance import Provenance, UnusedColumn
from standout.release.store import is_index, open_index

if TYPE_CHECKING:
    from standout.ingest.tables import Table
    from standout.ingest.value_levels import ValueType

__all__ = ["SourceReader", "read"]

RECORDED = {"max_rejects", "member", "quote", "value_bin", "value_type"}


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
    value_type: "ValueType" = "auto",
    value_bin: float | None = None,
    time_format: str | None = None,
    time_unit: TimeUnit | None = None,
    time_bin: str | None = None,
    zone: str = "UTC",
    repeats: Repeats = "last",
    max_rejects: int | str = 0,
    progress: Progress = no_progress,
) -> Release:
    """Read a release from files, a folder, a data frame or an index.

    Reads CSV and similar files (any separator; gzip, zstd, zip), Parquet, MovieLens, the Netflix Prize files,
    and Polars and pandas frames. Ids are text and stay as they are. `release.provenance` says how the source
    was interpreted; docs/reading.md has the rules.

    Parameters
    ----------
    source : path, list of paths, or frame
        A file, a glob, a folder, an index, or a Polars or pandas frame.
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
    progress : callable, optional
        Called with (stage, done, total).

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

    def read(self, source: Any, titles: str | Path | None = None) -> Release:
        """Read the release in a source."""
        if not isinstance(source, (str, Path, list, tuple)):
            return self._with_titles(self._frame(source), titles)
        sources = [source] if isinstance(source, (str, Path)) else list(source)
        if not sources or not all(isinstance(path, (str, Path)) for path in sources):
            raise ParameterError("source must be a path, a list of paths, or a Polars or pandas frame")
        paths = expand_paths(sources)
        if len(paths) == 1 and is_index(paths[0]):
            return self._with_titles(self._index(paths[0]), titles)
        recognised = recognise(paths, self.options.member)
        release = self._files(recognised)
        if titles is None and recognised.titles is not None:
            by_id = read_titles(recognised.titles.path, recognised.titles.member)
            release = replace(release, titles=labels_of_titles(release.items, by_id))
        return self._with_titles(release, titles)

    def _index(self, path: Path) -> Release:
        if changed := sorted(self.options.changed() - {"ignore"}):
            raise ParameterError(
                f"{changed[0]} cannot be set for the index {path}: it applies only when a source file is read"
            )
        return waive_columns(open_index(path), self.options.ignored)

    def _files(self, source: RecognisedSource) -> Release:
        names = _shorten(tuple(dict.fromkeys(_printable(file.path.name) for file in source.files)))
        if source.kind == "Parquet":
            return self._parquet([file.path for file in source.files], names)
        if source.kind == "Netflix Prize":
            return self._netflix(source.files, names)
        return self._delimited(source, names)

    def _delimited(self, source: RecognisedSource, names: tuple[str, ...]) -> Release:
        collector, layout = None, None
        unused: tuple[UnusedColumn, ...] = ()
        for file in source.files:
            with open_stream(file.path, file.member, self.options.encoding) as stream:
                known = source.kind if source.kind == "MovieLens" else ""
                file_layout = detect_layout(stream, self.options, known)
                if layout is None or collector is None:
                    layout = file_layout
                    has_value, has_time = layout.roles.value is not None, layout.roles.time is not None
                    collector = Collector(self.options, self.rejects, has_value, has_time)
                elif file_layout != layout:
                    raise SourceError(
                        f"{file.path} has another layout than {source.files[0].path}: read them one by one"
                    )
                unused = merge_unused(unused, file_layout.roles.unused)
                read_delimited(stream, layout, collector, self.progress)
        assert collector is not None and layout is not None
        roles = replace(layout.roles, unused=unused)
        return self._finish(source.kind, names, collector, roles, layout.settings())

    def _netflix(self, files: tuple[SourceFile, ...], names: tuple[str, ...]) -> Release:
        collector, titles = netflix.new_collector(self.options, self.rejects), None
        for file in files:
            if file.tar:
                for base, stream in tar_members(file.path):
                    if netflix.FILES.fullmatch(base):
                        netflix.read_netflix(stream, collector, self.progress)
                    elif base in NETFLIX_TITLES:
                        titles = parse_titles(base, stream.rest(), stream.name)
            else:
                with open_stream(file.path, file.member) as stream:
                    netflix.read_netflix(stream, collector, self.progress)
        if not collector.sources:
            raise SourceError(f"{files[0].path} has no Netflix Prize files, such as mv_0000001.txt")
        release = self._finish("Netflix Prize", names, collector, netflix.column_roles(self.options))
        return release if titles is None else replace(release, titles=labels_of_titles(release.items, titles))

    def _parquet(self, paths: list[Path], names: tuple[str, ...]) -> Release:
        from standout.ingest.tables import parquet_table

        name = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
        return self._table("Parquet", names, name, lambda: parquet_table(paths))

    def _frame(self, frame: Any) -> Release:
        import polars as pl

        from standout.ingest.tables import table_from_lazy, table_from_pandas

        if type(frame).__module__.startswith("pandas") and type(frame).__name__ == "DataFrame":
            return self._table("frame", (), "the frame", lambda: table_from_pandas(frame))
        if not isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
            raise ParameterError(
                "source must be a path, a list of paths, or a Polars or pandas frame, "
                f"got {type(frame).__name__}"
            )
        rows = len(frame) if isinstance(frame, pl.DataFrame) else 0
        return self._table("frame", (), "the frame", lambda: table_from_lazy(frame.lazy(), rows))

    def _table(
        self, kind: str, files: tuple[str, ...], name: str, open_table: Callable[[], "Table"]
    ) -> Release:
        """Read any source that is not text."""
        from standout.ingest.frames import read_frame

        collector, roles = read_frame(open_table, name, self.options, self.rejects, self.progress)
        return self._finish(kind, files, collector, roles)

    def _finish(
        self,
        kind: str,
        files: tuple[str, ...],
        collector: Collector,
        roles: Roles,
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> Release:
        """Build the release, with a provenance that says how the source was read."""
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
        check_people(collector.records.labels(), provenance)
        return collector.finish(provenance, self.progress)

    def _with_titles(self, release: Release, titles: str | Path | None) -> Release:
        if titles is None:
            return release
        return replace(release, titles=labels_of_titles(release.items, read_titles(Path(titles))))


def _printable(name: str) -> str:
    """File name as valid text, whatever its bytes are."""
    return os.fsencode(name).decode("utf-8", "replace")


def _shorten(files: tuple[str, ...]) -> tuple[str, ...]:
    """Names of up to 8 files; of more files, the first name and their number."""
    return files if len(files) <= 8 else (files[0], f"… {len(files):,} files")
