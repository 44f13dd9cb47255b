"""Tables as files, without cells that a spreadsheet would execute."""

from pathlib import Path

import polars as pl

from standout.core.atomic_files import write_atomically
from standout.core.errors import ParameterError
from standout.release.inert_cells import inert

__all__ = ["inert", "private_table", "table_form"]

FORMS = (".csv", ".parquet")


def table_form(path: Path) -> str:
    """Ending of a table's file name: .csv or .parquet."""
    if path.suffix not in FORMS:
        raise ParameterError(f"{path.name}: the name of a table must end in {' or '.join(FORMS)}")
    return path.suffix


def private_table(table: pl.DataFrame, path: Path) -> None:
    """Write a .csv or .parquet file that only its owner can read."""
    form = table_form(path)
    write_atomically(
        path, lambda file: inert(table).write_csv(file) if form == ".csv" else table.write_parquet(file), True
    )
