"""`standout sanitize`: change a data set so that fewer people can be identified."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from standout.cli.console import (
    borderless_table,
    console,
    number_columns,
    print_json,
    print_line,
    reading_json,
    release_stamp,
)
from standout.cli.option_groups import command
from standout.cli.options import json_option, path_argument, threads_option
from standout.cli.reading import Source, reading_options
from standout.core.errors import ParameterError
from standout.core.progress import progress_bar as progress

if TYPE_CHECKING:
    from rich.table import Table as Screen

    from standout.data.labels import StepReport
    from standout.data.release import Release
    from standout.know.sanitized import Sanitized

__all__ = ["sanitize", "show_sanitized_table"]

# What `standout sanitize` shows of a sanitized table.


SHOWN = ("rows", "rows removed", "columns", "cells changed", "cells emptied")


def show_sanitized_table(safer: "Sanitized", output: Path, sidecar: Path, key: Path | None, as_json: bool) -> None:
    """Print the steps, what each changed, and the files that were written."""
    if as_json:
        files = {"output": str(output), "sidecar": str(sidecar), "key": None if key is None else str(key)}
        print_json(files | _to_dict_sanitized_table_screen(safer))
        return
    console().print(_screen(safer))
    removed = safer.original.n_records - safer.n_records
    print_line(f"{removed:,} of {safer.original.n_records:,} people are not in the output.")
    print_line(f"{output}: {safer.n_records:,} rows × {safer.n_columns:,} columns, in a random order")
    print_line(f"{sidecar}: the steps, to be published with it")
    if key is not None:
        print_line(f"{key}: which row represents which person, as private as the original")
    else:
        print_line("Without --key nobody can say later which row is whose, and the risk cannot be measured.")
    if safer.n_items:
        print_line("The history is not in the output: sanitize it on its own.")


def _to_dict_sanitized_table_screen(safer: "Sanitized") -> dict[str, object]:
    from standout._version import __version__
    from standout.sanitizing.table_files import released_fingerprint

    original = safer.original
    return {
        "steps": [{"step": report.step, "counts": report.counts} for report in safer.step_reports],
        "original": {"rows": original.n_records, "columns": original.n_columns},
        "rows": safer.n_records,
        "columns": safer.n_columns,
        "fingerprint": released_fingerprint(safer),
        "version": __version__,
    }


def _screen(safer: "Sanitized") -> "Screen":
    screen = borderless_table()
    screen.add_column("step", overflow="fold")
    number_columns(screen, *SHOWN)
    original = safer.original
    screen.add_row("original", f"{original.n_records:,}", "", f"{original.n_columns:,}", "", "")
    for report in safer.step_reports:
        screen.add_row(report.step, *(f"{int(report.counts[name]):,}" for name in SHOWN))
    return screen


SIZES = ("records", "items")
CHANGES = ("removed", "merged", "added")


class Output(NamedTuple):
    """The files that are written."""

    path: Path
    key: Path | None
    force: bool
    inert: bool


def _list_steps(context: click.Context, parameter: click.Parameter, is_wanted: bool) -> None:
    """Print all steps and their syntax, and exit."""
    if not is_wanted or context.resilient_parsing:
        return
    from standout.sanitizing.sanitize import STEPS
    from standout.sanitizing.sanitize_table import TABLE_STEPS

    for step in STEPS:
        print_line(f"{step.name} {step.syntax}", f"    {step.summary}")
    print_line("", "Steps on tables (--table):")
    for table_step in TABLE_STEPS:
        print_line(f"{table_step.name}:{table_step.syntax}", f"    {table_step.summary}")
    context.exit()


@command()
@path_argument("data")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="NAME.csv, NAME.parquet, or any other name for an index.",
)
@click.option(
    "--step",
    "steps",
    multiple=True,
    metavar="STEP",
    help="A change, like 'round-time month'. Repeat for several; they are applied in order.",
)
@click.option(
    "--list-steps",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_steps,
    help="Show all steps and their syntax, and exit.",
)
@click.option(
    "--seed",
    type=int,
    metavar="N",
    help="Random seed that makes noise repeatable. Keep it secret.",
    show_default="a random one, not saved",
)
@click.option("--renumber", is_flag=True, help="Give records new ids, 1 to N in random order.")
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write which record represents which person to this CSV file. It is as private as DATA.",
)
@click.option("--force", is_flag=True, help="Overwrite existing output.")
@click.option(
    "--inert",
    is_flag=True,
    help="Put an apostrophe before cells of a CSV file that a spreadsheet would take for a formula.",
)
@threads_option
@reading_options
@json_option
def sanitize(
    data: str,
    source: Source,
    output: Path,
    steps: tuple[str, ...],
    seed: int | None,
    renumber: bool,
    key: Path | None,
    force: bool,
    inert: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Change a data set so that fewer people can be identified.

    DATA is an index, or any source that `standout index` reads. Each step changes
    the result of the one before. The sidecar file OUT.sanitized.json lists the
    steps and is published with the output. It does not contain the seed, because
    the seed could undo noise and new ids. Without --renumber the output keeps the
    ids of DATA. To measure the remaining risk, run
    `standout audit OUT --original DATA`.

    Cells stay data: an id like =1+1 is written as it is. If the output will be
    opened in a spreadsheet, add --inert.

    \b
    Example:
      standout sanitize ratings.csv -o safer.csv --step "round-time month" \\
          --step "drop-rare-items 10" --renumber --key key.csv
      standout sanitize survey.csv -o safer.csv --table --schema schema.toml \\
          --step round:age=5 --step generalize:zip=2 --key key.csv

    The rows of a table are put into a random order, and its ids are always new.
    Without --key nobody can say which row is whose, so the remaining risk cannot be
    measured.

    \b
    JSON output:
      output, sidecar, key     the files that were written
      renumbered               whether ids are new
      steps                    step; counts: sizes before and after, and changes;
                               entries before = entries + removed + merged - added
      original                 records, items, entries; merged rows: repeated rows
                               that reading merged
      records, items, entries  sizes of the output
      read                     how DATA was read; not for tables
      fingerprint, version     of the output
    For a table, sizes are rows and columns instead of records, items and entries.
    """
    from standout.sanitizing.output_files import check_inert, check_output_paths, write_sanitized
    from standout.sanitizing.sanitize import parse_step
    from standout.sanitizing.sanitize import sanitize as sanitize_release
    from standout.sanitizing.sanitize_table import is_table_step, parse_table_step

    if not steps and not renumber:
        raise ParameterError("--step is missing: name a step (--list-steps shows all), or use --renumber")
    check_inert(output, inert)
    check_output_paths(output, key, force, Path(data))
    of_columns = any(is_table_step(text) for text in steps) and "table" not in source.settings
    source = source.with_settings(table=True) if of_columns else source
    parsed: list[Any] = [(parse_table_step if is_table_step(text) else parse_step)(text) for text in steps]
    with progress() as report:
        release = source.read([data], report)
    if release.columns:
        _sanitize_table(release, Output(output, key, force, inert), parsed, seed, as_json)
        return
    with progress() as report:
        sanitized = sanitize_release(
            release,
            *parsed,
            seed=secrets.randbits(63) if seed is None else seed,
            renumber=renumber,
            progress=report,
            threads=threads,
        )
        sidecar = write_sanitized(sanitized, output, key=key, force=force, inert=inert, progress=report)
    _show(sanitized, output, sidecar, key, as_json)


