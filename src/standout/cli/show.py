"""What the commands print: tables for people, JSON for machines, progress on the error stream."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from standout.core.errors import ParameterError

if TYPE_CHECKING:
    from standout.core.progress import Progress
    from standout.release.describe import Description
    from standout.release.model import Release

__all__ = [
    "check_output",
    "checks",
    "console",
    "description",
    "indexed",
    "print_json",
    "progress",
    "suggest_index",
]

PATIENCE = 1.0  # seconds before a progress bar is worth its line
LARGE = 1_000_000
TABLES = (".csv", ".parquet", ".json")


@contextmanager
def progress() -> Iterator["Progress"]:
    """A progress bar on a terminal, for work that takes longer than a second; otherwise nothing."""
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description:20}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(), console=Console(stderr=True), transient=True,
    )  # fmt: skip
    begun = time.monotonic()
    tasks: dict[str, TaskID] = {}

    def tell(stage: str, done: int, total: int) -> None:
        if time.monotonic() - begun < PATIENCE:
            return
        if stage not in tasks:
            for task in tasks.values():
                bar.update(task, visible=False)
            tasks[stage] = bar.add_task(stage, total=total)
            bar.start()
        bar.update(tasks[stage], completed=done, total=total)

    try:
        yield tell
    finally:
        bar.stop()


def indexed(release: "Release", output: Path, as_json: bool) -> None:
    """What was read, what was left out, and where the index is."""
    told = release.provenance.to_dict()
    size = sum(file.stat().st_size for file in output.iterdir())
    if as_json:
        sizes = {"records": release.n_records, "items": release.n_items, "entries": release.n_entries}
        print_json(
            {"index": str(output), "bytes": size, "fingerprint": release.fingerprint, **sizes, "read": told}
        )
        return
    for line in _reading(told):
        click.echo(line)
    click.echo(
        f"{release.n_entries:,} entries: {release.n_records:,} records × {release.n_items:,} items, "
        f"{_values(release)}, {_times(release)}"
    )
    click.echo(f"index {output} ({size / 1e6:,.1f} MB), fingerprint {release.fingerprint}")


def description(told: "Description", as_json: bool) -> None:
    """The description of a release."""
    if as_json:
        print_json(told.to_dict())
        return
    screen = console(soft_wrap=True)
    for line in _reading(told.read):
        screen.print(line)
    parts = [_sizes(told), _spread(told)]
    parts += [_shares(told)] if told.value_shares else []
    parts += [_outside(told)] if told.outside_top else []
    for part in parts:
        screen.print()
        screen.print(part)


def suggest_index(release: "Release", data: str) -> None:
    """For a large raw source: how to have it open at once the next time."""
    if release.known_fingerprint is None and release.n_entries >= LARGE and sys.stderr.isatty():
        click.echo(f"next time, read it once: standout index {data} -o {Path(data).stem}.index", err=True)


def check_output(output: Path | None) -> None:
    """Refuses a table's name that has no known ending, before any work is done for it."""
    if output is not None and output.suffix not in TABLES:
        raise ParameterError(f"--output must end in {', '.join(TABLES)}, got {output.name!r}")
    if output is not None and not output.parent.is_dir():
        raise ParameterError(f"{output.parent} is not a folder")


def checks(folder: Path, done: list[tuple[str, bool]], as_json: bool) -> None:
    """Which files of an index are whole."""
    damaged = [file for file, whole in done if not whole]
    if as_json:
        print_json({"index": str(folder), "files": len(done), "damaged": damaged})
        return
    for file in damaged:
        click.echo(f"damaged: {file}")
    click.echo(f"{folder}: {len(done) - len(damaged)} of {len(done)} files are whole")


def console(**more: Any) -> Console:
    """Where people read: what comes from data is shown as it is, never taken for markup."""
    return Console(highlight=False, markup=False, emoji=False, **more)


def print_json(told: dict[str, Any]) -> None:
    """Prints an object for machines."""
    click.echo(json.dumps(told, indent=1, ensure_ascii=False))


def _reading(told: dict[str, Any]) -> Iterator[str]:
    """How a source was understood, and what was left out of it."""
    settings = dict(told["settings"])
    files = ", ".join(told["files"])
    yield f"read {files} as {told['format']}" if files else f"a {told['format']} release"
    if told["columns"]:
        yield "  columns: " + ", ".join(f"{role} = {column}" for role, column in told["columns"].items())
    if settings:
        yield "  " + ", ".join(f"{name}: {setting}" for name, setting in settings.items())
    rejected = sum(told["rejected"].values())
    if rejected:
        reasons = "; ".join(f"{count:,} × {reason}" for reason, count in told["rejected"].items())
        yield f"  left out: {rejected:,} of {told['rows']:,} rows: {reasons}"
    if told["repeats"]:
        yield f"  repeats of the same record and item: {told['repeats']:,} rows, {settings['repeats']} kept"
    for part in ("value", "time"):
        if told[f"without_{part}"]:
            yield f"  without a {part}: {told[f'without_{part}']:,} entries"


def _sizes(told: "Description") -> Table:
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_row("records", f"{told.records:,}")
    table.add_row("items", f"{told.items:,}")
    table.add_row("entries", f"{told.entries:,} ({100 * told.density:.3g} % of records × items)")
    table.add_row("values", f"{told.values:,} levels" if told.values else "none")
    ends = told.time_range
    table.add_row("times", f"{ends[0]} to {ends[1]}, by {told.time_unit}, {told.zone}" if ends else "none")
    table.add_row("fingerprint", told.fingerprint)
    return table


def _shares(told: "Description") -> Table:
    title = (
        "Values"
        if told.values <= len(told.value_shares)
        else f"The {len(told.value_shares)} most frequent values"
    )
    table = _titled(title, "value", "share of entries")
    for level, share in told.value_shares.items():
        table.add_row(level, f"{100 * share:.2f} %")
    return table


def _spread(told: "Description") -> Table:
    table = _titled("Sizes", "", *told.lengths)
    table.add_row("items of a record", *map(_size, told.lengths.values()))
    table.add_row("records of an item", *map(_size, told.supports.values()))
    return table


def _size(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value.is_integer() else f"{value:.1f}"


def _outside(told: "Description") -> Table:
    first = next(iter(told.outside_top.values()))
    table = _titled("Share of records that have …", "", *(f"≥ {least} items" for least in first))
    for top, shares in told.outside_top.items():
        table.add_row(
            f"outside the {top:,} most popular", *(f"{100 * share:.1f} %" for share in shares.values())
        )
    return table


def _titled(title: str, first: str, *others: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _values(release: "Release") -> str:
    return "no values" if release.levels is None else f"{len(release.levels):,} values"


def _times(release: "Release") -> str:
    ends = release.time_range
    return "no times" if ends is None else f"{ends[0]} to {ends[1]}"
