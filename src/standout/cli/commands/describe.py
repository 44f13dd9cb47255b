"""`standout describe`: sizes, quantiles and value shares of a data set."""

from typing import TYPE_CHECKING

from standout.cli.console import (
    borderless_table,
    console,
    percent,
    print_json,
    print_table,
    reading_json,
    suggest_index,
)
from standout.cli.option_groups import command
from standout.cli.options import json_option, path_argument
from standout.cli.reading import Source, reading_options
from standout.core.progress import progress_bar as progress

if TYPE_CHECKING:
    from rich.table import Table

    from standout.data.describe import Description
    from standout.data.release import Release

__all__ = ["describe"]


@command()
@path_argument("data")
@reading_options
@json_option
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
    if not release.n_items:
        from standout.cli.commands.schema import show_columns

        show_columns(release, as_json)
        return
    with progress() as report:
        description = describe_release(release)
    _show(description, release, as_json)
    suggest_index(release, data)


def _show(description: "Description", release: "Release", as_json: bool) -> None:
    if as_json:
        print_json({**description.to_dict(), "read": reading_json(release)})
        return
    screen = console(soft_wrap=True)
    tables = {"": _sizes(description), "Quantiles": _quantiles(description)}
    if description.value_shares:
        tables[_value_title(description)] = _value_shares(description)
    if description.outside_top:
        tables["Share of records that have"] = _outside_top(description)
    for title, table in tables.items():
        if title:
            screen.print()
        print_table(table, title)


def _sizes(description: "Description") -> "Table":
    table = borderless_table()
    table.show_header = False
    entries, share = description.entries, 100 * description.density
    ends = description.time_range
    times = f"{ends[0]} to {ends[1]}, by {description.time_unit}, {description.zone}" if ends else "none"
    table.add_row("records", f"{description.records:,}")
    table.add_row("items", f"{description.items:,}")
    table.add_row("entries", f"{entries:,} ({share:.3g} % of records × items)")
    table.add_row("values", f"{description.values:,} levels" if description.values else "none")
    table.add_row("times", times)
    table.add_row("fingerprint", description.fingerprint)
    return table


def _value_title(description: "Description") -> str:
    shown = len(description.value_shares)
    return "Values" if description.values <= shown else f"The {shown} most frequent values"


def _value_shares(description: "Description") -> "Table":
    table = _table("value", "share of entries")
    for level, share in description.value_shares.items():
        table.add_row(level, f"{100 * share:.2f} %")
    return table


def _quantiles(description: "Description") -> "Table":
    table = _table("", *description.lengths)
    table.add_row("items per record", *map(_size, description.distinct_items.values()))
    if description.repeats:
        table.add_row("entries per record", *map(_size, description.lengths.values()))
    table.add_row("records per item", *map(_size, description.supports.values()))
    return table


def _size(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value.is_integer() else f"{value:.1f}"


def _outside_top(description: "Description") -> "Table":
    columns = next(iter(description.outside_top.values()))
    table = _table("", *(f"≥ {least} items" for least in columns))
    for top, shares in description.outside_top.items():
        table.add_row(f"outside the {top:,} most popular", *map(percent, shares.values()))
    return table


def _table(first: str, *others: str) -> "Table":
    table = borderless_table()
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right")
    return table
