"""One result type for everything that is measured: a tidy table."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from standout.core.errors import ParameterError, StandoutError
from standout.evaluate.estimates import Estimate

__all__ = ["COLUMNS", "WRITERS", "EstimateResult", "EstimateRows", "TableResult", "write_table"]

WRITERS = {".csv": "write_csv", ".parquet": "write_parquet", ".json": "write_json"}

COLUMNS = {
    "adversary": pl.String, "facts": pl.Int64, "measure": pl.String, "setting": pl.String,
    "estimate": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "baseline": pl.Float64,
    "too_few_items": pl.Int64, "seed": pl.Int64, "fingerprint": pl.String, "version": pl.String,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class EstimateRows:
    """EstimateRows of the table, as they come."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def add(
        self, adversary: str, facts: int, measure: str, setting: str, estimate: Estimate, too_few_items: int
    ) -> None:
        numbers = (estimate.low, estimate.high)
        ends = tuple(x if math.isfinite(x) else None for x in numbers)
        self.rows.append((adversary, facts, measure, setting, estimate.value, *ends, estimate.n,
                          estimate.baseline, too_few_items))  # fmt: skip

    def table(self, seed: int, fingerprint: str, version: str) -> pl.DataFrame:
        whole = [(*row, seed, fingerprint, version) for row in self.rows]
        return pl.DataFrame(whole, schema=COLUMNS, orient="row")


class TableResult:
    """Something that has a table, which can be written."""

    @property
    def table(self) -> pl.DataFrame:
        raise NotImplementedError

    def to_csv(self, path: str | Path) -> None:
        """The table as a CSV file."""
        write_table(self.table, path, ".csv")

    def to_parquet(self, path: str | Path) -> None:
        """The table as a Parquet file."""
        write_table(self.table, path, ".parquet")

    def to_json(self, path: str | Path) -> None:
        """The table as a JSON file: a list of objects."""
        write_table(self.table, path, ".json")


class EstimateResult(TableResult):
    """A table with a row for each adversary, number of facts and measure.

    `setting` says with what φ, θ or k; `low` and `high` are the ends of the 95 % interval, empty where a
    number has none; `n` is how many trials; `baseline` is what guessing gives; `too_few_items`
    counts the records that cannot be targets.
    """


def write_table(table: pl.DataFrame, path: str | Path, form: str | None = None) -> None:
    """The table as a file, in the form that its name ends in unless another is said."""
    way = WRITERS.get(form or Path(path).suffix)
    if way is None:
        raise ParameterError(f"a table is written to {', '.join(WRITERS)}, got {Path(path).name!r}")
    try:
        getattr(table, way)(Path(path))
    except OSError as error:
        raise StandoutError(f"{path} cannot be written: {error.strerror}") from error
