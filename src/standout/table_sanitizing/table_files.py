"""Files of a sanitized table: its cells as CSV or Parquet, and the key, which row belongs to whom."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from standout.core.arrays import Ints
from standout.core.atomic_files import write_atomically
from standout.core.errors import ParameterError, SourceError
from standout.ingest.parquet_sizes import check_parquet_sizes
from standout.release.inert_cells import exact, inert, inert_text
from standout.release.model import read_only
from standout.tables.column import Column, code_dtype
from standout.tables.model import SanitizedTable, Table

__all__ = ["member_separator", "read_cells", "read_table_key", "write_cells", "write_table_key"]

KEY_COLUMNS = ["record", "released"]
SEPARATORS = (";", "|", ",")
READ_ALIKE = "read the original with the same schema as when it was sanitized"


def write_cells(safer: SanitizedTable, path: Path, inert_texts: bool = False) -> None:
    """Write a .csv or .parquet file that only its owner can read.

    With `inert_texts`, texts and column names in CSV that a spreadsheet would execute get an apostrophe.
    """
    frame = safer.to_frame()
    if path.suffix == ".parquet":
        write_atomically(path, frame.write_parquet, private=True)
        return
    sets = [column for column in safer.columns if column.kind == "set"]
    texts = frame.with_columns(pl.col(column.name).list.join(member_separator(column)) for column in sets)
    if inert_texts:
        texts = inert(texts).rename(inert_text)
    write_atomically(path, texts.write_csv, private=True)


def member_separator(column: Column) -> str:
    """Separator of the members of a set in a CSV file: one that no member contains."""
    for separator in SEPARATORS:
        if not any(separator in str(member) for member in column.levels):
            return separator
    raise ParameterError(
        f"column {column.name!r} cannot be written as CSV: its members contain "
        f"each of {' '.join(SEPARATORS)}; write a Parquet file"
    )


def read_cells(path: Path, columns: list[Column], inert_texts: bool = False) -> list[Column]:
    """Read the cells of columns whose types and levels are known, as `write_cells` wrote them."""
    names = [column.name for column in columns]
    try:
        frame = _read_csv(path, names, inert_texts) if path.suffix == ".csv" else _read_parquet(path, names)
    except (OSError, pl.exceptions.PolarsError):
        raise SourceError(f"{path} cannot be read, or lacks columns that its sidecar lists") from None
    try:
        return [_read_column(frame[column.name], column) for column in columns]
    except (pl.exceptions.PolarsError, ValueError):
        raise SourceError(f"{path.name} has values that the original lacks: {READ_ALIKE}") from None


def _read_parquet(path: Path, names: list[str]) -> pl.DataFrame:
    check_parquet_sizes(path)
    return pl.read_parquet(path, columns=names)


def _read_csv(path: Path, names: list[str], inert_texts: bool) -> pl.DataFrame:
    """The columns of a CSV file as texts."""
    if not inert_texts:
        return pl.read_csv(path, columns=names, infer_schema=False)
    written = [inert_text(name) for name in names]
    texts = pl.read_csv(path, columns=written, infer_schema=False)
    return exact(texts).rename(dict(zip(written, names, strict=True)))


def _read_column(cells: pl.Series, column: Column) -> Column:
    """The cells in the codes of this column's levels."""
    if column.kind != "set":
        codes = _codes(cells, column)
        return replace(column, codes=read_only(codes.astype(code_dtype(column.n_levels))), starts=None)
    lists = cells.str.split(member_separator(column)) if cells.dtype == pl.String else cells
    lengths = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
    members = lists.filter(lists.list.len() > 0).explode()
    codes = _codes(members, column).astype(code_dtype(column.n_levels))
    return replace(column, codes=read_only(codes), starts=np.append(0, np.cumsum(lengths)))


def _codes(cells: pl.Series, column: Column) -> Ints:
    if isinstance(column.levels, tuple):
        codes = cells.cast(pl.String).cast(pl.Enum(list(column.levels))).to_physical()
        return np.asarray(codes.cast(pl.Int64).fill_null(column.missing).to_numpy())
    if column.kind == "date":
        cells = cells.str.to_date("%Y-%m-%d") if cells.dtype == pl.String else cells
        cells = cells.cast(pl.Date).to_physical()
    numbers = cells.cast(pl.Float64)
    is_empty = numbers.is_null().to_numpy()
    known = numbers.fill_null(0.0).to_numpy()
    place = np.minimum(np.searchsorted(column.levels, known), max(column.n_levels - 1, 0))
    is_known = column.levels[place] == known if column.n_levels else np.zeros(len(known), np.bool_)
    if not (is_empty | is_known).all():
        raise ValueError("levels")
    return np.where(is_empty, column.missing, place).astype(np.int64)


def write_table_key(safer: SanitizedTable, path: Path) -> None:
    """Write a CSV file with the id of each row of the original, or its number, and its released number.

    Numbers count from 1. Only the owner can read the file. Removed rows are not in it.
    """
    original = safer.original
    ids = list(map(str, range(1, original.n_rows + 1))) if original.ids is None else list(original.ids)
    order = np.argsort(safer.original_row)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(KEY_COLUMNS)
    rows = zip(safer.original_row[order].tolist(), (order + 1).tolist(), strict=True)
    table.writerows((ids[row], released) for row, released in rows)
    write_atomically(path, lambda file: file.write(text.getvalue().encode()), private=True)


def read_table_key(path: Path, original: Table, n_rows: int) -> Ints:
    """For each released row, the row of the original that it comes from."""
    try:
        rows = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline=""), strict=True))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{path} is not a CSV file in UTF-8") from error
    if not rows or rows[0] != KEY_COLUMNS or any(len(row) != 2 for row in rows):
        raise SourceError(f"{path} is not a key file: it must have the columns record and released")
    ids = map(str, range(1, original.n_rows + 1)) if original.ids is None else iter(original.ids)
    place = {id_: row for row, id_ in enumerate(ids)}
    number = {str(row + 1): row for row in range(n_rows)}
    original_row = np.full(n_rows, -1, np.int64)
    for record, released in rows[1:]:
        row = place.pop(record, None)
        if row is None or released not in number or original_row[number[released]] >= 0:
            raise _wrong_key(path)
        original_row[number[released]] = row
    if (original_row < 0).any():
        raise _wrong_key(path)
    return original_row


def _wrong_key(path: Path) -> SourceError:
    return SourceError(
        f"{path} is not the key of this output and original: an id is unknown, missing or occurs twice"
    )
