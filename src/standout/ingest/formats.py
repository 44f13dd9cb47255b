"""How a source is to be read: the options of the user, checked once, and the format of its files; titles of items."""

import csv
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Literal, get_args

from standout.core.errors import ParameterError, SourceError, not_one_of
from standout.data.entries import Repeats
from standout.data.labels import Labels, TimeUnit
from standout.ingest import sources
from standout.ingest.cells import ValueType
from standout.ingest.places import Geohash, Grid, PlaceCells
from standout.ingest.report import reject_limit
from standout.ingest.schema import Schema, different_texts
from standout.ingest.sources import ZIP, SourcePath, Stream, first_bytes, open_stream, zip_names
from standout.ingest.times import TimeBin, TimeReader

Kind = Literal["auto", "table", "history"]
KINDS = get_args(Kind)
ColumnName = str | int
"""A column by its name or its number; 1 is the first column."""
MOST_LINES = 10**9
OF_HISTORIES = {
    "item", "value", "time", "latitude", "longitude", "grid", "geohash", "record_from_name", "value_type", "value_bin",
    "time_format", "time_unit", "time_bin", "repeats",
}  # fmt: skip
OF_TABLES = {"missing", "schema"}


@dataclass(frozen=True, slots=True)
class Options:
    """Options of `standout.read`, which documents them. False as record, value or time means no such column."""

    record: ColumnName | bool | None = None
    item: ColumnName | Sequence[ColumnName] | None = None
    value: ColumnName | bool | None = None
    time: ColumnName | bool | None = None
    ignore: ColumnName | Sequence[ColumnName] | None = None
    latitude: ColumnName | None = None
    longitude: ColumnName | None = None
    grid: float | str | None = None
    geohash: int | str | None = None
    separator: str | None = None
    header: bool | None = None
    quote: str = '"'
    encoding: str = "utf-8"
    member: str | None = None
    sql_table: str | None = None
    skip_lines: int = 0
    record_from_name: str | None = None
    value_type: ValueType = "auto"
    value_bin: float | None = None
    time_format: str | None = None
    time_unit: TimeUnit | None = None
    time_bin: str | None = None
    zone: str = "UTC"
    repeats: Repeats = "auto"
    max_rejects: int | str = 0
    kind: Kind = "auto"
    schema: Schema = field(default_factory=Schema)
    missing: tuple[str, ...] | None = None
    limit: tuple[int, float] = field(init=False)
    places: PlaceCells | None = field(init=False)
    bin: TimeBin | None = field(init=False)
    unit: TimeUnit = field(init=False)
    items: tuple[ColumnName, ...] = field(init=False)
    """Columns that form the item, in order."""
    ignored: tuple[ColumnName, ...] = field(init=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(not_one_of("kind", self.kind, KINDS))
        of_tables = ["record"] if self.record is False else sorted(self.changed() & OF_TABLES)
        of_histories = sorted(self.changed() & OF_HISTORIES)
        if of_histories and (of_tables or self.kind == "table"):
            raise ParameterError(f"{of_histories[0]} is for histories, and the data is a table: leave it out")
        if of_tables and self.kind == "history":
            raise ParameterError(f"{of_tables[0]} is for tables, and the data is a history: leave it out")
        time_bin = None if self.time_bin is None else TimeBin.of(self.time_bin)
        given = {name: getattr(self, name) for name in ("item", "ignore")}
        columns = {
            name: () if own is None else (own,) if isinstance(own, (str, int)) else tuple(own)
            for name, own in given.items()
        }
        for name, value in {
            "kind": "table" if of_tables else "history" if of_histories else self.kind,
            "missing": None if self.missing is None else different_texts(self.missing, "missing"),
            "limit": reject_limit(self.max_rejects),
            "places": self._places(),
            "bin": time_bin,
            "unit": time_bin.unit if time_bin is not None else "day" if self.time_unit is None else self.time_unit,
            "items": columns["item"],
            "ignored": columns["ignore"],
        }.items():
            object.__setattr__(self, name, value)
        if time_bin is not None and self.time_unit not in (None, self.unit):
            raise ParameterError(f"time_unit must be left out with a time_bin of {time_bin}, got {self.time_unit!r}")
        if self.separator is not None and (not self.separator or set(self.separator) & set('\n\r"')):
            raise ParameterError(f"separator must be text without a quote or line end, got {self.separator!r}")
        if len(self.quote) > 1 or not self.quote.isascii() or (self.quote in "\n\r" and self.quote):
            raise ParameterError(f"quote must be one ASCII character, or empty for none, got {self.quote!r}")
        if self.quote and self.quote == self.separator:
            raise ParameterError(f"quote and separator must be different characters, got {self.quote!r} twice")
        if any(column is True for column in (self.record, self.value, self.time)):
            raise ParameterError("record, value and time must be a column, or False for none, got True")
        if type(self.skip_lines) is not int or not 0 <= self.skip_lines <= MOST_LINES:
            raise ParameterError(
                f"skip_lines must be a whole number up to {MOST_LINES:,}, got {self.skip_lines!r:.100}"
            )
        if (pattern := self.record_from_name) is not None:
            if self.record is not None:
                raise ParameterError("record and record_from_name cannot both be set: leave one out")
            try:
                re.compile(pattern)
            except (re.error, TypeError, OverflowError, RecursionError) as error:
                raise ParameterError(f"record_from_name must be a regular expression, got {pattern!r}") from error
        if self.value_type not in get_args(ValueType):
            raise ParameterError(f"value_type must be auto, number or text, got {self.value_type!r}")
        if self.value_bin is not None and not 0 < self.value_bin < math.inf:
            raise ParameterError(f"value_bin must be a number above 0, got {self.value_bin!r}")
        if self.value_bin is not None and self.value_type == "text":
            raise ParameterError("value_bin must not be set if value_type is text: only numbers can be binned")
        self.time_reader()

    def changed(self) -> set[str]:
        """Names of the options that differ from their default."""
        defaults = {option.name: option.default for option in fields(self) if option.init} | {"schema": Schema()}
        return {name for name, value in defaults.items() if getattr(self, name) != value} - {"kind"}

    @property
    def names_people(self) -> bool:
        """Whether the options say where the record ids are."""
        return self.record is not None or self.record_from_name is not None

    @property
    def named(self) -> tuple[ColumnName | bool | None, ...]:
        """Columns that the user named, for whatever purpose."""
        return (self.record, *self.items, self.value, self.time, *self.ignored, self.latitude, self.longitude)

    def time_reader(self) -> TimeReader:
        """Make the reader of the time column."""
        return TimeReader(self.unit, self.zone, self.time_format)

    def _places(self) -> PlaceCells | None:
        """Return the resolution of places, if items are places."""
        if self.grid is None and self.geohash is None:
            if self.latitude is not None or self.longitude is not None:
                given = "longitude" if self.latitude is None else "latitude"
                raise ParameterError(f"{given} is used only with grid or geohash: set one of them, such as grid 0.01")
            return None
        if self.grid is not None and self.geohash is not None:
            raise ParameterError("grid and geohash exclude each other: set one of them")
        if self.item is not None:
            given = "grid" if self.geohash is None else "geohash"
            raise ParameterError(f"item must be left out with {given}: items are then places")
        return Grid(self.grid) if self.geohash is None else Geohash(self.geohash)


# The format of files.

Format = Literal[
    "delimited text", "MovieLens", "Netflix Prize", "JSON lines", "JSON array", "Parquet", "Arrow", "SQLite", "DuckDB",
    "frame",
]  # fmt: skip
TEXT: tuple[Format, ...] = ("delimited text", "MovieLens")
TITLES_OF = {"ratings.csv": "movies.csv", "u.data": "u.item", "ratings.dat": "movies.dat"}
NETFLIX_TITLES = ("movie_titles.txt", "movie_titles.csv")
NETFLIX_FILES = re.compile(r"mv_\d+\.txt(\.gz|\.zst)?|combined_data_\d+\.txt(\.gz|\.zst)?")
NETFLIX_HEAD = re.compile(rb"(\xef\xbb\xbf)*\d{1,9}:\r?\n\d{1,10},\d,\d{4}-\d\d-\d\d\r?(\n|$)")
MOVIELENS_HEADER = re.compile(rb"userId,movieId,rating,timestamp\r?\n")
UTF16 = (b"\xff\xfe", b"\xfe\xff")
MAGIC, TAR_MAGIC = 16, slice(257, 262)
"""Number of bytes that identify a binary format."""
BEGINS_OBJECT, BEGINS_ARRAY = re.compile(r'\s*\{\s*["}]'), re.compile(r"\s*\[\s*(\{|\]\s*$)")
SKIPPED = re.compile(r"(^|/)([._]|(readme|licen[cs]e|copying|changelog)([._-][^/]*)?$)|\.md$", re.IGNORECASE)
COMPRESSED = (".gz", ".zst", ".zstd", ".zip")
HINT = "check record_from_name=…, which is searched in each path below the folder"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file, a file inside a zip, or a tar of files; `relative` is its path below the source folder."""

    path: SourcePath
    member: str | None = None
    tar: bool = False
    relative: str = ""


@dataclass(frozen=True, slots=True)
class RecognisedSource:
    """Format of a source, its files, and the file with its titles; `skipped` counts files without data."""

    kind: Format
    files: tuple[SourceFile, ...]
    titles: SourceFile | None = None
    skipped: int = 0


def recognise(paths: list[SourcePath], options: Options) -> RecognisedSource:
    """Recognise the format of paths, which must be the same for all, and refuse options that do not apply to it."""
    found = [_folder(path, options) if path.is_dir() else _file(path, options) for path in paths]
    kinds = sorted({source.kind for source in found})
    if len(kinds) > 1:
        raise SourceError(f"the sources have different formats: {', '.join(kinds)}; read them one by one")
    if options.sql_table is not None and kinds[0] not in ("SQLite", "DuckDB"):
        raise ParameterError(f"sql_table can only be set for a SQLite or DuckDB file, not for {kinds[0]}")
    if options.skip_lines and kinds[0] not in TEXT:
        raise ParameterError(f"skip_lines can only be set for delimited text, not for {kinds[0]}")
    files = tuple(file for source in found for file in source.files)
    titles = next((source.titles for source in found if source.titles), None)
    return RecognisedSource(kinds[0], files, titles, sum(source.skipped for source in found))


def _folder(folder: SourcePath, options: Options) -> RecognisedSource:
    """Recognise all data files of a folder and of the folders in it, which must have one ending.

    Hidden files (a name that begins with . or _), README and LICENSE files and *.md are skipped, and counted.
    """
    if isinstance(folder, Path) and options.record_from_name is None:
        inside = [path for parent in (folder / "training_set", folder) if parent.is_dir() for path in parent.iterdir()]
        if known := _known({path.name: SourceFile(path) for path in inside if path.is_file()}, folder):
            return known
    if isinstance(folder, Path):
        walked = (Path(parent, name) for parent, _, names in os.walk(folder) for name in names)
        found: dict[str, SourcePath] = {path.relative_to(folder).as_posix(): path for path in walked}
    else:
        root = PurePosixPath(folder.path)
        found = {str(PurePosixPath(path.path).relative_to(root)): path for path in folder.files()}
    files = [(relative, path) for relative, path in sorted(found.items()) if not SKIPPED.search(relative)]
    if not files:
        raise SourceError(f"{folder} has no data files: name a file, or another folder")
    kinds = Counter(_ending(relative) for relative, _ in files)
    if len(kinds) > 1:
        listed = ", ".join(f"{count:,} × {kind}" for kind, count in kinds.most_common(8))
        raise SourceError(
            f"{folder} has files of different kinds ({listed}{', …' if len(kinds) > 8 else ''}): "
            "name the files to read, for example with a pattern such as 'folder/*.csv'"
        )
    first, binary = _file(files[0][1], options), {_binary_kind(first_bytes(path, MAGIC)) for _, path in files}
    if len(binary) > 1:
        raise SourceError(f"{folder} has files of different formats with the same ending; name the files to read")
    parts = tuple(SourceFile(path, tar=first.files[0].tar, relative=relative) for relative, path in files)
    return RecognisedSource(first.kind, parts, skipped=len(found) - len(files))


def _ending(relative: str) -> str:
    """Ending of a file's name, without that of its compression."""
    name = PurePosixPath(relative)
    if name.suffix.lower() in COMPRESSED and name.with_suffix("").suffix:
        name = name.with_suffix("")
    return name.suffix.lower() or "no ending"


def _known(files: dict[str, SourceFile], folder: Path | None = None) -> RecognisedSource | None:
    """Recognise MovieLens and the Netflix Prize, as they are offered for download, by the base names of files."""
    titles = next((files[name] for name in NETFLIX_TITLES if name in files), _netflix_titles(folder))
    if films := tuple(files[name] for name in sorted(files) if NETFLIX_FILES.fullmatch(name)):
        return RecognisedSource("Netflix Prize", films, titles)
    for name in ("training_set.tar", "training_set.tar.gz"):
        if name in files and folder is not None:
            return RecognisedSource("Netflix Prize", (replace(files[name], tar=True),), titles)
    for name, of_items in TITLES_OF.items():
        if name in files:
            return RecognisedSource("MovieLens", (files[name],), files.get(of_items))
    return None


def _file(path: SourcePath, options: Options) -> RecognisedSource:
    member, start = options.member, first_bytes(path, MAGIC)
    if start.startswith(ZIP) and member is None:
        names = reversed(zip_names(path))
        if known := _known({PurePosixPath(name).name: SourceFile(path, name) for name in names}):
            return known
    with open_stream(path, member) as stream:
        head = stream.peek()
    folder = path.parent if isinstance(path, Path) else None
    files = (SourceFile(path, member),)
    if binary := _binary_kind(head[:MAGIC]):
        return RecognisedSource(binary, files)
    if head[TAR_MAGIC] == b"ustar" and not start.startswith(ZIP):
        return RecognisedSource("Netflix Prize", (SourceFile(path, tar=True),), _netflix_titles(folder))
    name = PurePosixPath(member or path.name).name
    if NETFLIX_HEAD.match(head) or NETFLIX_FILES.fullmatch(name):
        return RecognisedSource("Netflix Prize", files, _netflix_titles(folder))
    is_utf16 = head.startswith(UTF16) and sources.is_utf8(options.encoding)
    try:
        text = head.decode("utf-16" if is_utf16 else options.encoding, "ignore")
    except (LookupError, ValueError, TypeError):
        text = ""
    if shape := _json_shape(text):
        if is_utf16:
            raise SourceError(f"{path} is JSON in UTF-16: add encoding='utf-16'")
        return RecognisedSource(shape, files)
    if name not in ("u.data", "ratings.dat") and not (name == "ratings.csv" and MOVIELENS_HEADER.match(head)):
        return RecognisedSource("delimited text", files)
    titles = None if folder is None else SourceFile(folder / TITLES_OF[name])
    is_known = member is None and titles is not None and titles.path.is_file()  # type: ignore[union-attr]
    return RecognisedSource("MovieLens", files, titles if is_known else None)


def _binary_kind(start: bytes) -> Format | None:
    """Format of a binary file with these first bytes; an Arrow message has a mark and a length, a multiple of 8."""
    length = int.from_bytes(start[4:8], "little", signed=True)
    if start.startswith(b"PAR1"):
        return "Parquet"
    if start.startswith(b"ARROW1") or (start.startswith(b"\xff\xff\xff\xff") and length > 0 and length % 8 == 0):
        return "Arrow"
    if start.startswith(b"SQLite format 3\0"):
        return "SQLite"
    return "DuckDB" if start[8:12] == b"DUCK" and b"\0" in start else None


def _netflix_titles(folder: Path | None) -> SourceFile | None:
    parents = () if folder is None else (folder, folder.parent)
    return next((SourceFile(parent / n) for parent in parents for n in NETFLIX_TITLES if (parent / n).is_file()), None)


def _json_shape(head: str) -> Literal["JSON lines", "JSON array"] | None:
    """How JSON is arranged in a text with this beginning; None if it is not JSON."""
    head = head.lstrip("\ufeff")
    return "JSON array" if BEGINS_ARRAY.match(head) else "JSON lines" if BEGINS_OBJECT.match(head) else None


def record_ids(files: Sequence[SourceFile], pattern: str | None) -> list[str]:
    """Return the record id of each file, or empty texts if the ids are in a column.

    An id is the first group of the pattern in the file's path below the folder of the source, or the whole
    match. A file name is an id, so that no message shows one.
    """
    if pattern is None:
        return [""] * max(len(files), 1)
    named = [str(file.path) for file in files if not file.relative]
    folder = os.path.commonpath([os.path.split(name)[0] for name in named]) if named else ""
    below = (file.relative or Path(os.path.relpath(str(file.path), folder or ".")).as_posix() for file in files)
    matches = [re.search(pattern, path) for path in below]
    ids = [match and (match[1] if match.re.groups else match[0]) for match in matches]
    if without := sum(not record for record in ids):
        raise SourceError(f"{without:,} of {len(files):,} files have a name without a record id: {HINT}")
    if len(files) > 1 and len(set(ids)) == 1:
        raise SourceError(f"all {len(files):,} files would be the same record: {HINT}")
    return [record or "" for record in ids]


# Titles of items, in MovieLens, Netflix Prize and other CSV files.

ITEM_WORDS = ("movieid", "itemid", "item", "id", "movie", "asin", "productid", "stockcode")
TITLE_WORDS = ("title", "name", "description", "movietitle", "producttitle")
LATIN = "latin-1"
"""Encoding of u.item and movies.dat of older MovieLens releases; it has a character for each byte."""
LONGEST_LINE = 1 << 20


def read_titles(path: SourcePath, member: str | None = None, items: Iterable[str] | None = None) -> dict[str, str]:
    """Read a file of titles line by line; return the title of each item, or of these items."""
    base, wanted = Path(member or path.name).name, None if items is None else frozenset(items)
    try:
        with open_stream(path, member) as stream:
            return parse_titles(base, stream, wanted, "utf-8-sig")
    except SourceError as error:
        if not isinstance(error.__cause__, UnicodeDecodeError):
            raise
    with open_stream(path, member) as stream:
        return parse_titles(base, stream, wanted)


def parse_titles(
    base: str, stream: Stream, wanted: frozenset[str] | None = None, encoding: str = LATIN
) -> dict[str, str]:
    """Parse a file of titles, whose base name shows the format; None means that all items are wanted."""
    pairs: Iterator[tuple[str, str]]
    if base.startswith("movie_titles."):  # id,year,title: a title may contain commas, and a year may be NULL
        rows = (line.rstrip("\r\n").split(",", 2) for line in stream.text_lines(LATIN, LONGEST_LINE))
        pairs = ((row[0], row[2] + f" ({row[1]})" * row[1].isdecimal()) for row in rows if len(row) == 3)
    elif base.startswith("u.item") or ".dat" in base:
        separator = "|" if base.startswith("u.item") else "::"
        rows = (line.rstrip("\r\n").split(separator) for line in stream.text_lines(encoding, LONGEST_LINE))
        pairs = ((row[0], row[1].strip()) for row in rows if len(row) > 1)
    else:
        pairs = _csv_titles(stream.text_lines(encoding, LONGEST_LINE, newline=""), stream.name)
    return {item: title for item, title in pairs if wanted is None or item in wanted}


def labels_of_titles(items: Labels, titles: dict[str, str]) -> Labels:
    """Title of each item, or an empty text."""
    return Labels.of(titles.get(item, "") for item in items)


def _csv_titles(lines: Iterable[str], name: str) -> Iterator[tuple[str, str]]:
    try:
        rows = (row for row in csv.reader(lines) if row)
        first = next(rows, [])
        if len(first) < 2:
            raise SourceError(f"{name} has no titles: it must be a CSV file with columns of item ids and titles")
        plain = [re.sub(r"[^a-z]", "", cell.lower()) for cell in first]
        item = next((plain.index(word) for word in ITEM_WORDS if word in plain), 0)
        title = next((plain.index(word) for word in TITLE_WORDS if word in plain), 1)
        all_rows = rows if plain[title] in TITLE_WORDS else chain([first], rows)
        yield from ((row[item], row[title]) for row in all_rows if len(row) > max(item, title))
    except csv.Error as error:
        raise SourceError(f"{name} cannot be read as a CSV file of titles: {error}") from error
