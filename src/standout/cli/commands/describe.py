"""What a data set is: `standout describe`, `schema`, `index` and `verify`."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from standout.cli import options
from standout.cli.console import percent, print_json, print_line, print_table, reading_json
from standout.cli.options import option
from standout.cli.reading import Source, data_command, reading_options
from standout.core.errors import ParameterError
from standout.core.progress import progress_bar as progress

if TYPE_CHECKING:
    from standout.data.column import Column
    from standout.data.describe import Description
    from standout.data.release import Release

WIDEST = 250
"""Width in characters up to which the table of columns is not broken."""


@data_command
def describe(data: str, source: Source, as_json: bool) -> None:
    """Show sizes, quantiles and value shares of a data set.

    DATA is an index, or any source that `standout index` reads. A source is read
    into memory; nothing is written. The last table is the one of the paper's
    appendix: how many records have items outside the most popular ones.

    Of a table with one row per person (--table) it shows what the columns are, as
    `standout schema` does.

    \b
    Example:
      standout describe ratings.csv
      standout describe ratings.index --json
      standout describe survey.csv --table
    """
    from standout.data.describe import describe as describe_release

    with progress() as report:
        release = source.read([data], report)
        description = describe_release(release) if release.n_items else None
    if description is None:
        _show_columns(release, as_json)
    elif as_json:
        print_json({**description.to_dict(), "read": reading_json(release)})
    else:
        _show(description)


def _show(description: "Description") -> None:
    """Print the tables."""

    def size(value: float) -> str:
        return f"{value:,.0f}" if value >= 100 or value.is_integer() else f"{value:.1f}"

    ends, values, shares, outside = (
        description.time_range, description.values, description.value_shares, description.outside_top
    )  # fmt: skip
    times = f"{ends[0]} to {ends[1]}, by {description.time_unit}, {description.zone}" if ends else "none"
    sizes = [
        ("records", f"{description.records:,}"),
        ("items", f"{description.items:,}"),
        ("entries", f"{description.entries:,} ({100 * description.density:.3g} % of records × items)"),
        ("values", f"{values:,} levels" if values else "none"),
        ("times", times),
        ("fingerprint", description.fingerprint),
    ]
    print_table((), sizes)
    quantiles = {"items per record": description.distinct_items}
    quantiles |= {"entries per record": description.lengths} if description.repeats else {}
    quantiles |= {"records per item": description.supports}
    rows = [(name, *map(size, numbers.values())) for name, numbers in quantiles.items()]
    print_table(("", *description.lengths), rows, "\nQuantiles")
    if shares:
        title = "\nValues" if values <= len(shares) else f"\nThe {len(shares)} most frequent values"
        print_table(("value", "share of entries"), [(each, f"{100 * shares[each]:.2f} %") for each in shares], title)
    if outside:
        heads = ("", *(f"≥ {least} items" for least in next(iter(outside.values()))))
        rows = [(f"outside the {top:,} most popular", *map(percent, row.values())) for top, row in outside.items()]
        print_table(heads, rows, "\nShare of records that have")


@data_command
@option("-o --output", "FILE", "Write the schema to this TOML file.", type=click.Path(path_type=Path, dir_okay=False))
@option("--overwrite", "", "Replace the file if it exists.")
def schema(data: str, output: Path | None, overwrite: bool, source: Source, as_json: bool) -> None:
    """Show how a table is read, and write it to a schema file.

    DATA is a table with one row per person: CSV, Parquet, Arrow, JSON, SQLite or
    DuckDB. Types, similarities, errors and roles are inferred. Check them, above
    all the roles: which columns are quasi-identifiers, and which are sensitive.
    Correct the file where it is wrong, and pass it to the other commands with
    --schema FILE.

    \b
    Example:
      standout schema survey.csv -o schema.toml
      standout audit survey.csv --table --schema schema.toml
    """
    if output is not None and output.exists() and not overwrite:
        raise ParameterError(f"{output} exists: choose another file, or add --overwrite")
    if output is not None:
        options.output_file(output, "--output", [data])
    with progress() as report:
        read, inferred = source.with_settings(kind="table").read_with_schema([data], report)
    assert inferred is not None
    if output is not None:
        inferred.write(output)
    _show_columns(read, as_json)
    if output is not None and not as_json:
        print_line(f"Wrote {output}. Check it, then add --schema {output}", err=True)


def _range(column: "Column") -> str:
    """Smallest and largest number or date of a column; empty for others."""
    if column.kind not in ("number", "date") or not column.n_levels:
        return ""
    low, high = column.value(0), column.value(column.n_levels - 1)
    if isinstance(low, float) and isinstance(high, float):
        return f"{low:,.6g} – {high:,.6g}"
    return f"{low} – {high}"


def _show_columns(table: "Release", as_json: bool) -> None:
    """Print what the columns of a table are."""
    rows: list[dict[str, object]] = [
        {
            "name": column.name,
            "kind": column.kind,
            "levels": column.n_levels,
            "missing": int(column.counts[-1]),
            "range": _range(column) or None,
            "similarity": column.similarity.name,
            "scale": column.similarity.scale,
            "error": column.error,
            "role": column.role,
            "attribute": column.attribute,
            "note": table.provenance.column_notes.get(column.name, ""),
        }
        for column in table.columns
    ]
    if as_json:
        print_json({"rows": table.n_records, "id": table.provenance.columns.get("record"), "columns": rows})
        return
    cells = []
    for column in table.columns:
        name, scale = column.similarity.name, column.similarity.scale
        similarity = name if scale is None else f"{name} {scale:g}"
        sizes = f"{column.n_levels:,}", f"{column.counts[-1]:,}"
        cells.append((column.name, column.kind, *sizes, _range(column), similarity, f"{column.error:g}", column.role))
    heads = ("column", "<kind", "levels", "missing", "range", "<similarity", "error", "<role")
    print_table(heads, cells, widest=WIDEST)


@options.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", type=options.DATA)
@option("-o --output", "FOLDER", "Index to write.", required=True)
@options.memory_option
@options.workers_option
@reading_options
@options.json_option
def index(sources: tuple[str, ...], output: Path, memory: str | None, source: Source, as_json: bool) -> None:
    """Read a data set once and write an index that opens quickly.

    SOURCE is a file, a folder or a glob: CSV or TSV (plain, gzip, zstd, zip),
    Parquet, MovieLens or the Netflix Prize files. An existing index at the output
    is replaced once the new one is complete.

    Entries that memory does not hold are in files next to the index while it is
    built. Workers read the files of SOURCE if there are several.

    \b
    Example:
      standout index ratings.csv -o ratings.index
      standout index sales.csv.gz -o sales.index --record Customer --item SKU
      standout index calls/*.csv -o calls.index --memory 4GB --workers 4
    """
    from standout.core.threads import memory_limit
    from standout.data.store import is_index, open_index, save

    memory_limit(memory)  # refuses what is no size before anything is read
    with progress() as report:
        if len(sources) == 1 and is_index(Path(sources[0])):
            release = source.open_index(Path(sources[0])).check()
            save(release, output, progress=report)
        else:
            from standout.ingest.read import write_index

            with source.reader(list(sources), report, kind="history") as reader:
                try:
                    write_index(reader, list(sources), output, memory, source.settings.get("titles"))
                finally:
                    source.write_rejects(reader)
            release = replace(open_index(output), stored=None)  # what was read is no index
        source.report(release, list(sources))
    release, size = open_index(output), sum(file.stat().st_size for file in output.iterdir())
    if as_json:
        sizes = {"records": release.n_records, "items": release.n_items, "entries": release.n_entries}
        print_json({"index": str(output), "bytes": size, **sizes}, release)
        return
    values = "no values" if release.levels is None else f"{len(release.levels):,} values"
    ends = release.time_range
    times = "no times" if ends is None else f"{ends[0]} to {ends[1]}"
    sizes_text = f"{release.n_records:,} records × {release.n_items:,} items"
    print_line(
        f"{release.n_entries:,} entries: {sizes_text}, {values}, {times}",
        f"index {output} ({size / 1e6:,.1f} MB), fingerprint {release.fingerprint}",
    )


@options.command()
@click.argument("folder", metavar="INDEX")
@options.json_option
def verify(folder: Path, as_json: bool) -> int:
    """Check every file of an index against its checksum.

    \b
    Example:
      standout verify ratings.index

    Exit code 1: a file is damaged, or INDEX is not an index.
    """
    from standout.data.store import verify as verify_index

    with progress() as report:
        checks = list(verify_index(folder, report))
    damaged = [file for file, intact in checks if not intact]
    if as_json:
        print_json({"index": str(folder), "files": len(checks), "damaged": damaged})
    else:
        print_line(*(f"damaged: {file}" for file in damaged))
        print_line(f"{folder}: {len(checks) - len(damaged)} of {len(checks)} files are intact")
    return int(bool(damaged))
