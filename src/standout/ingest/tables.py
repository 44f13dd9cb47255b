"""Read a survey: one row per person. What each column is, and which of them has the ids."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

import numpy as np
import polars as pl

from standout.core.arrays import Ints, offsets
from standout.core.errors import ColumnError, ParameterError, SourceError
from standout.core.progress import Progress
from standout.data.build import arrange
from standout.data.column import Column
from standout.data.labels import Labels, Provenance, UnusedColumn
from standout.data.release import Release
from standout.ingest.cells import DistinctCells
from standout.ingest.formats import Options
from standout.ingest.kinds import CellLevels, Doubt, column_doubts, direct_identifier, levels_of, make_column
from standout.ingest.names import has_id_name, is_id_name, is_quasi_identifier, name_rank, plain_name, recognise
from standout.ingest.roles import list_names, numbered_names, position_of
from standout.ingest.schema import ColumnSchema, Schema, schema_of

NOT_IN_SCHEMA = "columns that the schema lacks"
"""Setting of the provenance, if there are such columns."""
WITHOUT_HISTORY, WITHOUT_ROW = "rows without a history", "people of the history without a row"
FEWEST_COLUMNS, FEWEST_WITH_ITEM = 3, 4
ROWS_PER_PERSON = 2
"""An id that has so many rows on average is that of people with several rows."""
LARGEST = 200 << 20
"""Size in bytes up to which the ids of a file with an item are compared."""
CODE = re.compile(r"[A-Za-z]{0,12}[-_]?\d+|[0-9a-fA-F]{16,}|\{?[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?")
FEWEST, SAMPLE = 5, 1_000
BY_NAME = "its name, and no two rows are equal"


# Recognise a table with one row per person, rather than a history.


class TablePlan(NamedTuple):
    """Why a source looks like a table, and what its cells must show: no column of `unique` has a cell twice."""

    reason: str = ""
    unique: tuple[int, ...] = ()
    by_first: bool = False

    def fails(self, position: int, cells: DistinctCells) -> bool:
        """Whether the cells of a column show people with several rows."""
        if self.by_first and not position and len(cells.values) * ROWS_PER_PERSON <= len(cells.codes):
            return True
        return position in self.unique and not cells.all_differ


def table_plan(names: Sequence[str], options: Options, size: int) -> TablePlan | None:
    """Whether a source with these columns, of so many bytes, looks like a table; None if it does not.

    A table has several columns, and none that is recognised as the item of a history. If one has such a name,
    as a title or a course, it is a table if each row has an id of its own. If the first column is an id and
    most ids have several rows, it is none.
    """
    if options.kind == "table":
        return TablePlan()
    items = recognise(names, "item")
    records = recognise(names, "record") if options.record is None else [position_of(names, options.record, "record")]
    if options.kind == "history" or len(names) < (FEWEST_WITH_ITEM if items else FEWEST_COLUMNS):
        return None
    if items and (not records or size > LARGEST):
        return None
    if records:
        return TablePlan(f"it has {len(names)} columns, and each row has an id of its own", tuple(records))
    by_first = is_id_name(names[0]) and size <= LARGEST
    return TablePlan(f"it has {len(names)} columns, and none is an item", (), by_first)


# Which column has the ids of the rows.


def _id_reason(position: int, name: str, cells: DistinctCells) -> str:
    """Why a column may have the ids: its name, or row numbers or codes in the first column; "" if it may not."""
    if cells.is_list or not cells.all_differ:
        return ""
    if has_id_name(name):
        return BY_NAME
    if position or len(cells.codes) < FEWEST or is_quasi_identifier(name):
        return ""
    values = cells.values
    numbers = values.cast(pl.Int64, strict=False) if cells.is_text else values
    if numbers.dtype.is_integer() and not numbers.is_null().any():
        lowest, highest = int(np.min(numbers.to_numpy())), int(np.max(numbers.to_numpy()))
        return "it numbers the rows" if lowest in (0, 1) and highest - lowest + 1 == len(cells.codes) else ""
    has_codes = cells.is_text and all(CODE.fullmatch(text) for text in values.head(SAMPLE).to_list())
    return "it is the first column, and each row has a code of its own" if has_codes else ""


def _rank(name: str) -> int:
    """How well known a name is for an id."""
    rank = name_rank(name, "record")
    return 50 if rank is None else rank


def _check_ids(name: str, cells: DistinctCells) -> None:
    """Raise an error unless each row has an id of its own."""
    if empty := int(cells.counts[-1]):
        raise ColumnError(f"column {name!r} has no id in {empty:,} rows: fill them in, or name another with record=…")
    if not cells.all_differ:
        raise ColumnError(
            f"{cells.sharing:,} of {len(cells.codes):,} rows share their id in column {name!r}: a table "
            "has one row per person; for a history, add kind='history'"
        )
    if cells.values.dtype.is_float() and not cells.texts.str.contains(r"^-?\d+$").all():
        raise ColumnError(f"column {name!r} has fractions: ids must be text or whole numbers")


# The columns of a table.


class _ColumnPart(NamedTuple):
    """A column that was read, how, and a schema that reads it in the same way."""

    column: Column
    note: str
    doubts: tuple[Doubt, ...]
    schema: ColumnSchema


@dataclass(slots=True)
class TableReading:
    """Makes a release of the columns of a source."""

    options: Options
    progress: Progress
    reason: str = ""
    doubts: list[Doubt] = field(default_factory=list)
    schema_read: Schema = field(default_factory=Schema)

    def read(
        self, names: Sequence[str], cells_at: Callable[[Sequence[int]], Iterator[DistinctCells]], plan: TablePlan
    ) -> Release | None:
        """Read a table; None if the cells show that it is a history. `cells_at` reads the columns at some positions."""
        names = [name.strip() or number for name, number in zip(names, numbered_names(len(names)), strict=True)]
        schema, self.reason = self.options.schema, plan.reason
        if len(set(names)) < len(names):
            raise SourceError("the source has two columns with the same name: rename one")
        record = schema.id if self.options.record is None else self.options.record
        given = None if record is None or record is False else position_of(names, record, "record")
        ignored = self._ignored(names)
        if given is not None and given in ignored:
            raise ParameterError(f"record must not be an ignored column, got {names[given]!r}")
        wanted = [position for position in range(len(names)) if position not in ignored]
        if not {*plan.unique} <= {*wanted}:
            return None
        parts: dict[int, _ColumnPart] = {}
        candidates: dict[int, tuple[DistinctCells, str]] = {}
        for position, cells in zip(wanted, cells_at(wanted), strict=True):
            if plan.fails(position, cells):
                return None
            reason = _id_reason(position, names[position], cells) if record is None else ""
            if position == given:
                _check_ids(names[position], cells)
                reason = "named by the user"
            if reason:
                candidates[position] = cells, reason
            else:
                parts[position] = self._part(names[position], cells)
            self.progress("reading", position + 1, len(names))
        # of several names, the best known one
        ranks = {
            i: (own[1] != BY_NAME, plain_name(names[i]) != "id", _rank(names[i]), i) for i, own in candidates.items()
        }
        chosen = min(ranks, key=ranks.__getitem__, default=None)
        reason = "the user says that there is none" if record is False else "no column is an id"
        parts |= {i: self._part(names[i], own[0]) for i, own in candidates.items() if i != chosen}
        parts = {position: parts[position] for position in sorted(parts)}
        if not parts:
            raise SourceError("the source has no column but the id: a table needs attributes")
        columns = tuple(part.column for part in parts.values())
        self.doubts += [doubt for part in parts.values() for doubt in part.doubts]
        ids = None
        if chosen is not None:
            cells, reason = candidates[chosen]
            if looks := direct_identifier(names[chosen], cells):  # it is not attacked, but it would be published
                text = (
                    f"the id, column {names[chosen]!r}, looks like {looks}: it identifies people directly. Remove it, "
                )
                self.doubts.append(Doubt(text + "or replace it by a number, before you publish", blocks=True))
            texts = cells.texts.gather(cells.codes.astype(np.uint32))
            data = np.frombuffer("".join(texts.to_list()).encode(), np.uint8)
            ids = Labels(offsets(texts.str.len_bytes().to_numpy()), data)
        unused = tuple(UnusedColumn(names[position], "text", True) for position in sorted(ignored))
        inferred = {part.column.name: part.schema for part in parts.values()}
        inferred |= {column.name: ColumnSchema(ignore=True) for column in unused}
        self.schema_read = Schema(inferred, False if chosen is None else names[chosen], schema.folder)
        provenance = Provenance(
            "",
            (),
            {} if chosen is None else {"record": names[chosen]},
            self._schema_settings(columns),
            {"record": reason},
            unused,
            columns[0].n_rows,
            column_notes={part.column.name: part.note for part in parts.values()},
        )
        return Release.of_columns(columns, ids, provenance=provenance)

    def _part(self, name: str, cells: DistinctCells) -> _ColumnPart:
        given = self.options.schema.columns.get(name, ColumnSchema())
        missing = self.options.missing if given.missing is None else given.missing
        levels = levels_of(name, cells, replace(given, missing=missing))
        column = make_column(name, cells, levels, given, self.options.schema.folder)
        doubts = tuple(column_doubts(column, cells, levels.doubt, given.kind is not None))
        own = schema_of(column)
        schema = replace(
            own,
            hierarchy=given.hierarchy,
            levels=own.levels if own.levels is not None else given.levels,
            missing=tuple(sorted(levels.markers)) or None if given.missing is None else given.missing,
            separator=levels.separator or None,
            date_format=levels.date_format or None,
        )
        return _ColumnPart(column, _note(column, cells, levels), doubts, schema)

    def _ignored(self, names: Sequence[str]) -> set[int]:
        """Positions of the columns that the user leaves out; columns of the schema must exist."""
        for name in self.options.schema.columns:
            if name not in names:
                raise ColumnError(
                    f"schema: the table has no column {name!r}; its columns are {list_names(names)}: rename or "
                    "remove its section"
                )
        ignored = {name for name, column in self.options.schema.columns.items() if column.ignore}
        return {names.index(name) for name in ignored} | {
            position_of(names, column, "ignore") for column in self.options.ignored
        }

    def _schema_settings(self, columns: Sequence[Column]) -> dict[str, str]:
        """What the provenance says about the schema; columns that it lacks cause a warning."""
        schema = self.options.schema
        if not schema.columns:
            return {}
        others = [column.name for column in columns if column.name not in schema.columns]
        if others:
            text = f"the schema lacks {len(others):,} of {len(columns):,} columns ({list_names(others)}): what "
            self.doubts.append(Doubt(text + "they are was inferred; add a section for each of them"))
        return {"schema": schema.name or "given"} | ({NOT_IN_SCHEMA: list_names(others)} if others else {})


def _note(column: Column, cells: DistinctCells, levels: CellLevels) -> str:
    """How the cells of a column were read, and which of them are empty."""
    missing = int(column.counts[-1])
    parts = [f"{column.kind} ({levels.reason})" if levels.reason else column.kind]
    parts += [f"format {levels.date_format}"] if levels.date_format else []
    marked = [f"{count:,} × {text}" for text, count in sorted(levels.markers.items())]
    if empty := int(cells.counts[-1]):
        marked.insert(0, f"{empty:,} without text")
    counts = f": {', '.join(marked)}" if levels.markers else ""
    return "; ".join([*parts, f"{missing:,} empty cell{'s' if missing != 1 else ''}{counts}"])


def join_history(table: Release, history: Release) -> Release:
    """Join a table and a history of the same people by their ids."""
    if not table.has_ids:
        raise ColumnError("a history can only be joined to a table with ids: name their column with record=…")
    record_of = {record: position for position, record in enumerate(history.records)}
    known = np.array([record_of.get(row, -1) for row in table.records], np.int64)
    without = int(np.count_nonzero(known < 0))
    if without == table.n_records:
        raise SourceError("no id of the table is an id of the history: check the columns of ids; ids are text")
    others: Ints = np.setdiff1d(np.arange(history.n_records), known)
    ids = Labels.of(chain(table.records, (history.records[position] for position in others.tolist())))
    columns = []
    for column in table.columns:  # people without a row have empty cells
        if column.starts is None:
            empty = np.full(len(others), column.missing, column.codes.dtype)
            columns.append(replace(column, codes=np.append(column.codes, empty)))
        else:
            empty = np.full(len(others), column.starts[-1])
            columns.append(replace(column, starts=np.append(column.starts, empty)))
    files = ", ".join(history.provenance.files) or history.provenance.format
    settings = table.provenance.settings | {
        "history": f"{files}: {history.n_entries:,} entries of {history.n_records:,} people",
        WITHOUT_HISTORY: f"{without:,}",
        WITHOUT_ROW: f"{len(others):,}",
    }
    return replace(
        arrange(history, np.append(known, others).astype(np.int64)),
        records=replace(ids, ordered=False),
        columns=tuple(columns),
        has_ids=True,
        provenance=replace(table.provenance, settings=settings),
    )
