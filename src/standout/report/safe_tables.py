"""Tables as files, without cells that a spreadsheet would execute."""

from pathlib import Path

import polars as pl

from standout.core.atomic_files import write_atomically
from standout.core.errors import ParameterError

__all__ = ["inert", "private_table", "table_form"]

ACTIVE = r"^([=+\-@\t\r\n]|＝|＋|－|＠)"
"""Beginnings of a formula in a spreadsheet, including the full-width forms."""
FORMS = (".csv", ".parquet")


def inert(table: pl.DataFrame) -> pl.DataFrame:
    """The table with an apostrophe before every text that a spreadsheet would execute.

    >>> inert(pl.DataFrame({"record": ["7", "=1+1", "-3"]}))["record"].to_list()
    ['7', "'=1+1", "'-3"]
    """
    texts = pl.col(pl.String)
    return table.with_columns(
        pl.when(texts.str.contains(ACTIVE)).then("'" + texts).otherwise(texts).name.keep()
    )


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
