"""What came of a reproduction: results by figure, readings, and all numbers as one table."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from standout.paper.figure import Figure, Result
from standout.paper.figures import FIGURES
from standout.paper.readings import Fit, Reading, fits
from standout.paper.rows import Row
from standout.release.model import Release

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Reproduction"]


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction:
    """What came of it. `table` has every number, `readings` what else the paper's words may mean.

    `complete` is False if it was cut short: the same call goes on from there.
    """

    folder: Path
    release: Release
    targets: int
    seed: int
    results: dict[str, Result]
    readings: tuple[Reading, ...]
    complete: bool

    def __repr__(self) -> str:
        cut = "" if self.complete else ", cut short"
        return f"<Reproduction: {len(self.results)} figures on {self.release.n_records:,} records{cut}>"

    @property
    def page(self) -> Path:
        """The page that shows it."""
        return self.folder / "index.html"

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The figures that are done, in the paper's order."""
        return tuple(figure for figure in FIGURES if figure.key in self.results)

    @property
    def fits(self) -> tuple[Fit, ...]:
        """How well each reading fits."""
        return fits(self.readings)

    @property
    def rows(self) -> list[tuple[Figure, Row]]:
        return [(figure, row) for figure in self.figures for row in self.results[figure.key].rows]

    @property
    def table(self) -> "pl.DataFrame":
        """Every number beside the paper's: a row each."""
        import polars as pl

        rows = [_told(figure, row) for figure, row in self.rows]
        return pl.DataFrame(rows, schema=_columns(), orient="row")

    @property
    def summary(self) -> str:
        """In a sentence: how near the attacks come to the paper's."""
        rows = [row for figure, row in self.rows if figure.attacks and row.within_goal is not None]
        if not rows:
            return "No attack was tried."
        near, alike = (sum(map(bool, judged)) for judged in zip(*map(_judged, rows), strict=True))
        return (
            f"Of {len(rows)} numbers of attacks {near} lie within 0.10 or 1 bit of the paper's, and {alike} "
            "differ from them by no more than chance explains."
        )


def _judged(row: Row) -> tuple[bool | None, bool | None]:
    return row.within_goal, row.within_error


def _told(figure: Figure, row: Row) -> tuple[Any, ...]:
    return (
        figure.key, figure.number_2008, "attack" if figure.attacks else "data", row.panel, row.label,
        row.measure, row.unit, row.paper, row.ours, row.low, row.high, row.n, row.spread, row.tries,
        row.left_out, row.difference, row.allowed, row.within_error, row.within_goal, row.note,
    )  # fmt: skip


def _columns() -> Any:
    import polars as pl

    text, number, count, flag = pl.String, pl.Float64, pl.Int64, pl.Boolean
    return {
        "figure": text, "figure_2008": text, "about": text, "panel": text, "label": text, "measure": text,
        "unit": text, "paper": number, "ours": number, "low": number, "high": number, "n": count,
        "spread": number, "tries": count, "left_out": count, "difference": number, "allowed": number,
        "within_error": flag, "within_goal": flag, "note": text,
    }  # fmt: skip
