"""How results show themselves in a notebook: as HTML, and as a chart.

The views are in `standout.report`, which is loaded when a result is first shown: results of lower packages
cannot import it, and a run that shows nothing should not wait for it.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from standout.core.errors import StandoutError, pip_install

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class ResultView:
    """A result that a notebook shows with a headline, a small table and a chart. It names nobody."""

    __slots__ = ()

    def _shown(self) -> Any:
        """What `standout.report.views` shows: the result itself, or its findings."""
        return self

    def chart(self) -> "alt.TopLevelMixin":
        """The main numbers as an Altair chart, to change, show or save; without ids of people."""
        shown: alt.TopLevelMixin = _views().altair_chart(self._shown())
        return shown

    def _repr_html_(self) -> str:
        """A headline, a small table and the chart, without scripts and without ids of people."""
        html: str = _views().notebook_html(self._shown())
        return html


def _views() -> Any:
    return import_module("standout.report.views")


# Results as frames of other libraries: pandas, PyArrow, and whatever reads Arrow streams.


class FrameExport:
    """A result that is a table: other libraries can take it."""

    __slots__ = ()

    def _frame(self) -> "pl.DataFrame":
        """The table as a Polars frame."""
        raise NotImplementedError

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


def check_installed(method: str, *packages: str) -> None:
    """Raise an error that says what to install if one of the packages is missing."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        are = "are" if len(missing) > 1 else "is"
        names = " and ".join(missing)
        raise StandoutError(f"{method} needs {names}, which {are} not installed: {pip_install(*missing)}")
