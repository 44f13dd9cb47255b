"""`standout sparsity`: the nearest neighbour of every record, and Definition 1 of the paper."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from standout.cli.console import (
    borderless_table,
    number_columns,
    percent,
    percent_interval,
    print_json,
    print_table,
    print_text,
    reading_json,
    release_stamp,
    suggest_index,
)
from standout.cli.error_lines import naming_options
from standout.cli.option_groups import command, option
from standout.cli.options import check_table_path, json_option, path_argument, seed_option, table_option
from standout.cli.reading import Source, reading_options
from standout.cli.worker_options import worker_options
from standout.core.progress import progress_bar as progress

if TYPE_CHECKING:
    from standout.data.release import Release
    from standout.measure.sparsity import Sparsity

__all__ = ["sparsity"]


@command()
@path_argument("data")
@option(
    "--within-value",
    "E",
    "Largest difference between values that counts as equal.",
    type=float,
    show_default="values do not matter",
)
@option(
    "--within-days",
    "DAYS",
    "Largest difference between dates that counts as equal.",
    type=float,
    show_default="dates do not matter",
)
@option("--sample", "N", "Number of records to examine.", type=click.IntRange(1), show_default="all")
@seed_option
@worker_options
@table_option
@reading_options
@json_option
def sparsity(
    data: str,
    source: Source,
    within_value: float | None,
    within_days: float | None,
    sample: int | None,
    seed: int,
    threads: int | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Measure how similar each record's nearest neighbour is.

    The similarity of two records is the number of items they share, divided by
    the number of items that either has. With --within-value and --within-days an
    item is shared only if its values and dates are close as well. The table is
    Definition 1 of the paper: a release is (ε, δ)-sparse if at most a share δ of
    the records has a neighbour more similar than ε.

    \b
    Example:
      standout sparsity ratings.csv
      standout sparsity ratings.index --within-value 1 --within-days 14

    \b
    JSON output:
      by           what counts as similar
      records, of  number of records examined, of how many
      table        epsilon, delta, low, high, n
      curve        similarity; share of records with a neighbour at least that
                   similar; low, high, n
      read         how the data was read
      fingerprint, version
    """
    from standout.evaluate.simulation import write_table
    from standout.know.similarity import Within
    from standout.measure.sparsity import sparsity as measure_sparsity

    check_table_path(output, data)
    with naming_options(value="--within-value", time="--within-days"):
        similarity = Within(value=within_value, time=within_days)
    with progress() as report:
        release = source.read_entries([data], report, "sparsity")
        result = measure_sparsity(release, similarity, sample=sample, seed=seed, threads=threads, progress=report)
    if output is not None:
        write_table(result.curve(), output)
    _show(result, _criterion(within_value, within_days), release, as_json)
    suggest_index(release, data)


def _criterion(within_value: float | None, within_days: float | None) -> str:
    text = "items in common"
    text += "" if within_value is None else f", values within {within_value:g}"
    return text + ("" if within_days is None else f", dates within {within_days:g} days")


def _show(result: "Sparsity", criterion: str, release: "Release", as_json: bool) -> None:
    rows = result.table().to_dicts()
    if as_json:
        sizes = {"by": criterion, "records": len(result.records), "of": result.total}
        print_json(
            {
                **sizes,
                "table": rows,
                "curve": result.curve().to_dicts(),
                "read": reading_json(release),
                **release_stamp(release),
            }
        )
        return
    table = borderless_table()
    table.add_column("ε")
    number_columns(table, "δ")
    for row in rows:
        table.add_row(f"{row['epsilon']:g}", percent_interval(row["delta"], row["low"], row["high"]))
    print_text(f"{result}\nby {criterion}")
    print_table(table, "Share δ of records with a neighbour more similar than ε")
    print_text(
        f"{percent(1 - result.survival(0.5).value)} of the records have no neighbour that is at least half "
        "similar. Any record that is at least half similar to theirs is therefore their own."
    )
