"""Read titles of items from MovieLens, Netflix Prize and other CSV files."""

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from standout.core.errors import SourceError
from standout.data.labels import Labels
from standout.data.release import read_only
from standout.ingest.sources import SourcePath, Stream, open_stream

__all__ = ["labels_of_titles", "parse_titles", "read_titles"]

NETFLIX = re.compile(r"movie_titles\.(txt|csv)(\.gz)?")
ITEM_WORDS = ("movieid", "itemid", "item", "id", "movie", "asin", "productid", "stockcode")
LATIN = "latin-1"
ENCODINGS = ("utf-8-sig", LATIN)
"""u.item and movies.dat of older MovieLens releases are in Latin-1."""
LONGEST_LINE = 1 << 20
TITLE_WORDS = ("title", "name", "description", "movietitle", "producttitle")


def read_titles(path: SourcePath, member: str | None = None, items: Labels | None = None) -> dict[str, str]:
    """Read a file of titles line by line; return the title of each item, or of these items."""
    base, wanted = Path(member or path.name).name, None if items is None else frozenset(items)
    for encoding in ENCODINGS:
        try:
            with open_stream(path, member) as stream:
                return parse_titles(base, stream, wanted, encoding)
        except SourceError as error:
            if not isinstance(error.__cause__, UnicodeDecodeError):
                raise
    raise AssertionError  # the last encoding has a character for each byte


def parse_titles(
    base: str, stream: Stream, wanted: frozenset[str] | None = None, encoding: str = LATIN
) -> dict[str, str]:
    """Parse a file of titles, whose base name shows the format; None means that all items are wanted."""
    if NETFLIX.fullmatch(base):
        return _kept(_netflix(stream.lines(LATIN, LONGEST_LINE)), wanted)
    separator = "|" if base.startswith("u.item") else "::" if ".dat" in base else ""
    if separator:
        lines = _without_ends(stream.lines(encoding, LONGEST_LINE))
        return _kept(_pairs(line.split(separator)[:2] for line in lines), wanted)
    return _kept(_csv(stream.lines(encoding, LONGEST_LINE, newline=""), stream.name), wanted)


def labels_of_titles(items: Labels, titles: dict[str, str]) -> Labels:
    """Title of each item, or an empty text."""
    labels = Labels.of(titles.get(item, "") for item in items)
    return Labels(read_only(labels.offsets), read_only(labels.data))


def _kept(pairs: Iterable[tuple[str, str]], wanted: frozenset[str] | None) -> dict[str, str]:
    return {item: title for item, title in pairs if wanted is None or item in wanted}


def _without_ends(lines: Iterable[str]) -> Iterator[str]:
    """Lines without their ends; str.splitlines would also split at characters that occur in titles."""
    return (line.removesuffix("\n").removesuffix("\r") for line in lines)


def _pairs(rows: Iterable[list[str]]) -> Iterator[tuple[str, str]]:
    return ((row[0], row[1].strip()) for row in rows if len(row) == 2)


def _netflix(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Parse lines `id,year,title`; a title may contain commas, and a year may be NULL."""
    rows = (line.split(",", 2) for line in _without_ends(lines))
    return ((row[0], _with_year(row[2], row[1])) for row in rows if len(row) == 3)


def _with_year(title: str, year: str) -> str:
    return f"{title} ({year})" if year.isdecimal() else title


def _csv(lines: Iterable[str], name: str) -> Iterator[tuple[str, str]]:
    rows = _rows(lines, name)
    first = next(rows, [])
    if len(first) < 2:
        raise SourceError(
            f"{name} has no titles: it must be a CSV file with a column of item ids and a column of titles"
        )
    plain = [re.sub(r"[^a-z]", "", cell.lower()) for cell in first]
    item = next((plain.index(word) for word in ITEM_WORDS if word in plain), 0)
    title = next((plain.index(word) for word in TITLE_WORDS if word in plain), 1)
    width = max(item, title)
    rows = rows if plain[title] in TITLE_WORDS else chain([first], rows)
    return ((row[item], row[title]) for row in rows if len(row) > width)


def _rows(lines: Iterable[str], name: str) -> Iterator[list[str]]:
    try:
        yield from (row for row in csv.reader(lines) if row)
    except csv.Error as error:
        raise SourceError(f"{name} cannot be read as a CSV file of titles: {error}") from error
