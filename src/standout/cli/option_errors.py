"""Errors about Python parameters, rewritten so that they name command line options.

The library speaks of parameters, as they are written in Python: ``quote=''``, ``header=False``,
``separator=…`` if the value is open, and complete calls of ``so.read``. They become options and commands.
"""

import ast
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

import click

from standout.core.errors import ParameterError

__all__ = ["as_options", "naming_options", "option_names", "options_of_context", "with_option_name"]

OPEN = "…"
CALL = re.compile(r"so\.read(?:_table)?\(.*\)")
VALUE = r"""True|False|…|'[^'\\\n]*'|"[^"\\\n]*"|\d+(?:\.\d+)?(?![\w/])"""
PARAMETER = re.compile(rf"(?<![\w/.-])(?P<name>[a-z_]+)=(?P<value>{VALUE})")
PHRASES = {r"with so\.(?:read|open)\b": "without --table", r"\bso\.read_table\b(?!\()": "--table"}
"""What Python calls the reading of a history or a table."""


def with_option_name(error: ParameterError, options: Mapping[str, str]) -> ParameterError:
    """Return the error with the parameter at the start of its message replaced by its option.

    >>> with_option_name(ParameterError("phi must be ≥ 0"), {"phi": "--phi"})
    ParameterError('--phi must be ≥ 0')
    """
    message = re.sub(r"^\w+(?= (?:must|is)\b)", lambda match: options.get(match[0], match[0]), str(error))
    return type(error)(message)


def as_options(text: str, known: Collection[str], prefix: str = "") -> str:
    """Return a text in which parameters are written as the known options, and calls as commands.

    >>> known = ["--quote", "--header", "--no-header", "--public-quote"]
    >>> as_options("add quote='', or header=False; zip=1", known)
    "add --quote '', or --no-header; zip=1"
    >>> as_options("add quote=''", known, "public-")
    "add --public-quote ''"
    >>> as_options("For example: so.read('a b.csv', record=1)", [])
    "For example: standout audit 'a b.csv' --record 1"
    """

    def option(match: re.Match[str]) -> str:
        typed = _typed(match["name"], _value(match["value"]))
        longer = [typed[0].replace("--", f"--{prefix}", 1), *typed[1:]]
        return shlex.join(longer if longer[0] in known else typed) if typed[0] in known else match[0]

    text = CALL.sub(lambda match: _command(match[0]), text)
    text = PARAMETER.sub(option, text)
    for written, meant in PHRASES.items() if "--table" in known else ():
        text = re.sub(written, meant, text)
    return text


def _typed(name: str, value: object) -> list[str]:
    """A parameter as it is typed."""
    option = f"--{name}".replace("_", "-")
    if value is False:
        return [option.replace("--", "--no-", 1)]
    return [option] if value is True or value == OPEN else [option, str(value)]


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
        words += ["--table"] if parsed.func.attr == "read_table" else []
        for each in parsed.keywords:
            words += _typed(str(each.arg), ast.literal_eval(each.value))
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
