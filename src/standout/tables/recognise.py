"""Recognise a file that is a table with one row per person, rather than a history."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from standout.core.errors import StandoutError
from standout.core.progress import no_progress
from standout.ingest.column_names import is_id_name
from standout.ingest.formats import recognise
from standout.ingest.frame_tables import is_table
from standout.ingest.header import recognise as recognised_columns
from standout.ingest.options import Options
from standout.ingest.sources import expand_paths
from standout.release.store import is_index
from standout.tables.delimited_columns import delimited_layout
from standout.tables.distinct_cells import distinct_cells
from standout.tables.source_columns import open_columns

__all__ = ["looks_like_table"]

HISTORY = {
    "record", "item", "value", "time", "latitude", "longitude", "grid", "geohash", "record_from_name",
    "value_type", "value_bin", "time_format", "time_unit", "time_bin", "repeats",
}  # fmt: skip
"""Options that only a history has."""
FEWEST_COLUMNS, FEWEST_WITH_ITEM = 3, 4
ROWS_PER_PERSON = 2
"""An id that has so many rows on average is that of people with several rows."""
LARGEST = 200 << 20
"""Size in bytes up to which the ids of a file are compared."""


def looks_like_table(source: Any, options: Options | None = None) -> str:
    """Why a source looks like a table with one row per person; "" if it does not.

    A table has several columns, and none that is recognised as the item of a history. If one has such a name,
    as a title or a course, it is a table if each row has an id of its own. If the first column is an id and
    most ids have several rows, it is none. Nothing is raised: a source that cannot be read is no table.

    >>> import polars as pl
    >>> looks_like_table(pl.DataFrame({"age": [30, 40], "sex": ["f", "m"], "smoker": ["no", "yes"]}))
    'it has 3 columns, and none is an item'
    >>> looks_like_table(pl.DataFrame({"user": ["7", "7"], "film": ["a", "b"], "stars": [1, 2]}))
    ''
    """
    options = options or Options()
    if options.changed() & HISTORY or _is_read_once(source):
        return ""
    try:
        with ExitStack() as stack:
            names = _certain_names(source, options, stack)
            return _reason(names, source, options, stack) if names else ""
    except StandoutError:
        return ""


def _certain_names(source: Any, options: Options, stack: ExitStack) -> tuple[str, ...]:
    """Names of the columns, without reading all rows; none if the source has none or is a known history."""
    if not isinstance(source, (str, Path, list, tuple)):
        return open_columns(source, options, stack, no_progress).names
    found = recognise(expand_paths([source] if isinstance(source, (str, Path)) else list(source)), options)
    if found.kind in ("MovieLens", "Netflix Prize"):
        return ()
    if found.kind == "delimited text":
        layout = delimited_layout(found.files[0], options)
        return layout.names if layout.header else ()
    return open_columns(source, options, stack, no_progress).names


def _reason(names: Sequence[str], source: Any, options: Options, stack: ExitStack) -> str:
    items, records = recognised_columns(names, "item"), recognised_columns(names, "record")
    if len(names) < (FEWEST_WITH_ITEM if items else FEWEST_COLUMNS):
        return ""
    if items and (not records or _size(source) > LARGEST):
        return ""
    if not records:
        if is_id_name(names[0]) and _size(source) <= LARGEST and _has_many_rows(source, options, stack):
            return ""
        return f"it has {len(names)} columns, and none is an item"
    columns = open_columns(source, options, stack, no_progress)
    if all(distinct_cells(series).all_differ for series in columns.series(records)):
        return f"it has {len(names)} columns, and each row has an id of its own"
    return ""


def _has_many_rows(source: Any, options: Options, stack: ExitStack) -> bool:
    """Whether the ids in the first column have several rows on average."""
    cells = distinct_cells(next(iter(open_columns(source, options, stack, no_progress).series([0]))))
    return len(cells.values) * ROWS_PER_PERSON <= cells.n_rows


def _is_read_once(source: Any) -> bool:
    """Whether a source cannot be read again, or is an index of a history."""
    if isinstance(source, (str, Path)):
        return is_index(Path(source))
    if isinstance(source, (list, tuple)):
        return len(source) != 1 or not isinstance(source[0], (str, Path)) or is_index(Path(source[0]))
    return not is_table(source) or not type(source).__module__.startswith(("polars", "pandas"))


def _size(source: Any) -> int:
    path = source[0] if isinstance(source, (list, tuple)) else source
    if isinstance(path, (str, Path)) and Path(path).is_file():
        return Path(path).stat().st_size
    return 0 if not isinstance(path, (str, Path)) else LARGEST + 1
