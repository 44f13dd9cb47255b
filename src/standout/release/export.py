"""A release as a table: a Polars frame, a CSV or a Parquet file."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout.core.errors import ParameterError, StandoutError
from standout.core.private_files import open_private
from standout.core.progress import Progress, no_progress
from standout.release.clock import SECONDS, Clock
from standout.release.labels import Labels
from standout.release.model import Codes, Levels, Release

__all__ = ["to_frame", "write_table"]

PIECE = 1 << 21


def to_frame(release: Release, low: int = 0, high: int | None = None) -> pl.DataFrame:
    """The entries of records low … high - 1 (all of them unless said otherwise)."""
    high = release.n_records if high is None else high
    side = release.check().by_record
    here = slice(int(side.start[low]), int(side.start[high]))
    codes = np.repeat(np.arange(low, high), release.lengths[low:high])
    columns = {
        "record": _texts(release.records, codes),
        "item": _texts(release.items, side.item[here]),
    }
    if release.levels is not None and side.value is not None:
        columns["value"] = _values(release.levels, side.value[here])
    if release.clock is not None and side.time is not None:
        columns["time"] = _times(release.clock, side.time[here])
    return pl.DataFrame(columns)


def write_table(release: Release, path: Path, progress: Progress = no_progress) -> None:
    """Writes a .csv or .parquet file that only its owner can read; it appears when it is whole."""
    if path.suffix not in (".csv", ".parquet"):
        raise ParameterError(f"{path}: a name that ends in .csv or .parquet is needed")
    building = path.with_name(f".{path.name}.building")
    try:
        building.unlink(missing_ok=True)  # of a writer that was killed
        with open_private(building) as made, os.fdopen(os.dup(made), "wb") as file:
            if path.suffix == ".csv":
                _write_csv(release, file, progress)
            else:
                to_frame(release).write_parquet(file)
        building.replace(path)
    except OSError as error:
        raise StandoutError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        building.unlink(missing_ok=True)


def _write_csv(release: Release, file: IO[bytes], progress: Progress) -> None:
    for low, high in _pieces(release):
        progress("writing", low, release.n_records)
        to_frame(release, low, high).write_csv(file, include_header=low == 0)


def _pieces(release: Release) -> Iterator[tuple[int, int]]:
    """Ranges of records with about PIECE entries each."""
    low = 0
    while low < release.n_records:
        goal = release.by_record.start[low] + PIECE
        high = max(low + 1, int(np.searchsorted(release.by_record.start, goal, side="right")) - 1)
        yield low, high
        low = high


def _texts(labels: Labels, codes: NDArray[Any]) -> pl.Series:
    used, place = np.unique(codes, return_inverse=True)
    return pl.Series([labels[i] for i in used], dtype=pl.String).gather(place)


def _values(levels: Levels, codes: Codes) -> pl.Series:
    known = pl.Series([*levels, None], dtype=pl.String if isinstance(levels, tuple) else pl.Float64)
    return known.gather(codes.astype(np.uint32))


def _times(clock: Clock, codes: Codes) -> pl.Series:
    units = codes.astype(np.int64) + clock.origin
    if clock.unit == "day":
        known = pl.Series(units.astype(np.int32)).cast(pl.Date)
    else:
        known = pl.Series(units * SECONDS[clock.unit] * 1000).cast(pl.Datetime("ms"))
    return known.set(pl.Series(codes == clock.span), None)
