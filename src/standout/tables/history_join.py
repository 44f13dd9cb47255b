"""Join a table with a history of the same people, such as their ratings."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from standout.core.errors import ColumnError, ParameterError, SourceError
from standout.core.progress import Progress
from standout.ingest.options import Options
from standout.ingest.read import SourceReader
from standout.ingest.unused_columns import PYTHON, Wording, reading_warnings
from standout.release.labels import Labels
from standout.release.model import Release
from standout.tables.column import Column
from standout.tables.model import Table

__all__ = ["WITHOUT_HISTORY", "WITHOUT_ROW", "join_history", "read_history"]

WITHOUT_HISTORY, WITHOUT_ROW = "rows without a history", "people of the history without a row"


def read_history(
    source: Any, options: Mapping[str, Any] | None, progress: Progress, wording: Wording = PYTHON
) -> tuple[Release, list[str]]:
    """Read a history, and return it with what the user should check."""
    if isinstance(source, Release):
        if options:
            raise ParameterError("history_options cannot be set if history is a release that was read before")
        return source, []
    settings = dict(options or {})
    titles = settings.pop("titles", None)
    unknown = sorted({*settings} - {*Options.__dataclass_fields__})
    if unknown:
        raise ParameterError(f"history_options must be options of so.read, got {unknown[0]!r}")
    release = SourceReader(Options(**settings), progress).read(source, titles)
    return release, [f"history: {message}" for message in reading_warnings(release, wording)]


def join_history(table: Table, history: Release) -> Table:
    """Join by the ids of people.

    A row without a history has record -1. People of the history without a row are appended, with all cells
    empty, so that nobody is left out.
    """
    if table.ids is None:
        raise ColumnError("a history can only be joined to a table with ids: name their column with id=…")
    record_of = {record: position for position, record in enumerate(history.records)}
    known = np.array([record_of.get(row, -1) for row in table.ids], np.int64)
    without = int(np.count_nonzero(known < 0))
    if without == table.n_rows:
        raise SourceError(
            "no id of the table is an id of the history: check the columns of ids; ids are text"
        )
    has_row = np.zeros(history.n_records, np.bool_)
    has_row[known[known >= 0]] = True
    others = np.flatnonzero(~has_row)
    ids = Labels.of(chain(table.ids, (history.records[position] for position in others.tolist())))
    counts = {WITHOUT_HISTORY: f"{without:,}", WITHOUT_ROW: f"{len(others):,}"}
    settings = table.provenance.settings | {"history": _described(history)} | counts
    return replace(
        table,
        columns=tuple(_extended(column, len(others)) for column in table.columns),
        ids=ids if len(others) else table.ids,
        history=history,
        history_record=np.append(known, others).astype(np.int64),
        provenance=replace(table.provenance, settings=settings),
    )


def _extended(column: Column, rows: int) -> Column:
    """The column with more rows, whose cells are empty."""
    if not rows:
        return column
    if column.starts is not None:
        return replace(column, starts=np.append(column.starts, np.full(rows, column.starts[-1])))
    return replace(column, codes=np.append(column.codes, np.full(rows, column.missing, column.codes.dtype)))


def _described(history: Release) -> str:
    files = ", ".join(history.provenance.files) or history.provenance.format
    return f"{files}: {history.n_entries:,} entries of {history.n_records:,} people"
