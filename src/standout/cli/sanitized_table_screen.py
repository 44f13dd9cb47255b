"""What `standout sanitize` shows of a sanitized table."""

from pathlib import Path
from typing import TYPE_CHECKING

from standout.cli.console import borderless_table, console, number_columns, print_json, print_line

if TYPE_CHECKING:
    from rich.table import Table as Screen

    from standout.tables.model import SanitizedTable

__all__ = ["show_sanitized_table"]

SHOWN = ("rows", "rows removed", "columns", "cells changed", "cells emptied")


def show_sanitized_table(
    safer: "SanitizedTable", output: Path, sidecar: Path, key: Path | None, as_json: bool
) -> None:
    """Print the steps, what each changed, and the files that were written."""
    if as_json:
        files = {"output": str(output), "sidecar": str(sidecar), "key": None if key is None else str(key)}
        print_json(files | _to_dict(safer))
        return
    console().print(_screen(safer))
    removed = safer.original.n_rows - safer.n_rows
    print_line(f"{removed:,} of {safer.original.n_rows:,} people are not in the output.")
    print_line(f"{output}: {safer.n_rows:,} rows × {safer.n_columns:,} columns, in a random order")
    print_line(f"{sidecar}: the steps, to be published with it")
    if key is not None:
        print_line(f"{key}: which row represents which person, as private as the original")
    else:
        print_line("Without --key nobody can say later which row is whose, and the risk cannot be measured.")
    if safer.history is not None:
        print_line("The history is not in the output: sanitize it on its own.")


def _to_dict(safer: "SanitizedTable") -> dict[str, object]:
    from standout._version import __version__
    from standout.table_sanitizing.table_sidecar import released_fingerprint

    original = safer.original
    return {
        "steps": [{"step": report.step, "counts": report.counts} for report in safer.step_reports],
        "original": {"rows": original.n_rows, "columns": original.n_columns},
        "rows": safer.n_rows,
        "columns": safer.n_columns,
        "fingerprint": released_fingerprint(safer),
        "version": __version__,
    }


def _screen(safer: "SanitizedTable") -> "Screen":
    screen = borderless_table()
    screen.add_column("step", overflow="fold")
    number_columns(screen, *SHOWN)
    original = safer.original
    screen.add_row("original", f"{original.n_rows:,}", "", f"{original.n_columns:,}", "", "")
    for report in safer.step_reports:
        screen.add_row(report.step, *(f"{int(report.counts[name]):,}" for name in SHOWN))
    return screen
