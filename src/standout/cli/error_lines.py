"""An error as one line and an exit code: what happened, and what to do; never the content of a cell."""

import re
import shlex
import traceback
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from standout.core.errors import (
    BuildRunning,
    NextStep,
    ParameterError,
    SourceError,
    StandoutError,
    WorkersLost,
    next_step_text,
)

# Exit codes of the commands. 0 is success, 2 wrong usage.

ERROR = 1
"""An error that is explained in one line."""
INTERRUPTED = 3
"""The run was interrupted; running the same command again resumes it where a checkpoint exists."""
LIMIT_EXCEEDED = 4
"""The risk may exceed `--fail-above`, or no candidate meets the limit of `advise --fail`."""
NOT_TRUSTED = 5
"""The audit failed its own checks: its numbers must not be used."""
BUG = 70
"""An error of Standout itself (EX_SOFTWARE of sysexits.h)."""
PACKAGE = Path(__file__).parents[1]
NO_MEMORY = (
    "there is not enough memory: build an index first (standout index), take a sample of the data, or use a "
    "machine with more"
)
TOO_DEEP = "the input is nested too deeply: check that the file is what it should be"


def error_line(error: Exception) -> tuple[str, int]:
    """The line to show for an error, and the exit code."""
    if isinstance(error, StandoutError):
        return str(error), INTERRUPTED if isinstance(error, BuildRunning | WorkersLost) else ERROR
    if isinstance(error, MemoryError | RecursionError):
        return NO_MEMORY if isinstance(error, MemoryError) else TOO_DEEP, ERROR
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if isinstance(error.filename, str) else ""
        return f"{name}{error.strerror}", ERROR
    place = "an unknown place"
    for frame in traceback.extract_tb(error.__traceback__):  # arguments, which may be data, are not shown
        if Path(frame.filename).is_relative_to(PACKAGE):
            place = f"{Path(frame.filename).relative_to(PACKAGE).as_posix()}, line {frame.lineno}"
    return (
        f"an error of Standout itself, {type(error).__name__} in {place}. Your data was not changed. "
        "Please report it, with what `standout --debug …` prints if that shows nothing private",
        BUG,
    )


# Errors about Python parameters, rewritten so that they name command line options.
#
# The library speaks of parameters, as they are written in Python: ``quote=''``, ``header=False``,
# ``separator=…`` if the value is open. They become options.

READ_SETTINGS = (
    "record", "item", "value", "time", "ignore", "latitude", "longitude", "grid", "geohash", "titles",
    "record_from_name", "value_type", "value_bin", "time_format", "time_unit", "time_bin", "zone", "repeats",
    "separator", "header", "quote", "encoding", "member", "sql_table", "skip_lines", "max_rejects", "rejects",
    "kind", "schema", "history", "history_record", "missing"
)  # fmt: skip
"""Parameters of `so.read`, which --read takes as NAME=VALUE."""
SHORTCUTS = ("record", "item", "value", "time", "schema")
"""Settings with an option of their own."""
SWITCHED_OFF = ("record", "value", "time")
"""Columns that the word none switches off."""
OPEN = "…"
VALUE = r"""True|False|…|'[^'\\\n]*'|"[^"\\\n]*"|\d+(?:\.\d+)?(?![\w/])"""
LIST = re.compile(r"\bignore=\[([^\[\]\n]*)\]")
PARAMETER = re.compile(rf"(?<!read )(?<![\w/.'-])(?P<name>[a-z_]+)=(?P<value>{VALUE})")
ARGUMENTS = "standout.arguments"
"""Where the context of click keeps the arguments as they were typed."""


def with_option_name(error: ParameterError, options: Mapping[str, str]) -> ParameterError:
    """Return the error with the parameter at the start of its message replaced by its option.

    >>> with_option_name(ParameterError("phi must be ≥ 0"), {"phi": "--phi"})
    ParameterError('--phi must be ≥ 0')
    """
    message = re.sub(r"^\w+(?= (?:must|is)\b)", lambda match: options.get(match[0], match[0]), str(error))
    return type(error)(message)


def as_options(text: str, known: Collection[str], prefix: str = "") -> str:
    """Return a text in which parameters are written as the known options.

    >>> known = ["--record", "--read", "--public-read"]
    >>> as_options("add quote='', or header=False, or record=1; zip=1", known)
    'add --read quote=, or --read header=no, or --record 1; zip=1'
    >>> as_options("add quote=''", known, "public-")
    'add --public-read quote='
    """

    def option(match: re.Match[str]) -> str:
        written = match["value"]
        value: object = written[1:-1] if written[0] in "'\"" else written
        value = written == "True" if written in ("True", "False") else value
        typed = typed_words(match["name"], value, known, prefix)
        return (" ".join(typed) if written == OPEN else shlex.join(typed)) if typed else match[0]

    text = LIST.sub(lambda match: " ".join(f"ignore={value}" for value in match[1].split(", ")), text)
    text = text.replace("kind='table'", "--table") if "--table" in known else text
    return PARAMETER.sub(option, text)


def typed_words(name: str, value: object, known: Collection[str], prefix: str = "") -> list[str]:
    """A parameter as it is typed: with its own option, or with --read; empty if it is neither."""
    option, read = f"--{name}".replace("_", "-"), f"--{prefix}read"
    if option in known and not prefix:
        return [option] if value is True or value == OPEN else [option, "none" if value is False else str(value)]
    if name in READ_SETTINGS and read in known:
        text = "none" if value is False and name in SWITCHED_OFF else value
        return [read, f"{name}={({True: 'yes', False: 'no'}).get(text, text)}"]  # type: ignore[call-overload]
    return []


def options_of(command: click.Command | None = None) -> list[str]:
    """All options of a command, or of the one that is running, as they are typed; none outside of a command."""
    context = click.get_current_context(silent=True)
    command = command or (None if context is None else context.command)
    parameters = [] if command is None else command.params
    return [name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)]


def option_names(command: click.Command) -> dict[str, str]:
    """Return the long option for each parameter of a command."""
    options = (parameter for parameter in command.params if isinstance(parameter, click.Option))
    return {option.name: max(option.opts, key=len) for option in options if option.name}


@contextmanager
def naming_options(**options: str) -> Iterator[None]:
    """Name options in errors, for options that are not called as the parameter they set."""
    try:
        yield
    except ParameterError as error:
        raise with_option_name(error, options) from error


def next_commands(error: SourceError, prefix: str) -> str:
    """The problem of an error, and the typed command with the options that the next try needs."""
    context = click.get_current_context(silent=True)
    if not error.next_steps or context is None or ARGUMENTS not in context.meta:
        return str(error)
    typed, known = context.meta[ARGUMENTS], options_of()
    end = typed.index("--") if "--" in typed else len(typed)

    def command(step: NextStep) -> str:  # the last of two equal options counts
        options = [word for name, value in step.parameters.items() for word in typed_words(name, value, known, prefix)]
        return f"`{shlex.join(['standout', *typed[:end], *options, *typed[end:]])}`"

    return error.problem + next_step_text(list(map(command, error.next_steps)), error.next_steps)
