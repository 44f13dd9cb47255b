"""Results as frames of other libraries: pandas, PyArrow, and whatever reads Arrow streams."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from standout.core.errors import StandoutError
from standout.core.extras import pip_install

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["FrameExport", "check_installed"]


class FrameExport:
    """A result that is a table: other libraries can take it."""

    __slots__ = ()

    def _frame(self) -> "pl.DataFrame":
        """The table as a Polars frame."""
        raise NotImplementedError

    def to_pandas(self) -> "pd.DataFrame":
        """The table as a pandas frame. It needs pandas and PyArrow.

        Returns
        -------
        pandas.DataFrame
            The same columns.

        Examples
        --------
        >>> import standout as so
        >>> so.synthesize(records=100, items=50, entries=1_000, seed=7).to_pandas().shape
        (1000, 4)
        """
        check_installed("to_pandas()", "pandas", "pyarrow")
        return self._frame().to_pandas()

    def to_arrow(self) -> "pa.Table":
        """The table as a PyArrow table. It needs PyArrow.

        Returns
        -------
        pyarrow.Table
            The same columns.

        Examples
        --------
        >>> import standout as so
        >>> so.synthesize(records=100, items=50, entries=1_000, seed=7).to_arrow().column_names
        ['record', 'item', 'value', 'time']
        """
        check_installed("to_arrow()", "pyarrow")
        return self._frame().to_arrow()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as an Arrow stream, for libraries that take one: Polars, DuckDB, PyArrow, pandas."""
        return self._frame().__arrow_c_stream__(requested_schema)


def check_installed(method: str, *packages: str) -> None:
    """Raise an error that says what to install if one of the packages is missing.

    >>> check_installed("to_arrow()", "standout")
    """
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        are = "are" if len(missing) > 1 else "is"
        names = " and ".join(missing)
        raise StandoutError(f"{method} needs {names}, which {are} not installed: {pip_install(*missing)}")
