"""Small CSV files that people edit: any of three separators, and no cell that a spreadsheet would execute."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from standout.core.atomic_files import write_atomically
from standout.core.errors import SourceError
from standout.release.inert_cells import inert

__all__ = ["read_rows", "write_rows"]

SEPARATORS = ",;\t"


def write_rows(table: pl.DataFrame, path: Path) -> None:
    """Write a CSV file without cells that a spreadsheet would execute; `exact_text` restores every text."""
    write_atomically(path, inert(table).write_csv)


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
