"""The complete command to run next, after an error that says what it needs."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager

import click

from standout.core.errors import SourceError
from standout.core.next_steps import NextStep, next_step_text

__all__ = ["keep_arguments", "naming_next_command"]

ARGUMENTS = "standout.arguments"


def keep_arguments(context: click.Context, arguments: list[str]) -> None:
    """Remember the arguments of the command line as they were typed."""
    context.meta[ARGUMENTS] = list(arguments)


@contextmanager
def naming_next_command(prefix: str) -> Iterator[None]:
    """Name the next command in errors that name the next parameters; `prefix` is that of the options."""
    try:
        yield
    except SourceError as error:
        context = click.get_current_context(silent=True)
        if not error.next_steps or context is None or ARGUMENTS not in context.meta:
            raise
        typed = context.meta[ARGUMENTS]
        commands = [f"`{_command(typed, step, prefix)}`" for step in error.next_steps]
        raise type(error)(error.problem + next_step_text(commands, error.next_steps)) from error


def _command(typed: list[str], step: NextStep, prefix: str) -> str:
    """Return the typed command with the options of a step; the last of two equal options counts."""
    options = [
        part
        for name, value in step.parameters.items()
        for part in (f"--{prefix}{name}".replace("_", "-"), value)
    ]
    end = typed.index("--") if "--" in typed else len(typed)
    return shlex.join(["standout", *typed[:end], *options, *typed[end:]])
