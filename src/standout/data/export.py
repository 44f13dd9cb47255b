"""Export a release as a table: a Polars frame, a CSV file or a Parquet file."""

from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout.core.arrays import slices_of
from standout.core.errors import ParameterError
from standout.core.files import write_atomically
from standout.core.progress import Progress, no_progress
from standout.data.labels import SECONDS, Clock, Labels
from standout.data.release import Codes, Levels, Release

# Texts of a CSV file that a spreadsheet would execute: written so that they stay text, and read back.


FORMULA_START = "=+-@\t\r\n＝＋－＠"
"""Beginnings of a formula in a spreadsheet, including the full-width forms."""
FORMULA = r"[=+\-@\t\r\n＝＋－＠]"


def inert(table: pl.DataFrame) -> pl.DataFrame:
    """The table with an apostrophe before every text that a spreadsheet would execute.

    Texts that already begin with apostrophes and then such a character get one more, so that `exact` restores
    every text. Numbers and dates stay as they are.

    >>> inert(pl.DataFrame({"record": ["7", "=1+1", "-3", "'-3"]}))["record"].to_list()
    ['7', "'=1+1", "'-3", "''-3"]
    """
    texts = pl.col(pl.String)
    changed = pl.when(texts.str.contains(f"^'*{FORMULA}")).then("'" + texts).otherwise(texts)
    return table.with_columns(changed.name.keep())


def exact(table: pl.DataFrame) -> pl.DataFrame:
    """The table as it was before `inert`."""
    texts = pl.col(pl.String)
    changed = pl.when(texts.str.contains(f"^'+{FORMULA}")).then(texts.str.slice(1)).otherwise(texts)
    return table.with_columns(changed.name.keep())


def inert_text(text: str) -> str:
    """A text as `inert` writes it."""
    return f"'{text}" if text.lstrip("'").startswith(tuple(FORMULA_START)) else text


def exact_text(text: str) -> str:
    """Return a text as it was before `inert`.

    >>> exact_text("'=1+1"), exact_text("'Round Midnight"), exact_text("''-3")
    ('=1+1', "'Round Midnight", "'-3")
    """
    return text[1:] if text.startswith("'") and inert_text(text) != text else text


PIECE = 1 << 21


def to_frame(release: Release, low: int = 0, high: int | None = None) -> pl.DataFrame:
    """Return the entries of records low … high - 1 as a frame; default: all records."""
    high = release.n_records if high is None else high
    entries = release.check().by_record
    positions = slice(int(entries.start[low]), int(entries.start[high]))
    codes = np.repeat(np.arange(low, high), release.lengths[low:high])
    columns = {"record": _texts(release.records, codes), "item": _texts(release.items, entries.item[positions])}
    if release.levels is not None and entries.value is not None:
        columns["value"] = _values(release.levels, entries.value[positions])
    if release.clock is not None and entries.time is not None:
        columns["time"] = _times(release.clock, entries.time[positions])
    return pl.DataFrame(columns)


def write_table(release: Release, path: Path, progress: Progress = no_progress, inert_texts: bool = False) -> None:
    """Write a .csv or .parquet file that only its owner can read; it appears when it is complete.

    With `inert_texts`, texts in CSV that a spreadsheet would execute get an apostrophe.
    """
    if path.suffix not in (".csv", ".parquet"):
        raise ParameterError(f"{path}: the file name must end in .csv or .parquet")

    def write(file: IO[bytes]) -> None:
        if path.suffix == ".csv":
            _write_csv(release, file, progress, inert if inert_texts else None)
        else:
            to_frame(release).write_parquet(file)

    write_atomically(path, write, private=True)


def _write_csv(
    release: Release, file: IO[bytes], progress: Progress, change: Callable[[pl.DataFrame], pl.DataFrame] | None
) -> None:
    for part in slices_of(release.lengths, PIECE):
        progress("writing", part.start, release.n_records)
        frame = to_frame(release, part.start, part.stop)
        (frame if change is None else change(frame)).write_csv(file, include_header=part.start == 0)


def _texts(labels: Labels, codes: NDArray[Any]) -> pl.Series:
    used, position = np.unique(codes, return_inverse=True)
    return pl.Series([labels[i] for i in used], dtype=pl.String).gather(position)


def _values(levels: Levels, codes: Codes) -> pl.Series:
    values = pl.Series([*levels, None], dtype=pl.String if isinstance(levels, tuple) else pl.Float64)
    return values.gather(codes.astype(np.uint32))


def _times(clock: Clock, codes: Codes) -> pl.Series:
    units = codes.astype(np.int64) + clock.origin
    if clock.unit == "day":
        times = pl.Series(units.astype(np.int32)).cast(pl.Date)
    else:
        times = pl.Series(units * SECONDS[clock.unit] * 1000).cast(pl.Datetime("ms"))
    return times.set(pl.Series(codes == clock.span), None)
