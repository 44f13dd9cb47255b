"""The numbers of the paper: its bars and its curves of nearest neighbours.

The bars are read off the figures of the 2008 version, to about ± 0.003. The published statistics of the data,
on which the stand-in is calibrated, are in `standout.synthetic.published_statistics`.
"""

import csv
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from standout.adversary import Adversary, WrongFacts, outside_top

__all__ = ["PEOPLE", "READ_OFF", "TARGETS", "Bar", "Setting", "bars", "neighbours"]

TARGETS = 150
"""Number of targets for each of the paper's bars, which is not stated exactly: 100 to 200."""
READ_OFF = 0.003
"""Precision to which the heights of bars are read off."""
PEOPLE = 480_189
WRONG: dict[str, WrongFacts] = {"items": "items", "any items": "any items"}


class Setting(NamedTuple):
    """An attack of the paper: `right` of the `known` facts are right, within these errors."""

    right: int
    known: int
    value_error: float
    time_error: float | None
    outside_top: int | None
    length_error: float | None
    wrong_facts: WrongFacts

    @property
    def adversary(self) -> Adversary:
        """The adversary of this attack."""
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
        """Number of facts as the paper writes it: "2" or "6 of 8"."""
        return f"{self.right} of {self.known}" if self.right < self.known else str(self.known)

    @property
    def dates(self) -> str:
        """How well dates are known, in words."""
        return "no dates" if self.time_error is None else f"dates ± {self.time_error:g} days"

    @property
    def films(self) -> str:
        """Which films are known, in words."""
        return "any films" if self.outside_top is None else f"films outside the top {self.outside_top}"


class Bar(NamedTuple):
    """A bar of a figure: its measure, its attack and its height."""

    figure: str
    measure: str
    setting: Setting
    paper: float


@cache
def bars(figure: str) -> tuple[Bar, ...]:
    """The bars of a figure, in the order of the figure.

    >>> bars("1")[0].paper, bars("1")[0].setting.facts, bars("1")[0].setting.dates
    (0.436, '2', 'dates ± 14 days')
    """
    return tuple(_bar(row) for row in _rows("bars.csv") if row["figure"] == figure)


@cache
def neighbours() -> dict[str, tuple[tuple[float, float], ...]]:
    """The curves of Figure 12, for sets of films and for films with equal ratings.

    A point is (similarity, share of people with a neighbour of at least this similarity).


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
        right=int(row["right"]),
        known=int(row["known"] or row["right"]),
        value_error=float(row["value_error"] or 0),
        time_error=_number(row["time_error"]),
        outside_top=int(row["outside_top"]) if row["outside_top"] else None,
        length_error=_number(row["length_error"]),
        wrong_facts=WRONG.get(row["wrong_facts"], "values"),
    )
    return Bar(row["figure"], row["measure"], setting, float(row["paper"]))


def _number(text: str) -> float | None:
    return float(text) if text else None


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (files("standout.paper") / "data" / name).open(encoding="utf-8") as file:
        yield from csv.DictReader(file)
