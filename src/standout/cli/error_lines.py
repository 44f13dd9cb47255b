"""An error as one line and an exit code: what happened, and what to do; never the content of a cell."""

import ast
import codecs
import errno
import io
import os
import re
import shlex
import sys
import traceback
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = [
    "BUG",
    "CLOSED",
    "ERROR",
    "INTERRUPTED",
    "LIMIT_EXCEEDED",
    "NOT_TRUSTED",
    "READ_SETTINGS",
    "as_options",
    "error_line",
    "keep_arguments",
    "naming_next_command",
    "naming_options",
    "option_names",
    "options_of_context",
    "printing_error",
    "set_up_output",
    "typed_words",
    "with_option_name",
]

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
    if isinstance(error, BuildRunning | WorkersLost):
        return str(error), INTERRUPTED
    if isinstance(error, StandoutError):
        return str(error), ERROR
    if isinstance(error, MemoryError):
        return NO_MEMORY, ERROR
    if isinstance(error, RecursionError):
        return TOO_DEEP, ERROR
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if isinstance(error.filename, str) else ""
        return f"{name}{error.strerror}", ERROR
    return (
        f"an error of Standout itself, {type(error).__name__} in {_place(error)}. Your data was not changed. "
        "Please report it, with what `standout --debug …` prints if that shows nothing private",
        BUG,
    )


def _place(error: Exception) -> str:
    """File and line of the innermost call of this package. Arguments, which may be data, are not shown."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)]
    if not own:
        return "an unknown place"
    return f"{Path(own[-1].filename).relative_to(PACKAGE).as_posix()}, line {own[-1].lineno}"


# Errors about Python parameters, rewritten so that they name command line options.
#
# The library speaks of parameters, as they are written in Python: ``quote=''``, ``header=False``,
# ``separator=…`` if the value is open, and complete calls of ``so.read``. They become options and commands.


READ_SETTINGS = (
    "record", "item", "value", "time", "ignore", "latitude", "longitude", "grid", "geohash", "titles",
    "record_from_name", "value_type", "value_bin", "time_format", "time_unit", "time_bin", "zone", "repeats",
    "separator", "header", "quote", "encoding", "member", "sql_table", "skip_lines", "max_rejects", "rejects",
    "table", "kind", "schema", "id", "history", "missing",
)  # fmt: skip
"""Parameters of `so.read`, which --read takes as NAME=VALUE."""
OPEN = "…"
CALL = re.compile(r"so\.read\(.*\)")
VALUE = r"""True|False|…|'[^'\\\n]*'|"[^"\\\n]*"|\d+(?:\.\d+)?(?![\w/])"""
PARAMETER = re.compile(rf"(?<!read )(?<![\w/.'-])(?P<name>[a-z_]+)=(?P<value>{VALUE})")


def with_option_name(error: ParameterError, options: Mapping[str, str]) -> ParameterError:
    """Return the error with the parameter at the start of its message replaced by its option.

    >>> with_option_name(ParameterError("phi must be ≥ 0"), {"phi": "--phi"})
    ParameterError('--phi must be ≥ 0')
    """
    message = re.sub(r"^\w+(?= (?:must|is)\b)", lambda match: options.get(match[0], match[0]), str(error))
    return type(error)(message)


def as_options(text: str, known: Collection[str], prefix: str = "") -> str:
    """Return a text in which parameters are written as the known options, and calls as commands.

    >>> known = ["--record", "--read", "--public-read"]
    >>> as_options("add quote='', or header=False, or record=1; zip=1", known)
    'add --read quote=, or --read header=no, or --record 1; zip=1'
    >>> as_options("add quote=''", known, "public-")
    'add --public-read quote='
    >>> as_options("For example: so.read('a b.csv', record=1)", [])
    "For example: standout audit 'a b.csv' --record 1"
    """

    def option(match: re.Match[str]) -> str:
        typed = typed_words(match["name"], _value(match["value"]), known, prefix)
        return (" ".join(typed) if match["value"] == OPEN else shlex.join(typed)) if typed else match[0]

    text = CALL.sub(lambda match: _command(match[0]), text)
    text = text.replace("kind='table'", "--table") if "--table" in known else text
    return PARAMETER.sub(option, text)


def typed_words(name: str, value: object, known: Collection[str], prefix: str = "") -> list[str]:
    """A parameter as it is typed: with its own option, or with --read; empty if it is neither."""
    option, read = f"--{name}".replace("_", "-"), f"--{prefix}read"
    if option in known and not prefix:
        return [option] if value is True or value == OPEN else [option, "none" if value is False else str(value)]
    if name in READ_SETTINGS and read in known:
        text = "none" if value is False and name in ("value", "time", "id") else value
        return [read, f"{name}={({True: 'yes', False: 'no'}).get(text, text)}"]  # type: ignore[call-overload]
    return []


