"""Results as tidy tables, and tables as files."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import polars as pl

from standout.core.atomic_files import write_atomically
from standout.core.errors import ParameterError
from standout.core.frame_export import FrameExport
from standout.evaluate.estimates import Estimate

__all__ = [
    "COLUMNS",
    "WRITERS",
    "EstimateResult",
    "EstimateRow",
    "TableResult",
    "estimate_table",
    "write_table",
]

WRITERS = {".csv": "write_csv", ".parquet": "write_parquet", ".json": "write_json"}

COLUMNS = {
    "adversary": pl.String,
    "facts": pl.Int64,
    "measure": pl.String,
    "setting": pl.String,
    "estimate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "baseline": pl.Float64,
    "too_few_items": pl.Int64,
    "seed": pl.Int64,
    "fingerprint": pl.String,
    "version": pl.String,
}


class EstimateRow(NamedTuple):
    """One row of the table, without the columns that are the same in all rows."""

    adversary: str
    facts: int
    measure: str
    setting: str
    estimate: Estimate
    too_few_items: int


def estimate_table(rows: Iterable[EstimateRow], seed: int, fingerprint: str, version: str) -> pl.DataFrame:
    """The rows as a table with the columns COLUMNS; an interval end that is not finite is empty."""
    cells = [
        (
            row.adversary,
            row.facts,
            row.measure,
            row.setting,
            row.estimate.value,
            *(end if math.isfinite(end) else None for end in (row.estimate.low, row.estimate.high)),
            row.estimate.n,
            row.estimate.baseline,
            row.too_few_items,
            seed,
            fingerprint,
            version,
        )
        for row in rows
    ]
    return pl.DataFrame(cells, schema=COLUMNS, orient="row")


class TableResult(FrameExport):
    """A result with a table that can be written to a file and given to other libraries."""

    @property
    def table(self) -> pl.DataFrame:
        """The result as a table."""
        raise NotImplementedError

    def _frame(self) -> pl.DataFrame:
        return self.table

    def to_csv(self, path: str | Path) -> None:
        """Write the table to a CSV file.

        Parameters
        ----------
        path
            The file; it is overwritten.
        """
        write_table(self.table, path, ".csv")

    def to_parquet(self, path: str | Path) -> None:
        """Write the table to a Parquet file.

        Parameters
        ----------
        path
            The file; it is overwritten.
        """
        write_table(self.table, path, ".parquet")

    def to_json(self, path: str | Path) -> None:
        """Write the table to a JSON file: a list of objects.

        Parameters
        ----------
        path
            The file; it is overwritten.
        """
        write_table(self.table, path, ".json")


class EstimateResult(TableResult):
    """A result whose table has one row for each adversary, number of facts and measure.

    `setting` gives φ, θ or k. `low` and `high` are the ends of the 95 % interval, empty if there is none.
    `n` is the number of trials, `baseline` the value that guessing reaches. `too_few_items` counts the
    records that have too few entries to be targets.
    """


def write_table(table: pl.DataFrame, path: str | Path, suffix: str | None = None) -> None:
    """Write a table in the format of `suffix`; default: the suffix of the path."""
    writer = WRITERS.get(suffix or Path(path).suffix)
    if writer is None:
        raise ParameterError(f"the file name must end in {', '.join(WRITERS)}, got {Path(path).name!r}")
    write_atomically(Path(path), getattr(table, writer))
