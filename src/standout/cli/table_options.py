"""Options for reading a table with one row per person, shared by every command that reads one.

In a command with both groups of options, those of text files and databases (--separator, --sql-table, …) are
about the table, and those of histories (--record, --item, …) are about --history.
"""

import functools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from standout.cli.console import VERBOSE, print_line, print_warning, source_names
from standout.cli.option_groups import TABLES, grouped_option
from standout.cli.source_options import Command, SourceOptions
from standout.core.errors import ColumnError, ParameterError

if TYPE_CHECKING:
    from standout.core.progress import Progress
    from standout.data.column import Column
    from standout.data.release import Release
    from standout.ingest.read import SourceReader
    from standout.ingest.schema import Schema

__all__ = ["HISTORY", "TABLE", "TableOptions", "column_range", "show_table", "table_lines", "table_options"]

# How a table was read: one line on stderr, and each column with --verbose.


LAYOUT = ("encoding", "separator", "header")
PLURALS = {
    "number": "numbers", "ordered": "ordered", "category": "categories", "date": "dates",
    "boolean": "booleans", "set": "sets",
}  # fmt: skip


def show_table(table: "Release", sources: list[str]) -> None:
    """Print on stderr how a table was read, so that stdout has only the result."""
    context = click.get_current_context(silent=True)
    verbose = context is not None and context.meta.get(VERBOSE, False)
    for line in table_lines(table, sources, verbose):
        print_line(line, err=True)


def table_lines(table: "Release", sources: list[str], verbose: bool = False) -> Iterator[str]:
    """Yield one line about how a table was read; if verbose, then a line for each column."""
    from standout.core.text import printable_texts
    from standout.ingest.remote import public_url

    read, settings = table.provenance, table.provenance.settings
    header = {"yes": "header", "no": "no header"}.get(settings.get("header", ""))
    parts = (read.format, settings.get("encoding"), settings.get("separator"), header)
    layout = ", ".join(filter(None, parts))
    kinds = Counter(column.kind for column in table.columns)
    counted = ", ".join(f"{count} {kind if count == 1 else PLURALS[kind]}" for kind, count in kinds.items())
    record = read.columns.get("record")
    ids = "no id" if record is None else f"id = {record}"
    history = "" if not table.n_items else f"; history {settings['history']}"
    empty = sum(int(column.counts[-1]) for column in table.columns)
    names = source_names(tuple(map(public_url, sources)))
    yield printable_texts(
        f"Read {names}: table; {layout}; {ids}; {table.n_columns} columns ({counted}){history}; "
        f"{table.n_records:,} rows, {empty:,} empty cells."
    )
    if verbose:
        yield from _details(table)


def _details(table: "Release") -> Iterator[str]:
    from standout.core.text import printable_texts

    read = table.provenance
    rows = {"id": f"{read.columns.get('record', 'none')} ({read.reasons.get('record', '')})"}
    rows |= {column.name: read.column_notes.get(column.name, column.kind) for column in table.columns}
    rows |= {column.name: "left out on purpose" for column in read.unused}
    rows |= {name: text for name, text in read.settings.items() if name not in LAYOUT}
    width = max(len(printable_texts(name)) for name in rows)
    yield from (f"  {printable_texts(name):{width}}  {printable_texts(text)}" for name, text in rows.items())


def column_range(column: "Column") -> str:
    """Smallest and largest number or date of a column; empty for others."""
    if column.kind not in ("number", "date") or not column.n_levels:
        return ""
    low, high = column.value(0), column.value(column.n_levels - 1)
    if isinstance(low, float) and isinstance(high, float):
        return f"{low:,.6g} – {high:,.6g}"
    return f"{low} – {high}"


