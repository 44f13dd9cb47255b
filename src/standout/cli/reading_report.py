"""How a source was read: one line on stderr in every command that reads one, and details with --verbose."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from standout.cli.console import print_line
from standout.cli.option_errors import as_options, options_of_context
from standout.cli.option_groups import GENERAL, grouped_option

if TYPE_CHECKING:
    from standout.core.json_values import Json
    from standout.release.model import Release

__all__ = ["VERBOSE", "VERBOSE_OPTION", "reading_json", "reading_lines", "show_reading", "source_names"]

VERBOSE = "standout.verbose"


def _remember(context: click.Context, parameter: click.Parameter, verbose: bool) -> None:
    context.meta[VERBOSE] = verbose


VERBOSE_OPTION = grouped_option(
    GENERAL,
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_remember,
    help="Show in detail how the data was read.",
)
"""The flag is kept in the context, because commands do not need it: every read shows how it went."""


def show_reading(release: "Release", sources: list[str]) -> None:
    """Print on stderr how sources were read, so that stdout has only the result."""
    context = click.get_current_context(silent=True)
    verbose = context is not None and context.meta.get(VERBOSE, False)
    for line in reading_lines(release, sources, verbose):
        print_line(as_options(line, options_of_context()), err=True)


def reading_lines(release: "Release", sources: list[str], verbose: bool = False) -> Iterator[str]:
    """Yield one line about how sources were read; if verbose, then all details."""
    from standout.core.foreign_text import printable_texts
    from standout.findings.reading import reading_of
    from standout.ingest.remote import public_url
    from standout.report.reading_text import reading_rows, reading_sentence

    reading = reading_of(release)
    files, names = source_names(reading.files), source_names(tuple(map(public_url, sources)))
    is_index = release.stored_fingerprint is not None
    about = f"index {names} of {files}" if is_index and files else f"index {names}" if is_index else names
    shown = printable_texts(reading)
    yield printable_texts(f"Read {about}: ").strip() + f" {reading_sentence(shown)}"
    if verbose:
        rows = reading_rows(shown)
        width = max(len(row.title) for row in rows)
        yield from (f"  {row.title:{width}}  {row.text}{_because(row.reason)}" for row in rows)


def reading_json(release: "Release") -> "Json":
    """Return how a release was read, for the JSON output of a command."""
    from standout.findings.reading import reading_of
    from standout.findings.serialize import to_json

    return to_json(reading_of(release))


def source_names(paths: tuple[str, ...]) -> str:
    """Return the names of up to three files, and how many there are besides."""
    names = [path.rstrip("/").rsplit("/", 1)[-1] or path for path in paths]
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def _because(reason: str) -> str:
    return f" ({reason})" if reason else ""