def _value(written: str) -> object:
    """What a value stands for that PARAMETER found; a text has no escapes."""
    if written in ("True", "False"):
        return written == "True"
    return written[1:-1] if written[0] in "'\"" else written


def _command(call: str) -> str:
    """A call that reads a source, as the command that audits it; the call itself if it is something else."""
    try:
        parsed = ast.parse(call, mode="eval").body
        assert isinstance(parsed, ast.Call) and isinstance(parsed.func, ast.Attribute)
        words = ["standout", "audit", *(str(ast.literal_eval(each)) for each in parsed.args)]
        shortcuts = ("--record", "--item", "--value", "--time", "--ignore", "--read")
        for each in parsed.keywords:
            words += typed_words(str(each.arg), ast.literal_eval(each.value), shortcuts)
    except (SyntaxError, ValueError, AssertionError, RecursionError, MemoryError):  # a name may hold anything
        return call
    return shlex.join(words)


def options_of_context() -> list[str]:
    """All options of the command that is running, as they are typed; none outside of a command."""
    context = click.get_current_context(silent=True)
    parameters = [] if context is None else context.command.params
    return [name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)]


@contextmanager
def naming_options(**options: str) -> Iterator[None]:
    """Name options in errors, for options that are not called as the parameter they set."""
    try:
        yield
    except ParameterError as error:
        raise with_option_name(error, options) from error


def option_names(command: click.Command) -> dict[str, str]:
    """Return the long option for each parameter of a command."""
    options = (parameter for parameter in command.params if isinstance(parameter, click.Option))
    return {option.name: max(option.opts, key=len) for option in options if option.name}


# The complete command to run next, after an error that says what it needs.


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
        commands = [f"`{_command_next_command(typed, step, prefix)}`" for step in error.next_steps]
        raise type(error)(error.problem + next_step_text(commands, error.next_steps)) from error


def _command_next_command(typed: list[str], step: NextStep, prefix: str) -> str:
    """Return the typed command with the options of a step; the last of two equal options counts."""
    known = options_of_context()
    options = [word for name, value in step.parameters.items() for word in typed_words(name, value, known, prefix)]
    end = typed.index("--") if "--" in typed else len(typed)
    return shlex.join(["standout", *typed[:end], *options, *typed[end:]])


# Standard output that cannot take every character, is full, or is closed.


CLOSED = "standard output is closed: redirect it to a file or to /dev/null"
PLAIN = {
    "–": "-", "—": "-", "−": "-", "‑": "-", "…": "...", "×": "x", "≤": "<=", "≥": ">=", "≈": "~", "±": "+-",
    "≠": "!=", "→": "->", "φ": "phi", "θ": "theta", "ε": "epsilon", "σ": "sigma", "’": "'", "‘": "'",
    "“": '"', "”": '"', "·": "-", "•": "-", "√": "sqrt", "\u00a0": " ", "\u202f": " ", "\u2009": " ",
}  # fmt: skip
"""How characters that Standout prints are written where the encoding lacks them."""


class _Output(io.FileIO):
    """Standard output that remembers why it could not be written, and takes nothing more then."""

    failure: OSError | None = None

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data) or 0
        except BlockingIOError:
            raise
        except OSError as error:
            _Output.failure = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            raise


def set_up_output() -> None:
    """Print characters that the encoding of a stream lacks in another way instead of failing.

    Names of files that are not valid text are shown with escapes.
    """
    codecs.register_error("standout", _replaced)
    real = sys.__stdout__
    if real is not None and sys.stdout is real:
        raw = io.BufferedWriter(_Output(real.fileno(), "wb", closefd=False))
        sys.stdout = io.TextIOWrapper(raw, real.encoding, line_buffering=real.line_buffering)
    if sys.stderr is None:  # it is closed: errors have no reader, and the exit code says enough
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  (it stays open)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="standout")


def printing_error() -> str | None:
    """Write what is still to be printed; return why something could not be printed, None if all was.

    The reason is empty if the reader has closed a pipe: it wants no more.
    """
    with suppress(OSError):
        sys.stdout.flush()
    error = _Output.failure
    if error is None:
        return None
    return "" if error.errno == errno.EPIPE else f"standard output cannot be written: {error.strerror}"


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    """Text in place of the characters that cannot be written."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    texts = (PLAIN.get(letter) or letter.encode("ascii", "backslashreplace").decode() for letter in lacking)
    return "".join(texts), error.end
