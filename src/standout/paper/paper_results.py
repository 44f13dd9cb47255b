"""The paper's own numbers: its bars and its curve of nearest neighbours.

Bars are read off the figures of the 2008 version, to about ± 0.003. What is published of the data itself,
which the stand-in is calibrated on, is in `standout.synthetic.published_statistics`.
"""

import csv
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from standout.adversary import Adversary, WrongFacts, outside_top

__all__ = ["PEOPLE", "READ_OFF", "TRIES", "Bar", "Setting", "bars", "neighbours"]

TRIES = 150
"""Targets for each of the paper's bars: it had about 100 to 200."""
READ_OFF = 0.003
"""How exactly a bar's height is known."""
PEOPLE = 480_189
WRONG: dict[str, WrongFacts] = {"items": "items", "any items": "any items"}


class Setting(NamedTuple):
    """Who attacks: `right` of `known` facts are right, and how well they are known."""

    right: int
    known: int
    value_error: float
    time_error: float | None
    outside_top: int | None
    length_error: float | None
    wrong_facts: WrongFacts

    @property
    def adversary(self) -> Adversary:
        return Adversary(
            knows=self.known,
            wrong=self.known - self.right,
            wrong_facts=self.wrong_facts,
            value_error=self.value_error,
            time_error=self.time_error,
            items="any" if self.outside_top is None else outside_top(self.outside_top),
            length_error=self.length_error,
        )

    @property
    def facts(self) -> str:
        """As the paper has it: 2, or 6 of 8."""
        return f"{self.right} of {self.known}" if self.right < self.known else str(self.known)

    @property
    def dates(self) -> str:
        return "no dates" if self.time_error is None else f"dates ± {self.time_error:g} days"

    @property
    def films(self) -> str:
        return "any films" if self.outside_top is None else f"films outside the top {self.outside_top}"


class Bar(NamedTuple):
    """A bar of a figure: what it shows, of which attack, and how high it is."""

    figure: str
    measure: str
    setting: Setting
    paper: float


@cache
def bars(figure: str) -> tuple[Bar, ...]:
    """The bars of a figure, in its order.

    >>> bars("1")[0].paper, bars("1")[0].setting.facts, bars("1")[0].setting.dates
    (0.436, '2', 'dates ± 14 days')
    """
    return tuple(_bar(row) for row in _rows("bars.csv") if row["figure"] == figure)


@cache
def neighbours() -> dict[str, tuple[tuple[float, float], ...]]:
    """Figure 12: by what is compared, (similarity, share of people with a neighbour at least so similar).

    >>> dict(neighbours()["sets"])[0.1], dict(neighbours()["ratings"])[0.1]
    (0.5, 0.314)
    """
    rows = list(_rows("neighbours.csv"))
    return {
        name: tuple((float(row["similarity"]), float(row[name])) for row in rows if row[name])
        for name in ("sets", "ratings")
    }


def _bar(row: dict[str, str]) -> Bar:
    setting = Setting(
        int(row["right"]),
        int(row["known"] or row["right"]),
        float(row["value_error"] or 0),
        _number(row["time_error"]),
        int(row["outside_top"]) if row["outside_top"] else None,
        _number(row["length_error"]),
        WRONG.get(row["wrong_facts"], "values"),
    )
    return Bar(row["figure"], row["measure"], setting, float(row["paper"]))


def _number(text: str) -> float | None:
    return float(text) if text else None


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (files("standout.paper") / "data" / name).open(encoding="utf-8") as file:
        yield from csv.DictReader(file)
