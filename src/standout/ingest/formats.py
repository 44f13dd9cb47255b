"""Recognise the format of paths (text, MovieLens, Netflix Prize, JSON, Parquet, Arrow, a database), and read titles."""

import csv
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Literal

from standout.core.errors import ParameterError, SourceError
from standout.data.labels import Labels
from standout.data.release import read_only
from standout.ingest import sources
from standout.ingest.options import Options
from standout.ingest.sources import ZIP, SourcePath, Stream, first_bytes, open_stream, zip_names

Kind = Literal[
    "delimited text", "MovieLens", "Netflix Prize", "JSON lines", "JSON array", "Parquet", "Arrow", "SQLite", "DuckDB",
    "frame",
]  # fmt: skip
TEXT: tuple[Kind, ...] = ("delimited text", "MovieLens")
TITLES_OF = {"ratings.csv": "movies.csv", "u.data": "u.item", "ratings.dat": "movies.dat"}
NETFLIX_TITLES = ("movie_titles.txt", "movie_titles.csv")
NETFLIX_FILES = re.compile(r"mv_\d+\.txt(\.gz|\.zst)?|combined_data_\d+\.txt(\.gz|\.zst)?")
NETFLIX_HEAD = re.compile(rb"(\xef\xbb\xbf)*\d{1,9}:\r?\n\d{1,10},\d,\d{4}-\d\d-\d\d\r?(\n|$)")
MOVIELENS_HEADER = re.compile(rb"userId,movieId,rating,timestamp\r?\n")
UTF16 = (b"\xff\xfe", b"\xfe\xff")
MAGIC, TAR_MAGIC = 16, slice(257, 262)
"""Number of bytes that identify a binary format."""
BEGINS_OBJECT, BEGINS_ARRAY = re.compile(r'\s*\{\s*["}]'), re.compile(r"\s*\[\s*(\{|\]\s*$)")
LINES = 50
NO_DATA = re.compile(r"(readme|licen[cs]e|copying|changelog)([._-].*)?|.*\.md", re.IGNORECASE)
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

    kind: Kind
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
    if isinstance(folder, Path) and options.record_from_name is None and (known := _known_folder(folder)):
        return known
    if isinstance(folder, Path):
        walked = (Path(parent, name) for parent, _, names in os.walk(folder) for name in names)
        found: dict[str, SourcePath] = {path.relative_to(folder).as_posix(): path for path in walked}
    else:
        root = PurePosixPath(folder.path)
        found = {str(PurePosixPath(path.path).relative_to(root)): path for path in folder.files()}
    files = [(relative, path) for relative, path in sorted(found.items()) if not _is_skipped(relative)]
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


def _is_skipped(relative: str) -> bool:
    parts = PurePosixPath(relative).parts
    return any(part.startswith((".", "_")) for part in parts) or NO_DATA.fullmatch(parts[-1]) is not None


def _ending(relative: str) -> str:
    """Ending of a file's name, without that of its compression."""
    name = PurePosixPath(relative)
    if name.suffix.lower() in COMPRESSED and name.with_suffix("").suffix:
        name = name.with_suffix("")
    return name.suffix.lower() or "no ending"


def _known_folder(folder: Path) -> RecognisedSource | None:
    """Recognise the folders of MovieLens and the Netflix Prize."""
    for parent in (folder, folder / "training_set"):
        inside = list(parent.iterdir()) if parent.is_dir() else []
        if films := sorted(path for path in inside if NETFLIX_FILES.fullmatch(path.name)):
            return RecognisedSource("Netflix Prize", tuple(map(SourceFile, films)), _netflix_titles(folder))
    for name in ("training_set.tar", "training_set.tar.gz"):
        if (folder / name).is_file():
            return RecognisedSource("Netflix Prize", (SourceFile(folder / name, tar=True),), _netflix_titles(folder))
    for name, titles in TITLES_OF.items():
        if (folder / name).is_file():
            return RecognisedSource("MovieLens", (SourceFile(folder / name),), _existing(folder / titles))
    return None


def _file(path: SourcePath, options: Options) -> RecognisedSource:
    member, start = options.member, first_bytes(path, MAGIC)
    if start.startswith(ZIP) and member is None and (archive := _zip(path)):
        return archive
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
    if shape := _json_shape(text, len(head) < sources.HEAD, str(path)):
        if is_utf16:
            raise SourceError(f"{path} is JSON in UTF-16: add encoding='utf-16'")
        return RecognisedSource(shape, files)
    if name not in ("u.data", "ratings.dat") and not (name == "ratings.csv" and MOVIELENS_HEADER.match(head)):
        return RecognisedSource("delimited text", files)
    titles = _existing(folder / TITLES_OF[name]) if member is None and folder is not None else None
    return RecognisedSource("MovieLens", files, titles)