TABLE = grouped_option(
    TABLES, "--table", "is_table", is_flag=True, help="DATA is a table: one row per person, not one per entry."
)
HISTORY = grouped_option(
    TABLES,
    "--history",
    metavar="FILE",
    help="Entries of the same people, such as ratings; --record, --item, … then describe this file.",
)
OPTIONS = [
    TABLE,
    grouped_option(
        TABLES,
        "--schema",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Schema of a table: a TOML file that `standout schema` writes.",
    ),
    grouped_option(TABLES, "--id", "id_column", metavar="COLUMN", help="Id column of a table."),
    grouped_option(TABLES, "--no-id", is_flag=True, help="The table has no id column."),
    HISTORY,
    grouped_option(
        TABLES,
        "--missing",
        metavar="TEXT",
        multiple=True,
        help="Text that means an empty cell; repeat for several.",
        show_default="usual ones, such as NA and ?",
    ),
]
OF_TABLES = ("separator", "header", "quote", "encoding", "member", "sql_table", "skip_lines")
"""Options of a source that are about the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """How to read a table."""

    is_table: bool = False
    schema: Path | None = None
    id_column: str | None = None
    no_id: bool = False
    history: str | None = None
    missing: tuple[str, ...] = ()

    @property
    def given(self) -> list[str]:
        """Options that are only for tables, as they are typed."""
        typed = {
            "--schema": self.schema,
            "--id": self.id_column,
            "--no-id": self.no_id,
            "--history": self.history,
            "--missing": self.missing,
        }
        return [name for name, value in typed.items() if value]

    def arguments(self) -> list[str]:
        """The options that say that the data is a table and how to read it, as they are typed."""
        words = ["--table"]
        for name, value in (("--schema", self.schema), ("--id", self.id_column), ("--history", self.history)):
            words += [] if value is None else [name, str(value)]
        words += ["--no-id"] if self.no_id else []
        return words + [word for text in self.missing for word in ("--missing", text)]

    def is_for(self, sources: list[str], source: SourceOptions) -> bool:
        """Whether the sources are to be read as a table: the user says so, or they look like one."""
        if self.is_table or self.given:
            return True
        from standout.ingest.read import looks_like_table

        reason = looks_like_table(sources, source.reader_options())
        if reason:
            print_line(f"standout: read as a table with one row per person: {reason} (--table)", err=True)
        return bool(reason)

    def read(self, sources: list[str], source: SourceOptions, progress: "Progress", strict: bool = False) -> "Release":
        """Read the table, say how, and warn; columns that the schema lacks are an error if `strict`."""
        return self.read_with_schema(sources, source, progress, strict)[0]

    def read_with_schema(
        self, sources: list[str], source: SourceOptions, progress: "Progress", strict: bool = False
    ) -> tuple["Release", "Schema"]:
        """Read the table; also return a schema that reads it in the same way."""
        from standout.ingest.diagnosis import Wording

        reader = self._reader(source, progress)
        history_options = None if self.history is None else self._history_options(source)
        table = reader.read(sources, history=self.history, history_options=history_options)
        assert reader.table is not None
        show_table(table, sources)
        if strict:
            _require_schema(table)
            _refuse(reader.table.refusals)
        for message in reader.messages(table, Wording(options=True)):
            print_warning(message)
        return table, reader.table.schema_read

    def _reader(self, source: SourceOptions, progress: "Progress") -> "SourceReader":
        from standout.ingest.options import Options
        from standout.ingest.read import SourceReader, as_schema

        if self.no_id and self.id_column is not None:
            raise ParameterError("--id and --no-id exclude each other: leave one out")
        self._check_history_options(source)
        settings = source.reader_options()
        options = Options(
            kind="table",
            ignore=source.ignore or None,
            record=False if self.no_id else self.id_column or (source.record if self.history is None else None),
            missing=tuple(dict.fromkeys(self.missing)) or None,
            schema=as_schema(self.schema),
            **{name: getattr(settings, name) for name in OF_TABLES},
        )
        return SourceReader(options, progress)

    def _check_history_options(self, source: SourceOptions) -> None:
        about_tables = {f"--{name}".replace("_", "-") for name in (*OF_TABLES, "ignore", "record")}
        others = [name for name in source.given if name not in about_tables | {"--no-header"}]
        if others and self.history is None:
            raise ParameterError(
                f"{others[0]} is for histories, and the data is a table: leave it out, or add --history"
            )

    def _history_options(self, source: SourceOptions) -> dict[str, Any]:
        """Options of the history: all that are given, but for those of the table."""
        settings = source.reader_options()
        names = settings.changed() - {*OF_TABLES, "ignore"}
        return {name: getattr(settings, name) for name in names} | ({"titles": source.titles} if source.titles else {})


def _refuse(refusals: list[str]) -> None:
    """A gate must not pass while the risk may be understated."""
    if refusals:
        raise ColumnError(
            f"the threshold cannot be checked: {refusals[0]}. Say what the column is in a schema (--schema), "
            "or leave it out with --ignore"
        )


def _require_schema(table: "Release") -> None:
    """A gate must not pass while a column is not what its owner means."""
    from standout.ingest.tables import NOT_IN_SCHEMA

    if lacking := table.provenance.settings.get(NOT_IN_SCHEMA):
        raise ColumnError(
            f"the threshold cannot be checked while the schema lacks columns: {lacking}. Add a section for "
            "each of them, with ignore = true for those that are not published"
        )


def table_options(command: Command, without: tuple[Any, ...] = ()) -> Command:
    """Add the options to a command, which receives them as `table`; `without` leaves some out."""

    @functools.wraps(command)
    def run(**parameters: Any) -> None:
        names = [name for name in TableOptions.__dataclass_fields__ if name in parameters]
        command(table=TableOptions(**{name: parameters.pop(name) for name in names}), **parameters)

    for add_option in reversed(OPTIONS):
        run = run if add_option in without else add_option(run)
    return run
