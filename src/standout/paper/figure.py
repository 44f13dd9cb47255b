"""A figure of the paper: how it is made and drawn, and what is said of it (in data/words.toml)."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from standout.paper.attack_runner import Lab
from standout.paper.paper_results import Setting
from standout.paper.rows import Row
from standout.report.charts import Axis, Point

__all__ = ["Figure", "Result", "said"]

NAMES = {"table": "Table", "sp10": "Figure 10 of 2008", "imdb": "Profiles"}


@cache
def said() -> dict[str, Any]:
    """What is said of the figures, by name."""
    return tomllib.loads((files("standout.paper") / "data" / "words.toml").read_text(encoding="utf-8"))


class Result(NamedTuple):
    """What a figure gives: numbers beside the paper's, points of curves, what is to be said of this run."""

    rows: tuple[Row, ...]
    points: tuple[Point, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A figure of the paper: how it is made and drawn.

    look       bars, columns or curves; quiet: the curves that ours are held against
    attacks    whether it is about attacks: numbers that a stand-in was not calibrated on
    settings   the attacks that it shows; absent: whether also on targets who are not there
    cost       about how many seconds it takes at the paper's size, without its attacks
    """

    key: str
    make: Callable[[Lab], Result]
    axes: tuple[Axis, ...]
    look: str = "bars"
    quiet: tuple[str, ...] = ()
    attacks: bool = True
    settings: tuple[Setting, ...] = ()
    absent: bool = False
    cost: float = 0.0

    @property
    def name(self) -> str:
        return NAMES.get(self.key, f"Figure {self.key}")

    @property
    def number_2008(self) -> str:
        """Its number in the proceedings of 2008; empty if it has none."""
        return str(said()["figures"][self.key]["number_2008"])

    @property
    def number(self) -> str:
        """Its number in both versions."""
        if self.key == "imdb":
            return "Told in words in the section on IMDb, in both versions"
        if self.key == "sp10":
            return "Figure 10 of 2008; it is not in the version of 2007"
        if self.key == "table":
            return "The table of the appendix “Marginals” of 2007, in section 5 of 2008"
        other = f"Figure {self.number_2008} of 2008" if self.number_2008 else "not in the version of 2008"
        return f"{self.name} of 2007, {other}"

    @property
    def title(self) -> str:
        return str(said()["figures"][self.key]["title"])

    @property
    def says(self) -> str:
        return str(said()["figures"][self.key]["says"]).strip()

    @property
    def left_open(self) -> tuple[str, ...]:
        """Settings that the paper leaves open, and what is taken here."""
        notes = said()["notes"]
        return tuple(notes[name].strip() for name in said()["figures"][self.key]["left_open"])