def _binary_kind(start: bytes) -> Kind | None:
    """Format of a binary file with these first bytes; an Arrow message has a mark and a length, a multiple of 8."""
    length = int.from_bytes(start[4:8], "little", signed=True)
    if start.startswith(b"PAR1"):
        return "Parquet"
    if start.startswith(b"ARROW1") or (start.startswith(b"\xff\xff\xff\xff") and length > 0 and length % 8 == 0):
        return "Arrow"
    if start.startswith(b"SQLite format 3\0"):
        return "SQLite"
    return "DuckDB" if start[8:12] == b"DUCK" and b"\0" in start else None


def _zip(path: SourcePath) -> RecognisedSource | None:
    """Recognise MovieLens and Netflix Prize archives as they are offered for download."""
    names = {PurePosixPath(name).name: name for name in reversed(zip_names(path))}
    if films := sorted(name for base, name in names.items() if NETFLIX_FILES.fullmatch(base)):
        titles = next((SourceFile(path, names[base]) for base in NETFLIX_TITLES if base in names), None)
        return RecognisedSource("Netflix Prize", tuple(SourceFile(path, name) for name in films), titles)
    for base, titles_base in TITLES_OF.items():
        if base in names:
            titles = SourceFile(path, names[titles_base]) if titles_base in names else None
            return RecognisedSource("MovieLens", (SourceFile(path, names[base]),), titles)
    return None


def _netflix_titles(folder: Path | None) -> SourceFile | None:
    parents = () if folder is None else (folder, folder.parent)
    return next((SourceFile(parent / n) for parent in parents for n in NETFLIX_TITLES if (parent / n).is_file()), None)


def _existing(path: Path) -> SourceFile | None:
    return SourceFile(path) if path.is_file() else None


def _json_shape(head: str, is_whole: bool, name: str) -> Literal["JSON lines", "JSON array"] | None:
    """How JSON is arranged in a text with this beginning, which may be the whole text; None if it is not JSON."""
    head = head.lstrip("\ufeff")
    if BEGINS_ARRAY.match(head):
        return "JSON array"
    if not BEGINS_OBJECT.match(head):
        return None
    lines = head.split("\n")
    for number, line in enumerate((lines if is_whole else lines[:-1])[:LINES], start=1):
        if line.strip() and not is_object(line):
            raise SourceError(
                f"{name} is JSON, but line {number} is not an object: "
                "convert it to one object for each line, or to an array of objects"
            )
    return "JSON lines"


def is_object(line: str) -> bool:
    """Whether a text is a JSON object."""
    try:
        return isinstance(json.loads(line, parse_int=str), dict)  # int() refuses 4,301 digits
    except (ValueError, RecursionError):
        return False


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


def read_titles(path: SourcePath, member: str | None = None, items: Labels | None = None) -> dict[str, str]:
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
    pairs: Iterable[tuple[str, str]]
    if base.startswith(("movie_titles.", "u.item")) or ".dat" in base:
        is_netflix = base.startswith("movie_titles.")
        lines = stream.lines(LATIN if is_netflix else encoding, LONGEST_LINE)
        # str.splitlines would also split at characters that occur in titles
        rows = (line.removesuffix("\n").removesuffix("\r") for line in lines)
        if is_netflix:  # id,year,title: a title may contain commas, and a year may be NULL
            parts = (row.split(",", 2) for row in rows)
            years = ((row, f" ({row[1]})" if row[1].isdecimal() else "") for row in parts if len(row) == 3)
            pairs = ((row[0], row[2] + year) for row, year in years)
        else:
            parts = (row.split("|" if base.startswith("u.item") else "::")[:2] for row in rows)
            pairs = ((row[0], row[1].strip()) for row in parts if len(row) == 2)
    else:
        pairs = _csv_titles(stream.lines(encoding, LONGEST_LINE, newline=""), stream.name)
    return {item: title for item, title in pairs if wanted is None or item in wanted}


def labels_of_titles(items: Labels, titles: dict[str, str]) -> Labels:
    """Title of each item, or an empty text."""
    labels = Labels.of(titles.get(item, "") for item in items)
    return Labels(read_only(labels.offsets), read_only(labels.data))


def _csv_titles(lines: Iterable[str], name: str) -> Iterator[tuple[str, str]]:
    try:
        rows = (row for row in csv.reader(lines) if row)
        first = next(rows, [])
        if len(first) < 2:
            raise SourceError(
                f"{name} has no titles: it must be a CSV file with a column of item ids and a column of titles"
            )
        plain = [re.sub(r"[^a-z]", "", cell.lower()) for cell in first]
        item = next((plain.index(word) for word in ITEM_WORDS if word in plain), 0)
        title = next((plain.index(word) for word in TITLE_WORDS if word in plain), 1)
        all_rows = rows if plain[title] in TITLE_WORDS else chain([first], rows)
        yield from ((row[item], row[title]) for row in all_rows if len(row) > max(item, title))
    except csv.Error as error:
        raise SourceError(f"{name} cannot be read as a CSV file of titles: {error}") from error
