"""Releases and results as frames, files and notebook views, for other libraries and for people."""

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import slices_of
from standout.core.errors import ParameterError, check_installed
from standout.core.files import write_atomically
from standout.core.progress import Progress, no_progress
from standout.data.labels import SECONDS

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from standout.data.release import Release


class ResultView:
    """A result that a notebook shows with a headline, a small table and a chart. It names nobody.

    The views are in `standout.report`, which lower packages cannot import, and which a run that shows nothing
    should not wait for.
    """

    __slots__ = ()

    def _shown(self) -> Any:
        """What `standout.report.views` shows: the result itself, or its findings."""
        return self

    def chart(self) -> "alt.TopLevelMixin":
        """The main numbers as an Altair chart, to change, show or save; without ids of people."""
        shown: alt.TopLevelMixin = import_module("standout.report.views").altair_chart(self._shown())
        return shown

    def _repr_html_(self) -> str:
        """A headline, a small table and the chart, without scripts and without ids of people."""
        return str(import_module("standout.report.views").notebook_html(self._shown()))


class FrameExport:
    """A result that is a table: other libraries can take it."""

    __slots__ = ()

    def _frame(self) -> "pl.DataFrame":
        """What is exported: the attribute `table`, if the result has no other frame."""
        frame: pl.DataFrame = self.table  # type: ignore[attr-defined]
        return frame

    def to_pandas(self) -> "pd.DataFrame":
        """The table as a pandas frame. It needs pandas and PyArrow."""
        check_installed("to_pandas()", "pandas", "pyarrow")
        return self._frame().to_pandas()

    def to_arrow(self) -> "pa.Table":
        """The table as a PyArrow table. It needs PyArrow."""
        check_installed("to_arrow()", "pyarrow")
        return self._frame().to_arrow()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as an Arrow stream, for libraries that take one: Polars, DuckDB, PyArrow, pandas."""
        return self._frame().__arrow_c_stream__(requested_schema)


# Texts of a CSV file that a spreadsheet would execute: written so that they stay text, and read back.


FORMULA = r"[=+\-@\t\r\n＝＋－＠]"
"""Beginnings of a formula in a spreadsheet, including the full-width forms."""
PIECE = 1 << 21


def inert(table: "pl.DataFrame") -> "pl.DataFrame":
    """The table with an apostrophe before every text that a spreadsheet would execute.

    Texts that already begin with apostrophes and then such a character get one more, so that `exact` restores
    every text. Numbers and dates stay as they are.
    """
    import polars as pl

    return table.with_columns(pl.col(pl.String).str.replace(f"^('*{FORMULA})", "'${1}"))


def exact(table: "pl.DataFrame") -> "pl.DataFrame":
    """The table as it was before `inert`."""
    import polars as pl

    return table.with_columns(pl.col(pl.String).str.replace(f"^'('*{FORMULA})", "${1}"))


def inert_text(text: str) -> str:
    """A text as `inert` writes it."""
    return re.sub(f"^('*{FORMULA})", r"'\1", text)


def exact_text(text: str) -> str:
    """Return a text as it was before `inert`."""
    return re.sub(f"^'('*{FORMULA})", r"\1", text)


# The entries of a release.


def to_frame(release: "Release", low: int = 0, high: int | None = None) -> "pl.DataFrame":
    """Return the entries of records low … high - 1 as a frame; default: all records."""
    import polars as pl

    def texts(labels: Any, codes: NDArray[Any]) -> pl.Series:
        used, position = np.unique(codes, return_inverse=True)
        return pl.Series([labels[i] for i in used], dtype=pl.String).gather(position)

    high = release.n_records if high is None else high
    entries, levels, clock = release.check().by_record, release.levels, release.clock
    positions = slice(int(entries.start[low]), int(entries.start[high]))
    record = np.repeat(np.arange(low, high), release.lengths[low:high])
    columns = {"record": texts(release.records, record), "item": texts(release.items, entries.item[positions])}
    if levels is not None and entries.value is not None:
        values = pl.Series([*levels, None], dtype=pl.String if isinstance(levels, tuple) else pl.Float64)
        columns["value"] = values.gather(entries.value[positions].astype(np.uint32))
    if clock is not None and entries.time is not None:
        codes = entries.time[positions]
        units = codes.astype(np.int64) + clock.origin
        if clock.unit == "day":
            times = pl.Series(units.astype(np.int32)).cast(pl.Date)
        else:
            times = pl.Series(units * SECONDS[clock.unit] * 1000).cast(pl.Datetime("ms"))
        columns["time"] = times.set(pl.Series(codes == clock.span), None)
    return pl.DataFrame(columns)


def write_table(release: "Release", path: Path, progress: Progress = no_progress, inert_texts: bool = False) -> None:
    """Write a .csv or .parquet file that only its owner can read; it appears when it is complete.

    With `inert_texts`, texts in CSV that a spreadsheet would execute get an apostrophe.
    """
    if path.suffix not in (".csv", ".parquet"):
        raise ParameterError(f"{path}: the file name must end in .csv or .parquet")
    change: Callable[[pl.DataFrame], pl.DataFrame] = inert if inert_texts else lambda frame: frame

    def write(file: IO[bytes]) -> None:
        if path.suffix == ".parquet":
            to_frame(release).write_parquet(file)
            return
        for part in slices_of(release.lengths, PIECE):
            progress("writing", part.start, release.n_records)
            change(to_frame(release, part.start, part.stop)).write_csv(file, include_header=part.start == 0)

    write_atomically(path, write, private=True)
