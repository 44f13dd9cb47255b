"""The command `standout`: a group of the commands in `standout.cli.commands`, its errors, and standard output."""

import codecs
import errno
import io
import os
import sys
import traceback
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

import click

from standout._version import __version__
from standout.cli import commands
from standout.cli.console import VERBOSE, print_line, print_warning
from standout.cli.error_lines import ARGUMENTS, ERROR, error_line
from standout.cli.options import option
from standout.core.errors import StandoutError
from standout.core.files import PUBLISHED

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

HELP_WIDTH, UNCUT = 80, 10_000
CLOSED = "standard output is closed: redirect it to a file or to /dev/null"
PLAIN = {
    "–": "-", "—": "-", "−": "-", "‑": "-", "…": "...", "×": "x", "≤": "<=", "≥": ">=", "≈": "~", "±": "+-",
    "≠": "!=", "→": "->", "φ": "phi", "θ": "theta", "ε": "epsilon", "σ": "sigma", "’": "'", "‘": "'",
    "“": '"', "”": '"', "·": "-", "•": "-", "√": "sqrt", "\u00a0": " ", "\u202f": " ", "\u2009": " "
}  # fmt: skip
"""How characters that Standout prints are written where the encoding lacks them."""


class _Group(click.Group):
    """A group that keeps the arguments as they were typed, and shows whole summaries."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their whole summaries; click would cut them to one line."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(UNCUT)) for name, each in sorted(self.commands.items())])


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": HELP_WIDTH})
@click.version_option(__version__, prog_name="standout")
@option("--debug", "", "Show where an unexpected error comes from.")
@option("--verbose", "", "Show in detail how the data was read.")
@click.pass_context
def cli(context: click.Context, debug: bool, verbose: bool) -> None:
    """Measure how many people can be identified in anonymised data.

    Standout audits a data set before it is published: histories (ratings,
    purchases, check-ins) or a table (a survey, a register). It implements the
    paper "Robust De-anonymization of Large Datasets" by Narayanan and Shmatikov
    (2008). Use it on data that you are entitled to publish or study.

    \b
    Example:
      standout demo
      standout audit ratings.csv --quick

    \b
    Exit codes of all commands:
      0  success
      1  an error, explained in one line
      2  wrong usage
      3  interrupted: the results so far are printed or saved; or another process
         builds the same index: run the command again
      70 an error of Standout itself: please report it
    Some commands have further codes: see their help.
    """
    context.meta[VERBOSE] = verbose


@cli.result_callback()
@click.pass_context
def end(context: click.Context, /, code: int | None, **_: Any) -> None:
    """End with the code that the command returns, also where click runs the group by itself: a gate must fail."""
    context.exit(code or 0)


for file in iter_modules(commands.__path__):
    for each in vars(import_module(f"{commands.__name__}.{file.name}")).values():
        if isinstance(each, click.Command):
            cli.add_command(each)


def run() -> int:
    """Run the command line; returns the exit code. An error is one line, and code 1 unless it is a bug."""
    PUBLISHED.clear()  # of an earlier run in this process
    warnings.showwarning = lambda message, *place: print_warning(message)
    _set_up_output()
    if sys.stdout is None:
        print_line(f"standout: {CLOSED}", err=True)
        return ERROR
    code: Any
    try:
        code = cli(prog_name="standout", standalone_mode=False)
    except SystemExit as stop:
        code = stop.code
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        text, code = io.StringIO(), error.exit_code  # click repeats arguments, which may be names of files
        error.show(text)
        print_line(*text.getvalue().splitlines(), err=True)
    except Exception as error:
        code = ERROR
        if not isinstance(error, OSError) or _printing_error() is None:
            if "--debug" in sys.argv[1:] and not isinstance(error, StandoutError):
                print_line(*"".join(traceback.format_exception(error)).splitlines(), err=True)
            line, code = error_line(error)
            print_line(f"standout: {line}", err=True)
    code = code if isinstance(code, int) else int(code is not None)
    failure = _printing_error()
    if failure:
        print_line(f"standout: {failure}", err=True)
    return code if failure is None else code or ERROR


# Standard output that cannot take every character, is full, or is closed.


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


def _set_up_output() -> None:
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


def _printing_error() -> str | None:
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
