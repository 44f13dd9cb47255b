"""Read titles of items from MovieLens, Netflix Prize and other CSV files."""

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path

from standout.core.errors import SourceError
from standout.ingest.sources import SourcePath, open_stream
from standout.release.labels import Labels
from standout.release.model import read_only

__all__ = ["labels_of_titles", "parse_titles", "read_titles"]

NETFLIX = re.compile(r"movie_titles\.(txt|csv)(\.gz)?")
ITEM_WORDS = ("movieid", "itemid", "item", "id", "movie", "asin", "productid", "stockcode")
TITLE_WORDS = ("title", "name", "description", "movietitle", "producttitle")


def read_titles(path: SourcePath, member: str | None = None) -> dict[str, str]:
    """Read a file of titles; return the title of each item id."""
    base = Path(member or path.name).name
    with open_stream(path, member) as stream:
        content = stream.rest()
    return parse_titles(base, content, str(path))


def parse_titles(base: str, content: bytes, name: str) -> dict[str, str]:
    """Parse the content of a file of titles, whose base name shows the format."""
    if NETFLIX.fullmatch(base):
        return _netflix(_lines(content.decode("latin-1")))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")  # u.item and movies.dat of older MovieLens releases
    if base.startswith("u.item"):
        return _pairs(line.split("|")[:2] for line in _lines(text))
    if ".dat" in base:
        return _pairs(line.split("::")[:2] for line in _lines(text))
    return _csv(text, name)


def labels_of_titles(items: Labels, titles: dict[str, str]) -> Labels:
    """Title of each item, or an empty text."""
    labels = Labels.of(titles.get(item, "") for item in items)
    return Labels(read_only(labels.offsets), read_only(labels.data))


def _lines(text: str) -> list[str]:
    """Lines of a text; str.splitlines would also split at characters that occur in titles."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def _pairs(rows: Iterable[list[str]]) -> dict[str, str]:
    return {row[0]: row[1].strip() for row in rows if len(row) == 2}


def _netflix(lines: list[str]) -> dict[str, str]:
    """Parse lines `id,year,title`; a title may contain commas, and a year may be NULL."""
    rows = (line.split(",", 2) for line in lines)
    return {row[0]: _with_year(row[2], row[1]) for row in rows if len(row) == 3}


def _with_year(title: str, year: str) -> str:
    return f"{title} ({year})" if year.isdecimal() else title


def _csv(text: str, name: str) -> dict[str, str]:
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    except csv.Error as error:
        raise SourceError(f"{name} cannot be read as a CSV file of titles: {error}") from error
    if not rows or len(rows[0]) < 2:
        raise SourceError(
            f"{name} has no titles: it must be a CSV file with a column of item ids and a column of titles"
        )
    plain = [re.sub(r"[^a-z]", "", cell.lower()) for cell in rows[0]]
    item = next((plain.index(word) for word in ITEM_WORDS if word in plain), 0)
    title = next((plain.index(word) for word in TITLE_WORDS if word in plain), 1)
    header = plain[title] in TITLE_WORDS
    width = max(item, title)
    return {row[item]: row[title] for row in rows[header:] if len(row) > width}
