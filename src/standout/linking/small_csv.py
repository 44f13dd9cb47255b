"""Small tables that people edit: any of three separators, no cell that a spreadsheet would run."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from standout.core.atomic_files import write_atomically
from standout.core.errors import SourceError

__all__ = ["read_cells", "unguarded", "write_cells"]

ACTIVE = r"[=+\-@\t\r\n＝＋－＠]"
SEPARATORS = ",;\t"


def write_cells(table: pl.DataFrame, path: Path) -> None:
    """Writes a CSV file. An apostrophe stands before texts that a spreadsheet would run, and before those
    that begin as if one stood there: `unguarded` gives back every text as it was."""
    texts = pl.col(pl.String)
    guarded = pl.when(texts.str.contains(f"^'*{ACTIVE}")).then("'" + texts).otherwise(texts)
    write_atomically(path, lambda file: table.with_columns(guarded.name.keep()).write_csv(file))


def unguarded(text: str) -> str:
    """The text that `write_cells` wrote so.

    >>> unguarded("'=1+1"), unguarded("'Round Midnight"), unguarded("''-3")
    ('=1+1', "'Round Midnight", "'-3")
    """
    bare = text.lstrip("'")
    return text[1:] if text != bare and bare[:1] and bare[0] in "=+-@\t\r\n＝＋－＠" else text


def read_cells(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names of the columns, and (line, cells) of every row that is not empty."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not a CSV file in UTF-8") from error
    try:
        rows = list(_rows(text))
    except csv.Error as error:
        raise SourceError(f"{path} is not a CSV file: {error}") from error
    if not rows or len(rows[0][1]) < 2:
        raise SourceError(f"{path}: the first line names the columns, and there are two at least")
    names, width = rows[0][1], len(rows[0][1])
    for line, cells in rows[1:]:
        if len(cells) != width:
            raise SourceError(f"{path}, line {line}: {len(cells)} cells, and the first line has {width}")
    return names, rows[1:]


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    first = text.split("\n", 1)[0]
    separator = max(SEPARATORS, key=first.count)  # the comma if there is none
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    return ((reader.line_num, cells) for cells in reader if any(cells))
