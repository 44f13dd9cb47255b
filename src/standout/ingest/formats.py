"""Recognise the format of paths: delimited text, MovieLens, Netflix Prize or Parquet."""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from standout.core.errors import SourceError
from standout.ingest import netflix
from standout.ingest.sources import PARQUET, ZIP, first_bytes, is_tar, open_stream, zip_names

__all__ = ["NETFLIX_TITLES", "RecognisedSource", "SourceFile", "recognise"]

Kind = Literal["delimited text", "MovieLens", "Netflix Prize", "Parquet"]
TITLES_OF = {"ratings.csv": "movies.csv", "u.data": "u.item", "ratings.dat": "movies.dat"}
NETFLIX_TITLES = ("movie_titles.txt", "movie_titles.csv")
MOVIELENS_HEADER = re.compile(rb"userId,movieId,rating,timestamp\r?\n")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file, a file inside a zip, or a tar of files."""

    path: Path
    member: str | None = None
    tar: bool = False


@dataclass(frozen=True, slots=True)
class RecognisedSource:
    """Format of a source, its files, and the file with its titles."""

    kind: Kind
    files: tuple[SourceFile, ...]
    titles: SourceFile | None = None


def recognise(paths: list[Path], member: str | None) -> RecognisedSource:
    """Recognise the format of paths, which must be the same for all."""
    sources = [_folder(path) if path.is_dir() else _file(path, member) for path in paths]
    kinds = sorted({source.kind for source in sources})
    if len(kinds) > 1:
        raise SourceError(f"the sources have different formats: {', '.join(kinds)}; read them one by one")
    files = tuple(file for source in sources for file in source.files)
    titles = next((source.titles for source in sources if source.titles), None)
    return RecognisedSource(sources[0].kind, files, titles)


def _folder(folder: Path) -> RecognisedSource:
    for parent in (folder, folder / "training_set"):
        films = sorted(path for path in _files(parent) if netflix.FILES.fullmatch(path.name))
        if films:
            return RecognisedSource("Netflix Prize", tuple(map(SourceFile, films)), _netflix_titles(folder))
    for name in ("training_set.tar", "training_set.tar.gz"):
        if (folder / name).is_file():
            return RecognisedSource(
                "Netflix Prize", (SourceFile(folder / name, tar=True),), _netflix_titles(folder)
            )
    for name, titles in TITLES_OF.items():
        if (folder / name).is_file():
            return RecognisedSource("MovieLens", (SourceFile(folder / name),), _existing(folder / titles))
    if any(folder.glob("**/*.parquet")):
        return RecognisedSource("Parquet", (SourceFile(folder),))
    raise SourceError(
        f"{folder} is not an index and has no MovieLens, Netflix Prize or Parquet files: name its files"
    )


def _file(path: Path, member: str | None) -> RecognisedSource:
    first = first_bytes(path)
    if first.startswith(PARQUET):
        return RecognisedSource("Parquet", (SourceFile(path),))
    if first.startswith(ZIP) and member is None and (archive := _zip(path)):
        return archive
    if is_tar(path):
        return RecognisedSource("Netflix Prize", (SourceFile(path, tar=True),), _netflix_titles(path.parent))
    with open_stream(path, member) as stream:
        head = stream.peek()
    if netflix.is_netflix(head) or netflix.FILES.fullmatch(PurePosixPath(member or path.name).name):
        return RecognisedSource("Netflix Prize", (SourceFile(path, member),), _netflix_titles(path.parent))
    name = PurePosixPath(member or path.name).name
    titles = _existing(path.with_name(TITLES_OF[name])) if member is None and name in TITLES_OF else None
    known = name in ("u.data", "ratings.dat") or (name == "ratings.csv" and MOVIELENS_HEADER.match(head))
    return (
        RecognisedSource("MovieLens", (SourceFile(path, member),), titles)
        if known
        else RecognisedSource("delimited text", (SourceFile(path, member),))
    )


def _zip(path: Path) -> RecognisedSource | None:
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


def _netflix_titles(folder: Path) -> SourceFile | None:
    paths = [parent / name for parent in (folder, folder.parent) for name in NETFLIX_TITLES]
    return next((SourceFile(path) for path in paths if path.is_file()), None)


def _existing(path: Path) -> SourceFile | None:
    return SourceFile(path) if path.is_file() else None


def _files(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []
