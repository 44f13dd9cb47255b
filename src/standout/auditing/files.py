"""Tables and texts as files: whole or not there, and nothing in a cell that a spreadsheet would run."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

import polars as pl

from standout.errors import ParameterError, StandoutError
from standout.release.private import OWNER_ONLY, private_file

__all__ = ["folder_at", "inert", "private_table", "put", "table_form"]

ACTIVE = r"^([=+\-@\t\r\n]|＝|＋|－|＠)"
"""What a spreadsheet takes for a formula, also in the wide forms."""
FORMS = (".csv", ".parquet")


def inert(table: pl.DataFrame) -> pl.DataFrame:
    """The table with an apostrophe before every text that a spreadsheet would run.

    >>> inert(pl.DataFrame({"record": ["7", "=1+1", "-3"]}))["record"].to_list()
    ['7', "'=1+1", "'-3"]
    """
    texts = pl.col(pl.String)
    return table.with_columns(
        pl.when(texts.str.contains(ACTIVE)).then("'" + texts).otherwise(texts).name.keep()
    )


def table_form(path: Path) -> str:
    """.csv or .parquet, or an error."""
    if path.suffix not in FORMS:
        raise ParameterError(f"{path.name}: a table's name ends in {' or '.join(FORMS)}")
    return path.suffix


def private_table(table: pl.DataFrame, path: Path) -> None:
    """Writes a .csv or .parquet file that only its owner can read; it appears when it is whole."""
    form = table_form(path)
    put(
        path, lambda file: inert(table).write_csv(file) if form == ".csv" else table.write_parquet(file), True
    )


def put(path: Path, write: Callable[[IO[bytes]], object], private: bool = False) -> None:
    """Writes a file beside its place first, then puts it there."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.unlink(missing_ok=True)
        with private_file(new) as made, os.fdopen(os.dup(made), "wb") as file:
            write(file)
        if not private:
            new.chmod((0o666 & ~_umask()) | OWNER_ONLY)
        new.replace(path)
    except OSError as error:
        raise StandoutError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        new.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def folder_at(path: Path, private: bool = False) -> Path:
    """The folder, made if it is not there; or an error in one line."""
    try:
        path.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
    except OSError as error:
        reason = "it is a file" if isinstance(error, FileExistsError) else error.strerror
        raise StandoutError(f"{path} cannot be made a folder: {reason}") from error
    return path
