"""Recognise the format of paths: text, MovieLens, Netflix Prize, JSON, Parquet, Arrow or a database."""

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from standout.core.errors import ParameterError, SourceError
from standout.ingest import netflix, sources
from standout.ingest.options import Options
from standout.ingest.remote import RemotePath
from standout.ingest.sources import ZIP, SourcePath, first_bytes, is_tar, open_stream, zip_names

__all__ = [
    "NETFLIX_TITLES",
    "FolderFiles",
    "JsonShape",
    "Kind",
    "RecognisedSource",
    "SourceFile",
    "check_options",
    "folder_files",
    "has_long_number",
    "is_object",
    "json_shape",
    "recognise",
    "record_ids",
]

# Recognise JSON: one object for each line, or an array of objects.


JsonShape = Literal["lines", "array"]
"""How objects are arranged in a JSON source."""

BEGINS_OBJECT, BEGINS_ARRAY = re.compile(r'\s*\{\s*["}]'), re.compile(r"\s*\[\s*(\{|\]\s*$)")
LINES = 50
MOST_DIGITS = 300


def json_shape(head: str, is_whole: bool, name: str) -> JsonShape | None:
    """Return how JSON is arranged in a text with this beginning, or None if it is not JSON.

    `is_whole` if the beginning is the whole text.
    """
    head = head.lstrip("\ufeff")
    if BEGINS_ARRAY.match(head):
        return "array"
    if not BEGINS_OBJECT.match(head):
        return None
    lines = head.split("\n")
    for number, line in enumerate(lines if is_whole else lines[:-1], start=1):
        if number > LINES:
            break
        if line.strip() and not is_object(line):
            raise SourceError(
                f"{name} is JSON, but line {number} is not an object: "
                "convert it to one object for each line, or to an array of objects"
            )
    return "lines"


def is_object(line: str | bytes) -> bool:
    """Whether a text is a JSON object."""
    try:
        return isinstance(json.loads(line, parse_int=str), dict)  # int() refuses 4,301 digits
    except (ValueError, RecursionError):
        return False


def has_long_number(line: str | bytes) -> bool:
    """Whether a JSON text has a number with more digits than any parser takes."""
    numbers: list[str] = []
    json.loads(line, parse_int=numbers.append, parse_float=numbers.append)
    return any(len(number) > MOST_DIGITS for number in numbers)


# The data files of a folder, which must be of one kind.


NO_DATA = re.compile(r"(readme|licen[cs]e|copying|changelog)([._-].*)?|.*\.md", re.IGNORECASE)
COMPRESSED = (".gz", ".zst", ".zstd", ".zip")


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """Data files of a folder in the order of their paths, and how many other files were skipped."""

    files: tuple[tuple[SourcePath, str], ...]
    skipped: int


def folder_files(folder: SourcePath) -> FolderFiles:
    """Return the data files of a folder and of the folders in it, each with its path below the folder.

    Hidden files (a name that begins with . or _), README and LICENSE files and *.md are skipped.
    """
    found = _remote(folder) if isinstance(folder, RemotePath) else _local(folder)
    files = tuple((path, relative) for relative, path in sorted(found.items()) if not _is_skipped(relative))
    _check_files(folder, files)
    kinds = Counter(_kind(relative) for _, relative in files)
    if not files:
        raise SourceError(f"{folder} has no data files: name a file, or another folder")
    if len(kinds) > 1:
        listed = ", ".join(f"{count:,} × {kind}" for kind, count in kinds.most_common(8))
        raise SourceError(
            f"{folder} has files of different kinds ({listed}{', …' if len(kinds) > 8 else ''}): "
            "name the files to read, for example with a pattern such as 'folder/*.csv'"
        )
    return FolderFiles(files, len(found) - len(files))


def _check_files(folder: SourcePath, files: tuple[tuple[SourcePath, str], ...]) -> None:
    """Refuse a folder with pipes, sockets or devices: reading may never end, skipping hides data."""
    odd = sum(isinstance(path, Path) and path.exists() and not path.is_file() for path, _ in files)
    if odd:
        what = "is a pipe, a socket or a device" if odd == 1 else "are pipes, sockets or devices"
        raise SourceError(
            f"{folder} has {len(files):,} files, and {odd:,} of them {what}: move such files "
            "elsewhere, or name the files to read"
        )


