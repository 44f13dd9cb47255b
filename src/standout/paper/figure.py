"""A figure of the paper: how it is computed and drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from standout.paper.attack_runner import AttackRunner
from standout.paper.comparison_rows import ComparisonRow, Setting
from standout.paper.sentences import FigureText, figure_text
from standout.report.charts import Axis, Point

__all__ = ["Figure", "FigureResult"]

NAMES = {"table": "Table", "sp10": "Figure 10 of 2008", "imdb": "Profiles"}


class FigureResult(NamedTuple):
    """The result of a figure: numbers compared with the paper's, points of curves, notes on this run."""

    rows: tuple[ComparisonRow, ...]
    points: tuple[Point, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A figure of the paper.

    key                1 to 12, table, sp10 or imdb
    reference_series   the curves that ours are compared with
    attacks            whether it shows attacks, on whose success the stand-in was not calibrated
    settings, absent   the attacks that it shows; whether they are also run on absent targets
    seconds            approximate time at the paper's size, without the attacks

    Figures of bars run every attack twice: that of the paper, and the Bayesian one.
    """

    key: str
    compute: Callable[[AttackRunner], FigureResult]
    axes: tuple[Axis, ...]
    chart: Literal["bars", "columns", "curves"] = "bars"
    reference_series: tuple[str, ...] = ()
    attacks: bool = True
    settings: tuple[Setting, ...] = ()
    absent: bool = False
    seconds: float = 0.0

    @property
    def attacks_per_setting(self) -> int:
        """How many attacks are run for each setting."""
        return 2 if self.chart == "bars" else 1

    @property
    def name(self) -> str:
        """The name of the figure, like "Figure 1"."""
        return NAMES.get(self.key, f"Figure {self.key}")

    @property
    def number(self) -> str:
        """The figure's number in both versions of the paper."""
        return self.text.number(self.key)

    @property
    def number_2008(self) -> str:
        """The figure's number in the proceedings of 2008; empty if it is not there."""
        return self.text.number_2008

    @property
    def title(self) -> str:
        """The title of the figure."""
        return self.text.title

    @property
    def text(self) -> FigureText:
        """All texts of the figure."""
        return figure_text(self.key)
