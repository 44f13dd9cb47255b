"""Utility of a candidate for a table: what its cells and the associations of its columns still say.

information    bits that a released cell says about the original one / bits of the original one, mean over
               all columns that vary; people who are left out say nothing
associations   1 − Σ |change of the association of two columns| / Σ association, over all pairs that are
               associated beyond what chance gives
kept           the smaller of the two, so that a change that either use would notice has a cost
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations

import numpy as np

from standout.core.arrays import Ints
from standout.core.rng import generator
from standout.data_utility.table_associations import association
from standout.data_utility.table_columns import ColumnUtility, column_utilities
from standout.evaluate.estimates import Estimate
from standout.tables.column import Column
from standout.tables.model import SanitizedTable, Table

__all__ = ["TableCandidateUtility", "TableUtilityBenchmark"]

SHUFFLES, CHANCE = 5, 2.0
"""A pair counts if its association exceeds twice the largest of 5 that shuffled rows have by chance."""


@dataclass(frozen=True, slots=True)
class TableCandidateUtility:
    """What is left of a table after the steps of a candidate.

    Attributes
    ----------
    kept : Estimate
        The smaller of `information` and `associations`.
    information : Estimate
        Share of the information in the cells; counted over the whole table.
    associations : Estimate or None
        Share of the associations of pairs of columns. It has no interval where a sample of the rows is used;
        None if no two columns are associated.
    rows_kept : Estimate
        Share of the rows.
    bits : Estimate
        Sum over all columns of the bits that a released cell says about the original one.
    """

    kept: Estimate
    information: Estimate
    associations: Estimate | None
    rows_kept: Estimate
    bits: Estimate

    def measures(self) -> Iterator[tuple[str, Estimate]]:
        """Name and estimate of every measure that is not None."""
        for field in fields(self):
            measure = getattr(self, field.name)
            if measure is not None:
                yield field.name, measure


@dataclass(eq=False)
class TableUtilityBenchmark:
    """The original, and the sample of its people on whom associations are compared."""

    table: Table
    rows: int
    seed: int

    def measure(self, safer: SanitizedTable) -> TableCandidateUtility:
        """Utility of a table that was made from the original."""
        columns, n = column_utilities(safer), self.table.n_rows
        information = _exact(_information(columns), n)
        associations = self._associations(safer)
        shares = [information] if associations is None else [information, associations]
        return TableCandidateUtility(
            kept=min(shares, key=lambda share: share.value),
            information=information,
            associations=associations,
            rows_kept=_exact(safer.n_rows / n, n),
            bits=_exact(math.fsum(column.bits_kept for column in columns), n),
        )

    def _associations(self, safer: SanitizedTable) -> Estimate | None:
        if not self._before:
            return None
        total, after = math.fsum(self._before.values()), self._after(safer)
        change = math.fsum(abs(after[pair] - before) for pair, before in self._before.items())
        value, n = max(1.0 - change / total, 0.0), len(self._people)
        return _exact(value, n) if n == self.table.n_rows else Estimate(value, math.nan, math.nan, n, 0.0)

    def _after(self, safer: SanitizedTable) -> dict[tuple[str, str], float]:
        """The association of each pair; only pairs with a changed column are computed."""
        is_used = np.zeros(self.table.n_rows, np.bool_)
        is_used[self._people] = True
        new = _columns(safer, np.flatnonzero(is_used[safer.original_row]))
        is_whole = safer.n_rows == self.table.n_rows
        same = {name for name in new if is_whole and name not in safer.channels}
        return {
            (a, b): before
            if a in same and b in same
            else association(new[a], new[b])
            if a in new and b in new
            else 0.0
            for (a, b), before in self._before.items()
        }

    @cached_property
    def _people(self) -> Ints:
        order = generator(self.seed, "advice", "association rows").permutation(self.table.n_rows)
        return np.sort(order[: self.rows])

    @cached_property
    def _before(self) -> dict[tuple[str, str], float]:
        """The association of each pair in the original, unless chance explains it."""
        old = _columns(self.table, self._people)
        draw, n = generator(self.seed, "advice", "shuffled rows"), len(self._people)
        orders = [draw.permutation(n) for _ in range(SHUFFLES)]
        shuffled = [{name: column.rows(order) for name, column in old.items()} for order in orders]
        before = {}
        for a, b in combinations(old, 2):
            strength = association(old[a], old[b])
            chance = max(association(old[a], columns[b]) for columns in shuffled)
            if strength > CHANCE * max(chance, 1.0 / math.sqrt(n)):
                before[a, b] = strength
        return before


def _information(columns: tuple[ColumnUtility, ...]) -> float:
    """Mean share of the bits of a column that is left; 1 if no column varies."""
    shares = [min(column.bits_kept / column.bits_before, 1.0) for column in columns if column.bits_before > 0]
    return math.fsum(shares) / len(shares) if shares else 1.0


def _columns(table: Table, rows: Ints) -> dict[str, Column]:
    return {column.name: column.rows(rows) for column in table.columns if column.starts is None}


def _exact(value: float, n: int) -> Estimate:
    """A number that is counted, not estimated."""
    return Estimate(value, value, value, n, 0.0)
