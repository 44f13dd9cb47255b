"""The command `standout`: a group of the commands in `standout.cli.commands`, and its errors."""

import io
import sys
import traceback
import warnings
from typing import Any

import click

from standout._version import __version__
from standout.cli.commands.advise import advise
from standout.cli.commands.audit import audit
from standout.cli.commands.bounds import bounds
from standout.cli.commands.demo import demo
from standout.cli.commands.describe import describe
from standout.cli.commands.explore import explore
from standout.cli.commands.index import index
from standout.cli.commands.lineup import lineup
from standout.cli.commands.link import link
from standout.cli.commands.paper import paper
from standout.cli.commands.sanitize import sanitize
from standout.cli.commands.schema import schema
from standout.cli.commands.simulate import simulate
from standout.cli.commands.sparsity import sparsity
from standout.cli.commands.synthesize import synthesize
from standout.cli.commands.unicity import unicity
from standout.cli.commands.verify import verify
from standout.cli.console import print_line, print_warning
from standout.cli.error_lines import (
    CLOSED,
    ERROR,
    as_options,
    error_line,
    keep_arguments,
    option_names,
    printing_error,
    set_up_output,
    with_option_name,
)
from standout.cli.option_groups import format_commands, option
from standout.core import threads as bus_errors
from standout.core.errors import ParameterError, StandoutError

__all__ = ["cli", "run"]

HELP_WIDTH = 80
COMMANDS: tuple[click.Command, ...] = (
    advise,
    audit,
    bounds,
    demo,
    describe,
    explore,
    index,
    lineup,
    link,
    paper,
    sanitize,
    schema,
    simulate,
    sparsity,
    synthesize,
    unicity,
    verify,
)


class _Group(click.Group):
    """A group whose parameter errors name the options of the command that was run."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        keep_arguments(ctx, args)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        format_commands(self, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:  # click would print an empty line
            raise click.Abort from error
        except EOFError as error:  # click would take it for Ctrl-D
            raise StandoutError("a file ends too early: check that it is complete") from error
        except StandoutError as error:
            command = self.commands.get(ctx.invoked_subcommand or "", self)
            named = with_option_name(error, option_names(command)) if isinstance(error, ParameterError) else error
            named.args = (as_options(str(named), _options(command)), *named.args[1:])
            raise named from error.__cause__ if named is error else error


def _options(command: click.Command) -> list[str]:
    return [
        name
        for parameter in command.params
        if not getattr(parameter, "hidden", False)
        for name in (*parameter.opts, *parameter.secondary_opts)
    ]


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": HELP_WIDTH})
@click.version_option(__version__, prog_name="standout")
@option("--debug", "", "Show where an unexpected error comes from.", is_flag=True)
def cli(debug: bool) -> None:
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
         builds the same index, or cut it during the work: run the command again
      70 an error of Standout itself: please report it
    Some commands have further codes: see their help.
    """


for command in COMMANDS:
    cli.add_command(command)


def run() -> int:
    """Run the command line; returns the exit code. An error is one line, and code 1 unless it is a bug."""
    bus_errors.allow()
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    set_up_output()
    if sys.stdout is None:
        print_line(f"standout: {CLOSED}", err=True)
        return ERROR
    try:
        code = _run()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    failure = printing_error()
    if failure:
        print_line(f"standout: {failure}", err=True)
    return code if failure is None else code or ERROR


def _run() -> int:
    try:
        code = cli(prog_name="standout", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        print_line(*_usage_lines(error), err=True)
        return error.exit_code
    except Exception as error:
        if isinstance(error, OSError) and printing_error() is not None:
            return ERROR
        if "--debug" in sys.argv[1:] and not isinstance(error, StandoutError):
            print_line(*"".join(traceback.format_exception(error)).splitlines(), err=True)
        line, code = error_line(error)
        print_line(f"standout: {line}", err=True)
        return code


def _usage_lines(error: click.ClickException) -> list[str]:
    """What click says about wrong usage. It repeats arguments, which may be names of files."""
    text = io.StringIO()
    error.show(text)
    return text.getvalue().splitlines()


def _show_warning(message: Warning | str, *place: Any) -> None:
    """Show a warning in one line, without the place in the code."""
    print_warning(message)
