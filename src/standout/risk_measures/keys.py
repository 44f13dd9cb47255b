"""The smallest sets of columns that single out most rows.

For each size the set with the most unique rows is searched: first among the best smaller sets and one more
column (beam search). Then every other set that could be better is counted, if they are few enough: a set has
at most as many unique rows as its columns have combinations of values. If all were counted, the search was
exhaustive. The sets found are counted again, exactly and on all rows.

A missing cell equals a missing cell only.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.evaluate.estimates import Estimate
from standout.risk_measures.classes import equivalence_classes
from standout.risk_measures.identity import exact
from standout.risk_measures.set_counter import SetCounter, SetCounts
from standout.tables.model import Table

__all__ = ["LARGEST_SIZE", "ColumnSet", "KeySearch", "Search", "find_keys"]

Search = Literal["exhaustive", "beam"]
LARGEST_SIZE = 6
MOST_SETS = 100_000
"""Sets of one size are listed only up to this number."""
ROWS_TO_COUNT = 1_000_000_000
"""Rows that the exhaustive search may count for each size, over all sets; about 10 seconds on two cores."""
BEAM_ROWS = 400_000_000
"""Rows that the beam search counts for each size, over all sets."""
NARROWEST, WIDEST = 4, 64


@dataclass(frozen=True, slots=True)
class ColumnSet:
    """A set of columns, and how many rows it makes unique.

    Attributes
    ----------
    columns
        Names of the columns, in the order of the table.
    unique
        Share of rows that the values of these columns single out; exact, all rows counted.
    classes
        Number of different combinations of values that occur.
    search
        "exhaustive": every set that could be better was counted. These counts are by hashes and may miss a
        few rows in a million, so only a set that is better by a few rows can have been overlooked. "beam":
        the best set found; another one may have more.
    tried
        Number of sets of this size that were counted.
    """

    columns: tuple[str, ...]
    unique: Estimate
    classes: int
    search: Search
    tried: int

    @property
    def text(self) -> str:
        """The names of the columns, as in "age + sex"."""
        return " + ".join(self.columns)

    def __str__(self) -> str:
        note = "" if self.search == "exhaustive" else ", best set found"
        return f"{self.text}: {self.unique.value:.1%} unique{note}"


@dataclass(frozen=True, slots=True)
class KeySearch:
    """The best set of columns of each size.

    Attributes
    ----------
    searched
        The columns among which sets were searched.
    sets
        The best set of one column, of two columns, and so on. The list ends where more columns cannot single
        out more rows, or at the largest size.
    all_columns
        Share of rows that all these columns together single out: no set can have more.
    """

    searched: tuple[str, ...]
    sets: tuple[ColumnSet, ...]
    all_columns: Estimate

    def smallest(self, share: float) -> ColumnSet | None:
        """The smallest set found that singles out at least this share of the rows; None if none does."""
        return next((found for found in self.sets if found.unique.value >= share), None)


def find_keys(
    table: Table,
    columns: Sequence[str],
    largest: int = LARGEST_SIZE,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> KeySearch:
    """For each size up to `largest`, the set of columns with the most unique rows.

    Examples
    --------
    >>> import numpy as np
    >>> from standout.tables.column import Column
    >>> names, codes = ("zip", "sex", "age"), ([0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1])
    >>> cells = [Column(name, "category", ("a", "b"), np.array(code)) for name, code in zip(names, codes)]
    >>> for found in find_keys(Table(tuple(cells)), names).sets:
    ...     print(found)
    age: 25.0% unique
    zip + sex: 100.0% unique
    """
    if not columns:
        raise ParameterError("columns must name at least one column")
    whole_number("largest", largest, 1)
    counter = SetCounter([table.column(name) for name in columns], threads)
    ceiling = equivalence_classes(table, columns).n_unique
    largest = min(largest, len(columns))
    found: list[ColumnSet] = []
    beam: list[tuple[int, ...]] = [()]
    for size in range(1, largest + 1):
        counts = counter.count(_extensions(beam, len(columns)))
        remaining = _could_be_better(counter, counts, size, ceiling)
        if remaining is not None:
            counts = counts.joined(counter.count(remaining))
        chosen = tuple(columns[position] for position in counts.best)
        search: Search = "beam" if remaining is None else "exhaustive"
        found.append(_counted_exactly(table, chosen, search, len(counts.sets)))
        progress("searching for identifying columns", size, largest)
        if counts.most_unique >= ceiling:
            break
        beam = counts.beam(_beam_width(table.n_rows, len(columns)))
    progress("searching for identifying columns", largest, largest)
    return KeySearch(tuple(columns), tuple(found), exact(ceiling / table.n_rows, table.n_rows))


def _extensions(beam: Iterable[tuple[int, ...]], n_columns: int) -> list[tuple[int, ...]]:
    """Each set of the beam and one more column, without repeats."""
    seen: dict[frozenset[int], tuple[int, ...]] = {}
    for chosen in beam:
        for position in range(n_columns):
            if position not in chosen:
                seen.setdefault(frozenset((*chosen, position)), (*chosen, position))
    return list(seen.values())


def _could_be_better(
    counter: SetCounter, counts: SetCounts, size: int, ceiling: int
) -> list[tuple[int, ...]] | None:
    """The uncounted sets of this size that may have more unique rows; None if they are too many."""
    if counts.most_unique >= ceiling:
        return []
    if math.comb(len(counter.n_values), size) > MOST_SETS:
        return None
    counted = {frozenset(chosen) for chosen in counts.sets}
    sets = [
        chosen
        for chosen in combinations(range(len(counter.n_values)), size)
        if math.prod(counter.n_values[position] for position in chosen) > counts.most_unique
        and frozenset(chosen) not in counted
    ]
    return sets if len(sets) * counter.n_rows <= ROWS_TO_COUNT else None


def _beam_width(n_rows: int, n_columns: int) -> int:
    return max(NARROWEST, min(WIDEST, BEAM_ROWS // (n_rows * n_columns)))


def _counted_exactly(table: Table, columns: tuple[str, ...], search: Search, tried: int) -> ColumnSet:
    classes, n = equivalence_classes(table, columns), table.n_rows
    return ColumnSet(columns, exact(classes.n_unique / n, n, 1 / n), classes.n_classes, search, tried)
