"""The result of a reproduction: figures, readings, and all numbers as one table."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from standout.data.release import Release
from standout.paper.comparison_rows import ComparisonRow, is_small_standin
from standout.paper.figure import Figure, FigureResult
from standout.paper.figures import FIGURES
from standout.paper.readings import Fit, Reading, fits
from standout.paper.sentences import stronger_attack, summary

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Reproduction"]


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction:
    """The figures and tables of the paper on one release, returned by `so.reproduce`.

    Parameters
    ----------
    folder
        Folder with the page and all files.
    release
        The release on which the attacks ran.
    targets, seed
        Number of targets for each bar, and the seed.
    results
        The computed figures by key.
    readings
        The same numbers in other interpretations of the paper's text.
    complete
        False if the run was interrupted; the same call resumes it.
    """

    folder: Path
    release: Release
    targets: int
    seed: int
    results: dict[str, FigureResult]
    readings: tuple[Reading, ...]
    complete: bool

    def __repr__(self) -> str:
        interrupted = "" if self.complete else ", interrupted"
        return f"<Reproduction: {len(self.results)} figures on {self.release.n_records:,} records{interrupted}>"

    @property
    def page(self) -> Path:
        """Path of the page that shows everything."""
        return self.folder / "index.html"

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The computed figures, in the order of the paper."""
        return tuple(figure for figure in FIGURES if figure.key in self.results)

    @property
    def compared_with_full_size(self) -> bool:
        """Whether the numbers are compared with our own at full size, because the stand-in is smaller."""
        return is_small_standin(self.release)

    @property
    def fits(self) -> tuple[Fit, ...]:
        """How well each reading fits the paper; none for a smaller stand-in, which cannot decide it."""
        return () if self.compared_with_full_size else fits(self.readings)

    @property
    def rows(self) -> list[tuple[Figure, ComparisonRow]]:
        """Every number with its figure."""
        return [(figure, row) for figure in self.figures for row in self.results[figure.key].rows]

    @property
    def table(self) -> "pl.DataFrame":
        """Every number compared with the paper's, one row each: the content of validation.csv.

        Columns: figure, figure_2008, kind (attack or data), panel, label, measure, unit, paper, measured, low
        and high (the 95 % interval), n (our targets), spread (standard deviation between them), paper_targets
        (estimated), too_few_items, difference, sampling_error (largest difference that it explains),
        within_sampling_error, within_goal (0.10 or 1 bit), note; likelihood, likelihood_low and
        likelihood_high: what the Bayesian attack reaches with the same facts about the same targets;
        full_size, full_size_low and full_size_high: our own result at full size. If there is one, it is what
        difference and the columns after it compare with, otherwise the paper's number is.
        """
        import polars as pl

        return pl.DataFrame([_table_row(figure, row) for figure, row in self.rows], schema=_columns(), orient="row")

    @property
    def summary(self) -> str:
        """How close the attacks come to the paper, in one sentence."""
        rows = [row for figure, row in self.rows if figure.attacks and row.within_goal is not None]
        return summary(rows, self.compared_with_full_size)

    @property
    def stronger_attack(self) -> str:
        """How much more the Bayesian attack reaches, in one sentence; empty if no attack was run."""
        return stronger_attack([row for _, row in self.rows if row.likelihood is not None])


def _columns() -> "dict[str, type[pl.DataType]]":
    import polars as pl

    return {
        "figure": pl.String,
        "figure_2008": pl.String,
        "kind": pl.String,
        "panel": pl.String,
        "label": pl.String,
        "measure": pl.String,
        "unit": pl.String,
        "paper": pl.Float64,
        "measured": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "n": pl.Int64,
        "spread": pl.Float64,
        "paper_targets": pl.Int64,
        "too_few_items": pl.Int64,
        "difference": pl.Float64,
        "sampling_error": pl.Float64,
        "within_sampling_error": pl.Boolean,
        "within_goal": pl.Boolean,
        "note": pl.String,
        "likelihood": pl.Float64,
        "likelihood_low": pl.Float64,
        "likelihood_high": pl.Float64,
        "full_size": pl.Float64,
        "full_size_low": pl.Float64,
        "full_size_high": pl.Float64,
    }


def _table_row(figure: Figure, row: ComparisonRow) -> tuple[Any, ...]:
    kind = "attack" if figure.attacks else "data"
    full = row.full_size
    ends = (None, None, None) if full is None else (full.value, full.low, full.high)
    own = (getattr(row, column) for column in [*_columns()][3:-3])
    return figure.key, figure.number_2008, kind, *own, *ends
