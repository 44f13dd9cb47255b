"""Options that describe the adversary."""

import functools
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import click

from standout.cli.common_options import parse_number_or_none
from standout.cli.option_groups import ADVERSARY, grouped_option
from standout.cli.source_options import Command

if TYPE_CHECKING:
    from standout.adversary import Adversary

__all__ = ["AdversaryOptions", "adversary_options"]

option = functools.partial(grouped_option, ADVERSARY, show_default=True)
OPTIONS = [
    option("--knows", default=8, metavar="N", help="Number of known facts."),
    option("--wrong", default=0, metavar="N", help="Number of known facts that are wrong."),
    option(
        "--wrong-facts",
        type=click.Choice(["values", "items", "any items"]),
        default="values",
        help="What is wrong: the value and date; an item that the target does not have, "
        "chosen by popularity; or any such item.",
    ),
    option("--value-error", default="1", metavar="E|none", help="Error of known values; none: unknown."),
    option(
        "--time-error",
        default="14",
        metavar="DAYS|none",
        help="Error of known dates; none: unknown.",
    ),
    option(
        "--items",
        default="any",
        metavar="NAME",
        help="Which items are known: any, rarest, popular, recent, burst, or outside-top-500 (or another "
        "number).",
    ),
    option(
        "--length-error",
        type=float,
        metavar="SHARE",
        help="Relative error of the known record length.",
        show_default="unknown",
    ),
    option(
        "--joined-error",
        type=float,
        metavar="DAYS",
        help="Error of the known first date.",
        show_default="unknown",
    ),
]


@dataclass(frozen=True, slots=True)
class AdversaryOptions:
    """The options as typed."""

    knows: int
    wrong: int
    wrong_facts: Literal["values", "items", "any items"]
    value_error: str
    time_error: str
    items: str
    length_error: float | None
    joined_error: float | None

    def adversary(self) -> "Adversary":
        """Return the adversary that the options describe."""
        from standout.adversary import Adversary, outside_top

        top = re.fullmatch(r"outside[-_]top[-_(]?(\d+)\)?", self.items)
        return Adversary(
            knows=self.knows,
            wrong=self.wrong,
            wrong_facts=self.wrong_facts,
            value_error=parse_number_or_none("--value-error", self.value_error),
            time_error=parse_number_or_none("--time-error", self.time_error),
            items=outside_top(int(top[1])) if top else self.items,
            length_error=self.length_error,
            joined_error=self.joined_error,
        )


def adversary_options(command: Command) -> Command:
    """Add the options to a command, which receives them as `adversary`."""

    @functools.wraps(command)
    def run(**parameters: Any) -> None:
        values = {field.name: parameters.pop(field.name) for field in fields(AdversaryOptions)}
        command(adversary=AdversaryOptions(**values), **parameters)

    for add_option in reversed(OPTIONS):
        run = add_option(run)
    return run
