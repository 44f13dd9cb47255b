"""Decide whether the first line of a file is a header, and which names are well known."""

import re
from collections.abc import Sequence

from standout.core.errors import ColumnError
from standout.ingest.column_kinds import Sample, column_cells
from standout.ingest.column_names import PLACE_ROLES, ROLES, name_rank
from standout.ingest.options import Options

__all__ = ["CELLS_DECIDE", "are_names", "is_header", "is_repeated", "recognise", "table_hint"]

TABLE_COLUMNS = 3
"""A table with one row per person has at least so many columns."""
CELLS_DECIDE = 20
"""From this rank on, a name is only well known if the cells fit too."""
NUMBER = re.compile(r"[+-]?[\d.,:/-]*\d[\d.,:/-]*")


def is_header(first: Sequence[str], second: Sequence[str] | None, options: Options, source: str = "FILE") -> bool:
    """Whether the first line is a header.

    It is one if it contains a column that the user named, or if its names are well known. If it may be either
    (words above numbers, or a single line), the user must decide: a wrong guess could lose somebody's entry.
    """
    if options.header is not None:
        return options.header
    if any(isinstance(name, str) and not name.isdecimal() and name in first for name in options.named):
        return True
    wanted = ("record", "item") if options.places is None else PLACE_ROLES
    if all(recognise(first, role) for role in wanted):
        return True
    if any(not cell.strip() or _is_number(cell) for cell in first) or len(set(first)) < len(first):
        return False
    if second is not None and are_names(first, [second]):
        return True
    if second is None or any(map(_is_number, second)):
        raise ColumnError(
            "the first line may be a header or a row: add header=True or header=False"
            + table_hint(first, [second], source)
            if second is not None
            else "the file has a single line, which may be a header or a row: add header=True or header=False"
        )
    return False


def table_hint(names: Sequence[str], sample: Sample, source: str) -> str:
    """How to read a source that may be a table with one row per person; "" if a person has several rows.

    `source` is "" for a source that is no text file.
    """
    if len(names) < TABLE_COLUMNS or recognise(names, "item"):
        return ""
    for column in recognise(names, "record"):
        cells = column_cells(sample, column)
        if len(set(cells)) < len(cells):
            return ""
    how = f"so.read_table({source!r})" if source else "so.read_table"
    return f". If each row is one person, it is a table: {how}"


def are_names(names: Sequence[str], sample: Sample) -> bool:
    """Whether two roles are recognised, or one above a row of numbers, and no row repeats a name."""
    if is_repeated(names, sample):
        return False
    recognised = sum(bool(recognise(names, role)) for role in ROLES)
    return recognised > 1 or (recognised == 1 and bool(sample) and all(map(_is_number, sample[0])))


def is_repeated(names: Sequence[str], sample: Sample) -> bool:
    """Whether a row repeats a name in its own column, so that the names may be a row of data."""
    return any(name in row[i : i + 1] for row in sample for i, name in enumerate(names))


def _is_number(cell: str) -> bool:
    return NUMBER.fullmatch(cell.strip()) is not None


def recognise(names: Sequence[str], role: str) -> list[int]:
    """Columns with the best-known names of a role; several if they are known equally well."""
    ranks = [name_rank(name, role) for name in names]
    known = [rank for rank in ranks if rank is not None and (rank < CELLS_DECIDE or role not in ("value", "time"))]
    return [column for column, rank in enumerate(ranks) if known and rank == min(known)]
