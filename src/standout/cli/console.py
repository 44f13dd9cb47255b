"""What the commands share for printing: tables for people, JSON for machines, how data was read.

Nothing else prints. Text from files may hold escapes that change a terminal: everything for people is made
printable here, and JSON writes such characters as its own escapes.
"""

import codecs
import json
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from standout._version import __version__
from standout.cli.error_lines import as_options, options_of
from standout.core.text import cut_arguments, cut_middle, escaped_json, printable, printable_lines, printable_texts
from standout.ingest.sources import public_url

if TYPE_CHECKING:
    from rich.console import Console

    from standout.core.json_files import Json
    from standout.data.release import Release

Cell = str | tuple[str, str]
"""A text, or a number and its interval, which is shown below it."""
HEAD_WIDTH = 16
LARGE = 1_000_000
VERBOSE = "standout.verbose"
"""Where the context of click keeps --verbose: every read shows how it went, whatever the command."""


def console(**settings: Any) -> "Console":
    """Return a console that shows text from data without markup and without escapes."""
    from rich.console import Console
    from rich.segment import Segment

    class PrintableConsole(Console):
        """Replaces what could change the terminal, before the width of a cell is measured and afterwards."""

        def render_str(self, text: str, **options: Any) -> Any:
            return super().render_str(cut_middle(printable_lines(text)), **options)

        def render(self, *content: Any, **options: Any) -> Any:
            for part in super().render(*content, **options):
                yield part if part.control else Segment(printable_lines(part.text), part.style)

    return PrintableConsole(highlight=False, markup=False, emoji=False, **settings)


def print_text(*lines: str) -> None:
    """Print sentences without breaking lines."""
    for line in lines:
        console().print(line, soft_wrap=True)


def print_line(*lines: str, err: bool = False) -> None:
    """Print lines without what could change the terminal. A line end within one becomes a blank."""
    for line in lines:
        text = printable(line)
        click.echo(cut_middle(cut_arguments(text) if err else text), file=sys.stderr if err else sys.stdout)


def print_warning(message: Warning | str) -> None:
    """Print a warning in one line on stderr."""
    print_line(f"standout: warning: {as_options(str(message), options_of())}", err=True)


def print_json(content: Mapping[str, object], release: "Release | None" = None) -> None:
    """Print an object for machines; with the origin of the numbers, if they are about a release."""
    if release is not None:
        origin = {"fingerprint": release.fingerprint, "version": __version__}
        content = {**content, "read": reading_json(release), **origin}
    text = escaped_json(content, indent=1)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    if not codecs.lookup(encoding).name.startswith("utf"):
        text = json.dumps(json.loads(text), indent=1)  # in ASCII, which every encoding contains
    click.echo(text, file=sys.stdout)


def reading_json(release: "Release") -> "Json":
    """Return how a release was read, for the JSON output of a command."""
    from standout.findings.json_types import to_json
    from standout.findings.reading import reading_of

    return to_json(reading_of(release))


def print_title(title: str) -> None:
    """Print a title."""
    console().print(title, style="bold")


def print_table(heads: Iterable[str], rows: Iterable[Sequence[Cell]], title: str = "", widest: int = 0) -> None:
    """Print a table without lines below its title; it is at most as wide as the terminal, or as `widest`.

    The first column and those whose head begins with < have texts, which are folded, never cut; a head with > is
    that of numbers that may be folded. All others have numbers, which are never broken.
    """
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=heads != ())
    for number, head in enumerate(heads):
        is_text, folds = number == 0 or head.startswith("<"), number == 0 or head[:1] in ("<", ">")
        name = head.removeprefix("<").removeprefix(">")
        name = name if "\n" in name else textwrap.fill(name, HEAD_WIDTH, break_long_words=False)
        justify: Literal["left", "right"] = "left" if is_text else "right"
        table.add_column(name, justify=justify, overflow="fold", no_wrap=not folds)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, str) else "\n".join(filter(None, cell)) for cell in row))
    screen = console()
    if widest:
        needed = screen.measure(table, options=screen.options.update(max_width=widest)).maximum
        screen.width = max(screen.width, needed)
    if title:
        print_title(title)
    screen.print(table)


def percent(share: float) -> str:
    """Format a share.

    >>> percent(0.125)
    '12.5 %'
    """
    return f"{100 * share:.1f} %"


def percent_interval(value: float, low: float, high: float) -> str:
    """Format a share with its interval, which is omitted for a share known exactly.

    >>> percent_interval(0.125, 0.1, 0.2), percent_interval(0.125, 0.125, 0.125)
    ('12.5 % (10.0–20.0)', '12.5 %')
    """
    ends = "" if low == high else f" ({100 * low:.1f}–{100 * high:.1f})"
    return percent(value) + ends


# How a source was read: one line on stderr in every command that reads one, and details with --verbose.


def show_reading(release: "Release", sources: list[str]) -> None:
    """Print on stderr how sources were read, so that stdout has only the result."""
    from standout.findings.reading import reading_of
    from standout.report.page import reading_rows, reading_sentence

    context, known = click.get_current_context(silent=True), options_of()
    reading, names = printable_texts(reading_of(release)), _source_names(tuple(map(public_url, sources)))
    of_files = f" of {_source_names(reading.files)}" if reading.files else ""
    about = names if release.stored is None else f"index {names}{of_files}"
    print_line(as_options(f"Read {printable_texts(about)}: {reading_sentence(reading)}", known), err=True)
    if context is not None and context.meta.get(VERBOSE, False):
        details = [(row.title, row.text + (f" ({row.reason})" if row.reason else "")) for row in reading_rows(reading)]
        details += [(column.name, column.note or column.kind) for column in reading.attributes]
        width = max(len(title) for title, _ in details)
        print_line(*(f"  {title:{width}}  {as_options(text, known)}" for title, text in details), err=True)
    if release.stored is None and release.n_entries >= LARGE and sys.stderr.isatty():
        data = public_url(sources[0])
        print_line(f"To open it faster next time: standout index {data} -o {Path(data).stem}.index", err=True)


def _source_names(paths: tuple[str, ...]) -> str:
    """Return the names of up to three files, and how many there are besides."""
    names = [path.rstrip("/").rsplit("/", 1)[-1] or path for path in paths]
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
