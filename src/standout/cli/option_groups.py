"""Help in which the options of a command stand under headings, and no summary is cut."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = [
    "ADVERSARY",
    "ALIGNMENT",
    "ATTACK",
    "GATE",
    "GENERAL",
    "ORIGINAL",
    "PUBLIC",
    "READING",
    "SERVER",
    "WORKERS",
    "GroupedCommand",
    "GroupedOption",
    "command",
    "format_commands",
    "option",
]

OPTIONS = "Options"
ADVERSARY = "What the adversary knows"
ATTACK = "Attack and claims"
GATE = "Checking a limit"
ALIGNMENT = "How PUBLIC and DATA are aligned"
SERVER = "Server"
ORIGINAL = "The original of a sanitized release"
PUBLIC = "Reading PUBLIC"
READING = "Reading the data"
WORKERS = "Workers"
GENERAL = "General options"
"""Heading of what many commands share; always the last one."""
MOST_COLUMNS = 30
"""Widest column of option names; a longer name has its help on the next line."""
UNCUT = 10_000
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class GroupedOption(click.Option):
    """An option under a heading of the help."""

    def __init__(self, *names: Any, group: str = OPTIONS, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.group = group


class GroupedCommand(click.Command):
    """A command whose help shows options by heading: its own first, those of many commands last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by heading."""
        groups: dict[str, list[tuple[str, str]]] = {OPTIONS: []}
        general = list[tuple[str, str]]()
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None and row[1]:  # an argument without a text of its own is in the description
                is_help = parameter is self.get_help_option(ctx)
                heading = GENERAL if is_help else getattr(parameter, "group", OPTIONS)
                (general if heading == GENERAL else groups.setdefault(heading, [])).append(row)
        _write(formatter, {heading: rows for heading, rows in (groups | {GENERAL: general}).items() if rows})


def _write(formatter: click.HelpFormatter, groups: dict[str, list[tuple[str, str]]]) -> None:
    """Write the groups with one width for all names, so that the help texts are below one another."""
    widest = max((len(name) for rows in groups.values() for name, _ in rows), default=0)
    width = min(widest, MOST_COLUMNS)
    for heading, rows in groups.items():
        with formatter.section(heading):
            formatter.write_dl([(name.ljust(width), text) for name, text in rows], col_max=MOST_COLUMNS)


def format_commands(group: click.Group, formatter: click.HelpFormatter) -> None:
    """Write the commands of a group with their whole summaries; click would cut them to one line."""
    rows = [(name, each.get_short_help_str(UNCUT)) for name, each in sorted(group.commands.items())]
    with formatter.section("Commands"):
        formatter.write_dl(rows)


def option(
    names: str, metavar: str, text: str, *, group: str = OPTIONS, **settings: Any
) -> Callable[[Decorated], Decorated]:
    """`click.option` for an option under a heading: its names, what it takes ("" for a flag), and its help."""
    settings.setdefault("show_default", settings.get("default") not in (None, "", ()))
    return click.option(
        *names.split(" "), cls=GroupedOption, group=group, metavar=metavar or None, help=text, **settings
    )


def command() -> Callable[[Callable[..., Any]], GroupedCommand]:
    """`click.command` with help by heading."""
    return click.command(cls=GroupedCommand)
