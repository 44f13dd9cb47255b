"""Small CSV files that people edit: any of three separators, and no cell that a spreadsheet would execute."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from standout.core.atomic_files import write_atomically
from standout.core.errors import SourceError

__all__ = ["read_rows", "unescaped", "write_rows"]

FORMULA_START = "=+-@\t\r\n＝＋－＠"
FORMULA = r"[=+\-@\t\r\n＝＋－＠]"
SEPARATORS = ",;\t"


def write_rows(table: pl.DataFrame, path: Path) -> None:
    """Write a CSV file with an apostrophe before every text that a spreadsheet would execute.

    Texts that already begin with apostrophes and then such a character get one more, so that `unescaped`
    restores every text exactly.
    """
    texts = pl.col(pl.String)
    escaped = pl.when(texts.str.contains(f"^'*{FORMULA}")).then("'" + texts).otherwise(texts)
    write_atomically(path, lambda file: table.with_columns(escaped.name.keep()).write_csv(file))


def unescaped(text: str) -> str:
    """Return the text as it was before `write_rows` escaped it.

    >>> unescaped("'=1+1"), unescaped("'Round Midnight"), unescaped("''-3")
    ('=1+1', "'Round Midnight", "'-3")
    """
    bare = text.lstrip("'")
    return text[1:] if text != bare and bare[:1] and bare[0] in FORMULA_START else text


def read_rows(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the column names, and the line number and cells of every row that is not empty."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not a CSV file in UTF-8: save it as UTF-8") from error
    try:
        rows = list(_rows(text))
    except csv.Error as error:
        raise SourceError(f"{path} is not a CSV file: {error}") from error
    if not rows or len(rows[0][1]) < 2:
        raise SourceError(f"{path}: the first line must name at least two columns")
    names, width = rows[0][1], len(rows[0][1])
    for line, cells in rows[1:]:
        if len(cells) != width:
            raise SourceError(
                f"{path}, line {line}: {width} cells expected as in the first line, got {len(cells)}"
            )
    return names, rows[1:]


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    first_line = text.split("\n", 1)[0]
    separator = max(SEPARATORS, key=first_line.count)  # the comma if there is none
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    return ((reader.line_num, cells) for cells in reader if any(cells))
