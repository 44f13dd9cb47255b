"""`standout schema`: what the columns of a table are, as a file that the user can change."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from standout.cli.console import borderless_table, console, number_columns, print_json, print_line
from standout.cli.option_groups import command, option
from standout.cli.options import json_option, output_file, path_argument
from standout.cli.reading import Source, reading_options
from standout.core.errors import ParameterError
from standout.core.progress import progress_bar as progress

if TYPE_CHECKING:
    from rich.table import Table as Screen

    from standout.data.column import Column
    from standout.data.release import Release

__all__ = ["schema", "show_columns"]

WIDEST = 250
"""Width in characters up to which the table is not broken."""


@command()
@path_argument("data")
@option("-o --output", "FILE", "Write the schema to this TOML file.", type=click.Path(path_type=Path, dir_okay=False))
@option("--overwrite", "", "Replace the file if it exists.", is_flag=True)
@reading_options
@json_option
def schema(data: str, output: Path | None, overwrite: bool, source: Source, as_json: bool) -> None:
    """Show how a table is read, and write it to a schema file.

    DATA is a table with one row per person: CSV, Parquet, Arrow, JSON, SQLite or
    DuckDB. Types, similarities, errors and roles are inferred. Check them, above
    all the roles. Correct the file where it is wrong, and pass it to the other
    commands with --schema FILE.

    \b
    Example:
      standout schema survey.csv -o schema.toml
      standout audit survey.csv --table --schema schema.toml

    The JSON has rows, id and columns: name, kind (the type), levels, missing, range,
    similarity, scale, error, role, attribute and note.
    """
    if output is not None and output.exists() and not overwrite:
        raise ParameterError(f"{output} exists: choose another file, or add --overwrite")
    if output is not None:
        output_file(output, "--output", [data])
    with progress() as report:
        read, inferred = source.with_settings(table=True).read_with_schema([data], report)
    assert inferred is not None
    if output is not None:
        inferred.write(output)
    show_columns(read, as_json)
    if output is not None and not as_json:
        print_line(f"Wrote {output}. Check it, then add --schema {output}", err=True)


def column_range(column: "Column") -> str:
    """Smallest and largest number or date of a column; empty for others."""
    if column.kind not in ("number", "date") or not column.n_levels:
        return ""
    low, high = column.value(0), column.value(column.n_levels - 1)
    if isinstance(low, float) and isinstance(high, float):
        return f"{low:,.6g} – {high:,.6g}"
    return f"{low} – {high}"


def show_columns(table: "Release", as_json: bool) -> None:
    """Print what the columns of a table are."""
    if as_json:
        record = table.provenance.columns.get("record")
        print_json({"rows": table.n_records, "id": record, "columns": _rows(table)})
        return
    screen, wide = _screen(table), console()
    wide.width = max(wide.width, wide.measure(screen, options=wide.options.update(max_width=WIDEST)).maximum)
    wide.print(screen)


def _rows(table: "Release") -> list[dict[str, object]]:
    return [
        {
            "name": column.name,
            "kind": column.kind,
            "levels": column.n_levels,
            "missing": int(column.counts[-1]),
            "range": column_range(column) or None,
            "similarity": column.similarity.name,
            "scale": column.similarity.scale,
            "error": column.error,
            "role": column.role,
            "attribute": column.attribute,
            "note": table.provenance.column_notes.get(column.name, ""),
        }
        for column in table.columns
    ]


def _screen(table: "Release") -> "Screen":
    screen = borderless_table()
    screen.add_column("column", no_wrap=True)
    screen.add_column("kind", no_wrap=True)
    number_columns(screen, "levels", "missing", "range")
    screen.add_column("similarity", no_wrap=True)
    number_columns(screen, "error")
    screen.add_column("role", no_wrap=True)
    for column in table.columns:
        scale = "" if column.similarity.scale is None else f" {column.similarity.scale:g}"
        screen.add_row(
            column.name,
            column.kind,
            f"{column.n_levels:,}",
            f"{int(column.counts[-1]):,}",
            column_range(column),
            f"{column.similarity.name}{scale}",
            f"{column.error:g}",
            column.role,
        )
    return screen
