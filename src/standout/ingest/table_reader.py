"""Reads one table: opens the source, decides what each column is, and says how."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from standout.core.errors import ColumnError, ParameterError, SourceError
from standout.core.progress import Progress, no_progress
from standout.data.column import Column
from standout.data.labels import Labels, Provenance, UnusedColumn
from standout.data.release import Release
from standout.ingest.column_types import (
    CellLevels,
    Doubt,
    column_doubts,
    direct_identifier,
    levels_of,
    make_column,
    missing_number_doubts,
)
from standout.ingest.distinct_cells import DistinctCells, distinct_cells
from standout.ingest.id_column import check_ids, choose_id, id_labels, may_be_id
from standout.ingest.options import Column as ColumnName
from standout.ingest.options import Options
from standout.ingest.schema import ColumnSchema, Schema, apply_schema, different_texts, schema_of
from standout.ingest.table_cells import SourceColumns, open_columns

__all__ = ["NOT_IN_SCHEMA", "TableReader"]

LISTED, LONGEST_NUMBER = 20, 10
NOT_IN_SCHEMA = "columns that the schema lacks"
"""Setting of the provenance, if there are such columns."""


@dataclass(slots=True)
class TableReader:
    """Reads one table.

    Afterwards `warnings` has what the user should check, and `schema_read` reads the table in the same way.
    """

    options: Options
    id: ColumnName | bool | None = None
    missing: Sequence[str] | None = None
    schema: Schema = field(default_factory=Schema)
    schema_name: str = ""
    progress: Progress = no_progress
    warnings: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    """Those of the warnings with which a threshold must not pass: the risk may be understated."""
    schema_read: Schema = field(default_factory=Schema)

    def read(self, source: Any) -> Release:
        """Read the table in a source."""
        if self.id is None:
            self.id = self.schema.id
        if self.id is True:
            raise ParameterError("id must be a column name, a column number, or False for none, got True")
        self.missing = None if self.missing is None else different_texts(self.missing, "missing")
        with ExitStack() as stack:
            opened = open_columns(source, self.options, stack, self.progress)
            return self._table(opened)

    def _table(self, source: SourceColumns) -> Release:
        names = source.names
        if len(set(names)) < len(names):
            raise SourceError("the source has two columns with the same name: rename one")
        ignored, given = self._ignored(names), self._given_id(names)
        if given is not None and given in ignored:
            raise ParameterError(f"id must not be an ignored column, got {names[given]!r}")
        parts: dict[int, _ColumnPart] = {}
        candidates: dict[int, DistinctCells] = {}
        for position, cells in self._cells(source, ignored):
            if position == given:
                check_ids(names[position], cells)
            if position == given or (self.id is None and may_be_id(position, names[position], cells)):
                candidates[position] = cells
            else:
                parts[position] = self._part(names[position], cells)
        ids, record, reason = self._ids(names, candidates, given)
        others = candidates.keys() - {record}
        parts |= {position: self._part(names[position], candidates[position]) for position in others}
        parts = {position: parts[position] for position in sorted(parts)}
        if not parts:
            raise SourceError("the source has no column but the id: a table needs attributes")
        doubts = [doubt for part in parts.values() for doubt in part.doubts]
        columns = tuple(part.column for part in parts.values())
        settled = {name for name, schema in self.schema.columns.items() if schema.kind is not None}
        doubts += missing_number_doubts(column for column in columns if column.name not in settled)
        self.warnings += [doubt.text for doubt in doubts]
        self.refusals += [doubt.text for doubt in doubts if doubt.blocks]
        if record is not None:
            self._check_id(names[record], candidates[record])
        unused = tuple(UnusedColumn(names[position], "text", True) for position in sorted(ignored))
        self._remember(parts, unused, False if record is None else names[record])
        provenance = Provenance(
            source.format,
            source.files,
            {} if record is None else {"record": names[record]},
            source.settings | self._schema_settings(columns),
            {"record": reason},
            unused,
            columns[0].n_rows,
            column_notes={part.column.name: part.note for part in parts.values()},
        )
        return Release.of_columns(columns, ids, provenance=provenance)

    def _part(self, name: str, cells: DistinctCells) -> "_ColumnPart":
        schema = self.schema.columns.get(name, ColumnSchema())
        levels = levels_of(name, cells, schema.wish(self.missing))
        column = apply_schema(make_column(name, cells, levels), schema, self.schema.folder)
        doubts = tuple(column_doubts(column, cells, levels.doubt, schema.kind is not None))
        return _ColumnPart(column, levels, _note(column, cells, levels), doubts)

    def _check_id(self, name: str, cells: DistinctCells) -> None:
        """Warn if the id names people directly: it is not attacked, but it would be published."""
        if looks := direct_identifier(name, cells):
            warning = (
                f"the id, column {name!r}, looks like {looks}: it identifies people directly. Remove it, or "
                "replace it by a number, before you publish"
            )
            self.warnings.append(warning)
            self.refusals.append(warning)

    def _ignored(self, names: Sequence[str]) -> set[int]:
        """Positions of the columns that the user leaves out; columns of the schema must exist."""
        for name in self.schema.columns:
            if name not in names:
                raise ColumnError(
                    f"schema: the table has no column {name!r}; its columns are {_listed(names)}: rename or "
                    "remove its section"
                )
        ignored = {name for name, column in self.schema.columns.items() if column.ignore}
        return {names.index(name) for name in ignored} | {
            _position(names, column, "ignore") for column in self.options.ignored
        }

    def _given_id(self, names: Sequence[str]) -> int | None:
        return None if self.id is None or isinstance(self.id, bool) else _position(names, self.id, "id")

    def _schema_settings(self, columns: Sequence[Column]) -> dict[str, str]:
        """What the provenance says about the schema; columns that it lacks cause a warning."""
        if not self.schema.columns:
            return {}
        others = [column.name for column in columns if column.name not in self.schema.columns]
        if others:
            self.warnings.append(
                f"the schema lacks {len(others):,} of {len(columns):,} columns ({_listed(others)}): what "
                "they are was inferred; add a section for each of them"
            )
        lacking = {NOT_IN_SCHEMA: _listed(others)} if others else {}
        return {"schema": self.schema_name or "given"} | lacking

    def _remember(self, parts: dict[int, "_ColumnPart"], unused: Sequence[UnusedColumn], record: str | bool) -> None:
        """Keep a schema that reads the source in the same way."""
        columns = {part.column.name: part.schema(self.schema) for part in parts.values()}
        columns |= {column.name: ColumnSchema(ignore=True) for column in unused}
        self.schema_read = Schema(columns, record, self.schema.folder)

    def _cells(self, source: SourceColumns, ignored: set[int]) -> Iterator[tuple[int, DistinctCells]]:
        wanted = [position for position in range(len(source.names)) if position not in ignored]
        for position, series in zip(wanted, source.series(wanted), strict=True):
            yield position, distinct_cells(series)
            self.progress("reading", position + 1, len(source.names))

    def _ids(
        self, names: Sequence[str], candidates: dict[int, DistinctCells], given: int | None
    ) -> tuple[Labels | None, int | None, str]:
        if given is not None:
            return id_labels(candidates[given]), given, "named by the user"
        chosen = choose_id(names, candidates)
        if chosen is None:
            return (None, None, "the user says that there is none" if self.id is False else "no column is an id")
        return id_labels(candidates[chosen[0]]), chosen[0], chosen[1]


@dataclass(frozen=True, slots=True)
class _ColumnPart:
    """A column that was read, and how."""

    column: Column
    levels: CellLevels
    note: str
    doubts: tuple[Doubt, ...]

    def schema(self, given: Schema) -> ColumnSchema:
        """A schema that reads the column in the same way."""
        own, levels = schema_of(self.column), self.levels
        before = given.columns.get(self.column.name, ColumnSchema())
        return replace(
            own,
            hierarchy=before.hierarchy,
            levels=own.levels if own.levels is not None else before.levels,
            missing=tuple(sorted(levels.markers)) or None if before.missing is None else before.missing,
            separator=levels.separator or None,
            date_format=levels.date_format or None,
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:LISTED]) + (", …" if len(names) > LISTED else "")


def _position(names: Sequence[str], column: ColumnName, parameter: str) -> int:
    """Position of a column that the user names, by its name or its number."""
    if isinstance(column, bool) or not isinstance(column, (str, int)):
        raise ParameterError(f"{parameter} must be the name or the number of a column, got {column!r:.100}")
    if column in names:
        return names.index(str(column))
    if isinstance(column, int) or (column.isdecimal() and len(column) < LONGEST_NUMBER):
        if not 1 <= int(column) <= len(names):
            raise ColumnError(f"{parameter} must be a column number from 1 to {len(names)}, got {int(column)}")
        return int(column) - 1
    raise ColumnError(f"column {column!r} not found; the columns are {_listed(names)}: name one with {parameter}=…")


def _note(column: Column, cells: DistinctCells, levels: CellLevels) -> str:
    """How the cells of a column were read, and which of them are empty."""
    missing = int(column.counts[-1])
    parts = [f"{column.kind} ({levels.reason})" if levels.reason else column.kind]
    if levels.date_format:
        parts.append(f"format {levels.date_format}")
    marked = [f"{count:,} × {text}" for text, count in sorted(levels.markers.items())]
    if empty := int(cells.counts[cells.empty]):
        marked.insert(0, f"{empty:,} without text")
    parts.append(
        f"{missing:,} empty cell{'s' if missing != 1 else ''}" + (f": {', '.join(marked)}" if levels.markers else "")
    )
    return "; ".join(parts)
