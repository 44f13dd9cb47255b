"""The options that say how a second data set is read: those of a source, with a prefix."""

import functools
from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from standout.cli.sources import Settings

__all__ = ["public_options", "second_options"]

Command = Callable[..., None]
OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "record": ("Column of the person in {}.", {"metavar": "COLUMN"}),
    "item": ("Column of the item in {}.", {"metavar": "COLUMN", "multiple": True}),
    "value": ("Column of the value in {}.", {"metavar": "COLUMN"}),
    "no-value": ("Leave {}'s values out.", {"is_flag": True}),
    "time": ("Column of the time in {}.", {"metavar": "COLUMN"}),
    "no-time": ("Leave {}'s times out.", {"is_flag": True}),
    "titles": ("Titles of {}'s items.", {"metavar": "FILE"}),
    "separator": ("Separator of {}; \\t is a tab.", {"metavar": "TEXT"}),
    "encoding": ("Encoding of {}.", {"metavar": "NAME"}),
    "time-format": ("How {} writes times, as --time-format.", {"metavar": "FORMAT"}),
    "max-rejects": ("How many rows of {} may be unusable.", {"metavar": "N|SHARE"}),
}


def second_options(prefix: str, name: str, command: Command) -> Command:
    """Adds the options that say how `name` is read; the command gets them as PREFIX_settings."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        context = click.get_current_context()
        chosen = {one: given.pop(one) for one in list(given) if one.startswith(f"{prefix}_")}
        said = [one for one in chosen if context.get_parameter_source(one) is not ParameterSource.DEFAULT]
        settings = _settings(prefix, {one: chosen[one] for one in said})
        command(**{f"{prefix}_settings": settings}, **given)

    for option, (words, kind) in reversed(OPTIONS.items()):
        run = click.option(f"--{prefix}-{option}", help=words.format(name), **kind)(run)
    return run


def public_options(command: Command) -> Command:
    """Adds the options that say how PUBLIC is read; the command gets them as `public_settings`."""
    return second_options("public", "PUBLIC", command)


def _settings(prefix: str, given: dict[str, Any]) -> Settings:
    said = tuple(name.replace("_", "-") for name in given)
    options = {name.removeprefix(f"{prefix}_"): value for name, value in given.items()}
    titles = options.pop("titles", None)
    for role in ("value", "time"):
        if options.pop(f"no_{role}", False):
            options[role] = False
    if "separator" in options:
        options["separator"] = options["separator"].replace("\\t", "\t")
    return Settings(options, said, titles, None)
