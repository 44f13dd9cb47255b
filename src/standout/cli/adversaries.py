"""The options that say who the adversary is, shared by every command that has one."""

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from standout.core.errors import ParameterError

if TYPE_CHECKING:
    from standout.adversary import Adversary

__all__ = ["adversary_of", "adversary_options", "counts_of", "number_of"]

option = functools.partial(click.option, show_default=True)
OPTIONS = [
    option("--knows", default=8, help="How many facts are known."),
    option("--wrong", default=0, help="How many of them are wrong."),
    option(
        "--wrong-facts", type=click.Choice(["values", "items", "any items"]), default="values",
        help="A wrong fact is a wrong value and date, or an item that is not there (by popularity, or any).",
    ),
    option("--value-error", default="1", metavar="E|none", help="Values are right to within E."),
    option("--time-error", default="14", metavar="DAYS|none", help="Dates are right to within so many days."),
    option(
        "--items", default="any",
        help="Which items: any, rarest, popular, recent, burst, or outside-top-500.",
    ),
    option("--length-error", type=float, metavar="SHARE", help="The record's length is known to this."),
    option("--joined-error", type=float, metavar="DAYS", help="Its first date is known to so many days."),
]  # fmt: skip


def adversary_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; the command gets them by name."""
    for one in reversed(OPTIONS):
        command = one(command)
    return command


def adversary_of(**said: Any) -> "Adversary":
    """The adversary that the options describe."""
    from standout.adversary import Adversary, outside_top

    top = re.fullmatch(r"outside[-_]top[-_(]?(\d+)\)?", said["items"])
    items = outside_top(int(top[1])) if top else said["items"]
    errors = {name: number_of(name, said[name]) for name in ("value_error", "time_error")}
    return Adversary(**{**said, **errors, "items": items})


def number_of(name: str, text: str) -> float | None:
    """A number as it is written, or None for none."""
    if text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"--{name.replace('_', '-')} must be a number or none, got {text!r}") from None


def counts_of(name: str, text: str | None) -> list[int] | None:
    """Whole numbers as they are written: 4, or 2,4,8, or 2-10."""
    if text is None:
        return None
    ends = re.fullmatch(r"(\d+)-(\d+)", text.strip())
    try:
        found = range(int(ends[1]), int(ends[2]) + 1) if ends else map(int, text.split(","))
        return list(found)
    except ValueError:
        raise ParameterError(f"{name} must be like 4, 2,4,8 or 2-10, got {text!r}") from None
