"""Utility of a sanitized table: marginals, associations, information, and a prediction task."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields

import polars as pl

from standout._version import __version__
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.data_utility.table_associations import AssociationChange, association_change
from standout.data_utility.table_columns import ColumnUtility, column_utilities
from standout.data_utility.table_prediction import INSTALL, Prediction, default_target, predict_target
from standout.evaluate.estimates import Estimate
from standout.evaluate.result_table import TableResult
from standout.tables.model import SanitizedTable

__all__ = ["TableUtility", "table_utility"]

SCHEMA = {
    "steps": pl.String,
    "column": pl.String,
    "measure": pl.String,
    "estimate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "baseline": pl.Float64,
    "seed": pl.Int64,
    "fingerprint": pl.String,
    "version": pl.String,
}


@dataclass(frozen=True, eq=False, slots=True)
class TableUtility(TableResult):
    """Utility of a sanitized table compared with its original; see `standout.utility`.

    Counts over the whole table have no interval. docs/tables.md defines each measure.

    Attributes
    ----------
    steps
        Steps that the table was made with, as text.
    kept
        Share of the utility that is left: the same as `information_kept`.
    information_kept
        Share of the original's information that the release shows, in bits, summed over columns: 1 for the
        untouched table.
    cells_kept
        Share of the original's known cells that the release shows unchanged.
    rows_kept
        Share of the original's rows that are in the release.
    marginal_change
        Mean over columns of the total variation distance between released and original marginals.
    largest_marginal_change
        The largest of them.
    association_change
        Mean over pairs of columns of the absolute change of their association. Baseline: no association is
        left. None with fewer than two columns.
    largest_association_change
        The largest of them.
    accuracy
        Share of held-out people whose target a model of the release predicts. Baseline: the commonest class.
        None if the task was not run: `prediction_note` says why.
    accuracy_before
        The same for a model of the original.
    accuracy_loss
        accuracy_before − accuracy.
    kept_accuracy
        Share of the original's gain over the baseline that is left.
    columns
        What is left of each column.
    association_pair
        Pair of columns whose association changed most.
    prediction
        Target, number of classes and of training rows, and the estimates above.
    prediction_note
        Why there is no prediction; empty if there is one.
    seed, fingerprint
        Seed, and fingerprint of the original.

    Examples
    --------
    >>> import polars as pl, standout as so
    >>> table = so.read_table(pl.DataFrame({"age": [31, 34, 36, 39], "sex": ["f", "m", "m", "f"]}), id=False)
    >>> so.utility(table, "round:age=10")
    <TableUtility: round:age=10; 67% of the information kept>
    """

    steps: tuple[str, ...]
    kept: Estimate
    information_kept: Estimate
    cells_kept: Estimate
    rows_kept: Estimate
    marginal_change: Estimate
    largest_marginal_change: Estimate
    association_change: Estimate | None
    largest_association_change: Estimate | None
    accuracy: Estimate | None
    accuracy_before: Estimate | None
    accuracy_loss: Estimate | None
    kept_accuracy: Estimate | None
    columns: tuple[ColumnUtility, ...]
    association_pair: tuple[str, str] | None
    prediction: Prediction | None
    prediction_note: str
    seed: int
    fingerprint: str

    def measures(self) -> Iterator[tuple[str, Estimate]]:
        """Name and estimate of every measure that is not None.

        Yields
        ------
        tuple of str and Estimate
            Name of the attribute, and its estimate.
        """
        for field in fields(self):
            measure = getattr(self, field.name)
            if isinstance(measure, Estimate):
                yield field.name, measure

    @property
    def table(self) -> pl.DataFrame:
        """Table with one row per measure, and with one per column and measure."""
        rows = [self._row(None, name, estimate) for name, estimate in self.measures()]
        rows += [self._row(*row) for column in self.columns for row in _column_rows(column)]
        return pl.DataFrame(rows, schema=SCHEMA, orient="row")

    def _row(self, column: str | None, measure: str, estimate: Estimate) -> tuple[object, ...]:
        interval = _finite(estimate.low), _finite(estimate.high)
        context = self.seed, self.fingerprint, __version__
        steps = " + ".join(self.steps)
        return steps, column, measure, estimate.value, *interval, estimate.n, estimate.baseline, *context

    def __repr__(self) -> str:
        steps = " + ".join(self.steps) or "untouched"
        return f"<TableUtility: {steps}; {self.kept.value:.0%} of the information kept>"


def _column_rows(column: ColumnUtility) -> Iterator[tuple[str, str, Estimate]]:
    numbers = {
        "marginal_change": column.marginal_change,
        "cells_kept": column.cells_kept / max(column.cells, 1),
        "bits_before": column.bits_before,
        "bits_kept": column.bits_kept,
    }
    for measure, number in numbers.items():
        yield column.name, measure, _exact(number, column.cells)


def table_utility(
    safer: SanitizedTable,
    target: str | None = None,
    people: int = 1000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> TableUtility:
    """Measure what a sanitized table is still good for; see `standout.utility`."""
    columns = column_utilities(safer)
    progress("measuring utility", 1, 3)
    associations = association_change(safer, seed)
    progress("measuring utility", 2, 3)
    prediction, note = _prediction(safer, target, people, seed)
    marginals = [column.marginal_change for column in columns]
    rows = safer.original.n_rows
    cells = sum(column.cells for column in columns)
    bits = sum(column.bits_before for column in columns)
    information = sum(column.bits_kept for column in columns) / bits if bits else 1.0
    return TableUtility(
        steps=tuple(report.step for report in safer.step_reports),
        kept=_exact(information, rows, 0.0),
        information_kept=_exact(information, rows, 0.0),
        cells_kept=_exact(sum(column.cells_kept for column in columns) / max(cells, 1), cells, 0.0),
        rows_kept=_exact(safer.n_rows / rows, rows, 0.0),
        marginal_change=_exact(sum(marginals) / len(marginals), rows),
        largest_marginal_change=_exact(max(marginals), rows),
        association_change=None if associations is None else associations.mean,
        largest_association_change=None if associations is None else associations.largest,
        accuracy=None if prediction is None else prediction.accuracy,
        accuracy_before=None if prediction is None else prediction.accuracy_before,
        accuracy_loss=None if prediction is None else prediction.accuracy_loss,
        kept_accuracy=None if prediction is None else prediction.kept,
        columns=columns,
        association_pair=_pair(associations),
        prediction=prediction,
        prediction_note=note,
        seed=seed,
        fingerprint=safer.original.fingerprint,
    )


def _pair(associations: AssociationChange | None) -> tuple[str, str] | None:
    return None if associations is None else associations.pair


def _prediction(
    safer: SanitizedTable, target: str | None, people: int, seed: int
) -> tuple[Prediction | None, str]:
    """The prediction task, or why it was not run."""
    name = default_target(safer) if target is None else target
    if name is None:
        return None, "the table has no released sensitive column: name the target of the prediction task"
    try:
        prediction = predict_target(safer, name, people, seed)
    except ParameterError as error:
        if target is not None and not str(error).startswith(INSTALL):
            raise
        return None, str(error)
    return prediction, "" if prediction else f"too few rows have different values of {name!r} to learn from"


def _exact(value: float, n: int, baseline: float | None = None) -> Estimate:
    """A count over the whole table: it has no interval."""
    return Estimate(value, math.nan, math.nan, n, baseline)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
