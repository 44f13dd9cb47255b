"""Reads one table: opens the source, decides what each column is, and says how."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from standout.core.errors import ColumnError, ParameterError, SourceError
from standout.core.progress import Progress, no_progress
from standout.ingest.options import Column as ColumnName
from standout.ingest.options import Options
from standout.release.labels import Labels
from standout.release.provenance import Provenance, UnusedColumn
from standout.tables.column import Column
from standout.tables.column_doubts import column_doubts
from standout.tables.column_types import CellLevels, Wish, levels_of
from standout.tables.distinct_cells import DistinctCells, distinct_cells
from standout.tables.id_column import check_ids, choose_id, id_labels, may_be_id
from standout.tables.make_column import make_column
from standout.tables.model import Table
from standout.tables.source_columns import SourceColumns, open_columns

__all__ = ["TableReader"]

LISTED = 20


@dataclass(slots=True)
class TableReader:
    """Reads one table; afterwards `warnings` has what the user should check."""

    options: Options
    id: ColumnName | bool | None = None
    missing: tuple[str, ...] | None = None
    progress: Progress = no_progress
    warnings: list[str] = field(default_factory=list)

    def read(self, source: Any) -> Table:
        """Read the table in a source."""
        if self.id is True:
            raise ParameterError("id must be a column name, a column number, or False for none, got True")
        with ExitStack() as stack:
            opened = open_columns(source, self.options, stack, self.progress)
            return self._table(opened)

    def _table(self, source: SourceColumns) -> Table:
        names = source.names
        if len(set(names)) < len(names):
            raise SourceError("the source has two columns with the same name: rename one")
        ignored = {_position(names, column, "ignore") for column in self.options.ignored}
        given = None if self.id is None or self.id is False else _position(names, self.id, "id")
        if given in ignored:
            raise ParameterError(f"id is the column {names[given]!r}, which cannot be ignored as well")
        columns: dict[int, Column] = {}
        notes: dict[str, str] = {}
        doubts: dict[int, list[str]] = {}
        candidates: dict[int, DistinctCells] = {}
        for position, cells in self._cells(source, ignored):
            if position == given:
                check_ids(names[position], cells)
            if position == given or (self.id is None and may_be_id(position, names[position], cells)):
                candidates[position] = cells
            if position != given:
                name = names[position]
                levels = levels_of(name, cells, Wish(missing=self.missing))
                columns[position] = make_column(name, cells, levels)
                notes[name] = _note(columns[position], cells, levels)
                doubts[position] = list(column_doubts(columns[position], cells, levels.doubt))
        ids, record, reason = self._ids(names, candidates, given)
        if record is not None:
            columns.pop(record, None)
            notes.pop(names[record], None)
            doubts.pop(record, None)
        if not columns:
            raise SourceError("the source has no column but the id: a table needs attributes")
        self.warnings += [doubt for found in doubts.values() for doubt in found]
        provenance = Provenance(
            source.format,
            source.files,
            {} if record is None else {"record": names[record]},
            source.settings,
            {"record": reason},
            tuple(UnusedColumn(names[position], "text", True) for position in sorted(ignored)),
            next(iter(columns.values())).n_rows,
            column_notes=notes,
        )
        return Table(tuple(columns.values()), ids, provenance=provenance)

    def _cells(self, source: SourceColumns, ignored: set[int]) -> Iterator[tuple[int, DistinctCells]]:
        for position, series in enumerate(source.series()):
            if position not in ignored:
                yield position, distinct_cells(series)
            self.progress("reading", position + 1, len(source.names))

    def _ids(
        self, names: Sequence[str], candidates: dict[int, DistinctCells], given: int | None
    ) -> tuple[Labels | None, int | None, str]:
        if given is not None:
            return id_labels(candidates[given]), given, "named with --id"
        chosen = choose_id(names, candidates)
        if chosen is None:
            return (
                None,
                None,
                "the user says that there is none" if self.id is False else "no column is an id",
            )
        return id_labels(candidates[chosen[0]]), chosen[0], chosen[1]


def _position(names: Sequence[str], column: ColumnName, parameter: str) -> int:
    """Position of a column that the user names, by its name or its number."""
    if column in names:
        return names.index(str(column))
    if isinstance(column, int) or column.isdecimal():
        if not 1 <= int(column) <= len(names):
            raise ColumnError(
                f"{parameter} must be a column number from 1 to {len(names)}, got {int(column)}"
            )
        return int(column) - 1
    listed = ", ".join(names[:LISTED]) + (", …" if len(names) > LISTED else "")
    raise ColumnError(f"column {column!r} not found; the columns are {listed}: name one with --{parameter}")


def _note(column: Column, cells: DistinctCells, levels: CellLevels) -> str:
    """How the cells of a column were read, and which of them are empty."""
    missing = int(column.counts[-1])
    parts = [f"{column.kind} ({levels.reason})" if levels.reason else column.kind]
    if levels.date_format:
        parts.append(f"format {levels.date_format}")
    marked = [f"{count:,} × {text}" for text, count in sorted(levels.markers.items())]
    if empty := int(cells.counts[cells.empty]):
        marked.insert(0, f"{empty:,} without text")
    parts.append(f"{missing:,} empty cells" + (f": {', '.join(marked)}" if levels.markers else ""))
    return "; ".join(parts)
