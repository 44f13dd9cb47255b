"""`standout synthesize`: make a synthetic data set."""

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from standout.cli.console import borderless_table, console, print_json, print_line, print_text, release_stamp
from standout.cli.option_groups import command, option
from standout.cli.options import json_option, output_file, seed_option, threads_option
from standout.core.errors import ParameterError, StandoutError
from standout.core.progress import progress_bar as progress

if TYPE_CHECKING:
    from standout.core.progress import Progress
    from standout.data.release import Release
    from standout.paper.calibration import Calibration

__all__ = ["synthesize"]

LABEL_WIDTH, NUMBER_WIDTHS = 37, {"published": 11, "measured": 11, "±": 7, "": 6}
"""Widths of the calibration table: 80 characters with the gaps between columns."""


@command()
@option(
    "--like",
    "",
    "quick: long tails, not calibrated; netflix: a stand-in for the Netflix Prize data; flat: no structure.",
    type=click.Choice(["quick", "netflix", "flat"]),
    default="quick",
)
@option("--records", "N", "Number of records.", type=int, show_default="10,000; netflix: 480,189")
@option(
    "--items", "N", "Number of items.", type=int, show_default="2,000; netflix: as many of 17,770 as the records have"
)
@option("--entries", "N", "Number of entries.", type=int, show_default="50 per record; netflix: 209 per record")
@option(
    "--scale",
    "X",
    "With --like netflix: X times the people of the Netflix Prize data, instead of --records.",
    type=float,
)
@option(
    "--memory", "SIZE", "Memory to use for an index, like 500MB, 4GB or 2GiB.", show_default="60 % of what is available"
)
@seed_option
@threads_option
@option(
    "-o --output", "PATH", "NAME.csv, NAME.parquet, or any other name for an index.", type=click.Path(path_type=Path)
)
@option(
    "--check",
    "",
    "With --like netflix: compare its statistics with those published about the Netflix Prize data.",
    is_flag=True,
)
@option(
    "--nearest",
    "N",
    "Number of records whose nearest neighbours --check examines; 0: none.",
    type=click.IntRange(0),
    default=2_000,
)
@json_option
def synthesize(
    like: Literal["quick", "netflix", "flat"],
    records: int | None,
    items: int | None,
    entries: int | None,
    scale: float | None,
    memory: str | None,
    seed: int,
    threads: int | None,
    output: Path | None,
    check: bool,
    nearest: int,
    as_json: bool,
) -> None:
    """Make a synthetic data set with the shape of a real one.

    With --check its statistics are compared with the published ones; nothing is
    written then unless -o is given.

    \b
    Example:
      standout synthesize --records 1000 -o people.csv
      standout synthesize --like netflix --records 20000 --check
      standout synthesize --like netflix --scale 10 -o big.index --memory 4GB

    \b
    JSON output:
      output, like, seed, records, items, entries
      calibration  with --check: group, statistic, published, measured, tolerance,
                   verdict (met: within the tolerance; near: within twice the
                   tolerance; missed)
      fingerprint, version
    """
    from standout.core.threads import memory_limit
    from standout.paper.synthesize import scaled_records, synthesize_index
    from standout.paper.synthesize import synthesize as make_release

    if scale is not None:
        if like != "netflix" or records is not None:
            raise ParameterError("--scale needs --like netflix and no --records")
        records = scaled_records(scale)
    _check_options(like, records, output, check)
    memory_limit(memory)
    is_index = output is not None and output.suffix not in (".csv", ".parquet")
    if not is_index and memory is not None:
        raise ParameterError("--memory is for an index: choose another --output")
    with progress() as report:
        if is_index and output is not None:
            release = synthesize_index(
                output,
                like=like,
                records=records,
                items=items,
                entries=entries,
                seed=seed,
                memory=memory,
                threads=threads,
                progress=report,
            )
        else:
            release = make_release(
                like=like, records=records, items=items, entries=entries, seed=seed, threads=threads, progress=report
            )
        calibration = _calibration(release, nearest, seed, threads, report) if check else None
        if output is not None and not is_index:
            _write(release, output, report)
    if as_json:
        request = {"output": None if output is None else str(output), "like": like, "seed": seed}
        print_json(request | _to_dict(release, calibration))
        return
    if calibration is not None:
        _show_calibration(calibration)
    name = "not written" if output is None else str(output)
    print_line(f"{name}: {release.n_entries:,} entries of {release.n_records:,} records")


def _check_options(like: str, records: int | None, output: Path | None, check: bool) -> None:
    """Reject options that cannot work, before any work is done."""
    if check and like != "netflix":
        raise ParameterError(f"--check needs --like netflix, got --like {like}")
    if check and records is not None:
        from standout.paper.calibration import check_records

        check_records(records)
    if output is None:
        if not check:
            raise ParameterError("--output is missing: name a file or folder to write, or use --check")
        return
    if output.is_file():
        raise StandoutError(f"{output} exists and is not overwritten: name another file")
    from standout.data.store import is_index

    output_file(output / "manifest.json" if is_index(output) else output, "--output")


def _calibration(release: "Release", nearest: int, seed: int, threads: int | None, report: "Progress") -> "Calibration":
    from standout.paper.calibration import calibration

    return calibration(release, nearest=nearest, seed=seed, threads=threads, progress=report)


def _write(release: "Release", output: Path, report: "Progress") -> None:
    from standout.data.export import write_table

    write_table(release, output, report)


def _to_dict(release: "Release", calibration: "Calibration | None") -> dict[str, object]:
    content: dict[str, object] = {"records": release.n_records, "items": release.n_items, "entries": release.n_entries}
    if calibration is not None:
        content["calibration"] = calibration.table.to_dicts()
    return content | release_stamp(release)


def _show_calibration(calibration: "Calibration") -> None:
    """Print one table per group, with the columns of all tables aligned."""
    screen = console()
    for group, statistics in groupby(calibration.statistics, key=lambda statistic: statistic.group):
        table = borderless_table()
        table.add_column(group[0].upper() + group[1:], width=LABEL_WIDTH, no_wrap=True)
        for name, width in NUMBER_WIDTHS.items():
            table.add_column(name, justify="right", width=width, no_wrap=True)
        for row in statistics:
            numbers = (_number(row.published, 4), _number(row.measured, 4), _number(row.tolerance, 2))
            table.add_row(row.statistic, *numbers, row.verdict)
        screen.print(table)
        screen.print()
    print_text(f"{calibration}.\nmet: within the tolerance (±); near: within twice the tolerance.\n")


def _number(value: float, digits: int) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.{digits}g}"
