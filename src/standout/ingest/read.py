"""`standout.read`: recognises what it is given, reads it, and says how it understood it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from standout.core.errors import ParameterError, SourceError
from standout.core.progress import Progress, no_progress
from standout.ingest import netflix
from standout.ingest.collector import Collector
from standout.ingest.delimited import detect_layout, read_delimited
from standout.ingest.formats import NETFLIX_TITLES, RecognisedSource, SourceFile, recognise
from standout.ingest.item_titles import labels_of_titles, parse_titles, read_titles
from standout.ingest.options import Column, Options
from standout.ingest.rejects import RejectLog
from standout.ingest.sources import expand_paths, open_stream, tar_members
from standout.release.build import Repeats
from standout.release.clock import TimeUnit
from standout.release.model import Release
from standout.release.provenance import Provenance
from standout.release.store import is_index, open_index

if TYPE_CHECKING:
    from standout.ingest.value_levels import ValueType

__all__ = ["SourceReader", "read"]

RECORDED = {"encoding", "max_rejects", "member", "quote", "value_bin", "value_type"}


def read(
    source: Any,
    *,
    record: Column | None = None,
    item: Column | Sequence[Column] | None = None,
    value: Column | bool | None = None,
    time: Column | bool | None = None,
    titles: str | Path | None = None,
    separator: str | None = None,
    header: bool | None = None,
    quote: str = '"',
    encoding: str = "utf-8",
    member: str | None = None,
    value_type: "ValueType" = "auto",
    value_bin: float | None = None,
    time_format: str | None = None,
    time_unit: TimeUnit = "day",
    zone: str = "UTC",
    repeats: Repeats = "last",
    max_rejects: int | str = 0,
    progress: Progress = no_progress,
) -> Release:
    """The release in a file, in several, in a folder, in a frame, or in an index directory.

    Reads CSV and its relatives (any separator; gzip, zstd, zip), Parquet, MovieLens, the Netflix Prize
    files, Polars and pandas frames. Columns are named, or given by their place (1 is the first), or
    recognised from well-known names; several may form the item; `value=False` and `time=False` leave
    them out. Ids are text, kept as they are. The result says in `provenance` how it was understood.

    value_type   "auto": numbers if any value is one, else categories; "number"; "text"
    value_bin    numbers are rounded down to multiples of this
    time_format  "s", "ms", "us", "ns" (since 1970), "iso", or a pattern of strptime; else recognised
    time_unit    "day", "hour" or "minute"
    zone         Unix times and times with a zone are moved to this one; others are taken as written
    repeats      of the same record and item keep the "last" in time (then in row order), the "first",
                 the one of "max" value, or raise an "error"
    max_rejects  how many rows, or which share ("5%"), may be unusable

    >>> import polars as pl, standout as so
    >>> frame = pl.DataFrame({"user": ["007", "7"], "film": ["Brazil", "Bent"], "stars": [4.5, 1]})
    >>> so.read(frame).record("007").entries
    (Entry(item='Brazil', value=4.5, time=None),)
    """
    options = Options(
        record, item, value, time, separator, header, quote, encoding, member, value_type, value_bin,
        time_format, time_unit, zone, repeats, max_rejects,
    )  # fmt: skip
    return SourceReader(options, progress).read(source, titles)


@dataclass(slots=True)
class SourceReader:
    """One reading of a source; afterwards it knows which rows were rejected."""

    options: Options
    progress: Progress = no_progress
    rejects: RejectLog = field(default_factory=RejectLog)

    def read(self, source: Any, titles: str | Path | None = None) -> Release:
        """The release in the source."""
        if not isinstance(source, (str, Path, list, tuple)):
            return self._with_titles(self._frame(source), titles)
        sources = [source] if isinstance(source, (str, Path)) else list(source)
        if not sources or not all(isinstance(path, (str, Path)) for path in sources):
            raise ParameterError("a path, or a list of paths, is needed")
        paths = expand_paths(sources)
        if len(paths) == 1 and is_index(paths[0]):
            return self._with_titles(self._index(paths[0]), titles)
        find = recognise(paths, self.options.member)
        release = self._found(find)
        if titles is None and find.titles is not None:
            found = read_titles(find.titles.path, find.titles.member)
            release = replace(release, titles=labels_of_titles(release.items, found))
        return self._with_titles(release, titles)

    def _index(self, path: Path) -> Release:
        if changed := sorted(self.options.changed()):
            raise ParameterError(f"{path} is an index: {changed[0]} is for reading its source, not for it")
        return open_index(path)

    def _found(self, find: RecognisedSource) -> Release:
        files = _some(tuple(dict.fromkeys(_printable(part.path.name) for part in find.parts)))
        if find.kind == "Parquet":
            return self._parquet([part.path for part in find.parts], files)
        if find.kind == "Netflix Prize":
            return self._netflix(find.parts, files)
        return self._delimited(find, files)

    def _delimited(self, find: RecognisedSource, files: tuple[str, ...]) -> Release:
        collector, layout = None, None
        for part in find.parts:
            with open_stream(part.path, part.member, self.options.encoding) as stream:
                this = detect_layout(stream, self.options)
                if layout is None or collector is None:
                    layout = this
                    has_value, has_time = layout.roles.value is not None, layout.roles.time is not None
                    collector = Collector(self.options, self.rejects, has_value, has_time)
                elif this != layout:
                    raise SourceError(
                        f"{part.path} is not laid out like {find.parts[0].path}: read them one by one"
                    )
                read_delimited(stream, layout, collector, self.progress)
        assert collector is not None and layout is not None
        return self._finished(collector, Provenance(find.kind, files, layout.roles.told(), layout.told()))

    def _netflix(self, parts: tuple[SourceFile, ...], files: tuple[str, ...]) -> Release:
        collector, titles = netflix.new_collector(self.options, self.rejects), None
        for part in parts:
            if part.tar:
                for base, stream in tar_members(part.path):
                    if netflix.FILES.fullmatch(base):
                        netflix.read_netflix(stream, collector, self.progress)
                    elif base in NETFLIX_TITLES:
                        titles = parse_titles(base, stream.rest(), stream.name)
            else:
                with open_stream(part.path, part.member) as stream:
                    netflix.read_netflix(stream, collector, self.progress)
        if not collector.sources:
            raise SourceError(f"{parts[0].path} holds no files of the Netflix Prize (mv_0000001.txt …)")
        told = {"record": "customer", "item": "film"}
        told |= {} if collector.values is None else {"value": "rating"}
        told |= {} if collector.times is None else {"time": "date"}
        release = self._finished(collector, Provenance("Netflix Prize", files, told))
        return release if titles is None else replace(release, titles=labels_of_titles(release.items, titles))

    def _parquet(self, paths: list[Path], files: tuple[str, ...]) -> Release:
        from standout.ingest.frames import read_frame, scan_parquet

        name = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
        collector, told = read_frame(
            lambda: scan_parquet(paths), name, self.options, self.rejects, self.progress
        )
        return self._finished(collector, Provenance("Parquet", files, told))

    def _frame(self, frame: Any) -> Release:
        import polars as pl

        from standout.ingest.frames import read_frame

        is_pandas = type(frame).__module__.startswith("pandas") and type(frame).__name__ == "DataFrame"
        if not is_pandas and not isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
            raise ParameterError(
                f"a path, a Polars frame or a pandas frame is needed, got {type(frame).__name__}"
            )
        collector, told = read_frame(frame, "the frame", self.options, self.rejects, self.progress)
        return self._finished(collector, Provenance("frame", (), told))

    def _finished(self, collector: Collector, provenance: Provenance) -> Release:
        settings = dict(provenance.settings)
        if collector.times is not None:
            settings |= collector.times.told()
        settings["repeats"] = self.options.repeats
        for name in sorted(self.options.changed() & RECORDED):
            settings[name.replace("_", " ")] = str(getattr(self.options, name))
        return collector.finish(replace(provenance, settings=settings), self.progress)

    def _with_titles(self, release: Release, titles: str | Path | None) -> Release:
        if titles is None:
            return release
        return replace(release, titles=labels_of_titles(release.items, read_titles(Path(titles))))


def _printable(name: str) -> str:
    """A file's name as text, whatever its bytes are."""
    return os.fsencode(name).decode("utf-8", "replace")


def _some(files: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a few files; of 17,770, the first, and how many."""
    return files if len(files) <= 8 else (files[0], f"… {len(files):,} files")
