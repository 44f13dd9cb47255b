"""What `standout synthesize` takes, writes and prints: a release, and how well it meets what is published."""

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from standout._version import __version__
from standout.cli import show
from standout.core.errors import ParameterError, StandoutError

if TYPE_CHECKING:
    from standout.core.progress import Progress
    from standout.release.model import Release
    from standout.synthetic.calibration import Calibration

__all__ = ["check_wishes", "show_synthesized", "write"]

WORDS, NUMBERS = 37, {"target": 11, "achieved": 11, "±": 7, "": 6}
"""Characters of the columns: 80 with what lies between."""


def check_wishes(output: Path | None, check: bool, like: str, records: int | None) -> None:
    """Refuses what cannot be, before any work is done for it."""
    if check and like != "netflix":
        raise ParameterError(
            f"--check compares with what is published of Netflix's data, not with {like} data"
        )
    if check and records is not None:
        from standout.synthetic.calibration import check_records

        check_records(records)
    if output is None:
        if not check:
            raise ParameterError("--output says where it goes; without it there is only --check")
        return
    if not output.parent.is_dir():
        raise StandoutError(f"{output.parent} is not a folder")
    if output.is_file():
        raise StandoutError(f"{output} exists: it will not be overwritten")


def write(release: "Release", output: Path, progress: "Progress") -> None:
    """The release as a table or as an index, by the name of the output."""
    from standout.release.export import write_table
    from standout.release.store import save

    (write_table if output.suffix in (".csv", ".parquet") else save)(release, output, progress)


def show_synthesized(
    release: "Release",
    output: Path | None,
    wishes: dict[str, Any],
    found: "Calibration | None",
    as_json: bool,
) -> None:
    """What was made, and the calibration table, for machines or for people."""
    if as_json:
        told: dict[str, Any] = {"output": None if output is None else str(output)}
        told |= {name: wishes[name] for name in ("like", "seed")}
        told |= {"records": release.n_records, "items": release.n_items, "entries": release.n_entries}
        told |= {} if found is None else {"calibration": found.table.to_dicts()}
        show.print_json(told | {"fingerprint": release.fingerprint, "version": __version__})
        return
    if found is not None:
        _show_calibration(found)
    where = "not kept" if output is None else str(output)
    click.echo(f"{where}: {release.n_entries:,} entries of {release.n_records:,} records")


def _show_calibration(found: "Calibration") -> None:
    """A small table for each group, the columns of all below each other."""
    screen = show.console()
    for group, rows in groupby(found.statistics, key=lambda one: one.group):
        table = Table(box=None, pad_edge=False)
        table.add_column(group[0].upper() + group[1:], width=WORDS, no_wrap=True)
        for name, width in NUMBERS.items():
            table.add_column(name, justify="right", width=width, no_wrap=True)
        for one in rows:
            numbers = (_number(one.target, 4), _number(one.achieved, 4), _number(one.tolerance, 2))
            table.add_row(one.statistic, *numbers, one.verdict)
        screen.print(table)
        screen.print()
    screen.print(f"{found}.\nmet: within the tolerance (±); near: within twice as much.\n", soft_wrap=True)


def _number(value: float, digits: int) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.{digits}g}"
