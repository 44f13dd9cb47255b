"""The options that say how public data are read: those of a source, with a prefix."""

import functools
from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from standout.cli.sources import Settings

__all__ = ["public_options"]

PREFIX = "public_"
OPTIONS = [
    click.option("--public-record", metavar="COLUMN", help="Column of the person in PUBLIC."),
    click.option("--public-item", metavar="COLUMN", multiple=True, help="Column of the item in PUBLIC."),
    click.option("--public-value", metavar="COLUMN", help="Column of the value in PUBLIC."),
    click.option("--public-no-value", is_flag=True, help="Leave PUBLIC's values out."),
    click.option("--public-time", metavar="COLUMN", help="Column of the time in PUBLIC."),
    click.option("--public-no-time", is_flag=True, help="Leave PUBLIC's times out."),
    click.option("--public-titles", metavar="FILE", help="Titles of PUBLIC's items."),
    click.option("--public-separator", metavar="TEXT", help="Separator of PUBLIC; \\t is a tab."),
    click.option("--public-encoding", metavar="NAME", help="Encoding of PUBLIC."),
    click.option("--public-time-format", metavar="FORMAT", help="How PUBLIC writes times, as --time-format."),
    click.option("--public-max-rejects", metavar="N|SHARE", help="How many rows of PUBLIC may be unusable."),
]


def public_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options that say how PUBLIC is read; the command gets them as `public_settings`."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        context = click.get_current_context()
        chosen = {name: given.pop(name) for name in list(given) if name.startswith(PREFIX)}
        said = [name for name in chosen if context.get_parameter_source(name) is not ParameterSource.DEFAULT]
        command(public_settings=_settings({name: chosen[name] for name in said}), **given)

    for option in reversed(OPTIONS):
        run = option(run)
    return run


def _settings(given: dict[str, Any]) -> Settings:
    said = tuple(name.replace("_", "-") for name in given)
    options = {name.removeprefix(PREFIX): value for name, value in given.items()}
    titles = options.pop("titles", None)
    for role in ("value", "time"):
        if options.pop(f"no_{role}", False):
            options[role] = False
    if "separator" in options:
        options["separator"] = options["separator"].replace("\\t", "\t")
    return Settings(options, said, titles, None)