def _local(folder: Path) -> dict[str, SourcePath]:
    found: dict[str, SourcePath] = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            found[path.relative_to(folder).as_posix()] = path
    return found


def _remote(folder: RemotePath) -> dict[str, SourcePath]:
    return {str(path.relative_to(folder)): path for path in folder.find()}


def _is_skipped(relative: str) -> bool:
    parts = PurePosixPath(relative).parts
    return any(part.startswith((".", "_")) for part in parts) or NO_DATA.fullmatch(parts[-1]) is not None


def _kind(relative: str) -> str:
    """Ending of a file's name, without that of its compression."""
    name = PurePosixPath(relative)
    if name.suffix.lower() in COMPRESSED and name.with_suffix("").suffix:
        name = name.with_suffix("")
    return name.suffix.lower() or "no ending"


Kind = Literal[
    "delimited text", "MovieLens", "Netflix Prize", "JSON lines", "JSON array", "Parquet", "Arrow", "SQLite", "DuckDB"
]
TITLES_OF = {"ratings.csv": "movies.csv", "u.data": "u.item", "ratings.dat": "movies.dat"}
NETFLIX_TITLES = ("movie_titles.txt", "movie_titles.csv")
MOVIELENS_HEADER = re.compile(rb"userId,movieId,rating,timestamp\r?\n")
UTF16 = (b"\xff\xfe", b"\xfe\xff")
MAGIC = 16
"""Number of bytes that identify a binary format."""


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
    """Recognise the format of paths, which must be the same for all."""
    sources = [_folder(path, options) if path.is_dir() else _file(path, options) for path in paths]
    kinds = sorted({source.kind for source in sources})
    if len(kinds) > 1:
        raise SourceError(f"the sources have different formats: {', '.join(kinds)}; read them one by one")
    files = _with_relative([file for source in sources for file in source.files])
    titles = next((source.titles for source in sources if source.titles), None)
    return RecognisedSource(sources[0].kind, files, titles, sum(source.skipped for source in sources))


def check_options(kind: Kind, options: Options) -> None:
    """Refuse options that do not apply to a format."""
    if options.sql_table is not None and kind not in ("SQLite", "DuckDB"):
        raise ParameterError(f"sql_table can only be set for a SQLite or DuckDB file, not for {kind}")
    if options.skip_lines and kind not in ("delimited text", "MovieLens"):
        raise ParameterError(f"skip_lines can only be set for delimited text, not for {kind}")


def _with_relative(files: list[SourceFile]) -> tuple[SourceFile, ...]:
    """Add the path below the common folder to files that were named one by one."""
    named = [str(file.path) for file in files if not file.relative]
    folder = os.path.commonpath([os.path.split(name)[0] for name in named]) if named else ""
    return tuple(
        file
        if file.relative
        else replace(file, relative=PurePosixPath(os.path.relpath(str(file.path), folder or ".")).as_posix())
        for file in files
    )


def _folder(folder: SourcePath, options: Options) -> RecognisedSource:
    if isinstance(folder, Path) and options.record_from_name is None and (known := _known_folder(folder)):
        return known
    found = folder_files(folder)
    first = _file(found.files[0][0], options)
    is_tar_file = first.files[0].tar
    files = tuple(SourceFile(path, tar=is_tar_file, relative=relative) for path, relative in found.files)
    binary = _binary_kind(first_bytes(files[0].path, MAGIC))
    different = sum(_binary_kind(first_bytes(file.path, MAGIC)) != binary for file in files[1:])
    if different:
        raise SourceError(
            f"{folder} has files of different formats: "
            f"{different:,} of {len(files):,} differ from the first one; name the files to read"
        )
    return RecognisedSource(first.kind, files, skipped=found.skipped)