def _sanitize_table(original: "Release", files: Output, parsed: list[Any], seed: int | None, as_json: bool) -> None:
    from standout.sanitizing.output_files import check_table_path, write_sanitized
    from standout.sanitizing.sanitize import sanitize as sanitize_release

    check_table_path(files.path)
    with progress() as report:
        safer = sanitize_release(original, parsed, seed=seed, progress=report)
        sidecar = write_sanitized(
            safer, files.path, key=files.key, force=files.force, inert=files.inert, progress=report
        )
    show_sanitized_table(safer, files.path, sidecar, files.key, as_json)


def _show(sanitized: "Sanitized", output: Path, sidecar: Path, key: Path | None, as_json: bool) -> None:
    if as_json:
        files = {"output": str(output), "sidecar": str(sidecar), "key": None if key is None else str(key)}
        print_json(files | _to_dict(sanitized))
        return
    if merged := sanitized.original.provenance.merged:
        print_line(f"{merged:,} rows of DATA repeat a record and item and were merged when it was read.")
    console().print(_table(sanitized))
    missing = int((sanitized.mapping.representatives < 0).sum())
    print_line(f"{missing:,} of {sanitized.original.n_records:,} people are not represented in the output.")
    print_line(f"{output}: {sanitized.n_entries:,} entries of {sanitized.n_records:,} records")
    print_line(f"{sidecar}: the steps, to be published with it")
    if key is not None:
        print_line(f"{key}: which record represents which person, as private as the original")


def _to_dict(sanitized: "Sanitized") -> dict[str, object]:
    return {
        "renumbered": sanitized.renumbered,
        "steps": [{"step": report.step, "counts": report.counts} for report in sanitized.step_reports],
        "original": _original(sanitized.original),
        "records": sanitized.n_records,
        "items": sanitized.n_items,
        "entries": sanitized.n_entries,
        "read": reading_json(sanitized.original),
        **release_stamp(sanitized),
    }


def _original(release: "Release") -> dict[str, int]:
    return {
        "records": release.n_records,
        "items": release.n_items,
        "entries": release.n_entries,
        "merged rows": release.provenance.merged,
    }


def _table(sanitized: "Sanitized") -> "Screen":
    table = borderless_table()
    table.add_column("step", overflow="fold")
    number_columns(table, *SIZES, "entries in", "out")
    table.add_column("changes", overflow="fold")
    table.add_row("original", *_sizes(sanitized.original))
    for report in sanitized.step_reports:
        counts = (f"{int(report.counts[name]):,}" for name in (*SIZES, "entries before", "entries"))
        table.add_row(report.step, *counts, "\n".join(_changes(report)))
    if sanitized.renumbered:
        table.add_row("new ids", *_sizes(sanitized))
    return table


def _sizes(release: "Release") -> Iterator[str]:
    sizes = (release.n_records, release.n_items, release.n_entries, release.n_entries)
    return (f"{size:,}" for size in sizes)


def _changes(report: "StepReport") -> Iterator[str]:
    """Yield what a step changed, other than the sizes."""
    counts = dict(report.counts)
    for name in SIZES:
        if removed := int(counts.pop(f"{name} before") - counts.pop(name)):
            yield f"{removed:,} {name} removed"
    for name in ("entries before", "entries"):
        del counts[name]
    for change in CHANGES:
        if entries := int(counts.pop(f"entries {change}", 0)):
            yield f"{entries:,} entries {change}"
    share = counts.pop("share changed", None)
    for name, count in counts.items():
        part = "" if share is None or not name.endswith(" changed") else f" ({100 * share:.3g} %)"
        yield f"{_number(count)} {name}{part}"


def _number(count: float) -> str:
    return f"{int(count):,}" if count == int(count) else f"{count:.3g}"
