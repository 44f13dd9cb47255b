"""How a table was read: one line on stderr, and each column with --verbose."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from standout.cli.console import print_line
from standout.cli.reading_report import VERBOSE, source_names

if TYPE_CHECKING:
    from standout.tables.column import Column
    from standout.tables.model import Table

__all__ = ["column_range", "show_table", "table_lines"]

LAYOUT = ("encoding", "separator", "header")
PLURALS = {
    "number": "numbers", "ordered": "ordered", "category": "categories", "date": "dates",
    "boolean": "booleans", "set": "sets",
}  # fmt: skip


def show_table(table: "Table", sources: list[str]) -> None:
    """Print on stderr how a table was read, so that stdout has only the result."""
    context = click.get_current_context(silent=True)
    verbose = context is not None and context.meta.get(VERBOSE, False)
    for line in table_lines(table, sources, verbose):
        print_line(line, err=True)


def table_lines(table: "Table", sources: list[str], verbose: bool = False) -> Iterator[str]:
    """Yield one line about how a table was read; if verbose, then a line for each column."""
    from standout.core.foreign_text import printable_texts
    from standout.ingest.remote import public_url

    read, settings = table.provenance, table.provenance.settings
    header = {"yes": "header", "no": "no header"}.get(settings.get("header", ""))
    parts = (read.format, settings.get("encoding"), settings.get("separator"), header)
    layout = ", ".join(filter(None, parts))
    kinds = Counter(column.kind for column in table)
    counted = ", ".join(f"{count} {kind if count == 1 else PLURALS[kind]}" for kind, count in kinds.items())
    record = read.columns.get("record")
    ids = "no id" if record is None else f"id = {record}"
    history = "" if table.history is None else f"; history {settings['history']}"
    empty = sum(int(column.counts[-1]) for column in table)
    names = source_names(tuple(map(public_url, sources)))
    yield printable_texts(
        f"Read {names}: table; {layout}; {ids}; {table.n_columns} columns ({counted}){history}; "
        f"{table.n_rows:,} rows, {empty:,} empty cells."
    )
    if verbose:
        yield from _details(table)


def _details(table: "Table") -> Iterator[str]:
    from standout.core.foreign_text import printable_texts

    read = table.provenance
    rows = {"id": f"{read.columns.get('record', 'none')} ({read.reasons.get('record', '')})"}
    rows |= {column.name: read.column_notes.get(column.name, column.kind) for column in table}
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
