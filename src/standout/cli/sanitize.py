"""What `standout sanitize` takes, writes and prints: steps, and what each of them did."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from standout._version import __version__
from standout.cli import show

if TYPE_CHECKING:
    from standout.sanitized import Sanitized, StepReport

__all__ = ["fresh_seed", "list_steps", "show_sanitized"]

SIZES = ("records", "items", "entries")


def fresh_seed() -> int:
    """A seed that nobody knows: with it noise and new ids could be undone."""
    return secrets.randbits(63)


def list_steps() -> None:
    """Prints all steps and how they are written."""
    from standout.sanitizing.step_parser import STEPS

    for kind in STEPS:
        click.echo(f"{kind.name} {kind.syntax}\n    {kind.summary}")


def show_sanitized(safer: "Sanitized", output: Path, sidecar: Path, key: Path | None, as_json: bool) -> None:
    """What each step did, and where everything is."""
    if as_json:
        files = {"output": str(output), "sidecar": str(sidecar), "key": None if key is None else str(key)}
        steps = [{"step": done.step, "counts": done.counts} for done in safer.step_reports]
        told: dict[str, Any] = {**files, "renumbered": safer.renumbered, "steps": steps}
        told |= {"records": safer.n_records, "items": safer.n_items, "entries": safer.n_entries}
        show.print_json(told | {"fingerprint": safer.fingerprint, "version": __version__})
        return
    show.console().print(_table(safer))
    gone = int((safer.mapping.representatives < 0).sum())
    click.echo(f"{gone:,} of {safer.original.n_records:,} people have no record that stands for them.")
    click.echo(f"{output}: {safer.n_entries:,} entries of {safer.n_records:,} records")
    click.echo(f"{sidecar}: what was done, to be published with it")
    if key is not None:
        click.echo(f"{key}: who stands for whom, as private as the original")


def _table(safer: "Sanitized") -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("Step", overflow="fold")
    for name in SIZES:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("what changed", overflow="fold")
    original = safer.original
    sizes = original.n_records, original.n_items, original.n_entries
    table.add_row("as read", *(f"{size:,}" for size in sizes), "")
    for done in safer.step_reports:
        counts = (f"{int(done.counts[name]):,}" for name in SIZES)
        table.add_row(done.step, *counts, "\n".join(_changes(done)))
    if safer.renumbered:
        table.add_row("new ids", *(f"{size:,}" for size in (safer.n_records, safer.n_items, safer.n_entries)))
    return table


def _changes(done: "StepReport") -> Iterator[str]:
    """What a step's counts say beside the sizes."""
    counts = dict(done.counts)
    for name in SIZES:
        more = int(counts.pop(name) - counts.pop(f"{name} before"))
        if more:
            yield f"{abs(more):,} {name} {'more' if more > 0 else 'out'}"
    share = counts.pop("share changed", None)
    for name, count in counts.items():
        part = "" if share is None or not name.endswith(" changed") else f" ({100 * share:.3g} %)"
        yield f"{_number(count)} {name}{part}"


def _number(count: float) -> str:
    return f"{int(count):,}" if count == int(count) else f"{count:.3g}"
