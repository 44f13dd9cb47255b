"""Errors about Python parameters, rewritten so that they name command line options."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import click

from standout.core.errors import ParameterError

__all__ = ["naming_options", "option_names", "with_option_name"]


def with_option_name(error: ParameterError, options: Mapping[str, str]) -> ParameterError:
    """Return the error with the parameter at the start of its message replaced by its option.

    >>> with_option_name(ParameterError("phi must be ≥ 0"), {"phi": "--phi"})
    ParameterError('--phi must be ≥ 0')
    """
    message = re.sub(r"^\w+(?= (?:must|is)\b)", lambda match: options.get(match[0], match[0]), str(error))
    return type(error)(message)


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
