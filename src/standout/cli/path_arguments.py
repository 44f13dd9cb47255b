"""Arguments that are paths or URLs: shells complete the names of files for them."""

from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

__all__ = ["path_argument"]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def path_argument(name: str, **settings: Any) -> Callable[[Decorated], Decorated]:
    """`click.argument` for data, which is a text because it may also be a URL."""
    return click.argument(name, shell_complete=_files, **settings)


def _files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete names of files and folders."""
    return [CompletionItem(incomplete, type="file")]