def _known_folder(folder: Path) -> RecognisedSource | None:
    """Recognise the folders of MovieLens and the Netflix Prize."""
    for parent in (folder, folder / "training_set"):
        films = sorted(path for path in _files(parent) if netflix.FILES.fullmatch(path.name))
        if films:
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
    if binary := _binary_kind(head[:MAGIC]):
        return RecognisedSource(binary, (SourceFile(path, member),))
    if is_tar(head) and not start.startswith(ZIP):
        return RecognisedSource("Netflix Prize", (SourceFile(path, tar=True),), _netflix_titles(folder))
    name = PurePosixPath(member or path.name).name
    if netflix.is_netflix(head) or netflix.FILES.fullmatch(name):
        return RecognisedSource("Netflix Prize", (SourceFile(path, member),), _netflix_titles(folder))
    is_utf16 = head.startswith(UTF16) and sources.is_utf8(options.encoding)
    text = _decoded(head, "utf-16" if is_utf16 else options.encoding)
    if shape := json_shape(text, len(head) < sources.HEAD, str(path)):
        if is_utf16:
            raise SourceError(f"{path} is JSON in UTF-16: add encoding='utf-16'")
        return RecognisedSource("JSON lines" if shape == "lines" else "JSON array", (SourceFile(path, member),))
    known = name in ("u.data", "ratings.dat") or (name == "ratings.csv" and MOVIELENS_HEADER.match(head))
    if not known:
        return RecognisedSource("delimited text", (SourceFile(path, member),))
    titles = _existing(folder / TITLES_OF[name]) if member is None and folder is not None else None
    return RecognisedSource("MovieLens", (SourceFile(path, member),), titles)


def _binary_kind(start: bytes) -> Kind | None:
    """Format of a binary file with these first bytes."""
    if start.startswith(b"PAR1"):
        return "Parquet"
    if start.startswith(b"ARROW1") or _is_arrow_stream(start):
        return "Arrow"
    if start.startswith(b"SQLite format 3\0"):
        return "SQLite"
    return "DuckDB" if start[8:12] == b"DUCK" and b"\0" in start else None


def _is_arrow_stream(start: bytes) -> bool:
    """Whether a file begins with the mark of an Arrow message and its length, a positive multiple of 8."""
    length = int.from_bytes(start[4:8], "little", signed=True)
    return start.startswith(b"\xff\xff\xff\xff") and length > 0 and length % 8 == 0


def _decoded(head: bytes, encoding: str) -> str:
    """Text of the first bytes, only to recognise JSON."""
    try:
        return head.decode(encoding, "ignore")
    except (LookupError, ValueError, TypeError):
        return ""


def _zip(path: SourcePath) -> RecognisedSource | None:
    """Recognise MovieLens and Netflix Prize archives as they are offered for download."""
    names = {PurePosixPath(name).name: name for name in reversed(zip_names(path))}
    films = sorted(name for base, name in names.items() if netflix.FILES.fullmatch(base))
    if films:
        titles = next((SourceFile(path, names[base]) for base in NETFLIX_TITLES if base in names), None)
        return RecognisedSource("Netflix Prize", tuple(SourceFile(path, name) for name in films), titles)
    for base, titles_base in TITLES_OF.items():
        if base in names:
            titles = SourceFile(path, names[titles_base]) if titles_base in names else None
            return RecognisedSource("MovieLens", (SourceFile(path, names[base]),), titles)
    return None


def _netflix_titles(folder: Path | None) -> SourceFile | None:
    if folder is None:
        return None
    paths = [parent / name for parent in (folder, folder.parent) for name in NETFLIX_TITLES]
    return next((SourceFile(path) for path in paths if path.is_file()), None)


def _existing(path: Path) -> SourceFile | None:
    return SourceFile(path) if path.is_file() else None


def _files(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


# Each file is one record: the record ids in the paths of files.


HINT = "check record_from_name=…, which is searched in each path below the folder"


def record_ids(files: Sequence[SourceFile], pattern: str | None) -> list[str]:
    """Return the record id of each file, or empty texts if the ids are in a column.

    An id is the first group of the pattern in the file's path below the folder of the source, or the whole
    match. A file name is an id, so that no message shows one.
    """
    if pattern is None:
        return [""] * len(files)
    search = re.compile(pattern).search
    matches = [search(file.relative) for file in files]
    ids = [match and (match[1] if match.re.groups else match[0]) for match in matches]
    without = sum(not record for record in ids)
    if without:
        raise SourceError(f"{without:,} of {len(files):,} files have a name without a record id: {HINT}")
    if len(files) > 1 and len(set(ids)) == 1:
        raise SourceError(f"all {len(files):,} files would be the same record: {HINT}")
    return [record or "" for record in ids]
