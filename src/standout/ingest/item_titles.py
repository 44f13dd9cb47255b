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

NETFLIX = re.compile(r"movie_titles\.(txt|csv)(\.gz)?")
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
    separator = "|" if base.startswith("u.item") else "::" if ".dat" in base else ""
    if NETFLIX.fullmatch(base):  # id,year,title: a title may contain commas, and a year may be NULL
        rows = (line.split(",", 2) for line in _without_ends(stream.lines(LATIN, LONGEST_LINE)))
        years = ((row, f" ({row[1]})" if row[1].isdecimal() else "") for row in rows if len(row) == 3)
        pairs: Iterable[tuple[str, str]] = ((row[0], row[2] + year) for row, year in years)
    elif separator:
        rows = (line.split(separator)[:2] for line in _without_ends(stream.lines(encoding, LONGEST_LINE)))
        pairs = ((row[0], row[1].strip()) for row in rows if len(row) == 2)
    else:
        pairs = _csv(stream.lines(encoding, LONGEST_LINE, newline=""), stream.name)
    return {item: title for item, title in pairs if wanted is None or item in wanted}


def labels_of_titles(items: Labels, titles: dict[str, str]) -> Labels:
    """Title of each item, or an empty text."""
    labels = Labels.of(titles.get(item, "") for item in items)
    return Labels(read_only(labels.offsets), read_only(labels.data))


def _without_ends(lines: Iterable[str]) -> Iterator[str]:
    """Lines without their ends; str.splitlines would also split at characters that occur in titles."""
    return (line.removesuffix("\n").removesuffix("\r") for line in lines)


def _csv(lines: Iterable[str], name: str) -> Iterator[tuple[str, str]]:
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
