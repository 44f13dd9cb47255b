"""Files of a sanitized table: its cells as CSV or Parquet, and the key, which row belongs to whom."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from standout._version import __version__
from standout.core.arrays import Ints
from standout.core.errors import ParameterError, SourceError, StandoutError
from standout.core.files import write_atomically
from standout.core.json_files import dump_with_checksum, is_intact
from standout.data.column import Column, code_dtype
from standout.data.export import exact, inert, inert_text
from standout.data.labels import StepReport
from standout.data.release import Release, read_only
from standout.know.sanitized import Sanitized
from standout.sanitizing.cell_steps import DropColumn, SwapColumn, moved_columns
from standout.sanitizing.level_change import compact
from standout.sanitizing.sanitize_table import assemble, level_draft, parse_table_step
from standout.sanitizing.table_step import TableDraft, TableStep

__all__ = [
    "TableSidecar",
    "member_separator",
    "open_table",
    "read_cells",
    "read_table_key",
    "released_fingerprint",
    "write_cells",
    "write_table_key",
]

KEY_COLUMNS = ["record", "released"]
SEPARATORS = (";", "|", ",")
READ_ALIKE = "read the original with the same schema as when it was sanitized"


def write_cells(safer: Sanitized, path: Path, inert_texts: bool = False) -> None:
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


def write_table_key(safer: Sanitized, path: Path) -> None:
    """Write a CSV file with the id of each row of the original, or its number, and its released number.

    Numbers count from 1. Only the owner can read the file. Removed rows are not in it.
    """
    original = safer.original
    ids = list(original.records)
    order = np.argsort(safer.original_row)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(KEY_COLUMNS)
    rows = zip(safer.original_row[order].tolist(), (order + 1).tolist(), strict=True)
    table.writerows((ids[row], released) for row, released in rows)
    write_atomically(path, lambda file: file.write(text.getvalue().encode()), private=True)


def read_table_key(path: Path, original: Release, n_rows: int) -> Ints:
    """For each released row, the row of the original that it comes from."""
    try:
        rows = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline=""), strict=True))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{path} is not a CSV file in UTF-8") from error
    if not rows or rows[0] != KEY_COLUMNS or any(len(row) != 2 for row in rows):
        raise SourceError(f"{path} is not a key file: it must have the columns record and released")
    ids = iter(original.records)
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
    return SourceError(f"{path} is not the key of this output and original: an id is unknown, missing or occurs twice")


# The sidecar of a sanitized table: a file next to it that lists the steps and can be published with it.
#
# It has counts and names of columns, no cell of anybody, and not the seed, which could undo noise and order.


FORMAT, CONTENT, VERSION = "standout sanitized", "table", 2


def released_fingerprint(table: Release) -> str:
    """Fingerprint of what is published: values that do not occur any more are no part of it."""
    return Release.of_columns(tuple(compact(column)[0] for column in table.columns)).fingerprint


@dataclass(frozen=True, slots=True)
class TableSidecar:
    """Steps of a sanitized table, the size of its original, and the types of its columns.

    `inert` says whether texts that a spreadsheet would execute have an apostrophe.
    """

    fingerprint: str
    original_rows: int
    original_columns: int
    rows: int
    kinds: dict[str, str]
    step_reports: tuple[StepReport, ...]
    inert: bool = False

    @classmethod
    def of(cls, safer: Sanitized, inert: bool = False) -> "TableSidecar":
        """Sidecar of a sanitized table."""
        return cls(
            fingerprint=released_fingerprint(safer),
            original_rows=safer.original.n_records,
            original_columns=safer.original.n_columns,
            rows=safer.n_records,
            kinds={column.name: column.kind for column in safer.columns},
            step_reports=safer.step_reports,
            inert=inert,
        )

    def to_json(self) -> bytes:
        """Content of the file."""
        content = {
            "format": FORMAT,
            "content": CONTENT,
            "version": VERSION,
            "written by": f"standout {__version__}",
            "ids": "rows are in a random order: their numbers are not those of the original",
            "fingerprint": self.fingerprint,
            "original": {"rows": self.original_rows, "columns": self.original_columns},
            "rows": self.rows,
            **({"inert": True} if self.inert else {}),
            "columns": self.kinds,
            "done": [{"step": report.step, "counts": report.counts} for report in self.step_reports],
        }
        return dump_with_checksum(content)

    @classmethod
    def read(cls, path: Path) -> "TableSidecar":
        """Read a sidecar; raises a SourceError that says why it cannot be used."""
        try:
            content = json.loads(path.read_bytes())
            if [content["format"], content.get("content"), content["version"]] != [FORMAT, CONTENT, VERSION]:
                raise SourceError(f"{path} is not a sidecar of a table that this version can read: sanitize again")
            if not is_intact(content):
                raise ValueError("checksum")
            return cls._from_json(content)
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {error.strerror}") from error
        except (ArithmeticError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, StandoutError):
                raise
            raise SourceError(f"{path} is damaged: write the output again with its sidecar") from error

    @classmethod
    def _from_json(cls, content: Any) -> "TableSidecar":
        """Make a sidecar of parsed JSON, whose shape nothing has checked yet."""
        sidecar = cls(
            fingerprint=str(content["fingerprint"]),
            original_rows=int(content["original"]["rows"]),
            original_columns=int(content["original"]["columns"]),
            rows=int(content["rows"]),
            kinds={str(name): str(kind) for name, kind in content["columns"].items()},
            step_reports=tuple(
                StepReport(str(report["step"]), {str(name): n for name, n in report["counts"].items()})
                for report in content["done"]
            ),
            inert=content.get("inert", False),
        )
        if type(sidecar.inert) is not bool:
            raise ValueError("inert")
        if not sidecar.kinds:
            raise ValueError("columns")
        sidecar._check_rows()
        return sidecar

    def _check_rows(self) -> None:
        """Check that the steps account for every row: before = after + removed."""
        rows = self.original_rows
        for report in self.step_reports:
            counts = report.counts
            if counts["rows before"] != rows or counts["rows"] + counts["rows removed"] != rows:
                raise ValueError("rows")
            rows = int(counts["rows"])
        if rows != self.rows:
            raise ValueError("rows")


# Open a sanitized table together with its original.


def open_table(path: Path, sidecar_path: Path, original: Release, key: Path | None) -> Sanitized:
    """Open an output of `standout.write_sanitized` together with its original; see `open_sanitized`.

    What the steps did to the levels is worked out again from the original: the sidecar has no values.
    """
    sidecar = TableSidecar.read(sidecar_path)
    if key is None:
        raise ParameterError(f"key is needed, the key file of {path.name}: its rows are in a random order")
    size = original.n_records, original.n_columns
    if size != (sidecar.original_rows, sidecar.original_columns):
        raise _wrong_original(path)
    steps = [parse_table_step(report.step) for report in sidecar.step_reports]
    try:
        levels = level_draft(original, steps)
        columns = [levels.column(name) for name in sidecar.kinds]
    except ParameterError:
        raise _wrong_original(path) from None
    if [column.kind for column in columns] != list(sidecar.kinds.values()):
        raise _wrong_original(path)
    draft = replace(
        levels,
        columns=tuple(read_cells(path, columns, sidecar.inert)),
        rows=read_table_key(key, original, sidecar.rows),
    )
    if draft.columns[0].n_rows != sidecar.rows:
        raise _changed(path)
    safer = assemble(_with_noise(draft, steps, sidecar.step_reports), sidecar.step_reports)
    if released_fingerprint(safer) != sidecar.fingerprint:
        raise _changed(path)
    if not all(_agrees(column, safer) for column in safer.columns):
        raise _wrong_original(path)
    return safer


def _with_noise(draft: TableDraft, steps: list[TableStep], reports: tuple[StepReport, ...]) -> TableDraft:
    """The draft with the probabilities that cells were replaced or emptied, by the reports of the steps."""
    for step, report in zip(steps, reports, strict=True):
        for name, replaced, suppressed in _noise(step, report, draft):
            draft = draft.with_cells(draft.column(name), replaced, suppressed)
    return draft


def _noise(step: TableStep, report: StepReport, draft: TableDraft) -> Iterator[tuple[str, float, float]]:
    """Columns of the output, and the probabilities that the step replaced or emptied their cells."""
    counts = report.counts
    if isinstance(step, SwapColumn):
        named = [draft.original.column(name) for name in step.columns]
        for name in moved_columns(named, draft.columns):
            yield name, counts["rows swapped"] / counts["rows before"], 0.0
    for name in draft.names:
        if f"emptied in {name}" in counts and not isinstance(step, DropColumn):
            yield name, 0.0, counts[f"emptied in {name}"] / counts[f"of cells in {name}"]


def _agrees(column: Column, safer: Sanitized) -> bool:
    """Whether the cells are what the steps make of the original's; not known if some are random."""
    old, channel = safer.original.column(column.name), safer.channels.get(column.name)
    if column.starts is not None or (channel is not None and (channel.replaced or channel.suppressed)):
        return True
    released = np.arange(old.n_levels) if channel is None else channel.released
    return bool((np.append(released, column.missing)[old.codes[safer.original_row]] == column.codes).all())


def _wrong_original(path: Path) -> SourceError:
    return SourceError(
        f"{path.name} was not made from this original as it was read, or the key belongs to another output"
    )


def _changed(path: Path) -> SourceError:
    return SourceError(f"{path} does not match its sidecar: one of the two was changed or replaced")
